//! Options that every command takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
    #[arg(
        long,
        global = true,
        value_name = "FILTER",
        help_heading = GLOBAL_OPTIONS
    )]
    pub(super) jq: Option<String>,

    /// When to use colour
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

/// When to use colour.
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
