//! A section of a study file: `[full]`, `[quick]`, `[host]`, `[host.quick]` and their parts have the same keys.

use super::file::{Checked, Wrong, time};
use crate::check::check_cells;
use crate::{
    CpuList, CpuModel, DEFAULT_MEMORY_MB, DEFAULT_MIPS, DEFAULT_QUANTUM, Experiment, HostSetup, Length, Method, Part,
    Policy, Preempt, Problem, Seeds, Smp, Subject, Subjects, Timer, Timing, Venue, VirtualMachine, grammar,
};
use serde::Deserialize;
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;
use toml::Spanned;
use worstcase_probe::Nanos;
use worstcase_probe::loads::LoadSpec;

type Words = Spanned<Vec<Spanned<String>>>;

/// A section as it is written.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCells {
    kernels: Option<Spanned<Vec<RawKernel>>>,
    cpus: Option<Spanned<String>>,
    loads: Option<Spanned<Vec<Spanned<String>>>>,
    probes: Option<Spanned<Vec<Spanned<String>>>>,
    seeds: Option<Spanned<u32>>,
    samples: Option<Spanned<u32>>,
    time: Option<Spanned<String>>,
    interval: Option<Spanned<String>>,
    warmup: Option<Spanned<String>>,
    priority: Option<Spanned<u8>>,
    policy: Option<Spanned<String>>,
    nice: Option<Spanned<i8>>,
    timer: Option<Spanned<String>>,
    distance: Option<Spanned<String>>,
    threshold: Option<Spanned<String>>,
    captures: Option<Spanned<usize>>,
    mips: Option<Spanned<u32>>,
    memory_mb: Option<Spanned<u32>>,
    cpu: Option<Spanned<String>>,
    quantum: Option<Spanned<String>>,
    probe_cpu: Option<Spanned<u32>>,
    load_cpus: Option<Spanned<String>>,
    append: Option<Spanned<Vec<Spanned<String>>>>,
    chrt: Option<Spanned<Vec<Spanned<String>>>>,
    scheduler: Option<Spanned<Vec<Spanned<String>>>>,
    disk: Option<Spanned<Vec<Spanned<String>>>>,
    io_scheduler: Option<Spanned<Vec<Spanned<String>>>>,
    /// Cells that differ in some of this; without parts there is one.
    #[serde(default)]
    part: Vec<RawCells>,
    /// Of `[host]` only: what its quick form changes.
    pub(super) quick: Option<Box<RawCells>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawKernel {
    kernel: Spanned<String>,
    preempt: Spanned<Vec<Spanned<String>>>,
}

/// The quick form: what it does not say is as in the whole; its parts, if it has any, are instead of the whole's.
pub(super) fn quick_of(quick: RawCells, whole: &RawCells) -> RawCells {
    if !quick.part.is_empty() || whole.part.is_empty() {
        return merge(quick, whole);
    }
    RawCells {
        part: whole
            .part
            .iter()
            .map(|part| merge(quick.clone(), &merge(part.clone(), whole)))
            .collect(),
        ..RawCells::default()
    }
}

/// A section's experiment; `section` is where it begins.
pub(super) fn experiment(
    whole: RawCells,
    venue: Venue,
    criterion: Option<Nanos>,
    section: &Range<usize>,
) -> Checked<Experiment> {
    let parts = parts(&whole).into_iter().map(|raw| part(raw, venue, section));
    let mut experiment = Experiment {
        venue,
        criterion,
        parts: parts.collect::<Checked<Vec<Part>>>()?,
        added: Vec::new(),
        modules: Vec::new(),
        setup: HostSetup::default(),
    };
    if criterion.is_none() {
        experiment.criterion = experiment.usual_criterion();
    }
    Ok(experiment)
}

/// An error if a section has too many cells; counted before its lists are copied for each part, and multiplied out.
pub(super) fn check_count(whole: &RawCells, quick: Option<&RawCells>, section: &Range<usize>) -> Checked<()> {
    let of = |cells: &RawCells, under: &[&RawCells]| match cells.part.is_empty() {
        true => vec![cells.count(under)],
        false => {
            let under = [&[cells], under].concat();
            cells.part.iter().map(|part| part.count(&under)).collect::<Vec<_>>()
        }
    };
    let checked = check_cells(of(whole, &[])).and_then(|()| match quick {
        None => Ok(()),
        // The parts of the whole, each with what the quick form changes.
        Some(quick) if quick.part.is_empty() && !whole.part.is_empty() => {
            let parts = whole.part.iter();
            check_cells(parts.map(|part| quick.count(&[part, whole])))
        }
        Some(quick) => check_cells(of(quick, &[whole])),
    });
    checked.map_err(|problem| whole.wrong(problem, section))
}

/// Each part, with what it does not say from the whole; the whole alone if it has none.
fn parts(whole: &RawCells) -> Vec<RawCells> {
    match whole.part.is_empty() {
        true => vec![whole.clone()],
        false => whole.part.iter().map(|part| merge(part.clone(), whole)).collect(),
    }
}

/// `over`, and what it does not say from `base`; the parts are those of `over`.
fn merge(over: RawCells, base: &RawCells) -> RawCells {
    let says_length = over.samples.is_some() || over.time.is_some();
    RawCells {
        part: over.part,
        quick: over.quick,
        kernels: over.kernels.or_else(|| base.kernels.clone()),
        cpus: over.cpus.or_else(|| base.cpus.clone()),
        loads: over.loads.or_else(|| base.loads.clone()),
        probes: over.probes.or_else(|| base.probes.clone()),
        seeds: over.seeds.or_else(|| base.seeds.clone()),
        samples: over.samples.or_else(|| base.samples.clone().filter(|_| !says_length)),
        time: over.time.or_else(|| base.time.clone().filter(|_| !says_length)),
        interval: over.interval.or_else(|| base.interval.clone()),
        warmup: over.warmup.or_else(|| base.warmup.clone()),
        priority: over.priority.or_else(|| base.priority.clone()),
        policy: over.policy.or_else(|| base.policy.clone()),
        nice: over.nice.or_else(|| base.nice.clone()),
        timer: over.timer.or_else(|| base.timer.clone()),
        distance: over.distance.or_else(|| base.distance.clone()),
        threshold: over.threshold.or_else(|| base.threshold.clone()),
        captures: over.captures.or_else(|| base.captures.clone()),
        mips: over.mips.or_else(|| base.mips.clone()),
        memory_mb: over.memory_mb.or_else(|| base.memory_mb.clone()),
        cpu: over.cpu.or_else(|| base.cpu.clone()),
        quantum: over.quantum.or_else(|| base.quantum.clone()),
        probe_cpu: over.probe_cpu.or_else(|| base.probe_cpu.clone()),
        load_cpus: over.load_cpus.or_else(|| base.load_cpus.clone()),
        append: over.append.or_else(|| base.append.clone()),
        chrt: over.chrt.or_else(|| base.chrt.clone()),
        scheduler: over.scheduler.or_else(|| base.scheduler.clone()),
        disk: over.disk.or_else(|| base.disk.clone()),
        io_scheduler: over.io_scheduler.or_else(|| base.io_scheduler.clone()),
    }
}

fn part(raw: RawCells, venue: Venue, section: &Range<usize>) -> Checked<Part> {
    if raw.quick.is_some() {
        let what = "'quick' belongs to [host], or stands alone as [quick]";
        return Err(Wrong(section.clone(), what.into()));
    }
    let probes = needed(&raw.probes, "probes", venue, section)?;
    for probe in probes.get_ref() {
        grammar::probes(venue, probe.get_ref()).map_err(|e| Wrong(probe.span(), e.0))?;
    }
    let loads = needed(&raw.loads, "loads", venue, section)?;
    let mut all_loads = Vec::new();
    for load in loads.get_ref() {
        let spec = load.get_ref().parse::<LoadSpec>();
        let spec = spec.and_then(|spec| spec.check_venue(venue).map(|()| spec));
        all_loads.push(spec.map_err(|e| Wrong(load.span(), e.0))?);
    }
    let seeds = needed(&raw.seeds, "seeds", venue, section)?;
    let part = Part {
        subjects: subjects(&raw, venue, section)?,
        loads: all_loads,
        probes: probes.get_ref().iter().map(|p| p.get_ref().clone()).collect(),
        seeds: Seeds::to(*seeds.get_ref()),
        timing: Timing {
            interval: raw.interval.as_ref().map(time).transpose()?,
            length: length(&raw)?,
            warmup: raw.warmup.as_ref().map_or(Ok(grammar::usual(venue).warmup), time)?,
        },
        method: Method {
            priority: raw
                .priority
                .as_ref()
                .map_or(grammar::usual(venue).priority, |p| *p.get_ref()),
            policy: raw.policy.as_ref().map(word::<Policy>).transpose()?,
            nice: raw.nice.as_ref().map(|nice| *nice.get_ref()),
            timer: raw.timer.as_ref().map(word::<Timer>).transpose()?,
            distance: raw.distance.as_ref().map(time).transpose()?,
            threshold: raw.threshold.as_ref().map(time).transpose()?,
            captures: raw.captures.as_ref().map(|n| *n.get_ref()),
            break_at: None,
        },
    };
    let checked = part.check(venue).and_then(|()| part.probes(venue).map(drop));
    checked.map_err(|problem| raw.wrong(problem, section))?;
    // Together with the rest a load may be too long for the measured machine.
    if venue == Venue::Lab {
        part.check_specs().map_err(|problem| raw.wrong(problem, section))?;
    }
    Ok(part)
}

fn needed<'a, T>(
    value: &'a Option<Spanned<T>>,
    key: &str,
    venue: Venue,
    section: &Range<usize>,
) -> Checked<&'a Spanned<T>> {
    let name = match venue {
        Venue::Lab => "full",
        Venue::Host => "host",
    };
    let absent = || Wrong(section.clone(), format!("[{name}] has no '{key}'"));
    value.as_ref().ok_or_else(absent)
}

fn subjects(raw: &RawCells, venue: Venue, section: &Range<usize>) -> Checked<Subjects> {
    if venue == Venue::Host {
        let of_lab = [
            raw.kernels.as_ref().map(Spanned::span),
            raw.mips.as_ref().map(Spanned::span),
            raw.memory_mb.as_ref().map(Spanned::span),
            raw.cpu.as_ref().map(Spanned::span),
            raw.quantum.as_ref().map(Spanned::span),
            raw.probe_cpu.as_ref().map(Spanned::span),
            raw.load_cpus.as_ref().map(Spanned::span),
            raw.append.as_ref().map(Spanned::span),
            raw.chrt.as_ref().map(Spanned::span),
            raw.scheduler.as_ref().map(Spanned::span),
            raw.disk.as_ref().map(Spanned::span),
            raw.io_scheduler.as_ref().map(Spanned::span),
        ];
        if let Some(at) = of_lab.into_iter().flatten().next() {
            return Err(Wrong(
                at,
                "a host has 'cpus' in place of kernels and of the lab's machine".into(),
            ));
        }
        let cpus = raw.cpus.as_ref().map(word::<CpuList>);
        return Ok(Subjects::Cpus(cpus.transpose()?));
    }
    let kernels = needed(&raw.kernels, "kernels", venue, section)?;
    let machines = machines(raw)?;
    let mut subjects = Vec::new();
    for choice in kernels.get_ref() {
        if choice.preempt.get_ref().is_empty() {
            return Err(Wrong(choice.preempt.span(), "'preempt' is empty".into()));
        }
        if choice.kernel.get_ref().is_empty() {
            let what = "a kernel has no name; write e.g. debian:6.1";
            return Err(Wrong(choice.kernel.span(), what.into()));
        }
        for preempt in choice.preempt.get_ref() {
            let unknown = |_| {
                let what = format!(
                    "unknown preemption model '{}'; allowed: {}, and all",
                    preempt.get_ref().escape_debug(),
                    crate::Model::ALL.map(crate::Model::name).join(", ")
                );
                Wrong(preempt.span(), what)
            };
            let preempt = preempt.get_ref().parse::<Preempt>().map_err(unknown)?;
            subjects.extend(machines.iter().map(|machine| Subject {
                kernel: choice.kernel.get_ref().clone(),
                preempt,
                optional: false,
                machine: machine.clone(),
            }));
        }
    }
    Ok(Subjects::Kernels(subjects))
}

/// One for each number of CPUs, each of the boot parameters' lines, each of the threads' priorities, each scheduler, each
/// disk and each of its schedulers.
fn machines(raw: &RawCells) -> Checked<Vec<VirtualMachine>> {
    let machine = VirtualMachine {
        mips: raw.mips.as_ref().map_or(DEFAULT_MIPS, |m| *m.get_ref()),
        memory_mb: raw.memory_mb.as_ref().map_or(DEFAULT_MEMORY_MB, |m| *m.get_ref()),
        cpu: raw.cpu.as_ref().map(word::<CpuModel>).transpose()?.unwrap_or_default(),
        ..VirtualMachine::default()
    };
    let numbers = match &raw.cpus {
        None => vec![1],
        Some(list) => numbers(list)?,
    };
    let smp = |cpus: u32| {
        Ok(Smp {
            cpus,
            quantum: raw.quantum.as_ref().map_or(Ok(DEFAULT_QUANTUM), time)?,
            probe: raw.probe_cpu.as_ref().map(|cpu| *cpu.get_ref()),
            load: raw.load_cpus.as_ref().map(word::<CpuList>).transpose()?,
        })
    };
    let of_cpus = |cpus: u32| {
        let smp = smp(cpus)?;
        Ok(VirtualMachine { smp, ..machine.clone() })
    };
    let machines = numbers.into_iter().map(of_cpus).collect::<Checked<Vec<_>>>()?;
    let machines = each(machines, raw.append.as_ref(), "append", |append, machine| {
        VirtualMachine { append, ..machine }
    })?;
    let machines = each(machines, raw.chrt.as_ref(), "chrt", |chrt, machine| VirtualMachine {
        chrt,
        ..machine
    })?;
    let machines = each(machines, raw.scheduler.as_ref(), "scheduler", |scheduler, machine| {
        VirtualMachine {
            scheduler: Some(scheduler),
            ..machine
        }
    })?;
    let machines = each(machines, raw.disk.as_ref(), "disk", |disk, machine| VirtualMachine {
        disk: Some(disk),
        ..machine
    })?;
    each(
        machines,
        raw.io_scheduler.as_ref(),
        "io_scheduler",
        |scheduler, machine| VirtualMachine {
            io_scheduler: Some(scheduler),
            ..machine
        },
    )
}

/// Every machine with each value of a list.
fn each<T: FromStr<Err: Display>>(
    machines: Vec<VirtualMachine>,
    list: Option<&Spanned<Vec<Spanned<String>>>>,
    key: &str,
    with: fn(T, VirtualMachine) -> VirtualMachine,
) -> Checked<Vec<VirtualMachine>> {
    let Some(list) = list else {
        return Ok(machines);
    };
    if list.get_ref().is_empty() {
        let what = format!("'{key}' is empty; \"\" stands for none");
        return Err(Wrong(list.span(), what));
    }
    let mut all = Vec::new();
    for machine in machines {
        for text in list.get_ref() {
            all.push(with(word(text)?, machine.clone()));
        }
    }
    Ok(all)
}

/// Numbers of CPUs: `1,2,4`.
fn numbers(list: &Spanned<String>) -> Checked<Vec<u32>> {
    let number = |part: &str| {
        let what = || {
            format!(
                "in the lab 'cpus' is how many, like \"1,2,4\", not '{}'",
                list.get_ref().escape_debug()
            )
        };
        part.trim().parse().map_err(|_| Wrong(list.span(), what()))
    };
    list.get_ref().split(',').map(number).collect()
}

fn length(raw: &RawCells) -> Checked<Option<Length>> {
    match (&raw.samples, &raw.time) {
        (Some(samples), None) => Ok(Some(Length::Samples(*samples.get_ref()))),
        (None, Some(length)) => Ok(Some(Length::Time(time(length)?))),
        (None, None) => Ok(None),
        (Some(_), Some(length)) => Err(Wrong(length.span(), "a cell has 'samples' or 'time', not both".into())),
    }
}

fn word<T: FromStr<Err: Display>>(raw: &Spanned<String>) -> Checked<T> {
    raw.get_ref()
        .parse()
        .map_err(|e: T::Err| Wrong(raw.span(), e.to_string()))
}

impl RawCells {
    /// The number of its cells; what it does not say is in the first of `under` that does. Nothing if it is more than can be
    /// counted. An empty list, which is refused later, counts as one: it must not hide the length of another.
    fn count(&self, under: &[&RawCells]) -> Option<u64> {
        fn said<'a, T>(all: &[&'a RawCells], of: impl Fn(&'a RawCells) -> Option<T>) -> Option<T> {
            all.iter().find_map(|cells| of(cells))
        }
        let all = [&[self], under].concat();
        let list = |of: fn(&RawCells) -> &Option<Words>| {
            said(&all, |cells| of(cells).as_ref()).map_or(1, |list| list.get_ref().len().max(1) as u64)
        };
        let models = |kernels: &Spanned<Vec<RawKernel>>| -> u64 {
            let each = kernels.get_ref().iter();
            each.map(|kernel| kernel.preempt.get_ref().len().max(1) as u64).sum()
        };
        let probes = said(&all, |cells| cells.probes.as_ref()).map_or(1, |words| {
            let each = words.get_ref().iter();
            each.map(|word| grammar::expand(word.get_ref()).map_or(1, |all| all.len() as u64))
                .sum()
        });
        // Of a host, which has no kernels, they are measured at once.
        let kernels = said(&all, |cells| cells.kernels.as_ref());
        let cpus = said(&all, |cells| cells.cpus.as_ref()).filter(|_| kernels.is_some());
        let cpus = cpus.map_or(1, |list| list.get_ref().split(',').count() as u64);
        let factors = [
            kernels.map_or(1, models).max(1),
            probes.max(1),
            cpus,
            said(&all, |cells| cells.seeds.as_ref()).map_or(1, |seeds| u64::from(*seeds.get_ref()).max(1)),
            list(|cells| &cells.loads),
            list(|cells| &cells.append),
            list(|cells| &cells.chrt),
            list(|cells| &cells.scheduler),
            list(|cells| &cells.disk),
            list(|cells| &cells.io_scheduler),
        ];
        factors.into_iter().try_fold(1_u64, u64::checked_mul)
    }

    /// A problem at the key that it is of, or at its section.
    fn wrong(&self, problem: Problem, section: &Range<usize>) -> Wrong {
        let at = match problem.field {
            "kernels" => self.kernels.as_ref().map(Spanned::span),
            "cpus" => self.cpus.as_ref().map(Spanned::span),
            "loads" => self.loads.as_ref().map(Spanned::span),
            "probes" => self.probes.as_ref().map(Spanned::span),
            "seeds" => self.seeds.as_ref().map(Spanned::span),
            "samples" => self.samples.as_ref().map(Spanned::span),
            "time" => self.time.as_ref().map(Spanned::span),
            "interval" => self.interval.as_ref().map(Spanned::span),
            "warmup" => self.warmup.as_ref().map(Spanned::span),
            "priority" => self.priority.as_ref().map(Spanned::span),
            "policy" => self.policy.as_ref().map(Spanned::span),
            "nice" => self.nice.as_ref().map(Spanned::span),
            "timer" => self.timer.as_ref().map(Spanned::span),
            "distance" => self.distance.as_ref().map(Spanned::span),
            "threshold" => self.threshold.as_ref().map(Spanned::span),
            "captures" => self.captures.as_ref().map(Spanned::span),
            "mips" => self.mips.as_ref().map(Spanned::span),
            "memory_mb" => self.memory_mb.as_ref().map(Spanned::span),
            "cpu" => self.cpu.as_ref().map(Spanned::span),
            "quantum" => self.quantum.as_ref().map(Spanned::span),
            "probe_cpu" => self.probe_cpu.as_ref().map(Spanned::span),
            "load_cpus" => self.load_cpus.as_ref().map(Spanned::span),
            "append" => self.append.as_ref().map(Spanned::span),
            "chrt" => self.chrt.as_ref().map(Spanned::span),
            "scheduler" => self.scheduler.as_ref().map(Spanned::span),
            "disk" => self.disk.as_ref().map(Spanned::span),
            "io_scheduler" => self.io_scheduler.as_ref().map(Spanned::span),
            _ => None,
        };
        Wrong(at.unwrap_or_else(|| section.clone()), problem.what)
    }
}
