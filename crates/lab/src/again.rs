//! A recorded cell, ready to be run again: the same subject from the same inputs, or an error that says they changed.

use super::LabError;
use super::additions::Additions;
use super::boot;
use super::cell::{self, CellRun, RawResult};
use super::census::{self, CensusReplay};
use super::kernel_memory::{self, KernelMemory};
use super::machine::Mips;
use super::matrix::{self, LabMatrix};
use super::moments::{self, SampleMoment};
use super::prepared::Prepared;
use super::qemu::Qemus;
use super::replay;
use super::replay::Counted;
use super::snapshot::MachineSnapshot;
use super::symbols::KernelSymbols;
use crate::execution::{Execution, Symbols};
use std::ops::Range;
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_contract::{CellSpec, Instructions};
use worstcase_kernels::ResolveOptions;
use worstcase_kernels::debuginfo::BuildId;
use worstcase_results::record::Record;

/// A cell whose subject is made again, to the byte.
pub struct RecordedCell {
    matrix: LabMatrix,
}

impl RecordedCell {
    /// Makes the recorded cell's subject again. Fails if the kernel, QEMU, worstcase or an addition differs from what the
    /// record was made with.
    pub fn of(
        record: &Record,
        additions: &Additions,
        qemus: &Qemus,
        options: &ResolveOptions<'_>,
    ) -> Result<RecordedCell, LabError> {
        let planned = matrix::planned(record)?;
        let matrix = LabMatrix::prepare(std::slice::from_ref(&planned), additions, qemus, options)?;
        match matrix.subject(&matrix.cells()[0]).changed_since(record) {
            Some(what) => Err(other_inputs(record, what)),
            None => Ok(RecordedCell { matrix }),
        }
    }

    /// Boots it and runs the cell, as far as the cache has not both. Fails if the cell gives other samples than the record.
    pub fn ready(self, record: &Record, cache: &Cache, limit: Option<Duration>) -> Result<RepeatableCell, LabError> {
        let RecordedCell { matrix } = self;
        let cell = &matrix.cells()[0];
        let (prepared, spec) = (matrix.subject(cell), &cell.spec);
        let snapshot = boot::obtain(cache, prepared, limit)?;
        let run = CellRun {
            prepared,
            snapshot: &snapshot,
            spec,
            limit,
        };
        let raw = cell::obtain(cache, &run)?;
        if matrix::result(prepared, &snapshot.ready, &raw, None)?.record.digest != record.digest {
            return Err(other_inputs(record, "it gave other samples".into()));
        }
        let kernel = KernelSymbols::obtain(cache, prepared, &snapshot, &spec.load)?;
        Ok(RepeatableCell {
            matrix,
            snapshot,
            raw,
            kernel,
            limit,
        })
    }
}

fn other_inputs(record: &Record, what: String) -> LabError {
    LabError::OtherInputs {
        cell: record.id.to_string(),
        what,
    }
}

/// A cell with everything that it needs to run.
pub struct RepeatableCell {
    matrix: LabMatrix,
    snapshot: MachineSnapshot,
    /// The result of the cell, from the cache or from a new run: the same as the record.
    pub(super) raw: RawResult,
    pub(super) kernel: KernelSymbols,
    limit: Option<Duration>,
}

impl RepeatableCell {
    /// See [`RecordedCell::of`] and [`RecordedCell::ready`].
    pub fn of(
        record: &Record,
        additions: &Additions,
        qemus: &Qemus,
        options: &ResolveOptions<'_>,
        limit: Option<Duration>,
    ) -> Result<RepeatableCell, LabError> {
        RecordedCell::of(record, additions, qemus, options)?.ready(record, &options.cache, limit)
    }

    /// What ran around each of these samples (indices in the record), in the order of `samples`, beginning `lead` before it was
    /// due.
    pub fn replay(
        &mut self,
        cache: &Cache,
        samples: &[usize],
        lead: Instructions,
        counted: Counted,
    ) -> Result<Vec<Execution>, LabError> {
        let replay = replay::replay(cache, &self.run(), &self.raw, &self.kernel, samples, lead, counted)?;
        self.kernel.code.add_modules(replay.modules);
        Ok(replay.executions)
    }

    /// Hands over what ran around each of these samples, in the order of time, beginning `lead` before the due time, with
    /// the symbols that name it.
    pub fn replay_each(
        &self,
        cache: &Cache,
        samples: &[usize],
        lead: Instructions,
        mut each: impl FnMut(&Execution, &Symbols),
    ) -> Result<(), LabError> {
        let mut symbols = None;
        let each = |_, execution: Execution, modules: &Symbols| {
            let symbols = symbols.get_or_insert_with(|| {
                let mut symbols = self.kernel.code.clone();
                symbols.add_modules(modules.clone());
                symbols
            });
            each(&execution, symbols);
            Ok(())
        };
        replay::replay_each(cache, &self.run(), &self.raw, &self.kernel, samples, lead, each).map(drop)
    }

    /// The symbols of what ran; those of modules that the load brought are known after a replay or a census.
    pub fn symbols(&self) -> &Symbols {
        &self.kernel.code
    }

    /// The build-id of its kernel, if the kernel shows it.
    pub fn build_id(&self) -> Result<Option<BuildId>, LabError> {
        self.kernel.build_id(&self.snapshot)
    }

    /// The code that its kernel gives every program, an ELF file.
    pub fn vdso(&self) -> Result<Option<Vec<u8>>, LabError> {
        let memory = KernelMemory::open(&self.snapshot.memory())?;
        Ok(kernel_memory::vdso(&memory))
    }

    /// The symbols, by value, when nothing is to be replayed any more.
    pub fn into_symbols(self) -> Symbols {
        self.kernel.code
    }

    /// Virtual CPU speed.
    pub fn mips(&self) -> Mips {
        self.prepared().subject.mips
    }

    /// The cell's content key.
    pub fn key(&self) -> Result<String, LabError> {
        cell::key(self.prepared(), self.spec())
    }

    /// The cell's samples in instruction counts, in order.
    pub fn moments(&self) -> Result<Vec<SampleMoment>, LabError> {
        moments::moments(&self.raw, self.mips()).map_err(|why| LabError::Stamps(cell::describe(&self.run()), why))
    }

    /// What the readers that `reader` makes, one for each machine at once, make of what ran in each of these stretches, given
    /// with its index.
    pub fn replay_stretches<T: Send, R: FnMut(usize, Execution) -> T>(
        &self,
        cache: &Cache,
        stretches: &[Range<Instructions>],
        reader: impl Fn() -> R + Sync,
    ) -> Result<Vec<T>, LabError> {
        let run = self.run();
        let nothing = Counted::Nothing;
        let read = replay::replay_stretches(cache, &run, &self.raw, &self.kernel, stretches, nothing, reader)?;
        Ok(read.0)
    }

    /// What ran in this window, and the functions of modules.
    pub fn replay_window(
        &self,
        cache: &Cache,
        window: Range<Instructions>,
        counted: Counted,
    ) -> Result<(Execution, Symbols), LabError> {
        let run = self.run();
        replay::replay_window(cache, &run, &self.raw, &self.kernel, window, counted)
    }

    /// Makes replays and censuses follow this CPU instead of the probe's.
    pub fn follow(&mut self, cpu: u32) -> Result<(), LabError> {
        let prepared = self.matrix.subject(&self.matrix.cells()[0]);
        self.kernel.follow(prepared, &self.snapshot, cpu)
    }

    /// Makes censuses count sections of the kernel alone, whichever thread runs.
    pub fn leave_priorities(&mut self) {
        self.kernel.leave_priorities();
    }

    /// The CPU that replays and censuses follow.
    pub fn followed(&self) -> u32 {
        self.kernel.cpu
    }

    /// All sections of the cell in which a wake-up would have to wait.
    pub fn census(&mut self, cache: &Cache, audit: bool) -> Result<CensusReplay, LabError> {
        let taken = census::take(cache, &self.run(), &self.raw, &self.kernel, audit)?;
        self.kernel.code.add_modules(taken.modules.clone());
        Ok(taken)
    }

    pub(super) fn prepared(&self) -> &Prepared {
        self.matrix.subject(&self.matrix.cells()[0])
    }

    pub(super) fn spec(&self) -> &CellSpec {
        &self.matrix.cells()[0].spec
    }

    fn run(&self) -> CellRun<'_> {
        CellRun {
            prepared: self.prepared(),
            snapshot: &self.snapshot,
            spec: self.spec(),
            limit: self.limit,
        }
    }
}
