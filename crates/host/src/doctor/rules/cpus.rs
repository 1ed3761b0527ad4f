//! The measured CPUs themselves: frequency, sleep, siblings, interrupts.

use super::{Finding, FindingLevel, Patient, Rule, TemporaryChange, echo};
use crate::CpuList;
use crate::facts::cpu::CoreKind;
use crate::facts::interrupts::affinity_file;
use crate::facts::power::governor_file;

pub(super) const RULES: [Rule; 7] = [governor, sleep, siblings, kinds, interrupts, irqbalance, busy];

/// Waking up is noticeable if it takes longer (us).
const SHALLOW_US: u32 = 2;
const DEEP_US: u32 = 20;
/// A CPU with a higher load (%) is not idle.
const BUSY: f64 = 10.0;

fn governor(patient: &Patient) -> Option<Finding> {
    const ID: &str = "governor";
    let governors = &patient.facts.power.governors;
    if governors.is_empty() {
        return Some(Finding::not_known(
            ID,
            "how the CPUs' frequency is governed (no cpufreq here)",
        ));
    }
    let slow = governors.iter().filter(|(name, _)| *name != "performance");
    let slow: Vec<(&String, CpuList)> = slow
        .map(|(name, cpus)| (name, cpus.common(patient.cpus)))
        .filter(|(_, cpus)| !cpus.is_empty())
        .collect();
    if slow.is_empty() {
        return Some(Finding::good(ID, "the frequency governor is performance"));
    }
    let each: Vec<String> = slow
        .iter()
        .map(|(name, cpus)| format!("{name} on CPUs {cpus}"))
        .collect();
    let set = slow
        .iter()
        .flat_map(|(_, cpus)| cpus.iter())
        .map(|cpu| TemporaryChange::set(governor_file(cpu), "performance"));
    Some(
        Finding::new(
            ID,
            FindingLevel::Harmful,
            format!("the frequency governor is {}", each.join(", ")),
            "A CPU with little to do is slowed down, runs the code of a wake-up slower, and speeds up too late.",
        )
        .remedy(match patient.facts.cpu.is_of_boards() {
            true => format!(
                "as root, for each group of CPUs: {}",
                echo("performance", "sys/devices/system/cpu/cpufreq/policyN/scaling_governor")
            ),
            false => "cpupower frequency-set -g performance".into(),
        })
        .changes(set),
    )
}

fn sleep(patient: &Patient) -> Option<Finding> {
    const ID: &str = "sleep-states";
    let power = &patient.facts.power;
    let Some(deepest) = power.deepest_allowed() else {
        let who = match patient.facts.cpu.is_of_boards() {
            true => "firmware or a hypervisor",
            false => "a hypervisor",
        };
        return Some(Finding::not_known(
            ID,
            format!("how deep idle CPUs sleep (no cpuidle here: they halt, and {who} does what it likes)"),
        ));
    };
    let (name, us) = (&deepest.name, deepest.exit_us);
    if us <= SHALLOW_US {
        return Some(Finding::good(
            ID,
            format!("idle CPUs sleep no deeper than {name} ({us} us to wake)"),
        ));
    }
    let level = if us >= DEEP_US {
        FindingLevel::Harmful
    } else {
        FindingLevel::Notice
    };
    Some(
        Finding::new(
            ID,
            level,
            format!("idle CPUs sleep as deep as {name}"),
            format!("Waking from it takes {us} us by the kernel's own table, before the interrupt is even seen."),
        )
        .remedy(match patient.facts.cpu.is_of_boards() {
            true => "hold /dev/cpu_dma_latency open with 0 in it, or boot with cpuidle.off=1",
            false => {
                "hold /dev/cpu_dma_latency open with 0 in it, or boot with intel_idle.max_cstate=1 processor.max_cstate=1"
            }
        })
        .changes([TemporaryChange::NoSleep]),
    )
}

fn siblings(patient: &Patient) -> Option<Finding> {
    const ID: &str = "smt";
    let cpu = &patient.facts.cpu;
    cpu.cores?;
    let shared = cpu.siblings.iter().filter(|core| !core.common(patient.cpus).is_empty());
    let partners: CpuList = shared
        .flat_map(|core| {
            if core.common(patient.cpus).len() > 1 {
                core.clone()
            } else {
                core.without(patient.cpus)
            }
            .iter()
            .collect::<Vec<_>>()
        })
        .collect();
    if partners.is_empty() {
        return Some(Finding::good(ID, "no measured CPU shares its core"));
    }
    let elsewhere = patient
        .facts
        .cgroup
        .cpuset
        .as_ref()
        .map(|set| partners.without(&set.cpus));
    let elsewhere = elsewhere.filter(|cpus| !cpus.is_empty());
    let percent = |cpu: u32| patient.facts.busy_percent.get(&cpu).copied().unwrap_or_default();
    let busy: CpuList = partners.iter().filter(|cpu| percent(*cpu) > BUSY).collect();
    let why = "Two CPUs of a core share its execution units and its nearest caches: what one does slows the other down, \
               and nothing in the kernel sees it.";
    let finding = match busy.is_empty() {
        true => Finding::new(
            ID,
            FindingLevel::Notice,
            format!("measured CPUs share their cores with CPUs {partners}"),
            why,
        ),
        false => {
            let who = who(patient, &busy);
            let what = format!("CPUs {busy}, which share cores with measured CPUs, are busy{who}");
            Finding::new(ID, FindingLevel::Harmful, what, why)
        }
    };
    let off = format!(
        "boot with nosmt, or as root: {}",
        echo("off", "sys/devices/system/cpu/smt/control")
    );
    Some(finding.remedy(match elsewhere {
        None => off,
        Some(cpus) => format!(
            "this cpuset leaves CPUs {cpus} to others: ask for whole cores (Kubernetes: CPU manager policy static with \
             full-pcpus-only); or on the machine {off}"
        ),
    }))
}

fn kinds(patient: &Patient) -> Option<Finding> {
    const ID: &str = "core-kinds";
    let kinds = patient.facts.cpu.kinds.iter();
    let measured: Vec<_> = kinds
        .map(|kind| (kind, kind.cpus.common(patient.cpus)))
        .filter(|(_, cpus)| !cpus.is_empty())
        .collect();
    let ((first, own), others) = measured.split_first()?;
    if others.is_empty() {
        let what = format!("the measured CPUs are of one kind: {}", first.name);
        return Some(Finding::good(ID, what));
    }
    let told = |(kind, cpus): &(&CoreKind, CpuList)| {
        let capacity = kind.capacity.map(|n| format!(", {n} of 1024"));
        format!("{} (CPUs {cpus}{})", kind.name, capacity.unwrap_or_default())
    };
    let each: Vec<String> = measured.iter().map(told).collect();
    Some(
        Finding::new(
            ID,
            FindingLevel::Notice,
            format!("the measured CPUs are of several kinds: {}", each.join(", ")),
            "The same code takes longer on the slower ones: the latest sample says most of them, and a thread that is moved \
             changes its speed.",
        )
        .remedy(format!(
            "measure each kind alone (--cpus {own}), and bind real-time threads to CPUs of one kind"
        )),
    )
}

fn interrupts(patient: &Patient) -> Option<Finding> {
    const ID: &str = "interrupts";
    let lines = &patient.facts.interrupts.lines;
    if lines.is_empty() {
        return Some(Finding::not_known(ID, "where device interrupts go"));
    }
    let hits = |cpus: &CpuList| !cpus.common(patient.cpus).is_empty();
    let here = lines
        .iter()
        .filter(|irq| irq.is_of_device() && irq.count > 0 && irq.cpus().is_some_and(hits))
        .count();
    if here == 0 {
        return Some(Finding::good(ID, "no device interrupt comes to a measured CPU"));
    }
    let what = format!("{here} device interrupts come to measured CPUs");
    let why = "Each stops the thread that runs for the length of its handler and of the softirq behind it.";
    let finding = Finding::new(ID, FindingLevel::Harmful, what, why);
    if patient.others.is_empty() {
        let remedy = "measure fewer CPUs (--cpus), so that one is left for interrupts";
        return Some(finding.remedy(remedy));
    }
    let movable = lines
        .iter()
        .filter(|irq| irq.is_of_device() && irq.allowed.as_ref().is_some_and(hits));
    let changes = movable.map(|irq| TemporaryChange::set(affinity_file(irq.number), &patient.others));
    let new_ones = TemporaryChange::set("proc/irq/default_smp_affinity", patient.others.mask());
    let others = patient.others.to_string();
    let fixed = match patient.facts.cpu.is_of_boards() {
        true => "; one that a board's controller cannot move (EIO: GPIO, many PCIe bridges) stays: measure other CPUs",
        false => "",
    };
    Some(
        finding
            .remedy(format!(
                "as root, for each: {}; or boot with irqaffinity={others}{fixed}",
                echo(&others, "proc/irq/N/smp_affinity_list")
            ))
            .changes(changes)
            .changes(patient.facts.interrupts.default_mask.is_some().then_some(new_ones)),
    )
}

fn irqbalance(patient: &Patient) -> Option<Finding> {
    super::should_be_off(
        "irqbalance",
        "irqbalance",
        patient.facts.interrupts.irqbalance,
        |what| {
            let why = "It moves device interrupts about, also to a CPU that is being measured.";
            Finding::new("irqbalance", FindingLevel::Notice, what, why)
                .remedy("systemctl stop irqbalance, or ban the measured CPUs: IRQBALANCE_BANNED_CPULIST")
        },
    )
}

/// `: compile (1234) 97 %, ...`, of the processes that keep these CPUs busy.
fn who(patient: &Patient, busy: &CpuList) -> String {
    let of_them = patient
        .facts
        .busy_processes
        .iter()
        .filter(|p| !p.cpus.common(busy).is_empty());
    let named: Vec<String> = of_them
        .map(|p| format!("{} ({}) {:.0} %", p.name, p.pid, p.percent))
        .collect();
    match named.is_empty() {
        true => String::new(),
        false => format!(": {}", named.join(", ")),
    }
}

fn busy(patient: &Patient) -> Option<Finding> {
    const ID: &str = "busy";
    let percent = &patient.facts.busy_percent;
    let busy: CpuList = patient
        .cpus
        .iter()
        .filter(|cpu| percent.get(cpu).is_some_and(|p| *p > BUSY))
        .collect();
    if percent.is_empty() {
        return None;
    }
    if busy.is_empty() {
        return Some(Finding::good(ID, "the measured CPUs have little else to do"));
    }
    Some(
        Finding::new(
            ID,
            FindingLevel::Notice,
            format!("other work on CPUs {busy}{}", who(patient, &busy)),
            "What runs there now is a load that no record names: two runs will not be alike.",
        )
        .remedy("end what runs there, or keep it away: taskset, cpusets, isolation"),
    )
}
