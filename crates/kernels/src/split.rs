//! Tests of a kernel that its distribution splits into packages, named in every way.

use std::fs;
use std::path::Path;

use super::rpm::tests::regular;
use super::{Kernel, KernelError, ResolveOptions, deb, folder, modinfo, modules, resolve, rpm};
use worstcase_base::cache::Cache;

const RELEASE: &str = "6.1.0-1-generic";
const IMAGE: &str = "linux-image-6.1.0-1-generic_6.1.0-1.1_amd64.deb";
const MODULES: &str = "linux-modules-6.1.0-1-generic_6.1.0-1.1_amd64.deb";
const CORE: &str = "kernel-core-6.1.0-1.fc41.x86_64.rpm";
const MORE: &str = "kernel-modules-6.1.0-1.fc41.x86_64.rpm";

fn module() -> Vec<u8> {
    let module = modinfo::sample(b"depends=\0");
    ruzstd::encoding::compress_to_vec(&module[..], ruzstd::encoding::CompressionLevel::Fastest)
}

fn ubuntu(folder: &Path) {
    let package = |name: &str, files: &[(&str, &[u8])]| {
        let bytes = deb::sample(name.split('_').next().unwrap(), "6.1.0-1.1", files);
        fs::write(folder.join(name), bytes).unwrap();
    };
    package(
        IMAGE,
        &[("./boot/vmlinuz-6.1.0-1-generic", &crate::image::sample(RELEASE))],
    );
    package(
        MODULES,
        &[
            ("./boot/config-6.1.0-1-generic", b"CONFIG_HZ=1000\n"),
            ("./lib/modules/6.1.0-1-generic/kernel/brd.ko.zst", &module()),
        ],
    );
}

fn fedora(folder: &Path) {
    let image = crate::image::sample(RELEASE);
    let core = [
        regular("./lib/modules/6.1.0-1-generic/vmlinuz", &image),
        regular("./lib/modules/6.1.0-1-generic/config", b"CONFIG_HZ=1000\n"),
    ];
    fs::write(folder.join(CORE), rpm::tests::sample(&core)).unwrap();
    let module = module();
    let more = [regular("./lib/modules/6.1.0-1-generic/kernel/brd.ko.zst", &module)];
    fs::write(folder.join(MORE), rpm::tests::sample(&more)).unwrap();
}

fn resolved(dir: &Path, name: &str) -> Result<Kernel, KernelError> {
    let options = ResolveOptions::for_tests(dir.join("cache"));
    resolve(name, &options)
}

#[test]
fn every_way_to_name_the_packages_gives_the_same_kernel() {
    for (make, parts) in [(ubuntu as fn(&Path), [IMAGE, MODULES]), (fedora, [CORE, MORE])] {
        let dir = tempfile::tempdir().unwrap();
        let packages = dir.path().join("packages");
        fs::create_dir(&packages).unwrap();
        make(&packages);
        let [a, b] = parts.map(|part| packages.join(part).display().to_string());
        let names = [
            format!("{a},{b}"),
            format!("{b},{a}"),
            a.clone(),
            b,
            packages.display().to_string(),
        ];
        let kernels = names.map(|name| resolved(dir.path(), &name).unwrap());
        for kernel in &kernels {
            assert_eq!((kernel.release.as_str(), &kernel.digest), (RELEASE, &kernels[0].digest));
            assert_eq!(kernel.read_config().unwrap().get("HZ"), Some("1000"));
            assert_eq!(modules::load_order(kernel, &["brd"]).unwrap().len(), 1);
        }
        assert_eq!(
            Cache::at(dir.path().join("cache")).keys("kernels").len(),
            1,
            "one entry for all"
        );
        let found = folder::kernels_in(&packages).unwrap();
        assert_eq!(
            found.iter().map(|f| f.path.display().to_string()).collect::<Vec<_>>(),
            [a]
        );
        let found = folder::kernels_in(dir.path()).unwrap();
        assert_eq!(found.iter().map(|f| &f.path).collect::<Vec<_>>(), [&packages]);
    }
}

#[test]
fn what_is_not_one_kernel_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let apart = dir.path().join("apart");
    fs::create_dir(&apart).unwrap();
    ubuntu(dir.path());
    let modules = apart.join(MODULES);
    fs::rename(dir.path().join(MODULES), &modules).unwrap();
    let refused = |name: &str| resolved(dir.path(), name).unwrap_err().to_string();
    let said = refused(&modules.display().to_string());
    assert!(
        said.contains("no vmlinuz, bzImage or Image in it; where a distribution splits its kernel into packages"),
        "{said}"
    );
    fs::copy(dir.path().join(IMAGE), apart.join("other.deb")).unwrap();
    let twice = format!(
        "{},{}",
        dir.path().join(IMAGE).display(),
        apart.join("other.deb").display()
    );
    assert!(refused(&twice).contains("boot/vmlinuz-6.1.0-1-generic, which it or another of the packages has"));
    fedora(dir.path());
    assert!(refused(&dir.path().display().to_string()).contains("packages of 2 kernels in it"));
    assert_eq!(Cache::at(dir.path().join("cache")).keys("kernels").len(), 0);
}
