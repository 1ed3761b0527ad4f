//! Measurements of other tools: their files, read into records that say what the files do not contain.
//!
//! ```text
//! bytes -> Format (told by the content) -> Measured     one module a tool
//! Measured -> CellResult for each of its threads        record
//! ```
//! Nothing is made up: a figure that the file does not contain is absent in the record, and every record says which
//! tool it is from ([`Foreign`](worstcase_results::record::Foreign)).

mod bonnie;
mod cyclictest;
mod error;
mod files;
mod fio;
mod format;
mod hdparm;
mod jitterdebugger;
mod measured;
mod oslat;
mod record;
mod rtla;
mod text;

pub use error::{FormatError, ImportError};
pub use format::ForeignFormat;
pub use record::{ForeignSource, ImportFacts};

use measured::ToolMeasurement;
use std::io::Read;
use std::path::Path;
use worstcase_base::digest::sha256_hex;
use worstcase_results::record::CellResult;

/// Longest file that is read: more than any of these tools writes of numbers alone.
const LONGEST: u64 = 1 << 30;

/// Reads a file of `format`, or of the format that its content tells.
pub fn read(path: &Path, format: Option<ForeignFormat>, nanoseconds: bool) -> Result<ForeignSource, ImportError> {
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
    let measured = parse(&bytes, format, nanoseconds).map_err(wrong)?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    Ok(ForeignSource {
        file: name.to_string_lossy().into_owned(),
        digest: format!("sha256:{}", sha256_hex(&bytes)),
        measured,
    })
}

fn parse(bytes: &[u8], format: Option<ForeignFormat>, nanoseconds: bool) -> Result<ToolMeasurement, FormatError> {
    let format = format
        .or_else(|| ForeignFormat::of(bytes))
        .ok_or_else(ForeignFormat::none)?;
    let unit = if nanoseconds { 1 } else { 1_000 };
    let measured = format.read(bytes, unit)?;
    measured.check()?;
    match measured.series.is_empty() {
        true => Err(FormatError::new(format!(
            "it holds no result of {}; was the tool stopped before it printed one?",
            format.name()
        ))),
        false => Ok(measured),
    }
}

/// Reads bytes as a file that an import is given. For scripts/fuzz.
#[doc(hidden)]
pub fn fuzz(bytes: &[u8]) {
    for nanoseconds in [false, true] {
        if let Ok(measured) = parse(bytes, None, nanoseconds) {
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
