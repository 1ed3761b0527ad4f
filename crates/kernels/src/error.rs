//! Errors of the kernels module: each text is one line, "what, where; remedy".

use std::path::PathBuf;

use crate::build::KernelBuildError;
use crate::debuginfo::DebugInfoError;
use worstcase_base::cache::CacheError;

worstcase_base::errors! {
    /// Why a kernel could not be found, fetched, unpacked or read.
    #[derive(Debug, thiserror::Error)]
    pub enum KernelError {
        /// The text has no form that names a kernel.
        #[error("not a kernel name, {name}; {hint}")]
        BadName {
            /// As typed.
            name: String,
            /// What to type instead.
            hint: String,
        } => Usage,
        /// Well-formed, but the archive has no such kernel.
        #[error("unknown kernel, {name}; {hint}")]
        Unknown {
            /// As typed.
            name: String,
            /// Near names, or how to list them.
            hint: String,
        } => Usage,
        /// Several kernels have versions that begin with this text.
        #[error("not one kernel, {name}: it fits {versions}; write more of the version")]
        SeveralVersions {
            /// As typed.
            name: String,
            /// The versions that begin with it.
            versions: String,
        } => Usage,
        /// A path that the user gave cannot be read.
        #[error("cannot read {}: {source}; check the path and its permissions", path.display())]
        Unreadable {
            /// The path.
            path: PathBuf,
            /// The system's error.
            source: std::io::Error,
        } => Usage,
        /// No image where one is needed.
        #[error("not a kernel image, {}: {why}; give a vmlinuz, a bzImage (x86-64), an Image (arm64), a package (.deb, .rpm) or a folder that holds one", path.display())]
        NotAKernel {
            /// The file or folder.
            path: PathBuf,
            /// What is wrong with it.
            why: String,
        } => Usage,
        /// A package file is truncated, damaged, or no package.
        #[error("damaged package, {}: {why}; fetch it again", path.display())]
        BadPackage {
            /// The file.
            path: PathBuf,
            /// What is wrong with it.
            why: String,
        } => Usage,
        /// The archive still lists the kernel, but not all of its packages.
        #[error("incomplete in the archive, {package}: it lacks {missing}; {hint}")]
        Incomplete {
            /// The package that was asked for.
            package: String,
            /// The packages that are missing.
            missing: String,
            /// What is available instead.
            hint: String,
        } => Missing,
        /// The headers to build modules with are not available.
        #[error("no headers for {kernel}: {why}")]
        NoHeaders {
            /// The kernel.
            kernel: String,
            /// Why there are none.
            why: String,
        } => Missing,
        /// There is no debug package of exactly this kernel.
        #[error(
            "no debug package, kernel {kernel}: {why}; if you have its vmlinux, name it: worstcase explain --debug-info PATH"
        )]
        NoDebugPackage {
            /// The kernel.
            kernel: String,
            /// Why there is none.
            why: String,
        } => Missing,
        /// The debug package cannot be used.
        #[error(transparent)]
        DebugInfo(#[from] DebugInfoError) => within,
        /// apt-get is not installed.
        #[error(
            "apt-get is not here, PATH has none; use a Debian system, or name a package file, an unpacked folder or a bzImage"
        )]
        NoApt => Missing,
        /// The system's sources do not name Debian's archive.
        #[error(
            "no Debian archive in apt's sources, {}; add one with its keyring, or point WORSTCASE_APT_SOURCES at a file that names it",
            place.display()
        )]
        NoSources {
            /// The place where the sources were searched.
            place: PathBuf,
        } => Missing,
        /// The archive cannot be reached, and the cache does not help.
        #[error(
            "cannot reach the Debian archive, {what}: {why}; connect to the network, what was fetched once works without"
        )]
        NoNetwork {
            /// The files to fetch.
            what: String,
            /// apt's error.
            why: String,
        } => Missing,
        /// apt refused for another reason.
        #[error("apt failed, {what}: {why}; the archive may be changing: try again later, or name another version (worstcase kernels list --all-versions)")]
        AptFailed {
            /// The files to fetch.
            what: String,
            /// apt's error.
            why: String,
        } => Missing,
        /// A finished cache entry does not match its manifest.
        #[error("damaged in the cache, {}: {why}; remove this directory and get the kernel again", path.display())]
        Damaged {
            /// The cache entry.
            path: PathBuf,
            /// What differs.
            why: String,
        } => Storage,
        /// A question needs the build configuration, and there is none.
        #[error("no config known, kernel {kernel}; name one: BZIMAGE,config=FILE")]
        NoConfig {
            /// The kernel.
            kernel: String,
        } => Usage,
        /// The kernel was built without options that the lab needs.
        #[error("kernel {kernel} was built without what the lab needs: {options}; build it with these set to y")]
        Lacks {
            /// The kernel.
            kernel: String,
            /// The missing options, and what each is for.
            options: String,
        } => Usage,
        /// The text is no preemption model.
        #[error(transparent)]
        UnknownModel(#[from] worstcase_plan::UnknownModel) => Usage,
        /// This kernel cannot boot this model.
        #[error("no preemption model {model}, kernel {kernel}{why}; it can boot {models}{elsewhere}")]
        ModelNotInKernel {
            /// The kernel.
            kernel: String,
            /// The model asked for.
            model: &'static str,
            /// The reason, in parentheses, or nothing.
            why: String,
            /// The models that it can boot.
            models: String,
            /// Which kernel can, or nothing.
            elsewhere: &'static str,
        } => Usage,
        /// The kernel has no such module.
        #[error("no module {module}, kernel {kernel}; {hint}")]
        NoModule {
            /// The kernel.
            kernel: String,
            /// The module asked for.
            module: String,
            /// Near names, or what else to do.
            hint: String,
        } => Missing,
        /// A module file cannot be decompressed or is no module.
        #[error("damaged module, {}: {why}; get the kernel again", path.display())]
        BadModule {
            /// The module.
            path: PathBuf,
            /// What is wrong with it.
            why: String,
        } => Missing,
        /// The kernel could not be built.
        #[error(transparent)]
        Build(#[from] KernelBuildError) => within,
        /// The cache directory failed.
        #[error(transparent)]
        Cache(#[from] CacheError) => within,
    }
}

impl KernelError {
    /// Whether the archive lists the kernel, but does not give it: other kernels of the series may be available.
    pub fn is_listed_in_vain(&self) -> bool {
        matches!(self, KernelError::Incomplete { .. } | KernelError::AptFailed { .. })
    }
}
