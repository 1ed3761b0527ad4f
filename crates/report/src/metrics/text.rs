//! Metrics as text: OpenMetrics, and the older form that every reader of Prometheus and node_exporter takes.

use super::proto::{LabelPair, MetricFamily, MetricHistogram, MetricType};
use std::fmt::Write;

/// The two text forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// OpenMetrics 1.0.
    Open,
    /// Prometheus 0.0.4.
    Plain,
}

/// The text of these families.
pub fn text(families: &[MetricFamily], form: Text) -> String {
    let mut out = String::new();
    for family in families {
        // Writing to a string does not fail.
        let _ = one(&mut out, family, form);
    }
    if form == Text::Open {
        out += "# EOF\n";
    }
    out
}

fn one(out: &mut String, family: &MetricFamily, form: Text) -> std::fmt::Result {
    let name = &family.name;
    let kind = family.kind();
    let titled = match (kind, form) {
        (MetricType::Counter, Text::Open) => name.trim_end_matches("_total"),
        _ => name,
    };
    let word = match kind {
        MetricType::Counter => "counter",
        MetricType::Gauge => "gauge",
        MetricType::Histogram => "histogram",
    };
    writeln!(out, "# HELP {titled} {}", family.help)?;
    writeln!(out, "# TYPE {titled} {word}")?;
    for metric in &family.metric {
        let value = metric.counter.as_ref().or(metric.gauge.as_ref()).and_then(|v| v.value);
        if let Some(value) = value {
            writeln!(out, "{name}{} {value}", labels(&metric.label, None))?;
        }
        if let Some(held) = &metric.histogram {
            histogram(out, name, &metric.label, held)?;
        }
    }
    Ok(())
}

fn histogram(out: &mut String, name: &str, label: &[LabelPair], held: &MetricHistogram) -> std::fmt::Result {
    let count = held.sample_count.unwrap_or(0);
    for bucket in &held.bucket {
        let (bound, below) = (bucket.upper_bound.unwrap_or(0.0), bucket.cumulative_count.unwrap_or(0));
        writeln!(out, "{name}_bucket{} {below}", labels(label, Some(&number(bound))))?;
    }
    writeln!(out, "{name}_bucket{} {count}", labels(label, Some("+Inf")))?;
    writeln!(
        out,
        "{name}_sum{} {}",
        labels(label, None),
        held.sample_sum.unwrap_or(0.0)
    )?;
    writeln!(out, "{name}_count{} {count}", labels(label, None))
}

/// A bound as OpenMetrics wants it: with a point.
fn number(value: f64) -> String {
    let text = value.to_string();
    if text.contains('.') { text } else { text + ".0" }
}

fn labels(pairs: &[LabelPair], bound: Option<&str>) -> String {
    let pairs = pairs.iter().map(|pair| (pair.name.as_str(), pair.value.as_str()));
    let all = pairs.chain(bound.map(|bound| ("le", bound)));
    let all: Vec<String> = all
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", all.join(",")),
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
