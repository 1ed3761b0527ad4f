//! A followed program as a run: in the folder of `--output`, or one that is there until the verdict is told.

use super::FollowArgs;
use super::told::scheduling;
use crate::cli::error::Error;
use std::path::PathBuf;
use tempfile::TempDir;
use worstcase_base::duration;
use worstcase_base::output::{BegunFolder, OutputFolder};
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;
use worstcase_host::HostError;
use worstcase_host::follow::keep::{FollowedCycles, FollowedMachine, keep};
use worstcase_host::follow::{FollowSession, FollowTarget};
use worstcase_report::follow::changes;
use worstcase_results::record::{FollowCommand, FollowedProgram, Run};

/// Where a run is made, and of which machine; its folder goes away again if nothing is kept.
pub(super) struct KeptPlace {
    folder: PathBuf,
    machine: FollowedMachine,
    began: Utc,
    _begun: BegunFolder,
    _scratch: Option<TempDir>,
}

impl KeptPlace {
    /// In the folder that the user names, or for the verdict alone in one that is there until it is told; none where nobody
    /// asks for either.
    pub fn of(args: &FollowArgs) -> Result<Option<KeptPlace>, Error> {
        let (folder, scratch) = match (&args.output, args.deadline) {
            (None, None) => return Ok(None),
            (Some(folder), _) => {
                Run::check_free(folder)?;
                Run::check_place(folder)?;
                (folder.clone(), None)
            }
            (None, Some(_)) => {
                let scratch = tempfile::tempdir().map_err(|source| HostError::Samples {
                    path: std::env::temp_dir(),
                    source,
                })?;
                (scratch.path().join("run"), Some(scratch))
            }
        };
        let begun = BegunFolder::at(&folder);
        OutputFolder::create(&folder).map_err(|source| HostError::Samples {
            path: folder.clone(),
            source,
        })?;
        Ok(Some(KeptPlace {
            _begun: begun,
            folder,
            machine: FollowedMachine::of_here(),
            began: Utc::now(),
            _scratch: scratch,
        }))
    }

    /// Keeps the cycles, if there are some, and what was found as JSON.
    pub fn keep(
        &self,
        args: &FollowArgs,
        target: &FollowTarget,
        session: &FollowSession,
        found: &str,
    ) -> Result<Option<Run>, Error> {
        let followed = &session.followed;
        let (Some(thread), false) = (followed.thread, followed.cycles.is_empty()) else {
            return Ok(None);
        };
        let command = match target {
            FollowTarget::Command(command) => command.clone(),
            FollowTarget::Running { .. } => Vec::new(),
        };
        let cycles = FollowedCycles {
            program: FollowedProgram {
                program: session.program.name.trim().to_string(),
                command: command.clone(),
                pid: session.program.pid,
                tid: thread.tid,
                thread: thread.comm.to_string(),
                observed_ns: session.time.0,
                asked: None,
            },
            scheduling: scheduling(&thread, &session.program),
            cpus: followed.cpus.clone(),
            load: None,
            period: followed.wait.and_then(|wait| wait.period),
            cycles: &followed.cycles,
            missed: followed.missed,
            deadline: args.deadline,
            lost_events: followed.lost,
            trace_cost: session.cost.a_cycle(),
            recorder: Some(session.cost.recorder),
            throttled: session.throttled,
            steal: session.steal,
            warnings: changes(followed),
            command: FollowCommand {
                options: args.words(),
                program: command,
            },
            found: Some(found),
        };
        let machine = self.machine.clone().at(self.began, Utc::now());
        Ok(Some(keep(&self.folder, &machine, &cycles)?))
    }
}

impl FollowArgs {
    /// The options as typed, but for the folder and the program's command.
    pub(super) fn words(&self) -> Vec<String> {
        let show = |time: Nanos| duration::show(time).replace(' ', "");
        let options = [
            ("--pid", self.pid.map(|id| id.to_string())),
            ("--comm", self.comm.clone()),
            ("--thread", self.thread.clone()),
            ("--wait", self.wait.as_ref().map(ToString::to_string)),
            ("--time", self.time.map(show)),
            ("--deadline", self.deadline.map(show)),
        ];
        let given = options
            .into_iter()
            .filter_map(|(option, value)| Some([option.to_string(), value?]));
        given.flatten().collect()
    }
}
