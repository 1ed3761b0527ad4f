//! What libbpf says while it loads, kept to tell the one line that matters.

use libbpf_rs::PrintLevel;
use std::sync::Mutex;

static SAID: Mutex<String> = Mutex::new(String::new());

const BEGIN: &str = "-- BEGIN PROG LOAD LOG --";
const END: &str = "-- END PROG LOAD LOG --";
/// How many of the verifier's last lines are told.
const LAST_LINES: usize = 6;
/// How the verifier's statistics begin, which say nothing of why it refused.
const STATISTICS: &[&str] = &["processed ", "verification time ", "stack depth "];

/// From now on libbpf's warnings are kept instead of printed.
pub(crate) fn keep() {
    libbpf_rs::set_print(Some((PrintLevel::Warn, |_, text| {
        SAID.lock().expect("nothing panics while it is held").push_str(&text);
    })));
}

/// Why it failed, as far as libbpf said it; otherwise the error itself.
pub(crate) fn reason(error: &libbpf_rs::Error) -> String {
    let said = SAID.lock().expect("nothing panics while it is held");
    refusal(&said)
        .or_else(|| warnings(&said))
        .unwrap_or_else(|| error.to_string())
}

/// The verifier's words on the program that it refused.
fn refusal(said: &str) -> Option<String> {
    let (before, rest) = said.split_once(BEGIN)?;
    let (log, _) = rest.split_once(END).unwrap_or((rest, ""));
    let program = before.rsplit("prog '").next()?.split('\'').next()?;
    let lines: Vec<&str> = log
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !STATISTICS.iter().any(|begin| line.starts_with(begin)))
        .collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    Some(format!(
        "the verifier refused the program '{program}': {}",
        last.join(" | ")
    ))
}

/// libbpf's own words: the first say what was wrong, the later ones what followed from it.
fn warnings(said: &str) -> Option<String> {
    let lines: Vec<&str> = said
        .lines()
        .map(|line| line.trim().trim_start_matches("libbpf: "))
        .filter(|line| !line.is_empty())
        .take(2)
        .collect();
    (!lines.is_empty()).then(|| lines.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_program_and_the_last_lines() {
        let said = "libbpf: prog 'pick': BPF program load failed: Permission denied\n\
                    libbpf: prog 'pick': -- BEGIN PROG LOAD LOG --\n\
                    0: R1=ctx() R10=fp0\n\
                    ; return *lost;\n\
                    1: (79) r1 = *(u64 *)(r0 +0)\n\
                    R0 invalid mem access 'scalar'\n\
                    verification time 33 usec\n\
                    stack depth 0\n\
                    processed 2 insns (limit 1000000) max_states_per_insn 0\n\
                    -- END PROG LOAD LOG --\n\
                    libbpf: prog 'pick': failed to load: -13\n";
        assert_eq!(
            refusal(said).unwrap(),
            "the verifier refused the program 'pick': 0: R1=ctx() R10=fp0 | ; return *lost; | \
             1: (79) r1 = *(u64 *)(r0 +0) | R0 invalid mem access 'scalar'"
        );
    }

    #[test]
    fn without_the_verifier_the_first_warnings_count() {
        let said =
            "libbpf: extern (func ksym) 'gone': not found in kernel or module BTFs\nlibbpf: failed to load object\n";
        assert_eq!(
            warnings(said).unwrap(),
            "extern (func ksym) 'gone': not found in kernel or module BTFs | failed to load object"
        );
        assert_eq!(warnings(""), None);
    }
}
