// SPDX-License-Identifier: GPL-2.0-or-later
// control.c in Rust: a control loop of priority 50 that shares a std::sync::Mutex, which lends no priority.
//
//     rustc -O -C target-feature=+crt-static -o control contrib/control.rs
//     control [PERIOD_US [LOG_US]]              1000 and 0: the logger holds the mutex for so long, now and then

use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// `struct sched_param`.
#[repr(C)]
struct Priority(i32);

unsafe extern "C" {
    fn sched_setscheduler(thread: i32, policy: i32, priority: *const Priority) -> i32;
    fn mlockall(flags: i32) -> i32;
}

const SCHED_FIFO: i32 = 1;
/// MCL_CURRENT | MCL_FUTURE.
const ALL_MEMORY: i32 = 3;

fn work(position: &mut u64, turns: u64) {
    for turn in 0..turns {
        *position = black_box(position.wrapping_add(turn));
    }
}

fn keep_log(state: &Mutex<u64>, hold: Duration) {
    loop {
        let mut position = state.lock().unwrap();
        let begin = Instant::now();
        work(&mut position, 100);
        while begin.elapsed() < hold {
            work(&mut position, 100);
        }
        drop(position);
        std::thread::sleep(Duration::from_micros(7300));
    }
}

fn main() {
    let number = |nth: usize, usual: u64| std::env::args().nth(nth).map_or(usual, |word| word.parse().unwrap());
    let (period, hold) = (Duration::from_micros(number(1, 1000)), Duration::from_micros(number(2, 0)));
    let state = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&state);
    std::thread::Builder::new()
        .name("logger".into())
        .spawn(move || keep_log(&shared, hold))
        .unwrap();
    // SAFETY: both calls read what they are given, and nothing else.
    if unsafe { mlockall(ALL_MEMORY) != 0 || sched_setscheduler(0, SCHED_FIFO, &Priority(50)) != 0 } {
        eprintln!("no real-time priority: {}", std::io::Error::last_os_error());
        std::process::exit(1);
    }
    let mut due = Instant::now();
    loop {
        due += period;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        work(&mut state.lock().unwrap(), 10_000);
    }
}
