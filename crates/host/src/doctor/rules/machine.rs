//! Below the kernel: clock, hypervisor, and the control group of this process.

use super::{Finding, FindingLevel, Patient, Rule, echo};

pub(super) const RULES: [Rule; 6] = [clock, hypervisor, steal, container, quota, rt_group];

/// What helps a guest of a hypervisor.
pub const HYPERVISOR_REMEDY: &str =
    "measure on the bare machine; or pin its CPUs on the host, one to one, to CPUs that nobody else uses";

/// Clock sources behind a slow bus.
const SLOW: [&str; 5] = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"];
/// The clock sources that programs read without the kernel's help: of x86, arm and RISC-V.
const FAST: [&str; 3] = ["tsc", "arch_sys_counter", "riscv_clocksource"];
/// Above this cost (ns) a clock reading is a system call, or goes to a hypervisor.
const COSTLY_NS: f64 = 150.0;

fn clock(patient: &Patient) -> Option<Finding> {
    const ID: &str = "clock-source";
    let clock = &patient.facts.clock;
    let Some(name) = clock.current.as_deref() else {
        return Some(Finding::not_known(ID, "which clock source is in use"));
    };
    let cost = clock
        .read_ns
        .map(|ns| format!(" ({ns:.0} ns a reading)"))
        .unwrap_or_default();
    let costly = clock.read_ns.is_some_and(|ns| ns > COSTLY_NS);
    if !SLOW.contains(&name) && !costly {
        return Some(Finding::good(ID, format!("the clock source is {name}{cost}")));
    }
    let faster = FAST
        .iter()
        .find(|fast| clock.available.iter().any(|other| other == *fast));
    let remedy = match faster.filter(|faster| **faster != name) {
        Some(faster) => format!("as root: {}", echo(faster, "sys/devices/system/clocksource/clocksource0/current_clocksource")),
        None if patient.facts.cpu.is_of_boards() => {
            "find out why programs may not read the counter themselves (dmesg | grep -iE 'arch_timer|clocksource|erratum'): the \
             kernel keeps them from one with an erratum, or the vDSO is off"
                .into()
        }
        None => {
            "find out why the kernel gave up the faster one (dmesg | grep -i clocksource); boot with tsc=reliable \
                  only if it was wrong to"
                .into()
        }
    };
    Some(
        Finding::new(
            ID,
            FindingLevel::Harmful,
            format!("the clock source is {name}{cost}"),
            "Reading the time goes to a slow device or through the kernel instead of the vDSO. The kernel itself reads it \
             in every timer interrupt, and two readings are in every sample.",
        )
        .remedy(remedy),
    )
}

fn hypervisor(patient: &Patient) -> Option<Finding> {
    const ID: &str = "hypervisor";
    let guest = &patient.facts.virtualization;
    Some(match guest.hypervisor {
        None => Finding::not_known(ID, "whether a hypervisor is below"),
        Some(false) => Finding::good(ID, "no hypervisor is below"),
        Some(true) => {
            let name = guest.name.as_deref().unwrap_or("unknown name");
            Finding::new(
                ID,
                FindingLevel::Notice,
                format!("this machine is a guest of a hypervisor ({name})"),
                "Its host may stop a CPU at any moment, for any time, and timer interrupts cost exits: what is measured is \
                 the host too.",
            )
            .remedy(HYPERVISOR_REMEDY)
        }
    })
}

fn steal(patient: &Patient) -> Option<Finding> {
    const ID: &str = "steal";
    let guest = &patient.facts.virtualization;
    if guest.hypervisor == Some(false) {
        return None;
    }
    let Some((seconds, percent)) = guest.steal_s.zip(guest.steal_percent) else {
        return Some(Finding::not_known(ID, "how much time the host took away"));
    };
    let now = guest.steal_now_percent.unwrap_or_default();
    if seconds == 0.0 && now == 0.0 {
        return Some(Finding::good(ID, "no steal time seen (some hypervisors never tell)"));
    }
    let level = if now > 0.0 {
        FindingLevel::Harmful
    } else {
        FindingLevel::Notice
    };
    Some(
        Finding::new(
            ID,
            level,
            format!("the host took {seconds:.1} s of CPU time since boot ({percent:.2} %), {now:.1} % now"),
            "A CPU that is ready and does not run is late by as long, and nothing in this machine can help it.",
        )
        .remedy("on the host: CPUs of their own for this guest"),
    )
}

fn container(patient: &Patient) -> Option<Finding> {
    let container = &patient.facts.container;
    if !container.is_one() {
        return None;
    }
    let engine = container.engine.as_ref().map(|engine| format!(" ({engine})"));
    let mut why =
        String::from("Kernel, settings and interrupts are the machine's, and seldom can be changed from here.");
    if container.own_processes {
        why += " Other processes cannot be seen, and the kernel's trace cannot be matched with those that can.";
    }
    if container.own_users {
        why += " Root here is not the machine's: the kernel refuses what only that one may do.";
    }
    let what = format!("this is a container{}", engine.unwrap_or_default());
    Some(Finding::new("container", FindingLevel::Notice, what, why).remedy(
        "measure on the machine itself; or start the container with --pid=host, --cap-add SYS_NICE, IPC_LOCK and \
             PERFMON, and --cpuset-cpus (docs/containers.md)",
    ))
}

fn quota(patient: &Patient) -> Option<Finding> {
    const ID: &str = "cpu-quota";
    let cgroup = &patient.facts.cgroup;
    cgroup.version?;
    Some(match cgroup.quota_cpus {
        None => Finding::good(ID, "no control group limits CPU time"),
        Some(cpus) => Finding::new(
            ID,
            FindingLevel::Harmful,
            format!("a control group limits this process to {cpus} CPUs' worth of time"),
            "When it is used up, ordinary threads stop until the next period, 100 ms unless set otherwise: loads and \
             everything that helps measuring, not real-time threads.",
        )
        .remedy("systemctl set-property UNIT CPUQuota=, or run outside of the container"),
    })
}

fn rt_group(patient: &Patient) -> Option<Finding> {
    // Other groups have no such file, so there is nothing to find.
    (patient.facts.cgroup.rt_runtime_us? == 0).then(|| {
        Finding::new(
            "rt-group",
            FindingLevel::Harmful,
            "this control group has no time for real-time tasks",
            "The kernel refuses every real-time policy in it, also to root (CONFIG_RT_GROUP_SCHED).",
        )
        .remedy("start from the root group: echo $$ > /sys/fs/cgroup/cpu/cgroup.procs; or give it cpu.rt_runtime_us")
    })
}
