//! What controllers know of a probe.

use super::kind::Probe;
use crate::device::Device;
use crate::grammar::Grammar;
use crate::quantity::Quantity;
use crate::spec_error::SpecError;
use crate::venue::{Only, Venue};
use worstcase_instruments::bench::{Bench, Details, Placement};
use worstcase_logs::Nanos;

/// Values that follow from a cell's details, one for each repetition.
pub type DerivedValues = fn(&Details) -> Vec<f64>;

/// What controllers know of a probe. Functions are asked with its parameters; without them, of all that it can be.
pub struct ProbeInfo {
    /// Its name without parameters, as users type it.
    pub name: &'static str,
    /// How it is asked for.
    pub(crate) form: ProbeForm,
    /// One line for help texts.
    pub about: &'static str,
    /// What one sample is, for headings; none where it is how late a timer's thread ran.
    pub sample: Option<&'static str>,
    /// Which figure of a run is worth a sentence, and how that begins.
    pub extreme: Extreme,
    /// The one venue that has it, if not both have.
    pub only: Option<Only>,

    /// Whether its samples are due at regular times, and it has a real-time priority.
    pub is_periodic: bool,
    /// Whether a sample in the lab is the lateness of a timer.
    pub awaits_timer: bool,
    /// Whether it is scheduled like everybody else in the lab, because what others want of its CPU is part of what it looks for.
    pub is_ordinary_in_lab: bool,
    /// Whether in the lab an ordinary thread of it sleeps until it is due, and so has the slack of one.
    pub has_slack_in_lab: bool,
    /// Whether its intervals in the lab are those that a real-time clock has.
    pub ticks_as_rtc_in_lab: bool,
    /// Whether several of its threads take samples at once, so that the marks of two may come in another order.
    pub marks_out_of_order: bool,

    /// Whether it works with files on a disk.
    pub needs_disk: bool,
    /// No sample may be longer, unless somebody asks for another criterion.
    pub criterion: Option<Nanos>,
    /// How many samples are taken unless somebody asks for another number or, on a host, for a time.
    pub(crate) samples: fn(Option<&Bench>) -> u32,
    /// Distance of two due times unless somebody asks for another; 0 where there are none.
    pub(crate) period: fn(Option<&Bench>, Venue) -> Nanos,
    /// The CPUs that it takes of those that it may use.
    pub(crate) cpus: fn(&Bench) -> CpuNeed,
    /// Modules of the kernel that it needs, where they are not built in.
    pub(crate) modules: fn(Option<&Bench>) -> &'static [&'static str],
    /// What the lab's machine must have.
    pub(crate) device: fn(Option<&Bench>) -> Option<Device>,
    /// Refuses parameters that a venue does not have.
    pub(crate) also_refused: fn(&Bench, Venue) -> Result<(), SpecError>,

    /// Whether a sample is how late something was; otherwise it is what something costs.
    pub is_latency: bool,
    /// Whether its samples are held against a limit.
    pub(crate) is_judged: fn(&Bench) -> bool,
    /// Whether its samples are gaps, however many there are, instead of one for each period.
    pub counts_gaps: bool,
    /// What is measured, the usual one first.
    pub(crate) quantities: fn(Venue) -> &'static [Quantity],
    /// What figures of a study can be of beside these, and before them, with the values in what a record tells beside its samples.
    pub derived: &'static [(&'static str, DerivedValues)],
    /// From the first operation until everything was on the device, where the probe has such a thing.
    pub elapsed: fn(&Details) -> Option<Nanos>,
    /// Whether what a record tells beside so many samples fits them, and what was asked for; never asked of one without parameters.
    pub(crate) fits: fn(&Details, &Bench, u64) -> bool,
    /// What in it proves that something does not work, beside a limit that was exceeded.
    pub(crate) failure: fn(&Details, &Bench, u64) -> Option<String>,
    /// What in it makes its samples say nothing.
    pub(crate) doubt: fn(&Details, &Bench, u64) -> Option<String>,
    /// What tables, comparisons and verdicts are about, given which quantities were measured.
    pub(crate) main: fn(Venue, &dyn Fn(Quantity) -> bool) -> &'static [Quantity],
    /// What pictures show where it was measured; the first one always.
    pub drawn: &'static [Quantity],
    /// The venues in which a sample can be explained.
    pub explained: &'static [Venue],
    /// What the time of a sample begins with.
    pub(crate) begin: fn(Option<&Bench>) -> SampleBegin,
}

/// How a probe is asked for.
pub(crate) enum ProbeForm {
    /// By its name.
    Name(Probe),
    /// By its name and parameters.
    Parameters(Grammar),
}

/// The CPUs that a probe takes of those that it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuNeed {
    /// All of them.
    All,
    /// So many, or all if there are fewer: the probe itself says what it needs them for.
    First(usize),
    /// So many.
    Exactly(usize),
    /// Those that lie as its members are to lie.
    Ring(Placement),
}

/// Which figure of a run is worth a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// The largest latency, which is called that.
    WorstLatency,
    /// The largest, which is called so.
    Largest(&'static str),
    /// The median, which is called so: of what something costs.
    Median(&'static str),
}

/// What the time of a sample begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleBegin {
    /// A timer was due.
    TimerDue,
    /// A device's interrupt was due.
    DeviceDue,
    /// A pulse went out.
    Pulsed,
    /// Another thread woke the probe's.
    Woken,
    /// A system call was made.
    Called,
}

impl ProbeInfo {
    /// Of one whose samples are due at regular times.
    pub(super) const PERIODIC: ProbeInfo = ProbeInfo {
        name: "",
        form: ProbeForm::Name(Probe::Wakeup),
        about: "",
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
    };

    /// Of one that takes a sample when the one before is done, at an ordinary priority: a sample is what something costs.
    pub(super) const ONE_AFTER_THE_OTHER: ProbeInfo = ProbeInfo {
        is_periodic: false,
        period: |_, _| Nanos(0),
        is_latency: false,
        is_judged: |_| false,
        explained: &[],
        ..ProbeInfo::PERIODIC
    };

    /// What tables, comparisons and verdicts are about, where these quantities were measured.
    pub fn main(&self, venue: Venue, is_measured: impl Fn(Quantity) -> bool) -> &'static [Quantity] {
        (self.main)(venue, &is_measured)
    }

    /// Whether this is measured in some venue.
    pub fn measures(&self, quantity: Quantity) -> bool {
        let mut venues = [Venue::Host, Venue::Lab].into_iter();
        venues.any(|venue| self.quantities(venue).contains(&quantity))
    }

    /// What is measured in this venue, the usual one first.
    pub fn quantities(&self, venue: Venue) -> &'static [Quantity] {
        (self.quantities)(venue)
    }
}

/// The lab's does not divide a tick, so that a cell sees many of its phases.
pub(super) const fn usual_period(venue: Venue) -> Nanos {
    match venue {
        Venue::Lab => Nanos::from_micros(251),
        Venue::Host => Nanos::from_millis(1),
    }
}
