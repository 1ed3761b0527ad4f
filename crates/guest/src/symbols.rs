//! The other thing that a fork of a subject can be asked for: the names of the kernel's code.
//!
//! `symbols modules=a,b` loads these modules as a cell whose load needs them does, so that they lie at the same
//! addresses, and sends the symbols instead of a record.

use crate::image::read_text;
use crate::{GuestError, modules};
use worstcase_probe::symbols::{REQUEST, SymbolTable};

/// The modules asked for, if this is what the text asks for.
pub fn asked(text: &str) -> Option<impl Iterator<Item = &str>> {
    let names = text.trim().strip_prefix(REQUEST)?;
    Some(names.split(',').filter(|name| !name.is_empty()))
}

/// The message with the symbols.
pub fn message<'a>(mut names: impl Iterator<Item = &'a str>) -> Result<Vec<u8>, GuestError> {
    names.try_for_each(modules::load)?;
    Ok(SymbolTable::from_kallsyms(&read_text("/proc/kallsyms")?).encode())
}
