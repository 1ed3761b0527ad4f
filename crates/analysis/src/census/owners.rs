//! The owners of the longest sections, which counting cannot give: from one more replay.

use super::CensusTakeError;
use super::top::{self, OwnedSection};
use crate::breakdown::frames::CodeNames;
use crate::debuginfo::{LineOrigin, Modules};
use crate::kept::kept;
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Mutex;
use worstcase_base::cache::Cache;
use worstcase_contract::Instructions;
use worstcase_contract::census::log::Section;
use worstcase_lab::again::RepeatableCell;
use worstcase_lab::execution::Execution;

/// Their area in the cache.
const AREA: &str = "census-owners";

/// A replay covers so many instructions around a section, because returns there reveal its callers.
const AROUND: u64 = 20_000;

/// Replays a cell.
pub(crate) struct Replays<'a> {
    again: &'a RepeatableCell,
    cache: &'a Cache,
    origin: LineOrigin<'a>,
    /// The lines, read when the first replay needs them.
    lines: OnceCell<Mutex<Modules>>,
}

impl<'a> Replays<'a> {
    /// The replays of a cell whose modules are known; `origin` gives lines of source code.
    pub(crate) fn of(again: &'a RepeatableCell, cache: &'a Cache, origin: LineOrigin<'a>) -> Replays<'a> {
        Replays {
            again,
            cache,
            origin,
            lines: OnceCell::new(),
        }
    }

    /// For each of these sections its owner, unless the replay does not hold it; kept in the cache.
    pub(crate) fn owners(&self, sections: &[Section]) -> Result<Vec<Option<OwnedSection>>, CensusTakeError> {
        if sections.is_empty() {
            return Ok(Vec::new());
        }
        let sections_text = format!("{sections:?}");
        let followed = format!("CPU {}", self.again.followed());
        let (cell, lines) = (self.again.key()?, self.origin.kept_lines());
        let asked = [&cell, &followed, &sections_text, &lines].map(String::as_str);
        kept(self.cache, AREA, &asked, || self.replay(sections))
    }

    fn lines(&self) -> Result<&Mutex<Modules>, CensusTakeError> {
        if let Some(lines) = self.lines.get() {
            return Ok(lines);
        }
        let kernel = self.origin.kernel(self.again)?;
        let lines = || Mutex::new(self.origin.with_modules(kernel, self.again));
        Ok(self.lines.get_or_init(lines))
    }

    fn replay(&self, sections: &[Section]) -> Result<Vec<Option<OwnedSection>>, CensusTakeError> {
        let (again, lines) = (self.again, self.lines()?);
        let around =
            |s: &Section| Instructions(s.start.0.saturating_sub(AROUND))..Instructions(s.start.0 + s.length + AROUND);
        let stretches: Vec<Range<Instructions>> = sections.iter().map(around).collect();
        let reader = || {
            let names = CodeNames::new(again.symbols());
            move |index: usize, execution: Execution| top::owned(&execution, &names, &lines, &sections[index])
        };
        Ok(again.replay_stretches(self.cache, &stretches, reader)?)
    }
}
