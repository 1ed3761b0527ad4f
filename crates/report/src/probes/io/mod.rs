//! Work with files, and whether an I/O scheduler can make a difference there.

mod point;

use super::fields::{figures, place, probe, rounds, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, TableValue, field, name};
use point::{BesideRates, DeviceQueue, IoPoint, Schedulers, ios};
use serde_json::json;
use worstcase_base::distinct;
use worstcase_base::format::plain;
use worstcase_contract::bench::{Bench, Io};
use worstcase_results::record::Record;

fn columns() -> Vec<TableField<IoPoint>> {
    let mut all = place(|p: &IoPoint| &p.place);
    all.extend([
        probe(|p: &IoPoint| Bench::Io(p.io).to_string()),
        name("work", "work", |p: &IoPoint| work(&p.io)),
    ]);
    all.extend(rounds(|p: &IoPoint| &p.rounds, "operations"));
    all.extend(figures(
        "operations_a_second",
        ColumnKind::Count,
        |p: &IoPoint| p.operations_a_second.as_ref(),
        &[("median", "a second")],
    ));
    all.extend(figures(
        "bytes_a_second",
        ColumnKind::Megabytes,
        |p: &IoPoint| p.bytes_a_second.as_ref(),
        &[("median", "MB/s")],
    ));
    all.push(field(ColumnKind::Seconds, "sync_ns", "sync s", |p: &IoPoint| p.sync).optional());
    let beside = |kind, key: &str, heading: &str, rate: fn(&BesideRates) -> f64| {
        let rate = move |p: &IoPoint| p.beside.as_ref().map(rate);
        field(kind, format!("others_a_second.{key}"), heading, rate).optional()
    };
    all.extend([
        beside(ColumnKind::Megabytes, "read", "others: read MB/s", |rates| rates.read),
        beside(ColumnKind::Megabytes, "written", "write MB/s", |rates| rates.written),
        beside(ColumnKind::Number(0), "seeks", "seeks/s", |rates| rates.seeks),
        field(ColumnKind::Text, "schedulers", "schedulers", |p: &IoPoint| {
            json!(p.schedulers)
        })
        .programs(),
    ]);
    all
}

fn work(io: &Io) -> String {
    io.to_string()
        .trim_start_matches("io")
        .trim_start_matches([':', '+'])
        .to_string()
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = ios(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "io: time of an operation ({}); operations and MB (10^6 bytes) a second until all is on the device",
        units(view, points.iter().map(|p| &p.place))
    );
    vec![Table::new("io", title, &columns(), &points), schedulers(&points)]
}

/// A kind of work, with the rows of all its points.
struct WorkOnDevice<'a> {
    io: &'a Io,
    schedulers: Vec<&'a Schedulers>,
}

impl WorkOnDevice<'_> {
    fn devices(&self) -> String {
        let name = |schedulers: &&Schedulers| match schedulers {
            Schedulers::NotTold { .. } | Schedulers::NoDevice { .. } => "-".to_string(),
            Schedulers::NothingToDo { device } => device.clone(),
            Schedulers::Worked(queue) => queue.device.clone(),
        };
        distinct(self.schedulers.iter().map(name)).join(", ")
    }

    fn schedulers_matter(&self) -> bool {
        self.schedulers.iter().any(|schedulers| schedulers.matter())
    }

    /// The range of a value over several subjects.
    fn between(&self, value: fn(&DeviceQueue) -> Option<f64>) -> TableValue {
        let queues = self.schedulers.iter().filter_map(|schedulers| schedulers.queue());
        let values: Vec<f64> = queues.filter_map(value).collect();
        let ends = values
            .iter()
            .copied()
            .reduce(f64::min)
            .zip(values.iter().copied().reduce(f64::max));
        ends.map_or(TableValue::NONE, |(low, high)| TableValue::Between(low, high, None))
    }
}

/// Below this ratio throughputs are alike.
const ALIKE: f64 = 1.05;

/// Whether an I/O scheduler can make a difference in this run, and did, in a sentence; nothing if no device told.
pub(crate) fn can_matter(records: &[Record]) -> Option<String> {
    let points = ios(records);
    let told = works(&points);
    if told.is_empty() {
        return None;
    }
    let one = |of: &WorkOnDevice| {
        let did = match spread(points.iter().filter(|p| p.io == *of.io)) {
            None => String::new(),
            Some(times) if times < ALIKE => ", but all are alike in throughput".to_string(),
            Some(times) => format!(", and throughput differs {times:.1} times"),
        };
        match of.schedulers_matter() {
            true => format!("{}: several requests wait at once{did}", work(of.io)),
            false => format!("{}: no, one request at a time, or no other scheduler", work(of.io)),
        }
    };
    let answers: Vec<String> = told.iter().map(one).collect();
    Some(format!(
        "Can an I/O scheduler make a difference here? {}.",
        answers.join("; ")
    ))
}

/// The highest throughput of these points over the lowest; nothing of fewer than two.
fn spread<'a>(points: impl Iterator<Item = &'a IoPoint>) -> Option<f64> {
    let medians = points.filter_map(|p| Some(p.bytes_a_second.as_ref()?.figures().median));
    let medians: Vec<f64> = medians.filter(|median| *median > 0.0).collect();
    let high = medians.iter().copied().reduce(f64::max)?;
    let low = medians.iter().copied().reduce(f64::min)?;
    (medians.len() > 1).then(|| high / low)
}

/// The kinds of work of which a device tells.
fn works(points: &[IoPoint]) -> Vec<WorkOnDevice<'_>> {
    let is_told = |p: &&IoPoint| !matches!(p.schedulers, Schedulers::NotTold { .. });
    let told: Vec<&IoPoint> = points.iter().filter(is_told).collect();
    let of = |io| WorkOnDevice {
        io,
        schedulers: told.iter().filter(|p| p.io == *io).map(|p| &p.schedulers).collect(),
    };
    distinct(told.iter().map(|p| &p.io)).into_iter().map(of).collect()
}

fn schedulers(points: &[IoPoint]) -> Table {
    let works = works(points);
    let queue = |kind, key: &str, heading: &str, value: fn(&DeviceQueue) -> Option<f64>| {
        let between = move |work: &WorkOnDevice| work.between(value);
        field(kind, key, heading, between).ends("least", "most").optional()
    };
    let fields = [
        name("work", "work", |work: &WorkOnDevice| work.io.to_string()),
        name("answer", "answer", |work: &WorkOnDevice| {
            match work.schedulers_matter() {
                true => "yes",
                false => "no",
            }
        }),
        name("device", "device", |work: &WorkOnDevice| work.devices()),
        queue(ColumnKind::Percent(0), "busy", "busy", |q| Some(q.busy.min(1.0))),
        queue(ColumnKind::Number(1), "requests", "requests", |q| Some(q.average)),
        queue(ColumnKind::Percent(0), "several", "several", |q| q.several),
        field(ColumnKind::Count, "most", "most", |work: &WorkOnDevice| {
            let queues = work.schedulers.iter().filter_map(|schedulers| schedulers.queue());
            queues.map(|queue| queue.most).max()
        })
        .optional(),
    ];
    let mut notes = Vec::new();
    if !works.is_empty() {
        notes.extend([
            "requests: on average while there was one, from the queue to their end; several: share of the looks at a"
                .to_string(),
            "busy device that saw more than one; most: the most that a look saw. Of several subjects, least..most."
                .to_string(),
        ]);
    }
    notes.extend(distinct(points.iter().filter_map(|p| why(&p.schedulers))));
    let title = "can an I/O scheduler make a difference here? Only where several requests wait at once";
    Table::new("io_schedulers", title, &fields, &works).with(Vec::new(), notes)
}

/// Why a scheduler makes no difference for a device, if a line must say so.
fn why(schedulers: &Schedulers) -> Option<String> {
    let said = match schedulers {
        Schedulers::NotTold { tool } => {
            format!("{tool}: its file does not tell how many requests waited at the device")
        }
        Schedulers::NoDevice { file_system } => {
            format!("{file_system}: it has no block device of its own, or tells none")
        }
        Schedulers::NothingToDo { device } => format!("{device}: where it had nothing to do the page cache did it all"),
        Schedulers::Worked(DeviceQueue { device, schedulers, .. }) if schedulers.len() < 2 => {
            format!("{device}: there is no other scheduler than {}", schedulers.join(", "))
        }
        Schedulers::Worked(DeviceQueue {
            device,
            device_queue: Some(depth @ 2..),
            ..
        }) => {
            format!("{device}: it takes {depth} requests at once, and may choose among them by itself")
        }
        Schedulers::Worked(_) => return None,
    };
    Some(plain(&said))
}
