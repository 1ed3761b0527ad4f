//! A value over time, a dot a sample: a panel a subject, all seeds over each other.

use super::data::{PictureData, PictureQuestion, ShownSubject, slug};
use super::thin::{SampleFrame, Thinner};
use super::{Dots, DotsPanel, Picture, PictureAxis, PictureHead, PictureOptions, axis};
use worstcase_base::format::{grouped, plain};
use worstcase_results::record::{Quantity, Record, Run, RunError, SampleRow, Venue};

/// A host with more CPUs than this has them over each other, like seeds.
const CPU_PANELS: usize = 8;
/// Missed periods closer together than this part of the axis are drawn as one stretch.
const JOINED: f64 = 1.0 / 400.0;

/// A picture for each question and load.
pub fn pictures(
    data: &PictureData<'_>,
    run: &Run,
    options: PictureOptions,
    wanted: &impl Fn(&str) -> bool,
) -> Result<Vec<Picture>, RunError> {
    let questions = data.questions();
    let drawings: Vec<Drawing> = questions.iter().flat_map(|q| drawings(data, q)).collect();
    let panels: usize = drawings.iter().map(|d| d.columns.len()).sum();
    let budget = (options.dots / panels.max(1)).clamp(100, options.panel_dots.max(100));
    let mut pictures = Vec::new();
    for drawing in drawings.into_iter().filter(|d| wanted(&d.id)) {
        pictures.push(drawing.draw(data, run, budget)?);
    }
    Ok(pictures)
}

/// A picture to be made.
struct Drawing<'a, 'q> {
    id: String,
    question: &'q PictureQuestion<'a>,
    load: &'a str,
    columns: Vec<DotsColumn<'a>>,
}

/// A panel to be made.
struct DotsColumn<'a> {
    subject: ShownSubject<'a>,
    label: String,
    records: Vec<&'a Record>,
}

fn drawings<'a, 'q>(data: &PictureData<'a>, question: &'q PictureQuestion<'a>) -> Vec<Drawing<'a, 'q>> {
    let drawing = |load: &&'a str| Drawing {
        id: format!("{}-{}", question.id("dots"), slug(load)),
        question,
        load,
        columns: columns(data, question, load),
    };
    let drawings = question.loads.iter().map(drawing);
    drawings.filter(|drawing| !drawing.columns.is_empty()).collect()
}

fn columns<'a>(data: &PictureData<'a>, question: &PictureQuestion<'a>, load: &str) -> Vec<DotsColumn<'a>> {
    let of = |subject: &ShownSubject<'a>| {
        let mut records = question.records_for(subject, load);
        // Another tool may keep no samples, or not tell when they were due.
        records.retain(|r| r.has_samples() && (r.foreign.is_none() || r.observation_time().0 > 0));
        let by_cpu = subject.subject.venue() == Venue::Host && (2..=CPU_PANELS).contains(&records.len());
        let groups: Vec<(String, Vec<&'a Record>)> = match by_cpu {
            false => vec![(subject.label.clone(), records)],
            true => records
                .into_iter()
                .map(|r| (format!("{}, {}", subject.label, which(r)), vec![r]))
                .collect(),
        };
        let column = |(label, records)| DotsColumn {
            subject: subject.clone(),
            label,
            records,
        };
        groups.into_iter().map(column).collect::<Vec<_>>()
    };
    let columns = question.subjects(data).into_iter().flat_map(of);
    columns.filter(|s| !s.records.is_empty()).collect()
}

fn which(record: &Record) -> String {
    match record.cell.cpu {
        Some(cpu) => format!("CPU {cpu}"),
        None => format!("seed {}", record.cell.seed),
    }
}

impl Drawing<'_, '_> {
    fn draw(self, data: &PictureData<'_>, run: &Run, budget: usize) -> Result<Picture, RunError> {
        let question = self.question;
        let y = match question.quantity {
            Quantity::Jitter => axis::signed(data, question),
            _ => axis::of_question(data, question),
        };
        let longest = self.columns.iter().flat_map(|s| &s.records).map(|r| length(r)).max();
        let seconds = longest.unwrap_or(0) as f64 / 1e9;
        let unit = match data.micros.starts_with("virtual") {
            true => "virtual s",
            false => "s",
        };
        let x = PictureAxis::linear("time", unit, [seconds].into_iter());
        let mut panels = Vec::new();
        for column in &self.columns {
            panels.push(column.panel(run, question, self.load, &y, longest.unwrap_or(0), budget)?);
        }
        let head = PictureHead {
            id: self.id,
            title: format!("{}, load {}", question.title(), plain(self.load)),
            about: about(&panels),
            x,
            limit: question.limit(data).map(|limit| limit.0 as f64 / 1_000.0),
            y,
        };
        Ok(Picture::Dots(Dots { head, panels }))
    }
}

fn about(panels: &[DotsPanel]) -> String {
    let samples: u64 = panels.iter().map(|p| p.samples).sum();
    let dots: u64 = panels.iter().map(|p| p.points.len() as u64).sum();
    let missed: u64 = panels.iter().map(|p| p.missed).sum();
    let mut text =
        "A dot is a sample, at the time that it was due; in each panel the one that is farthest from 0 has a ring. \
        Seeds of a subject lie over each other."
            .to_string();
    text += &match dots == samples {
        true => format!(" All {} samples are drawn.", grouped(samples)),
        false => format!(
            " {} of {} samples are drawn: of each column of time the largest and the smallest, and a choice that leaves \
             crowded places crowded and lonely samples where they are; {} are left out.",
            grouped(dots),
            grouped(samples),
            grouped(samples - dots)
        ),
    };
    if missed > 0 {
        text += &format!(
            " Marks at the lower edge: {} periods without a sample (missed).",
            grouped(missed)
        );
    }
    text
}

/// The observation time of a record, in ns.
fn length(record: &Record) -> u64 {
    record.observation_time().0
}

impl DotsColumn<'_> {
    fn panel(
        &self,
        run: &Run,
        question: &PictureQuestion<'_>,
        load: &str,
        y: &PictureAxis,
        longest: u64,
        budget: usize,
    ) -> Result<DotsPanel, RunError> {
        let ns = |us: f64| (us * 1_000.0) as i64;
        let mut thinner = Thinner::new(SampleFrame {
            length: longest,
            low: ns(y.from),
            high: ns(y.to),
            log: y.log,
            budget,
        });
        let mut gaps = Vec::new();
        for record in &self.records {
            let mut walk = SampleWalk::new(record);
            run.for_each_sample(record, |row| {
                let time = walk.step(&row);
                if let Some(value) = value(question.quantity, &row) {
                    thinner.add((time, value));
                }
            })?;
            gaps.extend(walk.end());
        }
        let (samples, dots) = thinner.finish();
        let round = grain(longest);
        let point = |(time, value): (u64, i64)| [seconds(time, round), y.clamp(value as f64 / 1_000.0)];
        let mut of = self.subject.label(load);
        of.label.clone_from(&self.label);
        Ok(DotsPanel {
            of,
            points: dots.into_iter().map(point).collect(),
            samples,
            missed: self.records.iter().map(|r| r.accounting.missed()).sum(),
            missed_at: joined(gaps, (longest as f64 * JOINED) as u64)
                .into_iter()
                .map(|(a, b)| [seconds(a, round), seconds(b, round)])
                .collect(),
        })
    }
}

/// A value as it is drawn, in ns.
fn value(quantity: Quantity, row: &SampleRow) -> Option<i64> {
    if quantity == Quantity::Jitter {
        return row.jitter_ns;
    }
    row.value(quantity)
        .map(|value| i64::try_from(value.0).unwrap_or(i64::MAX))
}

/// Digits of a second that can be told apart in a picture: a hundred-thousandth of its length.
fn grain(longest: u64) -> f64 {
    let finest = (longest as f64 / 1e9 / 1e5).max(1e-9);
    10_f64.powi(-finest.log10().floor() as i32)
}

fn seconds(ns: u64, grain: f64) -> f64 {
    (ns as f64 / 1e9 * grain).round() / grain
}

/// Goes over the samples of a record: when each was due since the first period, and where periods are missed.
struct SampleWalk {
    periods: u64,
    period: u64,
    /// Gaps of `noise` have no periods; their time begins with the first.
    by_period: bool,
    origin: Option<u64>,
    next: u64,
    gaps: Vec<(u64, u64)>,
    join: u64,
}

impl SampleWalk {
    fn new(record: &Record) -> SampleWalk {
        SampleWalk {
            periods: record.accounting.expected(),
            period: record.cell.period_ns,
            by_period: record.accounting.gaps().is_none(),
            origin: None,
            next: 0,
            gaps: Vec::new(),
            join: (length(record) as f64 * JOINED) as u64,
        }
    }

    fn step(&mut self, row: &SampleRow) -> u64 {
        let index = u64::from(row.index);
        let before = if self.by_period { index * self.period } else { 0 };
        let origin = *self.origin.get_or_insert(row.due.0.saturating_sub(before));
        self.missed_until(index);
        row.due.0.saturating_sub(origin)
    }

    fn missed_until(&mut self, index: u64) {
        if self.by_period && index > self.next {
            let gap = (self.next * self.period, index * self.period);
            match self.gaps.last_mut().filter(|last| gap.0 <= last.1 + self.join) {
                Some(last) => last.1 = gap.1,
                None => self.gaps.push(gap),
            }
        }
        self.next = index + 1;
    }

    fn end(mut self) -> Vec<(u64, u64)> {
        self.missed_until(self.periods);
        self.gaps
    }
}

/// Stretches in order; those that are close or overlap are joined.
fn joined(mut gaps: Vec<(u64, u64)>, join: u64) -> Vec<(u64, u64)> {
    gaps.sort_unstable();
    let mut out: Vec<(u64, u64)> = Vec::new();
    for gap in gaps {
        match out.last_mut().filter(|last| gap.0 <= last.1 + join) {
            Some(last) => last.1 = last.1.max(gap.1),
            None => out.push(gap),
        }
    }
    out
}
