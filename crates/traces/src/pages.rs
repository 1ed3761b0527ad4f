//! The kernel's own pages of records, as `per_cpu/cpuN/trace_pipe_raw` gives them.
//!
//! ```text
//! page    time stamp u64 | commit: length of the records, and whether some before it are missing | records
//! record  5 bits type, 27 bits time since the record before | data in words of 4 bytes: type is their number, up to 28
//!         type 0: the first word is the data's length in bytes, itself included
//!         29: padding    30: the first word is the upper part of a longer time    31: the same, of an absolute time
//! ```

use crate::events::{CpuEvent, TracedChange};
use crate::format::{EventFormat, FieldPlace, FormatError, RecordFields};
use crate::table::{MakeChange, TABLE, of_vector};
use std::collections::HashMap;
use worstcase_contract::Nanos;

/// What lines of trace_marker are recorded as.
pub const LINES: &str = "ftrace/print";
/// Bytes of a page.
pub const PAGE: usize = 4096;
const HEADER: usize = 16;
/// Bits of a page's length.
const LENGTH: u64 = (1 << 20) - 1;
/// Records before the page are missing.
const MISSED: u64 = 1 << 31;
/// Their number is behind the last record.
const COUNTED: u64 = 1 << 30;
/// Bits of a short time.
const SHORT: u32 = 27;
/// An absolute time lacks these bits, which the page's has.
const UPPER: u64 = 0xf8 << 56;

const PADDING: u32 = 29;
const LONGER: u32 = 30;
const ABSOLUTE: u32 = 31;

/// Reads the records of some tracepoints.
#[derive(Debug)]
pub struct PageReader {
    /// By the number of each tracepoint.
    points: HashMap<u64, PointReading>,
}

/// How the records of a tracepoint are read.
#[derive(Debug)]
enum PointReading {
    Same(TracedChange),
    Fields {
        places: Vec<FieldPlace>,
        make: MakeChange,
    },
    /// A mark if the text begins so.
    Line {
        text: FieldPlace,
        begins: Vec<u8>,
    },
}

/// Bytes that are no page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a page of the kernel's trace is damaged: {0}")]
pub struct PageError(&'static str);

impl PageReader {
    /// For tracepoints (`system/name`) with the text of their format files. Those that nobody knows are passed over.
    pub fn new<'t>(formats: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<PageReader, FormatError> {
        let mut points = HashMap::new();
        for (name, text) in formats {
            let row = TABLE.iter().find(|row| row.name == name);
            let vector = name.strip_prefix("irq_vectors/").and_then(of_vector);
            let format = EventFormat::parse(name, text)?;
            let reading = match (row, vector) {
                (Some(row), _) => PointReading::Fields {
                    places: row
                        .fields
                        .iter()
                        .map(|field| format.field(field))
                        .collect::<Result<_, _>>()?,
                    make: row.make,
                },
                (None, Some(change)) => PointReading::Same(change),
                (None, None) => continue,
            };
            points.insert(format.id, reading);
        }
        Ok(PageReader { points })
    }

    /// Takes records of this tracepoint, with the text of its format file, for marks.
    pub fn mark(&mut self, name: &str, format: &str) -> Result<(), FormatError> {
        let id = EventFormat::parse(name, format)?.id;
        self.points.insert(id, PointReading::Same(TracedChange::Mark));
        Ok(())
    }

    /// Takes lines of trace_marker that begin so for marks; with the text of the format file of [`LINES`].
    pub fn mark_lines(&mut self, format: &str, begins: &str) -> Result<(), FormatError> {
        let format = EventFormat::parse(LINES, format)?;
        let line = PointReading::Line {
            text: format.field("buf")?,
            begins: begins.into(),
        };
        self.points.insert(format.id, line);
        Ok(())
    }

    /// Hands over the events of a CPU's pages, in order.
    pub fn read(&self, cpu: u32, pages: &[u8], mut each: impl FnMut(CpuEvent<'static>)) -> Result<(), PageError> {
        let mut last = Nanos(0);
        for page in pages.chunks(PAGE) {
            self.read_page(cpu, page, &mut last, &mut each)?;
        }
        Ok(())
    }

    /// Hands over the events of one page, of any size, in order; `last` is the instant of the last one. Returns the bytes of
    /// its records.
    pub fn read_page(
        &self,
        cpu: u32,
        page: &[u8],
        last: &mut Nanos,
        mut each: impl FnMut(CpuEvent<'static>),
    ) -> Result<usize, PageError> {
        let page = Page::of(page)?;
        let event = |at, tid, what| CpuEvent {
            at,
            cpu,
            tid,
            what,
            chain: &[],
        };
        if let Some(count) = page.missed {
            each(event(Nanos(page.time), 0, TracedChange::Lost { since: *last, count }));
        }
        page.records(|at, record| {
            *last = at;
            if let Some((tid, what)) = self.event(record) {
                each(event(at, tid, what));
            }
        })?;
        Ok(page.records.len())
    }

    /// The thread that ran, and what it tells.
    fn event(&self, record: &[u8]) -> Option<(u32, TracedChange)> {
        let kind = u16::from_le_bytes(record.get(..2)?.try_into().ok()?);
        let tid = word(record, 4)?;
        let what = match self.points.get(&u64::from(kind))? {
            PointReading::Same(change) => Some(*change),
            PointReading::Fields { places, make } => make(RecordFields { places, record }),
            PointReading::Line { text, begins } => text.rest(record)?.starts_with(begins).then_some(TracedChange::Mark),
        };
        Some((tid, what?))
    }
}

struct Page<'p> {
    time: u64,
    /// How many records before it are missing, if some are; 0 if their number is not known.
    missed: Option<u64>,
    records: &'p [u8],
}

impl<'p> Page<'p> {
    fn of(bytes: &'p [u8]) -> Result<Page<'p>, PageError> {
        let whole = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let (Some(time), Some(commit)) = (whole(0), whole(8)) else {
            return Err(PageError("it is cut short"));
        };
        let end = HEADER + (commit & LENGTH) as usize;
        let records = bytes.get(HEADER..end).ok_or(PageError("its length is too large"))?;
        let count = if commit & COUNTED == 0 { None } else { whole(end) };
        Ok(Page {
            time,
            missed: (commit & MISSED != 0).then(|| count.unwrap_or(0)),
            records,
        })
    }

    fn records(&self, mut each: impl FnMut(Nanos, &'p [u8])) -> Result<(), PageError> {
        let short = || PageError("a record is cut short");
        let (mut now, mut at) = (self.time, 0);
        while at < self.records.len() {
            let head = word(self.records, at).ok_or_else(short)?;
            let (kind, delta) = (head & 0x1f, u64::from(head >> 5));
            let first = || word(self.records, at + 4).ok_or_else(short);
            let (begin, size) = match kind {
                0 => (8, first()? as usize + 4),
                // Nothing follows on this page.
                PADDING if delta == 0 => return Ok(()),
                // A record that was taken back.
                PADDING => {
                    at += first()? as usize + 4;
                    continue;
                }
                LONGER | ABSOLUTE => {
                    let long = u64::from(first()?) << SHORT | delta;
                    now = match kind {
                        LONGER => now.wrapping_add(long),
                        _ => long | self.time & UPPER,
                    };
                    at += 8;
                    continue;
                }
                words => (4, words as usize * 4 + 4),
            };
            now = now.wrapping_add(delta);
            let record = self.records.get(at + begin..at + size).ok_or_else(short)?;
            each(Nanos(now), record);
            at += size;
        }
        Ok(())
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Reads pages of sched_waking's records. For scripts/fuzz.
#[doc(hidden)]
pub fn fuzz_pages(pages: &[u8]) {
    let reader = PageReader::new([("sched/sched_waking", WAKING)]).expect("the format is sound");
    let _ = std::hint::black_box(reader.read(0, pages, |event| {
        std::hint::black_box(event);
    }));
}

/// Format of a tracepoint with number 300, for tests and scripts/fuzz.
const WAKING: &str = "name: sched_waking\nID: 300\nformat:\n\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n";

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of a time, the flags of its commit, and its records.
    fn page(time: u64, flags: u64, records: &[Vec<u8>]) -> Vec<u8> {
        let records = records.concat();
        let commit = records.len() as u64 | flags;
        let mut page = [&time.to_le_bytes()[..], &commit.to_le_bytes(), &records].concat();
        if flags & COUNTED != 0 {
            page.extend(7_u64.to_le_bytes());
        }
        page.resize(PAGE, 0);
        page
    }

    fn head(kind: u32, delta: u32) -> Vec<u8> {
        (kind | delta << 5).to_le_bytes().to_vec()
    }

    /// Thread 5 wakes this one.
    fn data(woken: u32) -> Vec<u8> {
        [
            &300_u16.to_le_bytes()[..],
            &[0, 0],
            &5_u32.to_le_bytes(),
            &woken.to_le_bytes(),
        ]
        .concat()
    }

    fn waking(delta: u32, woken: u32) -> Vec<u8> {
        [head(3, delta), data(woken)].concat()
    }

    fn told(pages: &[Vec<u8>]) -> Result<Vec<(u64, TracedChange)>, PageError> {
        let reader = PageReader::new([("sched/sched_waking", WAKING), ("unknown/event", "ID: 9\n")]).unwrap();
        let mut events = Vec::new();
        reader.read(2, &pages.concat(), |event| {
            assert_eq!(event.cpu, 2);
            events.push((event.at.0, event.what));
        })?;
        Ok(events)
    }

    fn wakes(tid: u32) -> TracedChange {
        TracedChange::Waking { tid }
    }

    #[test]
    fn times_add_up_through_all_kinds_of_records() {
        let base = 3 << 60 | 1_000;
        let long = [head(0, 4), 16_u32.to_le_bytes().to_vec(), data(8)].concat();
        let taken_back = [head(PADDING, 9), 8_u32.to_le_bytes().to_vec(), vec![0; 4]].concat();
        let longer = [head(LONGER, 2), 1_u32.to_le_bytes().to_vec()].concat();
        let absolute = [head(ABSOLUTE, 6), 2_u32.to_le_bytes().to_vec()].concat();
        let records = [
            waking(10, 7),
            long,
            taken_back,
            longer,
            waking(1, 9),
            absolute,
            waking(3, 10),
            head(PADDING, 0),
            waking(1, 11),
        ];
        let later = base + 14 + (1 << 27) + 3;
        let upper = base & UPPER;
        let expected = vec![
            (base + 10, wakes(7)),
            (base + 14, wakes(8)),
            (later, wakes(9)),
            (upper + (2 << 27) + 9, wakes(10)),
        ];
        assert_eq!(told(&[page(base, 0, &records)]), Ok(expected));
    }

    #[test]
    fn a_mark_is_every_record_of_its_own_tracepoint_or_a_line_that_begins_so() {
        let mut reader = PageReader::new([]).unwrap();
        reader.mark("own/entry", "name: entry\nID: 300\n").unwrap();
        let print = "ID: 5\n\tfield:char buf[];\toffset:8;\tsize:0;\tsigned:0;\n";
        reader.mark_lines(print, "cycle").unwrap();
        let line = |text: &[u8; 8]| {
            [
                head(4, 1),
                5_u32.to_le_bytes().into(),
                data(0)[4..8].into(),
                text.to_vec(),
            ]
            .concat()
        };
        let page = page(100, 0, &[waking(1, 7), line(b"cycle 1\n"), line(b"a cycle\n")]);
        let mut marks = Vec::new();
        reader
            .read(0, &page, |event| marks.push((event.at.0, event.tid, event.what)))
            .unwrap();
        assert_eq!(marks, [(101, 5, TracedChange::Mark), (102, 5, TracedChange::Mark)]);
    }

    #[test]
    fn what_is_missing_before_a_page_is_a_loss() {
        let pages = [
            page(100, 0, &[waking(5, 7)]),
            page(200, MISSED | COUNTED, &[waking(1, 8)]),
            page(300, MISSED, &[]),
        ];
        let lost = |since, count| TracedChange::Lost {
            since: Nanos(since),
            count,
        };
        assert_eq!(
            told(&pages),
            Ok(vec![
                (105, wakes(7)),
                (200, lost(105, 7)),
                (201, wakes(8)),
                (300, lost(201, 0))
            ])
        );
    }

    #[test]
    fn damaged_pages_are_refused() {
        let whole = page(100, 0, &[waking(5, 7)]);
        assert_eq!(told(&[whole[..10].to_vec()]), Err(PageError("it is cut short")));
        let mut long = whole.clone();
        long[9] = 0xff;
        assert_eq!(told(&[long]), Err(PageError("its length is too large")));
        let mut cut = whole;
        cut[8] = 8;
        assert_eq!(told(&[cut]), Err(PageError("a record is cut short")));
    }
}
