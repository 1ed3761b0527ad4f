//! Tables of documents that stand in the code as well: they say the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_contract::probe::PROBES;
use worstcase_contract::{Probe, Venue};
use worstcase_plan::parameters;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the table with this heading, as cells without emphasis, links and blanks.
fn table(document: &str, heading: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let lines = text.lines().skip_while(|line| *line != heading).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        row.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_string())
            .collect()
    };
    rows.map(cells).collect()
}

/// The word in backquotes.
fn word(cell: &str) -> &str {
    cell.split('`').nth(1).unwrap_or_else(|| panic!("no name: {cell}"))
}

#[test]
fn every_probe_stands_in_the_documents_with_its_venues() {
    let rows = table("docs/probes.md", "| probe | one sample is | where | limits, in short |");
    let named: BTreeSet<&str> = rows.iter().map(|row| word(&row[0])).collect();
    assert_eq!(named, PROBES.iter().map(|probe| probe.name).collect());
    for row in &rows {
        for (venue, what) in [(Venue::Lab, "lab"), (Venue::Host, "host")] {
            let has = Probe::names(venue).any(|name| name == word(&row[0]));
            assert_eq!(row[2].contains(what), has, "{row:?}: {what}");
        }
    }
    let host = fs::read_to_string(root().join("docs/host.md")).unwrap();
    let section = host.split("### Probes").nth(1).unwrap().split("\n#").next().unwrap();
    let in_quotes = section.split('`').skip(1).step_by(2);
    let named: BTreeSet<&str> = in_quotes
        .filter(|word| PROBES.iter().any(|probe| probe.name == *word))
        .collect();
    assert_eq!(named, Probe::names(Venue::Host).collect());
}

#[test]
fn every_crate_stands_in_the_drawing_of_the_house() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let section = text
        .split("## The crates")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap();
    for entry in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let words = section.split(|c: char| !(c.is_alphanumeric() || c == '-'));
        assert!(words.into_iter().any(|word| word == name), "{name}");
    }
}

#[test]
fn the_page_of_studies_has_every_parameter() {
    let page = fs::read_to_string(root().join("docs/studies.md")).unwrap();
    for parameter in [Venue::Lab, Venue::Host].into_iter().flat_map(parameters::all) {
        assert!(page.contains(&format!("`{}`", parameter.key)), "{}", parameter.key);
    }
}

/// As `wc -w` counts them.
const WORDS_IN_A_PAGE: usize = 4_500;
const WORDS_IN_README: usize = 900;
const WORDS_IN_ALL: usize = 55_000;

/// All Markdown of the project but what tests read.
fn pages() -> Vec<PathBuf> {
    let is_page = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
    let own = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let crates = own(root().join("crates")).flat_map(|path| files_below(&path));
    let is_of_a_test = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "tests");
    own(root())
        .chain(own(root().join("docs")))
        .chain(crates.filter(|path| !is_of_a_test(path)))
        .filter(is_page)
        .collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files_below(&path),
            false => vec![path],
        })
        .collect()
}

/// Lines outside of blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.starts_with("    ")
    })
}

/// What a heading is called in a link to it: GitHub's rule.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The headings of a page as links name them; one that stands twice has a number the second time.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in prose(text).filter(|line| line.starts_with('#')) {
        let name = anchor(line.trim_start_matches('#'));
        let numbered = (1..).map(|n| format!("{name}-{n}"));
        let free = std::iter::once(name.clone())
            .chain(numbered)
            .find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

/// What stands between `](` and `)`, also where the link's text goes on in the next line.
fn targets(text: &str) -> Vec<String> {
    let prose: Vec<&str> = prose(text).collect();
    let joined = prose.join("\n");
    let links = joined.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    links.map(|(target, _)| target.to_string()).collect()
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let mut followed = 0;
    let mut broken = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for target in targets(&text).iter().filter(|target| !target.contains("://")) {
            followed += 1;
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let to = match file {
                "" => page.clone(),
                file => page.with_file_name(file),
            };
            let is_there = match heading {
                "" => to.exists(),
                heading => fs::read_to_string(&to).is_ok_and(|text| anchors(&text).contains(heading)),
            };
            if !is_there {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(followed > 200, "{followed}");
}

#[test]
fn links_are_named_as_github_names_them() {
    assert_eq!(anchor(" `worstcase host try --json`"), "worstcase-host-try---json");
    let text = "# A\n## B, c: d_e?\n```\n# none\n```\n## A\n";
    let expected = ["a", "a-1", "b-c-d_e"].map(String::from);
    assert_eq!(anchors(text), BTreeSet::from(expected));
    assert_eq!(targets("see [a\nb](c.md#d), `[x](y)`"), ["c.md#d", "y"]);
}

/// The names of formats in a text, as `worstcase-show/7`.
fn formats(text: &str) -> BTreeSet<String> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c == '-';
    let after = text.split("worstcase-").skip(1).filter_map(|rest| {
        let (name, number) = rest.split_once('/')?;
        let number: String = number.chars().take_while(char::is_ascii_digit).collect();
        (name.chars().all(is_of_name) && !number.is_empty()).then(|| format!("worstcase-{name}/{number}"))
    });
    after.collect()
}

#[test]
fn the_formats_in_the_documents_are_those_of_the_code() {
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap_or_default();
    let sources = fs::read_dir(root().join("crates")).unwrap();
    let sources = sources.flat_map(|entry| files_below(&entry.unwrap().path().join("src")));
    let of_code: BTreeSet<String> = sources.flat_map(|path| formats(&read(&path))).collect();
    for page in pages() {
        let unknown: Vec<String> = formats(&read(&page)).difference(&of_code).cloned().collect();
        assert!(unknown.is_empty(), "{}: no such format: {unknown:?}", page.display());
    }
}

#[test]
fn no_page_is_longer_than_one_reads() {
    let words = |page: &PathBuf| fs::read_to_string(page).unwrap().split_whitespace().count();
    let pages = pages();
    for page in &pages {
        assert!(
            words(page) <= WORDS_IN_A_PAGE,
            "{}: {} words",
            page.display(),
            words(page)
        );
    }
    let readme = words(&root().join("README.md"));
    assert!(readme <= WORDS_IN_README, "README.md: {readme} words");
    let all: usize = pages.iter().map(words).sum();
    assert!(all <= WORDS_IN_ALL, "all documents: {all} words");
}

#[test]
fn the_index_leads_to_every_page() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let linked: BTreeSet<String> = targets(&index).into_iter().collect();
    for page in pages().iter().filter(|page| page.starts_with(root().join("docs"))) {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(name == "README.md" || linked.contains(name), "{name}");
    }
}

/// A list at a module's head, `name  what it is for`, names modules that there are.
#[test]
fn lists_of_modules_name_what_is_there() {
    let mut listed = 0;
    for head in heads(&root().join("crates")) {
        let text = fs::read_to_string(&head).unwrap();
        let mut in_list = false;
        for line in text.lines().map_while(|line| line.strip_prefix("//!")) {
            if line.trim().starts_with("```") {
                in_list = line.trim() == "```text";
                continue;
            }
            let Some((name, about)) = line.strip_prefix(' ').and_then(|line| line.split_once("  ")) else {
                continue;
            };
            let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !name.is_empty();
            if in_list && is_name && !about.trim().is_empty() {
                listed += 1;
                let beside = head.with_file_name(name);
                let there = beside.is_dir() || beside.with_extension("rs").exists();
                assert!(there, "{}: there is no module {name}", head.display());
            }
        }
    }
    assert!(listed > 50, "{listed}");
}

fn heads(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(heads(&path));
        } else if path.ends_with("lib.rs") || path.ends_with("mod.rs") {
            found.push(path);
        }
    }
    found
}
