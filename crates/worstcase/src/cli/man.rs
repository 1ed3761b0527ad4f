//! `worstcase man`: the manual's pages, from the command line itself.

use super::output::{OutputError, print};
use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use worstcase_base::ExitKind;
use worstcase_base::format::plain;
use worstcase_base::output::{BegunFolder, OutputFolder};

/// Write the manual's pages: worstcase.1 and one for each command
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase man
  worstcase man -o ~/.local/share/man/man1                 then: man worstcase-lab-run
  man -l man/worstcase.1                                   without installing it")]
pub struct ManArgs {
    /// Folder for the pages; what is there under the same names is replaced
    #[arg(short, long, value_name = "DIR", default_value = "man")]
    output: PathBuf,
}

/// Why there are no pages.
#[derive(Debug, thiserror::Error)]
pub enum ManError {
    /// A page cannot be written.
    #[error("cannot write {}: {source}; choose another folder with -o", path.display())]
    Write {
        /// The page or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The output failed.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl ManError {
    /// The exit code that a script gets.
    pub(crate) fn exit(&self) -> ExitKind {
        ExitKind::Storage
    }
}

/// Writes the pages of this command line.
pub fn run(args: &ManArgs, command_line: Command) -> Result<(), ManError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| ManError::Write { path, source }
    };
    let _begun = BegunFolder::at(&args.output);
    let folder = OutputFolder::create(&args.output).map_err(failed(&args.output))?;
    let pages = pages(command_line);
    for (name, text) in &pages {
        folder.write(name, text).map_err(failed(&args.output.join(name)))?;
    }
    let dir = args.output.display();
    let said = format!("{} pages in {dir}: man -l {dir}/worstcase.1", pages.len());
    Ok(print(&(plain(&said) + "\n"))?)
}

/// The name and the text of every page.
fn pages(command_line: Command) -> Vec<(String, Vec<u8>)> {
    let mut root = command_line.disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    add(&root, &mut pages);
    pages
}

fn add(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) {
    let man = Man::new(command.clone())
        .source(concat!("worstcase ", env!("CARGO_PKG_VERSION")))
        .manual("worstcase");
    let text = page(&man, command).expect("writing to memory cannot fail");
    pages.push((man.get_filename(), text));
    for sub in command.get_subcommands() {
        add(sub, pages);
    }
}

fn page(man: &Man, command: &Command) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut out)?;
    }
    if let Some(text) = command.get_after_help() {
        out.write_all(after(&text.to_string()).as_bytes())?;
    }
    Ok(out)
}

/// The text below the options of `--help`, as sections: `Examples:`, `Exit code`, and the rest.
fn after(text: &str) -> String {
    let mut roff = Roff::default();
    let mut section = "";
    let mut is_list = false;
    for line in text.lines() {
        // A line of a list, or a command: it stays a line.
        let indented = line.starts_with(' ');
        let begun = match line {
            "Examples:" => "EXAMPLES",
            _ if line.starts_with("Exit code") => "EXIT STATUS",
            _ if indented || line.is_empty() || section == "NOTES" => section,
            _ if section == "EXIT STATUS" && !is_list => section,
            _ => "NOTES",
        };
        if indented != is_list {
            roff.control(if indented { "nf" } else { "fi" }, []);
            is_list = indented;
        }
        if begun != section {
            roff.control("SH", [begun]);
            section = begun;
        }
        match line {
            "Examples:" | "Exit codes:" => {}
            "" => {
                roff.control("PP", []);
            }
            _ => {
                roff.text([roman(line)]);
            }
        }
    }
    if is_list {
        roff.control("fi", []);
    }
    roff.to_roff()
}

#[cfg(test)]
mod tests {
    use super::after;

    #[test]
    fn examples_codes_and_the_rest_are_sections() {
        let page = after("Examples:\n  one -x\n  two\n\nAbout it,\nin two lines.\n\nExit code: 0 done.");
        let sections: Vec<&str> = page.lines().filter(|line| line.starts_with(".SH")).collect();
        assert_eq!(sections, [".SH EXAMPLES", ".SH NOTES", ".SH \"EXIT STATUS\""], "{page}");
        assert!(page.contains("\n.nf\n  one \\-x\n  two\n.fi\n"), "{page}");
        assert!(page.contains("\nAbout it,\nin two lines.\n"), "{page}");
    }
}
