//! What a parameter's row promises: a command line and a study say the same, and what was asked is asked again.

use worstcase_plan::parameters::{self, GivenValues, KernelChoice, Parameter};
use worstcase_plan::{Experiment, PreemptChoice, PreemptName, Subjects, Venue, command, study};

/// A value of each parameter that is not the usual one, in the form of a study file; more than one where a list is taken.
const EXAMPLES: &[(&str, &str)] = &[
    ("mips", "[500, 125]"),
    ("memory_mb", "[512, 2048]"),
    ("arch", r#"["x86-64", "arm64"]"#),
    ("cpu", r#"["skylake", "max"]"#),
    ("quantum", r#"["100ns", "10us"]"#),
    ("probe_cpu", "0"),
    ("load_cpus", r#""0""#),
    ("append", r#"["", "threadirqs nohz=off"]"#),
    ("chrt", r#""ktimers=90""#),
    ("scheduler", r#"["eevdf", "o-1"]"#),
    ("disk", r#"["hdd", "ssd"]"#),
    ("io_scheduler", r#""none,bfq{slice_idle=0,low_latency=1}""#),
    ("loads", r#"["shm+fork", "cmd:a b,c"]"#),
    ("probes", r#"["response", "wakeup"]"#),
    ("interval", r#""499us""#),
    ("warmup", r#""7ms""#),
    ("priority", "7"),
    ("samples", "40"),
    ("time", r#""3s""#),
    ("seeds", "3"),
    ("seed", "9"),
    ("policy", r#""rr""#),
    ("nice", "-5"),
    ("add", r#"["/bin/true", "/bin/true:/opt/t"]"#),
    ("module", r#"["/d/a.ko", "/d/b.ko x=1 y=2"]"#),
    ("program", r#""/d/control""#),
    ("program_args", r#""1000 'a b'""#),
    ("timer", r#""timerfd""#),
    ("distance", r#""5us""#),
    ("threshold", r#""5us""#),
    ("captures", "3"),
    ("break", r#""300us""#),
    ("work_dir", r#""/var/tmp""#),
    ("apply", r#"["ksm", "swap"]"#),
];

/// The probe that a program of one's own is.
const FOLLOWED: &str = r#"["follow:control"]"#;

/// The example of a parameter, and what it needs beside.
fn example(venue: Venue, parameter: &Parameter) -> (String, Vec<(&'static str, &'static str)>) {
    let cpus = match venue {
        Venue::Lab => "[1, 4]",
        Venue::Host => r#""0-1""#,
    };
    let text = match parameter.key {
        "cpus" => cpus,
        key => {
            EXAMPLES
                .iter()
                .find(|(of, _)| *of == key)
                .unwrap_or_else(|| panic!("no example of {key}"))
                .1
        }
    };
    let beside = match parameter.key {
        "nice" => vec![("policy", r#""other""#)],
        "program" => vec![("probes", FOLLOWED)],
        "program_args" => vec![("program", r#""/d/control""#), ("probes", FOLLOWED)],
        "io_scheduler" if venue == Venue::Lab => vec![("disk", r#""hdd""#)],
        _ => vec![],
    };
    (text.to_string(), beside)
}

fn choice(kernel: &str) -> KernelChoice {
    KernelChoice {
        kernel: kernel.into(),
        models: vec![PreemptChoice::One(PreemptName::None)],
        optional: false,
    }
}

/// What a study says.
fn of_study(venue: Venue, keys: &[(&str, &str)]) -> Experiment {
    let mut keys = keys.to_vec();
    for usual in [("loads", r#"["idle"]"#), ("probes", r#"["wakeup"]"#), ("seeds", "2")] {
        let excluded = parameters::find(venue, usual.0).unwrap().excludes;
        let is_said = |(key, _): &(&str, &str)| *key == usual.0 || Some(*key) == excluded;
        if !keys.iter().any(is_said) {
            keys.push(usual);
        }
    }
    let lines: Vec<String> = keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    let lab = match venue {
        Venue::Lab => lines.concat(),
        Venue::Host => "loads = [\"idle\"]\nprobes = [\"wakeup\"]\nseeds = 1\n".into(),
    };
    let host = match venue {
        Venue::Lab => String::new(),
        Venue::Host => format!("[host]\n{}", lines.concat()),
    };
    let text = format!(
        "schema = \"worstcase-study/4\"\nname = \"x\"\ntitle = \"x\"\nquestion = \"x\"\nsource = \"x\"\n\
         [full]\nkernels = [{{ kernel = \"debian:6.1\", preempt = [\"none\"] }}]\n{lab}{host}"
    );
    let study = study::parse("x", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    match venue {
        Venue::Lab => study.lab.full,
        Venue::Host => study.host.unwrap().full,
    }
}

/// What a command line says: its words after `lab run` or `host run`.
fn of_command(venue: Venue, words: &[String]) -> Experiment {
    let (mut given, mut kernels) = (GivenValues::default(), Vec::new());
    let mut words = words.iter().skip(3).peekable();
    while let Some(word) = words.next() {
        let word = word.strip_prefix("--").unwrap();
        let (flag, text) = match word.split_once('=') {
            Some((flag, text)) => (flag, text.to_string()),
            None => (word, words.next().unwrap().clone()),
        };
        if flag == "kernel" {
            kernels.push(choice(&text));
        }
        let Some(parameter) = parameters::all(venue).find(|parameter| parameter.flag == flag) else {
            continue;
        };
        parameter.check(venue, &text).unwrap();
        let earlier = given.values(parameter.key).unwrap_or_default();
        let values = [earlier, &parameter.split(&text)].concat();
        given.insert(parameter, values);
    }
    let experiment = given.experiment(venue, &kernels).unwrap();
    experiment.check().unwrap();
    experiment
}

#[test]
fn a_study_says_what_a_command_line_says_and_a_difference_names_it() {
    for venue in [Venue::Lab, Venue::Host] {
        let usual = of_study(venue, &[]);
        for parameter in parameters::all(venue) {
            let (text, beside) = example(venue, parameter);
            let keys: Vec<(&str, &str)> = [&[(parameter.key, text.as_str())], &beside[..]].concat();
            let asked = of_study(venue, &keys);
            let words = command(&asked, None, "r".as_ref());
            assert_eq!(of_command(venue, &words), asked, "{venue} {}: {words:?}", parameter.key);
            let difference = of_study(venue, &beside).difference(&asked).unwrap();
            let is_machine = matches!(parameter.owner, parameters::ParameterOwner::Machine(_));
            let key = match (is_machine, parameter.key) {
                (true, _) => "kernels",
                (false, "seed") => "seeds",
                (false, key) => key,
            };
            assert_eq!(difference.field, key, "{difference}");
            assert_ne!(usual, asked, "{}", parameter.key);
        }
    }
}

/// Each kernel with its machine, as options ask for them.
fn asked(kernels: &[&str], values: &[(&str, &[&str])]) -> Result<Vec<String>, String> {
    let mut given = GivenValues::default();
    for (key, values) in values {
        let values = values.iter().map(ToString::to_string).collect();
        given.insert(parameters::find(Venue::Lab, key).unwrap(), values);
    }
    let choices: Vec<KernelChoice> = kernels.iter().map(|kernel| choice(kernel)).collect();
    let experiment = given.experiment(Venue::Lab, &choices).map_err(|e| e.to_string())?;
    let Subjects::Kernels(subjects) = &experiment.parts[0].subjects else {
        panic!("the lab has kernels")
    };
    Ok(subjects
        .iter()
        .map(|s| format!("{} {}", s.kernel, s.machine.cpu))
        .collect())
}

#[test]
fn an_architecture_is_that_of_a_name_or_of_an_option() {
    let (pc, board) = ("debian:6.1 rome", "debian:6.1/arm64 cortex-a72");
    let each = |kernels: &[&str], values: &[(&str, &[&str])]| asked(kernels, values).unwrap();
    assert_eq!(each(&["debian:6.1"], &[]), [pc]);
    assert_eq!(each(&["debian:6.1/arm64"], &[]), [board]);
    assert_eq!(each(&["debian:6.1"], &[("arch", &["arm64"])]), [board]);
    assert_eq!(each(&["debian:6.1"], &[("arch", &["x86-64", "arm64"])]), [pc, board]);
    assert_eq!(each(&["debian:6.1", "debian:6.1/arm64"], &[]), [pc, board]);
    let small = "debian:6.1/arm64 cortex-a53";
    assert_eq!(each(&["debian:6.1"], &[("cpu", &["cortex-a53"])]), [small]);
    let both = ["debian:6.1", "debian:6.1/arm64"];
    assert_eq!(each(&both, &[("cpu", &["rome", "cortex-a53"])]), [pc, small]);
    let of_both: (&str, &[&str]) = ("arch", &["x86-64", "arm64"]);
    assert_eq!(
        each(&["debian:6.1"], &[of_both, ("cpu", &["rome", "cortex-a53"])]),
        [pc, small]
    );
    assert_eq!(each(&["./Image"], &[("arch", &["arm64"])]), ["./Image cortex-a72"]);
    let refused = asked(&["debian:6.1/arm64"], &[("cpu", &["rome"])]).unwrap_err();
    assert_eq!(refused, "debian:6.1/arm64 is for arm64, and no machine is ('cpu')");
    let refused = asked(&["debian:6.1"], &[("arch", &["arm64"]), ("cpu", &["rome"])]).unwrap_err();
    assert_eq!(refused, "rome is no CPU of arm64");
}

#[test]
fn lists_of_the_machines_parameters_are_multiplied() {
    let asked = of_study(
        Venue::Lab,
        &[("mips", "[1000, 500]"), ("memory_mb", "512"), ("cpus", "\"1,2,4\"")],
    );
    let machines: Vec<String> = asked.machines().map(|machine| machine.unusual().join(" ")).collect();
    assert_eq!(
        machines,
        [
            "512mb",
            "512mb 2cpus",
            "512mb 4cpus",
            "500mips 512mb",
            "500mips 512mb 2cpus",
            "500mips 512mb 4cpus"
        ]
    );
}

#[test]
fn what_is_of_all_parts_stands_above_them_and_holds_for_the_quick_form() {
    let study = |whole: &str, part: &str| {
        let text = format!(
            "schema = \"worstcase-study/4\"\nname = \"x\"\ntitle = \"x\"\nquestion = \"x\"\nsource = \"x\"\n\
             [full]\nkernels = [{{ kernel = \"debian:6.1\", preempt = [\"none\"] }}]\nprobes = [\"wakeup\"]\nseeds = 5\n{whole}\
             [[full.part]]\nloads = [\"idle\"]\n{part}[quick]\nseeds = 1\n"
        );
        study::parse("x", &text)
    };
    let asked = study("add = \"/bin/true\"\n", "").unwrap();
    assert_eq!(asked.lab.full.added.len(), 1);
    assert_eq!(asked.lab.quick.added, asked.lab.full.added);
    let error = study("", "add = \"/bin/true\"\n").unwrap_err().to_string();
    assert_eq!(
        error,
        "x, line 12: 'add' is of all parts: write it above the first of them"
    );
}
