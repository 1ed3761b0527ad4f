//! `seccomp`: processes that each install a filter of system calls and end, 20 a second.
//!
//! Of a new filter the kernel finds out which calls it allows whatever their arguments are: it tries it on the number of
//! every call, with a spin lock held and interrupts off. That takes longer the longer the filter is.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::process::{self, Exit, Waited};
use crate::sys::{seccomp, signal};

/// Instructions of a filter, as many as that of a container may have.
const INSTRUCTIONS: u32 = 400;
/// Installing one takes some ms, in which nothing else happens on the CPU.
const USUAL_RATE: u32 = 20;
const FILTERS: usize = 0;

/// Filters of system calls installed.
pub const SECCOMP: LoadCode = LoadCode {
    name: "seccomp",
    units: &["filters"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate().or(Some(USUAL_RATE));
    let instructions = load.request().number().unwrap_or(INSTRUCTIONS);
    load.spawn(Ending::Anywhere, move |board| {
        let mut pace = Pace::alone(rate);
        loop {
            pace.wait();
            let child = process::fork(signal::SIGKILL, || i32::from(seccomp::install(instructions).is_err()))
                .map_err(|e| format!("fork: {e}"))?;
            match process::wait(child, true) {
                Ok(Waited::Ended(_, Exit::Code(0))) => board.add(FILTERS, 1),
                Ok(_) => {
                    return Err(format!(
                        "a filter of {instructions} instructions could not be installed"
                    ));
                }
                Err(e) => return Err(format!("waiting for a forked child: {e}")),
            }
        }
    })
}
