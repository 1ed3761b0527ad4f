//! From a record back to the machine that gave it, and its replay.

use super::{ExplainArgs, ExplainError};
use crate::cli::kernels::Terminal;
use crate::kernels::ResolveOptions;
use crate::lab::LabError;
use crate::lab::cell::{self, Run as CellRun};
use crate::lab::matrix::Matrix;
use crate::lab::qemu::Qemu;
use crate::lab::replay::{LEAD, replay};
use crate::lab::snapshot::Snapshot;
use crate::lab::symbols::KernelSymbols;
use crate::record::{Machine, Record, SampleRow};
use crate::story::execution::{Execution, Symbols};
use crate::study::PlannedCell;

/// Runs the record's cell again and gives what ran around these samples (place in the record, row).
pub fn executions(
    args: &ExplainArgs,
    record: &Record,
    rows: &[(usize, SampleRow)],
) -> Result<(Vec<Execution>, Symbols), ExplainError> {
    let Machine::Lab(machine) = &record.subject.machine else {
        return Err(ExplainError::NotALab(record.id.clone()));
    };
    let spec = record.cell.spec().map_err(|e| LabError::Request(e.to_string()))?;
    let asked = record.subject.preempt.asked.as_ref();
    let planned = PlannedCell {
        kernel: record.subject.kernel.name.clone(),
        preempt: asked.unwrap_or(&record.subject.preempt.in_force).clone(),
        mips: machine.mips,
        memory_mb: machine.memory_mb,
        spec: spec.clone(),
    };
    let qemu = Qemu::find(args.qemu.as_deref())?;
    let terminal = Terminal::default();
    let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
    let matrix = Matrix::prepare(&[planned], &args.added, &qemu, &options)?;
    let prepared = matrix.subject(&matrix.cells()[0]);
    if prepared.key != machine.key {
        return Err(ExplainError::OtherMachine {
            cell: record.id.clone(),
        });
    }
    let snapshot = Snapshot::obtain(&options.cache, prepared)?;
    let run = CellRun {
        prepared,
        snapshot: &snapshot,
        spec: &spec,
        limit: None,
    };
    let raw = cell::obtain(&options.cache, &run)?;
    // The cache may have been emptied and the cell measured again: it must be the record's.
    let result = crate::lab::matrix::result(prepared, &snapshot, &raw)?;
    if result.record.digest != record.digest {
        return Err(ExplainError::OtherMachine {
            cell: record.id.clone(),
        });
    }
    let symbols = KernelSymbols::obtain(&options.cache, prepared, &snapshot, &spec.load)?;
    let places: Vec<usize> = rows.iter().map(|(place, _)| *place).collect();
    let executions = replay(&options.cache, &run, &raw, &symbols, &places, LEAD)?;
    Ok((executions, symbols.code))
}
