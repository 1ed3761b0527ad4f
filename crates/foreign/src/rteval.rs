//! rteval's report: the histogram of each core, and what the machine is, in XML.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{CountedValues, Extremes, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use super::text::{of_float, total, whole};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

const TOOL: &str = "rteval";
const US: u64 = 1_000;
/// Its modules that measure, and worstcase's name of what they do.
const MODULES: [(&str, &str); 2] = [("cyclictest", "wakeup"), ("timerlat", "timerlat")];

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark: |line| {
        line.trim_start()
            .starts_with("<rteval")
            .then_some(Mark::Once("<rteval"))
    },
    text,
    ..ToolForm::NOTHING
};

/// A tag, and the text behind it.
struct XmlTag<'a> {
    at: usize,
    /// `/core` of one that ends.
    name: &'a str,
    attributes: &'a str,
    text: String,
}

impl XmlTag<'_> {
    fn attribute(&self, name: &str) -> Option<&str> {
        let begin = format!("{name}=\"");
        let mut rest = self.attributes;
        while let Some((before, after)) = rest.split_once(&begin) {
            let (value, next) = after.split_once('"')?;
            if before.is_empty() || before.ends_with(char::is_whitespace) {
                return Some(value);
            }
            rest = next;
        }
        None
    }

    fn number<T: std::str::FromStr>(&self, word: Option<&str>) -> Result<T, FormatError> {
        let word = word.unwrap_or("").trim();
        let wrong = || {
            FormatError::at(
                self.at,
                format!("'{}' in <{}> is no number", word.escape_debug(), self.name),
            )
        };
        word.parse().map_err(|_| wrong())
    }
}

/// The tags of a document, each on a line or several on one.
fn tags<'a>(lines: &NumberedLines<'a>) -> Result<Vec<XmlTag<'a>>, FormatError> {
    let mut tags: Vec<XmlTag<'a>> = Vec::new();
    for (at, line) in lines.iter() {
        let mut parts = line.split('<');
        let before = parts.next().unwrap_or("");
        if let Some(last) = tags.last_mut() {
            last.text += before;
        }
        for part in parts.filter(|part| !part.starts_with(['?', '!'])) {
            let cut = || FormatError::at(at, "a tag has no '>'; the file was cut");
            let (inside, text) = part.split_once('>').ok_or_else(cut)?;
            let (name, attributes) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
            tags.push(XmlTag {
                at,
                name: name.trim_end_matches('/'),
                attributes,
                text: text.to_string(),
            });
        }
    }
    Ok(tags)
}

fn text(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let tags = tags(lines)?;
    if !tags.iter().any(|tag| tag.name == "/rteval") {
        return Err(FormatError::new("it ends without '</rteval>'; the file was cut"));
    }
    let mut measured = ToolMeasurement::new(TOOL, Nanos(US));
    let mut probe = None;
    let mut core: Option<RtevalCore> = None;
    for tag in &tags {
        if let Some((_, ours)) = MODULES
            .iter()
            .find(|(name, _)| *name == tag.name && tag.attribute("command_line").is_some())
        {
            probe = Some(*ours);
            measured.command = tag.attribute("command_line").map(str::to_string);
        }
        match (tag.name, &mut core, probe) {
            ("rteval", ..) => measured.version = tag.attribute("version").map(str::to_string),
            ("node", None, _) => measured.machine.host = some(&tag.text),
            ("kernel", None, None) => {
                measured.machine.release = some(&tag.text);
                measured.machine.realtime = tag.attribute("is_RT") == Some("1");
            }
            ("abort_report", ..) => {
                let reason = tag.attribute("reason").unwrap_or("it was aborted");
                measured.doubts.push(format!("rteval: aborted, {reason}"));
            }
            ("core", None, Some(_)) => core = Some(RtevalCore::of(tag)?),
            ("/core", Some(done), Some(probe)) => {
                measured.series.push(done.series(probe)?);
                core = None;
            }
            (_, Some(core), _) => core.take(tag)?,
            _ => {}
        }
    }
    Ok(measured)
}

fn some(text: &str) -> Option<String> {
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}

#[derive(Default)]
struct RtevalCore {
    cpu: u32,
    priority: Option<u8>,
    samples: u64,
    ends: [Option<f64>; 3],
    bins: BTreeMap<u64, u64>,
}

impl RtevalCore {
    fn of(tag: &XmlTag<'_>) -> Result<RtevalCore, FormatError> {
        Ok(RtevalCore {
            cpu: tag.number(tag.attribute("id"))?,
            priority: tag.attribute("priority").and_then(|word| word.parse().ok()),
            ..RtevalCore::default()
        })
    }

    fn take(&mut self, tag: &XmlTag<'_>) -> Result<(), FormatError> {
        let place = ["minimum", "mean", "maximum"].iter().position(|name| *name == tag.name);
        match (tag.name, place) {
            ("samples", _) => self.samples = tag.number(Some(&tag.text))?,
            (_, Some(place)) => {
                if tag.attribute("unit").is_some_and(|unit| unit != "us") {
                    return Err(FormatError::at(tag.at, "its unit is not us"));
                }
                self.ends[place] = Some(tag.number(Some(&tag.text))?);
            }
            ("bucket", _) => {
                let value = whole(tag.number(tag.attribute("index"))?, US)?;
                if self.bins.insert(value.0, tag.number(tag.attribute("value"))?).is_some() {
                    return Err(FormatError::at(tag.at, "a bucket comes twice in one histogram"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn series(&mut self, probe: &str) -> Result<ThreadSeries, FormatError> {
        let mut series = ThreadSeries::new(probe, self.cpu, Overrun::Skips);
        series.priority = self.priority.filter(|priority| *priority > 0);
        self.bins.retain(|_, count| *count > 0);
        let held = total(self.bins.values())?;
        if held != self.samples {
            return Err(FormatError::new(format!(
                "the histogram of core {} has {held} samples of {}; lines are missing",
                self.cpu, self.samples
            )));
        }
        if self.samples == 0 {
            return Ok(series.without_samples());
        }
        let [min, mean, max] = self.ends.map(|end| end.and_then(|us| of_float(us, US)));
        let missing = || FormatError::new(format!("core {} has no maximum; the file was cut", self.cpu));
        let ends = Extremes {
            count: self.samples,
            min,
            mean,
            max: max.ok_or_else(missing)?,
        };
        if self.bins.keys().next_back().is_some_and(|last| *last < ends.max.0) {
            series
                .doubts
                .push("rteval: the samples above its histogram are not counted".into());
        }
        let values = SeriesValues::Counted(CountedValues {
            bins: std::mem::take(&mut self.bins),
            beyond: None,
            ends,
        });
        series.measured(values);
        Ok(series)
    }
}
