//! `cleo completions`, and what the scripts that it prints ask for while somebody types.

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, Args, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};
use clap_complete::env::Shells;

use super::arguments::Globals;
use super::explain::CODES;
use super::output::Output;
use super::screen::clean;
use super::update::NewStatus;
use super::{Face, environment, tree};
use crate::config::{KEYS, Settings};
use crate::error::{Code, Error, Result};
use crate::gate::Gate;
use crate::id::TaskId;
use crate::ops::suggest::{Kind, suggest};
use crate::runner::agent::choice::NAMES;
use crate::session::SessionId;
use crate::task::{Priority, Size, Status};

/// The variable by which a script says which shell is asking.
const ASKING: &str = "CLEO_COMPLETE";
/// Longest meaning that is shown beside a word, in characters.
const MEANING_MAX: usize = 60;

#[derive(Args)]
#[command(after_help = "\
Set it up once:
  bash        echo 'source <(cleo completions bash)' >> ~/.bashrc
  zsh         echo 'source <(cleo completions zsh)' >> ~/.zshrc      (after compinit)
  fish        echo 'cleo completions fish | source' >> ~/.config/fish/config.fish
  powershell  cleo completions powershell | Out-String | Invoke-Expression
  elvish      eval (cleo completions elvish | slurp)

The script asks cleo itself, so it needs no update when cleo gets new commands.")]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

/// A shell.
#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Elvish,
}

impl Shell {
    fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
            Shell::Powershell => "powershell",
            Shell::Elvish => "elvish",
        }
    }
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let written = shells
        .completer(arguments.shell.name())
        .map(|shell| shell.write_registration(ASKING, "cleo", "cleo", "cleo", &mut script));
    match written {
        Some(Ok(())) => Ok(face.output.print(&String::from_utf8_lossy(&script))),
        _ => Err(Error::new(Code::Internal, "the script cannot be made")),
    }
}

/// Returns the line that a script asks about, if one asks; else the command line itself.
pub(super) fn line(arguments: &[OsString]) -> &[OsString] {
    asked(arguments).unwrap_or(arguments)
}

fn asked(arguments: &[OsString]) -> Option<&[OsString]> {
    environment::variable(ASKING)?;
    let start = arguments.iter().position(|word| word == "--")? + 1;
    arguments.get(start..)
}

/// Answers a script, if it is one that asks: the words that the last word of the line may become.
/// Whatever goes wrong, a script gets no words rather than an error, which would garble the line.
/// `schemas` names the schemas, which not every program carries.
pub(super) fn answer(arguments: &[OsString], schemas: fn() -> Vec<String>) -> Option<ExitCode> {
    let shell = environment::variable(ASKING)?;
    let words = asked(arguments)?.to_vec();
    let shells = Shells::builtins();
    let shell = shells.completer(shell.to_str()?)?;
    let mut command = tree::whole();
    // Only then every command has its arguments.
    command.build();
    let command = with_words(command, &Arc::new(named_root(&words)));
    let topics = topics(&command, &words);
    let command = with_known(command, "help", move || topics.clone());
    let mut command = with_known(command, "schema", schemas);
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

/// Finds the workspace that a half-typed line names.
fn named_root(words: &[OsString]) -> Globals {
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

/// Tells each argument of a command, and of those below it, where its words come from. What an
/// argument stands for is read off its type and its name, so new commands need nothing here.
fn with_words(command: clap::Command, globals: &Arc<Globals>) -> clap::Command {
    let is_back = command.get_name() == "unarchive";
    let command = command.mut_args(|argument| match kind(&argument) {
        Some(Kind::Task) if is_back => asking(argument, globals, Kind::Archived),
        Some(kind) => asking(argument, globals, kind),
        None => match fixed(&argument) {
            Some(known) => {
                let words = move |start: &OsStr| beginning(&known, start);
                argument.add(ArgValueCompleter::new(words))
            }
            None => argument,
        },
    });
    command.mut_subcommands(|below| with_words(below, globals))
}

/// Has the words of an argument looked up in the workspace.
fn asking(argument: Arg, globals: &Arc<Globals>, kind: Kind) -> Arg {
    let globals = Arc::clone(globals);
    let words = move |start: &OsStr| candidates(&globals, kind, start);
    argument.add(ArgValueCompleter::new(words))
}

/// Tells a command where the words come from that it is called with.
fn with_known(
    command: clap::Command,
    name: &str,
    known: impl Fn() -> Vec<String> + Clone + Send + Sync + 'static,
) -> clap::Command {
    let words = move |start: &OsStr| beginning(&known(), start);
    let of_command = |argument: Arg| match argument.is_positional() {
        true => argument.add(ArgValueCompleter::new(words.clone())),
        false => argument,
    };
    command.mut_subcommands(|below| match below.get_name() == name {
        true => below.mut_args(&of_command),
        false => below,
    })
}

/// Names what `cleo help` tells of next: the commands below those that are named already, and at first a topic.
fn topics(command: &clap::Command, words: &[OsString]) -> Vec<String> {
    let asked = words.iter().skip_while(|word| *word != "help").skip(1);
    let mut named: Vec<&str> = asked.filter_map(|word| word.to_str()).collect();
    named.pop();
    named.retain(|word| !word.starts_with('-'));
    let mut path = named.iter();
    let above = path.try_fold(command, |above, word| above.find_subcommand(word));
    let below = above.into_iter().flat_map(clap::Command::get_subcommands);
    let visible = below.filter(|one| !one.is_hide_set());
    let topic = named.is_empty().then_some(CODES);
    let names = visible.map(clap::Command::get_name).chain(topic);
    names.map(str::to_string).collect()
}

fn kind(argument: &Arg) -> Option<Kind> {
    let is = |wanted: TypeId| argument.get_value_parser().type_id() == wanted;
    if is(TypeId::of::<TaskId>()) {
        return Some(Kind::Task);
    }
    if is(TypeId::of::<SessionId>()) {
        return Some(Kind::Session);
    }
    match argument.get_id().as_str() {
        // They take more than a task: `none`, a key of a batch, a task that is not there.
        "parent" | "depends" | "remove_depends" => Some(Kind::Task),
        "label" | "labels" | "remove_labels" => Some(Kind::Label),
        "phase" => Some(Kind::Phase),
        "skill" | "template" => Some(Kind::Skill),
        "run" => Some(Kind::Run),
        "conversation" => Some(Kind::Conversation),
        "assigned_agent" | "requested_agent" => Some(Kind::Agent),
        "agent" if argument.is_positional() => Some(Kind::Agent),
        "id" if argument.is_positional() => Some(Kind::Entry),
        _ => None,
    }
}

/// Returns the words that an argument can be, where they are always the same and clap does not
/// know them.
fn fixed(argument: &Arg) -> Option<Vec<&'static str>> {
    let is = |wanted: TypeId| argument.get_value_parser().type_id() == wanted;
    if is(TypeId::of::<Status>()) {
        return Some(Status::ALL.iter().map(|word| word.word()).collect());
    }
    if is(TypeId::of::<NewStatus>()) {
        return Some(NewStatus::words());
    }
    if is(TypeId::of::<Priority>()) {
        return Some(Priority::ALL.iter().map(|word| word.word()).collect());
    }
    if is(TypeId::of::<Size>()) {
        return Some(Size::ALL.iter().map(|word| word.word()).collect());
    }
    match argument.get_id().as_str() {
        "key" if argument.is_positional() => Some(KEYS.iter().map(|key| key.name).collect()),
        "code" if argument.is_positional() => {
            Some(Code::ALL.iter().map(|code| code.name()).collect())
        }
        "runner" => Some(NAMES.to_vec()),
        "gate" | "require_gates" => Some(Gate::ALL.iter().map(|gate| gate.name()).collect()),
        _ => None,
    }
}

fn beginning<W: AsRef<str>>(known: &[W], start: &OsStr) -> Vec<CompletionCandidate> {
    let start = start.to_string_lossy();
    let known = known.iter().map(AsRef::<str>::as_ref);
    let fitting = known.filter(|word| word.starts_with(&*start));
    fitting.map(CompletionCandidate::new).collect()
}

fn candidates(globals: &Globals, kind: Kind, start: &OsStr) -> Vec<CompletionCandidate> {
    let start = start.to_string_lossy();
    let settings = environment::settings(globals).unwrap_or_default();
    let surroundings = environment::surroundings(globals, &settings, "completions");
    let found = surroundings.and_then(|around| suggest(around, kind, &start));
    let found = found.unwrap_or_default().into_iter();
    let candidate = |(place, found): (usize, crate::ops::suggest::Suggestion)| {
        let meaning: String = clean(&found.meaning).chars().take(MEANING_MAX).collect();
        let help = (!meaning.is_empty()).then(|| meaning.into());
        let candidate = CompletionCandidate::new(found.word).help(help);
        candidate.display_order(Some(place))
    };
    found.enumerate().map(candidate).collect()
}
