//! QEMU's firmware-configuration device (docs/specs/fw_cfg): a named item from QEMU's command line.

use crate::GuestError;
use crate::ports::{next, select};

/// The key of the directory of named items.
const FILE_DIR: u16 = 0x19;
const NAME_LEN: usize = 56;

/// Reads the named item as text.
pub(crate) fn read_text(name: &str) -> Result<String, GuestError> {
    String::from_utf8(read(name)?).map_err(GuestError::new)
}

/// Reads the named item.
///
/// The whole directory is always read, so that the path taken does not depend on where the item stands.
pub(crate) fn read(name: &str) -> Result<Vec<u8>, GuestError> {
    select(FILE_DIR);
    let mut found = None;
    for _ in 0..u32::from_be_bytes(bytes()) {
        let size = u32::from_be_bytes(bytes());
        let key = u16::from_be_bytes(bytes());
        let _reserved: [u8; 2] = bytes();
        let raw: [u8; NAME_LEN] = bytes();
        if raw.split(|b| *b == 0).next() == Some(name.as_bytes()) {
            found = Some((key, size));
        }
    }
    let (key, size) = found.ok_or_else(|| GuestError::new(format!("QEMU gave no fw_cfg item '{name}'")))?;
    select(key);
    Ok((0..size).map(|_| next()).collect())
}

fn bytes<const N: usize>() -> [u8; N] {
    std::array::from_fn(|_| next())
}
