//! Cost of a switch over the machine: its memory, its speed; and how far the costs lie apart.

use super::bench::{BenchRecord, costs, hot, measured, size, switch_cost};
use super::data::{PictureData, ShownSubject, memory_mb, mips, model};
use super::lines::PanelGrid;
use super::{LinePoint, LinesPicture, Picture, PictureAxis, PictureHead, SeriesLabel};
use worstcase_base::format::plain;
use worstcase_contract::bench::{Bench, Switch};
use worstcase_results::record::Subject;
use worstcase_results::stats::SeedValues;

/// A property of a machine that is drawn as a number.
struct MachineProperty {
    id: &'static str,
    label: &'static str,
    unit: &'static str,
    of: fn(&Subject, &Switch) -> Option<u32>,
    other: fn(&Subject) -> Option<u32>,
    other_unit: &'static str,
}

const PROPERTIES: [MachineProperty; 2] = [
    MachineProperty {
        id: "switch-memory",
        label: "memory",
        unit: "MB",
        of: |subject, _| memory_mb(subject),
        other: mips,
        other_unit: "MIPS",
    },
    MachineProperty {
        id: "switch-speed",
        label: "speed",
        unit: "MIPS; of a host MHz",
        of: |subject, ring| match ring.mhz {
            0 => mips(subject),
            mhz => Some(mhz),
        },
        other: memory_mb,
        other_unit: "MB",
    },
];

/// A value and its interval.
type RingPoint = (f64, Option<[f64; 2]>);

/// A figure of a ring that is drawn.
struct RingFigure {
    /// The end of the picture's name.
    id: &'static str,
    title: &'static str,
    axis: &'static str,
    how: &'static str,
    of: fn(&[BenchRecord<'_>]) -> Option<RingPoint>,
}

const FIGURES: [RingFigure; 2] = [
    RingFigure {
        id: "",
        title: "cost of a context switch",
        axis: "cost of a switch",
        how: "Mean over the seeds of each seed's repetitions without the best and the worst tenth, with its 95 % interval over \
              the seeds.",
        of: |seeds| switch_cost(seeds, hot),
    },
    RingFigure {
        id: "-spread",
        title: "largest less smallest cost of a context switch",
        axis: "max - min of a seed",
        how: "Of each seed's repetitions the largest less the smallest, with nothing dropped: median over the seeds, with its \
              interval.",
        of: spread,
    },
];

/// The spread of a seed's costs, in us.
fn spread(seeds: &[BenchRecord<'_>]) -> Option<RingPoint> {
    let spreads = seeds.iter().filter_map(|seed| {
        let costs = costs(seed, hot);
        let (least, most) = (
            costs.iter().copied().reduce(f64::min)?,
            costs.iter().copied().reduce(f64::max)?,
        );
        Some(vec![most - least])
    });
    let figures = SeedValues::new(spreads)?.figures();
    Some((figures.median, figures.interval.map(|(low, high, _)| [low, high])))
}

/// Pictures for each property in which subjects differ.
pub fn pictures(data: &PictureData<'_>) -> Vec<Picture> {
    let of_property = |property| FIGURES.iter().filter_map(move |figure| picture(data, property, figure));
    PROPERTIES.iter().flat_map(of_property).collect()
}

fn picture(data: &PictureData<'_>, property: &MachineProperty, figure: &RingFigure) -> Option<Picture> {
    let mut grid = PanelGrid::default();
    for seeds in measured(data) {
        let record = seeds[0].record;
        let Bench::Switch(what) = seeds[0].bench else {
            continue;
        };
        let Some(x) = (property.of)(&record.subject, &what) else {
            continue;
        };
        let point = (figure.of)(&seeds).map(|(y, interval)| LinePoint {
            x: f64::from(x),
            y,
            interval,
        });
        let label = format!(
            "{}, {} touched, load {}",
            without(data, data.subject(record), property),
            size(what.size),
            record.cell.load
        );
        // The property on the axis is no option.
        let options = Switch { mhz: 0, ..what }.to_string();
        let options = options.split_once('+').map_or(String::new(), |(_, o)| format!(", {o}"));
        grid.add(
            SeriesLabel::label(&label),
            SeriesLabel::label(&format!("{} processes{options}", what.processes)),
            point,
        );
    }
    let values: Vec<f64> = grid.values().collect();
    let panels = grid.panels();
    let xs: Vec<f64> = panels
        .iter()
        .flat_map(|p| &p.series)
        .flat_map(|s| &s.points)
        .map(|p| p.x)
        .collect();
    let differ = xs.iter().any(|x| *x != xs[0]);
    differ.then(|| {
        Picture::Lines(LinesPicture {
            head: PictureHead {
                id: format!("{}{}", property.id, figure.id),
                title: format!("{} over {}", figure.title, property.label),
                about: format!(
                    "Cost of passing the token on once in a ring of processes: a line a number of processes. Passing and touching \
                     by one process alone is subtracted (one working set, always the same). {}",
                    figure.how
                ),
                x: PictureAxis::linear(property.label, property.unit, xs.into_iter()),
                y: PictureAxis::linear(figure.axis, &data.micros, values.into_iter()),
                limit: None,
            },
            panels,
        })
    })
}

/// The name of a subject without that property: it stays the same along a line.
fn without(data: &PictureData<'_>, subject: &ShownSubject<'_>, property: &MachineProperty) -> String {
    let kernel = &subject.subject.kernel.label;
    let other = (property.other)(subject.subject);
    let differs = data.subjects.iter().any(|a| (property.other)(a.subject) != other);
    let other = other
        .filter(|_| differs)
        .map_or(String::new(), |n| format!(" {n} {}", property.other_unit));
    plain(&format!("{kernel} {}{other}", model(subject.subject)))
}
