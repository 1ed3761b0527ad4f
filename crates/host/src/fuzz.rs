//! What reads traces and messages, as functions of bytes, for scripts/fuzz.

use crate::message::Message;
use crate::spec::HostSpec;
use crate::{http, journal, trace};
use std::hint::black_box;

/// Records of perf's ring.
pub fn perf_ring(bytes: &[u8]) {
    let words: Vec<u64> = bytes
        .as_chunks()
        .0
        .iter()
        .map(|word| u64::from_le_bytes(*word))
        .collect();
    trace::fuzz_records(&words);
}

/// A tracepoint's format, and a record of it.
pub fn trace_format(text: &str) {
    trace::fuzz_format(text);
}

/// Lines of the kernel's timerlat tracer.
pub fn timerlat(bytes: &[u8]) {
    let mut lines = trace::timerlat::TimerlatLines::default();
    for portion in bytes.chunks(37) {
        let _ = lines.feed(portion, |activation| {
            black_box(activation);
        });
    }
}

/// What the measuring process says, and what it is told.
pub fn worker_message(line: &str) {
    let _ = black_box(serde_json::from_str::<Message>(line));
    let _ = black_box(serde_json::from_str::<HostSpec>(line));
}

/// What is sent to the port of the metrics.
pub fn http(bytes: &[u8]) {
    let _ = black_box(http::message::head(bytes));
}

/// What a killed command left to be undone.
pub fn journal(text: &str) {
    journal::fuzz(text);
}
