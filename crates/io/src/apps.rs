//! `apps:N`: N processes sweep working sets that together exceed the memory, so that the machine pages.
//!
//! Together they hold three quarters of the available memory as private memory (their heaps; without swap these
//! stay), and share the rest for their files: pieces of a null_blk device, mapped shared. Reading brings pages
//! in (major faults), writing makes pages that have to be written out before they can go, and the kernel
//! reclaims all the while. Every page beyond the heaps can be reclaimed, so nothing is killed for lack of
//! memory, and no swap is needed; the device discards what it is given, and nobody relies on what it returns.

use crate::null_block::NullBlock;
use std::fs::{File, OpenOptions};
use worstcase_instruments::loads::{Board, Draws, Ending, LoadCode, LoadError, RunningPart};
use worstcase_instruments::sys::memory::{self, Mapping, page_size};
use worstcase_instruments::sys::usage;
use worstcase_logs::Nanos;

/// An application uses this many neighbouring pages before it turns to another place.
const NEIGHBOURS: u64 = 16;
/// One place in so many is written to.
const WRITES_ONE_IN: u64 = 4;
const MIB: u64 = 1 << 20;
/// Kernel and user memory of one more process, roughly.
const PROCESS_COST: u64 = 256 * 1024;

const PAGE_INS: usize = 0;

/// Processes whose working sets together exceed the memory.
pub const APPS: LoadCode = LoadCode {
    name: "apps",
    units: &["page_ins"],
    body: Some(start),
};

fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    let apps = u64::from(load.request().number().unwrap_or(1));
    let available = memory::available()
        .ok_or_else(|| load.not_available("/proc/meminfo does not state MemAvailable (mount /proc)"))?;
    let sizes = Sizes::new(available, apps);
    let device = NullBlock {
        size_mib: sizes.files * apps / MIB,
        completion: Nanos::from_micros(100), // a fast solid-state disk
        queue_depth: 64,
    };
    let node = device.make(load)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&node)
        .map_err(load.preparing(format!("opening {}", node.display())))?;
    load.await_workers(apps);
    for app in 0..apps {
        let file = file.try_clone().map_err(load.preparing("opening the device again"))?;
        load.spawn(Ending::Anywhere, move |board| {
            let draws = Draws::new(board, seed.wrapping_add(app << 32));
            run(&file, sizes, app, apps, draws, board)
        })?;
    }
    Ok(())
}

fn run(device: &File, sizes: Sizes, app: u64, apps: u64, mut draws: Draws, board: &Board) -> Result<(), String> {
    let mapping_failed = |e| format!("mapping the memory of an application: {e}");
    let heap = Mapping::private(sizes.heap as usize).map_err(mapping_failed)?;
    for at in (0..heap.len()).step_by(page_size()) {
        heap.write(at, 1);
    }
    let files = Mapping::of_file(device, app * sizes.files, sizes.files as usize).map_err(mapping_failed)?;
    for at in (0..sizes.first_sweep as usize).step_by(page_size()) {
        std::hint::black_box(files.read(at));
    }
    // From the last one on the memory is full, and page-ins count.
    board.set_up();
    let places = sizes.files / page_size() as u64 / NEIGHBOURS;
    let mut seen = usage::own_process().major_faults;
    loop {
        let first = draws.below(places) * NEIGHBOURS;
        let writes = draws.below(WRITES_ONE_IN) == 0;
        for page in first..first + NEIGHBOURS {
            let at = page as usize * page_size();
            if writes {
                files.write(at, page as u8);
            } else {
                std::hint::black_box(files.read(at));
            }
        }
        let now = usage::own_process().major_faults;
        if board.ready() == apps {
            board.add(PAGE_INS, now - seen);
        }
        seen = now;
    }
}

/// Bytes that one application uses.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Private memory.
    heap: u64,
    /// Its piece of the device, whole MiB.
    files: u64,
    /// What of it is read first: enough to fill the memory, together with the others.
    first_sweep: u64,
}

impl Sizes {
    /// Heaps leave a quarter of the available memory (and what processes cost) for files: with an eighth, 7.3 spent
    /// whole seconds in reclaim without bringing in a page. The files of ten
    /// applications exceed that by a quarter, of more in proportion, and of fewer by a quarter too.
    fn new(available: u64, apps: u64) -> Sizes {
        let left = available / 4 + apps * PROCESS_COST;
        let heap = available.saturating_sub(left) / apps / page_size() as u64 * page_size() as u64;
        let files = (left / 8 * apps.max(10) / apps / MIB + 1) * MIB;
        Sizes {
            heap: heap.max(page_size() as u64),
            files,
            first_sweep: files.min(left * 5 / 4 / apps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_applications_use_together_exceeds_the_memory_and_grows_with_their_number() {
        for available in [150 * MIB, 420 * MIB] {
            let total = |apps| {
                let sizes = Sizes::new(available, apps);
                (sizes.heap + sizes.files) * apps
            };
            for apps in 1..=200 {
                assert!(total(apps) > available, "{apps} apps");
                let sizes = Sizes::new(available, apps);
                assert!(sizes.heap + sizes.first_sweep + page_size() as u64 > available / apps);
                assert!(sizes.heap * apps <= available * 7 / 8, "{apps} heaps leave too little");
            }
            assert!(total(20) > total(10) && total(30) > total(20));
        }
    }
}
