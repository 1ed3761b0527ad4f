//! Censuses for people and programs.

mod json;
mod several;
mod terminal;
#[cfg(test)]
mod tests;

pub use several::run;

use crate::style::Style;
use worstcase_analysis::census::CensusAnswer;

/// For a terminal; the `most` longest owners or largest changes.
pub fn text(answer: &CensusAnswer, most: usize, style: Style) -> String {
    match answer {
        CensusAnswer::Cell(cell) => terminal::cell(cell, style),
        CensusAnswer::Difference(cells, differences) => several::diff(&cells[0], &cells[1], differences, most, style),
        CensusAnswer::Run(ensembles) => several::run(ensembles, most, style),
    }
}

/// The answer as JSON.
pub fn json(answer: &CensusAnswer) -> String {
    match answer {
        CensusAnswer::Cell(cell) => json::cell(cell),
        CensusAnswer::Difference(cells, differences) => json::diff(&cells[0], &cells[1], differences),
        CensusAnswer::Run(ensembles) => json::ensembles(ensembles),
    }
}
