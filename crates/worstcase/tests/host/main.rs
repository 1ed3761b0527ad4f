//! `worstcase host` as a user types it.

mod run;
mod setup;
