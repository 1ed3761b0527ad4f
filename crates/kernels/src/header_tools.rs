//! What building against a kernel's headers needs of this machine: the compiler that their Makefile calls, the C library that
//! their own programs were linked with, and what describes a module's types.

use super::build::is_on_path;
use super::debuginfo::elf::ElfFile;
use super::{Arch, headers};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Major and minor.
type Version = (u32, u32);

/// Beginning of the names of what a C library offers since a version.
const SINCE: &str = "GLIBC_";

/// What building against headers needs, and what is here.
#[derive(Debug, PartialEq, Eq)]
pub struct HeaderTools {
    /// The compiler.
    compiler: Option<String>,
    compiler_is_here: bool,
    /// The lowest version of the C library.
    library: Option<Version>,
    library_here: Option<Version>,
    /// [`PAHOLE`] is needed and not here.
    lacks_pahole: bool,
}

/// Describes a module's types where headers have the kernel's own in `vmlinux`: a program, and a package.
const PAHOLE: &str = "pahole";

/// Reads it off the folder for `make -C`.
pub fn of(folder: &Path) -> HeaderTools {
    let variables = fs::read_to_string(folder.join(headers::VARIABLES)).unwrap_or_default();
    let compiler = compiler(&variables);
    let mut programs = Vec::new();
    for name in ["scripts", "tools"] {
        files(&folder.join(name), &mut programs);
    }
    let library = programs.iter().filter_map(|program| linked_with(program)).max();
    HeaderTools {
        compiler_is_here: compiler.as_deref().is_some_and(is_on_path),
        compiler,
        library,
        library_here: here(),
        lacks_pahole: folder.join("vmlinux").exists() && !is_on_path(PAHOLE),
    }
}

impl HeaderTools {
    /// One line: what is needed, and whether it is here.
    pub fn told(&self) -> Option<String> {
        let compiler = self.compiler.as_ref().map(|name| match self.compiler_is_here {
            true => name.clone(),
            false => format!("{name} (not here{})", in_package(name)),
        });
        let library = self.library.map(|(major, minor)| {
            let here = match self.library_here {
                Some((major, minor)) => format!("here {major}.{minor}"),
                None => "not here".into(),
            };
            format!("a C library (glibc) of {major}.{minor} or later ({here})")
        });
        let pahole = self.lacks_pahole.then(|| format!("{PAHOLE} (not here)"));
        let needed: Vec<String> = compiler.into_iter().chain(library).chain(pahole).collect();
        if needed.is_empty() {
            return None;
        }
        let remedy = match self.are_compiler_and_library_here() {
            true => "",
            false => "; the kernel's own release of Debian, as a container or chroot, has both",
        };
        Some(format!("building needs {}{remedy}", needed.join(" and ")))
    }

    /// Whether it can be built here.
    pub fn is_all_here(&self) -> bool {
        self.are_compiler_and_library_here() && !self.lacks_pahole
    }

    fn are_compiler_and_library_here(&self) -> bool {
        let library = self.library.is_none() || self.library_here >= self.library;
        (self.compiler.is_none() || self.compiler_is_here) && library
    }
}

/// The package of a compiler for another architecture, whose name tells it: `aarch64-linux-gnu-gcc-14`.
fn in_package(compiler: &str) -> String {
    let others = Arch::ALL.into_iter().filter(|arch| *arch != Arch::of_controller());
    let prefixes = others.map(Arch::gnu);
    let split = |prefix: &'static str| Some((prefix, compiler.strip_prefix(prefix)?.strip_prefix('-')?));
    let found = prefixes.filter_map(split).next();
    found.map_or_else(String::new, |(prefix, gcc)| format!("; package {gcc}-{prefix}"))
}

/// The name in `CC = ... $(CROSS_COMPILE)gcc-14`, with what stands for the variable on this architecture.
fn compiler(variables: &str) -> Option<String> {
    let (mut compiler, mut prefix, mut conditions) = (None, "", 0);
    for line in variables.lines().map(str::trim) {
        let value = |name: &str| {
            let (key, value) = line.split_once('=')?;
            (key.trim_end_matches([':', '?', ' ']) == name).then(|| value.trim())
        };
        if line.starts_with("if") {
            conditions += 1;
        } else if line == "endif" {
            conditions -= 1;
        } else if conditions > 0 {
            // What holds for another architecture's machine.
        } else if let Some(cc) = value("CC") {
            compiler = cc.split(' ').next_back();
        } else if let Some(cross) = value("override CROSS_COMPILE") {
            prefix = cross;
        }
    }
    let name = compiler?.replace("$(CROSS_COMPILE)", prefix);
    (!name.is_empty() && !name.contains('$')).then_some(name)
}

/// All files below a folder.
fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&path, into),
            Ok(kind) if kind.is_file() => into.push(path),
            _ => {}
        }
    }
}

/// The C library that a program was linked with; none for what is no program.
fn linked_with(program: &Path) -> Option<Version> {
    let names = ElfFile::open(program).ok()?.section(".dynstr").ok()?;
    let names = names
        .split(|byte| *byte == 0)
        .filter_map(|name| std::str::from_utf8(name).ok());
    names.filter_map(|name| version(name.strip_prefix(SINCE)?)).max()
}

/// The C library of this machine.
fn here() -> Option<Version> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    version(String::from_utf8_lossy(&output.stdout).trim().strip_prefix("glibc ")?)
}

fn version(text: &str) -> Option<Version> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_the_one_that_the_makefile_calls() {
        let cc = "CC = $(if $(DEBIAN_KERNEL_USE_CCACHE),$(CCACHE)) $(CROSS_COMPILE)gcc-";
        let cross = "override CROSS_COMPILE = x86_64-linux-gnu-";
        let other = "ifneq ($(DEB_BUILD_ARCH),$(DEB_HOST_ARCH))\noverride CROSS_COMPILE = $(DEB_HOST_GNU_TYPE)-\nendif";
        let found = |text: &str| compiler(text).unwrap_or_default();
        assert_eq!(found(&format!("{cc}14\n{cross}\n")), "x86_64-linux-gnu-gcc-14");
        assert_eq!(found(&format!("{cc}12\n{other}\n")), "gcc-12");
        assert_eq!(found("CC = $(SOMETHING)\n"), "");
        assert_eq!(compiler(""), None);
    }

    #[test]
    fn what_is_not_here_is_told_with_the_remedy() {
        let mut tools = HeaderTools {
            compiler: Some("gcc-14".into()),
            compiler_is_here: true,
            library: Some((2, 38)),
            library_here: Some((2, 41)),
            lacks_pahole: false,
        };
        assert_eq!(
            tools.told().unwrap(),
            "building needs gcc-14 and a C library (glibc) of 2.38 or later (here 2.41)"
        );
        tools.library_here = Some((2, 9));
        assert!(
            tools
                .told()
                .unwrap()
                .ends_with("(here 2.9); the kernel's own release of Debian, as a container or chroot, has both")
        );
        (tools.compiler_is_here, tools.library) = (false, None);
        assert!(tools.told().unwrap().starts_with("building needs gcc-14 (not here); "));
        tools.compiler = Some("aarch64-linux-gnu-gcc-14".into());
        let said = "building needs aarch64-linux-gnu-gcc-14 (not here; package gcc-14-aarch64-linux-gnu); ";
        assert!(tools.told().unwrap().starts_with(said), "{tools:?}");
        tools.compiler = None;
        assert_eq!(tools.told(), None);
        assert!(tools.is_all_here());
        tools.lacks_pahole = true;
        assert_eq!(tools.told().unwrap(), "building needs pahole (not here)");
        assert!(!tools.is_all_here());
    }

    #[test]
    fn a_program_says_which_c_library_it_was_linked_with() {
        let own = std::env::current_exe().unwrap();
        let linked = linked_with(&own);
        assert!(linked.is_some() && linked <= here(), "{linked:?}");
        assert_eq!(linked_with(Path::new(file!())), None);
    }
}
