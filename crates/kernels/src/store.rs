//! Unpacked kernels in the cache: one folder a kernel, published whole, with the checksums of its files.
//!
//! ```text
//! <cache>/kernels/<package>_<version>/   or deb-, packages-<start of the files' sha256>/
//!     manifest.json                      what it is, from which packages, sha256 of every file
//!     tree/boot/... tree/lib/modules/... as in the packages, plus a modules.dep
//! ```

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use worstcase_base::cache::{Cache, CacheError};

use super::files::{self, KernelFiles};
use super::{Flavour, Kernel, KernelError, modules, package_file};

const AREA: &str = "kernels";
const SCHEMA: &str = "worstcase-kernel/1";

/// The description of a stored kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KernelManifest {
    schema: String,
    package: String,
    version: String,
    release: String,
    debs: Vec<FileSum>,
    files: Vec<FileSum>,
}

/// What a manifest begins with. All kernels' are read to find one; the files, of which each has thousands, are passed over.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct StoredName {
    schema: String,
    /// The Debian package that stands for the kernel, or the first of the package files.
    pub package: String,
    /// Its version.
    pub version: String,
    /// As `6.1.0-56-amd64`.
    pub release: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileSum {
    path: String,
    size: u64,
    sha256: String,
}

/// Unpacked kernels in a cache.
pub(crate) struct KernelStore<'a> {
    cache: &'a Cache,
}

impl<'a> KernelStore<'a> {
    /// Changes nothing on the disk.
    pub fn new(cache: &'a Cache) -> KernelStore<'a> {
        KernelStore { cache }
    }

    /// The key of a Debian package's kernel.
    pub(crate) fn key(package: &str, version: &str) -> String {
        format!("{package}_{version}")
    }

    /// Whether the entry exists.
    pub fn has(&self, key: &str) -> bool {
        self.cache.get(AREA, key).is_some()
    }

    /// The names of all kernels that came from the archive, with their keys.
    pub(crate) fn names(&self) -> Vec<(String, StoredName)> {
        let keys = self.cache.keys(AREA).into_iter().filter(|k| k.contains('_'));
        let name = |key: &str| read_manifest(&self.cache.path(AREA, key), |name: &StoredName| &name.schema).ok();
        keys.filter_map(|key| Some((key.clone(), name(&key)?))).collect()
    }

    /// Opens an entry, if it exists.
    pub fn open(&self, key: &str, name: &str) -> Result<Option<Kernel>, KernelError> {
        self.cache.get(AREA, key).map(|dir| open(&dir, name)).transpose()
    }

    /// Unpacks and publishes the package files that `fetch` returns. `fetch` downloads into the folder it gets, which is
    /// removed with the unfinished entry. `package` names the kernel, if the first file does not.
    pub fn build(
        &self,
        key: &str,
        package: Option<(&str, &str)>,
        name: &str,
        fetch: impl FnOnce(&Path) -> Result<Vec<PathBuf>, KernelError>,
    ) -> Result<Kernel, KernelError> {
        let dir = self.cache.publish(AREA, key, |building| {
            let downloads = building.join("downloads");
            let stored = |path: &Path, result: std::io::Result<()>| result.map_err(|e| CacheError::from_io(path, e));
            stored(&downloads, fs::create_dir(&downloads))?;
            let debs = fetch(&downloads)?;
            fill(building, &debs, package)?;
            stored(&downloads, fs::remove_dir_all(&downloads))?;
            Ok::<(), KernelError>(())
        })?;
        open(&dir, name)
    }
}

fn fill(building: &Path, debs: &[PathBuf], package: Option<(&str, &str)>) -> Result<(), KernelError> {
    let tree = building.join("tree");
    fs::create_dir(&tree).map_err(|e| CacheError::from_io(&tree, e))?;
    let mut first = None;
    for path in debs {
        let info = package_file::unpack(path, &tree)?;
        first.get_or_insert(info);
    }
    let own = first
        .as_ref()
        .map(|info| (info.package.as_str(), info.version.as_str()));
    let (package, version) = package.or(own).unwrap_or_default();
    let release = match files::in_folder(&tree) {
        Ok(found) => found.release,
        Err(KernelError::NotAKernel { why, .. }) => {
            let split = "; where a distribution splits its kernel into packages, name all of them with commas between, or put them into one folder";
            let path = debs.first().cloned().unwrap_or(tree);
            return Err(KernelError::NotAKernel {
                path,
                why: format!("{why}{split}"),
            });
        }
        Err(e) => return Err(e),
    };
    let mut files = Vec::new();
    sums(&tree, &tree, &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let modules_dir = tree.join("lib/modules").join(&release);
    if modules_dir.is_dir() && !modules_dir.join("modules.dep").exists() {
        let path = modules_dir.join("modules.dep");
        fs::write(&path, modules::modules_dep(&modules_dir)?).map_err(|e| CacheError::from_io(&path, e))?;
    }
    let debs = debs
        .iter()
        .map(|d| sum(d, d.file_name().unwrap_or_default().to_string_lossy().into()))
        .collect::<Result<_, _>>()?;
    let manifest = KernelManifest {
        schema: SCHEMA.into(),
        package: package.into(),
        version: version.into(),
        release,
        debs,
        files,
    };
    let path = building.join("manifest.json");
    let json = serde_json::to_vec_pretty(&manifest).expect("a manifest of strings and numbers is always JSON");
    Ok(fs::write(&path, json).map_err(|e| CacheError::from_io(&path, e))?)
}

/// Reads a manifest, or the part of it that names the kernel.
fn read_manifest<M: DeserializeOwned>(dir: &Path, schema: impl Fn(&M) -> &str) -> Result<M, KernelError> {
    let damaged = |why: String| KernelError::Damaged { path: dir.into(), why };
    let bytes =
        worstcase_base::files::read(&dir.join("manifest.json")).map_err(|e| damaged(format!("manifest.json: {e}")))?;
    let manifest: M = serde_json::from_slice(&bytes).map_err(|e| damaged(format!("manifest.json: {e}")))?;
    match schema(&manifest) {
        SCHEMA => Ok(manifest),
        other => Err(damaged(format!("of another format, {other}"))),
    }
}

fn open(dir: &Path, name: &str) -> Result<Kernel, KernelError> {
    let manifest = read_manifest(dir, |manifest: &KernelManifest| &manifest.schema)?;
    let damaged = |why: String| KernelError::Damaged { path: dir.into(), why };
    let tree = dir.join("tree");
    // Checks the sizes of all files and the digest of the image: fast enough for every use, and finds files that a user
    // deleted or cut.
    for file in &manifest.files {
        let size = fs::metadata(tree.join(&file.path)).map(|m| m.len());
        if size.ok() != Some(file.size) {
            return Err(damaged(format!("{} is missing or was changed", file.path)));
        }
    }
    let found = files::in_folder(&tree).map_err(|e| damaged(e.to_string()))?;
    let image = found
        .bzimage
        .strip_prefix(&tree)
        .unwrap_or(&found.bzimage)
        .to_string_lossy()
        .into_owned();
    let expected = manifest
        .files
        .iter()
        .find(|f| f.path == image)
        .map(|f| f.sha256.as_str());
    if Some(sum(&found.bzimage, image.clone())?.sha256.as_str()) != expected {
        return Err(damaged(format!("{image} was changed")));
    }
    let digest = digest(&manifest.files);
    let version = Some(manifest.version).filter(|v| !v.is_empty());
    Ok(kernel(name, found, version, digest))
}

/// A kernel outside of the cache: its files are hashed as they are now.
pub(crate) fn from_files(name: &str, found: KernelFiles) -> Result<Kernel, KernelError> {
    let mut list = vec![sum(&found.bzimage, "bzImage".into())?];
    for (path, role) in [(&found.config, "config"), (&found.system_map, "System.map")] {
        list.extend(path.as_ref().map(|p| sum(p, role.into())).transpose()?);
    }
    if let Some(dir) = &found.modules_dir {
        sums(dir, dir, &mut list)?;
    }
    list.sort_by(|a, b| a.path.cmp(&b.path));
    let digest = digest(&list);
    Ok(kernel(name, found, None, digest))
}

fn kernel(name: &str, found: KernelFiles, package_version: Option<String>, digest: String) -> Kernel {
    Kernel {
        name: name.into(),
        label: found.release.clone(),
        flavour: Flavour::of_release(&found.release),
        arch: found.arch,
        release: found.release,
        package_version,
        bzimage: found.bzimage,
        modules_dir: found.modules_dir,
        system_map: found.system_map,
        config: found.config,
        digest,
    }
}

/// sha256 over the lines `<sha256>  <path>`, as sha256sum would print them.
fn digest(files: &[FileSum]) -> String {
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update(format!("{}  {}\n", file.sha256, file.path));
    }
    hex(hasher)
}

/// The key of the kernel in these package files, in any order.
pub(crate) fn key_of_files(packages: &[PathBuf]) -> Result<String, KernelError> {
    let sums = packages.iter().map(|path| Ok(sum(path, String::new())?.sha256));
    let mut sums = sums.collect::<Result<Vec<_>, KernelError>>()?;
    if let [one] = sums.as_slice() {
        return Ok(format!("deb-{}", &one[..16]));
    }
    sums.sort();
    Ok(format!(
        "packages-{}",
        &worstcase_base::digest::sha256_hex(sums.concat().as_bytes())[..16]
    ))
}

fn sum(path: &Path, name: String) -> Result<FileSum, KernelError> {
    let hash = || -> std::io::Result<(u64, String)> {
        let (mut file, mut hasher, mut size) = (worstcase_base::files::open(path)?, Sha256::new(), 0);
        let mut buffer = vec![0; 1 << 17];
        loop {
            let n = file.read(&mut buffer)?;
            if n == 0 {
                return Ok((size, hex(hasher)));
            }
            size += n as u64;
            hasher.update(&buffer[..n]);
        }
    };
    let (size, sha256) = hash().map_err(|source| KernelError::Unreadable {
        path: path.into(),
        source,
    })?;
    Ok(FileSum {
        path: name,
        size,
        sha256,
    })
}

fn sums(root: &Path, dir: &Path, into: &mut Vec<FileSum>) -> Result<(), KernelError> {
    let unreadable = |source| KernelError::Unreadable {
        path: dir.into(),
        source,
    };
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        let path = entry.path();
        if kind.is_dir() {
            sums(root, &path, into)?;
        } else if kind.is_file() {
            into.push(sum(
                &path,
                path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into(),
            )?);
        }
    }
    Ok(())
}

fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deb;

    fn build(cache: &Cache, deb: Vec<u8>) -> Result<Kernel, KernelError> {
        let fetch = |into: &Path| {
            let path = into.join("k.deb");
            fs::write(&path, &deb).unwrap();
            Ok(vec![path])
        };
        KernelStore::new(cache).build("linux-image-6.1.0-1-amd64_6.1-1", None, "debian:6.1", fetch)
    }

    fn sample_deb() -> Vec<u8> {
        let image = crate::image::sample("6.1.0-1-amd64");
        let module = super::super::modinfo::sample(b"depends=\0");
        let members: [(&str, &[u8]); 3] = [
            ("./boot/vmlinuz-6.1.0-1-amd64", &image),
            ("./boot/config-6.1.0-1-amd64", b"CONFIG_HZ=250\n"),
            ("./usr/lib/modules/6.1.0-1-amd64/kernel/brd.ko", &module),
        ];
        deb::sample("linux-image-6.1.0-1-amd64", "6.1-1", &members)
    }

    #[test]
    fn a_package_becomes_a_kernel_with_its_module_list() {
        let dir = tempfile::tempdir().unwrap();
        let kernel = build(&Cache::at(dir.path()), sample_deb()).unwrap();
        assert_eq!(
            (kernel.label.as_str(), kernel.package_version.as_deref()),
            ("6.1.0-1-amd64", Some("6.1-1"))
        );
        assert_eq!(modules::load_order(&kernel, &["brd"]).unwrap().len(), 1);
        assert!(
            !dir.path()
                .join("kernels/linux-image-6.1.0-1-amd64_6.1-1/downloads")
                .exists()
        );
        let other = tempfile::tempdir().unwrap();
        assert_eq!(
            build(&Cache::at(other.path()), sample_deb()).unwrap().digest,
            kernel.digest,
            "a matter of content"
        );
    }

    #[test]
    fn a_truncated_package_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut deb = sample_deb();
        deb.truncate(deb.len() - 100);
        assert!(matches!(
            build(&Cache::at(dir.path()), deb),
            Err(KernelError::BadPackage { .. })
        ));
        assert_eq!(fs::read_dir(dir.path().join("kernels")).unwrap().count(), 0);
    }

    #[test]
    fn a_damaged_entry_is_never_used() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let kernel = build(&cache, sample_deb()).unwrap();
        let mut image = fs::read(&kernel.bzimage).unwrap();
        image[0x7ff] = 1;
        fs::write(&kernel.bzimage, image).unwrap();
        let error = KernelStore::new(&cache)
            .open("linux-image-6.1.0-1-amd64_6.1-1", "x")
            .unwrap_err();
        assert!(error.to_string().contains("remove this directory"), "{error}");
    }
}
