//! Progress of what takes time: told by whoever works, shown by whoever started it.

/// Told of what is done. Everything but errors; who wants less leaves the rest.
pub trait Progress: Sync {
    /// Something the user should know.
    fn note(&self, _text: &str) {}
    /// Work begins that can be counted.
    fn begin(&self, _work: &CountedWork<'_>) {}
    /// A step of its preparation is done.
    fn prepared(&self, _what: &str) {}
    /// A unit of it is done.
    fn done(&self, _what: &str) {}
    /// What goes on now, where nothing can be counted.
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
    /// Cells without a preparation.
    pub const fn cells(count: usize) -> CountedWork<'static> {
        CountedWork {
            units: "cells",
            count,
            preparations: 0,
        }
    }
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}
