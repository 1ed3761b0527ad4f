//! The parsers of traces and messages as functions of bytes, for scripts/fuzz.

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
    worstcase_traces::format::fuzz_format(text);
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

/// Messages of the measuring process, and its order.
pub fn worker_message(line: &str) {
    let _ = black_box(serde_json::from_str::<Message>(line));
    let _ = black_box(serde_json::from_str::<HostSpec>(line));
}

/// A request to the metrics port.
pub fn http(bytes: &[u8]) {
    let _ = black_box(http::message::head(bytes));
}

/// The journal of a killed command.
pub fn journal(text: &str) {
    journal::fuzz(text);
}
