//! One instance of the kernel's trace: its settings and its CPUs.

use super::stream::CpuStream;
use crate::Journal;
use crate::trace::TracingError;
use crate::trace::tracefs::InstanceFolder;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// An instance, switched off when it is made.
#[derive(Debug)]
pub(super) struct Instance(PathBuf);

impl Instance {
    /// Makes one with so much room for each CPU; the journal removes it.
    pub fn make(folder: &InstanceFolder, name: &str, room_kib: u64, journal: &mut Journal) -> Result<Instance, String> {
        let instance = Instance(folder.of(name));
        journal.make_tracing(name, &instance.0).map_err(|e| e.to_string())?;
        let settings = [
            ("tracing_on", "0".to_string()),
            ("trace_clock", "mono".into()),
            ("buffer_size_kb", room_kib.to_string()),
        ];
        for (file, value) in settings {
            instance.set(file, &value).map_err(|e| e.to_string())?;
        }
        Ok(instance)
    }

    #[cfg(test)]
    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn set(&self, file: &str, value: &str) -> Result<(), TracingError> {
        self.written(file, value, |path| fs::write(path, value))
    }

    /// Adds to what a file lists.
    pub fn add(&self, file: &str, value: &str) -> Result<(), TracingError> {
        self.written(file, value, |path| {
            File::options().append(true).open(path)?.write_all(value.as_bytes())
        })
    }

    fn written(
        &self,
        file: &str,
        value: &str,
        write: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), TracingError> {
        let path = self.0.join(file);
        write(&path).map_err(|source| TracingError::Instance {
            path,
            value: value.to_string(),
            source,
        })
    }

    /// Has a tracepoint recorded.
    pub fn enable(&self, point: &str) -> Result<(), TracingError> {
        self.set(&format!("events/{point}/enable"), "1")
    }

    pub fn switch(&self, on: bool) -> Result<(), TracingError> {
        self.set("tracing_on", if on { "1" } else { "0" })
    }

    /// Forgets what was recorded.
    pub fn clear(&self) -> Result<(), TracingError> {
        self.set("trace", "")
    }

    /// The records of a CPU.
    pub fn stream(&self, cpu: u32) -> Result<CpuStream, TracingError> {
        CpuStream::open(&self.0.join(format!("per_cpu/cpu{cpu}")), cpu)
    }
}
