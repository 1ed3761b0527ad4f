//! Which CPUs can be measured, and which of them the kernel keeps work away from.
//!
//! The affinity that a process begins with may leave out online CPUs: those that the kernel isolates.

use crate::facts::cgroup::Cpuset;
use crate::{CpuList, HostError, MachineFacts};
use worstcase_instruments::sys::affinity;

/// The CPUs of this machine, as this process may use them.
#[derive(Clone, Debug, Default)]
pub struct Cpus {
    online: CpuList,
    /// CPUs isolated from the scheduler, or without a tick.
    isolated: CpuList,
    /// Online CPUs that a thread gets if it asks for them.
    usable: CpuList,
    /// The affinity with which this process was started.
    inherited: CpuList,
    /// The cpuset that limits `usable`, where the machine tells.
    cpuset: Option<Cpuset>,
}

/// Keeps the calling thread, and threads that it starts, off these CPUs, if there are others.
pub fn stay_off(cpus: &[u32]) {
    let others: Vec<u32> = affinity::current().unwrap_or_default();
    let others: Vec<u32> = others.into_iter().filter(|cpu| !cpus.contains(cpu)).collect();
    if !others.is_empty() {
        // If the kernel refuses, the thread stays where it is.
        let _ = affinity::set(&others);
    }
}

impl Cpus {
    /// The CPUs of the machine with these facts.
    pub(crate) fn of(facts: &MachineFacts) -> Cpus {
        let inherited: CpuList = affinity::current().unwrap_or_default().into_iter().collect();
        let online = facts.cpu.online.clone().unwrap_or_else(|| inherited.clone());
        let usable = online.iter().filter(|cpu| inherited.contains(*cpu) || can_be_had(*cpu));
        Cpus {
            usable: usable.collect(),
            isolated: facts.isolation.cpus().common(&online),
            cpuset: facts.cgroup.cpuset.clone(),
            online,
            inherited,
        }
    }

    /// Refuses CPUs that cannot be used.
    pub fn check(&self, asked: &CpuList) -> Result<(), HostError> {
        let missing = asked.without(&self.online);
        if !missing.is_empty() {
            let online = self.online.clone();
            return Err(HostError::NotOnline { missing, online });
        }
        let refused = asked.without(&self.usable);
        match refused.is_empty() {
            true => Ok(()),
            false => Err(HostError::NotAllowed {
                refused,
                by: self.limit(),
                allowed: self.usable.clone(),
            }),
        }
    }

    /// What refuses CPUs that are online, in words.
    fn limit(&self) -> String {
        match &self.cpuset {
            Some(Cpuset { group, cpus }) => format!("the cpuset of control group {group}, which has {cpus}"),
            None => "a cpuset, perhaps that of a container".into(),
        }
    }

    /// The CPUs that are measured by default: all usable ones, isolated ones too, unless a user narrowed this process's
    /// affinity.
    pub fn usual(&self) -> CpuList {
        match self.is_narrowed() {
            true => self.usable.common(&self.inherited),
            false => self.usable.clone(),
        }
    }

    /// The CPUs for loads by default: all but isolated ones. `None`: those with which this process was started.
    pub(crate) fn usual_load(&self) -> Option<CpuList> {
        let housekeeping = self.housekeeping();
        (!self.isolated.is_empty() && !housekeeping.is_empty()).then_some(housekeeping)
    }

    /// Notes about a measurement on `measured`, before it begins.
    pub fn notes(&self, measured: &CpuList, load: Option<&CpuList>) -> Vec<String> {
        let mut notes = Vec::new();
        let isolated = measured.common(&self.isolated);
        if !isolated.is_empty() {
            let load = load.unwrap_or(&self.inherited);
            notes.push(format!(
                "CPUs {isolated} are isolated (isolcpus or nohz_full); loads run on CPUs {load}"
            ));
        }
        if self.is_narrowed() && *measured == self.usual() {
            notes.push(format!(
                "CPUs {measured} of {} are measured, as this command was started on them alone; name others with --cpus",
                self.online
            ));
        }
        notes
    }

    /// The isolated ones.
    pub(crate) fn isolated(&self) -> &CpuList {
        &self.isolated
    }

    fn housekeeping(&self) -> CpuList {
        self.usable.without(&self.isolated)
    }

    /// Whether taskset or a service's settings took some of the CPUs that the kernel gives every process.
    fn is_narrowed(&self) -> bool {
        !self.housekeeping().without(&self.inherited).is_empty()
    }
}

/// Tries it in a thread of its own, because the thread keeps the affinity that it gets.
fn can_be_had(cpu: u32) -> bool {
    std::thread::spawn(move || affinity::set(&[cpu]).is_ok())
        .join()
        .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> CpuList {
        text.parse().unwrap()
    }

    fn cpus(online: &str, isolated: &str, usable: &str, inherited: &str) -> Cpus {
        Cpus {
            online: list(online),
            isolated: list(isolated),
            usable: list(usable),
            inherited: list(inherited),
            cpuset: None,
        }
    }

    #[test]
    fn isolated_cpus_are_measured_and_carry_no_load() {
        let isolated = cpus("0-3", "2-3", "0-3", "0-1");
        assert_eq!(isolated.usual(), list("0-3"));
        assert_eq!(isolated.usual_load(), Some(list("0-1")));
        let notes = isolated.notes(&list("0-3"), Some(&list("0-1")));
        assert_eq!(
            notes,
            ["CPUs 2-3 are isolated (isolcpus or nohz_full); loads run on CPUs 0-1"]
        );
        assert!(isolated.notes(&list("1"), None).is_empty());
        isolated.check(&list("3")).unwrap();
    }

    #[test]
    fn without_isolation_all_is_as_it_was_started() {
        let plain = cpus("0-3", "", "0-3", "0-3");
        assert_eq!((plain.usual(), plain.usual_load()), (list("0-3"), None));
        assert!(plain.notes(&list("0-3"), None).is_empty());
        // taskset -c 1,3 worstcase host run
        let narrowed = cpus("0-3", "", "0-3", "1,3");
        assert_eq!((narrowed.usual(), narrowed.usual_load()), (list("1,3"), None));
        assert_eq!(narrowed.notes(&list("1,3"), None).len(), 1);
        // taskset -c 3, where CPU 3 is isolated.
        let alone = cpus("0-3", "2-3", "0-3", "3");
        assert_eq!((alone.usual(), alone.usual_load()), (list("3"), Some(list("0-1"))));
    }

    #[test]
    fn what_is_offline_and_what_is_forbidden_are_two_things() {
        let mut limited = cpus("0-3", "", "0-1", "0-1");
        assert_eq!(limited.usual(), list("0-1"));
        let said = |cpus: &Cpus, asked: &str| cpus.check(&list(asked)).unwrap_err().to_string();
        assert_eq!(said(&limited, "1,7"), "CPUs 7 are not online; choose from 0-3");
        assert!(said(&limited, "2").contains("a cpuset, perhaps that of a container"));
        limited.cpuset = Some(Cpuset {
            group: "/a".into(),
            cpus: list("0-1"),
        });
        assert_eq!(
            said(&limited, "1-2"),
            "CPUs 2 are online, but the cpuset of control group /a, which has 0-1, keeps this process from them; start \
             worstcase in a group that has them (cpuset.cpus of it and of those above it), or choose from 0-1"
        );
    }
}
