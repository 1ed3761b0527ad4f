//! Breakdowns by cause, as tables.

use worstcase_analysis::breakdown::group::Group;
use worstcase_base::format::micros;

/// A table for each subject.
pub fn terminal(groups: &[Group]) -> String {
    let mut out = Vec::new();
    let mut subject = "";
    for g in groups {
        if g.subject != subject {
            subject = &g.subject;
            out.push(format!("What keeps {subject} from being better, the worst first (us)"));
            out.push(format!(
                "{:>9} {:>9} {:>8}  {:<16} cause",
                "worst", "of it", "samples", "load"
            ));
        }
        let function = g.function.as_ref().map_or(String::new(), |f| format!(": {f}"));
        let by = g.caller.as_ref().map_or(String::new(), |c| format!(" < {c}"));
        out.push(format!(
            "{:>9} {:>9} {:>8}  {:<16} {}{function}{by}",
            micros(g.worst_ns),
            micros(g.cause_ns),
            g.samples,
            g.load,
            g.mechanism.title()
        ));
    }
    out.push(String::new());
    out.join("\n")
}
