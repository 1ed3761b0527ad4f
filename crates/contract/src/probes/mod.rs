//! All probes: one file each (`timed`: those without parameters), and a line in [`PROBES`].
//!
//! What differs from probe to probe is a field of [`ProbeInfo`]; nobody else asks which probe it is to know such a thing.

mod epoll;
mod hackbench;
mod inversion;
mod io;
mod irq;
mod pick;
mod remote;
mod shootdown;
mod spawn;
mod switch;
mod timed;

use crate::grammar::Grammar;
use crate::spec::SpecError;
use crate::venue::{Only, Venue};
use worstcase_instruments::bench::{Bench, Placement};
use worstcase_logs::Nanos;

/// All probes, in the order in which help texts name them.
pub static PROBES: [ProbeInfo; 15] = [
    timed::WAKEUP,
    timed::RESPONSE,
    timed::JITTER,
    timed::NOISE,
    timed::TIMERLAT,
    switch::SWITCH,
    hackbench::HACKBENCH,
    pick::PICK,
    spawn::SPAWN,
    io::IO,
    inversion::INVERSION,
    remote::REMOTE,
    epoll::EPOLL,
    irq::IRQ,
    shootdown::SHOOTDOWN,
];

/// What controllers know of a probe.
pub struct ProbeInfo {
    /// Its name without parameters, as users type it.
    pub name: &'static str,
    /// One line for help texts.
    pub about: &'static str,
    /// What one sample is, for headings; none where it is how late a timer's thread ran.
    pub sample: Option<&'static str>,
    /// The one venue that has it, if not both have.
    pub only: Option<Only>,
    /// Whether its samples are due at regular times, and it has a real-time priority.
    pub is_periodic: bool,
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
    pub(crate) modules: fn(&Bench) -> &'static [&'static str],
    /// Refuses parameters that a venue does not have.
    pub(crate) also_refused: fn(&Bench, Venue) -> Result<(), SpecError>,
    /// How it is asked for; none if it takes no parameters.
    pub(crate) grammar: Option<Grammar>,
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

impl ProbeInfo {
    /// Of one whose samples are due at regular times.
    const PERIODIC: ProbeInfo = ProbeInfo {
        name: "",
        about: "",
        sample: None,
        only: None,
        is_periodic: true,
        needs_disk: false,
        criterion: None,
        samples: |_| 2_000,
        period: |_, venue| usual_period(venue),
        cpus: |_| CpuNeed::All,
        modules: |_| &[],
        also_refused: |_, _| Ok(()),
        grammar: None,
    };

    /// Of one that takes a sample when the one before is done, at an ordinary priority.
    const ONE_AFTER_THE_OTHER: ProbeInfo = ProbeInfo {
        is_periodic: false,
        period: |_, _| Nanos(0),
        ..ProbeInfo::PERIODIC
    };
}

/// The lab's does not divide a tick, so that a cell sees many of its phases.
const fn usual_period(venue: Venue) -> Nanos {
    match venue {
        Venue::Lab => Nanos::from_micros(251),
        Venue::Host => Nanos::from_millis(1),
    }
}
