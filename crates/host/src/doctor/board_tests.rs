//! Findings of made-up boards.

use super::*;
use crate::facts::board_tests::{BIG_LITTLE, board};
use crate::facts::cpu::Architecture;
use crate::facts::power::IdleState;
use crate::facts::thermal::{CpuCooler, FirmwareThrottling, ThermalZone};

fn find(facts: &MachineFacts, cpus: &str, id: &str) -> Option<Finding> {
    let all = examine(facts, &cpus.parse().unwrap());
    all.into_iter().find(|finding| finding.id == id)
}

#[test]
fn no_remedy_of_a_board_is_one_of_pcs() {
    let mut facts = board(&BIG_LITTLE);
    facts.clock.current = Some("arch_sys_counter".into());
    facts.clock.available = vec!["arch_sys_counter".into()];
    facts.clock.read_ns = Some(900.0);
    facts.kernel.preemption.model = Some(worstcase_kernels::preempt::PreemptName::Voluntary);
    facts.power.governors.insert("schedutil".into(), "0-2".parse().unwrap());
    facts.power.idle_states = vec![IdleState {
        name: "cpu-sleep-0".into(),
        exit_us: 250,
        disabled: false,
    }];
    facts.isolation.isolated = Some(CpuList::default());
    let findings = examine(&facts, &"2".parse().unwrap());
    for id in ["clock-source", "preemption", "governor", "sleep-states", "isolation"] {
        let finding = findings.iter().find(|finding| finding.id == id).unwrap();
        assert!(finding.level <= FindingLevel::Notice, "{finding:?}");
        let remedy = finding.remedy.as_deref().unwrap();
        for word in ["tsc", "amd64", "cpupower", "intel_idle", "managed_irq"] {
            assert!(!remedy.contains(word), "{id}: {remedy}");
        }
    }
    facts.clock.current = Some("jiffies".into());
    let slow = find(&facts, "2", "clock-source").unwrap().remedy.unwrap();
    assert!(slow.starts_with("as root: echo arch_sys_counter > /sys/"), "{slow}");
}

#[test]
fn a_parameter_is_told_with_the_file_that_has_it() {
    let mut facts = board(&BIG_LITTLE);
    facts.isolation.isolated = Some(CpuList::default());
    facts.kernel.parameters = Some("the one line of /boot/firmware/cmdline.txt".into());
    let remedy = |id| find(&facts, "2", id).unwrap().remedy.unwrap_or_default();
    assert!(remedy("isolation").ends_with("(kernel parameters: the one line of /boot/firmware/cmdline.txt)"));
    assert!(!remedy("locked-memory").contains("cmdline"));
}

#[test]
fn cpus_of_several_kinds_are_no_one_machine() {
    let facts = board(&BIG_LITTLE);
    let level = |cpus| find(&facts, cpus, "core-kinds").unwrap().level;
    assert_eq!(level("0-1"), FindingLevel::Good);
    assert_eq!(level("1-2"), FindingLevel::Notice);
    let finding = find(&facts, "0-2", "core-kinds").unwrap();
    assert!(
        finding
            .what
            .ends_with("Cortex-A72 (CPUs 2, 1024 of 1024), Cortex-A53 (CPUs 0-1, 485 of 1024)")
    );
    assert!(finding.remedy.unwrap().contains("--cpus 2)"));
    let mut alike = facts.clone();
    alike.cpu.kinds.clear();
    assert!(find(&alike, "0-2", "core-kinds").is_none());
    assert_eq!(alike.cpu.architecture, Some(Architecture::Arm));
}

#[test]
fn heat_is_harmful_once_it_slows_a_cpu_down() {
    let level = |degrees: i64, step, firmware| {
        let mut facts = MachineFacts::default();
        facts.thermal.zones = vec![ThermalZone {
            name: "cpu-thermal".into(),
            millidegrees: degrees * 1000,
            slows_at_millidegrees: Some(80_000),
        }];
        facts.thermal.coolers = vec![CpuCooler {
            name: "cpufreq-cpu0".into(),
            step,
            steps: 4,
        }];
        facts.thermal.firmware = firmware;
        let of = |id| find(&facts, "0", id).map(|finding| finding.level);
        (of("heat"), of("supply"))
    };
    use FindingLevel::{Good, Harmful, Notice};
    assert_eq!(level(50, 0, None), (Some(Good), None));
    assert_eq!(level(75, 0, None), (Some(Notice), None));
    assert_eq!(level(75, 1, None), (Some(Harmful), None));
    let firmware = |low_voltage, slowed, since_boot| {
        Some(FirmwareThrottling {
            low_voltage,
            slowed,
            since_boot,
        })
    };
    assert_eq!(level(50, 0, firmware(false, true, true)), (Some(Harmful), Some(Notice)));
    assert_eq!(level(50, 0, firmware(true, false, true)), (Some(Good), Some(Harmful)));
    assert_eq!(level(50, 0, firmware(false, false, false)), (Some(Good), Some(Good)));
    assert!(find(&MachineFacts::default(), "0", "heat").is_none());
}
