//! Verifies that a cell is reproducible here. Boots its subject once more, which must give the same machine. Runs the cell
//! again and again, half of the time with every CPU of the controller busy, and compares all its results, to the bit.

use super::LabError;
use super::boot;
use super::cell::{self, CellRun, RawResult};
use super::checkpoints;
use super::matrix;
use super::prepared::Prepared;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_contract::CellSpec;

/// What to verify.
pub struct Verification<'a> {
    /// The subject.
    pub prepared: &'a Prepared,
    /// The cell.
    pub spec: &'a CellSpec,
    /// How often to run it; results in the cache are not used.
    pub runs: usize,
    /// Boots the subject again for every run, instead of forking one snapshot.
    pub fresh_boots: bool,
    /// Runs it on from each of its checkpoints, too.
    pub checkpoints: bool,
    /// Real time for one machine, if not the default.
    pub limit: Option<Duration>,
}

/// What all runs of a cell agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneDigest {
    /// The digest.
    pub digest: String,
    /// How many checkpoints it was run on from.
    pub checkpoints: usize,
}

/// Runs the cell as often as asked and gives its digest, or the first difference as an error. `each` gets the number of
/// every run, whether the controller was busy, and the digest.
pub fn verify(
    cache: &Cache,
    what: &Verification,
    mut each: impl FnMut(usize, bool, &str),
) -> Result<OneDigest, LabError> {
    let mut first: Option<(RawResult, String)> = None;
    let mut checkpoints = 0;
    for number in 1..=what.runs {
        let busy = number > what.runs.div_ceil(2);
        let folder = cache.scratch()?;
        let (raw, digest, gone_on_from) = keep_busy(busy, || once(cache, what, folder.path()))?;
        checkpoints += gone_on_from;
        each(number, busy, &digest);
        match &first {
            None => first = Some((raw, digest)),
            Some((expected_raw, expected)) if raw != *expected_raw || digest != *expected => {
                let cell = format!("{} under {}", what.prepared.subject.label(), what.spec.load);
                return Err(LabError::NotReproducible {
                    cell,
                    run: number,
                    found: digest,
                    expected: expected.clone(),
                });
            }
            Some(_) => {}
        }
    }
    Ok(OneDigest {
        digest: first.map(|(_, digest)| digest).unwrap_or_default(),
        checkpoints,
    })
}

/// Boots a subject again beside its snapshot in the cache: both must be equal.
pub fn boot_again(cache: &Cache, prepared: &Prepared, limit: Option<Duration>) -> Result<(), LabError> {
    let snapshot = boot::obtain(cache, prepared, limit)?;
    snapshot.boot_state()?.agree(cache, prepared)?;
    let scratch = cache.scratch()?;
    let again = boot::obtain(&Cache::at(scratch.path()), prepared, limit)?;
    again.boot_state()?.agree(cache, prepared)
}

/// The result, its digest, and how many checkpoints it was run on from.
fn once(cache: &Cache, what: &Verification, folder: &Path) -> Result<(RawResult, String, usize), LabError> {
    let private = Cache::at(folder);
    let from = if what.fresh_boots { &private } else { cache };
    let snapshot = boot::obtain(from, what.prepared, what.limit)?.to_warm_anew(&private);
    snapshot.boot_state()?.agree(cache, what.prepared)?;
    let run = CellRun {
        prepared: what.prepared,
        snapshot: &snapshot,
        spec: what.spec,
        limit: what.limit,
    };
    let raw = cell::execute(&run, folder)?;
    let digest = matrix::result(what.prepared, &snapshot.ready, &raw, None)?
        .record
        .digest;
    let gone_on_from = match what.checkpoints {
        true => checkpoints::verify_anew(&private, &run, &raw, folder)?,
        false => 0,
    };
    Ok((raw, digest, gone_on_from))
}

/// Runs `work`; if `busy`, with a spinning thread for every CPU.
fn keep_busy<R>(busy: bool, work: impl FnOnce() -> R) -> R {
    let stop = AtomicBool::new(false);
    let threads = if busy {
        std::thread::available_parallelism().map_or(2, usize::from)
    } else {
        0
    };
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        work()
    })
}

/// Stops the threads, also after a panic; otherwise the scope would wait for them forever.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn busy_loops_end_with_the_work() {
        assert_eq!(keep_busy(true, || 7), 7);
    }

    #[test]
    fn busy_loops_end_if_the_work_panics() {
        let (done, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let panicked = std::panic::catch_unwind(|| keep_busy(true, || panic!("of a test")));
            done.send(panicked.is_err())
        });
        assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(true));
    }
}
