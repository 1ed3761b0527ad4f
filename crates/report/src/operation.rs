//! The longest operation on files, and what the lab's disk did meanwhile.

use super::bench::list;
use super::terminal::Style;
use worstcase_analysis::operation::{Beside, Operation, Part};
use worstcase_base::format::{grouped, plain};
use worstcase_contract::bench::DiskAction;

/// The form of the document.
const SCHEMA: &str = "worstcase-operations/1";
/// So many requests are shown, of those that came before its own and of its own.
const SHOWN: usize = 16;
const SECTOR: f64 = 512.0;

/// One after the other.
pub fn terminal(operations: &[Operation], style: Style) -> String {
    let each = operations.iter().flat_map(|operation| one(operation, style));
    each.collect::<Vec<String>>().join("\n")
}

/// The same for programs.
pub fn json(operations: &[Operation]) -> String {
    format!(
        "{:#}\n",
        serde_json::json!({ "schema": SCHEMA, "operations": operations })
    )
}

fn one(operation: &Operation, style: Style) -> Vec<String> {
    let mut lines = vec![
        style.bold(&plain(&operation.cell.to_string())),
        format!(
            "longest operation: {} us, {} s after the first began",
            micros(operation.took_ns.0 as i64),
            seconds(operation.from_ns.0)
        ),
    ];
    lines.extend(list(
        "where the time went",
        operation
            .parts
            .iter()
            .map(|(part, _)| words(*part).to_string())
            .collect(),
        &["us", "share"],
        operation
            .parts
            .iter()
            .map(|(_, time)| {
                let share = 100.0 * time.0 as f64 / operation.took_ns.0.max(1) as f64;
                vec![micros(time.0 as i64), format!("{share:.1} %")]
            })
            .collect(),
    ));
    lines.push(String::new());
    let own = operation.requests.iter().rposition(|r| r.is_own);
    let until = own.map_or(operation.requests.len(), |last| last + 1);
    let shown = &operation.requests[until.saturating_sub(SHOWN)..until];
    if shown.is_empty() {
        lines.extend(["the disk had no request meanwhile".into(), String::new()]);
        return lines;
    }
    lines.extend(list(
        "request in the disk, in the order of their ends",
        shown.iter().map(label).collect(),
        &["at GB", "came us", "waited", "seek", "rotation", "done us"],
        shown.iter().map(cells).collect(),
    ));
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

fn words(part: Part) -> &'static str {
    match part {
        Part::BeforeOthers => "its request not yet at the disk, which served others",
        Part::BeforeIdle => "its request not yet at the disk, which was idle (kernel, or the scheduler waits)",
        Part::Queued => "its request in the disk's queue",
        Part::Seek => "seek",
        Part::Rotation => "rotation",
        Part::Transfer => "controller and transfer",
        Part::After => "after its request: kernel and process",
        Part::Others => "no request of its own; the disk served others",
        Part::Idle => "no request of its own; the disk was idle",
    }
}

fn label(request: &Beside) -> String {
    let action = match request.request.action {
        DiskAction::Read => "read",
        DiskAction::Write => "write",
        DiskAction::Flush => "flush",
        DiskAction::Discard => "discard",
    };
    let own = if request.is_own { ", its own" } else { "" };
    format!("{action} {} KiB{own}", u64::from(request.request.sectors) / 2)
}

fn cells(request: &Beside) -> Vec<String> {
    let of = &request.request;
    vec![
        format!("{:.3}", of.sector as f64 * SECTOR / 1e9),
        micros(request.arrived_ns),
        micros(request.began_ns - request.arrived_ns),
        micros(of.seek.0 as i64),
        micros(of.rotation.0 as i64),
        micros(request.ended_ns),
    ]
}

fn micros(nanos: i64) -> String {
    format!("{:.0}", nanos as f64 / 1e3)
}

fn seconds(nanos: u64) -> String {
    format!("{:.3}", nanos as f64 / 1e9)
}
