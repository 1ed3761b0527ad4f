//! What a user reads of one load or probe: `worstcase loads NAME`, `worstcase probes NAME`.

mod grammar;
mod load;
mod probe;

use crate::venue::{Only, Venue};

/// The page of one load or probe.
#[derive(Debug)]
pub struct HelpPage {
    /// How it is written, with its parameters.
    pub usage: String,
    /// One line.
    pub about: &'static str,
    /// What it does exactly; empty where the line says it.
    pub details: &'static str,
    /// Where it is: `lab`, `host` or `both`.
    pub place: &'static str,
    /// Properties: a name, and what there is to say of it.
    pub properties: Vec<(String, String)>,
    /// Commands.
    pub examples: Vec<String>,
}

/// `both`, or the one venue.
fn place(only: Option<Only>) -> &'static str {
    only.map_or("both", |only| only.venue.name())
}

/// Where it is, and why not elsewhere.
fn where_it_is(only: Option<Only>) -> (String, String) {
    let text = match only {
        None => "in the lab and on a host".to_string(),
        Some(only) => format!("{} only: {}", only.venue.place(), only.why),
    };
    ("where".to_string(), text)
}

/// What it needs; none for nothing.
fn needs(needs: &str, modules: &[&str]) -> Option<(String, String)> {
    let modules = match modules {
        [] => String::new(),
        names => format!("built in or as a module: {}", names.join(", ")),
    };
    let said: Vec<&str> = [needs, &modules].into_iter().filter(|text| !text.is_empty()).collect();
    (!said.is_empty()).then(|| ("needs".to_string(), said.join("; ")))
}

/// A command for each venue that has it, with this option and what stands beside it in the lab.
fn examples(only: Option<Only>, option: &str, value: &str, lab_options: &str) -> Vec<String> {
    let value = match value.contains(' ') {
        true => format!("'{value}'"),
        false => value.to_string(),
    };
    let beside = match lab_options {
        "" => String::new(),
        options => format!("{options} "),
    };
    let command = |venue| match venue {
        Venue::Lab => format!("worstcase lab run --kernel debian:6.1 {beside}{option} {value}"),
        Venue::Host => format!("worstcase host run {option} {value}"),
    };
    let has = |venue: &Venue| only.is_none_or(|only| only.venue == *venue);
    [Venue::Lab, Venue::Host].into_iter().filter(has).map(command).collect()
}
