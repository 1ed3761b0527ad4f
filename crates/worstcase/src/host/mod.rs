//! This machine: what it is, how it is set, and measuring it.
//!
//! ```text
//! facts     what this machine is
//! doctor    what of it harms latency, and setting it for a while
//! state     where journals are             journal   what is changed, written down before
//! command   runs a user's command
//! guard     undoes it if we are killed     restore   undoes what killed runs left
//! run       measuring it
//! ```

pub mod command;
pub mod doctor;
mod error;
pub mod facts;
pub mod guard;
pub mod journal;
pub mod restore;
pub mod run;
pub mod state;

pub use error::HostError;
pub use facts::Facts;
pub use journal::{Journal, Undone};
pub use state::StateFolder;
pub use worstcase_plan::CpuList;
