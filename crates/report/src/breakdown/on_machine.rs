//! What the spans of a breakdown would take on a calibrated machine, for the terminal and for programs.

use super::terminal::{describe, heading, notes};
use crate::style::{Style, cut, within, wrapped};
use serde::Serialize;
use worstcase_analysis::breakdown::Breakdown;
use worstcase_base::format::{counted, grouped, micros, plain};
use worstcase_contract::Nanos;
use worstcase_contract::costs::EventCounts;
use worstcase_timing::{Calibration, PredictedTime, Predictor};

/// The form as JSON.
const SCHEMA: &str = "worstcase-on-machine/1";

/// Width of the spans' names.
const SPAN: usize = 36;

/// A path that the lab ran, and its time on a machine where nothing disturbs it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathOnMachine<'a> {
    schema: &'static str,
    /// The lab's cell.
    cell: &'a str,
    /// The sample.
    sample: u32,
    /// The processor.
    processor: Option<&'a str>,
    /// The CPU that was calibrated.
    cpu: u32,
    /// From a timer that is due until a program stands still there: not part of the path (ns, median).
    delivery_ns: Option<f64>,
    /// In order.
    spans: Vec<SpanOnMachine>,
    /// All of it.
    sum: SpanOnMachine,
    #[serde(skip)]
    breakdown: &'a Breakdown,
    #[serde(skip)]
    calibration: &'a Calibration,
}

/// A part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct SpanOnMachine {
    /// What it is.
    span: String,
    #[serde(flatten)]
    there: TimeThere,
}

/// Instructions of the lab, and what they would take there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct TimeThere {
    /// The lab's instructions.
    pub(super) instructions: u64,
    /// What may leave a virtual machine for its hypervisor, whose time is in no figure.
    pub(super) exits: u64,
    /// The most likely time.
    pub(super) ns: f64,
    /// One path in ten is shorter.
    low_ns: f64,
    /// One path in ten is longer.
    high_ns: f64,
}

impl TimeThere {
    /// Of one of so many operations that have these events together.
    pub(super) fn of(counts: &EventCounts, operations: u64, predictor: &Predictor) -> TimeThere {
        let PredictedTime { ns, low, high, exits } = predictor.predict(counts);
        let of_one = |ns: f64| (ns / operations as f64).round();
        TimeThere {
            instructions: counts.lab_instructions() / operations,
            exits: exits.div_ceil(operations),
            ns: of_one(ns),
            low_ns: of_one(low),
            high_ns: of_one(high),
        }
    }

    pub(super) fn range(&self) -> String {
        format!("{}..{}", us(self.low_ns), us(self.high_ns))
    }
}

impl SpanOnMachine {
    fn of(span: String, counts: &EventCounts, predictor: &Predictor) -> SpanOnMachine {
        let there = TimeThere::of(counts, 1, predictor);
        SpanOnMachine { span, there }
    }

    fn line(&self) -> String {
        let name = within(&plain(&self.span), SPAN);
        format!(
            "{:>12}{:>12}  {:<20}  {name}",
            grouped(self.there.instructions),
            us(self.there.ns),
            self.there.range()
        )
    }
}

impl<'a> PathOnMachine<'a> {
    /// Of a breakdown with what its spans consist of.
    pub fn of(breakdown: &'a Breakdown, calibration: &'a Calibration) -> PathOnMachine<'a> {
        let predictor = Predictor::of(calibration);
        let spans = breakdown.spans().iter();
        let spans = spans.filter_map(|span| Some(SpanOnMachine::of(describe(span), &span.costs?, &predictor)));
        let sample = breakdown.sample();
        PathOnMachine {
            schema: SCHEMA,
            cell: &sample.cell,
            sample: sample.index,
            processor: calibration.machine.processor.as_deref(),
            cpu: calibration.machine.cpu,
            delivery_ns: calibration
                .delivery
                .as_ref()
                .map(|delivery| delivery.until_interrupted_ns),
            spans: spans.collect(),
            sum: SpanOnMachine::of("sum".into(), &breakdown.costs(), &predictor),
            breakdown,
            calibration,
        }
    }

    /// For programs.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and texts") + "\n"
    }

    /// The answer, then a line for each span.
    pub fn terminal(&self, style: Style) -> String {
        let answer = format!(
            "This path would take about {} us on {} ({}: four paths in five), where nothing disturbs it.",
            us(self.sum.there.ns),
            cpu_of(self.calibration),
            self.sum.there.range()
        );
        let mut out = vec![heading(self.breakdown.sample(), " of the lab", style), String::new()];
        out.extend(wrapped("", &answer));
        out.extend(wrapped("explained as: ", &self.breakdown.cause().sentence));
        out.push(String::new());
        out.push(format!(
            "{:>12}{:>12}  {:<20}  span",
            "instructions", "about (us)", "four in five"
        ));
        out.extend(self.spans.iter().chain([&self.sum]).map(|span| cut(&span.line())));
        out.push(String::new());
        out.extend(wrapped("", &self.limits()));
        out.extend(notes(self.breakdown));
        out.extend(doubts(self.calibration));
        out.push(String::new());
        out.join("\n")
    }

    /// What is in no figure.
    fn limits(&self) -> String {
        let mut said = vec![
            "It is the time of this path, and no bound: what else delays a wake-up there, worstcase host run measures."
                .to_string(),
        ];
        if let Some(delivery) = self.delivery_ns.filter(|delivery| *delivery > 0.0) {
            said.push(format!(
                "Not in it: {} us there from a timer that is due until a program stands still.",
                us(delivery)
            ));
        }
        if self.sum.there.exits > 0 {
            said.push(format!(
                "{} of it may leave a virtual machine for its hypervisor, whose time is not in it.",
                counted(self.sum.there.exits, "instruction")
            ));
        }
        said.join(" ")
    }
}

/// The CPU that was calibrated.
pub(super) fn cpu_of(calibration: &Calibration) -> String {
    let processor = calibration.machine.processor.as_deref();
    let processor = processor.map_or("a processor that is not known".into(), plain);
    format!("CPU {} of {processor}", calibration.machine.cpu)
}

/// Why the calibration may be wrong.
pub(super) fn doubts(calibration: &Calibration) -> impl Iterator<Item = String> {
    calibration
        .doubts
        .iter()
        .flat_map(|doubt| wrapped("doubt: ", &plain(doubt)))
}

/// The usual digits of microseconds.
pub(super) fn us(ns: f64) -> String {
    micros(Nanos(ns as u64))
}
