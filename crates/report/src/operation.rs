//! The longest operation on files, and what the lab's disk did meanwhile.

use super::table::json::rows;
use super::table::terminal::figures;
use super::table::{ColumnKind, Table, TableValue, field, name, us};
use crate::style::{Style, WIDTH};
use serde_json::{Value, json};
use worstcase_analysis::operation::{ConcurrentRequest, Operation, OperationPart};
use worstcase_base::format::{grouped, plain};
use worstcase_contract::Nanos;
use worstcase_contract::bench::DiskAction;

/// The form of the document.
const SCHEMA: &str = "worstcase-operations/2";
/// At most so many requests are shown, both of those before its own and of its own.
const SHOWN: usize = 16;
const SECTOR: f64 = 512.0;

/// The operations, one after the other.
pub fn terminal(operations: &[Operation], style: Style) -> String {
    let each = operations.iter().flat_map(|operation| one(operation, style));
    each.collect::<Vec<String>>().join("\n")
}

/// The same for programs.
pub fn json(operations: &[Operation]) -> String {
    let one = |operation: &Operation| {
        let mut value = json!(operation);
        value["parts"] = rows(&parts(operation));
        value["requests"] = rows(&requests(&operation.requests));
        value
    };
    let operations: Vec<Value> = operations.iter().map(one).collect();
    format!("{:#}\n", json!({ "schema": SCHEMA, "operations": operations }))
}

fn one(operation: &Operation, style: Style) -> Vec<String> {
    let mut lines = vec![
        style.bold(&plain(&operation.cell.to_string())),
        format!(
            "longest operation: {} us, {:.3} s after the first began",
            us(operation.took_ns.0 as f64),
            operation.from_ns.0 as f64 / 1e9
        ),
    ];
    lines.extend(figures(&parts(operation), WIDTH));
    lines.push(String::new());
    let own = operation.requests.iter().rposition(|r| r.is_own);
    let until = own.map_or(operation.requests.len(), |last| last + 1);
    let shown = &operation.requests[until.saturating_sub(SHOWN)..until];
    if shown.is_empty() {
        lines.extend(["the disk had no request meanwhile".into(), String::new()]);
        return lines;
    }
    lines.extend(figures(&requests(shown), WIDTH));
    if shown.len() < operation.requests.len() {
        lines.push(format!(
            "({} of {} that were in the disk meanwhile; all: --json)",
            shown.len(),
            grouped(operation.requests.len() as u64)
        ));
    }
    lines.push(String::new());
    lines
}

fn parts(operation: &Operation) -> Table {
    let took = operation.took_ns.0.max(1) as f64;
    let fields = [
        name("part", "where the time went", |(part, _): &(OperationPart, Nanos)| {
            TableValue::in_words(words(*part), TableValue::key_of(part))
        }),
        field(ColumnKind::Time, "ns", "us", |(_, time): &(OperationPart, Nanos)| *time),
        field(
            ColumnKind::Percent(1),
            "share",
            "share",
            move |(_, time): &(OperationPart, Nanos)| time.0 as f64 / took,
        ),
    ];
    Table::new("parts", "", &fields, &operation.parts)
}

fn requests(shown: &[ConcurrentRequest]) -> Table {
    let time = |key: &str, heading: &str, ns: fn(&ConcurrentRequest) -> i64| {
        field(ColumnKind::Time, key, heading, move |request: &ConcurrentRequest| {
            ns(request)
        })
    };
    let fields = [
        name("request", "request in the disk, in the order of their ends", label),
        field(
            ColumnKind::Number(3),
            "at_gb",
            "at GB",
            |request: &ConcurrentRequest| request.request.sector as f64 * SECTOR / 1e9,
        ),
        time("arrived_ns", "came us", |r| r.arrived_ns),
        time("waited_ns", "waited", |r| r.began_ns - r.arrived_ns),
        time("seek_ns", "seek", |r| r.request.seek.0 as i64),
        time("rotation_ns", "rotation", |r| r.request.rotation.0 as i64),
        time("ended_ns", "done us", |r| r.ended_ns),
        time("began_ns", "began us", |r| r.began_ns).programs(),
        field(ColumnKind::Text, "is_own", "its own", |r: &ConcurrentRequest| r.is_own).programs(),
        field(ColumnKind::Text, "of_disk", "", |r: &ConcurrentRequest| {
            json!(r.request)
        })
        .programs(),
    ];
    Table::new("requests", "", &fields, shown)
}

fn words(part: OperationPart) -> &'static str {
    match part {
        OperationPart::BeforeOthers => "its request not yet at the disk, which served others",
        OperationPart::BeforeIdle => "its request not yet at the disk, which was idle (kernel, or the scheduler waits)",
        OperationPart::Queued => "its request in the disk's queue",
        OperationPart::Seek => "seek",
        OperationPart::Rotation => "rotation",
        OperationPart::Transfer => "controller and transfer",
        OperationPart::After => "after its request: kernel and process",
        OperationPart::Others => "no request of its own; the disk served others",
        OperationPart::Idle => "no request of its own; the disk was idle",
    }
}

fn label(request: &ConcurrentRequest) -> String {
    let action = match request.request.action {
        DiskAction::Read => "read",
        DiskAction::Write => "write",
        DiskAction::Flush => "flush",
        DiskAction::Discard => "discard",
    };
    let own = if request.is_own { ", its own" } else { "" };
    format!("{action} {} KiB{own}", u64::from(request.request.sectors) / 2)
}
