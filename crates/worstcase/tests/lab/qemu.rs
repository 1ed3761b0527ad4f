//! QEMUs that the lab cannot work with.

use crate::controller::{Controller, GENERIC, ListedKernelFiles, folder, kernel, qemu_that, script, shared};
use crate::failures::{Failure, failure, machine_failed, one_line};
use assert_cmd::Command;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use worstcase_base::cache::Cache;
use worstcase_base::progress::Silent;
use worstcase_lab::qemu::Qemu;
use worstcase_plan::Arch;
use worstcase_skips::needs_root;

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
        2,
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

/// As root of a container usually is (CAP_SYS_PTRACE).
#[test]
fn root_that_may_not_look_into_other_users_processes_measures() {
    needs_root!();
    let (controller, folder) = (Controller::booted(), folder());
    let output = std::process::Command::new("setpriv")
        .arg("--bounding-set=-sys_ptrace")
        .arg(assert_cmd::cargo::cargo_bin("worstcase"))
        .args(["lab", "run", "--quiet", "--kernel", GENERIC, "--preempt", "full"])
        .args(["--samples", "100", "--seeds", "1", "--output"])
        .arg(folder.path().join("run"))
        .env("WORSTCASE_CACHE", controller.cache())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// What decides is what QEMU is made of, not what it says of itself.
#[test]
fn another_firmware_is_another_qemu_and_a_wrapper_is_not() {
    let folder = folder();
    let cache = Cache::at(folder.path().join("cache"));
    let digest = |path: &Path| Qemu::find(Some(path), Arch::X86, &cache, &Silent).unwrap().digest;
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

/// A wrapper has QEMU's own rights. It ends with 7 only if it may not write here: at a boot, and where a snapshot is forked.
#[test]
fn it_writes_to_no_file_but_its_own() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "as it was").unwrap();
    // Its own folder, too: what is in it is read afterwards.
    let tries = format!(
        "for file in {0}/file {0}/new new; do if (: > $file) 2> /dev/null; then exit 1; fi; done\n\
         for file in {0}/file console; do if rm -f $file 2> /dev/null; then exit 1; fi; done\n\
         if ln -s /etc/passwd link 2> /dev/null; then exit 1; fi\n\
         exit 7",
        folder.path().display()
    );
    for (controller, fork, boot) in [(Controller::fresh(), 1, 0), (Controller::booted(), 0, 1)] {
        let is_meant = format!("(case \"$*\" in *-incoming*) exit {fork};; *) exit {boot};; esac) || exit 1");
        qemu_that(&format!("{is_meant}\n{tries}"), &at("qemu"));
        machine_failed(
            cell(&controller, &at("qemu"), &at("run")),
            &["QEMU ended unexpectedly, with exit code 7"],
            "",
        );
        assert!(!at("run").exists(), "nothing was measured, and nothing is left");
    }
    assert_eq!(fs::read_to_string(at("file")).unwrap(), "as it was");
    assert!(!at("new").exists());
}

/// Neither it nor the wrapper gets what the shell left open for worstcase.
#[test]
fn it_gets_no_descriptor_that_worstcase_was_given() {
    let (controller, folder) = (Controller::booted(), folder());
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "as it was").unwrap();
    let tries = "if (echo more >&9) 2> /dev/null; then exit 1; fi\nexec qemu-system-x86_64 \"$@\"";
    qemu_that(tries, &at("qemu"));
    let cell = cell(&controller, &at("qemu"), &at("run"));
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "exec 9>>\"$0\" && exec \"$@\""])
        .arg(at("file"))
        .arg(cell.get_program())
        .args(cell.get_args());
    let set = cell.get_envs().filter_map(|(name, value)| Some((name, value?)));
    shell.envs(set).assert().success();
    assert_eq!(fs::read_to_string(at("file")).unwrap(), "as it was");
}

/// Whose rights it has when root runs worstcase, of a kernel that only root may read.
#[test]
fn of_root_it_is_nobody_or_the_user_is_told() {
    worstcase_skips::needs_root!();
    let (controller, folder) = (Controller::fresh(), folder());
    let at = |name: &str| folder.path().join(name);
    let closed = tempfile::tempdir_in(folder.path()).unwrap();
    fs::set_permissions(closed.path(), Permissions::from_mode(0o700)).unwrap();
    let ListedKernelFiles { bzimage, config, .. } = kernel(GENERIC);
    for (from, to) in [(bzimage, "vmlinuz"), (config, "config")] {
        fs::copy(from, closed.path().join(to)).unwrap();
        fs::set_permissions(closed.path().join(to), Permissions::from_mode(0o600)).unwrap();
    }
    let of_closed = |qemu: &Path, run: &str| {
        let place = closed.path().display();
        let words = format!("--kernel {place}/vmlinuz,config={place}/config --preempt full --samples 200 --seeds 1");
        let mut command = controller.run(&words, &at(run));
        command.arg("--qemu").arg(qemu);
        command.assert().success().get_output().clone()
    };
    let is_nobody =
        "[ $(id -u) = 65534 ] && ! cat /etc/shadow > /dev/null 2>&1 || exit 1; exec qemu-system-x86_64 \"$@\"";
    qemu_that(is_nobody, &at("qemu"));
    let said = of_closed(&at("qemu"), "as-nobody");
    assert!(!String::from_utf8_lossy(&said.stderr).contains("nobody"));

    let hidden = closed.path().join("qemu");
    qemu_that("[ $(id -u) = 0 ] || exit 1; exec qemu-system-x86_64 \"$@\"", &hidden);
    let said = of_closed(&hidden, "as-root");
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        said.contains("QEMU cannot be the user nobody (Permission denied"),
        "{said}"
    );
}

#[test]
fn a_snapshot_that_was_written_to_makes_no_result() {
    let (controller, folder) = (Controller::booted(), folder());
    let at = |name: &str| folder.path().join(name);
    // A fork is given its memory open, as a boot is; it has an argument more.
    let writes = "case \"$*\" in *-incoming*) file=${*##*mem-path=}; file=${file%%,*}\n\
                  printf x | dd of=$file bs=1 seek=4096 conv=notrunc 2> /dev/null || exit 1;; esac\n\
                  exec qemu-system-x86_64 \"$@\"";
    let run = |qemu: &Path| cell(&controller, qemu, &at("run"));
    run(Path::new("qemu-system-x86_64")).assert().success();
    fs::remove_dir_all(controller.cache().join("cells")).unwrap();
    fs::remove_dir_all(at("run")).unwrap();
    qemu_that(writes, &at("qemu"));
    one_line(
        run(&at("qemu")),
        5,
        &[
            "damaged in the cache",
            "its memory was written to while a machine ran",
            "booted again",
        ],
    );
    assert_eq!(
        crate::controller::entries(&controller.cache().join("cells")),
        Vec::<String>::new()
    );
    // What is started next is a boot, and no fork of it.
    qemu_that("case \"$*\" in *-incoming*) exit 6;; *) exit 7;; esac", &at("qemu"));
    let Failure { line, console } = failure(run(&at("qemu")), 4);
    assert!(
        format!("{line}\n{console}").contains("with exit code 7"),
        "{line}\n{console}"
    );
}

/// What a wrapper has started goes with it.
#[test]
fn a_wrapper_that_does_not_end_with_exec_leaves_nothing_at_the_time_limit() {
    let (controller, folder) = (Controller::fresh(), folder());
    let (run, wrapper) = (folder.path().join("run"), folder.path().join("qemu"));
    let left = "worstcase-test-left-by-a-wrapper";
    let path = folder.path().join(left);
    fs::copy("/bin/sleep", &path).unwrap();
    qemu_that(&format!("{} 1000; exit 0", path.display()), &wrapper);
    let mut command = cell(&controller, &wrapper, &run);
    command.args(["--timeout", "1"]);
    machine_failed(command, &["time limit of 1 s"], "");
    let is_left = |process: &Path| fs::read_link(process.join("exe")).is_ok_and(|exe| exe.ends_with(left));
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    assert_eq!(all.filter(|process| is_left(process)).count(), 0);
}

#[test]
fn how_it_ended_is_told() {
    let (controller, folder) = (Controller::fresh(), folder());
    let (run, dying) = (folder.path().join("run"), folder.path().join("qemu"));
    for (end, says) in [
        ("exit 3", "QEMU ended unexpectedly, with exit code 3"),
        ("kill -SEGV $$", "QEMU ended unexpectedly, by signal 11"),
        ("kill -KILL $$", "by signal 9 (SIGKILL)"),
        ("kill -SYS $$", "by signal 31 (SIGSYS): its sandbox does not allow"),
    ] {
        qemu_that(end, &dying);
        machine_failed(
            cell(&controller, &dying, &run),
            &[says],
            "neither QEMU nor the kernel said anything",
        );
    }
}

/// Within little memory, which a flood would leave.
#[test]
fn what_it_floods_its_controller_with_is_bounded() {
    let (controller, folder) = (Controller::fresh(), folder());
    let (run, talking) = (folder.path().join("run"), folder.path().join("qemu"));
    let greeting = "echo '{\"QMP\": {}}'; head -c 1 > /dev/null; echo '{\"return\": {}}'";
    for (flood, says) in [
        (
            "yes '{\"event\": \"X\", \"data\": {}}'",
            "it sends more than 1000 events",
        ),
        ("yes | tr -d '\\n'", "a line of its protocol has no end"),
        ("yes", "time limit"),
    ] {
        // A real QEMU, of which the real one's files are asked, takes more.
        qemu_that(&format!("{greeting}; {flood}"), &talking);
        let text = fs::read_to_string(&talking).unwrap();
        script(&talking, &format!("ulimit -S -v unlimited\n{text}"));
        let worstcase = assert_cmd::cargo::cargo_bin("worstcase");
        let words =
            format!("--quiet lab run --kernel {GENERIC} --preempt full --samples 200 --seeds 1 --jobs 1 --timeout 1");
        let mut command = Command::new("prlimit");
        command
            .arg(format!("--as={}:", 1 << 30))
            .arg(worstcase)
            .args(words.split(' '))
            .args([Path::new("--qemu"), &talking, Path::new("--output"), &run])
            .env("WORSTCASE_CACHE", controller.cache());
        machine_failed(command, &[says], "");
    }
}

/// Five open files are not enough for any QEMU, which is there.
#[test]
fn a_low_limit_of_open_files_is_no_missing_qemu() {
    let (controller, folder) = (Controller::fresh(), folder());
    let mut command = Command::new("prlimit");
    let words = format!("lab run --kernel {GENERIC} --preempt full --samples 200 --seeds 1 --jobs 1 --output");
    command
        .arg("--nofile=5")
        .arg(assert_cmd::cargo::cargo_bin("worstcase"))
        .args(words.split(' '))
        .arg(folder.path().join("run"))
        .env("WORSTCASE_CACHE", controller.cache());
    one_line(command, 3, &["Too many open files", "ulimit"]);
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

/// What it had said until then may be a part of the answer only; and being killed is no reason to be root.
#[test]
fn one_that_is_killed_while_it_is_asked_what_it_is() {
    let (controller, folder) = (Controller::fresh(), folder());
    let (path, run) = (folder.path().join("qemu"), folder.path().join("run"));
    let is_root = rustix::process::geteuid().is_root();
    for (when, code) in [
        ("[ \"$*\" = --version ]", 4),
        ("[ \"$*\" = --version ] && [ $(id -u) != 0 ]", 4),
        ("[ \"$*\" = '-L help' ]", 3),
    ] {
        script(
            &path,
            &format!("{when} && kill -KILL $$; exec qemu-system-x86_64 \"$@\""),
        );
        if is_root || !when.contains("id -u") {
            one_line(cell(&controller, &path, &run), code, &["by signal 9 (SIGKILL)"]);
        }
    }
    let kept = controller.cache().join("qemu");
    assert!(
        !kept.exists() || kept.read_dir().unwrap().next().is_none(),
        "what was found is kept"
    );
}
