//! The census: follows the CPU's interrupt flag and the kernel's count of reasons not to preempt, instruction by
//! instruction, and lists every section in which a wake-up would have had to wait.
//!
//! [`pattern`] says what an instruction means, `observe` registers it and reads its effect from memory, `tasks` knows
//! threads, [`tracker`] makes sections of it, which [`tally`] counts. `audit` compares the state with the true one.

#[cfg(not(test))]
mod audit;
#[cfg(not(test))]
mod observe;
mod pattern;
mod tally;
#[cfg(not(test))]
mod tasks;
mod tracker;
mod word;

#[cfg(not(test))]
pub use observe::{finish, marked, observe, start};
