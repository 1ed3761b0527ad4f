//! Commands of the user's: those that `--on-break` and `--on-end` run. Without a shell.

use clap::Args;
use std::path::Path;
use std::process::{Command, Stdio};
use worstcase_base::files;
use worstcase_base::format::{plain, shell};
use worstcase_base::say;
use worstcase_host::HostError;

/// Commands, as they are typed.
#[derive(Debug, Default, Args)]
pub(crate) struct HookArgs {
    /// Run this at once when a sample is above --break. It is split into words like a shell's, and no shell runs it; it finds
    /// WORSTCASE_RUN, WORSTCASE_CPU, WORSTCASE_SAMPLE and WORSTCASE_LATENCY_NS in its environment
    #[arg(long, value_name = "COMMAND", conflicts_with = "boards")]
    on_break: Option<String>,
    /// Run this when the run is kept, in the same way; it finds WORSTCASE_RUN and WORSTCASE_OUTCOME (complete, interrupted or
    /// break)
    #[arg(long, value_name = "COMMAND", conflicts_with = "boards")]
    on_end: Option<String>,
}

/// The same, as words; none is empty.
#[derive(Debug, Default)]
pub struct Hooks {
    /// When a sample is above the limit.
    pub on_break: Option<Vec<String>>,
    /// When all is kept.
    pub on_end: Option<Vec<String>>,
}

impl HookArgs {
    /// Split into words.
    pub(crate) fn parsed(&self) -> Result<Hooks, HostError> {
        Ok(Hooks {
            on_break: words("--on-break", self.on_break.as_deref())?,
            on_end: words("--on-end", self.on_end.as_deref())?,
        })
    }
}

/// A command of an option as words; none is empty.
pub(super) fn words(option: &str, command: Option<&str>) -> Result<Option<Vec<String>>, HostError> {
    let Some(command) = command else { return Ok(None) };
    match shlex::split(command) {
        Some(words) if !words.is_empty() => match files::program(Path::new(&words[0])) {
            Some(_) => Ok(Some(words)),
            None => Err(HostError::Argument(format!(
                "{option}: there is no program {}; check its name and PATH",
                plain(&shell(&words[..1]))
            ))),
        },
        Some(_) => Err(HostError::Argument(format!("{option}: the command is empty"))),
        None => Err(HostError::Argument(format!(
            "{option}: a quote in '{}' is not closed",
            plain(command)
        ))),
    }
}

/// Runs a command to its end. Returns its output and its failure as lines; they change nothing else.
pub fn run(command: &[String], option: &str, folder: &Path, facts: &[(&str, String)]) -> Vec<String> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let mut process = Command::new(&command[0]);
    process.args(&command[1..]).stdin(Stdio::null());
    process.env("WORSTCASE_RUN", folder);
    process.envs(facts.iter().map(|(name, value)| (name, value)));
    let failed = |why: String| format!("worstcase: {option} {}: {why}; the run is kept", plain(&shell(command)));
    let output = match process.output() {
        Ok(output) => output,
        Err(e) => return vec![failed(e.to_string())],
    };
    let printed = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    let mut lines: Vec<String> = printed.iter().flat_map(|text| text.lines()).map(plain).collect();
    if !output.status.success() {
        lines.push(failed(format!("it failed ({})", output.status)));
    }
    lines
}

/// Tells lines of a command.
pub fn tell(lines: &[String]) {
    lines.iter().for_each(|line| say!("{line}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_like_a_shell_s_words() {
        let split = |text| words("--on-end", Some(text));
        assert_eq!(split("sh 'b c' d\\ e").unwrap().unwrap(), ["sh", "b c", "d e"]);
        assert_eq!(words("--on-end", None).unwrap(), None);
        assert!(
            split("  ")
                .unwrap_err()
                .to_string()
                .contains("--on-end: the command is empty")
        );
        let missing = split("no-such-program 1").unwrap_err().to_string();
        assert_eq!(
            missing,
            "--on-end: there is no program no-such-program; check its name and PATH"
        );
        assert!(split("a 'b").unwrap_err().to_string().contains("is not closed"));
    }
}
