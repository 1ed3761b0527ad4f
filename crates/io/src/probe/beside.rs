//! Others that work with files meanwhile, each a thread with a file of its own or, to seek, with the measured one.

use super::details::BesideDetails;
use super::large::seek;
use super::noise_file::{Aligned, FILE, PIECE, noise, open_directly, written};
use super::parameters::{Beside, Io};
use crate::sys::cache;
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use worstcase_instruments::bench::{Observer, Request};
use worstcase_logs::Nanos;
use worstcase_logs::prng::SplitMix64;

/// Those with files of their own work so long before anything is measured.
pub(super) const AHEAD: Nanos = Nanos::from_millis(1_000);

/// What all of them did until now.
#[derive(Debug, Default)]
struct Counters {
    read: AtomicU64,
    written: AtomicU64,
    seeks: AtomicU64,
    is_over: AtomicBool,
}

impl Counters {
    fn now(&self) -> BesideDetails {
        let get = |of: &AtomicU64| of.load(Ordering::Relaxed);
        BesideDetails {
            read_bytes: get(&self.read),
            written_bytes: get(&self.written),
            seeks: get(&self.seeks),
        }
    }
}

/// What one of them does, with its file.
type Body = Box<dyn FnMut(&Counters) -> io::Result<()> + Send>;

/// All of them, at work until this is dropped.
#[derive(Debug)]
pub(super) struct Others {
    counters: Arc<Counters>,
    threads: Vec<JoinHandle<io::Result<()>>>,
    begin: BesideDetails,
}

impl Others {
    /// Makes their files and starts them; none if somebody wants an end meanwhile.
    pub(crate) fn start(
        what: &Io,
        folder: &Path,
        request: &Request<'_>,
        observer: &mut dyn Observer,
    ) -> io::Result<Option<Others>> {
        let Beside {
            readers,
            writers,
            seekers,
        } = what.beside;
        let mut random = SplitMix64::new(request.seed ^ u64::from_be_bytes(*b"besideit"));
        let mut bodies: Vec<(&str, Body)> = Vec::new();
        for nth in 0..readers {
            let path = folder.join(format!("reader{nth}"));
            let Some(file) = written(&path, what.size, &mut random, observer)? else {
                return Ok(None);
            };
            bodies.push(("reader", reader(file, what.size)));
        }
        for nth in 0..writers {
            bodies.push((
                "writer",
                writer(folder.join(format!("writer{nth}")), what.size, &mut random),
            ));
        }
        for _ in 0..seekers {
            bodies.push(("seeker", seeker(what, &folder.join(FILE), random.next_u64())?));
        }
        let mut others = Others {
            counters: Arc::default(),
            threads: Vec::new(),
            begin: BesideDetails::default(),
        };
        for (name, mut body) in bodies {
            let counters = others.counters.clone();
            let run = move || {
                while !counters.is_over.load(Ordering::Relaxed) {
                    body(&counters)?;
                }
                Ok(())
            };
            others.threads.push(Builder::new().name(name.into()).spawn(run)?);
        }
        Ok(Some(others))
    }

    /// What is measured begins.
    pub fn begin(&mut self) {
        self.begin = self.counters.now();
    }

    /// What they did meanwhile.
    pub fn told(&self) -> BesideDetails {
        let now = self.counters.now();
        BesideDetails {
            read_bytes: now.read_bytes - self.begin.read_bytes,
            written_bytes: now.written_bytes - self.begin.written_bytes,
            seeks: now.seeks - self.begin.seeks,
        }
    }

    /// Has them end.
    pub fn end(mut self) -> io::Result<()> {
        self.stop()
    }

    fn stop(&mut self) -> io::Result<()> {
        self.counters.is_over.store(true, Ordering::Relaxed);
        // All have ended before the first error is told.
        let ends: Vec<io::Result<()>> = self
            .threads
            .drain(..)
            .map(|thread| thread.join().expect("none of them panics"))
            .collect();
        ends.into_iter().collect()
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        // Whoever drops them has another error to tell.
        let _ = self.stop();
    }
}

fn reader(file: File, size: u64) -> Body {
    let (mut buffer, mut at) = (vec![0; PIECE], 0);
    Box::new(move |counters| {
        if at >= size {
            fadvise(&file, 0, None, Advice::DontNeed)?;
            at = 0;
        }
        let piece = &mut buffer[..PIECE.min((size - at) as usize)];
        file.read_exact_at(piece, at)?;
        at += piece.len() as u64;
        counters.read.fetch_add(piece.len() as u64, Ordering::Relaxed);
        Ok(())
    })
}

fn writer(path: PathBuf, size: u64, random: &mut SplitMix64) -> Body {
    let (piece, mut at) = (noise(PIECE, random), 0);
    let mut file = None;
    Box::new(move |counters| {
        let file = match &mut file {
            Some(file) => file,
            none => none.insert(File::create_new(&path)?),
        };
        if at >= size {
            cache::drop_of(file)?;
            file.set_len(0)?;
            at = 0;
        }
        let piece = &piece[..PIECE.min((size - at) as usize)];
        file.write_all_at(piece, at)?;
        at += piece.len() as u64;
        counters.written.fetch_add(piece.len() as u64, Ordering::Relaxed);
        Ok(())
    })
}

fn seeker(what: &Io, path: &Path, seed: u64) -> io::Result<Body> {
    let file = match what.direct {
        true => open_directly(path)?,
        false => File::options().read(true).write(true).open(path)?,
    };
    let mut random = SplitMix64::new(seed);
    let mut buffer = Aligned::filled(what.block as usize, &mut random);
    let what = *what;
    Ok(Box::new(move |counters| {
        seek(&what, &file, buffer.get(), &mut random)?;
        counters.seeks.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }))
}
