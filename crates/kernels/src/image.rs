//! What a kernel's image says of itself: its architecture and its release.

use std::path::Path;

use worstcase_base::files;
use worstcase_plan::Arch;

use super::KernelError;

/// The magic of an image for arm64 and its place (Documentation/arch/arm64/booting.rst).
const ARM64: (usize, &[u8]) = (0x38, b"ARM\x64");
/// The magic of one that EFI unpacks (drivers/firmware/efi/libstub/zboot-header.S).
const PACKED: (usize, &[u8]) = (4, b"zimg");
/// What stands before the release in a kernel's data.
const BANNER: &[u8] = b"Linux version ";

/// What an image says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImageFacts {
    /// The architecture that it is for.
    pub(crate) arch: Arch,
    /// `uname -r`.
    pub(crate) release: String,
}

impl ImageFacts {
    /// Reads an image, and checks that it is one.
    pub(crate) fn read(path: &Path) -> Result<ImageFacts, KernelError> {
        let image = files::read(path).map_err(|source| KernelError::Unreadable {
            path: path.into(),
            source,
        })?;
        ImageFacts::of(&image).map_err(|why| KernelError::NotAKernel {
            path: path.into(),
            why: why.into(),
        })
    }

    fn of(image: &[u8]) -> Result<ImageFacts, &'static str> {
        let has = |(at, magic): (usize, &[u8])| image.get(at..at + magic.len()) == Some(magic);
        let (arch, release) = if has(ARM64) {
            (Arch::Arm64, arm64_release(image)?)
        } else if has(PACKED) {
            return Err("it is packed for EFI (vmlinuz.efi); name the Image that the kernel was built to beside it");
        } else {
            (Arch::X86, x86_release(image)?)
        };
        // The release is shown, and becomes part of file names.
        if release.len() > 64 || !release.chars().all(|c| c.is_ascii_graphic() && c != '/') {
            return Err("its release is none that a kernel can have");
        }
        Ok(ImageFacts { arch, release })
    }
}

/// Offsets: Documentation/arch/x86/boot.rst.
fn x86_release(image: &[u8]) -> Result<String, &'static str> {
    if image.get(0x202..0x206) != Some(b"HdrS") {
        return Err("it has neither the header \"HdrS\" of x86-64 nor that of arm64");
    }
    // The boot sector is followed by at least one sector of setup code.
    if image.len() < 0x400 {
        return Err("it is cut short");
    }
    let pointer = usize::from(u16::from_le_bytes([image[0x20e], image[0x20f]]));
    let text = image.get(pointer + 0x200..).filter(|_| pointer != 0);
    let text = text.ok_or("its header names no version")?;
    let end = text.iter().position(|b| *b == 0).unwrap_or(0);
    let release = first_word(&text[..end]).ok_or("its header names no version")?;
    // The image states the lengths of its setup code and its 32-bit code: a shorter file was cut.
    let setup = (usize::from(image[0x1f1].max(1)) + 1) * 512;
    let code = u32::from_le_bytes([image[0x1f4], image[0x1f5], image[0x1f6], image[0x1f7]]) as usize * 16;
    match image.len() < setup + code {
        true => Err("it is cut short"),
        false => Ok(release),
    }
}

/// The header names no version, but the kernel's data does.
fn arm64_release(image: &[u8]) -> Result<String, &'static str> {
    if image.len() < efi_end(image).unwrap_or_default() {
        return Err("it is cut short");
    }
    let begins = image.windows(BANNER.len() + 1);
    let found = begins
        .enumerate()
        .find(|(_, begin)| begin[0] == BANNER[0] && begin.starts_with(BANNER) && begin[BANNER.len()].is_ascii_digit());
    let (at, _) = found.ok_or("it names no version, or is cut short")?;
    let text = &image[at + BANNER.len()..];
    first_word(&text[..text.len().min(256)]).ok_or("it names no version")
}

/// Where the sections of an image end that EFI can start, too, by its PE header.
fn efi_end(image: &[u8]) -> Option<usize> {
    let number = |at: usize| Some(u32::from_le_bytes(*image.get(at..)?.first_chunk()?) as usize);
    let half = |at: usize| Some(usize::from(u16::from_le_bytes(*image.get(at..)?.first_chunk()?)));
    let header = number(0x3c)?;
    if image.get(header..header + 4)? != b"PE\0\0" {
        return None;
    }
    let (sections, optional) = (half(header + 6)?, half(header + 20)?);
    let table = header + 24 + optional;
    let end = |nth: usize| Some(number(table + 40 * nth + 16)? + number(table + 40 * nth + 20)?);
    (0..sections).filter_map(end).max()
}

fn first_word(text: &[u8]) -> Option<String> {
    Some(String::from_utf8_lossy(text).split_whitespace().next()?.to_string())
}

/// The smallest file that passes for a bzImage, for tests.
#[cfg(test)]
pub(crate) fn sample(release: &str) -> Vec<u8> {
    let mut image = vec![0u8; 0x800];
    image[0x1f1] = 3;
    image[0x202..0x206].copy_from_slice(b"HdrS");
    image[0x20e..0x210].copy_from_slice(&0x100u16.to_le_bytes());
    let version = format!("{release} (builder) #1 SMP");
    image[0x300..0x300 + version.len()].copy_from_slice(version.as_bytes());
    image
}

/// The smallest file that passes for an Image of arm64, for tests.
#[cfg(test)]
pub(crate) fn sample_arm64(release: &str) -> Vec<u8> {
    let mut image = vec![0u8; 0x800];
    image[ARM64.0..ARM64.0 + ARM64.1.len()].copy_from_slice(ARM64.1);
    image[0x3c] = 0x40;
    image[0x40..0x44].copy_from_slice(b"PE\0\0");
    // One section, behind a header without options, which the file's second half is.
    image[0x46] = 1;
    image[0x58 + 16..0x58 + 20].copy_from_slice(&0x400u32.to_le_bytes());
    image[0x58 + 20..0x58 + 24].copy_from_slice(&0x400u32.to_le_bytes());
    let banner = format!("Linux version %s\0Linux version {release} (builder) #1 SMP");
    image[0x300..0x300 + banner.len()].copy_from_slice(banner.as_bytes());
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_tells_its_architecture_and_release() {
        let of = |image: &[u8]| ImageFacts::of(image).map(|facts| (facts.arch, facts.release));
        assert_eq!(of(&sample("6.1.0-1-amd64")), Ok((Arch::X86, "6.1.0-1-amd64".into())));
        let arm64 = sample_arm64("6.12.1-arm64");
        assert_eq!(of(&arm64), Ok((Arch::Arm64, "6.12.1-arm64".into())));
        assert_eq!(of(&arm64[..0x700]), Err("it is cut short"));
        assert_eq!(of(&arm64[..0x3c]), Err("it names no version, or is cut short"));
        let mut packed = vec![0; 0x400];
        packed[4..8].copy_from_slice(b"zimg");
        assert!(of(&packed).unwrap_err().contains("packed for EFI"));
        assert!(of(&sample("a/b")).unwrap_err().contains("its release"));
    }
}
