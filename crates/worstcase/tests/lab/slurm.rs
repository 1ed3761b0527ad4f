//! Cells by a Slurm of two nodes on loopback, which the test starts: as root, as slurmd must be. Elsewhere these tests say so.

use crate::controller::{Controller, GENERIC, entries, folder, shared, tree, wait_until};
use crate::failures::one_line;
use assert_cmd::Command;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Cells of the matrix below.
const CELLS: usize = 8;

fn matrix() -> String {
    format!("--kernel {GENERIC} --preempt full --load idle,fork --samples 50 --seeds 4")
}

/// One Slurm at a time: there are two CPUs.
static ONE: Mutex<()> = Mutex::new(());

struct Cluster {
    folder: TempDir,
    daemons: Vec<(String, Child)>,
}

/// One that is not in use on this machine.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Cluster {
    /// The only one while the lock is held.
    fn alone() -> (MutexGuard<'static, ()>, Cluster) {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        (one, Cluster::start())
    }

    fn start() -> Cluster {
        // munge's socket must be reachable by all.
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        fs::write(at("key"), [7; 128]).unwrap();
        fs::set_permissions(at("key"), Permissions::from_mode(0o400)).unwrap();
        for name in ["state", "n0", "n1"] {
            fs::create_dir(at(name)).unwrap();
        }
        let host = worstcase_base::machine::name();
        let [controller, first, second] = [port(), port(), port()];
        let conf = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={munge},cred_expire=5\nStateSaveLocation={state}\n\
             SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/%n.pid\nSlurmdSpoolDir={folder}/%n\n\
             SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\nMailProg=/bin/true\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nReturnToService=2\nMaxArraySize=4\n\
             NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=1 RealMemory=4000\n\
             NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=1 RealMemory=4000\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            munge = at("munge.sock"),
            state = at("state"),
            folder = folder.path().display(),
        );
        fs::write(at("slurm.conf"), conf).unwrap();
        let mut cluster = Cluster {
            folder,
            daemons: Vec::new(),
        };
        let munged = [
            "--foreground".to_string(),
            format!("--key-file={}", cluster.at("key").display()),
            format!("--socket={}", cluster.at("munge.sock").display()),
            format!("--pid-file={}", cluster.at("munged.pid").display()),
            format!("--log-file={}", cluster.at("munged.log").display()),
            format!("--seed-file={}", cluster.at("munged.seed").display()),
        ];
        cluster.daemon("munged", &munged);
        wait_until("munge", || cluster.at("munge.sock").exists());
        cluster.daemon("slurmctld", &["-D".into(), "-i".into()]);
        cluster.daemon("slurmd", &["-D".into(), "-N".into(), "n0".into()]);
        cluster.daemon("slurmd", &["-D".into(), "-N".into(), "n1".into()]);
        wait_until("two idle nodes", || {
            cluster.slurm("sinfo", &["-h", "-N", "-o", "%T"]) == "idle\nidle\n"
        });
        cluster
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn daemon(&mut self, name: &str, arguments: &[String]) {
        let path = [format!("/usr/sbin/{name}"), format!("/usr/bin/{name}")];
        let path = path.iter().find(|path| Path::new(path).exists());
        let path = path.unwrap_or_else(|| panic!("these tests need {name}: run scripts/prepare-tests"));
        let log = fs::File::create(self.at(&format!("{name}-{}.out", self.daemons.len()))).unwrap();
        let child = process::Command::new(path)
            .args(arguments)
            .env("SLURM_CONF", self.at("slurm.conf"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.daemons.push((arguments.last().unwrap().clone(), child));
    }

    /// One of Slurm's commands; what it says.
    fn slurm(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = process::Command::new(program);
        command.args(arguments).env("SLURM_CONF", self.at("slurm.conf"));
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    }

    fn queue(&self) -> String {
        self.slurm("squeue", &["-h", "-r", "-o", "%T"])
    }

    /// `worstcase lab run ... --executor slurm:OPTIONS`.
    fn run(&self, controller: &Controller, options: &str, run: &Path) -> Command {
        let mut command = controller.run(&format!("{} --executor slurm:{options}", matrix()), run);
        command.env("SLURM_CONF", self.at("slurm.conf"));
        command
    }

    /// The same in the background.
    fn begin(&self, controller: &Controller, options: &str, run: &Path) -> Child {
        let words = format!("lab run {} --executor slurm:{options}", matrix());
        process::Command::new(assert_cmd::cargo::cargo_bin("worstcase"))
            .args(words.split(' '))
            .arg("--output")
            .arg(run)
            .env("WORSTCASE_CACHE", controller.cache())
            .env("SLURM_CONF", self.at("slurm.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Processes of a node's job.
    fn on_node(&self, node: &str) -> Vec<i32> {
        let conf = format!("SLURM_CONF={}\0", self.at("slurm.conf").display());
        let name = format!("SLURMD_NODENAME={node}\0");
        let all = fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let environment = String::from_utf8_lossy(&environment).into_owned();
            environment.contains(&conf) && environment.contains(&name)
        })
        .collect()
    }

    /// As when its power fails, in the middle of a cell.
    fn kill_node(&mut self, node: &str) {
        let (_, slurmd) = self.daemons.iter_mut().find(|(name, _)| name == node).unwrap();
        slurmd.kill().unwrap();
        slurmd.wait().unwrap();
        let tasks = self.on_node(node);
        // First Slurm's keeper of the task: it would report that the task failed, and a failed task does not run again.
        let keepers: Vec<i32> = tasks.iter().filter_map(|pid| keeper(*pid)).collect();
        for pid in keepers.into_iter().chain(tasks) {
            // It may have ended just now.
            let _ = rustix::process::kill_process(
                rustix::process::Pid::from_raw(pid).unwrap(),
                rustix::process::Signal::KILL,
            );
        }
        self.slurm(
            "scontrol",
            &["update", &format!("nodename={node}"), "state=down", "reason=power"],
        );
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.slurm("scancel", &["--user=root"]);
        let begin = Instant::now();
        while !self.queue().is_empty() && begin.elapsed() < Duration::from_secs(30) {
            sleep(Duration::from_millis(100));
        }
        for (_, daemon) in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// The process of Slurm that began this one and waits for its end.
fn keeper(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let parent: i32 = status
        .lines()
        .find_map(|line| line.strip_prefix("PPid:"))?
        .trim()
        .parse()
        .ok()?;
    let name = fs::read_to_string(format!("/proc/{parent}/comm")).ok()?;
    name.starts_with("slurmstepd").then_some(parent)
}

fn output_text(child: Child) -> String {
    said(child, 0)
}

/// What a controller said that a signal ended early.
fn interrupted(child: Child) -> String {
    said(child, 130)
}

fn said(child: Child, code: i32) -> String {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

/// The machines that made what an area of a cache holds.
fn makers(cache: &Path, area: &str) -> Vec<String> {
    let area = cache.join(area);
    let mut makers: Vec<String> = entries(&area)
        .iter()
        .map(|key| worstcase_base::sealed::made_by(&area.join(key)))
        .collect();
    makers.sort();
    makers.dedup();
    makers
}

#[test]
fn a_node_that_dies_changes_no_byte() {
    worstcase_skips::needs_root!();
    let (_one, mut cluster) = Cluster::alone();
    let (remote, folder) = (Controller::fresh(), folder());
    let at = |name: &str| folder.path().join(name);
    shared().run(&matrix(), &at("local")).assert().success();

    let child = cluster.begin(&remote, "chunk=2", &at("slurm"));
    wait_until("a cell on each node", || makers(remote.cache(), "cells").len() == 2);
    wait_until("another on n1", || {
        !cluster.on_node("n1").is_empty() || entries(&at("slurm/cells")).len() == CELLS
    });
    let done = entries(&at("slurm/cells")).len();
    assert!(done < CELLS, "all was measured before the node died");
    cluster.kill_node("n1");
    output_text(child);

    assert!(tree(&at("slurm")) == tree(&at("local")), "the same bytes");
    assert_eq!(entries(&remote.cache().join("snapshots")).len(), 1, "booted once");
    assert_eq!(makers(remote.cache(), "cells"), ["n0", "n1"]);
    assert!(
        entries(&remote.cache().join("jobs")).is_empty(),
        "nothing is left of the job"
    );
    assert!(cluster.queue().is_empty());

    // What is in the cache needs no Slurm.
    let mut command = cluster.run(&remote, "", &at("again"));
    command.env("SLURM_CONF", "/nonexistent");
    command.assert().success();
    assert!(tree(&at("again")) == tree(&at("local")));
}

#[test]
fn two_controllers_and_one_that_goes_away_measure_once() {
    worstcase_skips::needs_root!();
    let (_one, cluster) = Cluster::alone();
    let (remote, folder) = (Controller::fresh(), folder());
    let at = |name: &str| folder.path().join(name);
    let submitted = || {
        cluster
            .slurm("squeue", &["-h", "-o", "%A"])
            .lines()
            .next()
            .map(str::to_string)
    };

    // It is asked to end, and leaves its job.
    let child = cluster.begin(&remote, "interrupt=leave", &at("first"));
    wait_until("the job", || !cluster.queue().is_empty());
    let job = submitted().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    sleep(Duration::from_secs(1));
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let told = interrupted(child);
    assert!(
        told.contains(" goes on; the same command takes in what it measures"),
        "{told}"
    );
    assert!(!cluster.queue().is_empty(), "the job goes on");

    // The same command, and another controller: both take in what that job measures.
    let children = ["first", "second"].map(|name| cluster.begin(&remote, "", &at(name)));
    for child in children {
        let told = output_text(child);
        assert!(told.contains("does this already"), "{told}");
    }
    assert!(tree(&at("first")) == tree(&at("second")));
    assert_eq!(entries(&at("first/cells")).len(), CELLS);
    assert!(cluster.slurm("scontrol", &["show", "job"]).contains(&job));
    assert!(entries(&remote.cache().join("jobs")).is_empty());
}

#[test]
fn a_run_that_is_asked_to_end_cancels_its_job_and_goes_on_later() {
    worstcase_skips::needs_root!();
    let (_one, cluster) = Cluster::alone();
    let (remote, folder) = (Controller::booted(), folder());
    let run = folder.path().join("run");
    let child = cluster.begin(&remote, "", &run);
    wait_until("a cell", || !entries(&run.join("cells")).is_empty());
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM).unwrap();
    let told = interrupted(child);
    assert!(
        told.contains("cancelling Slurm's job") && told.contains("ended early"),
        "{told}"
    );
    wait_until("an empty queue", || cluster.queue().is_empty());
    assert!(entries(&remote.cache().join("jobs")).is_empty());
    cluster.run(&remote, "", &run).assert().success();
    assert_eq!(entries(&run.join("cells")).len(), CELLS);
}

#[test]
fn nodes_replay_what_a_census_needs() {
    worstcase_skips::needs_root!();
    let (_one, cluster) = Cluster::alone();
    let (controller, folder) = (Controller::booted(), folder());
    let run = folder.path().join("run");
    let cells = format!("--kernel {GENERIC} --preempt full --load idle,fork --samples 50 --seeds 1");
    controller.run(&cells, &run).assert().success();
    let census = |options: &str| {
        let mut command = controller.worstcase("census");
        command
            .env("SLURM_CONF", cluster.at("slurm.conf"))
            .arg(&run)
            .args(options.split_whitespace());
        command
    };
    one_line(census("--executor ssh:boards"), 2, &["a census takes local or slurm"]);
    let planned = census("--executor slurm:dry-run")
        .assert()
        .success()
        .stdout("")
        .get_output()
        .stderr
        .clone();
    assert_eq!(
        String::from_utf8_lossy(&planned),
        "worstcase: 2 tasks, 1 calls of sbatch\n"
    );

    let shown = census("--executor slurm --json")
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    for area in ["census", "census-owners"] {
        assert_eq!(makers(controller.cache(), area), ["n0", "n1"], "{area}");
        fs::remove_dir_all(controller.cache().join(area)).unwrap();
    }
    assert!(entries(&controller.cache().join("jobs")).is_empty());
    let local = census("--json").assert().success().get_output().stdout.clone();
    assert!(shown == local, "the same bytes");

    let mut command = census("--executor slurm --qemu");
    command.arg(qemu_of_the_controller(&folder));
    one_line_last(
        command,
        4,
        &["2 of its 2 tasks did not do their work", "Its log ends: ", "QEMU"],
    );
}

#[test]
fn what_a_node_cannot_do_is_one_line() {
    worstcase_skips::needs_root!();
    let (_one, cluster) = Cluster::alone();
    let (remote, folder) = (Controller::fresh(), folder());
    let at = |name: &str| folder.path().join(name);
    let refused = cluster.run(&remote, "partition=nowhere", &at("refused"));
    one_line(refused, 3, &["sbatch failed: ", "partition"]);
    let qemu = qemu_of_the_controller(&folder);
    let mut command = cluster.run(&remote, "", &at("run"));
    command.arg("--qemu").arg(&qemu);
    let line = one_line_last(command, 3, &["on n", "QEMU"]);
    assert!(!line.contains("panicked"), "{line}");
    assert!(cluster.queue().is_empty(), "the rest is cancelled");
}

/// A QEMU that the nodes do not have.
fn qemu_of_the_controller(folder: &TempDir) -> PathBuf {
    let qemu = folder.path().join("qemu");
    let text = "#!/bin/sh\n[ -z \"$SLURM_JOB_ID\" ] || exec /nonexistent/qemu\nexec qemu-system-x86_64 \"$@\"\n";
    fs::write(&qemu, text).unwrap();
    fs::set_permissions(&qemu, Permissions::from_mode(0o755)).unwrap();
    qemu
}

/// The last line that a command says when it fails with this code.
fn one_line_last(mut command: Command, code: i32, says: &[&str]) -> String {
    let assert = command.assert().code(code).stdout("");
    let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    let line = said.lines().last().unwrap_or_default().to_string();
    assert!(line.starts_with("worstcase: "), "{said}");
    for words in says {
        assert!(line.contains(words), "'{words}' is not in: {said}");
    }
    line
}

#[test]
fn without_slurm_the_remedy_is_told() {
    let (remote, folder) = (Controller::fresh(), folder());
    let run = folder.path().join("run");
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let qemu = ["/usr/bin/qemu-system-x86_64", "/usr/local/bin/qemu-system-x86_64"];
    let qemu = qemu.iter().find(|path| Path::new(path).exists()).expect("QEMU");
    let mut command = remote.run(&format!("{} --executor slurm --qemu {qemu}", matrix()), &run);
    command.env("PATH", &bin);
    one_line(
        command,
        3,
        &["scontrol is not there", "slurm-client", "--executor ssh:"],
    );
    let mut wrong = remote.run(&format!("{} --executor slurm:array=1-2", matrix()), &run);
    wrong.assert().code(2);
}
