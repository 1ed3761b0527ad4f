//! Breakdowns as text, JSON, flame graphs and traces.

pub mod against;
pub(crate) mod boxes;
pub mod cells_on_machine;
pub mod compare;
pub mod costs;
pub mod flame;
pub mod group;
pub mod json;
pub mod on_machine;
pub mod perfetto;
pub mod terminal;
#[cfg(test)]
mod tests;
