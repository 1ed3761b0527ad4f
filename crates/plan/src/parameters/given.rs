//! The given values of parameters, and the experiment that they make.

use super::{InvalidValue, Parameter, ParameterOwner, ValueCount, all, find, of_machine};
use crate::check::check_cells;
use crate::{Arch, Experiment, Part, PlannedSubject, PreemptChoice, Problem, Subjects, Venue, VirtualMachine, grammar};
use std::collections::BTreeMap;

/// The values of each parameter that a command line or a section of a study names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenValues(BTreeMap<&'static str, Vec<String>>);

/// A kernel, and in which preemption models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelChoice {
    /// The kernel as `worstcase kernels get` takes it.
    pub kernel: String,
    /// Models; never empty.
    pub models: Vec<PreemptChoice>,
    /// A model that the kernel does not have is left out.
    pub optional: bool,
}

impl GivenValues {
    /// Replaces the values of a parameter.
    pub fn insert(&mut self, parameter: &Parameter, values: Vec<String>) {
        self.0.insert(parameter.key, values);
    }

    /// The values of a key, if it was named.
    pub fn values(&self, key: &str) -> Option<&[String]> {
        self.0.get(key).map(Vec::as_slice)
    }

    /// The experiment of the usual and the given values, unchecked.
    pub fn experiment(&self, venue: Venue, kernels: &[KernelChoice]) -> Result<Experiment, Problem> {
        check_cells([self.count(kernels)])?;
        let part = self.part(venue, kernels)?;
        let mut experiment = Experiment::usual(venue, part.subjects.clone());
        experiment.parts = vec![part];
        self.set_up(&mut experiment)?;
        if let (Some(program), None) = (&experiment.program, self.values("probes")) {
            experiment.parts[0].probes = vec![Experiment::probe_of(program)];
        }
        Ok(experiment)
    }

    /// A part, unchecked.
    pub(crate) fn part(&self, venue: Venue, kernels: &[KernelChoice]) -> Result<Part, Problem> {
        let mut part = Experiment::usual_of(venue).parts.remove(0);
        if venue == Venue::Lab {
            part.subjects = Subjects::Kernels(self.subjects(kernels)?);
        }
        for (parameter, values) in self.of_venue(venue) {
            let excluded = parameter.excludes.filter(|other| self.0.contains_key(other));
            if let Some(other) = excluded {
                let what = format!("'{}' or '{other}', not both", parameter.key);
                return Err(Problem::new(other, what));
            }
            if let ParameterOwner::Part(field) = &parameter.owner {
                (field.set)(&mut part, values).map_err(|why| {
                    let set = |one: &[String]| (field.set)(&mut part.clone(), one);
                    which_is_wrong(parameter, values, why, set)
                })?;
            }
        }
        Ok(part)
    }

    /// Puts the values of the whole experiment into it.
    pub fn set_up(&self, experiment: &mut Experiment) -> Result<(), Problem> {
        for (parameter, values) in self.of_venue(experiment.venue) {
            if let ParameterOwner::Experiment(field) = &parameter.owner {
                (field.set)(experiment, values).map_err(|why| {
                    let set = |one: &[String]| (field.set)(&mut experiment.clone(), one);
                    which_is_wrong(parameter, values, why, set)
                })?;
            }
        }
        Ok(())
    }

    /// The number of cells, counted before they are made; nothing if it is more than can be counted.
    fn count(&self, kernels: &[KernelChoice]) -> Option<u64> {
        let models: u64 = kernels.iter().map(|kernel| kernel.models.len() as u64).sum();
        // CPUs of a host, which has no kernels, are measured at once.
        let counted = self.0.iter().filter(|(key, _)| !kernels.is_empty() || **key != "cpus");
        count_cells(models, counted.map(|(key, values)| factor(key, values)))
    }

    /// Every kernel with every model and machine of its architecture.
    fn subjects(&self, kernels: &[KernelChoice]) -> Result<Vec<PlannedSubject>, Problem> {
        let machines = self.machines()?;
        // Beside a name with an architecture one without has the usual.
        let others = match kernels.iter().any(|choice| Arch::of_name(&choice.kernel).is_some())
            && !self.0.contains_key("arch")
        {
            true => Some(Arch::default()),
            false => None,
        };
        let mut subjects = Vec::new();
        for choice in kernels {
            let machines = match Arch::of_name(&choice.kernel).or(others) {
                Some(arch) => self.of_arch(arch, &machines, &choice.kernel)?,
                None => machines.clone(),
            };
            for preempt in &choice.models {
                subjects.extend(machines.iter().map(|machine| PlannedSubject {
                    kernel: machine.arch().in_name(&choice.kernel),
                    preempt: *preempt,
                    optional: choice.optional,
                    machine: machine.clone(),
                }));
            }
        }
        Ok(subjects)
    }

    /// The machines that are of an architecture; if nothing tells another, all of them.
    fn of_arch(&self, arch: Arch, machines: &[VirtualMachine], kernel: &str) -> Result<Vec<VirtualMachine>, Problem> {
        let mut machines = machines.to_vec();
        match ["cpu", "arch"].into_iter().find(|key| self.0.contains_key(key)) {
            None => machines.iter_mut().for_each(|machine| machine.set_arch(arch)),
            Some(key) => {
                machines.retain(|machine| machine.arch() == arch);
                if machines.is_empty() {
                    return Err(Problem::new(
                        key,
                        format!("{kernel} is for {arch}, and no machine is ('{key}')"),
                    ));
                }
            }
        }
        Ok(machines)
    }

    /// Every value of a parameter with every one of the others; of CPUs those of the architecture, where one was named.
    fn machines(&self) -> Result<Vec<VirtualMachine>, Problem> {
        let mut machines = vec![VirtualMachine::default()];
        for (parameter, field) in of_machine() {
            let Some(values) = self.values(parameter.key) else {
                continue;
            };
            if values.is_empty() {
                let what = format!("'{}' is empty; \"\" stands for none", parameter.key);
                return Err(Problem::new(parameter.key, what));
            }
            let is_bound = parameter.key == "cpu" && self.0.contains_key("arch");
            let mut each = Vec::new();
            for before in &machines {
                let of_this = each.len();
                for (nth, value) in values.iter().enumerate() {
                    let mut machine = before.clone();
                    (field.set)(&mut machine, value).map_err(|e| Problem::new(parameter.key, e.0).at(nth))?;
                    if !is_bound || machine.arch() == before.arch() {
                        each.push(machine);
                    }
                }
                if each.len() == of_this {
                    let what = format!("{} is no CPU of {}", values.join(", "), before.arch());
                    return Err(Problem::new(parameter.key, what));
                }
            }
            machines = each;
        }
        Ok(machines)
    }

    fn of_venue(&self, venue: Venue) -> impl Iterator<Item = (&'static Parameter, &[String])> {
        all(venue).filter_map(|parameter| Some((parameter, self.values(parameter.key)?)))
    }
}

/// The factor by which a parameter multiplies the cells of the lab. An empty or unreadable value, which is refused later,
/// counts as one: it must not hide the length of another.
pub(crate) fn factor(key: &str, values: &[String]) -> u64 {
    let number = values.len() as u64;
    match key {
        "loads" => number,
        "probes" => {
            let each = values
                .iter()
                .map(|word| grammar::expand(word).map_or(1, |all| all.len() as u64));
            each.sum()
        }
        "seeds" => values.first().and_then(|seeds| seeds.trim().parse().ok()).unwrap_or(1),
        key if of_machine().any(|(parameter, _)| parameter.key == key) => number,
        _ => 1,
    }
    .max(1)
}

/// The product; nothing if it is more than can be counted.
pub(crate) fn count_cells(models: u64, mut factors: impl Iterator<Item = u64>) -> Option<u64> {
    factors.try_fold(models.max(1), u64::checked_mul)
}

/// The problem of values that were refused: of several it names the first that is wrong by itself.
fn which_is_wrong(
    parameter: &Parameter,
    values: &[String],
    why: InvalidValue,
    set: impl Fn(&[String]) -> Result<(), InvalidValue>,
) -> Problem {
    let several = matches!(parameter.values, ValueCount::Several(_));
    let mut each = values.iter().enumerate().filter(|_| several);
    match each.find_map(|(nth, value)| Some((nth, set(std::slice::from_ref(value)).err()?))) {
        Some((nth, why)) => Problem::new(parameter.key, why.0).at(nth),
        None => Problem::new(parameter.key, why.0),
    }
}

/// Says of a key that a venue does not have where it belongs.
pub(crate) fn check_key(venue: Venue, key: &'static str) -> Result<(), Problem> {
    if find(venue, key).is_some() {
        return Ok(());
    }
    let what = match venue {
        Venue::Lab => format!("'{key}' is for hosts, not for the lab"),
        Venue::Host => format!("'{key}' is for the lab, not for hosts"),
    };
    Err(Problem::new(key, what))
}
