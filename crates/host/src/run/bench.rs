//! Keeps the result of a probe that does not measure CPU by CPU: one cell.

use super::keep::{BOOT_ID, add_cpus, add_environment};
use crate::HostError;
use crate::HostSpec;
use crate::message::{BenchDone, MeasurementEnd};
use crate::state::boot_id;
use worstcase_contract::RawRecord;
use worstcase_contract::bench::Bench;
use worstcase_contract::{CellSpec, Nanos, Probe};
use worstcase_results::record::{CellResult, MethodRecord, RecordOrigin, Run, Subject};

/// Keeps the result. A measurement that ended before its first sample gives no cell.
pub(super) fn keep(
    run: &Run,
    (subject, origin): (&Subject, &RecordOrigin),
    spec: &HostSpec,
    bench: Bench,
    done: &MeasurementEnd,
    taken: &BenchDone,
) -> Result<(), HostError> {
    let Some(last) = taken.samples.last() else {
        return Ok(());
    };
    let contradiction = |e: String| HostError::Contradiction(e);
    // A measurement that the user, or its own time limit, ended early is complete with fewer samples.
    let ends_by_time = matches!(bench, Bench::Io(io) if io.time().is_some());
    let expected = if done.stopped || ends_by_time {
        last.index + 1
    } else {
        spec.periods
    };
    let text = CellSpec {
        probe: Probe::Bench(bench),
        load: spec.load.to_string(),
        period: spec.interval,
        periods: expected,
        seed: spec.seed,
        warmup: spec.warmup,
        priority: spec.scheduling.priority(),
    }
    .to_text()
    .map_err(|e| HostError::Argument(e.to_string()))?;
    let mut raw = RawRecord {
        spec: text,
        start: taken.start,
        expected,
        samples: taken.samples.clone(),
        self_cost: taken.self_cost,
        work: done.work.clone(),
        warnings: done.warnings.clone(),
        environment: done.environment.clone(),
        details: Some(taken.details.clone()),
        counters: std::collections::BTreeMap::new(),
        trace: None,
    };
    raw.environment.insert(BOOT_ID.to_string(), boot_id());
    add_cpus(&mut raw.environment, spec);
    add_environment(&mut raw.environment, done, taken.measured, taken.steal);
    let mut result = CellResult::new(subject.clone(), &raw, &[], None).map_err(|e| contradiction(e.to_string()))?;
    result.record.cell.method = Some(MethodRecord {
        timer: spec.waker.name().to_string(),
        policy: spec.scheduling.to_string(),
        cpus: spec.cpus.clone(),
        distance_ns: Nanos(0).0,
        threshold_ns: None,
    });
    result.record.origin = Some(origin.clone());
    result.record.check().map_err(contradiction)?;
    Ok(run.write_cell(&result)?)
}
