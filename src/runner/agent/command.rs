//! Any program: the words of a command line with places for files. It says nothing of itself but its
//! exit code, and the last line that it prints is its last message; what its agent says when it prints
//! nothing, nobody knows.

use std::path::Path;

use super::{Ended, Invocation, Job, Runner, event};
use crate::error::{Code, Error, Result};
use crate::run::Outcome;

/// A command line in which `{prompt_file}`, `{output_file}` and `{cwd}` stand for paths.
pub(crate) struct CommandLine {
    words: Vec<String>,
}

impl CommandLine {
    /// Reads a command line. Quotes keep words together as in a shell, and nothing else is special.
    pub(crate) fn read(text: &str) -> Result<CommandLine> {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| {
            let message = format!("`{text}` is no command line: it is empty, or a quote is open");
            Error::new(Code::InputInvalid, message)
        })?;
        Ok(CommandLine { words })
    }

    fn names(&self, place: &str) -> bool {
        self.words.iter().any(|word| word.contains(place))
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
        let places = [
            (PROMPT, job.prompt_file.as_path()),
            (OUTPUT, &job.output_file),
            (FOLDER, &job.folder),
        ];
        let words = self.words.iter().map(|word| fill(word, &places));
        Invocation {
            words: words.collect(),
            reads_prompt: !self.names(PROMPT),
            ..Invocation::default()
        }
    }

    fn read_line(&self, line: &str, ended: &mut Ended) {
        ended.message = Some(line.to_string());
        event::saying(line, ended);
    }

    fn judge(&self, ended: &mut Ended) {
        if ended.exit_code == Some(0) {
            ended.outcome = Some(Outcome::Ok);
        } else {
            ended.fail(Outcome::AgentError, None);
        }
    }

    fn resumes(&self) -> bool {
        false
    }

    fn tells_messages(&self) -> bool {
        false
    }
}

fn fill(word: &str, places: &[(&str, &Path)]) -> String {
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

    fn called(line: &str) -> Invocation {
        CommandLine::read(line).unwrap().invocation(&job())
    }

    #[test]
    fn paths_go_into_words_and_no_word_becomes_two() {
        let invocation = called("agent --in={prompt_file} '{cwd} x' {output_file}{cwd} {x} '{'");
        let words = [
            "agent",
            "--in=/w/a {cwd}.prompt",
            "/w x",
            "/w/$(out).md/w",
            "{x}",
            "{",
        ];
        assert_eq!(invocation.words, words);
        assert!(!invocation.reads_prompt);
        assert!(called("agent").reads_prompt);
    }

    #[test]
    fn what_is_no_command_line_is_refused() {
        for line in ["", "  ", "agent 'x"] {
            assert!(CommandLine::read(line).is_err(), "{line:?}");
        }
    }

    #[test]
    fn line_becomes_progress_without_control_characters() {
        let runner = CommandLine::read("agent").unwrap();
        let hear = |line: &str| {
            let mut ended = Ended::default();
            runner.read_line(line, &mut ended);
            ended.signs
        };
        let doing = |what: &str| [AgentEvent::Doing(what.to_string())];
        assert_eq!(
            hear("  Tests run: \u{1b}[31m3\u{7} "),
            doing("Tests run: 3")
        );
        assert_eq!(hear(&"x".repeat(500)), doing(&"x".repeat(120)));
        assert_eq!(hear(" \t\r"), []);
    }

    #[test]
    fn the_exit_code_decides_and_the_last_line_is_the_message() {
        let runner = CommandLine::read("agent").unwrap();
        for (exit_code, outcome) in [
            (Some(0), Outcome::Ok),
            (Some(1), Outcome::AgentError),
            (None, Outcome::AgentError),
        ] {
            let mut ended = Ended {
                exit_code,
                ..Ended::default()
            };
            runner.read_line("working", &mut ended);
            runner.read_line("Done.", &mut ended);
            runner.judge(&mut ended);
            assert_eq!(ended.outcome, Some(outcome));
            assert_eq!(ended.message.as_deref(), Some("Done."));
        }
    }
}
