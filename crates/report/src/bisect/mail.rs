//! A worsening as a mail to the list for regressions, in the form that the kernel's documentation asks for
//! (Documentation/admin-guide/reporting-regressions.rst): the tag, the two versions or the commit, how to repeat it.

use super::{ProgramSource, ShownBisection, ToldLoad};
use worstcase_bisect::search::SoughtChange;

/// The list to which regressions are reported.
const LIST: &str = "regressions@lists.linux.dev";

/// The text, headers first; nothing for an improvement. The sender decides who else should get it.
pub fn mail(found: &ShownBisection) -> Option<String> {
    if found.ending.sought == SoughtChange::Better {
        return None;
    }
    let mut out = vec![format!("To: {LIST}")];
    if let Some(commit) = found.commit {
        out.push(format!("Cc: {}", one_line(&commit.author)));
    }
    let subject = match found.commit {
        Some(commit) => format!("{}, since {}", found.change(), commit.cited()),
        None => format!("{}, since {}", found.change(), found.names[0]),
    };
    out.push(format!("Subject: [REGRESSION] latency: {}", one_line(&subject)));
    out.push(String::new());
    out.push(format!("Hello,\n\n{}.\n", one_line(&found.sentence())));
    if let Some(commit) = found.commit {
        out.push(format!("commit {}", commit.id));
        out.push(format!("Author: {}", one_line(&commit.author)));
        out.push(format!("Date:   {}\n", commit.date));
        out.push(format!("    {}\n", one_line(&commit.subject)));
    }
    out.extend(found.lines());
    out.push(String::new());
    out.push(format!(
        "Measured with worstcase in {}. Times are virtual: they count instructions, so they\n\
         are lengths of paths, and the same on every machine. Seeds with identical samples executed the same code.\n",
        found.measured_with
    ));
    out.extend(found.loads.iter().map(ToldLoad::sentence));
    out.push(String::new());
    match found.reverted {
        Some(Ok(_)) => out.push("Column \"reverted\" is the bad end with the commit reverted.\n".into()),
        Some(Err(why)) => out.push(format!(
            "The commit could not be reverted at the bad end: {}\n",
            one_line(why)
        )),
        None => {}
    }
    if let Some(breakdown) = found.breakdown {
        out.push(format!(
            "The worst sample before and after:\n\n{}\n",
            indented(breakdown)
        ));
    }
    out.push("To repeat it:\n".into());
    out.extend(found.commands.iter().map(|command| format!("    {command}")));
    out.push(String::new());
    out.push(introduced(found));
    out.push(format!("#regzbot title: latency: {}", one_line(&found.change())));
    out.push(String::new());
    out.extend(found.loads.iter().filter_map(ToldLoad::source).map(carried));
    Some(out.join("\n"))
}

/// A source between marks. The tracking bot reads lines that begin with its name.
fn carried(source: &ProgramSource) -> String {
    let line = |line: &str| match line.starts_with("#regzbot") {
        true => format!(" {line}"),
        false => line.to_string(),
    };
    let lines: Vec<String> = source.text.lines().map(line).collect();
    let file = one_line(&source.file);
    format!("-- >8 -- {file}\n{}\n-- 8< -- {file}\n", lines.join("\n"))
}

/// The line of the first bad version, as the tracking bot reads it.
fn introduced(found: &ShownBisection) -> String {
    match (found.commit, found.upstream()) {
        (Some(commit), _) if found.ending.or_one_of.is_empty() => format!("#regzbot introduced: {}", commit.id),
        (Some(commit), _) => format!("#regzbot introduced: {}..{}", found.ending.before.candidate, commit.id),
        (None, Some([before, first])) => format!("#regzbot introduced: {before}..{first}"),
        (None, None) => "#regzbot introduced: (write the versions or the commit here)".into(),
    }
}

fn indented(text: &str) -> String {
    text.trim_end()
        .lines()
        .map(|line| format!("    {line}").trim_end().to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

/// A header or a sentence must not begin a new line where foreign text does.
fn one_line(text: &str) -> String {
    worstcase_base::format::plain(text)
}
