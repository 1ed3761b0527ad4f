//! Breakdowns as text, JSON, flame graphs and traces.

pub mod flame;
pub mod json;
pub mod perfetto;
pub mod terminal;
#[cfg(test)]
mod tests;
