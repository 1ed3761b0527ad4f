//! Filters of packets: programs that a socket has the kernel run.

use super::check;
use std::io;
use std::os::fd::AsRawFd;

/// Gives a socket a filter that takes every packet, after looking at so many words of it.
pub(crate) fn attach(socket: &impl AsRawFd, words: u16) -> io::Result<()> {
    let instruction = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let mut program = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_LEN, 0); usize::from(words)];
    program.push(instruction(libc::BPF_RET | libc::BPF_K, u32::MAX));
    let program = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: the program is as long as it says, and the kernel copies it.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            size_of_val(&program) as libc::socklen_t,
        )
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn a_socket_with_a_filter_still_gets_its_packets() {
        let (sender, receiver) = UnixDatagram::pair().unwrap();
        attach(&receiver, 4).unwrap();
        sender.send(b"packet").unwrap();
        let mut buffer = [0; 16];
        assert_eq!(receiver.recv(&mut buffer).unwrap(), 6);
        assert!(attach(&std::io::stdin(), 4).is_err());
    }
}
