//! The cycles of a program of the user's own as samples.

use super::build::samples_file;
use super::passes::FirstPasses;
use super::samples::RunningDigest;
use super::{
    Accounting, CellId, CellRecord, CellResult, CycleParts, FollowedProgram, MethodRecord, Periods, Record,
    RecordBuildError, SCHEMA, SampleRow, SelfCostRecord, Subject, Summaries, WorkRecord, parquet,
};
use std::collections::BTreeMap;
use worstcase_contract::{CellSpec, Instructions, Nanos, RawRecord};
use worstcase_traces::follow::CycleTimes;

/// In the place of a timer's name: the program waits as it likes.
const OWN_TIMER: &str = "own";

/// What became of every period, from the first cycle's to the last one's. The error says how the cycles contradict each other.
pub fn account(cycles: &[CycleTimes], missed: u64) -> Result<Periods, String> {
    if !cycles.is_sorted_by(|a, b| a.index < b.index) {
        return Err("cycles are not in order".into());
    }
    let (first, last) = (cycles.first(), cycles.last());
    let span = first
        .zip(last)
        .map_or(0, |(first, last)| u64::from(last.index - first.index) + 1);
    let taken = cycles.len() as u64;
    let expected = span.max(taken + missed);
    let gap = |(a, b): (&CycleTimes, &CycleTimes)| u64::from(b.index - a.index - 1);
    let longest = cycles.iter().zip(cycles.iter().skip(1)).map(gap).max().unwrap_or(0);
    Ok(Periods {
        expected,
        taken,
        missed,
        // A period without a cycle that nothing was late for: its events were lost.
        lost: expected - taken - missed,
        longest_missed_run: longest.min(missed),
        missed_at_ends: 0,
    })
}

/// The cycles as samples, from period 0 on.
pub fn rows(cycles: &[CycleTimes]) -> impl Iterator<Item = SampleRow> {
    let first = cycles.first().map_or(0, |cycle| cycle.index);
    cycles.iter().map(move |cycle| SampleRow {
        index: cycle.index - first,
        due: cycle.release,
        latency: cycle.response(),
        irq_latency: None,
        after_irq: None,
        instructions: None,
        parts: None,
        cycle: Some(CycleParts {
            start: cycle.start.saturating_sub(cycle.release),
            execution: cycle.execution,
            interference: cycle.interference,
            blocked: cycle.blocked,
            unexplained: cycle.unexplained,
        }),
        jitter_ns: None,
    })
}

/// What all cycles together gave: their figures, and the digest of their samples.
pub fn sums(cycles: &[CycleTimes], period: Nanos, expected: u32) -> (Summaries, String) {
    let mut digest = RunningDigest::new(expected);
    let mut first = FirstPasses::new(period);
    for row in rows(cycles) {
        digest.add(&row);
        first.add(&row);
    }
    let mut second = first.second(expected);
    rows(cycles).for_each(|row| second.add(&row));
    (second.finish(), digest.finish())
}

/// How a program is measured: it waits as it likes.
pub fn method(policy: String, cpus: Vec<u32>) -> MethodRecord {
    MethodRecord {
        timer: OWN_TIMER.to_string(),
        policy,
        cpus,
        distance_ns: 0,
        threshold_ns: None,
    }
}

/// A program that ran in a machine of the lab.
#[derive(Clone, Debug)]
pub struct LabCycles<'a> {
    /// The program and its thread.
    pub program: FollowedProgram,
    /// How the thread is scheduled, and its real-time priority.
    pub scheduling: (String, u8),
    /// The CPUs on which it ran.
    pub cpus: Vec<u32>,
    /// The distance of two releases, if they are regular.
    pub period: Option<Nanos>,
    /// Its cycles, in order.
    pub cycles: &'a [CycleTimes],
    /// Periods that passed without a cycle of their own.
    pub missed: u64,
    /// What may have changed the result.
    pub warnings: Vec<String>,
    /// Further facts, by name.
    pub facts: BTreeMap<String, String>,
    /// What was found, as the file beside the record has it.
    pub found: Option<String>,
}

impl CellResult {
    /// Builds record and samples file of a program's cycles; `instructions` is the number that the lab executed meanwhile.
    pub fn of_cycles(
        subject: Subject,
        raw: &RawRecord,
        instructions: Instructions,
        followed: LabCycles<'_>,
    ) -> Result<CellResult, RecordBuildError> {
        let spec: CellSpec = raw.spec.parse()?;
        let contradiction = RecordBuildError::Contradiction;
        let account = account(followed.cycles, followed.missed).map_err(contradiction)?;
        let periods = u32::try_from(account.expected).map_err(|e| contradiction(e.to_string()))?;
        let period = followed.period.unwrap_or_default();
        let accounting = Accounting::Periods(account);
        let rows: Vec<SampleRow> = rows(followed.cycles).collect();
        let (summary, digest) = sums(followed.cycles, period, periods);
        let id = CellId::new(&subject.id(), &spec.load, &spec.probe.to_string(), spec.seed, None);
        let labels = parquet::FileLabels::new(&id, &subject).of_cycles();
        let samples = parquet::encode(&rows, &labels, &accounting)?;
        let (policy, priority) = followed.scheduling;
        let record = Record {
            schema: SCHEMA.to_string(),
            id,
            subject,
            cell: CellRecord {
                period_ns: period.0,
                periods,
                priority,
                method: Some(method(policy, followed.cpus)),
                ..CellRecord::from(&spec)
            },
            accounting,
            summary,
            instructions: Some(instructions),
            self_cost: Some(SelfCostRecord::from(&raw.self_cost)),
            work: raw.work.iter().map(WorkRecord::from).collect(),
            warnings: raw.warnings.iter().cloned().chain(followed.warnings).collect(),
            console: Vec::new(),
            origin: None,
            foreign: None,
            followed: Some(followed.program),
            scheduler: None,
            environment: raw.environment.clone().into_iter().chain(followed.facts).collect(),
            digest,
            causes: Vec::new(),
            details: None,
            samples: samples_file(&samples, rows.len() as u64),
        };
        record.check().map_err(contradiction)?;
        Ok(CellResult {
            record,
            samples,
            found: followed.found,
        })
    }
}
