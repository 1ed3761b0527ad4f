//! One cell: a fork of a snapshot that measures, and the raw result it leaves.

use super::LabError;
use super::checkpoint::Checkpoint;
use super::fork::{Course, Fork, LEFTOVERS, PluginRequest};
use super::message::LONGEST_MESSAGE;
use super::plugin_log;
use super::prepared::Prepared;
use super::process::last_lines;
use super::snapshot::MachineSnapshot;
use super::speed::{self, TimedWork};
use super::symbols::KernelSymbols;
use super::warm;
use super::watchdog::{BOOT, MachineLimits};
use super::witness;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_base::digest::Digest;
use worstcase_base::files::read_most;
use worstcase_base::format::plain;
use worstcase_base::sealed;
use worstcase_cell::order::{Instrument, Order};
use worstcase_contract::loads::{LoadKind, LoadSpec};
use worstcase_contract::spec::CellSpec;
use worstcase_contract::trace::Event;
use worstcase_contract::{Instructions, Nanos, RawRecord};
use worstcase_instruments::loads;

/// The area of the cache with raw results.
const AREA: &str = "cells";

/// The message about a damaged result.
const AGAIN: &str = "the cell is measured again";

/// Console lines that are kept with a result.
const CONSOLE_LINES: usize = 40;
/// The last line of every guest's console.
const POWER_DOWN: &str = "reboot: Power down";

/// What is needed to run one cell.
pub struct CellRun<'a> {
    /// The subject.
    pub prepared: &'a Prepared,
    /// Its snapshot.
    pub snapshot: &'a MachineSnapshot,
    /// The cell.
    pub spec: &'a CellSpec,
    /// Real time that the machine may take, if the user limits it; otherwise no limit while it makes progress.
    pub limit: Option<Duration>,
}

/// The result of a cell: the guest's record and the plugin's events.
#[derive(Debug, PartialEq)]
pub struct RawResult {
    /// The record of the guest.
    pub record: RawRecord,
    /// The events of the plugin, in order.
    pub events: Vec<Event>,
    /// The last lines of the console.
    pub console: Vec<String>,
}

/// The cell's content key: equal keys give equal results.
pub fn key(prepared: &Prepared, spec: &CellSpec) -> Result<String, LabError> {
    let order = encoded(prepared, spec)?;
    Ok(Digest::new("worstcase-cell/2").text(&prepared.key).bytes(&order).hex())
}

/// What the machine is asked for.
pub(super) fn order(prepared: &Prepared, spec: &CellSpec) -> Result<Order, LabError> {
    let order = prepared.subject.machine.order_of(spec);
    let mut order = order.map_err(|e| LabError::Request(e.to_string()))?;
    if let Order::Measure(cell, machine) = &mut order {
        machine.stops_when_warm = warm::can_stop(&prepared.subject.machine);
        if cell.instrument == Instrument::Program {
            machine.program = prepared.subject.additions.followed.clone();
            if machine.program.is_empty() {
                let what = format!("{} is a program of your own: name its file with --program", spec.probe);
                return Err(LabError::Request(what));
            }
        }
    }
    Ok(order)
}

fn encoded(prepared: &Prepared, spec: &CellSpec) -> Result<Vec<u8>, LabError> {
    let order = order(prepared, spec)?.encode();
    order.map_err(|e| LabError::Request(e.to_string()))
}

/// Whether the cache has this cell's result.
pub fn is_cached(cache: &Cache, key: &str) -> bool {
    cache.get(AREA, key).is_some()
}

/// A result on its way to another machine: its files, and the machine that made them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultParts {
    /// By name: `record`, `events`, `console`.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The machine that made them.
    pub made_by: String,
}

/// The files of a result.
const FILES: [&str; 3] = ["record", "events", "console"];

impl ResultParts {
    /// The files of a result in the cache.
    pub fn kept(cache: &Cache, key: &str) -> Result<ResultParts, LabError> {
        let folder = cache.path(AREA, key);
        let read = |name: &str| {
            let path = folder.join(name);
            let bytes = worstcase_base::files::read(&path).map_err(LabError::io(path))?;
            Ok::<_, LabError>((name.to_string(), bytes))
        };
        Ok(ResultParts {
            files: FILES.into_iter().map(read).collect::<Result<_, _>>()?,
            made_by: sealed::made_by(&folder),
        })
    }

    /// Keeps the files; an existing result must be the same. Files that cannot be read as a result are refused.
    pub fn keep(&self, cache: &Cache, prepared: &Prepared, spec: &CellSpec) -> Result<(), LabError> {
        let (key, what) = (key(prepared, spec)?, described(prepared, spec));
        cache.take_in(AREA, &key, AGAIN, &what, |building| {
            let write = |name: &str, bytes: &[u8]| {
                let path = building.join(name);
                std::fs::write(&path, bytes).map_err(LabError::io(path))
            };
            for name in FILES {
                let bytes = self.files.get(name).map(Vec::as_slice).unwrap_or_default();
                write(name, bytes)?;
            }
            write(sealed::MADE_BY, self.made_by.as_bytes())?;
            let whence = || format!("{what}, from {}", self.made_by);
            let raw = decode(building, spec).map_err(|reason| LabError::NoResult {
                what: whence(),
                reason,
                console: last_lines(&building.join("console"), CONSOLE_LINES),
            })?;
            hold_against_marks(&raw, prepared, spec, whence)
        })?;
        Ok(())
    }
}

/// The result in the cache; none if there is none, or if it is damaged, which is reported.
pub fn kept(cache: &Cache, prepared: &Prepared, spec: &CellSpec) -> Result<Option<RawResult>, LabError> {
    match cache.kept(AREA, &key(prepared, spec)?, AGAIN)? {
        Some(folder) => read_raw(&folder, spec).map(Some),
        None => Ok(None),
    }
}

/// Takes the result from the cache, or runs the cell and keeps its result.
pub fn obtain(cache: &Cache, run: &CellRun) -> Result<RawResult, LabError> {
    let key = key(run.prepared, run.spec)?;
    let folder = cache.keep_equal(AREA, &key, AGAIN, &describe(run), |building| {
        let length = speed::length(run.spec);
        speed::timed(cache, TimedWork::of(run.spec), length, || execute(run, building))?;
        for name in LEFTOVERS {
            let path = building.join(name);
            std::fs::remove_file(&path).map_err(LabError::io(path))?;
        }
        Ok::<(), LabError>(())
    })?;
    read_raw(&folder, run.spec)
}

/// Runs the cell with its files in `folder`.
pub fn execute(run: &CellRun, folder: &Path) -> Result<RawResult, LabError> {
    execute_watched(run, folder, &PluginRequest::default(), &Course::Whole)
}

/// Runs the cell to its end, with a further request to the plugin.
pub(super) fn execute_watched(
    run: &CellRun,
    folder: &Path,
    asked: &PluginRequest,
    course: &Course,
) -> Result<RawResult, LabError> {
    let (order, asked) = (encoded(run.prepared, run.spec)?, asked.clone().and(untimed(run)?));
    let fork = fork(run, &order, &asked, run.snapshot.warm().obtain(run)?);
    fork.run_along(folder, course)?;
    let raw = decode(folder, run.spec).map_err(|reason| fork.no_result(folder, reason))?;
    if !matches!(course, Course::Part(..)) {
        hold_against_marks(&raw, run.prepared, run.spec, || describe(run))?;
    }
    Ok(raw)
}

/// Runs a part of the cell, and gives the events of that part.
pub(super) fn execute_part(
    run: &CellRun,
    folder: &Path,
    asked: &PluginRequest,
    part: &Course,
) -> Result<Vec<Event>, LabError> {
    let (order, asked) = (encoded(run.prepared, run.spec)?, asked.clone().and(untimed(run)?));
    let fork = fork(run, &order, &asked, run.snapshot.warm().obtain(run)?);
    fork.run_along(folder, part)?;
    plugin_log::read(&folder.join("events")).map_err(|reason| fork.no_result(folder, reason))
}

/// A fork of the cell's machine.
pub(super) fn fork<'a>(
    run: &CellRun<'a>,
    order: &'a [u8],
    asked: &'a PluginRequest,
    warm: Option<Arc<Checkpoint>>,
) -> Fork<'a> {
    Fork {
        prepared: run.prepared,
        snapshot: run.snapshot,
        warm,
        order,
        asked,
        limits: MachineLimits::new(most_instructions(run), run.limit),
        what: describe(run),
    }
}

/// The tracer by which a program is followed takes no time: it is not part of what is measured.
pub(super) fn untimed(run: &CellRun) -> Result<PluginRequest, LabError> {
    if run.prepared.subject.additions.followed.is_empty() {
        return Ok(PluginRequest::default());
    }
    let kernel = KernelSymbols::obtain(run.snapshot.cache(), run.prepared, run.snapshot, &run.spec.load)?;
    Ok(PluginRequest {
        arguments: kernel.untimed_arguments(),
        ..PluginRequest::default()
    })
}

/// Refuses a record that contradicts what the plugin saw.
pub(super) fn hold_against_marks(
    raw: &RawResult,
    prepared: &Prepared,
    spec: &CellSpec,
    what: impl FnOnce() -> String,
) -> Result<(), LabError> {
    let smp = &prepared.subject.machine.smp;
    let apart = if smp.cpus > 1 { smp.quantum } else { Nanos(0) };
    witness::check(&raw.record, &raw.events, spec, apart).map_err(|why| LabError::Contradicted(what(), why))
}

/// The cell, for messages.
pub fn describe(run: &CellRun) -> String {
    described(run.prepared, run.spec)
}

/// The cell, for messages, without a snapshot.
pub(crate) fn described(prepared: &Prepared, spec: &CellSpec) -> String {
    format!(
        "{}, load {}, probe {}, seed {}",
        prepared.subject.label(),
        spec.load,
        spec.probe,
        spec.seed
    )
}

/// Limit in instructions for a cell whose work is not known beforehand: half an hour on a usual host.
const UNKNOWN_WORK: Instructions = Instructions(500_000_000_000);

/// The limit for a cell: the instructions of a boot, and four times those that fit into its measuring time and warm-up, and
/// into the set-up of a program that reports when it is ready.
fn most_instructions(run: &CellRun) -> Instructions {
    if !run.spec.probe.is_periodic() {
        return UNKNOWN_WORK;
    }
    let load: Result<LoadSpec, _> = run.spec.load.parse();
    let is_awaited = load.is_ok_and(|load| load.parts().iter().any(|part| part.kind() == LoadKind::CmdReady));
    let set_up = if is_awaited { loads::SET_UP } else { Nanos(0) };
    let virtual_ns = set_up.0 + run.spec.warmup.0 + run.spec.period.0 * u64::from(run.spec.periods);
    let instructions = virtual_ns >> run.prepared.subject.mips.shift();
    Instructions(BOOT.0 + 4 * instructions)
}

fn read_raw(folder: &Path, spec: &CellSpec) -> Result<RawResult, LabError> {
    decode(folder, spec).map_err(|reason| LabError::Damaged {
        folder: folder.to_path_buf(),
        reason,
        again: AGAIN,
    })
}

/// Reads the result of this cell; the error says why it is none.
fn decode(folder: &Path, spec: &CellSpec) -> Result<RawResult, String> {
    let message = read_most(&folder.join("record"), LONGEST_MESSAGE).map_err(|e| format!("record: {e}"))?;
    let record = RawRecord::decode(&message).map_err(|e| e.to_string())?;
    if spec.to_text().ok().as_ref() != Some(&record.spec) {
        return Err(format!("it is of another cell: {}", plain(&record.spec)));
    }
    let events = plugin_log::read(&folder.join("events"))?;
    let console = last_lines(&folder.join("console"), CONSOLE_LINES);
    let console = console
        .lines()
        .filter(|l| !l.ends_with(POWER_DOWN))
        .map(str::to_string)
        .collect();
    Ok(RawResult {
        record,
        events,
        console,
    })
}
