//! Debug information in the cache: one folder for each debug package, with what lookups need of it.
//!
//! ```text
//! <cache>/debug/<package>_<version>/manifest.json    of which package and kernel, and its build-id
//!                                   vmlinux.debug    see `slim`
//!                                   modules/NAME.ko  of modules, as they are
//! ```

use super::slim::slim;
use super::{BuildId, DebugInfoError};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_base::cache::{Cache, CacheError};

const AREA: &str = "debug";
const SCHEMA: &str = "worstcase-debug/1";
const MANIFEST: &str = "manifest.json";
const FILE: &str = "vmlinux.debug";
/// The folder of modules, beside the vmlinux and in the cache.
pub const MODULES: &str = "modules";

#[derive(Serialize, Deserialize)]
struct DebugInfoManifest {
    schema: String,
    package: String,
    version: String,
    release: String,
    build_id: String,
}

/// The debug information that is kept for one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptDebugInfo {
    /// The debug file.
    pub path: PathBuf,
    /// Its size on the disk.
    pub bytes: u64,
}

/// Debian's debug package for a release.
pub fn package(release: &str) -> String {
    format!("linux-image-{release}-dbg")
}

impl KeptDebugInfo {
    /// The debug file of a module; none if it was not kept.
    pub fn module(&self, name: &str) -> Option<PathBuf> {
        let path = self.path.with_file_name(MODULES).join(format!("{name}.ko"));
        path.is_file().then_some(path)
    }
}

/// Keeps the needed part of the vmlinux that `fetch` puts into the folder it gets, for a release in a version, and the
/// modules that it puts beside it.
pub fn keep<E: From<CacheError> + From<DebugInfoError>>(
    cache: &Cache,
    release: &str,
    version: &str,
    fetch: impl FnOnce(&Path) -> Result<PathBuf, E>,
) -> Result<KeptDebugInfo, E> {
    let package = package(release);
    let folder = cache.publish(AREA, &key(&package, version), |building| {
        let fetched = building.join("downloads");
        let stored = |path: &Path, result: std::io::Result<()>| result.map_err(|e| CacheError::from_io(path, e));
        stored(&fetched, fs::create_dir(&fetched))?;
        let build_id = slim(&fetch(&fetched)?, &building.join(FILE))?;
        let modules = fetched.join(MODULES);
        if modules.is_dir() {
            stored(&modules, fs::rename(&modules, building.join(MODULES)))?;
        }
        stored(&fetched, fs::remove_dir_all(&fetched))?;
        let manifest = DebugInfoManifest {
            schema: SCHEMA.into(),
            package: package.clone(),
            version: version.into(),
            release: release.into(),
            build_id: build_id.to_string(),
        };
        let path = building.join(MANIFEST);
        let json = serde_json::to_vec_pretty(&manifest).expect("a manifest of strings is always JSON");
        stored(&path, fs::write(&path, json))?;
        Ok::<(), E>(())
    })?;
    Ok(kept(&folder))
}

/// The names of all that is kept.
pub fn names(cache: &Cache) -> Vec<String> {
    cache.keys(AREA)
}

/// The debug information for a release in a version.
pub fn of_version(cache: &Cache, release: &str, version: &str) -> Option<KeptDebugInfo> {
    cache
        .get(AREA, &key(&package(release), version))
        .map(|folder| kept(&folder))
}

/// The debug information for a build-id.
pub fn of_build(cache: &Cache, id: &BuildId) -> Option<KeptDebugInfo> {
    let folders = cache.keys(AREA).into_iter().map(|key| cache.path(AREA, &key));
    let id = id.to_string();
    let mut fitting = folders.filter(|folder| manifest(folder).is_some_and(|m| m.build_id == id));
    fitting.next().map(|folder| kept(&folder))
}

fn key(package: &str, version: &str) -> String {
    format!("{package}_{version}")
}

/// An unreadable manifest counts as a missing one: then there is no debug information.
fn manifest(folder: &Path) -> Option<DebugInfoManifest> {
    let manifest: DebugInfoManifest =
        serde_json::from_slice(&worstcase_base::files::read(&folder.join(MANIFEST)).ok()?).ok()?;
    (manifest.schema == SCHEMA).then_some(manifest)
}

fn kept(folder: &Path) -> KeptDebugInfo {
    let path = folder.join(FILE);
    let bytes = fs::metadata(&path).map_or(0, |m| m.len());
    KeptDebugInfo { path, bytes }
}
