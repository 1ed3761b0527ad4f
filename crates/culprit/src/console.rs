//! A slow device: a kernel message goes out through the serial port, character by character.

use std::convert::Infallible;
use std::fs::OpenOptions;
use std::io::{self, Write};

/// Writes grave messages of so many characters.
pub(crate) fn run(characters: usize) -> io::Result<Infallible> {
    // Otherwise the kernel drops what comes too often.
    std::fs::write("/proc/sys/kernel/printk_devkmsg", "on\n")?;
    let mut log = OpenOptions::new().write(true).open("/dev/kmsg")?;
    let message = format!("<0>{}\n", "culprit ".repeat(characters.div_ceil(8)));
    loop {
        log.write_all(message.as_bytes())?;
    }
}
