//! Options that every command takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::quote;

/// Heading of the options that every command takes.
pub(crate) const GLOBAL_OPTIONS: &str = "Global options";

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

    /// Form of the answer (or CLEO_FORMAT); text on a terminal and json in a pipe by default
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        help_heading = GLOBAL_OPTIONS
    )]
    pub(super) format: Option<Format>,

    /// Answer with these fields of the result, or of its items or its object: id,title or task.title
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
    /// 1 GB of memory. One that fails on an answer ends with E_ANSWER_LOST (3): the command was
    /// carried out.
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
    /// Names the workspace and the folders of skills that were asked for in a command that would look for them.
    pub(super) fn in_root(&self, command: &str) -> String {
        match command.strip_prefix("cleo ") {
            Some(rest) if !rest.ends_with("--help") && !rest.contains("--root") => {
                let root = write_option("--root", self.root.as_slice());
                let folders = match rest.contains("--skills-dir") {
                    true => String::new(),
                    false => write_option("--skills-dir", &self.skills_dir),
                };
                format!("cleo {root}{folders}{rest}")
            }
            _ => command.to_string(),
        }
    }
}

fn write_option(option: &str, values: &[PathBuf]) -> String {
    let value = |value: &PathBuf| format!("{option} {} ", quote(&value.to_string_lossy()));
    values.iter().map(value).collect()
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
    fn a_fix_names_the_workspace_and_the_folders_of_skills() {
        let mut globals = Globals::default();
        assert_eq!(globals.in_root("cleo list"), "cleo list");
        globals.root = Some("in it".into());
        globals.skills_dir = vec!["x y".into(), "z".into()];
        let folders = "--skills-dir 'x y' --skills-dir z";
        for (command, expected) in [
            ("cleo list", format!("cleo --root 'in it' {folders} list")),
            (
                "cleo spawn T1 --skills-dir z",
                "cleo --root 'in it' spawn T1 --skills-dir z".to_string(),
            ),
            ("cleo --root x init", "cleo --root x init".to_string()),
            ("cleo spawn --help", "cleo spawn --help".to_string()),
            ("sed -n 1p x", "sed -n 1p x".to_string()),
        ] {
            assert_eq!(globals.in_root(command), expected);
        }
    }
}
