//! The journal: changes that worstcase makes on this machine, written down before they are made, so that they can be
//! undone.
//!
//! ```text
//! entry      its lines                    value       a setting in sysfs or procfs
//! undo       in reverse order             processes   groups of processes that must not stay
//! ```
//! A journal is a file in the [state folder](super::state). It belongs to the process that holds its lock, and the
//! kernel drops that lock however the process ends. A process that finds a journal without a lock (the
//! [guard](super::guard), the next `worstcase host` command, `worstcase host restore`) undoes and removes it.
//!
//! ```no_run
//! # use worstcase_host::{HostError, Journal, StateFolder};
//! # fn example() -> Result<(), HostError> {
//! let mut journal = Journal::guarded(&StateFolder::open()?, "worstcase host run")?;
//! journal.set("/proc/sys/kernel/timer_migration".as_ref(), "0")?;
//! // measure
//! for undone in journal.finish()? {
//!     println!("{undone}");
//! }
//! # Ok(())
//! # }
//! ```

mod entry;
mod processes;
mod undo;
mod value;

pub use entry::JournalOwner;
pub use undo::{UndoResult, Undone, failures};

use super::HostError;
use super::guard::Guard;
use super::state::{StateFolder, is_only_ours};
use crate::facts::rights::TRACEFS;
use crate::loads::Traces;
use crate::trace::tracefs::add_uprobe_line;
use entry::JournalEntry;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use worstcase_base::format::shell;
use worstcase_base::lock;
use worstcase_instruments::priorities::{self, KernelThread};
use worstcase_instruments::sys::sched::Policy;

/// The result of setting a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOutcome {
    /// The setting had another value before.
    Changed {
        /// The value before.
        before: String,
    },
    /// The setting had the wanted value already.
    AlreadySo,
}

/// The journal of this process. Dropping it undoes everything too, silently.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    guard: Option<Guard>,
    finished: bool,
}

impl Journal {
    /// Begins a journal. `command` names its owner to other commands.
    pub fn begin(state: &StateFolder, command: &str) -> Result<Journal, HostError> {
        let _making = state.lock()?;
        let (file, path) = state.make_journal()?;
        let mut journal = Journal {
            file,
            path,
            guard: None,
            finished: false,
        };
        lock::exclusive(&journal.file).map_err(|e| journal.failed(e))?;
        journal.append(&entry::line(&JournalOwner::this(command)))?;
        Ok(journal)
    }

    /// Begins a journal, with its guard.
    pub fn guarded(state: &StateFolder, command: &str) -> Result<Journal, HostError> {
        let mut journal = Journal::begin(state, command)?;
        journal.start_guard()?;
        Ok(journal)
    }

    /// Starts the guard, which undoes this journal if this process is killed. Make no change that matters before.
    pub fn start_guard(&mut self) -> Result<(), HostError> {
        self.guard = Some(Guard::start(&self.path)?);
        Ok(())
    }

    /// Writes a setting of sysfs or procfs, to be undone. A setting that is missing, or refuses the value, stays as it
    /// is.
    pub fn set(&mut self, path: &Path, value: &str) -> Result<SettingOutcome, HostError> {
        let before = value::read(path).map_err(|source| HostError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        if before == value {
            return Ok(SettingOutcome::AlreadySo);
        }
        let path = path.to_path_buf();
        self.write(&JournalEntry::Value {
            path: path.clone(),
            before: before.clone(),
            set: value.into(),
        })?;
        let written = value::write(&path, value);
        if let Ok(now) = value::read(&path) {
            self.write(&JournalEntry::Reads {
                path: path.clone(),
                now,
            })?;
        }
        match written {
            Ok(()) => Ok(SettingOutcome::Changed { before }),
            Err(source) => Err(HostError::Set {
                path,
                value: value.into(),
                source,
            }),
        }
    }

    /// Restores a setting of sysfs or procfs in the end, because another change may change it too. A setting that cannot be
    /// read is ignored.
    pub fn keep(&mut self, path: &Path) -> Result<(), HostError> {
        let Ok(value) = value::read(path) else {
            return Ok(());
        };
        // Without a `Reads` line the old value is restored whatever the setting is by then.
        self.write(&JournalEntry::Value {
            path: path.to_path_buf(),
            before: value.clone(),
            set: value,
        })
    }

    /// Gives a kernel thread another priority, to be undone.
    pub(crate) fn set_priority(&mut self, thread: &KernelThread, priority: u8) -> Result<SettingOutcome, HostError> {
        let pid = thread.identity.pid;
        let set = priorities::policy(priority);
        let failed = |source| HostError::Set {
            path: format!("/proc/{pid} ({})", thread.name).into(),
            value: set.to_string(),
            source,
        };
        let before = Policy::of(pid).map_err(failed)?;
        if before == set {
            return Ok(SettingOutcome::AlreadySo);
        }
        self.write(&JournalEntry::Scheduling {
            thread: thread.name.clone(),
            pid,
            started: thread.identity.start,
            before,
            set,
        })?;
        set.apply_to(pid).map_err(failed)?;
        Ok(SettingOutcome::Changed {
            before: before.to_string(),
        })
    }

    /// Notes loads that will start with these traces: undoing kills their processes and removes what they made.
    pub(crate) fn will_load(&mut self, traces: &Traces) -> Result<(), HostError> {
        self.write(&JournalEntry::Loads { traces: traces.clone() })
    }

    /// Makes an instance of tracefs in this place, to be removed, by whichever process.
    pub(crate) fn make_tracing(&mut self, name: &str, place: &Path) -> Result<(), HostError> {
        let usual = Path::new("/").join(TRACEFS[0]).join("instances").join(name);
        self.write(&JournalEntry::Tracing { instance: usual })?;
        std::fs::create_dir(place).map_err(|source| HostError::Set {
            path: place.to_path_buf(),
            value: "a folder".into(),
            source,
        })
    }

    /// Makes the uprobe `group/name` by the line that tracefs takes, to be removed, by whichever process.
    pub(crate) fn make_uprobe(&mut self, uprobes: &Path, event: &str, line: &str) -> Result<(), HostError> {
        let event = event.to_string();
        self.write(&JournalEntry::Uprobe { event })?;
        add_uprobe_line(uprobes, line).map_err(|source| HostError::Set {
            path: uprobes.to_path_buf(),
            value: line.trim().into(),
            source,
        })
    }

    /// Runs a command of the user's to its end; undoing runs `back`, also if the command failed.
    pub fn run(&mut self, command: &[String], back: &[String]) -> Result<(), HostError> {
        self.write(&JournalEntry::Command {
            command: command.to_vec(),
            back: back.to_vec(),
        })?;
        let failed = |why: String| HostError::Argument(format!("{}: {why}; the machine is as it was", shell(command)));
        let status = undo::run(command).map_err(|e| failed(e.to_string()))?;
        match status.success() {
            true => Ok(()),
            false => Err(failed(format!("it failed ({status})"))),
        }
    }

    /// Notes a process group that its leader has just started: undoing kills all of it.
    pub(crate) fn end_group(&mut self, leader: u32) -> Result<(), HostError> {
        let leader = leader as i32;
        match processes::start_time(leader) {
            Some(started) => self.write(&JournalEntry::Group { leader, started }),
            None => Ok(()),
        }
    }

    /// Undoes everything, removes the journal, and ends the guard. A change that could not be undone stays in the
    /// journal for the next `worstcase host` command.
    pub fn finish(mut self) -> Result<Vec<Undone>, HostError> {
        self.undo()
    }

    /// The same; that a change could not be undone is an error.
    pub fn finish_all(self) -> Result<(), HostError> {
        match failures(&self.finish()?) {
            0 => Ok(()),
            count => Err(HostError::NotRestored { count }),
        }
    }

    fn undo(&mut self) -> Result<Vec<Undone>, HostError> {
        self.finished = true;
        let undone = undo_file(&mut self.file, &self.path).map_err(|e| self.failed(e));
        // When the guard is let go it looks at the journal once more, and needs its lock.
        lock::let_go(&self.file).map_err(|e| self.failed(e))?;
        if let Some(guard) = self.guard.take() {
            guard.let_go();
        }
        undone
    }

    fn write(&mut self, entry: &JournalEntry) -> Result<(), HostError> {
        self.append(&entry::line(entry))
    }

    fn append(&mut self, line: &str) -> Result<(), HostError> {
        let written = self
            .file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.sync_data());
        written.map_err(|e| self.failed(e))
    }

    fn failed(&self, source: io::Error) -> HostError {
        HostError::State {
            path: self.path.clone(),
            source,
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !self.finished {
            // An error cannot be reported here; a change that could not be undone stays in the journal for the guard and the
            // next command.
            let _ = self.undo();
        }
    }
}

/// A journal that was found, and its owner.
#[derive(Debug)]
pub(super) enum FoundJournal {
    /// Another process undid and removed it meanwhile, or its owner was killed before writing anything.
    Nothing,
    Living(JournalOwner),
    /// Its owner is gone, and it was undone.
    LeftOver(JournalOwner, Vec<Undone>),
}

/// Undoes a journal whose owner is gone. With `wait`, waits for the owner's end.
pub(super) fn undo_left_over(path: &Path, wait: bool) -> io::Result<FoundJournal> {
    // It is undone with this user's rights, so it must belong to this user, and not be reached through another user's
    // link.
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let opened = File::options().read(true).append(true).custom_flags(no_link).open(path);
    let mut file = match opened {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(FoundJournal::Nothing),
        Err(e) => return Err(e),
    };
    let is = file.metadata()?;
    if !is.is_file() || !is_only_ours(&is) {
        return Err(io::Error::other(
            "this journal is another user's, or others can write to it; remove it",
        ));
    }
    if wait {
        lock::exclusive(&file)?;
    }
    let ours = wait || lock::try_exclusive(&file)?;
    if file.metadata()?.nlink() == 0 {
        return Ok(FoundJournal::Nothing);
    }
    let Some((owner, _)) = read(&mut file)? else {
        if ours {
            fs::remove_file(path)?;
        }
        return Ok(FoundJournal::Nothing);
    };
    if !ours {
        return Ok(FoundJournal::Living(owner));
    }
    let undone = undo_file(&mut file, path)?;
    Ok(FoundJournal::LeftOver(owner, undone))
}

fn read(file: &mut File) -> io::Result<Option<(JournalOwner, Vec<JournalEntry>)>> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(entry::parse(&text))
}

/// Undoes and removes a locked journal; keeps in it the changes that could not be undone.
fn undo_file(file: &mut File, path: &Path) -> io::Result<Vec<Undone>> {
    let Some((owner, entries)) = read(file)? else {
        return Ok(Vec::new());
    };
    let (undone, left) = undo::all(&entries, owner.is_of_this_boot());
    if left.is_empty() {
        fs::remove_file(path)?;
        return Ok(undone);
    }
    let text: String = std::iter::once(entry::line(&owner))
        .chain(left.iter().map(entry::line))
        .collect();
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())?;
    file.sync_data()?;
    Ok(undone)
}

/// For scripts/fuzz.
#[doc(hidden)]
pub fn fuzz(text: &str) {
    std::hint::black_box(entry::parse(text));
}

#[cfg(test)]
mod tests;
