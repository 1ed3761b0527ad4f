//! Metrics asked for by somebody who means harm: the watch goes on, and what it measured is kept whole.

use super::{TestWatch, end, number};
use crate::run::until;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Says where metrics are, of a watch that has just begun.
fn metrics_of(child: &mut Child) -> SocketAddr {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = lines.find(|line| line.as_ref().unwrap().contains("metrics are at"));
    // What it says later is read, too, so that the pipe does not fill.
    std::thread::spawn(move || lines.for_each(drop));
    let line = line.unwrap().unwrap();
    line.split('/').nth(2).unwrap().parse().unwrap()
}

/// What is answered to this, or nothing.
fn exchange(at: SocketAddr, request: &[u8]) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&at, Duration::from_secs(5))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.write_all(request)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

const SCRAPE: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

fn is_answered(at: SocketAddr) -> bool {
    exchange(at, SCRAPE)
        .is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 ") && answer.contains("worstcase_build_info"))
}

fn descriptors(child: &Child) -> usize {
    fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap().count()
}

fn threads(child: &Child) -> usize {
    fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().count()
}

/// The watch goes on for a segment and more; then it ends as it should, and every record of it is whole.
fn assert_goes_on(watch: &TestWatch, child: Child) {
    let before = watch.segments().len();
    until("another two segments", || watch.segments().len() >= before + 2);
    end(child);
    watch.assert_readable();
    let records = watch.records();
    for record in &records[..records.len() - 1] {
        assert_eq!(record["accounting"]["expected"], 1_000);
        assert!(record["environment"].get("ended_early").is_none());
    }
    assert_eq!(number(&records[records.len() - 1]["accounting"]["lost"]), 0);
}

#[test]
fn a_body_of_100_gb_does_not_end_it() {
    let watch = TestWatch::new();
    let mut child = watch.start(&["--metrics", "127.0.0.1:0"]);
    let at = metrics_of(&mut child);
    until("a segment is begun", || !watch.records().is_empty());
    let bodies = [
        "Content-Length: 99999999999",
        "Transfer-Encoding: chunked",
        "Content-Length: 1",
    ];
    for body in bodies {
        let answer = exchange(at, format!("GET /metrics HTTP/1.1\r\n{body}\r\n\r\n").as_bytes()).unwrap();
        assert!(answer.starts_with("HTTP/1.1 413 "), "{body}: {answer}");
    }
    assert!(is_answered(at));
    assert_eq!(child.try_wait().unwrap(), None);
    assert_goes_on(&watch, child);
}

/// The watch, which may have so many files open.
fn limited(watch: &TestWatch, files: u32) -> Command {
    let command = watch.command(&["--metrics", "127.0.0.1:0"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")]);
    limited.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        limited.env(name, value.unwrap());
    }
    limited
}

#[test]
fn what_has_too_few_descriptors_for_all_connections_does_not_begin() {
    let watch = TestWatch::new();
    let output = limited(&watch, 24).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("allow it more open files (ulimit -n, LimitNOFILE)"),
        "{said}"
    );
}

#[test]
fn a_thousand_idle_connections_take_no_descriptor_from_the_record() {
    // The other ends are ours.
    let limit = getrlimit(Resource::Nofile);
    let current = limit.maximum.map_or(4_096, |most| most.min(4_096));
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(current),
            ..limit
        },
    )
    .unwrap();

    let watch = TestWatch::new();
    let mut limited = limited(&watch, 64);
    let mut child = limited.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let at = metrics_of(&mut child);
    until("a segment is begun", || !watch.records().is_empty());
    let (before, idle_threads) = (descriptors(&child), threads(&child));
    let connect = |_| TcpStream::connect_timeout(&at, Duration::from_secs(1)).ok();
    let idle: Vec<TcpStream> = (0..1_000).filter_map(connect).collect();
    assert!(idle.len() > 100, "{} connections", idle.len());
    // Some more are open for a moment when a file is written.
    assert!(
        descriptors(&child) <= before + 8,
        "{before}, then {}",
        descriptors(&child)
    );
    assert!(
        threads(&child) <= idle_threads,
        "{idle_threads} threads, then {}",
        threads(&child)
    );
    // The newest takes the place of the one that waits longest.
    assert!(is_answered(at));
    assert_goes_on(&watch, child);
}

#[test]
fn no_descriptor_for_a_connection_is_a_connection_that_waits() {
    let watch = TestWatch::new();
    // No file is written meanwhile.
    let mut command = watch.command(&["--metrics", "127.0.0.1:0"]);
    command.args(["--time", "1h"]);
    let words: Vec<_> = command.get_args().map(|word| word.to_os_string()).collect();
    let words = words
        .into_iter()
        .map(|word| if word == "1s" { "30s".into() } else { word });
    let mut slow = Command::new(command.get_program());
    slow.args(words).env("WORSTCASE_STATE", watch.path("state"));
    let mut child = slow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let at = metrics_of(&mut child);
    until("it is measuring", || {
        exchange(at, SCRAPE).is_ok_and(|answer| answer.contains("worstcase_samples_taken_total{"))
    });
    let pid = Pid::from_raw(child.id() as i32).unwrap();
    let few = Rlimit {
        current: Some(3),
        maximum: getrlimit(Resource::Nofile).maximum,
    };
    let usual = prlimit(Some(pid), Resource::Nofile, few).unwrap();
    let waiting: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(at).unwrap()).collect();
    let begun = (Instant::now(), ticks(&child));
    std::thread::sleep(Duration::from_secs(2));
    // Who asks again and again without a pause takes all of a CPU, a hundred of these a second.
    let taken = ticks(&child) - begun.1;
    assert!(taken < 40, "{taken} ticks in {:?}", begun.0.elapsed());
    drop(waiting);
    prlimit(Some(pid), Resource::Nofile, usual).unwrap();
    until("it is answered again", || is_answered(at));
    end(child);
    watch.assert_readable();
    assert_eq!(watch.records().len(), 1);
}

/// CPU time of the process.
fn ticks(child: &Child) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
    [11, 12].map(|nth| fields[nth].parse::<u64>().unwrap()).iter().sum()
}
