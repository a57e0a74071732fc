//! `cleo help`, `cleo explain`, `cleo man` and `cleo schema`. The files in docs/schemas/ are made from the types of
//! replies by a test (`cli::tests`), which also keeps them true, and are carried by the program.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap_mangen::Man;
use serde::Serialize;

use super::screen::{Screen, Tone, accent, plain, strong};
use super::{Face, tree};
use crate::error::{Code, Error, Result, nearest};
use crate::{embedded, file};

/// The topic of `cleo help` that is not a command.
const CODES: &str = "exit-codes";

#[derive(Args)]
#[command(
    after_help = "Examples:\n  cleo explain E_PROTOCOL_MISSING\n  cleo explain protocol_missing\n  cleo explain 60"
)]
pub(super) struct ExplainArguments {
    /// Error code, with or without E_, or exit code [default: all]
    code: Option<String>,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo help add\n  cleo help exit-codes")]
pub(super) struct HelpArguments {
    /// Command, or `exit-codes`
    topic: Vec<String>,
}

#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explained {
    code: &'static str,
    exit_code: u8,
    meaning: &'static str,
    advice: &'static str,
}

#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Table {
    codes: Vec<Explained>,
    total: usize,
}

fn describe(code: Code) -> Explained {
    Explained {
        code: code.name(),
        exit_code: code.exit_code(),
        meaning: code.meaning(),
        advice: code.advice(),
    }
}

pub(super) fn explain(face: &mut Face<'_>, arguments: ExplainArguments) -> Result<ExitCode> {
    let Some(name) = arguments.code else {
        return table(face, Code::ALL);
    };
    let codes = Code::ALL.iter().copied();
    let exiting: Vec<Code> = codes
        .filter(|code| name.parse() == Ok(code.exit_code()))
        .collect();
    if !exiting.is_empty() {
        return table(face, &exiting);
    }
    let Some(code) = Code::find(&name) else {
        return Err(refuse_unknown_code(&name));
    };
    let result = describe(code);
    face.reply(&result, &[], |screen| {
        screen
            .say(Tone::Strong, result.code)
            .line(Tone::Dim, format!("  exit {}", result.exit_code));
        screen
            .line(Tone::Plain, result.meaning)
            .line(Tone::Plain, result.advice);
    })
}

fn refuse_unknown_code(name: &str) -> Error {
    let error = error!(CodeNotFound, "there is no error code `{name}`");
    // All names begin with E_, which must not count as similarity.
    let bare = |name: &'static str| name.trim_start_matches("E_");
    let wanted = name
        .strip_prefix("E_")
        .or(name.strip_prefix("e_"))
        .unwrap_or(name);
    match nearest(wanted, Code::ALL.iter().map(|code| bare(code.name()))) {
        Some(code) => error.fix("cleo help exit-codes").or(
            format!("explain E_{code}"),
            format!("cleo explain E_{code}"),
        ),
        None => error.fix("cleo help exit-codes"),
    }
}

pub(super) fn help(face: &mut Face<'_>, arguments: HelpArguments) -> Result<ExitCode> {
    match arguments.topic.as_slice() {
        [topic] if topic == CODES => return table(face, Code::ALL),
        [topic, word, ..] if topic == CODES => {
            let message = format!("unexpected argument `{word}` after `{CODES}`");
            return Err(Error::new(Code::Usage, message).fix(format!("cleo help {CODES}")));
        }
        _ => {}
    }
    let mut root = tree::whole();
    root.build();
    let mut command = find(root, &arguments.topic, &[CODES])?;
    let help = command.render_long_help().to_string();
    Ok(face.output.help_page(&help))
}

/// Finds a subcommand by its words. A suggestion for an unknown first word may also be one of
/// `topics`.
pub(super) fn find(
    mut command: clap::Command,
    words: &[String],
    mut topics: &[&str],
) -> Result<clap::Command> {
    for word in words {
        let Some(found) = command.find_subcommand(word) else {
            return Err(no_command(&command, word, topics));
        };
        command = found.clone();
        topics = &[];
    }
    Ok(command)
}

fn no_command(above: &clap::Command, word: &str, topics: &[&str]) -> Error {
    let error = error!(Usage, "there is no command `{word}`");
    let names = above.get_subcommands().map(clap::Command::get_name);
    match nearest(word, names.chain(topics.iter().copied())) {
        Some(name) => error
            .did_you_mean(name)
            .or("see all commands", "cleo --help"),
        None => error.or("see all commands", "cleo --help"),
    }
}

fn table(face: &mut Face<'_>, codes: &[Code]) -> Result<ExitCode> {
    let mut codes: Vec<Explained> = codes.iter().map(|code| describe(*code)).collect();
    codes.sort_by_key(|code| code.exit_code);
    let result = Table {
        total: codes.len(),
        codes,
    };
    face.reply(&result, &[], |screen| show(screen, &result))
}

fn show(screen: &mut Screen, table: &Table) {
    let is_whole = table.total == Code::ALL.len();
    let success = is_whole.then(|| [strong(0), accent(""), plain("Success.")]);
    let rows = table.codes.iter();
    let rows = rows.map(|it| [strong(it.exit_code), accent(it.code), plain(it.meaning)]);
    screen.rows(
        &["EXIT", "CODE", "MEANING"],
        success.into_iter().chain(rows),
    );
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo man add | man -l -
  cleo man --output ~/.local/share/man/man1")]
pub(super) struct ManArguments {
    /// Command [default: cleo itself]
    command: Vec<String>,

    /// Write the pages of all commands to this folder
    #[arg(long, short, value_name = "DIR", conflicts_with = "command")]
    output: Option<PathBuf>,
}

/// The pages that were written.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Written {
    pages: Vec<String>,
    total: usize,
}

pub(super) fn man(face: &mut Face<'_>, arguments: ManArguments) -> Result<ExitCode> {
    let mut root = tree::whole();
    root.build();
    let Some(folder) = arguments.output else {
        let command = find(root, &arguments.command, &[])?;
        return Ok(face.output.print(&write_page(&command)?));
    };
    let folder = face.surroundings()?.directory.join(folder);
    let mut pages = Vec::new();
    for (name, text) in list_pages(&root)? {
        let path = folder.join(format!("{name}.1"));
        file::write_whole(&path, &text)?;
        pages.push(path.to_string_lossy().into_owned());
    }
    let written = Written {
        total: pages.len(),
        pages,
    };
    face.reply(&written, &[], |screen| {
        for page in &written.pages {
            screen.line(Tone::Plain, page);
        }
    })
}

fn list_pages(command: &clap::Command) -> Result<Vec<(String, String)>> {
    let mut pages = vec![(name_page(command), write_page(command)?)];
    for below in command.get_subcommands() {
        pages.extend(list_pages(below)?);
    }
    Ok(pages)
}

fn name_page(command: &clap::Command) -> String {
    let name = command.get_display_name().unwrap_or(command.get_name());
    name.replace(' ', "-")
}

fn write_page(command: &clap::Command) -> Result<String> {
    let mut page = Vec::new();
    // Commands below the first have no version of their own.
    let source = concat!("cleo ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone())
        .title(name_page(command).to_uppercase())
        .source(source);
    man.render(&mut page)
        .map_err(|cause| Error::new(Code::Internal, "the page cannot be written").because(cause))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo schema list
  cleo schema orchestrator ready
  cleo schema --list --jq '.result.schemas[]'")]
pub(super) struct SchemaArguments {
    /// Command, such as orchestrator.ready or orchestrator ready
    #[arg(required_unless_present = "list")]
    name: Vec<String>,

    /// List the commands that have a schema
    #[arg(long, conflicts_with = "name")]
    list: bool,
}

/// The schemas that there are.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Listed {
    /// Names of commands, as replies spell them.
    schemas: Vec<String>,
    total: usize,
}

pub(super) fn schema(face: &mut Face<'_>, arguments: SchemaArguments) -> Result<ExitCode> {
    if arguments.list {
        let schemas = list_schemas();
        let listed = Listed {
            total: schemas.len(),
            schemas,
        };
        return face.reply(&listed, &[], |screen| {
            for name in &listed.schemas {
                screen.line(Tone::Plain, name);
            }
        });
    }
    let name = arguments.name.join(".");
    let whole = tree::whole();
    let named = whole.find_subcommand(&name).map(clap::Command::get_name);
    let text = embedded::schema(named.unwrap_or(&name)).ok_or_else(|| {
        let error = Error::new(Code::Usage, format!("there is no schema `{name}`"));
        match nearest(&name, list_schemas().iter().map(String::as_str)) {
            Some(near) => error.fix(format!("cleo schema {near}")),
            None => error.fix("cleo schema --list"),
        }
    })?;
    Ok(face.output.print_document(&text))
}

fn list_schemas() -> Vec<String> {
    let mut names: Vec<String> = embedded::schemas().map(str::to_string).collect();
    names.sort_unstable();
    names
}
