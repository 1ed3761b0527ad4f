//! QEMUs that the lab cannot work with.

use crate::controller::{Controller, GENERIC, folder, qemu_that, script, shared};
use crate::failures::{machine_failed, one_line};
use assert_cmd::Command;
use std::fs;
use std::path::Path;
use worstcase_base::cache::Cache;
use worstcase_kernels::Silent;
use worstcase_lab::qemu::Qemu;

fn cell(controller: &Controller, qemu: &Path, run: &Path) -> Command {
    let mut command = controller.run(
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

/// What decides is what QEMU is made of, not what it says of itself.
#[test]
fn another_firmware_is_another_qemu_and_a_wrapper_is_not() {
    let folder = folder();
    let cache = Cache::at(folder.path().join("cache"));
    let digest = |path: &Path| Qemu::find(Some(path), &cache, &Silent).unwrap().digest;
    let real = digest(Path::new("qemu-system-x86_64"));
    let at = |name: &str| folder.path().join(name);
    script(&at("wrapper"), "exec qemu-system-x86_64 \"$@\"");
    assert_eq!(digest(&at("wrapper")), real);

    let bios = |last: u8| {
        fs::create_dir_all(at("firmware")).unwrap();
        fs::write(at("firmware/bios-256k.bin"), [0, last]).unwrap();
    };
    bios(1);
    let with_bios = format!("exec qemu-system-x86_64 -L {} \"$@\"", at("firmware").display());
    script(&at("other"), &with_bios);
    let other = digest(&at("other"));
    assert_ne!(other, real);
    assert_eq!(digest(&at("other")), other, "as the cache has it");
    bios(2);
    assert_ne!(digest(&at("other")), other, "the file changed");
}

#[test]
fn a_wrapper_that_stays_beside_qemu() {
    let folder = folder();
    let wrapper = folder.path().join("wrapper");
    script(&wrapper, "qemu-system-x86_64 \"$@\"; exit $?");
    let says = [
        "cannot tell what",
        "which is not QEMU; a wrapper must end with exec",
        "--qemu",
    ];
    one_line(cell(shared(), &wrapper, &folder.path().join("run")), 3, &says);
}

/// A wrapper has QEMU's own rights. It succeeds only if it may not write here.
#[test]
fn it_writes_to_no_file_but_its_own() {
    let (controller, folder) = (Controller::fresh(), folder());
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "as it was").unwrap();
    let tries = format!(
        "for file in {0}/file {0}/new; do if (: > $file) 2> /dev/null; then exit 1; fi; done\n\
         if rm -f {0}/file 2> /dev/null; then exit 1; fi\n\
         exec qemu-system-x86_64 \"$@\"",
        folder.path().display()
    );
    qemu_that(&tries, &at("qemu"));
    cell(&controller, &at("qemu"), &at("run")).assert().success();
    assert_eq!(fs::read_to_string(at("file")).unwrap(), "as it was");
    assert!(!at("new").exists());
}

#[test]
fn it_ends_before_the_machine_is_ready() {
    let (controller, folder) = (Controller::fresh(), folder());
    let (run, broken) = (folder.path().join("run"), folder.path().join("qemu"));
    qemu_that("echo 'qemu: no such device' >&2; exit 1", &broken);
    machine_failed(
        cell(&controller, &broken, &run),
        &["QEMU ended unexpectedly"],
        "qemu: no such device",
    );
    assert_eq!(
        crate::controller::entries(&controller.cache().join("snapshots")),
        Vec::<String>::new()
    );
}

#[test]
fn it_says_nothing() {
    let (controller, folder) = (Controller::fresh(), folder());
    let (run, silent) = (folder.path().join("run"), folder.path().join("qemu"));
    qemu_that("exec sleep 1000", &silent);
    let mut command = cell(&controller, &silent, &run);
    command.args(["--timeout", "1"]);
    machine_failed(
        command,
        &["time limit of 1 s", "--timeout"],
        "neither QEMU nor the kernel said anything",
    );
}
