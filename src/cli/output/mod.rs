//! The only place that prints: a reply as text, as one JSON document or as JSON lines.

mod fields;
mod filter;
pub(super) mod jq;
mod notes;
mod stream;
mod view;

use std::env;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use serde::Serialize;

use self::jq::Ended;
pub(super) use self::notes::Notes;
use self::notes::write_to_stderr;
pub(super) use self::stream::Stream;
use self::view::{View, filter_failed, json};
use super::arguments::{Color, Format, Globals};
use super::environment::{self, variable};
use super::screen::{Screen, Tone};
use crate::config::Settings;
use crate::error::{Code, Error};
use crate::reply::Envelope;
use crate::store::left_out;

/// Form and options of replies.
pub(super) struct Output {
    format: Format,
    color: bool,
    notes: Notes,
    json_asked: bool,
    way_to_result: String,
    view: View,
}

#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Page<'a> {
    text: &'a str,
}

impl Output {
    pub(super) fn new(globals: &Globals, settings: &Settings) -> Output {
        let terminal = io::stdout().is_terminal();
        let by_place = if terminal { Format::Text } else { Format::Json };
        let selects = globals.jq.is_some() || !globals.fields.is_empty();
        let format = if globals.json || (selects && globals.format != Some(Format::Ndjson)) {
            Format::Json
        } else {
            let wished = globals.format.or(environment::format(settings));
            wished.unwrap_or(by_place)
        };
        let color = environment::color(settings);
        Output {
            format,
            color: has_color(color, terminal),
            notes: Notes::new(has_color(color, io::stderr().is_terminal()), globals.quiet),
            json_asked: globals.json
                || selects
                || globals.format.is_some_and(|form| form != Format::Text),
            way_to_result: globals.in_root("cleo list"),
            view: View::default(),
        }
    }

    /// Reads `--fields` and `--jq`, and refuses invalid ones before the command does anything.
    pub(super) fn select(&mut self, globals: &Globals) -> Result<(), Error> {
        self.view = View::read(globals)?;
        Ok(())
    }

    pub(super) fn filter_verdict(&mut self) {
        self.view.filter_verdict();
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// Replies with a result, and with an error if it is a failed verdict.
    pub(super) fn reply<T: Serialize>(
        &self,
        command: &str,
        result: &T,
        error: Option<&Error>,
        warnings: &[String],
        text: impl FnOnce(&mut Screen),
    ) -> ExitCode {
        let warnings = &[warnings, &left_out::take_warnings()].concat();
        let envelope = match self.format {
            Format::Text => None,
            _ => Some(self.view.envelope(command, Some(result), error, warnings)),
        };
        self.notes.warn(warnings);
        let printed = match envelope {
            Some(envelope) => self.show(&envelope, error.is_none()),
            None => {
                let mut screen = Screen::new(self.color);
                text(&mut screen);
                self.put(&screen.finish())
            }
        };
        self.exit_code(printed, error)
    }

    pub(super) fn error(&self, command: &str, error: Error) -> ExitCode {
        let printed = match self.format {
            Format::Text => Ok(()),
            _ => {
                let warnings = left_out::take_warnings();
                let envelope = Envelope::<()>::new(command, None, Some(&error), &warnings);
                self.show(&json(&envelope), false)
            }
        };
        self.exit_code(printed, Some(&error))
    }

    /// Returns the exit code after the reply. Errors go to standard error for people, or if the
    /// reply could not be written.
    fn exit_code(&self, printed: Result<(), Error>, error: Option<&Error>) -> ExitCode {
        let is_for_people = self.format == Format::Text || io::stderr().is_terminal();
        if let Some(error) = error.filter(|_| is_for_people || printed.is_err()) {
            self.notes.explain(error);
        }
        let lost = printed.err();
        if let Some(lost) = &lost {
            self.notes.explain(lost);
        }
        error.or(lost.as_ref()).map_or(ExitCode::SUCCESS, |error| {
            ExitCode::from(error.code.exit_code())
        })
    }

    /// Shows a page or picture that was asked for: as text even in a pipe, which may lead to a pager, unless JSON was
    /// asked for too.
    pub(super) fn show_page<T: Serialize>(
        &self,
        command: &str,
        text: &str,
        result: &T,
        warnings: &[String],
    ) -> ExitCode {
        let warnings = &[warnings, &left_out::take_warnings()].concat();
        self.notes.warn(warnings);
        if !self.json_asked {
            return self.print(text);
        }
        let envelope = self.view.envelope(command, Some(result), None, warnings);
        self.exit_code(self.show(&envelope, true), None)
    }

    pub(super) fn help_page(&self, text: &str) -> ExitCode {
        self.show_page("help", text, &Page { text }, &[])
    }

    pub(super) fn stream(&self) -> Stream<'_> {
        Stream::new(&self.view, self.format, self.color)
    }

    pub(super) fn is_watched(&self) -> bool {
        self.format == Format::Text && io::stdout().is_terminal()
    }

    /// Ends a stream and returns the exit code: that of the first error in it.
    pub(super) fn end(&self, stream: Stream<'_>) -> ExitCode {
        let (written, failed) = stream.end();
        let lost = self.check_written(written).err();
        if let Some(lost) = &lost {
            self.notes.explain(lost);
        }
        let code = failed.or(lost.map(|lost| lost.code));
        code.map_or(ExitCode::SUCCESS, |code| ExitCode::from(code.exit_code()))
    }

    pub(super) fn print(&self, text: &str) -> ExitCode {
        self.exit_code(self.put(text), None)
    }

    pub(super) fn print_document(&self, json: &str) -> ExitCode {
        let mut stdout = BufWriter::new(io::stdout().lock());
        let written = self.view.write_document(&mut stdout, json);
        let ended = written.and_then(|ended| stdout.flush().map(|()| ended));
        self.exit_code(self.check_filter(ended), None)
    }

    fn check_filter(&self, ended: io::Result<Ended>) -> Result<(), Error> {
        match ended {
            Ok(Ended::Failed(message)) => Err(filter_failed(&message)),
            ended => self.check_written(ended.map(|_| ())),
        }
    }

    fn show(&self, envelope: &str, is_success: bool) -> Result<(), Error> {
        let mut stdout = BufWriter::new(io::stdout().lock());
        let written = self
            .view
            .write(&mut stdout, envelope, is_success, self.format);
        let ended = written.and_then(|ended| stdout.flush().map(|()| ended));
        self.check_filter(ended)
    }

    fn put(&self, text: &str) -> Result<(), Error> {
        let mut stdout = io::stdout().lock();
        let written = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush());
        self.check_written(written)
    }

    fn check_written(&self, written: io::Result<()>) -> Result<(), Error> {
        match written {
            // A reader that closed the pipe has read enough.
            Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
                let message = format!("the answer could not be written: {cause}");
                Err(Error::new(Code::AnswerLost, message).fix(&self.way_to_result))
            }
            _ => Ok(()),
        }
    }

    /// Writes text to standard error as it is: help, a question, or lines for the machine that runs this process.
    pub(super) fn eprint(&self, text: &str) {
        write_to_stderr(text);
    }

    pub(super) fn notes(&self) -> Notes {
        self.notes.clone()
    }

    pub(super) fn note(&self, text: &str) {
        self.notes.line(Tone::Dim, text);
    }
}

/// `--color`, then NO_COLOR, then CLICOLOR_FORCE or FORCE_COLOR, then what the terminal can do.
fn has_color(wanted: Color, terminal: bool) -> bool {
    match wanted {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if variable("NO_COLOR").is_some() => false,
        Color::Auto => {
            let forced = |name| variable(name).is_some_and(|value| value != "0");
            let able = env::var("TERM").map_or(true, |term| term != "dumb");
            forced("CLICOLOR_FORCE") || forced("FORCE_COLOR") || (terminal && able)
        }
    }
}
