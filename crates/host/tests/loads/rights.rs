//! What another user of this machine can make root do: nothing. Each test needs root, and plays that user as 65534.

use crate::bench::{Folder, LeftBehind, PATIENCE, assert_nothing_left, children_of, load, start, within};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use worstcase_host::loads::{LoadPlace, RunningHostLoad, Traces, clean};
use worstcase_instruments::sys::process::{self, Pid, Waited};

const ANOTHER: u32 = 65534;
const LIST: &str = "worstcase-loads";

/// A new folder that every user can reach, sticky as /tmp is.
fn open_folder() -> Folder {
    let path = |nth: u32| std::env::temp_dir().join(format!("worstcase-test-{}-{nth}", process::own_pid()));
    let path = (0..)
        .map(path)
        .find(|path| fs::create_dir(path).is_ok())
        .expect("a new name");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o1777)).expect("chmod");
    Folder(path)
}

fn place(work_dir: &Path) -> LoadPlace {
    LoadPlace {
        work_dir: work_dir.to_path_buf(),
        cgroup: None,
        cpus: Vec::new(),
    }
}

fn traces(work_dir: &Path) -> Traces {
    Traces::of(&load("cpu:1"), &place(work_dir), process::own_pid())
}

/// A process of root that must not be killed.
struct Bystander(Child);

impl Bystander {
    fn new(command: &mut Command) -> Bystander {
        Bystander(command.stdin(Stdio::null()).spawn().expect("start a process"))
    }

    fn sleep() -> Bystander {
        Bystander::new(Command::new("sleep").arg("1000"))
    }

    fn pid(&self) -> Pid {
        self.0.id() as Pid
    }

    /// As the list of workers has it.
    fn line(&self) -> String {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid())).expect("stat");
        let start = stat
            .rsplit_once(')')
            .expect("a name")
            .1
            .split_ascii_whitespace()
            .nth(19);
        format!("{} {}\n", self.pid(), start.expect("a start time"))
    }

    fn lives(&self) -> bool {
        process::wait(self.pid(), false).expect("wait") == Waited::Running
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("the boot's name")
}

fn refusal(work_dir: &Path) -> String {
    let error = RunningHostLoad::start(&load("cpu:1"), 1, &place(work_dir)).err();
    let error = error
        .unwrap_or_else(|| panic!("loads start in {}", work_dir.display()))
        .to_string();
    assert_eq!(error.lines().count(), 1);
    error
}

pub fn a_folder_that_is_there_is_refused() {
    worstcase_skips::needs_root!();
    let folder = open_folder();
    let precious = folder.0.join("precious");
    fs::write(&precious, "only root's").expect("write");
    fs::set_permissions(&precious, fs::Permissions::from_mode(0o600)).expect("chmod");

    // What another user made of the name, which was easy to guess: a folder, with a link to something of root's.
    let theirs = folder.0.join("theirs");
    fs::create_dir(&theirs).expect("make a folder");
    chown(&theirs, Some(ANOTHER), Some(ANOTHER)).expect("chown");
    assert!(refusal(&theirs).contains("it is there already"));
    let link = folder.0.join("link");
    symlink(&theirs, &link).expect("link");
    assert!(refusal(&link).contains("it is there already"));
    symlink(&precious, theirs.join(LIST)).expect("link");
    refusal(&theirs);
    assert_eq!(fs::read_to_string(&precious).expect("read"), "only root's");
    // Not even an empty one of our own.
    let own = folder.0.join("own");
    fs::create_dir(&own).expect("make a folder");
    assert!(refusal(&own).contains("it is there already"));

    let new = folder.0.join("new");
    let running = start("cpu:1", &place(&new));
    let is = |path: &Path| {
        let is = fs::symlink_metadata(path).expect("status");
        (is.uid(), is.mode() & 0o777)
    };
    assert_eq!(is(&new), (0, 0o711));
    assert_eq!(is(&new.join(LIST)), (0, 0o600));
    assert_eq!(is(&new.join("0-cpu")), (ANOTHER, 0o700));
    running.stop().expect("stop");
    assert!(!new.exists());
}

pub fn a_list_of_another_user_kills_nobody() {
    worstcase_skips::needs_root!();
    let folder = open_folder();
    let bystander = Bystander::sleep();
    for (name, user, mode) in [("theirs", ANOTHER, 0o700), ("open", 0, 0o777), ("group", 0, 0o770)] {
        let work_dir = folder.0.join(name);
        fs::create_dir(&work_dir).expect("make a folder");
        fs::write(work_dir.join(LIST), format!("{}{}", boot(), bystander.line())).expect("write");
        fs::write(work_dir.join("0-cpu"), "").expect("write");
        fs::set_permissions(&work_dir, fs::Permissions::from_mode(mode)).expect("chmod");
        chown(&work_dir, Some(user), None).expect("chown");
        let error = clean(&traces(&work_dir)).expect_err("refused").to_string();
        assert!(error.contains(&format!("it belongs to user {user}")), "{error}");
        assert!(bystander.lives(), "{name}");
        assert!(work_dir.join("0-cpu").exists(), "{name} was removed");
    }
    // Root's folder, but not root's list.
    let work_dir = folder.0.join("ours");
    fs::create_dir(&work_dir).expect("make a folder");
    fs::write(work_dir.join(LIST), format!("{}{}", boot(), bystander.line())).expect("write");
    chown(work_dir.join(LIST), Some(ANOTHER), None).expect("chown");
    clean(&traces(&work_dir)).expect_err("refused");
    assert!(bystander.lives());
}

pub fn a_list_is_not_reached_through_a_link() {
    worstcase_skips::needs_root!();
    let folder = open_folder();
    let bystander = Bystander::sleep();
    let elsewhere = folder.0.join("elsewhere");
    fs::create_dir(&elsewhere).expect("make a folder");
    fs::write(elsewhere.join(LIST), format!("{}{}", boot(), bystander.line())).expect("write");

    let work_dir = folder.0.join("work");
    fs::create_dir(&work_dir).expect("make a folder");
    symlink(elsewhere.join(LIST), work_dir.join(LIST)).expect("link");
    clean(&traces(&work_dir)).expect_err("refused");
    let link = folder.0.join("link");
    symlink(&elsewhere, &link).expect("link");
    assert!(
        clean(&traces(&link))
            .expect_err("refused")
            .to_string()
            .contains("it is no folder")
    );
    assert!(bystander.lives());
    assert!(elsewhere.join(LIST).exists());

    // What a load's user links to in its own folder stays too.
    let running = start("cpu:1", &place(&folder.0.join("running")));
    symlink(&elsewhere, folder.0.join("running/0-cpu/link")).expect("link");
    running.stop().expect("stop");
    assert!(elsewhere.join(LIST).exists());
}

pub fn a_number_that_is_used_again_is_not_killed() {
    worstcase_skips::needs_root!();
    let folder = open_folder();
    let bystander = Bystander::sleep();
    let earlier = format!("{}{} 1\n", boot(), bystander.pid());
    let another_boot = format!("00000000-0000-0000-0000-000000000000\n{}", bystander.line());
    for (nth, list) in [earlier, another_boot, bystander.line()].into_iter().enumerate() {
        let work_dir = folder.0.join(nth.to_string());
        fs::create_dir(&work_dir).expect("make a folder");
        fs::write(work_dir.join(LIST), list).expect("write");
        clean(&traces(&work_dir)).expect("clean");
        assert!(bystander.lives(), "list {nth}");
        assert!(!work_dir.exists());
    }
    // The test would see it: the right list does kill.
    let work_dir = folder.0.join("right");
    fs::create_dir(&work_dir).expect("make a folder");
    fs::write(work_dir.join(LIST), format!("{}{}", boot(), bystander.line())).expect("write");
    clean(&traces(&work_dir)).expect("clean");
    assert!(!bystander.lives());
}

pub fn a_mark_of_another_user_is_not_believed() {
    worstcase_skips::needs_root!();
    let folder = open_folder();
    let work_dir = folder.0.join("work");
    let marked = |user: u32| {
        let mut command = Command::new("sleep");
        Bystander::new(command.arg("1000").env("WORSTCASE_LOADS", &work_dir).uid(user))
    };
    let (theirs, ours) = (marked(12_345), marked(0));
    let begun = || fs::read(format!("/proc/{}/environ", ours.pid())).is_ok_and(|all| !all.is_empty());
    assert!(within(PATIENCE, begun));
    clean(&traces(&work_dir)).expect("clean");
    assert!(theirs.lives());
    assert!(!ours.lives());
}

/// What /proc says of a process, its threads' user numbers and its capabilities.
fn rights(pid: Pid) -> (String, String) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("status");
    let line = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        line.trim().to_string()
    };
    (line("Uid:"), line("CapPrm:"))
}

pub fn loads_do_not_keep_the_rights_of_root() {
    worstcase_skips::needs_root!();
    let before = LeftBehind::now();
    let own = rights(process::own_pid());
    let nobody = ("65534\t65534\t65534\t65534".to_string(), "0000000000000000".to_string());
    for text in [
        "cpu:1",
        "timers:2",
        "proc",
        "disk:2",
        "find@1000",
        "shm",
        "fork",
        "sockets",
        "compile",
        "find",
        "desktop:1",
    ] {
        let folder = open_folder();
        let place = folder.place();
        let running = start(text, &place);
        assert_eq!(rights(process::own_pid()), own, "{text}");
        let workers = children_of(process::own_pid());
        assert!(!workers.is_empty());
        // One that was only just forked has not done so yet.
        let done = within(PATIENCE, || workers.iter().all(|&worker| rights(worker) == nobody));
        assert!(
            done,
            "{text}: {:?}",
            workers.iter().map(|&worker| rights(worker)).collect::<Vec<_>>()
        );
        running.stop().expect("stop");
        assert_nothing_left(text, &place, &before);
    }
    // Where another user cannot work, root does, and says so.
    let folder = open_folder();
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o700)).expect("chmod");
    let running = start("cpu:1", &folder.place());
    let note = &running.notes().last().expect("a note");
    assert!(
        note.contains("'cpu' has root's rights, as it cannot run as user 65534"),
        "{note}"
    );
    for worker in children_of(process::own_pid()) {
        assert_eq!(rights(worker), own);
    }
    running.stop().expect("stop");
    // The user's own program has the rights that the user started it with.
    let folder = open_folder();
    let running = start("cmd:sleep 1000", &folder.place());
    for worker in children_of(process::own_pid()) {
        assert_eq!(rights(worker), own);
    }
    running.stop().expect("stop");
    // What the kernel does for root alone has them, too, where root may.
    for text in ["perf@100", "perf:4@100", "bpf:maps"] {
        let folder = open_folder();
        let place = folder.place();
        match RunningHostLoad::start(&load(text), 1, &place) {
            Ok(running) => {
                let workers = children_of(process::own_pid());
                assert!(
                    !workers.is_empty() && workers.iter().all(|&worker| rights(worker) == own),
                    "{text}"
                );
                running.stop().expect("stop");
            }
            Err(e) => assert!(e.to_string().contains("is not available here: "), "{text}: {e}"),
        }
        assert_nothing_left(text, &place, &before);
    }
}

pub fn a_tree_is_built_with_its_owners_rights() {
    worstcase_skips::needs_root!();
    let folder = open_folder();
    let tree = folder.0.join("tree");
    let told = folder.0.join("told");
    fs::create_dir(&tree).expect("make a folder");
    let makefile = tree.join("Makefile");
    fs::write(&makefile, format!("all:\n\tid -u > {}\nclean:\n", told.display())).expect("write");
    for path in [&tree, &makefile] {
        chown(path, Some(12_345), Some(12_345)).expect("chown");
    }
    let told_user = |path: &PathBuf| fs::read_to_string(path).unwrap_or_default();
    let running = start(&format!("compile:{}", tree.display()), &folder.place());
    assert!(within(PATIENCE, || !told_user(&told).is_empty()));
    running.stop().expect("stop");
    assert_eq!(told_user(&told), "12345\n");
}
