//! `worstcase history --csv`: a line for each point, for spreadsheets and data frames.

use super::table::all;
use crate::table::csv::text;
use worstcase_results::history::History;

/// The whole table; an absent value is an empty field.
pub fn run(history: &History) -> Result<String, ::csv::Error> {
    text(&all(history))
}
