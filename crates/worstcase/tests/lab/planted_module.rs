//! Ground truth from inside the kernel: a module (crates/culprit/module) that delays the probe in ways that are known by
//! construction, built against the headers of the lab's kernel.

use crate::controller::{GENERIC, RT, folder, shared};
use crate::culprits::{BreakdownAsJson, added, explained, told_of};
use crate::failures::{failure, one_line};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use worstcase_analysis::breakdown::cause::Mechanism;
use worstcase_analysis::breakdown::lines::SourceLine;
use worstcase_analysis::breakdown::spans::{LineShare, Span, SpanKind};
use worstcase_base::progress::Silent;
use worstcase_kernels::catalog::CatalogEntry;
use worstcase_kernels::version::rebuilt_for;
use worstcase_kernels::{DebianSeries, Flavour, ResolveOptions, header_tools, headers, resolve, versions};
use worstcase_plan::Arch;
use worstcase_results::record::{Run, SubjectMachine};

const WORK: u64 = 150_000;
/// The module's timer comes 1 us earlier from each of the probe's to the next, and so once at every phase of it.
const SAMPLES: u32 = 300;

/// The modules of the generic kernel, built once. `scripts/prepare` installs what builds them, and the kernel's headers come from
/// where the kernel does, so that they can be built wherever the lab can be tested.
pub fn modules() -> &'static Path {
    static MODULES: OnceLock<PathBuf> = OnceLock::new();
    MODULES.get_or_init(|| built(GENERIC))
}

/// The words that put the modules for this kernel into a machine, each at `/NAME.ko.RELEASE`, where `culprit insmod /NAME.ko`
/// finds that of the kernel that runs.
pub fn added_modules(kernel: &str, modules: &Path, names: &[&str]) -> String {
    let options = ResolveOptions::from_cache(&Silent).unwrap();
    let release = resolve(kernel, &options).unwrap().release;
    let added = |name: &&str| {
        format!(
            " --add {}:/{name}.ko.{release}",
            modules.join(format!("{name}.ko")).display()
        )
    };
    names.iter().map(added).collect()
}

/// The module whose lines are told.
pub fn module() -> PathBuf {
    modules().join("planted.ko")
}

/// The one that does its worst.
pub fn hostile() -> PathBuf {
    modules().join("hostile.ko")
}

/// The newest kernel of 6.12 for arm64 whose headers say that modules for it can be built here, or why there is none. This release
/// of Debian may have one of its own beside the newest, built with its compiler.
pub fn for_this_compiler(flavour: Flavour) -> Result<String, String> {
    let options = ResolveOptions::from_cache(&Silent).map_err(|e| e.to_string())?;
    let series = DebianSeries {
        series: "6.12".into(),
        flavour,
        arch: Arch::Arm64,
    };
    let all = versions(&series, &options).map_err(|e| e.to_string())?;
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let is_own = |entry: &&CatalogEntry| {
        let number = rebuilt_for(&entry.version);
        number.is_some_and(|number| release.contains(&format!("VERSION_ID=\"{number}\"")))
    };
    let (own, newest) = (all.iter().rfind(is_own), all.last());
    let mut why = "the archive has no kernel of 6.12 for arm64".to_string();
    for entry in own.into_iter().chain(newest) {
        let name = entry.version_name();
        let kernel = resolve(&name, &options).map_err(|e| e.to_string())?;
        let tools = header_tools::of(&headers::get(&kernel, &options).map_err(|e| e.to_string())?);
        match tools.is_all_here() {
            true => return Ok(name),
            false => why = format!("{name}: {}", tools.told().unwrap_or_default()),
        }
    }
    Err(why)
}

/// The folder of the modules for a kernel.
pub fn built(kernel: &str) -> PathBuf {
    build(kernel).unwrap_or_else(|why| panic!("the modules for {kernel} cannot be built: {why}"))
}

fn build(name: &str) -> Result<PathBuf, String> {
    let options = ResolveOptions::from_cache(&Silent).map_err(|e| e.to_string())?;
    let kernel = resolve(name, &options).map_err(|e| e.to_string())?;
    let headers = headers::get(&kernel, &options).map_err(|e| e.to_string())?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("module")
        .join(name.replace([':', '/'], "-"));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    for file in std::fs::read_dir(source()).map_err(|e| e.to_string())? {
        let file = file.map_err(|e| e.to_string())?;
        std::fs::copy(file.path(), folder.join(file.file_name())).map_err(|e| e.to_string())?;
    }
    let made = Command::new("make")
        .arg("-C")
        .arg(&headers)
        .arg(format!("M={}", folder.display()))
        .arg("modules")
        .output()
        .map_err(|e| e.to_string())?;
    match made.status.success() {
        true => Ok(folder),
        false => Err(String::from_utf8_lossy(&made.stderr).into_owned()),
    }
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../culprit/module")
}

/// The breakdowns of the latest samples while the module does its work.
fn latest(preempt: &str, work: &str, latest: u32) -> Vec<BreakdownAsJson> {
    latest_of(preempt, "", &format!("work={work} instructions={WORK}"), latest)
}

fn latest_of(preempt: &str, beside: &str, parameters: &str, latest: u32) -> Vec<BreakdownAsJson> {
    let add = added();
    let load = format!("{beside}cmd:/culprit insmod /planted.ko {parameters}");
    let folder = folder();
    let cell = format!("--kernel {GENERIC} --preempt {preempt} --samples {SAMPLES} --seeds 1 {add}");
    explained(&cell, &load, &add, &format!("--all -k {latest}"), folder.path())
}

#[test]
fn a_timers_function_in_the_probes_interrupt_is_named() {
    for preempt in ["none", "full"] {
        let breakdowns = latest(preempt, "timer", 12);
        for breakdown in &breakdowns {
            breakdown.names_cause(Mechanism::OtherTimer, &["planted_timer"], WORK / 2..=WORK + 5_000);
        }
        let waits = |breakdown: &BreakdownAsJson, before: bool| {
            let at = |is: &dyn Fn(&SpanKind) -> bool| breakdown.spans.iter().position(|s| is(&s.what));
            let planted = at(&|kind| matches!(kind, SpanKind::OtherTimer { function } if function == "planted_timer"));
            planted
                .zip(at(&|kind| *kind == SpanKind::WakeUp))
                .is_some_and(|(p, w)| (p < w) == before)
        };
        for before in [true, false] {
            assert!(
                breakdowns.iter().any(|b| waits(b, before)),
                "{preempt}: none with before = {before}"
            );
        }
    }
}

/// The kernel takes three rounds of timers in one interrupt for a hang. (An idle CPU arms its timers anew.)
#[test]
fn timers_that_are_put_off_are_told() {
    let breakdowns = latest_of("none", "cpu:1+", "work=storm instructions=3000", 12);
    let mut put_off = 0;
    for breakdown in breakdowns {
        let spans = &breakdown.spans;
        let pending = spans.iter().filter(|s| s.what == SpanKind::IrqPending);
        assert!(pending.map(|s| s.length_ns.0).sum::<u64>() < 300, "{spans:?}");
        let held = spans.iter().filter_map(|s| match s.what {
            SpanKind::TimersHeldBack { took_ns } => Some((s.length_ns.0, took_ns.0)),
            _ => None,
        });
        let (lengths, took): (Vec<u64>, Vec<u64>) = held.unzip();
        let is_due_within = matches!(spans[0].what, SpanKind::TimersHeldBack { .. });
        let Some(took) = took.first().filter(|_| !is_due_within) else {
            continue;
        };
        put_off += 1;
        let length: u64 = lengths.iter().sum();
        assert!((took * 9 / 10..=took * 11 / 10).contains(&length), "{length} of {took}");
    }
    assert!(put_off > 0);
}

#[test]
fn a_tasklet_is_a_soft_interrupt() {
    for breakdown in latest("none", "tasklet", 3) {
        breakdown.names_cause(Mechanism::SoftInterrupt, &["planted_tasklet"], WORK / 2..=WORK + 2_000);
    }
}

/// Whatever the model, the probe waits for the section's end.
#[test]
fn a_section_with_preemption_off_is_one_under_every_model() {
    for (work, function) in [("spin", "planted_spin"), ("preempt", "planted_preempt")] {
        for preempt in ["none", "full"] {
            for breakdown in latest(preempt, work, 10) {
                breakdown.names_cause(Mechanism::PreemptionOff, &[function], WORK / 2..=WORK + 2_000);
                let remedy = &breakdown.cause.remedy;
                assert!(!remedy.contains("preempt=full takes the CPU"), "{preempt}: {remedy}");
            }
        }
    }
}

/// Measures with `--module` and these parameters, in a folder.
fn with_module(module: &Path, parameters: &str, preempt: &str, run: &Path) -> assert_cmd::Command {
    let mut measure = shared().run(
        &format!("--kernel {GENERIC} --preempt {preempt} --samples {SAMPLES} --seeds 1"),
        run,
    );
    measure
        .arg("--module")
        .arg(format!("{} {parameters}", module.display()));
    measure
}

/// The text of a line of the module's source.
fn line_of(source: &SourceLine) -> String {
    assert_eq!(source.file, "planted.c");
    let text = std::fs::read_to_string(self::source().join("planted.c")).unwrap();
    let line = text.lines().nth(source.line as usize - 1);
    line.expect("a line of the source").trim().to_string()
}

/// What the source says where frames of a chain and the hottest lines are: (function, line) each.
fn lines_of(span: &Span) -> Vec<(String, String)> {
    let frames = span
        .chain
        .iter()
        .filter_map(|f| Some((&f.function, f.source.as_ref()?)));
    let hottest = span.lines.iter().map(|share| (&share.function, &share.source));
    let all = frames.chain(hottest);
    all.map(|(function, source)| (function.clone(), line_of(source)))
        .collect()
}

const LOOP: &str = r#"asm volatile(ROUNDS : "+r"(rounds) : : "cc");"#;
const CALL: &str = "planted_work();";

/// Nothing but the run is named when it is explained: it knows the module.
#[test]
fn a_module_of_ones_own_is_explained_with_the_lines_of_its_source() {
    let module = module();
    let folder = folder();
    for (preempt, work, mechanism, function) in [
        ("none", "timer", Mechanism::OtherTimer, "planted_timer"),
        ("full", "spin", Mechanism::PreemptionOff, "planted_spin"),
    ] {
        let run = folder.path().join(work);
        let parameters = format!("work={work} instructions={WORK}");
        with_module(&module, &parameters, preempt, &run).assert().success();
        let measured = Run::open(&run).unwrap();
        // The command that is kept asks for the same.
        let again = measured.command();
        shared().worstcase("").args(&again[1..]).assert().success();
        let record = &measured.records().unwrap()[0];
        let SubjectMachine::Lab(machine) = &record.subject.machine else {
            unreachable!()
        };
        assert_eq!(machine.modules[0].name, "planted");
        assert_eq!(machine.modules[0].parameters, parameters);
        for breakdown in told_of(&run, "--all -k 3") {
            breakdown.names_cause(mechanism, &[function], WORK / 2..=WORK + 2_000);
            let long = breakdown.spans.iter().max_by_key(|s| s.length_ns).unwrap();
            let lines = lines_of(long);
            let is = |function: &str, line: &str| lines.contains(&(function.into(), line.into()));
            assert!(is("planted_work", LOOP), "{work}: {lines:?}");
            assert!(is(function, CALL), "{work}: {lines:?}");
            let strange = lines.iter().find(|(f, line)| f == "planted_work" && line != LOOP);
            assert_eq!(strange, None);
        }
        if work == "spin" {
            census_has_lines(&run, record.id.as_str());
        }
    }
}

fn census_has_lines(run: &Path, cell: &str) {
    let mut census = shared().worstcase("census");
    census.arg(run).args(["--cell", cell, "--json"]);
    let output = census.assert().success().get_output().stdout.clone();
    let census: serde_json::Value = serde_json::from_slice(&output).unwrap();
    let owners = census["kinds"].as_array().unwrap().iter();
    let mut owners = owners.flat_map(|kind| kind["longest"]["owners"].as_array().unwrap());
    let planted = owners.find(|o| o["from"] == "planted_spin" && o["longest"]["length_ns"].as_u64() > Some(WORK / 2));
    let planted = &planted.expect("the module's section")["longest"];
    let lines: Vec<LineShare> = serde_json::from_value(planted["lines"].clone()).unwrap();
    let first = (lines[0].function.as_str(), line_of(&lines[0].source));
    assert_eq!(first, ("planted_work", LOOP.to_string()));
}

#[test]
fn what_is_no_module_of_this_kernel_is_refused_before_anything_is_booted() {
    let module = module();
    let folder = folder();
    let run = folder.path().join("run");
    for (words, says) in [
        ("/no/such.ko", "--module /no/such.ko: there is no such file"),
        ("/bin/true", "--module /bin/true: it is no kernel module"),
        (
            &format!("{} wrok=timer", module.display()),
            "planted has no parameter 'wrok'; it has",
        ),
    ] {
        let mut asked = shared().run(&format!("--kernel {GENERIC}"), &run);
        asked.arg("--module").arg(words);
        let said = failure(asked, 2);
        assert!(said.line.contains(says), "{words}: {}", said.line);
    }
    let planted = format!("--module {0}", module.display());
    for (words, says) in [
        (
            format!("--kernel {RT} {planted}"),
            &["it was built for 6.1.0-", "and the kernel debian:6.1-rt is 6.1.0-"][..],
        ),
        (
            format!("--kernel {GENERIC} {planted} {planted}"),
            &["planted is there twice"],
        ),
    ] {
        one_line(shared().run(&words, &run), 2, says);
    }
    assert!(!run.exists(), "no run is begun");
}

#[test]
fn a_module_that_the_kernel_refuses() {
    let module = module();
    let folder = folder();
    let says = ["the kernel refused the module planted work=nonsense: Invalid argument"];
    one_line(
        with_module(&module, "work=nonsense", "none", &folder.path().join("run")),
        4,
        &says,
    );
}

/// The file of a module is an input of the subject, to the byte.
#[test]
fn a_module_that_was_built_again_is_another_one() {
    let module = module();
    let folder = folder();
    let copy = folder.path().join("planted.ko");
    let run = folder.path().join("run");
    std::fs::copy(module, &copy).unwrap();
    // As another test has it booted.
    let parameters = format!("work=timer instructions={WORK}");
    with_module(&copy, &parameters, "none", &run).assert().success();
    // Behind the last section nobody looks.
    let bytes = [std::fs::read(&copy).unwrap(), vec![0]].concat();
    std::fs::write(&copy, bytes).unwrap();
    let mut explain = shared().worstcase("explain");
    explain.arg(&run);
    let says = [
        &format!("cannot be replayed: it was measured with planted {parameters} (sha256:"),
        &format!("here it would be with planted {parameters} (sha256:"),
    ];
    one_line(explain, 2, &says.map(String::as_str));
}
