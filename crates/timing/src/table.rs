//! The events of each operation, as the lab counted them.

use std::sync::OnceLock;
use worstcase_costs::{CostEvent, EventCounts};

/// The table that is part of this executable.
pub const TEXT: &str = include_str!("../operations.txt");

/// The whole table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationTable {
    /// The kernel that ran the operations, in the lab's name for it.
    pub kernel: String,
    /// The operations.
    pub operations: Vec<CountedOperation>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedOperation {
    /// Its name.
    pub name: String,
    /// What it is like.
    pub class: String,
    /// Whether no calibration is made from it.
    pub is_held_out: bool,
    /// How often it is done in a batch.
    pub times: u64,
    /// The stretches that are measured in a batch.
    pub windows: u64,
    /// The events of a batch.
    pub counts: EventCounts,
}

/// The class of code that never calls the kernel.
pub const USER: &str = "user";
/// The operation that does nothing: what a measurement itself takes.
pub const NOTHING: &str = "nothing";

impl OperationTable {
    /// The table of this executable.
    pub fn own() -> &'static OperationTable {
        static TABLE: OnceLock<OperationTable> = OnceLock::new();
        TABLE.get_or_init(|| OperationTable::parse(TEXT).expect("a test reads it"))
    }

    /// Reads what [`OperationTable::text`] writes.
    pub fn parse(text: &str) -> Option<OperationTable> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let kernel = lines.next()?.strip_prefix("kernel ")?.to_string();
        let operations = lines.map(operation).collect::<Option<_>>()?;
        Some(OperationTable { kernel, operations })
    }

    /// As lines.
    pub fn text(&self) -> String {
        let mut text = format!("kernel {}\n", self.kernel);
        for operation in &self.operations {
            let CountedOperation {
                name,
                class,
                times,
                windows,
                counts,
                ..
            } = operation;
            let purpose = if operation.is_held_out { HELD_OUT } else { FIT };
            text += &format!("{name} {class} {purpose} {times} {windows}");
            for (event, n) in counts.some() {
                text += &format!(" {}={n}", event.name());
            }
            text.push('\n');
        }
        text
    }

    /// The operation with this name.
    pub fn named(&self, name: &str) -> Option<&CountedOperation> {
        self.operations.iter().find(|operation| operation.name == name)
    }
}

/// Of an operation that a calibration is made from.
const FIT: &str = "fit";
/// Of one that is kept from it.
pub const HELD_OUT: &str = "held-out";

fn operation(line: &str) -> Option<CountedOperation> {
    let mut words = line.split(' ');
    let (name, class) = (words.next()?.to_string(), words.next()?.to_string());
    let is_held_out = match words.next()? {
        FIT => false,
        HELD_OUT => true,
        _ => return None,
    };
    let (times, windows) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let count = |word: &str| {
        let (event, n) = word.split_once('=')?;
        Some((CostEvent::named(event)?, n.parse().ok()?))
    };
    Some(CountedOperation {
        name,
        class,
        is_held_out,
        times,
        windows,
        counts: words.map(count).collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_this_executable_is_read_and_written_as_it_is() {
        let table = OperationTable::own();
        let body: Vec<&str> = TEXT.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(table.text(), body.join("\n") + "\n");
        assert!(table.named(NOTHING).is_some());
        assert_eq!(OperationTable::parse("kernel x\ngetppid call fit 5 1 tlb=3\n"), None);
        assert_eq!(OperationTable::parse("kernel x\ngetppid call maybe 5 1\n"), None);
    }
}
