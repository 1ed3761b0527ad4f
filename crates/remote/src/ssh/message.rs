//! What controller and worker say to each other: a length of four bytes, and a message in postcard's form.

use crate::slurm::CellFailure;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use worstcase_lab::cell::ResultParts;

/// The version of this protocol.
pub(crate) const PROTOCOL: u32 = 1;
/// No message is longer: kernels and results are much shorter.
const LONGEST: u32 = 1 << 30;

/// Messages of the controller.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ControllerAsk {
    /// Asks for the measurement of a cell.
    Measure(WorkerTask),
    /// A file that the worker lacked.
    File(Vec<u8>),
}

/// A cell and its subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WorkerTask {
    /// The subject: a parcel as JSON.
    pub(crate) parcel: String,
    /// SHA-256 of its kernel.
    pub(crate) bzimage: String,
    /// SHA-256 of its image.
    pub(crate) initrd: String,
    /// The cell's text.
    pub(crate) spec: String,
    /// Real time for one machine, in seconds, if it is bounded.
    pub(crate) limit_s: Option<u64>,
}

/// Messages of the worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum WorkerAnswer {
    /// The first message.
    Hello(Hello),
    /// Files that the worker lacks, by SHA-256, in the order in which it expects them.
    Needs(Vec<String>),
    /// A cell was measured.
    Done(MeasuredCell),
    /// A cell could not be measured.
    Failed(CellFailure),
}

/// What the worker says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// Always [`PROTOCOL`].
    pub(crate) protocol: u32,
    /// The version of worstcase.
    pub(crate) version: String,
    /// The machine's own name.
    pub(crate) machine: String,
    /// CPUs that worstcase may use there.
    pub(crate) cpus: usize,
}

/// The result of a cell.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MeasuredCell {
    /// Its key.
    pub(crate) key: String,
    /// What the lab machine reported when it was ready.
    pub(crate) ready: String,
    /// The result.
    pub(crate) parts: ResultParts,
}

/// Writes a message.
pub(crate) fn write(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

/// Reads a message.
pub(crate) fn read<T: DeserializeOwned>(mut from: impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::Error::other("what came is no message of worstcase's"));
    }
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != u64::from(length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_as_they_went_or_not_at_all() {
        let hello = Hello {
            protocol: PROTOCOL,
            version: "0.1.0".into(),
            machine: "board1".into(),
            cpus: 4,
        };
        let mut bytes = Vec::new();
        write(&mut bytes, &hello).unwrap();
        assert_eq!(read::<Hello>(&bytes[..]).unwrap(), hello);
        for short in 0..bytes.len() {
            assert!(read::<Hello>(&bytes[..short]).is_err());
        }
        // The text that a login script prints is no message.
        assert!(read::<Hello>(&b"Welcome to board1!\n"[..]).is_err());
    }
}
