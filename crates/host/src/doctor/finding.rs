//! Findings: how bad each is, why, and its remedy.

use serde::Serialize;

/// How bad a finding is; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingLevel {
    /// It makes real-time threads late.
    Harmful,
    /// It may make them late, or it limits what can be said about this machine.
    Notice,
    /// This machine does not show it.
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
    /// The state of the machine.
    pub what: String,
    /// Why it harms latency.
    pub why: String,
    /// Command, boot parameter or option that helps.
    pub remedy: Option<String>,
    /// The changes that `--apply` makes; empty if it cannot.
    pub changes: Vec<TemporaryChange>,
}

/// A change that can be made for a while and undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TemporaryChange {
    /// A setting in sysfs or procfs.
    Set {
        /// Its path from the root, without the leading slash.
        file: String,
        /// The value to write.
        value: String,
    },
    /// Holds /dev/cpu_dma_latency at zero: no CPU enters a sleep state from which waking takes time.
    NoSleep,
}

impl TemporaryChange {
    /// A setting.
    pub(crate) fn set(file: impl Into<String>, value: impl ToString) -> TemporaryChange {
        TemporaryChange::Set {
            file: file.into(),
            value: value.to_string(),
        }
    }
}

impl Finding {
    /// Whether the finding is bad and can be set for a while.
    pub(crate) fn can_be_set(&self) -> bool {
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

    pub(super) fn good(id: &'static str, what: impl Into<String>) -> Finding {
        Finding::new(id, FindingLevel::Good, what, "")
    }

    pub(super) fn not_known(id: &'static str, what: impl Into<String>) -> Finding {
        Finding::new(id, FindingLevel::NotKnown, what, "")
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Finding {
        self.remedy = Some(remedy.into());
        self
    }

    /// Tells where this machine has the kernel's parameters, where the remedy is one of them.
    pub(super) fn tell_parameters(&mut self, place: &str) {
        if let Some(remedy) = self.remedy.as_mut().filter(|remedy| remedy.contains("boot with ")) {
            remedy.push_str(&format!(" (kernel parameters: {place})"));
        }
    }

    pub(super) fn changes(mut self, changes: impl IntoIterator<Item = TemporaryChange>) -> Finding {
        self.changes.extend(changes);
        self
    }
}
