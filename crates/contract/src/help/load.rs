//! The page of a load.

use super::{HelpPage, examples, needs, place, where_it_is};
use crate::grammar::NumberRange;
use crate::loads::LoadInfo;
use crate::loads::RATE;
use worstcase_base::format::grouped;

impl LoadInfo {
    /// What a user reads of it.
    pub fn help(&self) -> HelpPage {
        let number = self.number().map(|range| (range.what.to_string(), said(range)));
        let units = self.kind.code().units;
        let rate = self.rate.map(|unit| {
            let text = format!(
                "{} a second, {} to {}, all its processes together",
                units[unit],
                RATE.least,
                grouped(RATE.most)
            );
            ("@RATE".to_string(), text)
        });
        let counts = (!units.is_empty()).then(|| ("counts".to_string(), units.join(", ")));
        let properties = [
            Some(where_it_is(self.only)),
            number,
            rate,
            counts,
            needs(self.needs, self.modules),
        ];
        HelpPage {
            usage: self.usage(),
            about: self.about,
            details: self.details,
            place: place(self.only),
            properties: properties.into_iter().flatten().collect(),
            examples: examples(self.only, "--load", self.example, self.lab_options),
        }
    }
}

fn said(range: &NumberRange) -> String {
    format!("{} to {}", range.least, grouped(range.most))
}

#[cfg(test)]
mod tests {
    use crate::loads::{LOADS, LoadSpec};
    use crate::venue::Venue;

    #[test]
    fn every_load_has_an_example_of_itself_that_its_venues_have() {
        for info in &LOADS {
            let spec: LoadSpec = info.example.parse().unwrap();
            assert_eq!(spec.parts()[0].kind(), info.kind, "{}", info.example);
            for venue in [Venue::Lab, Venue::Host] {
                let has = info.only.is_none_or(|only| only.venue == venue);
                assert_eq!(spec.check_venue(venue).is_ok(), has, "{}", info.example);
            }
            let page = info.help();
            assert!(page.examples.iter().all(|line| line.contains(info.example)));
        }
    }

    #[test]
    fn a_page_tells_parameters_rates_work_and_needs() {
        let page = |name: &str| LOADS.iter().find(|info| info.usage() == name).unwrap().help();
        let of = |name: &str, what: &str| {
            let found = page(name).properties.into_iter().find(|(key, _)| key == what);
            found.map(|(_, text)| text)
        };
        assert_eq!(of("apps:N", "N").unwrap(), "1 to 200");
        assert_eq!(
            of("fork[@RATE]", "@RATE").unwrap(),
            "forks a second, 1 to 1 000 000, all its processes together"
        );
        assert_eq!(of("idle", "counts"), None);
        assert_eq!(of("apps:N", "needs").unwrap(), "built in or as a module: null_blk");
        assert!(
            of("disk[:MIB][@RATE]", "where")
                .unwrap()
                .starts_with("on the host only: ")
        );
        assert_eq!(page("idle").place, "both");
    }
}
