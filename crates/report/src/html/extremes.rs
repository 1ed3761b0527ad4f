//! Where a run's subjects differ most, under the same load and with the same probe: a sentence for each question.

use super::labels::SubjectLabels;
use super::noise;
use crate::ReportView;
use crate::labels::units;
use worstcase_base::distinct;
use worstcase_base::format::micros;
use worstcase_contract::Nanos;
use worstcase_contract::names;
use worstcase_contract::probe::{Extreme, ProbeInfo};
use worstcase_results::record::{Quantity, Record};
use worstcase_results::stats::{Ensemble, ensembles};

/// Probes that ask one question: of `switch:2x16k` and `switch:4x16k` it is `switch`, of others their name.
pub fn family(probe: &str) -> &str {
    match names::parse(probe) {
        Ok(_) => probe.split([':', '+']).next().unwrap_or(probe),
        Err(_) => probe,
    }
}

/// A quantity of a family of probes.
pub(crate) struct ExtremesQuestion<'a> {
    /// The family.
    pub family: &'a str,
    /// Any of its probes.
    pub probe: &'a str,
    /// The quantity of the probe.
    pub quantity: Quantity,
    /// Never empty.
    pub ensembles: Vec<Ensemble>,
    /// The unit of its times.
    pub unit: String,
}

/// All questions that a run's records answer, in their order.
pub(crate) fn questions<'a>(view: &ReportView<'a>) -> Vec<ExtremesQuestion<'a>> {
    let records: &'a [Record] = view.records;
    let mut all = Vec::new();
    for asked in distinct(records.iter().map(|r| family(&r.cell.probe))) {
        let of: Vec<&'a Record> = records.iter().filter(|r| family(&r.cell.probe) == asked).collect();
        let probe = of[0].cell.probe.as_str();
        for quantity in view.quantities_of(probe) {
            let mut ensembles = ensembles(records, *quantity);
            ensembles.retain(|e| family(&e.probe) == asked);
            if !ensembles.is_empty() {
                all.push(ExtremesQuestion {
                    family: asked,
                    probe,
                    quantity: *quantity,
                    ensembles,
                    unit: units(of.iter().map(|r| &r.subject)).join(", "),
                });
            }
        }
    }
    all
}

/// A sentence for each question.
pub(crate) fn extremes(view: &ReportView, labels: &SubjectLabels) -> Vec<String> {
    let of_gaps = |q: &&ExtremesQuestion| ProbeInfo::of_word(q.probe).is_some_and(|info| info.counts_gaps);
    let questions = questions(view);
    let lateness = questions
        .iter()
        .filter(|q| !of_gaps(q))
        .filter_map(|q| extreme(q, labels));
    noise::sentences(view, labels).into_iter().chain(lateness).collect()
}

/// The words for a question, and the figure of an ensemble that answers it: the worst case for lateness, the median for a
/// cost.
fn subject_of(question: &ExtremesQuestion) -> (String, fn(&Ensemble) -> Nanos) {
    let (family, largest): (&str, fn(&Ensemble) -> Nanos) = (question.family, Ensemble::max);
    let extreme = ProbeInfo::of_word(family).map_or(Extreme::WorstLatency, |info| info.extreme);
    match (extreme, question.quantity) {
        (Extreme::Median(name), Quantity::Latency) => (name.into(), median),
        (Extreme::Largest(name), Quantity::Latency) => (name.into(), largest),
        (_, Quantity::IrqLatency) => (format!("Worst IRQ latency ({family})"), largest),
        (_, Quantity::AfterIrq) => (format!("Worst response after the interrupt ({family})"), largest),
        (_, Quantity::Jitter) => ("Worst jitter, either way".into(), largest),
        _ => (format!("Worst latency ({family})"), largest),
    }
}

/// A subject's figure under one load, with one probe.
#[derive(Clone, Copy)]
struct SubjectFigure<'a> {
    of: &'a Ensemble,
    figure: Nanos,
}

/// The lowest and the highest subject under the same load and with the same probe.
#[derive(Clone, Copy)]
struct LikeWithLike<'a> {
    low: SubjectFigure<'a>,
    high: SubjectFigure<'a>,
}

impl<'a> LikeWithLike<'a> {
    fn of(ensembles: &'a [Ensemble], same: &Ensemble, figure: fn(&Ensemble) -> Nanos) -> Option<LikeWithLike<'a>> {
        let mut subjects: Vec<SubjectFigure> = Vec::new();
        let alike = |e: &&Ensemble| (&e.load, &e.probe) == (&same.load, &same.probe);
        for of in ensembles.iter().filter(alike) {
            let new = SubjectFigure { of, figure: figure(of) };
            // CPUs of a machine are one subject: its highest counts.
            match subjects.iter_mut().find(|s| s.of.subject == of.subject) {
                Some(known) if known.figure < new.figure => *known = new,
                Some(_) => {}
                None => subjects.push(new),
            }
        }
        let low = *subjects.iter().min_by_key(|s| s.figure)?;
        let high = *subjects.iter().max_by_key(|s| s.figure)?;
        (subjects.len() > 1).then_some(LikeWithLike { low, high })
    }

    fn times(&self) -> f64 {
        self.high.figure.0 as f64 / self.low.figure.0.max(1) as f64
    }
}

fn extreme(question: &ExtremesQuestion, labels: &SubjectLabels) -> Option<String> {
    let (name, figure) = subject_of(question);
    let unit = &question.unit;
    let ensembles = &question.ensembles;
    let highest = ensembles.iter().max_by_key(|e| figure(e))?;
    let is_one_probe = ensembles.iter().all(|e| e.probe == question.probe);
    let place = |e: &Ensemble| match is_one_probe {
        true => format!("load {}", e.load),
        false => format!("{}, load {}", e.probe, e.load),
    };
    let alike = ensembles.iter().filter_map(|e| LikeWithLike::of(ensembles, e, figure));
    let Some(widest) = alike.reduce(|a, b| if b.times() > a.times() { b } else { a }) else {
        let median = highest.median().map(|median| format!("; median {}", micros(median)));
        let median = median.filter(|_| ensembles.len() == 1).unwrap_or_default();
        return Some(format!(
            "{name}: {} {unit}, {}{median}.",
            micros(figure(highest)),
            place(highest)
        ));
    };
    let LikeWithLike { low, high } = widest;
    let times = match widest.times() {
        10.0.. => format!("{:.0}", widest.times()),
        times => format!("{times:.1}"),
    };
    let of_all = match figure(highest) > high.figure {
        true => format!(
            " Highest of all: {} ({}, {}).",
            micros(figure(highest)),
            labels.get(&highest.subject),
            place(highest)
        ),
        false => String::new(),
    };
    Some(format!(
        "{name}, {}: from {} ({}) to {} {unit} ({}), {times} times as much.{of_all}",
        place(high.of),
        micros(low.figure),
        labels.get(&low.of.subject),
        micros(high.figure),
        labels.get(&high.of.subject)
    ))
}

/// The median of a probe of worstcase's own, which always has one.
fn median(e: &Ensemble) -> Nanos {
    e.median().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::testing::{cell, plan, subject};
    use worstcase_results::record::explanations::NOTHING_EXPLAINED;

    #[test]
    fn probes_of_a_grid_ask_one_question() {
        let families = [
            "switch:2x16k+pipe",
            "hackbench:2",
            "inversion:1+none",
            "wakeup",
            "cmd:x",
        ]
        .map(family);
        assert_eq!(families, ["switch", "hackbench", "inversion", "wakeup", "cmd:x"]);
    }

    /// What is said of a latency in us of each model under each load.
    fn said(of: &[(&str, &str, u64)]) -> String {
        let record = |(preempt, load, us): &(&str, &str, u64)| {
            cell(subject("6.1", preempt), load, 1, 1, &[(0, us * 1_000)]).record
        };
        let records: Vec<Record> = of.iter().map(record).collect();
        let plan = plan(records.iter());
        let view = ReportView {
            plan: &plan,
            dir: "RUN".as_ref(),
            records: &records,
            explanations: &NOTHING_EXPLAINED,
            quantities: &[],
            verdicts: None,
        };
        extremes(&view, &SubjectLabels::of(&plan, &records)).remove(0)
    }

    /// An I/O scheduler's quick write is not set beside another's mixed work.
    #[test]
    fn subjects_are_compared_under_the_same_load_with_the_same_probe() {
        let said = said(&[
            ("none", "write", 9),
            ("full", "write", 10),
            ("none", "mix", 236),
            ("full", "mix", 94),
        ]);
        assert!(
            said.contains("load mix: from 94.0 (") && said.contains("2.5 times"),
            "{said}"
        );
        assert!(!said.contains("Highest of all"), "{said}");
    }

    #[test]
    fn the_highest_of_all_is_told_where_it_is_elsewhere() {
        let elsewhere = said(&[
            ("none", "a", 300),
            ("full", "a", 290),
            ("none", "b", 20),
            ("full", "b", 5),
        ]);
        assert!(elsewhere.contains("load b: from 5.00"), "{elsewhere}");
        assert!(elsewhere.contains("Highest of all: 300"), "{elsewhere}");
        let alone = said(&[("none", "a", 300), ("full", "b", 5)]);
        assert!(alone.contains("300") && !alone.contains("times"), "{alone}");
    }
}
