//! Probes whose grammar is longer than a few lines.

pub(crate) mod io;
