//! Readers that want a file or a folder: in memory, under the same names for as long as the process lives.

use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::{self, File};
use std::hint::black_box;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use worstcase_analysis::breakdown::lines::SourceLines;
use worstcase_analysis::debuginfo::DebugInfo;
use worstcase_base::digest::sha256_hex;
use worstcase_lab::execution::Symbols;
use worstcase_results::record::Run;

thread_local! {
    static MEMORY: File = memfd_create("worstcase-fuzz", MemfdFlags::CLOEXEC).expect("memory").into();
}

/// Calls with the path of a file that holds these bytes.
pub(crate) fn with_file(bytes: &[u8], then: impl FnOnce(&Path)) {
    MEMORY.with(|file| {
        file.set_len(0)
            .and_then(|()| file.write_all_at(bytes, 0))
            .expect("memory");
        then(&PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())));
    });
}

/// A package of a distribution.
pub(crate) fn package(bytes: &[u8]) {
    with_file(bytes, worstcase_kernels::fuzz::package);
}

/// A kernel module's file, packed or not.
pub(crate) fn module(bytes: &[u8]) {
    with_file(bytes, |path| drop(black_box(worstcase_kernels::modules::read(path))));
}

/// A kernel's image.
pub(crate) fn image(bytes: &[u8]) {
    with_file(bytes, worstcase_kernels::fuzz::release);
}

/// A kernel's or a module's debug file: opened, and asked for some addresses.
pub(crate) fn debug_info(bytes: &[u8]) {
    with_file(bytes, |path| {
        if let Ok(found) = DebugInfo::open(path, &Symbols::default()) {
            for address in [0, 0x10, 0x1000, u64::MAX] {
                black_box(found.source(address));
            }
        }
    });
}

/// The plan of a run folder.
pub(crate) fn run(bytes: &[u8]) {
    thread_local! {
        static FOLDER: PathBuf = {
            let folder = Path::new("/dev/shm").join(format!("worstcase-fuzz-{}", std::process::id()));
            fs::create_dir_all(&folder).expect("memory");
            folder
        };
    }
    FOLDER.with(|folder| {
        let sums = format!("{}  run.json\n", sha256_hex(bytes));
        let written =
            fs::write(folder.join("run.json"), bytes).and_then(|()| fs::write(folder.join("SHA256SUMS"), sums));
        written.expect("memory");
        let _ = black_box(Run::open(folder));
    });
}
