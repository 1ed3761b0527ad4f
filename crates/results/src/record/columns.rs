//! The columns of samples.parquet.

use parquet::errors::Result;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, TypePtr};
use std::sync::Arc;

/// The columns. They are signed although nothing here is negative, so that readers can subtract columns.
const COLUMNS: &str = "message samples {
    required int32 index;
    required int64 due_ns;
    required int64 latency_ns;
    optional int64 irq_latency_ns;
    optional int64 after_irq_ns;
    optional int64 instructions;
}";

/// Columns that files of the host and of the probe `jitter` have beside these.
const MORE_COLUMNS: &str = "
    optional int64 handler_ns;
    optional int64 scheduling_ns;
    optional int64 return_ns;
    optional int64 unexplained_ns;
    optional int64 jitter_ns;
}";

/// Columns that files of a program's cycles have beside the first ones.
const CYCLE_COLUMNS: &str = "
    optional int64 start_ns;
    optional int64 execution_ns;
    optional int64 interference_ns;
    optional int64 blocked_ns;
    optional int64 unexplained_ns;
}";
/// Columns that every file has.
pub(super) const COLUMN_COUNT: usize = 6;

/// Which columns a file has beside those that all have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FurtherColumns {
    /// None.
    Neither,
    /// Parts and jitter.
    Parts,
    /// The parts of a program's cycle.
    Cycles,
}

impl FurtherColumns {
    const ALL: [FurtherColumns; 3] = [FurtherColumns::Neither, FurtherColumns::Parts, FurtherColumns::Cycles];

    pub(super) fn schema(self) -> Result<TypePtr> {
        let more = match self {
            FurtherColumns::Neither => "}",
            FurtherColumns::Parts => MORE_COLUMNS,
            FurtherColumns::Cycles => CYCLE_COLUMNS,
        };
        let columns = COLUMNS.trim_end_matches('}').to_string() + more;
        Ok(Arc::new(parse_message_type(&columns)?))
    }

    /// Those of a file with these columns; nothing if they are not those of samples.
    pub(super) fn of(columns: &SchemaDescriptor) -> Result<Option<FurtherColumns>> {
        for further in FurtherColumns::ALL {
            if same_columns(columns, &SchemaDescriptor::new(further.schema()?)) {
                return Ok(Some(further));
            }
        }
        Ok(None)
    }
}

/// Names, types, and which may be absent.
fn same_columns(found: &SchemaDescriptor, expected: &SchemaDescriptor) -> bool {
    let told = |column: &ColumnDescPtr| {
        (
            column.path().string(),
            column.physical_type(),
            column.max_def_level(),
            column.max_rep_level(),
        )
    };
    found.columns().iter().map(told).eq(expected.columns().iter().map(told))
}
