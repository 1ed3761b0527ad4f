//! From a cause to the setting that keeps it away. Sources: the kernel's documents (admin-guide/cpu-isolation,
//! kernel-per-CPU-kthreads, kernel-parameters; timers/no_hz; core-api/irq/irq-affinity) and the measurements of
//! docs/isolation.md.

use super::words::{CauseText, needs};
use super::{EntryLine, IsolatedMachine};
use crate::breakdown::roles::in_source;
use worstcase_host::isolate::{CpuEntries, Smis};

const PRIVATE_BARRIER: &str =
    "do not call membarrier in the same process; this form of another process does not reach it";

/// The ways into [`ipi_mb`](FUNCTIONS), which reach different processes.
const BARRIERS: &[(&str, &str)] = &[
    ("membarrier_private_expedited", PRIVATE_BARRIER),
    (
        "membarrier_global_expedited",
        "a global barrier (MEMBARRIER_CMD_GLOBAL_EXPEDITED) of any process reaches CPUs that run a registered one: do not register it (MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)",
    ),
];

const FUNCTIONS: &[(&str, &str)] = &[
    (
        "flush_tlb_func",
        "keep threads of the same process that unmap, protect or free memory off it: allocate at the start (mlockall)",
    ),
    (
        "do_flush_tlb_all",
        "load and unload modules and BPF programs before the deadline counts",
    ),
    (
        "do_sync_core",
        "none: every CPU is told of rewritten code; avoid what switches it (perf, tracepoints, static keys, modules)",
    ),
    (
        "ipi_mb",
        "do not call membarrier in the same process, nor register it for that of others (MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)",
    ),
    ("ipi_sync_core", PRIVATE_BARRIER),
    ("ipi_rseq", PRIVATE_BARRIER),
    (
        "rcu_exp_handler",
        "boot with rcupdate.rcu_normal=1, or echo 1 > /sys/kernel/rcu_normal: no expedited grace periods",
    ),
    (
        "sched_ttwu_pending",
        "do not wake threads that are bound to this CPU; bind them to others",
    ),
    (
        "nohz_full_kick_func",
        "none: the tick is asked for again; see why beside the tick's line",
    ),
    (
        "__perf_event_enable",
        "end perf: it counts on this CPU, or on all (perf record -a)",
    ),
    (
        "remote_function",
        "end perf: it counts on this CPU, or on all (perf record -a)",
    ),
    (
        "__perf_install_in_context",
        "end perf: it counts on this CPU, or on all (perf record -a)",
    ),
    (
        "__rdmsr_on_cpu",
        "end what reads this CPU's registers (turbostat, monitoring)",
    ),
    (
        "aperfmperf_snapshot_khz",
        "do not read /proc/cpuinfo or scaling_cur_freq while it counts",
    ),
    (
        "vmstat_update",
        "nohz_full=; 6.12 does not run it on isolated CPUs, 6.1 does: /proc/sys/vm/stat_interval makes it rarer",
    ),
    (
        "refresh_vm_stats",
        "do not read or write /proc/sys/vm/stat_refresh: it reaches isolated CPUs, too",
    ),
    (
        "lru_add_drain_per_cpu",
        "none while memory is moved or collapsed elsewhere (move_pages, compaction, khugepaged), or a file's pages are dropped (fadvise): do that at the start",
    ),
    (
        "drain_local_stock",
        "none: the memory controller calls back what a CPU holds; keep cgroups with memory limits off it",
    ),
    (
        "hrtimer_wakeup",
        "a thread of this CPU sleeps: keep threads that sleep off it",
    ),
    (
        "perf_mux_hrtimer_handler",
        "end perf: more counters than the processor has take turns",
    ),
    (
        "watchdog_timer_fn",
        "echo 0 > /proc/sys/kernel/watchdog, or leave it out of /proc/sys/kernel/watchdog_cpumask",
    ),
    (
        "dl_task_timer",
        "the fair server gives ordinary threads their share: keep them off this CPU",
    ),
    (
        "multi_cpu_stop",
        "none: all CPUs stop for it; avoid CPU hotplug, and switching the clock source",
    ),
];

const SOFT: &[(&str, &str)] = &[
    (
        "soft interrupt RCU",
        "boot with rcu_nocbs=CPUS (nohz_full= does that, too), and bind the rcuo threads to other CPUs",
    ),
    (
        "soft interrupt SCHED",
        "isolcpus=domain,CPUS or a cpuset partition 'isolated'; nohz_full=CPUS",
    ),
    (
        "soft interrupt TIMER",
        "nohz_full=CPUS moves timers that are bound to no CPU; keep system calls off this CPU",
    ),
    ("soft interrupt HRTIMER", "keep threads that set timers off this CPU"),
    (
        "soft interrupt NET",
        "bind the network card's interrupts and the programs that use it to other CPUs",
    ),
    (
        "soft interrupt BLOCK",
        "bind the disk's interrupts and the programs that use it to other CPUs",
    ),
    (
        "soft interrupt TASKLET",
        "bind the interrupts of the driver that uses tasklets to other CPUs",
    ),
];

const THREADS: &[(&str, &str)] = &[
    ("ksoftirqd/", "as for the soft interrupts that it runs"),
    (
        "migration/",
        "none: it runs what must stop this CPU; avoid CPU hotplug, and moving threads from or to it",
    ),
    ("rcuc/", "boot with rcu_nocbs=CPUS"),
    ("rcuo", "bind it to other CPUs (taskset)"),
    ("irq/", "bind its interrupt to other CPUs: /proc/irq/N/smp_affinity"),
    ("watchdog/", "echo 0 > /proc/sys/kernel/watchdog"),
    (
        "kworker, unbound",
        "take this CPU out of /sys/devices/virtual/workqueue/cpumask",
    ),
    (
        "kworker",
        "work bound to this CPU: avoid what queues it; /sys/devices/virtual/workqueue/*/cpumask where there is one",
    ),
];

/// The remedy against a cause.
pub(crate) fn remedy(told: &CauseText, chain: Option<&[String]>, on: &CpuEntries, machine: &IsolatedMachine) -> String {
    let begins = |table: &'static [(&str, &str)], name: &str| {
        let mut all = table.iter();
        all.find(|(start, _)| name.starts_with(start))
            .map(|(_, remedy)| (*remedy).to_string())
    };
    let name = told.name.as_deref().unwrap_or("");
    let by_function = begins(FUNCTIONS, name);
    let is_expedited = chain.is_some_and(|chain| chain.iter().any(|name| name.contains("synchronize_rcu_expedited")));
    let barrier = BARRIERS.iter().find(|(way, _)| {
        let is_on_it = |chain: &[String]| chain.iter().any(|name| name.starts_with(way));
        in_source(name) == "ipi_mb" && chain.is_some_and(is_on_it)
    });
    match told.kind {
        "tick" => Some(tick(on, machine)),
        _ if is_expedited => begins(FUNCTIONS, "rcu_exp_handler"),
        "soft" => by_function.or_else(|| begins(SOFT, &told.text)),
        "work" => by_function.or_else(|| begins(THREADS, told.text.trim_start_matches("thread "))),
        "thread" => by_function
            .or_else(|| begins(THREADS, name))
            .or(Some(bind(on.cpu, machine))),
        "device" => {
            Some("bind it to other CPUs: /proc/irq/N/smp_affinity, irqaffinity=, isolcpus=managed_irq,CPUS".into())
        }
        "fault" => Some("lock and touch memory before the deadline counts (mlockall, MAP_POPULATE)".into()),
        "nmi" => Some("echo 0 > /proc/sys/kernel/nmi_watchdog; end perf".into()),
        "reschedule" => Some("do not wake threads that are bound to this CPU; bind them to others".into()),
        "irq-work" => Some("none of its own: what ran before asked for it (perf, printk, the scheduler)".into()),
        _ => barrier.map(|(_, remedy)| (*remedy).to_string()).or(by_function),
    }
    .unwrap_or_else(|| "none known: avoid what sends it".into())
}

fn bind(cpu: u32, machine: &IsolatedMachine) -> String {
    match machine.isolated.contains(cpu) {
        true => "bind it to other CPUs (taskset, cpuset): it was put here on purpose".into(),
        false => "bind it to other CPUs; isolcpus=domain,CPUS or a cpuset partition 'isolated' keeps it away".into(),
    }
}

/// Why the tick did not stop.
fn tick(on: &CpuEntries, machine: &IsolatedMachine) -> String {
    match &machine.tickless {
        None => "none: this kernel cannot stop it while a program runs (CONFIG_NO_HZ_FULL)".into(),
        Some(tickless) if !tickless.contains(on.cpu) => "boot with nohz_full=CPUS: this CPU is not among them".into(),
        Some(_) => {
            let asked = needs(&on.ticks);
            let most = asked
                .into_iter()
                .filter(|(need, _)| *need != "stopped")
                .max_by_key(|(_, n)| *n);
            match most.map(|(need, _)| need) {
                Some("sched") => "more than one thread wants to run here: keep one".into(),
                Some("posix-timer") => {
                    "a POSIX CPU timer needs it: use none (timer_create on CLOCK_*_CPUTIME_ID, RLIMIT_CPU)".into()
                }
                Some("perf-events") => "perf needs it: end it, or count without a frequency (perf record -c)".into(),
                Some("clock-unstable") => "the clock source is unstable: see tsc= and clocksource=".into(),
                Some("rcu" | "rcu-exp") => "RCU waits for this CPU: rcu_nocbs=CPUS, and fewer system calls".into(),
                Some(_) => "the kernel does not tell what needs it".into(),
                None => "the thread enters the kernel, or has just begun: it stops later".into(),
            }
        }
    }
}

/// Lines for time that no tracepoint explains.
pub(crate) fn firmware(on: &CpuEntries, excluded: &[String]) -> Vec<EntryLine> {
    let line = |kind: &'static str, cause: &str, remedy: &str| EntryLine {
        kind,
        cause: cause.into(),
        name: None,
        sent_by: None,
        chain: Vec::new(),
        count: None,
        total_ns: None,
        worst_ns: None,
        remedy: remedy.into(),
        is_excluded: excluded.iter().any(|word| word == kind),
    };
    let mut lines = Vec::new();
    if let Smis::Count(count @ 1..) = on.smis {
        lines.push(EntryLine {
            count: Some(count),
            ..line(
                "smi",
                "interrupt of the firmware (SMI)",
                "the firmware's settings; its maker's guide to low latency",
            )
        });
    }
    if let Some(stolen) = on.stolen.filter(|time| time.0 > 0) {
        lines.push(EntryLine {
            total_ns: Some(stolen.0),
            ..line(
                "steal",
                "time taken by the hypervisor",
                "give the virtual machine CPUs of its own, or measure on the machine itself",
            )
        });
    }
    lines
}
