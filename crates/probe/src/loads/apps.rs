//! `apps:N`: N processes sweep working sets that together exceed the memory, so that the machine pages.
//!
//! The working sets are pieces of a null_blk device, mapped shared: reading brings pages in (major faults),
//! writing makes pages that have to be written out before they can go, and the kernel reclaims all the while.
//! No page of it is anonymous, so nothing is ever killed for lack of memory, and no swap is needed; the device
//! discards what it is given, and nobody relies on what it returns.

use super::LoadError;
use super::null_block::NullBlock;
use super::running::{Ending, RunningLoad, Venue};
use crate::prng::SplitMix64;
use crate::sys::memory::{self, Mapping, PAGE};
use crate::units::Nanos;
use std::fs::{self, OpenOptions};

/// Applications that together fill the available memory: fewer than these get larger working sets.
const APPS_THAT_FILL: u64 = 8;
/// Working sets of few applications together exceed the available memory by a quarter.
const FEWEST_AT_THAT_SIZE: u64 = 10;
/// An application uses this many neighbouring pages before it turns to another place.
const NEIGHBOURS: u64 = 16;
/// One place in so many is written to.
const WRITES_ONE_IN: u64 = 4;
const MIB: u64 = 1 << 20;
const PAGE_INS: usize = 0;

pub(super) fn start(load: &mut RunningLoad, seed: u64) -> Result<(), LoadError> {
    if load.venue() == Venue::Host {
        return Err(load
            .not_available("it drives the whole machine into paging, which this version does in the lab only".into()));
    }
    let apps = u64::from(load.spec().number());
    let available = available_memory()
        .ok_or_else(|| load.not_available("/proc/meminfo does not state MemAvailable (mount /proc)".into()))?;
    let set = working_set(available, apps);
    let device = NullBlock {
        size_mib: set * apps / MIB,
        completion: Nanos::from_micros(100), // a fast solid-state disk
        queue_depth: 64,
    };
    let node = device.make(load)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&node)
        .map_err(load.preparing(&format!("opening {}", node.display())))?;
    for app in 0..apps {
        let file = file.try_clone().map_err(load.preparing("opening the device again"))?;
        let mut random = SplitMix64::new(seed.wrapping_add(app << 32));
        load.spawn(Ending::Anywhere, move |board| {
            let memory = Mapping::of_file(&file, app * set, set as usize)
                .map_err(|e| format!("mapping a working set of {} MiB: {e}", set / MIB))?;
            let places = set / PAGE as u64 / NEIGHBOURS;
            let mut seen = memory::faults().major;
            loop {
                let first = random.below(places) * NEIGHBOURS;
                let writes = random.below(WRITES_ONE_IN) == 0;
                for page in first..first + NEIGHBOURS {
                    let at = page as usize * PAGE;
                    if writes {
                        memory.write(at, page as u8);
                    } else {
                        std::hint::black_box(memory.read(at));
                    }
                }
                let now = memory::faults().major;
                board.add(PAGE_INS, now - seen);
                seen = now;
            }
        })?;
    }
    Ok(())
}

/// Bytes of one working set, whole MiB: an eighth of the available memory, or as much more as few applications
/// need to exceed it together by a quarter.
fn working_set(available: u64, apps: u64) -> u64 {
    let set = available / APPS_THAT_FILL * FEWEST_AT_THAT_SIZE.max(apps) / apps;
    (set / MIB + 1) * MIB
}

/// Bytes that could be had without paging, as the kernel estimates.
fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_sets_together_exceed_the_memory_and_grow_with_their_number() {
        let available = 420 * MIB;
        let total = |apps| working_set(available, apps) * apps;
        for apps in 1..=200 {
            assert!(total(apps) >= available * 5 / 4, "{apps} apps");
        }
        assert!(total(20) > total(10) && total(30) > total(20));
    }
}
