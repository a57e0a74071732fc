//! The lines of the log of a task: what cleo told and what its agent wrote, in the order of time.

use std::sync::Arc;

use serde_json::Value;

use super::LogQuery;
use super::written::Written;
use crate::clock::{between_ms, unix_ms};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::runs::{journal, open, require_run};
use crate::ops::work::lock;
use crate::run::attempt::Attempt;
use crate::run::log::{Entry, LINES_MAX, Stream};
use crate::run::told::kind;
use crate::run::transcript::Channel;
use crate::run::{Event, Line};
use crate::store::agency::Agency;
use crate::workspace::Workspace;

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
    /// How many bytes of the line are not in the text.
    pub(super) beyond: usize,
    pub(super) error: bool,
}

/// The lines of a log. There may be very many, so each is made when it is asked for.
pub(super) struct Lines<'a> {
    found: &'a Found<'a>,
    task: Option<TaskId>,
    before: Vec<&'a Event>,
    written: Written,
    /// Between which moments that was written, where they are known.
    span: Option<Span>,
    since: Vec<&'a Event>,
}

/// Moments in milliseconds since 1970: when a run began, and between which ones an agent wrote.
struct Span {
    run: i64,
    began: i64,
    ended: i64,
}

impl<'a> Found<'a> {
    pub(super) fn find(context: &mut Context, query: &'a LogQuery) -> Result<Found<'a>> {
        let id = query.id.as_str();
        let user = context.surroundings.rights.user.clone();
        let (workspace, clock) = (context.workspace.clone(), context.surroundings.clock);
        let memory = Arc::clone(&context.memory);
        let agency = open(context)?;
        let transaction = agency.read()?;
        let run = require_run(&*transaction, id, user.as_deref())?;
        let events = journal::events(&*transaction, id)?;
        let mut memory = lock(&memory);
        let track = memory.track(&*transaction, id, &events)?;
        let attempts = query.task.map(|task| track.attempts(task));
        let attempts = attempts.unwrap_or_default();
        let attempt = match query.attempt {
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
            now: clock.now().timestamp_millis(),
        })
    }
}

impl Found<'_> {
    pub(super) fn is_going_on(&self) -> bool {
        let ended = self.attempt.as_ref().map(|one| one.ended_at.is_some());
        !self.is_over && ended != Some(true)
    }

    fn is_silent(&self, attempt: &Attempt) -> bool {
        attempt.agent_ended_at.is_some() || !self.is_going_on()
    }

    /// Puts the lines together: what happened until the agent began, what it wrote, what happened
    /// since. What is written is only ever added to, so a line keeps its number; what comes after the
    /// output is told once the agent has ended.
    pub(super) fn lines(&self, task: Option<TaskId>) -> Result<Lines<'_>> {
        let all = self.events.iter();
        let Some(task) = task else {
            return Ok(self.told_alone(None, all.collect()));
        };
        let name = task.to_string();
        let own = all.filter(|event| self.is_of(event, &name));
        let (before, since): (Vec<&Event>, Vec<&Event>) = own.partition(|event| begins(event));
        let mut lines = self.told_alone(Some(task), before);
        let Some(attempt) = &self.attempt else {
            return Ok(lines);
        };
        let began = lines
            .before
            .iter()
            .rfind(|event| event.kind == kind::AGENT_STARTED);
        let is_silent = self.is_silent(attempt);
        // That it began is told before all that it wrote.
        if began.is_some() || is_silent {
            let began = began.map_or(attempt.started_at.as_str(), |event| event.at.as_str());
            lines.span = self.span(attempt, began);
            let folder = journal::place(&self.workspace, self.id)?;
            let name = format!("{task}-{}.log", attempt.attempt);
            lines.written = Written::read(folder.join(name))?;
        }
        if is_silent {
            lines.since = since;
            lines.since.retain(|event| !is_meanwhile(event));
        }
        Ok(lines)
    }

    fn told_alone<'a>(&'a self, task: Option<TaskId>, before: Vec<&'a Event>) -> Lines<'a> {
        Lines {
            found: self,
            task,
            before,
            written: Written::default(),
            span: None,
            since: Vec::new(),
        }
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
            beyond: 0,
        }
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

impl Lines<'_> {
    pub(super) fn total(&self) -> usize {
        self.before.len() + self.written.total() + self.since.len()
    }

    pub(super) fn line(&mut self, n: usize) -> Result<Raw> {
        if let Some(event) = self.before.get(n) {
            return Ok(self.found.told(event));
        }
        let n = n - self.before.len();
        match n.checked_sub(self.written.total()) {
            Some(n) => Ok(self.found.told(self.since[n])),
            None => self.read_line(n),
        }
    }

    fn read_line(&mut self, n: usize) -> Result<Raw> {
        let Some(line) = self.written.line(n)? else {
            return Ok(self.more());
        };
        let Ok(entry) = serde_json::from_slice::<Entry<'_>>(&line) else {
            // A damaged line is shown as it is.
            return Ok(Raw {
                ch: Channel::Out,
                ms: None,
                text: String::from_utf8_lossy(&line).into_owned(),
                beyond: 0,
                error: false,
            });
        };
        let span = self.span.as_ref();
        Ok(Raw {
            ch: match entry.stream {
                Stream::Out => Channel::Out,
                Stream::Err => Channel::Err,
            },
            ms: span.and_then(|span| span.since_begin(entry.ms)),
            text: entry.text.into_owned(),
            beyond: entry.beyond,
            error: false,
        })
    }

    fn more(&self) -> Raw {
        let task = self.task.map(|task| format!(" --task {task}"));
        let (run, task) = (self.found.id, task.unwrap_or_default());
        let end = format!("`cleo runs logs {run}{task} --raw` shows the end");
        Raw {
            ch: Channel::Out,
            ms: None,
            text: format!("[cleo left out all that came after {LINES_MAX} lines; {end}]"),
            beyond: 0,
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
