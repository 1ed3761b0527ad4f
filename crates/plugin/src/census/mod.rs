//! The census: follows the CPU's interrupt flag and the kernel's count of reasons not to preempt, instruction by
//! instruction, and lists every section in which a wake-up would have had to wait.
//!
//! [`pattern`] gives an instruction its [`meaning`], `observe` registers it, `steps` run then and read its effect from memory, `own`
//! has the steps of this architecture alone, `state` has what is known, `tasks` knows threads, [`tracker`] makes sections of it,
//! which [`tally`] counts. `audit` compares the state with the true one.

#[cfg(not(test))]
mod audit;
mod meaning;
#[cfg(not(test))]
mod observe;
#[cfg(not(test))]
#[cfg_attr(not(feature = "guest-arm64"), path = "../arch/x86/steps.rs")]
#[cfg_attr(feature = "guest-arm64", path = "../arch/arm64/steps.rs")]
mod own;
#[cfg(not(test))]
mod packed;
#[cfg_attr(not(feature = "guest-arm64"), path = "../arch/x86/pattern.rs")]
#[cfg_attr(feature = "guest-arm64", path = "../arch/arm64/pattern.rs")]
mod pattern;
#[cfg_attr(not(feature = "guest-arm64"), path = "../arch/x86/preempt_count.rs")]
#[cfg_attr(feature = "guest-arm64", path = "../arch/arm64/preempt_count.rs")]
mod preempt_count;
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
