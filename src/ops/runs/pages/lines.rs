//! The lines of the log of a task: what cleo told and what its agent wrote, in the order of time.

use std::path::Path;

use serde_json::Value;

use super::LogWanted;
use crate::clock::{between_ms, unix_ms};
use crate::error::Result;
use crate::file;
use crate::id::TaskId;
use crate::ops::Surroundings;
use crate::ops::runs::listing::owned;
use crate::ops::runs::{journal, no_run, settled};
use crate::ops::work::Memory;
use crate::run::arrivals::{self, Arrival, INDEX_MAX, Spoken, Stream};
use crate::run::told::kind;
use crate::run::track::Attempt;
use crate::run::transcript::Channel;
use crate::run::{Event, Line};
use crate::store::agency::Agency;
use crate::workspace::Workspace;

/// Most bytes of an output that are looked at; of a longer one the beginning.
const OUTPUT_MAX: u64 = 64 << 20;

/// A run that may be looked at.
pub(super) struct Found<'a> {
    workspace: Workspace,
    id: &'a str,
    started_at: String,
    attempt: Option<Attempt>,
    events: Vec<Event>,
    is_over: bool,
    /// Now, in milliseconds since 1970.
    now: i64,
}

/// A line before it is put into words.
pub(super) struct Raw {
    pub(super) ch: Channel,
    pub(super) ms: Option<u64>,
    pub(super) text: String,
    pub(super) error: bool,
}

/// Moments in milliseconds since 1970: when a run began, and between which ones an agent wrote.
struct Span {
    run: i64,
    began: i64,
    ended: i64,
}

impl<'a> Found<'a> {
    /// Reads what a log is made of.
    pub(super) fn find(
        surroundings: &Surroundings,
        memory: &mut Memory,
        id: &'a str,
        user: Option<&str>,
        wanted: &LogWanted,
    ) -> Result<Found<'a>> {
        let workspace = surroundings.workspace()?;
        let mut agency = settled(&workspace, &surroundings.clock)?.ok_or_else(|| no_run(id))?;
        let transaction = agency.read()?;
        let run = owned(&*transaction, id, user)?;
        let events = journal::events(&*transaction, id)?;
        let track = memory.track(&*transaction, id)?;
        let attempts = wanted
            .task
            .map(|task| track.attempts(task))
            .unwrap_or_default();
        let attempt = match wanted.attempt {
            Some(number) => attempts.iter().find(|one| one.attempt == number),
            None => attempts.last(),
        };
        Ok(Found {
            workspace,
            id,
            started_at: run.started_at.clone(),
            attempt: attempt.cloned(),
            events,
            is_over: run.is_over(),
            now: surroundings.clock.now().timestamp_millis(),
        })
    }
}

impl Found<'_> {
    /// Says whether lines may still come.
    pub(super) fn is_going_on(&self) -> bool {
        let ended = self.attempt.as_ref().map(|one| one.ended_at.is_some());
        !self.is_over && ended != Some(true)
    }

    /// Says whether the agent of a try writes no more.
    fn is_silent(&self, attempt: &Attempt) -> bool {
        attempt.agent_ended_at.is_some() || !self.is_going_on()
    }

    /// Puts the lines together: what happened until the agent began, what it wrote, what happened
    /// since. What is written is only ever added to, so a line keeps its number; what comes after the
    /// output is told once the agent has ended.
    pub(super) fn lines(&self, task: Option<TaskId>) -> Result<Vec<Raw>> {
        let Some(task) = task else {
            return Ok(self.events.iter().map(|event| self.told(event)).collect());
        };
        let name = task.to_string();
        let own = self.events.iter().filter(|event| self.is_of(event, &name));
        let (before, since): (Vec<&Event>, Vec<&Event>) = own.partition(|event| begins(event));
        let mut lines: Vec<Raw> = before.iter().map(|event| self.told(event)).collect();
        let Some(attempt) = &self.attempt else {
            return Ok(lines);
        };
        let began = before
            .iter()
            .rfind(|event| event.kind == kind::AGENT_STARTED);
        let is_silent = self.is_silent(attempt);
        // That it began is told before all that it wrote.
        if began.is_some() || is_silent {
            let began = began.map_or(attempt.started_at.as_str(), |event| event.at.as_str());
            lines.extend(self.written(task, attempt, began)?);
        }
        if is_silent {
            let since = since.iter().filter(|event| !is_meanwhile(event));
            lines.extend(since.map(|event| self.told(event)));
        }
        Ok(lines)
    }

    fn is_of(&self, event: &Event, task: &str) -> bool {
        let number = self.attempt.as_ref().map(|one| u64::from(one.attempt));
        let told = event.detail.get("attempt").and_then(Value::as_u64);
        let is_task = event.detail.get("taskId").and_then(Value::as_str) == Some(task);
        is_task && (told.is_none() || number.is_none() || told == number)
    }

    fn told(&self, event: &Event) -> Raw {
        let line = Line::from(event);
        let about = line.task_id.as_deref().unwrap_or_default();
        let detail = serde_json::to_string(&line.detail).unwrap_or_default();
        let detail = if detail == "{}" {
            String::new()
        } else {
            detail
        };
        Raw {
            ch: Channel::Event,
            ms: between_ms(&self.started_at, &event.at),
            error: matches!(
                event.kind.as_str(),
                kind::TASK_FAILED | kind::TASK_LACKING | "error"
            ),
            text: [event.kind.as_str(), about, &detail]
                .join(" ")
                .trim()
                .to_string(),
        }
    }

    /// Reads what the agent of a try wrote, in the order in which it came.
    fn written(&self, task: TaskId, attempt: &Attempt, began: &str) -> Result<Vec<Raw>> {
        let folder = journal::place(&self.workspace, self.id)?;
        let path = |end: &str| folder.join(format!("{task}-{}.{end}", attempt.attempt));
        let is_over = self.is_silent(attempt);
        // First, so that what it tells of is there in the outputs.
        let index = index(&path("index"));
        let out = kept(&path("out"))?;
        let err = match is_over || index.is_some() {
            true => kept(&path("err"))?,
            false => Vec::new(),
        };
        // It came with the first output, and after the look at it.
        if !is_over && index.is_none() && path("index").is_file() {
            return Ok(Vec::new());
        }
        let span = self.span(attempt, began);
        let spoken = arrivals::in_order(index.as_deref(), &out, &err, is_over);
        let raw = |line| Raw::of(line, span.as_ref());
        Ok(spoken.into_iter().map(raw).collect())
    }

    fn span(&self, attempt: &Attempt, began: &str) -> Option<Span> {
        let ended = attempt.agent_ended_at.as_ref();
        let ended = ended.or(attempt.ended_at.as_ref());
        Some(Span {
            run: unix_ms(&self.started_at)?,
            began: unix_ms(began)?,
            ended: ended.map_or(Some(self.now), |at| unix_ms(at))?,
        })
    }
}

impl Raw {
    fn of(line: Spoken<'_>, span: Option<&Span>) -> Raw {
        Raw {
            ch: match line.stream {
                Stream::Out => Channel::Out,
                Stream::Err => Channel::Err,
            },
            ms: line
                .at
                .zip(span)
                .and_then(|(at, span)| span.since_begin(at)),
            text: line.text.into_owned(),
            error: false,
        }
    }
}

impl Span {
    /// Says when something was written, in milliseconds since the run began. Whatever a clock or a file
    /// says, it was not before its agent began, and not after it ended.
    fn since_begin(&self, at: i64) -> Option<u64> {
        let at = at.min(self.ended).max(self.began);
        u64::try_from(at - self.run).ok()
    }
}

/// Says whether an event tells of a time before the agent wrote anything.
fn begins(event: &Event) -> bool {
    matches!(
        event.kind.as_str(),
        kind::TASK_STARTED | kind::AGENT_STARTED | kind::TASK_SKIPPED
    )
}

/// Says whether an event tells of the time in which the agent wrote: its own lines say as much, and how
/// it ended.
fn is_meanwhile(event: &Event) -> bool {
    matches!(
        event.kind.as_str(),
        kind::AGENT_DOING | kind::AGENT_CONVERSATION
    )
}

/// Reads an index; none where it is not there or cannot be read.
fn index(path: &Path) -> Option<Vec<Arrival>> {
    let bytes = path.is_file().then(|| file::read_start(path, INDEX_MAX))?;
    bytes.ok().map(|bytes| arrivals::read(&bytes))
}

/// Reads an output.
fn kept(path: &Path) -> Result<Vec<u8>> {
    match path.is_file() {
        true => file::read_start(path, OUTPUT_MAX),
        false => Ok(Vec::new()),
    }
}
