//! Two interfaces of the system that only this crate needs.

pub(crate) mod aio;
pub mod cache;
