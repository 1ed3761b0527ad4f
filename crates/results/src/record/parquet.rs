//! Raw samples as Parquet: `samples.parquet`, one row a sample.
//!
//! Delta encoding and no compression: close in size to a compressed file, readable everywhere, and the
//! bytes depend on the samples alone. Written and read a row group at a time, in bounded memory.

use super::columns::{COLUMN_COUNT, FurtherColumns};
use super::samples::{CycleParts, RowParts, SampleRow};
use super::{Accounting, CellId, Subject};
use parquet::basic::{Compression, Encoding};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use worstcase_base::defect::{self, Broken};
use worstcase_contract::{Instructions, Nanos};

/// The form of the file, in its metadata under `worstcase.schema`.
pub const SCHEMA: &str = "worstcase-samples/2";

/// Rows held in memory while writing or reading.
const GROUP_ROWS: usize = 65_536;

/// The labels of a file, in its key-value metadata.
#[derive(Clone, Debug)]
pub struct FileLabels {
    cell: String,
    time: String,
    further: FurtherColumns,
}

impl FileLabels {
    /// The labels for a subject's cell.
    pub fn new(id: &CellId, subject: &Subject) -> FileLabels {
        let time = match &subject.machine {
            super::SubjectMachine::Lab(lab) => format!("virtual, {} MIPS", lab.machine.mips),
            super::SubjectMachine::Host(_) | super::SubjectMachine::Foreign(_) => "real".to_string(),
        };
        FileLabels {
            cell: id.to_string(),
            time,
            further: match subject.machine {
                super::SubjectMachine::Host(_) => FurtherColumns::Parts,
                super::SubjectMachine::Lab(_) | super::SubjectMachine::Foreign(_) => FurtherColumns::Neither,
            },
        }
    }

    /// Adds columns for parts and jitter, as files of the host have them anyway.
    #[must_use]
    pub fn wide(self) -> FileLabels {
        FileLabels {
            further: FurtherColumns::Parts,
            ..self
        }
    }

    /// Has columns for the parts of a program's cycle in place of those.
    #[must_use]
    pub fn of_cycles(self) -> FileLabels {
        FileLabels {
            further: FurtherColumns::Cycles,
            ..self
        }
    }
}

/// Writes rows as they come.
pub struct SamplesWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    group: Vec<SampleRow>,
    further: FurtherColumns,
}

impl<W: Write + Send> SamplesWriter<W> {
    /// A writer to `out`.
    pub fn new(out: W, labels: &FileLabels) -> Result<Self> {
        let metadata = [
            ("worstcase.schema", SCHEMA),
            ("worstcase.cell", &labels.cell),
            ("worstcase.time", &labels.time),
        ];
        let properties = WriterProperties::builder()
            .set_created_by("worstcase".to_string())
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_compression(Compression::UNCOMPRESSED)
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BINARY_PACKED)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_key_value_metadata(Some(
                metadata
                    .into_iter()
                    .map(|(key, value)| KeyValue::new(key.to_string(), value.to_string()))
                    .collect(),
            ))
            .build();
        Ok(SamplesWriter {
            file: SerializedFileWriter::new(out, labels.further.schema()?, Arc::new(properties))?,
            group: Vec::new(),
            further: labels.further,
        })
    }

    /// Adds one row.
    pub fn push(&mut self, row: SampleRow) -> Result<()> {
        self.group.push(row);
        if self.group.len() == GROUP_ROWS {
            self.flush_group()?;
        }
        Ok(())
    }

    /// Writes the remaining rows and the footer. Rows alone do not tell a missed period from a lost sample, nor a gap
    /// from a sample: the footer does.
    pub fn finish(mut self, accounting: &Accounting) -> Result<W> {
        if !self.group.is_empty() {
            self.flush_group()?;
        }
        let facts = [
            ("worstcase.rows", format!("{}s", accounting.row_name())),
            ("worstcase.missed", accounting.missed().to_string()),
            ("worstcase.lost", accounting.lost().to_string()),
        ];
        for (key, value) in facts {
            self.file
                .append_key_value_metadata(KeyValue::new(key.to_string(), value));
        }
        self.file.into_inner()
    }

    fn flush_group(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.group);
        let mut out = self.file.next_row_group()?;
        let index: Vec<i32> = rows.iter().map(|r| signed(r.index)).collect::<Result<_>>()?;
        put::<Int32Type, _>(&mut out, &index, None)?;
        required(&mut out, &rows, |r| r.due.0)?;
        required(&mut out, &rows, |r| r.latency.0)?;
        optional(&mut out, &rows, |r| r.irq_latency.map(|n| n.0))?;
        optional(&mut out, &rows, |r| r.after_irq.map(|n| n.0))?;
        optional(&mut out, &rows, |r| r.instructions.map(|n| n.0))?;
        match self.further {
            FurtherColumns::Neither => {}
            FurtherColumns::Parts => {
                optional(&mut out, &rows, |r| r.parts.map(|p| p.handler.0))?;
                optional(&mut out, &rows, |r| r.parts.map(|p| p.scheduling.0))?;
                optional(&mut out, &rows, |r| r.parts.map(|p| p.return_.0))?;
                optional(&mut out, &rows, |r| r.parts.map(|p| p.unexplained.0))?;
                optional(&mut out, &rows, |r| r.jitter_ns)?;
            }
            FurtherColumns::Cycles => {
                optional(&mut out, &rows, |r| r.cycle.map(|c| c.start.0))?;
                optional(&mut out, &rows, |r| r.cycle.map(|c| c.execution.0))?;
                optional(&mut out, &rows, |r| r.cycle.map(|c| c.interference.0))?;
                optional(&mut out, &rows, |r| r.cycle.map(|c| c.blocked.0))?;
                optional(&mut out, &rows, |r| r.cycle.map(|c| c.unexplained.0))?;
            }
        }
        out.close()?;
        Ok(())
    }
}

fn signed<A: Copy + std::fmt::Display, B: TryFrom<A>>(value: A) -> Result<B> {
    B::try_from(value).map_err(|_| ParquetError::General(format!("the value {value} is out of range")))
}

fn required<W: Write + Send>(
    out: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[SampleRow],
    pick: fn(&SampleRow) -> u64,
) -> Result<()> {
    let values: Vec<i64> = rows.iter().map(|r| signed(pick(r))).collect::<Result<_>>()?;
    put::<Int64Type, _>(out, &values, None)
}

fn optional<W: Write + Send, T: Copy + std::fmt::Display>(
    out: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[SampleRow],
    pick: impl Fn(&SampleRow) -> Option<T>,
) -> Result<()>
where
    i64: TryFrom<T>,
{
    let values: Vec<i64> = rows.iter().filter_map(&pick).map(signed).collect::<Result<_>>()?;
    let present: Vec<i16> = rows.iter().map(|r| i16::from(pick(r).is_some())).collect();
    put::<Int64Type, _>(out, &values, Some(&present))
}

fn put<T: DataType, W: Write + Send>(
    out: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<()> {
    let mut column = out
        .next_column()?
        .ok_or_else(|| ParquetError::General("too few columns".into()))?;
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
}

/// The whole file in memory.
pub fn encode(rows: &[SampleRow], labels: &FileLabels, accounting: &Accounting) -> Result<Vec<u8>> {
    let mut writer = SamplesWriter::new(Vec::new(), labels)?;
    for row in rows {
        writer.push(*row)?;
    }
    writer.finish(accounting)
}

/// Reads rows a group at a time.
pub struct SamplesReader<R: ChunkReader + 'static> {
    file: Arc<SerializedFileReader<R>>,
    further: FurtherColumns,
    next_group: usize,
}

impl<R: ChunkReader + 'static> SamplesReader<R> {
    /// Opens a file (`std::fs::File`) or bytes (`bytes::Bytes`); refuses other forms, and other columns.
    pub fn new(input: R) -> Result<Self> {
        let file = Arc::new(guarded(|| SerializedFileReader::new(input))?);
        let reader = SamplesReader {
            further: FurtherColumns::Neither,
            file,
            next_group: 0,
        };
        match reader.says("worstcase.schema") {
            Some(SCHEMA) => {}
            other => {
                return Err(ParquetError::General(format!(
                    "its form is '{}', this worstcase reads '{SCHEMA}'",
                    other.unwrap_or("unknown").escape_debug()
                )));
            }
        }
        let columns = reader.file.metadata().file_metadata().schema_descr();
        let further = FurtherColumns::of(columns)?;
        let further = further.ok_or_else(|| ParquetError::General("its columns are not those of samples".into()))?;
        Ok(SamplesReader { further, ..reader })
    }

    /// The value of this key in its metadata.
    pub(crate) fn says(&self, key: &str) -> Option<&str> {
        let metadata = self.file.metadata().file_metadata().key_value_metadata()?;
        metadata.iter().find(|kv| kv.key == key)?.value.as_deref()
    }

    /// The number of rows that its groups claim to have.
    pub fn rows(&self) -> u64 {
        let groups = self.file.metadata().row_groups().iter();
        let rows = groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(u64::MAX));
        rows.fold(0, u64::saturating_add)
    }

    /// The next group of rows; nothing at the end.
    pub fn next_group(&mut self) -> Result<Option<Vec<SampleRow>>> {
        if self.next_group == self.file.num_row_groups() {
            return Ok(None);
        }
        let (file, further, number) = (self.file.clone(), self.further, self.next_group);
        self.next_group += 1;
        guarded(move || SamplesReader::read_group(&file, further, number)).map(Some)
    }

    fn read_group(file: &SerializedFileReader<R>, further: FurtherColumns, number: usize) -> Result<Vec<SampleRow>> {
        let group = file.get_row_group(number)?;
        let rows = usize::try_from(group.metadata().num_rows())
            .ok()
            .filter(|n| *n <= GROUP_ROWS)
            .ok_or_else(|| ParquetError::General("a row group is too large".into()))?;
        let (index, _) = get::<Int32Type>(&*group, 0, rows)?;
        let (due, _) = get::<Int64Type>(&*group, 1, rows)?;
        let (latency, _) = get::<Int64Type>(&*group, 2, rows)?;
        let irq_latency = spread(get::<Int64Type>(&*group, 3, rows)?)?;
        let after_irq = spread(get::<Int64Type>(&*group, 4, rows)?)?;
        let instructions = spread(get::<Int64Type>(&*group, 5, rows)?)?;
        let more = match further {
            FurtherColumns::Parts => more_of_rows(&*group, rows)?,
            _ => vec![(None, None); rows],
        };
        let cycles = match further {
            FurtherColumns::Cycles => cycles_of_rows(&*group, rows)?,
            _ => vec![None; rows],
        };
        let row = |i: usize| -> Result<SampleRow> {
            Ok(SampleRow {
                index: signed(index[i])?,
                due: Nanos(signed(due[i])?),
                latency: Nanos(signed(latency[i])?),
                irq_latency: irq_latency[i].map(Nanos),
                after_irq: after_irq[i].map(Nanos),
                instructions: instructions[i].map(Instructions),
                parts: more[i].0,
                cycle: cycles[i],
                jitter_ns: more[i].1,
            })
        };
        (0..rows).map(row).collect()
    }
}

/// The decoder trusts some counts: a count that does not fit makes it panic, and others make it count to 2^31 again
/// and again.
fn guarded<T: Send + 'static>(read: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let broken = |why| {
        let why = match why {
            Broken::Panicked => "its pages contradict each other",
            Broken::TooLong => "its contents take too long to read",
        };
        ParquetError::General(why.into())
    };
    defect::guarded_for(LONGEST, read).map_err(broken)?
}

/// The limit for decoding; a group of samples takes some ten milliseconds, or some hundred in an unoptimised build.
const LONGEST: Duration = Duration::from_secs(5);

/// Parts and jitter of each row.
fn more_of_rows(group: &dyn RowGroupReader, rows: usize) -> Result<Vec<(Option<RowParts>, Option<i64>)>> {
    let column = |n: usize| get::<Int64Type>(group, COLUMN_COUNT + n, rows);
    let handler = spread::<u64>(column(0)?)?;
    let scheduling = spread::<u64>(column(1)?)?;
    let return_ = spread::<u64>(column(2)?)?;
    let unexplained = spread::<u64>(column(3)?)?;
    let jitter = spread::<i64>(column(4)?)?;
    let parts = |i: usize| {
        Some(RowParts {
            handler: Nanos(handler[i]?),
            scheduling: Nanos(scheduling[i]?),
            return_: Nanos(return_[i]?),
            unexplained: Nanos(unexplained[i]?),
        })
    };
    Ok((0..rows).map(|i| (parts(i), jitter[i])).collect())
}

/// The parts of each row's cycle.
fn cycles_of_rows(group: &dyn RowGroupReader, rows: usize) -> Result<Vec<Option<CycleParts>>> {
    let column = |n: usize| spread::<u64>(get::<Int64Type>(group, COLUMN_COUNT + n, rows)?);
    let (start, execution, interference) = (column(0)?, column(1)?, column(2)?);
    let (blocked, unexplained) = (column(3)?, column(4)?);
    let cycle = |i: usize| {
        Some(CycleParts {
            start: Nanos(start[i]?),
            execution: Nanos(execution[i]?),
            interference: Nanos(interference[i]?),
            blocked: Nanos(blocked[i]?),
            unexplained: Nanos(unexplained[i]?),
        })
    };
    Ok((0..rows).map(cycle).collect())
}

/// A column's values and, where it is optional, which rows have one.
fn get<T: DataType>(group: &dyn RowGroupReader, column: usize, rows: usize) -> Result<(Vec<T::T>, Vec<i16>)> {
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(column)?);
    let (mut values, mut present) = (Vec::with_capacity(rows), Vec::new());
    let (records, _, _) = reader.read_records(rows, Some(&mut present), None, &mut values)?;
    if records != rows {
        return Err(ParquetError::General(format!("a column has {records} of {rows} rows")));
    }
    Ok((values, present))
}

fn spread<T: TryFrom<i64>>((values, present): (Vec<i64>, Vec<i16>)) -> Result<Vec<Option<T>>> {
    let mut values = values.into_iter();
    present
        .into_iter()
        .map(|level| match level {
            0 => Ok(None),
            _ => {
                let value = values.next();
                let value = value.ok_or_else(|| ParquetError::General("a column ends early".into()))?;
                signed(value).map(Some)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{GapAccount, Periods};
    use super::*;
    use ::parquet::schema::parser::parse_message_type;
    use bytes::Bytes;
    use proptest::prelude::*;

    /// The accounting for a file of which only the rows matter.
    const BOOKS: Accounting = Accounting::Gaps(GapAccount {
        observed_ns: 0,
        gaps: 0,
        lost: 0,
        noise_ns: 0,
        max_single_ns: 0,
    });

    fn labels() -> FileLabels {
        FileLabels {
            cell: "cell".into(),
            time: "virtual, 1000 MIPS".into(),
            further: FurtherColumns::Neither,
        }
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<SampleRow>> {
        let mut reader = SamplesReader::new(Bytes::from(bytes))?;
        let mut rows = Vec::new();
        while let Some(group) = reader.next_group()? {
            rows.extend(group);
        }
        Ok(rows)
    }

    fn row(i: u32, stamped: bool) -> SampleRow {
        SampleRow {
            index: i,
            due: Nanos(1_000_000 + u64::from(i) * 251_000),
            latency: Nanos(u64::from(i) * 7919 % 100_000),
            irq_latency: stamped.then_some(Nanos(92)),
            after_irq: stamped.then_some(Nanos(u64::from(i))),
            instructions: stamped.then_some(Instructions(u64::from(i) * 251_000)),
            parts: None,
            cycle: None,
            jitter_ns: None,
        }
    }

    #[test]
    fn a_file_that_counts_for_minutes_is_given_up() {
        // Fields that no reader knows (id + 15, a list), each with 2^31 - 1 truth values, which take no space.
        let field = [0xf9, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07];
        let mut footer = field.repeat(2_000);
        footer.push(0);
        let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
        let bytes = [&b"PAR1"[..], &footer, &length, b"PAR1"].concat();
        let refused = read(bytes).unwrap_err().to_string();
        assert!(refused.contains("take too long"), "{refused}");
    }

    #[test]
    fn more_rows_than_a_group_holds() {
        let rows: Vec<_> = (0..150_000).map(|i| row(i, i % 3 != 0)).collect();
        let bytes = encode(&rows, &labels(), &BOOKS).unwrap();
        assert_eq!(bytes, encode(&rows, &labels(), &BOOKS).unwrap());
        assert!(bytes.len() < rows.len() * 12, "{} bytes", bytes.len());
        assert_eq!(read(bytes).unwrap(), rows);
    }

    #[test]
    fn wide_files_hold_more() {
        let wide = |i: u32| SampleRow {
            parts: i.is_multiple_of(2).then_some(RowParts {
                handler: Nanos(1),
                scheduling: Nanos(2),
                return_: Nanos(3),
                unexplained: Nanos(u64::from(i)),
            }),
            jitter_ns: (i > 0).then_some(i64::from(i) - 50),
            ..row(i, false)
        };
        let rows: Vec<_> = (0..100).map(wide).collect();
        assert_eq!(read(encode(&rows, &labels().wide(), &BOOKS).unwrap()).unwrap(), rows);
    }

    #[test]
    fn files_of_cycles_hold_their_parts() {
        let cycle = |i: u32| SampleRow {
            cycle: i.is_multiple_of(2).then_some(CycleParts {
                start: Nanos(1),
                execution: Nanos(2),
                interference: Nanos(3),
                blocked: Nanos(4),
                unexplained: Nanos(u64::from(i)),
            }),
            ..row(i, false)
        };
        let rows: Vec<_> = (0..100).map(cycle).collect();
        assert_eq!(
            read(encode(&rows, &labels().of_cycles(), &BOOKS).unwrap()).unwrap(),
            rows
        );
    }

    #[test]
    fn the_footer_tells_what_rows_cannot() {
        let books = Accounting::Periods(Periods {
            missed: 3,
            lost: 7,
            ..Periods::default()
        });
        let bytes = bytes::Bytes::from(encode(&[row(0, false)], &labels(), &books).unwrap());
        let file = SerializedFileReader::new(bytes).unwrap();
        let metadata = file.metadata().file_metadata().key_value_metadata().unwrap();
        let of = |key: &str| metadata.iter().find(|kv| kv.key == key)?.value.clone();
        let told = ["worstcase.rows", "worstcase.missed", "worstcase.lost"].map(of);
        assert_eq!(told, ["samples", "3", "7"].map(|text| Some(text.to_string())));
    }

    #[test]
    fn another_parquet_file_is_refused() {
        let schema = Arc::new(parse_message_type("message m { required int32 a; }").unwrap());
        let writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
        let error = read(writer.into_inner().unwrap()).unwrap_err().to_string();
        assert!(error.contains("worstcase-samples/2"), "{error}");
        assert!(read(b"hello".to_vec()).is_err());
    }

    #[test]
    fn a_value_out_of_range_is_an_error() {
        let huge = SampleRow {
            latency: Nanos(u64::MAX),
            ..row(0, false)
        };
        assert!(encode(&[huge], &labels(), &BOOKS).is_err());
    }

    proptest! {
        #[test]
        fn rows_and_back(rows in prop::collection::vec((0_u32..1_000_000, any::<bool>()), 0..300)) {
            let rows: Vec<_> = rows.into_iter().map(|(i, stamped)| row(i, stamped)).collect();
            prop_assert_eq!(read(encode(&rows, &labels(), &BOOKS).unwrap()).unwrap(), rows);
        }
    }
}
