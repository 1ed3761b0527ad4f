//! Kernel modules: the controller put them into the image, unpacked, with an index in load order.
//!
//! `/modules/index` has a line a module that a load may ask for: its name, a colon, and the files to load, dependencies
//! first (none for one that is built in).

use crate::GuestError;
use crate::image::read_text;
use std::ffi::CString;
use std::os::fd::AsRawFd;
use worstcase_probe::loads::ModuleInfo;

/// Loads a module with what it depends on; one that is loaded already is no error.
pub fn load(name: &str) -> Result<(), GuestError> {
    let ModuleInfo { parameters, optional } = ModuleInfo::of(name);
    let index = read_text("/modules/index")?;
    let mut modules = index.lines().filter_map(|line| line.split_once(':'));
    let Some((_, files)) = modules.find(|(module, _)| *module == name) else {
        return match optional {
            true => Ok(()),
            false => Err(GuestError::new(format!(
                "this kernel has no module '{name}', which the load needs"
            ))),
        };
    };
    let mut files = files.split_whitespace();
    let own = files.next_back();
    files.try_for_each(|file| insert(file, ""))?;
    own.map_or(Ok(()), |file| insert(file, parameters))
}

fn insert(file: &str, parameters: &str) -> Result<(), GuestError> {
    let path = format!("/modules/{file}");
    let ko = std::fs::File::open(&path).map_err(|e| GuestError::new(format!("{path}: {e}")))?;
    let parameters = CString::new(parameters).map_err(GuestError::new)?;
    // SAFETY: the descriptor is open and the parameter string is NUL-terminated.
    let result = unsafe { libc::syscall(libc::SYS_finit_module, ko.as_raw_fd(), parameters.as_ptr(), 0) };
    if result == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EEXIST) {
        return Ok(());
    }
    Err(GuestError::os(format!("the kernel refused the module {file}")))
}
