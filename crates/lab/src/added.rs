//! Programs that the user puts into the image (`--add PATH[:DEST]`), with the shared libraries that they need.

use super::LabError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// One program or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// On the controller.
    pub source: PathBuf,
    /// In the guest, absolute.
    pub dest: String,
}

impl FromStr for Added {
    type Err = LabError;

    /// Reads `PATH[:DEST]`; without a destination a file goes to `/usr/bin` under its own name.
    fn from_str(text: &str) -> Result<Self, LabError> {
        let (source, dest) = match text.split_once(':') {
            Some((source, dest)) => (PathBuf::from(source), dest.to_string()),
            None => {
                let source = PathBuf::from(text);
                let name = source
                    .file_name()
                    .map(|n| n.to_string_lossy().into_owned())
                    .unwrap_or_default();
                (source, format!("/usr/bin/{name}"))
            }
        };
        if !source.is_file() {
            return Err(LabError::Request(format!(
                "--add {text}: there is no file {}",
                source.display()
            )));
        }
        let clean = dest.starts_with('/') && !dest.ends_with('/') && !dest.split('/').any(|part| part == "..");
        if !clean || dest == "/init" || dest.starts_with("/modules/") {
            return Err(LabError::Request(format!(
                "--add {text}: the destination '{dest}' must be an absolute path of a file, not /init and not below /modules"
            )));
        }
        Ok(Added { source, dest })
    }
}

impl Added {
    /// As an experiment keeps it: found again from every folder.
    pub fn to_plan(&self) -> Result<worstcase_plan::Added, LabError> {
        Ok(worstcase_plan::Added {
            source: std::path::absolute(&self.source).map_err(LabError::io(&self.source))?,
            dest: self.dest.clone(),
        })
    }

    /// All that an experiment adds.
    pub fn all(experiment: &worstcase_plan::Experiment) -> Vec<Added> {
        let added = |added: &worstcase_plan::Added| Added {
            source: added.source.clone(),
            dest: added.dest.clone(),
        };
        experiment.added.iter().map(added).collect()
    }

    /// Adds the file, and the libraries and loader of a program, under the paths where the program looks for them.
    pub fn collect(&self, files: &mut BTreeMap<String, Vec<u8>>) -> Result<(), LabError> {
        files.insert(inside(&self.dest), read(&self.source)?);
        let tree = match lddtree::DependencyAnalyzer::default().analyze(&self.source) {
            Ok(tree) => tree,
            // Scripts and data files need nothing.
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
                    self.source.display()
                ))
            })?;
            files.insert(inside(&path.to_string_lossy()), read(&real)?);
        }
        if let Some(loader) = tree.interpreter {
            files.insert(inside(&loader), read(Path::new(&loader))?);
        }
        Ok(())
    }
}

/// A path inside the archive has no leading slash.
fn inside(path: &str) -> String {
    path.trim_start_matches('/').to_string()
}

fn read(path: &Path) -> Result<Vec<u8>, LabError> {
    worstcase_base::files::read(path).map_err(LabError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_brings_its_libraries_and_loader() {
        let added: Added = "/bin/true:/bin/t".parse().unwrap();
        let mut files = BTreeMap::new();
        added.collect(&mut files).unwrap();
        assert!(files.contains_key("bin/t"));
        assert!(files.keys().any(|k| k.contains("libc.so.6")), "{:?}", files.keys());
        assert!(files.keys().any(|k| k.contains("ld-linux")), "{:?}", files.keys());
    }

    #[test]
    fn bad_destinations_are_refused() {
        for bad in [
            "/bin/true:relative",
            "/bin/true:/init",
            "/bin/true:/a/../b",
            "/no/such/file",
        ] {
            assert!(bad.parse::<Added>().is_err(), "{bad}");
        }
        assert_eq!("/bin/true".parse::<Added>().unwrap().dest, "/usr/bin/true");
    }
}
