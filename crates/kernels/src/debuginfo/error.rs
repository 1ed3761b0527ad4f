//! Errors of debug information: each text is one line, "what, where; remedy".

use super::BuildId;
use std::path::PathBuf;
use worstcase_base::cache::CacheError;

worstcase_base::errors! {
    /// Why lines of source code cannot be found.
    #[derive(Debug, thiserror::Error)]
    pub enum DebugInfoError {
        /// The file cannot be read.
        #[error("cannot read debug information, {}: {source}; check the path and its permissions", path.display())]
        Unreadable {
            /// The file.
            path: PathBuf,
            /// The system's error.
            source: std::io::Error,
        } => Usage,
        /// The file is no ELF file with DWARF.
        #[error("no debug information, {}: {why}; give the vmlinux of a kernel that was built with CONFIG_DEBUG_INFO", path.display())]
        None {
            /// The file.
            path: PathBuf,
            /// What is wrong with it.
            why: String,
        } => Usage,
        /// The file belongs to another kernel.
        #[error(
            "debug information of another kernel, {}: its build-id is {found}, that of {kernel} is {expected}; give the vmlinux of that very build",
            path.display()
        )]
        OtherKernel {
            /// The file.
            path: PathBuf,
            /// The build-id in the file.
            found: BuildId,
            /// The kernel that ran.
            kernel: String,
            /// The build-id of that kernel.
            expected: BuildId,
        } => Usage,
        /// The kernel does not show its build-id.
        #[error("no build-id in memory, kernel {kernel}: whether {} is of it cannot be told; go without --debug-info", path.display())]
        Unidentified {
            /// The file.
            path: PathBuf,
            /// The kernel that ran.
            kernel: String,
        } => Usage,
        /// The cache failed.
        #[error(transparent)]
        Cache(#[from] CacheError) => within,
    }
}
