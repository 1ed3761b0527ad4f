//! Started loads: their work, how much of it a second, and their end.

use super::cgroup::Membership;
use super::clean::{Traces, clean};
use super::crew::preparing;
use super::folder::WorkFolder;
use super::mark::{self, Environment};
use super::place::not_available;
use super::rights::{Account, LaidDown};
use super::start::{Pieces, of_load};
use super::{HostLoad, LoadError, LoadPlace};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use worstcase_probe::Nanos;
use worstcase_probe::record::Work;
use worstcase_probe::sys::clock;
use worstcase_probe::sys::process::{self, Pid};

/// How long loads may take to do their first work, and how often one looks.
const PATIENCE: Nanos = Nanos::from_millis(30_000);
const LOOK: Nanos = Nanos::from_millis(1);
/// Part of an error that concerns all loads.
const ALL: &str = "all";

/// Work a second since it was asked last.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// As in [`Work`].
    pub unit: String,
    /// How many of them a second.
    pub per_second: f64,
}

/// Loads that run. Dropping it stops them; [`RunningHostLoad::stop`] also tells whether that worked.
pub struct RunningHostLoad {
    load: HostLoad,
    parts: Vec<Pieces>,
    notes: Vec<String>,
    cgroup: Option<PathBuf>,
    work_dir: PathBuf,
    folder: WorkFolder,
    adopted_before: bool,
    /// Children that this process had before.
    others: BTreeSet<Pid>,
    asked: (Nanos, Vec<Work>),
    stopped: bool,
}

impl HostLoad {
    /// Makes what the loads need and starts their workers, as children of this process, which must have one thread.
    ///
    /// They inherit its CPU affinity. Programs that run the lab's `compile` call
    /// [`worstcase_probe::loads::compile::child_main`] first in `main`.
    pub fn start(&self, seed: u64, place: &LoadPlace) -> Result<RunningHostLoad, LoadError> {
        refuse_threads()?;
        let began = preparing(ALL, format!("beginning the work folder {}", place.work_dir.display()));
        let folder = WorkFolder::begin(&place.work_dir).map_err(began)?;
        let mut running = RunningHostLoad {
            folder,
            load: self.clone(),
            parts: Vec::new(),
            notes: Vec::new(),
            cgroup: None,
            work_dir: place.work_dir.clone(),
            adopted_before: process::adopt_orphans(true).map_err(preparing(ALL, "becoming the reaper of orphans"))?,
            others: mark::children(),
            asked: (Nanos(0), Vec::new()),
            stopped: false,
        };
        let membership = running.join(place);
        let started = running.start_parts(seed);
        if let Some(membership) = membership {
            let left = membership
                .leave()
                .map_err(preparing(ALL, "leaving the loads' control group"));
            running.cgroup = Some(left?);
        }
        started?;
        running.note_workers()?;
        running.asked = (clock::monotonic(), running.work());
        Ok(running)
    }
}

/// Becomes another user while a load is started; the error is what to say where that cannot be, and the load has root's
/// rights.
fn lay_down(load: &str, account: Account, folders: [&Path; 2]) -> Result<LaidDown, String> {
    account.become_it(folders[0]).map_err(|why| {
        for folder in folders {
            // Root can use them as they are, too.
            let _ = Account::ROOT.own(folder);
        }
        format!("load '{load}' has root's rights, as it cannot run as {account}: {why}")
    })
}

fn refuse_threads() -> Result<(), LoadError> {
    match fs::read_dir("/proc/self/task").map_or(1, Iterator::count) {
        0 | 1 => Ok(()),
        threads => Err(not_available(
            ALL,
            format!("loads are forked, and this process has {threads} threads instead of one"),
        )),
    }
}

impl RunningHostLoad {
    /// Joins the loads' group, if there can be one.
    fn join(&mut self, place: &LoadPlace) -> Option<Membership> {
        let why = match place.cgroup.as_deref().map(Membership::join) {
            Some(Ok(membership)) => return Some(membership),
            Some(Err(e)) => e.to_string(),
            None => "no right to make one".into(),
        };
        if !self.load.is_idle() {
            self.notes.push(format!(
                "loads have no control group of their own ({why}); process groups and parent-death signals end them"
            ));
        }
        None
    }

    fn start_parts(&mut self, seed: u64) -> Result<(), LoadError> {
        for (i, part) in self.load.parts().iter().enumerate() {
            let name = part.name();
            let account = Account::of(part);
            let folder = self.make_folder(name, format!("{i}-{name}"), account)?;
            let temporary = self.make_folder(name, format!("{i}-tmp"), account)?;
            let _environment = Environment::mark(&self.work_dir, temporary.clone());
            let laid_down = account.map(|account| lay_down(name, account, [&folder, &temporary]));
            let laid_down = laid_down.transpose().unwrap_or_else(|note| {
                self.notes.push(note);
                None
            });
            let seed = seed.wrapping_add((i as u64) << 40);
            let mut pieces = Pieces::start(part, seed, &folder).map_err(|e| of_load(name, e))?;
            drop(laid_down);
            self.notes.extend(pieces.note.take());
            self.parts.push(pieces);
        }
        Ok(())
    }

    /// Makes a folder of a load, which belongs to the user that it will run as.
    fn make_folder(&self, load: &'static str, name: String, account: Option<Account>) -> Result<PathBuf, LoadError> {
        let path = self.work_dir.join(name);
        let make = || {
            fs::DirBuilder::new().mode(0o700).create(&path)?;
            if let Some(account) = account {
                account.own(&path)?;
                self.folder.let_others_pass()?;
            }
            Ok(())
        };
        make().map_err(preparing(load, format!("making the folder {}", path.display())))?;
        Ok(path)
    }

    fn note_workers(&self) -> Result<(), LoadError> {
        let workers = mark::children();
        mark::write_workers(&self.folder, workers.difference(&self.others).copied())
            .map_err(preparing(ALL, "noting the workers"))
    }

    /// What runs.
    pub fn load(&self) -> &HostLoad {
        &self.load
    }

    /// What a user should know of how it runs.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Work so far. With several loads at once a unit has its load's name before it: `disk.mebibytes`.
    pub fn work(&self) -> Vec<Work> {
        let parts = self.load.parts().iter().zip(&self.parts).enumerate();
        parts
            .flat_map(|(i, (part, pieces))| {
                let prefix = self.prefix(i);
                pieces.work(part.units()).into_iter().map(move |work| Work {
                    unit: format!("{prefix}{}", work.unit),
                    count: work.count,
                })
            })
            .collect()
    }

    /// What stands before the units of part `i`; a second load of a name has its number too.
    fn prefix(&self, i: usize) -> String {
        let parts = self.load.parts();
        if parts.len() == 1 {
            return String::new();
        }
        let name = parts[i].name();
        match parts[..i].iter().filter(|part| part.name() == name).count() {
            0 => format!("{name}."),
            earlier => format!("{name}{}.", earlier + 1),
        }
    }

    /// What was added to `before`.
    pub fn added_to(&self, before: &[Work]) -> Vec<Work> {
        let mut work = self.work();
        for now in &mut work {
            let then = before
                .iter()
                .find(|then| then.unit == now.unit)
                .map_or(0, |then| then.count);
            now.count = now.count.saturating_sub(then);
        }
        work
    }

    /// Work since `before`; an error if one of the loads did none (other than `idle`).
    pub fn work_since(&self, before: &[Work]) -> Result<Vec<Work>, LoadError> {
        let work = self.added_to(before);
        for (i, part) in self.load.parts().iter().enumerate() {
            let prefix = self.prefix(i);
            let mut own = work.iter().filter(|work| work.unit.starts_with(&prefix)).peekable();
            if own.peek().is_some() && own.all(|work| work.count == 0) {
                return Err(no_work(part.name(), part.units(), "while measuring"));
            }
        }
        Ok(work)
    }

    /// Work a second since the last call, or since the start.
    pub fn rates(&mut self) -> Vec<Rate> {
        let (now, work) = (clock::monotonic(), self.work());
        let seconds = now.saturating_sub(self.asked.0).0.max(1) as f64 / 1e9;
        let rate = |(now, then): (&Work, &Work)| Rate {
            unit: now.unit.clone(),
            per_second: now.count.saturating_sub(then.count) as f64 / seconds,
        };
        let rates = work.iter().zip(&self.asked.1).map(rate).collect();
        self.asked = (now, work);
        rates
    }

    /// Whether every worker is still there. Forks nothing and does not wait.
    pub fn check(&mut self) -> Result<(), LoadError> {
        for (part, pieces) in self.load.parts().iter().zip(&mut self.parts) {
            pieces.check().map_err(|e| of_load(part.name(), e))?;
        }
        Ok(())
    }

    /// Waits until every load has done its first work.
    pub fn wait_for_work(&mut self) -> Result<(), LoadError> {
        let end = clock::monotonic() + PATIENCE;
        loop {
            self.check()?;
            let mut parts = self.load.parts().iter().zip(&self.parts);
            let Some((part, _)) = parts.find(|(_, pieces)| !pieces.all_work()) else {
                return Ok(());
            };
            if clock::monotonic() > end {
                return Err(no_work(part.name(), part.units(), "within 30 s of its start"));
            }
            clock::sleep_until(clock::monotonic() + LOOK);
        }
    }

    /// Ends and reaps every process of the loads, and undoes what they made. Forks nothing.
    pub fn stop(mut self) -> Result<(), LoadError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), LoadError> {
        if std::mem::replace(&mut self.stopped, true) {
            return Ok(());
        }
        let mut result = Ok(());
        for (part, pieces) in self.load.parts().iter().zip(&mut self.parts).rev() {
            let stopped = pieces.stop().map_err(|e| of_load(part.name(), e));
            result = result.and(stopped);
        }
        self.parts.clear();
        let left = clean(&Traces {
            cgroup: self.cgroup.take(),
            work_dir: self.work_dir.clone(),
            null_blk: None, // its load has removed it, or said why not
        });
        for orphan in mark::children().difference(&self.others) {
            // Killed by now; one that is not would be a failure that `left` tells.
            let _ = process::wait(*orphan, false);
        }
        let _ = process::adopt_orphans(self.adopted_before);
        result.and(left.map_err(|e| LoadError::Undo {
            load: ALL,
            what: "removing what was left".into(),
            source: std::io::Error::other(e),
        }))
    }
}

impl Drop for RunningHostLoad {
    fn drop(&mut self) {
        // An error here would only hide the one that made the holder give up.
        let _ = self.end();
    }
}

fn no_work(load: &'static str, units: &[&str], when: &'static str) -> LoadError {
    LoadError::NoWork {
        load,
        when,
        units: units.join(", "),
    }
}
