//! Findings of made-up machines.

use super::*;
use crate::facts::daemons::Daemon;
use crate::facts::drives::{AtaDevice, PolledDrive};
use crate::facts::interrupts::Irq;
use crate::facts::memory::Swap;
use crate::facts::power::IdleState;
use crate::facts::{FileTree, LiveFacts};
use crate::{Journal, StateFolder};
use std::fs;
use worstcase_kernels::preempt::PreemptName;

fn list(text: &str) -> CpuList {
    text.parse().unwrap()
}

/// A machine of four CPUs, on which CPUs 2-3 are measured.
fn machine() -> MachineFacts {
    let mut facts = MachineFacts::default();
    facts.cpu.online = Some(list("0-3"));
    facts.cpu.cores = Some(4);
    facts
}

fn find(facts: &MachineFacts, id: &str) -> Option<Finding> {
    examine(facts, &list("2-3"))
        .into_iter()
        .find(|finding| finding.id == id)
}

fn level(facts: &MachineFacts, id: &str) -> Option<FindingLevel> {
    find(facts, id).map(|finding| finding.level)
}

/// The level of `id` after `change` to the machine.
fn after(id: &str, change: impl FnOnce(&mut MachineFacts)) -> Option<FindingLevel> {
    let mut facts = machine();
    change(&mut facts);
    level(&facts, id)
}

#[test]
fn what_is_not_known_is_never_good_or_harmful() {
    for finding in examine(&MachineFacts::default(), &CpuList::default()) {
        // In these facts no core is shared, and no CPU is isolated or measured.
        assert_eq!(finding.level, FindingLevel::NotKnown, "{finding:?}");
        assert!(finding.changes.is_empty());
    }
}

#[test]
fn the_worst_come_first_and_each_ill_has_a_reason_and_a_remedy() {
    let mut facts = machine();
    facts.kernel.preemption.model = Some(PreemptName::None);
    facts.watchdogs.nmi = Some(true);
    facts.virtualization.hypervisor = Some(true);
    facts.memory.huge_pages = Some("always".into());
    let findings = examine(&facts, &list("2-3"));
    assert!(findings.is_sorted_by_key(|f| f.level));
    assert_eq!(findings[0].level, FindingLevel::Harmful);
    for finding in findings.iter().filter(|f| f.level <= FindingLevel::Notice) {
        assert!(!finding.why.is_empty() && finding.remedy.is_some(), "{finding:?}");
    }
}

#[test]
fn governors_of_measured_cpus_only() {
    let id = "governor";
    let govern = |name: &str, cpus: &str| {
        let entry = (name.to_string(), list(cpus));
        move |facts: &mut MachineFacts| facts.power.governors.extend([entry])
    };
    assert_eq!(after(id, govern("performance", "0-3")), Some(FindingLevel::Good));
    assert_eq!(after(id, govern("powersave", "0-1")), Some(FindingLevel::Good));
    let mut facts = machine();
    govern("powersave", "0-2")(&mut facts);
    let finding = find(&facts, id).unwrap();
    assert_eq!(finding.level, FindingLevel::Harmful);
    let file = "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor";
    assert_eq!(finding.changes, [TemporaryChange::set(file, "performance")]);
}

#[test]
fn sleep_is_as_bad_as_its_deepest_allowed_state() {
    let id = "sleep-states";
    let state = |exit_us, disabled| IdleState {
        name: format!("C{exit_us}"),
        exit_us,
        disabled,
    };
    let with = |states: Vec<IdleState>| after(id, |facts| facts.power.idle_states = states);
    assert_eq!(with(vec![]), Some(FindingLevel::NotKnown));
    assert_eq!(with(vec![state(0, false), state(1, false)]), Some(FindingLevel::Good));
    assert_eq!(with(vec![state(10, false)]), Some(FindingLevel::Notice));
    assert_eq!(
        with(vec![state(10, false), state(133, false)]),
        Some(FindingLevel::Harmful)
    );
    assert_eq!(
        with(vec![state(10, false), state(133, true)]),
        Some(FindingLevel::Notice)
    );
}

#[test]
fn siblings_are_worse_when_they_are_busy() {
    let id = "smt";
    let with = |cores: &[&str], busy: &[(u32, f64)]| {
        after(id, |facts| {
            facts.cpu.siblings = cores.iter().map(|core| list(core)).collect();
            facts.busy_percent.extend(busy.iter().copied());
        })
    };
    assert_eq!(with(&[], &[]), Some(FindingLevel::Good));
    assert_eq!(with(&["0,1"], &[(0, 99.0)]), Some(FindingLevel::Good));
    assert_eq!(with(&["1,2"], &[(1, 1.0)]), Some(FindingLevel::Notice));
    assert_eq!(with(&["1,2"], &[(1, 99.0)]), Some(FindingLevel::Harmful));
    // A busy measured CPU belongs to another finding.
    assert_eq!(with(&["1,2"], &[(2, 99.0)]), Some(FindingLevel::Notice));
    assert_eq!(with(&["2,3"], &[]), Some(FindingLevel::Notice));
}

#[test]
fn a_core_of_which_the_cpuset_has_half_is_shared_with_others() {
    let remedy = |cpuset: &str| {
        let mut facts = machine();
        facts.cpu.siblings = vec![list("1,2")];
        facts.cgroup.cpuset = Some(crate::facts::cgroup::Cpuset {
            group: "/pod".into(),
            cpus: list(cpuset),
        });
        find(&facts, "smt").unwrap().remedy.unwrap()
    };
    assert!(remedy("2-3").contains("leaves CPUs 1 to others: ask for whole cores"));
    assert!(remedy("0-3").starts_with("boot with nosmt"));
}

#[test]
fn a_container_is_told_with_what_it_keeps_from_us() {
    let id = "container";
    assert_eq!(after(id, |_| ()), None);
    let mut facts = machine();
    facts.container.engine = Some("podman".into());
    let finding = find(&facts, id).unwrap();
    assert_eq!(
        (finding.level, finding.what.as_str()),
        (FindingLevel::Notice, "this is a container (podman)")
    );
    assert!(!finding.why.contains("cannot be seen"));
    facts.container.own_processes = true;
    assert!(find(&facts, id).unwrap().why.contains("Other processes cannot be seen"));
}

fn irq(number: u32, allowed: &str, effective: &str, count: u64) -> Irq {
    Irq {
        number,
        name: "disk".into(),
        allowed: Some(list(allowed)),
        effective: Some(list(effective)),
        count,
    }
}

#[test]
fn interrupts_are_moved_to_the_other_cpus_if_there_are_any() {
    let id = "interrupts";
    let mut facts = machine();
    facts.interrupts.lines = vec![irq(8, "0-3", "0", 5), irq(9, "0-1", "1", 5)];
    assert_eq!(level(&facts, id), Some(FindingLevel::Good));
    facts.interrupts.lines.push(irq(10, "2", "2", 1));
    facts.interrupts.default_mask = Some("f".into());
    let finding = find(&facts, id).unwrap();
    assert_eq!(finding.level, FindingLevel::Harmful);
    let moved = [
        TemporaryChange::set("proc/irq/8/smp_affinity_list", "0-1"),
        TemporaryChange::set("proc/irq/10/smp_affinity_list", "0-1"),
        TemporaryChange::set("proc/irq/default_smp_affinity", "00000003"),
    ];
    assert_eq!(finding.changes, moved);
    let all = examine(&facts, &list("0-3"));
    let finding = all.iter().find(|f| f.id == id).unwrap();
    assert!(finding.changes.is_empty() && finding.level == FindingLevel::Harmful);
}

#[test]
fn the_limit_on_real_time_tasks_is_lifted_only_if_a_cpu_is_left() {
    let id = "rt-throttling";
    let mut facts = machine();
    facts.scheduling.rt_runtime_us = Some(950_000);
    facts.scheduling.rt_period_us = Some(1_000_000);
    assert_eq!(find(&facts, id).unwrap().changes.len(), 1);
    let all = examine(&facts, &list("0-3"));
    assert!(all.iter().find(|f| f.id == id).unwrap().changes.is_empty());
    facts.kernel.release = Some("6.12.1".into());
    facts.kernel.rt_group_scheduling = Some(false);
    let finding = find(&facts, id).unwrap();
    assert!(finding.what.contains("fair server") && finding.changes.is_empty());
    facts.scheduling.rt_runtime_us = Some(-1);
    assert_eq!(level(&facts, id), Some(FindingLevel::Good));
}

#[test]
fn levels_follow_the_facts() {
    let model = |model| after("preemption", |f| f.kernel.preemption.model = Some(model));
    assert_eq!(model(PreemptName::Voluntary), Some(FindingLevel::Harmful));
    assert_eq!(model(PreemptName::Lazy), Some(FindingLevel::Notice));
    assert_eq!(model(PreemptName::Rt), Some(FindingLevel::Good));
    let clock = |name: &str, ns| {
        after("clock-source", |f| {
            f.clock.current = Some(name.into());
            f.clock.read_ns = Some(ns);
        })
    };
    assert_eq!(clock("tsc", 20.0), Some(FindingLevel::Good));
    assert_eq!(clock("tsc", 900.0), Some(FindingLevel::Harmful));
    assert_eq!(clock("hpet", 20.0), Some(FindingLevel::Harmful));
    let steal = |since_boot, now| {
        after("steal", |f| {
            f.virtualization.steal_s = Some(since_boot);
            f.virtualization.steal_percent = Some(0.1);
            f.virtualization.steal_now_percent = Some(now);
        })
    };
    assert_eq!(steal(0.0, 0.0), Some(FindingLevel::Good));
    assert_eq!(steal(9.0, 0.0), Some(FindingLevel::Notice));
    assert_eq!(steal(9.0, 0.5), Some(FindingLevel::Harmful));
    let swap = |used_kb| {
        let area = Swap {
            name: "/swap".into(),
            size_kb: 9000,
            used_kb,
        };
        after("swap", |f| f.memory.swap = Some(vec![area]))
    };
    assert_eq!(swap(0), Some(FindingLevel::Notice));
    assert_eq!(swap(5000), Some(FindingLevel::Harmful));
    assert_eq!(after("hz", |f| f.kernel.hz = Some(1000)), Some(FindingLevel::Good));
    assert_eq!(after("hz", |f| f.kernel.hz = Some(100)), Some(FindingLevel::Notice));
    assert_eq!(
        after("isolation", |f| f.isolation.isolated = Some(list("2-3"))),
        Some(FindingLevel::Good)
    );
    assert_eq!(
        after("isolation", |f| f.isolation.isolated = Some(list("3"))),
        Some(FindingLevel::Notice)
    );
    assert_eq!(
        after("rt-group", |f| f.cgroup.rt_runtime_us = Some(0)),
        Some(FindingLevel::Harmful)
    );
    assert_eq!(after("rt-group", |f| f.cgroup.rt_runtime_us = Some(1)), None);
    for (id, level) in [
        ("numa-balancing", FindingLevel::Harmful),
        ("same-page-merging", FindingLevel::Harmful),
    ] {
        assert_eq!(after(id, |_| ()), None);
        let on = |f: &mut MachineFacts| {
            f.scheduling.numa_balancing = Some(true);
            f.memory.same_page_merging = Some(true);
        };
        assert_eq!(after(id, on), Some(level));
    }
}

#[test]
fn rights_are_had_by_capability_or_by_limit() {
    let real_time = |capabilities: Vec<&'static str>, limit| {
        after("real-time-right", |f| {
            f.rights.capabilities = Some(capabilities);
            f.rights.rt_priority = Some(limit);
        })
    };
    assert_eq!(real_time(vec!["CAP_SYS_NICE"], 0), Some(FindingLevel::Good));
    assert_eq!(real_time(vec![], 95), Some(FindingLevel::Good));
    assert_eq!(real_time(vec![], 0), Some(FindingLevel::Harmful));
    // Interrupt threads would have precedence.
    assert_eq!(real_time(vec![], 50), Some(FindingLevel::Notice));
    assert_eq!(real_time(vec![], 51), Some(FindingLevel::Good));
    assert_eq!(after("real-time-limit", |_| ()), None);
    let limited = after("real-time-limit", |f| f.rights.rt_time_us = Some(200_000));
    assert_eq!(limited, Some(FindingLevel::Notice));
    let tracing = |capabilities: Vec<&'static str>, paranoid, readable| {
        after("tracing-right", |f| {
            f.rights.capabilities = Some(capabilities);
            f.rights.perf_event_paranoid = Some(paranoid);
            f.rights.tracefs_readable = readable;
        })
    };
    // The trace points' formats are files of tracefs: the right to use them alone is not enough.
    assert_eq!(tracing(vec!["CAP_PERFMON"], 2, false), Some(FindingLevel::Notice));
    assert_eq!(tracing(vec!["CAP_PERFMON"], 2, true), Some(FindingLevel::Good));
    assert_eq!(tracing(vec![], -1, true), Some(FindingLevel::Good));
    assert_eq!(tracing(vec![], 2, true), Some(FindingLevel::Notice));
    assert_eq!(tracing(vec!["CAP_SYS_ADMIN"], 2, false), Some(FindingLevel::Good));
}

#[test]
fn disks_without_dma_are_harmful() {
    let id = "disk-dma";
    let device = |mode: &str| AtaDevice {
        name: "dev1.0".into(),
        mode: mode.into(),
    };
    let with = |modes: &[&str]| after(id, |f| f.drives.ata = modes.iter().map(|mode| device(mode)).collect());
    assert_eq!(with(&[]), None);
    assert_eq!(with(&["XFER_UDMA_6"]), Some(FindingLevel::Good));
    assert_eq!(with(&["XFER_UDMA_6", "XFER_PIO_4"]), Some(FindingLevel::Harmful));
    let mut facts = machine();
    facts.drives.ata = vec![device("XFER_PIO_4")];
    assert!(
        find(&facts, id)
            .unwrap()
            .what
            .ends_with("without DMA: dev1.0 (XFER_PIO_4)")
    );
}

#[test]
fn polling_of_drives_can_be_set_off() {
    let id = "drive-polling";
    assert_eq!(after(id, |_| ()), None);
    let mut facts = machine();
    facts.drives.polled = vec![PolledDrive {
        name: "sr0".into(),
        every_ms: 2_000,
    }];
    let finding = find(&facts, id).unwrap();
    assert_eq!(finding.level, FindingLevel::Notice);
    assert_eq!(
        finding.changes,
        [TemporaryChange::set("sys/block/sr0/events_poll_msecs", 0)]
    );
}

#[test]
fn daemons_that_wake_often_are_named() {
    let id = "daemons";
    let daemon = |name: &str, wakeups_per_s| Daemon {
        name: name.into(),
        pid: 1,
        wakeups_per_s,
    };
    let with = |daemons: Vec<Daemon>| {
        let mut facts = machine();
        facts.daemons = daemons;
        find(&facts, id)
    };
    assert!(with(vec![]).is_none());
    assert_eq!(with(vec![daemon("quiet", 9.0)]).unwrap().level, FindingLevel::Good);
    let many = (0..7).map(|n| daemon(&format!("d{n}"), 100.0 - f64::from(n))).collect();
    let finding = with(many).unwrap();
    assert_eq!(finding.level, FindingLevel::Notice);
    assert_eq!(
        finding.what,
        "daemons wake often: d0 (100 a second), d1 (99 a second), d2 (98 a second), d3 (97 a second), d4 (96 a second), and 2 more"
    );
}

#[test]
fn what_can_be_applied_is_and_a_refusal_stops_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join("root").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    file("sys/devices/system/cpu/online", "0-3");
    let huge_pages = file("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never");
    let migration = file("proc/sys/kernel/timer_migration", "1");
    let tree = FileTree::at(&dir.path().join("root"));
    let mut findings = examine(&MachineFacts::read(&tree, LiveFacts::default()), &list("2-3"));
    findings.insert(
        0,
        Finding::new("gone", FindingLevel::Harmful, "", "").changes([TemporaryChange::set("proc/none", 1)]),
    );
    let state = StateFolder::at(&dir.path().join("state")).unwrap();
    let mut journal = Journal::begin(&state, "test").unwrap();
    let applied = apply(settable(&findings), &tree, &mut journal);
    let told: Vec<(&str, usize, usize)> = applied
        .outcomes
        .iter()
        .map(|o| (o.id, o.made, o.refused.len()))
        .collect();
    assert_eq!(told, [("gone", 0, 1), ("huge-pages", 1, 0), ("timer-migration", 1, 0)]);
    assert!(applied.outcomes[0].line().starts_with("gone: not set: cannot read"));
    assert_eq!(fs::read_to_string(&huge_pages).unwrap(), "madvise");
    assert_eq!(fs::read_to_string(&migration).unwrap(), "0");
    journal.finish().unwrap();
    assert_eq!(fs::read_to_string(&huge_pages).unwrap(), "always");
    assert_eq!(fs::read_to_string(&migration).unwrap(), "1");
}
