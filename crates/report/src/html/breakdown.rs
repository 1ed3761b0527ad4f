//! A breakdown, ready to be drawn: a timeline of spans, and a flame graph.

use crate::breakdown::flame::NARROWEST;
use crate::breakdown::terminal::{chain, describe, due, places, shown};
use serde::Serialize;
use std::collections::BTreeMap;
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::breakdown::spans::Span;
use worstcase_base::format::{micros, micros_exact};
use worstcase_probe::Nanos;

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
    sentence: String,
    remedy: String,
    at_due: String,
    spans: Vec<SpanPart>,
    notes: Vec<String>,
    /// Nothing on the host, where not every function is recorded.
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
    /// Where, and in which functions.
    details: Vec<String>,
}

/// A function's box, and those of what it called.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Flame {
    #[serde(rename = "n")]
    name: String,
    #[serde(rename = "v")]
    ns: u64,
    #[serde(rename = "c", skip_serializing_if = "Vec::is_empty")]
    called: Vec<Flame>,
}

impl BreakdownPart {
    /// Of a breakdown, with the folded stacks of what ran, if they are known.
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
            sentence: cause.sentence.clone(),
            remedy: cause.remedy.clone(),
            at_due: match at_due.chain.is_empty() {
                true => due(at_due),
                false => format!("{}: {}", due(at_due), chain(&at_due.chain)),
            },
            spans: breakdown.spans().iter().map(span).collect(),
            notes: breakdown.notes().to_vec(),
            flame: folded.map(|folded| Box::new(flame(folded))),
        }
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

/// From `outer;inner 123` to boxes, without those too narrow to be seen.
fn flame(folded: &str) -> Flame {
    let mut chains: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    for line in folded.lines() {
        if let Some((chain, ns)) = line.rsplit_once(' ') {
            *chains.entry(chain.split(';').collect()).or_default() += ns.parse::<u64>().unwrap_or(0);
        }
    }
    let mut root = Flame {
        name: "all".into(),
        ..Flame::default()
    };
    for (chain, ns) in chains {
        let mut at = &mut root;
        at.ns += ns;
        for name in chain {
            let place = at.called.iter().position(|f| f.name == name).unwrap_or_else(|| {
                at.called.push(Flame {
                    name: name.to_string(),
                    ..Flame::default()
                });
                at.called.len() - 1
            });
            at = &mut at.called[place];
            at.ns += ns;
        }
    }
    let least = Nanos((root.ns as f64 * NARROWEST / 100.0) as u64);
    thin(&mut root, least);
    root
}

fn thin(flame: &mut Flame, least: Nanos) {
    flame.called.retain(|f| f.ns >= least.0.max(1));
    flame.called.iter_mut().for_each(|f| thin(f, least));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_hold_what_they_called() {
        let root = flame("a;b 600\na;c with space 390\na 9\nz 1\n");
        assert_eq!((root.ns, root.called.len()), (1_000, 1), "z is too narrow");
        let a = &root.called[0];
        assert_eq!((a.name.as_str(), a.ns), ("a", 999));
        let called: Vec<(&str, u64)> = a.called.iter().map(|f| (f.name.as_str(), f.ns)).collect();
        assert_eq!(called, [("b", 600), ("c with space", 390)]);
    }
}
