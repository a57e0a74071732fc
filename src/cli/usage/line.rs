//! A command line read as clap reads it, word by word, for the lines that clap does not take.

use std::ffi::{OsStr, OsString};

use clap::Arg;

use crate::cli::tree;
use crate::error::quote;

/// What a word is on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Names a command.
    Command,
    /// Begins with a dash: an option, perhaps with its value, or one that nobody knows.
    Option,
    /// The value of the option before it.
    Value,
    /// Stands for itself.
    Argument,
}

/// A word of the command line.
pub(super) struct Word<'a> {
    raw: &'a OsStr,
    /// What it is.
    pub(super) role: Role,
    /// The argument that it gives, where there is one.
    pub(super) argument: Option<Arg>,
    /// Where the value begins in it, when it holds one.
    start: Option<usize>,
}

impl Word<'_> {
    /// Returns the whole word, unless it is no text.
    pub(super) fn text(&self) -> Option<&str> {
        self.raw.to_str()
    }

    /// Returns the value that it holds.
    pub(super) fn value(&self) -> Option<&str> {
        self.text()?.get(self.start?..)
    }

    /// Says whether it gives the argument that clap shows as `shown`, such as `--size <SIZE>`.
    pub(super) fn gives(&self, shown: &str) -> bool {
        self.argument
            .as_ref()
            .is_some_and(|argument| argument.to_string() == shown)
    }

    /// Returns the word with `right` for each value that is `wrong`; none when none is.
    pub(super) fn with(&self, wrong: &dyn Fn(&str) -> bool, right: &str) -> Option<String> {
        let value = self.value()?;
        if wrong(value) {
            return self.holding(right);
        }
        let delimiter = self.argument.as_ref()?.get_value_delimiter()?;
        let is_wrong = |item: &str| !item.is_empty() && wrong(item);
        value.split(delimiter).find(|item| is_wrong(item))?;
        let items = value
            .split(delimiter)
            .map(|item| if is_wrong(item) { right } else { item });
        self.holding(&items.collect::<Vec<_>>().join(&delimiter.to_string()))
    }

    /// Returns the word with another value; none when that would be read as an option.
    pub(super) fn holding(&self, value: &str) -> Option<String> {
        let (text, old) = (self.text()?, self.value()?);
        let before = &text[..text.len() - old.len()];
        let is_option = before.is_empty() && value.starts_with('-') && !text.starts_with('-');
        (!is_option).then(|| format!("{before}{value}"))
    }
}

/// A command line.
pub(super) struct Line<'a> {
    /// Its words, without the program.
    pub(super) words: Vec<Word<'a>>,
    /// The command that it names, as far as it does.
    pub(super) command: clap::Command,
    names: Vec<String>,
}

impl<'a> Line<'a> {
    /// Reads a command line; its first word is the program.
    pub(super) fn read(arguments: &'a [OsString]) -> Line<'a> {
        let mut command = tree::branch(arguments).unwrap_or_else(tree::whole);
        command.build();
        let mut reader = Reader {
            command,
            names: Vec::new(),
            waiting: None,
            arguments: 0,
            literal: false,
        };
        let words = arguments.iter().skip(1);
        Line {
            words: words.map(|word| reader.word(word)).collect(),
            command: reader.command,
            names: reader.names,
        }
    }

    /// Returns the name of the command, as in `orchestrator.spawn`; `cleo` when it names none.
    pub(super) fn name(&self) -> String {
        match self.names.is_empty() {
            true => "cleo".to_string(),
            false => self.names.join("."),
        }
    }

    /// Returns the last value of a global option, or an empty text for one without a value.
    pub(super) fn global(&self, name: &str) -> Option<&str> {
        let named = |word: &&Word<'_>| {
            let argument = word.argument.as_ref();
            argument.is_some_and(|argument| argument.get_long() == Some(name))
        };
        let mut words = self.words.iter().rev().filter(named);
        words.next().map(|word| word.value().unwrap_or_default())
    }
}

/// Reads words, each in the light of those before it.
struct Reader {
    command: clap::Command,
    names: Vec<String>,
    waiting: Option<Arg>,
    arguments: usize,
    literal: bool,
}

/// What a word is, the argument that it gives, and where the value begins in it.
type Reading = (Role, Option<Arg>, Option<usize>);

impl Reader {
    fn word<'a>(&mut self, raw: &'a OsStr) -> Word<'a> {
        let (role, argument, start) = self.reading(&raw.to_string_lossy());
        Word {
            raw,
            role,
            argument,
            start,
        }
    }

    fn reading(&mut self, text: &str) -> Reading {
        let dashed = text.len() > 1 && text.starts_with('-');
        match self.waiting.take() {
            _ if self.literal => return self.argument(),
            Some(option) if !dashed || option.is_allow_hyphen_values_set() => {
                return (Role::Value, Some(option), Some(0));
            }
            _ => {}
        }
        match text.strip_prefix("--") {
            Some("") => {
                self.literal = true;
                (Role::Option, None, None)
            }
            Some(long) => self.long(long),
            None if dashed => self.short(text),
            None => self.named(text).unwrap_or_else(|| self.argument()),
        }
    }

    fn long(&mut self, text: &str) -> Reading {
        let (name, value) = text
            .split_once('=')
            .map_or((text, None), |(name, value)| (name, Some(value)));
        let option = self.option(|option| option.get_long() == Some(name));
        if value.is_none() {
            self.waiting = option.clone().filter(takes_value);
        }
        // The dashes and the equals sign come before the value.
        (Role::Option, option, value.map(|_| name.len() + 3))
    }

    /// Reads `-q`, `-p high`, `-phigh`, `-p=high` and several flags in one.
    fn short(&mut self, text: &str) -> Reading {
        let mut known = None;
        for (at, letter) in text.char_indices().skip(1) {
            let option = self.option(|option| option.get_short() == Some(letter));
            known = option.clone();
            if let Some(option) = option.filter(takes_value) {
                let after = at + letter.len_utf8();
                if after == text.len() {
                    self.waiting = Some(option);
                    return (Role::Option, known, None);
                }
                let equals = usize::from(text[after..].starts_with('='));
                return (Role::Option, known, Some(after + equals));
            }
            if known.is_none() {
                break;
            }
        }
        (Role::Option, known, None)
    }

    fn option(&self, is_it: impl Fn(&&Arg) -> bool) -> Option<Arg> {
        self.command.get_arguments().find(is_it).cloned()
    }

    fn named(&mut self, text: &str) -> Option<Reading> {
        let found = self.command.find_subcommand(text)?.clone();
        if self.arguments > 0 {
            return None;
        }
        self.names.push(text.to_string());
        self.command = found;
        Some((Role::Command, None, None))
    }

    fn argument(&mut self) -> Reading {
        let mut positionals = self.command.get_positionals();
        let last = self.command.get_positionals().last();
        let repeated = last.filter(|last| matches!(last.get_action(), clap::ArgAction::Append));
        let argument = positionals.nth(self.arguments).or(repeated).cloned();
        self.arguments += 1;
        (Role::Argument, argument, Some(0))
    }
}

/// Says whether an option is followed by a value.
pub(super) fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

/// Writes words as a command line of cleo that can be pasted.
pub(super) fn pasted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    std::iter::once("cleo".to_string())
        .chain(words.map(quote))
        .collect::<Vec<_>>()
        .join(" ")
}
