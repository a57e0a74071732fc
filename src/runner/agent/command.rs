//! Any program: a command line with placeholders for files. Its exit code is its result, and the last line that it
//! prints is its last message, which is unknown when it prints nothing.

use std::path::Path;

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
const OUTPUT: &str = "{output_file}";
const FOLDER: &str = "{cwd}";

impl Runner for CommandLine {
    fn name(&self) -> &'static str {
        "command"
    }

    fn invocation(&self, job: &Job) -> Invocation {
        let prompt = job.prompt_file();
        let places = [
            (PROMPT, prompt.as_path()),
            (OUTPUT, &job.output_file),
            (FOLDER, &job.folder),
        ];
        let words = self.words.iter();
        let words = words.map(|word| fill_placeholders(word, &places));
        Invocation {
            words: words.collect(),
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

fn fill_placeholders(word: &str, places: &[(&str, &Path)]) -> String {
    let mut filled = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        let (before, after) = rest.split_at(at);
        filled.push_str(before);
        let place = places.iter().find(|(place, _)| after.starts_with(place));
        rest = match place {
            Some((place, path)) => {
                filled.push_str(&path.to_string_lossy());
                &after[place.len()..]
            }
            None => {
                filled.push('{');
                &after[1..]
            }
        };
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::agent::AgentEvent;
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
        let progress = |what: &str| [AgentEvent::Progress(what.to_string())];
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
