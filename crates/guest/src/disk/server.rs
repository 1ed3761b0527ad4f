//! The disk's other side: takes requests, and answers each when the model says that it is done.

use super::log::Log;
use super::nbd::{self, REQUEST};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use worstcase_disk::store::Store;
use worstcase_disk::{Action, Disk, Ended, Profile, Request};
use worstcase_instruments::sys::clock;
use worstcase_instruments::sys::process;
use worstcase_instruments::sys::sched::Policy;
use worstcase_io::ext4;
use worstcase_logs::Nanos;

const SECTOR: usize = 512;
/// <linux/prctl.h>
const SET_IO_FLUSHER: libc::c_int = 57;
/// How long the kernel takes to send what is written, about.
const SENT_NS_A_BYTE: u64 = 1;
const SHORTEST_WAIT: Nanos = Nanos(2_000);
/// Whoever sends needs the CPU that waiting takes: the longer nothing comes, the longer the wait, up to this.
const LONGEST_WAIT: Nanos = Nanos(1_000_000);
/// Above everything else that may run: a disk does not wait for a CPU.
const PRIORITY: u8 = 99;

/// Serves until the machine ends; what it returns is an exit code.
pub(crate) fn run(socket: UnixStream, profile: &Profile, seed: u64, bytes: u64, log: &Log) -> i32 {
    let serve = || -> io::Result<()> {
        process::set_name("disk")?;
        Policy::fifo(PRIORITY).apply()?;
        // Writing back must not wait for memory that is to be written back first.
        // SAFETY: no pointers are passed.
        if unsafe { libc::prctl(SET_IO_FLUSHER, 1, 0, 0, 0) } == -1 {
            return Err(io::Error::last_os_error());
        }
        let mut store = Store::default();
        ext4::format(&mut store, bytes)?;
        socket.set_nonblocking(true)?;
        Server {
            socket,
            store,
            disk: Disk::new(profile, seed),
            log,
            buffer: Vec::new(),
        }
        .serve()
    };
    match serve() {
        Ok(()) => 0,
        Err(e) => {
            log.fail(&format!("the disk's server: {e}"));
            1
        }
    }
}

struct Server<'a> {
    socket: UnixStream,
    store: Store,
    disk: Disk,
    log: &'a Log,
    buffer: Vec<u8>,
}

impl Server<'_> {
    fn serve(mut self) -> io::Result<()> {
        loop {
            for ended in self.disk.advance(clock::monotonic()) {
                self.log.add(&ended);
                self.answer(&ended)?;
            }
            let mut head = [0; REQUEST];
            match self.socket.read(&mut head) {
                Ok(0) => return Ok(()),
                Ok(taken) => {
                    self.read_all(&mut head[taken..])?;
                    let Some(request) = nbd::parse(&head) else {
                        return Ok(());
                    };
                    self.take(request)?;
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.wait(libc::POLLIN, self.disk.next_event())?,
                Err(e) => return Err(e),
            }
        }
    }

    fn take(&mut self, request: Request) -> io::Result<()> {
        let now = clock::monotonic();
        if request.action == Action::Write {
            let mut data = std::mem::take(&mut self.buffer);
            data.resize(request.sectors as usize * SECTOR, 0);
            self.read_all(&mut data)?;
            self.store.write(request.sector * SECTOR as u64, &data);
            self.buffer = data;
        }
        self.disk.submit(now, request);
        Ok(())
    }

    fn answer(&mut self, ended: &Ended) -> io::Result<()> {
        let request = &ended.request;
        let mut answer = std::mem::take(&mut self.buffer);
        answer.clear();
        answer.extend(nbd::reply(request.id));
        if request.action == Action::Read {
            let head = answer.len();
            answer.resize(head + request.sectors as usize * SECTOR, 0);
            self.store.read(request.sector * SECTOR as u64, &mut answer[head..]);
        }
        let mut left = &answer[..];
        while !left.is_empty() {
            match self.socket.write(left) {
                Ok(written) => left = &left[written..],
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.wait(libc::POLLOUT, None)?,
                Err(e) => return Err(e),
            }
        }
        self.buffer = answer;
        Ok(())
    }

    /// What has begun to come comes whole, page by page: waking up for each of them would take most of the time.
    fn read_all(&mut self, mut buffer: &mut [u8]) -> io::Result<()> {
        let mut longer = SHORTEST_WAIT;
        while !buffer.is_empty() {
            match self.socket.read(buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(taken) => {
                    buffer = &mut buffer[taken..];
                    longer = SHORTEST_WAIT;
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    let left = buffer.len() as u64 * SENT_NS_A_BYTE;
                    clock::sleep_until(clock::monotonic() + Nanos(left.max(longer.0)));
                    longer = Nanos(2 * longer.0).min(LONGEST_WAIT);
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Until the socket is ready, or until then.
    fn wait(&self, events: i16, until: Option<Nanos>) -> io::Result<()> {
        let mut poll = libc::pollfd {
            fd: self.socket.as_raw_fd(),
            events,
            revents: 0,
        };
        let left = until.map(|until| until.saturating_sub(clock::monotonic()));
        let time = left.map(|left| libc::timespec {
            tv_sec: (left.0 / 1_000_000_000) as libc::time_t,
            tv_nsec: (left.0 % 1_000_000_000) as libc::c_long,
        });
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: both pointers are to values that outlive the call, or null, and no signal mask is given.
        match unsafe { libc::ppoll(&raw mut poll, 1, time, std::ptr::null()) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}
