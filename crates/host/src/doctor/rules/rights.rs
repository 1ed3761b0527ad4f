//! Rights that this user lacks.

use super::{Finding, FindingLevel, Patient, Rule};

pub(super) const RULES: [Rule; 4] = [real_time, real_time_limit, locked_memory, tracing];

/// What gives an executable all rights of a measurement.
const CAPABILITIES: &str = "setcap cap_perfmon,cap_dac_read_search,cap_sys_nice,cap_ipc_lock+ep on worstcase";
/// The default priority of interrupt threads.
const INTERRUPTS: u32 = 50;

fn real_time(patient: &Patient) -> Option<Finding> {
    const ID: &str = "real-time-right";
    let rights = &patient.facts.rights;
    Some(match (rights.has("CAP_SYS_NICE"), rights.rt_priority) {
        (Some(true), _) => Finding::good(ID, "this user may run real-time threads"),
        (_, Some(limit @ 1..=INTERRUPTS)) => Finding::new(
            ID,
            FindingLevel::Notice,
            format!("this user may run real-time threads up to priority {limit} only"),
            "Threads of interrupts have priority 50 where they are threads (PREEMPT_RT, threadirqs): all of them come first.",
        )
        .remedy("in /etc/security/limits.conf: USER - rtprio 95, then log in again"),
        (_, Some(limit @ 1..)) => Finding::good(
            ID,
            format!("this user may run real-time threads up to priority {limit}"),
        ),
        (Some(false), Some(0)) => Finding::new(
            ID,
            FindingLevel::Harmful,
            "this user may not run real-time threads",
            "What can be measured is how ordinary threads share the CPUs: milliseconds under load, on any kernel.",
        )
        .remedy("run as root; or in /etc/security/limits.conf: USER - rtprio 95, then log in again"),
        _ => Finding::not_known(ID, "whether this user may run real-time threads"),
    })
}

fn real_time_limit(patient: &Patient) -> Option<Finding> {
    let limit_us = patient.facts.rights.rt_time_us?;
    Some(
        Finding::new(
            "real-time-limit",
            FindingLevel::Notice,
            format!("a real-time thread of this user may compute for {limit_us} us without sleeping"),
            "Then it gets SIGXCPU, and is killed soon after (RLIMIT_RTTIME).",
        )
        .remedy("ulimit -R unlimited; or sleep in time"),
    )
}

fn locked_memory(patient: &Patient) -> Option<Finding> {
    const ID: &str = "locked-memory";
    let rights = &patient.facts.rights;
    if rights.has("CAP_IPC_LOCK") == Some(true) || rights.locked_unlimited {
        return Some(Finding::good(ID, "this user may lock its memory"));
    }
    let Some(kb) = rights.locked_bytes.map(|bytes| bytes / 1024) else {
        return Some(Finding::not_known(ID, "how much memory this user may lock"));
    };
    Some(
        Finding::new(
            ID,
            FindingLevel::Notice,
            format!("this user may lock {kb} kB of memory"),
            "A page that is not locked may be gone when it is needed: the page fault is part of the latency then.",
        )
        .remedy("run as root; or in /etc/security/limits.conf: USER - memlock unlimited, then log in again"),
    )
}

fn tracing(patient: &Patient) -> Option<Finding> {
    const ID: &str = "tracing-right";
    let rights = &patient.facts.rights;
    let administrator = rights.has("CAP_SYS_ADMIN")?;
    let open = rights.perf_event_paranoid.is_some_and(|level| level < 0);
    let may_use = administrator || open || rights.has("CAP_PERFMON")?;
    let may_read = administrator || rights.tracefs_readable;
    let what = match (may_use, may_read) {
        (true, true) => return Some(Finding::good(ID, "this user may use the kernel's tracepoints")),
        (true, false) => "this user may use the kernel's tracepoints, but not read their formats (tracefs)",
        (false, true) => "this user may read the formats of the kernel's tracepoints (tracefs), but not use them",
        (false, false) => "this user may not use the kernel's tracepoints, nor read their formats (tracefs)",
    };
    Some(
        Finding::new(
            ID,
            FindingLevel::Notice,
            what,
            "wakeup and jitter measure without them, but tell no cause; noise tells gaps, but not who made them; response \
             and `host isolate` need both, timerlat is for root.",
        )
        .remedy(match rights.tracefs {
            Some(_) => format!("run as root; or as root: {CAPABILITIES}"),
            None => format!("run as root; or as root: mount -t tracefs nodev /sys/kernel/tracing, and {CAPABILITIES}"),
        }),
    )
}
