//! The contents of a file, whichever tool wrote it.

use super::FormatError;
use std::collections::BTreeMap;
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;
use worstcase_contract::bench::IoDetails;
use worstcase_results::record::{Beyond, GapAccount, MOST, Quantity, Rounding};
use worstcase_results::stats::Percentile;

/// All contents of a run. Facts that it does not contain are absent.
#[derive(Debug)]
pub(crate) struct ToolMeasurement {
    /// The tool's name.
    pub(crate) tool: &'static str,
    /// Its version.
    pub(crate) version: Option<String>,
    /// The command line that gave it.
    pub(crate) command: Option<String>,
    /// The machine.
    pub(crate) machine: MachineTold,
    /// When it began.
    pub(crate) began: Option<Utc>,
    /// When it ended.
    pub(crate) ended: Option<Utc>,
    /// Values are multiples of this.
    pub(crate) resolution: Nanos,
    /// How the values were rounded to the resolution.
    pub(crate) rounding: Rounding,
    /// One series for each of its threads and instruments.
    pub(crate) series: Vec<ThreadSeries>,
    /// What the file does not contain, beside what the series show.
    pub(crate) lacks: Vec<&'static str>,
    /// Further notes from the file.
    pub(crate) notes: Vec<String>,
    /// What the tool says against its own result.
    pub(crate) doubts: Vec<String>,
    /// Whether the unit of its times is told, by the file or by the user.
    pub(crate) is_unit_told: bool,
}

impl ToolMeasurement {
    /// The measurement of a tool with values in whole microseconds, or in units of so many ns, rounded down.
    pub(crate) fn new(tool: &'static str, resolution: Nanos) -> ToolMeasurement {
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
            doubts: Vec::new(),
            is_unit_told: true,
        }
    }

    /// An error if a count or time is too large to be computed with ([`MOST`]). No tool writes a larger one.
    pub(crate) fn check(&self) -> Result<(), FormatError> {
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

/// Facts about the machine.
#[derive(Debug, Default)]
pub(crate) struct MachineTold {
    /// Its host name.
    pub(crate) host: Option<String>,
    /// CPUs online.
    pub(crate) cpus: Option<u32>,
    /// `uname -r`.
    pub(crate) release: Option<String>,
    /// `uname -v`.
    pub(crate) version: Option<String>,
    /// Whether it runs PREEMPT_RT.
    pub(crate) realtime: bool,
}

/// The measurement of one thread with one instrument.
#[derive(Debug)]
pub(crate) struct ThreadSeries {
    /// worstcase's name of the instrument, or the tool's where worstcase has none.
    pub(crate) probe: String,
    /// The CPU, or the number of the thread.
    pub(crate) cpu: Option<u32>,
    /// The repetition in its file, from 0.
    pub(crate) repetition: u64,
    /// The interval.
    pub(crate) period: Option<Nanos>,
    /// Real-time priority.
    pub(crate) priority: Option<u8>,
    /// The observation time, if the periods do not tell it.
    pub(crate) observed: Option<Nanos>,
    /// How the tool treats a due time that passed while its thread was late.
    pub(crate) overrun: Overrun,
    /// The measured quantities.
    pub(crate) quantities: BTreeMap<Quantity, SeriesValues>,
    /// For osnoise: sums without single gaps.
    pub(crate) gaps: Option<GapAccount>,
    /// The number of operations, if no quantity tells it.
    pub(crate) taken: Option<u64>,
    /// For work with files: its details.
    pub(crate) io: Option<Box<IoDetails>>,
    /// Counts that the tool gives, by name.
    pub(crate) counts: BTreeMap<String, String>,
    /// What the tool says against this series.
    pub(crate) doubts: Vec<String>,
}

impl ThreadSeries {
    /// A series without any value.
    pub(crate) fn new(probe: &str, cpu: u32, overrun: Overrun) -> ThreadSeries {
        ThreadSeries {
            cpu: Some(cpu),
            ..ThreadSeries::of_all(probe, overrun)
        }
    }

    /// A series of no particular CPU.
    pub(crate) fn of_all(probe: &str, overrun: Overrun) -> ThreadSeries {
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
            doubts: Vec::new(),
        }
    }

    /// The same, of a thread that took no sample.
    pub(crate) fn without_samples(mut self) -> ThreadSeries {
        self.doubts.push(format!("{}: it took no sample", self.name()));
        self
    }

    /// Gives it its latencies.
    pub(crate) fn measured(&mut self, values: SeriesValues) {
        self.quantities.insert(Quantity::Latency, values);
    }

    /// The name in messages: instrument and CPU or thread.
    pub(crate) fn name(&self) -> String {
        match self.cpu {
            Some(cpu) => format!("{}, CPU or thread {cpu}", self.probe),
            None => self.probe.clone(),
        }
    }

    /// Each count and time in it, with its name.
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

/// How a tool treats due times that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overrun {
    /// The tool goes on with the next one to come, and does not count those that passed.
    Skips,
    /// The tool samples each of them, late.
    SamplesEach,
    /// The tool has no due times.
    NoDueTimes,
}

/// A quantity's values, as far as the tool keeps them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SeriesValues {
    /// Every one, in their order.
    Samples(Vec<ForeignSample>),
    /// The number of samples of each value.
    Counted(CountedValues),
    /// Their number and ends.
    Extremes(Extremes),
    /// The same with some between.
    Told(SummaryFigures),
}

impl SeriesValues {
    /// Number and ends, if the tool gives them.
    pub(crate) fn ends(&self) -> Option<Extremes> {
        match self {
            SeriesValues::Samples(_) => None,
            SeriesValues::Counted(counted) => Some(counted.ends),
            SeriesValues::Extremes(ends) => Some(*ends),
            SeriesValues::Told(told) => Some(told.ends),
        }
    }

    /// Each count and time in them, with its name.
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
pub(crate) struct ForeignSample {
    /// Its period.
    pub(crate) index: u32,
    /// When it was due, since the first; where the tool tells.
    pub(crate) due: Option<Nanos>,
    /// The value.
    pub(crate) value: Nanos,
}

/// A histogram.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CountedValues {
    /// The count of each value; the value is the lower edge of a bin if it is rounded down.
    pub(crate) bins: BTreeMap<u64, u64>,
    /// Samples that are in no bin.
    pub(crate) beyond: Option<Beyond>,
    /// The extremes that the tool gives beside.
    pub(crate) ends: Extremes,
}

/// Extremes, and the percentiles that the tool gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SummaryFigures {
    /// Number, smallest, mean and largest.
    pub(crate) ends: Extremes,
    /// The median.
    pub(crate) median: Option<u64>,
    /// The percentiles that the count bears.
    pub(crate) percentiles: BTreeMap<Percentile, u64>,
}

/// Number, smallest, mean and largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extremes {
    /// The number of samples.
    pub(crate) count: u64,
    /// The smallest, if the tool tells it.
    pub(crate) min: Option<Nanos>,
    /// The mean, if the tool tells it.
    pub(crate) mean: Option<Nanos>,
    /// The largest.
    pub(crate) max: Nanos,
}

impl Extremes {
    /// Each of them that the tool gives, with its name.
    fn numbers(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let told = [("minimum", self.min), ("mean", self.mean), ("maximum", Some(self.max))];
        let told = told.into_iter().filter_map(|(what, time)| Some((what, time?.0)));
        [("number of samples", self.count)].into_iter().chain(told)
    }

    /// A bin's value as a sample: no bin is beyond the ends.
    pub(crate) fn bound(&self, value: u64) -> u64 {
        value.max(self.min.map_or(0, |min| min.0)).min(self.max.0)
    }
}
