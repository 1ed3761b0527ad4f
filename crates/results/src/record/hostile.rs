//! Crafted samples files: each is refused, and none ends the program.

use super::parquet::{SCHEMA, SamplesReader};
use bytes::Bytes;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::SchemaDescriptor;
use std::sync::Arc;

const ROWS: usize = 3;

/// A file of these columns that says that it holds samples.
fn of_columns(columns: &str) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(&format!("message samples {{ {columns} }}")).unwrap());
    let says = KeyValue::new("worstcase.schema".to_string(), SCHEMA.to_string());
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![says]))
        .build();
    let described = SchemaDescriptor::new(schema.clone());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = file.next_row_group().unwrap();
    for column in described.columns() {
        let (levels, repeated) = ([column.max_def_level(); ROWS], [0; ROWS]);
        let (levels, repeated) = (Some(&levels[..]), Some(&repeated[..]));
        let mut writer = group.next_column().unwrap().unwrap();
        let written = match column.physical_type() {
            parquet::basic::Type::INT32 => writer.typed::<Int32Type>().write_batch(&[1; ROWS], levels, repeated),
            parquet::basic::Type::INT64 => writer.typed::<Int64Type>().write_batch(&[1; ROWS], levels, repeated),
            parquet::basic::Type::DOUBLE => writer.typed::<DoubleType>().write_batch(&[1.0; ROWS], levels, repeated),
            _ => {
                let text = [(); ROWS].map(|()| ByteArray::from("text"));
                writer.typed::<ByteArrayType>().write_batch(&text, levels, repeated)
            }
        };
        written.unwrap();
        writer.close().unwrap();
    }
    group.close().unwrap();
    file.into_inner().unwrap()
}

fn read(bytes: Vec<u8>) -> Result<(), String> {
    let mut reader = SamplesReader::new(Bytes::from(bytes)).map_err(|e| e.to_string())?;
    while reader.next_group().map_err(|e| e.to_string())?.is_some() {}
    Ok(())
}

#[test]
fn other_columns_are_refused_before_they_are_read() {
    const GOOD: [&str; 6] = [
        "required int32 index;",
        "required int64 due_ns;",
        "required int64 latency_ns;",
        "optional int64 irq_latency_ns;",
        "optional int64 after_irq_ns;",
        "optional int64 instructions;",
    ];
    assert_eq!(read(of_columns(&GOOD.concat())), Ok(()));
    let mut bad: Vec<Vec<String>> = Vec::new();
    let good = || GOOD.map(String::from).to_vec();
    for at in 0..GOOD.len() {
        // Lacking, one too many, of another type, absent or repeated where it must not be, by another name, in another place.
        let mut lacking = good();
        lacking.remove(at);
        let mut more = good();
        more.insert(at, "required int64 more;".into());
        bad.extend([lacking, more]);
        for (from, to) in [
            ("int32", "int64"),
            ("int64", "int32"),
            ("int64", "double"),
            ("int32", "binary"),
            ("int64", "binary"),
            ("required", "optional"),
            ("required", "repeated"),
            ("optional", "required"),
            ("optional", "repeated"),
            ("_ns", ""),
        ] {
            let mut changed = good();
            changed[at] = changed[at].replace(from, to);
            bad.extend((changed != good()).then_some(changed));
        }
        let mut swapped = good();
        swapped.swap(at, (at + 1) % GOOD.len());
        bad.push(swapped);
    }
    let grouped = ["optional group of {", &GOOD.concat(), "}"].concat();
    bad.push(vec![grouped]);
    for columns in bad {
        let refused = read(of_columns(&columns.concat())).unwrap_err();
        assert!(
            refused.contains("its columns are not those of samples"),
            "{columns:?}: {refused}"
        );
    }
}
