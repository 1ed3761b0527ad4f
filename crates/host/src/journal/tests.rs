use super::*;
use crate::restore::left_over;
use worstcase_instruments::processes::Identity;

/// A controller's state folder and a made-up setting.
struct JournalController {
    dir: tempfile::TempDir,
    state: StateFolder,
}

impl JournalController {
    fn new() -> JournalController {
        let dir = tempfile::tempdir().unwrap();
        let state = StateFolder::at(&dir.path().join("state")).unwrap();
        JournalController { dir, state }
    }

    fn setting(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn begin(&self) -> Journal {
        Journal::begin(&self.state, "test").unwrap()
    }

    /// A journal as a killed process leaves it.
    fn killed(&self, boot: Option<&str>, entries: &[JournalEntry]) {
        let mut owner = JournalOwner::this("killed");
        owner.boot = boot.map_or(owner.boot, str::to_string);
        let text: String = std::iter::once(entry::line(&owner))
            .chain(entries.iter().map(entry::line))
            .collect();
        fs::write(self.dir.path().join("state/run-killed.journal"), text).unwrap();
    }

    fn journals(&self) -> usize {
        self.state.journals().unwrap().len()
    }
}

fn read_text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn value(path: &Path, before: &str, set: &str) -> JournalEntry {
    JournalEntry::Value {
        path: path.into(),
        before: before.into(),
        set: set.into(),
    }
}

fn reads(path: &Path, now: &str) -> JournalEntry {
    JournalEntry::Reads {
        path: path.into(),
        now: now.into(),
    }
}

#[test]
fn settings_come_back_in_reverse_order() {
    let controller = JournalController::new();
    let path = controller.setting("a", "1\n");
    let mut journal = controller.begin();
    assert_eq!(journal.set(&path, "1").unwrap(), SettingOutcome::AlreadySo);
    assert_eq!(
        journal.set(&path, "2").unwrap(),
        SettingOutcome::Changed { before: "1".into() }
    );
    journal.set(&path, "3").unwrap();
    assert_eq!(read_text(&path), "3");
    let told: Vec<String> = journal.finish().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(read_text(&path), "1");
    let name = path.display();
    assert_eq!(
        told,
        [format!("{name}: 2 again (was 3)"), format!("{name}: 1 again (was 2)")]
    );
    assert_eq!(controller.journals(), 0);
}

#[test]
fn of_a_choice_the_chosen_one_comes_back() {
    let controller = JournalController::new();
    let path = controller.setting("thp", "always [madvise] never\n");
    let mut journal = controller.begin();
    journal.set(&path, "never").unwrap();
    drop(journal);
    assert_eq!(read_text(&path), "madvise");
}

#[test]
fn a_missing_setting_is_an_error_and_is_not_made() {
    let controller = JournalController::new();
    let path = controller.dir.path().join("none");
    let mut journal = controller.begin();
    assert!(matches!(journal.set(&path, "1"), Err(HostError::Read { .. })));
    assert!(!path.exists());
    assert_eq!(journal.finish().unwrap(), []);
}

#[test]
fn what_somebody_else_has_set_since_is_left_alone() {
    let controller = JournalController::new();
    let path = controller.setting("a", "1");
    let mut journal = controller.begin();
    journal.set(&path, "2").unwrap();
    fs::write(&path, "7").unwrap();
    let undone = journal.finish().unwrap();
    assert_eq!(undone[0].outcome, UndoResult::Foreign { now: "7".into() });
    assert_eq!(read_text(&path), "7");
    assert_eq!(controller.journals(), 0);
}

#[test]
fn a_journal_of_somebody_else_is_not_believed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let controller = JournalController::new();
    let path = controller.setting("a", "2");
    controller.killed(None, &[value(&path, "1", "2")]);
    let journal = controller.dir.path().join("state/run-killed.journal");
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o666)).unwrap();
    let error = left_over(&controller.state).unwrap_err().to_string();
    assert!(error.contains("others can write to it"), "{error}");
    // Not through a link either, because whoever starts a guard names its journal.
    let elsewhere = controller.dir.path().join("elsewhere");
    fs::rename(&journal, &elsewhere).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&elsewhere, &journal).unwrap();
    assert!(undo_left_over(&journal, false).is_err());
    assert_eq!(read_text(&path), "2");
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&elsewhere, Some(65534), None).unwrap();
        assert!(undo_left_over(&elsewhere, false).is_err());
        std::os::unix::fs::chown(&elsewhere, Some(0), None).unwrap();
        assert_eq!(read_text(&path), "2");
    }
    undo_left_over(&elsewhere, false).unwrap();
    assert_eq!(read_text(&path), "1");
}

#[test]
fn a_living_owner_is_left_alone_and_a_dead_one_is_undone_once() {
    let controller = JournalController::new();
    let path = controller.setting("a", "1");
    let mut journal = controller.begin();
    journal.set(&path, "2").unwrap();
    let found = left_over(&controller.state).unwrap();
    assert_eq!((found.living.len(), found.left_over.len()), (1, 0));
    assert_eq!(read_text(&path), "2");
    journal.finish().unwrap();

    // The owner was killed after setting, and before it read how the kernel spells the value.
    fs::write(&path, "two").unwrap();
    controller.killed(None, &[value(&path, "1", "2")]);
    let found = left_over(&controller.state).unwrap();
    assert_eq!(found.left_over[0].1.len(), 1);
    assert_eq!(read_text(&path), "1");
    fs::write(&path, "two").unwrap();
    assert!(left_over(&controller.state).unwrap().left_over.is_empty());
    assert_eq!(read_text(&path), "two");
}

#[test]
fn settings_of_another_boot_are_forgotten_but_its_folders_go() {
    let controller = JournalController::new();
    let path = controller.setting("a", "2");
    let folder = controller.dir.path().join("work");
    fs::create_dir(&folder).unwrap();
    let traces = Traces {
        cgroup: None,
        work_dir: folder.clone(),
        null_blk: Vec::new(),
    };
    controller.killed(
        Some("another"),
        &[
            value(&path, "1", "2"),
            reads(&path, "2"),
            JournalEntry::Loads { traces },
        ],
    );
    left_over(&controller.state).unwrap();
    assert_eq!(read_text(&path), "2");
    assert!(!folder.exists());
}

#[test]
fn what_cannot_be_undone_stays_written_down() {
    let controller = JournalController::new();
    let (path, folder) = (controller.setting("a", "2"), controller.dir.path().join("dir"));
    fs::create_dir(&folder).unwrap();
    // A folder cannot be read as a setting.
    controller.killed(
        None,
        &[value(&folder, "1", "2"), value(&path, "1", "2"), reads(&path, "2")],
    );
    assert_eq!(left_over(&controller.state).unwrap().failed(), 1);
    assert_eq!(read_text(&path), "1");
    assert_eq!(controller.journals(), 1);
    // Only the failed change is tried again.
    fs::write(&path, "2").unwrap();
    fs::remove_dir(&folder).unwrap();
    assert_eq!(left_over(&controller.state).unwrap().failed(), 0);
    assert_eq!((read_text(&path).as_str(), controller.journals()), ("2", 0));
}

#[test]
fn a_journal_without_a_whole_first_line_is_removed() {
    let controller = JournalController::new();
    fs::write(controller.dir.path().join("state/run-x.journal"), "{\"comm").unwrap();
    left_over(&controller.state).unwrap();
    assert_eq!(controller.journals(), 0);
}

#[test]
fn a_process_group_ends_but_not_one_that_only_has_its_number() {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    let controller = JournalController::new();
    let sleep = || {
        std::process::Command::new("sleep")
            .arg("600")
            .process_group(0)
            .spawn()
            .unwrap()
    };
    let (mut ours, mut other) = (sleep(), sleep());
    let reused = JournalEntry::Group {
        leader: other.id() as i32,
        started: 1,
    };
    controller.killed(None, &[reused]);
    left_over(&controller.state).unwrap();
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();

    let mut journal = controller.begin();
    journal.end_group(ours.id()).unwrap();
    // Its parent has not waited for it: zombies are no reason to wait, or to fail.
    assert_eq!(journal.finish().unwrap()[0].outcome, UndoResult::Removed);
    assert_eq!(ours.wait().unwrap().signal(), Some(9));
}

#[test]
fn an_instance_of_tracefs_that_a_killed_run_left_is_removed() {
    let controller = JournalController::new();
    let instance = controller.dir.path().join("worstcase-1");
    fs::create_dir(&instance).unwrap();
    controller.killed(
        None,
        &[JournalEntry::Tracing {
            instance: instance.clone(),
        }],
    );
    left_over(&controller.state).unwrap();
    assert!(!instance.exists());
    assert_eq!(controller.journals(), 0);
}

#[test]
fn a_threads_scheduling_comes_back_unless_somebody_else_has_set_it_since() {
    let scheduled = |program: &mut std::process::Child| Policy::of(program.id() as i32).unwrap().to_string();
    let mut program = std::process::Command::new("sh")
        .args(["-c", "chrt -b -p 0 $$ && exec sleep 600"])
        .spawn()
        .unwrap();
    while scheduled(&mut program) == "other" {}
    let before = scheduled(&mut program);
    let thread = KernelThread {
        name: "ktimers/0".into(),
        identity: Identity::of(program.id() as i32).unwrap(),
    };
    let controller = JournalController::new();
    let set = || {
        let mut journal = controller.begin();
        let was = journal.set_priority(&thread, 0).unwrap();
        assert_eq!(was, SettingOutcome::Changed { before: before.clone() });
        journal
    };
    let journal = set();
    assert_eq!(scheduled(&mut program), "other");
    let undone = journal.finish().unwrap();
    assert_eq!(undone[0].to_string(), format!("ktimers/0: {before} again (was other)"));
    assert_eq!(scheduled(&mut program), before);

    let journal = set();
    let idle = std::process::Command::new("chrt")
        .args(["-i", "-p", "0", &program.id().to_string()])
        .status();
    assert!(idle.unwrap().success());
    let now = scheduled(&mut program);
    assert_eq!(journal.finish().unwrap()[0].outcome, UndoResult::Foreign { now });

    program.kill().unwrap();
    program.wait().unwrap();
    let gone = JournalEntry::Scheduling {
        thread: "gone".into(),
        pid: thread.identity.pid,
        started: thread.identity.start,
        before: Policy::OTHER,
        set: Policy::fifo(1),
    };
    controller.killed(None, &[gone]);
    let restored = left_over(&controller.state).unwrap();
    let undone: Vec<&Undone> = restored.left_over.iter().flat_map(|(_, undone)| undone).collect();
    assert!(undone.is_empty(), "{undone:?}");
    assert_eq!(controller.journals(), 0);
}

#[test]
fn a_command_is_taken_back_by_another_also_after_a_kill() {
    let controller = JournalController::new();
    let mark = controller.dir.path().join("mark").display().to_string();
    let words = |text: &str| [text.to_string(), mark.clone()].to_vec();
    let mut journal = controller.begin();
    journal.run(&words("touch"), &words("rm")).unwrap();
    assert!(Path::new(&mark).exists());
    let told: Vec<String> = journal.finish().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(told, [format!("touch {mark}: taken back by rm {mark}")]);
    assert!(!Path::new(&mark).exists());
    fs::write(&mark, "").unwrap();
    let made = JournalEntry::Command {
        command: words("touch"),
        back: words("rm"),
    };
    controller.killed(None, &[made]);
    left_over(&controller.state).unwrap();
    assert_eq!((Path::new(&mark).exists(), controller.journals()), (false, 0));
}

#[test]
fn a_command_that_fails_is_taken_back_too() {
    let controller = JournalController::new();
    let mark = controller.dir.path().join("mark").display().to_string();
    let mut journal = controller.begin();
    let failed = journal.run(&["false".into()], &["touch".into(), mark.clone()]);
    let failed = failed.unwrap_err().to_string();
    assert!(failed.contains("false: it failed (exit status: 1)"), "{failed}");
    drop(journal);
    assert!(Path::new(&mark).exists());
}
