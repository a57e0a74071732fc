//! The lines of the log of a task, in the order of time.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::pages::{LogLine, LogQuery};
use crate::clock::{between_ms, unix_ms};
use crate::error::Result;
use crate::file::{open, unreadable};
use crate::id::TaskId;
use crate::run::attempt::Attempt;
use crate::run::event::RUN_INTERRUPTED;
use crate::run::log::{Entry, LINES_MAX, LOG_MAX, Stream};
use crate::run::transcript::{self, Channel};
use crate::run::{Event, Line};

/// The sources of the lines of a log, in order.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) before: Vec<&'a Event>,
    /// The log of the attempt, and its number of whole lines.
    written: Option<(PathBuf, usize)>,
    since: Vec<&'a Event>,
}

/// A line before it is read.
pub(super) enum Source<'a> {
    Event(&'a Event),
    /// An entry of the log.
    Written(Vec<u8>),
    /// A line in place of all lines over the maximum.
    More,
}

/// A line before it is put into words.
pub(super) struct Raw {
    ch: Channel,
    ms: Option<u64>,
    pub(super) text: String,
    /// How many bytes of the line are not in the text.
    beyond: usize,
    error: bool,
}

impl<'a> Parts<'a> {
    pub(super) fn read(
        events: &'a [Event],
        task: TaskId,
        attempt: Option<&Attempt>,
        following: bool,
        folder: &Path,
    ) -> Result<Parts<'a>> {
        let number = attempt.map(|one| one.attempt);
        let own = events.iter().filter(|event| {
            let line = Line::from(*event);
            let told = line.attempt;
            let is_of_attempt = told.is_none() || number.is_none() || told == number.map(u64::from);
            line.task_id == Some(task.to_string()) && is_of_attempt
        });
        let (before, mut since): (Vec<_>, Vec<_>) = own.partition(|event| {
            let begins = ["task.started", "agent.started", "task.skipped"];
            begins.contains(&event.kind.as_str())
        });
        let has_begun = before.iter().any(|event| event.kind == "agent.started");
        let mut parts = Parts {
            before,
            ..Parts::default()
        };
        let Some(attempt) = attempt else {
            return Ok(parts);
        };
        let is_silent = attempt.agent_ended_at.is_some() || !following;
        let path = folder.join(format!("{task}-{}.log", attempt.attempt));
        // Its start comes before its output.
        if (has_begun || is_silent) && path.is_file() {
            let n_lines = count_lines(&path)?;
            parts.written = Some((path, n_lines));
        }
        if is_silent {
            // The agent's own lines show these already.
            let meanwhile = ["agent.progress", "agent.conversation"];
            since.retain(|event| !meanwhile.contains(&event.kind.as_str()));
            parts.since = since;
        }
        Ok(parts)
    }

    pub(super) fn total(&self) -> usize {
        let written = self.written.as_ref().map_or(0, |(_, n)| *n);
        self.before.len() + written.min(LINES_MAX + 1) + self.since.len()
    }

    pub(super) fn lines(&self) -> Result<impl Iterator<Item = Source<'a>>> {
        let (mut written, mut more) = (None, None);
        if let Some((path, n_lines)) = &self.written {
            let lines = BufReader::new(open(path)?.take(LOG_MAX)).split(b'\n');
            let whole = lines.map_while(io::Result::ok);
            written = Some(whole.take(*n_lines.min(&LINES_MAX)));
            more = (*n_lines > LINES_MAX).then_some(Source::More);
        }
        let before = self.before.clone().into_iter().map(Source::Event);
        let since = self.since.clone().into_iter().map(Source::Event);
        let written = written.into_iter().flatten().map(Source::Written);
        Ok(before.chain(written).chain(more).chain(since))
    }
}

/// Counts the lines of a log that are whole by now.
fn count_lines(path: &Path) -> Result<usize> {
    let mut input = BufReader::new(open(path)?.take(LOG_MAX));
    let mut n_lines = 0;
    loop {
        let bytes = input.fill_buf().map_err(|cause| unreadable(path, cause))?;
        if bytes.is_empty() {
            return Ok(n_lines);
        }
        n_lines += memchr::memchr_iter(b'\n', bytes).count();
        let n_read = bytes.len();
        input.consume(n_read);
    }
}

impl Source<'_> {
    /// Reads a line of the log of a run that began at `started_at`.
    pub(super) fn read(&self, query: &LogQuery, started_at: &str) -> Raw {
        let raw = Raw {
            ch: Channel::Out,
            ms: None,
            text: String::new(),
            beyond: 0,
            error: false,
        };
        match self {
            Source::Event(event) => {
                let line = Line::from(*event);
                let about = line.task_id.as_deref().unwrap_or_default();
                let detail = crate::document::to_json(&line.detail).unwrap_or_default();
                let detail = if line.detail.is_empty() { "" } else { &detail };
                let failures = [
                    "task.failed",
                    "task.verification_failed",
                    RUN_INTERRUPTED,
                    "error",
                ];
                Raw {
                    ch: Channel::Event,
                    ms: between_ms(started_at, &event.at),
                    error: failures.contains(&event.kind.as_str()),
                    text: [&event.kind, about, detail].join(" ").trim().to_string(),
                    ..raw
                }
            }
            Source::Written(bytes) => match serde_json::from_slice::<Entry<'_>>(bytes) {
                Ok(entry) => Raw {
                    ch: match entry.stream {
                        Stream::Out => Channel::Out,
                        Stream::Err => Channel::Err,
                    },
                    ms: unix_ms(started_at).and_then(|begun| u64::try_from(entry.ms - begun).ok()),
                    text: entry.text.into_owned(),
                    beyond: entry.beyond,
                    ..raw
                },
                // A damaged line is shown as it is.
                Err(_) => Raw {
                    text: String::from_utf8_lossy(bytes).into_owned(),
                    ..raw
                },
            },
            Source::More => {
                let task = query.task.map(|task| format!(" --task {task}"));
                let (run, task) = (&query.id, task.unwrap_or_default());
                let end = format!("`cleo runs logs {run}{task} --raw` shows the end");
                let text = format!("[cleo left out all that came after {LINES_MAX} lines; {end}]");
                Raw { text, ..raw }
            }
        }
    }
}

impl Raw {
    /// Puts a line into words.
    pub(super) fn line(self, n: usize) -> LogLine {
        let mut line = transcript::parse_line(self.ch, &self.text);
        line.error |= self.error;
        line.bytes += self.beyond;
        line.cut |= self.beyond > 0;
        LogLine {
            n,
            ms: self.ms,
            line,
        }
    }
}
