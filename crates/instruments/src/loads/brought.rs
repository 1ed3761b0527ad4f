//! `idle`, which does nothing, and loads whose code a venue brings.

use super::code::LoadCode;

/// Nothing but the probe.
pub const IDLE: LoadCode = LoadCode {
    name: "idle",
    units: &[],
    body: Some(|_, _| Ok(())),
};

/// A real tree built by its own Makefile (`compile:PATH`).
pub const BUILD: LoadCode = LoadCode {
    name: "compile",
    units: &["cpu_time_us", "builds"],
    body: None,
};

/// Streams through more memory than the caches hold.
pub const MEMORY: LoadCode = LoadCode {
    name: "memory",
    units: &["mebibytes"],
    body: None,
};

/// A big file written, copied and read.
pub const DISK: LoadCode = LoadCode {
    name: "disk",
    units: &["mebibytes", "rounds"],
    body: None,
};

/// A walk through the root partition and two builds.
pub const DESKTOP: LoadCode = LoadCode {
    name: "desktop",
    units: &["entries", "cpu_time_us", "builds"],
    body: None,
};

/// A module that goes and comes.
pub const MODULE: LoadCode = LoadCode {
    name: "module",
    units: &["insertions"],
    body: None,
};
