//! Pictures of a run: one model, and several ways to draw it (SVG files for papers, the report's page).
//!
//! ```text
//! Run, records -> Vec<Picture>         of_run: thinned, every number final, bounded memory
//! Picture -> SVG                       svg
//! ```
//! `docs/pictures.md` says how to read each. [`model`] holds the forms, [`data`] names and order of the subjects, [`axis`]
//! the ends of axes; the other modules make one kind of picture each.

pub mod axis;
mod bench;
pub mod data;
mod dots;
mod heat;
mod histogram;
mod history;
mod io;
mod lines;
mod machine;
mod merged;
pub mod model;
mod percentiles;
mod requests;
mod spread;
pub mod svg;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod thin;

pub use model::*;

use data::PictureData;
use worstcase_contract::Nanos;
use worstcase_results::record::{Record, Run, RunError};

/// The options of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureOptions {
    /// The criterion; without one the run's own.
    pub limit: Option<Nanos>,
    /// Dots of all pictures together, about.
    pub dots: usize,
    /// Dots of one panel, at most.
    pub panel_dots: usize,
}

impl Default for PictureOptions {
    fn default() -> PictureOptions {
        PictureOptions {
            limit: None,
            dots: 60_000,
            panel_dots: 4_000,
        }
    }
}

impl PictureOptions {
    /// For drawings that are to be small.
    pub fn small() -> PictureOptions {
        PictureOptions {
            dots: 6_000,
            panel_dots: 600,
            ..PictureOptions::default()
        }
    }
}

/// All pictures that a run's records bear, the same for the same run. Samples are read once, in bounded memory.
pub fn of_run(run: &Run, records: &[Record], options: PictureOptions) -> Result<Vec<Picture>, RunError> {
    some_of_run(run, records, options, |_| true)
}

/// The pictures whose name is wanted; samples that none of them shows are not read.
pub fn some_of_run(
    run: &Run,
    records: &[Record],
    options: PictureOptions,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Picture>, RunError> {
    let limit = options.limit.or(run.plan().criterion());
    let data = PictureData::new(run.plan(), records, limit);
    let mut pictures = Vec::new();
    pictures.extend(heat::pictures(&data));
    pictures.extend(history::pictures(&data));
    pictures.extend(histogram::pictures(&data));
    pictures.extend(percentiles::pictures(&data));
    pictures.extend(bench::pictures(&data));
    pictures.extend(machine::pictures(&data));
    pictures.extend(io::pictures(&data));
    pictures.extend(requests::pictures(&data, options));
    pictures.retain(|p| wanted(&p.head().id));
    pictures.extend(dots::pictures(&data, run, options, &wanted)?);
    Ok(pictures)
}
