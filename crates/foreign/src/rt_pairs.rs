//! rt-tests' pairs of a sender and a receiver: pmqtest, ptsematest, svsematest, sigwaittest. A value is the time from
//! the sending to the receiver's waking, in us.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Extremes, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use super::text::{RtTestsFile, check_later, of_float, program, rt_tests, whole};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

const US: u64 = 1_000;

/// The row of one of them.
const fn form(name: &'static str, text: TextReader, is_json: fn(&Value) -> bool, json: JsonReader) -> ToolForm {
    ToolForm {
        name,
        mark: other_mark,
        text,
        is_json,
        json,
        ..ToolForm::NOTHING
    }
}

type TextReader = fn(&NumberedLines<'_>, Option<Nanos>) -> Result<ToolMeasurement, FormatError>;
type JsonReader = fn(Value) -> Result<ToolMeasurement, FormatError>;

pub(crate) const PMQTEST: ToolForm = ToolForm {
    mark: pmq_mark,
    ..form(
        "pmqtest",
        |lines, _| text("pmqtest", lines),
        |value| program(value) == Some("pmqtest"),
        |value| json("pmqtest", value),
    )
};
pub(crate) const PTSEMATEST: ToolForm = form(
    "ptsematest",
    |lines, _| text("ptsematest", lines),
    |value| program(value) == Some("ptsematest"),
    |value| json("ptsematest", value),
);
pub(crate) const SVSEMATEST: ToolForm = form(
    "svsematest",
    |lines, _| text("svsematest", lines),
    |value| program(value) == Some("svsematest"),
    |value| json("svsematest", value),
);
pub(crate) const SIGWAITTEST: ToolForm = form(
    "sigwaittest",
    |lines, _| text("sigwaittest", lines),
    |value| program(value) == Some("sigwaittest"),
    |value| json("sigwaittest", value),
);
/// Three of them print the same: it is of none, and asks which.
pub(crate) const UNTOLD_PAIR: ToolForm = form(
    "",
    |lines, _| {
        let at = lines
            .iter()
            .find(|(_, line)| other_mark(line).is_some())
            .map_or(1, |(at, _)| at);
        let what = "ptsematest, svsematest and sigwaittest print this alike; --format says which of them wrote it";
        Err(FormatError::at(at, what))
    },
    |_| false,
    |_| Err(FormatError::new("it is of no tool")),
);

/// `#0: ID31307, P80, CPU1, I1000; #1: ID31308, P80, CPU0, TO 0, Cycles 500`: receiver, and sender.
fn heading(line: &str) -> Option<(&str, &str, &str)> {
    let line = line.get(line.find('#')?..)?;
    let (receiver, sender) = line.split_once("; #")?;
    let (number, receiver) = receiver.split_once(": ID")?;
    let (pid, _) = receiver.split_once(',')?;
    let is_ours = receiver.contains(", CPU") && sender.contains("Cycles ");
    is_ours.then_some((number, pid, line))
}

fn pmq_mark(line: &str) -> Option<Mark<'_>> {
    heading(line)
        .filter(|(_, _, line)| line.contains(", TO "))
        .map(|(number, pid, _)| Mark::Of(number, pid))
}

fn other_mark(line: &str) -> Option<Mark<'_>> {
    heading(line)
        .filter(|(_, _, line)| !line.contains(", TO "))
        .map(|(number, pid, _)| Mark::Of(number, pid))
}

/// What stands in a pair's heading.
#[derive(Clone, Copy, Default)]
struct RtPair {
    cpu: Option<u32>,
    priority: Option<u8>,
    interval_us: Option<u64>,
    timeouts: u64,
    cycles: u64,
}

impl RtPair {
    fn of(line: &str) -> Option<RtPair> {
        let (receiver, sender) = line.split_once("; #")?;
        let number = |of: &str, name: &str| {
            let word = of.split(", ").find_map(|word| word.strip_prefix(name))?;
            word.split_whitespace().next()?.parse::<u64>().ok()
        };
        Some(RtPair {
            cpu: number(receiver, "CPU").and_then(|cpu| u32::try_from(cpu).ok()),
            priority: number(receiver, "P").and_then(|n| u8::try_from(n).ok()),
            interval_us: number(receiver, "I"),
            timeouts: number(sender, "TO ").unwrap_or(0),
            cycles: number(sender, "Cycles ")?,
        })
    }

    fn series(self, tool: &str, nth: u32, ends: Option<Extremes>) -> ThreadSeries {
        let mut series = ThreadSeries::new(tool, self.cpu.unwrap_or(nth), Overrun::NoDueTimes);
        series.priority = self.priority.filter(|priority| *priority > 0);
        if self.timeouts > 0 {
            series.doubts.push(format!(
                "{tool}: {} timeouts, whose length is in no figure",
                self.timeouts
            ));
        }
        match ends {
            Some(ends) => {
                series.measured(SeriesValues::Extremes(ends));
                series
            }
            None => series.without_samples(),
        }
    }
}

fn text(tool: &'static str, lines: &NumberedLines<'_>) -> Result<ToolMeasurement, FormatError> {
    let mut pairs: BTreeMap<String, (RtPair, Option<Extremes>)> = BTreeMap::new();
    for (at, line) in lines.iter() {
        if let Some((number, _, line)) = heading(line) {
            let cut = || FormatError::at(at, "a pair's line does not go on to 'Cycles'; the file was cut");
            let pair = RtPair::of(line).ok_or_else(cut)?;
            let before = pairs.get(number).and_then(|(_, ends)| *ends);
            pairs.insert(number.to_string(), (pair, before));
        } else if let Some((receiver, told)) = values(line) {
            let cut = || FormatError::at(at, "a pair's line does not go on to 'Max'; the file was cut");
            let untold = || FormatError::at(at, "no line before it tells of its pair");
            let (pair, ends) = pairs.get_mut(receiver).ok_or_else(untold)?;
            let now = Extremes {
                count: pair.cycles,
                ..ends_of(told).ok_or_else(cut)?
            };
            check_later(at, ends.as_ref(), &now)?;
            *ends = (now.count > 0).then_some(now);
        }
    }
    let mut measured = ToolMeasurement::new(tool, Nanos(US));
    for (nth, (_, (pair, ends))) in (0..).zip(pairs) {
        measured.notes.extend(
            pair.interval_us
                .map(|us| format!("the sender of pair {nth} waited {us} us between two")),
        );
        measured.series.push(pair.series(tool, nth, ends));
    }
    Ok(measured)
}

/// `#1 -> #0, Min    4, Cur   21, Avg   24, Max  363`: the receiver, and the rest.
fn values(line: &str) -> Option<(&str, &str)> {
    let (sender, rest) = line.split_once(" -> ")?;
    let (receiver, told) = rest.split_once([',', ' '])?;
    (sender.contains('#') && receiver.starts_with('#') && !told.contains("not yet ready")).then_some((receiver, told))
}

fn ends_of(told: &str) -> Option<Extremes> {
    let time = |name: &str| {
        let word = told.split(',').find_map(|part| part.trim().strip_prefix(name))?;
        whole(word.trim().parse().ok()?, US).ok()
    };
    Some(Extremes {
        count: 0,
        min: Some(time("Min")?),
        mean: Some(time("Avg")?),
        max: time("Max")?,
    })
}

#[derive(Deserialize)]
struct RtPairJson {
    sender: RtSenderJson,
    receiver: RtReceiverJson,
}

#[derive(Deserialize)]
struct RtSenderJson {
    samples: u64,
    #[serde(default)]
    interval: Option<u64>,
}

#[derive(Deserialize)]
struct RtReceiverJson {
    cpu: i64,
    #[serde(default)]
    priority: Option<u8>,
    #[serde(default)]
    timeoutcount: u64,
    min: u64,
    /// Absent if there was no sample.
    avg: Option<f64>,
    max: u64,
}

fn json(tool: &'static str, content: Value) -> Result<ToolMeasurement, FormatError> {
    let file: RtTestsFile<RtPairJson> = super::text::json(tool, content)?;
    let mut measured = rt_tests(tool, &file);
    for (nth, told) in &file.thread {
        let pair = RtPair {
            cpu: u32::try_from(told.receiver.cpu).ok(),
            priority: told.receiver.priority,
            interval_us: told.sender.interval,
            timeouts: told.receiver.timeoutcount,
            cycles: told.sender.samples,
        };
        let no_mean = || FormatError::new(format!("the mean of pair {nth} is no time"));
        let ends = match pair.cycles {
            0 => None,
            count => Some(Extremes {
                count,
                min: Some(whole(told.receiver.min, US)?),
                mean: Some(
                    told.receiver
                        .avg
                        .and_then(|avg| of_float(avg, US))
                        .ok_or_else(no_mean)?,
                ),
                max: whole(told.receiver.max, US)?,
            }),
        };
        measured.series.push(pair.series(tool, *nth, ends));
    }
    Ok(measured)
}
