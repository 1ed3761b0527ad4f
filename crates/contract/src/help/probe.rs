//! The page of a probe.

use super::{HelpPage, examples, needs, place, where_it_is};
use crate::probe::Probe;
use crate::probes::info::ProbeForm;
use crate::probes::{CpuNeed, ProbeInfo};
use crate::venue::Venue;
use worstcase_base::duration;
use worstcase_base::format::{grouped, range};
use worstcase_logs::Nanos;

impl ProbeInfo {
    /// What a user reads of it.
    pub fn help(&self) -> HelpPage {
        let all = Probe::expand(self.name).expect("a probe's name is a word for it");
        let sample = self.sample.unwrap_or("latency: timer due to user code");
        let mut properties = vec![("a sample".to_string(), sample.to_string()), where_it_is(self.only)];
        let (usage, example) = match &self.form {
            ProbeForm::Name(_) | ProbeForm::Program => (self.name.to_string(), self.name),
            ProbeForm::Parameters(grammar) => {
                properties.extend(grammar.told());
                (format!("{}{}", self.name, grammar.usage()), grammar.example)
            }
        };
        if all.len() > 1 {
            properties.push((
                "alone".to_string(),
                format!("{} probes: {}", all.len(), first_and_last(&all)),
            ));
        }
        properties.push(("takes".to_string(), self.amount(&all)));
        properties.push(("CPUs".to_string(), cpus(&all)));
        let scheduling = match self.is_periodic {
            true => "a real-time thread, SCHED_FIFO (--priority)",
            false => "ordinary threads",
        };
        properties.push(("runs as".to_string(), scheduling.to_string()));
        if let Some(limit) = self.criterion {
            properties.push((
                "limit".to_string(),
                format!("{} unless --criterion says another", duration::show(limit)),
            ));
        }
        let explained: Vec<&str> = self.explained.iter().map(|venue| venue.name()).collect();
        if !explained.is_empty() {
            properties.push(("explained".to_string(), explained.join(", ")));
        }
        let folder = if self.needs_disk {
            "--work-dir on a disk (not tmpfs)"
        } else {
            self.needs
        };
        properties.extend(needs(folder, (self.modules)(None)));
        let mut examples = examples(self.only, "--probe", example, self.lab_options(&all));
        if example_is_for_hosts(example) {
            examples[0] = examples[0].replace(example, self.name);
        }
        HelpPage {
            usage,
            about: self.about,
            details: self.details,
            place: place(self.only),
            properties,
            examples,
        }
    }

    /// The usual number of samples, and their distance.
    fn amount(&self, all: &[Probe]) -> String {
        let samples = all.iter().map(|probe| probe.usual_periods());
        let (least, most) = (samples.clone().min().unwrap_or(0), samples.max().unwrap_or(0));
        let count = match most {
            0 => "as many samples as the file has operations".to_string(),
            _ => format!("{} samples", range(least, most, |n| grouped(n.into()))),
        };
        let [lab, host] = [Venue::Lab, Venue::Host].map(|venue| duration::show(all[0].usual_period(venue)));
        match self.form {
            _ if all[0].usual_period(Venue::Lab) == Nanos(0) => format!("{count}, one after the other"),
            ProbeForm::Parameters(_) if lab == host => format!("{count}, one every {lab}"),
            ProbeForm::Parameters(_) => format!("{count}, one every {lab} in the lab, {host} on a host"),
            ProbeForm::Name(_) | ProbeForm::Program => {
                format!("lab: {count}, one every {lab}; host: one every {host} for --time")
            }
        }
    }

    /// What the lab's machine must be for the example.
    fn lab_options(&self, all: &[Probe]) -> &'static str {
        let several = all
            .iter()
            .any(|probe| matches!(probe.cpus(), CpuNeed::First(n) if n > 1));
        if several { "--cpus 2" } else { "" }
    }
}

fn first_and_last(all: &[Probe]) -> String {
    let names: Vec<String> = all.iter().map(ToString::to_string).collect();
    match &names[..] {
        [first, .., last] if names.len() > 4 => format!("{first} ... {last}"),
        all => all.join(", "),
    }
}

fn cpus(all: &[Probe]) -> String {
    let one = |probe: &Probe| match probe.cpus() {
        CpuNeed::All => "all that may be used".to_string(),
        CpuNeed::First(1) => "one".to_string(),
        CpuNeed::First(n) | CpuNeed::Exactly(n) => format!("{n}"),
        CpuNeed::Ring(_) => "one, or as its words say".to_string(),
    };
    let kinds = worstcase_base::distinct(all.iter().map(one));
    kinds.join(" or ")
}

/// Parameters that only a real machine's wiring has.
fn example_is_for_hosts(example: &str) -> bool {
    example
        .parse::<Probe>()
        .is_ok_and(|probe| probe.check_venue(Venue::Lab).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::PROBES;

    #[test]
    fn every_probe_has_a_page_whose_example_is_one_of_its_own() {
        for info in &PROBES {
            let page = info.help();
            assert!(!page.details.is_empty(), "{}", info.name);
            assert!(!page.examples.is_empty(), "{}", info.name);
            for line in &page.examples {
                let word = line.rsplit(' ').next().unwrap();
                let all = Probe::expand(word).unwrap();
                assert!(all.iter().all(|probe| probe.name() == info.name), "{line}");
            }
        }
    }

    #[test]
    fn a_page_is_written_as_the_grammar_is() {
        let page = |name: &str| PROBES.iter().find(|info| info.name == name).unwrap().help();
        assert_eq!(page("remote").usage, "remote[+pipe|+eventfd|+futex]");
        assert_eq!(
            page("inversion").usage,
            "inversion[:DEPTH][+inherit|+none|+protect][+sectionTIME][+middleTIME]"
        );
        let of = |name: &str, what: &str| {
            let found = page(name).properties.into_iter().find(|(key, _)| key == what);
            found.unwrap_or_else(|| panic!("{name} has no {what}")).1
        };
        assert_eq!(of("inversion", "depth"), "1 to 8 [default: 1]");
        assert_eq!(of("switch", "alone"), "48 probes: switch:2x0 ... switch:96x64k");
        assert_eq!(
            of("wakeup", "takes"),
            "lab: 2 000 samples, one every 251 us; host: one every 1 ms for --time"
        );
        assert_eq!(of("inversion", "limit"), "100 us unless --criterion says another");
        assert!(page("remote").examples[0].contains("--cpus 2"));
    }
}
