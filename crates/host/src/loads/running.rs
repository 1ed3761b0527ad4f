//! Started loads in a control group of their own, listed so that a later process can end them.

use super::cgroup::Membership;
use super::clean::{Traces, clean};
use super::folder::WorkFolder;
use super::mark::{self, Environment};
use super::rights::{LaidDown, LoadAccount};
use super::{BODIES, LoadPlace};
use std::collections::BTreeSet;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use worstcase_cell::loads::{BeginPart, LoadEnvironment, LoadOrder};
use worstcase_cell::order::PolicyOrder;
use worstcase_contract::Venue;
use worstcase_contract::loads::LoadSpec;
use worstcase_instruments::loads::{BegunPart, LoadError, RunningLoad, Surroundings};
use worstcase_instruments::sys::affinity;
use worstcase_instruments::sys::process::{self, Pid};

/// The load's name in errors that concern all loads.
const ALL: &str = "all";

/// Running loads; questions about their work go to the [`RunningLoad`] in it. Dropping it stops them;
/// [`RunningHostLoad::stop`] also says whether that worked.
pub struct RunningHostLoad {
    /// `None` when it has ended, or could not be started.
    load: Option<RunningLoad>,
    notes: Vec<String>,
    cgroup: Option<PathBuf>,
    work_dir: PathBuf,
    folders: Rc<Folders>,
    /// Whether this process adopted orphans before; restored when all processes of the loads are gone.
    adopted_before: bool,
    /// Children of this process from before.
    others: BTreeSet<Pid>,
    stopped: bool,
}

impl RunningHostLoad {
    /// Makes what the loads need and starts their workers, as children of this process, which must have one thread.
    ///
    /// They inherit its CPU affinity, unless `place` names CPUs. Programs that run `compile` call
    /// [`worstcase_instruments::child_main`] first in `main`.
    pub fn start(spec: &LoadSpec, seed: u64, place: &LoadPlace) -> Result<RunningHostLoad, LoadError> {
        spec.check_venue(Venue::Host).map_err(|why| LoadError::NotAvailable {
            load: ALL,
            reason: why.to_string(),
        })?;
        let began = LoadError::preparing(ALL, format!("beginning the work folder {}", place.work_dir.display()));
        let folders = Folders {
            path: place.work_dir.clone(),
            folder: WorkFolder::begin(&place.work_dir).map_err(began)?,
        };
        let adopting = LoadError::preparing(ALL, "becoming the reaper of orphans");
        let mut running = RunningHostLoad {
            folders: Rc::new(folders),
            load: None,
            notes: Vec::new(),
            cgroup: None,
            work_dir: place.work_dir.clone(),
            adopted_before: process::adopt_orphans(true).map_err(adopting)?,
            others: mark::children(),
            stopped: false,
        };
        let membership = running.join(place, spec);
        // After joining, because a group with its own cpuset may change the CPUs.
        let started = on_cpus(&place.cpus, || running.start_loads(spec, seed));
        if let Some(membership) = membership {
            let leaving = LoadError::preparing(ALL, "leaving the loads' control group");
            running.cgroup = Some(membership.leave().map_err(leaving)?);
        }
        let load = running.load.insert(started?);
        running.notes.extend(load.notes().cloned());
        running.note_workers()?;
        Ok(running)
    }

    /// Joins the loads' group, if one can be made.
    fn join(&mut self, place: &LoadPlace, spec: &LoadSpec) -> Option<Membership> {
        let why = match place.cgroup.as_deref().map(Membership::join) {
            Some(Ok(membership)) => return Some(membership),
            Some(Err(e)) => e.to_string(),
            None => "no right to make one".into(),
        };
        if !spec.is_idle() {
            self.notes.push(format!(
                "loads have no control group of their own ({why}); process groups and parent-death signals end them"
            ));
        }
        None
    }

    fn start_loads(&self, spec: &LoadSpec, seed: u64) -> Result<RunningLoad, LoadError> {
        let env = LoadEnvironment {
            surroundings: Surroundings {
                placement: None,
                work_dir: self.work_dir.clone(),
                owns_machine: false,
            },
            policy: PolicyOrder::default(),
            program: Vec::new(),
            bodies: BODIES,
            begin: Some(self.folders.clone()),
            when_warm: None,
        };
        env.start(&spec.orders(), seed)
    }

    fn note_workers(&self) -> Result<(), LoadError> {
        let workers = mark::children();
        mark::write_workers(&self.folders.folder, workers.difference(&self.others).copied())
            .map_err(LoadError::preparing(ALL, "noting the workers"))
    }

    /// Notes for the user about how it runs.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Kills and reaps every process of the loads, and undoes what they made. Forks nothing.
    pub fn stop(mut self) -> Result<(), LoadError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), LoadError> {
        if std::mem::replace(&mut self.stopped, true) {
            return Ok(());
        }
        let result = self.load.take().map_or(Ok(()), RunningLoad::stop);
        let left = clean(&Traces {
            cgroup: self.cgroup.take(),
            work_dir: self.work_dir.clone(),
            null_blk: Vec::new(), // their loads have removed them, or said why not
        });
        for orphan in mark::children().difference(&self.others) {
            // The orphan has been killed; if one survived, `left` has the error.
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

/// Starts loads with these CPUs, which they inherit. This process gets its own back.
fn on_cpus(cpus: &[u32], start: impl FnOnce() -> Result<RunningLoad, LoadError>) -> Result<RunningLoad, LoadError> {
    if cpus.is_empty() {
        return start();
    }
    let choosing = || LoadError::preparing(ALL, format!("putting loads on CPUs {cpus:?}"));
    let before = affinity::current().map_err(choosing())?;
    affinity::set(cpus).map_err(choosing())?;
    let started = start();
    affinity::set(&before).map_err(choosing())?;
    started
}

/// The work folder. Each load gets two folders in it, and its account while it starts.
#[derive(Debug)]
struct Folders {
    path: PathBuf,
    folder: WorkFolder,
}

/// What holds while a load starts; fields drop in order, so root's rights come back first.
struct Starting {
    _laid_down: Option<LaidDown>,
    _environment: Environment,
}

impl BeginPart for Folders {
    fn begin_part(&self, part: &LoadOrder, place: usize) -> Result<BegunPart, LoadError> {
        let name = part.kind.name();
        let account = LoadAccount::of(part);
        let folder = self.make(name, format!("{place}-{name}"))?;
        let temporary = self.make(name, format!("{place}-tmp"))?;
        let environment = Environment::mark(&self.path, temporary.clone());
        let mut notes = Vec::new();
        let laid_down = account.map(|account| self.lay_down(name, account, [&folder, &temporary]));
        let laid_down = laid_down.transpose().unwrap_or_else(|note| {
            notes.push(note);
            None
        });
        Ok(BegunPart {
            folder: Some(folder),
            notes,
            guard: Some(Box::new(Starting {
                _laid_down: laid_down,
                _environment: environment,
            })),
        })
    }
}

impl Folders {
    fn make(&self, load: &'static str, name: String) -> Result<PathBuf, LoadError> {
        let path = self.path.join(name);
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(LoadError::preparing(
            load,
            format!("making the folder {}", path.display()),
        ))?;
        Ok(path)
    }

    /// Gives a load's folders to another user, and becomes that user while the load starts. Where this is impossible the
    /// load keeps root's rights, and the error is the note about it.
    fn lay_down(&self, load: &str, account: LoadAccount, folders: [&Path; 2]) -> Result<LaidDown, String> {
        let give = || {
            folders.iter().try_for_each(|folder| account.own(folder))?;
            self.folder.let_others_pass()
        };
        give().and_then(|()| account.become_it(folders[0])).map_err(|why| {
            for folder in folders {
                // Root can use the folders whoever owns them.
                let _ = LoadAccount::ROOT.own(folder);
            }
            format!("load '{load}' has root's rights, as it cannot run as {account}: {why}")
        })
    }
}

impl Deref for RunningHostLoad {
    type Target = RunningLoad;

    fn deref(&self) -> &RunningLoad {
        self.load.as_ref().expect("runs until it is stopped")
    }
}

impl DerefMut for RunningHostLoad {
    fn deref_mut(&mut self) -> &mut RunningLoad {
        self.load.as_mut().expect("runs until it is stopped")
    }
}

impl Drop for RunningHostLoad {
    fn drop(&mut self) {
        // The holder has an error already, which this one would hide.
        let _ = self.end();
    }
}
