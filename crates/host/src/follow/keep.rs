//! The cycles of a followed program as a run: one cell, whose samples are the cycles.

use super::CycleTimes;
use crate::doctor::examine;
use crate::run::keep::BOOT_ID;
use crate::run::{origin, subject};
use crate::spec::ThreadScheduling;
use crate::state::boot_id;
use crate::trace::TraceRecorder;
use crate::{HostError, MachineFacts};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use worstcase_base::format::{counted, plain};
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;
use worstcase_contract::probe::ProbeInfo;
use worstcase_instruments::environment;
use worstcase_results::record::build::SAMPLES_FILE;
use worstcase_results::record::cycles::{account, method, rows, sums};
use worstcase_results::record::parquet::{FileLabels, SamplesWriter};
use worstcase_results::record::{
    Accounting, CellEntry, CellId, CellRecord, FOLLOW_FILE, FollowCommand, FollowedProgram, LOST_EVENTS, Periods,
    Record, RecordOrigin, Run, RunPlan, SCHEMA, SamplesFile, Subject, SubjectKernel, TRACE_COST, folder,
};

/// Key of a record's environment: what recorded the trace.
const RECORDER: &str = "trace_recorder";
/// Nothing is chosen by a seed.
const SEED: u64 = 1;

/// The machine on which a program was followed.
#[derive(Clone, Debug)]
pub struct FollowedMachine {
    /// The machine.
    pub subject: Subject,
    /// How it was set, and when it was: [`keep`] takes both times as they are.
    pub origin: RecordOrigin,
    /// What the kernel says of itself.
    pub environment: BTreeMap<String, String>,
}

impl FollowedMachine {
    /// This one, before a program is followed, which may run on any CPU.
    pub fn of_here() -> FollowedMachine {
        let facts = MachineFacts::of("/".as_ref());
        let cpus = facts.cpu.online.clone().unwrap_or_default();
        let mut environment = environment::read();
        let subject = subject::of(&facts, &environment);
        environment.insert(BOOT_ID.to_string(), boot_id());
        FollowedMachine {
            origin: origin::of(&facts, &examine(&facts, &cpus)),
            subject,
            environment,
        }
    }

    /// The same, followed from `began` to `ended`.
    #[must_use]
    pub fn at(mut self, began: Utc, ended: Utc) -> FollowedMachine {
        (self.origin.began, self.origin.ended) = (began, ended);
        self
    }
}

/// What is known of a program that was followed.
#[derive(Clone, Debug)]
pub struct FollowedCycles<'a> {
    /// The program and its thread.
    pub program: FollowedProgram,
    /// How the thread is scheduled.
    pub scheduling: ThreadScheduling,
    /// The CPUs on which it ran.
    pub cpus: Vec<u32>,
    /// What ran beside, in the user's words.
    pub load: Option<String>,
    /// The distance of two releases, if they are regular.
    pub period: Option<Nanos>,
    /// Its cycles, in order.
    pub cycles: &'a [CycleTimes],
    /// Periods that passed without a cycle of their own.
    pub missed: u64,
    /// No cycle may end later than this after its release.
    pub deadline: Option<Nanos>,
    /// Events of the kernel's trace that it dropped.
    pub lost_events: u64,
    /// So much later does the trace make a wake-up, if that was measured.
    pub trace_cost: Option<Nanos>,
    /// What recorded it, if that is known.
    pub recorder: Option<TraceRecorder>,
    /// Whether the kernel held real-time threads back meanwhile, if that is known.
    pub throttled: Option<bool>,
    /// The time that a hypervisor took from the CPUs meanwhile, if that is known.
    pub steal: Option<Nanos>,
    /// What else may have changed the result; each is a doubt of every verdict.
    pub warnings: Vec<String>,
    /// The command, as typed.
    pub command: FollowCommand,
    /// What was found: a JSON object, with its sentences in the list `sentences`.
    pub found: Option<&'a str>,
}

/// Writes the run folder `dir`.
pub fn keep(dir: &Path, machine: &FollowedMachine, followed: &FollowedCycles) -> Result<Run, HostError> {
    let account = account(followed.cycles, followed.missed).map_err(HostError::Contradiction)?;
    let cell = cell(followed, &account)?;
    let entry = CellEntry::named(&machine.subject.id(), &cell.load, &cell.probe, cell.seed, cell.cpu);
    let title = plain(&format!("{}, followed", followed.program.named()));
    let plan = RunPlan::followed(title, followed.command.clone(), followed.deadline, entry);
    let run = Run::create(dir, plan)?;
    let id = run.plan().cells[0].id.clone();
    let scratch = run.scratch()?;
    let samples = scratch.path().join(SAMPLES_FILE);
    let found = scratch.path().join(FOLLOW_FILE);
    let failed = |source: io::Error| HostError::Samples {
        path: run.shown(&samples),
        source,
    };
    let labels = FileLabels::new(&id, &machine.subject).of_cycles();
    let written = write(&samples, followed.cycles, &Accounting::Periods(account), &labels).map_err(failed)?;
    let record = record(id, machine, followed, cell, Accounting::Periods(account), written)?;
    let mut files = vec![(SAMPLES_FILE, samples.as_path())];
    if let Some(json) = followed.found {
        worstcase_base::output::write(&found, json.as_bytes()).map_err(failed)?;
        files.push((FOLLOW_FILE, found.as_path()));
    }
    let mut group = run.group()?;
    group.move_in(&record, &files)?;
    group.publish()?;
    drop(scratch);
    Ok(run)
}

fn cell(followed: &FollowedCycles, account: &Periods) -> Result<CellRecord, HostError> {
    let program = &followed.program;
    let periods = u32::try_from(account.expected)
        .map_err(|_| HostError::Contradiction(format!("{} periods are too many", account.expected)))?;
    Ok(CellRecord {
        probe: ProbeInfo::word_of_program(&program.program, &program.thread),
        load: followed
            .load
            .clone()
            .unwrap_or_else(|| SubjectKernel::UNKNOWN.to_string()),
        period_ns: followed.period.unwrap_or_default().0,
        periods,
        seed: SEED,
        warmup_ns: 0,
        priority: followed.scheduling.priority(),
        // A thread may run on any: the cell is the thread's.
        cpu: None,
        method: Some(method(followed.scheduling.to_string(), followed.cpus.clone())),
    })
}

/// Writes the samples.
fn write(path: &Path, cycles: &[CycleTimes], account: &Accounting, labels: &FileLabels) -> io::Result<SamplesFile> {
    let mut writer = SamplesWriter::new(BufWriter::new(File::create_new(path)?), labels)?;
    rows(cycles).try_for_each(|row| writer.push(row))?;
    writer
        .finish(account)?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    Ok(SamplesFile {
        file: SAMPLES_FILE.to_string(),
        rows: account.rows(),
        bytes: std::fs::metadata(path)?.len(),
        sha256: folder::sha256_of_file(path)?,
        selection: None,
    })
}

fn record(
    id: CellId,
    machine: &FollowedMachine,
    followed: &FollowedCycles,
    cell: CellRecord,
    accounting: Accounting,
    samples: SamplesFile,
) -> Result<Record, HostError> {
    let (summary, digest) = sums(followed.cycles, followed.period.unwrap_or_default(), cell.periods);
    let lost = (followed.lost_events > 0).then(|| {
        let events = counted(followed.lost_events, "event");
        format!("{events} of the trace lost: cycles may be missing, and times around them wrong")
    });
    let record = Record {
        schema: SCHEMA.to_string(),
        id,
        subject: machine.subject.clone(),
        cell,
        accounting,
        summary,
        instructions: None,
        self_cost: None,
        work: Vec::new(),
        warnings: lost.into_iter().chain(followed.warnings.iter().cloned()).collect(),
        console: Vec::new(),
        origin: Some(machine.origin.clone()),
        foreign: None,
        followed: Some(followed.program.clone()),
        scheduler: None,
        environment: environment(machine, followed),
        digest,
        causes: Vec::new(),
        details: None,
        samples,
    };
    record.check().map_err(HostError::Contradiction)?;
    Ok(record)
}

fn environment(machine: &FollowedMachine, followed: &FollowedCycles) -> BTreeMap<String, String> {
    let mut environment = machine.environment.clone();
    let lost = Some(followed.lost_events).filter(|events| *events > 0);
    let facts = [
        ("measured_ns", Some(followed.program.observed_ns)),
        ("steal_ns", followed.steal.map(|time| time.0)),
        ("rt_throttled", followed.throttled.map(u64::from)),
        (TRACE_COST, followed.trace_cost.map(|cost| cost.0)),
        (LOST_EVENTS, lost),
    ];
    let known = facts.into_iter().filter_map(|(key, value)| Some((key, value?)));
    environment.extend(known.map(|(key, value)| (key.to_string(), value.to_string())));
    let recorder = followed.recorder.map(|recorder| recorder.to_string());
    environment.extend(recorder.map(|recorder| (RECORDER.to_string(), recorder)));
    environment
}
