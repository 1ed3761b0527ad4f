//! `procread`: /proc/kallsyms, and other big files of /proc, read from end to end in a loop.
//!
//! A read of a generated file fills its page inside one system call, with no reschedule point on the way:
//! 200 us and more without preemption. kallsyms is read four times for each other file.

use super::board::Board;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use std::fs::File;
use std::io::{self, Read};

const CHUNK: usize = 64 * 1024;
const BYTES: usize = 0;
const FILES: usize = 1;

const SYMBOLS: &str = "/proc/kallsyms";
const KALLSYMS_FOR_EACH_OTHER: usize = 4;
/// Read where they exist and may be read (some need root).
const OTHERS: [&str; 5] = [
    "/proc/vmallocinfo",
    "/proc/timer_list",
    "/proc/slabinfo",
    "/proc/zoneinfo",
    "/proc/self/smaps",
];

/// Big files of /proc read from end to end.
pub const PROC_READ: LoadCode = LoadCode {
    name: "procread",
    units: &["bytes", "files"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    if let Err(e) = File::open(SYMBOLS) {
        return Err(load.not_available(format!("{SYMBOLS} cannot be read: {e} (mount /proc; CONFIG_KALLSYMS)")));
    }
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| {
        let mut pace = Pace::alone(rate);
        let mut buffer = vec![0; CHUNK];
        let readable: Vec<&str> = OTHERS.into_iter().filter(|path| File::open(path).is_ok()).collect();
        loop {
            // The list is longer than kallsyms alone even if nothing else may be read.
            for other in readable.iter().copied().chain(readable.is_empty().then_some(SYMBOLS)) {
                for path in std::iter::repeat_n(SYMBOLS, KALLSYMS_FOR_EACH_OTHER).chain([other]) {
                    pace.wait();
                    read_all(path, &mut buffer, board).map_err(|e| format!("reading {path}: {e}"))?;
                }
            }
        }
    })
}

fn read_all(path: &str, buffer: &mut [u8], board: &Board) -> io::Result<()> {
    let mut file = File::open(path)?;
    loop {
        match file.read(buffer)? {
            0 => break,
            n => board.add(BYTES, n as u64),
        }
    }
    board.add(FILES, 1);
    Ok(())
}
