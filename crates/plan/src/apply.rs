//! The host settings that are set for the length of a run.

use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A choice of the settings that the doctor can set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ApplyValue", into = "ApplyValue")]
pub enum Apply {
    /// No setting.
    #[default]
    Nothing,
    /// All of it.
    Everything,
    /// Settings by their names.
    Only(Vec<String>),
}

/// The value in a file: `false`, `true`, or a list of names.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ApplyValue {
    All(bool),
    Only(Vec<String>),
}

impl From<ApplyValue> for Apply {
    fn from(written: ApplyValue) -> Apply {
        match written {
            ApplyValue::All(true) => Apply::Everything,
            ApplyValue::All(false) => Apply::Nothing,
            ApplyValue::Only(names) => Apply::Only(names),
        }
    }
}

impl From<Apply> for ApplyValue {
    fn from(apply: Apply) -> ApplyValue {
        match apply {
            Apply::Nothing => ApplyValue::All(false),
            Apply::Everything => ApplyValue::All(true),
            Apply::Only(names) => ApplyValue::Only(names),
        }
    }
}

/// The value of `--apply=`: names, separated by commas; none for everything.
impl FromStr for Apply {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Apply, Infallible> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_string).collect();
        Ok(match names.is_empty() {
            true => Apply::Everything,
            false => Apply::Only(names),
        })
    }
}

impl fmt::Display for Apply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Apply::Nothing => f.write_str("nothing"),
            Apply::Everything => f.write_str("everything"),
            Apply::Only(names) => f.write_str(&names.join(",")),
        }
    }
}

impl Apply {
    /// Whether a setting is asked for.
    pub fn asks_for(&self, name: &str) -> bool {
        match self {
            Apply::Nothing => false,
            Apply::Everything => true,
            Apply::Only(names) => names.iter().any(|n| n == name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_it_in_one_of_three_ways() {
        let read = |text: &str| serde_json::from_str::<Apply>(text).unwrap();
        let only = Apply::Only(vec!["ksm".into(), "swap".into()]);
        assert_eq!((read("false"), read("true")), (Apply::Nothing, Apply::Everything));
        assert_eq!(read(r#"["ksm","swap"]"#), only);
        for apply in [Apply::Nothing, Apply::Everything, only] {
            assert_eq!(read(&serde_json::to_string(&apply).unwrap()), apply);
        }
    }

    #[test]
    fn an_option_says_everything_or_names() {
        let of = |text: &str| text.parse::<Apply>().unwrap();
        assert_eq!(of(""), Apply::Everything);
        assert_eq!(of("ksm, swap"), Apply::Only(vec!["ksm".into(), "swap".into()]));
        assert!(of("ksm").asks_for("ksm") && !of("ksm").asks_for("swap") && of("").asks_for("swap"));
    }
}
