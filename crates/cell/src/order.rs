//! What the machine that is measured is asked for: typed, and without the grammar that users know.
//!
//! In the lab an order has always [`ORDER_LEN`] bytes: its contents may differ from cell to cell, its length may not, or the
//! machine's state would differ before anything is measured.

use crate::bench::Bench;
use crate::loads::LoadOrder;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use worstcase_instruments::cpus::CpuList;
use worstcase_instruments::placement::Placement;
use worstcase_instruments::schedule::{self, Schedule};
use worstcase_logs::Nanos;

/// Bytes of an order.
pub const ORDER_LEN: usize = 1_024;

/// What a fork of a lab machine is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "a process has one")]
pub enum Order {
    /// A record.
    Measure(CellOrder, MachineOrder),
    /// The kernel's symbols, once these modules are loaded: so they lie where they do under a load that needs them.
    Symbols(Vec<String>),
}

/// Which instrument measures, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instrument {
    /// How late a periodic thread wakes up.
    Wakeup,
    /// The same from the timer's interrupt on.
    Response,
    /// How far periods differ from what they should be.
    Jitter,
    /// What takes the CPU away from a thread that never sleeps.
    Noise,
    /// Whose sample is not the lateness of a timer.
    Bench(Bench),
    /// A program of the user's own: see [`MachineOrder::program`].
    Program,
}

/// One cell: the subject is the machine itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellOrder {
    /// The cell as the controller writes it: the record gives it back, unread.
    pub text: String,
    /// The instrument.
    pub instrument: Instrument,
    /// The loads that run at once.
    pub loads: Vec<LoadOrder>,
    /// Distance of two due times; 0 for a probe that has none.
    pub period: Nanos,
    /// Number of periods, or of repetitions; every one of them is either a sample or counted as missed.
    pub periods: u32,
    /// Shifts the phase of the first due time and seeds the load's access patterns.
    pub seed: u64,
    /// The load runs alone for this long before the first period.
    pub warmup: Nanos,
    /// SCHED_FIFO priority of the probe, 1 to 99; 0 for one that is scheduled like everybody else.
    pub priority: u8,
}

/// What a cell needs of a lab machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineOrder {
    /// The probe's CPU, if somebody chose one.
    pub probe_cpu: Option<u32>,
    /// The load's, if somebody chose them.
    pub load_cpus: Option<CpuList>,
    /// How a probe that sleeps until it is due, or never, is scheduled.
    pub policy: PolicyOrder,
    /// Of the kernel's threads, by name.
    pub priorities: Vec<(String, u8)>,
    /// Files are on the machine's disk.
    pub disk: bool,
    /// That disk's scheduler, with its settings.
    pub io_scheduler: Option<String>,
    /// Kernel modules that probe and load need where they are not built in, without their dependencies.
    pub modules: Vec<String>,
    /// The program that is followed, with its arguments; empty for another instrument.
    pub program: Vec<String>,
    /// The machine stops when the load is warm, and then reads its order again: that of a cell that differs in its seed alone.
    pub stops_when_warm: bool,
}

/// How a probe that sleeps until it is due, or never, is scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PolicyOrder {
    /// SCHED_FIFO at the cell's priority.
    #[default]
    Fifo,
    /// SCHED_RR at the cell's priority.
    RoundRobin,
    /// SCHED_OTHER, with this nice value: threads take turns.
    Ordinary(i8),
}

impl CellOrder {
    /// The order up to the end of the warm-up: the same for every seed.
    pub fn until_warm(&self) -> CellOrder {
        CellOrder {
            text: String::new(),
            seed: 0,
            ..self.clone()
        }
    }

    /// The due times, if nothing may be due before `earliest`.
    pub fn schedule(&self, earliest: Nanos) -> Schedule {
        Schedule {
            start: schedule::start(earliest, self.seed),
            interval: self.period,
            periods: self.periods,
        }
    }
}

impl MachineOrder {
    /// Where probe and load run; none on a machine of one CPU.
    pub fn place(&self) -> io::Result<Option<Placement>> {
        Placement::choose(self.probe_cpu, self.load_cpus.as_ref())
    }
}

impl Instrument {
    /// The CPUs that it is told of: all, if it is itself a load for all; its own and then all others, if it has threads there;
    /// none if all that it starts stays with it.
    pub fn cpus(&self, placement: &Placement) -> Vec<u32> {
        match self {
            Instrument::Bench(bench) if bench.is_spread() => placement.all(),
            Instrument::Bench(bench) if bench.has_helpers() => placement.probe_first(),
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for Instrument {
    /// As users name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Instrument::Wakeup => f.pad("wakeup"),
            Instrument::Response => f.pad("response"),
            Instrument::Jitter => f.pad("jitter"),
            Instrument::Noise => f.pad("noise"),
            Instrument::Bench(bench) => bench.fmt(f),
            Instrument::Program => f.pad("follow"),
        }
    }
}

impl Order {
    /// Its bytes, always as many.
    pub fn encode(&self) -> Result<Vec<u8>, OrderError> {
        let mut bytes = postcard::to_stdvec(self).expect("plain values are serialised");
        let excess = bytes.len().saturating_sub(ORDER_LEN);
        if excess > 0 {
            return Err(OrderError::TooLong(excess));
        }
        bytes.resize(ORDER_LEN, 0);
        Ok(bytes)
    }

    /// Reads what [`Order::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<Order, OrderError> {
        let read = postcard::take_from_bytes(bytes);
        read.map(|(order, _padding)| order).map_err(|_| OrderError::NotAnOrder)
    }
}

/// Why there is no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// By so many bytes.
    #[error("what is asked of the machine is {0} bytes too long")]
    TooLong(usize),
    /// Something else.
    #[error("this is not an order")]
    NotAnOrder,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Hackbench, Pick, Remote, Shootdown, Transport, Via};
    use crate::loads::LoadKind;
    use worstcase_instruments::loads::LoadRequest;

    fn order(words: Vec<String>) -> Order {
        let cell = CellOrder {
            text: "probe=wakeup".into(),
            instrument: Instrument::Wakeup,
            loads: vec![LoadOrder {
                kind: LoadKind::Cmd,
                request: LoadRequest {
                    words,
                    ..LoadRequest::default()
                },
            }],
            period: Nanos(251_000),
            periods: 2_000,
            seed: u64::MAX,
            warmup: Nanos::from_millis(100),
            priority: 98,
        };
        let machine = MachineOrder {
            load_cpus: Some("0,2-3".parse().unwrap()),
            policy: PolicyOrder::Ordinary(-5),
            priorities: vec![("ktimers".into(), 90)],
            ..MachineOrder::default()
        };
        Order::Measure(cell, machine)
    }

    #[test]
    fn every_order_has_the_same_length_and_is_read_back() {
        for order in [
            order(vec![]),
            order(vec!["stress-ng".into(), "--cpu".into()]),
            Order::Symbols(vec!["brd".into()]),
        ] {
            let bytes = order.encode().unwrap();
            assert_eq!(bytes.len(), ORDER_LEN);
            assert_eq!(Order::decode(&bytes), Ok(order));
        }
    }

    #[test]
    fn one_that_is_too_long_or_none_is_refused() {
        let long = order(vec!["x".repeat(ORDER_LEN)]);
        assert!(matches!(long.encode(), Err(OrderError::TooLong(1..))));
        assert_eq!(Order::decode(&[]), Err(OrderError::NotAnOrder));
        assert_eq!(Order::decode(&[b' '; ORDER_LEN]), Err(OrderError::NotAnOrder));
    }

    #[test]
    fn cells_that_differ_in_their_seed_are_begun_alike() {
        let Order::Measure(cell, _) = order(vec![]) else {
            unreachable!()
        };
        let of = |change: fn(&mut CellOrder)| {
            let mut other = cell.clone();
            change(&mut other);
            other.until_warm()
        };
        assert_eq!(of(|cell| cell.seed = 7), cell.until_warm());
        assert_eq!(of(|cell| cell.text = "another seed".into()), cell.until_warm());
        assert_ne!(of(|cell| cell.periods += 1), cell.until_warm());
        assert_ne!(of(|cell| cell.warmup = Nanos(0)), cell.until_warm());
    }

    #[test]
    fn a_probe_is_told_of_the_cpus_on_which_it_has_threads() {
        let placement = Placement::among(&(0..4).collect(), CpuList::default(), Some(1), None);
        let cpus = |bench| Instrument::Bench(bench).cpus(&placement);
        let hackbench = Hackbench {
            groups: 1,
            pairs: 1,
            messages: 1,
            size: 1,
            transport: Transport::Pipes,
            threads: false,
            cpus: 0,
            pinned: false,
            latency: false,
        };
        assert_eq!(cpus(Bench::Hackbench(hackbench)), [0, 1, 2, 3]);
        assert_eq!(cpus(Bench::Pick(Pick { tasks: 1 })), [0; 0]);
        assert_eq!(Instrument::Wakeup.cpus(&placement), [0; 0]);
        for bench in [
            Bench::Remote(Remote { via: Via::Futex }),
            Bench::Shootdown(Shootdown { threads: 1, pages: 16 }),
        ] {
            assert_eq!(cpus(bench), [1, 0, 2, 3]);
        }
    }
}
