//! After a search over series: the command that narrows the change down.

use std::path::Path;
use worstcase_base::format::shell;
use worstcase_bisect::BisectError;
use worstcase_bisect::bisection::BisectionEnding;
use worstcase_bisect::candidates::{SeriesEnd, earlier_of_series};
use worstcase_bisect::search::SoughtChange;
use worstcase_kernels::ResolveOptions;

/// The search over the versions of the found series; over upstream's commits if the archive has but the found one.
pub(super) fn narrower(
    ending: &BisectionEnding,
    typed: &[String],
    output: &Path,
    options: &ResolveOptions<'_>,
) -> Result<String, BisectError> {
    let (before, first) = (&ending.before.candidate, &ending.first.candidate);
    let series = |name: &str| SeriesEnd::parse(name).map_or(String::new(), |end| end.series.series);
    let folder = |what: &str| format!("{}-{what}", output.display());
    let earlier = earlier_of_series(first, options)?;
    if let [oldest, .., _] = &earlier[..] {
        let ends = [oldest.as_str(), first];
        return Ok(shell(&with_ends(typed, ending.sought, ends, &folder(&series(first)))));
    }
    let tags = [before, first].map(|name| format!("v{}", series(name)));
    let mut words = with_ends(typed, ending.sought, [&tags[0], &tags[1]], &folder("tree"));
    words.extend(["--tree", "./linux", "--config", before.as_str()].map(String::from));
    Ok(format!("{} (in a clone of Linux)", shell(&words)))
}

/// The typed command with other ends, the older one first, and another folder.
fn with_ends(typed: &[String], sought: SoughtChange, [older, newer]: [&str; 2], output: &str) -> Vec<String> {
    let (good, bad) = match sought {
        SoughtChange::Worse => (older, newer),
        SoughtChange::Better => (newer, older),
    };
    let mut words = Vec::new();
    let mut rest = typed.iter();
    while let Some(word) = rest.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        match name {
            "--good" | "--bad" | "--output" | "-o" if name.len() == word.len() => drop(rest.next()),
            "--good" | "--bad" | "--output" | "-o" => {}
            _ if word.starts_with("-o") && !word.starts_with("--") => {}
            _ => words.push(word.clone()),
        }
    }
    words.extend(["--good", good, "--bad", bad, "-o", output].map(String::from));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_the_typed_one_with_other_ends_and_another_folder() {
        let typed = [
            "worstcase",
            "bisect",
            "--good",
            "debian:6.12",
            "--bad=debian:6.18",
            "-ox",
            "--load",
            "fork",
        ];
        let typed = typed.map(String::from);
        let words = |sought| with_ends(&typed, sought, ["older", "newer"], "x-6.18").join(" ");
        let worse = "worstcase bisect --load fork --good older --bad newer -o x-6.18";
        assert_eq!(words(SoughtChange::Worse), worse);
        assert!(words(SoughtChange::Better).contains("--good newer --bad older"));
    }
}
