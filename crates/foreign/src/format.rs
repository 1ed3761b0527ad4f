//! The tools whose files are read, and how their content tells them apart.

use super::measured::Measured;
use super::{FormatError, bonnie, cyclictest, fio, hdparm, jitterdebugger, oslat, rtla};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// rt-tests' cyclictest.
    Cyclictest,
    /// `rtla timerlat hist` and `top`.
    Timerlat,
    /// `rtla osnoise hist` and `top`, `rtla hwnoise`.
    Osnoise,
    /// rt-tests' oslat.
    Oslat,
    /// jitterdebugger, its results and its samples.
    Jitterdebugger,
    /// fio's JSON.
    Fio,
    /// bonnie++'s comma-separated values.
    Bonnie,
    /// `hdparm -tT`.
    Hdparm,
}

impl Format {
    /// All.
    pub const ALL: [Format; 8] = [
        Format::Cyclictest,
        Format::Timerlat,
        Format::Osnoise,
        Format::Oslat,
        Format::Jitterdebugger,
        Format::Fio,
        Format::Bonnie,
        Format::Hdparm,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Cyclictest => "cyclictest",
            Format::Timerlat => "timerlat",
            Format::Osnoise => "osnoise",
            Format::Oslat => "oslat",
            Format::Jitterdebugger => "jitterdebugger",
            Format::Fio => "fio",
            Format::Bonnie => "bonnie++",
            Format::Hdparm => "hdparm",
        }
    }

    /// As its content tells.
    pub fn of(bytes: &[u8]) -> Option<Format> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return jitterdebugger::is_raw(bytes).then_some(Format::Jitterdebugger);
        };
        if fio::is_json(text) || fio::is_text(text) {
            return Some(Format::Fio);
        }
        if text.trim_start().starts_with('{') {
            return of_json(text);
        }
        let marks: [(&str, Format); 7] = [
            ("RTLA timerlat histogram", Format::Timerlat),
            ("Timer Latency", Format::Timerlat),
            ("RTLA osnoise histogram", Format::Osnoise),
            ("Operating System Noise", Format::Osnoise),
            ("Hardware-related Noise", Format::Osnoise),
            ("Counter Freq:", Format::Oslat),
            ("# Histogram", Format::Cyclictest),
        ];
        let marked = marks.iter().find(|(mark, _)| text.contains(mark));
        marked
            .map(|(_, format)| *format)
            .or_else(|| jitterdebugger::is_text(text).then_some(Format::Jitterdebugger))
            .or_else(|| cyclictest::is_text(text).then_some(Format::Cyclictest))
            .or_else(|| bonnie::is_text(text).then_some(Format::Bonnie))
            .or_else(|| hdparm::is_text(text).then_some(Format::Hdparm))
    }

    /// Reads a file of it; a number without a unit is of so many ns.
    pub(super) fn read(self, bytes: &[u8], unit: u64) -> Result<Measured, FormatError> {
        if self == Format::Jitterdebugger && jitterdebugger::is_raw(bytes) {
            return jitterdebugger::raw(bytes, unit);
        }
        let text = std::str::from_utf8(bytes).map_err(|e| {
            FormatError::new(format!(
                "it is no text of {self}: byte {} is not UTF-8",
                e.valid_up_to() + 1
            ))
        })?;
        let is_json = text.trim_start().starts_with('{');
        if !is_json && !text.ends_with('\n') {
            return Err(FormatError::new(
                "its last line has no end, so that it may be cut; end the line if the file is whole",
            ));
        }
        match (self, is_json) {
            (Format::Cyclictest, true) => cyclictest::json(text),
            (Format::Cyclictest, false) => cyclictest::text(text, unit),
            (Format::Oslat, true) => oslat::json(text),
            (Format::Oslat, false) => oslat::text(text),
            (Format::Jitterdebugger, true) => jitterdebugger::json(text),
            (Format::Jitterdebugger, false) => jitterdebugger::text(text, unit),
            (Format::Fio, _) => fio::json(text),
            (Format::Bonnie, _) => bonnie::text(text),
            (Format::Hdparm, _) => hdparm::text(text),
            (Format::Timerlat, _) => rtla::timerlat(text),
            (Format::Osnoise, _) => rtla::osnoise(text),
        }
    }
}

/// A cut file is still one of its tool's.
fn of_json(text: &str) -> Option<Format> {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        let tools = [Format::Cyclictest, Format::Oslat];
        let named = tools.into_iter().find(|f| text.contains(&format!("\"{f} ")));
        let jitterdebugger = text.contains("cpus_online").then_some(Format::Jitterdebugger);
        return named.or(jitterdebugger);
    };
    let command = value.get("cmdline:").or(value.get("cmdline")).and_then(Value::as_str);
    let program = command.and_then(|c| c.split_whitespace().next()?.rsplit('/').next());
    match program {
        Some("cyclictest") => Some(Format::Cyclictest),
        Some("oslat") => Some(Format::Oslat),
        _ if value.get("cpu").is_some() && value.get("sysinfo").is_some() => Some(Format::Jitterdebugger),
        _ => None,
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = FormatError;
    fn from_str(word: &str) -> Result<Format, FormatError> {
        let found = Format::ALL.into_iter().find(|format| format.name() == word);
        found.ok_or_else(|| {
            let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
            FormatError::new(format!("'{}' is not one of {}", word.escape_debug(), known.join(", ")))
        })
    }
}
