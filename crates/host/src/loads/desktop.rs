//! Builds, again and again, and `desktop`: two of them and a walk through the root partition.
//!
//! `desktop` is the load of the Linux Journal's measurements of 2005 with Realfeel: a loop of `ls` and `find` over the
//! root partition, and two builds from clean in two trees. A build is a helper `cmd` running a small script, so that
//! all of make's descendants are ended with it and its words are heard when it fails.

use super::{source, tree, walk};
use std::fs;
use std::path::Path;
use worstcase_cell::loads::LoadKind;
use worstcase_instruments::loads::{LoadError, LoadRequest, RunningPart};
use worstcase_instruments::sys::affinity;

const USUAL_FILES: u32 = 48;
const TREES: u64 = 2;
/// Without the jobs and flags of a make around us, and without a compiler cache, which would leave nothing to do.
const PREFACE: &str = "unset MAKEFLAGS MFLAGS MAKELEVEL\nexport CCACHE_DISABLE=1\nset -e\n";

/// `desktop`.
pub(super) fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    if let Some(program) = tree::missing_program(&["make", "cc"]) {
        load.note(format!(
            "load 'desktop': there is no {program} in PATH; a synthetic build (the load 'compile') takes the builds' place"
        ));
        LoadKind::Compile.code().help(load, &LoadRequest::default(), seed)?;
    } else {
        let folder = load.folder()?;
        let files = load.request().number().unwrap_or(USUAL_FILES);
        for i in 0..TREES {
            let tree = folder.join(format!("tree{i}"));
            source::write(&tree, files, seed.wrapping_add(i << 32)).map_err(load.preparing("writing C files"))?;
            let steps = format!("cd {}\nmake -s clean\nexec make -s\n", quoted(load, &tree)?);
            build(load, &folder.join(format!("build{i}.sh")), &steps)?;
        }
    }
    walk::start(load, "/".into())
}

/// `compile:PATH`.
pub(super) fn start_build(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let folder = load.folder()?;
    let path = load.request().path().expect("it is written with a path").to_path_buf();
    tree::copy(load, &path, &folder.join("source"))?;
    let steps = format!(
        "cd {}\nrm -rf build\ncp -a source build\ncd build\nexec make -j{}\n",
        quoted(load, &folder)?,
        affinity::count()
    );
    build(load, &folder.join("build.sh"), &steps)
}

fn build(load: &mut RunningPart, script: &Path, steps: &str) -> Result<(), LoadError> {
    fs::write(script, format!("{PREFACE}{steps}")).map_err(load.preparing("writing a script"))?;
    let script = script.to_str().ok_or_else(|| not_plain(load, script))?;
    let shell = LoadRequest {
        words: vec!["sh".into(), script.into()],
        ..LoadRequest::default()
    };
    LoadKind::Cmd.code().help(load, &shell, 0)
}

/// A path as one word of a shell.
fn quoted(load: &RunningPart, path: &Path) -> Result<String, LoadError> {
    word(path).ok_or_else(|| not_plain(load, path))
}

fn not_plain(load: &RunningPart, path: &Path) -> LoadError {
    load.not_available(format!("{} is no plain name", path.display()))
}

fn word(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.contains('\n'))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let escaped = text
        .chars()
        .flat_map(|c| (!plain(c)).then_some('\\').into_iter().chain([c]));
    Some(escaped.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_whatever_is_in_it() {
        let one = word(Path::new("/a b/it's-\"x\"\\$y")).unwrap();
        assert_eq!(one, r#"/a\ b/it\'s-\"x\"\\\$y"#);
        assert!(word(Path::new("/a\nb")).is_none());
    }
}
