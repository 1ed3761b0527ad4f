//! A kernel's modules: their names, the order in which they load, and their bytes.
//!
//! Debian's packages have no `modules.dep`, because depmod makes it when a kernel is installed. So it is made here, in
//! the same format, when a package is unpacked, from the information in each module (see [`modinfo`](super::modinfo)).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use worstcase_base::files;
use worstcase_base::near::instead;

use super::load_order::{NoOrder, Orders};
use super::unpacked::{Packing, Unpacked, most_of};
use super::{Kernel, KernelError, modinfo};

/// The modules of one kernel, by name; in names `-` is the same as `_`.
#[derive(Debug, Default)]
pub struct ModuleIndex {
    modules: BTreeMap<String, ModuleFile>,
    builtin: BTreeSet<String>,
}

#[derive(Debug)]
struct ModuleFile {
    /// Relative to the modules directory.
    path: PathBuf,
    /// Names of modules.
    depends: Vec<String>,
}

/// Whether a kernel has a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// As a file, which must be loaded.
    Module,
    /// Built into the image.
    Builtin,
    /// The kernel does not have it.
    Absent,
}

/// The modules of a kernel that was named.
#[derive(Debug)]
pub struct KernelModules<'a> {
    kernel: &'a Kernel,
    /// With their folder, if that is known.
    index: Option<(&'a Path, ModuleIndex)>,
}

/// See [`KernelModules::load_order`].
pub fn load_order(kernel: &Kernel, names: &[&str]) -> Result<Vec<PathBuf>, KernelError> {
    KernelModules::of(kernel)?.load_order(names)
}

impl KernelModules<'_> {
    /// Reads which there are.
    pub fn of(kernel: &Kernel) -> Result<KernelModules<'_>, KernelError> {
        let index = kernel
            .modules_dir
            .as_deref()
            .map(|dir| Ok::<_, KernelError>((dir, ModuleIndex::load(dir)?)));
        Ok(KernelModules {
            kernel,
            index: index.transpose()?,
        })
    }

    /// The files to load for `names`, each once, every module after those that it needs. Built-in modules need no file.
    pub fn load_order(&self, names: &[&str]) -> Result<Vec<PathBuf>, KernelError> {
        let kernel = self.kernel;
        let Some((dir, index)) = &self.index else {
            let Some(first) = names.first() else {
                return Ok(Vec::new());
            };
            let hint = "no modules folder is known; name one: BZIMAGE,modules=DIR".into();
            return Err(KernelError::NoModule {
                kernel: kernel.label.clone(),
                module: (*first).into(),
                hint,
            });
        };
        let mut steps = MOST_STEPS;
        let mut orders = Orders::new(|name: &str| index.needs(name), &mut steps);
        for name in names {
            orders.add(&canonical(name)).map_err(|none| match none {
                NoOrder::Missing(missing) => {
                    let list = "take a kernel that has it (worstcase kernels show)";
                    let hint = instead(&missing, index.modules.keys(), list);
                    KernelError::NoModule {
                        kernel: kernel.label.clone(),
                        module: missing,
                        hint,
                    }
                }
                other => no_order(dir, other),
            })?;
        }
        let files = orders.finish().into_iter();
        Ok(files
            .filter_map(|name| Some(dir.join(&index.modules.get(&name)?.path)))
            .collect())
    }
}

/// Limit for steps; all modules of a kernel together need some hundred thousand.
const MOST_STEPS: usize = 20_000_000;
/// Limit in bytes; Debian's largest list has 700 kB.
const LONGEST_LIST: usize = 16 << 20;

fn no_order(dir: &Path, none: NoOrder) -> KernelError {
    KernelError::BadModule {
        path: dir.into(),
        why: match none {
            NoOrder::Missing(name) => format!("module {name} is missing"),
            NoOrder::Circle(name) => format!("module {name} needs itself, through others"),
            NoOrder::TooLong => "its modules need more of each other than those of any real kernel".into(),
        },
    }
}

/// A module's bytes, decompressed (.ko, .ko.xz, .ko.zst, .ko.gz; recognized by their first bytes).
pub fn read(path: &Path) -> Result<Vec<u8>, KernelError> {
    let bytes = files::read(path).map_err(|source| KernelError::Unreadable {
        path: path.into(),
        source,
    })?;
    let bad = |why: String| KernelError::BadModule { path: path.into(), why };
    if bytes.starts_with(b"\x7fELF") {
        return Ok(bytes);
    }
    let packing = Packing::of_bytes(&bytes).ok_or_else(|| bad("neither a module nor a compressed one".into()))?;
    let most = most_of(bytes.len() as u64).min(files::MOST_BYTES);
    let unpacked = Unpacked::new(&bytes[..], packing, most).and_then(Unpacked::read_all);
    unpacked.map_err(|e| bad(e.to_string()))
}

impl ModuleIndex {
    /// Reads `modules.dep` and `modules.builtin` of a `lib/modules/<release>`; without `modules.dep` reads all modules.
    pub fn load(dir: &Path) -> Result<ModuleIndex, KernelError> {
        let dep = match files::read_to_string(&dir.join("modules.dep")) {
            Ok(text) => text,
            Err(_) => modules_dep(dir)?,
        };
        let builtin = files::read_to_string(&dir.join("modules.builtin")).unwrap_or_default();
        Ok(ModuleIndex::parse(&dep, &builtin))
    }

    pub(super) fn parse(dep: &str, builtin: &str) -> ModuleIndex {
        let module = |line: &str| {
            let (path, depends) = line.split_once(':')?;
            let name = name_of(Path::new(path));
            let depends = depends.split_whitespace().map(|p| name_of(Path::new(p)));
            let depends = depends.filter(|needed| *needed != name).collect();
            Some((
                name,
                ModuleFile {
                    path: path.into(),
                    depends,
                },
            ))
        };
        ModuleIndex {
            modules: dep.lines().filter_map(module).collect(),
            builtin: builtin.lines().map(|p| name_of(Path::new(p))).collect(),
        }
    }

    /// Whether the kernel has this module.
    pub fn presence(&self, name: &str) -> Presence {
        let name = canonical(name);
        if self.modules.contains_key(&name) {
            Presence::Module
        } else if self.builtin.contains(&name) {
            Presence::Builtin
        } else {
            Presence::Absent
        }
    }

    /// The names that a module needs; none if there is no such module.
    pub(super) fn needs(&self, name: &str) -> Option<&[String]> {
        match self.modules.get(name) {
            Some(module) => Some(&module.depends),
            None => self.builtin.contains(name).then_some(&[]),
        }
    }
}

/// The text of `modules.dep` for a `lib/modules/<release>`, from the modules themselves.
pub fn modules_dep(dir: &Path) -> Result<String, KernelError> {
    let mut paths = Vec::new();
    find_modules(dir, dir, &mut paths).map_err(|source| KernelError::Unreadable {
        path: dir.into(),
        source,
    })?;
    paths.sort();
    // Decompressing some thousand modules takes seconds; they are independent of each other.
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let infos: Vec<Result<Vec<String>, KernelError>> = std::thread::scope(|scope| {
        let chunks = paths.chunks(paths.len().div_ceil(workers).max(1));
        let read_chunk = |chunk: &[PathBuf]| chunk.iter().map(|p| depends(&dir.join(p))).collect::<Vec<_>>();
        let handles: Vec<_> = chunks.map(|chunk| scope.spawn(move || read_chunk(chunk))).collect();
        handles
            .into_iter()
            .flat_map(|h| h.join().expect("reading a module does not panic"))
            .collect()
    });
    let by_name: BTreeMap<String, &PathBuf> = paths.iter().map(|p| (name_of(p), p)).collect();
    let mut direct = BTreeMap::new();
    for (path, info) in paths.iter().zip(infos) {
        let name = name_of(path);
        let is_there = |needed: &String| by_name.contains_key(needed) && *needed != name;
        let depends = info?.into_iter().filter(is_there).collect();
        direct.insert(
            name,
            ModuleFile {
                path: path.clone(),
                depends,
            },
        );
    }
    let index = ModuleIndex {
        modules: direct,
        builtin: BTreeSet::new(),
    };
    let mut text = String::new();
    let mut steps = MOST_STEPS;
    for path in &paths {
        let name = name_of(path);
        let mut orders = Orders::new(|name: &str| index.needs(name), &mut steps);
        orders.add(&name).map_err(|none| no_order(dir, none))?;
        text.push_str(&format!("{}:", path.display()));
        // In depmod's format: all that a module needs, directly or not; what is loaded first stands last.
        for needed in orders.finish().iter().rev().filter(|needed| **needed != name) {
            text.push_str(&format!(" {}", index.modules[needed].path.display()));
        }
        text.push('\n');
        if text.len() > LONGEST_LIST {
            return Err(no_order(dir, NoOrder::TooLong));
        }
    }
    Ok(text)
}

fn depends(path: &Path) -> Result<Vec<String>, KernelError> {
    let bad = || KernelError::BadModule {
        path: path.into(),
        why: "no .modinfo section".into(),
    };
    let info = modinfo::parse(&read(path)?).ok_or_else(bad)?;
    Ok(info.depends.iter().map(|n| canonical(n)).collect())
}

fn find_modules(root: &Path, dir: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        // In an installed kernel `build` and `source` are links to whole source trees, so links are not followed.
        let kind = entry.file_type()?;
        let path = entry.path();
        if kind.is_dir() {
            find_modules(root, &path, found)?;
        } else if kind.is_file() && is_module(&path) {
            found.push(path.strip_prefix(root).unwrap_or(&path).to_path_buf());
        }
    }
    Ok(())
}

fn is_module(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    [".ko", ".ko.xz", ".ko.zst", ".ko.gz"]
        .iter()
        .any(|suffix| name.ends_with(suffix))
}

/// A name as the kernel has it.
pub fn canonical(name: &str) -> String {
    name.replace('-', "_")
}

/// The name of the module in a file.
pub fn name_of(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    canonical(file.split(".ko").next().unwrap_or(&file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn kernel(dir: &Path) -> Kernel {
        Kernel {
            modules_dir: Some(dir.into()),
            label: "6.1.0-56-amd64".into(),
            ..Kernel::for_tests()
        }
    }

    fn with_modules() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, modinfo: &[u8]| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let elf = modinfo::sample(modinfo);
            let mut bytes = Vec::new();
            match path.extension().unwrap().to_str().unwrap() {
                "xz" => liblzma::read::XzEncoder::new(&elf[..], 1)
                    .read_to_end(&mut bytes)
                    .map(drop)
                    .unwrap(),
                "gz" => {
                    let level = flate2::Compression::fast();
                    flate2::read::GzEncoder::new(&elf[..], level)
                        .read_to_end(&mut bytes)
                        .map(drop)
                        .unwrap()
                }
                "zst" => {
                    bytes = ruzstd::encoding::compress_to_vec(&elf[..], ruzstd::encoding::CompressionLevel::Fastest)
                }
                _ => bytes = elf,
            }
            fs::write(path, bytes).unwrap();
        };
        put("kernel/drivers/md/dm-delay.ko.xz", b"depends=dm-mod\0");
        put("kernel/drivers/md/dm-mod.ko.gz", b"depends=dax\0");
        put("kernel/drivers/dax/dax.ko.zst", b"depends=\0");
        put("kernel/drivers/block/null_blk.ko", b"depends=configfs,dax\0");
        fs::write(dir.path().join("modules.builtin"), "kernel/fs/configfs/configfs.ko\n").unwrap();
        dir
    }

    #[test]
    fn modules_load_after_what_they_need_whatever_their_compression() {
        let dir = with_modules();
        let check = || {
            let order = load_order(&kernel(dir.path()), &["dm-delay", "null-blk", "configfs"]).unwrap();
            order.iter().map(|p| name_of(p)).collect::<Vec<_>>()
        };
        assert_eq!(check(), ["dax", "dm_mod", "dm_delay", "null_blk"]);
        fs::write(dir.path().join("modules.dep"), modules_dep(dir.path()).unwrap()).unwrap();
        assert_eq!(
            check(),
            ["dax", "dm_mod", "dm_delay", "null_blk"],
            "the same from the written list"
        );
    }

    #[test]
    fn a_missing_module_names_the_kernel_and_what_is_near() {
        let dir = with_modules();
        let error = load_order(&kernel(dir.path()), &["null_blkk"]).unwrap_err().to_string();
        assert_eq!(
            error,
            "no module null_blkk, kernel 6.1.0-56-amd64; there are dax, dm_delay, dm_mod, null_blk"
        );
        let without = Kernel {
            modules_dir: None,
            ..kernel(dir.path())
        };
        assert!(load_order(&without, &[]).unwrap().is_empty());
        assert!(
            load_order(&without, &["brd"])
                .unwrap_err()
                .to_string()
                .contains("modules=DIR")
        );
    }

    #[test]
    fn a_truncated_module_is_an_error() {
        let dir = with_modules();
        let path = dir.path().join("kernel/drivers/md/dm-delay.ko.xz");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(matches!(modules_dep(dir.path()), Err(KernelError::BadModule { .. })));
    }
}
