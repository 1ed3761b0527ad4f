//! I/O schedulers, as users name them: `bfq`, `bfq{slice_idle=0,low_latency=1}`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A scheduler with settings of its own; serialised as it is typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct IoScheduler {
    /// The kernel's name for it.
    pub name: String,
    /// Settings of `queue/iosched` in sysfs; a setting that is not named keeps its first value.
    pub settings: BTreeMap<String, String>,
}

/// Several, between commas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IoSchedulers(pub Vec<IoScheduler>);

/// A text that names no I/O scheduler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is no I/O scheduler: {what}; e.g. mq-deadline or bfq{{slice_idle=0,low_latency=1}}")]
pub struct NoIoScheduler {
    text: String,
    what: &'static str,
}

/// A word of sysfs: never a path.
fn is_word(text: &str) -> bool {
    let is_in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && text.chars().all(is_in_word)
}

impl FromStr for IoScheduler {
    type Err = NoIoScheduler;

    fn from_str(text: &str) -> Result<IoScheduler, NoIoScheduler> {
        let wrong = |what| NoIoScheduler {
            text: text.into(),
            what,
        };
        let (name, list) = match text.split_once('{') {
            None => (text, ""),
            Some((name, rest)) => (
                name,
                rest.strip_suffix('}').ok_or_else(|| wrong("a '{' without its '}'"))?,
            ),
        };
        if !is_word(name) {
            return Err(wrong("a name is letters, digits, '-' and '_'"));
        }
        let mut settings = BTreeMap::new();
        for setting in list.split(',').filter(|setting| !setting.is_empty()) {
            let (key, value) = setting
                .split_once('=')
                .ok_or_else(|| wrong("a setting is NAME=VALUE"))?;
            if !is_word(key) || !is_word(value) {
                return Err(wrong("a setting's name and value are letters, digits, '-' and '_'"));
            }
            if settings.insert(key.to_string(), value.to_string()).is_some() {
                return Err(wrong("a setting stands there twice"));
            }
        }
        Ok(IoScheduler {
            name: name.into(),
            settings,
        })
    }
}

impl fmt::Display for IoScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings: Vec<String> = self
            .settings
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        match settings.is_empty() {
            true => f.pad(&self.name),
            false => f.pad(&format!("{}{{{}}}", self.name, settings.join(","))),
        }
    }
}

impl IoScheduler {
    /// Words for names of subjects: `bfq`, `slice_idle-0`.
    pub fn words(&self) -> Vec<String> {
        let settings = self.settings.iter().map(|(key, value)| format!("{key}-{value}"));
        std::iter::once(self.name.clone()).chain(settings).collect()
    }
}

worstcase_contract::text_form!(IoScheduler);

impl IoSchedulers {
    /// Whether no scheduler is named: then the device keeps its own.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The schedulers of a text; a comma between braces separates settings.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut inside = false;
    let is_end = |c: char| {
        inside = match c {
            '{' => true,
            '}' => false,
            _ => inside,
        };
        c == ',' && !inside
    };
    text.split(is_end).map(str::to_string).collect()
}

impl FromStr for IoSchedulers {
    type Err = NoIoScheduler;

    fn from_str(text: &str) -> Result<IoSchedulers, NoIoScheduler> {
        let all: Vec<IoScheduler> = split(text).iter().map(|one| one.parse()).collect::<Result<_, _>>()?;
        let twice = (1..all.len()).any(|at| all[..at].contains(&all[at]));
        match twice {
            false => Ok(IoSchedulers(all)),
            true => Err(NoIoScheduler {
                text: text.into(),
                what: "one stands there twice",
            }),
        }
    }
}

impl fmt::Display for IoSchedulers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(IoScheduler::to_string).collect();
        f.pad(&all.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_with_their_settings_are_read_and_written() {
        let text = "none,bfq{low_latency=1,slice_idle=0},mq-deadline";
        let all: IoSchedulers = text.parse().unwrap();
        assert_eq!(all.0.len(), 3);
        assert_eq!(all.to_string(), text);
        assert_eq!("bfq{}".parse::<IoScheduler>().unwrap().to_string(), "bfq");
    }

    #[test]
    fn what_names_none_is_refused_in_words() {
        for (text, says) in [
            ("", "a name is letters"),
            ("../x", "a name is letters"),
            ("bfq{slice_idle=0", "without its '}'"),
            ("bfq{slice_idle}", "NAME=VALUE"),
            ("bfq{../a=0}", "letters, digits"),
            ("bfq{a=0,a=1}", "there twice"),
            ("bfq,bfq", "one stands there twice"),
        ] {
            let error = text.parse::<IoSchedulers>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
