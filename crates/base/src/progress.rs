//! Progress of long work: reported by the worker, shown by its caller.

/// Receives reports about the work. Every method does nothing by default; errors are not reported here.
pub trait Progress: Sync {
    /// A note for the user.
    fn note(&self, _text: &str) {}
    /// A line that stays: what a step of long work is, or gave.
    fn line(&self, _text: &str) {}
    /// What the work is going to take, before it begins.
    fn ahead(&self, _text: &str) {}
    /// Work with a known number of units begins.
    fn begin(&self, _work: &CountedWork<'_>) {}
    /// A step of the preparation is done.
    fn prepared(&self, _what: &str) {}
    /// A unit of the work is done.
    fn done(&self, _what: &str) {}
    /// What is done now, where no units can be counted.
    fn state(&self, _what: &str) {}
    /// How far a download is, 0 to 100.
    fn download(&self, _what: &str, _percent: f64) {}
    /// The work, or the download, is over.
    fn end(&self) {}
}

/// Work that can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedWork<'a> {
    /// What its units are called: `cells`.
    pub units: &'a str,
    /// How many.
    pub count: usize,
    /// Steps before the first of them: boots.
    pub preparations: usize,
}

impl CountedWork<'_> {
    /// Work in cells without preparation.
    pub const fn cells(count: usize) -> CountedWork<'static> {
        CountedWork {
            units: "cells",
            count,
            preparations: 0,
        }
    }
}

/// Ignores all reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}
