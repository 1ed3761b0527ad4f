//! `worstcase host` as a user types it.

mod bench;
mod run;
mod setup;
