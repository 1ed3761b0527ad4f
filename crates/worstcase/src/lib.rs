//! The command line of worstcase: a thin executable in front of its libraries.
//!
//! CONTRIBUTING.md has the drawing of the crates, and a cell's way through them.

#![deny(clippy::print_stderr, reason = "it panics where nobody reads: say!")]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write where they like"))]

pub mod cli;
