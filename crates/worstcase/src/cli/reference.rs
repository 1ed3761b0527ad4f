//! `worstcase loads`, `worstcase probes`: lists of them, and a page of one.

use super::error::Error;
use super::output::print;
use super::words;
use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser};
use std::process::ExitCode;
use worstcase_base::near::unknown;
use worstcase_contract::help::HelpPage;
use worstcase_contract::loads::LOADS;
use worstcase_contract::probe::{PROBES, Probe, ProbeInfo};
use worstcase_report::terminal::{Style, fitted, wrapped};

/// List the loads, or tell of one what it does, takes and needs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase loads
  worstcase loads fork

docs/loads.md: several at once, rates, how they run and are cleaned up.")]
pub struct LoadsArgs {
    /// Tell of this one
    #[arg(value_name = "NAME", hide_possible_values = true, value_parser = words::loads(StringValueParser::new().try_map(load)))]
    name: Option<String>,
}

/// List the probes, or tell of one what it measures, takes and needs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase probes
  worstcase probes switch

docs/probes.md: how each measures, and its limits.")]
pub struct ProbesArgs {
    /// Tell of this one
    #[arg(value_name = "NAME", hide_possible_values = true, value_parser = words::probes(StringValueParser::new().try_map(probe)))]
    name: Option<String>,
}

fn load(given: String) -> Result<String, String> {
    known("load", given, LOADS.iter().map(|load| load.name()).collect())
}

fn probe(given: String) -> Result<String, String> {
    if ProbeInfo::of_word(&given).is_some_and(ProbeInfo::is_program) {
        return Probe::expand(&given).map(|_| given).map_err(|why| why.0);
    }
    known("probe", given, PROBES.iter().map(|probe| probe.name).collect())
}

/// A name of these, which may be typed with parameters, as in an option.
fn known(kind: &str, given: String, all: Vec<&str>) -> Result<String, String> {
    let name = given.split([':', '@', '+']).next().unwrap_or_default();
    match all.contains(&name) {
        true => Ok(name.to_string()),
        false => Err(unknown(kind, &given, all, &format!("worstcase {kind}s lists all"))),
    }
}

/// Runs `loads`.
pub fn run_loads(args: &LoadsArgs) -> Result<ExitCode, Error> {
    let all = LOADS.iter().map(|load| (load.name(), load.help())).collect();
    show("load", all, args.name.as_deref())
}

/// Runs `probes`.
pub fn run_probes(args: &ProbesArgs) -> Result<ExitCode, Error> {
    let all = PROBES.iter().map(|probe| (probe.name, probe.help())).collect();
    show("probe", all, args.name.as_deref())
}

fn show(kind: &str, all: Vec<(&'static str, HelpPage)>, name: Option<&str>) -> Result<ExitCode, Error> {
    let style = Style::of_stdout();
    let text = match name {
        None => fitted(&list(kind, &all, style)),
        // Loads of one name may differ in what they take.
        Some(name) => {
            let pages = all.iter().filter(|(own, _)| *own == name);
            pages
                .map(|(_, found)| page(found, style))
                .collect::<Vec<_>>()
                .join("\n")
        }
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn list(kind: &str, all: &[(&str, HelpPage)], style: Style) -> String {
    // A probe is listed by its name alone: how it is written may be longer than a line.
    let shown = |name: &str, page: &HelpPage| match kind {
        "load" => page.usage.clone(),
        _ => name.to_string(),
    };
    let width = all
        .iter()
        .map(|(name, page)| shown(name, page).len())
        .max()
        .unwrap_or(0);
    let mut out = style.bold(&format!("{kind:<width$}  where  what it does")) + "\n";
    for (name, page) in all {
        out += &format!("{:<width$}  {:<5}  {}\n", shown(name, page), page.place, page.about);
    }
    out + &format!("\nworstcase {kind}s NAME tells what one takes and needs, with examples.\n")
}

fn page(page: &HelpPage, style: Style) -> String {
    let mut out = format!(
        "{}\n{}\n",
        style.bold(&page.usage),
        wrapped("  ", page.about).join("\n")
    );
    if !page.details.is_empty() {
        out += &format!("\n{}\n", wrapped("  ", page.details).join("\n"));
    }
    let width = page.properties.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    out.push('\n');
    for (name, text) in &page.properties {
        out += &wrapped(&format!("  {name:<width$}  "), text).join("\n");
        out.push('\n');
    }
    out += "\nExamples:\n";
    for line in &page.examples {
        out += &format!("  {line}\n");
    }
    out
}
