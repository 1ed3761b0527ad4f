//! The user's own kernel modules (`--module PATH.ko[ parameters...]`).

use super::{LabError, added};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use worstcase_base::digest::sha256_hex;
use worstcase_kernels::Kernel;
use worstcase_kernels::modinfo::{self, ModInfo};
use worstcase_kernels::modules::{self, KernelModules};
use worstcase_plan::LabModule;
use worstcase_results::record;

/// Their folder in the image.
const FOLDER: &str = "modules/own";

/// Parameters that the kernel itself accepts for every module.
const OF_EVERY_MODULE: [&str; 2] = ["async_probe", "dyndbg"];

/// A module, with the information in its file.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnModule {
    /// Its file and its parameters.
    pub plan: LabModule,
    /// Its name in the kernel.
    pub name: String,
    /// The file's bytes, unpacked.
    pub bytes: Arc<[u8]>,
    info: ModInfo,
}

impl std::fmt::Debug for OwnModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.plan.fmt(f)
    }
}

impl OwnModule {
    /// Reads the file.
    pub(crate) fn read(plan: &LabModule) -> Result<OwnModule, LabError> {
        let wrong = |what: String| LabError::Request(format!("--module {}: {what}", plan.source.display()));
        if !plan.source.is_file() {
            return Err(wrong("there is no such file; build it, or check the path".into()));
        }
        let unread = |_| wrong("it is no kernel module (ELF); give the .ko that the build made".into());
        let bytes = modules::read(&plan.source).map_err(unread)?;
        let Some(info) = modinfo::parse(&bytes) else {
            return Err(wrong(
                "it is no kernel module: it has no .modinfo; give the .ko that the build made".into(),
            ));
        };
        let name = info.name.clone().unwrap_or_else(|| modules::name_of(&plan.source));
        let known = |wanted: &str| info.parameters.iter().any(|p| modules::canonical(p) == wanted);
        let mut words = parameter_names(&plan.parameters);
        if let Some(unknown) = words.find(|word| !known(word) && !OF_EVERY_MODULE.contains(&word.as_str())) {
            let has = match info.parameters.is_empty() {
                true => "none".to_string(),
                false => info.parameters.join(", "),
            };
            return Err(wrong(format!("{name} has no parameter '{unknown}'; it has {has}")));
        }
        Ok(OwnModule {
            plan: plan.clone(),
            name,
            bytes: bytes.into(),
            info,
        })
    }

    /// The module for a record, without facts about the controller.
    pub fn described(&self) -> record::LoadedModule {
        record::LoadedModule {
            name: self.name.clone(),
            parameters: self.plan.parameters.clone(),
            digest: format!("sha256:{}", sha256_hex(&self.bytes)),
        }
    }

    /// Refuses a module that was built for another kernel, or for another architecture.
    fn fits(&self, kernel: &Kernel) -> Result<(), LabError> {
        if let Some(why) = added::strange_to(&self.bytes, &kernel.name, kernel.arch) {
            return Err(LabError::Request(format!(
                "--module {}: {why}; build it against the headers of {}",
                self.plan.source.display(),
                kernel.release
            )));
        }
        match &self.info.release {
            Some(release) if *release != kernel.release => Err(LabError::Request(format!(
                "--module {}: it was built for {release}, and the kernel {} is {}; build it against the headers of {}",
                self.plan.source.display(),
                kernel.name,
                kernel.release,
                kernel.release
            ))),
            _ => Ok(()),
        }
    }
}

/// Names of the parameters in a line like `a=1 b="2 3" c`; `-` is the same as `_`.
fn parameter_names(line: &str) -> impl Iterator<Item = String> {
    let mut quoted = false;
    let words = line.split(move |c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    });
    let named = words.filter(|word| !word.is_empty());
    named.map(|word| modules::canonical(word.split('=').next().unwrap_or(word)))
}

/// Puts modules into the image, after the kernel's modules that they need, with the list by which the guest loads them.
pub fn add(kernel: &Kernel, own: &[OwnModule], files: &mut BTreeMap<String, Vec<u8>>) -> Result<(), LabError> {
    if own.is_empty() {
        return Ok(());
    }
    let modules_of_kernel = KernelModules::of(kernel)?;
    let mut list = String::new();
    let mut needed_so_far: BTreeSet<PathBuf> = BTreeSet::new();
    for (at, module) in own.iter().enumerate() {
        module.fits(kernel)?;
        if own[..at].iter().any(|other| other.name == module.name) {
            let what = format!("--module: {} is there twice; a kernel loads a module once", module.name);
            return Err(LabError::Request(what));
        }
        let is_own = |name: &str| own.iter().any(|other| other.name == modules::canonical(name));
        let needed = module.info.depends.iter().map(String::as_str);
        let of_kernel: Vec<&str> = needed.filter(|name| !is_own(name)).collect();
        for path in modules_of_kernel.load_order(&of_kernel)? {
            if needed_so_far.insert(path.clone()) {
                put(files, &mut list, &modules::name_of(&path), &modules::read(&path)?, "");
            }
        }
        put(files, &mut list, &module.name, &module.bytes, &module.plan.parameters);
    }
    files.insert(format!("{FOLDER}/list"), list.into_bytes());
    Ok(())
}

fn put(files: &mut BTreeMap<String, Vec<u8>>, list: &mut String, name: &str, bytes: &[u8], parameters: &str) {
    files.insert(format!("{FOLDER}/{name}.ko"), bytes.to_vec());
    list.push_str(&format!("{name} {parameters}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_where_a_modules_name_does() {
        let missing = |text: &str| OwnModule::read(&text.parse().unwrap()).unwrap_err().to_string();
        assert!(missing("/no/a b.ko work=x.ko").starts_with("--module /no/a b.ko: there is no such file"));
        assert!(missing("/no/m.ko.xz").starts_with("--module /no/m.ko.xz: there"));
    }

    #[test]
    fn a_parameters_value_may_hold_spaces() {
        let names: Vec<String> = parameter_names("  a=1 some-list=\"2 b=3\"  c").collect();
        assert_eq!(names, ["a", "some_list", "c"]);
        assert_eq!(parameter_names("").next(), None);
    }

    #[test]
    fn what_is_no_module_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.ko");
        for (bytes, says) in [
            (&b"text"[..], "it is no kernel module (ELF)"),
            (b"\x7fELF", "it has no .modinfo"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let error = OwnModule::read(&path.display().to_string().parse().unwrap()).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
            assert_eq!(error.to_string().lines().count(), 1);
        }
    }
}
