//! One cell on the machine that is measured.

use super::jitter::Jitter;
use super::noise::Noise;
use super::real_time::RealTime;
use super::recorder::Recorder;
use super::response::Response;
use super::wakeup;
use crate::bench::{Bench, BenchError, Details, Observer, Request};
use crate::followed::{Followed, FollowedError, RawTrace};
use crate::loads::LoadEnvironment;
use crate::order::{CellOrder, Instrument, PolicyOrder};
use crate::raw_record::RawRecord;
use std::io;
use worstcase_instruments::bench::Marks;
use worstcase_instruments::environment;
use worstcase_instruments::loads::{LoadError, RunningLoad};
use worstcase_instruments::record::{Sample, SelfCost, Work};
use worstcase_instruments::schedule::Schedule;
use worstcase_instruments::sys::clock;
use worstcase_instruments::sys::usage::{self, Usage};
use worstcase_logs::Nanos;

/// Clock reads and empty turns of which the shortest is the self-cost.
const TRIALS: usize = 200;
/// The load's counters are read this long before the first period is due: enough to be done with it by then.
const LEAD: Nanos = Nanos::from_millis(5);

/// Why a cell gave no record.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The load failed, or did nothing.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A system call that measuring needs failed.
    #[error("probe '{probe}' cannot measure: {source}")]
    System {
        /// The probe.
        probe: Instrument,
        /// The system's answer.
        source: io::Error,
    },
    /// The books do not balance: the result would be wrong.
    #[error("probe '{probe}' lost count: {what}")]
    Accounting {
        /// The probe.
        probe: Instrument,
        /// What does not fit.
        what: String,
    },
    /// A probe of [`crate::bench`] failed.
    #[error("probe '{probe}': {source}")]
    Bench {
        /// The probe.
        probe: Instrument,
        /// Why.
        source: BenchError,
    },
    /// The cell that is to be measured is none, or another one than was begun.
    #[error("what to measure when the load is warm: {0}")]
    Order(String),
    /// A program that is followed, or its trace, failed.
    #[error(transparent)]
    Followed(#[from] FollowedError),
}

/// Runs one cell: starts the load, warms up, measures, checks that the load worked meanwhile, stops it.
///
/// The process must have one thread only (loads are forked from it). Takes
/// `warmup + periods * period`, and up to some 30 ms for the start.
pub fn run(order: &CellOrder, env: &LoadEnvironment) -> Result<RawRecord, ProbeError> {
    let mut environment = environment::read();
    let on_cpus = |source| ProbeError::System {
        probe: order.instrument,
        source,
    };
    if let Some(placement) = &env.surroundings.placement {
        placement.enter_load().map_err(on_cpus)?;
    }
    let mut load = env.start(&order.loads, order.seed)?;
    if let Some(placement) = &env.surroundings.placement {
        placement.enter_probe().map_err(on_cpus)?;
    }
    let spread = env
        .surroundings
        .placement
        .as_ref()
        .map_or_else(Vec::new, |placement| order.instrument.cpus(placement));
    let measured = match order.instrument {
        Instrument::Bench(bench) => measure_bench(order, bench, env, (&spread, &mut load)),
        Instrument::Noise => measure_noise(order, env, &mut load),
        Instrument::Program => measure_program(order, env, &mut load),
        _ => measure(order, env, &mut load),
    };
    let stopped = load.stop();
    let mut measured = measured?;
    stopped?;
    if environment.get("clocksource") != environment::read().get("clocksource") {
        measured
            .warnings
            .push("the kernel changed its clock source while measuring".into());
    }
    if let Some(placement) = &env.surroundings.placement {
        environment.insert("probe_cpu".into(), placement.probe.to_string());
        environment.insert("load_cpus".into(), placement.load_list());
    }
    Ok(RawRecord {
        spec: measured.text,
        start: measured.start,
        expected: measured.expected,
        samples: measured.samples,
        self_cost: measured.self_cost,
        work: measured.work,
        warnings: measured.warnings,
        environment,
        details: measured.details,
        counters: std::collections::BTreeMap::new(),
        trace: measured.trace,
    })
}

struct Measured {
    /// The cell's.
    text: String,
    start: Nanos,
    /// Periods that were due, or gaps that were seen.
    expected: u32,
    samples: Vec<Sample>,
    self_cost: SelfCost,
    work: Vec<Work>,
    warnings: Vec<String>,
    details: Option<Details>,
    trace: Option<RawTrace>,
}

/// An instrument that is ready: everything it needs is made and present.
enum Sampler {
    Wakeup(Recorder),
    Response(Response),
    Jitter(Jitter),
}

impl Sampler {
    fn new(order: &CellOrder) -> io::Result<Sampler> {
        let recorder = Recorder::new(order.schedule(clock::monotonic()));
        Ok(match order.instrument {
            Instrument::Wakeup => Sampler::Wakeup(recorder),
            Instrument::Response => Sampler::Response(Response::new(recorder)?),
            Instrument::Jitter => Sampler::Jitter(Jitter::new(recorder)),
            Instrument::Bench(_) | Instrument::Noise | Instrument::Program => {
                unreachable!("measured in a way of its own")
            }
        })
    }

    fn recorder(&mut self) -> &mut Recorder {
        match self {
            Sampler::Wakeup(recorder) => recorder,
            Sampler::Response(response) => response.recorder(),
            Sampler::Jitter(jitter) => jitter.recorder(),
        }
    }

    fn empty_sample(&mut self) -> io::Result<Nanos> {
        match self {
            Sampler::Wakeup(recorder) => Ok(wakeup::empty_sample(recorder, TRIALS)),
            Sampler::Response(response) => response.empty_sample(TRIALS),
            Sampler::Jitter(jitter) => jitter.empty_sample(TRIALS),
        }
    }

    fn measure(&mut self) -> io::Result<()> {
        match self {
            Sampler::Wakeup(recorder) => {
                wakeup::measure(recorder);
                Ok(())
            }
            Sampler::Response(response) => response.measure(),
            Sampler::Jitter(jitter) => jitter.measure(),
        }
    }

    fn into_recorder(self) -> Recorder {
        match self {
            Sampler::Wakeup(recorder) => recorder,
            Sampler::Response(response) => response.into_recorder(),
            Sampler::Jitter(jitter) => jitter.into_recorder(),
        }
    }
}

/// What was counted before measuring.
struct Books {
    work: Vec<Work>,
    used: Usage,
    cpu_time: Nanos,
}

impl Books {
    fn open(order: &CellOrder, load: &RunningLoad) -> Result<Books, ProbeError> {
        Ok(Books {
            work: load.work(),
            used: usage::own_process(),
            cpu_time: own_cpu_time(order)?,
        })
    }

    /// What measuring itself took, and what the load did meanwhile.
    fn close(
        self,
        order: &CellOrder,
        load: &mut RunningLoad,
        clock_read: Nanos,
        empty_sample: Nanos,
    ) -> Result<(SelfCost, Vec<Work>), ProbeError> {
        let cpu_time = own_cpu_time(order)?.saturating_sub(self.cpu_time);
        let used = usage::own_process() - self.used;
        let work = load.work_since(&self.work);
        load.check()?;
        let cost = SelfCost {
            clock_read,
            empty_sample,
            cpu_time,
            minor_faults: used.minor_faults,
            major_faults: used.major_faults,
        };
        Ok((cost, work?))
    }
}

fn own_cpu_time(order: &CellOrder) -> Result<Nanos, ProbeError> {
    clock::own_cpu_time().map_err(|source| ProbeError::System {
        probe: order.instrument,
        source,
    })
}

/// Lets the load work for a while. Returns the cell to measure, and what a clock read costs.
fn warm_up(begun: &CellOrder, env: &LoadEnvironment, load: &mut RunningLoad) -> Result<(CellOrder, Nanos), ProbeError> {
    load.wait_for_work()?;
    clock::sleep_until(clock::monotonic() + begun.warmup);
    let mut order = begun.clone();
    if let Some(when_warm) = env.when_warm {
        order = when_warm().map_err(ProbeError::Order)?;
        if order.until_warm() != begun.until_warm() {
            return Err(ProbeError::Order("it is another cell than was begun".into()));
        }
        load.give_seed(order.seed);
    }
    Ok((order, clock::read_cost(TRIALS)))
}

fn measure(order: &CellOrder, env: &LoadEnvironment, load: &mut RunningLoad) -> Result<Measured, ProbeError> {
    let system = |source| ProbeError::System {
        probe: order.instrument,
        source,
    };
    let mut warnings = Vec::new();
    let mut instrument = Sampler::new(order).map_err(system)?;
    let rights = RealTime::acquire(env.policy, order.priority, &mut warnings);
    let (order, clock_read) = warm_up(order, env, load)?;
    let empty_sample = instrument.empty_sample().map_err(system)?;
    load.check()?;

    let schedule = order.schedule(clock::monotonic() + LEAD);
    instrument.recorder().restart(schedule.start);
    clock::sleep_until(schedule.start - LEAD);
    let books = Books::open(&order, load)?;
    if matches!(env.policy, PolicyOrder::Ordinary(_)) {
        // Other tasks may have had the CPU for longer than the lead: what is due must not have been before it is waited for.
        let schedule = order.schedule(clock::monotonic());
        instrument.recorder().restart(schedule.start);
    }
    instrument.measure().map_err(system)?;
    let (self_cost, work) = books.close(&order, load, clock_read, empty_sample)?;
    drop(rights);

    let start = instrument.recorder().schedule().start;
    let recorded = instrument
        .into_recorder()
        .finish()
        .map_err(|what| ProbeError::Accounting {
            probe: order.instrument,
            what,
        })?;
    if recorded.early > 0 {
        warnings.push(format!(
            "{} samples came before they were due and count as 0: the clock or the timer is not sound",
            recorded.early
        ));
    }
    Ok(Measured {
        text: order.text,
        start,
        expected: order.periods,
        samples: recorded.samples,
        self_cost,
        work,
        warnings,
        details: None,
        trace: None,
    })
}

/// Without a priority the probe is scheduled like everybody else: what other threads want of its CPU is part of what it looks
/// for.
fn measure_noise(order: &CellOrder, env: &LoadEnvironment, load: &mut RunningLoad) -> Result<Measured, ProbeError> {
    let policy = match (env.policy, order.priority) {
        (PolicyOrder::Fifo | PolicyOrder::RoundRobin, 0) => PolicyOrder::Ordinary(0),
        _ => env.policy,
    };
    let mut warnings = Vec::new();
    let rights = RealTime::acquire(policy, order.priority, &mut warnings);
    let (order, clock_read) = warm_up(order, env, load)?;
    let mut noise = Noise::new(TRIALS);
    load.check()?;

    let Schedule { start, .. } = order.schedule(clock::monotonic() + LEAD);
    clock::sleep_until(start - LEAD);
    let books = Books::open(&order, load)?;
    clock::sleep_until(start);
    let (clock_before, counter_before) = (clock::monotonic(), clock::counter());
    noise.measure(Nanos(order.period.0 * u64::from(order.periods)));
    let (clocked, counted) = (clock::monotonic() - clock_before, clock::counter() - counter_before);
    let (self_cost, work) = books.close(&order, load, clock_read, noise.turn)?;
    drop(rights);
    if counted.0.abs_diff(clocked.0) > clocked.0 / 100 {
        return Err(ProbeError::Accounting {
            probe: order.instrument,
            what: format!(
                "the CPU's counter does not count nanoseconds: {} in {clocked}",
                counted.0
            ),
        });
    }
    let (expected, samples) = noise.finish();
    Ok(Measured {
        text: order.text,
        start,
        expected,
        samples,
        self_cost,
        work,
        warnings,
        details: None,
        trace: None,
    })
}

/// Nobody looks on.
struct Unobserved;

impl Observer for Unobserved {
    fn sample(&mut self, _sample: Sample) {}

    fn wants_end(&mut self) -> bool {
        false
    }
}

/// On these CPUs.
fn measure_bench(
    order: &CellOrder,
    bench: Bench,
    env: &LoadEnvironment,
    (cpus, load): (&[u32], &mut RunningLoad),
) -> Result<Measured, ProbeError> {
    let failed = |source| ProbeError::Bench {
        probe: order.instrument,
        source,
    };
    let (order, clock_read) = warm_up(order, env, load)?;
    load.check()?;

    let start = order.schedule(clock::monotonic() + LEAD).start;
    let request = Request {
        repetitions: order.periods,
        start,
        period: order.period,
        priority: order.priority,
        cpus,
        seed: order.seed,
        folder: Some(&env.surroundings.work_dir),
        is_watched: true,
    };
    bench.check_machine(&request).map_err(failed)?;
    let books = Books::open(&order, load)?;
    let taken = bench.measure(&request, &mut Unobserved).map_err(failed)?;
    let (self_cost, work) = books.close(&order, load, clock_read, Nanos(0))?;
    Ok(Measured {
        text: order.text,
        start,
        expected: order.periods,
        samples: taken.samples,
        self_cost,
        work,
        warnings: taken.warnings,
        details: Some(taken.details),
        trace: None,
    })
}

/// The program runs beside the load under the kernel's trace, for as long as the periods take; they are not its own.
fn measure_program(order: &CellOrder, env: &LoadEnvironment, load: &mut RunningLoad) -> Result<Measured, ProbeError> {
    let followed = Followed::new(&env.program)?;
    let mut marks = Marks::new(1);
    let (order, clock_read) = warm_up(order, env, load)?;
    load.check()?;

    let start = order.schedule(clock::monotonic() + LEAD).start;
    clock::sleep_until(start - LEAD);
    let books = Books::open(&order, load)?;
    clock::sleep_until(start);
    marks.begin();
    let time = Nanos(order.period.0 * u64::from(order.periods));
    let mut trace = followed.run(time, env.surroundings.placement.as_ref())?;
    marks.end();
    let (self_cost, work) = books.close(&order, load, clock_read, Nanos(0))?;
    followed.collect(&mut trace)?;
    Ok(Measured {
        text: order.text,
        start,
        expected: order.periods,
        samples: Vec::new(),
        self_cost,
        work,
        warnings: Vec::new(),
        details: None,
        trace: Some(trace),
    })
}
