//! The executable of worstcase, as other machines can run it.

use crate::RemoteError;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use worstcase_base::cache::Cache;
use worstcase_base::digest::sha256_hex;

/// The area of the cache that holds copies, here and on other machines.
pub(crate) const AREA: &str = "executables";
/// A copy's name in its folder.
pub(crate) const NAME: &str = "worstcase";

/// The executable of this process.
pub struct Executable {
    /// Where it is.
    pub path: PathBuf,
    /// SHA-256 of its bytes.
    pub digest: String,
    /// Its length.
    pub bytes: u64,
}

impl Executable {
    /// Reads this process's own executable, even if another file has taken its place since.
    pub fn own() -> Result<Executable, RemoteError> {
        Executable::at("/proc/self/exe".into())
    }

    /// A file.
    pub fn at(path: PathBuf) -> Result<Executable, RemoteError> {
        let named = |e: io::Error| RemoteError::Choice(path.display().to_string(), format!("cannot read it: {e}"));
        let bytes = fs::read(&path).map_err(named)?;
        Ok(Executable {
            digest: sha256_hex(&bytes),
            bytes: bytes.len() as u64,
            path,
        })
    }

    /// Copies it to the cache, where other machines see it.
    pub(crate) fn shared(&self, cache: &Cache) -> Result<PathBuf, RemoteError> {
        let folder = cache.publish(AREA, &self.digest, |building| copy(&self.path, &building.join(NAME)))?;
        Ok(folder.join(NAME))
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), RemoteError> {
    let copied = || -> io::Result<()> {
        io::copy(&mut File::open(from)?, &mut File::create(to)?)?;
        fs::set_permissions(to, Permissions::from_mode(0o755))
    };
    copied().map_err(RemoteError::io(to))
}
