//! The program to follow, as a user names it.

use crate::HostError;
use crate::isolate::threads::{process_of, processes, threads_of};
use std::fs;
use worstcase_traces::events::THREAD_NAME;
use worstcase_traces::follow::WantedThread;

/// The program to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowTarget {
    /// One that runs already.
    Running {
        /// The process.
        process: u32,
        /// The thread that its name or id tells.
        thread: WantedThread,
    },
    /// One to be started.
    Command(Vec<String>),
}

impl FollowTarget {
    /// The process of this id, or of the thread of this id, which then is the one that is wanted.
    pub fn with_id(id: u32) -> Result<FollowTarget, HostError> {
        let none = || HostError::Argument(format!("no process or thread has the id {id} (ps -eL lists them)"));
        let process = process_of(id).ok_or_else(none)?;
        match is_of_kernel(process) {
            true => Err(HostError::Argument(format!(
                "{id} is a thread of the kernel, which waits in no system call: name a program's"
            ))),
            false => Ok(FollowTarget::Running {
                process,
                thread: match id == process {
                    true => WantedThread::Found,
                    false => WantedThread::Tid(id),
                },
            }),
        }
    }

    /// The one process of this name, or the one of which threads have it.
    pub fn called(name: &str) -> Result<FollowTarget, HostError> {
        let found: Vec<(u32, Vec<u32>)> = processes()
            .filter(|process| *process != std::process::id() && !is_of_kernel(*process))
            .map(|process| {
                (
                    process,
                    threads_of(process).filter(|tid| is_called(*tid, name)).collect(),
                )
            })
            .filter(|(_, threads): &(u32, Vec<u32>)| !threads.is_empty())
            .collect();
        match &found[..] {
            [] => Err(HostError::Argument(format!(
                "no process or thread is called {name} (ps -eLo comm lists the names)"
            ))),
            [(process, threads)] => Ok(FollowTarget::Running {
                process: *process,
                thread: match &threads[..] {
                    threads if threads.contains(process) => WantedThread::Found,
                    [thread] => WantedThread::Tid(*thread),
                    _ => WantedThread::Named(name.into()),
                },
            }),
            several => {
                let ids: Vec<String> = several.iter().map(|(process, _)| process.to_string()).collect();
                Err(HostError::Argument(format!(
                    "{} processes have a thread called {name}: name one with --pid, of {}",
                    several.len(),
                    ids.join(", ")
                )))
            }
        }
    }
}

fn is_called(thread: u32, name: &str) -> bool {
    let comm = fs::read(format!("/proc/{thread}/comm")).unwrap_or_default();
    let kept = &name.as_bytes()[..name.len().min(THREAD_NAME)];
    comm.strip_suffix(b"\n").unwrap_or(&comm) == kept
}

/// Threads of the kernel have no program, so no command line and no executable.
fn is_of_kernel(process: u32) -> bool {
    const KERNEL: u64 = 0x20_0000;
    let stat = fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    let stat = String::from_utf8_lossy(&stat);
    let flags = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.split_whitespace().nth(6)?.parse().ok());
    flags.is_some_and(|flags: u64| flags & KERNEL != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_thread_is_found_with_its_process() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (tell, tid) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_pid() as u32).unwrap();
            let _ = ended.recv();
        });
        let (tid, own) = (tid.recv().unwrap(), std::process::id());
        let running = |thread| FollowTarget::Running { process: own, thread };
        assert_eq!(FollowTarget::with_id(tid).unwrap(), running(WantedThread::Tid(tid)));
        assert_eq!(FollowTarget::with_id(own).unwrap(), running(WantedThread::Found));
        drop(end);
        thread.join().unwrap();
        let refused = |id| FollowTarget::with_id(id).unwrap_err().to_string();
        assert!(refused(1 << 30).contains("no process or thread has the id"));
        assert!(refused(2).contains("a thread of the kernel"));
    }

    #[test]
    fn a_name_that_several_have_is_answered_with_their_ids() {
        let folder = tempfile::tempdir().unwrap();
        // The kernel cuts the name.
        let name = "one-of-two-with-a-long-name";
        let program = folder.path().join(name);
        std::os::unix::fs::symlink("/bin/sleep", &program).unwrap();
        let start = || Command::new(&program).arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let mut one = start();
        let found = FollowTarget::called(name).unwrap();
        let mut other = start();
        let error = FollowTarget::called(name).unwrap_err().to_string();
        for child in [&mut one, &mut other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let (process, thread) = (one.id(), WantedThread::Found);
        assert_eq!(found, FollowTarget::Running { process, thread });
        for id in [one.id(), other.id()] {
            assert!(error.contains(&id.to_string()), "{error}");
        }
        assert!(FollowTarget::called(name).is_err());
    }
}
