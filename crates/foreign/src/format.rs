//! The tools whose files are read, and how their content tells them apart.

use super::measured::ToolMeasurement;
use super::{FormatError, bonnie, cyclictest, fio, hdparm, jitterdebugger, oslat, rtla};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// The tool that wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFormat {
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

impl ForeignFormat {
    /// All.
    pub const ALL: [ForeignFormat; 8] = [
        ForeignFormat::Cyclictest,
        ForeignFormat::Timerlat,
        ForeignFormat::Osnoise,
        ForeignFormat::Oslat,
        ForeignFormat::Jitterdebugger,
        ForeignFormat::Fio,
        ForeignFormat::Bonnie,
        ForeignFormat::Hdparm,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            ForeignFormat::Cyclictest => "cyclictest",
            ForeignFormat::Timerlat => "timerlat",
            ForeignFormat::Osnoise => "osnoise",
            ForeignFormat::Oslat => "oslat",
            ForeignFormat::Jitterdebugger => "jitterdebugger",
            ForeignFormat::Fio => "fio",
            ForeignFormat::Bonnie => "bonnie++",
            ForeignFormat::Hdparm => "hdparm",
        }
    }

    /// The fault of a file that no tool wrote.
    pub(crate) fn none() -> FormatError {
        let known = ForeignFormat::ALL.map(ForeignFormat::name).join(", ");
        FormatError::new(format!(
            "it is no output of a known tool; --format says which it is of: {known}"
        ))
    }

    /// The tool, as the content tells.
    pub(crate) fn of(bytes: &[u8]) -> Option<ForeignFormat> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return jitterdebugger::is_raw(bytes).then_some(ForeignFormat::Jitterdebugger);
        };
        if fio::is_json(text) || fio::is_text(text) {
            return Some(ForeignFormat::Fio);
        }
        if text.trim_start().starts_with('{') {
            return of_json(text);
        }
        let marks: [(&str, ForeignFormat); 7] = [
            ("RTLA timerlat histogram", ForeignFormat::Timerlat),
            ("Timer Latency", ForeignFormat::Timerlat),
            ("RTLA osnoise histogram", ForeignFormat::Osnoise),
            ("Operating System Noise", ForeignFormat::Osnoise),
            ("Hardware-related Noise", ForeignFormat::Osnoise),
            ("Counter Freq:", ForeignFormat::Oslat),
            ("# Histogram", ForeignFormat::Cyclictest),
        ];
        let marked = marks.iter().find(|(mark, _)| text.contains(mark));
        marked
            .map(|(_, format)| *format)
            .or_else(|| jitterdebugger::is_text(text).then_some(ForeignFormat::Jitterdebugger))
            .or_else(|| cyclictest::is_text(text).then_some(ForeignFormat::Cyclictest))
            .or_else(|| bonnie::is_text(text).then_some(ForeignFormat::Bonnie))
            .or_else(|| hdparm::is_text(text).then_some(ForeignFormat::Hdparm))
    }

    /// Reads a file of it; a number without a unit is of so many ns.
    pub(super) fn read(self, bytes: &[u8], unit: u64) -> Result<ToolMeasurement, FormatError> {
        if self == ForeignFormat::Jitterdebugger && jitterdebugger::is_raw(bytes) {
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
            (ForeignFormat::Cyclictest, true) => cyclictest::json(text),
            (ForeignFormat::Cyclictest, false) => cyclictest::text(text, unit),
            (ForeignFormat::Oslat, true) => oslat::json(text),
            (ForeignFormat::Oslat, false) => oslat::text(text),
            (ForeignFormat::Jitterdebugger, true) => jitterdebugger::json(text),
            (ForeignFormat::Jitterdebugger, false) => jitterdebugger::text(text, unit),
            (ForeignFormat::Fio, _) => fio::json(text),
            (ForeignFormat::Bonnie, _) => bonnie::text(text),
            (ForeignFormat::Hdparm, _) => hdparm::text(text),
            (ForeignFormat::Timerlat, _) => rtla::timerlat(text),
            (ForeignFormat::Osnoise, _) => rtla::osnoise(text),
        }
    }
}

/// A cut file is still one of its tool's.
fn of_json(text: &str) -> Option<ForeignFormat> {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        let tools = [ForeignFormat::Cyclictest, ForeignFormat::Oslat];
        let named = tools.into_iter().find(|f| text.contains(&format!("\"{f} ")));
        let jitterdebugger = text.contains("cpus_online").then_some(ForeignFormat::Jitterdebugger);
        return named.or(jitterdebugger);
    };
    let command = value.get("cmdline:").or(value.get("cmdline")).and_then(Value::as_str);
    let program = command.and_then(|c| c.split_whitespace().next()?.rsplit('/').next());
    match program {
        Some("cyclictest") => Some(ForeignFormat::Cyclictest),
        Some("oslat") => Some(ForeignFormat::Oslat),
        _ if value.get("cpu").is_some() && value.get("sysinfo").is_some() => Some(ForeignFormat::Jitterdebugger),
        _ => None,
    }
}

impl fmt::Display for ForeignFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ForeignFormat {
    type Err = FormatError;
    fn from_str(word: &str) -> Result<ForeignFormat, FormatError> {
        let found = ForeignFormat::ALL.into_iter().find(|format| format.name() == word);
        found.ok_or_else(|| {
            let known: Vec<&str> = ForeignFormat::ALL.iter().map(|format| format.name()).collect();
            FormatError::new(format!("'{}' is not one of {}", word.escape_debug(), known.join(", ")))
        })
    }
}
