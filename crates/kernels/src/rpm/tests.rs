//! Packages made byte by byte, crafted packages, and one of rpmbuild's.

use super::*;
use std::fs;
use std::process::Command;

/// A file of a package.
pub struct File<'a> {
    pub path: &'a str,
    pub mode: u64,
    pub inode: u64,
    pub links: u64,
    pub content: &'a [u8],
}

pub fn regular<'a>(path: &'a str, content: &'a [u8]) -> File<'a> {
    File {
        path,
        mode: 0o100_644,
        inode: 0,
        links: 1,
        content,
    }
}

enum Value<'a> {
    Text(&'a str),
    Texts(Vec<&'a str>),
    Numbers(usize, Vec<u64>),
}

fn header(tags: &[(u32, Value<'_>)]) -> Vec<u8> {
    let (mut index, mut store) = (Vec::new(), Vec::new());
    for (tag, value) in tags {
        let (kind, count, bytes) = match value {
            Value::Text(text) => (6, 1, [text.as_bytes(), b"\0"].concat()),
            Value::Texts(texts) => (
                8,
                texts.len(),
                texts.iter().flat_map(|t| [t.as_bytes(), b"\0"].concat()).collect(),
            ),
            Value::Numbers(size, numbers) => {
                let kind = 2 + size.ilog2();
                (
                    kind,
                    numbers.len(),
                    numbers
                        .iter()
                        .flat_map(|n| n.to_be_bytes()[8 - size..].to_vec())
                        .collect(),
                )
            }
        };
        let fields = [*tag, kind, store.len() as u32, count as u32];
        fields.iter().for_each(|field| index.extend(field.to_be_bytes()));
        store.extend(bytes);
    }
    let mut header = vec![0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0];
    header.extend((tags.len() as u32).to_be_bytes());
    header.extend((store.len() as u32).to_be_bytes());
    [header, index, store].concat()
}

fn pad(archive: &mut Vec<u8>) {
    archive.resize(archive.len().next_multiple_of(4), 0);
}

fn newc(archive: &mut Vec<u8>, name: &str, file: &File<'_>) {
    let size = file.content.len() as u64;
    let fields = [
        file.inode,
        file.mode,
        0,
        0,
        file.links,
        0,
        size,
        0,
        0,
        0,
        0,
        name.len() as u64 + 1,
        0,
    ];
    archive.extend(b"070701");
    fields
        .iter()
        .for_each(|field| archive.extend(format!("{field:08x}").bytes()));
    archive.extend(name.bytes().chain([0]));
    pad(archive);
    archive.extend(file.content);
    pad(archive);
}

fn cpio(files: &[File<'_>]) -> Vec<u8> {
    let mut archive = Vec::new();
    files.iter().for_each(|file| newc(&mut archive, file.path, file));
    newc(&mut archive, "TRAILER!!!", &regular("", b""));
    archive
}

fn numbered(files: &[File<'_>]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (nth, file) in files.iter().enumerate() {
        archive.extend(format!("07070X{nth:08x}").bytes());
        pad(&mut archive);
        archive.extend(file.content);
        pad(&mut archive);
    }
    newc(&mut archive, "TRAILER!!!", &regular("", b""));
    archive
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn package(payload: &[u8], compressor: &str, more: Vec<(u32, Value<'_>)>) -> Vec<u8> {
    let sum = digest::sha256_hex(payload);
    let mut tags = vec![
        (tags::NAME, Value::Text("kernel-core")),
        (tags::VERSION, Value::Text("6.1.0")),
        (tags::RELEASE, Value::Text("1.fc41")),
        (tags::PAYLOAD_FORMAT, Value::Text("cpio")),
        (tags::PAYLOAD_COMPRESSOR, Value::Text(compressor)),
        (tags::PAYLOAD_SHA256, Value::Texts(vec![&sum])),
    ];
    tags.extend(more);
    wrapped(&header(&tags), payload)
}

fn wrapped(main: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut lead = MAGIC.to_vec();
    lead.resize(LEAD, 0);
    let mut signature = header(&[(tags::HEADER_SHA256, Value::Text(&digest::sha256_hex(main)))]);
    signature.resize(signature.len().next_multiple_of(8), 0);
    [&lead[..], &signature, main, payload].concat()
}

/// A package of format 4 with these files.
pub fn sample(files: &[File<'_>]) -> Vec<u8> {
    package(&zstd(&cpio(files)), "zstd", Vec::new())
}

/// A package of format 6 with these files.
fn sample_6(files: &[File<'_>]) -> Vec<u8> {
    let folders: Vec<String> = files
        .iter()
        .map(|f| f.path.trim_start_matches('.').rsplit_once('/').unwrap().0.to_string() + "/")
        .collect();
    let numbers = |of: &dyn Fn(&File<'_>) -> u64| files.iter().map(of).collect();
    let lists = vec![
        (
            tags::DIR_NAMES,
            Value::Texts(folders.iter().map(|f| f.as_str()).collect()),
        ),
        (tags::DIR_INDEXES, Value::Numbers(4, (0..files.len() as u64).collect())),
        (
            tags::BASE_NAMES,
            Value::Texts(files.iter().map(|f| f.path.rsplit_once('/').unwrap().1).collect()),
        ),
        (tags::FILE_MODES, Value::Numbers(2, numbers(&|f| f.mode))),
        (tags::FILE_INODES, Value::Numbers(4, numbers(&|f| f.inode))),
        (
            tags::FILE_SIZES_LONG,
            Value::Numbers(8, numbers(&|f| f.content.len() as u64)),
        ),
    ];
    package(&zstd(&numbered(files)), "zstd", lists)
}

/// The result of unpacking a package, and the folder.
fn unpacked(bytes: &[u8]) -> (tempfile::TempDir, Result<PackageInfo, KernelError>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("k.rpm");
    fs::write(&path, bytes).unwrap();
    let result = unpack(&path, &dir.path().join("tree"));
    (
        dir,
        result.inspect_err(|e| assert_eq!(e.to_string().lines().count(), 1, "{e}")),
    )
}

fn refused(bytes: &[u8]) -> String {
    unpacked(bytes).1.unwrap_err().to_string()
}

fn files() -> Vec<File<'static>> {
    let of = |path, mode, inode, content: &'static [u8]| File {
        inode,
        mode,
        ..regular(path, content)
    };
    vec![
        of("./lib/modules/6.1.0", 0o040_755, 1, b""),
        of("./lib/modules/6.1.0/vmlinuz", 0o100_600, 2, b"image"),
        of("./lib/modules/6.1.0/build", 0o120_777, 3, b"/usr/src/kernels"),
        of("./usr/lib/modules/6.1.0/kernel/m.ko", 0o100_644, 4, b"module"),
        of("./lib/modules/6.1.0/empty", 0o100_644, 5, b""),
        of("./etc/passwd", 0o100_644, 6, b"no"),
        of("./lib/modules/../../../outside", 0o100_644, 7, b"no"),
    ]
}

fn check(bytes: &[u8]) {
    let (dir, info) = unpacked(bytes);
    let info = info.unwrap();
    assert_eq!(
        (info.package.as_str(), info.version.as_str()),
        ("kernel-core", "6.1.0-1.fc41")
    );
    let at = dir.path().join("tree/lib/modules/6.1.0");
    assert_eq!(fs::read(at.join("vmlinuz")).unwrap(), b"image");
    assert_eq!(fs::read(at.join("kernel/m.ko")).unwrap(), b"module");
    assert_eq!(fs::read(at.join("empty")).unwrap(), b"");
    assert_eq!(fs::read_dir(&at).unwrap().count(), 3, "no link");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing outside");
    assert_eq!(fs::read_dir(dir.path().join("tree")).unwrap().count(), 1);
}

#[test]
fn both_formats_are_read() {
    check(&sample(&files()));
    check(&sample_6(&files()));
    check(&package(&cpio(&files()), "none", Vec::new()));
}

#[test]
fn all_names_of_a_file_have_its_content() {
    let link = |path, content| File {
        inode: 9,
        links: 2,
        ..regular(path, content)
    };
    let content = b"content".as_slice();
    // In format 4 the first name has no length, in format 6 both have one.
    let first = |content| link("./boot/a", content);
    let numbered_first = zstd(&numbered(&[first(b""), link("./boot/b", content)]));
    let lists = vec![
        (tags::DIR_NAMES, Value::Texts(vec!["/boot/"])),
        (tags::DIR_INDEXES, Value::Numbers(4, vec![0, 0])),
        (tags::BASE_NAMES, Value::Texts(vec!["a", "b"])),
        (tags::FILE_MODES, Value::Numbers(2, vec![0o100_644; 2])),
        (tags::FILE_INODES, Value::Numbers(4, vec![9; 2])),
        (tags::FILE_SIZES, Value::Numbers(4, vec![7; 2])),
    ];
    for bytes in [
        sample(&[first(b""), link("./boot/b", content)]),
        package(&numbered_first, "zstd", lists),
    ] {
        let (dir, info) = unpacked(&bytes);
        info.unwrap();
        for name in ["a", "b"] {
            assert_eq!(
                fs::read(dir.path().join("tree/boot").join(name)).unwrap(),
                content,
                "{name}"
            );
        }
    }
}

/// The bytes under checksums: the lead has none, and the signature has room for more signatures.
fn summed(whole: &[u8]) -> std::ops::Range<usize> {
    let begin = whole.windows(4).rposition(|w| w == [0x8e, 0xad, 0xe8, 1]).unwrap();
    begin..whole.len()
}

#[test]
fn a_package_that_is_cut_or_has_a_flipped_bit_is_refused() {
    for whole in [sample(&files()), sample_6(&files())] {
        for cut in 0..whole.len() {
            assert!(unpacked(&whole[..cut]).1.is_err(), "cut at {cut} of {}", whole.len());
        }
        for at in summed(&whole) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(unpacked(&flipped).1.is_err(), "byte {at} of {}", whole.len());
        }
    }
}

#[test]
fn what_is_no_package_of_a_known_kind_is_told() {
    let of = |payload: &[u8], compressor: &str| refused(&package(payload, compressor, Vec::new()));
    assert!(of(b"", "bzip2").contains("compressed in an unknown way (bzip2)"));
    assert!(of(b"not cpio, and long enough to be a header", "none").contains("none of cpio's"));
    assert!(of(b"070701zzzzzzzz", "none").contains("has no number"));
    assert!(of(&numbered(&files()), "none").contains("none of its list"));
    let texts = |texts: &[(u32, &'static str)]| {
        let tags: Vec<_> = texts.iter().map(|(tag, text)| (*tag, Value::Text(text))).collect();
        wrapped(&header(&tags), b"")
    };
    let other = texts(&[
        (tags::NAME, "k"),
        (tags::VERSION, "1"),
        (tags::RELEASE, "1"),
        (tags::PAYLOAD_FORMAT, "drpm"),
    ]);
    assert!(refused(&other).contains("packed in an unknown way (drpm)"));
    for wrong in ["../k", "k\x1b[2J", ""] {
        assert!(
            refused(&texts(&[(tags::NAME, wrong), (tags::VERSION, "1")])).contains("no proper package name"),
            "{wrong:?}"
        );
    }
    let twice = [regular("./boot/x", b"1"), regular("./boot/x", b"2")];
    assert!(refused(&sample(&twice)).contains("boot/x, which it or another of the packages has, too"));
    let below = [
        regular("./boot", b"1"),
        regular("./lib/modules/a", b"2"),
        regular("./lib/modules/a/b", b"2"),
    ];
    assert!(refused(&sample(&below)).contains("lib/modules/a/b, which"));
}

/// Headers that claim more than there is; a name or number outside of the store does not count.
#[test]
fn no_claim_of_a_header_is_believed() {
    let claim = |entries: u32, store: u32| {
        let mut header = vec![0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0];
        header.extend(entries.to_be_bytes());
        header.extend(store.to_be_bytes());
        let mut package = MAGIC.to_vec();
        package.resize(LEAD, 0);
        package.extend(header);
        refused(&package)
    };
    assert!(claim(u32::MAX, u32::MAX).contains("longer than that of any real package"));
    assert!(claim(1, u32::MAX).contains("longer than that of any real package"));
    assert!(claim(0xffff, 64 << 20).contains("a header is cut short"));
    for [kind, offset, count] in [
        [8, 0, u32::MAX],
        [6, u32::MAX, 1],
        [4, 0, u32::MAX],
        [4, u32::MAX, u32::MAX],
        [5, 2, 1],
        [77, 0, 1],
    ] {
        let mut bytes = vec![0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4];
        [1000, kind, offset, count]
            .iter()
            .for_each(|field| bytes.extend(u32::to_be_bytes(*field)));
        bytes.extend(b"abc\0");
        let header = Header::read(&mut &bytes[..]).unwrap();
        assert!(
            header.text(1000).is_none_or(|text| text == "abc"),
            "{kind} {offset} {count}"
        );
        assert_eq!(
            header.texts(1000).map_or(0, Iterator::count),
            usize::from(kind == 8),
            "{kind} {offset} {count}"
        );
        assert_eq!(header.numbers(1000), None, "{kind} {offset} {count}");
    }
}

/// rpmbuild lays a kernel out as Fedora does, in packages that this reads.
#[test]
fn a_package_of_rpmbuild_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let spec = dir.path().join("k.spec");
    let text = "\
Name: kernel-core\nVersion: 6.1.0\nRelease: 1.fc41\nSummary: s\nLicense: GPL-2.0\n%description\nd\n%install
m=%{buildroot}/lib/modules/6.1.0; mkdir -p $m/kernel
printf image > $m/vmlinuz; printf module > $m/kernel/m.ko; ln -s /x $m/build; : > $m/empty; : > $m/ghost
%files\n/lib/modules/6.1.0/vmlinuz\n/lib/modules/6.1.0/kernel\n/lib/modules/6.1.0/build\n/lib/modules/6.1.0/empty
%ghost /lib/modules/6.1.0/ghost\n";
    fs::write(&spec, text).unwrap();
    for compression in ["w3.zstdio", "w6.xzdio", "w6.gzdio", "w.ufdio"] {
        let output = Command::new("rpmbuild")
            .args(["-bb", "--quiet", "--target", "x86_64"])
            .arg("--define")
            .arg(format!("_topdir {}", dir.path().display()))
            .args(["--define", &format!("_binary_payload {compression}")])
            .arg(&spec)
            .output()
            .expect("this test needs rpmbuild: run scripts/prepare-tests, or as root: apt-get install rpm");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let whole = fs::read(dir.path().join("RPMS/x86_64/kernel-core-6.1.0-1.fc41.x86_64.rpm")).unwrap();
        check(&whole);
        for at in summed(&whole).step_by(41) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            assert!(unpacked(&flipped).1.is_err(), "{compression}: byte {at}");
        }
    }
}

/// For the tests with little memory: a member, or a name, of many zeros.
pub(crate) fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    const HUGE: u64 = 30_000_000;
    let member = |name: u64, size: u64| {
        let fields = [0, 0o100_644, 0, 0, 1, 0, size, 0, 0, 0, 0, name, 0];
        let mut head = b"070701".to_vec();
        fields
            .iter()
            .for_each(|field| head.extend(format!("{field:08x}").bytes()));
        head.extend(b"./boot/vmlinuz-6.1\0");
        head.resize(head.len().next_multiple_of(4), 0);
        let mut packed = Vec::new();
        liblzma::read::XzEncoder::new(head.chain(io::repeat(0).take(HUGE)), 1)
            .read_to_end(&mut packed)
            .unwrap();
        package(&packed, "xz", Vec::new())
    };
    vec![
        ("unpacks to more than", member(19, HUGE)),
        ("a file's name is longer", member(HUGE, 0)),
    ]
}
