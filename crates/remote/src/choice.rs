//! What stands behind `--executor`: `local`, `slurm[:OPTIONS]`, `ssh:HOSTS-FILE`.

use crate::RemoteError;
use crate::slurm::Options;
use std::path::PathBuf;
use std::str::FromStr;

/// Where cells are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// On this machine.
    #[default]
    Local,
    /// By Slurm.
    Slurm(Options),
    /// On the machines of this file.
    Ssh(PathBuf),
}

impl FromStr for Choice {
    type Err = RemoteError;

    fn from_str(text: &str) -> Result<Choice, RemoteError> {
        let (kind, rest) = match text.split_once(':') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (text, None),
        };
        let wrong = |what: &str| RemoteError::Choice(text.to_string(), what.to_string());
        match (kind, rest) {
            ("local", None) => Ok(Choice::Local),
            ("slurm", rest) => Options::parse(rest.unwrap_or_default())
                .map(Choice::Slurm)
                .map_err(|what| wrong(&what)),
            ("ssh", Some(file)) if !file.is_empty() => Ok(Choice::Ssh(file.into())),
            ("ssh", _) => Err(wrong("name a file with a host on each line, ssh:HOSTS-FILE")),
            _ => Err(wrong("take local, slurm, slurm:OPTIONS or ssh:HOSTS-FILE")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_executor() {
        let parse = |text: &str| text.parse::<Choice>().map_err(|e| e.to_string());
        assert_eq!(parse("local").unwrap(), Choice::Local);
        assert_eq!(parse("slurm").unwrap(), Choice::Slurm(Options::default()));
        assert_eq!(parse("ssh:boards").unwrap(), Choice::Ssh("boards".into()));
        for (text, says) in [
            ("pbs", "take local, slurm"),
            ("ssh", "name a file"),
            ("ssh:", "name a file"),
            ("local:2", "take local"),
            ("slurm:chunk=0", "chunk"),
        ] {
            let said = parse(text).unwrap_err();
            assert!(said.contains(says) && said.contains(text), "{said}");
        }
    }
}
