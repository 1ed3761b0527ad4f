//! `worstcase host` as a user types it.

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

mod bench;
mod board;
mod broke;
mod calibrate;
mod check;
#[path = "../commands/mod.rs"]
mod commands;
mod containers;
mod documents;
mod follow;
mod full_disk;
mod io;
mod isolate;
mod isolated;
mod kept;
mod machine;
mod nothing_left;
mod others;
mod priorities;
#[path = "../commands/program.rs"]
mod program;
mod run;
mod setup;
mod try_settings;
mod watch;
