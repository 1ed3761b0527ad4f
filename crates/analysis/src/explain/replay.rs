//! From a record back to the machine that gave it, and its replay.

use super::error::ExplainError;
use crate::breakdown::lines::SourceLines;
use crate::cycle::{self, CycleBreakdown, CycleSubject};
use crate::debuginfo::LineOrigin;
use crate::kept::kept;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::path::Path;
use worstcase_base::cache::Cache;
use worstcase_base::digest::Digest;
use worstcase_contract::{Instructions, Nanos};
use worstcase_kernels::ResolveOptions;
use worstcase_kernels::debuginfo;
use worstcase_lab::LabError;
use worstcase_lab::additions::Additions;
use worstcase_lab::again::{RecordedCell, RepeatableCell};
use worstcase_lab::execution::{Execution, Symbols};
use worstcase_lab::qemu::Qemus;
use worstcase_lab::replay::{Counted, LEAD, LONGEST_BLOCK, LONGEST_LEAD};
use worstcase_results::record::{FollowedProgram, Record, Run, SampleRow, SubjectMachine};

/// The name of the code that the kernel gives every program.
const VDSO: &str = "vdso";

/// The means to replay a cell of the lab.
#[derive(Clone, Copy)]
pub struct ReplayMeans<'a> {
    /// The QEMU that measured the run, if not the one on the search path.
    pub qemu: Option<&'a Path>,
    /// The additions with which the run was measured, if not those that it names.
    pub additions: &'a Additions,
    /// A vmlinux with debug information, instead of the cache's.
    pub debug_info: Option<&'a Path>,
    /// The options with which kernels are found.
    pub options: &'a ResolveOptions<'a>,
}

/// A cell that was replayed, and can be once more.
pub(crate) struct Replayed<'a> {
    /// Lines of source code.
    pub(crate) lines: Box<dyn SourceLines>,
    again: RepeatableCell,
    cache: &'a Cache,
    counted: Counted,
}

impl Replayed<'_> {
    /// Names of code.
    pub(crate) fn symbols(&self) -> &Symbols {
        self.again.symbols()
    }

    /// The execution around the sample at this place in the record, from the sample before it on, if that is not too far away.
    pub(crate) fn with_all_before(&mut self, place: usize) -> Result<Execution, ExplainError> {
        let again = self.again.replay(self.cache, &[place], LONGEST_LEAD, self.counted)?;
        Ok(again.into_iter().next().expect("one for each sample"))
    }
}

/// Gives what `find` finds in a record's replay; kept in the cache, so that the subject is not made again to be asked once more.
/// Where the user names a part of it, that is compared with the record each time.
pub(crate) fn kept_of<T: Serialize + DeserializeOwned>(
    means: &ReplayMeans,
    run: &Run,
    record: &Record,
    area: &str,
    asked: &[&str],
    find: impl FnOnce(PreparedReplay) -> Result<T, ExplainError>,
) -> Result<T, ExplainError> {
    let key = key(means, record)?;
    let (asked, cache) = ([&[key.as_str()], asked].concat(), &means.options.cache);
    let additions = means.additions.or_of(&run.plan().experiment)?;
    if means.qemu.is_some() || !additions.is_empty() {
        let recorded = RecordedReplay::of(means, record, additions)?;
        return kept(cache, area, &asked, || find(recorded.ready()?));
    }
    kept(cache, area, &asked, || {
        find(RecordedReplay::of(means, record, additions)?.ready()?)
    })
}

/// The key of what a replay shows: the subject, the cell, its samples, and the lines that are known.
fn key(means: &ReplayMeans, record: &Record) -> Result<String, ExplainError> {
    let SubjectMachine::Lab(machine) = &record.subject.machine else {
        return Err(LabError::OtherInputs {
            cell: record.id.to_string(),
            what: "it was not measured in the lab".into(),
        }
        .into());
    };
    let mut key = Digest::new("recorded");
    key.text(&machine.key)
        .text(&format!("{:?}", record.cell))
        .text(&record.digest);
    for lines in debuginfo::kept::names(&means.options.cache) {
        key.text(&lines);
    }
    if let Some(named) = means.debug_info {
        key.text(&named.display().to_string());
    }
    Ok(key.hex())
}

/// A record's cell, whose subject is made again.
struct RecordedReplay<'a> {
    means: ReplayMeans<'a>,
    record: &'a Record,
    cell: RecordedCell,
    additions: Additions,
}

impl<'a> RecordedReplay<'a> {
    /// Makes the subject of a record again, which was measured with these additions.
    fn of(
        means: &ReplayMeans<'a>,
        record: &'a Record,
        additions: Additions,
    ) -> Result<RecordedReplay<'a>, ExplainError> {
        let qemus = Qemus::new(means.qemu, &means.options.cache, means.options.progress);
        let cell = RecordedCell::of(record, &additions, &qemus, means.options)?;
        Ok(RecordedReplay {
            means: *means,
            record,
            cell,
            additions,
        })
    }

    /// Prepares the replay.
    fn ready(self) -> Result<PreparedReplay<'a>, ExplainError> {
        let again = self.cell.ready(self.record, &self.means.options.cache, None)?;
        Ok(PreparedReplay {
            means: self.means,
            record: self.record,
            again,
            additions: self.additions,
        })
    }
}

/// A record's cell, ready to be run again.
pub(crate) struct PreparedReplay<'a> {
    means: ReplayMeans<'a>,
    record: &'a Record,
    again: RepeatableCell,
    additions: Additions,
}

impl<'a> PreparedReplay<'a> {
    /// Prepares the replay of a record of this run.
    pub(crate) fn of(
        means: &ReplayMeans<'a>,
        run: &Run,
        record: &'a Record,
    ) -> Result<PreparedReplay<'a>, ExplainError> {
        let additions = means.additions.or_of(&run.plan().experiment)?;
        RecordedReplay::of(means, record, additions)?.ready()
    }

    /// The cell.
    pub(crate) fn again(&self) -> &RepeatableCell {
        &self.again
    }

    fn cache(&self) -> &'a Cache {
        &self.means.options.cache
    }

    /// What ran in this stretch, and what that consists of.
    pub(crate) fn counted(&self, stretch: Range<Instructions>) -> Result<Execution, ExplainError> {
        let from = Instructions(stretch.start.0.saturating_sub(LONGEST_BLOCK));
        let again = self
            .again
            .replay_window(self.cache(), from..stretch.end, Counted::Costs)?;
        Ok(again.0)
    }

    /// Whence the lines of source code are.
    pub(crate) fn origin(&self) -> Result<LineOrigin<'_>, LabError> {
        LineOrigin::of(
            self.record,
            &self.again,
            &self.additions,
            self.means.debug_info,
            self.cache(),
        )
    }

    /// Runs the cell again for the cycle that was released at this instant, and tells its parts and their functions.
    pub(crate) fn cycle(mut self, release: Nanos) -> Result<CycleBreakdown, ExplainError> {
        let cache = self.cache();
        let origin = LineOrigin::of(self.record, &self.again, &self.additions, self.means.debug_info, cache)?;
        let kernel = origin.kernel(&self.again)?;
        let replayed = self.again.replay_cycle(cache, release)?;
        let lines = origin.with_modules(kernel, &self.again);
        let mut files = self.additions.files()?;
        files.extend(self.again.vdso()?.map(|vdso| (VDSO.to_string(), vdso)));
        let machine = self.record.subject.virtual_machine();
        let subject = CycleSubject {
            cell: self.record.id.to_string(),
            program: self
                .record
                .followed
                .as_ref()
                .map(FollowedProgram::named)
                .unwrap_or_default(),
            unit: self.record.subject.time_unit(),
            has_other_cpus: machine.is_some_and(|machine| machine.smp.cpus > 1),
        };
        Ok(cycle::tell(
            replayed,
            self.again.into_symbols(),
            &lines,
            &files,
            subject,
        ))
    }

    /// Runs the cell again, and gives what ran around each of these samples (place in the record, row).
    pub(crate) fn replay(
        mut self,
        rows: &[(usize, SampleRow)],
        counted: Counted,
    ) -> Result<(Vec<Execution>, Replayed<'a>), ExplainError> {
        let cache = self.cache();
        let origin = LineOrigin::of(self.record, &self.again, &self.additions, self.means.debug_info, cache)?;
        // A file that does not fit is told before the replay, which takes long.
        let kernel = origin.kernel(&self.again)?;
        let places: Vec<usize> = rows.iter().map(|(place, _)| *place).collect();
        let executions = self.again.replay(cache, &places, LEAD, counted)?;
        let replayed = Replayed {
            lines: Box::new(origin.with_modules(kernel, &self.again)),
            again: self.again,
            cache,
            counted,
        };
        Ok((executions, replayed))
    }
}
