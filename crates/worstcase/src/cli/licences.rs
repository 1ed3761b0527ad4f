//! `worstcase licences`: the licences and notices of all that the executable carries. `scripts/notices` writes them.

use super::output::{OutputError, print_data};
use clap::Args;

/// The file begins with a list; the texts follow, each behind a line of equals signs.
const NOTICES: &str = include_str!("../../notices.txt");

/// Print the licences and copyright notices of everything that this executable carries
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase licences
  worstcase licences --list                                name, version and licence of each

Exit code: 0 done; 5 the output cannot be written.")]
pub struct LicencesArgs {
    /// Only name, version and licence of each, a line each, with a tabulator before the licence
    #[arg(long)]
    list: bool,
}

/// Runs the command.
pub fn run(args: &LicencesArgs) -> Result<(), OutputError> {
    if !args.list {
        return print_data(NOTICES);
    }
    let list = NOTICES.lines().take_while(|line| !line.starts_with("===="));
    let lines: Vec<&str> = list.filter(|line| line.contains('\t')).collect();
    print_data(&(lines.join("\n") + "\n"))
}
