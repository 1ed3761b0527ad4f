//! The file in which a machine leaves its message: the message itself, or memory that the machine shares, which begins with the
//! message's length.

use super::LabError;
use super::board::{Board, RecordDevice};
use super::invocation::RECORD;
use super::message::LONGEST_MESSAGE;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use worstcase_base::files::read_most;
use worstcase_plan::Arch;

/// Bytes of the length, in shared memory.
const LENGTH: usize = 8;

/// Gives the empty file in a machine's folder the length that its board needs.
pub(crate) fn prepare(folder: &Path, arch: Arch) -> Result<(), LabError> {
    let RecordDevice::Memory(mib) = Board::of(arch).record else {
        return Ok(());
    };
    let path = folder.join(RECORD);
    let file = File::options().write(true).open(&path);
    file.and_then(|file| file.set_len(mib << 20))
        .map_err(LabError::io(path))
}

/// The message that a machine left, which alone the file has from now on.
pub(crate) fn take(folder: &Path, arch: Arch) -> Vec<u8> {
    let path = folder.join(RECORD);
    match Board::of(arch).record {
        RecordDevice::Port => read_most(&path, LONGEST_MESSAGE).unwrap_or_default(),
        RecordDevice::Memory(_) => {
            let message = File::open(&path).and_then(shared).unwrap_or_default();
            // What cannot be written is missed by whoever reads the file.
            let _ = fs::write(&path, &message);
            message
        }
    }
}

fn shared(mut file: impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; LENGTH];
    file.read_exact(&mut length)?;
    let mut message = Vec::new();
    file.take(u64::from_le_bytes(length).min(LONGEST_MESSAGE))
        .read_to_end(&mut message)?;
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_shared_memory_the_message_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RECORD);
        fs::write(&path, "").unwrap();
        prepare(folder.path(), Arch::Arm64).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), LONGEST_MESSAGE);
        let written = [&5u64.to_le_bytes()[..], b"WCERRmore"].concat();
        fs::write(&path, written).unwrap();
        assert_eq!(take(folder.path(), Arch::Arm64), b"WCERR");
        assert_eq!(fs::read(&path).unwrap(), b"WCERR");
        fs::write(&path, [0; 64]).unwrap();
        assert_eq!(take(folder.path(), Arch::Arm64), b"");
        fs::write(&path, "WCREADY").unwrap();
        prepare(folder.path(), Arch::X86).unwrap();
        assert_eq!(take(folder.path(), Arch::X86), b"WCREADY");
    }
}
