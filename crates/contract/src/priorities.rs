//! Real-time priorities for the kernel's own threads: `ktimers=90,irq=50`, as chrt would set them.

use crate::spec_error::SpecError;
use crate::text_form;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::str::FromStr;
use worstcase_instruments::priorities::{self, KernelThread};

/// Threads by name, each with its SCHED_FIFO priority; 0 makes it an ordinary thread.
///
/// A name stands for all threads whose name equals it, or continues it with `/` or `-`: `ktimers` for those of every CPU,
/// `irq` for every interrupt's thread, `irq/7` for those of interrupt 7.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ThreadPriorities(Vec<(String, u8)>);

/// The kernel cuts a thread's name to this length.
const LONGEST_NAME: usize = 15;

impl ThreadPriorities {
    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each name with its priority.
    pub fn by_name(&self) -> &[(String, u8)] {
        &self.0
    }

    /// The threads of this machine with these names. A name that no thread has is an error.
    pub fn threads(&self) -> io::Result<Vec<(KernelThread, u8)>> {
        priorities::threads(&self.0)
    }
}

impl fmt::Display for ThreadPriorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(|(name, n)| format!("{name}={n}")).collect();
        f.pad(&words.join(","))
    }
}

impl FromStr for ThreadPriorities {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<ThreadPriorities, SpecError> {
        let one = |word: &str| {
            let wrong = || {
                SpecError(format!(
                    "'{}' is not a kernel thread's name and priority, like ktimers=90 (1 to 99: SCHED_FIFO, 0: SCHED_OTHER)",
                    word.escape_debug()
                ))
            };
            let (name, priority) = word.split_once('=').ok_or_else(wrong)?;
            let priority = priority.parse().ok().filter(|n| *n <= 99).ok_or_else(wrong)?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || "_-/.:".contains(c);
            if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_name) {
                return Err(wrong());
            }
            Ok((name.to_string(), priority))
        };
        let mut words = text.split(',').filter(|_| !text.is_empty());
        words.try_fold(ThreadPriorities::default(), |mut all, word| {
            let (name, priority) = one(word)?;
            if all.0.iter().any(|(other, _)| *other == name) {
                return Err(SpecError(format!("the threads '{name}' have two priorities")));
            }
            all.0.push((name, priority));
            Ok(all)
        })
    }
}

text_form!(ThreadPriorities);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_written_as_they_are_read_and_mistakes_are_told() {
        for text in ["", "ktimers=90", "irq/7=0,rcuc=50"] {
            assert_eq!(text.parse::<ThreadPriorities>().unwrap().to_string(), text);
        }
        for text in [
            "ktimers",
            "ktimers=",
            "=3",
            "a b=3",
            "ktimers=100",
            "irq=1,",
            "ktimers=-1",
        ] {
            let error = text.parse::<ThreadPriorities>().unwrap_err().0;
            assert!(error.contains("like ktimers=90"), "{text}: {error}");
        }
        let twice = "irq=1,irq=2".parse::<ThreadPriorities>().unwrap_err();
        assert_eq!(twice.0, "the threads 'irq' have two priorities");
    }
}
