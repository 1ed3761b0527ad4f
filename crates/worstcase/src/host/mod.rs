//! This machine: what it is, how it is set, and measuring it.
//!
//! ```text
//! state     where journals are             journal   what is changed, written down before
//! guard     undoes it if we are killed     restore   undoes what killed runs left
//! run       measuring it
//! ```

mod error;
pub mod guard;
pub mod journal;
pub mod restore;
pub mod run;
pub mod state;

pub use error::HostError;
pub use journal::{Journal, Undone};
pub use state::StateFolder;
