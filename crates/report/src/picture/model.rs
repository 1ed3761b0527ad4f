//! The model of a picture. Numbers are in the units that the axes name. Texts are foreign: the drawing code must
//! escape them.

use serde::Serialize;
use worstcase_base::format::plain;
use worstcase_results::verdict::Outcome;

/// A picture, ready to be drawn. Serialised into the report's page as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Picture {
    /// A value over time, a dot a sample.
    Dots(Dots),
    /// Number of samples over value.
    Histogram(HistogramPicture),
    /// Value over how seldom it is exceeded.
    Percentiles(Percentiles),
    /// Subjects by loads.
    Heat(Heat),
    /// Lines with intervals.
    Lines(LinesPicture),
    /// Bars, a row a subject.
    Bars(Bars),
    /// Places on a disk over time.
    Requests(Requests),
}

/// The common part of all pictures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PictureHead {
    /// Its name: unique in a run, letters, digits and `._+-`; its file's name.
    pub id: String,
    /// The title.
    pub title: String,
    /// How to read the picture, and what it leaves out.
    pub about: String,
    /// Common to all panels.
    pub x: PictureAxis,
    /// Common to all panels.
    pub y: PictureAxis,
    /// The criterion on the axis of the measured value, in its unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

/// An axis. All panels of a picture share it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PictureAxis {
    /// The name of the axis.
    pub label: String,
    /// The unit of its numbers; empty for a count.
    pub unit: String,
    /// Logarithmic. `from` is above 0 then.
    pub(crate) log: bool,
    /// Lower end; everything drawn is within.
    pub from: f64,
    /// Upper end, above `from`.
    pub to: f64,
    /// Names of the places 0, 1, 2, ... of an axis without numbers (kernel versions); empty for numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// The subject, load and CPU of a panel or a series; empty where it has several.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SeriesLabel {
    /// The label: it tells the panel or series from the others of its picture.
    pub label: String,
    /// The subject's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// The load.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub load: String,
    /// The number of colour, dash and marker: the same for the same subject in all pictures of a run.
    pub style: usize,
}

impl SeriesLabel {
    /// A label for one of several series.
    pub(crate) fn label(text: &str) -> SeriesLabel {
        SeriesLabel {
            label: plain(text),
            ..SeriesLabel::default()
        }
    }

    /// A label for a load, of any subject.
    pub(crate) fn load(load: &str) -> SeriesLabel {
        SeriesLabel {
            load: plain(load),
            ..SeriesLabel::label(load)
        }
    }
}

/// A value over time, a dot a sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dots {
    /// The common part of all pictures.
    #[serde(flatten)]
    pub(crate) head: PictureHead,
    /// One panel for each subject (and CPU, on a host with few of them).
    pub(crate) panels: Vec<DotsPanel>,
}

/// A subject's samples: all its seeds, one over the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DotsPanel {
    /// The label of the panel.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// Time and value, in order of time. The largest and the smallest sample are always among them.
    pub points: Vec<[f64; 2]>,
    /// Samples that stand behind the points; as many as there are points if nothing was thinned out.
    pub samples: u64,
    /// Periods without a sample.
    pub missed: u64,
    /// When: beginning and end of stretches with missed periods, in order, close ones joined.
    pub(crate) missed_at: Vec<[f64; 2]>,
}

/// Number of samples over value: counts in bins that all series share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistogramPicture {
    /// The common part of all pictures.
    #[serde(flatten)]
    pub(crate) head: PictureHead,
    /// Borders of the bins, ascending: one more than there are bins.
    pub(crate) edges: Vec<f64>,
    /// A panel a subject with a series a load, or a panel a load with a series a subject.
    pub(crate) panels: Vec<HistogramPanel>,
}

/// Histograms over each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct HistogramPanel {
    /// The common label of its series.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// The series, at most [`MOST_SERIES`].
    pub series: Vec<HistogramSeries>,
}

/// A histogram.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct HistogramSeries {
    /// The label of the series.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// Samples in each bin.
    pub(crate) counts: Vec<u64>,
    /// Their sum.
    pub samples: u64,
    /// Periods without a sample.
    pub missed: u64,
    /// The largest sample, to be marked.
    pub max: f64,
}

/// Value over how seldom it is exceeded: x is 1/(1-p), "one sample in x is above".
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Percentiles {
    /// The common part of all pictures.
    #[serde(flatten)]
    pub(crate) head: PictureHead,
    /// A panel a load with a line a subject, or the other way around.
    pub(crate) panels: Vec<PercentilesPanel>,
}

/// Curves over each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PercentilesPanel {
    /// The common label of its lines.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// The series, at most [`MOST_SERIES`].
    pub series: Vec<PercentilesSeries>,
}

/// A curve, to the last percentile that the count bears.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PercentilesSeries {
    /// The label of the series.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// Points (x, y): one sample in x is above y.
    pub points: Vec<[f64; 2]>,
    /// Number of samples and the largest of them: no percentile, a point of its own.
    pub max: [f64; 2],
}

/// Subjects by loads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Heat {
    /// The common part of all pictures. Both axes have names; the values' unit is `unit`.
    #[serde(flatten)]
    pub(crate) head: PictureHead,
    /// The unit of the values.
    pub unit: String,
    /// The lower end of the colours: the smallest value. They are logarithmic.
    pub from: f64,
    /// The upper end of the colours: the largest value, or twice the smallest.
    pub to: f64,
    /// A row for each subject, in the order of the names of y.
    pub rows: Vec<HeatRow>,
}

/// A subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeatRow {
    /// The label of the row.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// Its verdict, if the run has a criterion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// A cell for each load, in the order of the names of x; nothing where a load was not measured.
    pub cells: Vec<Option<HeatCell>>,
}

/// A subject under a load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeatCell {
    /// Largest of all seeds; nothing if every period was missed.
    pub value: Option<f64>,
    /// The same as text, or `missed`.
    pub text: String,
    /// Median over the seeds of the maxima, if there are several.
    pub median: Option<f64>,
    /// Its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Seeds, on the host CPUs too.
    pub seeds: usize,
    /// Samples of all of them.
    pub samples: u64,
    /// Periods without a sample.
    pub missed: u64,
    /// A sample is above the criterion.
    pub(crate) above: bool,
}

/// Lines with intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinesPicture {
    /// The common part of all pictures.
    #[serde(flatten)]
    pub(crate) head: PictureHead,
    /// Common axes.
    pub(crate) panels: Vec<LinesPanel>,
}

/// Lines over each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LinesPanel {
    /// The common label of its lines.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// The lines, at most [`MOST_SERIES`].
    pub series: Vec<PictureLine>,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PictureLine {
    /// The label of the line.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// The points, in order of x.
    pub points: Vec<LinePoint>,
}

/// A point of a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LinePoint {
    /// The value of x; a place on the axis if the axis has names.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// The interval of the value, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

/// Bars, a row a subject: several scales beside each other, of each panel its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bars {
    /// The common part of all pictures. The axes are names: the scales, and all rows.
    #[serde(flatten)]
    pub(crate) head: PictureHead,
    /// A panel for each test.
    pub(crate) panels: Vec<BarsPanel>,
}

/// A test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct BarsPanel {
    /// The common label of its rows.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// The test.
    pub probe: String,
    /// The scales, from left to right.
    pub(crate) scales: Vec<BarScale>,
    /// The rows, from top to bottom.
    pub rows: Vec<BarsRow>,
}

/// A scale of bars, from 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct BarScale {
    /// The name of the scale.
    pub label: String,
    /// The unit of its numbers.
    pub unit: String,
    /// The better end, in words.
    pub(crate) better: String,
    /// Its upper end, above 0.
    pub to: f64,
}

/// The bars of a subject, one beside the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct BarsRow {
    /// The label of the row.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// A bar for each scale; nothing where there is no value.
    pub(crate) bars: Vec<Option<Bar>>,
}

/// A bar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Bar {
    /// Its length: the median over the seeds.
    pub value: f64,
    /// Each seed's, in the order of the seeds.
    pub seeds: Vec<f64>,
    /// The number beside it.
    pub text: String,
}

/// Places on a disk over time, a line a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Requests {
    /// The common part of all pictures.
    #[serde(flatten)]
    pub(crate) head: PictureHead,
    /// A panel for each subject.
    pub(crate) panels: Vec<RequestsPanel>,
}

/// A subject's requests: those of one seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RequestsPanel {
    /// The label of the panel.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// The test.
    pub probe: String,
    /// The seed with the longest operation.
    pub seed: u64,
    /// A series for each action among the requests; an action has the same style everywhere.
    pub series: Vec<RequestSeries>,
    /// Movements of the arm, from one place to the next, as x, y, x, y. None if they are too many, or if there is
    /// no arm.
    pub moves: Vec<[f64; 4]>,
    /// When the longest operation began and ended, if that is within the axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest: Option<[f64; 2]>,
    /// Its beginning and length, in words.
    pub said: String,
    /// Requests that are drawn at the edge, because their place is beyond the axis.
    pub(crate) outside: usize,
}

/// Requests of one action.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RequestSeries {
    /// The action.
    #[serde(flatten)]
    pub of: SeriesLabel,
    /// When it came, when the disk was at its place, when it was done, its first place and its last.
    pub requests: Vec<[f64; 5]>,
}

/// Series that one panel bears: as many as there are colours to tell apart.
pub(crate) const MOST_SERIES: usize = 8;

impl Picture {
    /// The common part of all pictures.
    pub fn head(&self) -> &PictureHead {
        match self {
            Picture::Dots(p) => &p.head,
            Picture::Histogram(p) => &p.head,
            Picture::Percentiles(p) => &p.head,
            Picture::Heat(p) => &p.head,
            Picture::Lines(p) => &p.head,
            Picture::Bars(p) => &p.head,
            Picture::Requests(p) => &p.head,
        }
    }
}
