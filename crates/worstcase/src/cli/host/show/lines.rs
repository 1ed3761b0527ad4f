//! The facts as lines for a person: a heading, then keys and values; a value that is absent is not known.

use std::collections::BTreeMap;
use worstcase_host::CpuList;
use worstcase_host::facts::cgroup::Version;
use worstcase_host::facts::container::Container;
use worstcase_host::facts::disks::DiskFacts;
use worstcase_host::facts::identity::MachineIdentity;
use worstcase_host::facts::interrupts::Interrupts;
use worstcase_host::facts::isolation::Isolation;
use worstcase_host::facts::power::Power;
use worstcase_host::facts::rights::Rights;
use worstcase_host::facts::scheduling::{SchedulerFacts, Watchdogs};
use worstcase_host::facts::thermal::Thermal;
use worstcase_host::facts::virtualization::Virtualization;
use worstcase_host::facts::{MachineFacts, cgroup, clock, cpu, kernel, memory};

type TitledLine = (String, Option<String>);

pub(super) fn groups(facts: &MachineFacts) -> Vec<(&'static str, Vec<TitledLine>)> {
    vec![
        ("Machine", identity(&facts.identity)),
        ("Processor", cpu(&facts.cpu, &facts.busy_percent)),
        ("Clock", clock(&facts.clock)),
        ("Kernel", kernel(&facts.kernel)),
        ("Isolation", isolation(&facts.isolation)),
        ("Frequency and sleep", power(&facts.power)),
        ("Heat", heat(&facts.thermal)),
        ("Scheduler", scheduling(&facts.scheduling, &facts.watchdogs)),
        ("Interrupts", interrupts(&facts.interrupts)),
        ("Memory", memory(&facts.memory)),
        ("Hypervisor", virtualization(&facts.virtualization)),
        ("Mitigations", vulnerabilities(&facts.vulnerabilities)),
        ("This user", rights(&facts.rights)),
        ("Control group", cgroup(&facts.cgroup)),
        ("Container", container(&facts.container)),
        ("Block devices", facts.disks.iter().map(disk).collect()),
    ]
}

fn identity(identity: &MachineIdentity) -> Vec<TitledLine> {
    vec![
        line("host name", identity.host.as_ref()),
        line("system", identity.system.as_ref()),
        line("board", identity.board.as_ref()),
        line("firmware", identity.firmware.as_ref()),
    ]
}

fn line(key: &str, value: Option<impl ToString>) -> TitledLine {
    (key.to_string(), value.map(|v| v.to_string()))
}

fn on(value: Option<bool>) -> Option<&'static str> {
    value.map(|on| if on { "on" } else { "off" })
}

fn or_none(list: &CpuList) -> String {
    if list.is_empty() {
        "none".into()
    } else {
        list.to_string()
    }
}

fn joined(items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().collect::<Vec<_>>().join(", ")
}

fn cpu(cpu: &cpu::CpuFacts, busy: &BTreeMap<u32, f64>) -> Vec<TitledLine> {
    let counted = |count: Option<usize>, what: &str| match count? {
        1 => Some(format!("1 {what}")),
        n => Some(format!("{n} {what}s")),
    };
    let topology: Vec<String> = [
        counted(cpu.sockets, "socket"),
        counted(cpu.cores, "core"),
        counted(cpu.online.as_ref().map(CpuList::len), "CPU"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let siblings = match cpu.siblings.is_empty() {
        true => "none".into(),
        false => joined(cpu.siblings.iter().map(ToString::to_string)),
    };
    let mut lines = vec![
        line("model", cpu.model.as_ref()),
        line("topology", (!topology.is_empty()).then(|| topology.join(", "))),
        line("online", cpu.online.as_ref()),
        line("share a core", cpu.cores.map(|_| siblings)),
        line("microcode", cpu.microcode.as_ref()),
    ];
    for kind in &cpu.kinds {
        let capacity = kind.capacity.map(|n| format!(", {n} of 1024")).unwrap_or_default();
        lines.push(line(&kind.name, Some(format!("CPUs {}{capacity}", kind.cpus))));
    }
    for cache in &cpu.caches {
        let shared = cache
            .shared
            .as_ref()
            .map(|cpus| format!(", CPUs {cpus}"))
            .unwrap_or_default();
        lines.push(line(
            &format!("L{} {}", cache.level, cache.kind.to_lowercase()),
            Some(format!("{}{shared}", cache.size)),
        ));
    }
    if !busy.is_empty() {
        let each = busy.iter().map(|(cpu, percent)| format!("CPU {cpu} {percent:.0} %"));
        lines.push(line("busy now", Some(joined(each))));
    }
    lines
}

fn clock(clock: &clock::ClockSource) -> Vec<TitledLine> {
    vec![
        line("source", clock.current.as_ref()),
        line(
            "available",
            (!clock.available.is_empty()).then(|| clock.available.join(", ")),
        ),
        line("a reading costs", clock.read_ns.map(|ns| format!("{ns:.0} ns"))),
    ]
}

fn kernel(kernel: &kernel::RunningKernel) -> Vec<TitledLine> {
    let preemption = &kernel.preemption;
    let model = match preemption.model {
        Some(model) => format!("{model} ({})", preemption.how),
        None => preemption.how.clone(),
    };
    let mut lines = vec![
        line("release", kernel.release.as_ref()),
        line("version", kernel.version.as_ref()),
        line("preemption", Some(model).filter(|m| !m.is_empty())),
        line("HZ", kernel.hz),
        line("configuration", kernel.configuration.as_ref()),
        line("command line", kernel.command_line.as_ref()),
    ];
    lines.extend(kernel.parameters.as_ref().map(|place| line("comes from", Some(place))));
    lines
}

fn isolation(isolation: &Isolation) -> Vec<TitledLine> {
    let asked: Vec<String> = [
        ("isolcpus", &isolation.isolcpus),
        ("nohz_full", &isolation.nohz_full),
        ("rcu_nocbs", &isolation.rcu_nocbs),
        ("irqaffinity", &isolation.irqaffinity),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)))
    .collect();
    let asked = if asked.is_empty() {
        "nothing".into()
    } else {
        asked.join(" ")
    };
    vec![
        line("asked at boot", Some(asked)),
        line("isolated CPUs", isolation.isolated.as_ref().map(or_none)),
        line("tickless CPUs", isolation.tickless.as_ref().map(or_none)),
    ]
}

fn power(power: &Power) -> Vec<TitledLine> {
    let governors = power
        .governors
        .iter()
        .map(|(name, cpus)| format!("{name} (CPUs {cpus})"));
    let state = |state: &worstcase_host::facts::power::IdleState| {
        let off = if state.disabled { ", off" } else { "" };
        format!("{} ({} us{off})", state.name, state.exit_us)
    };
    // 2000 s is the kernel's way to say that no process has asked for a limit.
    let limit = power.latency_limit_us.map(|us| match us {
        2_000_000_000.. => "none".into(),
        us => format!("{us} us"),
    });
    vec![
        line("frequency driver", power.frequency_driver.as_ref()),
        line("governor", (!power.governors.is_empty()).then(|| joined(governors))),
        line("turbo", on(power.turbo)),
        line("idle driver", power.idle_driver.as_ref()),
        line("idle governor", power.idle_governor.as_ref()),
        line(
            "sleep states",
            (!power.idle_states.is_empty()).then(|| joined(power.idle_states.iter().map(state))),
        ),
        line("allowed exit time", limit),
    ]
}

fn heat(thermal: &Thermal) -> Vec<TitledLine> {
    let zones = thermal.zones.iter().map(|zone| {
        let limit = zone
            .slows_at_millidegrees
            .map(|at| format!(", slowed down from {} on", at / 1000));
        let degrees = zone.millidegrees / 1000;
        line(
            &zone.name,
            Some(format!("{degrees} degrees{}", limit.unwrap_or_default())),
        )
    });
    let coolers = thermal.coolers.iter();
    let coolers = coolers.map(|cooler| line(&cooler.name, Some(format!("step {} of {}", cooler.step, cooler.steps))));
    let lines: Vec<TitledLine> = zones.chain(coolers).collect();
    match lines.is_empty() {
        true => vec![line("sensors", None::<String>)],
        false => lines,
    }
}

fn scheduling(scheduling: &SchedulerFacts, watchdogs: &Watchdogs) -> Vec<TitledLine> {
    let real_time = scheduling.rt_runtime_us.zip(scheduling.rt_period_us);
    let real_time = real_time.map(|(runtime, period)| match runtime {
        ..0 => "without limit".into(),
        _ => format!("{runtime} of {period} us"),
    });
    let watched = watchdogs.cpus.as_ref().map(|cpus| format!("CPUs {}", or_none(cpus)));
    vec![
        line("real-time may run", real_time),
        line(
            "fair server",
            scheduling.fair_server_ns.map(|ns| format!("{} us a second", ns / 1000)),
        ),
        line("timer migration", on(scheduling.timer_migration)),
        line("memory nodes", scheduling.numa_nodes),
        line("NUMA balancing", on(scheduling.numa_balancing)),
        line("hard-lockup watchdog", on(watchdogs.nmi)),
        line("soft-lockup watchdog", on(watchdogs.soft)),
        line("watched", watched),
        line("load average", scheduling.load_average),
    ]
}

fn interrupts(interrupts: &Interrupts) -> Vec<TitledLine> {
    let running = interrupts
        .irqbalance
        .map(|runs| if runs { "runs" } else { "does not run" });
    let mut lines = vec![
        line("irqbalance", running),
        line("default mask", interrupts.default_mask.as_ref()),
    ];
    for irq in interrupts.lines.iter().filter(|irq| irq.count > 0) {
        let goes = irq
            .cpus()
            .map_or("CPUs not known".into(), |cpus| format!("CPUs {cpus:<8}"));
        lines.push(line(
            &format!("IRQ {}", irq.number),
            Some(format!("{goes} {:>10} times  {}", irq.count, irq.name)),
        ));
    }
    lines
}

fn memory(memory: &memory::MemoryFacts) -> Vec<TitledLine> {
    let mb = |kb: Option<u64>| kb.map(|kb| format!("{} MB", kb / 1024));
    let area = |area: &memory::Swap| {
        format!(
            "{} ({} of {} MB used)",
            area.name,
            area.used_kb / 1024,
            area.size_kb / 1024
        )
    };
    let swap = memory.swap.as_ref().map(|areas| match areas.is_empty() {
        true => "none".into(),
        false => joined(areas.iter().map(area)),
    });
    let pressure = memory
        .pressure
        .iter()
        .map(|(name, percent)| format!("{name} {percent} %"));
    vec![
        line("total", mb(memory.total_kb)),
        line("available", mb(memory.available_kb)),
        line("huge pages", memory.huge_pages.as_ref()),
        line("their compaction", memory.huge_pages_defrag.as_ref()),
        line("same-page merging", on(memory.same_page_merging)),
        line("swap", swap),
        line(
            "pressure (10 s)",
            (!memory.pressure.is_empty()).then(|| joined(pressure)),
        ),
    ]
}

fn virtualization(guest: &Virtualization) -> Vec<TitledLine> {
    let below = guest.hypervisor.map(|below| match (below, &guest.name) {
        (false, _) => "none".to_string(),
        (true, Some(name)) => name.clone(),
        (true, None) => "yes, of unknown name".into(),
    });
    let since_boot = guest.steal_s.zip(guest.steal_percent);
    vec![
        line("hypervisor", below),
        line(
            "steal since boot",
            since_boot.map(|(s, percent)| format!("{s:.1} s, {percent:.2} %")),
        ),
        line(
            "steal now",
            guest.steal_now_percent.map(|percent| format!("{percent:.1} %")),
        ),
    ]
}

fn vulnerabilities(all: &BTreeMap<String, String>) -> Vec<TitledLine> {
    let affected = all.iter().filter(|(_, state)| *state != "Not affected");
    let lines: Vec<TitledLine> = affected
        .map(|(name, state)| (name.replace('_', " "), Some(state.clone())))
        .collect();
    match (all.is_empty(), lines.is_empty()) {
        (true, _) => vec![line("state", None::<String>)],
        (_, true) => vec![line("state", Some("not affected by any"))],
        _ => lines,
    }
}

fn rights(rights: &Rights) -> Vec<TitledLine> {
    let capabilities = rights.capabilities.as_ref().map(|all| match all.is_empty() {
        true => "none of those that matter here".into(),
        false => all.join(" "),
    });
    let locked = rights.locked_bytes.map(|bytes| format!("{} kB", bytes / 1024));
    let locked = locked.or(rights.locked_unlimited.then(|| "without limit".into()));
    let mounted = |place: &Option<String>| Some(place.clone().unwrap_or_else(|| "not mounted".into()));
    vec![
        line("root", rights.root.map(|root| if root { "yes" } else { "no" })),
        line("capabilities", capabilities),
        line(
            "real-time priority",
            rights.rt_priority.map(|n| format!("up to {n} by limit")),
        ),
        line("locked memory", locked),
        line("perf paranoia", rights.perf_event_paranoid),
        line("tracefs", mounted(&rights.tracefs)),
        line("debugfs", mounted(&rights.debugfs)),
    ]
}

fn cgroup(cgroup: &cgroup::Cgroup) -> Vec<TitledLine> {
    let version = cgroup.version.map(|version| match version {
        Version::V1 => "1",
        Version::V2 => "2",
        Version::Hybrid => "1, and 2 beside it",
    });
    let quota = cgroup
        .quota_cpus
        .map_or("none".into(), |cpus| format!("{cpus} CPUs' worth of time"));
    let mut lines = vec![
        line("version", version),
        line("group", cgroup.path.as_ref()),
        line("quota", cgroup.version.map(|_| quota)),
        line("allowed CPUs", cgroup.allowed.as_ref()),
    ];
    if let Some(us) = cgroup.rt_runtime_us {
        lines.push(line("real-time runtime", Some(format!("{us} us"))));
    }
    lines
}

fn container(container: &Container) -> Vec<TitledLine> {
    let own = |is_own: bool| Some(if is_own { "its own" } else { "the machine's" });
    let engine = match (&container.engine, container.is_one()) {
        (Some(engine), _) => Some(engine.clone()),
        (None, true) => None,
        (None, false) => Some("none".into()),
    };
    vec![
        line("made by", engine),
        line("processes", own(container.own_processes)),
        line("users", own(container.own_users)),
    ]
}

fn disk(disk: &DiskFacts) -> TitledLine {
    let parts = [
        Some(format!("{:.1} GB", disk.size_bytes as f64 / 1e9)),
        disk.scheduler.as_ref().map(|name| format!("scheduler {name}")),
        disk.queue_depth.map(|depth| format!("depth {depth}")),
        disk.rotational
            .map(|turns| if turns { "rotating" } else { "not rotating" }.to_string()),
    ];
    line(&disk.name, Some(joined(parts.into_iter().flatten())))
}
