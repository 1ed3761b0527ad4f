//! Checks that a samples file belongs to its record.
//!
//! Checksums tell that nobody changed a file, but a person who writes new checksums can put anything there. So the file is
//! compared with the record itself: the cell's name and the accounting in the footer, the number of rows, the digest over all
//! of them, and for quantities that the digest leaves out their number, the smallest and the largest.

use super::parquet::SamplesReader;
use super::samples::RunningDigest;
use super::{Quantity, Record, SampleRow};
use ::parquet::file::reader::ChunkReader;

/// Quantities that are not part of the digest.
const BESIDE: [Quantity; 9] = [
    Quantity::Handler,
    Quantity::Scheduling,
    Quantity::Return,
    Quantity::Unexplained,
    Quantity::Jitter,
    Quantity::Start,
    Quantity::Execution,
    Quantity::Interference,
    Quantity::Blocked,
];

/// Reads all samples and hands them to `each`. The error says why they are not this record's; some rows may have been handed
/// out by then.
pub(crate) fn read_fitting<R: ChunkReader + 'static>(
    mut reader: SamplesReader<R>,
    record: &Record,
    mut each: impl FnMut(SampleRow),
) -> Result<(), String> {
    check_footer(&reader, record)?;
    let mut fit = Fit::new(record);
    while let Some(group) = reader.next_group().map_err(|e| e.to_string())? {
        for row in group {
            fit.add(&row);
            each(row);
        }
    }
    fit.finish()
}

/// Whether the file says that it is of this record, and claims as many rows.
pub(crate) fn check_footer<R: ChunkReader + 'static>(reader: &SamplesReader<R>, record: &Record) -> Result<(), String> {
    let accounting = &record.accounting;
    let expected = [
        ("worstcase.cell", record.id.to_string()),
        ("worstcase.rows", format!("{}s", accounting.row_name())),
        ("worstcase.missed", accounting.missed().to_string()),
        ("worstcase.lost", accounting.lost().to_string()),
    ];
    for (key, expected) in expected {
        let found = reader.says(key).unwrap_or("nothing");
        if found != expected {
            let found = found.escape_debug();
            return Err(format!(
                "it is not of this record: its {key} is '{found}', not '{expected}'"
            ));
        }
    }
    // Checked before any row is read: a file may claim any number.
    check_rows(reader.rows(), record)
}

fn check_rows(rows: u64, record: &Record) -> Result<(), String> {
    match rows == record.samples.rows {
        true => Ok(()),
        false => Err(format!(
            "it is not of this record: it has {rows} rows, not {}",
            record.samples.rows
        )),
    }
}

/// The rows that have been read so far.
struct Fit<'a> {
    record: &'a Record,
    rows: u64,
    digest: RunningDigest,
    beside: [QuantityExtent; BESIDE.len()],
}

/// Number and extremes of one quantity.
#[derive(Clone, Copy, Default)]
struct QuantityExtent {
    count: u64,
    min: u64,
    max: u64,
}

impl<'a> Fit<'a> {
    fn new(record: &'a Record) -> Fit<'a> {
        Fit {
            record,
            rows: 0,
            digest: RunningDigest::new(record.cell.periods),
            beside: Default::default(),
        }
    }

    fn add(&mut self, row: &SampleRow) {
        self.rows += 1;
        self.digest.add(row);
        for (extent, quantity) in self.beside.iter_mut().zip(BESIDE) {
            if let Some(value) = row.value(quantity) {
                let min = if extent.count == 0 { value.0 } else { extent.min };
                *extent = QuantityExtent {
                    count: extent.count + 1,
                    min: min.min(value.0),
                    max: extent.max.max(value.0),
                };
            }
        }
    }

    fn finish(self) -> Result<(), String> {
        let record = self.record;
        check_rows(self.rows, record)?;
        // A file of another tool without single samples: its record has the digest of that file.
        if self.rows == 0 && record.foreign.is_some() {
            return Ok(());
        }
        if self.digest.finish() != record.digest {
            return Err("it is not of this record: the digest of its samples is another".into());
        }
        if record.samples.selection.is_some() || record.foreign.is_some() {
            return Ok(());
        }
        for (extent, quantity) in self.beside.into_iter().zip(BESIDE) {
            let summary = record.summary(quantity);
            let fits = summary.is_none_or(|s| {
                s.count == extent.count && s.max_ns == extent.max && s.min_ns.is_none_or(|min| min == extent.min)
            });
            if !fits {
                return Err(format!("it is not of this record: its {quantity} is another"));
            }
        }
        Ok(())
    }
}
