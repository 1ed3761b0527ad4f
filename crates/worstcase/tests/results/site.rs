//! What is looked at before anything is installed: the site, the minute at a terminal, the notebook.

use crate::fixture::write;
use assert_cmd::cargo::cargo_bin;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use worstcase_skips::skip;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .concat()
}

fn has_module(python: &str, module: &str) -> bool {
    let asked = Command::new(python).args(["-c", &format!("import {module}")]).output();
    asked.is_ok_and(|output| output.status.success())
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of_entry = |path: PathBuf| match path.is_dir() {
        true => pages(&path),
        false if path.extension().is_some_and(|end| end == "html") => vec![path],
        false => Vec::new(),
    };
    entries.flat_map(of_entry).collect()
}

/// The values of an attribute in a page.
fn values<'t>(page: &'t str, attribute: &str) -> Vec<&'t str> {
    let begin = format!("{attribute}=\"");
    let after: Vec<&str> = page.split(&begin).skip(1).collect();
    after.into_iter().filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_link_of_the_site_leads_into_it() {
    if !has_module("/usr/bin/python3", "markdown_it") {
        skip!("python3-markdown-it is not there", "python3-markdown-it");
    }
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    for _ in 0..2 {
        let made = Command::new(format!("{ROOT}/scripts/site"))
            .arg(&site)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", said(&made));
    }
    let mut followed = 0;
    let mut broken = Vec::new();
    for page in pages(&site) {
        let text = fs::read_to_string(&page).unwrap();
        let targets = values(&text, "href").into_iter().chain(values(&text, "src"));
        for target in targets.filter(|target| !target.contains("://") && !target.starts_with("data:")) {
            followed += 1;
            let (file, name) = target.split_once('#').unwrap_or((target, ""));
            let to = match file {
                "" => page.clone(),
                file => page.with_file_name(file),
            };
            let named = |text: String| name.is_empty() || values(&text, "id").contains(&name);
            if !fs::read(&to).is_ok_and(|bytes| named(String::from_utf8_lossy(&bytes).into_owned())) {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(followed > 400, "{followed}");
    let first = fs::read_to_string(site.join("index.html")).unwrap();
    assert!(first.contains("docs/images/minute.svg") && first.contains("docs/README.html"));

    // A folder of somebody else is left as it is.
    fs::write(folder.path().join("kept"), "x").unwrap();
    let refused = Command::new(format!("{ROOT}/scripts/site"))
        .arg(folder.path())
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(said(&refused).contains("name another folder") && folder.path().join("kept").exists());
}

#[test]
fn the_minute_shows_what_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for part in ["scripts", "docs/examples", "docs/images"] {
        fs::create_dir_all(at(part)).unwrap();
    }
    for file in ["scripts/minute", "docs/examples/minute.txt"] {
        fs::copy(Path::new(ROOT).join(file), at(file)).unwrap();
    }
    let drawn = Command::new(at("scripts/minute")).arg("draw").output().unwrap();
    assert!(drawn.status.success(), "{}", said(&drawn));
    let picture = |root: &Path| fs::read_to_string(root.join("docs/images/minute.svg")).unwrap();
    assert!(
        picture(folder.path()) == picture(Path::new(ROOT)),
        "give: scripts/minute draw"
    );
}

/// Where `scripts/prepare-tests` puts what the notebook imports.
fn python() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| Path::new(ROOT).join("target"), PathBuf::from);
    Some(target.join("python/bin/python")).filter(|python| python.exists())
}

#[test]
fn the_notebook_finds_in_a_run_what_show_tells() {
    if python().is_none() {
        skip!("polars and matplotlib are not there (scripts/prepare-tests)");
    }
    let folder = tempfile::tempdir().unwrap();
    let (run, pictures) = (folder.path().join("run"), folder.path().join("pictures"));
    write(&run);
    let done = Command::new(format!("{ROOT}/scripts/notebook"))
        .args([&run, &pictures])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", said(&done));
    let shown = Command::new(cargo_bin("worstcase"))
        .arg("show")
        .arg(&run)
        .arg("--json")
        .output()
        .unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let told = String::from_utf8(done.stdout).unwrap();
    let all = shown["ensembles"].as_array().unwrap();
    let all: Vec<_> = all.iter().filter(|one| one["quantity"] == "latency").collect();
    assert_eq!(all.len(), 9);
    for ensemble in all {
        let (load, max) = (ensemble["load"].as_str().unwrap(), ensemble["max_ns"].as_f64().unwrap());
        let max = format!("max {:9.3} us", max / 1_000.0);
        let is_it = |line: &str| line.contains(load) && line.ends_with(&max);
        assert!(told.lines().any(is_it), "{load}, {max}: {told}");
    }
    assert_eq!(told.lines().count(), 9, "a line for each subject and load: {told}");
    let drawn: BTreeSet<String> = fs::read_dir(&pictures)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(drawn, ["picture-1.png", "picture-2.png"].map(String::from).into());
}

/// `scripts/example-reports` makes them of runs.
#[test]
fn the_first_page_leads_to_three_small_reports_of_this_version() {
    let read = |path: &str| fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
    let first = read("docs/first.md");
    let schema = read("crates/report/src/html/mod.rs");
    let schema = schema
        .split('"')
        .find(|word| word.starts_with("worstcase-report/"))
        .unwrap();
    for name in ["lab", "host", "program"] {
        let path = format!("examples/{name}.html");
        assert!(first.contains(&format!("]({path})")), "{path}");
        let page = read(&format!("docs/{path}"));
        assert!(page.len() < 300_000, "{path}: {} bytes", page.len());
        let data = page
            .split("id=\"data\">")
            .nth(1)
            .unwrap()
            .split("</script>")
            .next()
            .unwrap();
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["schema"], schema, "{path}: scripts/example-reports writes it anew");
        assert!(!data["runs"][0]["pictures"].as_array().unwrap().is_empty(), "{path}");
        assert!(
            name == "lab" || page.contains("not shown here"),
            "{path}: what its machine was booted with"
        );
    }
}

/// The README's figures are measured again by the lab's tests.
#[test]
fn the_first_pages_figures_are_the_readmes() {
    let read = |path: &str| fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
    let (first, readme) = (read("docs/first.md"), read("README.md"));
    let words: Vec<&str> = first.split_whitespace().collect();
    let figures = words
        .windows(2)
        .filter(|pair| pair[1].starts_with("us") && pair[0].parse::<f64>().is_ok());
    let figures: Vec<&str> = figures.map(|pair| pair[0]).collect();
    assert!(figures.len() >= 2, "{figures:?}");
    for figure in figures {
        assert!(readme.split_whitespace().any(|word| word == figure), "{figure} us");
    }
}
