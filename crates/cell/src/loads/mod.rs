//! Loads by their names, and what a venue gives to them.
//!
//! ```text
//! kind         the names of all loads; list: the code of each
//! order        LoadOrder: one load with its parameters
//! environment  LoadEnvironment: what a venue gives to its loads, and bodies of its own
//! ```

mod environment;
mod kind;
mod list;
mod order;

pub use environment::{BeginPart, LoadEnvironment};
pub use kind::LoadKind;
pub use order::LoadOrder;
