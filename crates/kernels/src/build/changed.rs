//! A kernel named by its source tree and changed options: built once, and kept by the digest of its inputs.

use std::path::Path;
use std::process::Command;
use std::thread;

use worstcase_base::digest::Digest;

use super::options::BuildOptions;
use super::tree::SourceTree;
use super::{Builder, KernelBuildError, check_machine, configuration, is_kernel_tree, is_on_path};
use crate::{Kernel, KernelError, ResolveOptions, files, store};

/// The area of built kernels, by the digest of their inputs.
const BUILT: &str = "built";
/// The area with a copy of each tree, and its build folder.
const TREES: &str = "trees";
/// The image's folder in an entry.
const IMAGE: &str = "kernel";

/// Builds the kernel of a tree, or takes an earlier build with the same inputs.
pub fn resolve(
    name: &str,
    tree: &Path,
    config: Option<&Path>,
    changed: &BuildOptions,
    options: &ResolveOptions<'_>,
) -> Result<Kernel, KernelError> {
    let path = std::path::absolute(tree).map_err(KernelBuildError::io(tree))?;
    let config = configuration(&changed.apply(&read_config(&path, config)?), false);
    if !is_on_path("git") {
        return Err(KernelBuildError::NoTools("git".into()).into());
    }
    let cache = &options.cache;
    let key = Digest::new("worstcase-tree/1").text(&path.to_string_lossy()).hex()[..16].to_string();
    let _lock = cache.lock(TREES, &key)?;
    let folder = cache.area(&format!("{TREES}/{key}"))?;
    let tree = SourceTree::open(&path, &folder)?;
    let state = tree.state()?;
    let key = Digest::new("worstcase-built/1")
        .text(&state)
        .text(&config)
        .text(&compiler()?)
        .hex()[..16]
        .to_string();
    let place = cache.keep(BUILT, &key, "it is built again", |building| {
        check_machine(&folder)?;
        let build = folder.join("build");
        let log = build.join("build.log");
        options
            .progress
            .note(&format!("building {name}, which takes minutes; see {}", log.display()));
        tree.check_out(&state)?;
        let builder = Builder {
            source: tree.source(),
            build,
            kept: building.into(),
            config,
            options: changed.clone(),
            jobs: thread::available_parallelism().map_err(KernelBuildError::io("the number of CPUs"))?,
            stop: options.stop.clone(),
        };
        let tree = path.clone();
        let built = builder.build(IMAGE)?;
        built
            .map(drop)
            .map_err(|why| KernelError::from(KernelBuildError::Fails { tree, why, log }))
    })?;
    let kernel = store::from_files(name, files::in_folder(&place.join(IMAGE))?)?;
    Ok(Kernel {
        label: format!("{}{}", kernel.label, changed.label()),
        ..kernel
    })
}

fn read_config(tree: &Path, config: Option<&Path>) -> Result<String, KernelError> {
    let not = |why: &str| KernelBuildError::NoTree {
        tree: tree.into(),
        why: why.into(),
    };
    if !tree.exists() {
        let name = tree.file_name().unwrap_or_default().to_string_lossy();
        let why = format!(
            "there is no such folder; link your source tree to it (ln -s TREE {name}), or give the command where it is"
        );
        return Err(not(&why).into());
    }
    if !is_kernel_tree(tree) {
        let why = "it is not a kernel's source tree, it has no Makefile with a PATCHLEVEL, or no Kconfig; name the tree before +CONFIG_";
        return Err(not(why).into());
    }
    let own = tree.join(".config");
    if config.is_none() && !own.exists() {
        let why = "it has no .config; make one in it (make defconfig), or name one: TREE,config=FILE+CONFIG_X=y";
        return Err(not(why).into());
    }
    let path = config.unwrap_or(&own);
    worstcase_base::files::read_to_string(path).map_err(|source| KernelError::Unreadable {
        path: path.into(),
        source,
    })
}

/// The compiler's version: another compiler makes another kernel.
fn compiler() -> Result<String, KernelError> {
    let output = Command::new("gcc").arg("--version").output();
    match output {
        Ok(output) => Ok(String::from_utf8_lossy(&output.stdout)
            .lines()
            .next()
            .unwrap_or_default()
            .into()),
        Err(_) => Err(KernelBuildError::NoTools("gcc".into()).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use worstcase_base::cache::Cache;

    /// A tree that builds as a kernel's does: it drops the option CONFIG_LOST, and CONFIG_BROKEN makes the build fail.
    fn tree(dir: &Path) {
        let tree = dir.join("linux");
        fs::create_dir_all(tree.join("kernel")).unwrap();
        let makefile = format!(
            "VERSION = 6\nPATCHLEVEL = 1\n\
             mrproper:\n\t:\n\
             olddefconfig:\n\tsed -i /LOST/d $(O)/.config\n\
             bzImage:\n\techo built >> {0}/builds\n\
             \t@! grep -q BROKEN=y $(O)/.config || {{ echo 'kernel/fork.c:9: error: no'; exit 1; }}\n\
             \tmkdir -p $(O)/arch/x86/boot; cp {0}/image $(O)/arch/x86/boot/bzImage; cp {0}/image $(O)/System.map\n",
            dir.display()
        );
        fs::write(tree.join("Makefile"), makefile).unwrap();
        fs::write(
            tree.join("Kconfig"),
            "config LOST\n\tbool \"Lost\"\n\tdepends on FOUND\n",
        )
        .unwrap();
        fs::write(tree.join("kernel/fork.c"), "one").unwrap();
        fs::write(tree.join(".gitignore"), ".*\n").unwrap();
        let all: String = crate::needs::of(crate::Arch::X86)
            .map(|(option, _)| format!("CONFIG_{option}=y\n"))
            .collect();
        fs::write(tree.join(".config"), all + "CONFIG_HZ=250\n").unwrap();
        fs::write(dir.join("image"), crate::image::sample("6.1.0")).unwrap();
    }

    fn resolved(dir: &Path, after: &str) -> Result<Kernel, KernelError> {
        let options = ResolveOptions::for_tests(dir.join("cache"));
        crate::resolve(&format!("{}{after}", dir.join("linux").display()), &options)
    }

    fn builds(dir: &Path) -> usize {
        fs::read_to_string(dir.join("builds"))
            .unwrap_or_default()
            .lines()
            .count()
    }

    #[test]
    fn a_tree_is_built_once_for_each_of_what_it_holds_and_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        tree(dir);
        let before = fs::read(dir.join("linux/.config")).unwrap();
        let kernel = resolved(dir, "+CONFIG_HZ=1000").unwrap();
        assert_eq!(
            (kernel.label.as_str(), kernel.release.as_str()),
            ("6.1.0+HZ.1000", "6.1.0")
        );
        assert_eq!(kernel.read_config().unwrap().get("HZ"), Some("1000"));
        assert_eq!(resolved(dir, "+CONFIG_HZ=1000").unwrap(), kernel);
        assert_eq!(builds(dir), 1);
        resolved(dir, "+CONFIG_HZ=250").unwrap();
        assert_eq!(builds(dir), 2);
        fs::write(dir.join("linux/kernel/fork.c"), "two!").unwrap();
        resolved(dir, "+CONFIG_HZ=1000").unwrap();
        assert_eq!(builds(dir), 3);
        fs::write(dir.join("linux/kernel/fork.c"), "one").unwrap();
        resolved(dir, "+CONFIG_HZ=1000").unwrap();
        assert_eq!(builds(dir), 3, "it is as it was");
        assert_eq!(fs::read(dir.join("linux/.config")).unwrap(), before);
        assert_eq!(
            fs::read_dir(dir.join("linux")).unwrap().count(),
            5,
            "nothing is left in the tree"
        );
    }

    #[test]
    fn what_cannot_be_built_is_told_in_one_line() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        tree(dir);
        let said = |after: &str| {
            let said = resolved(dir, after).unwrap_err().to_string();
            assert_eq!(said.lines().count(), 1, "{said}");
            said
        };
        let lost = said("+CONFIG_LOST=y");
        let expected = "CONFIG_LOST=y did not take effect, it is not there: it depends on FOUND (FOUND is not set)";
        assert!(lost.contains(expected), "{lost}");
        assert!(said("+CONFIG_BROKEN=y").contains("it does not build: kernel/fork.c:9: error: no"));
        assert!(said("+CONFIG_PCI=n").contains("lacks what the lab needs: CONFIG_PCI (the device"));
        assert!(said(",config=/nowhere+CONFIG_HZ=1").contains("cannot read /nowhere"));
        assert_eq!(builds(dir), 1, "the others did not get so far");
        fs::remove_file(dir.join("linux/.config")).unwrap();
        assert!(said("+CONFIG_HZ=1").contains("it has no .config"));
        fs::remove_file(dir.join("linux/Kconfig")).unwrap();
        assert!(said("+CONFIG_HZ=1").contains("not a kernel's source tree"));
        fs::remove_dir_all(dir.join("linux")).unwrap();
        assert!(said("+CONFIG_HZ=1").contains("no such folder; link your source tree to it (ln -s TREE linux)"));
        assert_eq!(Cache::at(dir.join("cache")).keys(BUILT).len(), 0);
    }
}
