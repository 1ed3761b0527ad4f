//! Histograms as plain text: a row a value, a column a cell, in the form of `cyclictest -h`, which gnuplot reads.

use std::collections::BTreeMap;
use std::fmt::Write;
use worstcase_base::format::plain;
use worstcase_contract::Nanos;
use worstcase_results::record::{Beyond, Quantity, Record};
use worstcase_results::stats::bucket_counts::{BucketCounts, Thousands};

const STEP: u64 = 1_000;

/// One cell's column.
#[derive(Debug)]
pub struct HistogramColumn {
    name: String,
    /// The counts by whole microseconds, rounded down.
    counts: BucketCounts<Thousands>,
    /// Samples that another tool's histogram does not hold.
    beyond: u64,
    /// Smallest, mean and largest in ns, 0 where they are not known; nothing without a sample.
    ends: Option<[u64; 3]>,
}

impl HistogramColumn {
    /// The column of a record, without samples yet.
    pub fn new(record: &Record) -> HistogramColumn {
        let summary = record.summary(Quantity::Latency);
        let mut column = HistogramColumn {
            name: plain(record.id.as_str()),
            counts: BucketCounts::default(),
            beyond: 0,
            ends: summary.map(|s| [s.min_ns.unwrap_or(0), s.mean_ns.unwrap_or(0), s.max_ns]),
        };
        if let Some(summary) = summary.filter(|_| !record.has_samples()) {
            let held = summary.samples_held();
            let bins = held.iter().flat_map(|held| held.iter_recorded());
            bins.for_each(|bin| column.counts.add(bin.value_iterated_to(), bin.count_at_value()));
            let beyond = record.foreign.as_ref().and_then(|f| f.beyond.get(&Quantity::Latency));
            let outside = |b: &Beyond| if b.count == 1 { 0 } else { b.count };
            column.beyond = match held {
                Some(_) => beyond.map_or(0, outside),
                None => summary.count,
            };
        }
        column
    }

    /// Takes a sample in.
    pub fn add(&mut self, latency: Nanos) {
        self.counts.add(latency.0, 1);
    }
}

/// The text. Rows of zeros are left out.
pub fn text(columns: &[HistogramColumn]) -> String {
    let mut out = String::from("# Histogram\n");
    for (nth, column) in columns.iter().enumerate() {
        writeln!(out, "# column {}: {}, in us", nth + 2, column.name).expect("a string takes text");
    }
    let mut rows: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (nth, column) in columns.iter().enumerate() {
        for bucket in column.counts.filled() {
            rows.entry(bucket.from / STEP).or_insert_with(|| vec![0; columns.len()])[nth] = bucket.count;
        }
    }
    for (value, counts) in &rows {
        let counts: Vec<String> = counts.iter().map(|count| format!("{count:06}")).collect();
        writeln!(out, "{value:06} {}", counts.join("\t")).expect("a string takes text");
    }
    let mut sum = |name: &str, of: &dyn Fn(&HistogramColumn) -> u64| {
        let words: Vec<String> = columns.iter().map(|column| format!("{:05}", of(column))).collect();
        writeln!(out, "# {name}: {}", words.join(" ")).expect("a string takes text");
    };
    let end = |column: &HistogramColumn, nth: usize| column.ends.map_or(0, |ends| ends[nth] / STEP);
    sum("Total", &|column| column.counts.total());
    sum("Min Latencies", &|column| end(column, 0));
    sum("Avg Latencies", &|column| end(column, 1));
    sum("Max Latencies", &|column| end(column, 2));
    sum("Histogram Overflows", &|column| column.beyond);
    out
}
