//! A board: the executable for arm64, in a virtual machine of QEMU without counted time. What a real one has beside (frequency,
//! sleep states, heat, device interrupts) is not there; `worstcase_host`'s tests have made-up ones.

use crate::machine::{EndedMachine, init};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use worstcase_lab::cpio::CpioArchive;
use worstcase_skips::skip;

const TARGET: &str = "aarch64-unknown-linux-gnu";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The initramfs: worstcase, and busybox as everything else.
fn image(files: &Path, script: &str) -> Vec<u8> {
    let executable = root().join(format!("target/{TARGET}/debug/worstcase"));
    let mut archive = CpioArchive::default();
    for folder in ["bin", "proc", "sys", "dev", "tmp", "run", "root"] {
        archive.directory(folder);
    }
    archive.file("bin/busybox", &fs::read(files.join("busybox")).unwrap());
    archive.file("bin/worstcase", &fs::read(executable).unwrap());
    let shell = "#!/bin/busybox sh\n/bin/busybox --install -s /bin\n";
    archive.file("init", init(shell, "ttyAMA0", script).as_bytes());
    archive.finish()
}

#[test]
fn all_crates_of_the_executable_compile_for_arm64() {
    let checked = Command::new(root().join("scripts/build-for"))
        .env("BUILD_FOR", "check")
        .args([TARGET, "--quiet"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    if checked.status.code() == Some(3) {
        skip!(said);
    }
    assert!(checked.status.success(), "{said}");
}

#[test]
#[ignore = "scripts/bench-board: it builds all crates for arm64, which takes minutes"]
fn host_works_on_an_arm64_board() {
    let files = root().join("target/tmp/board");
    let script = r#"
        say() { echo "== $1"; }
        say version; worstcase --version
        say describe; worstcase host show
        say doctor; worstcase host doctor
        say run; worstcase host run --quiet --warmup 1s --time 8s --interval 50ms --load fork --cpus 0-1 --captures 3 -o /tmp/a
        echo exit $?
        say shown; worstcase show /tmp/a
        say why; worstcase explain /tmp/a --all -k 3; echo exit $?; worstcase explain /tmp/a
        say page; worstcase report /tmp/a -o /tmp/a.html; ls -l /tmp/a.html; echo exit $?
        say noise; worstcase host run --quiet --probe noise --warmup 100ms --time 2s --cpus 1 -o /tmp/n; echo exit $?
        say response; worstcase host run --quiet --probe response --warmup 100ms --time 2s --cpus 1 -o /tmp/r; echo exit $?
        say watch; worstcase host watch --time 3s --output /tmp/w > /tmp/wo 2>&1; echo exit $?; cat /tmp/wo
        (while :; do cat /proc/sys/vm/stat_refresh; sleep 0.1; done) > /dev/null &
        taskset -c 1 sh -c 'while :; do sleep 0.05; done' &
        say isolate; worstcase host isolate --cpus 1 --time 4s > /tmp/i 2>&1; echo exit $?; cat /tmp/i
        kill %1 %2
        say follow; worstcase host follow -- sleep 1 > /tmp/f 2>&1; echo exit $?; cat /tmp/f
        say lab; worstcase lab run --kernel debian:6.1 -o /tmp/l; echo exit $?
        say offline; worstcase host run --cpus 7 -o /tmp/d; echo exit $?
        "#;
    let qemu = [
        "qemu-system-aarch64",
        "-machine",
        "virt,gic-version=3",
        "-cpu",
        "cortex-a72",
    ];
    let isolated = "isolcpus=domain,1 nohz_full=1 rcu_nocbs=1";
    let machine = EndedMachine::of(
        &qemu,
        "ttyAMA0",
        &files.join("vmlinuz"),
        &image(&files, script),
        isolated,
    );
    println!("{}", machine.said);
    let says = |name: &str, words: &str| {
        assert!(
            machine.part(name).contains(words),
            "{name}, {words}: {}",
            machine.part(name)
        )
    };
    says("version", "of lab results: none");
    says("describe", "Cortex-A72");
    says("describe", "arch_sys_counter");
    says("doctor", "linux,dummy-virt");
    assert!(!machine.part("doctor").contains("tsc"), "{}", machine.said);
    for part in ["run", "why", "page", "noise", "response", "watch", "isolate", "follow"] {
        says(part, "exit 0\n");
    }
    says("shown", "Cortex-A72");
    says(
        "lab",
        "the lab needs an x86-64 controller at present, and this one is aarch64",
    );
    says("lab", "\nexit 3\n");
    says("offline", "CPUs 7 are not online; choose from 0-1\nexit 2\n");
    says("end", "");
}
