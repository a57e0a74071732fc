//! The only place that prints. One answer goes out as text, as one JSON document or as JSON lines.

use std::env;
use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use serde_json::Value;

use super::arguments::{Color, Format, Globals};
use super::environment::{self, variable};
use super::fields::Fields;
use super::jq::{Ended, Jq};
use super::screen::{Cell, Screen, Tone, clean};
use super::usage;
use crate::config::Settings;
use crate::error::{Code, Error, steers};
use crate::reply::Envelope;

/// A stream of envelopes, one a line.
pub(super) struct Stream<'a> {
    view: &'a View,
    stdout: BufWriter<io::StdoutLock<'static>>,
    broken: Option<io::Error>,
    failed: Option<Code>,
    /// Whether a filter did not fit an answer.
    misfit: bool,
    /// The answer that is being written.
    line: Vec<u8>,
    is_for_terminal: bool,
}

impl Stream<'_> {
    /// Adds an answer to the stream; false when nobody can read it any more.
    pub(super) fn send<T: Serialize>(
        &mut self,
        command: &str,
        answer: &crate::error::Result<T>,
    ) -> bool {
        let (result, error) = match answer {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        self.failed = self.failed.or(error.map(|error| error.code));
        let written = self.write(&Envelope::new(command, result, error, &[]));
        self.judge(written);
        self.broken.is_none()
    }

    /// Judges how far an answer came; a filter that does not fit it ends nothing.
    fn judge(&mut self, written: io::Result<Ended>) {
        match written {
            Ok(Ended::Whole) => {}
            Ok(Ended::Failed(message)) => {
                self.misfit = true;
                let message = filter_failed(&message).message;
                eprint_whole(&format!("error[E_USAGE]: {}\n", clean(&message)));
            }
            Err(cause) => self.broken = Some(cause),
        }
    }

    /// Adds an answer that failed and says with what result; false when nobody can read it any more.
    pub(super) fn send_with<T: Serialize>(
        &mut self,
        command: &str,
        result: &T,
        error: &Error,
    ) -> bool {
        self.failed = self.failed.or(Some(error.code));
        let written = self.write(&Envelope::new(command, Some(result), Some(error), &[]));
        self.broken = written.err();
        self.broken.is_none()
    }

    /// Writes an envelope on a line. What nobody has to change or clean goes out by one buffer.
    fn write<T: Serialize>(&mut self, envelope: &Envelope<'_, T>) -> io::Result<Ended> {
        if self.is_for_terminal || self.view.selects() {
            return self.view.write(&mut self.stdout, envelope, Format::Ndjson);
        }
        self.line.clear();
        serde_json::to_writer(&mut self.line, envelope)?;
        self.line.push(b'\n');
        self.stdout.write_all(&self.line)?;
        Ok(Ended::Whole)
    }

    /// Lets everything be read that was added so far.
    pub(super) fn flush(&mut self) {
        if self.broken.is_none() {
            self.broken = self.stdout.flush().err();
        }
    }

    /// Sets the error that the command ends with, whatever single answers say.
    pub(super) fn fails(&mut self, code: Code) {
        self.failed = Some(code);
    }

    /// Adds the last answer, which sums up; its error is the one that the command ends with. A
    /// filter sees it as it sees the others; the fields that are asked for are those of the others.
    pub(super) fn finish<T: Serialize>(
        &mut self,
        command: &str,
        result: &T,
        error: Option<&Error>,
        warnings: &[String],
    ) {
        self.failed = error.map(|error| error.code);
        if self.broken.is_none() {
            let envelope = Envelope::new(command, Some(result), error, warnings);
            let whole = View::default();
            let view = if error.is_some() { &whole } else { self.view };
            let written = view.filtered(&mut self.stdout, &envelope, Format::Ndjson);
            self.judge(written);
        }
    }
}

/// A stream of changes for people or programs: each line is out as soon as it is written.
pub(super) struct Feed {
    stdout: io::StdoutLock<'static>,
    format: Format,
    color: bool,
    broken: Option<io::Error>,
}

impl Feed {
    /// Shows text as soon as it is there; false when nobody can read it any more.
    pub(super) fn show(&mut self, text: impl FnOnce(&mut Screen)) -> bool {
        let mut screen = Screen::new(self.color);
        text(&mut screen);
        let written = self.stdout.write_all(screen.finish().as_bytes());
        self.broken = written.and_then(|()| self.stdout.flush()).err();
        self.broken.is_none()
    }

    /// Writes one line; false when nobody can read it any more.
    pub(super) fn line<T: Serialize>(&mut self, row: &T, text: impl FnOnce(&mut Screen)) -> bool {
        let line = match self.format {
            Format::Text => {
                let mut screen = Screen::new(self.color);
                text(&mut screen);
                screen.finish()
            }
            _ => serde_json::to_string(row).unwrap_or_default() + "\n",
        };
        let written = self.stdout.write_all(line.as_bytes());
        self.broken = written.and_then(|()| self.stdout.flush()).err();
        self.broken.is_none()
    }

    /// Says whether somebody can still read what is written. Only a pipe tells.
    pub(super) fn has_reader(&self) -> bool {
        let mut pipe = [PollFd::new(&self.stdout, PollFlags::empty())];
        let told = poll(&mut pipe, Some(&Timespec::default()));
        told.is_err() || !pipe[0].revents().contains(PollFlags::ERR)
    }
}

/// Lines for people on standard error, while something goes on.
pub(super) struct Notes {
    color: bool,
    quiet: bool,
    /// How many lines were drawn that the next drawing replaces.
    drawn: usize,
}

impl Notes {
    /// Writes a line.
    pub(super) fn line(&self, tone: Tone, text: &str) {
        if !self.quiet {
            let mut screen = Screen::new(self.color);
            screen.line(tone, text);
            eprint_whole(&screen.finish());
        }
    }

    /// Draws lines in the place of those that were drawn last. Each is cut where the terminal ends, so
    /// that none becomes two.
    pub(super) fn draw(&mut self, rows: &[Vec<Cell>]) {
        let mut screen = Screen::new(self.color);
        for row in rows {
            screen.cut(row);
        }
        let above = self.back();
        self.drawn = rows.len();
        eprint_whole(&(above + &screen.finish()));
    }

    /// Removes the lines that were drawn last.
    pub(super) fn erase(&mut self) {
        let above = self.back();
        self.drawn = 0;
        eprint_whole(&above);
    }

    /// Leads back to the first of the lines that were drawn last, and removes everything from there.
    fn back(&self) -> String {
        match self.drawn {
            0 => String::new(),
            lines => format!("\u{1b}[{lines}A\u{1b}[J"),
        }
    }
}

/// Where and how answers go.
pub(super) struct Output {
    format: Format,
    color: bool,
    error_color: bool,
    quiet: bool,
    json_asked: bool,
    way_to_result: String,
    view: View,
}

/// What of an answer is shown.
#[derive(Default)]
struct View {
    fields: Fields,
    jq: Option<Jq>,
}

impl View {
    /// Says whether only a part of an answer is shown.
    fn selects(&self) -> bool {
        !self.fields.is_empty() || self.jq.is_some()
    }

    /// Writes an envelope, or what was asked for of it. An error goes out whole.
    fn write<T: Serialize>(
        &self,
        out: &mut dyn Write,
        envelope: &Envelope<'_, T>,
        format: Format,
    ) -> io::Result<Ended> {
        let Some(result) = envelope.success() else {
            out.write_all(document(envelope, format).as_bytes())?;
            return Ok(Ended::Whole);
        };
        if self.fields.is_empty() {
            return self.filtered(out, envelope, format);
        }
        let result = serde_json::to_value(result).map_err(io::Error::other)?;
        let picked = self.fields.of(&result);
        self.filtered(out, &envelope.with(&picked), format)
    }

    fn filtered<T: Serialize>(
        &self,
        out: &mut dyn Write,
        envelope: &Envelope<'_, T>,
        format: Format,
    ) -> io::Result<Ended> {
        match &self.jq {
            Some(jq) => jq.write(&json(envelope), out, io::stdout().is_terminal()),
            None => {
                out.write_all(document(envelope, format).as_bytes())?;
                Ok(Ended::Whole)
            }
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Page<'a> {
    text: &'a str,
}

impl Output {
    /// Decides form and colour from options, environment and where the output goes.
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
            color: colored(color, terminal),
            error_color: colored(color, io::stderr().is_terminal()),
            quiet: globals.quiet,
            json_asked: globals.json
                || selects
                || globals.format.is_some_and(|form| form != Format::Text),
            way_to_result: way_to_result(globals.root.as_deref()),
            view: View::default(),
        }
    }

    /// Reads what of the answers is to be shown. What cannot be shown is refused before anything
    /// is done.
    pub(super) fn select(&mut self, globals: &Globals) -> Result<(), Error> {
        self.view = View {
            fields: Fields::read(&globals.fields),
            jq: globals.jq.as_deref().map(Jq::read).transpose()?,
        };
        Ok(())
    }

    /// Refuses fields that no answer of this command has.
    pub(super) fn check_fields(
        &self,
        command: &str,
        schema: fn(&str) -> Option<Value>,
    ) -> Result<(), Error> {
        let fields = Some(&self.view.fields).filter(|fields| !fields.is_empty());
        let schema = fields.and_then(|_| schema(command));
        fields
            .zip(schema)
            .map_or(Ok(()), |(fields, schema)| fields.check(&schema))
    }

    /// Says which form answers have.
    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// Answers with a result, with an error beside it when it is a verdict that failed.
    pub(super) fn reply<T: Serialize>(
        &mut self,
        command: &str,
        result: &T,
        error: Option<&Error>,
        warnings: &[String],
        text: impl FnOnce(&mut Screen),
    ) -> ExitCode {
        self.warn(warnings);
        let printed = match self.format {
            Format::Text => {
                let mut screen = Screen::new(self.color);
                text(&mut screen);
                self.put(&screen.finish())
            }
            _ => self.show(&Envelope::new(command, Some(result), error, warnings)),
        };
        self.ended(printed, error)
    }

    /// Answers with an error.
    pub(super) fn error(&mut self, command: &str, error: Error) -> ExitCode {
        let printed = match self.format {
            Format::Text => Ok(()),
            _ => self.show(&Envelope::<()>::new(command, None, Some(&error), &[])),
        };
        self.ended(printed, Some(&error))
    }

    /// Says how the command ends once its answer is out. People read an error on standard error,
    /// and so does everybody when the answer that holds it is lost.
    fn ended(&self, printed: Result<(), Error>, error: Option<&Error>) -> ExitCode {
        let is_for_people = self.format == Format::Text || io::stderr().is_terminal();
        if let Some(error) = error.filter(|_| is_for_people || printed.is_err()) {
            self.explain(error);
        }
        let lost = printed.err();
        if let Some(lost) = &lost {
            self.explain(lost);
        }
        error.or(lost.as_ref()).map_or(ExitCode::SUCCESS, exit)
    }

    /// Shows a page that was asked for: as text even in a pipe, which may lead to a pager, unless
    /// JSON was asked for too.
    pub(super) fn page<T: Serialize>(&self, command: &str, text: &str, result: &T) -> ExitCode {
        if !self.json_asked {
            return self.print(text);
        }
        let envelope = Envelope::new(command, Some(result), None, &[]);
        self.ended(self.show(&envelope), None)
    }

    /// Shows help that was asked for.
    pub(super) fn help_page(&self, text: &str) -> ExitCode {
        self.page("help", text, &Page { text })
    }

    /// Begins a stream of envelopes, one a line.
    pub(super) fn stream(&self) -> Stream<'_> {
        Stream {
            view: &self.view,
            stdout: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
            broken: None,
            failed: None,
            misfit: false,
            line: Vec::new(),
            is_for_terminal: io::stdout().is_terminal(),
        }
    }

    /// Says whether somebody watches what is shown as it comes.
    pub(super) fn is_watched(&self) -> bool {
        self.format == Format::Text && io::stdout().is_terminal()
    }

    /// Begins a feed.
    pub(super) fn feed(&self) -> Feed {
        Feed {
            stdout: io::stdout().lock(),
            format: self.format,
            color: self.color,
            broken: None,
        }
    }

    /// Ends a feed; says how the command ends when its reader has gone or there is no room.
    pub(super) fn end_feed(&self, feed: Feed) -> Option<ExitCode> {
        let broken = feed.broken?;
        let lost = self.written(Err(broken)).err();
        if let Some(lost) = &lost {
            self.explain(lost);
        }
        Some(lost.as_ref().map_or(ExitCode::SUCCESS, exit))
    }

    /// Ends a stream and says how the command ends: with the first error that was streamed.
    pub(super) fn end(&self, mut stream: Stream<'_>) -> ExitCode {
        let written = stream
            .broken
            .take()
            .map_or_else(|| stream.stdout.flush(), Err);
        let lost = self.written(written).err();
        if let Some(lost) = &lost {
            self.explain(lost);
        }
        let misfit = stream.misfit.then_some(Code::Usage);
        let code = stream.failed.or(misfit).or(lost.map(|lost| lost.code));
        code.map_or(ExitCode::SUCCESS, |code| ExitCode::from(code.exit_code()))
    }

    /// Prints text as it is and says how the command ends, for one that has nothing else to say.
    pub(super) fn print(&self, text: &str) -> ExitCode {
        self.ended(self.put(text), None)
    }

    /// Prints a JSON document that is no envelope, or what a filter makes of it.
    pub(super) fn print_document(&self, json: &str) -> ExitCode {
        let Some(jq) = &self.view.jq else {
            return self.print(json);
        };
        let mut stdout = BufWriter::new(io::stdout().lock());
        let written = jq.write(json, &mut stdout, io::stdout().is_terminal());
        let ended = written.and_then(|ended| stdout.flush().map(|()| ended));
        self.ended(self.judged(ended), None)
    }

    /// Judges how far a filter came.
    fn judged(&self, ended: io::Result<Ended>) -> Result<(), Error> {
        match ended {
            Ok(Ended::Failed(message)) => Err(filter_failed(&message)),
            ended => self.written(ended.map(|_| ())),
        }
    }

    /// Writes an envelope, or what was asked for of it.
    fn show<T: Serialize>(&self, envelope: &Envelope<'_, T>) -> Result<(), Error> {
        let mut stdout = BufWriter::new(io::stdout().lock());
        let written = self.view.write(&mut stdout, envelope, self.format);
        let ended = written.and_then(|ended| stdout.flush().map(|()| ended));
        self.judged(ended)
    }

    fn put(&self, text: &str) -> Result<(), Error> {
        let mut stdout = io::stdout().lock();
        let written = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush());
        self.written(written)
    }

    /// Judges a write to standard output.
    fn written(&self, written: io::Result<()>) -> Result<(), Error> {
        match written {
            // Whoever closed the pipe has read enough: that is no error.
            Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
                let message = format!("the answer could not be written: {cause}");
                Err(Error::new(Code::AnswerLost, message).fix(&self.way_to_result))
            }
            _ => Ok(()),
        }
    }

    /// Shows help to somebody who has not asked for it.
    pub(super) fn help(&self, text: &str) {
        eprint_whole(text);
    }

    /// Begins to tell people what goes on.
    pub(super) fn notes(&self) -> Notes {
        Notes {
            color: self.error_color,
            quiet: self.quiet,
            drawn: 0,
        }
    }

    /// Says whether somebody watches standard error on a terminal that lines can be drawn on.
    pub(super) fn can_draw(&self) -> bool {
        let able = env::var("TERM").is_ok_and(|term| term != "dumb");
        able && !self.quiet && io::stderr().is_terminal()
    }

    /// Tells people something that is no part of the answer.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            let mut screen = Screen::new(self.error_color);
            screen.line(Tone::Dim, text);
            eprint_whole(&screen.finish());
        }
    }

    /// Writes lines for the machine that runs this process, which reads standard error too: there is
    /// no other place for them when the answer is a document.
    pub(super) fn command_lines(&self, lines: &str) {
        eprint_whole(lines);
    }

    /// Asks somebody at a terminal for a line.
    pub(super) fn prompt(&self, text: &str) {
        eprint_whole(text);
    }

    fn warn(&self, warnings: &[String]) {
        if self.quiet {
            return;
        }
        let mut screen = Screen::new(self.error_color);
        for warning in warnings {
            screen
                .say(Tone::Warn, "warning: ")
                .line(Tone::Plain, warning);
        }
        eprint_whole(&screen.finish());
    }

    fn explain(&self, error: &Error) {
        let mut screen = Screen::new(self.error_color);
        screen
            .say(Tone::Bad, "error")
            .say(Tone::Dim, format!("[{}]", error.code.name()));
        screen.line(Tone::Plain, format!(": {}", error.shown()));
        if let Some(fix) = &error.fix {
            screen.say(Tone::Dim, "  try: ").line(Tone::Accent, fix);
        }
        for other in &error.alternatives {
            screen
                .say(Tone::Dim, format!("  or {}: ", other.action))
                .line(Tone::Accent, &other.command);
        }
        eprint_whole(&screen.finish());
    }
}

/// Writes an envelope on a line, or indented for people at a terminal.
fn document<T: Serialize>(envelope: &Envelope<'_, T>, format: Format) -> String {
    let terminal = io::stdout().is_terminal();
    let pretty = if terminal && format == Format::Json {
        serde_json::to_string_pretty(envelope).ok()
    } else {
        None
    };
    let text = pretty.unwrap_or_else(|| json(envelope));
    let mut shown = if terminal { escape(&text) } else { text };
    shown.push('\n');
    shown
}

fn json<T: Serialize>(envelope: &Envelope<'_, T>) -> String {
    serde_json::to_string(envelope).unwrap_or_else(|cause| {
        // Only a map with keys that are no text could fail, and no reply has one.
        format!(
            "{{\"success\":false,\"error\":{{\"code\":\"E_INTERNAL\",\"message\":\"{cause}\"}}}}"
        )
    })
}

/// Escapes what JSON allows in a string and a terminal would obey.
fn escape(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && steers(c) {
            // JSON writes what is beyond U+FFFF as a pair.
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The error of a filter that was understood and does not fit what it was given.
fn filter_failed(message: &str) -> Error {
    let message = format!("the command was carried out, but the filter failed: {message}");
    Error::new(Code::Usage, message).fix("cleo schema --list")
}

/// What to type to see what a command did whose answer is lost.
fn way_to_result(root: Option<&Path>) -> String {
    match root {
        // A path that is no text cannot be written into a command.
        Some(root) if root.to_str().is_none() => "cleo list --help".to_string(),
        Some(root) => usage::in_root("cleo list", root),
        None => "cleo list".to_string(),
    }
}

fn exit(error: &Error) -> ExitCode {
    ExitCode::from(error.code.exit_code())
}

fn eprint_whole(text: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// `--color`, then NO_COLOR, then CLICOLOR_FORCE or FORCE_COLOR, then what the terminal can do.
fn colored(wanted: Color, terminal: bool) -> bool {
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
