//! libelf and zlib, which the loader of schedulers carries: from the sources that the crate libbpf-sys brings along. Those of a
//! distribution need not fit together when linked static (Debian 13: symbols of libelf are missing; sid: `crc32` is in both).

use std::path::{Path, PathBuf};
use std::process::Command;

/// What elfutils' configure finds on Linux with glibc.
const CONFIG: &str = "\
#define HAVE_CONFIG_H 1
#define HAVE_ERROR_H 1
#define HAVE_STDATOMIC_H 1
#define HAVE_VISIBILITY 1
#define HAVE_GCC_STRUCT 1
#define HAVE_FALLTHROUGH 1
#define HAVE_DECL_MEMPCPY 1
#define HAVE_DECL_MEMRCHR 1
#define HAVE_DECL_RAWMEMCHR 1
#define HAVE_DECL_POWEROF2 1
#define HAVE_DECL_REALLOCARRAY 1
#include <eu-config.h>
";

/// Where the libraries are, and what a compiler is told to find their headers.
pub struct Libraries {
    pub folder: PathBuf,
    pub flags: String,
}

impl Libraries {
    /// Compiles both for `target`, into a folder of its own in `out`.
    pub fn build(
        cargo: &str,
        workspace: &Path,
        out: &Path,
        target: &str,
        flags: &[String],
    ) -> Result<Libraries, String> {
        let sources = sources(cargo, workspace, target)?;
        let (elfutils, zlib) = (sources.join("elfutils"), sources.join("zlib"));
        let (libelf, shared) = (elfutils.join("libelf"), elfutils.join("lib"));
        let folder = out.join("libraries").join(target);
        let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join("config.h"), CONFIG));
        written.map_err(|error| format!("{}: {error}", folder.display()))?;
        let compiler = || {
            let mut build = cc::Build::new();
            // The loader is no library: how its threads' variables are reached is known when it is linked.
            build.cargo_metadata(false).pic(false).flag("-fPIE").warnings(false);
            build
                .target(target)
                .host(super::TARGET)
                .opt_level(2)
                .debug(false)
                .out_dir(&folder);
            flags.iter().for_each(|flag| {
                build.flag(flag);
            });
            build
        };
        compiler()
            .files(in_c(&libelf)?)
            .define("HAVE_CONFIG_H", None)
            .define("_GNU_SOURCE", None)
            .includes([&folder, &shared, &libelf, &zlib])
            .flag("-std=gnu11")
            .try_compile("elf")
            .map_err(|_| "libelf does not compile (what the compiler says stands above)")?;
        compiler()
            .files(in_c(&zlib)?)
            .define("HAVE_UNISTD_H", None)
            .try_compile("z")
            .map_err(|_| "zlib does not compile (what the compiler says stands above)")?;
        Ok(Libraries {
            flags: format!("-I{} -I{}", libelf.display(), zlib.display()),
            folder,
        })
    }
}

/// The sources in a folder, in order: an archive's members are linked as they stand in it.
fn in_c(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut sources: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "c"))
        .collect();
    sources.sort();
    Ok(sources)
}

/// Where cargo keeps the source of libbpf-sys.
fn sources(cargo: &str, workspace: &Path, target: &str) -> Result<PathBuf, String> {
    let output = Command::new(cargo)
        .current_dir(workspace)
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--filter-platform",
            target,
        ])
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let told: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()))?;
    let packages = told["packages"].as_array().into_iter().flatten();
    let manifest = packages
        .filter(|package| package["name"] == "libbpf-sys")
        .find_map(|package| package["manifest_path"].as_str());
    let manifest = Path::new(manifest.ok_or("libbpf-sys is in no Cargo.lock")?);
    Ok(manifest.parent().expect("a file is in a folder").to_path_buf())
}
