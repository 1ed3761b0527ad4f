//! A CPU's ring: the kernel writes records to mapped memory, and this process reads them.

use perf_event_open_sys::bindings as sys;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use worstcase_contract::Nanos;

/// A record without a call chain is shorter than this, so a ring with less room may have lost one.
const ROOM: u64 = 1024;
/// The same for a record with the kernel's call chain (127 frames at most, unless the machine allows more).
const ROOM_WITH_CHAIN: u64 = 4096;

/// A record of the ring.
#[derive(Debug, PartialEq, Eq)]
pub enum RingRecord<'r> {
    /// A counter's record.
    Sample {
        /// The counter's number.
        id: u64,
        /// When.
        at: Nanos,
        /// The thread that ran.
        tid: u32,
        /// The rest, which depends on the counter.
        rest: Rest<'r>,
    },
    /// Records that did not fit; `at` is when there was room again.
    Lost {
        /// When.
        at: Nanos,
        /// How many.
        count: u64,
    },
}

/// The last part of a sample: a call chain, if the counter asks for it, and the tracepoint's own record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest<'r>(&'r [u64]);

impl<'r> Rest<'r> {
    /// Takes off the call chain: return addresses, innermost first, with markers between contexts.
    pub(crate) fn take_chain(&mut self) -> &'r [u64] {
        let Some((count, rest)) = self.0.split_first() else {
            return &[];
        };
        let (chain, rest) = rest.split_at((*count as usize).min(rest.len()));
        self.0 = rest;
        chain
    }

    /// The first two arguments of the function that begins; they follow its record.
    pub(crate) fn arguments(&self) -> Option<[u64; 2]> {
        let record = (4 + *self.0.first()? as u32 as usize).div_ceil(8);
        // The registers' ABI, then the requested registers in perf's order: on x86 the second argument comes first.
        let [first, second] = self.0.get(record + 1..record + 3)?.try_into().ok()?;
        Some(match cfg!(target_arch = "x86_64") {
            true => [second, first],
            false => [first, second],
        })
    }

    /// The tracepoint's record, as its format file describes it.
    pub fn record(&self) -> &'r [u8] {
        let Some(first) = self.0.first() else { return &[] };
        // 32 bits of length, then the record.
        let (length, bytes) = (*first as u32 as usize, self.0.len() * 8);
        // SAFETY: any initialised memory may be seen as bytes; they live as long as the words.
        let bytes = unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast::<u8>(), bytes) };
        &bytes[4..(4 + length).min(bytes.len())]
    }
}

/// The mapping: one page of state, then the data.
#[derive(Debug)]
pub struct Ring {
    start: NonNull<u8>,
    page: usize,
    data: usize,
    room: u64,
    /// Buffer in which a record that wraps around the ring's end is joined; words of 8 bytes, so that chains are
    /// aligned.
    joined: Vec<u64>,
}

// SAFETY: the mapping belongs to this value alone; nothing in it is tied to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps a counter's ring of `data` bytes: a power of two, at least a page.
    pub(crate) fn map(fd: BorrowedFd<'_>, data: usize, with_chains: bool) -> io::Result<Ring> {
        // SAFETY: no pointers are passed; the page size always exists.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        assert!(data.is_power_of_two() && data >= page, "a ring of {data} bytes");
        // SAFETY: the kernel chooses the address, so no memory in use is replaced.
        let start = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                page + data,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Ring {
            start: NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))?,
            page,
            data,
            room: if with_chains { ROOM_WITH_CHAIN } else { ROOM },
            joined: vec![0; usize::from(u16::MAX) / 8 + 1],
        })
    }

    fn position(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the state page is mapped as long as `self`; both positions are aligned 64-bit integers that the
        // kernel and this process only ever access whole.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// Hands over the records in the ring, oldest first, and frees them. Says whether the ring was so full that records
    /// may have been lost for which no `Lost` has come yet.
    pub fn drain(&mut self, mut each: impl FnMut(RingRecord<'_>)) -> bool {
        let head = std::mem::offset_of!(sys::perf_event_mmap_page, data_head);
        let tail = std::mem::offset_of!(sys::perf_event_mmap_page, data_tail);
        // Only this process writes the tail, so Relaxed is enough.
        let from = self.position(tail).load(Ordering::Relaxed);
        // Acquire: the kernel writes the records before it moves the head (smp_wmb in perf_output_put_handle).
        let to = self.position(head).load(Ordering::Acquire);
        let mut at = from;
        while to - at >= HEADER as u64 {
            let (kind, size) = self.header(at);
            if size < HEADER || size as u64 > to - at {
                break;
            }
            let body = self.body(at, size);
            if let Some(record) = parse(kind, body) {
                each(record);
            }
            at += size as u64;
        }
        // Release: all reads above happen before the kernel may write there again.
        self.position(tail).store(to, Ordering::Release);
        to - from + self.room > self.data as u64
    }

    /// Bytes that were taken out so far.
    pub fn taken(&self) -> u64 {
        let tail = std::mem::offset_of!(sys::perf_event_mmap_page, data_tail);
        self.position(tail).load(Ordering::Relaxed)
    }

    fn header(&self, at: u64) -> (u32, usize) {
        let offset = at as usize & (self.data - 1);
        // Records are multiples of 8 bytes, so a header of 8 never lies across the end.
        // SAFETY: 8 aligned bytes within the data, which the kernel does not write until the tail has passed them.
        let header = unsafe { self.start.as_ptr().add(self.page + offset).cast::<u64>().read() };
        (header as u32, (header >> 48) as usize)
    }

    /// What follows a record's header.
    fn body(&mut self, at: u64, size: usize) -> &[u64] {
        let offset = (at as usize + HEADER) & (self.data - 1);
        let length = size - HEADER;
        let first = length.min(self.data - offset);
        // SAFETY: [offset, offset + first) lies within the mapped data and is aligned to 8.
        let data = unsafe { self.start.as_ptr().add(self.page + offset) }.cast::<u64>();
        if first == length {
            // SAFETY: as above; the kernel does not write there until the tail has passed, which `drain` moves after
            // the last use.
            return unsafe { std::slice::from_raw_parts(data, length / 8) };
        }
        let joined = self.joined.as_mut_ptr().cast::<u8>();
        // SAFETY: `joined` has room for the longest record (its size is 16 bits); both pieces lie within the data.
        unsafe {
            core::ptr::copy_nonoverlapping(data.cast::<u8>(), joined, first);
            let begin = self.start.as_ptr().add(self.page);
            core::ptr::copy_nonoverlapping(begin, joined.add(first), length - first);
        }
        &self.joined[..length / 8]
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made, unmapped once.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.page + self.data) };
    }
}

/// Bytes of a `perf_event_header`: type (32 bits), misc (16), size (16).
const HEADER: usize = 8;

/// A record's body; its order is that of perf_event_open(2) for the sample types of [`super::counter`].
fn parse(kind: u32, body: &[u64]) -> Option<RingRecord<'_>> {
    match kind {
        sys::PERF_RECORD_SAMPLE => {
            let [id, ids, time, _cpu, rest @ ..] = body else {
                return None;
            };
            Some(RingRecord::Sample {
                id: *id,
                at: Nanos(*time),
                tid: (*ids >> 32) as u32,
                rest: Rest(rest),
            })
        }
        // id, lost; then the trailer: tid, time, cpu, identifier.
        sys::PERF_RECORD_LOST => {
            let [_id, count, _ids, time, ..] = body else {
                return None;
            };
            Some(RingRecord::Lost {
                at: Nanos(*time),
                count: *count,
            })
        }
        _ => None,
    }
}

/// Parses a record in every way; the first word is its kind. For scripts/fuzz.
pub(crate) fn fuzz_records(words: &[u64]) {
    let Some((kind, body)) = words.split_first() else {
        return;
    };
    if let Some(RingRecord::Sample { mut rest, .. }) = parse(*kind as u32, body) {
        for _ in 0..2 {
            std::hint::black_box((rest.record(), rest.arguments()));
            std::hint::black_box(rest.take_chain());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_taken_apart() {
        let words = [
            7,
            42 << 32 | 41,
            1_000,
            3,
            2,
            0xffff_8000,
            0xffff_9000,
            5 | 0x0403_0201 << 32,
            0x05,
        ];
        let Some(RingRecord::Sample { id, at, tid, mut rest }) = parse(sys::PERF_RECORD_SAMPLE, &words) else {
            panic!("no sample");
        };
        assert_eq!((id, at, tid), (7, Nanos(1_000), 42));
        assert_eq!(rest.take_chain(), [0xffff_8000, 0xffff_9000]);
        assert_eq!(rest.record(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn arguments_stand_behind_the_record() {
        // 12 bytes of record in two words, the ABI, the second argument (SI), the first (DI).
        let words = [7, 0, 0, 0, 12, 0, 2, 20, 10];
        let Some(RingRecord::Sample { rest, .. }) = parse(sys::PERF_RECORD_SAMPLE, &words) else {
            panic!("no sample");
        };
        let expected = if cfg!(target_arch = "x86_64") {
            [10, 20]
        } else {
            [20, 10]
        };
        assert_eq!(rest.arguments(), Some(expected));
        let Some(RingRecord::Sample { rest, .. }) = parse(sys::PERF_RECORD_SAMPLE, &words[..8]) else {
            panic!("no sample");
        };
        assert_eq!(rest.arguments(), None);
    }

    #[test]
    fn damaged_samples_are_cut_not_read_beyond() {
        let words = [7, 0, 0, 0, 99];
        let Some(RingRecord::Sample { mut rest, .. }) = parse(sys::PERF_RECORD_SAMPLE, &words) else {
            panic!("no sample");
        };
        assert_eq!(rest.record(), [0, 0, 0, 0]);
        assert_eq!(rest.take_chain(), [0; 0]);
        assert_eq!(rest.record(), [0; 0]);
        assert_eq!(parse(sys::PERF_RECORD_SAMPLE, &words[..3]), None);
    }

    #[test]
    fn a_loss_has_its_time_in_the_trailer() {
        let words = [7, 12, 0, 1_000, 3, 7];
        let lost = RingRecord::Lost {
            at: Nanos(1_000),
            count: 12,
        };
        assert_eq!(parse(sys::PERF_RECORD_LOST, &words), Some(lost));
    }
}
