//! The census: follows the CPU's interrupt flag and the kernel's count of reasons not to preempt, instruction by
//! instruction, and lists every section in which a wake-up would have had to wait.
//!
//! [`pattern`] says what an instruction means, `observe` registers it and reads its effect from memory, [`tracker`]
//! makes sections of it. `audit` compares the state with the true one.

#[cfg(not(test))]
mod audit;
#[cfg(not(test))]
mod observe;
mod pattern;
mod tracker;

#[cfg(not(test))]
pub use observe::{finish, marked, observe, start};
