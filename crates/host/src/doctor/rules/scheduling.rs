//! The scheduler's settings and what runs beside it.

use super::{Finding, FindingLevel, Patient, Rule, TemporaryChange, echo, should_be_off};

pub(super) const RULES: [Rule; 4] = [throttling, timer_migration, numa_balancing, nmi_watchdog];

/// From this release on the fair server serves ordinary tasks, and the old limit on real-time tasks is gone, except
/// with RT_GROUP_SCHED.
const FAIR_SERVER: (u32, u32) = (6, 12);

fn throttling(patient: &Patient) -> Option<Finding> {
    const ID: &str = "rt-throttling";
    const FILE: &str = "proc/sys/kernel/sched_rt_runtime_us";
    let (kernel, scheduling) = (&patient.facts.kernel, &patient.facts.scheduling);
    let Some((runtime, period)) = scheduling.rt_runtime_us.zip(scheduling.rt_period_us) else {
        return Some(Finding::not_known(ID, "how long real-time tasks may run"));
    };
    if runtime < 0 || runtime >= period {
        return Some(Finding::good(ID, "real-time tasks may run without limit"));
    }
    let server =
        kernel.series().is_some_and(|series| series >= FAIR_SERVER) && kernel.rt_group_scheduling == Some(false);
    if server {
        let what = "ordinary tasks that starve are served before real-time tasks (fair server)";
        let why = "A CPU that real-time tasks keep for themselves is taken from them, 50 ms in each second unless set \
                   otherwise. Threads that sleep between periods are not touched.";
        return Some(Finding::new(ID, FindingLevel::Notice, what, why).remedy(
            "leave some time on each CPU; or as root: echo 0 > /sys/kernel/debug/sched/fair_server/cpuN/runtime",
        ));
    }
    let rest_ms = (period - runtime) as f64 / 1000.0;
    let finding = Finding::new(
        ID,
        FindingLevel::Notice,
        format!("real-time tasks may run {runtime} of {period} us"),
        format!(
            "Where they want more, all of them stop for {rest_ms:.0} ms. Threads that sleep between periods are not \
             touched, unless one beside them runs wild."
        ),
    );
    // With no CPU left for other programs, only a power switch could end a runaway real-time thread on every CPU.
    let changes = (!patient.others.is_empty()).then(|| TemporaryChange::set(FILE, -1));
    Some(
        finding
            .remedy(format!("as root: {}", echo("-1", FILE)))
            .changes(changes),
    )
}

fn timer_migration(patient: &Patient) -> Option<Finding> {
    const FILE: &str = "proc/sys/kernel/timer_migration";
    should_be_off(
        "timer-migration",
        "timer migration",
        patient.facts.scheduling.timer_migration,
        |what| {
            let why = "A timer that is set on an idle CPU may be armed on another: it fires when that one can take it, and the \
                   wake-up has to cross over.";
            Finding::new("timer-migration", FindingLevel::Notice, what, why)
                .remedy(format!("as root: {}", echo("0", FILE)))
                .changes([TemporaryChange::set(FILE, 0)])
        },
    )
}

fn numa_balancing(patient: &Patient) -> Option<Finding> {
    const FILE: &str = "proc/sys/kernel/numa_balancing";
    let is = patient.facts.scheduling.numa_balancing;
    // A kernel without it has no such file.
    is?;
    should_be_off("numa-balancing", "NUMA balancing", is, |what| {
        let why = "Pages are unmapped now and then to see who touches them: each touch is a page fault, also for locked \
                   memory, and may move the page.";
        Finding::new("numa-balancing", FindingLevel::Harmful, what, why)
            .remedy(format!("as root: {}", echo("0", FILE)))
            .changes([TemporaryChange::set(FILE, 0)])
    })
}

fn nmi_watchdog(patient: &Patient) -> Option<Finding> {
    const FILE: &str = "proc/sys/kernel/nmi_watchdog";
    should_be_off(
        "nmi-watchdog",
        "the NMI watchdog",
        patient.facts.watchdogs.nmi,
        |what| {
            let why = "Every few seconds a non-maskable interrupt takes each CPU for some microseconds; it also holds a \
                   performance counter.";
            Finding::new("nmi-watchdog", FindingLevel::Notice, what, why)
                .remedy(format!("as root: {}; or boot with nmi_watchdog=0", echo("0", FILE)))
                .changes([TemporaryChange::set(FILE, 0)])
        },
    )
}
