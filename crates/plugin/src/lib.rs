//! worstcase's QEMU TCG plugin: it counts every instruction of the lab's CPU and logs the guest's marks.
//!
//! QEMU calls [`plugin`] once to set it up and then for every block it translates; all that must happen when
//! the block runs is registered there and then. The parts, from QEMU inwards:
//!
//! - `entry`: what QEMU looks for and calls; `api`: its plugin interface in the version this build speaks.
//! - `plugin`: set-up and translation: what is registered where.
//! - [`count`]: the count at an instruction; [`counts`]: each CPU's.
//! - [`arch`], [`context`], [`decode`], [`mark`]: what differs between architectures, for each in a folder of `arch`.
//! - [`mark`] and `watch`: marks, clock reads and the timer interrupt's entry, each to an event.
//! - `record`: on a replay, every block that runs in a window, with the task it runs for ([`tasks`], [`guest_memory`]).
//! - `modules`: on a replay, the functions of the modules that a load brought ([`paging`]).
//! - `census`: every section in which a wake-up would have had to wait.
//! - `costs`: what paths consist of: instructions by kind, and what caches would not have had.
//! - `untimed`: code that takes no time.
//! - `progress`: how far it has come, for whoever waits for it.
//! - [`scheduler`]: runs the machine's CPUs in QEMU's stead, each in its turn; knows QEMU's own functions.
//! - [`events`]: the log file (its form is `worstcase_logs::trace`). [`args`]: the plugin's arguments.
//!
//! `docs/plugin.md` says what is exact. The plugin must never change what the guest does: it only
//! writes its own files.

// A test executable has no QEMU to take the symbols from, so what calls QEMU stays out of it, and some of the
// rest is unused there; as is what only costs need where there are none.
#![cfg_attr(any(test, feature = "guest-arm64"), allow(dead_code))]

#[cfg(all(feature = "api-v1", feature = "api-v4"))]
compile_error!("choose one of the features api-v1 (QEMU 7.2) and api-v4 (QEMU 10), with --no-default-features");
#[cfg(not(any(feature = "api-v1", feature = "api-v4")))]
compile_error!("choose one of the features api-v1 (QEMU 7.2) and api-v4 (QEMU 10)");

#[cfg(not(test))]
mod api;
#[cfg_attr(not(feature = "guest-arm64"), path = "arch/x86/facts.rs")]
#[cfg_attr(feature = "guest-arm64", path = "arch/arm64/facts.rs")]
mod arch;
mod args;
mod census;
#[cfg_attr(not(feature = "guest-arm64"), path = "arch/x86/context.rs")]
#[cfg_attr(feature = "guest-arm64", path = "arch/arm64/context.rs")]
mod context;
#[cfg(not(feature = "guest-arm64"))]
mod costs;
mod count;
mod counts;
#[cfg_attr(not(feature = "guest-arm64"), path = "arch/x86/decode.rs")]
#[cfg_attr(feature = "guest-arm64", path = "arch/arm64/decode.rs")]
mod decode;
#[cfg(not(test))]
mod entry;
mod events;
mod guest_memory;
#[cfg(feature = "guest-arm64")]
#[path = "arch/arm64/interrupts.rs"]
mod interrupts;
#[cfg_attr(not(feature = "guest-arm64"), path = "arch/x86/mark.rs")]
#[cfg_attr(feature = "guest-arm64", path = "arch/arm64/mark.rs")]
mod mark;
mod modules;
mod paging;
#[cfg(not(test))]
mod plugin;
#[cfg(not(test))]
mod progress;
#[cfg(not(test))]
mod record;
#[cfg(not(test))]
mod registers;
mod scheduler;
mod tasks;
#[cfg(not(test))]
mod untimed;
#[cfg(not(test))]
mod watch;
