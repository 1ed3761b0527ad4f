//! Kernel modules: the controller put them into the image, unpacked, with an index in load order.
//!
//! `/modules/index` has a line a module that a load may ask for: its name, a colon, and the files to load, dependencies
//! first (none for one that is built in).
//!
//! `/modules/own/list` is there if the user has modules of his own: a line each, its name and its parameters, in the order
//! in which they are loaded; `/modules/own/NAME.ko` is the file. They are loaded once, before the machine settles.

use crate::GuestError;
use crate::image::read_text;
use crate::kernel_log::KernelLog;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use worstcase_instruments::loads::{Board, Ending, LoadError, ModuleInfo, Pace, RunningPart};

/// What the load `module` unloads and loads: the contract's table has it loaded before.
const RELOADED: &str = "dummy";
/// See the module.
const OWN: &str = "/modules/own/list";

/// Loads a module with what it depends on; one that is loaded already is no error.
pub(crate) fn load(name: &str) -> Result<(), GuestError> {
    let index = read_text("/modules/index")?;
    let mut modules = index.lines().filter_map(|line| line.split_once(':'));
    let Some((_, files)) = modules.find(|(module, _)| *module == name) else {
        return match ModuleInfo::of(name).optional {
            true => Ok(()),
            false => Err(GuestError::new(format!(
                "this kernel has no module '{name}', which the load or the probe needs"
            ))),
        };
    };
    files.split_whitespace().try_for_each(|file| {
        let module = file.strip_suffix(".ko").unwrap_or(file);
        insert(file, ModuleInfo::of(module).parameters)
    })
}

/// Loads each of them.
pub(crate) fn load_all(names: &[String]) -> Result<(), GuestError> {
    names.iter().try_for_each(|name| load(name))
}

/// The load `module`: its module, which is loaded already, is unloaded and loaded again, for ever.
pub(crate) fn start_load(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| {
        reload(board, Pace::alone(rate)).map_err(|e| e.to_string())
    })
}

fn reload(board: &Board, mut pace: Pace) -> Result<(), GuestError> {
    loop {
        pace.wait();
        remove(RELOADED)?;
        load(RELOADED)?;
        board.add(0, 1);
    }
}

fn remove(name: &str) -> Result<(), GuestError> {
    let own = CString::new(name).map_err(GuestError::new)?;
    // SAFETY: the name is NUL-terminated.
    match unsafe { libc::syscall(libc::SYS_delete_module, own.as_ptr(), libc::O_NONBLOCK) } {
        0 => Ok(()),
        _ => Err(GuestError::os(format!("the kernel keeps the module {name}"))),
    }
}

/// Loads the user's own modules; false if there are none.
pub(crate) fn load_own() -> Result<bool, GuestError> {
    if !Path::new(OWN).exists() {
        return Ok(false);
    }
    for line in read_text(OWN)?.lines() {
        let (name, parameters) = line.split_once(' ').unwrap_or((line, ""));
        let mut log = KernelLog::from_now();
        let refused = |e: io::Error| {
            let said = said(&mut log).map_or(String::new(), |said| format!("; the kernel's log: {said}"));
            GuestError::new(format!("the kernel refused the module {}: {e}{said}", line.trim()))
        };
        finit(&format!("/modules/own/{name}.ko"), parameters)?.map_err(refused)?;
    }
    Ok(true)
}

fn insert(file: &str, parameters: &str) -> Result<(), GuestError> {
    match finit(&format!("/modules/{file}"), parameters)? {
        Err(e) if e.raw_os_error() != Some(libc::EEXIST) => {
            Err(GuestError::new(format!("the kernel refused the module {file}: {e}")))
        }
        _ => Ok(()),
    }
}

/// What the kernel answers.
fn finit(path: &str, parameters: &str) -> Result<io::Result<()>, GuestError> {
    let says = |e: io::Error| GuestError::new(format!("{path}: {e}"));
    let ko = File::open(path).map_err(says)?;
    let parameters = CString::new(parameters).map_err(GuestError::new)?;
    // SAFETY: the descriptor is open and the parameter string is NUL-terminated.
    let result = unsafe { libc::syscall(libc::SYS_finit_module, ko.as_raw_fd(), parameters.as_ptr(), 0) };
    Ok(match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    })
}

/// The last line of the kernel's log; not that a module of somebody else's taints it.
fn said(log: &mut KernelLog) -> Option<String> {
    log.lines().into_iter().rfind(|line| !line.contains("taint"))
}
