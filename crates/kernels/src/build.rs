//! Builds the image of a source tree, out of the tree, and keeps it. Equal input of the compiler gives an equal image:
//! builder, time and commit are not in it.
//!
//! ```text
//! Builder   make, for a bisection (a commit) and for
//! changed   a kernel named by a tree and options: ./linux+CONFIG_PREEMPT=y
//! options   what is changed of a configuration, and whether it took effect
//! kconfig   why an option did not
//! tree      what a tree holds, as a digest, and a copy of it to build from
//! ```

use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;
use worstcase_base::child::ends_with_us;
use worstcase_base::files;
use worstcase_base::interrupt::LastWork;

use crate::Arch;
use crate::config::KernelConfig;
use crate::needs;
use options::BuildOptions;

pub(crate) mod changed;
mod kconfig;
pub mod options;
mod tree;

/// Tools that must be on the search path.
const TOOLS: [&str; 5] = ["make", "gcc", "flex", "bison", "bc"];
/// Approximate space for a checkout and a build of the image.
const SPACE_MB: u64 = 4_000;

/// Settings for every configuration: the release must not contain the commit.
const ALWAYS: &str = "\n# CONFIG_LOCALVERSION_AUTO is not set\n";
/// Settings for a distribution's configuration: it names keys that only the distribution has.
const OF_A_DISTRIBUTION: &str = "\
CONFIG_SYSTEM_TRUSTED_KEYS=\"\"
CONFIG_SYSTEM_REVOCATION_KEYS=\"\"
# CONFIG_MODULE_SIG is not set
";
/// Further settings where BTF cannot be made: no debug information, which would take long.
const WITHOUT_BTF: &str = "\
# CONFIG_DEBUG_INFO_BTF is not set
CONFIG_DEBUG_INFO_NONE=y
# CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT is not set
";

worstcase_base::errors! {
    /// Why a build gives no image.
    #[derive(Debug, thiserror::Error)]
    pub enum KernelBuildError {
        /// Tools are missing.
        #[error(
            "to build a kernel takes {0}, which PATH does not have; install Debian's build-essential, flex, bison, bc, libelf-dev and git"
        )]
        NoTools(String) => Missing,
        /// The disk has too little space.
        #[error("{}: {free} MB are free, and building takes about {needed} MB; make room, or choose a folder with more", folder.display())]
        NoSpace {
            /// The folder.
            folder: PathBuf,
            /// The free space.
            free: u64,
            /// The space that is needed.
            needed: u64,
        } => Storage,
        /// The kernel would not boot in the lab.
        #[error("the configuration lacks what the lab needs: {0}; set these to y")]
        Lacks(String) => Usage,
        /// An option has another value in the final configuration.
        #[error("{tree}: {what}; see make menuconfig, which tells what an option needs (/)", tree = tree.display())]
        NotTaken {
            /// The tree.
            tree: PathBuf,
            /// The option, and the reason.
            what: String,
        } => Usage,
        /// The folder is no tree that can be built.
        #[error("cannot build {}: {why}", tree.display())]
        NoTree {
            /// The folder that was named.
            tree: PathBuf,
            /// What is wrong, and what to do.
            why: String,
        } => Usage,
        /// The compiler or git failed.
        #[error("{}: {why}; all that make said is in {}", tree.display(), log.display())]
        Fails {
            /// The tree.
            tree: PathBuf,
            /// The first error.
            why: String,
            /// The file with the whole log.
            log: PathBuf,
        } => Usage,
        /// The user wants to stop.
        #[error("ended while a kernel was built; the same command goes on")]
        Stopped => Interrupted,
        /// A file of the build cannot be read or written.
        #[error("{}: {source}", path.display())]
        Io {
            /// The file.
            path: PathBuf,
            /// Why.
            source: std::io::Error,
        } => Storage,
    }
}

impl KernelBuildError {
    /// Names the file that a system error speaks of.
    fn io(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> KernelBuildError {
        let path = path.as_ref().to_path_buf();
        move |source| KernelBuildError::Io { path, source }
    }
}

/// Whether a folder is a kernel's source tree.
pub fn is_kernel_tree(folder: &Path) -> bool {
    let makefile = fs::read_to_string(folder.join("Makefile")).unwrap_or_default();
    makefile.lines().any(|line| line.starts_with("PATCHLEVEL =")) && folder.join("Kconfig").is_file()
}

/// Builds images.
#[derive(Debug)]
pub struct Builder {
    /// The source: a checkout.
    pub source: PathBuf,
    /// Where it is built.
    pub build: PathBuf,
    /// The folder with the kept images, a folder each.
    pub kept: PathBuf,
    /// The configuration.
    pub config: String,
    /// The options that the final configuration must have.
    pub options: BuildOptions,
    /// Compilers at once.
    pub jobs: NonZeroUsize,
    /// Set when the user wants to stop.
    pub stop: Arc<AtomicBool>,
}

/// The configuration to use: a user's unchanged; a distribution's without settings that only the distribution, or no
/// tool here, can build.
pub fn configuration(text: &str, of_a_distribution: bool) -> String {
    configured(text, of_a_distribution, is_on_path("pahole"))
}

fn configured(text: &str, of_a_distribution: bool, makes_btf: bool) -> String {
    let more = match (of_a_distribution, makes_btf) {
        (false, _) => "",
        (true, true) => OF_A_DISTRIBUTION,
        (true, false) => &format!("{OF_A_DISTRIBUTION}{WITHOUT_BTF}"),
    };
    format!("{text}{ALWAYS}{more}")
}

/// Refuses a machine that lacks tools or space for a build.
pub fn check_machine(folder: &Path) -> Result<(), KernelBuildError> {
    let lacking: Vec<&str> = TOOLS.into_iter().filter(|tool| !is_on_path(tool)).collect();
    if !lacking.is_empty() {
        return Err(KernelBuildError::NoTools(lacking.join(", ")));
    }
    let there = folder.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("."));
    let statistics = rustix::fs::statvfs(there).map_err(|e| KernelBuildError::io(there)(e.into()))?;
    let free = statistics.f_bavail * statistics.f_frsize / 1_000_000;
    match free < SPACE_MB {
        true => Err(KernelBuildError::NoSpace {
            folder: folder.to_path_buf(),
            free,
            needed: SPACE_MB,
        }),
        false => Ok(()),
    }
}

pub(crate) fn is_on_path(tool: &str) -> bool {
    files::program(Path::new(tool)).is_some()
}

impl Builder {
    /// The folder of an image that was built before.
    pub fn kept(&self, name: &str) -> Option<PathBuf> {
        Some(self.kept.join(name)).filter(|folder| folder.join("bzImage").is_file())
    }

    /// Builds the checked-out source and keeps the image by this name; the inner error is the compiler's first.
    pub fn build(&self, name: &str) -> Result<Result<PathBuf, String>, KernelBuildError> {
        fs::create_dir_all(&self.build).map_err(KernelBuildError::io(&self.build))?;
        let (config, asked) = (self.build.join(".config"), self.build.join("config.asked"));
        // Writing the configuration again would make everything be built again.
        if fs::read_to_string(&asked).ok().as_deref() != Some(&self.config) || !config.is_file() {
            fs::write(&config, &self.config).map_err(KernelBuildError::io(&config))?;
            fs::write(&asked, &self.config).map_err(KernelBuildError::io(&asked))?;
        }
        if let Err(why) = self.make("olddefconfig")? {
            return Ok(Err(why));
        }
        let built = KernelConfig::read(&config).map_err(KernelBuildError::io(&config))?;
        let lacking = needs::lacking(&built, Arch::X86);
        if !lacking.is_empty() {
            return Err(KernelBuildError::Lacks(lacking.join(", ")));
        }
        self.options.check(&built, &self.source)?;
        if let Err(why) = self.make("bzImage")? {
            return Ok(Err(why));
        }
        self.keep(name).map(Ok)
    }

    fn make(&self, target: &str) -> Result<Result<(), String>, KernelBuildError> {
        let log = self.build.join("build.log");
        let file = File::create(&log).map_err(KernelBuildError::io(&log))?;
        let errors = file.try_clone().map_err(KernelBuildError::io(&log))?;
        let mut make = Command::new("make");
        make.arg("-C")
            .arg(&self.source)
            .arg(format!("O={}", self.build.display()));
        make.arg(format!("-j{}", self.jobs)).arg(target);
        if is_on_path("ccache") {
            make.arg("CC=ccache gcc");
        }
        make.envs([
            ("KBUILD_BUILD_TIMESTAMP", "1970-01-01"),
            ("KBUILD_BUILD_USER", "worstcase"),
            ("KBUILD_BUILD_HOST", "worstcase"),
            ("KBUILD_BUILD_VERSION", "1"),
            ("LOCALVERSION", ""),
            ("LC_ALL", "C"),
        ]);
        make.stdin(Stdio::null()).stdout(file).stderr(errors).process_group(0);
        ends_with_us(&mut make, Signal::TERM);
        let status = self.ends(make.spawn().map_err(KernelBuildError::io("make"))?)?;
        match status.success() {
            true => Ok(Ok(())),
            false => {
                let text = fs::read(&log).map_err(KernelBuildError::io(&log))?;
                Ok(Err(format!(
                    "it does not build: {}",
                    first_error(&String::from_utf8_lossy(&text))
                )))
            }
        }
    }

    /// Waits for make; kills it with all its children when the user wants to stop.
    fn ends(&self, mut make: Child) -> Result<ExitStatus, KernelBuildError> {
        let group = Pid::from_child(&make);
        // make may have ended meanwhile.
        let kill = move || {
            let _ = kill_process_group(group, Signal::TERM);
        };
        let _interrupted = LastWork::new(kill);
        while !self.stop.load(Ordering::Relaxed) {
            if let Some(status) = make.try_wait().map_err(KernelBuildError::io("make"))? {
                return Ok(status);
            }
            sleep(Duration::from_millis(100));
        }
        kill();
        make.wait().map_err(KernelBuildError::io("make"))?;
        Err(KernelBuildError::Stopped)
    }

    /// Copies the image under another name and renames it, so that it appears complete.
    fn keep(&self, name: &str) -> Result<PathBuf, KernelBuildError> {
        let (folder, half) = (self.kept.join(name), self.kept.join(format!(".{name}")));
        let _ = fs::remove_dir_all(&half);
        fs::create_dir_all(&half).map_err(KernelBuildError::io(&half))?;
        for (file, kept) in [
            ("arch/x86/boot/bzImage", "bzImage"),
            (".config", "config"),
            ("System.map", "System.map"),
        ] {
            let from = self.build.join(file);
            fs::copy(&from, half.join(kept)).map_err(KernelBuildError::io(&from))?;
        }
        fs::rename(&half, &folder).map_err(KernelBuildError::io(&folder))?;
        Ok(folder)
    }
}

/// The first error in a build's output.
fn first_error(log: &str) -> String {
    let is_error =
        |line: &&str| line.contains("error:") || line.contains("*** ") || line.contains("undefined reference");
    log.lines()
        .find(is_error)
        .or(log.lines().last())
        .unwrap_or("make said nothing")
        .trim()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_the_cause() {
        let log = "  CC      kernel/acct.o\nkernel/acct.c:9:12: error: expected ';'\nmake[1]: *** [x] Error 1\n";
        assert_eq!(first_error(log), "kernel/acct.c:9:12: error: expected ';'");
        assert_eq!(first_error("a\nmake: *** No rule\n"), "make: *** No rule");
        assert_eq!(first_error(""), "make said nothing");
    }

    #[test]
    fn a_distributions_keys_are_not_asked_for() {
        let text =
            "CONFIG_SYSTEM_TRUSTED_KEYS=\"debian/certs/x.pem\"\nCONFIG_LOCALVERSION_AUTO=y\nCONFIG_DEBUG_INFO_BTF=y";
        let of = |distribution: bool| KernelConfig::parse(&configured(text, distribution, true));
        assert_eq!(of(true).get("SYSTEM_TRUSTED_KEYS"), Some(""));
        assert_eq!(of(false).get("SYSTEM_TRUSTED_KEYS"), Some("debian/certs/x.pem"));
        assert_eq!(of(false).get("LOCALVERSION_AUTO"), Some("n"));
        assert_eq!(of(true).get("DEBUG_INFO_BTF"), Some("y"));
        let without_pahole = KernelConfig::parse(&configured(text, true, false));
        assert_eq!(without_pahole.get("DEBUG_INFO_BTF"), Some("n"));
    }

    #[test]
    fn a_build_ends_when_that_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let makefile = format!(
            "bzImage:\n\techo $$$$ > {0}\n\tsleep 1000; true\n",
            at("began").display()
        );
        fs::write(at("Makefile"), makefile).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let builder = Builder {
            source: dir.path().into(),
            build: dir.path().into(),
            kept: at("kept"),
            config: String::new(),
            options: BuildOptions::default(),
            jobs: NonZeroUsize::MIN,
            stop: stop.clone(),
        };
        let began = at("began");
        let asks = std::thread::spawn(move || {
            while !began.exists() {
                sleep(Duration::from_millis(10));
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert!(matches!(builder.make("bzImage"), Err(KernelBuildError::Stopped)));
        asks.join().unwrap();
    }
}
