//! `exec`: a program started with a huge list of arguments, which ends at once, again and again.
//!
//! The arguments lie on the new program's stack, whose pages the kernel lets be written to with the lock of a page table held.

use super::LoadError;
use super::Pace;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use crate::bench::spawn::NOTHING;
use crate::sys::process::{self, Exit, Waited};
use crate::sys::rlimit::Resource;
use crate::sys::signal;

/// More than the pages of one page table hold.
const KIBIBYTES: u32 = 3_072;
/// Bytes of an argument; the kernel takes 128 KiB.
const ARGUMENT: usize = 32 << 10;
/// The environment, and where each argument begins.
const OTHER_BYTES: u64 = 256 << 10;
/// The kernel gives arguments this part of a stack.
const PART_OF_STACK: u64 = 4;
const PROGRAMS: usize = 0;

/// Programs started with many arguments.
pub const EXEC: LoadCode = LoadCode {
    name: "exec",
    units: &["programs"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    let kibibytes = load.request().number().unwrap_or(KIBIBYTES);
    let bytes = (kibibytes as usize) << 10;
    let stack = (bytes as u64 + OTHER_BYTES) * PART_OF_STACK;
    let hard = Resource::Stack.limit().hard;
    if hard < stack {
        return Err(load.not_available(format!(
            "{kibibytes} KiB of arguments need a stack of {} KiB, and {} are allowed (ulimit -Hs)",
            stack >> 10,
            hard >> 10
        )));
    }
    load.spawn(Ending::Anywhere, move |board| {
        let arguments: Vec<String> = std::iter::once(NOTHING.to_string())
            .chain((0..bytes.div_ceil(ARGUMENT)).map(|nth| "x".repeat(ARGUMENT.min(bytes - nth * ARGUMENT) - 1)))
            .collect();
        let _raised = Resource::Stack
            .raise(stack)
            .map_err(|e| format!("a larger stack: {e}"))?;
        let mut pace = Pace::alone(rate);
        loop {
            pace.wait();
            // Exit code 127 as shells use it: could not be executed.
            let child = process::fork(signal::SIGKILL, || {
                process::exec("/proc/self/exe", &arguments);
                127
            })
            .map_err(|e| format!("fork: {e}"))?;
            match process::wait(child, true) {
                Ok(Waited::Ended(_, Exit::Code(0))) => board.add(PROGRAMS, 1),
                other => {
                    return Err(format!(
                        "/proc/self/exe with {kibibytes} KiB of arguments did not run: {other:?}"
                    ));
                }
            }
        }
    })
}
