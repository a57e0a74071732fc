//! Options that every command takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::quote;

/// Heading of the options that every command takes.
pub(crate) const GLOBAL_OPTIONS: &str = "Global options";

/// Options that every command takes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = GLOBAL_OPTIONS)]
pub(super) struct Globals {
    /// Workspace folder (or CLEO_ROOT); by default the nearest folder above with .cleo
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) root: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long, global = true)]
    pub(super) json: bool,

    /// Output format (or CLEO_FORMAT); by default text on a terminal and json in a pipe
    #[arg(long, global = true, value_name = "FORMAT")]
    pub(super) format: Option<Format>,

    /// Print only these fields of the result or its items, such as id,title or task.title
    #[arg(long, global = true, value_name = "FIELDS", value_delimiter = ',')]
    pub(super) fields: Vec<String>,

    /// Filter the JSON document with a jq expression; one value a line, strings without quotes
    ///
    /// Errors and failed verdicts are printed unfiltered, except those of `cleo doctor`. A filter
    /// may use 10 seconds of CPU time per document and 1 GB of memory. If the filter fails, the
    /// command has been carried out, and the exit code is 3 (E_ANSWER_LOST).
    #[arg(long, global = true, value_name = "FILTER")]
    pub(super) jq: Option<String>,

    /// When to use color
    #[arg(long, global = true, value_name = "WHEN")]
    pub(super) color: Option<Color>,

    /// Act as this agent of the caller: its claims are its own, and the caller may end them
    #[arg(id = "as", long = "as", global = true, value_name = "NAME")]
    pub(super) agent: Option<String>,

    /// Print no warnings or hints on standard error
    #[arg(long, short, global = true)]
    pub(super) quiet: bool,

    /// Search this folder first for skills
    #[arg(long, global = true, value_name = "DIR")]
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
    /// Human-readable text
    Text,
    /// One JSON document
    Json,
    /// JSON, one document per line
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
    fn fix_names_workspace_and_skill_folders() {
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
