//! `proc`: every 10 ms what `top` reads for one picture, as `latencytest` did with `top -d 0.01`.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{Board, LoadError, Pace};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Every 10 ms.
const USUAL_RATE: u32 = 100;
const OF_THE_SYSTEM: [&str; 4] = ["/proc/stat", "/proc/loadavg", "/proc/meminfo", "/proc/uptime"];
const OF_A_PROCESS: [&str; 2] = ["stat", "statm"];
const ROUNDS: usize = 0;
const FILES: usize = 1;

/// What `top` reads, every 10 ms.
pub const PROC: LoadCode = LoadCode {
    name: "proc",
    units: &["rounds", "files"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate().or(Some(USUAL_RATE));
    load.spawn(Ending::Anywhere, move |board| {
        let mut pace = Pace::alone(rate);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            pace.wait();
            round(&mut buffer, board).map_err(|e| format!("reading /proc: {e}"))?;
        }
    })
}

fn round(buffer: &mut [u8], board: &Board) -> io::Result<()> {
    for path in OF_THE_SYSTEM {
        read(Path::new(path), buffer)?;
        board.add(FILES, 1);
    }
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        if !entry.file_name().as_encoded_bytes()[0].is_ascii_digit() {
            continue;
        }
        for file in OF_A_PROCESS {
            // A process may end meanwhile.
            if read(&entry.path().join(file), buffer).is_ok() {
                board.add(FILES, 1);
            }
        }
    }
    board.add(ROUNDS, 1);
    Ok(())
}

fn read(path: &Path, buffer: &mut [u8]) -> io::Result<()> {
    let mut file = File::open(path)?;
    while file.read(buffer)? > 0 {}
    Ok(())
}
