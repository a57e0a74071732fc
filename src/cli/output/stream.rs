//! A stream of answers, one a line.

use std::io::{self, BufWriter, IsTerminal, Write};

use serde::Serialize;

use super::view::View;
use crate::cli::arguments::Format;
use crate::cli::jq::Ended;
use crate::error::{Code, Error, Result};
use crate::reply::Envelope;

/// A stream of envelopes, one a line.
pub(in crate::cli) struct Stream<'a> {
    view: &'a View,
    stdout: BufWriter<io::StdoutLock<'static>>,
    broken: Option<io::Error>,
    failed: Option<Code>,
    /// The answer that is being written.
    line: Vec<u8>,
    is_for_terminal: bool,
}

impl<'a> Stream<'a> {
    /// Begins a stream that shows what `view` asks for.
    pub(super) fn new(view: &'a View) -> Stream<'a> {
        Stream {
            view,
            stdout: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
            broken: None,
            failed: None,
            line: Vec::new(),
            is_for_terminal: io::stdout().is_terminal(),
        }
    }

    /// Ends it; returns how the last write went, and the code of what failed before.
    pub(super) fn end(mut self) -> (io::Result<()>, Option<Code>) {
        let broken = self.broken.take();
        let written = broken.map_or_else(|| self.stdout.flush(), Err);
        (written, self.failed.or(self.view.misfit()))
    }

    /// Adds an answer to the stream; false when nobody can read it any more.
    pub(in crate::cli) fn send<T: Serialize>(&mut self, command: &str, answer: &Result<T>) -> bool {
        let (result, error) = match answer {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        self.failed = self.failed.or(error.map(|error| error.code));
        let written = self.write(&Envelope::new(command, result, error, &[]));
        let lost = self.view.judge(written).err();
        self.broken = lost.or(self.broken.take());
        self.broken.is_none()
    }

    /// Adds an answer that failed and says with what result; false when nobody can read it any more.
    pub(in crate::cli) fn send_with<T: Serialize>(
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
    pub(in crate::cli) fn flush(&mut self) {
        if self.broken.is_none() {
            self.broken = self.stdout.flush().err();
        }
    }

    /// Sets the error that the command ends with, whatever single answers say.
    pub(in crate::cli) fn fails(&mut self, code: Code) {
        self.failed = Some(code);
    }

    /// Adds the last answer, which sums up; its error is the one that the command ends with. A
    /// filter sees it as it sees the others; the fields that are asked for are those of the others.
    pub(in crate::cli) fn finish<T: Serialize>(
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
            let lost = self.view.judge(written).err();
            self.broken = lost.or(self.broken.take());
        }
    }
}
