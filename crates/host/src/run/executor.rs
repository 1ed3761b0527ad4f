//! This machine as an executor: one measurement after the other, with every change in a journal.

use super::beside::OthersBeside;
use super::keep::keep;
use super::matrix::HostMatrix;
use super::measurement::{MeasurementObserver, measure};
use super::placed::PlacedMeasurement;
use super::settings::AppliedSettings;
use super::timerlat;
use crate::HostSpec;
use crate::{HostError, Journal, StateFolder};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use worstcase_base::ExitKind;
use worstcase_base::progress::Progress;
use worstcase_base::utc::Utc;
use worstcase_contract::Probe;
use worstcase_results::record::{Executor, ExecutorTask, Record, RecordOrigin, Run, Subject, SubjectMachine};

/// The command as journals name it.
const COMMAND: &str = "worstcase host run";

/// Measures this machine.
pub struct HostExecutor<'a> {
    matrix: HostMatrix,
    /// One task for each measurement.
    tasks: Vec<ExecutorTask>,
    state: &'a StateFolder,
    /// From [`Executor::begin`] to [`Executor::end`]. The lock allows one measurement at a time, because two would
    /// disturb each other.
    session: Mutex<Session<'a>>,
}

struct Session<'a> {
    watch: Box<dyn MeasurementObserver + Send + 'a>,
    journal: Option<Journal>,
    settings: Option<AppliedSettings>,
    tracing: Option<PathBuf>,
}

impl<'a> HostExecutor<'a> {
    /// An executor for this matrix; `watch` observes every measurement.
    pub fn new(
        matrix: HostMatrix,
        state: &'a StateFolder,
        watch: Box<dyn MeasurementObserver + Send + 'a>,
    ) -> HostExecutor<'a> {
        HostExecutor {
            tasks: matrix.tasks(),
            matrix,
            state,
            session: Mutex::new(Session {
                watch,
                journal: None,
                settings: None,
                tracing: None,
            }),
        }
    }

    /// The first setting since [`Executor::begin`] that was refused, in a line.
    pub fn refused(&self) -> Option<String> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = session.settings.as_ref()?.refused();
        refused.map(|outcome| outcome.line())
    }
}

impl Executor for HostExecutor<'_> {
    type Error = HostError;

    fn tasks(&self) -> &[ExecutorTask] {
        &self.tasks
    }

    fn preparations(&self, _missing: &[usize]) -> usize {
        0
    }

    fn changed(&self, record: &Record) -> Option<String> {
        changed(&record.subject, &self.matrix.subject)
    }

    fn tell(&self, note: &str) {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.watch.note(note);
    }

    fn begin(&mut self, missing: &[usize], _progress: &dyn Progress) -> Result<(), HostError> {
        if missing.is_empty() {
            return Ok(());
        }
        let session = self.session.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (journal, settings) =
            AppliedSettings::make(&self.matrix, self.state, COMMAND, |note| session.watch.note(note))?;
        let journal = session.journal.insert(journal);
        session.settings = Some(settings);
        let mut specs = missing.iter().map(|task| &self.matrix.specs[*task]);
        let timerlat = specs.find(|spec| spec.probe == Probe::Timerlat);
        session.tracing = timerlat.map(|spec| timerlat::prepare(spec, journal)).transpose()?;
        Ok(())
    }

    fn measure(&self, task: usize, run: &Run, stop: &AtomicBool) -> Result<(), HostError> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let spec = &self.matrix.specs[task];
        session.watch.begin(task + 1, self.tasks.len(), spec);
        let result = self.one(&mut session, task, run, stop);
        session.watch.end();
        result
    }

    fn end(&mut self) -> Result<(), HostError> {
        let session = self.session.get_mut().unwrap_or_else(PoisonError::into_inner);
        session.settings = None;
        session.journal.take().map_or(Ok(()), Journal::finish_all)
    }
}

impl HostExecutor<'_> {
    fn one(&self, session: &mut Session<'_>, task: usize, run: &Run, stop: &AtomicBool) -> Result<(), HostError> {
        let Session {
            watch,
            journal: Some(journal),
            tracing,
            settings,
        } = session
        else {
            return Err(HostError::Worker("it was not prepared".into()));
        };
        let scratch = run.scratch()?;
        let spec = &self.matrix.specs[task];
        let spec = HostSpec {
            samples_dir: scratch.path().to_path_buf(),
            tracing: tracing.clone().filter(|_| spec.probe == Probe::Timerlat),
            ..spec.clone()
        };
        let placed = PlacedMeasurement::begin(&self.matrix, self.state, COMMAND, &spec)?;
        let applied = placed.were_set(settings.as_ref());
        let spec = placed.spec.clone();
        let beside = OthersBeside::begin(self.state)?;
        beside.note().into_iter().for_each(|note| watch.note(note));
        let began = Utc::now();
        let mut done = measure(&spec, journal, stop, watch.as_mut()).map_err(|error| match error {
            HostError::Measurement(reason) => HostError::Measurement(run.shown_in(&reason)),
            HostError::Storage(reason) => HostError::Storage(run.shown_in(&reason)),
            other => other,
        })?;
        placed.end()?;
        done.warnings.extend(beside.end()?);
        if done.broke {
            // Then no further measurement begins.
            stop.store(true, Ordering::Relaxed);
        }
        let origin = RecordOrigin {
            began,
            ended: Utc::now(),
            applied,
            ..self.matrix.origin.clone()
        };
        let subject = self.matrix.subject_of(&spec);
        let measured = (&subject, &origin);
        if let (Probe::Bench(bench), Some(taken)) = (spec.probe, &done.bench) {
            return super::bench::keep(run, measured, &spec, bench, &done, taken);
        }
        let mut group = run.group()?;
        let kept = done
            .cpus
            .iter()
            .try_for_each(|cpu| keep(&mut group, measured, &spec, &done, cpu));
        // Its files are part of cells now, or not needed.
        drop(scratch);
        // All cells are kept or none; only when the disk is full the complete ones are better than none.
        match kept {
            Err(e) if e.exit() != ExitKind::Storage => Err(e),
            kept => group.publish().map_err(HostError::from).and(kept),
        }?;
        match done.full {
            true => Err(HostError::Full(run.dir().to_path_buf())),
            false => Ok(()),
        }
    }
}

/// How a recorded machine of the same name differs from this one: if it does, another machine would be measured.
fn changed(there: &Subject, here: &Subject) -> Option<String> {
    let (SubjectMachine::Host(machine_there), SubjectMachine::Host(machine_here)) = (&there.machine, &here.machine)
    else {
        return Some("it was not measured on a host".into());
    };
    let differs = [
        ("its kernel", there.kernel.digest != here.kernel.digest),
        ("its CPU", machine_there.cpu != machine_here.cpu),
        ("its number of CPUs", machine_there.cpus != machine_here.cpus),
        (
            "its boot parameters",
            machine_there.command_line != machine_here.command_line,
        ),
    ];
    let (what, _) = differs.into_iter().find(|(_, differs)| *differs)?;
    Some(format!("{what} changed"))
}
