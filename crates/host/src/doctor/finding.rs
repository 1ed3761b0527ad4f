//! What is found: how bad it is, why, and what to do about it.

use serde::Serialize;

/// How bad it is; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingLevel {
    /// It makes real-time threads late.
    Harmful,
    /// It may, or it limits what can be said about this machine.
    Notice,
    /// This machine does not tell.
    NotKnown,
    /// As it should be.
    Good,
}

/// One thing about a machine.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// A short name, for scripts.
    pub id: &'static str,
    /// How bad it is.
    pub level: FindingLevel,
    /// What is the case.
    pub what: String,
    /// Why it harms latency.
    pub why: String,
    /// Command, boot parameter or option that helps.
    pub remedy: Option<String>,
    /// What `--apply` does about it; empty if it cannot.
    pub changes: Vec<TemporaryChange>,
}

/// What can be set for a while and set back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TemporaryChange {
    /// A setting in sysfs or procfs.
    Set {
        /// From the root, without the leading slash.
        file: String,
        /// What to write.
        value: String,
    },
    /// Hold /dev/cpu_dma_latency at zero: no CPU sleeps deeper than it can wake from at once.
    NoSleep,
}

impl TemporaryChange {
    /// A setting.
    pub fn set(file: impl Into<String>, value: impl ToString) -> TemporaryChange {
        TemporaryChange::Set {
            file: file.into(),
            value: value.to_string(),
        }
    }
}

impl Finding {
    /// Whether something is ill that can be set for a while.
    pub fn can_be_set(&self) -> bool {
        self.level != FindingLevel::Good && !self.changes.is_empty()
    }

    pub(super) fn new(
        id: &'static str,
        level: FindingLevel,
        what: impl Into<String>,
        why: impl Into<String>,
    ) -> Finding {
        Finding {
            id,
            level,
            what: what.into(),
            why: why.into(),
            remedy: None,
            changes: Vec::new(),
        }
    }

    /// As it should be.
    pub(super) fn good(id: &'static str, what: impl Into<String>) -> Finding {
        Finding::new(id, FindingLevel::Good, what, "")
    }

    /// This machine does not tell.
    pub(super) fn not_known(id: &'static str, what: impl Into<String>) -> Finding {
        Finding::new(id, FindingLevel::NotKnown, what, "")
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Finding {
        self.remedy = Some(remedy.into());
        self
    }

    pub(super) fn changes(mut self, changes: impl IntoIterator<Item = TemporaryChange>) -> Finding {
        self.changes.extend(changes);
        self
    }
}
