//! A stream of replies or changes, one line each.

use std::io::{self, BufWriter, IsTerminal, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use super::jq::Ended;
use super::view::{View, json};
use crate::cli::arguments::Format;
use crate::cli::screen::Screen;
use crate::document::append_json;
use crate::error::{Code, Error, Result};
use crate::reply::Envelope;

/// A stream of JSON lines, or of text for people.
pub(in crate::cli) struct Stream<'a> {
    view: &'a View,
    stdout: BufWriter<io::StdoutLock<'static>>,
    format: Format,
    color: bool,
    broken: Option<io::Error>,
    /// Whether more lines are useless: the reader has gone, or the filter failed on a row.
    is_over: bool,
    failed: Option<Code>,
    /// Buffer for the current reply.
    line: Vec<u8>,
    is_for_terminal: bool,
}

impl<'a> Stream<'a> {
    pub(super) fn new(view: &'a View, format: Format, color: bool) -> Stream<'a> {
        Stream {
            view,
            stdout: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
            format,
            color,
            broken: None,
            is_over: false,
            failed: None,
            line: Vec::new(),
            is_for_terminal: io::stdout().is_terminal(),
        }
    }

    /// Ends the stream; returns the result of the last write, and the code of an earlier error.
    pub(super) fn end(mut self) -> (io::Result<()>, Option<Code>) {
        let broken = self.broken.take();
        let written = broken.map_or_else(|| self.stdout.flush(), Err);
        (written, self.failed.or(self.view.find_error()))
    }

    /// Returns whether more lines are of use.
    pub(in crate::cli) fn is_open(&self) -> bool {
        !self.is_over
    }

    pub(in crate::cli) fn send<T: Serialize>(&mut self, command: &str, answer: &Result<T>) {
        let (result, error) = match answer {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        self.failed = self.failed.or(error.map(|error| error.code));
        let written = self.write(command, result, error);
        let written = self.view.report_failed_filter(written);
        self.note_write_error(written);
    }

    /// Writes an envelope on a line, by one buffer where nothing has to be filtered or escaped.
    fn write<T: Serialize>(
        &mut self,
        command: &str,
        result: Option<&T>,
        error: Option<&Error>,
    ) -> io::Result<Ended> {
        if self.is_for_terminal || self.view.selects() {
            let envelope = self.view.envelope(command, result, error, &[]);
            let (out, is_success) = (&mut self.stdout, error.is_none());
            return self.view.write(out, &envelope, is_success, Format::Ndjson);
        }
        self.line.clear();
        append_json(&Envelope::new(command, result, error, &[]), &mut self.line)?;
        self.line.push(b'\n');
        self.stdout.write_all(&self.line)?;
        Ok(Ended::Whole)
    }

    fn note_write_error(&mut self, written: io::Result<()>) {
        self.broken = self.broken.take().or(written.err());
        self.is_over |= self.broken.is_some();
    }

    pub(in crate::cli) fn show(&mut self, text: impl FnOnce(&mut Screen)) {
        let mut screen = Screen::new(self.color);
        text(&mut screen);
        let written = self.stdout.write_all(screen.finish().as_bytes());
        let written = written.and_then(|()| self.stdout.flush());
        self.note_write_error(written);
    }

    /// Writes a row at once, as text or as JSON without an envelope.
    pub(in crate::cli) fn row<T: Serialize>(&mut self, row: &T, text: impl FnOnce(&mut Screen)) {
        if self.format == Format::Text {
            return self.show(text);
        }
        let written = self.view.row(&mut self.stdout, row);
        let written = self.view.report_failed_filter(written);
        let written = written.and_then(|()| self.stdout.flush());
        self.note_write_error(written);
        self.is_over |= self.view.find_error().is_some();
    }

    /// Returns whether the reader is still there; known only for pipes.
    pub(in crate::cli) fn has_reader(&self) -> bool {
        let mut pipe = [PollFd::new(self.stdout.get_ref(), PollFlags::empty())];
        let polled = poll(&mut pipe, Some(&Timespec::default()));
        polled.is_err() || !pipe[0].revents().contains(PollFlags::ERR)
    }

    pub(in crate::cli) fn flush(&mut self) {
        if self.broken.is_none() {
            self.broken = self.stdout.flush().err();
        }
    }

    /// Sets the error code of the command, over those of single replies.
    pub(in crate::cli) fn fails(&mut self, code: Code) {
        self.failed = Some(code);
    }

    /// Adds the summary as the last reply; its error is that of the command. It is filtered like
    /// the others, but has all fields.
    pub(in crate::cli) fn finish<T: Serialize>(
        &mut self,
        command: &str,
        result: &T,
        error: Option<&Error>,
        warnings: &[String],
    ) {
        self.failed = error.map(|error| error.code);
        if self.broken.is_none() {
            let envelope = json(&Envelope::new(command, Some(result), error, warnings));
            let (out, is_success) = (&mut self.stdout, error.is_none());
            let written = self.view.write(out, &envelope, is_success, Format::Ndjson);
            let written = self.view.report_failed_filter(written);
            self.note_write_error(written);
        }
    }
}
