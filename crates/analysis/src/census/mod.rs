//! The census on the controller: from the counts of the plugin in one cell to statements about the kernel.
//!
//! ```text
//! answer     the cells of a question, and the findings of their censuses
//! take       runs a recorded cell again                                   -> CellCensus, TopList
//! cell_census  a cell's census with its samples and the names of its code      (from a replay in the lab)
//! places     sections by the functions that began and ended them
//! histogram  sections by length
//! join       each sample with the section in which it was due -> the wake-up path
//! longest_delay  the largest sum of a section and a wake-up path of a run
//! exposed_time  the sections that a due time can fall into, and the time it can fall into
//! expected   samples expected above a latency
//! tail       those beside what was seen, and whether they agree
//! owners     owners and call chains of the longest sections                       (from a second replay)
//! top        the longest sections by owner; counted: those whose length grows with a number of the load's
//! diff       two cells side by side
//! ensemble   the seeds of one subject and load
//! findings   all of it for one cell, as plain data
//! ```
//! `docs/census.md` has the method and what it cannot say.

mod answer;
pub mod cell_census;
mod choice;
pub mod counted;
pub mod diff;
pub mod ensemble;
mod error;
mod expected;
mod exposed_time;
pub mod findings;
pub mod histogram;
pub mod join;
pub mod longest_delay;
mod owners;
pub mod places;
pub mod tail;
pub mod take;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod top;

pub(crate) use answer::each;
pub use answer::{CensusAnswer, answer, of_run, of_share};
pub use cell_census::{About, CellCensus};
pub(crate) use choice::of_run as chosen_of_run;
pub use choice::{CensusQuestion, WorkShare};
pub use error::CensusTakeError;
