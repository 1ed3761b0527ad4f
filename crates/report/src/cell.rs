//! One cell in every detail: its settings, the fate of its periods, a histogram, the worst samples.

use super::environment;
use super::noise::available;
use super::program;
use super::table::terminal::figures as table_lines;
use super::table::{ColumnKind, Table, field, name};
use super::tail::CellTail;
use crate::style::{Style, WIDTH};
use worstcase_base::duration;
use worstcase_base::format::{grouped, micros, micros_exact, plain};
use worstcase_contract::Nanos;
use worstcase_results::record::intervals::{PercentileBlocks, PercentileInterval};
use worstcase_results::record::{Accounting, Quantity, Record, SampleRow, SubjectMachine, Summary, Venue, title_of};
use worstcase_results::stats::blocks::BLOCKS;
use worstcase_results::stats::bucket_counts::{BucketCounts, CountedBucket, SixADecade};
use worstcase_results::stats::tail::Peaks;

const WORST: usize = 5;
/// Longest bar of the histogram.
const BAR: f64 = 48.0;

/// Latencies by size, in six steps a decade, and the worst samples: all that the report needs, gathered in one
/// pass.
#[derive(Debug, Default)]
pub struct GatheredSamples {
    steps: BucketCounts<SixADecade>,
    worst: Vec<SampleRow>,
    peaks: Peaks,
    blocks: Option<PercentileBlocks>,
}

impl GatheredSamples {
    /// For the samples of this record.
    pub fn of(record: &Record) -> GatheredSamples {
        GatheredSamples {
            // In the lab seeds are the draws.
            blocks: PercentileBlocks::new(record).filter(|_| record.subject.venue() == Venue::Host),
            ..GatheredSamples::default()
        }
    }

    /// Takes a sample in.
    pub fn add(&mut self, row: SampleRow) {
        self.steps.add(row.latency.0, 1);
        self.peaks.add(row.latency);
        if let Some(blocks) = &mut self.blocks {
            blocks.add(row.index, row.latency);
        }
        let place = self.worst.partition_point(|w| w.latency >= row.latency);
        if place < WORST {
            self.worst.insert(place, row);
            self.worst.truncate(WORST);
        }
    }
}

/// The report.
pub fn details(record: &Record, gathered: &GatheredSamples, style: Style) -> String {
    let subject = &record.subject;
    let cell = &record.cell;
    let mut out = vec![style.bold(record.id.as_str())];
    let mut line = |name: &str, text: String| out.push(format!("  {name:<12} {text}"));
    line(
        "kernel",
        plain(&format!(
            "{}: {} {}",
            subject.kernel.name, subject.kernel.release, subject.kernel.version
        )),
    );
    line(
        "preemption",
        match &subject.preempt.asked {
            Some(asked) => plain(&format!("{} (asked for: {asked})", subject.preempt.in_force)),
            None => plain(&subject.preempt.in_force),
        },
    );
    match &subject.machine {
        SubjectMachine::Lab(lab) => {
            line(
                "machine",
                plain(&format!(
                    "lab: {}, -cpu {}, {} MIPS, {} MB",
                    lab.qemu, lab.qemu_cpu, lab.machine.mips, lab.machine.memory_mb
                )),
            );
            line("cmdline", plain(&lab.command_line));
            for module in &lab.modules {
                line("module", plain(&module.to_string()));
            }
            if let Some(scheduler) = &record.scheduler {
                line(
                    "scheduler",
                    plain(&format!("{} ({})", scheduler.name, scheduler.digest)),
                );
                for (name, count) in &scheduler.counters {
                    line(
                        "counted",
                        format!("{} {}", grouped(*count), plain(&name.replace('_', " "))),
                    );
                }
            }
        }
        SubjectMachine::Foreign(_) => {}
        SubjectMachine::Host(host) => {
            line(
                "machine",
                plain(&format!(
                    "host: {}, {} CPUs, {} MB",
                    host.cpu, host.cpus, host.memory_mb
                )),
            );
            line("cmdline", plain(&host.command_line));
        }
    }
    for (name, value) in record.foreign.iter().flat_map(|f| f.facts()) {
        line(name, plain(&value));
    }
    if let Some(origin) = &record.origin {
        line("host", plain(&origin.host));
        line("when", format!("{} to {}", origin.began, origin.ended));
        for (name, value) in origin.facts() {
            line(&name, plain(&value));
        }
    }
    for (name, value) in record.followed.iter().flat_map(program::facts) {
        line(name, value);
    }
    line("load", plain(&cell.load));
    for work in &record.work {
        line("work", format!("{} {}", grouped(work.count), plain(&work.unit)));
    }
    let every = match cell.period_ns {
        0 => String::new(),
        period => format!(", every {}", duration::show(Nanos(period))),
    };
    let priority = match (cell.priority, &record.foreign) {
        (0, Some(_)) => String::new(),
        (priority, _) => format!(", priority {priority}"),
    };
    line(
        "probe",
        plain(&format!("{}{every}{priority}, seed {}", cell.probe, cell.seed)),
    );
    if let Some(method) = &cell.method {
        let cpus: worstcase_host::CpuList = method.cpus.iter().copied().collect();
        line("CPUs", cpus.to_string());
    }
    match &record.accounting {
        Accounting::Periods(p) if record.foreign.is_some() => {
            let missed = record.missed().map_or("not known".to_string(), grouped);
            line("accounting", format!("{} taken, missed: {missed}", grouped(p.taken)));
        }
        Accounting::Periods(p) => line(
            "accounting",
            format!(
                "{} expected = {} taken + {} missed + {} lost (longest missed run {}, at the ends {})",
                grouped(p.expected),
                grouped(p.taken),
                grouped(p.missed),
                grouped(p.lost),
                p.longest_missed_run,
                p.missed_at_ends
            ),
        ),
        Accounting::Gaps(g) => {
            line(
                "noise",
                format!(
                    "{} us, max single {} us, {} of the CPU available",
                    micros_exact(Nanos(g.noise_ns)),
                    micros_exact(Nanos(g.max_single_ns)),
                    available(g)
                ),
            );
            line("gaps", format!("{}, and {} lost", grouped(g.gaps), grouped(g.lost)));
        }
    }
    if let Some(selection) = record.samples.selection {
        line(
            "samples kept",
            format!(
                "{}: the {} largest, each with {} before and {} after it",
                grouped(record.samples.rows),
                selection.largest,
                selection.around,
                selection.around
            ),
        );
    }
    if cell.period_ns > 0 || record.followed.is_some() {
        line("observed", duration::show(record.observation_time()));
    }
    if let Some(instructions) = record.instructions {
        line("executed", format!("{} instructions", grouped(instructions.0)));
    }
    if let Some(cost) = record.self_cost {
        line(
            "self-cost",
            format!(
                "clock read {} ns, empty sample {} ns, CPU {}, faults {} minor, {} major",
                cost.clock_read_ns,
                cost.empty_sample_ns,
                duration::show(Nanos(cost.cpu_time_ns)),
                cost.minor_faults,
                cost.major_faults
            ),
        );
    }
    line("digest", record.digest.clone());
    for (key, value) in environment::facts(&record.environment) {
        line("machine says", plain(&format!("{key} = {value}")));
    }
    for words in &record.console {
        line("console", plain(words));
    }
    for warning in &record.warnings {
        line("warning", plain(warning));
    }
    for quantity in Quantity::ALL {
        if let Some(summary) = record.summary(quantity) {
            out.push(String::new());
            out.push(style.bold(&format!(
                "{} ({})",
                title_of(quantity, &cell.probe),
                subject.time_unit()
            )));
            out.push(format!("  {}", figures(summary)));
            let blocks = gathered.blocks.as_ref().filter(|_| quantity == Quantity::Latency);
            out.extend(blocks.and_then(|blocks| intervals(&blocks.intervals(record))));
        }
    }
    let row = record.accounting.row_name();
    if !record.has_samples() {
        out.extend(held_histogram(record, style));
    } else if record.accounting.rows() > 0 {
        out.push(String::new());
        out.push(style.bold(&format!("Histogram ({}, count on a log scale)", subject.time_unit())));
        out.extend(histogram(gathered));
    }
    if record.samples.rows > 0 {
        out.push(String::new());
        out.push(style.bold(&format!("Worst {row}s ({})", subject.time_unit())));
        let at = match row {
            "gap" => "began at",
            _ => "due at",
        };
        let mut fields = vec![
            name("index", row, |worst: &SampleRow| u64::from(worst.index)),
            field(ColumnKind::ExactTime, "latency_ns", "latency", |worst: &SampleRow| {
                worst.latency
            }),
            field(ColumnKind::Words, "due_ns", at, |worst: &SampleRow| {
                duration::show(worst.due)
            }),
        ];
        if record.followed.is_some() {
            fields.extend(program::worst_columns());
        }
        let table = Table::new("worst", "", &fields, &gathered.worst);
        out.extend(table_lines(&table, WIDTH).iter().map(|line| format!("  {line}")));
    }
    // In the lab the census bounds the run, and says more than an estimate.
    if subject.venue() == Venue::Host && record.details.is_none() {
        out.push(String::new());
        out.extend(CellTail::of(&[record], &gathered.peaks, None).lines(style));
    }
    out.push(String::new());
    out.join("\n")
}

/// The histogram of a record; for a foreign record, the histogram of its tool.
fn held_histogram(record: &Record, style: Style) -> Vec<String> {
    let held = record.summary(Quantity::Latency).and_then(Summary::held);
    let Some(held) = held else {
        return Vec::new();
    };
    let mut gathered = GatheredSamples::default();
    for bin in held.iter_recorded() {
        gathered.steps.add(bin.value_iterated_to(), bin.count_at_value());
    }
    let whose = match record.foreign {
        Some(_) => ", of the tool's own",
        None => "",
    };
    let heading = style.bold(&format!("Histogram (us, count on a log scale){whose}"));
    [vec![String::new(), heading], histogram(&gathered)].concat()
}

/// The percentiles' intervals in a line.
fn intervals(intervals: &[PercentileInterval]) -> Option<String> {
    let of = |i: &PercentileInterval| {
        let name = i.percentile.map_or("median", |p| p.name());
        let low = micros_exact(i.low);
        match i.high {
            Some(high) => format!("{name} {low}..{}", micros_exact(high)),
            None => format!("{name} {low} or more"),
        }
    };
    let all: Vec<String> = intervals.iter().map(of).collect();
    (!all.is_empty()).then(|| {
        format!(
            "  95 % if the time that was seen is typical (from {BLOCKS} blocks): {}",
            all.join("  ")
        )
    })
}

fn figures(s: &Summary) -> String {
    let exact = |ns: u64| micros_exact(Nanos(ns));
    let told = [("min", s.min_ns), ("mean", s.mean_ns), ("median", s.median_ns)];
    let told = told.into_iter().filter_map(|(name, ns)| Some((name, ns?)));
    let mut parts: Vec<String> = told.map(|(name, ns)| format!("{name} {}", exact(ns))).collect();
    parts.extend(
        s.percentiles_ns
            .iter()
            .map(|(p, ns)| format!("{} {}", p.name(), exact(*ns))),
    );
    let sample = s
        .max_index
        .map_or_else(String::new, |index| format!(" (sample {index})"));
    parts.push(format!("max {}{sample}", exact(s.max_ns)));
    if let Some(all) = &s.periods {
        let percentiles = all
            .percentiles_ns
            .iter()
            .map(|(p, ns)| format!("{} {}", p.name(), exact(*ns)));
        let told: Vec<String> = [format!("median {}", exact(all.median_ns))]
            .into_iter()
            .chain(percentiles)
            .collect();
        parts.push(format!("of all {} periods: {}", grouped(all.count), told.join("  ")));
    }
    parts.join("  ")
}

/// A line a step between the lowest and the highest, empty ones too: a gap is part of the picture.
fn histogram(gathered: &GatheredSamples) -> Vec<String> {
    let top = gathered.steps.most();
    let bar = |count: u64| {
        // A single sample still gets one mark: readers look for the rare ones.
        let length = (1.0 + count as f64).ln() / (1.0 + top as f64).ln() * BAR;
        "#".repeat(if count == 0 { 0 } else { (length as usize).max(1) })
    };
    let line = |step: CountedBucket| {
        let (low, high) = (micros(Nanos(step.from)), micros(Nanos(step.below)));
        let count = step.count;
        format!("  {low:>8} to {high:>8}  {:>10}  {}", grouped(count), bar(count))
            .trim_end()
            .to_string()
    };
    gathered.steps.all().map(line).collect()
}
