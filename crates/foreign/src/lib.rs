//! Measurements of other tools: their files, read into records that say what the files do not contain.
//!
//! ```text
//! bytes -> lines without prefixes -> runs, each of a tool     lines, prefix, documents, runs
//! run -> ToolMeasurement                                      one module a tool, a row each in format
//! ToolMeasurement -> CellResult for each of its threads       record
//! ```
//! Nothing is made up: a figure that the file does not contain is absent in the record, and every record says which
//! tool it is from ([`Foreign`](worstcase_results::record::Foreign)).

mod bonnie;
mod cyclictest;
mod documents;
mod error;
mod files;
mod fio;
mod format;
mod hdparm;
mod hwlatdetect;
mod jitterdebugger;
mod lines;
mod linuxcnc;
mod measured;
mod oslat;
mod perf_sched;
mod pi_stress;
mod prefix;
mod record;
mod rt_pairs;
mod rt_threads;
mod rteval;
mod rtla;
mod runs;
mod schbench;
mod sense;
mod stress_ng;
mod summary;
mod text;
mod tracer;
mod xenomai;

pub use error::{FormatError, ImportError};
pub use format::ForeignFormat;
pub use record::{ForeignSource, ImportFacts};

use measured::ToolMeasurement;
use std::io::Read;
use std::path::Path;
use worstcase_base::digest::sha256_hex;
use worstcase_contract::Nanos;
use worstcase_results::record::CellResult;

/// Longest file that is read: more than any of these tools writes of numbers alone.
const LONGEST: u64 = 1 << 30;

/// Reads a file of `format`, or of the tools that its content tells. Times without a unit are of `unit`: microseconds
/// unless it is given.
pub fn read(path: &Path, format: Option<ForeignFormat>, unit: Option<Nanos>) -> Result<ForeignSource, ImportError> {
    let failed = |source| ImportError::Read {
        path: path.to_path_buf(),
        source,
    };
    let mut bytes = Vec::new();
    let file = worstcase_base::files::open(path).map_err(failed)?;
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    let wrong = |source| ImportError::Format {
        path: path.to_path_buf(),
        source,
    };
    if bytes.len() as u64 > LONGEST {
        return Err(wrong(FormatError::new("it is longer than 1 GiB")));
    }
    let measured = parse(&bytes, format, unit).map_err(wrong)?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    Ok(ForeignSource {
        file: name.to_string_lossy().into_owned(),
        digest: format!("sha256:{}", sha256_hex(&bytes)),
        measured,
    })
}

fn parse(
    bytes: &[u8],
    format: Option<ForeignFormat>,
    unit: Option<Nanos>,
) -> Result<Vec<ToolMeasurement>, FormatError> {
    let measured = match std::str::from_utf8(bytes) {
        Ok(text) => runs::read(text, format, unit)?,
        Err(_) => {
            let mut forms = ForeignFormat::forms();
            let form = format
                .map(ForeignFormat::form)
                .or_else(|| forms.find(|form| (form.is_raw)(bytes)));
            vec![(form.ok_or_else(none)?.raw)(bytes, unit)?]
        }
    };
    for one in &measured {
        one.check()?;
        if one.series.is_empty() {
            return Err(FormatError::new(format!(
                "it holds no result of {}; was the tool stopped before it printed one?",
                one.tool
            )));
        }
    }
    match measured.is_empty() {
        true => Err(none()),
        false => Ok(measured),
    }
}

/// The fault of a file that no tool wrote.
fn none() -> FormatError {
    let known = ForeignFormat::names();
    FormatError::new(format!(
        "it is no output of a known tool; --format says which it is of: {known}"
    ))
}

/// Reads bytes as a file of a tool that an import is given. For scripts/fuzz.
#[doc(hidden)]
pub fn fuzz(format: Option<&str>, bytes: &[u8]) {
    let format = format.and_then(|name| name.parse().ok());
    for unit in [None, Some(Nanos(1))] {
        if let Ok(measured) = parse(bytes, format, unit) {
            let source = ForeignSource {
                file: "fuzz".into(),
                digest: String::new(),
                measured,
            };
            // The result does not matter.
            let _ = records(vec![source], &ImportFacts::default());
        }
    }
}

/// The records of several files, in their order; `given` are facts that the files do not contain.
pub fn records(sources: Vec<ForeignSource>, given: &ImportFacts) -> Result<Vec<CellResult>, ImportError> {
    record::records(sources, given)
}
