//! What a machine says of itself, for people: the many states of its CPUs' defects in one line.

use std::collections::BTreeMap;

/// How the names of defects begin.
const DEFECT: &str = "bug.";

/// Each name with its value; of the defects one line.
pub(crate) fn facts<'a>(all: impl IntoIterator<Item = (&'a String, &'a String)>) -> Vec<(String, String)> {
    let (defects, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(key, _)| key.starts_with(DEFECT));
    let mut facts: Vec<(String, String)> = others.into_iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    if !defects.is_empty() {
        facts.push(("CPU defects".to_string(), by_state(&defects)));
    }
    facts
}

/// `Mitigation: retbleed, spectre_v1; Vulnerable: tsa; Not affected: 12`: how each is met is in the record.
fn by_state(defects: &[(&String, &String)]) -> String {
    let mut states: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, state) in defects {
        let state = state.split([':', ';']).next().unwrap_or(state).trim();
        states.entry(state).or_default().push(key.trim_start_matches(DEFECT));
    }
    let unaffected = states
        .remove("Not affected")
        .map(|names| format!("Not affected: {}", names.len()));
    let said = states
        .iter()
        .map(|(state, names)| format!("{state}: {}", names.join(", ")));
    said.chain(unaffected).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventeen_defects_are_one_line() {
        let said = [
            ("bug.l1tf", "Not affected"),
            ("bug.mds", "Not affected"),
            ("bug.retbleed", "Mitigation: untrained return thunk; SMT disabled"),
            ("bug.spectre_v1", "Mitigation: usercopy/swapgs barriers"),
            ("bug.tsa", "Vulnerable: no microcode"),
            ("hz", "250"),
        ];
        let said: BTreeMap<String, String> = said.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        let told = facts(&said);
        assert_eq!(told[0], ("hz".to_string(), "250".to_string()));
        assert_eq!(
            told[1].1,
            "Mitigation: retbleed, spectre_v1; Vulnerable: tsa; Not affected: 2"
        );
        assert_eq!(told.len(), 2);
    }
}
