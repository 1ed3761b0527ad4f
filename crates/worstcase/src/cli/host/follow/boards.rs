//! `worstcase host follow --on`: the arguments that each machine is given.

use super::FollowArgs;

impl FollowArgs {
    /// The same command for a machine that keeps its run in `folder`.
    pub(super) fn for_board(&self, folder: &str) -> Vec<String> {
        let options = [
            ("--signal", self.signal.map(|number| number.to_string())),
            ("--on-late", self.on_late.clone()),
            ("--output", Some(folder.to_string())),
        ];
        let mut words: Vec<String> = ["host", "follow", "--quiet"].map(String::from).into();
        words.extend(self.words());
        for (name, value) in options {
            words.extend(value.into_iter().flat_map(|value| [name.to_string(), value]));
        }
        words.extend(self.is_break.then(|| "--break".to_string()));
        if !self.command.is_empty() {
            words.push("--".into());
            words.extend(self.command.iter().cloned());
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, FromArgMatches, Parser};

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        follow: FollowArgs,
    }

    fn parsed(words: &[&str]) -> FollowArgs {
        let matches = Typed::command()
            .try_get_matches_from([&["follow"], words].concat())
            .unwrap();
        Typed::from_arg_matches(&matches).unwrap().follow
    }

    /// Every option that the command has reaches the machine, but for those that say where to, and how it is shown.
    #[test]
    fn a_machine_is_given_what_was_typed() {
        let here = ["show", "json", "output", "boards", "on_executable", "command", "help"];
        let words = "--comm ctl --thread t --wait read:5 --time 1500ms --deadline 1ms --break --signal USR1 --on-late";
        let words: Vec<&str> = words.split(' ').chain(["echo late", "--on", "board"]).collect();
        let given = parsed(&words).for_board("run").join(" ");
        assert_eq!(
            given,
            "host follow --quiet --comm ctl --thread t --wait read:5 --time 1.5s --deadline 1ms --signal 10 \
             --on-late echo late --output run --break"
        );
        for argument in Typed::command()
            .get_arguments()
            .filter(|a| !here.contains(&a.get_id().as_str()))
        {
            let name = format!("--{}", argument.get_long().unwrap());
            assert!(
                given.contains(&name) || name == "--pid",
                "{name} is not given to the machine"
            );
        }
        let given = parsed(&["--time", "2s", "--", "/opt/motion", "--rate", "1000"]).for_board("run");
        assert_eq!(
            given[3..],
            ["--time", "2s", "--output", "run", "--", "/opt/motion", "--rate", "1000"]
        );
        assert!(parsed(&["--pid", "7"]).for_board("run").contains(&"--pid".to_string()));
    }
}
