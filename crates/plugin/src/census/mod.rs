//! The census: follows the CPU's interrupt flag and the kernel's count of reasons not to preempt, instruction by
//! instruction, and lists every section in which a wake-up would have had to wait.
//!
//! [`pattern`] says what an instruction means, `observe` registers it, `steps` run then and read its effect from memory, `state` has what is known, `tasks` knows
//! threads, [`tracker`] makes sections of it, which [`tally`] counts. `audit` compares the state with the true one.

#[cfg(not(test))]
mod audit;
#[cfg(not(test))]
mod observe;
#[cfg(not(test))]
mod packed;
mod pattern;
#[cfg(not(test))]
mod state;
#[cfg(not(test))]
mod steps;
mod tally;
#[cfg(not(test))]
mod tasks;
mod tracker;
mod word;

#[cfg(not(test))]
pub(crate) use observe::observe;
#[cfg(not(test))]
pub(crate) use state::{finish, marked, start};
