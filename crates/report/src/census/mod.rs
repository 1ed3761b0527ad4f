//! Censuses for people and programs.

pub mod json;
pub mod several;
pub mod terminal;
#[cfg(test)]
mod tests;
