//! `blockread`: 32 direct reads of 4 KiB always in flight, at random places of a null_blk device.
//!
//! Each completion is a timer interrupt, 50 us after its request: the very high rate of interrupts, caused by
//! an ordinary process, under which the study `preemption-models` found its worst cases.
//!
//! With `:ide-pio` and `:virtio` it reads from a disk that the lab's machine has, through its controller's own interrupt. An
//! IDE disk takes one request at a time; the rest waits in the kernel's queue.

use crate::null_block::NullBlock;
use crate::sys::aio::Reads;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use worstcase_instruments::loads::{Draws, Ending, LoadCode, LoadError, RunningPart};
use worstcase_instruments::sys::clock;
use worstcase_logs::Nanos;

const DEPTH: usize = 32;
const BLOCK: usize = 4096;
const DEVICE: NullBlock = NullBlock {
    size_mib: 1024,
    completion: Nanos::from_micros(50),
    queue_depth: 64,
};
const READS: usize = 0;

/// The kernel finds a disk some 100 ms after its driver was loaded.
const PATIENCE: Nanos = Nanos::from_millis(10_000);
const LOOK: Nanos = Nanos::from_millis(1);

/// Direct reads from a null_blk device, many in flight.
pub const BLOCK_READ: LoadCode = LoadCode {
    name: "blockread",
    units: &["reads"],
    body: Some(start),
};

/// The same from a disk whose data the CPU fetches from an IDE controller's port.
pub const BLOCK_READ_IDE: LoadCode = LoadCode {
    name: "blockread",
    units: &["reads"],
    body: Some(start_ide),
};

/// The same from a disk of the kind virtio.
pub const BLOCK_READ_VIRTIO: LoadCode = LoadCode {
    name: "blockread",
    units: &["reads"],
    body: Some(start_virtio),
};

fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    let node = DEVICE.make(load)?;
    let device = open(&node).map_err(load.preparing(format!("opening {}", node.display())))?;
    read(load, seed, device)
}

fn start_ide(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    read_disk(load, seed, Path::new("/dev/sda"))
}

fn start_virtio(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    read_disk(load, seed, Path::new("/dev/vda"))
}

fn read_disk(load: &mut RunningPart, seed: u64, node: &Path) -> Result<(), LoadError> {
    let end = clock::monotonic() + PATIENCE;
    let device = loop {
        match open(node) {
            Err(_) if clock::monotonic() < end => clock::sleep_until(clock::monotonic() + LOOK),
            found => break found.map_err(load.preparing(format!("opening {}", node.display())))?,
        }
    };
    read(load, seed, device)
}

fn open(node: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_DIRECT).open(node)
}

fn read(load: &mut RunningPart, seed: u64, device: File) -> Result<(), LoadError> {
    load.spawn(Ending::Anywhere, move |board| {
        let blocks = (DEVICE.size_mib << 20) / BLOCK as u64;
        let mut draws = Draws::new(board, seed);
        let mut place = || draws.below(blocks) * BLOCK as u64;
        let mut reads = Reads::new(device, DEPTH, BLOCK).map_err(|e| format!("preparing Linux AIO: {e}"))?;
        for slot in 0..DEPTH {
            reads
                .submit(slot, place())
                .map_err(|e| format!("starting a read: {e}"))?;
        }
        loop {
            let ended: Vec<usize> = reads.wait().map_err(|e| format!("a read failed: {e}"))?.collect();
            board.add(READS, ended.len() as u64);
            for slot in ended {
                reads
                    .submit(slot, place())
                    .map_err(|e| format!("starting a read: {e}"))?;
            }
        }
    })
}
