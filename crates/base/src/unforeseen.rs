//! Random names that no two processes choose. A process id would not do: it is 1 in every container.

use rustix::rand::GetRandomFlags;
use std::io;

/// `prefix` and 32 hexadecimal digits.
pub fn name(prefix: &str) -> io::Result<String> {
    let mut random = [0; 16];
    let taken = rustix::rand::getrandom(&mut random, GetRandomFlags::empty());
    if taken != Ok(random.len()) {
        return Err(io::Error::other("the kernel gives no random numbers"));
    }
    Ok(format!("{prefix}{:032x}", u128::from_ne_bytes(random)))
}
