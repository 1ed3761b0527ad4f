//! What a user types: loads joined by `+`, each `name` or `name:parameter`, with `@RATE` where it can be paced.

use super::info::{LoadInfo, Takes};
use super::list::LOADS;
use super::words::{LoadParameter, begins_with, parameter, rate, split};
use crate::device::Device;
use crate::grammar;
use crate::spec_error::SpecError;
use crate::text_form;
use crate::venue::{Only, Venue};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use worstcase_base::near::unknown;
use worstcase_cell::loads::{LoadKind, LoadOrder};
use worstcase_instruments::loads::LoadRequest;

/// What lists all loads.
const LIST: &str = "worstcase loads lists all";

/// One load, or several that run at once; serialised as the user typed it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct LoadSpec(Vec<LoadPart>);

/// One load of a [`LoadSpec`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoadPart {
    kind: LoadKind,
    parameter: LoadParameter,
    rate: Option<u32>,
}

impl LoadSpec {
    /// The loads that run at once; at least one.
    pub fn parts(&self) -> &[LoadPart] {
        &self.0
    }

    /// Whether only the probe runs.
    pub fn is_idle(&self) -> bool {
        self.0.iter().all(|part| part.kind == LoadKind::Idle)
    }

    /// Kernel modules that the loads need where they are not built in, without their dependencies.
    pub fn modules(&self) -> Vec<&'static str> {
        let mut all: Vec<&str> = self
            .0
            .iter()
            .flat_map(|part| LoadInfo::of(part.kind).modules)
            .copied()
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The devices that the lab's machine must have for them.
    pub fn devices(&self) -> impl Iterator<Item = Device> {
        self.0.iter().filter_map(|part| LoadInfo::of(part.kind).device)
    }

    /// Refuses loads that `venue` does not have, with the reason.
    pub fn check_venue(&self, venue: Venue) -> Result<(), SpecError> {
        self.0.iter().try_for_each(|part| {
            Only::check(
                LoadInfo::of(part.kind).only,
                venue,
                &format!("load '{}'", part.usage_name()),
            )
        })
    }

    /// The orders to the machine that runs the loads.
    pub fn orders(&self) -> Vec<LoadOrder> {
        self.0.iter().map(LoadPart::order).collect()
    }
}

impl LoadPart {
    /// Which load.
    pub fn kind(&self) -> LoadKind {
        self.kind
    }

    fn order(&self) -> LoadOrder {
        LoadOrder {
            kind: self.kind,
            request: LoadRequest {
                number: self.number(),
                rate: self.rate,
                words: self.words().to_vec(),
                path: self.path().map(Path::to_path_buf),
            },
        }
    }

    /// Its name, without parameter and rate.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Its name; `compile:PATH` for a load that shares its name with one that takes nothing.
    fn usage_name(&self) -> String {
        match &LoadInfo::of(self.kind).takes {
            Takes::Path(what) | Takes::Word(what) => format!("{}:{what}", self.name()),
            _ => self.name().to_string(),
        }
    }

    /// The units in which it counts its work; empty only for `idle`.
    pub fn units(&self) -> &'static [&'static str] {
        self.kind.code().units
    }

    /// The number behind the colon.
    pub fn number(&self) -> Option<u32> {
        match self.parameter {
            LoadParameter::Number(n) => Some(n),
            _ => None,
        }
    }

    /// The folder behind the colon.
    pub fn path(&self) -> Option<&Path> {
        match &self.parameter {
            LoadParameter::Path(path) => Some(path),
            _ => None,
        }
    }

    /// The words of the command behind the colon; empty for loads without one.
    pub fn words(&self) -> &[String] {
        match &self.parameter {
            LoadParameter::Command { words, .. } => words,
            _ => &[],
        }
    }

    /// Operations a second of the whole load; without a rate, as many as it can, or its own default.
    pub fn rate(&self) -> Option<u32> {
        self.rate
    }
}

impl fmt::Display for LoadSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            let plus = if i == 0 { "" } else { "+" };
            write!(f, "{plus}{part}")?;
        }
        Ok(())
    }
}

impl fmt::Display for LoadPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match &self.parameter {
            LoadParameter::None => {}
            LoadParameter::Number(n) => write!(f, ":{n}")?,
            LoadParameter::Word(word) => write!(f, ":{word}")?,
            LoadParameter::Path(path) => write!(f, ":{}", path.display())?,
            LoadParameter::Command { text, .. } => write!(f, ":{text}")?,
        }
        match self.rate {
            Some(rate) => write!(f, "@{rate}"),
            None => Ok(()),
        }
    }
}

text_form!(LoadSpec);

impl FromStr for LoadSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<LoadSpec, SpecError> {
        let parts: Vec<LoadPart> = split(text).into_iter().map(str::parse).collect::<Result<_, _>>()?;
        if parts.len() > 1 && parts.iter().any(|part| part.kind == LoadKind::Idle) {
            return Err(SpecError(format!("load 'idle' stands alone, not in '{text}'")));
        }
        Ok(LoadSpec(parts))
    }
}

impl FromStr for LoadPart {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<LoadPart, SpecError> {
        let name = &text[..text.find([':', '@']).unwrap_or(text.len())];
        let info = begins_with(text)
            .filter(|info| info.name() == name)
            .ok_or_else(|| SpecError(unknown("load", name, LOADS.iter().map(LoadInfo::name), LIST)))?;
        let (body, paced) = match text.split_once('@') {
            // An @ in a path or a command is an ordinary character.
            Some((body, paced)) if !info.is_open() => (body, Some(paced)),
            _ => (text, None),
        };
        let (_, asked) = grammar::name_and_parameter(body);
        Ok(LoadPart {
            kind: info.kind,
            parameter: parameter(info, asked)?,
            rate: paced.map(|text| rate(info, text)).transpose()?,
        })
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
            "shm@50",
            "fork@100",
            "blockread",
            "procread",
            "find",
            "apps:30",
            "sockets",
            "draw@50",
            "rtc@1024",
            "disk",
            "disk:16@50",
            "proc@100",
            "desktop:4",
            "compile",
            "find+compile+compile",
            "compile:/src/linux-6.1+dfsg@2",
            "cpu+disk",
            "cpu:4@1000+memory:64+timers:8@20000",
            "compile:/src/a+b+cpu:2",
            "compile:/src/a+compile:/src/b",
            "cmd:stress-ng --vm 1",
            "cmd:sh -c 'a b:c'",
            "cmd-ready:sh -c 'a+b'",
            "timerfd:4+receive:100@50+rcu@1000",
            "writeback@100",
            "blockread:ide-pio+blockread:virtio+blockread",
            "munmap",
            "munmap:own@1000+membarrier:own+munmap@5",
            "unmap+unmap:96@10+seccomp:4095",
            "bpf+bpf:maps@5+perf+perf:96@5",
            "fork+cmd:stress-ng --vm 1 a+b@c:d",
        ] {
            let load: LoadSpec = text.parse().unwrap();
            assert_eq!(load.to_string(), text);
            assert_eq!(String::from(load.clone()).try_into(), Ok(load));
        }
        let null: LoadSpec = "blockread:null+cpu".parse().unwrap();
        assert_eq!(null.to_string(), "blockread+cpu");
        let command: LoadSpec = "cmd:sh -c 'a b'".parse().unwrap();
        assert_eq!(command.parts()[0].words(), ["sh", "-c", "a b"]);
    }

    #[test]
    fn a_plus_in_a_path_or_a_command_is_kept() {
        let parts = |text: &str| text.parse::<LoadSpec>().unwrap().parts().len();
        assert_eq!(parts("compile:/src/g++"), 1);
        assert_eq!(parts("compile:/src/linux+dfsg+cpu"), 2);
        assert_eq!(parts("cmd:x +cpu"), 1);
        assert_eq!(parts("cpu+cmd:x +cpu"), 2);
    }

    #[test]
    fn wrong_loads_are_explained_in_one_line() {
        assert_eq!(
            error("dsk"),
            "unknown load 'dsk'; did you mean disk? worstcase loads lists all"
        );
        assert!(error("cpu+fokr@5").starts_with("unknown load 'fokr'; did you mean fork"));
        assert_eq!(error("quux"), "unknown load 'quux'; worstcase loads lists all");
        assert_eq!(error("apps"), "load 'apps' is written apps:N");
        assert_eq!(error("apps:0"), "load 'apps:0': N: 1 to 200, not 0");
        assert_eq!(error("cpu:0"), "load 'cpu:0': N: 1 to 1024, not 0");
        assert_eq!(error("disk:x"), "load 'disk:x': MIB: 'x' is not a number, e.g. 16");
        assert_eq!(error("munmap:4"), "load 'munmap' takes ':own' or nothing, not ':4'");
        assert_eq!(
            error("blockread:ide"),
            "load 'blockread' takes ':null', ':ide-pio', ':virtio' or nothing, not ':ide'"
        );
        assert_eq!(error("proc:4"), "load 'proc' takes no parameter, not ':4'");
        assert_eq!(
            error("fork@0"),
            "load 'fork@0': operations a second: 1 to 1000000, not 0"
        );
        assert!(error("fork@1.5").contains("'1.5' is not a number"));
        for text in ["idle@1", "sockets@5", "blockread@5", "compile@5", "desktop@5"] {
            assert!(error(text).contains("takes no rate"), "{text}");
        }
        assert!(error("idle+cpu").contains("stands alone"));
        assert!(error("compile:").contains("Makefile"));
        assert_eq!(error("cmd"), "load 'cmd' is written cmd:PROGRAM [ARGUMENT...]");
        assert_eq!(error("cmd:"), "load 'cmd:': there is no program");
        assert!(error("cmd:sh 'x").contains("quote"));
        assert!(error("").contains("unknown load ''"));
        assert!(error("cpu+").contains("unknown load ''"));
        for text in ["dsk", "cpu:0", "fork@0", "idle@1", "apps", "compile:", "cmd:"] {
            assert_eq!(error(text).lines().count(), 1);
        }
    }

    #[test]
    fn a_venue_refuses_what_it_has_not_and_says_what_it_has() {
        let refused = |text: &str, venue| text.parse::<LoadSpec>().unwrap().check_venue(venue).unwrap_err().0;
        let why = refused("cpu+apps:3", Venue::Host);
        assert_eq!(
            why,
            "load 'apps' is there in the lab only: it drives the whole machine into paging; on the host: memory"
        );
        assert!(refused("compile:/src", Venue::Lab).starts_with("load 'compile:PATH' is there on the host only"));
        assert!(refused("munmap:own", Venue::Host).starts_with("load 'munmap:own' is there in the lab only"));
        assert_eq!(
            refused("blockread:virtio", Venue::Host),
            "load 'blockread:virtio' is there in the lab only: the lab gives its machine such a disk; on the host: blockread"
        );
        assert!(refused("desktop", Venue::Lab).contains("find+compile+compile"));
        for venue in [Venue::Host, Venue::Lab] {
            let both: LoadSpec = "find@100+compile+compile+cpu:1".parse().unwrap();
            assert_eq!(both.check_venue(venue), Ok(()));
        }
    }

    #[test]
    fn loads_say_which_modules_they_need() {
        let load: LoadSpec = "find+compile+compile".parse().unwrap();
        let modules: LoadSpec = "apps:3+blockread".parse().unwrap();
        assert_eq!((load.modules(), modules.modules()), (vec![], vec!["null_blk"]));
    }
}
