//! `worstcase history`: many runs over time or kernels, as sentences and tables, JSON, CSV and a picture.

pub mod csv;
pub mod json;
mod picture;
mod table;
pub mod terminal;
mod words;

pub use picture::svg;
