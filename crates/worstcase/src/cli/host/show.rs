//! `worstcase host show`: the description of this machine, group by group.

use super::machine::MachineArgs;
use crate::cli::error::Error;
use crate::cli::output::{print, print_json};
use clap::Args;
use lines::groups;
use worstcase_host::MachineFacts;
use worstcase_report::terminal::Style;

mod lines;

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase host show
  worstcase host show --json")]
pub struct HostShowArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

const KEY_WIDTH: usize = 22;

/// Runs the command.
pub fn run(args: &HostShowArgs) -> Result<(), Error> {
    let facts = MachineFacts::of(&args.machine.root);
    if args.json {
        return Ok(print_json(&facts)?);
    }
    Ok(print(&describe(&facts, Style::of_stdout()))?)
}

fn describe(facts: &MachineFacts, style: Style) -> String {
    let mut text = String::new();
    for (heading, lines) in groups(facts) {
        text.push_str(&format!("{}\n", style.bold(heading)));
        for (key, value) in lines {
            let value = value.unwrap_or_else(|| "not known here".into());
            text.push_str(&format!("  {key:<KEY_WIDTH$}{value}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_tells_nothing_is_not_known() {
        let text = describe(&MachineFacts::default(), Style::PLAIN);
        assert!(text.contains("  governor              not known here\n"), "{text}");
    }
}
