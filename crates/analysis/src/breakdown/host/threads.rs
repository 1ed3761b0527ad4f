//! The threads of a recording.

use crate::breakdown::spans::KernelTask;
use worstcase_host::trace::events::TracedThread;
use worstcase_host::trace::{EventSnapshot, TracedChange};

/// A thread as breakdowns name it.
pub(crate) fn task(thread: &TracedThread) -> KernelTask {
    KernelTask {
        pid: thread.tid,
        comm: thread.comm.to_string(),
    }
}

/// The threads that the recording's switches name.
pub(crate) fn threads(snapshot: &EventSnapshot) -> Vec<TracedThread> {
    let switched = snapshot.events.iter().filter_map(|event| match event.what {
        TracedChange::Switch { from, to, .. } => Some([from, to]),
        _ => None,
    });
    switched.flatten().collect()
}
