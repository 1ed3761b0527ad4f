//! Why something about this machine could not be done.

use super::CpuList;
use std::io;
use std::path::PathBuf;
use worstcase_base::trust::OtherWriters;
use worstcase_results::record::RunError;

worstcase_base::errors! {
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
        } => Storage,
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
        } => Usage,
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
        } => Usage,
        /// A setting cannot be read.
        #[error("cannot read {}: {source}; this kernel may not have it", path.display())]
        Read {
            /// The setting.
            path: PathBuf,
            /// The system's answer.
            source: io::Error,
        } => Missing,
        /// A setting cannot be changed.
        #[error("cannot set {} to {value}: {source}{}", path.display(), remedy(source))]
        Set {
            /// The setting.
            path: PathBuf,
            /// What it should have become.
            value: String,
            /// The system's answer.
            source: io::Error,
        } => Missing,
        /// The guard does not run.
        #[error("cannot start the guard that restores this machine if worstcase is killed: {0}; try again")]
        Guard(String) => Missing,
        /// CPUs that are to be measured do not run.
        #[error("CPUs {missing} are not online; choose from {online}")]
        NotOnline {
            /// Those.
            missing: CpuList,
            /// All that are.
            online: CpuList,
        } => Usage,
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
        } => Usage,
        /// The user's command cannot be started.
        #[error("cannot run {program}: {source}; check its name and PATH")]
        Command {
            /// Its first word.
            program: String,
            /// The system's answer.
            source: io::Error,
        } => Missing,
        /// The command line.
        #[error("{0}")]
        Argument(String) => Usage,
        /// The measuring process.
        #[error("the measuring process failed: {0}; give the command again")]
        Worker(String) => Measured,
        /// What it said.
        #[error("{0}")]
        Measurement(String) => Measured,
        /// What it needs and does not have.
        #[error("{0}")]
        Missing(String) => Missing,
        /// It could not write.
        #[error("{0}")]
        Storage(String) => Storage,
        /// It ended while its samples could still be kept.
        #[error(
            "the disk of {} is almost full: the measurement was ended early, and what was taken until then is kept; make room, then --resume measures what is missing",
            .0.display()
        )]
        Full(PathBuf) => Storage,
        /// Its samples.
        #[error("cannot keep samples in {}: {source}; is the disk full?", path.display())]
        Samples {
            /// The file.
            path: PathBuf,
            /// The system's answer.
            source: io::Error,
        } => Storage,
        /// Its numbers.
        #[error("the measuring process's numbers contradict each other: {0}")]
        Contradiction(String) => Measured,
        /// The run folder.
        #[error(transparent)]
        Run(#[from] RunError) => within,
        /// The folder of a watch.
        #[error(transparent)]
        Watch(#[from] crate::watch::WatchError) => within,
        /// Something could not be put back.
        #[error("{count} of the changes above could not be undone; run worstcase host restore again, as the same user")]
        NotRestored {
            /// How many.
            count: usize,
        } => Missing,
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied if !rustix::process::geteuid().is_root() => "; run as root",
        _ => "; it stays as it was",
    }
}
