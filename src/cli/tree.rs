//! The tree of commands: all of it for help and errors, and only one branch for a valid call,
//! because building the whole tree would take most of the time.

use std::ffi::OsString;
use std::mem::ManuallyDrop;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super::Command;
use super::arguments::Globals;

/// Run a graph of tasks with AI agents and verify every result
#[derive(Parser)]
#[command(name = "cleo", version, after_help = EXAMPLES, disable_help_subcommand = true)]
struct Root {
    #[command(flatten)]
    globals: Globals,
}

const EXAMPLES: &str = "\
Examples:
  cleo init                                   create a workspace in this folder
  cleo add 'Research token refresh' --label research
  cleo spawn T1 --format text                 print the prompt for an agent
  cleo verify output T1                       verify the work of the agent
  cleo complete T1                            mark the task done, if its work verifies
  cleo demo                                   see an example run

More: cleo help COMMAND, cleo help exit-codes, cleo explain CODE";

/// Global options without a value.
const FLAGS: [&str; 3] = ["--json", "--quiet", "-q"];

/// A valid command line.
pub(super) struct Cli {
    pub(super) globals: Globals,
    pub(super) command: Command,
}

pub(super) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    if let Some(branch) = branch(arguments) {
        match read(branch, arguments) {
            // Only the whole tree has all suggestions for an invalid line.
            Err(fault) if fault.kind() != ErrorKind::DisplayVersion => {}
            read => return read,
        }
    }
    read(whole(), arguments)
}

fn read(tree: clap::Command, arguments: &[OsString]) -> Result<Cli, clap::Error> {
    // The process ends soon, so dropping the tree would only cost time.
    let mut tree = ManuallyDrop::new(tree);
    let mut matches = tree.try_get_matches_from_mut(arguments)?;
    Ok(Cli {
        globals: Globals::from_arg_matches_mut(&mut matches)?,
        command: Command::from_arg_matches_mut(&mut matches)?,
    })
}

pub(crate) fn whole() -> clap::Command {
    commands(Root::command())
        .subcommand_required(true)
        .arg_required_else_help(true)
}

/// Returns the branch of the tree for a command line, if its first word decides it: one that is not the value of an option.
pub(super) fn branch(arguments: &[OsString]) -> Option<clap::Command> {
    let is_flag =
        |word: &&str| FLAGS.contains(word) || word.starts_with("--") && word.contains('=');
    let mut words = arguments.iter().skip(1).map_while(|word| word.to_str());
    let first = words.find(|word| !is_flag(word))?;
    if matches!(first, "--version" | "-V") {
        return Some(Root::command());
    }
    let all = commands(clap::Command::new("cleo"));
    let named = all.find_subcommand(first)?.clone();
    Some(Root::command().subcommand(named).subcommand_required(true))
}

fn commands(root: clap::Command) -> clap::Command {
    Command::augment_subcommands(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_one_that_clap_can_build() {
        whole().debug_assert();
    }

    #[test]
    fn command_list_and_help_describe_command_alike() {
        let about = |command: &clap::Command| command.get_about().map(ToString::to_string);
        let mut built = whole();
        built.build();
        for listed in whole().get_subcommands() {
            let name = listed.get_name();
            let helped = built.find_subcommand(name).and_then(about);
            assert!(helped.is_some(), "{name}");
            assert_eq!(about(listed), helped, "{name}");
        }
    }

    #[test]
    fn branch_has_the_first_command_of_a_line() {
        let branch_of = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let names = |tree: clap::Command| -> Vec<String> {
                tree.get_subcommands()
                    .map(|one| one.get_name().to_string())
                    .collect()
            };
            branch(&words).map(names)
        };
        for (line, expected) in [
            ("cleo show T1", Some(vec!["show"])),
            ("cleo --json --format=json show T1", Some(vec!["show"])),
            ("cleo --version", Some(vec![])),
            ("cleo -q -V", Some(vec![])),
            ("cleo --root add show T1", None),
            ("cleo shwo T1", None),
            ("cleo", None),
        ] {
            let expected = expected.map(|names| names.iter().map(ToString::to_string).collect());
            assert_eq!(branch_of(line), expected, "{line}");
        }
    }
}
