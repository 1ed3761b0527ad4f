//! `strobe` makes pulses on the parallel port, each of which is an interrupt of a device.

use crate::sys::parport::Strobe;
use worstcase_instruments::loads::{Ending, LoadCode, LoadError, Pace, RunningPart};

const INTERRUPTS: usize = 0;
/// Interrupts a second unless somebody asks for others: as many as a real-time clock makes.
const USUAL_RATE: u32 = 8_192;

/// `strobe`.
pub const STROBE: LoadCode = LoadCode {
    name: "strobe",
    units: &["interrupts"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate().unwrap_or(USUAL_RATE);
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
