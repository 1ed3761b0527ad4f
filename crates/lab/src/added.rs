//! Programs that the user puts into the image (`--add PATH[:DEST]`), with the shared libraries that they need.

use super::LabError;
use std::collections::BTreeMap;
use std::path::Path;
use worstcase_plan::Added;

/// Refuses a file that does not exist.
pub fn check(added: &Added) -> Result<(), LabError> {
    match added.source.is_file() {
        true => Ok(()),
        false => Err(LabError::Request(format!(
            "--add {}: there is no such file",
            added.source.display()
        ))),
    }
}

/// Adds the file, and the libraries and loader of a program, under the paths where the program looks for them.
pub(crate) fn collect(added: &Added, files: &mut BTreeMap<String, Vec<u8>>) -> Result<(), LabError> {
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
    worstcase_base::files::read(path).map_err(LabError::io(path))
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
}
