//! A header of an .rpm: an index of tags, and the store with their values. All numbers are big-endian.

use std::io::{self, Read};

use sha2::{Digest, Sha256};
use worstcase_base::{digest, files};

/// Numbers of tags.
pub(crate) mod tags {
    /// In the signature: the header's sha256.
    pub(crate) const HEADER_SHA256: u32 = 273;
    /// Name of the package.
    pub const NAME: u32 = 1000;
    /// Its version.
    pub const VERSION: u32 = 1001;
    /// And its release.
    pub const RELEASE: u32 = 1002;
    /// Length of each file; [`FILE_SIZES_LONG`] if one is longer than 32 bits can say.
    pub(crate) const FILE_SIZES: u32 = 1028;
    /// Type and rights of each file.
    pub(crate) const FILE_MODES: u32 = 1030;
    /// Inode number of each file: hard links share one.
    pub(crate) const FILE_INODES: u32 = 1096;
    /// For each file the index of its folder.
    pub(crate) const DIR_INDEXES: u32 = 1116;
    /// For each file its name in the folder.
    pub(crate) const BASE_NAMES: u32 = 1117;
    /// The folders.
    pub(crate) const DIR_NAMES: u32 = 1118;
    /// Format of the payload: cpio.
    pub(crate) const PAYLOAD_FORMAT: u32 = 1124;
    /// Compression of the payload: gzip, xz, zstd, ...
    pub(crate) const PAYLOAD_COMPRESSOR: u32 = 1125;
    /// Length of each file, in 64 bits.
    pub(crate) const FILE_SIZES_LONG: u32 = 5008;
    /// sha256 of the packed payload.
    pub(crate) const PAYLOAD_SHA256: u32 = 5092;
}

const MAGIC: [u8; 4] = [0x8e, 0xad, 0xe8, 1];
const INTRO: usize = 16;
const ENTRY: usize = 16;
/// Limit of RPM itself.
const MOST_ENTRIES: u32 = 0xffff;
/// Limit in bytes; the names and checksums of a kernel's 9 000 files take 2 MB.
const MOST_STORE: u32 = 64 << 20;

const INT16: u32 = 3;
const INT32: u32 = 4;
const INT64: u32 = 5;
const STRING: u32 = 6;
const STRINGS: u32 = 8;
const TRANSLATED: u32 = 9;

/// A parsed header.
pub struct Header {
    /// All its bytes.
    bytes: Vec<u8>,
    entries: usize,
}

struct IndexEntry {
    kind: u32,
    offset: usize,
    count: usize,
}

impl Header {
    /// Reads a header.
    pub(crate) fn read(input: &mut impl Read) -> Result<Header, String> {
        let mut bytes = vec![0; INTRO];
        input.read_exact(&mut bytes).map_err(|e| e.to_string())?;
        if !bytes.starts_with(&MAGIC) {
            return Err("a header does not begin as one".into());
        }
        let number = |at: usize| number(&bytes, at).unwrap_or(u32::MAX);
        let (entries, store) = (number(8), number(12));
        if entries > MOST_ENTRIES || store > MOST_STORE {
            return Err("a header is longer than that of any real package".into());
        }
        let entries = entries as usize;
        let rest = entries * ENTRY + store as usize;
        files::all(input.take(rest as u64), rest as u64, &mut bytes).map_err(|e| e.to_string())?;
        match bytes.len() == INTRO + rest {
            true => Ok(Header { bytes, entries }),
            false => Err("a header is cut short".into()),
        }
    }

    /// Skips the padding that fills the signature to a multiple of eight bytes.
    pub fn pad(&self, input: &mut impl Read) -> Result<(), String> {
        let more = self.bytes.len().next_multiple_of(8) - self.bytes.len();
        let skipped = io::copy(&mut input.take(more as u64), &mut io::sink());
        skipped.map(drop).map_err(|e| e.to_string())
    }

    /// Its checksum.
    pub(crate) fn sha256(&self) -> String {
        digest::hex(&Sha256::digest(&self.bytes))
    }

    /// The text of a tag; the first if there are several.
    pub fn text(&self, tag: u32) -> Option<&str> {
        self.texts(tag)?.next()
    }

    /// The texts of a tag, as far as they are in the store.
    pub(crate) fn texts(&self, tag: u32) -> Option<impl Iterator<Item = &str>> {
        let entry = self.entry(tag)?;
        let count = match entry.kind {
            STRING => 1,
            STRINGS | TRANSLATED => entry.count,
            _ => return None,
        };
        let ended = self.store().get(entry.offset..)?;
        // A text without a NUL after it does not count.
        let ended = &ended[..ended.iter().rposition(|byte| *byte == 0)?];
        let texts = ended.split(|byte| *byte == 0).take(count);
        Some(texts.map(|text| std::str::from_utf8(text).unwrap_or_default()))
    }

    /// The numbers of a tag; `None` if not all of them are in the store.
    pub fn numbers(&self, tag: u32) -> Option<Vec<u64>> {
        let entry = self.entry(tag)?;
        let size = match entry.kind {
            INT16 => 2,
            INT32 => 4,
            INT64 => 8,
            _ => return None,
        };
        let length = entry.count.checked_mul(size)?;
        let bytes = self.store().get(entry.offset..)?.get(..length)?;
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Some(bytes.chunks_exact(size).map(number).collect())
    }

    fn store(&self) -> &[u8] {
        &self.bytes[INTRO + self.entries * ENTRY..]
    }

    fn entry(&self, tag: u32) -> Option<IndexEntry> {
        let at = |nth: usize| INTRO + nth * ENTRY;
        let nth = (0..self.entries).find(|nth| number(&self.bytes, at(*nth)) == Some(tag))?;
        let field = |offset: usize| number(&self.bytes, at(nth) + offset);
        Some(IndexEntry {
            kind: field(4)?,
            offset: field(8)? as usize,
            count: field(12)? as usize,
        })
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*bytes))
}
