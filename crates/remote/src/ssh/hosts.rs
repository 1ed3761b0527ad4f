//! The hosts file: a machine on each line, `NAME [jobs=N] [cache=DIR] [qemu=PATH] [worstcase=PATH]`.

use crate::RemoteError;
use std::num::NonZeroUsize;
use std::path::Path;
use worstcase_base::files;

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// What ssh calls it: `board1`, `me@10.0.0.7`.
    pub name: String,
    /// Cells that it measures at once; without it, as many as it has CPUs.
    pub jobs: Option<NonZeroUsize>,
    /// The folder of its cache, if not the usual one.
    pub cache: Option<String>,
    /// Path of QEMU there, if not the one on the search path.
    pub qemu: Option<String>,
    /// Path of a worstcase that is there already; without it, ours is copied.
    pub(crate) worstcase: Option<String>,
}

/// Reads the file.
pub fn read(path: &Path) -> Result<Vec<Host>, RemoteError> {
    let wrong = |reason: String| RemoteError::Hosts {
        path: path.to_path_buf(),
        reason,
    };
    let text = files::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
    let hosts = parse(&text).map_err(wrong)?;
    match hosts.is_empty() {
        true => Err(wrong("it names no host; write one on each line".into())),
        false => Ok(hosts),
    }
}

fn parse(text: &str) -> Result<Vec<Host>, String> {
    let mut hosts: Vec<Host> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        let host = host(name, words).map_err(|what| format!("line {number}: {what}"))?;
        if hosts.iter().any(|other| other.name == host.name) {
            return Err(format!(
                "line {number}: {name} is named twice; say jobs=N for more cells at once"
            ));
        }
        hosts.push(host);
    }
    Ok(hosts)
}

fn host<'a>(name: &str, words: impl Iterator<Item = &'a str>) -> Result<Host, String> {
    // ssh would take such a name for an option.
    if name.starts_with('-') || name.contains('=') {
        return Err(format!("'{name}' is no host"));
    }
    let mut host = Host {
        name: name.into(),
        ..Host::default()
    };
    for word in words {
        let Some((key, value)) = word.split_once('=').filter(|(_, value)| !value.is_empty()) else {
            return Err(format!("'{word}' is not of the form NAME=VALUE"));
        };
        match key {
            "jobs" => {
                let number = value.parse();
                host.jobs = Some(number.map_err(|_| format!("jobs={value} is no whole number of at least 1"))?);
            }
            "cache" => host.cache = Some(value.into()),
            "qemu" => host.qemu = Some(value.into()),
            "worstcase" => host.worstcase = Some(value.into()),
            _ => return Err(format!("'{key}' is not known; take jobs, cache, qemu or worstcase")),
        }
    }
    Ok(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_host() {
        let text = "# boards on the desk\nboard1\n\nme@board2 jobs=2 cache=/data/wc # slow\n";
        let hosts = parse(text).unwrap();
        assert_eq!(hosts.len(), 2);
        assert_eq!(hosts[1].name, "me@board2");
        assert_eq!(hosts[1].jobs, NonZeroUsize::new(2));
        assert_eq!(hosts[1].cache.as_deref(), Some("/data/wc"));
        for (wrong, says) in [
            ("a\na", "line 2: a is named twice"),
            ("-oProxyCommand=x", "is no host"),
            ("a jobs=0", "line 1: jobs=0"),
            ("a fast", "'fast' is not of the form"),
            ("a speed=2", "'speed' is not known"),
        ] {
            let said = parse(wrong).unwrap_err();
            assert!(said.contains(says), "{said}");
        }
    }
}
