//! The events of a calibration's operations, counted again.

use crate::controller::kernel;
use assert_cmd::Command;
use worstcase_timing::table::{OperationTable, TEXT};

#[test]
fn the_lab_counts_what_the_table_says() {
    kernel("debian:6.18");
    let output = Command::cargo_bin("worstcase")
        .unwrap()
        .args(["lab-operations", "debian:6.18"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (now, table) = (OperationTable::parse(&text).expect("a table"), OperationTable::own());
    for (now, table) in now.operations.iter().zip(&table.operations) {
        assert_eq!(now, table, "scripts/calibration writes the table anew");
    }
    assert_eq!(text, TEXT);
}
