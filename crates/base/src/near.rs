//! Names that a short or a mistyped one may stand for.

/// How alike two names must be, of 1.
const ALIKE: f64 = 0.5;
/// How many are told.
const MOST: usize = 3;
/// A list of so few names is told whole.
const FEW: usize = 5;

/// The names most like this one, the nearest first.
pub fn nearest<T: AsRef<str>>(name: &str, known: impl IntoIterator<Item = T>) -> Vec<T> {
    let lower = name.to_lowercase();
    // Who is twice as long is not alike, and a program has very many long names.
    let can_be = |known: &T| {
        let (ours, theirs) = (lower.len(), known.as_ref().len());
        ours.max(theirs) < 2 * ours.min(theirs) || known.as_ref().to_lowercase().contains(&lower)
    };
    let mut scored = scored(name, known.into_iter().filter(can_be));
    scored.retain(|(score, _)| *score > ALIKE);
    scored.into_iter().map(|(_, name)| name).take(MOST).collect()
}

/// All names, the most alike first.
pub fn nearest_first<T: AsRef<str>>(name: &str, known: impl IntoIterator<Item = T>) -> Vec<T> {
    scored(name, known).into_iter().map(|(_, name)| name).collect()
}

fn scored<T: AsRef<str>>(name: &str, known: impl IntoIterator<Item = T>) -> Vec<(f64, T)> {
    let name = name.to_lowercase();
    let mut scored: Vec<(f64, T)> = known.into_iter().map(|k| (likeness(&name, k.as_ref()), k)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored
}

/// A name that begins the other, or stands in it, is like it, however much longer the other is.
fn likeness(name: &str, known: &str) -> f64 {
    let known = known.to_lowercase();
    let part = match name.len() > 2 && known.contains(name) {
        true if known.starts_with(name) => 0.8,
        true => 0.6,
        false => 0.0,
    };
    strsim::normalized_damerau_levenshtein(name, &known).max(part)
}

/// The names that a text stands for: the one that it is, else those that have each of its words as a word (`6.1 full` of
/// `6.1.0-56-amd64.full`, not of `6.12.1-amd64.full`), else those that have each of them anywhere.
pub fn meant<T: AsRef<str>>(text: &str, known: impl IntoIterator<Item = T>) -> Vec<T> {
    // Names of cells are names of files, which have no colon.
    let words: Vec<String> = text.split([' ', ',']).map(|word| word.replace(':', "-")).collect();
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| !word.is_empty())
        .collect();
    let mut known: Vec<T> = known.into_iter().collect();
    if let Some(at) = known.iter().position(|name| name.as_ref() == text) {
        return vec![known.swap_remove(at)];
    }
    if words.is_empty() {
        return Vec::new();
    }
    let has_all = |name: &T, has: fn(&str, &str) -> bool| words.iter().all(|word| has(name.as_ref(), word));
    let has = match known.iter().any(|name| has_all(name, has_word)) {
        true => has_word as fn(&str, &str) -> bool,
        false => has_part,
    };
    known.retain(|name| has_all(name, has));
    known
}

/// Whether a word stands in a name, neither in the middle of a number nor of a word.
fn has_word(name: &str, word: &str) -> bool {
    name.match_indices(word).any(|(at, _)| {
        let is_apart = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
        is_apart(name[..at].chars().next_back()) && is_apart(name[at + word.len()..].chars().next())
    })
}

fn has_part(name: &str, part: &str) -> bool {
    name.contains(part)
}

/// `a, b, c and 4 more`.
pub fn few_of<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().take(FEW).map(AsRef::as_ref).collect();
    let more = names.len() - shown.len();
    let rest = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    shown.join(", ") + &rest
}

/// What an error says of a name that nothing of this kind has: near ones, and what lists all.
pub fn unknown<T: AsRef<str>>(kind: &str, name: &str, known: impl IntoIterator<Item = T>, list: &str) -> String {
    format!(
        "unknown {kind} '{}'; {}",
        name.escape_debug(),
        instead(name, known, list)
    )
}

/// `did you mean fork or find? worstcase loads lists all`; a few names are told whole.
pub fn instead<T: AsRef<str>>(name: &str, known: impl IntoIterator<Item = T>, list: &str) -> String {
    let mut known: Vec<T> = known.into_iter().collect();
    let mut seen = std::collections::BTreeSet::new();
    known.retain(|name| seen.insert(name.as_ref().to_string()));
    if known.len() <= FEW {
        let all: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
        return match all.is_empty() {
            true => "there are none".to_string(),
            false => format!("there are {}", all.join(", ")),
        };
    }
    match (either(&nearest(name, &known)), list) {
        (None, "") => format!("there are {}, from {} on", known.len(), known[0].as_ref()),
        (None, list) => list.to_string(),
        (Some(near), "") => format!("did you mean {near}?"),
        (Some(near), list) => format!("did you mean {near}? {list}"),
    }
}

/// `a, b or c`; none for no name.
fn either<T: AsRef<str>>(names: &[T]) -> Option<String> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last()? {
        (one, []) => Some(one.to_string()),
        (last, others) => Some(format!("{} or {last}", others.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADS: [&str; 8] = ["idle", "shm", "fork", "procread", "find", "proc", "cpu", "disk"];

    #[test]
    fn the_nearest_come_first_and_strange_ones_not_at_all() {
        assert_eq!(nearest("dsk", LOADS), ["disk"]);
        assert_eq!(nearest("smh", LOADS), ["shm"]);
        assert_eq!(nearest("Proc", LOADS)[..2], ["proc", "procread"]);
        assert!(nearest("quux", LOADS).is_empty());
        assert_eq!(nearest("read", LOADS), ["procread"]);
    }

    #[test]
    fn a_text_stands_for_the_name_that_has_its_words() {
        let subjects = [
            "6.1.0-56-amd64.full",
            "6.12.1-amd64.full",
            "6.1.0-56-amd64.voluntary",
            "6.12.1-amd64.rt.apps-30",
        ];
        assert_eq!(meant("6.1 full", subjects), ["6.1.0-56-amd64.full"]);
        assert_eq!(meant("6.12", subjects).len(), 2);
        assert_eq!(meant("vol", subjects), ["6.1.0-56-amd64.voluntary"]);
        assert_eq!(meant("rt", subjects), ["6.12.1-amd64.rt.apps-30"]);
        assert_eq!(meant("apps:30", subjects), ["6.12.1-amd64.rt.apps-30"]);
        assert_eq!(meant("6.12.1-amd64.full", subjects), ["6.12.1-amd64.full"]);
        assert!(meant("5.10", subjects).is_empty() && meant(" ", subjects).is_empty());
        assert_eq!(few_of(&subjects[..2]), "6.1.0-56-amd64.full, 6.12.1-amd64.full");
        assert!(few_of(&[subjects, subjects].concat()).ends_with(" and 3 more"));
    }

    #[test]
    fn one_line_says_what_was_meant_and_what_lists_all() {
        let said = |name, list| unknown("load", name, LOADS, list);
        let list = "worstcase loads lists all";
        assert_eq!(
            said("dsk", list),
            "unknown load 'dsk'; did you mean disk? worstcase loads lists all"
        );
        assert_eq!(said("quux", list), "unknown load 'quux'; worstcase loads lists all");
        assert_eq!(said("a\nb", list), "unknown load 'a\\nb'; worstcase loads lists all");
        assert_eq!(said("dsk", ""), "unknown load 'dsk'; did you mean disk?");
        assert_eq!(
            unknown("venue", "x", ["host", "lab"], ""),
            "unknown venue 'x'; there are host, lab"
        );
        assert_eq!(unknown("venue", "x", [""; 0], ""), "unknown venue 'x'; there are none");
        assert_eq!(either(&["a", "b", "c"]).unwrap(), "a, b or c");
    }
}
