//! Where a host run is kept: a folder of its own, gone on with when that is asked for; and what its records know of where and when.

use crate::run::{MeasuringController, one_cpu};
use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use worstcase_base::utc::Utc;

#[test]
fn what_is_asked_again_goes_on_however_it_is_typed_and_whoever_began_it() {
    let controller = MeasuringController::new();
    let cpu = one_cpu();
    let asked = ["--time", "200ms", "--cpus", &cpu, "--load", "fork+fork", "--seeds", "2"];
    assert_eq!(controller.measured(&asked).len(), 2);
    // Another version began it.
    let file = controller.path("run/run.json");
    let json = fs::read_to_string(&file).unwrap();
    let version = format!("\"tool_version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(json.contains(&version), "{json}");
    let json = json.replace(&version, "\"tool_version\": \"0.0.1\"");
    fs::write(&file, &json).unwrap();
    let sums = format!("{}  run.json\n", worstcase_base::digest::sha256_hex(json.as_bytes()));
    fs::write(controller.path("run/SHA256SUMS"), sums).unwrap();
    let second = fs::read_dir(controller.path("run/cells"))
        .unwrap()
        .flatten()
        .find(|e| e.file_name().to_string_lossy().contains(".s2."));
    fs::remove_dir_all(second.unwrap().path()).unwrap();
    // The same in other words.
    let same = [
        "--quiet",
        "--load",
        "fork+fork",
        "--seeds",
        "2",
        "--cpus",
        &cpu,
        "--time",
        "0.2s",
        "--resume",
    ];
    assert_eq!(controller.measured(&same).len(), 2);

    let other = [
        "--time",
        "300ms",
        "--cpus",
        &cpu,
        "--load",
        "fork+fork",
        "--seeds",
        "2",
        "--resume",
    ];
    let output = controller.run(&other);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(
        words.contains("differs in its time (200ms there, 300ms here)"),
        "{words}"
    );
    assert_eq!(words.lines().count(), 1, "{words}");
}

/// Cells that were kept, by name.
fn cells(controller: &MeasuringController, of: &str) -> Vec<String> {
    let entries = fs::read_dir(controller.path(of)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn half_of_a_measurement_is_put_aside_and_measured_again() {
    if std::thread::available_parallelism().unwrap().get() < 2 {
        worstcase_skips::skip!("one measurement gives several records only where there are several CPUs");
    }
    let controller = MeasuringController::new();
    let asked = ["--quiet", "--time", "100ms", "--load", "idle,fork"];
    assert!(controller.measured(&asked).len() >= 4);
    let all = cells(&controller, "run/cells");
    // As a worstcase left it that was killed between two records of the second measurement.
    let lost = all.iter().filter(|name| name.contains(".fork.")).skip(1);
    for name in lost {
        fs::remove_dir_all(controller.path("run/cells").join(name)).unwrap();
    }
    let half = all.iter().find(|name| name.contains(".fork.")).unwrap();
    let record = |of: &str| fs::read(controller.path(of).join(half).join("record.json")).unwrap();
    let before = record("run/cells");
    let output = controller.run(&[&asked[..], &["--resume"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let aside = controller.path("run/aside").join(half);
    let told = format!(
        "worstcase: only 1 of {} cells of a measurement were kept: it is made again, and what was kept of it is put aside in {}",
        all.len() / 2,
        aside.display()
    );
    assert_eq!(said.lines().next(), Some(told.as_str()), "{said}");
    assert_eq!(cells(&controller, "run/cells"), all);
    assert_eq!(cells(&controller, "run/aside"), vec![half.clone()]);
    assert_eq!(record("run/aside"), before);
    assert_ne!(record("run/cells"), before);
    // Now it has everything.
    let again = controller.run(&[&asked[..], &["--resume"]].concat());
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success(), "{said}");
    assert!(said.contains("had every measurement already"), "{said}");
}

/// `worstcase host run` in a folder, without a folder for the run.
fn in_folder(controller: &MeasuringController, arguments: &[&str]) -> Output {
    Command::new(cargo_bin("worstcase"))
        .args([
            "host",
            "run",
            "--quiet",
            "--warmup",
            "10ms",
            "--time",
            "100ms",
            "--cpus",
            &one_cpu(),
        ])
        .args(arguments)
        .env("WORSTCASE_STATE", controller.path("state"))
        .current_dir(controller.folder())
        .output()
        .unwrap()
}

#[test]
fn the_same_command_measures_anew() {
    let controller = MeasuringController::new();
    let runs: Vec<PathBuf> = (0..2)
        .map(|_| {
            let output = in_folder(&controller, &[]);
            let said = String::from_utf8_lossy(&output.stdout).to_string();
            assert!(output.status.success(), "{output:?}");
            let last = said.lines().last().unwrap();
            let folder = last.strip_prefix("kept in ").unwrap();
            assert!(said.contains(&format!("    worstcase report {folder}\n")), "{said}");
            assert!(folder.starts_with("host-"), "{folder}");
            controller.path(folder)
        })
        .collect();
    assert_ne!(runs[0], runs[1]);
    let title = |run: &PathBuf| -> String {
        let json: Value = serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap();
        json["title"].as_str().unwrap().to_string()
    };
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let begin = format!("how late this machine is: {}, 2", host.trim());
    assert!(title(&runs[0]).starts_with(&begin), "{}", title(&runs[0]));
    assert!(title(&runs[0]).ends_with(" UTC"), "{}", title(&runs[0]));
}

#[test]
fn a_record_knows_where_and_when_it_was_made() {
    let controller = MeasuringController::new();
    let record = controller
        .measured(&["--time", "100ms", "--cpus", &one_cpu()])
        .remove(0);
    let origin = &record["origin"];
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(origin["host"], host.trim());
    let moment = |key: &str| Utc::try_from(origin[key].as_str().unwrap().to_string()).unwrap();
    assert!(
        moment("began") <= moment("ended") && moment("ended") <= Utc::now(),
        "{origin}"
    );
    if let Ok(id) = fs::read_to_string("/etc/machine-id") {
        assert!(
            !record.to_string().contains(id.trim()) || id.trim().is_empty(),
            "{record}"
        );
    }
    let is_told =
        |finding: &Value| finding["id"].is_string() && finding["what"].is_string() && finding["level"] != "good";
    assert!(origin["findings"].as_array().unwrap().iter().all(is_told), "{origin}");
    assert!(origin["mitigations"].is_object() && origin["isolation"].is_object() && origin["governors"].is_object());
    assert!(origin["applied"].is_null(), "nothing was asked to be set");

    let show = |more: &[&str]| {
        let run = controller.path("run");
        let output = Command::new(cargo_bin("worstcase"))
            .arg("show")
            .arg(run)
            .args(more)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (table, id) = (show(&[]), record["id"].as_str().unwrap());
    let begin = format!("\non {}: ", host.trim());
    assert!(
        table.contains(&begin) && table.contains(origin["ended"].as_str().unwrap()),
        "{table}"
    );
    let cell = show(&["--cell", id]);
    assert!(cell.contains(&format!("  host         {}\n", host.trim())), "{cell}");
    assert!(
        cell.contains(&format!("  when         {} to ", moment("began"))),
        "{cell}"
    );
}

#[test]
fn a_folder_with_a_run_is_refused_or_gone_on_with_and_both_are_said() {
    let controller = MeasuringController::new();
    let said = |arguments: &[&str], code: i32| {
        let output = in_folder(&controller, arguments);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(
        said(&["-o", "a", "--resume"], 2),
        "worstcase: a holds no run to go on with; leave --resume out to begin one\n"
    );
    said(&["-o", "a"], 0);
    let records = || fs::read(controller.path("a/run.json")).unwrap();
    let before = records();
    assert_eq!(
        said(&["-o", "a"], 2),
        "worstcase: a holds a run already; choose another folder, or add --resume to measure what it lacks\n"
    );
    assert_eq!(
        said(&["-o", "a", "--resume"], 0),
        "worstcase: a had every measurement already: nothing was measured\n"
    );
    assert_eq!(records(), before);
    assert!(said(&["--resume"], 2).contains("--output"));
}
