//! Two interfaces of the system that only this crate needs.

pub mod aio;
pub mod cache;
