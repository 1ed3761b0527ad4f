//! A mark that a user names, in the instances of the kernel's trace.

use super::instance::Instance;
use crate::trace::TracingError;
use crate::trace::tracefs::{InstanceFolder, Tracefs};
use crate::{HostError, Journal};
use std::fs::File;
use std::os::fd::AsRawFd;
use worstcase_base::unforeseen;
use worstcase_traces::pages::{LINES, PageReader};

/// What is recorded as a mark.
#[derive(Debug)]
pub(crate) enum TracedMark {
    /// The code at this offset of a file is run.
    Code {
        /// The file.
        file: File,
        /// Where in it.
        offset: u64,
    },
    /// A line that begins so is written into trace_marker.
    Line(String),
}

/// An instance gets a copy of what is written into the trace_marker of all.
const COPY_LINES: &str = "options/copy_trace_marker";

impl TracedMark {
    /// Makes its tracepoint, if it has one of its own, and tells its name.
    pub fn make(&self, folder: &InstanceFolder, journal: &mut Journal) -> Result<Option<String>, HostError> {
        let TracedMark::Code { file, offset } = self else {
            return Ok(None);
        };
        let uprobes = folder.uprobes();
        if !uprobes.exists() {
            return Err(HostError::Missing(
                "this kernel has no uprobes (CONFIG_UPROBE_EVENTS): mark cycles by a line (--wait marker:TEXT) or a system \
                 call (--wait write:3)"
                    .into(),
            ));
        }
        let prefix = format!("worstcase_{}_", std::process::id());
        let named = unforeseen::name(&prefix).map_err(|e| HostError::Missing(e.to_string()))?;
        let event = format!("{named}/entry");
        // By its descriptor: a path with a blank or a colon would be another to the kernel.
        let line = format!("p:{event} /proc/self/fd/{}:0x{offset:x}\n", file.as_raw_fd());
        journal.make_uprobe(&uprobes, &event, &line)?;
        Ok(Some(event))
    }

    /// Has the reader tell it.
    pub fn read(&self, tracefs: &Tracefs, event: Option<&str>, reader: &mut PageReader) -> Result<(), TracingError> {
        let format = |name: &str| tracefs.text(&format!("events/{name}/format"));
        match (self, event) {
            (TracedMark::Line(text), _) => reader.mark_lines(&format(LINES)?, text)?,
            (TracedMark::Code { .. }, Some(event)) => reader.mark(event, &format(event)?)?,
            (TracedMark::Code { .. }, None) => {}
        }
        Ok(())
    }

    /// Has the instance record it that records all threads.
    pub(super) fn record(&self, all: &Instance) -> Result<(), HostError> {
        let TracedMark::Line(_) = self else { return Ok(()) };
        all.set(COPY_LINES, "1").map_err(|e| {
            HostError::Missing(format!(
                "this kernel keeps lines of trace_marker to itself ({e}); Linux 6.16 has {COPY_LINES}: name a function \
                 (--wait uprobe:FILE:NAME) or the write itself (--wait write:3)"
            ))
        })
    }
}
