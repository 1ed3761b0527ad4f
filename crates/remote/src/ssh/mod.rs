//! Cells on machines that ssh reaches. Nothing is shared: a subject goes there once, results come back as files.

mod board;
mod command;
mod executor;
mod hosts;
mod message;
mod slot;
pub mod worker;

pub use board::{Board, measure_on};
pub use command::{Remote, SSH};
pub use executor::{How, SshExecutor};
pub use hosts::{Host, read as read_hosts};
