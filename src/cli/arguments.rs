//! Options that every command takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::quote;

/// Heading of the options that every command takes.
pub(super) const GLOBAL_OPTIONS: &str = "Global options";

/// Options that every command takes.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Globals {
    /// Workspace to use, instead of the one that this folder is in (or CLEO_ROOT)
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = GLOBAL_OPTIONS
    )]
    pub(super) root: Option<PathBuf>,

    /// Answer with one JSON document
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS)]
    pub(super) json: bool,

    /// Form of the answer (or CLEO_FORMAT); text on a terminal and json in a pipe unless told
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        help_heading = GLOBAL_OPTIONS
    )]
    pub(super) format: Option<Format>,

    /// Answer with these fields of the result, or of each item of a list: id,title or task.title
    #[arg(
        long,
        global = true,
        value_name = "FIELDS",
        value_delimiter = ',',
        help_heading = GLOBAL_OPTIONS
    )]
    pub(super) fields: Vec<String>,

    /// Answer with what a jq filter makes of the JSON document, a value a line; text without quotes
    ///
    /// An error goes out whole, and so does a verdict that failed, but for that of `cleo doctor`,
    /// which is filtered too. A filter may use 10 seconds of the processor for each document, and
    /// 1 GB of memory.
    #[arg(
        long,
        global = true,
        value_name = "FILTER",
        help_heading = GLOBAL_OPTIONS
    )]
    pub(super) jq: Option<String>,

    /// When to use color
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        help_heading = GLOBAL_OPTIONS
    )]
    pub(super) color: Option<Color>,

    /// No warnings or hints on standard error
    #[arg(long, short, global = true, help_heading = GLOBAL_OPTIONS)]
    pub(super) quiet: bool,

    /// Folder of skills to look in before all others
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = GLOBAL_OPTIONS
    )]
    pub(super) skills_dir: Vec<PathBuf>,
}

impl Globals {
    /// Names the workspace and the folders of skills that were asked for in each command of a line that would
    /// look for them.
    pub(super) fn in_root(&self, line: &str) -> String {
        let root = named("--root", self.root.as_slice());
        let folders = named("--skills-dir", &self.skills_dir);
        let told = |command: &str| match command.strip_prefix("cleo ") {
            Some(rest) if !rest.trim_end().ends_with("--help") => {
                let own = rest.strip_prefix(root.as_str()).unwrap_or(rest);
                let root = Some(&*root).filter(|_| !own.contains("--root"));
                let folders = Some(&*folders).filter(|_| !own.contains("--skills-dir"));
                let (root, folders) = (root.unwrap_or_default(), folders.unwrap_or_default());
                format!("cleo {root}{folders}{own}")
            }
            _ => command.to_string(),
        };
        commands(line).into_iter().map(told).collect()
    }
}

fn named(option: &str, values: &[PathBuf]) -> String {
    let value = |value: &PathBuf| format!("{option} {} ", quote(&value.to_string_lossy()));
    values.iter().map(value).collect()
}

fn commands(line: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    // The mark that ends a text in quotes, and whether a backslash counts in it.
    let (mut inside, mut is_escaped, mut before) = (None, false, ' ');
    for (at, c) in line.char_indices() {
        match inside {
            _ if is_escaped => is_escaped = false,
            None | Some((_, true)) if c == '\\' => is_escaped = true,
            Some((mark, _)) if c == mark => inside = None,
            Some(_) => {}
            None if matches!(c, '\'' | '"') => inside = Some((c, c == '"' || before == '$')),
            None if line[at..].starts_with("& ") || line[at..].starts_with("| ") => {
                parts.push(&line[start..at + 2]);
                start = at + 2;
            }
            None => {}
        }
        before = c;
    }
    parts.push(&line[start..]);
    parts
}

// The claim under which something is done. A doc comment would become the help of every command.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct EpochOption {
    /// Epoch of the claim under which this is done (or CLEO_EPOCH); refused when that is lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) epoch: Option<u32>,
}

/// Form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for people
    Text,
    /// One JSON document
    Json,
    /// JSON, one document a line
    Ndjson,
}

/// When to use color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_of_a_line_goes_to_the_workspace_that_was_named() {
        let globals = Globals {
            root: Some("in it".into()),
            ..Globals::default()
        };
        for (line, expected) in [
            ("cleo list", "cleo --root 'in it' list"),
            ("cleo list --help", "cleo list --help"),
            (
                "mkdir -p 'a b' && cleo export 'a b/x.jsonl'",
                "mkdir -p 'a b' && cleo --root 'in it' export 'a b/x.jsonl'",
            ),
            (
                "cleo export | cleo import - && cleo --root x init",
                "cleo --root 'in it' export | cleo --root 'in it' import - && cleo --root x init",
            ),
            (
                r"rm $'\'$ && cleo ' '| cleo ' && echo it\'s && cleo list",
                r"rm $'\'$ && cleo ' '| cleo ' && echo it\'s && cleo --root 'in it' list",
            ),
            (
                r"cleo update T1 --remove-depends 'it'\''s && cleo x'",
                r"cleo --root 'in it' update T1 --remove-depends 'it'\''s && cleo x'",
            ),
        ] {
            assert_eq!(globals.in_root(line), expected);
        }
        assert_eq!(Globals::default().in_root("cleo list"), "cleo list");
    }

    #[test]
    fn each_command_of_a_line_looks_into_the_folders_of_skills_that_were_named() {
        let mut globals = Globals {
            skills_dir: vec!["x y".into(), "z".into()],
            ..Globals::default()
        };
        let folders = "--skills-dir 'x y' --skills-dir z";
        let line = "cleo skills show sdk && cleo spawn T1 --skills-dir z";
        let expected = format!("cleo {folders} skills show sdk && cleo spawn T1 --skills-dir z");
        assert_eq!(globals.in_root(line), expected);
        globals.root = Some("in it".into());
        for (line, expected) in [
            ("cleo list", format!("cleo --root 'in it' {folders} list")),
            (
                "cleo --root 'in it' skills export x",
                format!("cleo --root 'in it' {folders} skills export x"),
            ),
            (
                "cleo --root x init",
                format!("cleo {folders} --root x init"),
            ),
            ("cleo spawn --help", "cleo spawn --help".to_string()),
        ] {
            assert_eq!(globals.in_root(line), expected);
        }
    }
}
