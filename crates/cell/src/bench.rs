//! The list of all probes with parameters: those of `instruments`, and each that is a crate of its own.

pub use worstcase_instruments::bench::*;
pub use worstcase_io as io;
pub use worstcase_io::{BesideDetails, DeviceDetails, DiskAction, DiskDetails, DiskRequest, Extent, Io, IoDetails};
pub use worstcase_wires as irq;
pub use worstcase_wires::{Line, Pins};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// What a probe tells beside its samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Details {
    /// Of `switch`.
    Switch(SwitchDetails),
    /// Of `hackbench`.
    Hackbench(HackbenchDetails),
    /// Of `inversion`.
    Inversion(InversionDetails),
    /// Of `remote`.
    Remote(RemoteDetails),
    /// Of `irq`: `send` is what the edge out costs.
    Irq(RemoteDetails),
    /// Of `pick`.
    Pick(PickDetails),
    /// Of `spawn`.
    Spawn(SpawnDetails),
    /// Of `io`.
    Io(Box<IoDetails>),
    /// Of `shootdown`.
    Shootdown(ShootdownDetails),
}

macro_rules! benches {
    ($($(#[$about:meta])* $name:literal $variant:ident($parameters:ty) => $details:expr,)+) => {
        /// One probe with all its parameters; in text formats its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(remote = "Self")]
        pub enum Bench {
            $($(#[$about])* $variant($parameters),)+
        }

        impl Bench {
            /// The name without parameters.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Bench::$variant(_) => $name,)+
                }
            }

            /// Whether it is at work on all CPUs itself.
            pub fn is_spread(&self) -> bool {
                match self {
                    $(Bench::$variant(probe) => probe.is_spread(),)+
                }
            }

            /// Whether it has threads on other CPUs than the one that it measures on.
            pub fn has_helpers(&self) -> bool {
                match self {
                    $(Bench::$variant(probe) => probe.has_helpers(),)+
                }
            }

            /// Refuses what this machine cannot do. Nothing is started for it.
            pub fn check_machine(&self, request: &Request<'_>) -> Result<(), BenchError> {
                match self {
                    $(Bench::$variant(probe) => probe.check(request),)+
                }
            }

            /// Takes the samples.
            pub fn measure(
                &self,
                request: &Request<'_>,
                observer: &mut dyn Observer,
            ) -> Result<BenchResult<Details>, BenchError> {
                match self {
                    $(Bench::$variant(probe) => Ok(probe.measure(request, observer)?.map($details)),)+
                }
            }
        }

        impl fmt::Display for Bench {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Bench::$variant(probe) => probe.fmt(f),)+
                }
            }
        }
    };
}

benches! {
    /// What a context switch costs.
    "switch" Switch(Switch) => Details::Switch,
    /// How long message passing takes.
    "hackbench" Hackbench(Hackbench) => Details::Hackbench,
    /// How long a lock's owner makes a more urgent thread wait.
    "inversion" Inversion(Inversion) => Details::Inversion,
    /// How long a thread on one CPU takes to wake one on another.
    "remote" Remote(Remote) => Details::Remote,
    /// What a choice of the scheduler costs.
    "pick" Pick(Pick) => Details::Pick,
    /// What a new process costs.
    "spawn" Spawn(Spawn) => Details::Spawn,
    /// What work with files takes.
    "io" Io(Io) => |details| Details::Io(Box::new(details)),
    /// How long a thread takes to wake up that waits with epoll.
    "epoll" Epoll(EpollWait) => Details::Remote,
    /// How long an interrupt takes to be answered by a process.
    "irq" Irq(Line) => Details::Irq,
    /// What unmapping memory takes that other CPUs have in use.
    "shootdown" Shootdown(Shootdown) => Details::Shootdown,
}

impl Serialize for Bench {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(self),
            false => Bench::serialize(self, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Bench {
    /// Of an order; the grammar of names is the controller's.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bench, D::Error> {
        Bench::deserialize(deserializer)
    }
}
