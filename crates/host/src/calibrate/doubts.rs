//! Why a calibration may be wrong, in words.

use super::rounds::{OperationRounds, quantile};
use crate::MachineFacts;
use worstcase_timing::MeasuredOperation;
use worstcase_timing::table::OperationTable;

/// Time that the host takes (%) from which on it is told.
const STOLEN: f64 = 1.0;
/// How far the rounds of half of all operations may lie apart, in percent more.
const APART: f64 = 30.0;
/// The same of multiplications in registers, which nothing but the frequency and whoever shares the core can change.
const MOVING: f64 = 8.0;
/// The operation of those.
const MULTIPLY: &str = "multiply";

pub(super) fn of(
    table: &OperationTable,
    facts: &MachineFacts,
    cpu: u32,
    measured: &OperationRounds,
    operations: &[MeasuredOperation],
) -> Vec<String> {
    let more = |spread: f64| (spread - 1.0) * 100.0;
    let mut doubts = Vec::new();
    if facts.virtualization.hypervisor == Some(true) {
        doubts.push("a virtual machine: no event tells what it costs to leave for the hypervisor".into());
    }
    if measured.steal_percent >= STOLEN {
        let percent = measured.steal_percent;
        doubts.push(format!(
            "the host took {percent:.0} % of CPU {cpu} meanwhile: measure again when it is idle"
        ));
    }
    let spreads = operations.iter().map(|operation| (operation.spread * 1e3) as u64);
    let apart = more(quantile(spreads, 0.5) / 1e3);
    if apart > APART {
        doubts.push(format!(
            "half of all operations differ by {apart:.0} % and more from round to round: other work"
        ));
    }
    let moving = operations.iter().find(|operation| operation.name == MULTIPLY);
    if let Some(moving) = moving
        .map(|operation| more(operation.spread))
        .filter(|moving| *moving > MOVING)
    {
        doubts.push(format!(
            "multiplications differ by {moving:.0} % from round to round: the frequency moves, or the core is shared"
        ));
    }
    let series = facts.kernel.series().map(|(major, minor)| format!("{major}.{minor}."));
    if series.as_ref().is_none_or(|series| !table.kernel.starts_with(series)) {
        doubts.push(format!(
            "events were counted in {}, which is not the kernel here",
            table.kernel
        ));
    }
    doubts
}
