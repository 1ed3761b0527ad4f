//! Standard output: text for people, data for programs. (Files: `worstcase_base::output`.)

use serde::Serialize;
use std::io::{self, Write};
use worstcase_base::closed::is_stdout_closed;
use worstcase_base::format::plain_lines;

/// Standard output went away or cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the output: {0}; check where it goes")]
pub struct OutputError(#[from] io::Error);

/// Writes text for people to standard output, whatever records, kernels and packages hold that it tells of; a reader that
/// went away (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), OutputError> {
    print_data(&plain_lines(text))
}

/// Writes what programs read, as it is.
pub(crate) fn print_data(text: &str) -> Result<(), OutputError> {
    if is_stdout_closed() {
        return Err(io::Error::other("it is closed").into());
    }
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes a value to standard output as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), OutputError> {
    let json = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    print_data(&format!("{json}\n"))
}
