//! What a file tells, whatever tool wrote it.

use super::FormatError;
use std::collections::BTreeMap;
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;
use worstcase_contract::bench::IoDetails;
use worstcase_results::record::{Beyond, GapAccount, MOST, Quantity, Rounding};
use worstcase_results::stats::Percentile;

/// All of a file. What it does not tell is absent.
#[derive(Debug)]
pub struct ToolMeasurement {
    /// As its users call it.
    pub tool: &'static str,
    /// Its version.
    pub version: Option<String>,
    /// The command line that gave it.
    pub command: Option<String>,
    /// The machine.
    pub machine: MachineTold,
    /// When it began.
    pub began: Option<Utc>,
    /// When it ended.
    pub ended: Option<Utc>,
    /// Values are multiples of this.
    pub resolution: Nanos,
    /// How they were rounded to it.
    pub rounding: Rounding,
    /// One for each of its threads and instruments.
    pub series: Vec<ThreadSeries>,
    /// What the file does not hold, beside what the series show.
    pub lacks: Vec<&'static str>,
    /// What else it says.
    pub notes: Vec<String>,
}

impl ToolMeasurement {
    /// Of a tool that tells whole microseconds, or of so many ns, rounded down.
    pub fn new(tool: &'static str, resolution: Nanos) -> ToolMeasurement {
        ToolMeasurement {
            tool,
            version: None,
            command: None,
            machine: MachineTold::default(),
            began: None,
            ended: None,
            resolution,
            rounding: Rounding::Down,
            series: Vec::new(),
            lacks: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl ToolMeasurement {
    /// Whether every count and time is one that can be computed with ([`MOST`]). No tool writes a larger one.
    pub fn check(&self) -> Result<(), FormatError> {
        let too_large = |(what, number): (&str, u64), of: Option<&ThreadSeries>| {
            let of = of.map_or_else(String::new, |series| format!(" of {}", series.name()));
            FormatError::new(format!(
                "the {what}{of} is {number}, more than any measurement has; it is damaged, write it anew"
            ))
        };
        if self.resolution.0 > MOST {
            return Err(too_large(("unit of its times", self.resolution.0), None));
        }
        for series in &self.series {
            if let Some(found) = series.numbers().find(|(_, number)| *number > MOST) {
                return Err(too_large(found, Some(series)));
            }
        }
        Ok(())
    }
}

/// What is told of the machine.
#[derive(Debug, Default)]
pub struct MachineTold {
    /// Its host name.
    pub host: Option<String>,
    /// CPUs online.
    pub cpus: Option<u32>,
    /// `uname -r`.
    pub release: Option<String>,
    /// `uname -v`.
    pub version: Option<String>,
    /// Whether it runs PREEMPT_RT.
    pub realtime: bool,
}

/// What one thread measured with one instrument.
#[derive(Debug)]
pub struct ThreadSeries {
    /// worstcase's name of the instrument, or the tool's where worstcase has none.
    pub probe: String,
    /// The CPU, or the number of the thread.
    pub cpu: Option<u32>,
    /// The repetition in its file, from 0.
    pub repetition: u64,
    /// Distance of two due times.
    pub period: Option<Nanos>,
    /// Real-time priority.
    pub priority: Option<u8>,
    /// How long it looked, where the periods do not tell.
    pub observed: Option<Nanos>,
    /// What the tool does with a due time that passed while its thread was late.
    pub overrun: Overrun,
    /// What it measured.
    pub quantities: BTreeMap<Quantity, SeriesValues>,
    /// Of osnoise: sums without single gaps.
    pub gaps: Option<GapAccount>,
    /// How many operations there were, where no quantity tells.
    pub taken: Option<u64>,
    /// Of work with files: what it did.
    pub io: Option<Box<IoDetails>>,
    /// Counts that the tool gives, by name.
    pub counts: BTreeMap<String, String>,
}

impl ThreadSeries {
    /// Without any value.
    pub fn new(probe: &str, cpu: u32, overrun: Overrun) -> ThreadSeries {
        ThreadSeries {
            cpu: Some(cpu),
            ..ThreadSeries::of_all(probe, overrun)
        }
    }

    /// Of no CPU in particular.
    pub fn of_all(probe: &str, overrun: Overrun) -> ThreadSeries {
        ThreadSeries {
            probe: probe.to_string(),
            cpu: None,
            repetition: 0,
            period: None,
            priority: None,
            observed: None,
            overrun,
            quantities: BTreeMap::new(),
            gaps: None,
            taken: None,
            io: None,
            counts: BTreeMap::new(),
        }
    }
}

impl ThreadSeries {
    /// For messages: its instrument and its CPU or thread.
    fn name(&self) -> String {
        match self.cpu {
            Some(cpu) => format!("{}, CPU or thread {cpu}", self.probe),
            None => self.probe.clone(),
        }
    }

    /// Each count and time in it, and what it is.
    fn numbers(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let times = [("interval", self.period), ("observation time", self.observed)];
        let times = times.into_iter().filter_map(|(what, time)| Some((what, time?.0)));
        let gaps = self.gaps.iter().flat_map(|gaps| {
            [
                ("observation time", gaps.observed_ns),
                ("noise", gaps.noise_ns),
                ("longest noise", gaps.max_single_ns),
            ]
        });
        let io = self.io.iter().map(|io| ("number of bytes", io.bytes));
        let taken = self.taken.iter().map(|taken| ("number of operations", *taken));
        let values = self.quantities.values().flat_map(SeriesValues::numbers);
        times.chain(gaps).chain(io).chain(taken).chain(values)
    }
}

/// What a tool does with due times that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    /// It goes on with the next that is still to come, and tells nothing.
    Skips,
    /// It samples each of them, late.
    SamplesEach,
    /// It has no due times.
    NoDueTimes,
}

/// A quantity's values, as far as the tool keeps them.
#[derive(Clone, Debug, PartialEq)]
pub enum SeriesValues {
    /// Every one, in their order.
    Samples(Vec<ForeignSample>),
    /// How often each.
    Counted(CountedValues),
    /// Their number and ends.
    Extremes(Extremes),
    /// The same with some between.
    Told(SummaryFigures),
}

impl SeriesValues {
    /// Each count and time in them, and what it is.
    fn numbers(&self) -> Box<dyn Iterator<Item = (&'static str, u64)> + '_> {
        match self {
            SeriesValues::Samples(samples) => Box::new(samples.iter().flat_map(|sample| {
                let due = sample.due.map(|due| ("due time of a sample", due.0));
                due.into_iter().chain([("latency of a sample", sample.value.0)])
            })),
            SeriesValues::Counted(counted) => {
                let beyond = counted
                    .beyond
                    .iter()
                    .map(|beyond| ("end of the histogram", beyond.from_ns));
                let bins = counted.bins.keys().map(|value| ("value of a bin", *value));
                Box::new(counted.ends.numbers().chain(beyond).chain(bins))
            }
            SeriesValues::Extremes(ends) => Box::new(ends.numbers()),
            SeriesValues::Told(told) => Box::new(told.ends.numbers()),
        }
    }
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignSample {
    /// Its period.
    pub index: u32,
    /// When it was due, since the first; where the tool tells.
    pub due: Option<Nanos>,
    /// The value.
    pub value: Nanos,
}

/// A histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedValues {
    /// By value how often, the lower edge of a bin that is rounded down.
    pub bins: BTreeMap<u64, u64>,
    /// Samples that are in no bin.
    pub beyond: Option<Beyond>,
    /// What the tool says beside.
    pub ends: Extremes,
}

/// Ends, and what percentiles the tool tells.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryFigures {
    /// Number, smallest, mean and largest.
    pub ends: Extremes,
    /// The median.
    pub median: Option<u64>,
    /// The percentiles that the count bears.
    pub percentiles: BTreeMap<Percentile, u64>,
}

/// Number, smallest, mean and largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremes {
    /// How many.
    pub count: u64,
    /// The smallest, if the tool tells it.
    pub min: Option<Nanos>,
    /// The mean, if the tool tells it.
    pub mean: Option<Nanos>,
    /// The largest.
    pub max: Nanos,
}

impl Extremes {
    /// Each of them that is told, and what it is.
    fn numbers(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let told = [("minimum", self.min), ("mean", self.mean), ("maximum", Some(self.max))];
        let told = told.into_iter().filter_map(|(what, time)| Some((what, time?.0)));
        [("number of samples", self.count)].into_iter().chain(told)
    }

    /// A bin's value as a sample: no bin is beyond the ends.
    pub fn bound(&self, value: u64) -> u64 {
        value.max(self.min.map_or(0, |min| min.0)).min(self.max.0)
    }
}
