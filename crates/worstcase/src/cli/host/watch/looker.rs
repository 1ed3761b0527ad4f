//! The display of a watch: a line for each segment; on a terminal also its progress.

use crate::cli::host::words;
use crate::cli::output::print;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use worstcase_base::duration;
use worstcase_base::format::{grouped, micros_exact, plain};
use worstcase_base::say;
use worstcase_contract::Nanos;
use worstcase_host::message::Pulse;
use worstcase_host::watch::{KeptSegment, WatchEvent, WatchObserver, WatchOrder};
use worstcase_report::metrics::WatchMetrics;

/// Looks on.
pub(crate) struct Looker {
    watched: Arc<Mutex<WatchMetrics>>,
    bar: ProgressBar,
    quiet: bool,
    folder: String,
    rotate: String,
}

impl Looker {
    /// A display that has seen nothing yet.
    pub fn new(order: &WatchOrder, quiet: bool) -> Looker {
        let spec = order.matrix.specs.first();
        let watched = WatchMetrics {
            version: env!("WORSTCASE_VERSION").to_string(),
            probe: spec.map_or(String::new(), |spec| spec.probe.to_string()),
            load: spec.map_or(String::new(), |spec| spec.load.to_string()),
            criterion: order.plan.experiment.criterion,
            ..WatchMetrics::default()
        };
        let bar = match quiet || !std::io::stderr().is_terminal() {
            true => ProgressBar::hidden(),
            false => ProgressBar::new_spinner(),
        };
        bar.set_style(ProgressStyle::with_template("{wide_msg}").expect("a constant template"));
        Looker {
            watched: Arc::new(Mutex::new(watched)),
            bar,
            quiet,
            folder: plain(&order.folder.display().to_string()),
            rotate: duration::show(spec.map_or(Nanos(0), |spec| spec.length())),
        }
    }

    /// The state from which metrics are made.
    pub(crate) fn watched(&self) -> Arc<Mutex<WatchMetrics>> {
        self.watched.clone()
    }

    /// Says where metrics are.
    pub(crate) fn serves(&self, address: SocketAddr) {
        if !self.quiet {
            say!("worstcase: metrics are at http://{address}/metrics");
        }
    }

    /// Takes the line off the terminal.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Says where it is kept.
    pub(crate) fn tell_end(&self, folder: &Path) {
        if !self.quiet {
            say!("worstcase: kept in {}", plain(&folder.display().to_string()));
        }
    }

    fn with(&self, change: impl FnOnce(&mut WatchMetrics)) {
        change(&mut self.watched.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn say(&self, line: &str) {
        self.bar.suspend(|| say!("worstcase: {line}"));
    }
}

impl WatchObserver for Looker {
    fn see(&self, event: WatchEvent<'_>) {
        match event {
            WatchEvent::Note(note) => self.say(note),
            WatchEvent::Begin(spec) => {
                if !self.quiet {
                    let (title, method) = (words::title(spec), words::method(spec));
                    let (rotate, folder) = (&self.rotate, &self.folder);
                    self.say(&format!(
                        "watching {title}: {method}, in segments of {rotate}, into {folder}"
                    ));
                }
                self.bar.enable_steady_tick(Duration::from_secs(1));
            }
            WatchEvent::Pulse(pulses) => {
                self.bar.set_message(going(pulses));
                self.with(|watched| watched.cpus = pulses.to_vec());
            }
            WatchEvent::Kept(kept) => {
                self.with(|watched| watched.kept(kept));
                if !self.quiet {
                    // A reader that went away does not end a watch.
                    self.bar.suspend(|| drop(print(&line(kept))));
                }
            }
            WatchEvent::Gap(gap) => {
                self.with(|watched| watched.gap(gap));
                self.say(&gap.to_string());
            }
        }
    }
}

/// The progress since the watch began, and in this segment.
fn going(pulses: &[Pulse]) -> String {
    let sum = |of: fn(&Pulse) -> u64| grouped(pulses.iter().map(of).sum());
    let max = pulses.iter().map(|p| p.max).max().unwrap_or(Nanos(0));
    let (taken, missed, lost) = (sum(|p| p.latencies.count), sum(|p| p.missed), sum(|p| p.lost));
    format!(
        "{taken} taken, {missed} missed, {lost} lost; max of this segment {} us",
        micros_exact(max)
    )
}

/// A segment, when it is over.
fn line(kept: &KeptSegment) -> String {
    let name = kept.folder.file_name().unwrap_or_default().to_string_lossy();
    let max = match kept.max {
        Some((max, cpu)) => format!("max {} us on CPU {cpu}", micros_exact(max)),
        None => "no sample".into(),
    };
    let (taken, missed, lost) = (grouped(kept.taken), grouped(kept.missed), grouped(kept.lost));
    let early = if kept.early { ", ended early" } else { "" };
    format!(
        "{}: {taken} taken, {missed} missed, {lost} lost, {max}{early}\n",
        plain(&name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_base::utc::Utc;

    #[test]
    fn a_segment_is_a_line() {
        let mut kept = KeptSegment {
            folder: "a/20261123-050000".into(),
            began: Utc::at(0),
            ended: Utc::at(60),
            early: false,
            taken: 12_000,
            missed: 3,
            lost: 0,
            max: Some((Nanos(81_250), 1)),
        };
        let told = "20261123-050000: 12 000 taken, 3 missed, 0 lost, max 81.250 us on CPU 1\n";
        assert_eq!(line(&kept), told);
        (kept.max, kept.early) = (None, true);
        assert!(line(&kept).ends_with("0 lost, no sample, ended early\n"));
    }
}
