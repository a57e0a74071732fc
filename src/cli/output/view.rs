//! The part of a reply that is shown: all of it, some fields, or the output of a filter.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fields::Fields;
use super::jq::{Ended, Jq};
use super::notes::write_to_stderr;
use crate::cli::arguments::{Format, Globals};
use crate::cli::screen::clean;
use crate::error::{Code, Error, Result, is_control_character};
use crate::reply::Envelope;

/// The part of a reply that is shown.
#[derive(Default)]
pub(super) struct View {
    fields: Fields,
    jq: Option<Jq>,
    /// Whether the filter reads a verdict that failed, too.
    filters_verdict: bool,
    /// Whether the filter did not fit a line.
    misfit: Cell<bool>,
}

impl View {
    pub(super) fn read(globals: &Globals) -> Result<View> {
        Ok(View {
            fields: Fields::read(&globals.fields),
            jq: globals.jq.as_deref().map(Jq::read).transpose()?,
            filters_verdict: false,
            misfit: Cell::new(false),
        })
    }

    /// Applies the filter to failed verdicts, too, for commands whose failures people want to
    /// filter.
    pub(super) fn filter_verdict(&mut self) {
        self.filters_verdict = true;
    }

    /// Makes the envelope of a reply, with only the requested fields of a result.
    pub(super) fn envelope<T: Serialize>(
        &self,
        command: &str,
        result: Option<&T>,
        error: Option<&Error>,
        warnings: &[String],
    ) -> String {
        let result = result.map(|result| (result, error.is_none() && self.has_fields()));
        match result {
            Some((result, true)) => {
                let picked = self.pick(&crate::document::to_json(result).unwrap_or_default());
                json(&Envelope::new(command, Some(&picked), None, warnings))
            }
            result => {
                let result = result.map(|(result, _)| result);
                json(&Envelope::new(command, result, error, warnings))
            }
        }
    }

    fn pick(&self, reply: &str) -> Value {
        let reply = serde_json::from_str(reply).unwrap_or_default();
        let picked = self.fields.pick(&reply);
        // The process ends soon: freeing each part would take a twelfth of its time.
        std::mem::forget(reply);
        picked
    }

    pub(super) fn selects(&self) -> bool {
        self.has_fields() || self.jq.is_some()
    }

    pub(super) fn has_fields(&self) -> bool {
        !self.fields.is_empty()
    }

    /// Writes an envelope, or the output of the filter. Errors are not filtered, and failed
    /// verdicts only if `filters_verdict` is set.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        envelope: &str,
        is_success: bool,
        format: Format,
    ) -> io::Result<Ended> {
        let is_for_terminal = io::stdout().is_terminal();
        if let Some(jq) = &self.jq
            && (is_success || self.filters_verdict)
        {
            return jq.write(envelope, out, is_for_terminal);
        }
        match is_for_terminal {
            true if format == Format::Json => {
                out.write_all(escape_control_characters(&pretty_print(envelope)).as_bytes())?
            }
            true => out.write_all(escape_control_characters(envelope).as_bytes())?,
            false => out.write_all(envelope.as_bytes())?,
        }
        out.write_all(b"\n")?;
        Ok(Ended::Whole)
    }

    pub(super) fn row<T: Serialize>(&self, out: &mut dyn Write, row: &T) -> io::Result<Ended> {
        let json = if self.fields.is_empty() {
            crate::document::to_json(row)
        } else {
            let row = crate::document::to_json(row).and_then(|json| serde_json::from_str(&json));
            row.map(|row| self.fields.pick_of_line(&row).to_string())
        };
        let json = json.map_err(io::Error::other)?;
        let mut shown = if io::stdout().is_terminal() {
            escape_control_characters(&json)
        } else {
            json
        };
        shown.push('\n');
        self.write_document(out, &shown)
    }

    /// Reports a filter that failed on a line; the work continues.
    pub(super) fn report_failed_filter(&self, written: io::Result<Ended>) -> io::Result<()> {
        if let Ended::Failed(message) = written? {
            self.misfit.set(true);
            let Error { code, message, .. } = filter_failed(&message);
            write_to_stderr(&format!("error[{}]: {}\n", code.name(), clean(&message)));
        }
        Ok(())
    }

    pub(super) fn find_error(&self) -> Option<Code> {
        self.misfit.get().then_some(Code::AnswerLost)
    }

    pub(super) fn write_document(&self, out: &mut dyn Write, json: &str) -> io::Result<Ended> {
        match &self.jq {
            Some(jq) => jq.write(json, out, io::stdout().is_terminal()),
            None => out.write_all(json.as_bytes()).map(|()| Ended::Whole),
        }
    }
}

/// A JSON value whose fields keep their order.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Ordered {
    Object(IndexMap<String, Ordered>),
    List(Vec<Ordered>),
    Other(Value),
}

/// Formats JSON with a line for each part. It parses the compact text, because a second serializer
/// for all replies would take a hundredth of the program.
fn pretty_print(json: &str) -> String {
    let value = serde_json::from_str::<Ordered>(json);
    let text = value.and_then(|value| serde_json::to_string_pretty(&value));
    text.unwrap_or_else(|_| json.to_string())
}

pub(super) fn json<T: Serialize>(envelope: &Envelope<'_, T>) -> String {
    // Only a map with keys that are not text cannot be written, and no reply has one.
    crate::document::to_json(envelope).unwrap_or_default()
}

/// Escapes characters that JSON allows in a string and that could control a terminal.
fn escape_control_characters(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && is_control_character(c) {
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

/// The error of a valid filter that failed on its input.
pub(super) fn filter_failed(message: &str) -> Error {
    let message = format!("the command was carried out, but the filter failed: {message}");
    Error::new(Code::AnswerLost, message).fix("cleo schema --list")
}
