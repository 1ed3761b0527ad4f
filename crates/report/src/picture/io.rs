//! Work with files under each I/O scheduler: throughput and the longest operation, a panel a test.

use super::data::{PictureData, distinct, io_scheduler};
use super::{Bar, BarScale, Bars, BarsPanel, BarsRow, Picture, PictureAxis, PictureHead, SeriesLabel};
use worstcase_base::format::{grouped, plain};
use worstcase_contract::bench::{Bench, Details, Io, IoDetails};
use worstcase_contract::names;
use worstcase_results::record::{Quantity, Record, SubjectId};
use worstcase_results::stats::SeedValues;

/// A test: its probe, its load, and its subject without the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
struct IoTest<'a> {
    probe: &'a str,
    load: &'a str,
    rest: SubjectId,
    /// `rest` in short.
    named: String,
}

/// A seed of a test.
struct IoSeed<'a> {
    test: IoTest<'a>,
    io: Io,
    details: &'a IoDetails,
    record: &'a Record,
}

/// The details of work with files, if the record has them.
pub fn details(record: &Record) -> Option<(Io, &IoDetails)> {
    match (names::parse(&record.cell.probe), record.details.as_ref()) {
        (Ok(Bench::Io(io)), Some(Details::Io(details))) => Some((io, details)),
        _ => None,
    }
}

/// The picture, if there was work with files.
pub fn pictures(data: &PictureData<'_>) -> Option<Picture> {
    let rest = data.but_for_schedulers();
    let seeds: Vec<IoSeed<'_>> = data
        .records
        .iter()
        .filter_map(|record| {
            let (io, details) = details(record)?;
            let (id, named) = rest.get(&record.subject.id())?.clone();
            let test = IoTest {
                probe: &record.cell.probe,
                load: &record.cell.load,
                rest: id,
                named,
            };
            Some(IoSeed {
                test,
                io,
                details,
                record,
            })
        })
        .collect();
    let mut tests = distinct(seeds.iter().map(|s| s.test.clone()));
    let probes = distinct(tests.iter().map(|t| t.probe));
    tests.sort_by_key(|test| probes.iter().position(|p| *p == test.probe));
    let several = distinct(tests.iter().map(|t| t.rest.clone())).len() > 1;
    let idle = tests.iter().all(|t| t.load == "idle");
    let panel = |test: &IoTest<'_>| {
        let mut label = plain(test.probe);
        if several {
            label += &format!(", {}", test.named);
        }
        if !idle {
            label += &format!(", load {}", plain(test.load));
        }
        let of: Vec<&IoSeed<'_>> = seeds.iter().filter(|s| s.test == *test).collect();
        panel(
            data,
            SeriesLabel {
                label,
                ..SeriesLabel::load(test.load)
            },
            &of,
        )
    };
    let panels: Vec<BarsPanel> = tests.iter().filter_map(panel).collect();
    let names = distinct(panels.iter().flat_map(|p| &p.rows).map(|row| row.of.label.clone()));
    let virtually = match data.micros.split_once(" at ") {
        Some((_, speed)) => format!(" Times are virtual, at {speed}."),
        None => String::new(),
    };
    let about = format!(
        "A panel a test, a row an I/O scheduler. Left: throughput until all is on the device (MB: 10^6 bytes), more is better. \
         Right: the longest operation, less is better. A bar is the median over the seeds, a ring a seed. The number beside \
         it: of throughput the median, of the longest operation the largest of all seeds. Each panel has scales of its own, \
         from 0.{virtually}"
    );
    (!panels.is_empty()).then(|| {
        Picture::Bars(Bars {
            head: PictureHead {
                id: "io-schedulers".into(),
                title: "work with files by I/O scheduler".into(),
                about,
                x: PictureAxis::named("", vec!["throughput".into(), "max latency".into()]),
                y: PictureAxis::named("I/O scheduler", names),
                limit: None,
            },
            panels,
        })
    })
}

/// A test with its subjects, if one has a sample.
fn panel(data: &PictureData<'_>, of: SeriesLabel, seeds: &[&IoSeed<'_>]) -> Option<BarsPanel> {
    let first = seeds.first()?;
    let subjects = distinct(seeds.iter().map(|s| s.record.subject.id()));
    let of_subject = |id: &SubjectId| -> Vec<&IoSeed<'_>> {
        let own = seeds.iter().filter(|s| s.record.subject.id() == *id);
        own.copied().collect()
    };
    let many = first.io.work.is_with_many();
    let throughput = |seed: &&IoSeed<'_>| {
        let what = match many {
            true => seed.record.accounting.taken() as f64,
            false => seed.details.bytes as f64 / 1e6,
        };
        let elapsed = seed.details.elapsed.0;
        (elapsed > 0).then(|| what / (elapsed as f64 / 1e9))
    };
    let latency = |seed: &&IoSeed<'_>| Some(seed.record.summary(Quantity::Latency)?.max_ns as f64 / 1e3);
    let largest = seeds.iter().filter_map(latency).fold(0.0, f64::max);
    let (by, unit) = match largest {
        us if us >= 1e6 => (1e6, "s"),
        us if us >= 1e3 => (1e3, "ms"),
        _ => (1.0, "us"),
    };
    let rows: Vec<BarsRow> = subjects
        .iter()
        .map(|id| {
            let own = of_subject(id);
            let shown = data.subject(own[0].record);
            let throughput = own.iter().filter_map(throughput).collect();
            let latency = own.iter().filter_map(|s| Some(latency(s)? / by)).collect();
            BarsRow {
                of: SeriesLabel {
                    label: scheduler(own[0]),
                    ..shown.label(first.test.load)
                },
                bars: vec![bar(throughput, false), bar(latency, true)],
            }
        })
        .collect();
    let scale = |at: usize, label: &str, unit: String, better: &str| {
        let bars = rows.iter().filter_map(|row| row.bars[at].as_ref());
        let to = bars
            .flat_map(|bar| bar.seeds.iter().copied().chain([bar.value]))
            .fold(0.0, f64::max);
        BarScale {
            label: label.into(),
            unit,
            better: better.into(),
            to: if to > 0.0 { to } else { 1.0 },
        }
    };
    // The speed is in the description.
    let micros = data
        .micros
        .split_once(" at ")
        .map_or(data.micros.as_str(), |(unit, _)| unit);
    let rate = if many { "operations/s" } else { "MB/s" };
    let scales = vec![
        scale(0, "throughput", rate.into(), "more is better"),
        scale(1, "max latency", micros.replacen("us", unit, 1), "less is better"),
    ];
    Some(BarsPanel {
        of,
        probe: first.test.probe.to_string(),
        scales,
        rows,
    })
}

/// The scheduler that was asked for, or else the device's own.
fn scheduler(seed: &IoSeed<'_>) -> String {
    let had = || match &seed.details.device {
        Some(device) => format!("{}, as it was", device.scheduler),
        None => "as it was".to_string(),
    };
    plain(&io_scheduler(&seed.record.subject).unwrap_or_else(had))
}

fn bar(seeds: Vec<f64>, worst: bool) -> Option<Bar> {
    let figures = SeedValues::new(seeds.iter().map(|value| vec![*value]))?.figures();
    Some(Bar {
        value: figures.median,
        text: three(if worst { figures.max } else { figures.median }),
        seeds,
    })
}

/// A number with three digits that matter.
pub fn three(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if size >= 999.5 => grouped(value.round() as u64),
        size => {
            // A value that is rounded up to the next power of ten has a digit less.
            let rounded: f64 = format!("{size:.2e}").parse().unwrap_or(size);
            let digits = 2 - rounded.log10().floor() as i32;
            format!("{value:.*}", digits.clamp(0, 9) as usize)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::three;

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.0, 0.000_5, 0.812_3, 9.999, 134.87, 999.7, 5_725.4].map(three);
        assert_eq!(shown, ["0", "0.000500", "0.812", "10.0", "135", "1 000", "5 725"]);
    }
}
