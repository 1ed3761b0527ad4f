//! What a user types: loads joined by `+`, each `name`, `name:parameter`, with `@RATE` where a rate makes sense.

use super::table::{HostLoadInfo, HostLoadKind, lab_rate};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use worstcase_probe::loads::{LoadKind, LoadSpec};
use worstcase_probe::spec::SpecError;

/// Most operations a second that can be asked for.
pub const MAX_RATE: u32 = 1_000_000;
/// Everything behind this belongs to the program.
const CMD: &str = "cmd:";
const TREE: &str = "compile:";

/// One load, or several that run at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostLoad(Vec<Part>);

/// One load of a [`HostLoad`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    pub(super) what: What,
    /// Operations a second of the whole load; without one, as many as it can or its own usual rate.
    pub(super) rate: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum What {
    /// A load of the lab.
    Lab(LoadSpec),
    /// A load of the host with the number behind the colon.
    Host(HostLoadKind, Option<u32>),
    /// `compile:PATH`.
    Tree(PathBuf),
}

impl HostLoad {
    /// The loads that run at once.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// Whether nothing runs but the probe.
    pub fn is_idle(&self) -> bool {
        matches!(&self.0[..], [Part { what: What::Lab(lab), .. }] if lab.kind() == LoadKind::Idle)
    }

    /// Whether a part makes a null_blk device.
    pub(super) fn makes_device(&self) -> bool {
        let needs = |part: &Part| matches!(&part.what, What::Lab(lab) if !lab.modules().is_empty());
        self.0.iter().any(needs)
    }
}

impl Part {
    /// Its name without parameter and rate.
    pub fn name(&self) -> &'static str {
        match &self.what {
            What::Lab(lab) => lab.name(),
            What::Host(kind, _) => kind.info().name,
            What::Tree(_) => HostLoadKind::Compile.info().name,
        }
    }

    /// What it counts as its work.
    pub fn units(&self) -> &'static [&'static str] {
        match &self.what {
            What::Lab(lab) => lab.units(),
            What::Host(kind, _) => kind.info().units,
            What::Tree(_) => HostLoadKind::Compile.info().units,
        }
    }
}

impl fmt::Display for HostLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            let plus = if i == 0 { "" } else { "+" };
            write!(f, "{plus}{part}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Lab(lab) => write!(f, "{lab}")?,
            What::Host(kind, None) => f.write_str(kind.info().name)?,
            What::Host(kind, Some(number)) => write!(f, "{}:{number}", kind.info().name)?,
            What::Tree(path) => write!(f, "{TREE}{}", path.display())?,
        }
        match self.rate {
            Some(rate) => write!(f, "@{rate}"),
            None => Ok(()),
        }
    }
}

impl FromStr for HostLoad {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<HostLoad, SpecError> {
        let mut parts: Vec<Part> = Vec::new();
        for word in split(text) {
            let part = word.parse()?;
            if parts.contains(&part) {
                return Err(SpecError(format!("load '{word}' is named twice in '{text}'")));
            }
            parts.push(part);
        }
        let idle = |part: &Part| matches!(&part.what, What::Lab(lab) if lab.kind() == LoadKind::Idle);
        if parts.len() > 1 && parts.iter().any(idle) {
            return Err(SpecError(format!("load 'idle' stands alone, not in '{text}'")));
        }
        Ok(HostLoad(parts))
    }
}

/// The parts between the `+` signs. What follows `cmd:` is the program's; in a path only a `+` with the name of a
/// load behind it separates.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let separates = |&(at, _): &(usize, &str)| !rest.starts_with(TREE) || begins_with_a_name(&rest[at + 1..]);
        let end = if rest.starts_with(CMD) {
            None
        } else {
            rest.match_indices('+').find(separates)
        };
        let Some((end, _)) = end else {
            parts.push(rest);
            return parts;
        };
        parts.push(&rest[..end]);
        rest = &rest[end + 1..];
    }
}

fn begins_with_a_name(text: &str) -> bool {
    let end = text.find([':', '@', '+']).unwrap_or(text.len());
    super::table::names().any(|name| name == &text[..end])
}

impl FromStr for Part {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Part, SpecError> {
        let whole = |what| Ok(Part { what, rate: None });
        if text.starts_with(CMD) {
            return whole(What::Lab(text.parse()?));
        }
        if let Some(path) = text.strip_prefix(TREE) {
            return whole(What::Tree(tree(path)?));
        }
        let (body, rate) = match text.split_once('@') {
            Some((body, rate)) => (body, Some(parse_rate(rate)?)),
            None => (text, None),
        };
        let (name, parameter) = match body.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (body, None),
        };
        let part = Part {
            what: match HostLoadInfo::find(name) {
                Some(info) => What::Host(info.kind, parameter.map(|p| number(info, p)).transpose()?),
                None => What::Lab(lab(name, body)?),
            },
            rate,
        };
        part.refuse_senseless_rate()?;
        Ok(part)
    }
}

impl Part {
    fn refuse_senseless_rate(&self) -> Result<(), SpecError> {
        let allowed = match &self.what {
            What::Lab(lab) => lab_rate(lab.kind()).is_some(),
            What::Host(kind, _) => kind.info().rate,
            What::Tree(_) => false,
        };
        match self.rate {
            Some(rate) if !allowed => Err(SpecError(format!(
                "load '{}' takes no rate, not '@{rate}': {}",
                self.name(),
                super::table::why_no_rate()
            ))),
            _ => Ok(()),
        }
    }
}

fn lab(name: &str, body: &str) -> Result<LoadSpec, SpecError> {
    if !super::table::names().any(|known| known == name) {
        let known: Vec<String> = super::table::usages().collect();
        return Err(SpecError(format!("unknown load '{name}'; known: {}", known.join(", "))));
    }
    let spec: LoadSpec = body.parse()?;
    if spec.kind() == LoadKind::Apps {
        return Err(SpecError(
            "load 'apps' drives the whole machine into paging and runs in the lab only; here: memory".into(),
        ));
    }
    Ok(spec)
}

fn tree(path: &str) -> Result<PathBuf, SpecError> {
    if path.is_empty() {
        return Err(SpecError("load 'compile:PATH' needs the folder of a Makefile".into()));
    }
    Ok(Path::new(path).to_path_buf())
}

fn number(info: &HostLoadInfo, text: &str) -> Result<u32, SpecError> {
    if info.parameter.is_empty() {
        return Err(SpecError(format!(
            "load '{}' takes no parameter, not ':{text}'",
            info.name
        )));
    }
    match text.parse() {
        Ok(n) if info.range.contains(&n) => Ok(n),
        _ => Err(SpecError(format!(
            "{}:{} takes {} to {}, not '{text}'",
            info.name,
            info.parameter,
            info.range.start(),
            info.range.end()
        ))),
    }
}

fn parse_rate(text: &str) -> Result<u32, SpecError> {
    match text.parse() {
        Ok(rate) if (1..=MAX_RATE).contains(&rate) => Ok(rate),
        _ => Err(SpecError(format!(
            "a rate is 1 to {MAX_RATE} operations a second, not '@{text}'"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<HostLoad>().unwrap_err().0
    }

    #[test]
    fn every_load_is_written_as_it_is_read() {
        for text in [
            "idle",
            "shm",
            "fork@100",
            "disk",
            "disk:16@50",
            "proc@100",
            "desktop:4",
            "compile",
            "compile:/src/linux-6.1+dfsg@2",
            "cpu+disk",
            "cpu:4@1000+memory:64+timers:8@20000",
            "compile:/src/a+b+cpu:2",
            "compile:/src/a+compile:/src/b",
            "fork+cmd:stress-ng --vm 1 a+b@c:d",
        ] {
            assert_eq!(text.parse::<HostLoad>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_plus_in_a_path_or_a_command_is_kept() {
        let parts = |text: &str| text.parse::<HostLoad>().unwrap().parts().len();
        assert_eq!(parts("compile:/src/g++"), 1);
        assert_eq!(parts("compile:/src/linux+dfsg+cpu"), 2);
        assert_eq!(parts("cmd:x +cpu"), 1);
        assert_eq!(parts("cpu+cmd:x +cpu"), 2);
    }

    #[test]
    fn wrong_loads_are_explained_in_one_line() {
        assert!(error("dsk").starts_with("unknown load 'dsk'; known: idle, shm[@RATE], fork"));
        assert!(error("cpu+dsk").contains("compile:PATH"));
        assert_eq!(error("cpu:0"), "cpu:N takes 1 to 1024, not '0'");
        assert_eq!(error("disk:x"), "disk:MIB takes 1 to 1048576, not 'x'");
        assert_eq!(error("proc:4"), "load 'proc' takes no parameter, not ':4'");
        assert_eq!(error("fork@0"), "a rate is 1 to 1000000 operations a second, not '@0'");
        assert!(error("fork@1.5").contains("not '@1.5'"));
        for text in ["idle@1", "sockets@5", "blockread@5", "compile@5", "desktop@5"] {
            assert!(error(text).contains("takes no rate"), "{text}");
        }
        assert!(error("apps:3").contains("lab only"));
        assert!(error("idle+cpu").contains("stands alone"));
        assert!(error("cpu+cpu").contains("named twice"));
        assert!(error("compile:").contains("Makefile"));
        assert!(error("cmd:").contains("there is no program"));
        assert!(error("").contains("unknown load ''"));
        assert!(error("cpu+").contains("unknown load ''"));
        for text in ["dsk", "cpu:0", "fork@0", "idle@1", "apps:3", "compile:", "cmd:"] {
            assert_eq!(error(text).lines().count(), 1);
        }
    }
}
