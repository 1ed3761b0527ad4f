//! The kernel's trace of a program, as it leaves the machine.

use serde::{Deserialize, Serialize};
use worstcase_logs::Nanos;

/// Most bytes of one CPU's events.
const LONGEST: usize = 256 << 20;

/// A program that ran under the kernel's trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawTrace {
    /// The program's process.
    pub pid: u32,
    /// When it was allowed to begin.
    pub began: Nanos,
    /// When it was no longer traced.
    pub ended: Nanos,
    /// It ended by itself; otherwise its time was over.
    pub is_whole: bool,
    /// The end of what it wrote.
    pub output: String,
    /// How the kernel writes its events.
    pub formats: Vec<TraceFormat>,
    /// The events.
    pub streams: Vec<TraceStream>,
}

/// How the kernel writes the events of a tracepoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFormat {
    /// `system/name`.
    pub name: String,
    /// The text of the format file.
    pub text: String,
}

/// Events of one CPU, in pages as the kernel keeps them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceStream {
    /// The CPU.
    pub cpu: u32,
    /// Events that found no room behind the last one.
    pub dropped: u64,
    /// The pages, deflated.
    packed: Vec<u8>,
}

impl TraceStream {
    /// A CPU's pages.
    pub fn new(cpu: u32, dropped: u64, pages: &[u8]) -> TraceStream {
        /// Traces are smaller by a factor of about six, for a tenth of the time that sending takes.
        const FAST: u8 = 1;
        TraceStream {
            cpu,
            dropped,
            packed: miniz_oxide::deflate::compress_to_vec(pages, FAST),
        }
    }

    /// The pages; an error if they are damaged.
    pub fn pages(&self) -> Result<Vec<u8>, String> {
        miniz_oxide::inflate::decompress_to_vec_with_limit(&self.packed, LONGEST)
            .map_err(|e| format!("the trace of CPU {}: {e}", self.cpu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_packed_and_damage_is_told() {
        let pages = [vec![7; 5000], vec![0; 4096]].concat();
        let mut stream = TraceStream::new(1, 0, &pages);
        assert_eq!(stream.pages(), Ok(pages));
        assert!(stream.packed.len() < 100);
        stream.packed.truncate(10);
        assert!(stream.pages().unwrap_err().contains("CPU 1"));
    }
}
