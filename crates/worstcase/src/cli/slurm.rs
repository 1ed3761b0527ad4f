//! Slurm beside the progress bar: its notices, and the question what becomes of a job.

use super::progress::ProgressDisplay;
use std::io::{BufRead, IsTerminal, Write};
use worstcase_base::cache::Cache;
use worstcase_base::say;
use worstcase_remote::slurm::{InterruptChoice, OnStop, SlurmOptions, SlurmUse};

/// Does something with Slurm that asks and tells beside the bar.
pub fn with_slurm<T>(
    options: &SlurmOptions,
    cache: &Cache,
    bar: &ProgressDisplay,
    act: impl FnOnce(SlurmUse) -> T,
) -> T {
    act(SlurmUse {
        cache,
        options: options.clone(),
        on_stop: &|jobs| bar.suspended(|| on_stop(options.interrupt, jobs)),
        tell: &|line| bar.suspended(|| say!("worstcase: {line}")),
    })
}

/// The fate of the job when its controller is asked to end.
fn on_stop(interrupt: InterruptChoice, jobs: &str) -> OnStop {
    let asks = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let answer = match interrupt {
        InterruptChoice::Leave => OnStop::Leave,
        InterruptChoice::Ask if asks => ask(jobs),
        InterruptChoice::Ask | InterruptChoice::Cancel => OnStop::Cancel,
    };
    match answer {
        OnStop::Leave => say!("worstcase: Slurm's job {jobs} goes on; the same command takes in what it measures"),
        OnStop::Cancel => say!("worstcase: cancelling Slurm's job {jobs}"),
    }
    answer
}

/// A second Ctrl-C ends worstcase at once, and leaves the job.
fn ask(jobs: &str) -> OnStop {
    let mut errors = std::io::stderr();
    let question = "It goes on otherwise, and the same command takes in what it measures. [y/N] ";
    // Without an answer, the job is left.
    let _ = write!(errors, "Cancel Slurm's job {jobs}? {question}").and_then(|()| errors.flush());
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => OnStop::Cancel,
        _ => OnStop::Leave,
    }
}
