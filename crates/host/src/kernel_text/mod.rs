//! The running kernel's machine code as it is now, alternatives and static keys patched: from /proc/kcore, or where that is
//! missing by a BPF program that copies it. Both need root.

mod bpf;
mod kcore;

use std::io;

/// A way to read the running kernel's code.
#[derive(Debug)]
pub struct KernelText(TextSource);

#[derive(Debug)]
enum TextSource {
    Kcore(kcore::Kcore),
    Bpf(bpf::CopyProgram),
}

impl KernelText {
    /// Opens the first way that this kernel and this user have.
    pub fn open() -> Result<KernelText, String> {
        let kcore = match kcore::Kcore::open() {
            Ok(kcore) => return Ok(KernelText(TextSource::Kcore(kcore))),
            Err(e) => e,
        };
        match bpf::CopyProgram::load() {
            Ok(program) => Ok(KernelText(TextSource::Bpf(program))),
            Err(bpf) => Err(format!("{}: {kcore}; by BPF: {bpf}", kcore::PATH)),
        }
    }

    /// The bytes from this address on.
    pub fn read(&self, address: u64, length: usize) -> io::Result<Vec<u8>> {
        match &self.0 {
            TextSource::Kcore(kcore) => kcore.read(address, length),
            TextSource::Bpf(program) => program.read(address, length),
        }
    }
}
