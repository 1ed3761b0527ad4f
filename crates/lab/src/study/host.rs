//! The part of a study that measures this machine: words of `worstcase host run`.

use serde::Deserialize;

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawHost {
    probes: Option<Vec<String>>,
    loads: Option<Vec<String>>,
    time: Option<String>,
    interval: Option<String>,
    samples: Option<u32>,
    seeds: Option<u32>,
    quick: Option<Box<RawHost>>,
}

/// What to ask of `worstcase host run`; it checks the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPart {
    /// All of it.
    pub full: Vec<String>,
    /// For a first look.
    pub quick: Vec<String>,
}

pub(super) fn check(raw: RawHost) -> HostPart {
    let quick = raw.quick.clone().unwrap_or_default();
    let base = raw.clone();
    HostPart {
        full: raw.arguments(),
        quick: RawHost {
            quick: None,
            probes: quick.probes.or(base.probes),
            loads: quick.loads.or(base.loads),
            time: quick.time.or(base.time),
            interval: quick.interval.or(base.interval),
            samples: quick.samples.or(base.samples),
            seeds: quick.seeds.or(base.seeds),
        }
        .arguments(),
    }
}

impl RawHost {
    fn arguments(self) -> Vec<String> {
        let mut words = Vec::new();
        let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        if let Some(probes) = self.probes {
            option("probe", probes.join(","));
        }
        self.loads.into_iter().flatten().for_each(|load| option("load", load));
        self.time.into_iter().for_each(|time| option("time", time));
        self.interval
            .into_iter()
            .for_each(|interval| option("interval", interval));
        self.samples.into_iter().for_each(|n| option("samples", n.to_string()));
        self.seeds.into_iter().for_each(|n| option("seeds", n.to_string()));
        words
    }
}
