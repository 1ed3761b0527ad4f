//! QEMUs that the lab cannot work with.

use crate::desk::{Desk, GENERIC, folder, qemu_that, script, shared};
use crate::failures::{machine_failed, one_line};
use assert_cmd::Command;
use std::path::Path;

fn cell(desk: &Desk, qemu: &Path, run: &Path) -> Command {
    let mut command = desk.run(
        &format!("--kernel {GENERIC} --preempt full --samples 200 --seeds 1"),
        run,
    );
    command.arg("--qemu").arg(qemu);
    command
}

#[test]
fn there_is_none() {
    let folder = folder();
    let run = folder.path().join("run");
    let mut command = shared().run(&format!("--kernel {GENERIC}"), &run);
    command.env("PATH", folder.path());
    one_line(
        command,
        3,
        &[
            "no qemu-system-x86_64 found",
            "install Debian's qemu-system-x86",
            "--qemu",
        ],
    );
    let gone = folder.path().join("gone");
    one_line(
        cell(shared(), &gone, &run),
        3,
        &["no qemu-system-x86_64 found", gone.to_str().unwrap(), "--qemu"],
    );
    assert!(!run.exists(), "no run is begun");
}

#[test]
fn it_is_too_old_or_something_else() {
    let folder = folder();
    let (run, old) = (folder.path().join("run"), folder.path().join("qemu"));
    script(&old, "echo 'QEMU emulator version 5.2.0 (Debian 1:5.2+dfsg-11)'");
    one_line(
        cell(shared(), &old, &run),
        3,
        &["5.2.0", "is not supported", "needs QEMU 7.2"],
    );
    let other = Path::new("/bin/true");
    one_line(cell(shared(), other, &run), 3, &["/bin/true", "is not supported"]);
    assert!(!run.exists(), "no run is begun");
}

#[test]
fn it_ends_before_the_machine_is_ready() {
    let (desk, folder) = (Desk::fresh(), folder());
    let (run, broken) = (folder.path().join("run"), folder.path().join("qemu"));
    qemu_that("echo 'qemu: no such device' >&2; exit 1", &broken);
    machine_failed(
        cell(&desk, &broken, &run),
        &["QEMU ended unexpectedly"],
        "qemu: no such device",
    );
    assert_eq!(
        crate::desk::entries(&desk.cache().join("snapshots")),
        Vec::<String>::new()
    );
}

#[test]
fn it_says_nothing() {
    let (desk, folder) = (Desk::fresh(), folder());
    let (run, silent) = (folder.path().join("run"), folder.path().join("qemu"));
    qemu_that("exec sleep 1000", &silent);
    let mut command = cell(&desk, &silent, &run);
    command.args(["--timeout", "1"]);
    machine_failed(
        command,
        &["time limit", "--timeout"],
        "neither QEMU nor the kernel said anything",
    );
}
