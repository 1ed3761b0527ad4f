//! Writes the measuring process's results to folders, in a thread of its own because a disk may be slow.

use super::file::{WatchFile, WatchGap};
use super::folder::WatchFolder;
use super::observer::{KeptSegment, WatchEvent, WatchObserver};
use super::segment::{self, KeptCell};
use crate::message::WatchSegment;
use crate::run::HostMatrix;
use crate::run::keep::CAPTURES_FILE;
use crate::{HostError, HostSpec};
use std::sync::mpsc::Receiver;
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::clock;
use worstcase_plan::ExperimentPlan;
use worstcase_results::record::{RecordOrigin, Run, RunPlan, SampleSelection, WasSet};

/// What the keeper is to write.
pub(crate) enum KeepOrder {
    /// A segment, finished or not.
    Segment(Box<WatchSegment>),
    /// A gap.
    Gap(WatchGap),
}

/// Writes segments and gaps.
pub(crate) struct Keeper<'a> {
    pub folder: &'a WatchFolder,
    pub file: WatchFile,
    pub matrix: &'a HostMatrix,
    pub spec: &'a HostSpec,
    pub selection: SampleSelection,
    /// The settings that `--apply` made.
    pub applied: Option<Vec<WasSet>>,
    pub plan: &'a ExperimentPlan,
    pub look: &'a dyn WatchObserver,
    /// The running segment.
    pub running: Option<RunningSegment>,
}

/// A segment that is not over.
pub(crate) struct RunningSegment {
    segment: u64,
    run: Run,
    began: Utc,
}

impl Keeper<'_> {
    /// Writes orders until all senders are gone.
    pub fn keep(&mut self, orders: &Receiver<KeepOrder>) -> Result<(), HostError> {
        for order in orders {
            match order {
                KeepOrder::Segment(segment) => self.segment(&segment)?,
                KeepOrder::Gap(gap) => self.gap(gap)?,
            }
        }
        Ok(())
    }

    /// Writes down a gap, and reports it.
    pub fn gap(&mut self, gap: WatchGap) -> Result<(), HostError> {
        self.file.add(gap);
        self.folder.write(&self.file)?;
        self.look.see(WatchEvent::Gap(&gap));
        Ok(())
    }

    fn segment(&mut self, segment: &WatchSegment) -> Result<(), HostError> {
        let ended = Utc::now();
        let began = match &self.running {
            Some(running) => running.began,
            None => Utc::at(ended.seconds().saturating_sub(age(segment).0 / 1_000_000_000)),
        };
        let origin = RecordOrigin {
            began,
            ended,
            applied: self.applied.clone(),
            ..self.matrix.origin.clone()
        };
        let subject = self.matrix.subject_of(self.spec);
        let cells = segment::cells(segment, self.spec, self.selection, (&subject, &origin))?;
        if cells.is_empty() {
            return Ok(());
        }
        if self
            .running
            .as_ref()
            .is_none_or(|running| running.segment != segment.number)
        {
            let run = self.begin(began)?;
            let segment = segment.number;
            self.running = Some(RunningSegment { segment, run, began });
        }
        let Some(running) = &self.running else {
            return Ok(());
        };
        let mut group = running.run.group()?;
        for KeptCell { cell, captures } in &cells {
            let beside = captures.as_ref().map(|captures| (CAPTURES_FILE, captures.as_slice()));
            group.replace(cell, beside.as_slice())?;
        }
        group.publish()?;
        if segment.ended {
            let kept = kept(running, ended, segment, &cells, self.spec);
            self.running = None;
            self.folder.thin(self.file.keep)?;
            self.look.see(WatchEvent::Kept(&kept));
        }
        Ok(())
    }

    fn begin(&self, began: Utc) -> Result<Run, HostError> {
        let plan = ExperimentPlan {
            title: format!("{}: {}, {}", self.plan.title, self.matrix.origin.host, began.readable()),
            ..self.plan.clone()
        };
        let tasks = self.matrix.tasks();
        let cells = tasks.into_iter().flat_map(|task| task.cells).collect();
        Ok(self.folder.begin(began, RunPlan::new(plan, cells))?)
    }
}

/// How long ago a segment began.
fn age(segment: &WatchSegment) -> Nanos {
    let starts = segment.done.cpus.iter().map(|cpu| cpu.start);
    starts
        .min()
        .map_or(Nanos(0), |start| clock::monotonic().saturating_sub(start))
}

fn kept(
    running: &RunningSegment,
    ended: Utc,
    segment: &WatchSegment,
    cells: &[KeptCell],
    spec: &HostSpec,
) -> KeptSegment {
    let sum = |of: fn(&KeptCell) -> u64| cells.iter().map(of).sum();
    let max = |kept: &KeptCell| {
        let summary = kept.cell.record.summary.latency.as_ref()?;
        Some((Nanos(summary.max_ns), kept.cell.record.cell.cpu?))
    };
    KeptSegment {
        folder: running.run.dir().to_path_buf(),
        began: running.began,
        ended,
        early: segment.done.cpus.iter().any(|cpu| cpu.seen.expected() < spec.periods),
        taken: sum(|p| p.cell.record.accounting.taken()),
        missed: sum(|p| p.cell.record.accounting.missed()),
        lost: sum(|p| p.cell.record.accounting.lost()),
        max: cells.iter().filter_map(max).max(),
    }
}
