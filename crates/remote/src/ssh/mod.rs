//! Cells on machines that ssh reaches. No folder is shared: each subject is sent once, and results come back as files.

mod board;
mod command;
mod executor;
mod hosts;
mod message;
mod slot;
pub mod worker;

pub use board::{RUN, RemoteBoard, measure_on};
pub use executor::{SshExecutor, SshRunOptions};
pub use hosts::{Host, read as read_hosts};
