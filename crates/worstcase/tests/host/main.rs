//! `worstcase host` as a user types it.

mod bench;
mod broke;
mod containers;
mod io;
mod isolate;
mod isolated;
mod kept;
mod machine;
mod priorities;
mod run;
mod setup;
mod try_settings;
mod watch;
