use super::*;
use crate::restore::left_over;

/// A state folder and a made-up setting.
struct Desk {
    dir: tempfile::TempDir,
    state: StateFolder,
}

impl Desk {
    fn new() -> Desk {
        let dir = tempfile::tempdir().unwrap();
        let state = StateFolder::at(&dir.path().join("state")).unwrap();
        Desk { dir, state }
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
    fn killed(&self, boot: Option<&str>, entries: &[Entry]) {
        let mut owner = Owner::this("killed");
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

fn value(path: &Path, before: &str, set: &str) -> Entry {
    Entry::Value {
        path: path.into(),
        before: before.into(),
        set: set.into(),
    }
}

fn reads(path: &Path, now: &str) -> Entry {
    Entry::Reads {
        path: path.into(),
        now: now.into(),
    }
}

#[test]
fn settings_come_back_in_reverse_order() {
    let desk = Desk::new();
    let path = desk.setting("a", "1\n");
    let mut journal = desk.begin();
    assert_eq!(journal.set(&path, "1").unwrap(), Set::AlreadySo);
    assert_eq!(journal.set(&path, "2").unwrap(), Set::Changed { before: "1".into() });
    journal.set(&path, "3").unwrap();
    assert_eq!(read_text(&path), "3");
    let told: Vec<String> = journal.finish().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(read_text(&path), "1");
    let name = path.display();
    assert_eq!(
        told,
        [format!("{name}: 2 again (was 3)"), format!("{name}: 1 again (was 2)")]
    );
    assert_eq!(desk.journals(), 0);
}

#[test]
fn of_a_choice_the_chosen_one_comes_back() {
    let desk = Desk::new();
    let path = desk.setting("thp", "always [madvise] never\n");
    let mut journal = desk.begin();
    journal.set(&path, "never").unwrap();
    drop(journal);
    assert_eq!(read_text(&path), "madvise");
}

#[test]
fn a_missing_setting_is_an_error_and_is_not_made() {
    let desk = Desk::new();
    let path = desk.dir.path().join("none");
    let mut journal = desk.begin();
    assert!(matches!(journal.set(&path, "1"), Err(HostError::Read { .. })));
    assert!(!path.exists());
    assert_eq!(journal.finish().unwrap(), []);
}

#[test]
fn what_somebody_else_has_set_since_is_left_alone() {
    let desk = Desk::new();
    let path = desk.setting("a", "1");
    let mut journal = desk.begin();
    journal.set(&path, "2").unwrap();
    fs::write(&path, "7").unwrap();
    let undone = journal.finish().unwrap();
    assert_eq!(undone[0].outcome, Outcome::Foreign { now: "7".into() });
    assert_eq!(read_text(&path), "7");
    assert_eq!(desk.journals(), 0);
}

#[test]
fn a_living_owner_is_left_alone_and_a_dead_one_is_undone_once() {
    let desk = Desk::new();
    let path = desk.setting("a", "1");
    let mut journal = desk.begin();
    journal.set(&path, "2").unwrap();
    let found = left_over(&desk.state).unwrap();
    assert_eq!((found.living.len(), found.left_over.len()), (1, 0));
    assert_eq!(read_text(&path), "2");
    journal.finish().unwrap();

    // Killed after setting, and before looking how the kernel spells it.
    fs::write(&path, "two").unwrap();
    desk.killed(None, &[value(&path, "1", "2")]);
    let found = left_over(&desk.state).unwrap();
    assert_eq!(found.left_over[0].1.len(), 1);
    assert_eq!(read_text(&path), "1");
    fs::write(&path, "two").unwrap();
    assert!(left_over(&desk.state).unwrap().left_over.is_empty());
    assert_eq!(read_text(&path), "two");
}

#[test]
fn settings_of_another_boot_are_forgotten_but_its_folders_go() {
    let desk = Desk::new();
    let path = desk.setting("a", "2");
    let folder = desk.dir.path().join("work");
    fs::create_dir(&folder).unwrap();
    let traces = Traces {
        cgroup: None,
        work_dir: folder.clone(),
        null_blk: Vec::new(),
    };
    desk.killed(
        Some("another"),
        &[value(&path, "1", "2"), reads(&path, "2"), Entry::Loads { traces }],
    );
    left_over(&desk.state).unwrap();
    assert_eq!(read_text(&path), "2");
    assert!(!folder.exists());
}

#[test]
fn what_cannot_be_undone_stays_written_down() {
    let desk = Desk::new();
    let (path, folder) = (desk.setting("a", "2"), desk.dir.path().join("dir"));
    fs::create_dir(&folder).unwrap();
    // A folder cannot be read as a setting.
    desk.killed(
        None,
        &[value(&folder, "1", "2"), value(&path, "1", "2"), reads(&path, "2")],
    );
    assert_eq!(left_over(&desk.state).unwrap().failed(), 1);
    assert_eq!(read_text(&path), "1");
    assert_eq!(desk.journals(), 1);
    // Only what failed is tried again.
    fs::write(&path, "2").unwrap();
    fs::remove_dir(&folder).unwrap();
    assert_eq!(left_over(&desk.state).unwrap().failed(), 0);
    assert_eq!((read_text(&path).as_str(), desk.journals()), ("2", 0));
}

#[test]
fn a_journal_without_a_whole_first_line_is_removed() {
    let desk = Desk::new();
    fs::write(desk.dir.path().join("state/run-x.journal"), "{\"comm").unwrap();
    left_over(&desk.state).unwrap();
    assert_eq!(desk.journals(), 0);
}

#[test]
fn a_process_group_ends_but_not_one_that_only_has_its_number() {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    let desk = Desk::new();
    let sleep = || {
        std::process::Command::new("sleep")
            .arg("600")
            .process_group(0)
            .spawn()
            .unwrap()
    };
    let (mut ours, mut other) = (sleep(), sleep());
    let reused = Entry::Group {
        leader: other.id() as i32,
        started: 1,
    };
    desk.killed(None, &[reused]);
    left_over(&desk.state).unwrap();
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();

    let mut journal = desk.begin();
    journal.end_group(ours.id()).unwrap();
    // Nobody looks at its end meanwhile: a group of ended processes is no reason to wait, or to fail.
    assert_eq!(journal.finish().unwrap()[0].outcome, Outcome::Removed);
    assert_eq!(ours.wait().unwrap().signal(), Some(9));
}

#[test]
fn an_instance_of_tracefs_that_a_killed_run_left_is_removed() {
    let desk = Desk::new();
    let instance = desk.dir.path().join("worstcase-1");
    fs::create_dir(&instance).unwrap();
    desk.killed(
        None,
        &[Entry::Tracing {
            instance: instance.clone(),
        }],
    );
    left_over(&desk.state).unwrap();
    assert!(!instance.exists());
    assert_eq!(desk.journals(), 0);
}
