//! Censuses for people and programs.

mod json;
mod several;
mod terminal;
#[cfg(test)]
mod tests;

pub use several::run;

use crate::terminal::Style;
use worstcase_analysis::census::Answer;

/// For a terminal; the `most` longest owners or largest changes.
pub fn text(answer: &Answer, most: usize, style: Style) -> String {
    match answer {
        Answer::Cell(cell) => terminal::cell(cell, style),
        Answer::Difference(cells, differences) => several::diff(&cells[0], &cells[1], differences, most, style),
        Answer::Run(ensembles) => several::run(ensembles, most, style),
    }
}

/// As JSON.
pub fn json(answer: &Answer) -> String {
    match answer {
        Answer::Cell(cell) => json::cell(cell),
        Answer::Difference(cells, differences) => json::diff(&cells[0], &cells[1], differences),
        Answer::Run(ensembles) => json::ensembles(ensembles),
    }
}
