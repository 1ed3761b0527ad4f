//! Programs, files and folders that the user puts into the image (`--add PATH[:DEST]`), with the shared libraries that programs
//! need.

use super::LabError;
use object::{Object, ObjectKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use worstcase_base::files;
use worstcase_plan::Added;

/// Refuses what does not exist.
pub fn check(added: &Added) -> Result<(), LabError> {
    match added.source.is_file() || added.source.is_dir() {
        true => Ok(()),
        false => Err(LabError::Request(format!(
            "--add {}: there is no such file or folder",
            added.source.display()
        ))),
    }
}

/// Refuses what cannot be run as the machines' own program; `added` are the other files.
pub fn check_program(program: &Added, added: &[Added]) -> Result<(), LabError> {
    let refuse = |why: &str| LabError::Request(format!("--program {}: {why}", program.source.display()));
    if program.source.is_dir() {
        return Err(refuse(
            "this is a folder: name the program's file, and the folder with --add",
        ));
    }
    if !program.source.is_file() {
        return Err(refuse("there is no such file"));
    }
    let data = read(&program.source)?;
    if let Some(interpreter) = interpreter(&data) {
        return match added.iter().any(|other| Path::new(&other.dest) == interpreter) {
            true => Ok(()),
            false => Err(refuse(&format!(
                "this is a script, and its interpreter is not in the machine: \
                 --program {} --add {}:/script --program-args /script",
                interpreter.display(),
                program.source.display()
            ))),
        };
    }
    let parsed = object::File::parse(&*data).map_err(|_| refuse("this is neither an ELF program nor a script"))?;
    match (parsed.architecture(), parsed.kind()) {
        (object::Architecture::X86_64, ObjectKind::Executable | ObjectKind::Dynamic) => Ok(()),
        (object::Architecture::X86_64, _) => Err(refuse("this is an object file: link it to a program (cc -o)")),
        (other, _) => Err(refuse(&format!(
            "this is a program for {other:?}; the lab's machines are x86_64"
        ))),
    }
}

/// The interpreter of a script; of `env` the one that it would find here.
fn interpreter(data: &[u8]) -> Option<PathBuf> {
    let line = data.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace().map(Path::new);
    let first = words.next()?;
    let found = words.next().filter(|_| first.ends_with("env"));
    let found = found.map(|name| files::program(name).unwrap_or_else(|| name.to_path_buf()));
    Some(found.unwrap_or_else(|| first.to_path_buf()))
}

/// Adds the file, or all of a folder, and the libraries and loader of a program, under the paths where the program looks for
/// them.
pub(crate) fn collect(added: &Added, files: &mut BTreeMap<String, Vec<u8>>) -> Result<(), LabError> {
    if !added.source.is_dir() {
        return collect_file(added, files);
    }
    let entries = std::fs::read_dir(&added.source).map_err(LabError::io(&added.source))?;
    for entry in entries {
        let entry = entry.map_err(LabError::io(&added.source))?;
        let within = Added {
            source: entry.path(),
            dest: format!("{}/{}", added.dest, entry.file_name().to_string_lossy()),
        };
        // What is neither, such as a link into nothing, is nothing that a machine could read.
        if within.source.is_dir() || within.source.is_file() {
            collect(&within, files)?;
        }
    }
    Ok(())
}

fn collect_file(added: &Added, files: &mut BTreeMap<String, Vec<u8>>) -> Result<(), LabError> {
    files.insert(inside(&added.dest), read(&added.source)?);
    let tree = match lddtree::DependencyAnalyzer::default().analyze(&added.source) {
        Ok(tree) => tree,
        // A script or data file needs no libraries.
        Err(_) => return Ok(()),
    };
    let wanted = tree
        .libraries
        .values()
        .map(|library| (library.path.clone(), library.realpath.clone(), &library.name));
    for (path, real, name) in wanted {
        let real = real.ok_or_else(|| {
            LabError::Request(format!(
                "--add {}: its library {name} is not installed",
                added.source.display()
            ))
        })?;
        files.insert(inside(&path.to_string_lossy()), read(&real)?);
    }
    if let Some(loader) = tree.interpreter {
        files.insert(inside(&loader), read(Path::new(&loader))?);
    }
    Ok(())
}

/// Paths in the archive have no leading slash.
fn inside(path: &str) -> String {
    path.trim_start_matches('/').to_string()
}

fn read(path: &Path) -> Result<Vec<u8>, LabError> {
    files::read(path).map_err(LabError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_brings_its_libraries_and_loader() {
        let added: Added = "/bin/true:/bin/t".parse().unwrap();
        let mut files = BTreeMap::new();
        collect(&added, &mut files).unwrap();
        assert!(files.contains_key("bin/t"));
        assert!(files.keys().any(|k| k.contains("libc.so.6")), "{:?}", files.keys());
        assert!(files.keys().any(|k| k.contains("ld-linux")), "{:?}", files.keys());
    }

    #[test]
    fn a_folder_brings_all_that_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        std::fs::write(folder.path().join("a/b/c"), "x").unwrap();
        std::fs::write(folder.path().join("d"), "y").unwrap();
        let added: Added = format!("{}:/opt/x", folder.path().display()).parse().unwrap();
        check(&added).unwrap();
        let mut files = BTreeMap::new();
        collect(&added, &mut files).unwrap();
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(names, ["opt/x/a/b/c", "opt/x/d"]);
    }
}
