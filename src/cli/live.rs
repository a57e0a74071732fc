//! Progress of work in a stream of JSON lines, as text on a terminal, or only its result.

use std::process::ExitCode;

use serde::Serialize;

use super::Face;
use super::arguments::Format;
use super::output::Stream;
use super::screen::{Screen, Tone};
use crate::error::{Error, Result};
use crate::ops::executions::Piece;
use crate::run::Run;
use crate::run::report::describe_spent;

/// Describes where an answer came from, and what it cost.
pub(super) fn describe_answer(run: &Run) -> String {
    let answered = [run.answered_by.map(|by| by.to_string()), run.model.clone()];
    let parts = answered.into_iter().flatten().chain(describe_spent(run));
    parts.collect::<Vec<_>>().join(", ")
}

#[derive(PartialEq, Eq)]
enum Form {
    Lines,
    Text,
    Silent,
}

/// Shows progress until the result, which comes last.
pub(super) struct Live<'a> {
    face: &'a Face<'a>,
    stream: Stream<'a>,
    form: Form,
    /// Agent of the last piece, and its answer so far.
    speaker: String,
    answer: String,
}

impl<'a> Live<'a> {
    pub(super) fn new(face: &'a Face<'a>) -> Live<'a> {
        let form = match face.output.format() {
            Format::Ndjson => Form::Lines,
            _ if face.output.is_watched() => Form::Text,
            _ => Form::Silent,
        };
        Live {
            face,
            stream: face.output.stream(),
            form,
            speaker: String::new(),
            answer: String::new(),
        }
    }

    /// Sends an event as an envelope. Work continues after the reader has gone.
    pub(super) fn send<T: Serialize>(&mut self, event: &T) {
        if self.form == Form::Lines {
            self.stream.send(self.face.name, &Ok(event));
            self.stream.flush();
        }
    }

    pub(super) fn show_row<T: Serialize>(&mut self, row: &T) {
        if self.form == Form::Lines {
            self.stream.row(row, |_| {});
        }
    }

    pub(super) fn show(&mut self, text: impl FnOnce(&mut Screen)) {
        if self.is_text() {
            self.stream.show(text);
        }
    }

    pub(super) fn is_text(&self) -> bool {
        self.form == Form::Text
    }

    /// Shows a piece of an answer; a line names the agent when it changes.
    pub(super) fn show_piece(&mut self, piece: &Piece<'_>) {
        self.send(piece);
        let is_new = self.speaker != piece.agent;
        let names_agent = is_new && !self.answer.is_empty();
        if is_new {
            self.speaker = piece.agent.to_string();
            self.answer.clear();
        }
        self.answer.push_str(piece.piece);
        self.show(|screen| {
            if names_agent {
                screen.line(Tone::Plain, "");
                screen.line(Tone::Dim, format!("{}:", piece.agent));
            }
            screen.verbatim(piece.piece);
        });
    }

    /// Ends the pieces, with a new line if they were not the whole answer.
    pub(super) fn end_pieces(&mut self, answer: &str) {
        if !self.answer.is_empty() && self.answer != answer {
            self.show(|screen| {
                screen.line(Tone::Plain, "");
            });
        }
    }

    /// Returns whether the pieces showed the whole answer.
    pub(super) fn has_shown(&self, answer: &str) -> bool {
        self.is_text() && !answer.is_empty() && self.answer == answer
    }

    pub(super) fn end<T: Serialize>(
        mut self,
        result: &T,
        error: Option<Error>,
        warnings: &[String],
        text: impl FnOnce(&mut Screen),
    ) -> Result<ExitCode> {
        if self.form != Form::Lines {
            return self.face.outcome(result, error, warnings, text);
        }
        let error = self.face.with_fix(error);
        let name = self.face.name;
        self.stream.finish(name, result, error.as_ref(), warnings);
        Ok(self.face.output.end(self.stream))
    }
}
