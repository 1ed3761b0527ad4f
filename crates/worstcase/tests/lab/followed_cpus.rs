//! A program whose cycle passes through a thread on the other CPU.

use crate::controller::{GENERIC, folder, shared};
use serde_json::Value;
use std::process::Command;

#[test]
fn the_functions_of_a_thread_on_the_other_cpu_are_told() {
    let folder = folder();
    let program = folder.path().join("two-cpus");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/two_cpus.c");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-static", "-O2", "-pthread", "-o"])
        .arg(&program)
        .arg(source);
    assert!(compiler.status().expect("cc is there, as Rust needs it").success());
    let run = folder.path().join("run");
    let words = format!(
        "--kernel {GENERIC} --preempt full --cpus 2 --program {} --seed 1 --time 50ms --load idle",
        program.display()
    );
    shared().run(&words, &run).assert().success();
    let output = shared().worstcase("explain --json").arg(&run).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let parts = document["parts"].as_array().unwrap();
    let parts = || parts.iter().filter(|part| part["sum"] == false);
    let ns = |value: &Value| value.as_u64().unwrap();
    for part in parts() {
        let functions = part["functions"].as_array().unwrap();
        let own: u64 = functions.iter().map(|function| ns(&function["self_ns"])).sum();
        assert_eq!(
            own + ns(&part["idle_ns"]) + ns(&part["unseen_ns"]),
            ns(&part["length_ns"]),
            "{part:#}"
        );
    }
    let ran = |part: &&Value| part["thread"] == "helper" && part["words"] == "ran its own code";
    let helper = parts().filter(ran).max_by_key(|part| ns(&part["length_ns"])).unwrap();
    assert_eq!(ns(&helper["unseen_ns"]), 0, "{helper:#}");
    let longest = &helper["functions"][0];
    assert_eq!(
        (&longest["function"], &longest["owner"]),
        (&"filter".into(), &"program".into()),
        "{helper:#}"
    );
    let unseen = ns(&document["unseen_ns"]);
    assert!(unseen * 10 < ns(&document["response_ns"]), "{unseen} of {document:#}");
}
