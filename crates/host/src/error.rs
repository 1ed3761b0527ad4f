//! Why something about this machine could not be done.

use super::CpuList;
use std::io;
use std::path::PathBuf;
use worstcase_base::ExitKind;
use worstcase_base::trust::OtherWriters;
use worstcase_results::record::RunError;

/// One readable line each: what, where; remedy.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The state folder or a journal in it cannot be used.
    #[error("cannot keep a journal, {}: {source}; set WORSTCASE_STATE to a folder you can write to", path.display())]
    State {
        /// The folder or file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Someone else could write to the state folder: what it says must not be undone with our rights.
    #[error(
        "{} is not a folder that only you can write to ({why}); set WORSTCASE_STATE to one of your own",
        path.display()
    )]
    StateNotOurs {
        /// The folder.
        path: PathBuf,
        /// Who else can.
        why: String,
    },
    /// Someone else could put another folder in the place of the loads' work folder, in which root cleans up.
    #[error(
        "root cannot make a work folder in {}: {others}; choose another with --work-dir, or a sticky one such as /tmp",
        path.display()
    )]
    WorkNotOurs {
        /// The folder above it.
        path: PathBuf,
        /// Who, and where.
        others: OtherWriters,
    },
    /// A setting cannot be read.
    #[error("cannot read {}: {source}; this kernel may not have it", path.display())]
    Read {
        /// The setting.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A setting cannot be changed.
    #[error("cannot set {} to {value}: {source}{}", path.display(), remedy(source))]
    Set {
        /// The setting.
        path: PathBuf,
        /// What it should have become.
        value: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The guard does not run.
    #[error("cannot start the guard that restores this machine if worstcase is killed: {0}; try again")]
    Guard(String),
    /// CPUs that are to be measured do not run.
    #[error("CPUs {missing} are not online; choose from {online}")]
    NotOnline {
        /// Those.
        missing: CpuList,
        /// All that are.
        online: CpuList,
    },
    /// CPUs run, and this process cannot have them.
    #[error(
        "CPUs {refused} are online, but {by}, keeps this process from them; start worstcase in a group that has them (cpuset.cpus of it and of those above it), or choose from {allowed}"
    )]
    NotAllowed {
        /// Those.
        refused: CpuList,
        /// What refuses them, in words.
        by: String,
        /// All that it can have.
        allowed: CpuList,
    },
    /// The user's command cannot be started.
    #[error("cannot run {program}: {source}; check its name and PATH")]
    Command {
        /// Its first word.
        program: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The command line.
    #[error("{0}")]
    Argument(String),
    /// The measuring process.
    #[error("the measuring process failed: {0}; give the command again")]
    Worker(String),
    /// What it said.
    #[error("{0}")]
    Measurement(String),
    /// What it needs and does not have.
    #[error("{0}")]
    Missing(String),
    /// It could not write.
    #[error("{0}")]
    Storage(String),
    /// It ended while its samples could still be kept.
    #[error(
        "the disk of {} is almost full: the measurement was ended early, and what was taken until then is kept; make room, then --resume measures what is missing",
        .0.display()
    )]
    Full(PathBuf),
    /// Its samples.
    #[error("cannot keep samples in {}: {source}; is the disk full?", path.display())]
    Samples {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Its numbers.
    #[error("the measuring process's numbers contradict each other: {0}")]
    Contradiction(String),
    /// The run folder.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The folder of a watch.
    #[error(transparent)]
    Watch(#[from] crate::watch::WatchError),
    /// Something could not be put back.
    #[error("{count} of the changes above could not be undone; run worstcase host restore again, as the same user")]
    NotRestored {
        /// How many.
        count: usize,
    },
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied if !rustix::process::geteuid().is_root() => "; run as root",
        _ => "; it stays as it was",
    }
}

impl HostError {
    /// What a script needs to know of it.
    pub fn exit(&self) -> ExitKind {
        match self {
            HostError::State { .. } => ExitKind::Storage,
            HostError::StateNotOurs { .. }
            | HostError::WorkNotOurs { .. }
            | HostError::NotOnline { .. }
            | HostError::NotAllowed { .. }
            | HostError::Argument(_) => ExitKind::Usage,
            HostError::Worker(_) | HostError::Measurement(_) | HostError::Contradiction(_) => ExitKind::Measured,
            HostError::Samples { .. } | HostError::Storage(_) | HostError::Full(_) => ExitKind::Storage,
            HostError::Run(e) => e.exit(),
            HostError::Watch(e) => e.exit(),
            HostError::Read { .. }
            | HostError::Set { .. }
            | HostError::Guard(_)
            | HostError::Missing(_)
            | HostError::Command { .. }
            | HostError::NotRestored { .. } => ExitKind::Missing,
        }
    }
}
