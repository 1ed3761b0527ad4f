//! The other thing that a fork of a subject can be asked for: the names of the kernel's code.
//!
//! The modules that a cell's load needs are loaded as they are for the cell, so that they lie at the same addresses; then the
//! symbols are sent instead of a record.

use crate::image::read_text;
use crate::{GuestError, modules};
use worstcase_instruments::symbols::SymbolTable;

/// The message with the symbols.
pub(crate) fn message(modules: &[String]) -> Result<Vec<u8>, GuestError> {
    modules::load_all(modules)?;
    Ok(SymbolTable::from_kallsyms(&read_text("/proc/kallsyms")?).encode())
}
