//! Reasons why an experiment cannot be measured, in one line each.

use crate::parameters::{self, ParameterOwner};
use crate::{
    CellLength, CpuList, CpuScheduler, Experiment, Part, PlannedSubject, SchedulingPolicy, Subjects, Venue, grammar,
};
use std::fmt::Display;
use worstcase_base::duration;
use worstcase_base::format::grouped;
use worstcase_contract::loads::LoadSpec;
use worstcase_contract::policy::ProbePolicy;
use worstcase_contract::{CellSpec, Nanos, Probe};
use worstcase_instruments::sys::rtc;

/// Why an experiment cannot be measured: the fault and the allowed values, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Problem {
    /// The key of study files that is wrong.
    pub field: &'static str,
    /// The number of the faulty value, if there are several.
    pub nth: Option<usize>,
    /// The fault.
    pub what: String,
}

impl Problem {
    pub(crate) fn new(field: &'static str, what: impl Into<String>) -> Problem {
        Problem {
            field,
            nth: None,
            what: what.into(),
        }
    }

    /// The same problem at this one of several values.
    pub(crate) fn at(self, nth: usize) -> Problem {
        Problem { nth: Some(nth), ..self }
    }
}

/// More seeds than a user would wait for, and few enough to count in memory.
const MAX_SEEDS: u64 = 10_000;

/// Cells of one experiment: ten times as many as the largest that was ever planned, and few enough to hold in memory.
pub const MOST_CELLS: u64 = 100_000;

/// Longest text of a load, in bytes; the lab's machine takes less.
const LONGEST_LOAD: usize = 4_096;

/// An error if these numbers of cells, one for each part (nothing: too large to be counted), are too many together.
pub(crate) fn check_cells(parts: impl IntoIterator<Item = Option<u64>>) -> Result<(), Problem> {
    let sum = parts.into_iter().try_fold(0_u64, |sum, cells| sum.checked_add(cells?));
    match sum {
        Some(0..=MOST_CELLS) => Ok(()),
        _ => {
            let cells = sum.map_or_else(
                || "more cells than can be counted".into(),
                |n| format!("{} cells", grouped(n)),
            );
            let what = format!(
                "it would be {cells}, and an experiment has at most {}: ask for fewer of its subjects, loads, probes or seeds, or in several runs",
                grouped(MOST_CELLS)
            );
            Err(Problem::new("loads", what))
        }
    }
}

impl PlannedSubject {
    fn check(&self) -> Result<(), Problem> {
        if self.kernel.is_empty() {
            return Err(Problem::new("kernels", "a kernel has no name; write e.g. debian:6.1"));
        }
        self.machine.check()
    }
}

impl Experiment {
    /// Refuses an experiment that cannot be measured on any machine. Whether a kernel or a right is there shows
    /// when it runs.
    pub fn check(&self) -> Result<(), Problem> {
        if self.parts.is_empty() {
            return Err(Problem::new("part", "an experiment has at least one part"));
        }
        if let Some(added) = self.added.iter().find(|added| !added.source.is_absolute()) {
            let what = format!("the path {} is not absolute", added.source.display());
            return Err(Problem::new("add", what));
        }
        self.check_program()?;
        if let Some(module) = self.modules.iter().find(|module| !module.source.is_absolute()) {
            let what = format!("the path {} is not absolute", module.source.display());
            return Err(Problem::new("module", what));
        }
        if self.setup.load_cpus.as_ref().is_some_and(CpuList::is_empty) {
            return Err(Problem::new("load_cpus", "'load_cpus' is empty"));
        }
        self.parts.iter().try_for_each(|part| part.check(self.venue))?;
        let cells = self.parts.iter().map(|part| part.count(self.venue));
        check_cells(cells.collect::<Result<Vec<_>, _>>()?)
    }

    /// A program is the only probe, and a probe that is a program is this one.
    fn check_program(&self) -> Result<(), Problem> {
        if self.program.is_none() && !self.program_args.is_empty() {
            return Err(Problem::new(
                "program_args",
                "arguments go with a program: name it with --program (in a study: program)",
            ));
        }
        self.program_words()?;
        let own = self.program.as_ref().map(Experiment::probe_of);
        for part in &self.parts {
            let other = part.probes(self.venue)?.into_iter().find(|probe| {
                let is_own = Some(probe.to_string()) == own;
                !is_own && (own.is_some() || probe.info().is_program())
            });
            match (other, &own) {
                (None, _) => {}
                (Some(other), Some(own)) => {
                    let what = format!("a program ({own}) is the only probe of its run; leave {other} out");
                    return Err(Problem::new("probes", what));
                }
                (Some(other), None) => {
                    let what = format!("{other} is a program of your own: name its file (program)");
                    return Err(Problem::new("probes", what));
                }
            }
        }
        Ok(())
    }

    /// The usual limit of these probes' latency, if the user gives none.
    pub fn usual_criterion(&self) -> Option<Nanos> {
        let probes = self
            .parts
            .iter()
            .flat_map(|part| part.probes(self.venue).unwrap_or_default());
        grammar::usual_criterion(probes)
    }

    /// Whether a census can be taken of every cell.
    pub fn check_census(&self) -> Result<(), Problem> {
        for part in &self.parts {
            if part.method.policy == Some(SchedulingPolicy::Other) {
                return Err(Problem::new("census", NO_CENSUS_OF_ORDINARY));
            }
            if let Some(probe) = part.probes(self.venue)?.iter().find(|probe| !probe.awaits_timer()) {
                return Err(Problem::new("census", no_census_without_timer(probe)));
            }
        }
        Ok(())
    }
}

impl Part {
    /// Refuses a part that cannot be measured in this venue.
    pub fn check(&self, venue: Venue) -> Result<(), Problem> {
        match (&self.subjects, venue) {
            (Subjects::Kernels(kernels), Venue::Lab) => {
                not_empty(kernels.len(), "kernels")?;
                kernels.iter().try_for_each(PlannedSubject::check)?;
                check_of_hosts(self)?;
                self.check_lab_policy()?;
                self.check_disk(kernels)?;
                check_schedulers(kernels)?;
                self.check_arch(kernels)?;
            }
            (Subjects::Cpus(cpus), Venue::Host) => match cpus {
                Some(cpus) if cpus.is_empty() => return Err(Problem::new("cpus", "'cpus' is empty")),
                _ => {}
            },
            (Subjects::Kernels(_), Venue::Host) => {
                return Err(Problem::new("kernels", "a host has CPUs in place of kernels"));
            }
            (Subjects::Cpus(_), Venue::Lab) => {
                return Err(Problem::new("cpus", "the lab has kernels in place of CPUs"));
            }
        }
        not_empty(self.loads.len(), "loads")?;
        for (nth, load) in self.loads.iter().enumerate() {
            load.check_venue(venue)
                .map_err(|e| Problem::new("loads", e.0).at(nth))?;
            let length = load.to_string().len();
            if length > LONGEST_LOAD {
                let what =
                    format!("a load of {length} bytes, more than {LONGEST_LOAD}; put the commands into a script");
                return Err(Problem::new("loads", what).at(nth));
            }
        }
        not_empty(self.probes.len(), "probes")?;
        if self.seeds.first > self.seeds.last || self.seeds.count() > MAX_SEEDS {
            let what = format!("seeds is 1 to {MAX_SEEDS}, not {}", self.seeds.last);
            return Err(Problem::new("seeds", what));
        }
        if !(1..=99).contains(&self.method.priority) {
            let what = format!("a real-time priority is 1 to 99, not {}", self.method.priority);
            return Err(Problem::new("priority", what));
        }
        if let Some(nice) = self.method.nice {
            if self.method.policy != Some(SchedulingPolicy::Other) {
                return Err(Problem::new("nice", "a nice value goes with the policy 'other'"));
            }
            if !ProbePolicy::NICE.contains(&nice) {
                return Err(Problem::new("nice", format!("a nice value is -20 to 19, not {nice}")));
            }
        }
        if self.timing.warmup > CellSpec::MAX_WARMUP {
            let what = format!(
                "a warm-up is at most {}, not {}",
                duration::show(CellSpec::MAX_WARMUP),
                duration::show(self.timing.warmup)
            );
            return Err(Problem::new("warmup", what));
        }
        for probe in self.probes(venue)? {
            let Some(device) = probe.device() else { continue };
            let has_it = |load: &&LoadSpec| load.devices().any(|of_load| of_load == device);
            if let Some(load) = self.loads.iter().find(has_it) {
                let what = format!(
                    "'{load}' and the probe {probe} cannot share {}; take another probe, e.g. irq+hpet",
                    device.title()
                );
                return Err(Problem::new("loads", what));
            }
        }
        self.check_timing(venue)
    }

    /// A probe that sleeps until it is due takes a policy, and one that never sleeps: the others have their own.
    fn check_lab_policy(&self) -> Result<(), Problem> {
        let Some(policy) = self.method.policy else {
            return Ok(());
        };
        if policy == SchedulingPolicy::Deadline {
            return Err(Problem::new(
                "policy",
                "in the lab a policy is fifo, rr or other, not deadline",
            ));
        }
        match self.probes(Venue::Lab)?.iter().find(|probe| !probe.takes_policy()) {
            None => Ok(()),
            Some(probe) => Err(Problem::new(
                "policy",
                format!("{probe} has a policy of its own; leave it out, or leave the policy out"),
            )),
        }
    }

    /// An I/O scheduler needs a disk: the subject has one, or one comes with the probe.
    fn check_disk(&self, kernels: &[PlannedSubject]) -> Result<(), Problem> {
        let mut without = kernels.iter().filter(|subject| subject.machine.disk.is_none());
        let Some(scheduler) = without.find_map(|subject| subject.machine.io_scheduler.as_ref()) else {
            return Ok(());
        };
        match self.probes(Venue::Lab)?.iter().find(|probe| !probe.needs_disk()) {
            None => Ok(()),
            Some(probe) => Err(Problem::new(
                "io_scheduler",
                format!(
                    "{scheduler} schedules for a disk, and {probe} needs none; name one (disk), or leave the scheduler out"
                ),
            )),
        }
    }

    fn check_timing(&self, venue: Venue) -> Result<(), Problem> {
        let probes = self.probes(venue)?;
        let is_periodic = probes.iter().any(|p| p.is_periodic());
        let (min, max) = (CellSpec::MIN_PERIOD, CellSpec::MAX_PERIOD);
        if let Some(interval) = self.timing.interval {
            if !is_periodic {
                let what = "an interval: switch and hackbench have none";
                return Err(Problem::new("interval", what));
            }
            if interval < min || interval > max {
                let what = format!(
                    "an interval is {} to {}, not {}",
                    duration::show(min),
                    duration::show(max),
                    duration::show(interval)
                );
                return Err(Problem::new("interval", what));
            }
        }
        let ticking = probes.iter().find(|probe| probe.info().ticks_as_rtc_in_lab);
        if let (Venue::Lab, Some(probe)) = (venue, ticking) {
            let interval = self.timing.interval.unwrap_or(probe.usual_period(venue));
            if rtc::hz(interval).is_none() {
                let what = format!(
                    "the probe {probe} needs an interval that the RTC has: {}, not {}",
                    duration::show(rtc::nearest(interval)),
                    duration::show(interval)
                );
                return Err(Problem::new("interval", what));
            }
        }
        match self.timing.length {
            Some(CellLength::Samples(n)) if n == 0 || n > CellSpec::MAX_PERIODS => {
                let max = CellSpec::MAX_PERIODS;
                let what = format!("the number of samples is 1 to {max}, not {n}");
                Err(Problem::new("samples", what))
            }
            Some(CellLength::Time(_)) if !is_periodic => {
                let what = "a time: switch and hackbench take a number of samples, --samples in place of --time";
                Err(Problem::new("time", what))
            }
            Some(CellLength::Time(time)) => {
                let longest = probes.iter().map(|p| self.interval_of(venue, *p)).max();
                match longest {
                    Some(interval) if time < interval => {
                        let what = format!(
                            "a time of {} is shorter than one interval of {}",
                            duration::show(time),
                            duration::show(interval)
                        );
                        Err(Problem::new("time", what))
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// The interval of one of the probes; 0 if it has none.
    pub(crate) fn interval_of(&self, venue: Venue, probe: Probe) -> Nanos {
        match probe.usual_period(venue) {
            Nanos(0) => Nanos(0),
            usual => self.timing.interval.unwrap_or(usual),
        }
    }
}

/// In the lab the probe is woken in one way, and at fixed times.
fn check_of_hosts(part: &Part) -> Result<(), Problem> {
    let of_hosts = parameters::all(Venue::Host).filter(|p| parameters::find(Venue::Lab, p.key).is_none());
    for parameter in of_hosts {
        match &parameter.owner {
            ParameterOwner::Part(field) if !(field.get)(part).is_empty() => {
                parameters::check_key(Venue::Lab, parameter.key)?
            }
            _ => {}
        }
    }
    Ok(())
}

/// Names of subjects tell schedulers apart by a word.
fn check_schedulers(kernels: &[PlannedSubject]) -> Result<(), Problem> {
    let mut seen: Vec<&CpuScheduler> = Vec::new();
    for scheduler in kernels.iter().filter_map(|subject| subject.machine.scheduler.as_ref()) {
        let same_word = |other: &&&CpuScheduler| other.word() == scheduler.word();
        match seen.iter().find(same_word) {
            None => seen.push(scheduler),
            Some(other) if *other == scheduler => {}
            Some(other) => {
                let what = format!("the schedulers {other} and {scheduler} would have one name; rename a file");
                return Err(Problem::new("scheduler", what));
            }
        }
    }
    Ok(())
}

/// Why an ordinary thread has no census.
pub const NO_CENSUS_OF_ORDINARY: &str = "an ordinary thread also waits for the turns of others, which a census does not count; take it of --policy fifo or rr";

/// Why a probe that no timer wakes has no census.
pub fn no_census_without_timer(probe: impl Display) -> String {
    format!(
        "the census asks what a timer's wake-up meets, and nothing of {probe} is due by a timer; take it of wakeup or response"
    )
}

fn not_empty(len: usize, field: &'static str) -> Result<(), Problem> {
    match len {
        0 => Err(Problem::new(field, format!("'{field}' is empty"))),
        _ => Ok(()),
    }
}
