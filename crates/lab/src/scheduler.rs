//! A scheduler that the machine loads into its kernel (`--scheduler`): a compiled sched_ext policy, or a program that loads
//! one.
//!
//! In the image `/policy/loader` loads `/policy/object`, or `/policy/program` does both.

use super::LabError;
use super::added;
use crate::payload;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use worstcase_base::digest::sha256_hex;
use worstcase_plan::{Added, Arch, CpuScheduler};

const LOADER: &str = "policy/loader";
const OBJECT: &str = "policy/object";
const PROGRAM: &str = "/policy/program";
/// Limit in bytes; no scheduler is larger.
const MOST_BYTES: u64 = 256 << 20;

/// A scheduler with its bytes.
#[derive(Clone)]
pub struct LabScheduler {
    /// SHA-256 of its file, `sha256:` and hexadecimal digits.
    pub digest: String,
    kind: SchedulerKind,
}

#[derive(Clone)]
enum SchedulerKind {
    Object(Arc<[u8]>),
    Program(PathBuf),
}

impl std::fmt::Debug for LabScheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.digest)
    }
}

impl LabScheduler {
    /// Reads the file, for a machine of a kernel; none if the kernel's own scheduler is requested.
    pub(crate) fn of(asked: &CpuScheduler, kernel: &str, arch: Arch) -> Result<Option<LabScheduler>, LabError> {
        match asked {
            CpuScheduler::Eevdf => Ok(None),
            CpuScheduler::BuiltIn(name) => {
                let bytes = worstcase_policies::built_in(name).ok_or_else(|| {
                    LabError::Request(format!("--scheduler {name}: worstcase carries no such policy"))
                })?;
                Ok(Some(LabScheduler::object(bytes)))
            }
            CpuScheduler::File(path) => LabScheduler::file(Path::new(path), kernel, arch).map(Some),
        }
    }

    fn object(bytes: &[u8]) -> LabScheduler {
        LabScheduler {
            digest: digest(bytes),
            kind: SchedulerKind::Object(bytes.into()),
        }
    }

    fn file(path: &Path, kernel: &str, arch: Arch) -> Result<LabScheduler, LabError> {
        let wrong = |what: &str| LabError::Request(format!("--scheduler {}: {what}", path.display()));
        let file = std::fs::metadata(path).map_err(|e| wrong(&e.to_string()))?;
        if !file.is_file() || file.len() > MOST_BYTES {
            return Err(wrong("it is no file of at most 256 MiB"));
        }
        let bytes = std::fs::read(path).map_err(|e| wrong(&e.to_string()))?;
        match ElfPurpose::of(&bytes) {
            Some(ElfPurpose::Policy) => Ok(LabScheduler::object(&bytes)),
            Some(ElfPurpose::Program) => match added::strange_to(&bytes, kernel, arch) {
                Some(strange) => Err(wrong(&strange)),
                None => Ok(LabScheduler {
                    digest: digest(&bytes),
                    kind: SchedulerKind::Program(path.to_path_buf()),
                }),
            },
            None => Err(wrong(
                "it is neither a compiled policy (clang -target bpf) nor a program",
            )),
        }
    }

    /// Puts the scheduler into the image of a machine of this architecture.
    pub fn add(&self, arch: Arch, files: &mut BTreeMap<String, Vec<u8>>) -> Result<(), LabError> {
        match &self.kind {
            SchedulerKind::Object(bytes) => {
                files.insert(LOADER.into(), payload::policy_loader(arch)?.to_vec());
                files.insert(OBJECT.into(), bytes.to_vec());
                Ok(())
            }
            SchedulerKind::Program(path) => {
                let program = Added {
                    source: path.clone(),
                    dest: PROGRAM.into(),
                };
                added::collect(&program, files)
            }
        }
    }
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256_hex(bytes))
}

/// What an ELF file is for.
#[derive(Debug, PartialEq, Eq)]
enum ElfPurpose {
    Policy,
    Program,
}

impl ElfPurpose {
    /// The purpose by the ELF header: 64 bits, little-endian; type and machine as in elf(5).
    fn of(bytes: &[u8]) -> Option<ElfPurpose> {
        const RELOCATABLE: u16 = 1;
        const EXECUTABLE: u16 = 2;
        const SHARED: u16 = 3;
        const X86_64: u16 = 62;
        const AARCH64: u16 = 183;
        const BPF: u16 = 247;
        if !bytes.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let word = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        match (word(16)?, word(18)?) {
            (RELOCATABLE, BPF) => Some(ElfPurpose::Policy),
            (EXECUTABLE | SHARED, X86_64 | AARCH64) => Some(ElfPurpose::Program),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_pc(path: &Path) -> Result<LabScheduler, LabError> {
        LabScheduler::file(path, "debian:7.3", Arch::X86)
    }

    fn refusal(path: &Path) -> String {
        of_pc(path).unwrap_err().to_string()
    }

    #[test]
    fn a_policy_and_a_program_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let object = folder.path().join("mine.bpf.o");
        std::fs::write(&object, worstcase_policies::built_in("o-1").unwrap()).unwrap();
        let mut files = BTreeMap::new();
        of_pc(&object).unwrap().add(Arch::X86, &mut files).unwrap();
        assert_eq!(Vec::from_iter(files.keys()), [LOADER, OBJECT]);

        let mut files = BTreeMap::new();
        let program = Path::new("/bin/true");
        of_pc(program).unwrap().add(Arch::X86, &mut files).unwrap();
        assert!(files.contains_key("policy/program") && !files.contains_key(LOADER));

        let strange = LabScheduler::file(program, "debian:7.3/arm64", Arch::Arm64).unwrap_err();
        assert!(
            strange
                .to_string()
                .contains("it is for x86-64, and the machine of debian:7.3/arm64 is arm64"),
            "{strange}"
        );
    }

    #[test]
    fn what_is_neither_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("mine.bpf.c");
        std::fs::write(&text, "int x;").unwrap();
        assert!(refusal(&text).contains("clang -target bpf"), "{}", refusal(&text));
        assert!(refusal(folder.path()).contains("no file"), "{}", refusal(folder.path()));
        assert!(refusal(&folder.path().join("none")).contains("No such file"));
    }
}
