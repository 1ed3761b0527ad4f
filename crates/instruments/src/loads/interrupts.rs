//! `rtc` and `strobe`: interrupts, one after the other.
//!
//! `rtc` has the real-time clock interrupt and reads it, as Realfeel does: since Linux 2.6.39 that is a timer of the kernel.
//! `strobe` makes pulses on the parallel port, each of which is an interrupt of a device.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::parport::Strobe;
use crate::sys::rtc::{self, Rtc};

const INTERRUPTS: usize = 0;
/// Interrupts a second unless somebody asks for others: as many as an RTC makes.
const USUAL_RATE: u32 = 8_192;

pub(super) const RTC: LoadCode = LoadCode {
    name: "rtc",
    units: &["interrupts"],
    body: Some(start_rtc),
};

pub(super) const STROBE: LoadCode = LoadCode {
    name: "strobe",
    units: &["interrupts"],
    body: Some(start_strobe),
};

fn start_rtc(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.part().rate().unwrap_or(USUAL_RATE);
    load.spawn(Ending::Anywhere, move |board| {
        let mut clock = Rtc::open(rtc::tick(rate)).map_err(|e| e.to_string())?;
        loop {
            let interrupts = clock.wait().map_err(|e| format!("reading the RTC: {e}"))?;
            board.add(INTERRUPTS, interrupts);
        }
    })
}

fn start_strobe(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.part().rate().unwrap_or(USUAL_RATE);
    load.spawn(Ending::Anywhere, move |board| {
        let port = Strobe::open().map_err(|e| format!("the parallel port's registers: {e}"))?;
        let mut pace = Pace::alone(Some(rate));
        loop {
            pace.wait();
            port.pulse();
            board.add(INTERRUPTS, 1);
        }
    })
}
