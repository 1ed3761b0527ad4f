//! Crafted packages and modules: each is refused in one line, soon, and without much memory.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use super::package_info::PackageInfo;
use super::{Kernel, KernelError, deb, modinfo, modules, rpm};

fn xz(bytes: impl Read) -> Vec<u8> {
    let mut packed = Vec::new();
    liblzma::read::XzEncoder::new(bytes, 1)
        .read_to_end(&mut packed)
        .unwrap();
    packed
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let level = flate2::Compression::best();
    flate2::read::GzEncoder::new(bytes, level)
        .read_to_end(&mut packed)
        .unwrap();
    packed
}

/// The header of a member of a tar archive; the content follows.
fn member(name: &str, kind: u8, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_path(name).unwrap();
    header.set_entry_type(tar::EntryType::new(kind));
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

/// A member of zeros, and the archive's end: a billion zeros take some kB.
fn bomb(name: &str, kind: u8, size: u64) -> Vec<u8> {
    let head = member(name, kind, size);
    let zeros = std::io::repeat(0).take(size + 1_024);
    xz(head.as_bytes().chain(zeros))
}

fn control(text: &str) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    tar.append(&member("./control", b'0', text.len() as u64), text.as_bytes())
        .unwrap();
    tar.into_inner().unwrap()
}

const CONTROL: &str = "Package: linux-image-6.1-amd64\nVersion: 6.1-1\n";

fn unpack(members: &[(&str, Vec<u8>)]) -> Result<PackageInfo, KernelError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("k.deb");
    fs::write(&path, deb::archive(members)).unwrap();
    let unpacked = deb::unpack(&path, &dir.path().join("tree"));
    unpacked.inspect_err(|e| assert_eq!(e.to_string().lines().count(), 1, "{e}"))
}

/// Limit in bytes for the address space, which a bomb would exceed.
const ROOM: u64 = 256 << 20;

/// Runs `work` in a new process of this test, with little memory and time.
fn in_little_room(test: &str, work: impl FnOnce()) {
    const INSIDE: &str = "WORSTCASE_TEST_ROOM";
    if std::env::var_os(INSIDE).is_some() {
        let limits = rustix::process::Rlimit {
            current: Some(ROOM),
            maximum: Some(ROOM),
        };
        rustix::process::setrlimit(rustix::process::Resource::As, limits).unwrap();
        return work();
    }
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    let name = format!("hostile::{test}");
    let mut child = again
        .args(["--exact", &name, "--test-threads=1"])
        .env(INSIDE, "1")
        .spawn()
        .unwrap();
    // This ends a hang; no time is asserted.
    for _ in 0..6_000 {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    panic!("it did not end in ten minutes");
}

#[test]
fn bombs_do_not_unpack() {
    in_little_room("bombs_do_not_unpack", || {
        const HUGE: u64 = 300_000_000;
        let good = xz(&control(CONTROL)[..]);
        let empty = xz(&[0; 1_024][..]);
        let cases: [(&str, Vec<u8>, Vec<u8>); 5] = [
            ("control", bomb("./control", b'0', HUGE), empty.clone()),
            ("long name in control", bomb("././@LongLink", b'L', HUGE), empty),
            ("long name", good.clone(), bomb("././@LongLink", b'L', HUGE)),
            ("pax", good.clone(), bomb("./pax", b'x', HUGE)),
            ("data", good, bomb("./boot/vmlinuz-6.1", b'0', HUGE)),
        ];
        for (what, control, data) in cases {
            let refused = unpack(&[("control.tar.xz", control), ("data.tar.xz", data)]).unwrap_err();
            assert!(refused.to_string().contains("more than"), "{what}: {refused}");
        }
        let dir = tempfile::tempdir().unwrap();
        for (expected, bytes) in rpm::tests::bombs() {
            let path = dir.path().join("k.rpm");
            fs::write(&path, bytes).unwrap();
            let refused = rpm::unpack(&path, &dir.path().join("tree")).unwrap_err().to_string();
            assert!(refused.contains(expected), "{refused}");
        }
        let path = dir.path().join("m.ko.xz");
        fs::write(&path, xz(b"\x7fELF".chain(std::io::repeat(0).take(HUGE)))).unwrap();
        let refused = modules::read(&path).unwrap_err().to_string();
        assert!(refused.contains("unpacks to more than"), "{refused}");
        // A header alone may claim gigabytes.
        let names = format!("!<arch>\n{:<48}{:<10}`\n", "//", 9_999_999_999_u64);
        let path = dir.path().join("names.deb");
        fs::write(&path, names).unwrap();
        assert!(matches!(deb::info(&path), Err(KernelError::BadPackage { .. })));
    });
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let data = {
        let mut tar = tar::Builder::new(Vec::new());
        let image = crate::image::sample("6.1-amd64");
        tar.append(
            &member("./boot/vmlinuz-6.1-amd64", b'0', image.len() as u64),
            &image[..],
        )
        .unwrap();
        gzip(&tar.into_inner().unwrap())
    };
    let of = |data: Vec<u8>| unpack(&[("control.tar.gz", gzip(&control(CONTROL))), ("data.tar.gz", data)]);
    of(data.clone()).unwrap();
    for at in 10..data.len() {
        let mut flipped = data.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(of(flipped).is_err(), "byte {at} of {}", data.len());
    }
}

#[test]
fn long_names_are_read() {
    let long = format!("./lib/modules/6.1/{}/m.ko", "long".repeat(60));
    let mut gnu = tar::Builder::new(Vec::new());
    let mut header = member("x", b'0', 4);
    gnu.append_data(&mut header, &long, &b"data"[..]).unwrap();
    let record = format!("path={long}\n");
    let record = format!("{} {record}", record.len() + 4);
    let mut pax = tar::Builder::new(Vec::new());
    pax.append(&member("./pax", b'x', record.len() as u64), record.as_bytes())
        .unwrap();
    pax.append(&member("short", b'0', 4), &b"data"[..]).unwrap();
    for tar in [gnu, pax] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k.deb");
        let members = [
            ("control.tar", control(CONTROL)),
            ("data.tar", tar.into_inner().unwrap()),
        ];
        fs::write(&path, deb::archive(&members)).unwrap();
        deb::unpack(&path, dir.path()).unwrap();
        assert_eq!(fs::read(dir.path().join(&long)).unwrap(), b"data");
    }
}

#[test]
fn names_that_would_steer_a_terminal_are_refused() {
    for text in [
        "Package: linux\x1b[2J\nVersion: 1\n",
        "Package: linux\nVersion: 1\x1b[31m\n",
        "Package: ../linux\nVersion: 1\n",
    ] {
        let refused = unpack(&[("control.tar", control(text)), ("data.tar", vec![0; 1_024])]).unwrap_err();
        assert!(refused.to_string().contains("no proper package name"), "{refused}");
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vmlinuz");
    for release in ["6.1\x1b[2J", "6.1/../../x", "6.1\u{202e}", &"6".repeat(65)] {
        fs::write(&path, crate::image::sample(release)).unwrap();
        let refused = crate::image::ImageFacts::read(&path).unwrap_err().to_string();
        assert!(
            refused.contains("its release is none that a kernel can have"),
            "{refused}"
        );
    }
}

/// A folder of modules, each with its dependencies.
fn folder_of(depends: impl Iterator<Item = (String, String)>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, needed) in depends {
        let elf = modinfo::sample(format!("depends={needed}\0").as_bytes());
        fs::write(dir.path().join(format!("{name}.ko")), elf).unwrap();
    }
    dir
}

fn refused(dir: &Path, asked: &str) -> [String; 2] {
    let kernel = Kernel {
        modules_dir: Some(dir.into()),
        ..Kernel::for_tests()
    };
    [
        modules::modules_dep(dir).unwrap_err().to_string(),
        modules::load_order(&kernel, &[asked]).unwrap_err().to_string(),
    ]
}

#[test]
fn modules_that_need_each_other_are_refused() {
    let circle = [("a", "b"), ("b", "c"), ("c", "a")].map(|(a, b)| (a.to_string(), b.to_string()));
    let dir = folder_of(circle.into_iter());
    for told in refused(dir.path(), "a") {
        assert!(told.contains("needs itself, through others"), "{told}");
    }
}

#[test]
fn a_chain_of_many_modules_is_refused_soon() {
    in_little_room("a_chain_of_many_modules_is_refused_soon", || {
        let name = |n: u32| format!("a_module_with_some_name_{n}");
        let dir = folder_of((0..30_000).map(|n| (name(n), name(n + 1))));
        let told = modules::modules_dep(dir.path()).unwrap_err().to_string();
        assert!(
            told.contains("more of each other than those of any real kernel"),
            "{told}"
        );
        // `modules.dep` with the same chain is short enough.
        let list: String = (0..30_000)
            .map(|n| format!("{}.ko: {}.ko\n", name(n), name(n + 1)))
            .collect();
        fs::write(dir.path().join("modules.dep"), list + &name(30_000) + ".ko:\n").unwrap();
        let kernel = Kernel {
            modules_dir: Some(dir.path().into()),
            ..Kernel::for_tests()
        };
        assert_eq!(modules::load_order(&kernel, &[&name(0)]).unwrap().len(), 30_001);
    });
}
