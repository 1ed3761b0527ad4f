//! Lines for people on standard error. Whoever reads them may be gone (`2>&1 | head`), and a disk full: the work goes on.

/// Writes a line to standard error, as `eprintln!` does, which panics where nothing can be written.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
