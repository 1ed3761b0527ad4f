//! `watch.json`: what is watched, since when, and the gaps in which nothing was measured.

use serde::{Deserialize, Serialize};
use std::fmt;
use worstcase_base::utc::Utc;
use worstcase_plan::Experiment;

/// Its name.
pub(crate) const WATCH_FILE: &str = "watch.json";
/// Its form.
pub const SCHEMA: &str = "worstcase-watch/1";
/// Limit for the gaps in the file; the oldest are forgotten.
const GAPS: usize = 1_000;

/// The file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WatchFile {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of the tool that wrote it last.
    pub tool_version: String,
    /// When the watch began.
    pub began: Utc,
    /// What each segment measures.
    pub experiment: Experiment,
    /// Length of a segment.
    pub(crate) rotate_ns: u64,
    /// How often the state of a running segment is written.
    pub(crate) checkpoint_ns: u64,
    /// How many segments are kept.
    pub keep: u64,
    /// The boot in which it measured last.
    pub(crate) boot_id: String,
    /// When measuring last began.
    pub since: Utc,
    /// When and why measuring ended in an orderly way; absent while it goes on, and if it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<WatchEnd>,
    /// The gaps in which nothing was measured, in order.
    pub gaps: Vec<WatchGap>,
    /// Number of older gaps that were forgotten.
    pub(crate) gaps_forgotten: u64,
}

/// An orderly end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WatchEnd {
    /// When.
    pub at: Utc,
    /// [`GapReason::Stopped`] or [`GapReason::Failed`].
    pub why: GapReason,
}

/// A gap: a time in which nothing was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchGap {
    /// The last moment before it with a kept result.
    pub from: Utc,
    /// When measuring began again.
    pub to: Utc,
    /// Why.
    pub why: GapReason,
}

/// Why nothing was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// A user ended the watch.
    Stopped,
    /// The watch was killed.
    Killed,
    /// The machine was booted anew without an orderly end before: a crash, a loss of power, or a forced reboot.
    Rebooted,
    /// The machine was suspended.
    Suspended,
    /// The watch ended with an error.
    Failed,
}

impl fmt::Display for GapReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            GapReason::Stopped => "it was stopped",
            GapReason::Killed => "it was killed",
            GapReason::Rebooted => "the machine was booted anew",
            GapReason::Suspended => "the machine slept",
            GapReason::Failed => "it ended with an error",
        })
    }
}

impl fmt::Display for WatchGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from, self.to);
        write!(f, "gap of {} s, {from} to {to}: {}", self.seconds(), self.why)
    }
}

impl WatchGap {
    /// Its length.
    pub fn seconds(&self) -> u64 {
        self.to.seconds().saturating_sub(self.from.seconds())
    }
}

impl WatchFile {
    /// Adds a gap.
    pub fn add(&mut self, gap: WatchGap) {
        self.gaps.push(gap);
        if self.gaps.len() > GAPS {
            self.gaps.remove(0);
            self.gaps_forgotten += 1;
        }
    }

    /// The gap until `now`, when measuring begins again in this boot; the newest record ends at `last`.
    pub(crate) fn gap_until(&self, now: Utc, boot_id: &str, last: Option<Utc>) -> WatchGap {
        let measured = last.map_or(self.since, |last| last.max(self.since));
        let (from, why) = match self.ended {
            Some(ended) => (ended.at.max(measured), ended.why),
            None if self.boot_id != boot_id => (measured, GapReason::Rebooted),
            None => (measured, GapReason::Killed),
        };
        let to = now.max(from);
        WatchGap { from, to, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_plan::{Subjects, Venue};

    fn file() -> WatchFile {
        WatchFile {
            schema: SCHEMA.into(),
            tool_version: "1".into(),
            began: Utc::at(100),
            experiment: Experiment::usual(Venue::Host, Subjects::Cpus(None)),
            rotate_ns: 1,
            checkpoint_ns: 1,
            keep: 3,
            boot_id: "one".into(),
            since: Utc::at(100),
            ended: None,
            gaps: Vec::new(),
            gaps_forgotten: 0,
        }
    }

    #[test]
    fn a_gap_is_from_what_is_kept_and_has_its_reason() {
        let gap = |file: &WatchFile, boot, last: Option<u64>| {
            let gap = file.gap_until(Utc::at(500), boot, last.map(Utc::at));
            (gap.from.seconds(), gap.to.seconds(), gap.why)
        };
        let killed = file();
        assert_eq!(gap(&killed, "one", Some(300)), (300, 500, GapReason::Killed));
        assert_eq!(gap(&killed, "one", None), (100, 500, GapReason::Killed));
        assert_eq!(gap(&killed, "two", Some(300)), (300, 500, GapReason::Rebooted));
        let (at, why) = (Utc::at(400), GapReason::Stopped);
        let ended = Some(WatchEnd { at, why });
        assert_eq!(
            gap(&WatchFile { ended, ..file() }, "two", Some(399)),
            (400, 500, GapReason::Stopped)
        );
        // If the clock was set back, the gap is empty.
        assert_eq!(gap(&killed, "one", Some(900)), (900, 900, GapReason::Killed));
    }

    #[test]
    fn gaps_are_bounded() {
        let mut file = file();
        for n in 0..1_005 {
            let (from, to) = (Utc::at(n), Utc::at(n + 1));
            let why = GapReason::Suspended;
            file.add(WatchGap { from, to, why });
        }
        assert_eq!(
            (file.gaps.len(), file.gaps_forgotten, file.gaps[0].from),
            (1_000, 5, Utc::at(5))
        );
    }
}
