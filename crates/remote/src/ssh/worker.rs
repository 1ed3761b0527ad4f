//! What runs on a machine that ssh reaches: it measures the cells that its controller names on standard input, one at a time.
//!
//! When the connection is gone it ends at once, and its QEMU with it.

use super::message::{ControllerAsk, Hello, MeasuredCell, PROTOCOL, WorkerAnswer, WorkerTask, read, write};
use crate::RemoteError;
use crate::slurm::CellFailure;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_base::digest::sha256_hex;
use worstcase_base::machine;
use worstcase_base::progress::Progress;
use worstcase_lab::LabError;
use worstcase_lab::cell::ResultParts;
use worstcase_lab::parcel::{self, Parcel};
use worstcase_lab::qemu::Qemus;
use worstcase_lab::ready::ReadyReport;

/// The area of the worker's cache that holds kernels and images.
const AREA: &str = "parcels";
/// Limit for all of them together, in bytes; the controller can send each again.
const MOST: u64 = 4 << 30;

/// Answers requests until the controller is gone.
pub fn run(version: &str, qemu: Option<&Path>, cache: &Cache, progress: &dyn Progress) -> Result<(), RemoteError> {
    let asked = asked();
    let mut out = io::stdout().lock();
    let qemus = Qemus::new(qemu, cache, progress);
    if let Err(error) = qemus.of(Default::default()) {
        return answer(&mut out, &WorkerAnswer::Failed(failure(&error.into())));
    }
    answer(
        &mut out,
        &WorkerAnswer::Hello(Hello {
            protocol: PROTOCOL,
            version: version.into(),
            machine: machine::name(),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
        }),
    )?;
    while let Ok(ask) = asked.recv() {
        // A file without a request belongs to a cell that the controller gave up.
        let ControllerAsk::Measure(work) = ask else { continue };
        let measured = bring(&work, cache, &asked, &mut out).and_then(|files| measure(&work, &files, cache, &qemus));
        answer(
            &mut out,
            &match measured {
                Ok(measured) => WorkerAnswer::Done(measured),
                Err(error) => WorkerAnswer::Failed(failure(&error)),
            },
        )?;
    }
    Ok(())
}

/// Receives the controller's messages. When they end this process exits, whatever it does.
fn asked() -> Receiver<ControllerAsk> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(ask) = read(&mut input) {
            if sender.send(ask).is_err() {
                break;
            }
        }
        std::process::exit(0);
    });
    receiver
}

fn answer(out: &mut impl Write, what: &WorkerAnswer) -> Result<(), RemoteError> {
    write(out, what).map_err(RemoteError::io("standard output"))
}

fn failure(error: &RemoteError) -> CellFailure {
    CellFailure {
        machine: machine::name(),
        message: error.to_string(),
        exit: error.exit() as u8,
    }
}

/// Puts kernel and image into the cache, from the controller if they are missing.
fn bring(
    work: &WorkerTask,
    cache: &Cache,
    asked: &Receiver<ControllerAsk>,
    out: &mut impl Write,
) -> Result<[PathBuf; 2], RemoteError> {
    let digests = [&work.bzimage, &work.initrd];
    if let Some(wrong) = digests
        .iter()
        .find(|digest| !digest.bytes().all(|b| b.is_ascii_hexdigit()))
    {
        return Err(LabError::Request(format!("'{wrong}' is no digest")).into());
    }
    let missing: Vec<String> = digests
        .iter()
        .filter(|digest| cache.get(AREA, digest).is_none())
        .map(|digest| digest.to_string())
        .collect();
    if !missing.is_empty() {
        cache.bound(AREA, MOST);
        answer(out, &WorkerAnswer::Needs(missing.clone()))?;
    }
    for digest in &missing {
        let bytes = match asked.recv() {
            Ok(ControllerAsk::File(bytes)) if sha256_hex(&bytes) == *digest => bytes,
            _ => return Err(LabError::Request("another file came than was asked for".into()).into()),
        };
        cache.publish(AREA, digest, |building| {
            let path = building.join("file");
            fs::write(&path, &bytes).map_err(RemoteError::io(path))
        })?;
    }
    Ok(digests.map(|digest| cache.path(AREA, digest).join("file")))
}

fn measure(work: &WorkerTask, files: &[PathBuf; 2], cache: &Cache, qemus: &Qemus) -> Result<MeasuredCell, RemoteError> {
    let [bzimage, initrd] = files;
    let request = |what: String| RemoteError::from(LabError::Request(what));
    let parcel: Parcel = serde_json::from_str(&work.parcel).map_err(|e| request(e.to_string()))?;
    let spec = work.spec.parse().map_err(|e| request(format!("{}: {e}", work.spec)))?;
    let _held = cache.hold(AREA, &work.bzimage)?;
    let image = worstcase_base::files::read(initrd).map_err(RemoteError::io(initrd))?;
    let prepared = parcel.open(bzimage.clone(), image, &qemus.of(parcel.arch())?)?;
    let key = parcel::measure(cache, &prepared, &spec, work.limit_s.map(Duration::from_secs))?;
    let ready = ReadyReport::kept(cache, &prepared.key).expect("measuring keeps it");
    Ok(MeasuredCell {
        ready: ready.text,
        parts: ResultParts::kept(cache, &key)?,
        key,
    })
}
