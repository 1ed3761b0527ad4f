//! What controller and worker say to each other: a length of four bytes, and a message in postcard's form.

use crate::slurm::CellFailure;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use worstcase_lab::cell::ResultParts;

/// The version of this protocol.
pub const PROTOCOL: u32 = 1;
/// No message is longer: kernels and results are much shorter.
const LONGEST: u32 = 1 << 30;

/// Messages of the controller.
#[derive(Debug, Serialize, Deserialize)]
pub enum ControllerAsk {
    /// Asks for the measurement of a cell.
    Measure(WorkerTask),
    /// A file that the worker lacked.
    File(Vec<u8>),
}

/// A cell and its subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkerTask {
    /// The subject: a parcel as JSON.
    pub parcel: String,
    /// SHA-256 of its kernel.
    pub bzimage: String,
    /// SHA-256 of its image.
    pub initrd: String,
    /// The cell's text.
    pub spec: String,
    /// Real time for one machine, in seconds, if it is bounded.
    pub limit_s: Option<u64>,
}

/// Messages of the worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum WorkerAnswer {
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
pub struct Hello {
    /// Always [`PROTOCOL`].
    pub protocol: u32,
    /// The version of worstcase.
    pub version: String,
    /// The machine's own name.
    pub machine: String,
    /// CPUs that worstcase may use there.
    pub cpus: usize,
}

/// The result of a cell.
#[derive(Debug, Serialize, Deserialize)]
pub struct MeasuredCell {
    /// Its key.
    pub key: String,
    /// What the lab machine reported when it was ready.
    pub ready: String,
    /// The result.
    pub parts: ResultParts,
}

/// Writes a message.
pub fn write(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

/// Reads a message.
pub fn read<T: DeserializeOwned>(mut from: impl Read) -> io::Result<T> {
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
