//! Replaces functions of QEMU's in this process: a jump is written over their first bytes.

use std::ffi::{CStr, c_void};

/// `movabs r11, ADDRESS; jmp r11`.
const LENGTH: usize = 13;
const PAGE: usize = 4096;

/// Where a function of QEMU's is: in the executable, or in the module of its accelerator.
pub(crate) struct Finder {
    module: *mut c_void,
}

impl Finder {
    /// QEMU 7.2 keeps a part in a module, which is loaded by now if there is one.
    pub(crate) fn new() -> Finder {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let path = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
        let module = path
            .filter(|path| path.contains("/accel-tcg-"))
            .find_map(|path| std::ffi::CString::new(path).ok())
            .map_or(std::ptr::null_mut(), |path| {
                // SAFETY: a path that ends with NUL; nothing is loaded that is not there.
                unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) }
            });
        Finder { module }
    }

    /// The address of what QEMU exports by this name.
    pub(crate) fn find(&self, name: &CStr) -> Result<*mut c_void, String> {
        // SAFETY: a name that ends with NUL, and a handle of dlopen's or none.
        let found = unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
            if found.is_null() && !self.module.is_null() {
                libc::dlsym(self.module, name.as_ptr())
            } else {
                found
            }
        };
        if found.is_null() {
            return Err(format!("this QEMU has no function '{}'", name.to_string_lossy()));
        }
        Ok(found)
    }
}

/// Makes the struct `Functions` of functions of QEMU's, by their names, with `find`.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// What is called in QEMU.
        struct Functions { $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }

        impl Functions {
            fn find(finder: &Finder) -> Result<Functions, String> {
                Ok(Functions { $($name: {
                    const NAME: &str = concat!(stringify!($name), "\0");
                    let name = std::ffi::CStr::from_bytes_with_nul(NAME.as_bytes()).expect("one NUL, at the end");
                    // SAFETY: a function of this name has this form in the QEMUs that the plugin was built for.
                    unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(
                            finder.find(name)?,
                        )
                    }
                },)* })
            }
        }
    };
}
pub(super) use functions;

/// From now on a call of `function` is a call of `instead`.
///
/// # Safety
/// Both have the same form; `function` is at least 13 bytes long, and no thread is in its first 13 bytes.
pub(crate) unsafe fn replace(function: *mut c_void, instead: *const c_void) -> Result<(), String> {
    let start = function as usize & !(PAGE - 1);
    let length = (function as usize + LENGTH).next_multiple_of(PAGE) - start;
    let mut jump = [0; LENGTH];
    jump[..2].copy_from_slice(&[0x49, 0xbb]);
    jump[2..10].copy_from_slice(&(instead as u64).to_le_bytes());
    jump[10..].copy_from_slice(&[0x41, 0xff, 0xe3]);
    let protect = |protection| {
        // SAFETY: whole pages of QEMU's code, which stay executable.
        match unsafe { libc::mprotect(start as *mut c_void, length, protection) } {
            0 => Ok(()),
            _ => Err(format!(
                "cannot change QEMU's code in memory: {}; allow it to map memory that it writes and executes",
                std::io::Error::last_os_error()
            )),
        }
    };
    protect(libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)?;
    // SAFETY: the caller's promise, and the pages are writable now.
    unsafe {
        function.cast::<[u8; LENGTH]>().write_unaligned(jump);
    }
    protect(libc::PROT_READ | libc::PROT_EXEC)
}
