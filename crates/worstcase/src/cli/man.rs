//! `worstcase man`: the manual's pages, or one of them, from the command line itself.

use super::output::{OutputError, print, print_data};
use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use worstcase_base::ExitKind;
use worstcase_base::format::plain;
use worstcase_base::near::unknown;
use worstcase_base::output::{BegunFolder, OutputFolder};

/// Print the manual's page of a command, or write all pages into a folder
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase man lab run > lab-run.1                        then: man -l lab-run.1
  worstcase man -o ~/.local/share/man/man1                 all; then: man worstcase-lab-run")]
pub struct ManArgs {
    /// The command, e.g. lab run [default: worstcase itself]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write all pages into this folder instead; what is there under the same names is replaced
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    output: Option<PathBuf>,
}

/// Why there are no pages.
#[derive(Debug, thiserror::Error)]
pub enum ManError {
    /// There is no such command.
    #[error("{0}")]
    Unknown(String),
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
        match self {
            ManError::Unknown(_) => ExitKind::Usage,
            ManError::Write { .. } | ManError::Output(_) => ExitKind::Storage,
        }
    }
}

/// Prints or writes pages of this command line.
pub fn run(args: &ManArgs, command_line: Command) -> Result<(), ManError> {
    let pages = pages(command_line);
    match &args.output {
        None => Ok(print_data(&named(&args.command, &pages)?)?),
        Some(folder) => write(folder, &pages),
    }
}

/// The page of these words.
fn named(command: &[String], pages: &[(String, Vec<u8>)]) -> Result<String, ManError> {
    let wanted = [&["worstcase".to_string()], command].concat().join("-") + ".1";
    let page = pages.iter().find(|(name, _)| *name == wanted);
    let (_, text) = page.ok_or_else(|| {
        let known = pages
            .iter()
            .filter_map(|(name, _)| name.strip_prefix("worstcase-")?.strip_suffix(".1"));
        let known = known.map(|name| name.replace('-', " "));
        ManError::Unknown(unknown(
            "command",
            &command.join(" "),
            known,
            "worstcase --help lists them",
        ))
    })?;
    Ok(String::from_utf8_lossy(text).into_owned())
}

fn write(output: &Path, pages: &[(String, Vec<u8>)]) -> Result<(), ManError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| ManError::Write { path, source }
    };
    let _begun = BegunFolder::at(output);
    let folder = OutputFolder::create(output).map_err(failed(output))?;
    for (name, text) in pages {
        folder.write(name, text).map_err(failed(&output.join(name)))?;
    }
    let dir = output.display();
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
