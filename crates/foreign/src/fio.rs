//! fio: its JSON (`--output-format=json` and `json+`), a series a job and direction.

use super::FormatError;
use super::files;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{CountedValues, Extremes, Overrun, SeriesValues, SummaryFigures, ThreadSeries, ToolMeasurement};
use super::text::{self, bins, of_float, percentiles_of, total};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;
use worstcase_results::record::{Quantity, Rounding};

const TOOL: &str = "fio";
/// Engines that have one request at a time, even with a larger iodepth.
const ONE_AT_A_TIME: [&str; 5] = ["sync", "psync", "vsync", "pvsync", "pvsync2"];
/// Options that do not change the measured work.
const HARMLESS: [&str; 22] = [
    "name",
    "directory",
    "filename",
    "size",
    "filesize",
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "direct",
    "buffered",
    "end_fsync",
    "fsync_on_close",
    "group_reporting",
    "stonewall",
    "thread",
    "unlink",
    "randrepeat",
    "randseed",
    "norandommap",
    "refill_buffers",
    "lat_percentiles",
];

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark,
    text,
    is_json: |value| value.get("fio version").is_some(),
    json,
    json_says_all: true,
    ..ToolForm::NOTHING
};

#[derive(Deserialize)]
struct FioFile {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: Option<u64>,
    #[serde(rename = "global options", default)]
    global: Map<String, Value>,
    jobs: Vec<FioJob>,
}

#[derive(Deserialize)]
struct FioJob {
    jobname: String,
    #[serde(default)]
    error: i64,
    #[serde(rename = "job options", default)]
    options: Map<String, Value>,
    read: Direction,
    write: Direction,
    #[serde(default)]
    trim: Option<Direction>,
}

#[derive(Deserialize)]
struct Direction {
    io_bytes: u64,
    /// The duration, in ms.
    runtime: u64,
    total_ios: u64,
    slat_ns: Option<FioLatency>,
    clat_ns: Option<FioLatency>,
    lat_ns: Option<FioLatency>,
}

#[derive(Deserialize)]
struct FioLatency {
    min: u64,
    max: u64,
    mean: f64,
    #[serde(rename = "N")]
    count: Option<u64>,
    #[serde(default)]
    percentile: BTreeMap<String, u64>,
    #[serde(default)]
    bins: BTreeMap<String, u64>,
}

/// Lines of fio's output for people, which does not hold what its JSON does.
const FOR_PEOPLE: [&str; 3] = ["IO depths    :", "clat percentiles (", "Run status group "];

fn mark(line: &str) -> Option<Mark<'_>> {
    let line = line.trim();
    let is_job = line.contains(": (g=") && line.contains("rw=");
    (is_job || FOR_PEOPLE.iter().any(|begin| line.starts_with(begin))).then_some(Mark::Once("fio"))
}

fn text(_: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    Err(FormatError::new(
        "it is fio's text for people; write its JSON: --output-format=json+ --output=FILE",
    ))
}

/// Reads its JSON.
fn json(content: Value) -> Result<ToolMeasurement, FormatError> {
    let file: FioFile = text::json(TOOL, content)?;
    let mut measured = ToolMeasurement::new(TOOL, Nanos(1));
    measured.version = Some(file.version.trim_start_matches("fio-").to_string());
    measured.ended = file.timestamp.map(Utc::at);
    measured.rounding = Rounding::Middle;
    measured.lacks = vec!["how many requests waited at the device, and its I/O scheduler"];
    for job in &file.jobs {
        if job.error != 0 {
            measured
                .doubts
                .push(format!("fio: job {} ended with error {}", job.jobname, job.error));
        }
        let options = options(&file.global, &job.options);
        let directions = [
            ("read", Some(&job.read)),
            ("write", Some(&job.write)),
            ("trim", job.trim.as_ref()),
        ];
        let worked: Vec<(&str, &Direction)> = directions
            .into_iter()
            .filter_map(|(name, of)| Some((name, of?)))
            .filter(|(_, of)| of.total_ios > 0)
            .collect();
        for (name, direction) in &worked {
            let probe = work(&options, name).unwrap_or_else(|| match worked.len() {
                1 => files::own_name(&[TOOL, &job.jobname]),
                _ => files::own_name(&[TOOL, &job.jobname, name]),
            });
            measured.notes.push(job_line(&job.jobname, name, direction));
            measured.series.push(direction.series(&probe, &mut measured.notes)?);
        }
    }
    number_alike(&mut measured.series);
    Ok(measured)
}

/// Jobs with one name are told apart by their number.
fn number_alike(series: &mut [ThreadSeries]) {
    let names: Vec<String> = series.iter().map(|one| one.probe.clone()).collect();
    for (at, one) in series.iter_mut().enumerate() {
        let alike = |some: &[String]| some.iter().filter(|name| **name == one.probe).count();
        if alike(&names) > 1 {
            one.cpu = Some(alike(&names[..at]) as u32);
        }
    }
}

/// A job's options in addition to the global ones.
fn options(global: &Map<String, Value>, own: &Map<String, Value>) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    global
        .iter()
        .chain(own)
        .map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

/// The name of the same work in worstcase, if there is one.
fn work(options: &BTreeMap<String, String>, direction: &str) -> Option<String> {
    let of = |names: &[&str]| names.iter().find_map(|name| options.get(*name)).map(String::as_str);
    let is = |names: &[&str], value: &str| of(names) == Some(value);
    let engine = of(&["ioengine"]).unwrap_or("psync");
    let one_at_a_time = ONE_AT_A_TIME.contains(&engine) || is(&["iodepth"], "1") || of(&["iodepth"]).is_none();
    let word = of(&["rw", "readwrite"]).unwrap_or("read");
    let random = word.starts_with("rand");
    let harmless = |name: &str, value: &str| match name {
        "ioengine" | "iodepth" => one_at_a_time,
        "numjobs" => value == "1",
        "invalidate" => value == "1",
        "runtime" | "time_based" => random,
        name => HARMLESS.contains(&name),
    };
    let direct = is(&["direct"], "1") || is(&["buffered"], "0");
    let is_synced = of(&["end_fsync", "fsync_on_close"]).is_some_and(|value| value != "0");
    let is_same = options.iter().all(|(name, value)| harmless(name, value))
        && word.trim_start_matches("rand") == direction
        && (direct || direction == "read" || is_synced);
    if !is_same {
        return None;
    }
    let block = files::bytes(of(&["bs", "blocksize"]).unwrap_or("4k"))?;
    let size = files::bytes(of(&["size", "filesize"])?)?;
    let direct = if direct { "+direct" } else { "" };
    files::work(&format!("{size}+{word}+bs{block}{direct}"))
}

/// A job's work, in a line.
fn job_line(job: &str, name: &str, direction: &Direction) -> String {
    let seconds = direction.runtime as f64 / 1e3;
    let mb = direction.io_bytes as f64 / 1e6;
    let rates = match seconds > 0.0 {
        true => format!(
            ": {:.1} MB/s, {:.0} operations a second",
            mb / seconds,
            direction.total_ios as f64 / seconds
        ),
        false => String::new(),
    };
    format!(
        "{job}, {name}: {} operations, {mb:.1} MB in {seconds:.3} s{rates}",
        direction.total_ios
    )
}

impl Direction {
    fn series(&self, probe: &str, notes: &mut Vec<String>) -> Result<ThreadSeries, FormatError> {
        let elapsed = text::whole(self.runtime, 1_000_000)?;
        let mut series = ThreadSeries::of_all(probe, Overrun::NoDueTimes);
        series.observed = Some(elapsed);
        series.io = files::details(probe, self.io_bytes, elapsed);
        let submitted_apart = self.slat_ns.as_ref().and_then(|slat| slat.count).unwrap_or(0) > 0;
        let (completion, total) = (self.clat_ns.as_ref(), self.lat_ns.as_ref());
        let with_bins = [total, completion].into_iter().flatten().find(|of| !of.bins.is_empty());
        let usual = if submitted_apart { total } else { completion };
        let Some(chosen) = with_bins.or(usual).or(total) else {
            return Ok(series);
        };
        if submitted_apart && completion.is_some_and(|of| std::ptr::eq(of, chosen)) {
            let mean = self.slat_ns.as_ref().map_or(Ok(Nanos(0)), |slat| mean(slat.mean))?;
            notes.push(format!(
                "{probe}: latency is from the submission on (clat); submitting took {:.2} us more on average; \
                 lat_percentiles=1 has fio count both",
                mean.as_micros_f64()
            ));
        }
        let values = chosen.values(self.total_ios)?;
        series
            .quantities
            .extend(values.map(|values| (Quantity::Latency, values)));
        Ok(series)
    }
}

fn mean(ns: f64) -> Result<Nanos, FormatError> {
    of_float(ns, 1).ok_or_else(|| FormatError::new("a mean is no time"))
}

impl FioLatency {
    /// The counted values; nothing if there was no operation.
    fn values(&self, operations: u64) -> Result<Option<SeriesValues>, FormatError> {
        let ends = Extremes {
            count: self.count.unwrap_or(operations),
            min: Some(Nanos(self.min)),
            mean: Some(mean(self.mean)?),
            max: Nanos(self.max),
        };
        if ends.count == 0 {
            return Ok(None);
        }
        if self.bins.is_empty() {
            let (median, percentiles) = percentiles_of(&self.percentile, &ends);
            return Ok(Some(SeriesValues::Told(SummaryFigures {
                ends,
                median,
                percentiles,
            })));
        }
        let bins: BTreeMap<u64, u64> = bins(&self.bins, 1)?
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .collect();
        if total(bins.values())? != ends.count {
            return Err(FormatError::new(format!(
                "its bins do not hold the {} operations of a job; it was changed, or cut",
                ends.count
            )));
        }
        Ok(Some(SeriesValues::Counted(CountedValues {
            bins,
            beyond: None,
            ends,
        })))
    }
}
