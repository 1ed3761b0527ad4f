//! What a pipe is told: a line every ten seconds, also while nothing is finished.

use super::count::ProgressCount;
use std::sync::{Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use worstcase_base::say;

/// How often it is looked whether a line is due.
const LOOK: Duration = Duration::from_secs(2);

/// Tells lines as long as somebody counts.
pub(super) fn tell(counted: Weak<Mutex<ProgressCount>>) {
    std::thread::spawn(move || {
        while let Some(counted) = counted.upgrade() {
            let line = counted
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .line(Instant::now());
            if let Some(line) = line {
                say(&line);
            }
            drop(counted);
            std::thread::sleep(LOOK);
        }
    });
}

pub(super) fn say(line: &str) {
    say!("worstcase: {line}");
}
