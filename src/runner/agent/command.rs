//! Any program: a command line with placeholders for files. Its exit code is its result, and the last line that it
//! prints is its last message, which is unknown when it prints nothing.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Invocation, Job, OutputState, Runner, event};
use crate::error::{Code, Error, Result};
use crate::run::Outcome;

/// A command line in which `{prompt_file}`, `{output_file}` and `{cwd}` are replaced by paths.
pub(crate) struct CommandLine {
    words: Vec<String>,
}

impl CommandLine {
    /// Reads a command line. Quotes keep words together as in a shell, and nothing else is special.
    pub(crate) fn read(text: &str) -> Result<CommandLine> {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| {
            let message =
                format!("`{text}` is not a command line: it is empty, or a quote is open");
            Error::new(Code::InputInvalid, message)
        })?;
        Ok(CommandLine { words })
    }
}

const PROMPT: &str = "{prompt_file}";

static PLACEHOLDERS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{(?:prompt_file|output_file|cwd)\}").expect("the pattern is compiled by a test")
});

impl Runner for CommandLine {
    fn name(&self) -> &'static str {
        "command"
    }

    fn invocation(&self, job: &Job) -> Invocation {
        let place = |found: &Captures<'_>| match &found[0] {
            PROMPT => job.prompt_file(),
            "{output_file}" => job.output_file.clone(),
            _ => job.folder.clone(),
        };
        let fill = |word: &String| {
            let fill = |found: &Captures<'_>| place(found).to_string_lossy().into_owned();
            PLACEHOLDERS.replace_all(word, fill).into_owned()
        };
        Invocation {
            words: self.words.iter().map(fill).collect(),
            reads_prompt: !self.words.iter().any(|word| word.contains(PROMPT)),
            ..Invocation::default()
        }
    }

    fn read_line(&self, line: &str, state: &mut OutputState) {
        state.end.message = Some(line.to_string());
        event::read_progress(line, state);
    }

    fn judge(&self, state: &mut OutputState) {
        if state.end.exit_code == Some(0) {
            state.end.outcome = Some(Outcome::Ok);
        } else {
            state.fail(Outcome::AgentError, None);
        }
    }

    fn has_conversations(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::TaskEvent;
    use crate::runner::agent::tests::job;

    fn invoke(line: &str) -> Invocation {
        CommandLine::read(line).unwrap().invocation(&job())
    }

    #[test]
    fn placeholders_are_filled_within_words() {
        let invocation = invoke("agent --in={prompt_file} '{cwd} x' {output_file}{cwd} {x} '{'");
        let words = [
            "agent",
            "--in=/w/a {cwd}/T1-1.prompt.md",
            "/w x",
            "/w/$(out).md/w",
            "{x}",
            "{",
        ];
        assert_eq!(invocation.words, words);
        assert!(!invocation.reads_prompt);
        assert!(invoke("agent").reads_prompt);
    }

    #[test]
    fn invalid_command_line_is_refused() {
        for line in ["", "  ", "agent 'x"] {
            assert!(CommandLine::read(line).is_err(), "{line:?}");
        }
    }

    #[test]
    fn line_becomes_progress_without_control_chars() {
        let runner = CommandLine::read("agent").unwrap();
        let hear = |line: &str| {
            let mut state = OutputState::default();
            runner.read_line(line, &mut state);
            state.events
        };
        let progress = |what: &str| {
            let doing = Some(what.to_string());
            [TaskEvent::AgentProgress { doing }]
        };
        assert_eq!(
            hear("  Tests run: \u{1b}[31m3\u{7} "),
            progress("Tests run: 3")
        );
        assert_eq!(hear(&"x".repeat(500)), progress(&"x".repeat(120)));
        assert_eq!(hear(" \t\r"), []);
    }

    #[test]
    fn exit_code_decides_and_last_line_is_message() {
        let runner = CommandLine::read("agent").unwrap();
        for (exit_code, outcome) in [
            (Some(0), Outcome::Ok),
            (Some(1), Outcome::AgentError),
            (None, Outcome::AgentError),
        ] {
            let mut state = OutputState::default();
            state.end.exit_code = exit_code;
            runner.read_line("working", &mut state);
            runner.read_line("Done.", &mut state);
            runner.judge(&mut state);
            assert_eq!(state.end.outcome, Some(outcome));
            assert_eq!(state.end.message.as_deref(), Some("Done."));
        }
    }
}
