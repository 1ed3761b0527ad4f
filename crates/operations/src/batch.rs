//! One operation, some times, between two marks.

use crate::cold::Evictor;
use std::hint::black_box;
use std::time::Instant;

/// The plugin counts from here.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn operation_begin(number: usize) {
    black_box(number);
}

/// The plugin counts up to here.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn operation_end(number: usize) -> usize {
    // Another body than that of the other mark: equal functions may become one.
    black_box(number ^ 1)
}

/// How often an operation is done, and what that took.
pub struct Batch<'a> {
    number: Option<usize>,
    evictor: Option<&'a mut Evictor>,
    /// How often.
    pub times: u32,
    /// Time in all windows so far.
    pub ns: u64,
    /// Windows so far.
    pub windows: u32,
}

impl<'a> Batch<'a> {
    /// Without marks: only what it leaves in caches matters.
    pub fn unmarked(times: u32) -> Batch<'a> {
        Batch {
            number: None,
            evictor: None,
            times,
            ns: 0,
            windows: 0,
        }
    }

    /// The batch of an operation's round; before each window the evictor, if any, fills the caches.
    pub fn marked(number: usize, times: u32, evictor: Option<&'a mut Evictor>) -> Batch<'a> {
        Batch {
            number: Some(number),
            evictor,
            ..Batch::unmarked(times)
        }
    }

    /// All times in one window.
    pub fn repeat<T>(&mut self, mut one: impl FnMut() -> T) {
        let times = self.times;
        self.window(|| (0..times).for_each(|_| drop(black_box(one()))));
    }

    /// A window for each time, with what is done before and behind it outside.
    pub fn each<T, U>(
        &mut self,
        mut before: impl FnMut() -> T,
        mut one: impl FnMut(T) -> U,
        mut behind: impl FnMut(U),
    ) {
        for _ in 0..self.times {
            let with = before();
            behind(self.window(|| one(with)));
        }
    }

    /// One window.
    #[inline(never)]
    pub fn window<T>(&mut self, body: impl FnOnce() -> T) -> T {
        if let Some(evictor) = &mut self.evictor {
            evictor.evict();
        }
        let Some(number) = self.number else {
            return body();
        };
        let begun = Instant::now();
        operation_begin(number);
        let given = body();
        operation_end(number);
        self.ns += u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.windows += 1;
        given
    }
}
