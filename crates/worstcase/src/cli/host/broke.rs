//! The sample that ended a run: the command that runs at once, and the lines about the sample.

use super::hooks;
use crate::cli::error::Error;
use crate::cli::output::print;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use worstcase_analysis::explain::worst_of_host;
use worstcase_base::format::micros_exact;
use worstcase_contract::Nanos;
use worstcase_host::HostSpec;
use worstcase_host::message::Message;
use worstcase_host::run::MeasurementObserver;
use worstcase_report::breakdown::terminal;
use worstcase_report::terminal::Style;
use worstcase_results::record::{CellId, ENDED_EARLY, Run};

/// A sample above the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    cpu: u32,
    index: u64,
    latency: Nanos,
    limit: Nanos,
    load: String,
    probe: String,
    seed: u64,
}

/// Whether there was one; and the command that runs because of it.
#[derive(Clone, Default)]
pub(crate) struct Broke(Arc<Mutex<HeldBreak>>);

#[derive(Default)]
struct HeldBreak {
    late: Option<Late>,
    command: Option<JoinHandle<Vec<String>>>,
}

impl Broke {
    /// Looks on beside `inner`.
    pub(crate) fn watch(
        &self,
        inner: Box<dyn MeasurementObserver + Send>,
        on_break: Option<Vec<String>>,
        folder: &Path,
    ) -> Watching {
        Watching {
            inner,
            on_break,
            folder: folder.to_path_buf(),
            broke: self.clone(),
        }
    }

    /// The sample, if there was one; waits for the command's end.
    pub(crate) fn end(&self) -> Option<Late> {
        let (late, command) = {
            let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            (held.late.take(), held.command.take())
        };
        // The panic of that thread has been reported. The command's lines are printed after the live view has
        // ended.
        if let Some(Ok(said)) = command.map(JoinHandle::join) {
            hooks::tell(&said);
        }
        late
    }
}

/// Hands everything on, and takes note of the sample.
pub(crate) struct Watching {
    inner: Box<dyn MeasurementObserver + Send>,
    on_break: Option<Vec<String>>,
    folder: std::path::PathBuf,
    broke: Broke,
}

impl MeasurementObserver for Watching {
    fn note(&mut self, note: &str) {
        self.inner.note(note);
    }

    fn begin(&mut self, nth: usize, of: usize, spec: &HostSpec) {
        self.inner.begin(nth, of, spec);
    }

    fn message(&mut self, spec: &HostSpec, message: &Message) {
        self.inner.message(spec, message);
        let (Message::Broke { cpu, index, latency }, Some(limit)) = (message, spec.break_at) else {
            return;
        };
        let late = Late {
            cpu: *cpu,
            index: *index,
            latency: *latency,
            limit,
            load: spec.load.to_string(),
            probe: spec.probe.to_string(),
            seed: spec.seed,
        };
        let facts = late.facts();
        let mut held = self.broke.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.late = Some(late);
        if let Some(command) = self.on_break.take() {
            let folder = self.folder.clone();
            held.command = Some(std::thread::spawn(move || {
                hooks::run(&command, "--on-break", &folder, &facts)
            }));
        }
    }

    fn end(&mut self) {
        self.inner.end();
    }
}

impl Late {
    fn facts(&self) -> [(&'static str, String); 3] {
        [
            ("WORSTCASE_CPU", self.cpu.to_string()),
            ("WORSTCASE_SAMPLE", self.index.to_string()),
            ("WORSTCASE_LATENCY_NS", self.latency.0.to_string()),
        ]
    }

    /// Prints the sample and its breakdown, if the trace around it was kept.
    pub(crate) fn tell(&self, run: &Run) -> Result<(), Error> {
        let records = run.records()?;
        let of = |r: &&worstcase_results::record::Record| {
            let cell = &r.cell;
            r.environment.contains_key(ENDED_EARLY)
                && (&cell.load, &cell.probe, cell.seed, cell.cpu)
                    == (&self.load, &self.probe, self.seed, Some(self.cpu))
        };
        let Some(record) = records.iter().find(of) else {
            return Ok(());
        };
        print(&self.sentence(&record.id))?;
        match worst_of_host(run, &records, record)? {
            Some(breakdown) => print(&terminal::breakdown(&breakdown, Style::of_stdout()))?,
            None => print("what led to it was not kept\n")?,
        }
        print("\n")?;
        Ok(())
    }

    fn sentence(&self, cell: &CellId) -> String {
        format!(
            "ended by sample {} of CPU {}: {} us, above {} us ({cell})\n",
            self.index,
            self.cpu,
            micros_exact(self.latency),
            micros_exact(self.limit)
        )
    }
}
