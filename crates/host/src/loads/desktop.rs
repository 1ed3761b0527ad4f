//! Builds, again and again, and `desktop`: two of them and a walk through the root partition.
//!
//! `desktop` is the load of the Linux Journal's measurements of 2005 with Realfeel: a loop of `ls` and `find` over the
//! root partition, and two builds from clean in two trees. A build is the lab's `cmd` running a small script, so that
//! all of make's descendants are ended with it and its words are heard when it fails.

use super::LoadError;
use super::crew::{Crew, preparing};
use super::place::{cpus, not_available};
use super::{source, tree, walk};
use std::fs;
use std::path::Path;
use worstcase_probe::loads::{LoadEnvironment, LoadSpec, RunningLoad, Venue};

const USUAL_FILES: u32 = 48;
const TREES: u64 = 2;
/// The jobs and flags of a make around us are not for these builds, and a cache of compilations would leave
/// nothing to do.
const PREFACE: &str = "unset MAKEFLAGS MFLAGS MAKELEVEL\nexport CCACHE_DISABLE=1\nset -e\n";

/// Starts the walk in `crew`; returns the builds, and what a user should know of them.
pub(super) fn start(
    crew: &mut Crew,
    files: Option<u32>,
    seed: u64,
    folder: &Path,
) -> Result<(Vec<RunningLoad>, Option<String>), LoadError> {
    let name = crew.name();
    let mut builds = Vec::new();
    let mut note = None;
    if let Some(program) = tree::missing_program(&["make", "cc"]) {
        note = Some(format!(
            "load 'desktop': there is no {program} in PATH; a synthetic build (the load 'compile') takes the builds' place"
        ));
        builds.push(run_lab("compile", seed, folder)?);
    } else {
        for i in 0..TREES {
            let tree = folder.join(format!("tree{i}"));
            source::write(&tree, files.unwrap_or(USUAL_FILES), seed.wrapping_add(i << 32))
                .map_err(preparing(name, "writing C files"))?;
            let steps = format!("cd {}\nmake -s clean\nexec make -s\n", quoted(name, &tree)?);
            builds.push(build(name, &folder.join(format!("build{i}.sh")), &steps)?);
        }
    }
    walk::start(crew, "/".into(), None)?;
    Ok((builds, note))
}

/// `compile:PATH`.
pub(super) fn start_tree(path: &Path, folder: &Path) -> Result<RunningLoad, LoadError> {
    let name = "compile";
    tree::copy(path, &folder.join("source"))?;
    let steps = format!(
        "cd {}\nrm -rf build\ncp -a source build\ncd build\nexec make -j{}\n",
        quoted(name, folder)?,
        cpus()
    );
    build(name, &folder.join("build.sh"), &steps)
}

fn build(load: &'static str, script: &Path, steps: &str) -> Result<RunningLoad, LoadError> {
    fs::write(script, format!("{PREFACE}{steps}")).map_err(preparing(load, "writing a script"))?;
    run_lab(
        &format!("cmd:sh {}", quoted(load, script)?),
        0,
        script.parent().expect("in a folder"),
    )
}

/// Runs a load of the lab below `folder`.
pub(super) fn run_lab(text: &str, seed: u64, folder: &Path) -> Result<RunningLoad, LoadError> {
    let spec: LoadSpec = text.parse().expect("a load of ours");
    start_lab(&spec, seed, folder)
}

/// The same, of what a user asked for.
pub(super) fn start_lab(spec: &LoadSpec, seed: u64, folder: &Path) -> Result<RunningLoad, LoadError> {
    let environment = LoadEnvironment {
        work_dir: folder.to_path_buf(),
        venue: Venue::Host,
    };
    RunningLoad::start(spec, seed, &environment)
}

/// A path as one word, both of a shell and of `cmd:`.
fn quoted(load: &'static str, path: &Path) -> Result<String, LoadError> {
    let text = path.to_str().filter(|text| !text.contains('\n'));
    let text = text.ok_or_else(|| not_available(load, format!("{} is no plain name", path.display())))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    Ok(text
        .chars()
        .flat_map(|c| (!plain(c)).then_some('\\').into_iter().chain([c]))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_whatever_is_in_it() {
        let word = quoted("compile", Path::new("/a b/it's-\"x\"\\$y")).unwrap();
        assert_eq!(word, r#"/a\ b/it\'s-\"x\"\\\$y"#);
        let spec: LoadSpec = format!("cmd:sh {word}").parse().unwrap();
        assert_eq!(spec.words(), ["sh", "/a b/it's-\"x\"\\$y"]);
        assert!(quoted("compile", Path::new("/a\nb")).is_err());
    }
}
