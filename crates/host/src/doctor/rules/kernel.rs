//! The kernel: preemption model, HZ, mitigations, isolation.

use super::{Finding, FindingLevel, Patient, Rule};
use crate::facts::cpu::Architecture;
use worstcase_kernels::preempt::PreemptName;

pub(super) const RULES: [Rule; 4] = [preemption, hz, mitigations, isolation];

fn preemption(patient: &Patient) -> Option<Finding> {
    const ID: &str = "preemption";
    let kernel = &patient.facts.kernel;
    let dynamic = kernel
        .version
        .as_deref()
        .is_some_and(|version| version.contains("PREEMPT_DYNAMIC"));
    let package = match patient.facts.cpu.architecture {
        Some(Architecture::Arm) => "; Debian: linux-image-rt-arm64",
        Some(Architecture::RiscV) => "",
        Some(Architecture::X86) | None => "; Debian: linux-image-rt-amd64",
    };
    let real_time = format!("install a kernel with PREEMPT_RT (CONFIG_PREEMPT_RT=y{package})");
    let at_boot = match dynamic {
        true => format!("boot with preempt=full; better, {real_time}"),
        false => real_time.clone(),
    };
    let model = kernel.preemption.model;
    Some(match model {
        Some(PreemptName::Rt) => Finding::good(ID, "the kernel is fully preemptible (PREEMPT_RT)"),
        Some(model @ (PreemptName::None | PreemptName::Voluntary)) => Finding::new(
            ID,
            FindingLevel::Harmful,
            format!("the preemption model is {model}"),
            "A thread that is woken waits until whatever runs in the kernel returns or gives way: as long as the \
             longest system call of any process, which can be milliseconds.",
        )
        .remedy(at_boot),
        Some(model) => Finding::new(
            ID,
            FindingLevel::Notice,
            format!("the preemption model is {model}, without PREEMPT_RT"),
            "Interrupt handlers, softirqs and code that holds a spinlock still run to their end first.",
        )
        .remedy(real_time),
        None => Finding::not_known(ID, format!("the preemption model: {}", kernel.preemption.how))
            .remedy("as root: mount -t debugfs none /sys/kernel/debug; cat /sys/kernel/debug/sched/preempt"),
    })
}

fn hz(patient: &Patient) -> Option<Finding> {
    const ID: &str = "hz";
    let Some(hz) = patient.facts.kernel.hz else {
        return Some(Finding::not_known(ID, "how often the kernel ticks (HZ)"));
    };
    if hz >= 1000 {
        return Some(Finding::good(ID, format!("the kernel ticks {hz} times a second")));
    }
    let tick_ms = 1000.0 / f64::from(hz);
    let what = format!("the kernel ticks {hz} times a second");
    let why = format!(
        "Timers of real-time threads do not wait for the tick. Poll and select timeouts in drivers, time slices of \
         ordinary tasks and lazy preemption do: up to {tick_ms:.0} ms each."
    );
    Some(Finding::new(ID, FindingLevel::Notice, what, why).remedy("a kernel with CONFIG_HZ_1000=y"))
}

fn mitigations(patient: &Patient) -> Option<Finding> {
    const ID: &str = "mitigations";
    let all = &patient.facts.vulnerabilities;
    if all.is_empty() {
        return Some(Finding::not_known(
            ID,
            "which flaws of the processor the kernel works around",
        ));
    }
    let active = all.values().filter(|state| state.starts_with("Mitigation")).count();
    if active == 0 {
        return Some(Finding::good(ID, "no mitigation of a processor flaw is active"));
    }
    Some(
        Finding::new(
            ID,
            FindingLevel::Notice,
            format!("the kernel works around {active} flaws of the processor"),
            "Each way into the kernel and back costs more: a constant part of every latency, not its worst case.",
        )
        .remedy("boot with mitigations=off, on a machine that runs nothing but trusted code"),
    )
}

fn isolation(patient: &Patient) -> Option<Finding> {
    const ID: &str = "isolation";
    let isolation = &patient.facts.isolation;
    let Some(isolated) = &isolation.isolated else {
        return Some(Finding::not_known(ID, "which CPUs are isolated"));
    };
    let exposed = patient.cpus.without(isolated);
    if exposed.is_empty() {
        return Some(Finding::good(ID, format!("CPUs {} are isolated", patient.cpus)));
    }
    let cpus = if patient.others.is_empty() {
        "LIST".into()
    } else {
        patient.cpus.to_string()
    };
    // Boards have no managed interrupts; irqaffinity= keeps theirs away.
    let managed = match patient.facts.cpu.is_of_boards() {
        true => "",
        false => "managed_irq,",
    };
    Some(
        Finding::new(
            ID,
            FindingLevel::Notice,
            format!("CPUs {exposed} are not isolated"),
            "Other tasks, kernel threads, RCU callbacks and the tick run there too. On an isolated CPU what is left is \
             little and known.",
        )
        .remedy(format!(
            "boot with isolcpus={managed}domain,{cpus} nohz_full={cpus} rcu_nocbs={cpus}, leaving a CPU for the rest"
        )),
    )
}
