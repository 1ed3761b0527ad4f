//! Functions of QEMU's, found by name.

use std::ffi::{CStr, c_void};

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
