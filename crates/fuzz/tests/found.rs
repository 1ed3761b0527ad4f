//! What broke a reader once, and bytes that are nearly right, break none.
//!
//! `WORSTCASE_CHANGES=1000000` changes each seed so often; `WORSTCASE_CORPUS=target/fuzz/corpus` takes what scripts/fuzz
//! gathered as further seeds.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::Instant;
use worstcase_base::digest::sha256_hex;
use worstcase_fuzz::{FuzzTarget, TARGETS};

/// Changes of each seed, if the environment does not say.
const CHANGES: u64 = 300;

fn changes() -> u64 {
    let asked = std::env::var("WORSTCASE_CHANGES");
    asked.map_or(CHANGES, |number| number.parse().expect("a number"))
}

fn found(target: &FuzzTarget) -> Vec<Vec<u8>> {
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("found").join(target.name))
}

fn seeds(target: &FuzzTarget) -> Vec<Vec<u8>> {
    let corpus = std::env::var_os("WORSTCASE_CORPUS");
    let more = corpus.map(|folder| files(&Path::new(&folder).join(target.name)));
    [(target.seeds)(), more.unwrap_or_default()].concat()
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    let files = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Where bytes that broke a target are written to.
fn kept(target: &FuzzTarget, bytes: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("found").join(target.name);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(&sha256_hex(bytes)[..16]);
    fs::write(&path, bytes).unwrap();
    path
}

/// The same numbers in every run (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Some bytes other, fewer, or twice.
fn changed(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    const NUMBERS: [u64; 5] = [0, 1, u32::MAX as u64, i64::MAX as u64, u64::MAX];
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|byte| *byte ^= 1 << (at % 8)),
            1 => {
                let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                bytes
                    .iter_mut()
                    .skip(at)
                    .zip(number)
                    .for_each(|(byte, new)| *byte = new);
            }
            2 => bytes.truncate(at),
            _ => bytes.extend_from_within(at..),
        }
    }
    bytes
}

#[test]
fn no_reader_breaks() {
    for target in TARGETS {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for bytes in found(target) {
            (target.read)(&bytes);
        }
        let (seeds, begin) = (seeds(target), Instant::now());
        for seed in &seeds {
            (target.read)(seed);
            for _ in 0..changes() {
                let bytes = changed(seed, &mut random);
                let broke = catch_unwind(|| (target.read)(&bytes)).is_err();
                assert!(!broke, "{} breaks on {}", target.name, kept(target, &bytes).display());
            }
        }
        println!("{}: {} seeds in {:?}", target.name, seeds.len(), begin.elapsed());
    }
}

#[test]
fn names_are_of_one_target_each() {
    let mut names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), TARGETS.len());
    let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("found")).unwrap();
    for folder in folders.map(|folder| folder.unwrap().file_name()) {
        let name = folder.to_str().unwrap();
        assert!(
            names.contains(&name) || name == "README.md",
            "found/{name} is of no target"
        );
    }
}

#[test]
fn every_reader_of_another_tool_has_a_target() {
    for format in worstcase_foreign::ForeignFormat::all() {
        let name = format!("import-{format}");
        let target = TARGETS.iter().find(|target| target.name == name);
        let seeds = target.map_or(0, |target| (target.seeds)().len());
        assert!(
            seeds > 0,
            "{name} has no target, or no file of crates/foreign/tests/data to begin with"
        );
    }
}
