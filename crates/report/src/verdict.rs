//! Verdicts with how sure they are, in words and for programs.

use super::tail::{CellTail, several};
use super::terminal::{verdict_heading, verdict_lines};
use crate::next::{self, NextStep};
use crate::style::Style;
use serde_json::json;
use worstcase_base::duration;
use worstcase_base::format::{counted, grouped, plain};
use worstcase_contract::Nanos;
use worstcase_results::record::{Record, Venue};
use worstcase_results::verdict::{Criterion, Evidence, STEAL_ALLOWED, Verdict, worst};

/// The form of the document.
pub const SCHEMA: &str = "worstcase-verdict/5";

/// The output of `worstcase verdict`.
#[derive(Debug)]
pub struct ShownVerdict<'a> {
    /// The run's title.
    pub title: &'a str,
    /// Its records.
    pub records: &'a [Record],
    /// The criterion that was asked for.
    pub criterion: Criterion,
    /// The answers.
    pub verdicts: &'a [Verdict],
    /// The tails, if they were asked for.
    pub tails: Option<&'a [CellTail]>,
    /// What to do next.
    pub next: &'a [NextStep],
}

impl ShownVerdict<'_> {
    fn venue(&self) -> Option<Venue> {
        self.records.first().map(|r| r.subject.venue())
    }

    /// The text for people.
    pub fn lines(&self, style: Style) -> String {
        let mut out = vec![style.bold(&plain(self.title)), String::new()];
        out.push(verdict_heading(&self.criterion, self.records, style));
        out.extend(verdict_lines(self.verdicts, style));
        out.push(String::new());
        out.push(style.bold("How sure"));
        let width = self
            .verdicts
            .iter()
            .map(|v| v.subject.as_str().len())
            .max()
            .unwrap_or(0);
        for verdict in self.verdicts {
            out.push(format!("  {:width$}  {}", verdict.subject, self.amount(verdict)));
            if self.venue() == Some(Venue::Host) {
                out.push(format!("  {:width$}  {}", "", interference(&verdict.evidence)));
            }
        }
        out.extend(self.needs().map(|line| format!("  {line}")));
        if let Some(tails) = self.tails {
            out.push(String::new());
            out.extend(several(tails, style));
        }
        out.extend(next::lines(self.next, style));
        out.push(String::new());
        out.join("\n")
    }

    fn of_subject(&self, verdict: &Verdict) -> Vec<&Record> {
        self.records
            .iter()
            .filter(|r| r.subject.id() == verdict.subject)
            .collect()
    }

    fn amount(&self, verdict: &Verdict) -> String {
        let e = &verdict.evidence;
        let text = format!(
            "{} in {}, {}; missed {}, at the ends {}, lost {}",
            e.amount(&self.of_subject(verdict)),
            duration::show(e.observation_ns),
            counted(e.cells as u64, "cell"),
            e.missed.map_or("not known".into(), grouped),
            grouped(e.missed_at_ends),
            e.lost.map_or("not known".into(), grouped)
        );
        text + &another_seed(verdict)
    }

    /// The conditions of a PASS.
    fn needs(&self) -> [String; 2] {
        let c = &self.criterion;
        let (whole, quiet) = match self.venue() {
            Some(Venue::Host) => (
                "every load, probe and CPU",
                format!(", no throttling, at most {} % stolen", STEAL_ALLOWED * 100.0),
            ),
            _ => ("every load and probe", String::new()),
        };
        let mut needs = format!("A PASS needs of {whole} {} samples", grouped(c.min_samples));
        if c.min_time > Nanos(0) {
            needs += &format!(" and {} observed", duration::show(c.min_time));
        }
        if c.min_seeds > 1 {
            needs += &format!(", of every load and probe {} seeds", c.min_seeds);
        }
        if let Some(percentile) = c.percentile {
            needs += &format!(
                ", of every cell {} ({})",
                grouped(percentile.bearing()),
                percentile.name()
            );
        }
        let rest =
            format!("every planned cell measured, no period missed at the ends, nothing lost, no warning{quiet}.");
        [format!("{needs};"), rest]
    }

    /// The output for programs.
    pub fn json(&self) -> String {
        let c = &self.criterion;
        let document = json!({
            "schema": SCHEMA,
            "title": self.title,
            "outcome": worst(self.verdicts),
            "limit_ns": c.limit,
            "percentile": c.percentile,
            "needs": {
                "min_seeds": c.min_seeds,
                "min_samples": c.min_samples,
                "min_time_ns": c.min_time,
                "steal_allowed": STEAL_ALLOWED,
            },
            "subjects": self.verdicts,
            "tails": self.tails,
            "next": next::shown(self.next),
        });
        format!("{document:#}\n")
    }
}

/// What a PASS of the lab says of seeds that were not measured.
pub fn another_seed(verdict: &Verdict) -> String {
    let bound = |share: f64| {
        format!(
            "; another seed is above the limit in fewer than {:.0} of 100 (95 %)",
            (share * 100.0).ceil()
        )
    };
    verdict.another_seed_above.map_or_else(String::new, bound)
}

fn interference(e: &Evidence) -> String {
    let throttled = match e.throttled_cells {
        Some(0) => "none".to_string(),
        Some(cells) => format!("in {cells} of {} cells", e.cells),
        None => "not known".to_string(),
    };
    let stolen = match e.steal_share {
        Some(share) => format!("at most {:.3} % of a cell's time", share * 100.0),
        None => "not known".to_string(),
    };
    format!("real-time throttling: {throttled}; stolen by a hypervisor: {stolen}")
}
