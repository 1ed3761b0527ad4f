//! `bpf`: a filter of packets attached to a socket, and another one in its place, again and again.
//!
//! The kernel compiles each, makes its code executable and frees the one before: other CPUs may have to be told.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::filter;
use std::os::unix::net::UnixDatagram;

/// Instructions of a filter.
const WORDS: u16 = 64;
const FILTERS: usize = 0;

/// Filters of packets made and thrown away.
pub const BPF: LoadCode = LoadCode {
    name: "bpf",
    units: &["filters"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| {
        let failed = |e| format!("a filter: {e}");
        let mut pace = Pace::alone(rate);
        let socket = UnixDatagram::unbound().map_err(failed)?;
        loop {
            pace.wait();
            filter::attach(&socket, WORDS).map_err(failed)?;
            board.add(FILTERS, 1);
        }
    })
}
