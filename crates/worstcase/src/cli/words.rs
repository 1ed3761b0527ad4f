//! Arguments that take more values than can be listed, and whose usual words a shell should know.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};
use std::ffi::OsStr;
use worstcase_base::duration;
use worstcase_contract::Nanos;
use worstcase_contract::loads::LOADS;
use worstcase_contract::probe::PROBES;
use worstcase_plan::study;

/// The version, and the commit where it was built from a repository.
pub(crate) const VERSION: &str = env!("WORSTCASE_VERSION");

/// Reads any value, and completes these words.
#[derive(Clone)]
pub struct CompletedParser<P> {
    parser: P,
    words: Option<fn() -> Vec<String>>,
}

impl<P: TypedValueParser> TypedValueParser for CompletedParser<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<P::Value, Error> {
        self.parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words = self.words?().into_iter();
        Some(Box::new(words.map(PossibleValue::new)))
    }
}

/// Loads by name.
pub fn loads<P>(parser: P) -> CompletedParser<P> {
    let words: fn() -> Vec<String> = || LOADS.iter().map(|load| load.name().to_string()).collect();
    CompletedParser {
        parser,
        words: Some(words),
    }
}

/// Probes by name.
pub fn probes<P>(parser: P) -> CompletedParser<P> {
    let words: fn() -> Vec<String> = || PROBES.iter().map(|probe| probe.name.to_string()).collect();
    CompletedParser {
        parser,
        words: Some(words),
    }
}

/// Values that no list holds.
pub fn none<P>(parser: P) -> CompletedParser<P> {
    CompletedParser { parser, words: None }
}

/// The built-in studies.
pub fn studies<P>(parser: P) -> CompletedParser<P> {
    let words: fn() -> Vec<String> = || study::built_in().map(|study| study.name).collect();
    CompletedParser {
        parser,
        words: Some(words),
    }
}

/// A limit of every latency, which a run keeps; a percentile's is asked of what was measured.
pub fn limit(text: &str) -> Result<Nanos, String> {
    if text.contains('=') {
        return Err(format!(
            "a run is judged by every latency; a percentile is asked of it afterwards: worstcase verdict RUN --criterion {text}"
        ));
    }
    duration::parse(text).map_err(|e| e.to_string())
}
