//! The small form of a command: less of everything, and a folder of its own.

/// Kernels that the lab's tests have; any other is measured as the first.
const KERNELS: [&str; 3] = ["debian:6.1", "debian:6.1-rt", "debian:6.18-cloud"];

/// The words of a command's small form.
pub fn form(text: &str, replaced: &[(&str, &str)], number: usize) -> Vec<String> {
    let text = replaced.iter().fold(text.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{text}: no '{from}' to replace");
        text.replace(from, to)
    });
    let mut words = shlex::split(&text).unwrap_or_else(|| panic!("{text}"));
    let is = |a: &str, b: &str| words.get(1).is_some_and(|w| w == a) && words.get(2).is_some_and(|w| w == b);
    match () {
        () if is("lab", "run") => lab(&mut words, number),
        () if is("host", "run") => host(&mut words, number),
        () => {}
    }
    words
}

fn lab(words: &mut Vec<String>, number: usize) {
    let kernels = of(words, "--kernel");
    let asked = kernels.first().map_or("", String::as_str);
    // The tests' kernel of a series may be another flavour of it.
    let cloud = format!("{asked}-cloud");
    let fits = |kernel: &&str| *kernel == asked || *kernel == cloud;
    let kernel = KERNELS.into_iter().find(fits).unwrap_or(KERNELS[0]);
    set(words, &["--kernel"], kernel);
    // Another model, number of CPUs or quantum is another boot.
    set(
        words,
        &["--preempt"],
        if kernel.ends_with("-rt") { "rt" } else { "full" },
    );
    remove(words, "--quantum");
    if of(words, "--cpus") == ["4"] {
        set(words, &["--cpus"], "2");
    }
    for option in ["--append", "--chrt"] {
        if let Some(last) = of(words, option).last() {
            set(words, &[option], last);
        }
    }
    for option in ["--load", "--cpu", "--cpus", "--scheduler", "--io-scheduler", "--probe"] {
        first_of(words, option);
    }
    few(words, "30ms", "100", number);
    set(words, &["--jobs", "-j"], "1");
}

fn host(words: &mut Vec<String>, number: usize) {
    first_of(words, "--load");
    few(words, "300ms", "5", number);
    for (option, value) in [("--cpus", "0"), ("--load-cpus", "1")] {
        if !of(words, option).is_empty() {
            set(words, &[option], value);
        }
    }
    set(words, &["--warmup"], "50ms");
}

/// One seed, a short time or few samples, a folder.
fn few(words: &mut Vec<String>, time: &str, samples: &str, number: usize) {
    if of(words, "--seed").is_empty() {
        set(words, &["--seeds"], "1");
    }
    let has_time = !of(words, "--time").is_empty() || !of(words, "-D").is_empty();
    // What work with a file has is as many samples as the file has blocks.
    let is_of_files = of(words, "--probe").iter().any(|probe| probe.starts_with("io"));
    match has_time {
        true => set(words, &["--time", "-D"], time),
        false if is_of_files => {}
        false => set(words, &["--samples", "-l"], samples),
    }
    // The runs that the documents name are there already.
    set(words, &["-o", "--output"], &format!("out-{number}"));
}

/// The values of an option.
fn of(words: &[String], option: &str) -> Vec<String> {
    let pairs = words.windows(2).filter(|pair| pair[0] == option);
    pairs.map(|pair| pair[1].clone()).collect()
}

/// Gives an option this value alone; the first name is the one that is written.
fn set(words: &mut Vec<String>, names: &[&str], value: &str) {
    names.iter().for_each(|name| remove(words, name));
    words.extend([names[0].to_string(), value.to_string()]);
}

fn remove(words: &mut Vec<String>, option: &str) {
    while let Some(at) = words.iter().position(|word| word == option) {
        words.drain(at..(at + 2).min(words.len()));
    }
}

/// Of several values between commas the first; a program has its own commas.
fn first_of(words: &mut Vec<String>, option: &str) {
    if let Some(value) = of(words, option).first().filter(|value| !value.starts_with("cmd")) {
        let first = value.split(',').next().unwrap_or(value).to_string();
        set(words, &[option], &first);
    }
}
