//! Soft interrupts that come in batches: the nodes of a truncated file's page tree go through RCU.

use std::convert::Infallible;
use std::fs::OpenOptions;
use std::io::{self, Seek, Write};

/// Fills a file with so many MiB and truncates it, again and again.
pub(crate) fn run(mib: u32) -> io::Result<Infallible> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open("/planted")?;
    let block = vec![1_u8; 1 << 20];
    loop {
        for _ in 0..mib {
            file.write_all(&block)?;
        }
        file.set_len(0)?;
        file.rewind()?;
    }
}
