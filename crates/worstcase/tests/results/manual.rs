//! What tells users of the command line: `--help`, the manual's pages, completions, and the commands in the documents.

use assert_cmd::Command;
use clap::{CommandFactory, Parser};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process;
use worstcase::cli::Cli;
use worstcase_plan::{command, study};

fn worstcase(args: &[&str]) -> String {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    let output = command.args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Each command that `--help` lists, as words after `worstcase`; the first is none.
pub fn listed() -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut next = 0;
    while let Some(words) = all.get(next).cloned() {
        let args: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let help = worstcase(&args);
        let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        for line in commands.take_while(|line| !line.is_empty()) {
            // What a command is about may go on in the next line, further to the right.
            let name = line[2..].split(' ').next().unwrap();
            if !name.is_empty() && name != "help" {
                all.push(words.iter().cloned().chain([name.to_string()]).collect());
            }
        }
        next += 1;
    }
    all
}

/// The commands that worstcase starts itself with, and the option that its tests alone use.
const HIDDEN: [&str; 8] = [
    "host-guard",
    "host-keeper",
    "host-occupant",
    "host-worker",
    "lab-node",
    "lab-worker",
    "lab-operations",
    "--root",
];

fn none_hidden(text: &str) {
    for hidden in HIDDEN {
        assert!(
            !text.contains(hidden) && !text.contains(&hidden.replace('-', "\\-")),
            "{hidden}"
        );
    }
}

#[test]
fn hidden_are_those_that_the_tests_look_for() {
    let hidden: Vec<String> = Cli::command()
        .get_subcommands()
        .filter(|c| c.is_hide_set())
        .map(|c| c.get_name().to_string())
        .collect();
    assert_eq!(hidden, HIDDEN[..7]);
}

#[test]
fn every_listed_command_has_a_page_and_no_other_has() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("new/man1");
    let said = worstcase(&["man", "-o", folder.to_str().unwrap()]);
    let pages: BTreeSet<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let listed = listed();
    let name = |words: &Vec<String>| format!("{}.1", [&["worstcase".to_string()], &words[..]].concat().join("-"));
    assert_eq!(pages, listed.iter().map(name).collect());
    assert!(listed.len() > 20, "{listed:?}");
    assert!(said.starts_with(&format!("{} pages in ", pages.len())), "{said}");

    for page in &pages {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        none_hidden(&text);
        for section in [
            ".SH NAME",
            ".SH SYNOPSIS",
            ".SH DESCRIPTION",
            ".SH OPTIONS",
            ".SH EXAMPLES",
        ] {
            assert!(text.lines().any(|line| line == section), "{page} has no {section}");
        }
        formats(&folder.join(page));
    }
    let run = fs::read_to_string(folder.join("worstcase-lab-run.1")).unwrap();
    assert!(
        run.contains("\\-\\-kernel") && run.contains(".SH \"EXIT STATUS\""),
        "{run}"
    );
}

/// groff, where there is one, has nothing to complain about, and what it makes is a page.
fn formats(page: &Path) {
    let mut groff = process::Command::new("groff");
    groff.args(["-man", "-Tascii", "-P-cbou", "-ww"]).arg(page);
    let output = worstcase_skips::or_skip!(groff.output().map_err(|e| format!("groff: {e}")), "groff");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && complaint.is_empty(),
        "{}: {complaint}",
        page.display()
    );
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("EXAMPLES"),
        "{}",
        page.display()
    );
}

#[test]
fn a_page_is_printed_and_nothing_is_written_unless_a_folder_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let page = |words: &[&str]| {
        let mut command = Command::cargo_bin("worstcase").unwrap();
        let output = command.arg("man").args(words).current_dir(&dir).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(page(&[]).contains("\n.SH COMMANDS") || page(&[]).contains("\n.SH SUBCOMMANDS"));
    assert!(page(&["lab", "run"]).contains("\\-\\-kernel"));
    assert!(page(&["loads"]).contains("worstcase loads fork"));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn pages_that_cannot_be_written_are_an_error_of_storage() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let mut command = Command::cargo_bin("worstcase").unwrap();
    let assert = command.arg("man").arg("-o").arg(file.join("man")).assert().code(5);
    let error = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(
        error.starts_with("worstcase: cannot write ") && error.contains("-o"),
        "{error}"
    );
}

/// What bash completes when this is typed; the last word is the one to complete.
fn completed_by_bash(words: &[&str]) -> String {
    let code = "source <(worstcase completions bash); COMP_WORDS=(worstcase \"$@\"); COMP_CWORD=$#; COMP_TYPE=9; COMPREPLY=(); \
                _clap_complete_worstcase worstcase \"${COMP_WORDS[$#]}\" \"${COMP_WORDS[$# - 1]}\"; echo \"${COMPREPLY[@]}\"";
    let program = assert_cmd::cargo::cargo_bin("worstcase");
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let mut bash = process::Command::new("bash");
    bash.args(["--norc", "-euc", code, "bash"])
        .args(words)
        .env("PATH", path);
    let output = bash.output().unwrap();
    let is_right = output.status.success() && output.stderr.is_empty();
    assert!(is_right, "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_string()
}

#[test]
fn bash_completes_what_is_visible() {
    for (typed, completed) in [
        ("pl", "plot"),
        ("ho", "host"),
        ("lab ver", "verify"),
        ("gate --write", "--write-baseline"),
        ("host run --load procr", "procread"),
        ("lab run --probe jit", "jitter"),
        ("study run preemption-m", "preemption-models"),
        ("loads procr", "procread"),
        ("probes jit", "jitter"),
    ] {
        let words: Vec<&str> = typed.split(' ').collect();
        assert_eq!(completed_by_bash(&words), completed, "{typed}");
    }
    none_hidden(&completed_by_bash(&[""]));
}

#[test]
fn cells_of_the_run_on_the_line_are_completed() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    crate::fixture::write(&run);
    let run = run.to_str().unwrap();
    let cells = |of: &str, typed: &str| completed_by_bash(&["explain", of, "--cell", typed]);
    assert_eq!(cells(run, "").split(' ').count(), crate::fixture::plan().cells.len());
    assert_eq!(
        cells(run, "6.1.0-50-rt-amd64.rt.fork.wakeup.s2"),
        "6.1.0-50-rt-amd64.rt.fork.wakeup.s2"
    );
    assert_eq!(cells(folder.path().to_str().unwrap(), ""), "");
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish"] {
        let script = worstcase(&["completions", shell]);
        assert!(script.contains("WORSTCASE_COMPLETE"), "{shell}: {script}");
    }
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.args(["completions", "elvish"]).assert().code(2);
}

/// The words of an example; what stands behind two spaces, `#`, `>` or `(` is told to the reader.
fn words(line: &str) -> Vec<String> {
    let line = line.trim();
    let end = ["  ", " #", " > ", " ("]
        .iter()
        .filter_map(|mark| line.find(mark))
        .min();
    let line = &line[..end.unwrap_or(line.len())];
    shlex::split(line).unwrap_or_else(|| line.split_whitespace().map(str::to_string).collect())
}

/// None, or how the command that is recorded differs from the one that was given: it must ask for the same experiment,
/// in the same folder, whatever else was typed.
fn not_repeated(cli: &Cli) -> Option<String> {
    let (plan, output) = match cli.plan()? {
        Ok(planned) => planned,
        // The example's file need not be here.
        Err(error) if error.to_string().starts_with("cannot read the study ./") => return None,
        Err(error) => return Some(error.to_string()),
    };
    let recorded = command(&plan.experiment, plan.study.as_ref(), &output);
    let again = Cli::try_parse_from(&recorded).map_err(|e| e.to_string());
    let (again, folder) = match again.and_then(|cli| cli.plan().unwrap().map_err(|e| e.to_string())) {
        Ok(planned) => planned,
        Err(error) => return Some(format!("{recorded:?}: {error}")),
    };
    if folder != output {
        return Some(format!(
            "{recorded:?}: {} is not {}",
            folder.display(),
            output.display()
        ));
    }
    let difference = plan.experiment.difference(&again.experiment).map(|d| d.to_string());
    difference.or((again.experiment != plan.experiment).then(|| format!("{recorded:?}: not the same")))
}

#[test]
fn the_recorded_command_asks_for_the_same_experiment() {
    let all = [
        "lab run --kernel debian:6.1 --kernel debian:6.1-rt --preempt none,rt --mips 500,1000 --memory 256,523 --seed 7",
        "lab run --kernel a,config=b --load idle,find+compile+compile --load 'cmd:a b,c' --time 1s --warmup 0s --priority 1",
        "lab run --kernel debian:6.1 --probe inversion,remote+pipe --add /bin/sh:/bin/mine --interval 2ms -j 3 --census",
        "lab run --kernel debian:6.1 --cpus 4,2 --quantum 1.5us,100ns --probe-cpu 1 --load-cpus 0,1-1 --mips 500,125",
        "lab run --kernel debian:6.1 --cpus 16 --quantum 1ms --append 'isolcpus=15 nohz_full=15' --append ''",
        "lab run --kernel debian:6.1 --probe-cpu 0 --load-cpus 0",
        "host run --cpus 1,0 --load compile:/a,b+c --load fork@100+disk:16@50 --policy rr --timer timerfd --time 1.5s",
        "host run --probe response,jitter --distance 10us --threshold 100ns --captures 0 --samples 99 --seeds 3 --quiet",
        "host run --load-cpus 0,1 --work-dir . --apply --plain --criterion 2.5ms -o 'a b' --resume",
        "host run --time 2s",
        "host run -a 0 -p 80 -i 500us -l 1000 -b 100us -q --on-break 'logger late' --on-end true",
        "host run -D 10m --break 2.5ms --probe response",
    ];
    let studies = study::built_in().flat_map(|study| {
        let host = study.host.as_ref().map(|_| " --host");
        let venues = [Some(""), host].into_iter().flatten();
        let of = move |venue| ["", " --quick"].map(|quick| format!("study run {}{quick}{venue} -o r", study.name));
        venues.flat_map(of).collect::<Vec<_>>()
    });
    for line in all.map(str::to_string).into_iter().chain(studies) {
        let cli = Cli::try_parse_from(words(&format!("worstcase {line}"))).unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(not_repeated(&cli), None, "{line}");
    }
}

#[test]
fn paths_in_the_recorded_command_lead_there_from_every_folder() {
    let dir = tempfile::tempdir_in(".").unwrap();
    let program = Path::new(".").join(dir.path().file_name().unwrap()).join("program");
    fs::write(&program, "").unwrap();
    let asked = format!(
        "worstcase lab run --kernel debian:6.1 --load cmd:program --add {}",
        program.display()
    );
    let (plan, output) = Cli::try_parse_from(asked.split(' ')).unwrap().plan().unwrap().unwrap();
    let words = command(&plan.experiment, None, &output);
    let absolute = format!("{}:/usr/bin/program", std::path::absolute(&program).unwrap().display());
    assert!(words.contains(&absolute), "{words:?}");
    let host = Cli::try_parse_from(["worstcase", "host", "run", "--work-dir", "x"]).unwrap();
    let work_dir = host.plan().unwrap().unwrap().0.experiment.setup.work_dir.unwrap();
    assert_eq!(work_dir, std::path::absolute("x").unwrap());
}

/// None, or what the command line has against an example.
fn refused(line: &str) -> Option<String> {
    if line.contains(" ... ") {
        return None;
    }
    // A file that need not be here.
    let words = words(&line.replace("/usr/bin/stress-ng", "/bin/sh"));
    let error = match Cli::try_parse_from(&words) {
        Ok(cli) => return not_repeated(&cli).map(|why| format!("{line}\n{why}")),
        Err(error) => error,
    };
    if error.to_string().contains(".ko: there is no such file; build it") {
        return None;
    }
    let is_help = matches!(
        error.kind(),
        clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion
    );
    (!is_help).then(|| format!("{line}\n{error}"))
}

#[test]
fn every_command_has_examples_and_all_can_be_typed() {
    for words in listed() {
        let args: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let help = worstcase(&args);
        let begun = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        let examples: Vec<&str> = begun.take_while(|line| line.starts_with("  ")).collect();
        assert!(!examples.is_empty(), "{words:?} has no examples");
        let command = ["worstcase", &words.join(" ")].join(" ");
        let of_it = examples.iter().filter(|line| line.trim().starts_with(command.trim()));
        assert!(of_it.count() > 0, "{words:?}: {examples:?}");
        let wrong: Vec<String> = examples
            .iter()
            .filter(|line| line.trim().starts_with("worstcase "))
            .filter_map(|line| refused(line))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
fn the_documents_commands_can_be_typed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    documents.extend(
        fs::read_dir(root.join("docs"))
            .unwrap()
            .map(|entry| entry.unwrap().path()),
    );
    let mut seen = 0;
    let mut wrong = Vec::new();
    for document in documents.iter().filter(|d| d.extension().is_some_and(|e| e == "md")) {
        // A command may go on in the next line.
        let text = fs::read_to_string(document).unwrap().replace("\\\n", "");
        let mut is_code = false;
        for line in text.lines() {
            is_code ^= line.trim_start().starts_with("```");
            // In a table a command stands between backquotes; only README's are whole.
            let is_row = line.starts_with("| ") && document.ends_with("README.md");
            for part in line.split('`').skip(1).step_by(2).filter(|_| is_row) {
                seen += usize::from(part.starts_with("worstcase "));
                let why = Some(part).filter(|p| p.starts_with("worstcase ")).and_then(refused);
                wrong.extend(why);
            }
            let bare = line.trim().trim_start_matches("- ").trim_start_matches("run: ");
            if (is_code || line.starts_with("    "))
                && bare.starts_with("worstcase ")
                && !bare.starts_with("worstcase  ")
            {
                seen += 1;
                wrong.extend(refused(bare).map(|why| format!("{}: {why}", document.display())));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 20, "{seen}");
}

/// What the recipes of contrib/ci measure, and which options they give.
#[test]
fn what_the_recipes_for_ci_measure_can_be_typed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/ci");
    let mut seen = Vec::new();
    for recipe in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&recipe).unwrap();
        let values = text.lines().filter_map(|line| {
            let line = line.trim().trim_start_matches(": \"${").trim_end_matches("}\"");
            // An action's is the default of its input.
            let of_input = line.strip_prefix("default: ").filter(|value| value.starts_with("lab "));
            let given = line.strip_prefix("MEASURE: ").filter(|value| !value.starts_with("${{"));
            given.or(line.strip_prefix("MEASURE:=")).or(of_input)
        });
        for value in values {
            assert_eq!(refused(&format!("worstcase {value}")), None, "{}", recipe.display());
            seen.push(value.to_string());
        }
    }
    seen.dedup();
    assert_eq!(seen.len(), 1, "the recipes do not all measure the same: {seen:?}");
}
