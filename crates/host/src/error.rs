//! Errors of work on this machine.

use super::CpuList;
use std::io;
use std::path::PathBuf;
use worstcase_base::trust::OtherWriters;
use worstcase_results::record::RunError;

worstcase_base::errors! {
    /// Each is one line: what, where, and the remedy.
    #[derive(Debug, thiserror::Error)]
    pub enum HostError {
        /// The state folder or a journal in it cannot be used.
        #[error("cannot keep a journal, {}: {source}; set WORSTCASE_STATE to a folder you can write to", path.display())]
        State {
            /// The folder or file.
            path: PathBuf,
            /// The system's error.
            source: io::Error,
        } => Storage,
        /// Another user could write to the state folder, and its journals are undone with our rights.
        #[error(
            "{} is not a folder that only you can write to ({why}); set WORSTCASE_STATE to one of your own",
            path.display()
        )]
        StateNotOurs {
            /// The folder.
            path: PathBuf,
            /// Who else can write there.
            why: String,
        } => Usage,
        /// Another user could replace the loads' work folder, in which root cleans up.
        #[error(
            "root cannot make a work folder in {}: {others}; choose another with --work-dir, or a sticky one such as /tmp",
            path.display()
        )]
        WorkNotOurs {
            /// The folder that would contain it.
            path: PathBuf,
            /// Who could, and where.
            others: OtherWriters,
        } => Usage,
        /// A setting cannot be read.
        #[error("cannot read {}: {source}; this kernel may not have it", path.display())]
        Read {
            /// The setting.
            path: PathBuf,
            /// The system's error.
            source: io::Error,
        } => Missing,
        /// A setting cannot be changed.
        #[error("cannot set {} to {value}: {source}{}", path.display(), remedy(source))]
        Set {
            /// The setting.
            path: PathBuf,
            /// The intended value.
            value: String,
            /// The system's error.
            source: io::Error,
        } => Missing,
        /// The guard does not run.
        #[error("cannot start the guard that restores this machine if worstcase is killed: {0}; try again")]
        Guard(String) => Missing,
        /// CPUs to measure are not online.
        #[error("CPUs {missing} are not online; choose from {online}")]
        NotOnline {
            /// The CPUs that are not online.
            missing: CpuList,
            /// All CPUs that are online.
            online: CpuList,
        } => Usage,
        /// CPUs are online, but this process cannot have them.
        #[error(
            "CPUs {refused} are online, but {by}, keeps this process from them; start worstcase in a group that has them (cpuset.cpus of it and of those above it), or choose from {allowed}"
        )]
        NotAllowed {
            /// The CPUs that are refused.
            refused: CpuList,
            /// What refuses them, in words.
            by: String,
            /// All CPUs that this process can have.
            allowed: CpuList,
        } => Usage,
        /// The user's command cannot be started.
        #[error("cannot run {program}: {source}; check its name and PATH")]
        Command {
            /// The program's name.
            program: String,
            /// The system's error.
            source: io::Error,
        } => Missing,
        /// The command line.
        #[error("{0}")]
        Argument(String) => Usage,
        /// The measuring process failed.
        #[error("the measuring process failed: {0}; give the command again")]
        Worker(String) => Measured,
        /// A measurement failed, in the words of the measuring process.
        #[error("{0}")]
        Measurement(String) => Measured,
        /// The measuring process lacks something that it needs.
        #[error("{0}")]
        Missing(String) => Missing,
        /// The measuring process could not write.
        #[error("{0}")]
        Storage(String) => Storage,
        /// The measuring process ended early, while its samples could still be kept.
        #[error(
            "the disk of {} is almost full: the measurement was ended early, and what was taken until then is kept; make room, then --resume measures what is missing",
            .0.display()
        )]
        Full(PathBuf) => Storage,
        /// Its samples cannot be read.
        #[error("cannot keep samples in {}: {source}; is the disk full?", path.display())]
        Samples {
            /// The file.
            path: PathBuf,
            /// The system's error.
            source: io::Error,
        } => Storage,
        /// Its numbers contradict each other.
        #[error("the measuring process's numbers contradict each other: {0}")]
        Contradiction(String) => Measured,
        /// The run folder.
        #[error(transparent)]
        Run(#[from] RunError) => within,
        /// The folder of a watch.
        #[error(transparent)]
        Watch(#[from] crate::watch::WatchError) => within,
        /// The file of a calibration.
        #[error("cannot write the calibration {}: {source}; name another file with -o", path.display())]
        CalibrationFile {
            /// The file.
            path: PathBuf,
            /// The system's error.
            source: io::Error,
        } => Storage,
        /// A calibration.
        #[error(transparent)]
        Calibration(#[from] worstcase_timing::CalibrationError) => within,
        /// Changes could not be undone.
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
