//! Watching: the measuring process, its messages, and the observer.

use super::file::{GapReason, SCHEMA, WatchEnd, WatchFile, WatchGap};
use super::folder::WatchFolder;
use super::keeper::{self, Keeper};
use super::observer::{WatchEvent, WatchObserver};
use super::suspend::Sleeps;
use crate::cpus::stay_off;
use crate::message::{Message, Pulse};
use crate::run::HostMatrix;
use crate::run::measurement::{MeasurementObserver, measure};
use crate::run::placed::PlacedMeasurement;
use crate::run::settings::AppliedSettings;
use crate::spec::SegmentSpec;
use crate::state::boot_id;
use crate::{HostError, HostSpec, StateFolder};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use worstcase_base::utc::Utc;
use worstcase_contract::{Nanos, Probe};
use worstcase_plan::ExperimentPlan;
use worstcase_results::record::SampleSelection;

/// The command as journals name it.
const COMMAND: &str = "worstcase host watch";

/// How many messages may wait for the disk. Each one about a running segment replaces the one before, so one that finds no
/// room may be dropped.
const WAITING: usize = 8;

/// The order for a watch.
#[derive(Debug)]
pub struct WatchOrder {
    /// What each segment measures: one probe under one load, as long as a segment.
    pub plan: ExperimentPlan,
    /// The same for this machine.
    pub matrix: HostMatrix,
    /// The watch folder.
    pub folder: PathBuf,
    /// Whether to continue a watch in that folder.
    pub resume: bool,
    /// How many segments are kept.
    pub keep: u64,
    /// How often the state of a running segment is written.
    pub checkpoint: Nanos,
    /// The samples that are kept of each segment.
    pub selection: SampleSelection,
    /// How long after its begin the watch ends by itself, gaps included.
    pub time: Option<Nanos>,
}

/// Watches until `stop`.
pub fn run(
    order: &WatchOrder,
    state: &StateFolder,
    stop: &AtomicBool,
    look: &dyn WatchObserver,
) -> Result<(), HostError> {
    let spec = spec(order)?;
    let (folder, there) = WatchFolder::open(&order.folder, order.resume)?;
    let (file, gap) = begun(order, &folder, there, &spec)?;
    let now = Utc::now();
    let end = order
        .time
        .map(|time| Utc::at(file.began.seconds() + time.0 / 1_000_000_000));
    if end.is_some_and(|end| now >= end) {
        look.see(WatchEvent::Note("the time of this watch is over: nothing was measured"));
        return Ok(());
    }
    let spec = HostSpec {
        segments: spec.segments.map(|segments| SegmentSpec {
            most: whole_segments(order.time, spec.length(), gap.is_some()),
            ..segments
        }),
        ..spec
    };
    // The segments begin when the machine is set; the clock of the wall is for a machine that slept.
    let end = match spec.segments.and_then(|segments| segments.most) {
        Some(_) => end.map(|end| Utc::at(end.seconds() + spec.length().0 / 1_000_000_000)),
        None => end,
    };
    folder.write(&file)?;
    let (mut journal, settings) = AppliedSettings::make(&order.matrix, state, COMMAND, |note| {
        look.see(WatchEvent::Note(note));
    })?;
    let placed = PlacedMeasurement::begin(&order.matrix, state, COMMAND, &spec)?;
    let spec = &placed.spec;
    let mut keeper = Keeper {
        folder: &folder,
        file,
        matrix: &order.matrix,
        spec,
        selection: order.selection,
        applied: placed.were_set(Some(&settings)),
        plan: &order.plan,
        look,
        running: None,
    };
    if let Some(gap) = gap {
        keeper.gap(gap)?;
    }
    look.see(WatchEvent::Begin(spec));
    let (sender, orders) = sync_channel(WAITING);
    let (measured, kept) = std::thread::scope(|scope| {
        let keeping = scope.spawn(|| {
            stay_off(&spec.cpus);
            let kept = keeper.keep(&orders);
            // Nothing can be kept any more, so measuring is useless. Dropping the receiver keeps senders from waiting.
            stop.store(true, Ordering::Relaxed);
            drop(orders);
            kept
        });
        let mut relay = Relay {
            sender,
            look,
            sleeps: Sleeps::new(),
            end,
            stop,
        };
        let measured = measure(spec, &mut journal, stop, &mut relay);
        drop(relay);
        let kept = keeping.join();
        (measured, kept)
    });
    let kept = kept.unwrap_or_else(|_| Err(HostError::Worker("what keeps its results panicked".into())));
    let result = kept.and(measured.map(|_| ()));
    let why = match result {
        Ok(()) => GapReason::Stopped,
        Err(_) => GapReason::Failed,
    };
    let at = Utc::now();
    keeper.file.ended = Some(WatchEnd { at, why });
    let told = folder.write(&keeper.file).map_err(HostError::from);
    drop(settings);
    let undone = placed.end().and(journal.finish_all());
    result.and(told).and(undone)
}

fn spec(order: &WatchOrder) -> Result<HostSpec, HostError> {
    let refuse = |text: &str| Err(HostError::Argument(text.to_string()));
    let [spec] = order.matrix.specs.as_slice() else {
        return refuse("a watch has one load and one probe: several would leave gaps in each");
    };
    if spec.probe != Probe::Wakeup {
        return refuse("--probe: a watch measures with wakeup; the others are for worstcase host run");
    }
    let checkpoint = u32::try_from((order.checkpoint.0 / spec.interval.0.max(1)).max(1)).unwrap_or(u32::MAX);
    Ok(HostSpec {
        segments: Some(SegmentSpec {
            checkpoint,
            selection: order.selection,
            most: None,
        }),
        ..spec.clone()
    })
}

/// How many segments fit a new watch's time, if that is without a rest.
fn whole_segments(time: Option<Nanos>, segment: Nanos, goes_on: bool) -> Option<u64> {
    let time = time.filter(|time| !goes_on && time.0.is_multiple_of(segment.0))?;
    Some(time.0 / segment.0)
}

/// The watch's file, new or continued, and the gap until now if it is continued.
fn begun(
    order: &WatchOrder,
    folder: &WatchFolder,
    there: Option<WatchFile>,
    spec: &HostSpec,
) -> Result<(WatchFile, Option<WatchGap>), HostError> {
    let (now, boot_id) = (Utc::now(), boot_id());
    let here = WatchFile {
        schema: SCHEMA.to_string(),
        tool_version: env!("CARGO_PKG_VERSION").to_string(),
        began: now,
        experiment: order.plan.experiment.clone(),
        rotate_ns: spec.length().0,
        checkpoint_ns: order.checkpoint.0,
        keep: order.keep,
        boot_id: boot_id.clone(),
        since: now,
        ended: None,
        gaps: Vec::new(),
        gaps_forgotten: 0,
    };
    let Some(there) = there else {
        return Ok((here, None));
    };
    there.check_same(&here.experiment, folder.dir())?;
    let gap = there.gap_until(now, &boot_id, folder.last()?);
    let goes_on = WatchFile {
        began: there.began,
        gaps: there.gaps,
        gaps_forgotten: there.gaps_forgotten,
        ..here
    };
    Ok((goes_on, Some(gap)))
}

/// Passes on the messages of the measuring process.
struct Relay<'a> {
    sender: SyncSender<keeper::KeepOrder>,
    look: &'a dyn WatchObserver,
    sleeps: Sleeps,
    end: Option<Utc>,
    stop: &'a AtomicBool,
}

impl Relay<'_> {
    fn segment(&self, segment: Box<crate::message::WatchSegment>) {
        let (ended, order) = (segment.ended, keeper::KeepOrder::Segment(segment));
        // If the keeper is gone, it has an error, which is reported.
        match ended {
            true => drop(self.sender.send(order)),
            false => drop(self.sender.try_send(order)),
        }
    }

    fn pulse(&mut self, pulses: &[Pulse]) {
        let to = Utc::now();
        if let Some(slept) = self.sleeps.since() {
            let from = Utc::at(to.seconds().saturating_sub(slept.0 / 1_000_000_000));
            let why = GapReason::Suspended;
            drop(self.sender.send(keeper::KeepOrder::Gap(WatchGap { from, to, why })));
        }
        if self.end.is_some_and(|end| to >= end) {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.look.see(WatchEvent::Pulse(pulses));
    }
}

impl MeasurementObserver for Relay<'_> {
    fn note(&mut self, note: &str) {
        self.look.see(WatchEvent::Note(note));
    }

    fn message(&mut self, _spec: &HostSpec, message: &Message) {
        match message {
            Message::Segment(segment) => self.segment(segment.clone()),
            Message::Pulse(pulses) => self.pulse(pulses),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_whole_segments_is_their_number() {
        let s = |seconds: u64| Nanos(seconds * 1_000_000_000);
        assert_eq!(whole_segments(Some(s(180)), s(60), false), Some(3));
        assert_eq!(whole_segments(Some(s(170)), s(60), false), None);
        assert_eq!(whole_segments(Some(s(180)), s(60), true), None);
        assert_eq!(whole_segments(None, s(60), false), None);
    }
}
