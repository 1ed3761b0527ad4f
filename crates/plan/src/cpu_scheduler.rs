//! The scheduler of tasks: the kernel's own, or one that is loaded into it (sched_ext).

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A scheduler; serialised as it is typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CpuScheduler {
    /// The kernel's own since 6.6.
    Eevdf,
    /// A policy that worstcase carries, by its name.
    BuiltIn(String),
    /// A file: a compiled policy, or a program that loads one.
    File(String),
}

/// A text that names no scheduler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCpuScheduler {
    /// Neither a name nor a path.
    #[error("no scheduler '{0}'; there are {EEVDF}, {names}, or name a file by its path, e.g. ./mine.bpf.o", names = BUILT_IN.join(", "))]
    Unknown(String),
    /// A path that cannot be made absolute.
    #[error("the scheduler {0}: {1}")]
    Path(String, String),
}

const EEVDF: &str = "eevdf";
/// Policies that worstcase carries.
const BUILT_IN: [&str; 2] = ["o-n", "o-1"];
/// Endings of compiled policies.
const ENDINGS: [&str; 2] = [".bpf.o", ".o"];

impl CpuScheduler {
    /// A word for names of subjects.
    pub fn word(&self) -> &str {
        match self {
            CpuScheduler::Eevdf => EEVDF,
            CpuScheduler::BuiltIn(name) => name,
            CpuScheduler::File(path) => {
                let name = Path::new(path).file_name().and_then(|name| name.to_str());
                let name = name.unwrap_or(path);
                let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending));
                stem.unwrap_or(name)
            }
        }
    }

    /// Whether it is loaded into the kernel.
    pub fn is_loaded(&self) -> bool {
        *self != CpuScheduler::Eevdf
    }
}

impl FromStr for CpuScheduler {
    type Err = NoCpuScheduler;

    fn from_str(text: &str) -> Result<CpuScheduler, NoCpuScheduler> {
        if text == EEVDF {
            return Ok(CpuScheduler::Eevdf);
        }
        if BUILT_IN.contains(&text) {
            return Ok(CpuScheduler::BuiltIn(text.into()));
        }
        let is_path = text.contains('/') || text.ends_with(ENDINGS[1]);
        if !is_path || text.contains(|c: char| c.is_control() || c == ',') {
            return Err(NoCpuScheduler::Unknown(text.escape_debug().to_string()));
        }
        let path = std::path::absolute(text).map_err(|e| NoCpuScheduler::Path(text.into(), e.to_string()))?;
        Ok(CpuScheduler::File(path.display().to_string()))
    }
}

worstcase_contract::text_form!(CpuScheduler);

impl fmt::Display for CpuScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CpuScheduler::Eevdf => f.pad(EEVDF),
            CpuScheduler::BuiltIn(text) | CpuScheduler::File(text) => f.pad(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduler_is_a_name_or_a_file() {
        for name in ["eevdf", "o-n", "o-1"] {
            let scheduler: CpuScheduler = name.parse().unwrap();
            assert_eq!((scheduler.to_string(), scheduler.word()), (name.to_string(), name));
            assert_eq!(scheduler.is_loaded(), name != "eevdf");
        }
        let mine: CpuScheduler = "./mine.bpf.o".parse().unwrap();
        assert!(mine.to_string().starts_with('/') && mine.word() == "mine", "{mine}");
        assert_eq!(
            "/usr/bin/scx_simple".parse::<CpuScheduler>().unwrap().word(),
            "scx_simple"
        );
    }

    #[test]
    fn what_is_neither_is_told_what_there_is() {
        for text in ["cfs", "", "o-2", "a,b.bpf.o"] {
            let error = text.parse::<CpuScheduler>().unwrap_err().to_string();
            assert!(error.contains("there are eevdf, o-n, o-1"), "{error}");
        }
    }
}
