//! `disk`: a file of 350 MiB written, copied and read in a loop, as `latencytest` did (Benno Senoner, 1999).
//!
//! Every written file goes to the device before its pages are dropped from the cache, so that every copy and every
//! read comes from the device.

use super::place::need_space;
use rustix::fs::Advice;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use worstcase_contract::prng::SplitMix64;
use worstcase_instruments::loads::{Board, Ending, LoadError, Pace, RunningPart};

const USUAL_MIB: u32 = 350;
const BLOCK: usize = 1 << 20;
/// Free space that must stay besides the two files.
const SPARE: u64 = 64 << 20;
const MEBIBYTES: usize = 0;
const ROUNDS: usize = 1;
/// Magic numbers of file systems without a device: statfs(2).
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

pub(super) fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    let blocks = load.request().number().unwrap_or(USUAL_MIB);
    let rate = load.request().rate();
    let folder = load.folder()?;
    let kind = rustix::fs::statfs(&folder).map_err(|e| load.preparing("asking for the file system")(e.into()))?;
    if IN_MEMORY.contains(&(kind.f_type as u64)) {
        return Err(load.not_available(format!(
            "{} is in memory; choose a work folder on a disk",
            folder.display()
        )));
    }
    need_space(load, &folder, 2 * u64::from(blocks) * BLOCK as u64 + SPARE)?;
    load.spawn(Ending::Anywhere, move |board| {
        let mut worker = DiskWorker {
            block: random_block(seed),
            blocks,
            pace: Pace::alone(rate),
            board,
        };
        loop {
            worker
                .round(&folder)
                .map_err(|e| format!("a file in {}: {e}", folder.display()))?;
        }
    })
}

/// Contents that no file system compresses.
fn random_block(seed: u64) -> Vec<u8> {
    let mut random = SplitMix64::new(seed);
    (0..BLOCK / 8).flat_map(|_| random.next_u64().to_le_bytes()).collect()
}

struct DiskWorker<'a> {
    block: Vec<u8>,
    blocks: u32,
    pace: Pace,
    board: &'a Board,
}

impl DiskWorker<'_> {
    fn round(&mut self, folder: &Path) -> io::Result<()> {
        let (original, copy) = (folder.join("original"), folder.join("copy"));
        let mut file = File::create(&original)?;
        self.blocks(|block| file.write_all(block))?;
        to_device(&file)?;
        let (mut from, mut to) = (File::open(&original)?, File::create(&copy)?);
        self.blocks(|block| {
            from.read_exact(block)?;
            to.write_all(block)
        })?;
        to_device(&to)?;
        forget(&from)?;
        let mut file = File::open(&copy)?;
        self.blocks(|block| file.read_exact(block))?;
        forget(&file)?;
        self.board.add(ROUNDS, 1);
        fs::remove_file(original)?;
        fs::remove_file(copy)
    }

    fn blocks(&mut self, mut step: impl FnMut(&mut [u8]) -> io::Result<()>) -> io::Result<()> {
        for _ in 0..self.blocks {
            self.pace.wait();
            step(&mut self.block)?;
            self.board.add(MEBIBYTES, 1);
        }
        Ok(())
    }
}

/// Writes the file to the device: only clean pages can be dropped.
fn to_device(file: &File) -> io::Result<()> {
    file.sync_data()?;
    forget(file)
}

fn forget(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
}
