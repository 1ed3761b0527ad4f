//! `memory`: streams through more memory than the last-level caches hold, one process a CPU.
//!
//! Each process adds two arrays into a third (the triad of McCalpin's STREAM benchmark), block by block.

use std::collections::BTreeSet;
use std::fs;
use std::hint::black_box;
use worstcase_contract::prng::SplitMix64;
use worstcase_instruments::loads::{Ending, LoadError, Pace, RunningPart};
use worstcase_instruments::sys::{affinity, memory};

const MIB: u64 = 1 << 20;
const ARRAYS: u64 = 3;
/// Words of one array in a block: with three arrays, a mebibyte.
const BLOCK: usize = (MIB / ARRAYS / 8) as usize;
/// Working set as a multiple of the last-level caches.
const CACHES: u64 = 2;
const LEAST_MIB: u64 = 64;
/// The working set takes at most one part in this many of the available memory.
const SHARE: u64 = 4;
const MEBIBYTES: usize = 0;

pub(super) fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    let available = memory::available()
        .ok_or_else(|| load.not_available("/proc/meminfo does not state MemAvailable (mount /proc)"))?;
    let most = available / SHARE / MIB;
    let caches = caches_mib();
    let (total, note) = match load.request().number().map(u64::from) {
        Some(asked) if asked > most => {
            return Err(load.not_available(format!(
                "{asked} MiB are more than a quarter of the available memory ({most} MiB); ask for less"
            )));
        }
        Some(asked) => (asked, None),
        None => {
            let wanted = (CACHES * caches).max(LEAST_MIB);
            let note = format!("load 'memory' uses {most} MiB, not the {wanted} MiB that exceed the caches by far");
            (wanted.min(most), (wanted > most).then_some(note))
        }
    };
    note.into_iter().for_each(|note| load.note(note));
    let (workers, rate) = (u64::from(affinity::count()), load.request().rate());
    let blocks = (total / workers).max(1) as usize;
    for worker in 0..workers {
        load.spawn(Ending::Anywhere, move |board| {
            // If memory gets short, the kernel kills this process first. Where this is refused, the load still takes a
            // quarter of the available memory at most.
            let _ = fs::write("/proc/self/oom_score_adj", "1000");
            let mut random = SplitMix64::new(seed.wrapping_add(worker << 32));
            let mut arrays: [Vec<u64>; ARRAYS as usize] =
                std::array::from_fn(|_| (0..blocks * BLOCK).map(|_| random.next_u64()).collect());
            let mut pace = Pace::new(rate, worker, workers);
            loop {
                let [a, b, c] = &mut arrays;
                let blocks = a.chunks_mut(BLOCK).zip(b.chunks(BLOCK)).zip(c.chunks(BLOCK));
                for ((a, b), c) in blocks {
                    pace.wait();
                    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                        *a = b.wrapping_add(c.wrapping_mul(3));
                    }
                    black_box(a);
                    board.add(MEBIBYTES, 1);
                }
                arrays.rotate_left(1);
            }
        })?;
    }
    Ok(())
}

/// The size of all last-level caches of this machine. Several CPUs share one.
fn caches_mib() -> u64 {
    let mut seen = BTreeSet::new();
    let Ok(cpus) = fs::read_dir("/sys/devices/system/cpu") else {
        return 0;
    };
    for cpu in cpus.flatten() {
        let last = fs::read_dir(cpu.path().join("cache"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|cache| {
                let read = |file: &str| fs::read_to_string(cache.path().join(file)).ok();
                let level: u32 = read("level")?.trim().parse().ok()?;
                Some((level, read("shared_cpu_list")?, parse_size(&read("size")?)?))
            })
            .max();
        seen.extend(last);
    }
    seen.iter().map(|(_, _, kib)| kib).sum::<u64>() / 1024
}

/// KiB of a size as sysfs writes it: `512K`.
fn parse_size(text: &str) -> Option<u64> {
    text.trim().strip_suffix('K')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_caches() {
        assert_eq!(parse_size("393216K\n"), Some(393_216));
        assert_eq!(parse_size("x"), None);
    }
}
