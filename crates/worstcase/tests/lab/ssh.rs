//! Cells on machines that ssh reaches: an sshd on loopback, with keys of the test's own. Two names of it are two boards, each
//! with a cache of its own.

use crate::controller::{Controller, GENERIC, entries, folder, give_boot, shared, tree, wait_until};
use crate::followed::control;
use assert_cmd::Command;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use worstcase_base::sealed;

fn matrix() -> String {
    format!("--kernel {GENERIC} --preempt full --load idle,fork --samples 50 --seeds 4")
}

/// An sshd, and what a client needs to reach it.
struct Boards {
    folder: TempDir,
    sshd: Child,
}

impl Boards {
    fn start() -> Boards {
        let folder = folder();
        let at = |name: &str| folder.path().join(name).display().to_string();
        for key in ["host_key", "user_key"] {
            let made = process::Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)])
                .status();
            assert!(made.is_ok_and(|made| made.success()), "these tests need ssh-keygen");
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        if rustix::process::geteuid().is_root() {
            // Where it gives up its rights; its service makes it when it is started.
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nPermitRootLogin prohibit-password\nPidFile none\nMaxStartups 100\nMaxSessions 100\n",
            at("host_key"),
            at("user_key.pub"),
        );
        fs::write(at("sshd_config"), server).unwrap();
        let client = format!(
            "Host board*\n HostName 127.0.0.1\n Port {port}\n IdentityFile {}\n IdentitiesOnly yes\n IdentityAgent none\n\
             UserKnownHostsFile {}\n StrictHostKeyChecking accept-new\n LogLevel ERROR\nHost dead\n HostName 127.0.0.1\n Port 1\n",
            at("user_key"),
            at("known_hosts"),
        );
        fs::write(at("ssh_config"), client).unwrap();
        let sshd = process::Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f", &at("sshd_config")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(at("sshd.log")).unwrap())
            .spawn()
            .expect("these tests need sshd: run scripts/prepare-tests");
        let boards = Boards { folder, sshd };
        let begin = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(60), "sshd does not answer");
            sleep(Duration::from_millis(50));
        }
        boards
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ssh(&self) -> String {
        format!("ssh -F {}", self.at("ssh_config").display())
    }

    /// A board's cache.
    fn cache(&self, board: &str) -> PathBuf {
        self.at(&format!("cache-{board}"))
    }

    /// Writes a hosts file with a job on each of these, and more words behind each.
    fn hosts(&self, boards: &[&str], more: &str) -> PathBuf {
        let line = |board: &&str| format!("{board} jobs=1 cache={} {more}\n", self.cache(board).display());
        let path = self.at("hosts");
        fs::write(&path, boards.iter().map(line).collect::<String>()).unwrap();
        path
    }

    fn run(&self, controller: &Controller, hosts: &Path, run: &Path) -> Command {
        let mut command = controller.run(&format!("{} --executor ssh:{}", matrix(), hosts.display()), run);
        command.env("WORSTCASE_SSH", self.ssh());
        command
    }
}

impl Drop for Boards {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
    }
}

/// Workers with this cache.
fn workers(cache: &Path) -> Vec<i32> {
    let variable = format!("WORSTCASE_CACHE={}\0", cache.display());
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &i32| {
        let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let line = String::from_utf8_lossy(&read("cmdline")).into_owned();
        line.contains("lab-worker")
            && line.starts_with('/')
            && String::from_utf8_lossy(&read("environ")).contains(&variable)
    })
    .collect()
}

fn stderr(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

#[test]
fn a_board_that_dies_changes_no_byte_and_boards_that_differ_are_told() {
    let (boards, folder) = (Boards::start(), folder());
    let remote = Controller::fresh();
    let at = |name: &str| folder.path().join(name);
    shared().run(&matrix(), &at("local")).assert().success();

    let hosts = boards.hosts(&["board1", "board2"], "");
    let victim = boards.cache("board2");
    // The other one boots for itself.
    give_boot(&victim);
    let cells = at("ssh/cells");
    let killer = std::thread::spawn(move || {
        // In its second cell: the first is that of all boards.
        while entries(&cells).len() < 2 || workers(&victim).is_empty() {
            sleep(Duration::from_millis(20));
        }
        for pid in workers(&victim) {
            let _ = rustix::process::kill_process(
                rustix::process::Pid::from_raw(pid).unwrap(),
                rustix::process::Signal::KILL,
            );
        }
    });
    let assert = boards.run(&remote, &hosts, &at("ssh")).assert().success();
    killer.join().unwrap();
    assert!(stderr(&assert).contains("board2: "), "{}", stderr(&assert));
    assert!(tree(&at("ssh")) == tree(&at("local")), "the same bytes");
    assert!(!remote.cache().join("snapshots").exists(), "nothing was booted here");
    for board in ["board1", "board2"] {
        // A worker ends after its controller, when it sees that nobody talks to it any more.
        wait_until("the end of the workers", || workers(&boards.cache(board)).is_empty());
        // The kernel alone, not what Debian packs with it.
        assert!(!boards.cache(board).join("kernels").exists());
    }

    // Another result on one of them: the first cell of both is compared.
    let theirs = boards.cache("board2").join("cells");
    for key in entries(&theirs) {
        let console = theirs.join(&key).join("console");
        fs::write(&console, [fs::read(&console).unwrap(), b"other\n".to_vec()].concat()).unwrap();
        sealed::seal(&theirs.join(&key)).unwrap();
    }
    let fresh = Controller::fresh();
    let assert = boards.run(&fresh, &hosts, &at("differ")).assert().code(4);
    let told = stderr(&assert);
    assert!(
        told.contains("board1") && told.contains("board2") && told.contains("do not agree"),
        "{told}"
    );

    // The result of one cell in the place of another's.
    let (key, ours) = (entries(&theirs).remove(0), remote.cache().join("cells"));
    let other = entries(&ours).into_iter().find(|other| *other != key).unwrap();
    for file in ["record", "events", "console"] {
        fs::copy(ours.join(&other).join(file), theirs.join(&key).join(file)).unwrap();
    }
    sealed::seal(&theirs.join(&key)).unwrap();
    let hosts = boards.hosts(&["board2"], "");
    let assert = boards
        .run(&Controller::fresh(), &hosts, &at("exchanged"))
        .assert()
        .code(5);
    let told = stderr(&assert);
    assert!(
        told.contains("board2: ") && told.contains("it is of another cell"),
        "{told}"
    );
}

#[test]
fn boards_that_cannot_are_told_in_one_line() {
    let (boards, folder) = (Boards::start(), folder());
    let remote = Controller::fresh();
    let at = |name: &str| folder.path().join(name);
    let fails = |hosts: &Path, says: &[&str]| {
        let assert = boards.run(&remote, hosts, &at("run")).assert().code(3).stdout("");
        let told = stderr(&assert);
        assert_eq!(told.lines().count(), 1, "{told}");
        for words in says {
            assert!(told.contains(words), "'{words}' is not in: {told}");
        }
    };
    fails(
        &boards.hosts(&["dead"], ""),
        &["dead: cannot be reached: ", "check it with: ssh "],
    );
    fails(
        &boards.hosts(&["board1"], "qemu=/nonexistent/qemu"),
        &["board1: no qemu-system-x86_64 found at /nonexistent/qemu"],
    );
    fails(
        &boards.hosts(&["board1"], "worstcase=/nonexistent/worstcase"),
        &["board1: worstcase cannot be executed there"],
    );
    let old = at("old");
    // A message of another version: 4 bytes of length, Hello, protocol 1, "0.0.1", "board", 1 CPU.
    fs::write(
        &old,
        "#!/bin/sh\nprintf '\\017\\000\\000\\000\\000\\001\\0050.0.1\\005board\\001'\n",
    )
    .unwrap();
    fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fails(
        &boards.hosts(&["board1"], &format!("worstcase={}", old.display())),
        &["board1: worstcase there is 0.0.1", "install the same there"],
    );
    let mut command = boards.run(&remote, &boards.hosts(&["board1"], ""), &at("run"));
    command.env("WORSTCASE_SSH", "/nonexistent/ssh");
    let told = stderr(&command.assert().code(3));
    assert!(told.contains("/nonexistent/ssh is not there"), "{told}");
    let none = at("none");
    fs::write(&none, "# nobody\n").unwrap();
    let told = stderr(&boards.run(&remote, &none, &at("run")).assert().code(2));
    assert!(told.contains("it names no host"), "{told}");
}

#[test]
fn the_same_measurement_on_two_boards_leaves_nothing_there() {
    let (boards, folder) = (Boards::start(), folder());
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command
        .args("host run --load idle --time 1s --warmup 0s --on board1,board2,dead --output".split(' '))
        .arg(folder.path().join("boards"))
        .env("WORSTCASE_SSH", boards.ssh());
    let assert = command.assert().code(3);
    let told = stderr(&assert);
    assert!(told.contains("dead: cannot be reached"), "{told}");
    let table = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    for board in ["board1", "board2"] {
        assert!(table.contains(board), "{table}");
        let run = worstcase_results::record::Run::open(&folder.path().join("boards").join(board)).unwrap();
        assert!(!run.records().unwrap().is_empty());
        assert_eq!(run.missing().count(), 0);
    }
    assert!(!table.contains("dead"), "{table}");
}

#[test]
fn boards_are_calibrated() {
    worstcase_skips::needs_root!();
    let (boards, folder) = (Boards::start(), folder());
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command
        .args("host calibrate --cpu 0 --on board1,dead --output".split(' '))
        .arg(folder.path().join("boards"))
        .env("WORSTCASE_SSH", boards.ssh());
    let assert = command.assert().code(3);
    let told = stderr(&assert);
    assert!(
        told.contains("dead: cannot be reached") && told.contains("board1: kept in"),
        "{told}"
    );
    let shown = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(
        shown.starts_with("board1\n") && shown.contains("a class left out"),
        "{shown}"
    );
    let file = folder.path().join("boards/board1/calibration.json");
    assert_eq!(worstcase_timing::Calibration::read(&file).unwrap().machine.cpu, 0);
}

#[test]
fn a_program_is_followed_on_a_board() {
    worstcase_skips::needs_root!();
    let (boards, folder) = (Boards::start(), folder());
    let (program, kept) = (control(folder.path()), folder.path().join("boards"));
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command
        .args("host follow --on board1,dead --time 2s --deadline 1s --output".split(' '))
        .arg(&kept)
        .arg("--")
        .arg(&program)
        .env("WORSTCASE_SSH", boards.ssh());
    let assert = command.assert().code(10);
    let told = stderr(&assert);
    assert!(told.contains("dead: cannot be reached"), "{told}");
    let table = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(table.contains("board1"), "{table}");
    let run = worstcase_results::record::Run::open(&kept.join("board1")).unwrap();
    let records = run.records().unwrap();
    assert_eq!(records[0].cell.probe, "follow:control");
    assert!(
        run.beside(&records[0].id, worstcase_results::record::FOLLOW_FILE)
            .unwrap()
            .is_some()
    );
}
