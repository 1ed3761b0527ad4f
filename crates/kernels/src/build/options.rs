//! Changed options of a kernel's configuration: `CONFIG_PREEMPT=y`.

use std::fmt;
use std::path::Path;

use super::{KernelBuildError, kconfig};
use crate::config::KernelConfig;

/// Options and their values, in the user's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildOptions(Vec<(String, String)>);

impl BuildOptions {
    /// Parses a text like `CONFIG_PREEMPT=y+CONFIG_HZ=1000`.
    pub(crate) fn parse(text: &str) -> Result<BuildOptions, String> {
        let mut options: Vec<(String, String)> = Vec::new();
        for one in text.strip_prefix("CONFIG_").unwrap_or(text).split("+CONFIG_") {
            let (option, value) = one
                .split_once('=')
                .ok_or_else(|| format!("CONFIG_{one} has no value, as CONFIG_A=y has"))?;
            let is_option = !option.is_empty() && option.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let is_value = !value.is_empty() && value.chars().all(|c| c.is_ascii_graphic() && !"\"\\/".contains(c));
            match () {
                () if !is_option => return Err(format!("CONFIG_{option} is not the name of an option")),
                () if value == "m" => {
                    return Err(format!(
                        "CONFIG_{option}: only the image is built and no modules; take y or n"
                    ));
                }
                () if !is_value => return Err(format!("CONFIG_{option} has no value that it can have here")),
                () if options.iter().any(|(other, _)| other == option) => {
                    return Err(format!("CONFIG_{option} has two values"));
                }
                () => options.push((option.into(), value.into())),
            }
        }
        Ok(BuildOptions(options))
    }

    /// A configuration with these options in place of its own.
    pub fn apply(&self, config: &str) -> String {
        let is_ours = |line: &&str| {
            let rest = line.strip_prefix("# ").unwrap_or(line).strip_prefix("CONFIG_");
            let name = rest.and_then(|rest| rest.split([' ', '=']).next());
            self.0.iter().any(|(option, _)| Some(option.as_str()) == name)
        };
        let kept = config.lines().filter(|line| !is_ours(line)).map(str::to_string);
        let ours = self.0.iter().map(|(option, value)| match value.as_str() {
            "n" => format!("# CONFIG_{option} is not set"),
            "y" => format!("CONFIG_{option}=y"),
            number if number.starts_with(|c: char| c.is_ascii_digit()) => format!("CONFIG_{option}={number}"),
            text => format!("CONFIG_{option}=\"{text}\""),
        });
        kept.chain(ours).map(|line| line + "\n").collect()
    }

    /// Refuses a configuration, as the tree made it, in which one of these options has another value.
    pub fn check(&self, built: &KernelConfig, tree: &Path) -> Result<(), KernelBuildError> {
        for (option, value) in &self.0 {
            let is = built.get(option);
            if is.unwrap_or("n") == value {
                continue;
            }
            let is = is.map_or("not there".into(), |is| format!("{is} after make olddefconfig"));
            let why = kconfig::why(tree, option, value == "n", built).map_err(KernelBuildError::io(tree))?;
            return Err(KernelBuildError::NotTaken {
                tree: tree.into(),
                what: format!("CONFIG_{option}={value} did not take effect, it is {is}: {why}"),
            });
        }
        Ok(())
    }

    /// The form for tables and file names: `+PREEMPT`, `-SMP`, `+HZ.1000`.
    pub fn label(&self) -> String {
        let one = |(option, value): &(String, String)| match value.as_str() {
            "y" => format!("+{option}"),
            "n" => format!("-{option}"),
            value => format!("+{option}.{value}"),
        };
        self.0.iter().map(one).collect()
    }
}

impl fmt::Display for BuildOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|(option, value)| write!(f, "+CONFIG_{option}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_stand_in_place_of_the_configurations_own() {
        let options =
            BuildOptions::parse("CONFIG_PREEMPT=y+CONFIG_HZ=1000+CONFIG_A=n+CONFIG_LOCALVERSION=-mine").unwrap();
        let config =
            "CONFIG_A=y\n# CONFIG_PREEMPT is not set\nCONFIG_PREEMPT_COUNT=y\nCONFIG_HZ=250\nCONFIG_HZ_250=y\n";
        let expected = "CONFIG_PREEMPT_COUNT=y\nCONFIG_HZ_250=y\nCONFIG_PREEMPT=y\nCONFIG_HZ=1000\n\
            # CONFIG_A is not set\nCONFIG_LOCALVERSION=\"-mine\"\n";
        assert_eq!(options.apply(config), expected);
        assert_eq!(options.label(), "+PREEMPT+HZ.1000-A+LOCALVERSION.-mine");
    }

    #[test]
    fn what_is_no_option_is_refused() {
        for (text, why) in [
            ("CONFIG_A", "no value"),
            ("CONFIG_=y", "not the name"),
            ("CONFIG_A-B=y", "not the name"),
            ("CONFIG_A=", "no value"),
            ("CONFIG_A=x\ny", "no value that"),
            ("CONFIG_A=\"x\"", "no value that"),
            ("CONFIG_A=m", "no modules"),
            ("CONFIG_A=y+CONFIG_A=n", "two values"),
        ] {
            let said = BuildOptions::parse(text).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
