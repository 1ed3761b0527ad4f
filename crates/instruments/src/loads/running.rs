//! Loads that run: started together, watched together, stopped together.

use super::code::{Body, LoadCode};
use super::error::LoadError;
use super::part::{LOOK, RunningPart};
use super::request::LoadRequest;
use super::surroundings::{BegunPart, Surroundings};
use crate::record::Work;
use crate::sys::{clock, process};
use std::fs;
use worstcase_logs::Nanos;

/// How long loads may take to do their first work.
const PATIENCE: Nanos = Nanos::from_millis(30_000);
/// How long they may take to set up what they work on, and how often one looks meanwhile.
pub const SET_UP: Nanos = Nanos::from_millis(120_000);
const LOOK_SET_UP: Nanos = Nanos::from_millis(10);
/// Part of an error that concerns all loads.
const ALL: &str = "all";

/// A load that is to be started.
pub struct PlannedLoad<'a> {
    /// Its code.
    pub code: &'static LoadCode,
    /// What starts it where the code has nothing for that: the venue's own.
    pub brought: Option<Body>,
    /// What it is asked for.
    pub request: &'a LoadRequest,
}

/// Started loads. Dropping them stops them; [`RunningLoad::stop`] also tells whether that worked.
pub struct RunningLoad {
    names: Vec<&'static str>,
    parts: Vec<RunningPart>,
    adopted_before: bool,
    stopped: bool,
}

impl RunningLoad {
    /// Makes what the loads need and starts their workers, as children of this process, which must have one thread only.
    ///
    /// They inherit its CPU affinity. Each load has a seed of its own, made of `seed`. `begin` is called with each one's place
    /// before it makes or forks anything.
    pub fn start(
        loads: &[PlannedLoad<'_>],
        seed: u64,
        surroundings: &Surroundings,
        mut begin: impl FnMut(usize) -> Result<BegunPart, LoadError>,
    ) -> Result<RunningLoad, LoadError> {
        refuse_threads()?;
        let adopting = LoadError::preparing(ALL, "becoming the reaper of orphans");
        let mut load = RunningLoad {
            names: loads.iter().map(|load| load.code.name).collect(),
            parts: Vec::new(),
            adopted_before: process::adopt_orphans(true).map_err(adopting)?,
            stopped: false,
        };
        for (place, PlannedLoad { code, brought, request }) in loads.iter().enumerate() {
            let seed = seed_at(place, seed);
            let mut begun = begin(place)?;
            let guard = begun.guard.take();
            load.parts
                .push(code.start(request, place, seed, surroundings, begun, *brought)?);
            drop(guard);
        }
        load.parts.iter_mut().try_for_each(RunningPart::start_own_thread)?;
        Ok(load)
    }

    /// What the workers draw from now on is of this seed.
    pub fn give_seed(&self, seed: u64) {
        for (place, part) in self.parts.iter().enumerate() {
            part.give_seed(seed_at(place, seed));
        }
    }

    /// What a user should know of how it runs.
    pub fn notes(&self) -> impl Iterator<Item = &String> {
        self.parts.iter().flat_map(RunningPart::notes)
    }

    /// Work so far. With several loads at once a unit has its load's name before it: `disk.mebibytes`.
    pub fn work(&self) -> Vec<Work> {
        let parts = self.parts.iter().enumerate();
        parts
            .flat_map(|(i, part)| {
                let prefix = unit_prefix(&self.names, i);
                part.work().into_iter().map(move |work| Work {
                    unit: format!("{prefix}{}", work.unit),
                    count: work.count,
                })
            })
            .collect()
    }

    /// What was added to `before`.
    pub fn added_to(&self, before: &[Work]) -> Vec<Work> {
        let mut work = self.work();
        for (now, then) in work.iter_mut().zip(before) {
            now.count = now.count.saturating_sub(then.count);
        }
        work
    }

    /// Work since `before`; an error if one of the loads did none (other than `idle`).
    pub fn work_since(&self, before: &[Work]) -> Result<Vec<Work>, LoadError> {
        let work = self.added_to(before);
        for (i, part) in self.parts.iter().enumerate() {
            let prefix = unit_prefix(&self.names, i);
            let mut own = work.iter().filter(|work| work.unit.starts_with(&prefix)).peekable();
            if own.peek().is_some() && own.all(|work| work.count == 0) {
                return Err(part.no_work("while measuring"));
            }
        }
        Ok(work)
    }

    /// Whether every worker is still there. Forks nothing and does not wait.
    pub fn check(&mut self) -> Result<(), LoadError> {
        self.parts.iter_mut().try_for_each(RunningPart::check)
    }

    /// Waits until every load is set up and has done its first work.
    pub fn wait_for_work(&mut self) -> Result<(), LoadError> {
        self.wait_until_set_up()?;
        let end = clock::monotonic() + PATIENCE;
        loop {
            self.check()?;
            let Some(part) = self.parts.iter().find(|part| !part.has_worked()) else {
                return Ok(());
            };
            if clock::monotonic() > end {
                return Err(part.no_work("within 30 s of its start"));
            }
            clock::sleep_until(clock::monotonic() + LOOK);
        }
    }

    fn wait_until_set_up(&mut self) -> Result<(), LoadError> {
        let end = clock::monotonic() + SET_UP;
        while let Some(part) = self.parts.iter().find(|part| !part.is_set_up()) {
            if clock::monotonic() > end {
                return Err(part.not_ready(SET_UP));
            }
            clock::sleep_until(clock::monotonic() + LOOK_SET_UP);
            self.check()?;
        }
        Ok(())
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
        while let Some(mut part) = self.parts.pop() {
            result = part.end().and(result);
        }
        let _ = process::adopt_orphans(self.adopted_before);
        result
    }
}

impl Drop for RunningLoad {
    fn drop(&mut self) {
        // An error here would only hide the one that made the holder give up.
        let _ = self.end();
    }
}

/// The seed of the load at this place.
fn seed_at(place: usize, seed: u64) -> u64 {
    seed.wrapping_add((place as u64) << 40)
}

fn refuse_threads() -> Result<(), LoadError> {
    match fs::read_dir("/proc/self/task").map_or(1, Iterator::count) {
        0 | 1 => Ok(()),
        threads => Err(LoadError::NotAvailable {
            load: ALL,
            reason: format!("loads are forked, and this process has {threads} threads instead of one"),
        }),
    }
}

/// What stands before the units of load `i` of those that run at once: nothing for one alone, else its name, with its number
/// if it is not the first of that name (`compile2.units`).
fn unit_prefix(names: &[&str], i: usize) -> String {
    if names.len() == 1 {
        return String::new();
    }
    let name = names[i];
    match names[..i].iter().filter(|earlier| **earlier == name).count() {
        0 => format!("{name}."),
        earlier => format!("{name}{}.", earlier + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_several_loads_are_told_apart() {
        let names = ["find", "compile", "compile"];
        let prefixes: Vec<String> = (0..3).map(|i| unit_prefix(&names, i)).collect();
        assert_eq!(prefixes, ["find.", "compile.", "compile2."]);
        assert_eq!(unit_prefix(&names[..1], 0), "");
    }
}
