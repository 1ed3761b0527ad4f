//! `idle`, which does nothing, and loads whose code a venue brings.

use super::code::LoadCode;

pub(super) const IDLE: LoadCode = LoadCode {
    name: "idle",
    units: &[],
    body: Some(|_, _| Ok(())),
};

pub(super) const BUILD: LoadCode = LoadCode {
    name: "compile",
    units: &["cpu_time_us", "builds"],
    body: None,
};

pub(super) const MEMORY: LoadCode = LoadCode {
    name: "memory",
    units: &["mebibytes"],
    body: None,
};

pub(super) const DISK: LoadCode = LoadCode {
    name: "disk",
    units: &["mebibytes", "rounds"],
    body: None,
};

pub(super) const DESKTOP: LoadCode = LoadCode {
    name: "desktop",
    units: &["entries", "cpu_time_us", "builds"],
    body: None,
};

pub(super) const MODULE: LoadCode = LoadCode {
    name: "module",
    units: &["insertions"],
    body: None,
};
