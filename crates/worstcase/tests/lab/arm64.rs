//! Machines of arm64: kernels of the archive, measured; and what cannot be asked of them.

use crate::controller::{Controller, GENERIC, folder, kernel, link_kernel, shared};
use crate::failures::one_line;
use crate::followed::control_for_arm64;
use crate::planted_module;
use serde_json::Value;
use worstcase_plan::{Arch, NOT_ONE_UNIT};
use worstcase_results::record::{Record, Run};
use worstcase_skips::skip;

pub const KERNEL: &str = "debian:6.12/arm64";
pub const LOADS_SCHEDULERS: &str = "debian:7.3/arm64";
/// Its configuration lacks KALLSYMS_ALL.
const WITHOUT_DATA_SYMBOLS: &str = "debian:6.1/arm64";
pub const PACKAGE: &str = "qemu-system-arm";
/// Bytes of an image up to behind its magic, with the release that a small one names.
const MAGIC: usize = 0x38;

/// Why machines of arm64 cannot run here.
pub fn missing() -> Option<&'static str> {
    let qemu = std::process::Command::new("qemu-system-aarch64")
        .arg("--version")
        .output();
    match (qemu.is_ok(), worstcase_lab::payload::carries(Arch::Arm64)) {
        (false, _) => Some("there is no qemu-system-aarch64"),
        (_, false) => {
            Some("this build carries nothing for arm64: the standard library or the compiler for it is missing")
        }
        _ => None,
    }
}

/// A controller with the kernel.
pub fn controller(name: &str) -> Controller {
    let controller = Controller::fresh();
    link_kernel(controller.cache(), name);
    controller
}

fn digests(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.digest.as_str()).collect()
}

#[test]
fn a_kernel_for_boards_is_measured_and_repeats() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let cells = format!("--kernel {KERNEL} --load idle,fork,shm,procread --seeds 2 --samples 100");
    let first = controller(KERNEL).measure(&cells);
    let again = controller(KERNEL).measure(&format!("{cells} --jobs 2"));
    assert_eq!(digests(&first), digests(&again));
    assert_eq!(first.len(), 8);
    for record in &first {
        assert!(record.id.to_string().contains("-arm64.voluntary."), "{}", record.id);
        assert_eq!(record.subject.kernel.name, KERNEL);
        assert_eq!(
            record.subject.preempt.in_force, "voluntary",
            "its version does not tell"
        );
        let latency = record.summary.latency.as_ref().unwrap();
        assert_eq!(latency.count, 100, "{}", record.id);
        let machine = record.subject.virtual_machine().unwrap();
        assert_eq!(machine.arch(), Arch::Arm64);
    }
}

/// A policy is one object for both architectures.
#[test]
fn schedulers_are_loaded() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let controller = controller(LOADS_SCHEDULERS);
    let cells = format!(
        "--kernel {LOADS_SCHEDULERS} --load idle --probe pick:10/500 --seeds 1 --samples 200 --cpus 2 --scheduler eevdf,o-n,o-1"
    );
    let records = controller.measure(&cells);
    let growth = |two: &[Record]| {
        let [few, many] = [&two[0], &two[1]].map(|record| record.summary.latency.as_ref().unwrap().median_ns.unwrap());
        many as f64 / few as f64
    };
    let [eevdf, o_n, o_1] = [0, 2, 4].map(|at| growth(&records[at..at + 2]));
    assert!(eevdf < 1.5 && o_1 < 1.5 && o_n > 4.0, "{eevdf} {o_n} {o_1}");
    assert_eq!(records[0].subject.preempt.in_force, "lazy", "its version says PREEMPT");
    let loaded = |record: &Record| record.scheduler.as_ref().map(|scheduler| scheduler.name.clone());
    let names = ["o_n", "o_n", "o_1", "o_1"].map(|name| Some(name.to_string()));
    assert_eq!(records[2..].iter().map(loaded).collect::<Vec<_>>(), names);
    assert_eq!(
        digests(&controller.measure(&format!("{cells} --jobs 2"))),
        digests(&records)
    );
}

#[test]
fn several_cpus_repeat() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let cells = format!("--kernel {KERNEL} --cpus 2 --load fork,procread --seeds 1 --samples 100");
    let first = controller(KERNEL).measure(&cells);
    let again = controller(KERNEL).measure(&format!("{cells} --jobs 2"));
    assert_eq!(digests(&first), digests(&again));
    assert!(
        first[0].id.to_string().contains("-arm64.voluntary.2cpus."),
        "{}",
        first[0].id
    );
}

/// Unmapping has other CPUs drop their translations by an instruction: x86-64 interrupts them for it.
#[test]
fn an_isolated_cpu_is_entered_for_changed_code_alone() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let (controller, folder) = (controller(KERNEL), folder());
    let run = folder.path().join("run");
    let machine = format!("--kernel {KERNEL} --cpus 3 --probe-cpu 2 --load-cpus 0-1 --probe noise");
    let cells = format!("{machine} --load idle,fork,munmap:own@1000,perf@1000 --seeds 1 --time 50ms");
    let mut measured = controller.run(&cells, &run);
    measured.args(["--append", "isolcpus=managed_irq,domain,2 nohz_full=2"]);
    measured.assert().success();
    let records = Run::open(&run).unwrap().records().unwrap();
    let gaps = |record: &Record| record.accounting.gaps().unwrap().gaps;
    let of_load: Vec<u64> = records.iter().map(gaps).collect();
    assert_eq!(of_load, [0, 0, 0, 100], "idle, fork, unmapping, perf");
    let told = controller.worstcase("explain").arg(&run).assert().success();
    let told = String::from_utf8(told.get_output().stdout.clone()).unwrap();
    for call in ["perf_event_open(2)", "close(2)"] {
        assert!(told.contains(&format!("load-perf in {call}")), "{told}");
    }
    assert!(told.contains("call from another CPU: do_nothing"), "{told}");
}

/// All interrupts have one entry there: what ran in it tells that another CPU sent this one.
#[test]
fn a_remote_wake_up_begins_with_its_sender() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let cells =
        format!("--kernel {KERNEL} --cpus 2 --probe remote+futex,remote+pipe --load idle --seeds 1 --samples 50");
    let (controller, folder) = (controller(KERNEL), folder());
    let run = folder.path().join("run");
    controller.run(&cells, &run).assert().success();
    for record in Run::open(&run).unwrap().records().unwrap() {
        let id = record.id.to_string();
        let mut explain = controller.worstcase("explain");
        explain.arg(&run).args(["--cell", &id, "--json"]);
        let told = explain.assert().success();
        let told: Value = serde_json::from_slice(&told.get_output().stdout).unwrap();
        let kinds: Vec<&Value> = told["spans"]
            .as_array()
            .unwrap()
            .iter()
            .map(|span| &span["kind"])
            .collect();
        assert_eq!(kinds[..2], ["send", "waking-irq"], "{id}");
        assert!(!kinds.contains(&&Value::from("other-irq")), "{id}: {kinds:?}");
    }
}

#[test]
fn beside_x86_64_it_has_ranks_and_no_ratio() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let (controller, folder) = (controller(KERNEL), folder());
    let run = |name: &str, kernel: &str| {
        let run = folder.path().join(name);
        let cells = format!("--kernel {kernel} --preempt voluntary --load idle,fork --seeds 1 --samples 50");
        let told = controller.run(&cells, &run).assert().success();
        let told = String::from_utf8(told.get_output().stdout.clone()).unwrap();
        (run, told.contains("worstcase explain"))
    };
    let ((pc, explained), (board, advised)) = (run("pc", GENERIC), run("board", KERNEL));
    assert!(explained && advised);
    let told = controller.worstcase("compare").arg(&pc).arg(&board).assert().success();
    let told = String::from_utf8(told.get_output().stdout.clone()).unwrap();
    assert!(
        told.contains(NOT_ONE_UNIT) && told.contains("maximum 1 of 2 in A"),
        "{told}"
    );
    assert!(!told.contains("ratio  "), "{told}");
    let gated = controller
        .worstcase("gate")
        .arg(&board)
        .arg("--baseline")
        .arg(&pc)
        .assert()
        .code(10);
    let told = String::from_utf8(gated.get_output().stdout.clone()).unwrap();
    assert!(told.contains(NOT_ONE_UNIT), "{told}");
}

/// The latest sample of each cell, on one CPU and on two.
#[test]
fn its_samples_are_explained() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let (controller, folder) = (controller(KERNEL), folder());
    let run = folder.path().join("run");
    let cells = format!("--kernel {KERNEL} --cpus 1,2 --load idle,shm,fork,procread --seeds 1 --samples 100");
    let told = controller.run(&cells, &run).assert().success();
    let told = String::from_utf8(told.get_output().stdout.clone()).unwrap();
    assert!(!told.contains("in every preemption model"), "it was: {told}");
    for record in Run::open(&run).unwrap().records().unwrap() {
        let id = record.id.to_string();
        let mut explain = controller.worstcase("explain");
        explain.arg(&run).args(["--cell", &id, "--json"]);
        let told = explain.assert().success();
        let told: Value = serde_json::from_slice(&told.get_output().stdout).unwrap();
        assert_eq!(told["notes"], Value::Array(Vec::new()), "{id}");
        let spans = told["spans"].as_array().unwrap();
        let lengths = spans.iter().map(|span| span["length_ns"].as_u64().unwrap());
        assert_eq!(lengths.sum::<u64>(), told["sample"]["latency_ns"], "{id}");
        let is_explained = |span: &Value| span["kind"] != "unexplained";
        assert!(spans.iter().all(is_explained), "{id}: {spans:#?}");
        let chain = told["at_due"]["chain"].as_array().unwrap();
        assert!(
            chain.iter().all(|frame| frame["function"] != "[no symbol]"),
            "{id}: {chain:#?}"
        );
        if id.contains("voluntary.procread.") {
            assert_eq!(told["cause"]["system_call"], "read", "{id}");
            assert_eq!(told["cause"]["mechanism"], "no-reschedule-point", "{id}");
        }
    }
}

/// Linked statically, and with the cross compiler's libraries.
#[test]
fn a_program_of_ones_own_is_followed_to_its_functions() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let (controller, folder) = (controller(KERNEL), folder());
    for how in [&["-static"][..], &[]] {
        let program = control_for_arm64(folder.path(), how);
        let run = folder.path().join(format!("run{}", how.len()));
        let words = format!(
            "--kernel {KERNEL} --load idle --program {} --seed 1 --time 300ms",
            program.display()
        );
        let mut measure = controller.run(&words, &run);
        measure.args(["--program-args", "1000 1500"]).assert().success();
        let record = &Run::open(&run).unwrap().records().unwrap()[0];
        assert_eq!(record.cell.probe, "follow:control");
        let latency = record.summary.latency.as_ref().unwrap();
        // It computes ten thousand turns in each cycle.
        assert!((10_000..500_000).contains(&latency.median_ns.unwrap()), "{latency:?}");
        assert_eq!(record.summary.unexplained.as_ref().unwrap().max_ns, 0);
        let mut explain = controller.worstcase("explain --json");
        let told = explain.arg(&run).assert().success();
        let told: Value = serde_json::from_slice(&told.get_output().stdout).unwrap();
        assert_eq!(told["response_ns"], latency.max_ns);
        let functions = told["functions"].as_array().unwrap();
        let ns = |of: &Value, field: &str| of[field].as_u64().unwrap();
        let in_functions: u64 = functions.iter().map(|function| ns(function, "self_ns")).sum();
        assert_eq!(
            in_functions + ns(&told, "idle_ns") + ns(&told, "unseen_ns"),
            latency.max_ns
        );
        let text = told.to_string();
        assert!(!text.contains("ring_buffer"), "the tracer takes no time");
        assert!(text.contains("hrtimer_wakeup") && text.contains("logger"), "{told:#}");
        // The logger holds the mutex meanwhile.
        let is_own = |function: &Value| function["function"] == "keep_log" && function["file"] == "control";
        assert!(functions.iter().any(is_own), "{functions:#?}");
    }
}

#[test]
fn what_is_for_another_architecture() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let (controller, folder) = (controller(KERNEL), folder());
    let run = folder.path().join("run");
    let program = control_for_arm64(folder.path(), &["-static"]);
    let board = format!("--kernel {KERNEL}");
    let is_of_pc = "it is for x86-64, and the machine of debian:6.12/arm64 is arm64";
    for option in ["--add /bin/true", "--program /bin/true"] {
        let says = [&format!("{option}: {is_of_pc}")[..], "aarch64-linux-gnu-gcc"];
        one_line(controller.run(&format!("{board} {option}"), &run), 2, &says);
    }
    let module = planted_module::module();
    let says = [
        &format!("--module {}: {is_of_pc}", module.display())[..],
        "build it against the headers",
    ];
    one_line(
        controller.run(&format!("{board} --module {}", module.display()), &run),
        2,
        &says,
    );
    let says = ["it is for arm64, and the machine of debian:6.1 is x86-64; compile it with x86_64-linux-gnu-gcc"];
    let added = format!("--kernel {GENERIC} --add {}", program.display());
    one_line(controller.run(&added, &run), 2, &says);
    assert!(!run.exists(), "no run is begun");
}

#[test]
fn a_remedy_cites_no_machine_of_another_architecture() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let (controller, folder) = (controller(KERNEL), folder());
    let run = folder.path().join("run");
    let cells = format!("--kernel {GENERIC},{KERNEL} --preempt full,voluntary --load procread --seeds 1 --samples 50");
    controller.run(&cells, &run).assert().success();
    let records = Run::open(&run).unwrap().records().unwrap();
    let remedy_of = |subject: &str| {
        let mut ids = records.iter().map(|record| record.id.to_string());
        let cell = ids.find(|id| id.contains(subject)).unwrap();
        let mut explain = controller.worstcase("explain --json");
        let told = explain.arg(&run).args(["--cell", &cell]).assert().success();
        let told: Value = serde_json::from_slice(&told.get_output().stdout).unwrap();
        told["cause"]["remedy"].as_str().unwrap().to_string()
    };
    let cites = "amd64.full has a maximum of";
    assert!(remedy_of("amd64.voluntary.").contains(cites));
    assert!(!remedy_of("arm64.voluntary.").contains(cites));
}

const STUDY: &str = r#"
schema = "worstcase-study/4"
name = "mine"
title = "Is it late?"
question = "Is it late?"
source = "our own"

[full]
kernels = [{ kernel = "debian:6.12", preempt = ["none", "voluntary"] }]
loads = ["idle", "blockread:ide-pio"]
probes = ["wakeup"]
seeds = 4
samples = 50
"#;

#[test]
fn a_study_is_asked_of_it() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let (controller, folder) = (controller(KERNEL), folder());
    let (study, run) = (folder.path().join("mine.toml"), folder.path().join("run"));
    std::fs::write(&study, STUDY).unwrap();
    let mut command = controller.worstcase("study");
    command.arg("run").arg(&study).args(["--arch", "arm64", "-o"]).arg(&run);
    let told = command.assert().success();
    let told = String::from_utf8(told.get_output().stderr.clone()).unwrap();
    for left_out in [
        "'blockread:ide-pio' needs the disk, which PCs alone have: left out on arm64",
        "debian:6.12/arm64 boots voluntary alone, not none: left out",
    ] {
        assert!(told.contains(left_out), "{told}");
    }
    let records = Run::open(&run).unwrap().records().unwrap();
    assert_eq!(records.len(), 4);
    assert!(records.iter().all(|record| record.subject.kernel.name == KERNEL));
}

/// The kernel is measured, and does not show where it keeps its tasks.
#[test]
fn what_cannot_be_replayed_says_what_can() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let (controller, folder) = (controller(WITHOUT_DATA_SYMBOLS), folder());
    let run = folder.path().join("run");
    let cells = format!("--kernel {WITHOUT_DATA_SYMBOLS} --load idle --seeds 1 --samples 50");
    let told = controller.run(&cells, &run).assert().success();
    let told = String::from_utf8(told.get_output().stdout.clone()).unwrap();
    assert!(!told.contains("worstcase explain"), "it is no next step: {told}");
    for words in [&[][..], &["--all"]] {
        let mut explain = controller.worstcase("explain");
        explain.arg(&run).args(words);
        one_line(explain, 4, &["it has no symbol __entry_task", "take 6.12 or later"]);
    }
    let mut census = controller.worstcase("census");
    census.arg(&run);
    one_line(census, 4, &["it has no symbol __entry_task", "take 6.12 or later"]);
}

/// Refused before any kernel is looked for.
const IMPOSSIBLE: &[(&str, &str)] = &[
    (
        "--load blockread:ide-pio",
        "'blockread:ide-pio' needs the disk, which PCs alone have",
    ),
    (
        "--load strobe",
        "'strobe' needs the parallel port, which PCs alone have",
    ),
    ("--probe irq+hpet", "needs the HPET, which PCs alone have"),
    (
        "--cpu rome",
        "debian:6.12/arm64 is for arm64, and no machine is ('cpu')",
    ),
    (
        "--arch x86-64",
        "debian:6.12/arm64 is for arm64, and no machine is ('arch')",
    ),
    ("--arch arm64 --cpu rome", "rome is no CPU of arm64"),
];

#[test]
fn what_machines_of_arm64_do_not_have() {
    let folder = folder();
    for (words, says) in IMPOSSIBLE {
        let run = folder.path().join("run");
        one_line(shared().run(&format!("--kernel {KERNEL} {words}"), &run), 2, &[says]);
        assert!(!run.exists(), "{words}: no run is begun");
    }
}

#[test]
fn an_image_is_of_one_architecture() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let folder = folder();
    let of_pcs = kernel(GENERIC);
    let (image, config) = (of_pcs.bzimage.display(), of_pcs.config.display());
    let refused = shared().run(
        &format!("--arch arm64 --kernel {image},config={config}"),
        &folder.path().join("run"),
    );
    one_line(refused, 2, &["is for x86-64, and no machine is ('arch')"]);

    let large = folder.path().join("Image");
    let mut bytes = vec![0; 0x400];
    bytes[MAGIC..MAGIC + 4].copy_from_slice(b"ARM\x64");
    bytes[0x100..0x11f].copy_from_slice(b"Linux version 6.12.1-16k (b) #1");
    std::fs::write(&large, bytes).unwrap();
    let needs = "64BIT BINFMT_ELF BLK_DEV_INITRD PRINTK DEVTMPFS TMPFS PROC_FS SYSFS PCI HIGH_RES_TIMERS KALLSYMS \
                 SERIAL_AMBA_PL011 SERIAL_AMBA_PL011_CONSOLE PCI_HOST_GENERIC DEVMEM ARM64_16K_PAGES";
    let options: String = needs
        .split_whitespace()
        .map(|option| format!("CONFIG_{option}=y\n"))
        .collect();
    std::fs::write(folder.path().join("config"), options).unwrap();
    let refused = shared().run(&format!("--kernel {}", large.display()), &folder.path().join("run"));
    one_line(
        refused,
        2,
        &["CONFIG_ARM64_16K_PAGES", "cortex-a72", "--cpu cortex-a76"],
    );
}
