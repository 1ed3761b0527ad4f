//! The plugin's event log: what the QEMU plugin saw of one cell, in the order in which it happened.
//!
//! A file of little-endian words: the header (`MAGIC`, then `VERSION`), then events of three words each
//! ([`Event`]), then one closing event ([`EventKind::Close`]) that proves that the file is whole.

use crate::units::Instructions;

/// First word of the log ("worstcas" as bytes).
pub const MAGIC: u64 = u64::from_le_bytes(*b"worstcas");
/// Version of the log's form.
pub const VERSION: u64 = 4;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum EventKind {
    /// A mark's store (see [`crate::mark`]); `arg` is the value stored, all ones if it is not in memory. Number = 16 + mark kind.
    MarkBegin = 17,
    /// As above, for a sample.
    MarkSample = 18,
    /// As above, the end of measuring.
    MarkEnd = 19,
    /// The same of the stop for the snapshot, in a boot's log; `arg` is the address stored to, which is a device's.
    MarkStop = 20,
    /// User code read the time-stamp counter; logged only for the last such read before each mark, just before the mark's event. `arg` is the virtual time that it read, in ns.
    UserTsc = 2,
    /// The first instruction of the watched timer-interrupt entry is about to run; `arg` is its address.
    TimerEntry = 3,
    /// A mark was made on a CPU that QEMU itself had scheduled: virtual time may be wrong. `arg` is as for the mark.
    Unscheduled = 4,
    /// The log is complete; `arg` is the number of events before this one, and its count is the last one's.
    Close = 255,
}

impl EventKind {
    /// The kind with this number, if there is one.
    const fn from_u64(n: u64) -> Option<EventKind> {
        Some(match n {
            17 => EventKind::MarkBegin,
            18 => EventKind::MarkSample,
            19 => EventKind::MarkEnd,
            20 => EventKind::MarkStop,
            2 => EventKind::UserTsc,
            3 => EventKind::TimerEntry,
            4 => EventKind::Unscheduled,
            255 => EventKind::Close,
            _ => return None,
        })
    }
}

/// One event: kind, argument, and the instructions executed before the instruction that it speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// See [`EventKind`].
    pub arg: u64,
    /// Instructions completed before the event's own instruction, since QEMU started.
    pub count: Instructions,
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TraceError {
    /// Not a log of this version.
    #[error("not a plugin log of version {VERSION}")]
    NotALog,
    /// The closing event is missing or does not fit.
    #[error("the plugin log is cut short")]
    CutShort,
    /// An event of a kind this version does not know.
    #[error("the plugin log holds an unknown event {0}")]
    UnknownEvent(u64),
}

impl Event {
    /// The event's three words.
    pub fn encode(&self) -> [u8; 24] {
        let mut out = [0; 24];
        out[..8].copy_from_slice(&(self.kind as u64).to_le_bytes());
        out[8..16].copy_from_slice(&self.arg.to_le_bytes());
        out[16..].copy_from_slice(&self.count.0.to_le_bytes());
        out
    }
}

/// The header of a log.
pub fn header() -> [u8; 16] {
    let mut out = [0; 16];
    out[..8].copy_from_slice(&MAGIC.to_le_bytes());
    out[8..].copy_from_slice(&VERSION.to_le_bytes());
    out
}

/// Reads a whole log; the closing event is checked and left out of the result.
pub fn decode(bytes: &[u8]) -> Result<Vec<Event>, TraceError> {
    let body = bytes.strip_prefix(&header()[..]).ok_or(TraceError::NotALog)?;
    let mut events = Vec::with_capacity(body.len() / 24);
    for chunk in body.chunks(24) {
        let word = |i: usize| {
            chunk
                .get(i * 8..i * 8 + 8)
                .map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes")))
                .ok_or(TraceError::CutShort)
        };
        let (number, arg, count) = (word(0)?, word(1)?, Instructions(word(2)?));
        let kind = EventKind::from_u64(number).ok_or(TraceError::UnknownEvent(number))?;
        events.push(Event { kind, arg, count });
    }
    match events.pop() {
        Some(Event {
            kind: EventKind::Close,
            arg,
            ..
        }) if arg == events.len() as u64 => Ok(events),
        _ => Err(TraceError::CutShort),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(close: bool) -> Vec<u8> {
        let mut bytes = header().to_vec();
        bytes.extend(
            Event {
                kind: EventKind::MarkSample,
                arg: 7,
                count: Instructions(9),
            }
            .encode(),
        );
        if close {
            bytes.extend(
                Event {
                    kind: EventKind::Close,
                    arg: 1,
                    count: Instructions(10),
                }
                .encode(),
            );
        }
        bytes
    }

    #[test]
    fn a_whole_log_is_read_and_a_cut_one_is_refused() {
        assert_eq!(
            decode(&log(true)).unwrap(),
            [Event {
                kind: EventKind::MarkSample,
                arg: 7,
                count: Instructions(9)
            }]
        );
        assert_eq!(decode(&log(false)), Err(TraceError::CutShort));
        assert_eq!(decode(&log(true)[..50]), Err(TraceError::CutShort));
        assert_eq!(decode(b"hello"), Err(TraceError::NotALog));
    }
}
