//! Options that take something away, as people guess their names: `--rm-label`, `--no-depends`.

use clap::{Arg, Command};

use crate::error::nearest;

/// What the names of such options begin with.
const STARTS: [&str; 7] = ["remove-", "delete-", "del-", "rm-", "no-", "un-", "un"];

/// Returns what a name says is taken away; none when the name that is near it begins in the same way.
pub(super) fn named<'a>(name: &'a str, near: &str) -> Option<&'a str> {
    let mut starts = STARTS.iter().filter(|start| !near.starts_with(**start));
    starts.find_map(|start| name.strip_prefix(start))
}

/// Finds the option of a command that takes such a thing away.
pub(super) fn option(command: &Command, thing: &str) -> Option<String> {
    let longs = command.get_arguments().filter_map(Arg::get_long);
    let known = longs.filter_map(|long| Some((long.strip_prefix(STARTS[0])?, long)));
    let known: Vec<(&str, &str)> = known.collect();
    let near = nearest(thing, known.iter().map(|(thing, _)| *thing))?;
    let (_, long) = known.iter().find(|(thing, _)| *thing == near)?;
    Some(format!("--{long}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_away_is_never_taken_for_what_gives() {
        for (name, near, thing) in [
            ("rm-label", "label", Some("label")),
            ("unlabel", "label", Some("label")),
            ("no-depends", "", Some("depends")),
            ("untill", "until", None),
            ("remove-lable", "remove-label", None),
            ("no-archiv", "no-archive", None),
            ("lable", "label", None),
        ] {
            assert_eq!(named(name, near), thing, "{name}");
        }
        let long = |name: &'static str| Arg::new(name).long(name);
        let command = Command::new("x").args(["label", "remove-label", "remove-file"].map(long));
        for (thing, expected) in [
            ("labels", Some("--remove-label")),
            ("files", Some("--remove-file")),
            ("note", None),
        ] {
            assert_eq!(option(&command, thing).as_deref(), expected, "{thing}");
        }
    }
}
