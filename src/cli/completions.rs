//! `cleo completions`, and the completions that its scripts request.

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};
use clap_complete::env::Shells;

use super::arguments::Globals;
use super::output::Output;
use super::screen::clean;
use super::{Face, environment, tree};
use crate::config::Settings;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::suggest::{Kind, suggest};

/// The variable in which a script names its shell.
const ASKING: &str = "CLEO_COMPLETE";
/// Maximum length of a title next to an id, in characters.
const TITLE_MAX: usize = 60;

#[derive(Args)]
#[command(after_help = "\
Set it up once:
  bash        echo 'source <(cleo completions bash)' >> ~/.bashrc
  zsh         echo 'source <(cleo completions zsh)' >> ~/.zshrc      (after compinit)
  fish        echo 'cleo completions fish | source' >> ~/.config/fish/config.fish
  powershell  cleo completions powershell | Out-String | Invoke-Expression
  elvish      eval (cleo completions elvish | slurp)

The script calls cleo for completions, so it needs no update when cleo gets new commands.")]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Elvish,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut script = Vec::new();
    let name = arguments.shell.to_possible_value();
    let name = name.as_ref().map_or("", |value| value.get_name());
    let written = Shells::builtins()
        .completer(name)
        .map(|shell| shell.write_registration(ASKING, "cleo", "cleo", "cleo", &mut script));
    match written {
        Some(Ok(())) => Ok(face.output.print(&String::from_utf8_lossy(&script))),
        _ => Err(Error::new(Code::Internal, "the script cannot be written")),
    }
}

/// Returns the completions of the last word if a completion script calls. On any failure a script
/// gets no words, because an error message would garble the line.
pub(super) fn answer(arguments: &[OsString]) -> Option<ExitCode> {
    let shell = environment::variable(ASKING)?;
    let start = arguments.iter().position(|word| word == "--")? + 1;
    let words = arguments.get(start..)?.to_vec();
    let shells = Shells::builtins();
    let shell = shells.completer(shell.to_str()?)?;
    let mut command = tree::whole();
    // Only then every command has its arguments.
    command.build();
    let mut command = with_words(command, &Arc::new(read_root(&words)));
    let folder = std::env::current_dir().ok();
    let found = if shell.name() == "bash" {
        bash(&mut command, words, folder.as_deref())
    } else {
        let mut found = Vec::new();
        let written = shell.write_complete(&mut command, words, folder.as_deref(), &mut found);
        written.map_or(String::new(), |()| {
            String::from_utf8_lossy(&found).into_owned()
        })
    };
    Some(Output::new(&Globals::default(), &Settings::default()).print(&found))
}

/// Answers bash, which cuts `--label=x` into three words and wants only the last one completed.
fn bash(command: &mut clap::Command, words: Vec<OsString>, folder: Option<&Path>) -> String {
    let variable = |name| environment::variable(name)?.into_string().ok();
    let mut at: usize = variable("_CLAP_COMPLETE_INDEX")
        .and_then(|at| at.parse().ok())
        .unwrap_or_default();
    let mut whole: Vec<OsString> = Vec::new();
    for (place, word) in words.into_iter().enumerate() {
        let is_after_option = whole
            .last()
            .is_some_and(|last| last.to_string_lossy().starts_with("--"));
        if word != "=" || !is_after_option {
            whole.push(word);
        } else if place < at {
            at -= 1;
        }
    }
    let found = complete(command, whole, at, folder).unwrap_or_default();
    let found = found
        .iter()
        .map(|found| found.get_value().to_string_lossy());
    let between = variable("_CLAP_IFS").unwrap_or("\n".to_string());
    found.collect::<Vec<_>>().join(&between)
}

fn read_root(words: &[OsString]) -> Globals {
    let mut root = None;
    for (at, word) in words.iter().enumerate() {
        let text = word.to_string_lossy();
        if text == "--root" {
            root = words.get(at + 1).map(PathBuf::from);
        } else if let Some(folder) = text.strip_prefix("--root=") {
            root = Some(PathBuf::from(folder));
        }
    }
    Globals {
        root,
        ..Globals::default()
    }
}

/// Completes task ids and labels from the workspace. The type and name of an argument decide which,
/// so new commands need nothing here.
fn with_words(command: clap::Command, globals: &Arc<Globals>) -> clap::Command {
    let takes_archived = command.get_name() == "unarchive";
    let command = command.mut_args(|argument| {
        let is_task = argument.get_value_parser().type_id() == TypeId::of::<TaskId>();
        let kind = match argument.get_id().as_str() {
            _ if is_task && !takes_archived => Kind::Task,
            // They also accept `none`, a key of a batch, or an unknown task.
            "parent" | "depends" | "remove_depends" => Kind::Task,
            "label" | "labels" | "remove_labels" => Kind::Label,
            _ => return argument,
        };
        let globals = Arc::clone(globals);
        let words = move |start: &OsStr| candidates(&globals, kind, start);
        argument.add(ArgValueCompleter::new(words))
    });
    command.mut_subcommands(|below| with_words(below, globals))
}

fn candidates(globals: &Globals, kind: Kind, start: &OsStr) -> Vec<CompletionCandidate> {
    let start = start.to_string_lossy();
    let settings = environment::settings(globals).unwrap_or_default();
    let read = Arc::new(Ok(settings.clone()));
    let surroundings = environment::surroundings(globals, &settings, read, "completions");
    let found = surroundings.and_then(|around| suggest(around, kind, &start));
    let candidate = |(place, (word, title)): (usize, (String, String))| {
        let title: String = clean(&title).chars().take(TITLE_MAX).collect();
        let candidate = CompletionCandidate::new(word).display_order(Some(place));
        candidate.help((!title.is_empty()).then(|| title.into()))
    };
    let found = found.unwrap_or_default().into_iter().enumerate();
    found.map(candidate).collect()
}
