//! The outlets of metrics: a port that Prometheus asks, and a file that node_exporter reads. Each has a thread of its
//! own, off the measured CPUs if there are others.

use rustix::io::Errno;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use worstcase_base::output;
use worstcase_base::say;
use worstcase_host::HostError;
use worstcase_host::cpus::stay_off;
use worstcase_host::http::message::{HttpAnswer, HttpRequest};
use worstcase_host::http::{HttpServer, LIMITS};
use worstcase_report::metrics::{MetricsForm, WatchMetrics};

/// Between two writings of the file.
const EVERY: Duration = Duration::from_secs(15);
/// The interval of checks for the end of the watch.
const LOOK: Duration = Duration::from_millis(100);

type SharedWatched = Arc<Mutex<WatchMetrics>>;

fn encoded_metrics(watched: &SharedWatched, form: MetricsForm) -> Vec<u8> {
    // A copy, so that the lock is free while encoding: the measuring thread must not wait for a scrape.
    let watched = watched.lock().unwrap_or_else(PoisonError::into_inner).clone();
    form.encode(&watched)
}

/// A thread that ends when this is dropped.
struct ServingThread {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ServingThread {
    fn start(cpus: &[u32], work: impl FnOnce(&AtomicBool) + Send + 'static) -> ServingThread {
        let over = Arc::new(AtomicBool::new(false));
        let (cpus, seen) = (cpus.to_vec(), over.clone());
        let thread = std::thread::spawn(move || {
            stay_off(&cpus);
            work(&seen);
        });
        ServingThread {
            over,
            thread: Some(thread),
        }
    }
}

impl Drop for ServingThread {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // A panic of that thread has been reported.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Metrics over HTTP.
pub(crate) struct Served {
    address: SocketAddr,
    _worker: ServingThread,
}

impl Served {
    /// Listens at this address alone.
    pub(crate) fn open(at: SocketAddr, cpus: &[u32], watched: SharedWatched) -> Result<Served, HostError> {
        let refused = |e: std::io::Error| {
            let remedy = match e.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::MFILE | Errno::NFILE) => "allow it more open files (ulimit -n, LimitNOFILE)",
                _ => "choose another port",
            };
            HostError::Argument(format!("--metrics: cannot listen on {at}: {e}; {remedy}"))
        };
        let mut server = HttpServer::open(at, LIMITS).map_err(refused)?;
        let address = server.address().map_err(refused)?;
        let worker = ServingThread::start(cpus, move |over| {
            server.serve(over, |request| answer(request, &watched))
        });
        Ok(Served {
            address,
            _worker: worker,
        })
    }

    /// The address on which it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

fn answer(request: &HttpRequest<'_>, watched: &SharedWatched) -> HttpAnswer {
    match (request.method, request.path) {
        ("GET" | "HEAD", "/metrics") => {
            let form = MetricsForm::wanted(request.accept);
            HttpAnswer::found(form.content_type(), encoded_metrics(watched, form))
        }
        ("GET" | "HEAD", _) => HttpAnswer::text("404 Not Found", "metrics are at /metrics\n"),
        _ => HttpAnswer::text("405 Method Not Allowed", "ask with GET\n"),
    }
}

/// Metrics in a file.
pub(crate) struct Textfile {
    _worker: ServingThread,
}

impl Textfile {
    /// Writes it now, and again and again. The file stays when this ends: node_exporter tells how old it is.
    pub(crate) fn open(path: &Path, cpus: &[u32], watched: SharedWatched) -> Result<Textfile, HostError> {
        let path = std::path::absolute(path).map_err(|e| HostError::Argument(format!("--textfile: {e}")))?;
        let refused = |e: std::io::Error| {
            let what = format!("--textfile: cannot write {}: {e}", path.display());
            match e.kind() {
                std::io::ErrorKind::PermissionDenied => HostError::Storage(what),
                _ => HostError::Argument(what),
            }
        };
        output::write(&path, &encoded_metrics(&watched, MetricsForm::Plain)).map_err(refused)?;
        let worker = ServingThread::start(cpus, move |over| {
            let mut next = Instant::now() + EVERY;
            loop {
                let is_over = over.load(Ordering::Relaxed);
                if is_over || Instant::now() >= next {
                    next = Instant::now() + EVERY;
                    if let Err(e) = output::write(&path, &encoded_metrics(&watched, MetricsForm::Plain)) {
                        say!("worstcase: cannot write {}: {e}", path.display());
                    }
                }
                if is_over {
                    break;
                }
                std::thread::sleep(LOOK);
            }
        });
        Ok(Textfile { _worker: worker })
    }
}
