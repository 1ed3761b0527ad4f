//! worstcase: how late Linux can be, which kernel or setting is better, and why.
//!
//! The executable is a thin front of this library (see `cli`), so that tests and later tools use the same parts.

pub mod cache;
pub mod cli;
pub mod error;
pub mod kernels;
