//! `rtc` has the real-time clock interrupt and reads it, as Realfeel does: since Linux 2.6.39 that is a timer of the kernel.

use super::LoadError;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use crate::sys::rtc::{self, Rtc};

const INTERRUPTS: usize = 0;
/// Interrupts a second unless somebody asks for others: as many as an RTC makes.
const USUAL_RATE: u32 = 8_192;

/// `rtc`.
pub const RTC: LoadCode = LoadCode {
    name: "rtc",
    units: &["interrupts"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate().unwrap_or(USUAL_RATE);
    load.spawn(Ending::Anywhere, move |board| {
        let mut clock = Rtc::open(rtc::tick(rate)).map_err(|e| e.to_string())?;
        loop {
            let interrupts = clock.wait().map_err(|e| format!("reading the RTC: {e}"))?;
            board.add(INTERRUPTS, interrupts);
        }
    })
}
