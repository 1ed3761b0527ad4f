//! Costs: what the paths in windows, or between two addresses, consist of.
//!
//! [`meaning`] says what an instruction is, [`code`] what a block consists of, [`cache`] which level of a cache serves an access;
//! [`counting`] puts them together; `observe` has QEMU call it.
//!
//! Only with `costs=` is anything registered here, and accesses to memory, which are most of what it takes, only when a warm-up is
//! near.

mod cache;
mod code;
mod counting;
mod meaning;
#[cfg(not(test))]
mod observe;

#[cfg(not(test))]
pub(crate) use observe::{find, finish, observe, start};
