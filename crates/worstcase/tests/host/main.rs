//! `worstcase host` as a user types it.

mod bench;
mod isolate;
mod isolated;
mod kept;
mod machine;
mod run;
mod setup;
