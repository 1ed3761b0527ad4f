//! A load as users name it: `name` or `name:parameter`, and the table of all loads for help texts.

use super::command_line;
use crate::spec::SpecError;
use std::fmt;
use std::str::FromStr;

/// Which load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LoadKind {
    /// Nothing but the probe.
    Idle,
    /// System V segments made, touched and removed.
    Shm,
    /// Fork, exit, wait.
    Fork,
    /// Direct reads from a null_blk device, many in flight.
    BlockRead,
    /// Big files of /proc read from end to end.
    ProcRead,
    /// A walk through a tree of files.
    Find,
    /// Processes whose working sets together exceed the memory.
    Apps,
    /// Messages and streams over loopback and UNIX sockets.
    Sockets,
    /// A synthetic build.
    Compile,
    /// Any program.
    Cmd,
}

/// What help texts, parsers and the lab need to know of a load.
#[derive(Debug)]
pub struct LoadInfo {
    /// Which load.
    pub kind: LoadKind,
    /// Its name, as users type it.
    pub name: &'static str,
    /// What follows the name and a colon, in the form of a help text; empty if nothing may.
    pub parameter: &'static str,
    /// One line for help texts.
    pub about: &'static str,
    /// What it counts as its work.
    pub units: &'static [&'static str],
    /// Kernel modules that it needs (where they are not built in), without their dependencies.
    pub modules: &'static [&'static str],
}

/// All loads, in the order in which help texts name them.
pub const LOADS: [LoadInfo; 10] = [
    LoadInfo {
        kind: LoadKind::Idle,
        name: "idle",
        parameter: "",
        about: "nothing: the machine waits for the probe",
        units: &[],
        modules: &[],
    },
    LoadInfo {
        kind: LoadKind::Shm,
        name: "shm",
        parameter: "",
        about: "makes, touches and removes 16 MiB System V segments in a loop (page allocation and freeing)",
        units: &["segments", "pages"],
        modules: &[],
    },
    LoadInfo {
        kind: LoadKind::Fork,
        name: "fork",
        parameter: "",
        about: "forks a child that writes to inherited memory and exits, waits for it, and again",
        units: &["forks"],
        modules: &[],
    },
    LoadInfo {
        kind: LoadKind::BlockRead,
        name: "blockread",
        parameter: "",
        about: "32 direct 4 KiB reads in flight at random places of a null_blk device that it makes (interrupts)",
        units: &["reads"],
        modules: &["null_blk"],
    },
    LoadInfo {
        kind: LoadKind::ProcRead,
        name: "procread",
        parameter: "",
        about: "reads /proc/kallsyms and other big files of /proc from end to end (long system calls)",
        units: &["bytes", "files"],
        modules: &[],
    },
    LoadInfo {
        kind: LoadKind::Find,
        name: "find",
        parameter: "",
        about: "walks a generated tree of 4096 files and asks for the status of each (path lookup)",
        units: &["entries"],
        modules: &[],
    },
    LoadInfo {
        kind: LoadKind::Apps,
        name: "apps",
        parameter: "N",
        about: "N processes sweep working sets that together exceed the memory (paging; lab only)",
        units: &["page_ins"],
        modules: &["null_blk"],
    },
    LoadInfo {
        kind: LoadKind::Sockets,
        name: "sockets",
        parameter: "",
        about: "message ping-pong and streaming over loopback TCP and UNIX sockets, eight processes",
        units: &["messages", "bytes"],
        modules: &[],
    },
    LoadInfo {
        kind: LoadKind::Compile,
        name: "compile",
        parameter: "",
        about: "a synthetic build, two jobs at once: fork, exec, many small files, hashing, renames",
        units: &["units", "links"],
        modules: &[],
    },
    LoadInfo {
        kind: LoadKind::Cmd,
        name: "cmd",
        parameter: "PROGRAM [ARGUMENT...]",
        about: "any program; started again when it ends with success",
        units: &["cpu_time_us", "runs"],
        modules: &[],
    },
];

impl LoadInfo {
    /// The row of `kind` in [`LOADS`].
    pub fn of(kind: LoadKind) -> &'static LoadInfo {
        LOADS
            .iter()
            .find(|info| info.kind == kind)
            .expect("every kind has its row")
    }

    /// The load as a help text shows it: `apps:N`.
    pub fn usage(&self) -> String {
        if self.parameter.is_empty() {
            self.name.to_string()
        } else {
            format!("{}:{}", self.name, self.parameter)
        }
    }
}

/// A load with its parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoadSpec {
    kind: LoadKind,
    parameter: Parameter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Parameter {
    None,
    Number(u32),
    Command { text: String, words: Vec<String> },
}

impl LoadSpec {
    /// Most processes of `apps`.
    pub const MAX_APPS: u32 = 200;

    /// Which load.
    pub fn kind(&self) -> LoadKind {
        self.kind
    }

    /// Its name, without the parameter.
    pub fn name(&self) -> &'static str {
        LoadInfo::of(self.kind).name
    }

    /// What the kernel calls its workers.
    pub fn thread_name(&self) -> String {
        format!("load-{}", self.name())
    }

    /// Kernel modules that the load needs where they are not built in, without their dependencies.
    pub fn modules(&self) -> &'static [&'static str] {
        LoadInfo::of(self.kind).modules
    }

    /// What the load counts as its work; empty only for `idle`.
    pub fn units(&self) -> &'static [&'static str] {
        LoadInfo::of(self.kind).units
    }

    /// The number behind the colon; 0 for loads without one.
    pub fn number(&self) -> u32 {
        match self.parameter {
            Parameter::Number(n) => n,
            _ => 0,
        }
    }

    /// The words of the command behind the colon; empty for loads without one.
    pub fn words(&self) -> &[String] {
        match &self.parameter {
            Parameter::Command { words, .. } => words,
            _ => &[],
        }
    }
}

impl fmt::Display for LoadSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parameter {
            Parameter::None => f.write_str(self.name()),
            Parameter::Number(n) => write!(f, "{}:{n}", self.name()),
            Parameter::Command { text, .. } => write!(f, "{}:{text}", self.name()),
        }
    }
}

impl FromStr for LoadSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<LoadSpec, SpecError> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let info = LOADS.iter().find(|info| info.name == name).ok_or_else(|| {
            let known: Vec<String> = LOADS.iter().map(LoadInfo::usage).collect();
            SpecError(format!("unknown load '{name}'; known: {}", known.join(", ")))
        })?;
        let parameter = match (info.kind, parameter) {
            (LoadKind::Apps, Some(p)) => Parameter::Number(apps(p)?),
            (LoadKind::Cmd, Some(p)) => Parameter::Command {
                text: p.to_string(),
                words: command_line::split(p).map_err(|why| SpecError(format!("load 'cmd:{p}': {why}")))?,
            },
            (LoadKind::Apps | LoadKind::Cmd, None) => {
                return Err(SpecError(format!("load '{name}' is written {}", info.usage())));
            }
            (_, None) => Parameter::None,
            (_, Some(p)) => return Err(SpecError(format!("load '{name}' takes no parameter, not ':{p}'"))),
        };
        Ok(LoadSpec {
            kind: info.kind,
            parameter,
        })
    }
}

fn apps(parameter: &str) -> Result<u32, SpecError> {
    let max = LoadSpec::MAX_APPS;
    match parameter.parse() {
        Ok(n) if (1..=max).contains(&n) => Ok(n),
        _ => Err(SpecError(format!(
            "apps:N runs 1 to {max} processes, not '{parameter}'"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<LoadSpec>().unwrap_err().0
    }

    #[test]
    fn every_load_is_written_as_it_is_read() {
        for text in [
            "idle",
            "shm",
            "fork",
            "blockread",
            "procread",
            "find",
            "apps:30",
            "sockets",
            "compile",
            "cmd:stress-ng --vm 1",
            "cmd:sh -c 'a b:c'",
        ] {
            assert_eq!(text.parse::<LoadSpec>().unwrap().to_string(), text);
        }
        let command: LoadSpec = "cmd:sh -c 'a b'".parse().unwrap();
        assert_eq!(command.words(), ["sh", "-c", "a b"]);
    }

    #[test]
    fn wrong_loads_are_explained() {
        assert!(error("smh").contains("unknown load 'smh'; known: idle, shm,"));
        assert!(error("smh").contains("apps:N"));
        assert_eq!(error("apps"), "load 'apps' is written apps:N");
        assert_eq!(error("apps:0"), "apps:N runs 1 to 200 processes, not '0'");
        assert_eq!(error("apps:x"), "apps:N runs 1 to 200 processes, not 'x'");
        assert_eq!(error("shm:16"), "load 'shm' takes no parameter, not ':16'");
        assert_eq!(error("cmd:"), "load 'cmd:': there is no program");
        assert!(error("cmd:sh 'x").contains("quote"));
        assert!(error("").contains("unknown load ''"));
    }

    #[test]
    fn the_table_has_one_row_a_name_and_only_idle_counts_nothing() {
        for (i, info) in LOADS.iter().enumerate() {
            assert!(LOADS[..i].iter().all(|other| other.name != info.name));
            assert_eq!(info.units.is_empty(), info.kind == LoadKind::Idle, "{}", info.name);
            assert_eq!(LoadInfo::of(info.kind).name, info.name);
            // What the kernel keeps of a thread's name.
            assert!("load-".len() + info.name.len() <= 15, "{}", info.name);
        }
    }
}
