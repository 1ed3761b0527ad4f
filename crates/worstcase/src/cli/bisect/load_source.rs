//! The loads of a bisection as a mail tells them; of the user's own program the source, which a reader needs to repeat it.

use std::path::{Path, PathBuf};
use worstcase_base::files;
use worstcase_bisect::BisectError;
use worstcase_contract::loads::{LoadInfo, LoadPart};
use worstcase_plan::{Added, Experiment};
use worstcase_report::bisect::{OwnProgram, ProgramSource, ToldLoad};

/// A source that is carried has at most so many bytes: a mail of more is none that a list takes.
const MOST: usize = 64 << 10;
/// Endings of sources that may lie beside a program.
const ENDINGS: [&str; 10] = ["c", "cc", "cpp", "cxx", "rs", "go", "s", "S", "py", "sh"];
/// Programs from these folders are the distribution's.
const OF_SYSTEM: [&str; 5] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/lib"];

/// Every load of an experiment once. `named` is the source that the user names for the program of theirs.
pub(super) fn loads(experiment: &Experiment, named: Option<&Path>) -> Result<Vec<ToldLoad>, BisectError> {
    let named = named.map(given).transpose()?;
    let mut told: Vec<ToldLoad> = Vec::new();
    for part in experiment
        .parts
        .iter()
        .flat_map(|part| &part.loads)
        .flat_map(|load| load.parts())
    {
        let name = part.to_string();
        if told.iter().any(|load| load.name == name) {
            continue;
        }
        told.push(ToldLoad {
            name,
            about: LoadInfo::of(part.kind()).about.to_string(),
            own: program(part, &experiment.added).map(|added| OwnProgram {
                path: added.dest.clone(),
                source: named.clone().or_else(|| beside(&added.source)),
            }),
        });
    }
    match named.is_some() && told.iter().all(|load| load.own.is_none()) {
        true => Err(BisectError::Request(
            "--load-source is of a load cmd: with a program of yours (--add), and there is none".into(),
        )),
        false => Ok(told),
    }
}

/// The user's own program that a load runs.
fn program<'a>(load: &LoadPart, added: &'a [Added]) -> Option<&'a Added> {
    let word = load.words().first()?;
    let is_it = |added: &&Added| added.dest == *word || added.dest.strip_prefix("/usr/bin/") == Some(word);
    let is_of_system = |added: &&Added| OF_SYSTEM.iter().any(|folder| added.source.starts_with(folder));
    added.iter().find(is_it).filter(|added| !is_of_system(added))
}

/// The source that the user names.
fn given(path: &Path) -> Result<ProgramSource, BisectError> {
    let refuse = |why: String| BisectError::Request(format!("--load-source {}: {why}", path.display()));
    let bytes = files::read(path).map_err(|why| refuse(why.to_string()))?;
    source(path, bytes).map_err(refuse)
}

/// A script itself, or the source beside a program.
fn beside(program: &Path) -> Option<ProgramSource> {
    let near = ENDINGS.iter().map(|ending| program.with_added_extension(ending));
    let places: Vec<PathBuf> = std::iter::once(program.to_path_buf()).chain(near).collect();
    places
        .iter()
        .find_map(|path| source(path, files::read(path).ok()?).ok())
}

fn source(path: &Path, bytes: Vec<u8>) -> Result<ProgramSource, String> {
    let most = MOST >> 10;
    match String::from_utf8(bytes) {
        Ok(text) if text.len() > MOST => Err(format!("a mail carries at most {most} KiB")),
        Ok(text) if !text.contains('\0') => Ok(ProgramSource {
            file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            text,
        }),
        _ => Err("it is no text".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_contract::Venue;
    use worstcase_plan::Subjects;

    fn told(loads: &[&str], added: &str, named: Option<&Path>) -> Result<Vec<ToldLoad>, String> {
        let mut experiment = Experiment::usual(Venue::Lab, Subjects::Kernels(Vec::new()));
        experiment.parts[0].loads = loads.iter().map(|load| load.parse().unwrap()).collect();
        experiment.added = vec![added.parse().unwrap()];
        super::loads(&experiment, named).map_err(|e| e.to_string())
    }

    #[test]
    fn a_source_is_named_or_lies_beside_or_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let write = |name: &str, bytes: &[u8]| std::fs::write(at(name), bytes).unwrap();
        write("duty", b"\x7fELF\0");
        let added = format!("{}:/duty", at("duty").display());
        let source_of = |named: Option<&Path>| {
            let loads = told(&["cmd:/duty 1 2", "fork"], &added, named)?;
            assert!(loads[1].own.is_none() && loads[1].about.len() > 5, "{loads:?}");
            let own = loads[0].own.clone().expect("it is the user's");
            Ok::<_, String>(own.source.map(|source| source.file))
        };
        assert_eq!(source_of(None), Ok(None));
        write("other.c", b"int main;");
        assert_eq!(source_of(Some(&at("other.c"))), Ok(Some("other.c".into())));
        write("duty.c", b"int main;");
        assert_eq!(source_of(None), Ok(Some("duty.c".into())));
        write("big.c", &vec![b' '; MOST + 1]);
        let said = |name: &str| source_of(Some(&at(name))).unwrap_err();
        assert!(said("big.c").contains("at most 64 KiB"), "{}", said("big.c"));
        assert!(said("duty").contains("no text") && said("none.c").contains("none.c"));
    }

    #[test]
    fn a_script_is_its_own_source_and_what_the_system_has_needs_none() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("busy");
        std::fs::write(&script, "#!/bin/sh\n").unwrap();
        let loads = told(&["cmd:busy"], &script.display().to_string(), None).unwrap();
        assert_eq!(
            loads[0].own.as_ref().unwrap().source.as_ref().unwrap().text,
            "#!/bin/sh\n"
        );
        let loads = told(&["cmd:sh -c x"], "/usr/bin/sh", None).unwrap();
        assert_eq!(loads[0].own, None);
        let said = told(&["fork"], "/usr/bin/sh", Some(&script)).unwrap_err();
        assert!(said.contains("there is none"), "{said}");
    }
}
