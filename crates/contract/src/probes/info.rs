//! What controllers know of a probe.

use super::kind::Probe;
use crate::device::Device;
use crate::grammar::Grammar;
use crate::quantity::Quantity;
use crate::spec_error::SpecError;
use crate::venue::{Only, Venue};
use worstcase_cell::bench::{Bench, Details, Placement};
use worstcase_logs::Nanos;

/// Values derived from a cell's details, one for each repetition.
pub(crate) type DerivedValues = fn(&Details) -> Vec<f64>;

/// What controllers know of a probe. Functions get its parameters; without them they answer for all parameters that it
/// can have.
pub struct ProbeInfo {
    /// Its name without parameters, as users type it.
    pub name: &'static str,
    pub(crate) form: ProbeForm,
    /// One line for help texts.
    pub about: &'static str,
    /// What it does, and what its words mean.
    pub details: &'static str,
    /// What must be there beside kernel modules; empty for nothing.
    pub needs: &'static str,
    /// What one sample is, for headings; none where it is the lateness of a timer's thread.
    pub sample: Option<&'static str>,
    /// Which figure of a run gets a sentence, and how the sentence begins.
    pub extreme: Extreme,
    /// The one venue that has the probe, if not both have.
    pub only: Option<Only>,

    /// Whether its samples are due at regular times. Such a probe has a real-time priority.
    pub(crate) is_periodic: bool,
    /// Whether a sample in the lab is the lateness of a timer.
    pub(crate) awaits_timer: bool,
    /// Whether it is an ordinary thread in the lab unless asked for another policy, because it also looks for other threads that
    /// want its CPU.
    pub(crate) is_ordinary_in_lab: bool,
    /// Whether in the lab an ordinary thread of the probe sleeps until it is due, and so has an ordinary thread's timer
    /// slack.
    pub has_slack_in_lab: bool,
    /// Whether in the lab only the intervals of a real-time clock are possible.
    pub ticks_as_rtc_in_lab: bool,
    /// Whether several of its threads take samples at once, so that marks of two threads may be out of order.
    pub marks_out_of_order: bool,

    /// Whether it works with files on a disk.
    pub needs_disk: bool,
    /// The default criterion: no sample may be longer.
    pub criterion: Option<Nanos>,
    /// How many samples are taken by default; on a host a user may ask for a time instead.
    pub(crate) samples: fn(Option<&Bench>) -> u32,
    /// The default distance of two due times; 0 for a probe without due times.
    pub(crate) period: fn(Option<&Bench>, Venue) -> Nanos,
    /// How many of the allowed CPUs it takes.
    pub(crate) cpus: fn(&Bench) -> CpuNeed,
    /// Kernel modules that it needs where they are not built in.
    pub(crate) modules: fn(Option<&Bench>) -> &'static [&'static str],
    /// The device that the lab's machine must have.
    pub(crate) device: fn(Option<&Bench>) -> Option<Device>,
    /// Refuses parameters that a venue does not have.
    pub(crate) also_refused: fn(&Bench, Venue) -> Result<(), SpecError>,

    /// Whether a sample is a lateness; otherwise it is a cost.
    pub is_latency: bool,
    /// Whether its samples are held against a limit.
    pub(crate) is_judged: fn(&Bench) -> bool,
    /// Whether its samples are gaps, of any number, instead of one sample for each period.
    pub counts_gaps: bool,
    /// The quantities that it measures, the default first.
    pub(crate) quantities: fn(Venue) -> &'static [Quantity],
    /// Names of derived values that a study's figures can be about, with the function that gets them from a record's
    /// details. They come before the quantities.
    pub derived: &'static [(&'static str, DerivedValues)],
    /// Time from the first operation until all data was on the device, for probes that write.
    pub elapsed: fn(&Details) -> Option<Nanos>,
    /// Whether the details of a record fit the parameters and the number of samples; never asked for a probe without parameters.
    pub(crate) fits: fn(&Details, &Bench, u64) -> bool,
    /// What in the details proves that something does not work, in addition to a limit that was exceeded.
    pub(crate) failure: fn(&Details, &Bench, u64) -> Option<String>,
    /// What in the details makes the samples worthless.
    pub(crate) doubt: fn(&Details, &Bench, u64) -> Option<String>,
    /// The quantities of tables, comparisons and verdicts, given which ones were measured.
    pub(crate) main: fn(Venue, &dyn Fn(Quantity) -> bool) -> &'static [Quantity],
    /// The quantities that pictures show where they were measured; the first one always.
    pub drawn: &'static [Quantity],
    /// The venues in which a sample can be explained.
    pub explained: &'static [Venue],
    /// The event from which a sample's time is counted.
    pub(crate) begin: fn(Option<&Bench>) -> SampleBegin,
    /// Where the path of a sample is in a machine of one CPU.
    pub(crate) path: fn(Option<&Bench>) -> SamplePath,
}

/// How a probe is asked for.
pub(crate) enum ProbeForm {
    Name(Probe),
    Parameters(Grammar),
    /// Not at all: it is a program of the user's own.
    Program,
}

/// How many of the allowed CPUs a probe takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuNeed {
    /// All of them.
    All,
    /// So many, or all if there are fewer: the probe itself says what it needs them for.
    First(usize),
    /// So many.
    Exactly(usize),
    /// CPUs that lie to each other as this placement says.
    Ring(Placement),
}

/// The figure of a run that gets a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// The largest sample, called the worst latency.
    WorstLatency,
    /// The largest sample, called by this name.
    Largest(&'static str),
    /// The median, called by this name, for a probe that measures a cost.
    Median(&'static str),
}

/// The event from which a sample's time is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleBegin {
    /// A timer was due.
    TimerDue,
    /// A device's interrupt was due.
    DeviceDue,
    /// A pulse was sent.
    Pulsed,
    /// Another thread woke the thread of the probe.
    Woken,
    /// A system call was made.
    Called,
}

/// Where the instructions are whose time a sample is, in a machine of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplePath {
    /// All that ran from its begin on.
    Whole,
    /// All that ran in a lap of a ring of so many processes, of which each makes a hop; a sample is the mean of many hops.
    Lap(usize),
    /// Nowhere: it is the time of thousands of operations.
    Many,
}

impl ProbeInfo {
    /// The row of a probe whose samples are due at regular times.
    pub(super) const PERIODIC: ProbeInfo = ProbeInfo {
        name: "",
        form: ProbeForm::Name(Probe::Wakeup),
        about: "",
        details: "",
        needs: "",
        sample: None,
        extreme: Extreme::WorstLatency,
        only: None,
        is_periodic: true,
        awaits_timer: false,
        is_ordinary_in_lab: false,
        has_slack_in_lab: false,
        ticks_as_rtc_in_lab: false,
        marks_out_of_order: false,
        needs_disk: false,
        criterion: None,
        samples: |_| 2_000,
        period: |_, venue| usual_period(venue),
        cpus: |_| CpuNeed::All,
        modules: |_| &[],
        device: |_| None,
        also_refused: |_, _| Ok(()),
        is_latency: true,
        is_judged: |_| true,
        counts_gaps: false,
        quantities: |_| &[Quantity::Latency],
        derived: &[],
        elapsed: |_| None,
        fits: |_, _, _| false,
        failure: |_, _, _| None,
        doubt: |_, _, _| None,
        main: |_, _| &[Quantity::Latency],
        drawn: &[Quantity::Latency],
        explained: &[Venue::Host, Venue::Lab],
        begin: |_| SampleBegin::TimerDue,
        path: |_| SamplePath::Whole,
    };

    /// The row of a probe that takes one sample right after the other, at an ordinary priority: a sample is a cost.
    pub(super) const ONE_AFTER_THE_OTHER: ProbeInfo = ProbeInfo {
        is_periodic: false,
        period: |_, _| Nanos(0),
        is_latency: false,
        is_judged: |_| false,
        explained: &[],
        ..ProbeInfo::PERIODIC
    };

    /// The quantities of tables, comparisons and verdicts, given which ones were measured.
    pub fn main(&self, venue: Venue, is_measured: impl Fn(Quantity) -> bool) -> &'static [Quantity] {
        (self.main)(venue, &is_measured)
    }

    /// Whether some venue measures this quantity.
    pub fn measures(&self, quantity: Quantity) -> bool {
        let mut venues = [Venue::Host, Venue::Lab].into_iter();
        venues.any(|venue| self.quantities(venue).contains(&quantity))
    }

    /// The quantities that this venue measures, the default first.
    pub fn quantities(&self, venue: Venue) -> &'static [Quantity] {
        (self.quantities)(venue)
    }
}

/// The lab's period does not divide a tick, so that a cell meets the tick at many phases.
pub(super) const fn usual_period(venue: Venue) -> Nanos {
    match venue {
        Venue::Lab => Nanos::from_micros(251),
        Venue::Host => Nanos::from_millis(1),
    }
}
