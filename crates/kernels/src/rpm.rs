//! Unpacks a kernel's files from an .rpm: a lead, two headers, and a packed archive of the files.
//!
//! ```text
//! lead       96 bytes; only the first four say anything today
//! signature  a header: checksums of what follows
//! header     a header: name, version, list of files, checksum of the payload
//! payload    the files, as cpio or a form of it that only RPM has, packed
//! ```
//! Formats 4 and 6 are read. As of a .deb only what a kernel consists of is written, nothing is written outside of its
//! folder, and sizes are bounded. The checksums of header and payload must fit where there are any; signatures are not
//! looked at.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use sha2::{Digest, Sha256};
use worstcase_base::{digest, files};

use super::KernelError;
use super::members::Members;
use super::package_info::PackageInfo;
use super::unpacked::{Packing, Unpacked, most_of};
use header::{Header, tags};

mod header;
mod payload;
#[cfg(test)]
pub mod tests;

/// The first bytes of an .rpm.
pub(crate) const MAGIC: [u8; 4] = [0xed, 0xab, 0xee, 0xdb];
const LEAD: usize = 96;

/// Reads the description in an .rpm; unpacks nothing.
pub fn info(rpm: &Path) -> Result<PackageInfo, KernelError> {
    RpmPackage::open(rpm)?.info()
}

/// Unpacks the kernel files of an .rpm into a folder; `usr/lib/modules` becomes `lib/modules`.
pub fn unpack(rpm: &Path, into: &Path) -> Result<PackageInfo, KernelError> {
    let package = RpmPackage::open(rpm)?;
    let info = package.info()?;
    package.unpack(&mut Members::of_a_kernel(rpm, into))?;
    Ok(info)
}

/// Reads everything as [`unpack`] does, and writes nothing. For scripts/fuzz.
pub fn examine(rpm: &Path) -> Result<PackageInfo, KernelError> {
    let package = RpmPackage::open(rpm)?;
    let info = package.info()?;
    package.unpack(&mut Members::unwritten(rpm))?;
    Ok(info)
}

/// A package with parsed headers.
struct RpmPackage<'a> {
    path: &'a Path,
    header: Header,
    size: u64,
    payload: BufReader<std::fs::File>,
}

impl<'a> RpmPackage<'a> {
    fn open(path: &'a Path) -> Result<RpmPackage<'a>, KernelError> {
        let unreadable = |source| KernelError::Unreadable {
            path: path.into(),
            source,
        };
        let file = files::open(path).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        let mut payload = BufReader::new(file);
        let header = headers(&mut payload).map_err(|why| bad(path, format!("not an .rpm or cut short ({why})")))?;
        Ok(RpmPackage {
            path,
            header,
            size,
            payload,
        })
    }

    fn info(&self) -> Result<PackageInfo, KernelError> {
        let of = |tag: u32| self.header.text(tag).unwrap_or_default();
        let info = PackageInfo {
            package: of(tags::NAME).into(),
            version: format!("{}-{}", of(tags::VERSION), of(tags::RELEASE)),
            depends: Vec::new(),
        };
        info.checked().map_err(|why| bad(self.path, why))
    }

    fn unpack(self, members: &mut Members<'_>) -> Result<(), KernelError> {
        let RpmPackage {
            path,
            header,
            size,
            mut payload,
        } = self;
        let bad = |why: String| bad(path, why);
        match header.text(tags::PAYLOAD_FORMAT) {
            None | Some("cpio") => {}
            Some(other) => return Err(bad(format!("its files are packed in an unknown way ({other})"))),
        }
        let begin = payload.fill_buf().map_err(|e| members.cut(&e))?;
        let packing = match header.text(tags::PAYLOAD_COMPRESSOR) {
            Some(name) => packing(name).ok_or_else(|| bad(format!("compressed in an unknown way ({name})")))?,
            None => Packing::of_bytes(begin).unwrap_or(Packing::Plain),
        };
        let mut packed = Summed {
            inner: payload,
            sum: Sha256::new(),
        };
        let unpacked = Unpacked::new(&mut packed, packing, most_of(size)).map_err(|e| members.cut(&e))?;
        let mut unpacked = BufReader::with_capacity(1 << 16, unpacked);
        payload::read(&mut unpacked, &header, members)?;
        unpacked.into_inner().finish().map_err(|e| members.cut(&e))?;
        io::copy(&mut packed, &mut io::sink()).map_err(|e| members.cut(&e))?;
        let told = header.text(tags::PAYLOAD_SHA256);
        match told.is_none_or(|told| told == digest::hex(&packed.sum.finalize())) {
            true => Ok(()),
            false => Err(bad("cut short or damaged (the checksum of its files is another)".into())),
        }
    }
}

fn bad(path: &Path, why: String) -> KernelError {
    KernelError::BadPackage { path: path.into(), why }
}

fn packing(compressor: &str) -> Option<Packing> {
    match compressor {
        "gzip" => Some(Packing::Gzip),
        "xz" => Some(Packing::Xz),
        "zstd" => Some(Packing::Zstd),
        "none" => Some(Packing::Plain),
        _ => None,
    }
}

/// Reads everything before the payload; gives the second header.
fn headers(input: &mut impl Read) -> Result<Header, String> {
    let mut lead = [0; LEAD];
    input.read_exact(&mut lead).map_err(|e| e.to_string())?;
    if !lead.starts_with(&MAGIC) {
        return Err("it does not begin as one".into());
    }
    let signature = Header::read(input)?;
    signature.pad(input)?;
    let header = Header::read(input)?;
    match signature
        .text(tags::HEADER_SHA256)
        .is_none_or(|told| told == header.sha256())
    {
        true => Ok(header),
        false => Err("the checksum of its header is another".into()),
    }
}

/// A reader that computes a checksum of what it reads.
struct Summed<R> {
    inner: R,
    sum: Sha256,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.sum.update(&buffer[..n]);
        Ok(n)
    }
}
