//! The parameters of an experiment as options: all that a venue has, or some of them.

use super::words::{self, CompletedParser};
use clap::builder::{StringValueParser, TypedValueParser};
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::marker::PhantomData;
use worstcase_plan::Venue;
use worstcase_plan::parameters::{self, GivenValues, Parameter, ValueCount, group};

/// The parameters that a command takes.
pub(crate) trait ParameterChoice {
    /// The venue of the parameters.
    const VENUE: Venue;
    /// Keys of those that it takes.
    fn takes(key: &str) -> bool;
    /// An option that must be given with each of them.
    const NEEDS: Option<&'static str> = None;
}

/// What was given of them.
#[derive(Debug)]
pub(crate) struct ParameterArgs<C> {
    /// Values by parameter.
    pub(crate) given: GivenValues,
    choice: PhantomData<C>,
}

fn taken<C: ParameterChoice>() -> impl Iterator<Item = &'static Parameter> {
    parameters::all(C::VENUE).filter(|parameter| C::takes(parameter.key))
}

impl<C: ParameterChoice> Args for ParameterArgs<C> {
    fn augment_args(command: Command) -> Command {
        let mut taken: Vec<&Parameter> = taken::<C>().collect();
        // A help text has the groups in the order of their first options.
        taken.sort_by_key(|parameter| group::ORDER.iter().position(|group| *group == parameter.group));
        command.args(taken.into_iter().map(|parameter| option(parameter, C::VENUE, C::NEEDS)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: ParameterChoice> FromArgMatches for ParameterArgs<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut given = GivenValues::default();
        for parameter in taken::<C>() {
            if let Some(texts) = matches.get_many::<String>(parameter.key) {
                given.insert(parameter, texts.flat_map(|text| parameter.split(text)).collect());
            }
        }
        Ok(ParameterArgs {
            given,
            choice: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn option(parameter: &'static Parameter, venue: Venue, needs: Option<&'static str>) -> Arg {
    let read = move |text: String| parameter.check(venue, &text).map(|()| text);
    let mut option = Arg::new(parameter.key)
        .long(parameter.flag)
        .value_name(parameter.value_name)
        .help(parameter.help(venue))
        .help_heading(parameter.group)
        .hide_short_help(!parameter.first)
        .action(match parameter.values {
            ValueCount::Several(_) => ArgAction::Append,
            ValueCount::One | ValueCount::OneOrAll => ArgAction::Set,
        })
        .allow_hyphen_values(parameter.dashes)
        .hide_possible_values(true)
        .value_parser(completed(parameter.key, StringValueParser::new().try_map(read)));
    if let ValueCount::OneOrAll = parameter.values {
        option = option.num_args(0..=1).require_equals(true).default_missing_value("");
    }
    if let Some(letter) = parameter.short {
        option = option.short(letter);
    }
    if let Some(other) = parameter.excludes {
        option = option.conflicts_with(other);
    }
    if let Some(needed) = needs {
        option = option.requires(needed);
    }
    option
}

/// The words that a shell should know.
fn completed<P: TypedValueParser>(key: &str, parser: P) -> CompletedParser<P> {
    match key {
        "loads" => words::loads(parser),
        "probes" => words::probes(parser),
        _ => words::none(parser),
    }
}
