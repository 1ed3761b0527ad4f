//! Files that the controller put into the image.

use crate::GuestError;

/// A whole text file, or an error that names it.
pub(crate) fn read_text(path: &str) -> Result<String, GuestError> {
    std::fs::read_to_string(path).map_err(|e| GuestError::new(format!("{path}: {e}")))
}
