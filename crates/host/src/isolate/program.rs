//! The program to which the observed CPUs belong, as a user names it.

use super::threads::{process_of, processes, threads_of};
use crate::HostError;
use std::fs;

/// The process of this id, or of the thread of this id.
pub fn process_with_id(id: u32) -> Result<Vec<u32>, HostError> {
    let none = || HostError::Argument(format!("no process has the id {id}"));
    process_of(id).map(|process| vec![process]).ok_or_else(none)
}

/// The processes of which a thread has this name.
pub fn processes_called(name: &str) -> Result<Vec<u32>, HostError> {
    let is_called =
        |thread: u32| fs::read_to_string(format!("/proc/{thread}/comm")).is_ok_and(|text| text.trim_end() == name);
    let found: Vec<u32> = processes()
        .filter(|process| threads_of(*process).any(is_called))
        .collect();
    match found.is_empty() {
        true => Err(HostError::Argument(format!(
            "no thread is called {name} (ps -eLo comm lists the names, of at most 15 bytes)"
        ))),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_any_of_its_threads() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (tell, tid) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("of-a-program".into()).spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_pid() as u32).unwrap();
            let _ = ended.recv();
        });
        let own = vec![std::process::id()];
        assert_eq!(process_with_id(tid.recv().unwrap()).unwrap(), own);
        assert_eq!(processes_called("of-a-program").unwrap(), own);
        drop(end);
        thread.unwrap().join().unwrap();
        let error = processes_called("of-a-program").unwrap_err().to_string();
        assert!(error.contains("no thread is called of-a-program"), "{error}");
        assert!(process_with_id(1 << 30).is_err());
    }
}
