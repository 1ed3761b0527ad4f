//! One sample as the controller keeps it, and the digest of all of them.

use super::Quantity;
use sha2::{Digest, Sha256};
use worstcase_base::digest::hex;
use worstcase_contract::{Instructions, Nanos};

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleRow {
    /// The number of its period.
    pub index: u32,
    /// When it was due, on the probe's clock.
    pub due: Nanos,
    /// The lateness.
    pub latency: Nanos,
    /// Due time to the first instruction of the timer interrupt, where it was seen.
    pub irq_latency: Option<Nanos>,
    /// First instruction of the timer interrupt to the sample, where it was seen.
    pub after_irq: Option<Nanos>,
    /// Lab: instructions executed at the sample, counted from the begin of measuring.
    pub instructions: Option<Instructions>,
    /// Host: the parts that follow `irq_latency`, where the kernel's trace was read.
    pub parts: Option<RowParts>,
    /// Of a program's cycle: the parts of the latency, and when its work began.
    pub cycle: Option<CycleParts>,
    /// Probe `jitter`: this period's length minus what it should be, in ns; none after a missed period.
    pub jitter_ns: Option<i64>,
}

impl SampleRow {
    /// A quantity of it, where it was seen; jitter without its sign.
    pub fn value(&self, quantity: Quantity) -> Option<Nanos> {
        match quantity {
            Quantity::Latency => Some(self.latency),
            Quantity::IrqLatency => self.irq_latency,
            Quantity::AfterIrq => self.after_irq,
            Quantity::Handler => Some(self.parts?.handler),
            Quantity::Scheduling => Some(self.parts?.scheduling),
            Quantity::Return => Some(self.parts?.return_),
            Quantity::Unexplained => match self.cycle {
                Some(cycle) => Some(cycle.unexplained),
                None => Some(self.parts?.unexplained),
            },
            Quantity::Start => Some(self.cycle?.start),
            Quantity::Execution => Some(self.cycle?.execution),
            Quantity::Interference => Some(self.cycle?.interference),
            Quantity::Blocked => Some(self.cycle?.blocked),
            Quantity::Jitter => Some(Nanos(self.jitter_ns?.unsigned_abs())),
        }
    }
}

/// The parts of a latency behind the interrupt. With `irq_latency` they add up to the latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowParts {
    /// Timer interrupt entered to wake-up issued.
    pub handler: Nanos,
    /// Wake-up issued to switched in.
    pub scheduling: Nanos,
    /// Switched in to sample.
    pub return_: Nanos,
    /// The rest.
    pub unexplained: Nanos,
}

/// Where the time of a program's cycle went. All but `start` add up to the latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleParts {
    /// Release to the begin of the work; within the parts below.
    pub start: Nanos,
    /// The thread ran.
    pub execution: Nanos,
    /// It was ready, and something else had the CPU.
    pub interference: Nanos,
    /// It was blocked.
    pub blocked: Nanos,
    /// The rest.
    pub unexplained: Nanos,
}

/// First bytes of the digested data, so that no other data gives the same digest.
const DOMAIN: &[u8] = b"worstcase-samples/1\n";
/// Stands for an absent value.
const ABSENT: u64 = u64::MAX;

/// SHA-256 over the samples, as `sha256:` and hexadecimal digits.
///
/// The digested data are `worstcase-samples/1` with a line end, the number of periods expected, and for each sample index, due,
/// latency, irq_latency, after_irq and instructions: each a little-endian u64, all ones where absent. The digest depends on
/// nothing else: not on the file format, not on this tool's version.
pub fn digest(expected: u32, rows: &[SampleRow]) -> String {
    let mut digest = RunningDigest::new(expected);
    rows.iter().for_each(|row| digest.add(row));
    digest.finish()
}

/// [`digest`], row by row.
pub struct RunningDigest(Sha256);

impl RunningDigest {
    /// A digest for so many expected periods.
    pub fn new(expected: u32) -> RunningDigest {
        let mut hash = Sha256::new();
        hash.update(DOMAIN);
        hash.update(u64::from(expected).to_le_bytes());
        RunningDigest(hash)
    }

    /// Adds the next row.
    pub fn add(&mut self, row: &SampleRow) {
        let words = [
            u64::from(row.index),
            row.due.0,
            row.latency.0,
            row.irq_latency.map_or(ABSENT, |n| n.0),
            row.after_irq.map_or(ABSENT, |n| n.0),
            row.instructions.map_or(ABSENT, |n| n.0),
        ];
        for word in words {
            self.0.update(word.to_le_bytes());
        }
    }

    /// The digest as `sha256:` and hexadecimal digits.
    pub fn finish(self) -> String {
        format!("sha256:{}", hex(&self.0.finalize()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: SampleRow = SampleRow {
        index: 1,
        due: Nanos(2),
        latency: Nanos(3),
        irq_latency: Some(Nanos(1)),
        after_irq: Some(Nanos(2)),
        instructions: Some(Instructions(9)),
        parts: None,
        cycle: None,
        jitter_ns: None,
    };

    #[test]
    fn every_value_counts() {
        let changed = [
            SampleRow { index: 2, ..ROW },
            SampleRow { due: Nanos(0), ..ROW },
            SampleRow {
                latency: Nanos(4),
                ..ROW
            },
            SampleRow {
                irq_latency: None,
                ..ROW
            },
            SampleRow {
                after_irq: Some(Nanos(1)),
                ..ROW
            },
            SampleRow {
                instructions: None,
                ..ROW
            },
        ];
        for row in changed {
            assert_ne!(digest(5, &[row]), digest(5, &[ROW]), "{row:?}");
        }
        assert_ne!(digest(6, &[ROW]), digest(5, &[ROW]));
    }

    /// Computed with Python's hashlib and struct: another program can check a digest.
    #[test]
    fn a_known_digest() {
        assert_eq!(
            digest(5, &[ROW]),
            "sha256:df5d6b0dec81dc90e2d49b3b4162531a1a25cd2c989e73c8ccfd89335e6fedfb"
        );
    }
}
