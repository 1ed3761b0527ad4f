//! Whether a record holds together.

use super::{CellId, Quantity, Record, SCHEMA, SubjectMachine, details};
use worstcase_contract::probe::ProbeInfo;
use worstcase_plan::grammar;

/// The largest count or time of a record, half of what a signed number holds: 146 years in ns. Two of them can be added.
pub const MOST: u64 = 1 << 62;

/// Entries of a list; real ones have some dozens.
const LONGEST: usize = 10_000;

impl Record {
    /// A contradiction in this record, in words.
    pub fn check(&self) -> Result<(), String> {
        let a = &self.accounting;
        if self.schema != SCHEMA {
            return Err(format!(
                "its schema is '{}', this worstcase reads '{SCHEMA}'",
                self.schema
            ));
        }
        a.check()?;
        self.check_lengths()?;
        grammar::check_word(&self.cell.probe).map_err(|e| e.0)?;
        let periods = a.periods().map(|p| p.expected).filter(|_| self.foreign.is_none());
        if periods.is_some_and(|expected| expected != u64::from(self.cell.periods)) {
            return Err(format!(
                "its accounting is of {} periods, its cell has {}",
                a.expected(),
                self.cell.periods
            ));
        }
        if a.gaps().is_some() != self.cell.probe_info().is_some_and(|info| info.counts_gaps) {
            return Err(format!("its accounting is not that of '{}'", self.cell.probe));
        }
        if self.samples.selection.is_some() && self.samples.rows > a.rows() {
            return Err("it selects more samples than were taken".into());
        }
        if self.samples.rows != a.rows() && self.has_samples() {
            return Err("its number of rows does not fit its accounting".into());
        }
        let cell = &self.cell;
        if self.id != CellId::new(&self.subject.id(), &cell.load, &cell.probe, cell.seed, cell.cpu) {
            return Err(format!("its id '{}' is not that of what it describes", self.id));
        }
        if matches!(self.subject.machine, SubjectMachine::Foreign(_)) != self.foreign.is_some() {
            return Err("it does not say which tool measured it".into());
        }
        if self.foreign.is_some() {
            return self.check_foreign();
        }
        if self.followed.is_some() != cell.probe_info().is_some_and(ProbeInfo::is_program) {
            return Err("it does not say which program was followed".into());
        }
        if self.self_cost.is_none() && self.followed.is_none() {
            return Err("it does not tell what measuring cost".into());
        }
        if self.summary.latency.is_none() && a.rows() > 0 {
            return Err("it has samples but no latency".into());
        }
        let longest = self.summary.latency.as_ref().map_or(0, |s| s.max_ns);
        if a.gaps().is_some_and(|gaps| gaps.max_single_ns != longest) {
            return Err("its longest gap is not that of its summary".into());
        }
        details::check(self)?;
        self.check_summaries()
    }

    /// Values that a report shows one by one are few: a report of very many would not come to an end.
    fn check_lengths(&self) -> Result<(), String> {
        let lists = [
            ("warnings", self.warnings.len()),
            ("console", self.console.len()),
            ("causes", self.causes.len()),
            ("work", self.work.len()),
            ("environment", self.environment.len()),
        ];
        match lists.into_iter().find(|(_, length)| *length > LONGEST) {
            Some((name, length)) => Err(format!("its list '{name}' has {length} entries, more than {LONGEST}")),
            None => Ok(()),
        }
    }

    /// Another tool's numbers need not fit each other.
    fn check_foreign(&self) -> Result<(), String> {
        for quantity in Quantity::ALL {
            if let Some(summary) = self.summary(quantity) {
                summary.check_foreign().map_err(|e| format!("its {quantity} {e}"))?;
            }
        }
        Ok(())
    }

    fn check_summaries(&self) -> Result<(), String> {
        let a = &self.accounting;
        for quantity in Quantity::ALL {
            if let Some(summary) = self.summary(quantity) {
                // A period after a missed one has no distance to compare.
                let values = if quantity == Quantity::Jitter {
                    summary.count.min(a.rows())
                } else {
                    a.rows()
                };
                summary.check(values).map_err(|e| format!("its {quantity} {e}"))?;
            }
        }
        Ok(())
    }
}
