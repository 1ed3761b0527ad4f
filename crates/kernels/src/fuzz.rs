//! The readers of packages and kernels' files, as functions of bytes, for scripts/fuzz.

use super::config::KernelConfig;
use super::image::ImageFacts;
use super::load_order::Orders;
use super::modules::ModuleIndex;
use super::{Arch, needs, package_file, packages, preempt, sources};
use std::hint::black_box;
use std::path::Path;

/// A package, .deb or .rpm: reads everything, writes nothing.
pub fn package(file: &Path) {
    let _ = black_box(package_file::examine(file));
}

/// Some .debs, compressed and not.
pub fn debs() -> Vec<Vec<u8>> {
    let tar = |files: &[(&str, &str)]| {
        let mut tar = tar::Builder::new(Vec::new());
        for (name, text) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, name, text.as_bytes())
                .expect("memory takes it");
        }
        tar.into_inner().expect("memory takes it")
    };
    let control = tar(&[(
        "./control",
        "Package: linux-image-6.1-amd64\nVersion: 6.1-1\nDepends: a, b | c\n",
    )]);
    let long = format!("./lib/modules/6.1/{}/m.ko", "long".repeat(40));
    let data = tar(&[
        ("./boot/vmlinuz-6.1", "image"),
        (&long, "module"),
        ("./usr/lib/modules/6.1/modules.dep", ""),
    ]);
    let ar = |members: &[(&str, &[u8])]| {
        let mut archive = b"!<arch>\n".to_vec();
        for (name, content) in members {
            archive.extend(format!("{name:<16}{:<32}{:<10}`\n", "0", content.len()).bytes());
            archive.extend(*content);
            archive.extend(vec![b'\n'; content.len() % 2]);
        }
        archive
    };
    let gzip = |bytes: &[u8]| {
        let mut packed = Vec::new();
        let mut encoder = flate2::read::GzEncoder::new(bytes, flate2::Compression::fast());
        std::io::Read::read_to_end(&mut encoder, &mut packed).expect("memory takes it");
        packed
    };
    vec![
        ar(&[
            ("debian-binary", b"2.0\n"),
            ("control.tar", &control),
            ("data.tar", &data),
        ]),
        ar(&[("control.tar.gz/", &gzip(&control)), ("data.tar.gz/", &gzip(&data))]),
    ]
}

/// The release that an image names.
pub fn release(image: &Path) {
    let _ = black_box(ImageFacts::read(image));
}

/// apt's lists of packages and sources.
pub fn lists(text: &str) {
    for arch in Arch::ALL {
        black_box(packages::parse(text, "suite", arch));
        let found = [sources::parse_list(text, arch), sources::parse_deb822(text, arch)].concat();
        black_box(sources::to_deb822(&sources::widen(&found, &[]), arch));
    }
}

/// A kernel's build configuration.
pub fn config(text: &str) {
    let config = KernelConfig::parse(text);
    black_box((config.features(), preempt::from_config(&config), preempt::note(&config)));
    black_box((
        Arch::ALL.map(|arch| needs::lacking(&config, arch)),
        config.has_io_scheduler("mq-deadline"),
    ));
}

/// A kernel's list of what its modules need.
pub fn modules_dep(text: &str) {
    let (dep, builtin) = text.split_once("\n\n").unwrap_or((text, ""));
    let index = ModuleIndex::parse(dep, builtin);
    let mut steps = 100_000;
    let mut orders = Orders::new(|name: &str| index.needs(name), &mut steps);
    for name in ["ext4", "null_blk", "a"] {
        let _ = black_box(orders.add(name));
    }
    black_box(index.presence("ext4"));
}
