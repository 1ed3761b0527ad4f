//! Reads in flight: Linux AIO (io_submit) on a file opened with O_DIRECT.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use worstcase_instruments::sys::check;
use worstcase_instruments::sys::memory::Mapping;

const IOCB_CMD_PREAD: u16 = 0;

/// `struct iocb` of <linux/aio_abi.h>, little endian.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Iocb {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    result_fd: u32,
}

/// `struct io_event` of <linux/aio_abi.h>.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct IoEvent {
    data: u64,
    iocb: u64,
    result: i64,
    result2: i64,
}

/// `depth` reads of `block` bytes each, all of which can be in flight at once.
pub struct Reads {
    context: libc::c_ulong,
    file: File,
    block: usize,
    // Only ever written by the kernel; kept mapped until the context, and so every read, is gone.
    buffers: Mapping,
    events: Vec<IoEvent>,
}

impl Reads {
    /// Prepares `depth` buffers of `block` bytes (a multiple of the page size) for reads from `file`.
    pub fn new(file: File, depth: usize, block: usize) -> io::Result<Reads> {
        let buffers = Mapping::private(depth * block)?;
        let mut context: libc::c_ulong = 0;
        // SAFETY: `context` is a valid aio_context_t, zero as the call demands.
        check(unsafe { libc::syscall(libc::SYS_io_setup, depth as libc::c_uint, &raw mut context) })?;
        Ok(Reads {
            context,
            file,
            block,
            buffers,
            events: vec![IoEvent::default(); depth],
        })
    }

    /// Starts a read at `offset` into buffer `slot`. A slot holds one read at a time (the caller's duty; two
    /// reads into one buffer would mix their data, nothing worse).
    pub fn submit(&mut self, slot: usize, offset: u64) -> io::Result<()> {
        assert!(slot < self.events.len(), "no buffer {slot}");
        let mut request = Iocb {
            data: slot as u64,
            opcode: IOCB_CMD_PREAD,
            fd: self.file.as_raw_fd() as u32,
            buffer: self.buffers.as_ptr() as u64 + (slot * self.block) as u64,
            bytes: self.block as u64,
            offset: offset as i64,
            ..Iocb::default()
        };
        let mut list = [&raw mut request];
        // SAFETY: the kernel copies the request before it returns; the buffer lies inside `buffers` and stays
        // mapped until `drop` has ended every read.
        check(unsafe { libc::syscall(libc::SYS_io_submit, self.context, 1 as libc::c_long, list.as_mut_ptr()) })?;
        Ok(())
    }

    /// Waits for at least one read to end and returns the slots of all that did; a failed or short read is an error.
    pub fn wait(&mut self) -> io::Result<impl Iterator<Item = usize>> {
        let timeout: *mut libc::timespec = core::ptr::null_mut();
        // SAFETY: `events` has room for as many events as are asked for.
        let n = check(unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                1 as libc::c_long,
                self.events.len() as libc::c_long,
                self.events.as_mut_ptr(),
                timeout,
            )
        })?;
        let ended = self.events[..n as usize].to_vec();
        for event in &ended {
            if event.result < 0 {
                return Err(io::Error::from_raw_os_error(-event.result as i32));
            }
            if event.result as usize != self.block {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
        }
        Ok(ended.into_iter().map(|event| event.data as usize))
    }
}

impl Drop for Reads {
    fn drop(&mut self) {
        // SAFETY: the context was made by `new`; the call waits for every read in flight.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}
