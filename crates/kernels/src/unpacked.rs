//! Decompresses while reading: never more than a limit, and up to the checksum.
//!
//! Some hundred bytes can claim to hold gigabytes. Kernels and modules shrink to a fifth or a tenth; no real package comes
//! near a hundredth.

use std::io::{self, Read};

use liblzma::read::XzDecoder;
use liblzma::stream::Stream;

/// Unpacked bytes are limited to this multiple of the packed length, and some bytes more.
const RATIO: u64 = 100;
const BESIDE: u64 = 4 << 20;
/// Limit in bytes for xz's own memory; `xz -9` needs 65 MiB.
const XZ_MEMORY: u64 = 256 << 20;

/// The most bytes that `packed` bytes may unpack to.
pub(crate) fn most_of(packed: u64) -> u64 {
    packed.saturating_mul(RATIO).saturating_add(BESIDE)
}

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// xz.
    Xz,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// None.
    Plain,
}

impl Packing {
    /// The compression by the end of a name: `.xz`, `.gz`, `.zst`, nothing.
    pub(crate) fn of_name(end: &str) -> Option<Packing> {
        match end {
            ".xz" => Some(Packing::Xz),
            ".gz" => Some(Packing::Gzip),
            ".zst" => Some(Packing::Zstd),
            "" => Some(Packing::Plain),
            _ => None,
        }
    }

    /// The compression by a file's first bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Packing> {
        match bytes.get(..4)? {
            [0xfd, b'7', b'z', b'X'] => Some(Packing::Xz),
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] => Some(Packing::Zstd),
            _ => None,
        }
    }
}

type Zstd<R> = ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

enum Inner<R: Read> {
    Xz(XzDecoder<R>),
    Gzip(flate2::read::GzDecoder<R>),
    Zstd(Box<Zstd<R>>),
    Plain(R),
}

/// A reader that decompresses.
pub(crate) struct Unpacked<R: Read> {
    inner: Inner<R>,
    most: u64,
    left: u64,
}

impl<R: Read> Unpacked<R> {
    /// Decompresses `reader`, which may hold at most `most` unpacked bytes.
    pub fn new(reader: R, packing: Packing, most: u64) -> io::Result<Unpacked<R>> {
        let inner = match packing {
            Packing::Xz => Inner::Xz(XzDecoder::new_stream(reader, Stream::new_stream_decoder(XZ_MEMORY, 0)?)),
            Packing::Gzip => Inner::Gzip(flate2::read::GzDecoder::new(reader)),
            Packing::Zstd => {
                let decoder = ruzstd::decoding::StreamingDecoder::new(reader);
                Inner::Zstd(Box::new(decoder.map_err(io::Error::other)?))
            }
            Packing::Plain => Inner::Plain(reader),
        };
        Ok(Unpacked {
            inner,
            most,
            left: most,
        })
    }

    /// Reads the rest, with the checksum: a reader of a tar archive stops at its end mark, which comes before.
    pub fn finish(mut self) -> io::Result<()> {
        io::copy(&mut self, &mut io::sink())?;
        let Inner::Zstd(zstd) = self.inner else {
            return Ok(());
        };
        let told = zstd.decoder.get_checksum_from_data();
        match told.is_none() || told == zstd.decoder.get_calculated_checksum() {
            true => Ok(()),
            false => Err(io::Error::other("its checksum is another")),
        }
    }

    /// All unpacked bytes.
    pub(crate) fn read_all(mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        self.read_to_end(&mut all)?;
        self.finish()?;
        Ok(all)
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = match &mut self.inner {
            Inner::Xz(inner) => inner.read(buffer),
            Inner::Gzip(inner) => inner.read(buffer),
            Inner::Zstd(inner) => inner.read(buffer),
            Inner::Plain(inner) => inner.read(buffer),
        }?;
        self.left = self.left.checked_sub(n as u64).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it unpacks to more than {} bytes, which no real one does", self.most),
            )
        })?;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(packing: Packing, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        match packing {
            Packing::Xz => {
                liblzma::read::XzEncoder::new(bytes, 6).read_to_end(&mut out).unwrap();
            }
            Packing::Gzip => {
                let mut encoder = flate2::read::GzEncoder::new(bytes, flate2::Compression::best());
                encoder.read_to_end(&mut out).unwrap();
            }
            Packing::Zstd => {
                out = ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
            }
            Packing::Plain => out = bytes.to_vec(),
        }
        out
    }

    const ALL: [Packing; 4] = [Packing::Xz, Packing::Gzip, Packing::Zstd, Packing::Plain];

    #[test]
    fn what_fits_is_read_and_what_does_not_is_not() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(|i| (i / 3).to_le_bytes()).collect();
        for packing in ALL {
            let packed = packed(packing, &bytes);
            let read = |most: usize| Unpacked::new(&packed[..], packing, most as u64).and_then(Unpacked::read_all);
            assert_eq!(read(bytes.len()).unwrap(), bytes, "{packing:?}");
            let refused = read(bytes.len() - 1).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge, "{packing:?}: {refused}");
        }
    }

    #[test]
    fn a_bit_that_flipped_is_found_behind_what_was_wanted() {
        let bytes: Vec<u8> = (0..4_096_u32)
            .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        for packing in [Packing::Xz, Packing::Gzip] {
            let whole = packed(packing, &bytes);
            // In gzip's header only the first bytes matter.
            let begin = if packing == Packing::Gzip { 10 } else { 0 };
            for at in (begin..whole.len()).step_by(53).chain(whole.len() - 12..whole.len()) {
                let mut flipped = whole.clone();
                flipped[at] ^= 1;
                let read = || -> io::Result<()> {
                    let mut unpacked = Unpacked::new(&flipped[..], packing, 1 << 20)?;
                    unpacked.read_exact(&mut [0; 16])?;
                    unpacked.finish()
                };
                assert!(read().is_err(), "{packing:?} byte {at} of {}", whole.len());
            }
        }
    }
}
