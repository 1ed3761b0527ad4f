//! What is asked of a watch: metrics, and what is refused.

use super::{TestWatch, end};
use crate::run::until;
use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

#[test]
fn metrics_are_served_and_written() {
    let watch = TestWatch::new();
    let file = watch.path("x.prom");
    let mut child = watch.start(&["--metrics", "127.0.0.1:0", "--textfile", file.to_str().unwrap()]);
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = said
        .find(|l| l.as_ref().unwrap().contains("metrics are at"))
        .unwrap()
        .unwrap();
    let address = line.split('/').nth(2).unwrap().to_string();
    let scrape = |accept: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    };
    let count = |text: &str| {
        let line = text.lines().find(|l| l.starts_with("worstcase_latency_seconds_count{"));
        line.and_then(|l| l.rsplit(' ').next()?.parse::<u64>().ok())
            .unwrap_or(0)
    };
    until("samples are told", || count(&scrape("text/plain")) > 0);
    let open = scrape("application/openmetrics-text");
    assert!(
        open.contains("application/openmetrics-text") && open.trim_end().ends_with("# EOF"),
        "{open}"
    );
    let native = scrape("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited");
    assert!(native.contains("encoding=delimited"), "{native}");

    TestWatch::new().refused(&["--metrics", &address], 2, "choose another port");
    end(child);
    let text = fs::read_to_string(&file).unwrap();
    assert!(count(&text) > 0 && !text.contains("# EOF"), "{text}");
    assert_eq!(watch.left(), Vec::<PathBuf>::new());
}

#[test]
fn what_cannot_be_watched_is_refused_in_one_line() {
    let fresh: [(&[&str], &str); 7] = [
        (&["--probe", "noise"], "a watch measures with wakeup"),
        (&["--load", "idle,fork"], "one load and one probe"),
        (&["--rotate", "1ms"], "--rotate: at least 1s"),
        (&["--checkpoint", "1ms"], "--checkpoint: at least 1s"),
        (&["--metrics", "127.0.0.1:1", "--cpus", "4000"], "choose from"),
        (&["--textfile", "/nowhere/x.prom"], "--textfile: cannot write"),
        (&["--metrics", "192.0.2.1:9750"], "cannot listen on"),
    ];
    for (arguments, word) in fresh {
        let watch = TestWatch::new();
        let arguments: Vec<&str> = arguments.to_vec();
        let output =
            match arguments.contains(&"--rotate") || arguments.contains(&"--checkpoint") || arguments.contains(&"4000")
            {
                // Options that the others have already.
                true => {
                    let mut command = Command::new(cargo_bin("worstcase"));
                    let command = command
                        .args(["host", "watch", "-o"])
                        .arg(watch.path("watch"))
                        .args(&arguments);
                    command.env("WORSTCASE_STATE", watch.path("state")).output().unwrap()
                }
                false => watch.command(&arguments).output().unwrap(),
            };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
        assert!(!watch.path("watch").exists(), "{arguments:?}");
    }

    let watch = TestWatch::new();
    let child = watch.start(&[]);
    until("it is begun", || watch.path("watch/watch.json").exists());
    watch.refused(&["--resume"], 5, "another worstcase is watching");
    end(child);
    watch.refused(&[], 2, "add --resume");
    watch.refused(&["--resume", "--interval", "2ms"], 2, "differs in its interval");
    let file = watch.path("watch/watch.json");
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace("worstcase-watch/1", "worstcase-watch/2");
    fs::write(&file, text).unwrap();
    watch.refused(&["--resume"], 2, "another version");
    fs::remove_file(&file).unwrap();
    watch.refused(&["--resume"], 2, "something else than a watch");
}
