//! The checkpoints of a cell: the machine at some places on its way, so that a replay need not begin at the warm snapshot.
//!
//! ```text
//! all samples    the whole cell; record and events must be what they were
//! some samples   from the last checkpoint before the first window, or the warm snapshot, to the end of the last window; the
//!                events of that part must be what they were
//! both           leave checkpoints on their way, where none is near
//! ```
//! Only of machines of one CPU without a disk. What the plugin knows of a machine is not saved: of several CPUs each one's
//! clock and the slice that runs, of a disk the requests under way. One CPU's clock is the machine's, and is saved.

use super::LabError;
use super::cell::{self, CellRun, RawResult};
use super::checkpoint::{Checkpoint, PAGES, STATE, SavedMachine};
use super::fork::{Course, PluginRequest, Saves};
use super::replay::{differs, same_again};
use super::warm;
use std::cell::RefCell;
use std::fs;
use std::path::Path;
use worstcase_base::cache::Cache;
use worstcase_base::digest::Digest;
use worstcase_contract::Instructions;
use worstcase_contract::trace::Event;

/// The area of the cache.
const AREA: &str = worstcase_base::room::CHECKPOINTS;

/// Most that all checkpoints take on the disk, in bytes.
const MOST: u64 = 4 << 30;

/// The message about a damaged checkpoint.
const AGAIN: &str = "the cell is replayed from an earlier place";

/// Between two checkpoints: about a third of a second of QEMU's.
const APART: u64 = 60_000_000;

/// Checkpoints of one cell.
const MOST_OF_CELL: u64 = 16;

/// Leaves the checkpoints of a cell that has none in this cache, and runs it on from each; gives how many there are.
pub(crate) fn verify_anew(cache: &Cache, run: &CellRun, raw: &RawResult, folder: &Path) -> Result<usize, LabError> {
    let Some(checkpoints) = CellCheckpoints::of(cache, run)? else {
        return Ok(0);
    };
    let own = folder.join("checkpoints");
    fs::create_dir(&own).map_err(LabError::io(&own))?;
    let everywhere = checkpoints.everywhere(raw);
    checkpoints.whole(run, raw, &own, &PluginRequest::default(), &everywhere)?;
    verify(cache, run, raw, &own)
}

/// Runs a cell from each of its checkpoints to its end, each time with its files in a folder of its own below `folder`. An error
/// unless it gives the record, and from there on the events, of the whole cell. Gives how many checkpoints there are.
pub fn verify(cache: &Cache, run: &CellRun, raw: &RawResult, folder: &Path) -> Result<usize, LabError> {
    let Some(checkpoints) = CellCheckpoints::of(cache, run)? else {
        return Ok(0);
    };
    let end = Instructions(u64::MAX);
    for at in &checkpoints.at {
        let Some(from) = checkpoints.open(*at)? else {
            continue;
        };
        let own = folder.join(at.0.to_string());
        fs::create_dir(&own).map_err(LabError::io(&own))?;
        let saves = Saves {
            at: &[],
            saved: &RefCell::default(),
        };
        let course = Course::Part(Some(&from), end, saves);
        let again = cell::execute_watched(run, &own, &PluginRequest::default(), &course)?;
        if again.record != raw.record {
            return differs(run, "the records");
        }
        if !are_those(&again.events, *at, &raw.events, end) {
            return differs(run, "the plugin's events");
        }
    }
    Ok(checkpoints.at.len())
}

/// The checkpoints of a cell.
pub(crate) struct CellCheckpoints<'a> {
    cache: &'a Cache,
    key: String,
    /// Where they are, in ascending order.
    at: Vec<Instructions>,
}

impl<'a> CellCheckpoints<'a> {
    /// Those that are kept of this cell; none if its machine cannot be stopped.
    pub(crate) fn of(cache: &'a Cache, run: &CellRun) -> Result<Option<CellCheckpoints<'a>>, LabError> {
        if !warm::can_stop(&run.prepared.subject.machine) {
            return Ok(None);
        }
        let key = cell::key(run.prepared, run.spec)?;
        let key = Digest::new("worstcase-checkpoints/2").text(&key).hex();
        let place = |name: String| {
            name.strip_prefix(&key)?
                .strip_prefix('-')?
                .parse()
                .ok()
                .map(Instructions)
        };
        let mut at: Vec<Instructions> = cache.keys(AREA).into_iter().filter_map(place).collect();
        at.sort_unstable();
        Ok(Some(CellCheckpoints { cache, key, at }))
    }

    /// Where the one is that is nearest to this place.
    pub(crate) fn nearest(&self, to: Instructions) -> Option<Instructions> {
        self.at.iter().copied().min_by_key(|at| at.0.abs_diff(to.0))
    }

    /// Runs the part of the cell that has these counts, asking the plugin for what `asked` gives for the part's first count,
    /// and gives that count; the plugin's files are in `folder`. None if the part is not the execution that was measured: then
    /// the whole cell has to run.
    pub(crate) fn part(
        &self,
        run: &CellRun,
        raw: &RawResult,
        folder: &Path,
        counts: std::ops::Range<Instructions>,
        asked: impl Fn(Instructions) -> PluginRequest,
    ) -> Result<Option<Instructions>, LabError> {
        let before = self.at.partition_point(|at| *at <= counts.start);
        let mut from = None;
        for at in self.at[..before].iter().rev() {
            from = self.open(*at)?;
            if from.is_some() {
                break;
            }
        }
        let begin = from.as_ref().map_or(Instructions(0), |checkpoint| checkpoint.at);
        let since = |count: Instructions| Instructions(count.0 - begin.0);
        let missing = self.missing(&raw.events, begin..counts.end);
        let (at, saved) = (missing.into_iter().map(since).collect::<Vec<_>>(), RefCell::default());
        let saves = Saves { at: &at, saved: &saved };
        match cell::execute_part(
            run,
            folder,
            &asked(begin),
            &Course::Part(from.as_ref(), since(counts.end), saves),
        ) {
            Ok(events) if are_those(&events, begin, &raw.events, counts.end) => {
                // The part gives no record; that of the whole must be what its marks stored.
                cell::hold_against_marks(raw, run.prepared, run.spec, || cell::describe(run))?;
                self.keep_all(&saved.into_inner(), begin)?;
                Ok(Some(begin))
            }
            Ok(_) | Err(LabError::Qemu(_) | LabError::QemuEnded(_) | LabError::NoResult { .. }) => {
                self.forget();
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// Runs the whole cell, with its files in `folder`; it leaves checkpoints at these places.
    pub(crate) fn whole(
        &self,
        run: &CellRun,
        raw: &RawResult,
        folder: &Path,
        asked: &PluginRequest,
        at: &[Instructions],
    ) -> Result<(), LabError> {
        let saved = RefCell::default();
        let course = Course::Saved(Saves { at, saved: &saved });
        same_again(run, raw, folder, asked, &course)?;
        self.keep_all(&saved.into_inner(), Instructions(0))
    }

    /// All places where a checkpoint should be, but none is near.
    pub(crate) fn everywhere(&self, raw: &RawResult) -> Vec<Instructions> {
        self.missing(&raw.events, Instructions(0)..Instructions(u64::MAX))
    }

    /// The place in the middle, if none is near: for a replay of both halves at once, which leaves the others.
    pub(crate) fn middle(&self, raw: &RawResult) -> Option<Instructions> {
        let (mut places, apart) = places(&raw.events);
        let middle = raw.events.last().map_or(0, |event| event.count.0) / 2;
        let is_near = |place: Instructions| place.0.abs_diff(middle) < apart;
        places.find(|place| is_near(*place) && !self.at.iter().any(|at| is_near(*at)))
    }

    /// The places on this stretch of a cell with these events where a checkpoint should be, but none is near.
    fn missing(&self, events: &[Event], on: std::ops::Range<Instructions>) -> Vec<Instructions> {
        let (places, apart) = places(events);
        let is_near = |place: Instructions| self.nearest(place).is_some_and(|at| at.0.abs_diff(place.0) < apart / 2);
        places.filter(|place| on.contains(place) && !is_near(*place)).collect()
    }

    fn name(&self, at: Instructions) -> String {
        format!("{}-{}", self.key, at.0)
    }

    fn open(&self, at: Instructions) -> Result<Option<Checkpoint>, LabError> {
        let Some(held) = self.cache.hold(AREA, &self.name(at))? else {
            return Ok(None);
        };
        let folder = self.cache.kept(AREA, &self.name(at), AGAIN)?;
        Ok(folder.map(|folder| Checkpoint {
            at,
            folder,
            _held: held,
        }))
    }

    /// Keeps machines that began at this count, all at once: each takes some tens of milliseconds.
    fn keep_all(&self, machines: &[SavedMachine], begin: Instructions) -> Result<(), LabError> {
        if machines.is_empty() {
            return Ok(());
        }
        self.cache.bound(AREA, MOST);
        std::thread::scope(|scope| {
            let keep = |machine| scope.spawn(move || self.keep(machine, begin));
            let kept: Vec<_> = machines.iter().map(keep).collect();
            kept.into_iter()
                .try_for_each(|thread| thread.join().expect("keeping does not panic"))
        })
    }

    fn keep(&self, machine: &SavedMachine, begin: Instructions) -> Result<(), LabError> {
        let at = Instructions(begin.0 + machine.at.0);
        let kept = self.cache.keep(AREA, &self.name(at), AGAIN, |building| {
            let at = |name: &str| building.join(name);
            for name in [PAGES, STATE] {
                fs::rename(machine.folder.join(name), at(name)).map_err(LabError::io(at(name)))?;
            }
            Ok::<(), LabError>(())
        });
        kept.map(drop)
    }

    fn forget(&self) {
        for at in &self.at {
            self.cache.remove_unheld(AREA, &self.name(*at));
        }
    }
}

/// Where a cell with these events is stopped, and how far apart.
fn places(events: &[Event]) -> (impl Iterator<Item = Instructions>, u64) {
    let end = events.last().map_or(0, |event| event.count.0);
    let apart = APART.max(end / MOST_OF_CELL);
    ((apart..end).step_by(apart as usize).map(Instructions), apart)
}

/// Whether these events of a part, whose counts begin at `begin`, are those of the whole at least up to `until`.
fn are_those(part: &[Event], begin: Instructions, whole: &[Event], until: Instructions) -> bool {
    let mut expected = whole.iter().filter(|event| event.count >= begin);
    let are_equal = part.iter().all(|event| {
        let count = Instructions(event.count.0 + begin.0);
        expected.next() == Some(&Event { count, ..*event })
    });
    are_equal && expected.next().is_none_or(|event| event.count >= until)
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_contract::trace::EventKind;

    fn event(kind: EventKind, count: u64) -> Event {
        Event {
            kind,
            arg: 7,
            count: Instructions(count),
        }
    }

    #[test]
    fn a_cell_is_stopped_every_so_often() {
        let places = |end| {
            let events = [event(EventKind::TimerEntry, 9), event(EventKind::MarkEnd, end)];
            places(&events).0.collect::<Vec<_>>()
        };
        assert_eq!(places(APART), [], "it is not worth it");
        assert_eq!(places(2 * APART), [Instructions(APART)], "none at the end");
        assert_eq!(places(2 * APART + 1).len(), 2);
        let many = places(100 * APART);
        assert!((MOST_OF_CELL - 1..=MOST_OF_CELL).contains(&(many.len() as u64)));
        assert_eq!(super::places(&[]).0.count(), 0);
    }

    #[test]
    fn the_events_of_a_part_are_those_of_the_whole_from_there_on() {
        let whole: Vec<Event> = [10, 20, 30, 40].map(|count| event(EventKind::MarkSample, count)).into();
        let part = |counts: &[u64], begin, until| {
            let part: Vec<Event> = counts.iter().map(|c| event(EventKind::MarkSample, *c)).collect();
            are_those(&part, Instructions(begin), &whole, Instructions(until))
        };
        assert!(part(&[5, 15], 15, 31));
        assert!(part(&[5, 15, 25], 15, 31), "it may be longer");
        assert!(part(&[10, 20, 30, 40], 0, 100));
        assert!(!part(&[5], 15, 31), "one is missing");
        assert!(!part(&[15], 15, 31), "the first is missing");
        assert!(!part(&[6, 16], 15, 31), "another count");
        assert!(!part(&[5, 15, 25, 35], 15, 31), "one too many");
    }
}
