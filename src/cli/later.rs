//! Arguments that are only laid out for the command that is called. A run that shows one task has
//! no use for the options of forty other commands, and laying them out took most of its time.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

/// Arguments, or a group of commands, that clap learns about when it meets their command.
pub(super) struct Later<A>(pub(super) A);

impl<A: FromArgMatches> FromArgMatches for Later<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Later<A>, Error> {
        A::from_arg_matches(matches).map(Later)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<A: Args> Args for Later<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(A::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(A::augment_args_for_update)
    }
}

impl<A: Subcommand> Subcommand for Later<A> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(A::augment_subcommands)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(A::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        A::has_subcommand(name)
    }
}
