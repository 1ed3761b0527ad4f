//! What one cell gave, as it leaves the measured machine: one frame with a length and a checksum.
//!
//! ```text
//! "WCREC" 0x00 | version u16 LE | payload length u32 LE | CRC-32 of the payload u32 LE | payload (postcard)
//! ```
//! Anything cut short, changed or of another version is refused, never half-read.

use crate::bench::Details;
use crate::followed::RawTrace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use worstcase_instruments::record::{Sample, SelfCost, Work};
use worstcase_logs::Nanos;

const MAGIC: &[u8; 6] = b"WCREC\0";
const VERSION: u16 = 4;
const HEADER_LEN: usize = 16;

/// Everything one cell gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawRecord {
    /// The cell's text, as the probe understood it.
    pub spec: String,
    /// The due time of period 0, on CLOCK_MONOTONIC.
    pub start: Nanos,
    /// Periods that were due.
    pub expected: u32,
    /// Samples, in order of time. `expected - samples.len()` periods were missed.
    pub samples: Vec<Sample>,
    /// The probe's own cost.
    pub self_cost: SelfCost,
    /// What the load delivered while measuring; empty only for `idle`.
    pub work: Vec<Work>,
    /// Rights and settings that were missing and may have changed the result, in words.
    pub warnings: Vec<String>,
    /// What the machine said of itself: `release`, `version`, `preempt`, `clocksource`, ...
    pub environment: BTreeMap<String, String>,
    /// What a probe of [`crate::bench`] tells beside its samples.
    pub details: Option<Details>,
    /// What the scheduler counted that was loaded into the kernel.
    pub counters: BTreeMap<String, u64>,
    /// The trace of a program that was followed: it has the samples.
    pub trace: Option<RawTrace>,
}

impl RawRecord {
    /// Periods without a sample of their own.
    pub fn missed(&self) -> u64 {
        u64::from(self.expected) - self.samples.len() as u64
    }

    /// The record as one frame.
    pub fn encode(&self) -> Vec<u8> {
        let payload = postcard::to_stdvec(self).expect("a record of plain values is serialised");
        let mut out = Vec::with_capacity(HEADER_LEN + payload.len());
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        out.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        out.extend_from_slice(&payload);
        out
    }

    /// Reads exactly one frame.
    pub fn decode(bytes: &[u8]) -> Result<RawRecord, RecordError> {
        if bytes.is_empty() {
            return Err(RecordError::Nothing);
        }
        let header = bytes.get(..HEADER_LEN).ok_or(RecordError::CutShort)?;
        let u32_at = |i: usize| u32::from_le_bytes(header[i..i + 4].try_into().expect("four bytes"));
        if &header[..6] != MAGIC {
            return Err(RecordError::NotARecord);
        }
        let version = u16::from_le_bytes([header[6], header[7]]);
        if version != VERSION {
            return Err(RecordError::OtherVersion(version));
        }
        let payload = &bytes[HEADER_LEN..];
        let length = u32_at(8) as usize;
        if payload.len() < length {
            return Err(RecordError::CutShort);
        }
        if payload.len() > length || crc32fast::hash(payload) != u32_at(12) {
            return Err(RecordError::Damaged);
        }
        let record: RawRecord = postcard::from_bytes(payload).map_err(|_| RecordError::Damaged)?;
        if record.samples.len() as u64 > u64::from(record.expected) {
            return Err(RecordError::Damaged);
        }
        Ok(record)
    }
}

/// Why bytes are not a record.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RecordError {
    /// No byte at all.
    #[error("no record was sent")]
    Nothing,
    /// Fewer bytes than the header promises.
    #[error("the record is cut short")]
    CutShort,
    /// Something else.
    #[error("this is not a record")]
    NotARecord,
    /// The checksum or the contents do not fit.
    #[error("the record is damaged (its checksum or contents do not fit)")]
    Damaged,
    /// Written by another version.
    #[error("the record has version {0}, this worstcase reads version {VERSION}")]
    OtherVersion(u16),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> RawRecord {
        RawRecord {
            spec: "probe=wakeup".into(),
            start: Nanos(1),
            expected: 3,
            samples: vec![
                Sample {
                    index: 0,
                    latency: Nanos(5),
                },
                Sample {
                    index: 2,
                    latency: Nanos(7),
                },
            ],
            self_cost: SelfCost::default(),
            work: vec![Work {
                unit: "forks".into(),
                count: 9,
            }],
            warnings: vec![],
            environment: BTreeMap::from([("release".into(), "6.1".into())]),
            details: None,
            counters: BTreeMap::new(),
            trace: None,
        }
    }

    #[test]
    fn frame_and_back() {
        assert_eq!(RawRecord::decode(&record().encode()), Ok(record()));
        assert_eq!(record().missed(), 1);
    }

    #[test]
    fn every_cut_is_refused() {
        let frame = record().encode();
        for n in 0..frame.len() {
            assert!(
                RawRecord::decode(&frame[..n]).is_err(),
                "{n} bytes were taken for a record"
            );
        }
    }

    #[test]
    fn every_changed_byte_is_refused() {
        let frame = record().encode();
        for n in 0..frame.len() {
            let mut changed = frame.clone();
            changed[n] ^= 0x40;
            assert!(RawRecord::decode(&changed).is_err(), "byte {n} was changed unseen");
        }
    }
}
