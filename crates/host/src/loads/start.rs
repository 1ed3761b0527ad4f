//! From a load that a user named to its running pieces.

use super::crew::Crew;
use super::spec::{Part, What};
use super::{HostLoadKind, LoadError, cpu, desktop, disk, memory, proc, rated, timers};
use std::path::Path;
use worstcase_probe::loads::RunningLoad;
use worstcase_probe::record::Work;

/// What the lab's `cmd` calls a completed program, and what it is when that is a build.
const RUNS: &str = "runs";
const BUILDS: &str = "builds";

/// What runs for one part: workers of our own, loads of the lab.
pub(super) struct Pieces {
    pub(super) crew: Option<Crew>,
    pub(super) lab: Vec<RunningLoad>,
    /// What a user should know.
    pub(super) note: Option<String>,
}

impl Pieces {
    fn lab(load: RunningLoad) -> Pieces {
        Pieces {
            crew: None,
            lab: vec![load],
            note: None,
        }
    }

    /// Starts `part`, whose files go into `folder`.
    pub(super) fn start(part: &Part, seed: u64, folder: &Path) -> Result<Pieces, LoadError> {
        let (kind, number) = match &part.what {
            What::Lab(load) if part.rate.is_none() => return Ok(Pieces::lab(desktop::start_lab(load, seed, folder)?)),
            What::Tree(path) => return Ok(Pieces::lab(desktop::start_tree(path, folder)?)),
            What::Lab(load) => {
                let mut crew = Crew::new(part.name(), part.units())?;
                rated::start(&mut crew, load, part.rate, seed, folder)?;
                return Ok(Pieces::own(crew));
            }
            What::Host(kind, number) => (*kind, *number),
        };
        let mut crew = Crew::new(part.name(), part.units())?;
        let (mut lab, mut note) = (Vec::new(), None);
        match kind {
            HostLoadKind::Disk => disk::start(&mut crew, number, part.rate, seed, folder)?,
            HostLoadKind::Proc => proc::start(&mut crew, part.rate)?,
            HostLoadKind::Desktop => (lab, note) = desktop::start(&mut crew, number, seed, folder)?,
            HostLoadKind::Cpu => cpu::start(&mut crew, number, part.rate, seed)?,
            HostLoadKind::Memory => note = memory::start(&mut crew, number, part.rate, seed)?,
            HostLoadKind::Timers => timers::start(&mut crew, number, part.rate, seed)?,
            HostLoadKind::Compile => unreachable!("has a path"),
        }
        Ok(Pieces {
            crew: Some(crew),
            lab,
            note,
        })
    }

    fn own(crew: Crew) -> Pieces {
        Pieces {
            crew: Some(crew),
            lab: Vec::new(),
            note: None,
        }
    }

    /// Work so far of all pieces, in the order of `units`, equal units added up.
    pub(super) fn work(&self, units: &[&str]) -> Vec<Work> {
        let mut sum: Vec<Work> = units.iter().map(|unit| counted(unit, 0)).collect();
        for piece in self.each() {
            for mut work in piece {
                if work.unit == RUNS && units.contains(&BUILDS) {
                    work.unit = BUILDS.into();
                }
                match sum.iter_mut().find(|known| known.unit == work.unit) {
                    Some(known) => known.count += work.count,
                    None => sum.push(work),
                }
            }
        }
        sum
    }

    /// Whether each piece has done something, if it counts anything.
    pub(super) fn all_work(&self) -> bool {
        self.each()
            .all(|work| work.is_empty() || work.iter().any(|w| w.count > 0))
    }

    fn each(&self) -> impl Iterator<Item = Vec<Work>> {
        let own = self.crew.iter().map(Crew::work);
        own.chain(self.lab.iter().map(RunningLoad::work))
    }

    /// Whether every worker is still there.
    pub(super) fn check(&mut self) -> Result<(), LoadError> {
        self.crew.iter_mut().try_for_each(Crew::check)?;
        self.lab.iter_mut().try_for_each(RunningLoad::check)
    }

    /// Ends all workers and undoes what they made; the last error is told.
    pub(super) fn stop(&mut self) -> Result<(), LoadError> {
        self.crew = None;
        let mut result = Ok(());
        while let Some(load) = self.lab.pop() {
            result = load.stop().and(result);
        }
        result
    }
}

fn counted(unit: &str, count: u64) -> Work {
    Work {
        unit: unit.into(),
        count,
    }
}

/// The same error of the load that the user named: `desktop` and `compile:PATH` run others.
pub(super) fn of_load(name: &'static str, mut error: LoadError) -> LoadError {
    match &mut error {
        LoadError::NotAvailable { load, .. }
        | LoadError::Prepare { load, .. }
        | LoadError::Ended { load, .. }
        | LoadError::NoWork { load, .. }
        | LoadError::Undo { load, .. } => *load = name,
    }
    error
}
