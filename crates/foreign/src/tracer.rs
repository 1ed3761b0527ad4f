//! The kernel's tracers osnoise and timerlat themselves: the text of `trace`, and of `trace-cmd report`.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{ForeignSample, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use super::text::whole;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_results::record::{GapAccount, Quantity};

const US: u64 = 1_000;
const CAUSES: [&str; 5] = ["HW", "NMI", "IRQ", "Softirq", "Thread"];
const LOST: &str = "[LOST ";
/// The name that trace-cmd gives to timerlat's lines.
const OWN_EVENT: &str = "timerlat";

/// How trace-cmd's file begins.
const TRACE_DAT: &[u8] = b"\x17\x08\x44tracing";

pub(crate) const TIMERLAT_TRACER: ToolForm = ToolForm {
    is_raw: |bytes| bytes.starts_with(TRACE_DAT),
    raw: |_, _| {
        Err(FormatError::new(
            "it is trace-cmd's trace.dat; write its text, trace-cmd report FILE > trace.txt, and import that",
        ))
    },
    name: "timerlat-tracer",
    mark: |line| match line {
        "# tracer: timerlat" => Some(Mark::Once("tracer")),
        line => latency(line).map(|_| Mark::Row),
    },
    text: timerlat,
    ..ToolForm::NOTHING
};

pub(crate) const OSNOISE_TRACER: ToolForm = ToolForm {
    name: "osnoise-tracer",
    mark: |line| (line == "# tracer: osnoise").then_some(Mark::Once("tracer")),
    text: osnoise,
    ..ToolForm::NOTHING
};

/// The CPU in `task-123 [002] ....  71.63822: `, and what follows.
fn event(line: &str) -> Option<(u32, &str)> {
    let (before, rest) = line.split_once(" [")?;
    let (cpu, rest) = rest.split_once(']')?;
    let (stamp, told) = rest.split_once(": ")?;
    let is_time = stamp.split_whitespace().next_back()?.parse::<f64>().is_ok();
    (is_time && before.contains('-')).then_some((cpu.parse().ok()?, told.trim()))
}

/// The tracer's lines, each with its number; what is none is refused, and lost events are a doubt.
fn events<'a>(
    lines: &NumberedLines<'a>,
    measured: &mut ToolMeasurement,
) -> Result<Vec<(usize, u32, &'a str)>, FormatError> {
    let mut all = Vec::new();
    for (at, line) in lines.iter() {
        if line.contains(LOST) {
            measured.doubts.push(format!("the tracer: {}", line.trim()));
        } else if !line.trim().is_empty() && !line.trim_start().starts_with('#') && !line.starts_with("cpus=") {
            let what = || FormatError::at(at, format!("'{}' is no line of the tracer", line.trim().escape_debug()));
            let (cpu, told) = event(line).ok_or_else(what)?;
            // Other events may have been traced beside.
            let name = told.split_whitespace().next().and_then(|word| word.strip_suffix(':'));
            if name.is_none_or(|name| name == OWN_EVENT) {
                all.push((at, cpu, told));
            }
        }
    }
    Ok(all)
}

fn osnoise(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut measured = ToolMeasurement::new("osnoise tracer", Nanos(US));
    measured
        .lacks
        .push("single gaps: their number, their lengths, and when they were");
    let mut cpus: BTreeMap<u32, (GapAccount, [u64; 5])> = BTreeMap::new();
    for (at, cpu, told) in events(lines, &mut measured)? {
        let cut = || FormatError::at(at, "a period's line does not go on to its counters; the file was cut");
        let words: Vec<&str> = told.split_whitespace().collect();
        let [runtime, noise, _, single, counters @ ..] = &words[..] else {
            return Err(cut());
        };
        let time = |word: &str| whole(word.parse().map_err(|_| cut())?, US).map(|time| time.0);
        let (runtime, noise, single) = (time(runtime)?, time(noise)?, time(single)?);
        let empty = GapAccount {
            observed_ns: 0,
            gaps: 0,
            lost: 0,
            noise_ns: 0,
            max_single_ns: 0,
        };
        let (gaps, counts) = cpus.entry(cpu).or_insert((empty, [0; 5]));
        gaps.observed_ns = gaps.observed_ns.saturating_add(runtime);
        gaps.noise_ns = gaps.noise_ns.saturating_add(noise);
        gaps.max_single_ns = gaps.max_single_ns.max(single);
        if counters.len() != counts.len() {
            return Err(cut());
        }
        for (count, word) in counts.iter_mut().zip(counters) {
            *count = count.saturating_add(word.parse().map_err(|_| cut())?);
        }
    }
    for (cpu, (gaps, counts)) in cpus {
        let mut series = ThreadSeries::new("noise", cpu, Overrun::NoDueTimes);
        series.gaps = Some(gaps);
        let named = CAUSES.into_iter().zip(counts);
        series.counts = named
            .map(|(name, count)| (format!("osnoise {name}"), count.to_string()))
            .collect();
        measured.series.push(series);
    }
    Ok(measured)
}

/// `#1     context    irq timer_latency        932 ns`, or `timerlat: seq:1 context:0 timer_latency:932`: the
/// activation, whether of the thread, and the latency in ns.
fn latency(line: &str) -> Option<(u32, Quantity, u64)> {
    if let Some((_, told)) = line.split_once("timerlat:") {
        let of = |name: &str| told.split_whitespace().find_map(|word| word.strip_prefix(name));
        let latency = of("timer_latency:")?.parse().ok()?;
        return Some((of("seq:")?.parse().ok()?, context(of("context:")?)?, latency));
    }
    let (_, told) = line
        .split_once('#')
        .filter(|(_, told)| told.contains("timer_latency"))?;
    let words: Vec<&str> = told.split_whitespace().collect();
    let [number, "context", kind, "timer_latency", value, "ns"] = words[..] else {
        return None;
    };
    Some((number.parse().ok()?, context(kind)?, value.parse().ok()?))
}

/// The way back to user space is of an instrument of its own.
fn context(word: &str) -> Option<Quantity> {
    match word {
        "irq" | "0" => Some(Quantity::IrqLatency),
        "thread" | "1" => Some(Quantity::Latency),
        "user-ret" | "2" => Some(Quantity::AfterIrq),
        _ => None,
    }
}

fn timerlat(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut measured = ToolMeasurement::new("timerlat tracer", Nanos(1));
    let mut cpus: BTreeMap<(u32, Quantity), Vec<ForeignSample>> = BTreeMap::new();
    let mut first: BTreeMap<u32, u32> = BTreeMap::new();
    for (at, cpu, told) in events(lines, &mut measured)? {
        let cut = || {
            FormatError::at(
                at,
                "it does not go on with 'context ... timer_latency ... ns'; the file was cut",
            )
        };
        let (number, quantity, ns) = latency(told).ok_or_else(cut)?;
        let first = *first.entry(cpu).or_insert(number);
        let samples = cpus.entry((cpu, quantity)).or_default();
        let index = number
            .checked_sub(first)
            .ok_or_else(|| FormatError::at(at, "its activation is before the first"))?;
        if samples.last().is_some_and(|last| last.index >= index) {
            return Err(FormatError::at(at, "an activation of its CPU comes twice, or too late"));
        }
        samples.push(ForeignSample {
            index,
            due: None,
            value: Nanos(ns),
        });
    }
    for ((cpu, quantity), samples) in cpus {
        let (probe, quantity) = match quantity {
            Quantity::AfterIrq => ("timerlat-user", Quantity::Latency),
            quantity => ("timerlat", quantity),
        };
        let place = measured
            .series
            .iter()
            .position(|s| s.probe == probe && s.cpu == Some(cpu));
        let place = place.unwrap_or_else(|| {
            measured.series.push(ThreadSeries::new(probe, cpu, Overrun::Skips));
            measured.series.len() - 1
        });
        measured.series[place]
            .quantities
            .insert(quantity, SeriesValues::Samples(samples));
    }
    Ok(measured)
}
