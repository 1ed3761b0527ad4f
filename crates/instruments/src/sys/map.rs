//! Maps of the kernel's own programs (bpf(2)).

use super::check;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const CREATE: libc::c_int = 0;
const UPDATE: libc::c_int = 2;
const HASH: u32 = 1;
const WITHOUT_PREALLOCATION: u32 = 1;

/// `union bpf_attr` of CREATE, as far as it is set.
#[repr(C)]
struct MapAttributes {
    kind: u32,
    key_size: u32,
    value_size: u32,
    elements: u32,
    flags: u32,
}

/// `union bpf_attr` of UPDATE.
#[repr(C)]
struct ElementAttributes {
    map: u32,
    _unused: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// A map from numbers to values of one length, each of which gets its memory when it is stored.
#[derive(Debug)]
pub(crate) struct HashMap {
    map: OwnedFd,
    /// What is stored.
    value: Vec<u8>,
}

impl HashMap {
    /// For at most so many elements, each of so many bytes.
    pub(crate) fn new(elements: u32, bytes: u32) -> io::Result<HashMap> {
        let attributes = MapAttributes {
            kind: HASH,
            key_size: size_of::<u32>() as u32,
            value_size: bytes,
            elements,
            flags: WITHOUT_PREALLOCATION,
        };
        // SAFETY: the attributes are as long as is said, and the kernel copies them.
        let made =
            check(unsafe { libc::syscall(libc::SYS_bpf, CREATE, &raw const attributes, size_of_val(&attributes)) })?;
        Ok(HashMap {
            // SAFETY: the kernel has just made it, and nobody else has it.
            map: unsafe { OwnedFd::from_raw_fd(made as i32) },
            value: vec![1; bytes as usize],
        })
    }

    /// Stores a value.
    pub(crate) fn store(&mut self, key: u32) -> io::Result<()> {
        let attributes = ElementAttributes {
            map: self.map.as_raw_fd() as u32,
            _unused: 0,
            key: (&raw const key) as u64,
            value: self.value.as_ptr() as u64,
            flags: 0,
        };
        // SAFETY: as above; key and value are as long as the map's, live as long as the call, and are only read.
        check(unsafe { libc::syscall(libc::SYS_bpf, UPDATE, &raw const attributes, size_of_val(&attributes)) })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_takes_as_many_elements_as_it_was_made_for() {
        match HashMap::new(2, 16) {
            Ok(mut map) => {
                assert!((0..2).all(|key| map.store(key).is_ok()));
                assert!(map.store(3).is_err());
            }
            Err(e) => assert!(matches!(e.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)), "{e}"),
        }
    }
}
