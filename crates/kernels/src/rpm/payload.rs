//! The files of an .rpm, as an archive that is read once from begin to end.
//!
//! It is cpio ("newc"), in which each file begins with its name and length. If a file is longer than 4 GB, and in format
//! 6, a file begins with its number alone, and the package's header describes it.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::header::{Header, tags};
use crate::KernelError;
use crate::members::{MOST_FILES, Members};

const MAGIC: usize = 6;
/// Fields of a newc header: inode, mode, user, group, links, time, size, device, special device, length of the name, sum.
const FIELDS: usize = 13;
const FIELD: usize = 8;
const LONGEST_NAME: u64 = 4_096;
const END: &str = "TRAILER!!!";

const TYPE: u64 = 0o170_000;
const REGULAR: u64 = 0o100_000;
const LINK: u64 = 0o120_000;

/// A file's header in the archive.
struct CpioMember {
    name: String,
    mode: u64,
    size: u64,
    /// Inode number, and number of hard links.
    inode: u64,
    links: u64,
}

/// Writes the wanted members.
pub fn read(input: &mut impl Read, header: &Header, members: &mut Members<'_>) -> Result<(), KernelError> {
    // Hard links: only the last name of a file has its content.
    let mut without: BTreeMap<u64, Vec<PathBuf>> = BTreeMap::new();
    let listed = ListedFiles::of(header);
    while let Some(member) = next(input, listed.as_ref()).map_err(|why| members.bad(why))? {
        let mut content = (&mut *input).take(member.size);
        if is_regular(member.mode)
            && let Some(target) = members.target(Path::new(&member.name))?
        {
            if member.links > 1 && member.size == 0 {
                without.entry(member.inode).or_default().push(target);
                continue;
            }
            members.write(&target, &mut content)?;
            for name in without.remove(&member.inode).into_iter().flatten() {
                let mut file = std::fs::File::open(&target).map_err(|e| members.cut(&e))?;
                members.write(&name, &mut file)?;
            }
        }
        io::copy(&mut content, &mut io::sink()).map_err(|e| members.cut(&e))?;
        if content.limit() > 0 {
            return Err(members.bad(format!("cut short in {}", shown(&member.name))));
        }
        skip(input, padding(member.size)).map_err(|e| members.cut(&e))?;
    }
    // Files without content are empty.
    for name in without.into_values().flatten() {
        members.write(&name, &mut io::empty())?;
    }
    Ok(())
}

/// Reads the header of a member; `None` at the end.
fn next(input: &mut impl Read, listed: Option<&ListedFiles>) -> Result<Option<CpioMember>, String> {
    let mut magic = [0; MAGIC];
    fill(input, &mut magic)?;
    match &magic {
        b"070701" | b"070702" => named(input),
        b"07070X" => {
            let nth = hex(input)?;
            skip(input, padding((MAGIC + FIELD) as u64)).map_err(|e| e.to_string())?;
            let member = listed.and_then(|listed| listed.member(usize::try_from(nth).ok()?));
            member
                .map(Some)
                .ok_or_else(|| "a file in it is none of its list".into())
        }
        _ => Err("cut short or damaged (a file's header is none of cpio's)".into()),
    }
}

fn named(input: &mut impl Read) -> Result<Option<CpioMember>, String> {
    let mut fields = [0; FIELDS];
    for field in &mut fields {
        *field = hex(input)?;
    }
    let length = fields[11];
    if length == 0 || length > LONGEST_NAME {
        return Err("a file's name is longer than any real one".into());
    }
    let mut name = vec![0; length as usize];
    fill(input, &mut name)?;
    name.pop();
    let name = String::from_utf8(name).map_err(|_| "a file's name is no text")?;
    skip(input, padding((MAGIC + FIELDS * FIELD) as u64 + length)).map_err(|e| e.to_string())?;
    let member = CpioMember {
        mode: fields[1],
        size: fields[6],
        inode: fields[0],
        links: fields[4],
        name,
    };
    Ok(Some(member).filter(|member| member.name != END))
}

/// The files that the package's header lists.
struct ListedFiles {
    names: Vec<String>,
    modes: Vec<u64>,
    sizes: Vec<u64>,
    inodes: Vec<u64>,
    /// By inode number of a regular file: how many names it has, and the index of the last.
    links: BTreeMap<u64, (u64, usize)>,
}

impl ListedFiles {
    fn of(header: &Header) -> Option<ListedFiles> {
        let folders: Vec<&str> = header.texts(tags::DIR_NAMES)?.take(MOST_FILES).collect();
        let inside = header.numbers(tags::DIR_INDEXES)?;
        let name = |(base, nth): (&str, &u64)| {
            let folder = usize::try_from(*nth).ok().and_then(|nth| folders.get(nth));
            // The header has absolute paths; in a cpio archive they begin with a dot.
            folder.map(|folder| format!(".{folder}{base}"))
        };
        let bases = header.texts(tags::BASE_NAMES)?.take(MOST_FILES);
        let sizes = header.numbers(tags::FILE_SIZES_LONG);
        let modes = header.numbers(tags::FILE_MODES)?;
        let inodes = header.numbers(tags::FILE_INODES).unwrap_or_default();
        let mut links: BTreeMap<u64, (u64, usize)> = BTreeMap::new();
        for (nth, (inode, _)) in inodes
            .iter()
            .zip(&modes)
            .enumerate()
            .filter(|(_, (_, mode))| is_regular(**mode))
        {
            let (count, last) = links.entry(*inode).or_default();
            (*count, *last) = (*count + 1, nth);
        }
        Some(ListedFiles {
            names: bases.zip(&inside).map_while(name).collect(),
            modes,
            sizes: sizes.or_else(|| header.numbers(tags::FILE_SIZES))?,
            inodes,
            links,
        })
    }

    fn member(&self, nth: usize) -> Option<CpioMember> {
        let (mode, size) = (*self.modes.get(nth)?, *self.sizes.get(nth)?);
        let inode = self.inodes.get(nth).copied().unwrap_or_default();
        let (links, last) = self.links.get(&inode).copied().unwrap_or((1, nth));
        let has_content = is_regular(mode) && last == nth || mode & TYPE == LINK;
        Some(CpioMember {
            name: self.names.get(nth)?.clone(),
            mode,
            size: if has_content { size } else { 0 },
            inode,
            links,
        })
    }
}

fn is_regular(mode: u64) -> bool {
    mode & TYPE == REGULAR
}

/// The padding from this length to a multiple of four.
fn padding(length: u64) -> u64 {
    length.wrapping_neg() % 4
}

fn skip(input: &mut impl Read, length: u64) -> io::Result<()> {
    io::copy(&mut input.take(length), &mut io::sink()).map(drop)
}

fn fill(input: &mut impl Read, bytes: &mut [u8]) -> Result<(), String> {
    let filled = input.read_exact(bytes);
    filled.map_err(|e| format!("cut short or damaged ({e})"))
}

fn hex(input: &mut impl Read) -> Result<u64, String> {
    let mut digits = [0; FIELD];
    fill(input, &mut digits)?;
    let number = std::str::from_utf8(&digits)
        .ok()
        .and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| "cut short or damaged (a file's header has no number)".into())
}

/// The name without characters that must not be shown.
fn shown(name: &str) -> String {
    name.chars()
        .take(200)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}
