//! How late Linux can be, which kernel or setting is better, and why: everything that happens on the desk.
//!
//! ```text
//! kernels  find, download, unpack kernels
//! lab      boots them in QEMU and measures        -> records
//! host     measures this machine                -> records
//! study    files that ask a question              -> planned cells
//! record   what a cell gave, and the run folder   <- measured machine
//! stats    distributions, ensembles of seeds      <- records
//! verdict  PASS, FAIL or INCONCLUSIVE             <- records
//! compare  two runs, and the gate of a baseline    <- records
//! report   terminal, JSON, CSV, HTML              <- stats, verdicts, pictures
//! census   every stretch that delays a wake-up  <- replayed cells
//! picture  what a picture shows, and SVG           <- records, stats
//! cli      the commands: a thin executable in front of this library
//! ```
//! Every step takes values and returns values; a run folder is enough for every step after measuring.

pub mod cache;
pub mod census;
pub mod cli;
pub mod compare;
pub mod debuginfo;
pub mod digest;
pub mod duration;
pub mod error;
pub mod host;
pub mod kernels;
pub mod lab;
mod payload;
pub mod picture;
pub mod record;
pub mod report;
pub mod stats;
pub mod story;
pub mod study;
pub mod trust;
pub mod verdict;
