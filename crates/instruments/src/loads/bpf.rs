//! `bpf`: a filter of packets attached to a socket, and another one in its place, again and again.
//!
//! The kernel compiles each, makes its code executable and frees the one before: other CPUs may have to be told.
//!
//! `bpf:maps`: a map of programs of the kernel's made, filled and given back, again and again. Its memory comes from a list of
//! free pages that the kernel fills with interrupts off, and goes back in an interrupt.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::filter;
use crate::sys::map::HashMap;
use std::os::unix::net::UnixDatagram;

/// Instructions of a filter.
const WORDS: u16 = 64;
const FILTERS: usize = 0;
/// Elements of a map, each of so many bytes.
const ELEMENTS: u32 = 1 << 15;
const ELEMENT: u32 = 1 << 10;
const MAPS: usize = 1;
const STORED: usize = 0;

/// Filters of packets made and thrown away.
pub const BPF: LoadCode = LoadCode {
    name: "bpf",
    units: &["filters"],
    body: Some(start),
};

/// Maps of programs made, filled and thrown away.
pub const BPF_MAPS: LoadCode = LoadCode {
    name: "bpf",
    units: &["elements", "maps"],
    body: Some(start_maps),
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

fn start_maps(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    if let Err(e) = HashMap::new(1, ELEMENT) {
        return Err(load.not_available(format!("a map is refused ({e}): run as root (CAP_BPF)")));
    }
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| {
        let failed = |e| format!("a map: {e}");
        let mut pace = Pace::alone(rate);
        loop {
            let mut map = HashMap::new(ELEMENTS, ELEMENT).map_err(failed)?;
            for key in 0..ELEMENTS {
                pace.wait();
                map.store(key).map_err(failed)?;
                board.add(STORED, 1);
            }
            board.add(MAPS, 1);
        }
    })
}
