//! A census finds what samples find, and says what it is: on a real kernel, through the command line.

use crate::controller::{Controller, GENERIC, RT, entries, folder, shared};
use crate::culprits::added;
use serde_json::Value;
use std::path::Path;

pub fn output(controller: &Controller, words: &str, run: &Path) -> String {
    let mut command = controller.worstcase("census");
    let assert = command.arg(run).args(words.split_whitespace()).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

pub fn number(value: &Value, path: &str) -> u64 {
    let found = value.pointer(path).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no number {path}"))
}

#[test]
fn what_a_late_sample_fell_into_is_found_and_named() {
    let controller = shared();
    let folder = folder();
    let run = folder.path().join("run");
    let words = format!("--kernel {GENERIC} --preempt none,full --load procread --samples 300 --seed 1 --census");
    let measured = controller.run(&words, &run).assert().success();
    let table = String::from_utf8_lossy(&measured.get_output().stdout).into_owned();
    assert!(
        table.contains("Census of ") && table.contains("seq_read_iter"),
        "{table}"
    );

    let ids = entries(&run.join("cells"));
    let [full, none] = ["full", "none"].map(|m| ids.iter().find(|id| id.contains(&format!(".{m}."))).unwrap());
    let json = output(controller, &format!("--cell {none} --json"), &run);
    let cell: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(cell["schema"], "worstcase-census/4");
    assert_eq!(cell["polls_known"], true);
    // Reading /proc holds a kernel without preemption for some hundred microseconds; the census knows by whom.
    let longest = &cell["kinds"][0]["longest"]["owners"][0];
    assert_eq!(
        (&longest["from"], &longest["inside"]),
        (&"entry_SYSCALL_64".into(), &"seq_read_iter".into())
    );
    let (longest_of_run, sampled) = (
        number(&cell, "/longest_of_run/longest_ns"),
        number(&cell, "/longest_of_run/sampled_ns"),
    );
    assert!(
        sampled > 100_000 && longest_of_run >= sampled && longest_of_run < 2 * sampled,
        "{sampled} {longest_of_run}"
    );
    // Nearly all samples are due in such a section, and none of their own ways is long.
    assert!(number(&cell, "/path/in_sections/count") > 200);
    assert!(number(&cell, "/path/in_sections/max_ns") < 10_000);
    assert_eq!(cell["tail"]["agrees"], true, "{}", cell["tail"]);
    assert!(
        cell["tail"]["rows"]
            .as_array()
            .unwrap()
            .iter()
            .any(|r| r["above_ns"] == 100_000)
    );

    let against: Value = serde_json::from_str(&output(
        controller,
        &format!("--cell {none} --diff {full} --json"),
        &run,
    ))
    .unwrap();
    let first = &against["differences"][0];
    assert_eq!(
        (&first["change"], &first["inside"]),
        (&"vanished".into(), &"seq_read_iter".into())
    );
    assert!(output(controller, &format!("--cell {none} --diff {full}"), &run).contains("vanished"));

    assert_eq!(
        output(controller, &format!("--cell {none} --json"), &run),
        json,
        "the same again, from the cache"
    );
}

#[test]
fn the_sums_add_up() {
    let controller = shared();
    let folder = folder();
    let run = folder.path().join("run");
    controller
        .run(
            &format!("--kernel {GENERIC} --preempt full --load fork --samples 200 --seed 2"),
            &run,
        )
        .assert()
        .success();
    let cell: Value = serde_json::from_str(&output(controller, "--json --top 100000", &run)).unwrap();
    let observed = number(&cell, "/observed_instructions");
    for kind in cell["kinds"].as_array().unwrap() {
        let sum = |list: &str, field: &str| -> u64 {
            kind[list]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row[field].as_u64().unwrap())
                .sum()
        };
        let (count, total) = (number(kind, "/count"), number(kind, "/total_ns"));
        let may_be_none = kind["kind"] == "higher-priority";
        let enough = count > 1_000 || may_be_none;
        assert!(enough && total < observed, "{}: {count}, {total}", kind["kind"]);
        if count == 0 {
            continue;
        }
        assert_eq!((sum("histogram", "count"), sum("places", "count")), (count, count));
        assert_eq!(
            (sum("histogram", "total_ns"), sum("places", "total_ns")),
            (total, total)
        );
        let longest = number(kind, "/longest_ns");
        assert_eq!(number(kind, "/places/0/longest_ns"), longest);
        assert_eq!(number(kind, "/longest/owners/0/longest/length_ns"), longest);
    }
    // With interrupts off nothing polls here, so that the section that they hold off is at least as long.
    assert!(number(&cell, "/kinds/0/longest_ns") >= number(&cell, "/kinds/1/longest_ns"));
}

/// Ground truth: each system call of the planted program copies 1 MiB, eight bytes an instruction, and no sample is needed
/// to find it.
#[test]
fn a_planted_section_is_found_at_its_length() {
    const COPY: u64 = (1 << 20) / 8;
    let controller = shared();
    let folder = folder();
    let run = folder.path().join("run");
    let add = added();
    let mut measure = controller.run(
        &format!("--kernel {GENERIC} --preempt none,full --samples 100 --seed 1 {add}"),
        &run,
    );
    measure
        .arg("--load")
        .arg("cmd:/culprit copy 1048576")
        .assert()
        .success();
    for id in entries(&run.join("cells")) {
        let cell: Value =
            serde_json::from_str(&output(controller, &format!("--cell {id} --json {add}"), &run)).unwrap();
        let longest = cell.pointer("/kinds/0/longest/owners/0/longest").unwrap();
        let length = number(longest, "/length_ns");
        if id.contains(".full.") {
            assert!(length < COPY, "{id}: {longest}");
            continue;
        }
        assert!((COPY..COPY * 5 / 4).contains(&length), "{id}: {longest}");
        assert_copies(longest, COPY);
    }
}

/// Most of the section is the copy itself.
fn assert_copies(longest: &Value, copy: u64) {
    let functions = longest["functions"].as_array().unwrap();
    let function = functions.iter().find(|f| f["function"] == "copy_user_generic_string");
    let copied = number(function.unwrap(), "/self_ns");
    assert!((copy * 9 / 10..=copy + 100).contains(&copied), "{longest}");
}

/// Of several CPUs each has sections of its own: what is planted on CPU 0 is there and not on the probe's.
#[test]
fn each_cpu_has_a_census_of_its_own() {
    const COPY: u64 = (1 << 20) / 8;
    let controller = shared();
    let folder = folder();
    let run = folder.path().join("run");
    let add = added();
    let words = format!("--kernel {GENERIC} --preempt none --cpus 2 --load-cpus 0 --samples 100 --seed 1 {add}");
    let mut measure = controller.run(&words, &run);
    measure.arg("--load").arg("cmd:/culprit copy 1048576");
    measure.assert().success();
    let [id] = &entries(&run.join("cells"))[..] else {
        panic!("one cell")
    };
    let cell = |cpu: &str| -> Value {
        let words = format!("--cell {id} --audit --json {cpu} {add}");
        serde_json::from_str(&output(controller, &words, &run)).unwrap()
    };
    let [own, other] = ["", "--cpu 0"].map(cell);
    for (cell, cpu, has_probe) in [(&own, 1, true), (&other, 0, false)] {
        assert_eq!(
            (&cell["about"]["cpu"], &cell["about"]["has_probe"]),
            (&Value::from(cpu), &Value::from(has_probe))
        );
        assert!(number(cell, "/audited_blocks") > 10_000, "CPU {cpu}");
        assert_eq!(cell["longest_of_run"].is_null(), !has_probe);
    }
    assert!(number(&own, "/kinds/0/longest_ns") < COPY / 4);
    let longest = other.pointer("/kinds/0/longest/owners/0/longest").unwrap();
    let length = number(longest, "/length_ns");
    assert!((COPY..COPY * 5 / 4).contains(&length), "{longest}");
    assert_copies(longest, COPY);
}

/// Measures under a culprit on the generic kernel with full preemption, and takes the census in detail.
fn under(culprit: &str, samples: u32) -> Value {
    let folder = folder();
    let run = folder.path().join("run");
    let add = added();
    let words = format!("--kernel {GENERIC} --preempt full --samples {samples} --seed 1 {add}");
    let mut measure = shared().run(&words, &run);
    measure.arg("--load").arg(format!("cmd:/culprit {culprit}"));
    measure.assert().success();
    serde_json::from_str(&output(shared(), &format!("--json {add}"), &run)).unwrap()
}

/// The longest section of a kind that one of these functions, or threads, began.
fn longest_from(cell: &Value, kind: usize, from: &[&str]) -> u64 {
    let owners = cell["kinds"][kind]["longest"]["owners"].as_array().unwrap();
    let theirs = owners.iter().filter(|o| from.iter().any(|name| o["from"] == *name));
    theirs.map(|o| number(o, "/longest/length_ns")).max().unwrap_or(0)
}

/// That no sample was later than the longest of the run, and that at most this many percent above the latest or the longest
/// section.
fn assert_longest_is_near(cell: &Value, percent: u64) {
    let [longest, sampled] = ["longest", "sampled"].map(|name| number(cell, &format!("/longest_of_run/{name}_ns")));
    let reached = sampled.max(number(cell, "/kinds/0/longest_ns"));
    assert!(
        longest >= sampled && longest * 100 <= reached * (100 + percent),
        "{sampled} {longest}"
    );
}

/// A batch of RCU's that nobody asks to end goes on from one round of soft interrupts to the next. Had a timer asked, it would
/// have gone to ksoftirqd, or waited for the next round.
#[test]
fn soft_interrupts_that_would_leave_the_rest_are_cut() {
    let cell = under("cgroups 300", 1_000);
    assert_eq!(cell["kinds"][3]["kind"], "preemption-off");
    let soft = ["run_ksoftirqd", "handle_softirqs", "rcu_do_batch"];
    let (whole, cut) = (longest_from(&cell, 3, &soft), longest_from(&cell, 0, &soft));
    assert!(whole > 50_000 && cut > 0 && cut < whole / 2, "{whole} {cut}");
}

#[test]
fn threads_above_the_probe_are_listed_and_in_the_longest_of_the_run() {
    const BUSY: u64 = 100_000;
    let cell = under(&format!("above {BUSY}"), 500);
    assert_eq!(cell["kinds"][1]["kind"], "higher-priority");
    let listed = longest_from(&cell, 1, &["planted-above"]);
    assert!((BUSY..BUSY * 12 / 10).contains(&listed), "{listed}");
    assert!(number(&cell, "/kinds/0/longest_ns") >= BUSY);
    assert_longest_is_near(&cell, 15);
}

/// The same handler is the longest section, and lies in the wake-up path of a sample that was due just before it.
#[test]
fn a_handler_counts_once_in_the_longest_of_the_run() {
    let cell = under("expire 300", 3_000);
    assert!(number(&cell, "/kinds/0/longest_ns") > 60_000);
    assert_longest_is_near(&cell, 15);
}

/// The state that the plugin follows is the true one at every block, in every preemption model.
#[test]
fn audited_under_every_model() {
    let controller = shared();
    let folder = folder();
    let run = folder.path().join("run");
    let words = format!("--kernel {GENERIC} --kernel {RT} --load fork --samples 100 --seed 3");
    controller.run(&words, &run).assert().success();
    let cells = entries(&run.join("cells"));
    assert_eq!(cells.len(), 4);
    for id in cells {
        let cell: Value =
            serde_json::from_str(&output(controller, &format!("--cell {id} --audit --json"), &run)).unwrap();
        assert!(number(&cell, "/audited_blocks") > 1_000_000, "{id}");
    }
}
