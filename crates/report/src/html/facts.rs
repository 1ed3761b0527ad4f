//! The measured systems: their common properties, and their differences.

use super::labels::SubjectLabels;
use crate::{environment, program};
use serde::Serialize;
use std::collections::BTreeMap;
use worstcase_base::distinct;
use worstcase_base::format::grouped;
use worstcase_results::record::{Record, SelfCostRecord, Subject, SubjectMachine};

/// The facts of a run.
#[derive(Debug, Serialize)]
pub(crate) struct RunFacts {
    /// Name and value, of all subjects.
    common: Vec<Fact>,
    subjects: Vec<SubjectFacts>,
}

#[derive(Debug, Serialize)]
struct SubjectFacts {
    subject: String,
    label: String,
    facts: Vec<Fact>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Fact {
    name: String,
    value: String,
}

impl RunFacts {
    /// The facts of these records.
    pub(crate) fn of(records: &[Record], labels: &SubjectLabels) -> RunFacts {
        let mut subjects: Vec<SubjectFacts> = Vec::new();
        for id in distinct(records.iter().map(|r| r.subject.id().to_string())) {
            let of: Vec<&Record> = records.iter().filter(|r| r.subject.id().as_str() == id).collect();
            let mut facts = facts(&of[0].subject);
            let guest = of.iter().filter_map(|r| r.origin.as_ref()?.guest_of()).next();
            if let (Some(guest), Some(place)) = (guest, facts.iter_mut().find(|fact| fact.name == "where")) {
                place.value = guest.to_string();
            }
            facts.extend(origin(&of));
            facts.extend(foreign(&of));
            facts.extend(followed(&of));
            // Takes from the machine's description only facts that are not given above.
            let more = common_environment(&of)
                .into_iter()
                .filter(|new| facts.iter().all(|known| known.value != new.value));
            let more: Vec<Fact> = more.collect();
            facts.extend(more.into_iter().chain(cost(&of)));
            subjects.push(SubjectFacts {
                label: labels.get(&of[0].subject.id()),
                facts,
                subject: id,
            });
        }
        let everywhere = |fact: &&Fact| subjects.iter().all(|s| s.facts.contains(fact));
        let common: Vec<Fact> = subjects.first().map_or_else(Vec::new, |first| {
            first.facts.iter().filter(everywhere).cloned().collect()
        });
        for subject in &mut subjects {
            subject.facts.retain(|fact| !common.contains(fact));
        }
        RunFacts { common, subjects }
    }
}

fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact {
        name: name.to_string(),
        value: value.into(),
    }
}

fn facts(subject: &Subject) -> Vec<Fact> {
    let (kernel, preempt) = (&subject.kernel, &subject.preempt);
    let mut facts = vec![
        fact("kernel", &kernel.release),
        fact("kernel's version", &kernel.version),
        fact("asked for as", &kernel.name),
        fact("image", &kernel.digest),
        fact("preemption", &preempt.in_force),
    ];
    match &subject.machine {
        SubjectMachine::Lab(lab) => {
            let cpus = match lab.machine.smp.cpus {
                1 => "one CPU".into(),
                n => format!("{n} CPUs"),
            };
            facts.extend([
                fact("where", format!("lab: QEMU, instruction-counted virtual time, {cpus}")),
                fact("QEMU", &lab.qemu),
                fact(
                    "speed",
                    format!("{} MIPS: million instructions a virtual second", lab.machine.mips),
                ),
                fact("memory", format!("{} MB", lab.machine.memory_mb)),
                fact("CPU", format!("{} (-cpu {})", lab.machine.cpu, lab.qemu_cpu)),
                fact("command line", &lab.command_line),
                fact("key", &lab.key),
            ]);
            facts.extend(lab.modules.iter().map(|module| fact("module", module.to_string())));
        }
        SubjectMachine::Host(host) => facts.extend([
            fact("where", "a real machine"),
            fact("CPU", &host.cpu),
            fact("CPUs", host.cpus.to_string()),
            fact("memory", format!("{} MB", grouped(u64::from(host.memory_mb)))),
            fact("command line", &host.command_line),
        ]),
        SubjectMachine::Foreign(foreign) => {
            facts.push(fact("where", format!("a real machine, measured by {}", foreign.tool)));
            facts.extend(foreign.host.iter().map(|host| fact("host", host)));
            facts.extend(foreign.cpus.map(|cpus| fact("CPUs", cpus.to_string())));
        }
    }
    facts
}

/// The place and time of a host's measurement, and the host's settings.
fn origin(records: &[&Record]) -> Vec<Fact> {
    let origins = || records.iter().filter_map(|r| r.origin.as_ref());
    let (Some(began), Some(ended)) = (origins().map(|o| o.began).min(), origins().map(|o| o.ended).max()) else {
        return Vec::new();
    };
    let mut facts = vec![
        fact("host", distinct(origins().map(|o| o.host.clone())).join(", ")),
        fact("measured", format!("{} to {}", began.readable(), ended.readable())),
    ];
    for (name, value) in origins().flat_map(|o| o.facts()) {
        let new = fact(&name, value);
        if !facts.contains(&new) {
            facts.push(new);
        }
    }
    facts
}

/// The machine's description of itself, as far as it is equal in every cell.
fn common_environment(records: &[&Record]) -> Vec<Fact> {
    let mut same: BTreeMap<&String, &String> = records[0].environment.iter().collect();
    for record in records {
        same.retain(|key, value| record.environment.get(*key) == Some(*value));
    }
    let told = environment::facts(same).into_iter();
    told.map(|(key, value)| fact(&key, value)).collect()
}

/// The cost of measuring itself, the highest of all cells.
fn cost(records: &[&Record]) -> Option<Fact> {
    let most = |of: fn(&SelfCostRecord) -> u64| records.iter().filter_map(|r| Some(of(r.self_cost.as_ref()?))).max();
    Some(fact(
        "own cost",
        format!(
            "clock read {} ns, empty sample {} ns, at most",
            most(|cost| cost.clock_read_ns)?,
            most(|cost| cost.empty_sample_ns)?
        ),
    ))
}

/// The programs of the user's own.
fn followed(records: &[&Record]) -> Vec<Fact> {
    let all = records.iter().filter_map(|r| r.followed.as_ref());
    let all = all.flat_map(program::facts);
    all.map(|(name, value)| fact(name, value)).collect()
}

/// The notes of other tools' files, and what the files do not contain.
fn foreign(records: &[&Record]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for foreign in records.iter().filter_map(|r| r.foreign.as_ref()) {
        for (name, value) in foreign.facts() {
            let new = fact(name, value);
            if !facts.contains(&new) {
                facts.push(new);
            }
        }
    }
    facts
}
