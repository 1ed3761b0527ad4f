//! The result of a boot: its instruction count and its memory at the stop. Equal subjects must give equal states.
//!
//! The state of a subject's first boot is kept beside its snapshot, and stays when the snapshot is removed; later boots
//! of the subject must agree with it. The devices' state is left out: it differs in a few bytes without effect.

use super::prepared::Prepared;
use super::{BOOT_AGAIN, LabError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use worstcase_base::cache::Cache;
use worstcase_base::digest::{Digest, sha256};
use worstcase_base::sealed::next_data;
use worstcase_contract::Instructions;

const AREA: &str = "boots";

/// The file's name, in the cache and in the snapshot.
const FILE: &str = "boot.json";

const PAGE: usize = 4096;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BootState {
    /// Instructions up to the stop.
    instructions: u64,
    /// Digest of memory.
    memory: String,
    /// The first eight bytes of each page's SHA-256, by the page's number; pages of zeros are left out.
    pages: BTreeMap<u32, u64>,
}

impl BootState {
    /// The state of a machine that stopped after so many instructions, with this memory file.
    pub(crate) fn of(instructions: Instructions, memory: &Path) -> Result<BootState, LabError> {
        let pages = pages(memory).map_err(LabError::io(memory))?;
        let mut digest = Digest::new("worstcase-memory/1");
        for (page, content) in &pages {
            digest.bytes(&page.to_le_bytes()).bytes(&content.to_le_bytes());
        }
        Ok(BootState {
            instructions: instructions.0,
            memory: format!("sha256:{}", digest.hex()),
            pages,
        })
    }

    /// Keeps the state with the snapshot.
    pub fn write(&self, snapshot: &Path) -> Result<(), LabError> {
        let path = snapshot.join(FILE);
        let json = serde_json::to_vec(self).expect("a boot's state is plain data");
        std::fs::write(&path, json).map_err(LabError::io(path))
    }

    /// Reads it from a snapshot.
    pub(crate) fn read(snapshot: &Path) -> Result<BootState, LabError> {
        let path = snapshot.join(FILE);
        let json = std::fs::read(&path).map_err(LabError::io(&path))?;
        serde_json::from_slice(&json).map_err(|e| LabError::Damaged {
            folder: snapshot.to_path_buf(),
            reason: format!("its file '{FILE}': {e}"),
            again: BOOT_AGAIN,
        })
    }

    /// Compares with the first boot of this subject in the cache; keeps this state if there was none.
    pub(crate) fn agree(&self, cache: &Cache, prepared: &Prepared) -> Result<(), LabError> {
        let folder = cache.keep(AREA, &prepared.key, "this boot counts as the first", |building| {
            self.write(building)
        })?;
        match self.difference(&BootState::read(&folder)?) {
            None => Ok(()),
            Some(difference) => Err(LabError::OtherBoot {
                what: prepared.subject.label(),
                difference,
                folder,
            }),
        }
    }

    /// How this boot differs from the first.
    fn difference(&self, first: &BootState) -> Option<String> {
        if self == first {
            return None;
        }
        let mut text = String::new();
        if self.instructions != first.instructions {
            let (now, then) = (self.instructions, first.instructions);
            write!(text, "it stopped after {now} instructions, not {then}").expect("writing to a String cannot fail");
        }
        let mut numbers: Vec<u32> = self.pages.keys().chain(first.pages.keys()).copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|page| self.pages.get(page) != first.pages.get(page));
        if let Some(page) = numbers.first() {
            let and = if text.is_empty() { "" } else { ", and " };
            let (address, count) = (u64::from(*page) * PAGE as u64, numbers.len());
            write!(
                text,
                "{and}pages of memory that differ: {count}, the first at physical address {address:#x}"
            )
            .expect("writing to a String cannot fail");
        }
        Some(text)
    }
}

/// The pages that are not zero.
fn pages(memory: &Path) -> std::io::Result<BTreeMap<u32, u64>> {
    let file = File::open(memory)?;
    let length = file.metadata()?.len();
    let mut pages = BTreeMap::new();
    let mut buffer = vec![0; 256 * PAGE];
    let mut at = 0;
    // A sparse file's holes are zeros; most of a machine's memory was never written.
    while let Some(data) = next_data(&file, at, length)? {
        at = data - data % PAGE as u64;
        let wanted = buffer.len().min(usize::try_from(length - at).unwrap_or(usize::MAX));
        file.read_exact_at(&mut buffer[..wanted], at)?;
        for (page, content) in (at / PAGE as u64..).zip(buffer[..wanted].chunks(PAGE)) {
            if content.iter().any(|byte| *byte != 0) {
                let number = u32::try_from(page).map_err(std::io::Error::other)?;
                let digest = sha256(content);
                pages.insert(number, u64::from_le_bytes(digest[..8].try_into().expect("eight bytes")));
            }
        }
        at += wanted as u64;
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(instructions: u64, writes: &[(u64, &[u8])]) -> BootState {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 22).unwrap();
        for (at, bytes) in writes {
            file.as_file().write_all_at(bytes, *at).unwrap();
        }
        BootState::of(Instructions(instructions), file.path()).unwrap()
    }

    #[test]
    fn what_differs_is_said() {
        let first = state(1_000, &[(0x2010, b"kernel"), (0x30_0000, b"init")]);
        assert_eq!(first.pages.keys().copied().collect::<Vec<_>>(), [2, 0x300]);
        let same = state(
            1_000,
            &[(0x2010, b"kernel"), (0x30_0000, b"init"), (0x5000, &[0; 9000])],
        );
        assert_eq!(same.difference(&first), None, "zeros are zeros, written or not");

        let later = state(1_001, &[(0x2010, b"kernel"), (0x30_0000, b"init")]);
        assert_eq!(
            later.difference(&first).unwrap(),
            "it stopped after 1001 instructions, not 1000"
        );
        let other = state(1_000, &[(0x2010, b"kernel"), (0x30_0000, b"inlt"), (0x1fff, b"x")]);
        assert_eq!(
            other.difference(&first).unwrap(),
            "pages of memory that differ: 2, the first at physical address 0x1000"
        );
        let less = state(999, &[(0x2010, b"kernel")]);
        assert_eq!(
            less.difference(&first).unwrap(),
            "it stopped after 999 instructions, not 1000, and pages of memory that differ: 1, \
             the first at physical address 0x300000"
        );
    }

    #[test]
    fn it_is_kept_with_the_snapshot() {
        let folder = tempfile::tempdir().unwrap();
        let first = state(1_000, &[(0x2010, b"kernel")]);
        first.write(folder.path()).unwrap();
        assert_eq!(BootState::read(folder.path()).unwrap(), first);
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        let error = BootState::read(folder.path()).unwrap_err();
        assert!(matches!(error, LabError::Damaged { .. }), "{error}");
    }
}
