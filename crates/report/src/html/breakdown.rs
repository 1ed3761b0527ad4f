//! A breakdown, ready to be drawn: a timeline of spans, and a flame graph.

use crate::breakdown::boxes::Flame;
use crate::breakdown::terminal::{chain, describe, due, places, shown};
use serde::Serialize;
use worstcase_analysis::against::{Confrontation, summary};
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::breakdown::spans::{Mechanism, Span};
use worstcase_base::format::{micros, micros_exact};

/// A breakdown's part of the page.
#[derive(Debug, Serialize)]
pub struct BreakdownPart {
    subject: String,
    load: String,
    cell: String,
    index: u32,
    unit: String,
    latency: String,
    /// The same to the nanosecond.
    sum: String,
    latency_ns: u64,
    mechanism: &'static str,
    #[serde(skip)]
    kind: Mechanism,
    sentence: String,
    remedy: String,
    at_due: String,
    spans: Vec<SpanPart>,
    notes: Vec<String>,
    /// None on the host, where not every function is recorded.
    flame: Option<Box<Flame>>,
}

#[derive(Debug, Serialize)]
struct SpanPart {
    title: &'static str,
    text: String,
    /// Part of the way that every wake-up takes.
    is_path: bool,
    start_ns: u64,
    length_ns: u64,
    start: String,
    length: String,
    /// The places and functions of the span.
    details: Vec<String>,
}

impl BreakdownPart {
    /// The kind of its cause.
    pub(super) fn mechanism(&self) -> Mechanism {
        self.kind
    }

    /// Why it was late, in a sentence.
    pub(super) fn cause(&self) -> &str {
        &self.sentence
    }

    /// The part of a breakdown, with the folded stacks of its execution, if they are known.
    pub fn new(breakdown: &Breakdown, folded: Option<&str>) -> BreakdownPart {
        let (sample, cause, at_due) = (breakdown.sample(), breakdown.cause(), breakdown.at_due());
        BreakdownPart {
            subject: sample.subject.clone(),
            load: sample.load.clone(),
            cell: sample.cell.clone(),
            index: sample.index,
            unit: sample.unit.clone(),
            latency: micros(sample.latency_ns),
            sum: micros_exact(sample.latency_ns),
            latency_ns: sample.latency_ns.0,
            mechanism: cause.mechanism.title(),
            kind: cause.mechanism,
            sentence: cause.sentence.clone(),
            remedy: cause.remedy.clone(),
            at_due: match at_due.chain.is_empty() {
                true => due(at_due),
                false => format!("{}: {}", due(at_due), chain(&at_due.chain)),
            },
            spans: breakdown.spans().iter().map(span).collect(),
            notes: breakdown.notes().to_vec(),
            flame: folded.map(|folded| Box::new(Flame::of(folded).thin())),
        }
    }

    /// The part of a breakdown of this machine, with what the lab says of each span.
    pub fn against(told: &Confrontation) -> BreakdownPart {
        let mut part = BreakdownPart::new(&told.breakdown, None);
        for (span, judged) in part.spans.iter_mut().zip(&told.judgements) {
            span.details.push(format!("against the lab: {}", judged.words));
        }
        let lab = format!("{} under {}", told.lab.subject, told.lab.load);
        part.noted(format!("against {lab} in the lab: {}", summary(told)))
    }

    /// The same with a note in front of the others.
    pub fn noted(mut self, note: String) -> BreakdownPart {
        self.notes.insert(0, note);
        self
    }
}

fn span(span: &Span) -> SpanPart {
    let name = span.what.name();
    let mut details: Vec<String> = places(&span.what)
        .into_iter()
        .map(|(what, place)| format!("{what} {}", shown(place)))
        .collect();
    if !span.chain.is_empty() && !name.is_path {
        details.push(format!("in {}", chain(&span.chain)));
    }
    let most = span.functions.iter().take(3).map(|share| {
        let percent = share.self_ns.0 * 100 / span.length_ns.0.max(1);
        format!("{} {percent} %", share.function)
    });
    let most: Vec<String> = most.collect();
    if !most.is_empty() && !name.is_path {
        details.push(format!("most in {}", most.join(", ")));
    }
    SpanPart {
        title: name.title,
        text: describe(span),
        is_path: name.is_path,
        start_ns: span.start_ns.0,
        length_ns: span.length_ns.0,
        start: micros_exact(span.start_ns),
        length: micros_exact(span.length_ns),
        details,
    }
}
