//! A real Chromium without a window, driven through the DevTools protocol over a pipe: JSON messages that end with a zero
//! byte, to its file descriptor 3 and from its 4.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longest wait for an answer: a hang ends, and nothing is timed.
const PATIENCE: Duration = Duration::from_secs(600);

pub struct Chromium {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Option<String>,
    last: u64,
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

/// The browser's name on the search path.
fn name() -> &'static str {
    let known = ["chromium", "chromium-browser", "google-chrome"];
    known
        .iter()
        .find(|name| worstcase_base::files::program(Path::new(name)).is_some())
        .expect("these tests need Chromium: run scripts/prepare-tests, or as root: apt-get install chromium")
}

impl Chromium {
    pub fn start() -> Chromium {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#, "sh", name()])
            .args([
                "--headless=new",
                "--remote-debugging-pipe",
                "--no-first-run",
                "--disable-gpu",
            ])
            .args(["--disable-dev-shm-usage", "--window-size=1280,1000"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            // What it leaves behind goes with the profile.
            .env("TMPDIR", profile.path());
        // Chromium's sandbox refuses root.
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        let spawned = command
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = spawned.expect("sh starts");
        let mut messages = BufReader::new(child.stdout.take().unwrap()).split(0);
        let (send, from) = channel();
        std::thread::spawn(move || {
            while let Some(Ok(message)) = messages.next() {
                if send
                    .send(serde_json::from_slice(&message).expect("Chromium sends JSON"))
                    .is_err()
                {
                    break;
                }
            }
        });
        let mut chromium = Chromium {
            to: child.stdin.take().unwrap(),
            child,
            from,
            session: None,
            last: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let target = chromium.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = json!({"targetId": target["targetId"], "flatten": true});
        let session = chromium.call("Target.attachToTarget", attached);
        chromium.session = session["sessionId"].as_str().map(String::from);
        for part in ["Page", "Runtime", "Log", "Network"] {
            chromium.call(&format!("{part}.enable"), json!({}));
        }
        chromium
    }

    /// Calls a method of the protocol.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("Chromium listens");
        loop {
            let mut answer = self.next(method);
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.events.push(answer);
        }
    }

    fn next(&mut self, waiting_for: &str) -> Value {
        let answer = self.from.recv_timeout(PATIENCE);
        answer.unwrap_or_else(|e| panic!("Chromium does not answer {waiting_for}: {e}; does it start at all?"))
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, page: &Path) {
        self.events.clear();
        let url = format!("file://{}", page.display());
        self.call("Page.navigate", json!({"url": url}));
        while !self.events.iter().any(|e| e["method"] == "Page.loadEventFired") {
            let event = self.next("Page.navigate");
            self.events.push(event);
        }
    }

    /// What an expression gives; a promise is waited for.
    pub fn eval(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", asked);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].take()
    }

    pub fn number(&mut self, expression: &str) -> u64 {
        let value = self.eval(expression);
        value.as_u64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    pub fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        value
            .as_str()
            .unwrap_or_else(|| panic!("{expression} is {value}"))
            .to_string()
    }

    /// A window of another width, and colours that the system asks for.
    pub fn look(&mut self, width: u32, colours: &str) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{"name": "prefers-color-scheme", "value": colours}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
        // The page hears of it with a frame.
        self.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }

    /// What it complained of: exceptions, errors and warnings in its console.
    pub fn complaints(&mut self) -> Vec<String> {
        self.eval("0");
        let is_complaint = |e: &&Value| match e["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => {
                ["error", "warning", "assert"].contains(&e["params"]["type"].as_str().unwrap_or(""))
            }
            Some("Log.entryAdded") => {
                ["error", "warning"].contains(&e["params"]["entry"]["level"].as_str().unwrap_or(""))
            }
            _ => false,
        };
        self.events.iter().filter(is_complaint).map(Value::to_string).collect()
    }

    /// What was asked for beside the page itself.
    pub fn requests(&mut self) -> Vec<String> {
        self.eval("0");
        let asked = self
            .events
            .iter()
            .filter(|e| e["method"] == "Network.requestWillBeSent");
        let urls = asked.filter_map(|e| e["params"]["request"]["url"].as_str());
        urls.filter(|url| !url.starts_with("data:"))
            .skip(1)
            .map(String::from)
            .collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Killed if it does not end by itself when its pipe is closed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
