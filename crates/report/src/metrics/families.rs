//! A watch as families of metrics.

use super::proto::{BucketSpan, LabelPair, Metric, MetricBucket, MetricFamily, MetricHistogram, MetricType, Value};
use super::watched::WatchMetrics;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_host::buckets::{BOUNDS, Buckets, SCHEMA};
use worstcase_host::message::Pulse;

/// All families. Names of counters end in `_total`.
pub(crate) fn families(watched: &WatchMetrics) -> Vec<MetricFamily> {
    let one = |value: f64| vec![(Vec::new(), value)];
    let each = |of: fn(&Pulse) -> f64| -> Vec<(Vec<LabelPair>, f64)> {
        let cpus = watched.cpus.iter();
        cpus.map(|cpu| (labels(watched, cpu), of(cpu))).collect()
    };
    let mut all = vec![
        latency(watched),
        counter(
            "worstcase_samples_taken_total",
            "Samples taken.",
            each(|c| c.latencies.count as f64),
        ),
        counter(
            "worstcase_samples_missed_total",
            "Periods that passed while the probe was late.",
            each(|c| c.missed as f64),
        ),
        counter(
            "worstcase_samples_lost_total",
            "Samples that worstcase failed to keep.",
            each(|c| c.lost as f64),
        ),
        gauge(
            "worstcase_segment_max_seconds",
            "Largest latency of the segment that runs.",
            each(|c| seconds(c.max)),
        ),
        counter(
            "worstcase_segments_total",
            "Segments that are over and kept.",
            one(watched.segments as f64),
        ),
        counter(
            "worstcase_gaps_total",
            "Times in which nothing was measured.",
            one(watched.gaps as f64),
        ),
        counter(
            "worstcase_gap_seconds_total",
            "Time in which nothing was measured.",
            one(watched.gap_seconds as f64),
        ),
        gauge(
            "worstcase_build_info",
            "The version of worstcase.",
            vec![(vec![label("version", &watched.version)], 1.0)],
        ),
    ];
    if let Some(last) = &watched.last {
        all.push(gauge(
            "worstcase_last_segment_end_timestamp_seconds",
            "When the last whole segment ended.",
            one(last.ended as f64),
        ));
        if let Some(max) = last.max {
            let help = "Largest latency of all CPUs in the last whole segment.";
            all.push(gauge("worstcase_last_segment_max_seconds", help, one(seconds(max))));
        }
    }
    if let Some(limit) = watched.criterion {
        let help = "The limit that was asked for with --criterion.";
        all.push(gauge("worstcase_criterion_seconds", help, one(seconds(limit))));
    }
    all
}

fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}

fn label(name: &str, value: &str) -> LabelPair {
    LabelPair {
        name: name.to_string(),
        value: value.to_string(),
    }
}

fn labels(watched: &WatchMetrics, cpu: &Pulse) -> Vec<LabelPair> {
    vec![
        label("cpu", &cpu.cpu.to_string()),
        label("load", &watched.load),
        label("probe", &watched.probe),
    ]
}

fn family(name: &str, help: &str, kind: MetricType, metric: Vec<Metric>) -> MetricFamily {
    MetricFamily {
        name: name.to_string(),
        help: help.to_string(),
        kind: Some(kind as i32),
        metric,
    }
}

fn counter(name: &str, help: &str, values: Vec<(Vec<LabelPair>, f64)>) -> MetricFamily {
    let metric = |(label, value): (Vec<LabelPair>, f64)| Metric {
        label,
        counter: Some(Value { value: Some(value) }),
        ..Metric::default()
    };
    family(
        name,
        help,
        MetricType::Counter,
        values.into_iter().map(metric).collect(),
    )
}

fn gauge(name: &str, help: &str, values: Vec<(Vec<LabelPair>, f64)>) -> MetricFamily {
    let metric = |(label, value): (Vec<LabelPair>, f64)| Metric {
        label,
        gauge: Some(Value { value: Some(value) }),
        ..Metric::default()
    };
    family(name, help, MetricType::Gauge, values.into_iter().map(metric).collect())
}

fn latency(watched: &WatchMetrics) -> MetricFamily {
    let metric = |cpu: &Pulse| Metric {
        label: labels(watched, cpu),
        histogram: Some(histogram(&cpu.latencies)),
        ..Metric::default()
    };
    let metrics = watched.cpus.iter().map(metric).collect();
    let help = "How late samples were: timer due to user code.";
    family("worstcase_latency_seconds", help, MetricType::Histogram, metrics)
}

fn histogram(buckets: &Buckets) -> MetricHistogram {
    let mut so_far = 0;
    let bucket = |(bound, count): (&u64, &u64)| {
        so_far += count;
        MetricBucket {
            cumulative_count: Some(so_far),
            upper_bound: Some(seconds(Nanos(*bound))),
        }
    };
    let (positive_span, positive_delta) = spans(&buckets.exponential);
    MetricHistogram {
        sample_count: Some(buckets.count),
        sample_sum: Some(buckets.sum_ns as f64 / 1e9),
        bucket: BOUNDS.iter().zip(&buckets.fixed).map(bucket).collect(),
        schema: Some(SCHEMA),
        // Half of the shortest time that is told.
        zero_threshold: Some(0.5e-9),
        zero_count: Some(buckets.zero),
        positive_span,
        positive_delta,
    }
}

/// Spans of buckets that follow each other (each with its distance from the end of the span before), and each bucket's
/// count minus that of the bucket before.
fn spans(counts: &BTreeMap<i32, u64>) -> (Vec<BucketSpan>, Vec<i64>) {
    let (mut spans, mut deltas): (Vec<BucketSpan>, Vec<i64>) = (Vec::new(), Vec::new());
    let (mut next, mut last) = (0, 0_i64);
    for (bucket, count) in counts {
        match spans.last_mut() {
            Some(span) if *bucket == next => span.length = span.length.map(|n| n + 1),
            _ => spans.push(BucketSpan {
                offset: Some(bucket - next),
                length: Some(1),
            }),
        }
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        deltas.push(count - last);
        (next, last) = (bucket + 1, count);
    }
    (spans, deltas)
}
