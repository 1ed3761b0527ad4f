//! The tools whose files are read, a row each, and how their content tells them apart.

use super::lines::NumberedLines;
use super::measured::ToolMeasurement;
use super::{
    FormatError, bonnie, cyclictest, fio, hdparm, hwlatdetect, jitterdebugger, linuxcnc, oslat, perf_sched, pi_stress,
    rt_pairs, rt_threads, rteval, rtla, schbench, stress_ng, tracer, xenomai,
};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;
use worstcase_contract::Nanos;

/// All tools. A line is asked of them in this order.
static FORMS: &[&ToolForm] = &[
    &cyclictest::FORM,
    &rtla::TIMERLAT,
    &rtla::OSNOISE,
    &oslat::FORM,
    &jitterdebugger::FORM,
    &fio::FORM,
    &bonnie::FORM,
    &hdparm::FORM,
    &rt_pairs::PMQTEST,
    &rt_pairs::UNTOLD_PAIR,
    &rt_pairs::PTSEMATEST,
    &rt_pairs::SVSEMATEST,
    &rt_pairs::SIGWAITTEST,
    &rt_threads::SIGNALTEST,
    &rt_threads::CYCLICDEADLINE,
    &pi_stress::FORM,
    &hwlatdetect::FORM,
    &rteval::FORM,
    &stress_ng::FORM,
    &schbench::FORM,
    &linuxcnc::FORM,
    &xenomai::FORM,
    &tracer::OSNOISE_TRACER,
    &tracer::TIMERLAT_TRACER,
    &perf_sched::FORM,
];

/// The forms in which a tool writes.
pub(crate) struct ToolForm {
    /// Its name, as a user calls it.
    pub(crate) name: &'static str,
    /// The meaning of a line of its text.
    pub(crate) mark: fn(&str) -> Option<Mark<'_>>,
    /// Reads the lines of one run; times without a unit are of the given one.
    pub(crate) text: fn(&NumberedLines<'_>, Option<Nanos>) -> Result<ToolMeasurement, FormatError>,
    /// It prints its results again and again while it measures.
    pub(crate) repeats: bool,
    /// Whether a document is its.
    pub(crate) is_json: fn(&Value) -> bool,
    /// Reads a document.
    pub(crate) json: fn(Value) -> Result<ToolMeasurement, FormatError>,
    /// Its document says all that its text beside it says.
    pub(crate) json_says_all: bool,
    /// Whether bytes that are no text are its.
    pub(crate) is_raw: fn(&[u8]) -> bool,
    /// Reads bytes that are no text.
    pub(crate) raw: fn(&[u8], Option<Nanos>) -> Result<ToolMeasurement, FormatError>,
}

impl ToolForm {
    /// A tool that writes nothing, for the fields that a tool does not have.
    pub(crate) const NOTHING: ToolForm = ToolForm {
        name: "",
        mark: |_| None,
        text: |_, _| Err(FormatError::new("this tool writes JSON, of which there is none in it")),
        repeats: false,
        is_json: |_| false,
        json: |_| Err(FormatError::new("this tool writes no JSON")),
        json_says_all: false,
        is_raw: |_| false,
        raw: |bytes, _| Err(no_text(bytes)),
    };
}

/// The fault of bytes that should be text.
fn no_text(bytes: &[u8]) -> FormatError {
    let valid = std::str::from_utf8(bytes).map_or_else(|e| e.valid_up_to(), str::len);
    FormatError::new(format!("it is no text: byte {} is not UTF-8", valid + 1))
}

/// The meaning of a line to the division of a file into runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark<'a> {
    /// A heading: after results it begins another run.
    Begin,
    /// A run has one of these: another begins another run.
    Once(&'a str),
    /// The same, of the last that a run has: any other result behind it is of another.
    Last(&'a str),
    /// Of a thread, by name: another process of it is of another run.
    Of(&'a str, &'a str),
    /// Any other line that the tool alone writes.
    Row,
    /// A line that others may write, too: it counts where nothing else is known.
    Maybe,
}

/// The tool that wrote a file.
#[derive(Clone, Copy)]
pub struct ForeignFormat(&'static ToolForm);

impl ForeignFormat {
    /// All.
    pub fn all() -> impl Iterator<Item = ForeignFormat> {
        let named = FORMS.iter().filter(|form| !form.name.is_empty());
        named.map(|form| ForeignFormat(form))
    }

    pub(super) fn forms() -> impl Iterator<Item = &'static ToolForm> {
        FORMS.iter().copied()
    }

    pub(super) fn form(self) -> &'static ToolForm {
        self.0
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The names of all, in a sentence.
    pub fn names() -> String {
        let names: Vec<&str> = ForeignFormat::all().map(ForeignFormat::name).collect();
        names.join(", ")
    }
}

impl fmt::Debug for ForeignFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
        let found = ForeignFormat::all().find(|format| format.name() == word);
        found.ok_or_else(|| {
            let known = ForeignFormat::names();
            FormatError::new(format!("'{}' is not one of {known}", word.escape_debug()))
        })
    }
}
