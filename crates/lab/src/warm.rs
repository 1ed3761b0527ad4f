//! Warm snapshots: a subject's machine whose load is set up and warm, from which the cells are forked that differ in their seed
//! alone.
//!
//! ```text
//! snapshot -> fork: load set up, warm-up -> the guest stops -> kept as what differs from the snapshot
//! warm snapshot -> a fork a seed: reads its own order, measures
//! ```
//! A cell of such a machine always begins there, also if it is the only one: counts begin at 0 there. Only of machines of one CPU
//! without a disk (see `checkpoints`).

use super::LabError;
use super::cell::{self, CellRun};
use super::checkpoint::{Checkpoint, PAGES, STATE};
use super::fork::Course;
use super::machine;
use super::plugin_log;
use super::prepared::Prepared;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use worstcase_base::cache::Cache;
use worstcase_base::digest::Digest;
use worstcase_cell::order::Order;
use worstcase_contract::{CellSpec, Instructions};
use worstcase_plan::VirtualMachine;

/// The area of the cache.
const AREA: &str = worstcase_base::room::WARM;

/// Most that all of them take on the disk, in bytes.
pub(crate) const MOST: u64 = 8 << 30;

/// The message about a damaged one.
const AGAIN: &str = "the load is started again";

/// Whether a machine can be stopped while its load runs.
pub(crate) fn can_stop(machine: &VirtualMachine) -> bool {
    machine.smp.cpus == 1 && machine::disk_arguments(machine).is_empty()
}

/// Those of one snapshot.
#[derive(Debug)]
pub(crate) struct WarmSnapshots {
    cache: Cache,
    open: InUse<Checkpoint>,
}

/// What is held as long as somebody uses it: warm machines that no cell is forked from may be removed, so that a run of many
/// loads keeps the bound.
#[derive(Debug)]
struct InUse<T>(Mutex<BTreeMap<String, Weak<T>>>);

impl<T> InUse<T> {
    fn get(&self, key: &str) -> Option<Arc<T>> {
        self.lock().get(key).and_then(Weak::upgrade)
    }

    fn put(&self, key: String, value: T) -> Arc<T> {
        let value = Arc::new(value);
        self.lock().insert(key, Arc::downgrade(&value));
        value
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Weak<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WarmSnapshots {
    /// They are kept in this cache.
    pub(crate) fn new(cache: &Cache) -> WarmSnapshots {
        WarmSnapshots {
            cache: cache.clone(),
            open: InUse(Mutex::default()),
        }
    }

    /// The cache.
    pub(crate) fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The one from which this cell is forked, from the cache or made; none if its machine has none.
    pub(crate) fn obtain(&self, run: &CellRun) -> Result<Option<Arc<Checkpoint>>, LabError> {
        let Some((key, order)) = until_warm(run.prepared, run.spec)? else {
            return Ok(None);
        };
        if let Some(there) = self.open.get(&key) {
            return Ok(Some(there));
        }
        loop {
            let folder = self.cache.keep(AREA, &key, AGAIN, |building| {
                self.cache.bound(AREA, MOST);
                make(run, &order, building)
            })?;
            if let Some(held) = self.cache.hold(AREA, &key)? {
                let warm = Checkpoint {
                    at: Instructions(0),
                    folder,
                    _held: held,
                };
                return Ok(Some(self.open.put(key, warm)));
            }
        }
    }
}

/// The one that a cell is forked from and that the cache does not have yet, by its key.
pub(crate) fn to_make(cache: &Cache, prepared: &Prepared, spec: &CellSpec) -> Result<Option<String>, LabError> {
    let warm = until_warm(prepared, spec)?;
    Ok(warm.map(|(key, _)| key).filter(|key| !cache.path(AREA, key).exists()))
}

/// The key of a cell's warm machine, and the order for the machine until it is warm.
fn until_warm(prepared: &Prepared, spec: &CellSpec) -> Result<Option<(String, Vec<u8>)>, LabError> {
    let Order::Measure(cell, machine) = cell::order(prepared, spec)? else {
        return Ok(None);
    };
    if !machine.stops_when_warm {
        return Ok(None);
    }
    let order = Order::Measure(cell.until_warm(), machine).encode();
    let order = order.map_err(|e| LabError::Request(e.to_string()))?;
    let key = Digest::new("worstcase-warm/1").text(&prepared.key).bytes(&order).hex();
    Ok(Some((key, order)))
}

fn make(run: &CellRun, order: &[u8], building: &Path) -> Result<(), LabError> {
    let scratch = tempfile::tempdir_in(building).map_err(LabError::io(building))?;
    let saved = RefCell::new(None);
    let asked = cell::untimed(run)?;
    let fork = cell::fork(run, order, &asked, None);
    let message = fork.run_along(scratch.path(), &Course::UntilWarm(&saved))?;
    if !message.is_empty() {
        return Err(fork.no_result(scratch.path(), "a record came before its load was warm: it is forged"));
    }
    let Some(machine) = saved.into_inner() else {
        return Err(fork.no_result(scratch.path(), "it ended before its load was warm"));
    };
    let events = plugin_log::read(&scratch.path().join("events"));
    let stopped = events.and_then(|events| plugin_log::stop(&events));
    stopped.map_err(|reason| fork.no_result(scratch.path(), reason))?;
    for name in [PAGES, STATE] {
        let to = building.join(name);
        fs::rename(machine.join(name), &to).map_err(LabError::io(to))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_cell_uses_is_let_go() {
        let open = InUse(Mutex::default());
        let used = open.put("shm".into(), 7);
        drop(open.put("fork".into(), 8));
        assert_eq!(open.get("shm"), Some(Arc::clone(&used)));
        assert_eq!(open.get("fork"), None);
        drop(used);
        assert_eq!(open.get("shm"), None);
    }
}
