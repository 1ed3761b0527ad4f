//! `mprotect`: a big area of memory that may be written to, and then may not, again and again.
//!
//! The kernel changes the entries of its pages with the lock of a page table held, 512 of them at a time.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::memory::Mapping;

const MEBIBYTES: u32 = 64;
const CHANGES: usize = 0;

/// A big area of memory that may be written to, and may not.
pub const MPROTECT: LoadCode = LoadCode {
    name: "mprotect",
    units: &["changes"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    let mebibytes = load.request().number().unwrap_or(MEBIBYTES);
    load.spawn(Ending::Anywhere, move |board| {
        let failed = |e| format!("an area of {mebibytes} MiB: {e}");
        let area = Mapping::filled((mebibytes as usize) << 20).map_err(failed)?;
        let mut pace = Pace::alone(rate);
        for is_writable in [false, true].into_iter().cycle() {
            pace.wait();
            area.let_write(is_writable).map_err(failed)?;
            board.add(CHANGES, 1);
        }
        Ok(())
    })
}
