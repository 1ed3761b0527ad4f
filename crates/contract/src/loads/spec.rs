//! What a user types: loads joined by `+`, each `name` or `name:parameter`, with `@RATE` where it can be paced.

use super::command_line;
use super::table::{LOADS, LoadInfo, Takes};
use crate::spec::SpecError;
use crate::venue::{Only, Venue};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use worstcase_instruments::loads::{LoadKind, LoadOrder};

/// Most operations a second that can be asked for.
pub const MAX_RATE: u32 = 1_000_000;

/// One load, or several that run at once; serialised as its user types it.
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

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum LoadParameter {
    None,
    Number(u32),
    Word(&'static str),
    Path(PathBuf),
    Command { text: String, words: Vec<String> },
}

impl LoadSpec {
    /// The loads that run at once; at least one.
    pub fn parts(&self) -> &[LoadPart] {
        &self.0
    }

    /// Whether nothing runs but the probe.
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

    /// What the machine is told that runs them.
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
            number: self.number(),
            rate: self.rate,
            words: self.words().to_vec(),
            path: self.path().map(Path::to_path_buf),
            ..LoadOrder::plain(self.kind)
        }
    }

    /// Its name, without parameter and rate.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Its name, or `compile:PATH` for the one of two loads of a name that takes something.
    fn usage_name(&self) -> String {
        match &LoadInfo::of(self.kind).takes {
            Takes::Path(what) | Takes::Word(what) => format!("{}:{what}", self.name()),
            _ => self.name().to_string(),
        }
    }

    /// What it counts as its work; empty only for `idle`.
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

    /// Operations a second of the whole load; without one, as many as it can or its own usual rate.
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

impl From<LoadSpec> for String {
    fn from(load: LoadSpec) -> String {
        load.to_string()
    }
}

impl TryFrom<String> for LoadSpec {
    type Error = SpecError;
    fn try_from(text: String) -> Result<LoadSpec, SpecError> {
        text.parse()
    }
}

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

/// The row of the load that `text` begins with.
fn begins_with(text: &str) -> Option<&'static LoadInfo> {
    let end = text.find([':', '@', '+']).unwrap_or(text.len());
    let has_parameter = text[end..].starts_with(':');
    let named = |info: &&LoadInfo| info.name() == &text[..end];
    let word = text[end..].split([':', '@', '+']).nth(1).unwrap_or_default();
    // `compile` and `compile:PATH` are two loads, and so are two words.
    let fits = |info: &&LoadInfo| match info.takes {
        Takes::Nothing => !has_parameter,
        Takes::Usual(usual) => !has_parameter || word == usual,
        Takes::Word(own) => has_parameter && word == own,
        Takes::Number { .. } | Takes::Path(_) | Takes::Command(_) => has_parameter,
    };
    LOADS
        .iter()
        .find(|info| named(info) && fits(info))
        .or_else(|| LOADS.iter().find(named))
}

/// The parts between the `+` signs. What follows `cmd:` is the program's; in a path only a `+` with the name of a
/// load behind it separates.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let takes = begins_with(rest).map(|info| &info.takes);
        let separates = |at: usize| match takes {
            Some(Takes::Command(_)) => false,
            Some(Takes::Path(_)) => begins_with(&rest[at + 1..]).is_some(),
            _ => true,
        };
        let Some((end, _)) = rest.match_indices('+').find(|(at, _)| separates(*at)) else {
            parts.push(rest);
            return parts;
        };
        parts.push(&rest[..end]);
        rest = &rest[end + 1..];
    }
}

impl FromStr for LoadPart {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<LoadPart, SpecError> {
        let name = &text[..text.find([':', '@']).unwrap_or(text.len())];
        let info = begins_with(text).filter(|info| info.name() == name).ok_or_else(|| {
            let known: Vec<String> = LOADS.iter().map(LoadInfo::usage).collect();
            SpecError(format!("unknown load '{name}'; known: {}", known.join(", ")))
        })?;
        let is_open = matches!(info.takes, Takes::Path(_) | Takes::Command(_));
        let (body, rate) = match text.split_once('@') {
            // In a path and in a command an @ is one of its characters.
            Some((body, rate)) if !is_open => (body, Some(rate)),
            _ => (text, None),
        };
        let part = LoadPart {
            kind: info.kind,
            parameter: parameter(info, body.split_once(':').map(|(_, parameter)| parameter))?,
            rate: rate.map(parse_rate).transpose()?,
        };
        match rate {
            Some(rate) if info.rate.is_none() => Err(SpecError(format!(
                "load '{name}' takes no rate, not '@{rate}': only {} can be paced",
                paced().join(", ")
            ))),
            _ => Ok(part),
        }
    }
}

fn parameter(info: &LoadInfo, text: Option<&str>) -> Result<LoadParameter, SpecError> {
    let name = info.name();
    let wrong = |what: String| Err(SpecError(what));
    match (&info.takes, text) {
        (Takes::Nothing | Takes::Usual(_) | Takes::Number { required: false, .. }, None) => Ok(LoadParameter::None),
        (Takes::Usual(word), Some(p)) if p == *word => Ok(LoadParameter::None),
        (Takes::Word(word), Some(p)) if p == *word => Ok(LoadParameter::Word(word)),
        (Takes::Nothing | Takes::Usual(_) | Takes::Word(_), Some(p)) if !words(name).is_empty() => wrong(format!(
            "load '{name}' takes {} or nothing, not ':{p}'",
            words(name).join(", ")
        )),
        (Takes::Nothing | Takes::Usual(_) | Takes::Word(_), Some(p)) => {
            wrong(format!("load '{name}' takes no parameter, not ':{p}'"))
        }
        (_, None) => wrong(format!("load '{name}' is written {}", info.usage())),
        (Takes::Number { what, range, .. }, Some(p)) => match p.parse() {
            Ok(n) if range.contains(&n) => Ok(LoadParameter::Number(n)),
            _ => wrong(format!(
                "{name}:{what} takes {} to {}, not '{p}'",
                range.start(),
                range.end()
            )),
        },
        (Takes::Path(what), Some("")) => wrong(format!("load '{name}:{what}' needs the folder of a Makefile")),
        (Takes::Path(_), Some(p)) => Ok(LoadParameter::Path(p.into())),
        (Takes::Command(_), Some(p)) => Ok(LoadParameter::Command {
            text: p.to_string(),
            words: command_line::split(p).map_err(|why| SpecError(format!("load '{name}:{p}': {why}")))?,
        }),
    }
}

/// The words that a load of this name can be followed by, as they are typed.
fn words(name: &str) -> Vec<String> {
    let named = LOADS.iter().filter(|info| info.name() == name);
    let word = |info: &LoadInfo| match info.takes {
        Takes::Usual(word) | Takes::Word(word) => Some(format!("':{word}'")),
        _ => None,
    };
    named.filter_map(word).collect()
}

fn parse_rate(text: &str) -> Result<u32, SpecError> {
    match text.parse() {
        Ok(rate) if (1..=MAX_RATE).contains(&rate) => Ok(rate),
        _ => Err(SpecError(format!(
            "a rate is 1 to {MAX_RATE} operations a second, not '@{text}'"
        ))),
    }
}

fn paced() -> Vec<&'static str> {
    let paced = LOADS.iter().filter(|info| info.rate.is_some());
    let mut names: Vec<&str> = paced.map(|info| info.name()).collect();
    names.dedup();
    names
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
        assert!(error("dsk").starts_with("unknown load 'dsk'; known: idle, shm[@RATE], fork"));
        assert!(error("cpu+dsk").contains("compile:PATH"));
        assert!(error("smh").contains("apps:N"));
        assert_eq!(error("apps"), "load 'apps' is written apps:N");
        assert_eq!(error("apps:0"), "apps:N takes 1 to 200, not '0'");
        assert_eq!(error("cpu:0"), "cpu:N takes 1 to 1024, not '0'");
        assert_eq!(error("disk:x"), "disk:MIB takes 1 to 1048576, not 'x'");
        assert_eq!(error("munmap:4"), "load 'munmap' takes ':own' or nothing, not ':4'");
        assert_eq!(
            error("blockread:ide"),
            "load 'blockread' takes ':null', ':ide-pio', ':virtio' or nothing, not ':ide'"
        );
        assert_eq!(error("proc:4"), "load 'proc' takes no parameter, not ':4'");
        assert_eq!(error("fork@0"), "a rate is 1 to 1000000 operations a second, not '@0'");
        assert!(error("fork@1.5").contains("not '@1.5'"));
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
