//! Programs, files and folders that the user puts into the image (`--add PATH[:DEST]`), with the shared libraries that programs
//! need.

use super::LabError;
use lddtree::DependencyAnalyzer;
use object::{Object, ObjectKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use worstcase_base::files;
use worstcase_plan::{Added, Arch};

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
    match (arch_of(&parsed), parsed.kind()) {
        (Some(_), ObjectKind::Executable | ObjectKind::Dynamic) => Ok(()),
        (Some(_), _) => Err(refuse("this is an object file: link it to a program (cc -o)")),
        (None, _) => Err(refuse(&format!(
            "this is a program for {:?}; the lab's machines are of {}",
            parsed.architecture(),
            Arch::ALL.map(Arch::name).join(" or ")
        ))),
    }
}

/// The architecture of the machines that an ELF file is for; none if there are no such machines.
fn arch_of(parsed: &object::File<'_>) -> Option<Arch> {
    match parsed.architecture() {
        object::Architecture::X86_64 => Some(Arch::X86),
        object::Architecture::Aarch64 => Some(Arch::Arm64),
        _ => None,
    }
}

/// Why the bytes of an ELF file are nothing for a kernel of this architecture; none if they are, or are of no ELF file.
pub(crate) fn strange_to(data: &[u8], kernel: &str, arch: Arch) -> Option<String> {
    let built = arch_of(&object::File::parse(data).ok()?)?;
    (built != arch).then(|| format!("it is for {built}, and the machine of {kernel} is {arch}"))
}

/// Refuses a program for another architecture than the machine's.
pub(crate) fn check_arch(option: &str, added: &Added, kernel: &str, arch: Arch) -> Result<(), LabError> {
    if added.source.is_dir() {
        return Ok(());
    }
    match strange_to(&read(&added.source)?, kernel, arch) {
        Some(why) => Err(LabError::Request(format!(
            "{option} {}: {why}; compile it with {}-gcc",
            added.source.display(),
            arch.gnu()
        ))),
        None => Ok(()),
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
    let data = read(&added.source)?;
    let cross = object::File::parse(&*data)
        .ok()
        .and_then(|parsed| cross_folder(&parsed));
    let mut analyzer = DependencyAnalyzer::default();
    if let Some(folder) = &cross {
        analyzer = analyzer.add_library_path(folder.clone());
    }
    files.insert(inside(&added.dest), data);
    let tree = match analyzer.analyze(&added.source) {
        Ok(tree) => tree,
        // A script or data file needs no libraries.
        Err(_) => return Ok(()),
    };
    for library in tree.libraries.values() {
        // A loader is not searched for, and is where the machine looks for it.
        let of_cross = cross.as_ref().map(|folder| folder.join(&library.name));
        let real = library.realpath.clone().or(of_cross).filter(|path| path.is_file());
        let real = real.ok_or_else(|| {
            LabError::Request(format!(
                "--add {}: its library {} is not installed; link it statically (-static), or install the library",
                added.source.display(),
                library.name
            ))
        })?;
        let in_machine = match &cross {
            Some(folder) if library.path.starts_with(folder) => Path::new("/lib").join(&library.name),
            _ => library.path.clone(),
        };
        files.insert(inside(&in_machine.to_string_lossy()), read(&real)?);
    }
    if let Some(loader) = tree.interpreter {
        let name = Path::new(&loader).file_name().unwrap_or_default();
        let of_cross = cross.map(|folder| folder.join(name)).filter(|path| path.is_file());
        let here = of_cross.unwrap_or_else(|| PathBuf::from(&loader));
        files.insert(inside(&loader), read(&here)?);
    }
    Ok(())
}

/// Where a cross compiler's package has the libraries of a program that is for another machine than the controller.
fn cross_folder(parsed: &object::File<'_>) -> Option<PathBuf> {
    let arch = arch_of(parsed).filter(|arch| *arch != Arch::of_controller())?;
    Some(Path::new("/usr").join(arch.gnu()).join("lib"))
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
    fn a_program_is_for_one_architecture() {
        let mut data = std::fs::read("/bin/true").unwrap();
        assert_eq!(strange_to(&data, "debian:6.12", Arch::X86), None);
        assert_eq!(strange_to(b"#!/bin/sh\n", "debian:6.12/arm64", Arch::Arm64), None);
        let why = strange_to(&data, "debian:6.12/arm64", Arch::Arm64).unwrap();
        assert_eq!(why, "it is for x86-64, and the machine of debian:6.12/arm64 is arm64");
        data[MACHINE] = AARCH64;
        assert_eq!(strange_to(&data, "debian:6.12/arm64", Arch::Arm64), None);
        assert!(
            strange_to(&data, "debian:6.12", Arch::X86)
                .unwrap()
                .starts_with("it is for arm64,")
        );
    }

    /// Of an ELF header (elf(5)).
    const MACHINE: usize = 18;
    const AARCH64: u8 = 183;

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
