//! What stands behind `--executor`: `local`, `slurm[:OPTIONS]`, `ssh:HOSTS-FILE`.

use crate::RemoteError;
use crate::slurm::SlurmOptions;
use std::path::PathBuf;
use std::str::FromStr;

/// Where cells are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ExecutorChoice {
    /// On this machine.
    #[default]
    Local,
    /// By Slurm.
    Slurm(SlurmOptions),
    /// On the machines of this file.
    Ssh(PathBuf),
}

impl FromStr for ExecutorChoice {
    type Err = RemoteError;

    fn from_str(text: &str) -> Result<ExecutorChoice, RemoteError> {
        let (kind, rest) = match text.split_once(':') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (text, None),
        };
        let wrong = |what: &str| RemoteError::Choice(text.to_string(), what.to_string());
        match (kind, rest) {
            ("local", None) => Ok(ExecutorChoice::Local),
            ("slurm", rest) => SlurmOptions::parse(rest.unwrap_or_default())
                .map(ExecutorChoice::Slurm)
                .map_err(|what| wrong(&what)),
            ("ssh", Some(file)) if !file.is_empty() => Ok(ExecutorChoice::Ssh(file.into())),
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
        let parse = |text: &str| text.parse::<ExecutorChoice>().map_err(|e| e.to_string());
        assert_eq!(parse("local").unwrap(), ExecutorChoice::Local);
        assert_eq!(parse("slurm").unwrap(), ExecutorChoice::Slurm(SlurmOptions::default()));
        assert_eq!(parse("ssh:boards").unwrap(), ExecutorChoice::Ssh("boards".into()));
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
