//! Facts of made-up machines: a few files below a temporary folder.

use super::*;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use worstcase_kernels::preempt::PreemptName;

/// Writes `files` below a folder and reads the facts.
fn facts(files: &[(&str, &str)]) -> MachineFacts {
    let files: Vec<(&str, Vec<u8>)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_bytes().to_vec()))
        .collect();
    facts_of_bytes(&files)
}

fn facts_of_bytes(files: &[(&str, Vec<u8>)]) -> MachineFacts {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    MachineFacts::read(&FileTree::at(dir.path()), LiveFacts::default())
}

#[test]
fn an_empty_tree_tells_nothing_and_breaks_nothing() {
    let facts = facts(&[]);
    let json = serde_json::to_value(&facts).unwrap();
    let object = json.as_object().unwrap();
    for (group, value) in object {
        let told = value.as_object().into_iter().flatten().filter(|(name, v)| {
            let empty = v.is_null() || **v == false || v.as_array().is_some_and(Vec::is_empty);
            let preemption = name.as_str() == "preemption";
            !(empty || preemption || v.as_object().is_some_and(|o| o.is_empty()))
        });
        assert_eq!(told.collect::<Vec<_>>(), [], "{group}");
    }
    assert_eq!(facts.kernel.preemption.model, None);
}

const RELEASE: (&str, &str) = ("proc/sys/kernel/osrelease", "6.12.1-test\n");
const DYNAMIC: (&str, &str) = ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian\n");
const CONFIG: (&str, &str) = (
    "boot/config-6.12.1-test",
    "CONFIG_PREEMPT_DYNAMIC=y\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_HZ=1000\n# CONFIG_RT_GROUP_SCHED is not set\n",
);

#[test]
fn the_preemption_model_is_told_with_its_source() {
    let told = |files: &[(&str, &str)]| {
        let preemption = facts(files).kernel.preemption;
        (preemption.model, preemption.how)
    };
    let expect = |files: &[(&str, &str)], model: Option<PreemptName>, how: &str| {
        let told = told(files);
        assert_eq!(told.0, model, "{files:?}");
        assert!(told.1.contains(how), "{}", told.1);
    };
    let debugfs = ("sys/kernel/debug/sched/preempt", "none voluntary (full) lazy\n");
    let asked = |model: &'static str| ("proc/cmdline", model);
    expect(
        &[("sys/kernel/realtime", "1\n"), DYNAMIC],
        Some(PreemptName::Rt),
        "/sys/kernel/realtime",
    );
    let rt = ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian");
    expect(&[rt, debugfs], Some(PreemptName::Rt), "version");
    expect(
        &[DYNAMIC, RELEASE, CONFIG, debugfs],
        Some(PreemptName::Full),
        "debug/sched/preempt",
    );
    expect(
        &[DYNAMIC, RELEASE, CONFIG, asked("quiet preempt=none")],
        Some(PreemptName::None),
        "command line",
    );
    // This kernel lacks `lazy`, so it runs its default.
    expect(
        &[DYNAMIC, RELEASE, CONFIG, asked("preempt=lazy")],
        Some(PreemptName::Voluntary),
        "default",
    );
    expect(&[DYNAMIC, RELEASE, CONFIG], Some(PreemptName::Voluntary), "default");
    expect(&[DYNAMIC], None, "dynamic, not known which");
    let fixed = ("boot/config-6.12.1-test", "CONFIG_PREEMPT=y\n");
    let full = ("proc/sys/kernel/version", "#1 SMP PREEMPT Debian");
    expect(&[full, RELEASE, fixed], Some(PreemptName::Full), "compiled in");
    expect(&[full], Some(PreemptName::Full), "version");
    expect(
        &[("proc/sys/kernel/version", "#1 SMP Debian")],
        None,
        "none or voluntary",
    );
}

#[test]
fn the_configuration_is_found_packed_or_plain() {
    let plain = facts(&[RELEASE, CONFIG]).kernel;
    assert_eq!(
        (plain.hz, plain.configuration.as_deref()),
        (Some(1000), Some("/boot/config-6.12.1-test"))
    );
    assert_eq!(plain.rt_group_scheduling, Some(false));
    assert_eq!(plain.series(), Some((6, 12)));
    let mut packer = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(b"CONFIG_HZ=250\nCONFIG_RT_GROUP_SCHED=y\n").unwrap();
    let packed = facts_of_bytes(&[
        ("proc/config.gz", packer.finish().unwrap()),
        (RELEASE.0, RELEASE.1.into()),
    ])
    .kernel;
    assert_eq!((packed.hz, packed.rt_group_scheduling), (Some(250), Some(true)));
}

#[test]
fn cores_and_their_threads() {
    let cpu = |n: u32, package: &'static str, core: &'static str| {
        let file = move |name: &str| format!("sys/devices/system/cpu/cpu{n}/topology/{name}");
        [
            (file("physical_package_id"), package),
            (file("thread_siblings_list"), core),
        ]
    };
    let files: Vec<(String, &str)> = [cpu(0, "0", "0,2"), cpu(1, "0", "1"), cpu(2, "0", "0,2")].concat();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    files.push(("sys/devices/system/cpu/online", "0-2\n"));
    files.push((
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: A: B\nflags\t\t: fpu hypervisor\n",
    ));
    files.push(("sys/class/dmi/id/sys_vendor", "QEMU\n"));
    let facts = facts(&files);
    assert_eq!((facts.cpu.sockets, facts.cpu.cores), (Some(1), Some(2)));
    assert_eq!(
        facts.cpu.siblings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["0,2"]
    );
    assert_eq!(facts.cpu.model.as_deref(), Some("A: B"));
    assert_eq!(facts.virtualization.hypervisor, Some(true));
    assert_eq!(facts.virtualization.name.as_deref(), Some("QEMU"));
}

#[test]
fn a_machine_is_known_by_its_names_and_not_by_its_id() {
    let id = "0123456789abcdef0123456789abcdef";
    let pc = facts(&[
        ("proc/sys/kernel/hostname", "rtbox\n"),
        ("etc/machine-id", id),
        ("sys/class/dmi/id/sys_vendor", "Acme\n"),
        ("sys/class/dmi/id/product_name", "Rack 5\n"),
        ("sys/class/dmi/id/board_name", "B1\n"),
        ("sys/class/dmi/id/bios_version", "7.1\n"),
        ("sys/class/dmi/id/bios_date", "01/02/2026\n"),
    ])
    .identity;
    assert_eq!(pc.host.as_deref(), Some("rtbox"));
    assert_eq!(pc.system.as_deref(), Some("Acme Rack 5"));
    assert_eq!(pc.board.as_deref(), Some("B1"));
    assert_eq!(pc.firmware.as_deref(), Some("7.1 01/02/2026"));
    let digest = pc.machine_id.unwrap();
    assert!(digest.starts_with("sha256:") && !digest.contains(id), "{digest}");
    let board = facts(&[("proc/device-tree/model", "Acme SBC\0")]).identity;
    assert_eq!(board.system.as_deref(), Some("Acme SBC"));
}

#[test]
fn the_nearest_cpuset_counts() {
    let cpuset = |files: &[(&str, &str)]| facts(files).cgroup.cpuset.map(|c| (c.group, c.cpus.to_string()));
    let v2 = [
        ("sys/fs/cgroup/cgroup.controllers", "cpuset"),
        ("proc/self/cgroup", "0::/a/b\n"),
        ("sys/fs/cgroup/a/cpuset.cpus.effective", "0-1\n"),
        ("sys/fs/cgroup/cpuset.cpus.effective", "0-3\n"),
    ];
    assert_eq!(cpuset(&v2), Some(("/a".into(), "0-1".into())));
    assert_eq!(cpuset(&[v2[0], v2[1], v2[3]]), Some(("/".into(), "0-3".into())));
    let v1 = [
        ("proc/self/cgroup", "5:cpuset:/c\n2:cpu,cpuacct:/d\n"),
        ("sys/fs/cgroup/cpuset/c/cpuset.effective_cpus", "2\n"),
    ];
    assert_eq!(cpuset(&v1), Some(("/c".into(), "2".into())));
    assert_eq!(cpuset(&[]), None);
}

#[test]
fn interrupts_are_read_with_where_they_go() {
    let table = "           CPU0       CPU1\n 24:          5         2  IO-APIC   5-edge  disk\nLOC:  7 7 Local timer\n\
         25:  1\n";
    let facts = facts(&[
        ("proc/interrupts", table),
        ("proc/irq/24/smp_affinity_list", "0-1\n"),
        ("proc/irq/24/effective_affinity_list", "1\n"),
        ("proc/77/comm", "irqbalance\n"),
    ]);
    let [irq] = &facts.interrupts.lines[..] else {
        panic!("{:?}", facts.interrupts)
    };
    assert_eq!(
        (irq.number, irq.count, irq.name.as_str()),
        (24, 7, "IO-APIC 5-edge disk")
    );
    assert_eq!(irq.cpus().unwrap().to_string(), "1");
    assert_eq!(facts.interrupts.irqbalance, Some(true));
}

#[test]
fn sleep_states_count_when_they_may_be_entered() {
    let state = |n: u32, name: &'static str, us: &'static str| {
        let file = move |file: &str| format!("sys/devices/system/cpu/cpu0/cpuidle/state{n}/{file}");
        [(file("name"), name), (file("latency"), us), (file("disable"), "0")]
    };
    let files: Vec<(String, &str)> = [state(0, "POLL", "0"), state(1, "C1", "2"), state(10, "C10", "890")].concat();
    let mut files: Vec<(&str, Vec<u8>)> = files
        .iter()
        .map(|(n, text)| (n.as_str(), text.as_bytes().into()))
        .collect();
    let deepest = |power: power::Power| power.deepest_allowed().map(|state| state.name.clone());
    assert_eq!(deepest(facts_of_bytes(&files).power).as_deref(), Some("C10"));
    files.push(("dev/cpu_dma_latency", 20_i32.to_ne_bytes().into()));
    assert_eq!(deepest(facts_of_bytes(&files).power).as_deref(), Some("C1"));
}

#[test]
fn the_tightest_quota_above_counts() {
    let v2 = facts(&[
        ("sys/fs/cgroup/cgroup.controllers", "cpu"),
        ("proc/self/cgroup", "0::/a/b\n"),
        ("sys/fs/cgroup/a/cpu.max", "50000 100000\n"),
        ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
    ]);
    assert_eq!(v2.cgroup.quota_cpus, Some(0.5));
    let v1 = facts(&[
        ("proc/self/cgroup", "4:memory:/m\n2:cpu,cpuacct:/c\n0::/\n"),
        ("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "-1"),
        ("sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000"),
        ("sys/fs/cgroup/cpu/c/cpu.rt_runtime_us", "0"),
    ]);
    assert_eq!((v1.cgroup.quota_cpus, v1.cgroup.rt_runtime_us), (None, Some(0)));
    assert_eq!(v1.cgroup.version, Some(cgroup::Version::V1));
}

#[test]
fn a_container_is_known_by_its_name_spaces() {
    let inside = |spaces: [u32; 3], files: &[&str]| {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("proc/self/ns");
        fs::create_dir_all(&folder).unwrap();
        for (name, number) in ["pid", "user", "uts"].into_iter().zip(spaces) {
            std::os::unix::fs::symlink(format!("{name}:[{number}]"), folder.join(name)).unwrap();
        }
        fs::write(
            dir.path().join("proc/self/status"),
            "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n",
        )
        .unwrap();
        files
            .iter()
            .for_each(|name| fs::write(dir.path().join(name), "").unwrap());
        MachineFacts::read(&FileTree::at(dir.path()), LiveFacts::default())
    };
    const MACHINE: [u32; 3] = [4026531836, 4026531837, 4026531838];
    let machine = inside(MACHINE, &[".dockerenv"]);
    assert!(!machine.container.is_one());
    assert_eq!(machine.rights.has("CAP_SYS_NICE"), Some(true));
    let shares_processes = inside([MACHINE[0], MACHINE[1], 4026532000], &[".dockerenv"]).container;
    assert_eq!(shares_processes.engine.as_deref(), Some("docker"));
    assert!(!shares_processes.own_processes);
    let unnamed = inside([4026532001, MACHINE[1], MACHINE[2]], &[]).container;
    assert!(unnamed.is_one() && unnamed.own_processes && unnamed.engine.is_none());
    let own_users = inside([MACHINE[0], 4026532002, MACHINE[2]], &[]);
    assert!(own_users.container.own_users);
    assert_eq!(
        own_users.rights.has("CAP_SYS_NICE"),
        Some(false),
        "root there is not the machine's"
    );
    let pod = facts(&[("proc/self/environ", "A=1\0KUBERNETES_SERVICE_HOST=10.0.0.1\0")]);
    assert_eq!(pod.container.engine, None, "name spaces are not known");
}

#[test]
fn rights_memory_and_disks() {
    let facts = facts(&[
        (
            "proc/self/status",
            "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000804000\n",
        ),
        (
            "proc/self/limits",
            "Limit Soft Hard Units\nMax realtime priority     95   95\nMax locked memory  unlimited unlimited bytes\n",
        ),
        ("proc/self/mounts", "tracefs /sys/kernel/tracing tracefs rw 0 0\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"),
        (
            "proc/swaps",
            "Filename Type Size Used Priority\n/dev/sda2 partition 1000 10 -2\n",
        ),
        (
            "proc/pressure/io",
            "some avg10=1.50 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00\n",
        ),
        ("sys/block/sda/size", "8\n"),
        ("sys/block/sda/queue/scheduler", "none [mq-deadline]\n"),
        ("sys/block/loop0/size", "0\n"),
        ("proc/stat", "cpu 10 0 10 60 10 0 0 10 0 0\n"),
    ]);
    assert_eq!(facts.rights.capabilities, Some(vec!["CAP_IPC_LOCK", "CAP_SYS_NICE"]));
    assert_eq!((facts.rights.root, facts.rights.rt_priority), (Some(false), Some(95)));
    assert!(facts.rights.locked_unlimited);
    assert_eq!(facts.rights.tracefs.as_deref(), Some("/sys/kernel/tracing"));
    assert_eq!(facts.memory.huge_pages.as_deref(), Some("always"));
    assert_eq!(facts.memory.swap.unwrap()[0].used_kb, 10);
    assert_eq!(facts.memory.pressure["io"], 1.5);
    assert_eq!(facts.disks.len(), 1);
    assert_eq!(
        (facts.disks[0].size_bytes, facts.disks[0].scheduler.as_deref()),
        (4096, Some("mq-deadline"))
    );
    assert_eq!(facts.virtualization.steal_percent, Some(10.0));
}

#[test]
fn drives_are_asked_only_if_they_cannot_tell() {
    let block = |drive: &str, file: &str| format!("sys/block/{drive}/{file}");
    let mut files: Vec<(String, &str)> = Vec::new();
    for (drive, events, told, poll) in [
        // A disk; optical drives with the default and with their own interval; one that reports changes; one that is
        // not polled.
        ("sda", "", "", "-1"),
        ("sr0", "media_change eject_request", "", "-1"),
        ("sr1", "media_change eject_request", "", "500"),
        ("sr2", "media_change", "media_change", "-1"),
        ("sr3", "media_change", "", "0"),
    ] {
        files.extend([
            (block(drive, "events"), events),
            (block(drive, "events_async"), told),
            (block(drive, "events_poll_msecs"), poll),
        ]);
    }
    let usual = "sys/module/block/parameters/events_dfl_poll_msecs".to_string();
    let polled = |usual_ms: &'static str| {
        let mut files = files.clone();
        files.push((usual.clone(), usual_ms));
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        let polled = facts(&files).drives.polled.into_iter();
        polled.map(|drive| (drive.name, drive.every_ms)).collect::<Vec<_>>()
    };
    assert_eq!(polled("2000"), [("sr0".into(), 2_000), ("sr1".into(), 500)]);
    assert_eq!(polled("0"), [("sr1".into(), 500)]);
}

#[test]
fn ata_devices_tell_how_they_transfer() {
    let ata = facts(&[
        ("sys/class/ata_device/dev1.0/class", "ata\n"),
        ("sys/class/ata_device/dev1.0/xfer_mode", "XFER_PIO_4\n"),
        ("sys/class/ata_device/dev2.0/class", "atapi\n"),
        ("sys/class/ata_device/dev2.0/xfer_mode", "XFER_UDMA_5\n"),
        ("sys/class/ata_device/dev3.0/class", "none\n"),
        ("sys/class/ata_device/dev3.0/xfer_mode", "XFER_PIO_0\n"),
    ])
    .drives
    .ata;
    let told: Vec<(&str, bool)> = ata.iter().map(|d| (d.name.as_str(), d.is_pio())).collect();
    assert_eq!(told, [("dev1.0", true), ("dev2.0", false)]);
}

#[test]
fn daemons_have_no_terminal_and_wake_so_often_since_they_were_started() {
    let stat = |name: &str, parent: u32, terminal: u32, started: u32| {
        format!("7 ({name}) S {parent} 7 7 {terminal} -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {started} 0 0\n")
    };
    let of = |pid: u32, stat: String, switches: [u32; 2]| {
        let thread = |nth: usize| {
            let status = format!(
                "Name:\tx\nvoluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t9\n",
                switches[nth]
            );
            (
                format!("proc/{pid}/task/{}/status", pid as usize + nth),
                status.into_bytes(),
            )
        };
        [(format!("proc/{pid}/stat"), stat.into_bytes()), thread(0), thread(1)]
    };
    let mut files: Vec<(String, Vec<u8>)> = vec![("proc/uptime".into(), b"1100.50 9.00\n".to_vec())];
    files.extend(of(70, stat("a) (daemon", 1, 0, 10_050), [4_000, 6_000]));
    files.extend(of(80, stat("busy", 1, 0, 10_050), [90_000, 0]));
    files.extend(of(90, stat("of-a-shell", 60, 0, 0), [90_000, 0]));
    files.extend(of(100, stat("login", 1, 1_025, 0), [90_000, 0]));
    files.extend(of(110, stat("young", 1, 0, 109_500), [90_000, 0]));
    let files: Vec<(&str, Vec<u8>)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    let told = |daemon: daemons::Daemon| (daemon.name, daemon.pid, daemon.wakeups_per_s);
    let all: Vec<_> = facts_of_bytes(&files).daemons.into_iter().map(told).collect();
    assert_eq!(all, [("busy".into(), 80, 90.0), ("a) (daemon".into(), 70, 10.0)]);
}
