//! What operations work on: files, pipes, sockets, memory.

use crate::machine::FOLDER;
use crate::memory::{Area, AreaSharing, PAGE};
use crate::pointers::PointerCircle;
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::pipe::pipe;
use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
use std::fs::{File, Permissions, create_dir, set_permissions, write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

/// Files of the folder that is listed.
const LISTED: usize = 64;
/// Files that are polled.
const POLLED: usize = 64;
/// More pages than a third-level cache holds of most processors.
const MUCH: usize = 16_384;

/// See the module.
pub struct Fixture {
    /// /dev/null.
    pub null: File,
    /// /dev/zero.
    pub zero: File,
    /// A file of a page.
    pub page_file: File,
    /// A file of 16 pages.
    pub file: File,
    /// A folder of [`LISTED`] files.
    pub folder: File,
    /// Read and write end.
    pub pipe: (OwnedFd, OwnedFd),
    /// A counter.
    pub counter: OwnedFd,
    /// Both ends of a stream.
    pub unix: (UnixStream, UnixStream),
    /// A sender and its receiver.
    pub udp: (UdpSocket, UdpSocket),
    /// Both ends of a connection.
    pub tcp: (TcpStream, TcpStream),
    /// Of which one event is due.
    pub epoll: OwnedFd,
    /// Files at which nothing happens.
    pub polled: Vec<OwnedFd>,
    /// A timer.
    pub timer: OwnedFd,
    /// 16 pages to copy from and to.
    pub buffer: Vec<u8>,
    /// A page that is there.
    pub one_page: Area,
    /// 256 pages that are there.
    pub many_pages: Area,
    /// In the second-level cache.
    pub near: PointerCircle,
    /// In the third-level cache.
    pub far: PointerCircle,
    /// In memory.
    pub farthest: PointerCircle,
    _due: OwnedFd,
}

impl Fixture {
    /// Makes everything. This process has a folder and a network of its own.
    pub fn new() -> Fixture {
        let opened = |name: &str| File::options().read(true).write(true).open(name).expect("it is there");
        let made = |name: &str, length: usize| {
            let name = format!("{FOLDER}/{name}");
            write(&name, vec![1; length]).expect("there is room");
            opened(&name)
        };
        let listed = format!("{FOLDER}/listed");
        create_dir(&listed).expect("there is room");
        (0..LISTED).for_each(|nth| drop(made(&format!("listed/f{nth}"), 0)));
        let tiny = format!("{FOLDER}/tiny");
        write(&tiny, tiny_program()).expect("there is room");
        set_permissions(&tiny, Permissions::from_mode(0o755)).expect("it is ours");
        let due = eventfd(1, EventfdFlags::empty()).expect("there are files");
        let epoll = epoll::create(epoll::CreateFlags::empty()).expect("there are files");
        epoll::add(&epoll, &due, epoll::EventData::new_u64(0), epoll::EventFlags::IN).expect("it can be added");
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("there is a network");
        let sender = UdpSocket::bind("127.0.0.1:0").expect("there is a network");
        sender
            .connect(receiver.local_addr().expect("it is bound"))
            .expect("it is there");
        let pages = |count| {
            let mut area = Area::new(count, AreaSharing::Private);
            area.write();
            area
        };
        Fixture {
            farthest: PointerCircle::new(MUCH),
            far: PointerCircle::new(1_024),
            near: PointerCircle::new(64),
            null: opened("/dev/null"),
            zero: opened("/dev/zero"),
            page_file: made("page", PAGE),
            file: made("file", 16 * PAGE),
            folder: File::open(&listed).expect("it is there"),
            pipe: pipe().expect("there are files"),
            counter: eventfd(0, EventfdFlags::empty()).expect("there are files"),
            unix: UnixStream::pair().expect("there are files"),
            udp: (sender, receiver),
            tcp: connection(),
            epoll,
            polled: (0..POLLED)
                .map(|_| eventfd(0, EventfdFlags::empty()).expect("there are files"))
                .collect(),
            timer: timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::empty()).expect("there are files"),
            buffer: vec![1; 64 * PAGE],
            one_page: pages(1),
            many_pages: pages(256),
            _due: due,
        }
    }
}

fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a network");
    let address = listener.local_addr().expect("it is bound");
    let near = TcpStream::connect(address).expect("it listens");
    let (far, _) = listener.accept().expect("it was connected");
    near.set_nodelay(true).expect("it is connected");
    (near, far)
}

/// An executable that does nothing but end: ELF header, one segment, `mov eax, 60; xor edi, edi; syscall`.
fn tiny_program() -> Vec<u8> {
    const AT: u64 = 0x40_0000;
    const HEADERS: u64 = 64 + 56;
    const CODE: [u8; 9] = [0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05];
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let half = |value: u16, bytes: &mut Vec<u8>| bytes.extend(value.to_le_bytes());
    half(2, &mut bytes); // an executable
    half(62, &mut bytes); // x86-64
    bytes.extend(1u32.to_le_bytes());
    for word in [AT + HEADERS, 64, 0] {
        bytes.extend(word.to_le_bytes()); // entry, program headers, no sections
    }
    bytes.extend(0u32.to_le_bytes());
    for value in [64, 56, 1, 0, 0, 0] {
        half(value, &mut bytes); // sizes and counts of headers
    }
    bytes.extend(1u32.to_le_bytes()); // to be loaded
    bytes.extend(5u32.to_le_bytes()); // read and executed
    let length = HEADERS + CODE.len() as u64;
    for word in [0, AT, AT, length, length, 0x1000] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(CODE);
    bytes
}
