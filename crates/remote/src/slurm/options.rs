//! What stands behind `slurm:`, as `partition=short,time=01:00:00,chunk=20`.

use std::num::NonZeroUsize;

/// How Slurm is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmOptions {
    /// Cells per task; without it, as many as keep the tasks below a thousand.
    pub(crate) chunk: Option<NonZeroUsize>,
    /// What becomes of the job when the controller is asked to end.
    pub interrupt: InterruptChoice,
    /// Plan and say what would be done.
    pub(crate) dry_run: bool,
    /// For sbatch: name and value of long options.
    sbatch: Vec<(String, String)>,
}

/// The values of [`SlurmOptions::interrupt`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterruptChoice {
    /// Ask on a terminal; else cancel.
    #[default]
    Ask,
    /// Cancel it.
    Cancel,
    /// Leave it to Slurm; the same command finds it again.
    Leave,
}

/// Options of sbatch that worstcase itself sets.
const OURS: [&str; 6] = ["array", "parsable", "output", "wrap", "export", "wait"];

impl SlurmOptions {
    /// Parses the options; the error says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<SlurmOptions, String> {
        let mut options = SlurmOptions::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            match name {
                "chunk" => {
                    let number = value.parse();
                    options.chunk =
                        Some(number.map_err(|_| "chunk is a whole number of cells, at least 1".to_string())?);
                }
                "interrupt" => {
                    options.interrupt = match value {
                        "ask" => InterruptChoice::Ask,
                        "cancel" => InterruptChoice::Cancel,
                        "leave" => InterruptChoice::Leave,
                        _ => return Err("interrupt is ask, cancel or leave".into()),
                    };
                }
                "dry-run" if value.is_empty() => options.dry_run = true,
                name if OURS.contains(&name) => return Err(format!("worstcase itself says --{name} to sbatch")),
                name if is_option(name) => options.sbatch.push((name.into(), value.into())),
                _ => return Err(format!("'{word}' is no option of sbatch; write NAME=VALUE,...")),
            }
        }
        Ok(options)
    }

    /// The options as arguments of sbatch.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = String> {
        self.sbatch.iter().map(|(name, value)| match value.is_empty() {
            true => format!("--{name}"),
            false => format!("--{name}={value}"),
        })
    }
}

fn is_option(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_are_ours_and_the_rest_is_for_sbatch() {
        let options = SlurmOptions::parse("partition=short,time=01:00:00,exclusive,chunk=20,interrupt=leave").unwrap();
        assert_eq!(options.chunk, NonZeroUsize::new(20));
        assert_eq!(options.interrupt, InterruptChoice::Leave);
        let arguments: Vec<String> = options.arguments().collect();
        assert_eq!(arguments, ["--partition=short", "--time=01:00:00", "--exclusive"]);
        for wrong in ["chunk=0", "interrupt=maybe", "array=1-3", "--x=1", "a b=2", "=3"] {
            assert!(SlurmOptions::parse(wrong).is_err(), "{wrong}");
        }
    }
}
