//! What happened in a run and what its agents wrote, a part at a time.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::listing::owned;
use super::{journal, no_run, settled};
use crate::clock::between_ms;
use crate::error::{Code, Error, Result};
use crate::file::{self, unreadable};
use crate::id::{TaskId, digest};
use crate::ops::Surroundings;
use crate::ops::work::Memory;
use crate::run::told::kind;
use crate::run::track::Attempt;
use crate::run::transcript::{self, Channel};
use crate::run::{Event, Line};
use crate::store::agency::Agency;
use crate::workspace::Workspace;

/// Most bytes of an output that are looked at; of a longer one the beginning.
const OUTPUT_MAX: u64 = 64 << 20;
/// Most bytes of a prompt.
const PROMPT_MAX: u64 = 4 << 20;
/// Most matches that are told.
const MATCHES_MAX: usize = 10_000;

/// Some of what happened.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct EventPage {
    /// The events, in order.
    pub events: Vec<Line>,
    /// Cursor to go on from; none at the end.
    pub next: Option<u64>,
}

/// Some lines of what an agent wrote.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct LogPage {
    /// How many lines there are by now.
    pub total: usize,
    /// Number of the first of these lines, from 0.
    pub from: usize,
    /// The lines.
    pub lines: Vec<LogLine>,
    /// Whether more may come.
    pub following: bool,
    /// Numbers of the lines that hold what is looked for.
    pub matches: Option<Vec<usize>>,
}

/// A line with its number.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct LogLine {
    /// Its number, from 0.
    pub n: usize,
    /// When, in milliseconds since the run began; none where nobody knows.
    pub ms: Option<u64>,
    /// What it says.
    #[serde(flatten)]
    pub line: transcript::Line,
}

/// A prompt as an agent got it.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct PromptText {
    /// The text.
    pub text: String,
    /// How many bytes it has.
    pub bytes: usize,
    /// Its digest.
    pub digest: String,
}

/// Which part of a log.
#[derive(Clone, Debug, Default)]
pub struct LogWanted {
    /// The task.
    pub task: Option<TaskId>,
    /// The try; none: the last.
    pub attempt: Option<u32>,
    /// Number of the first line; below 0 from the end.
    pub from: i64,
    /// At most so many.
    pub limit: usize,
    /// Words to look for.
    pub words: String,
}

/// A run that may be looked at.
struct Found<'a> {
    workspace: Workspace,
    id: &'a str,
    started_at: String,
    attempt: Option<Attempt>,
    events: Vec<Event>,
    is_over: bool,
}

/// Reads what happened in a run after a cursor.
pub fn events(
    surroundings: &Surroundings,
    id: &str,
    user: Option<&str>,
    task: Option<TaskId>,
    since: u64,
    limit: u32,
) -> Result<EventPage> {
    let workspace = surroundings.workspace()?;
    let mut agency = settled(&workspace, &surroundings.clock)?.ok_or_else(|| no_run(id))?;
    let transaction = agency.read()?;
    owned(&*transaction, id, user)?;
    let events = transaction.events(Some(id), since, limit)?;
    let is_full = events.len() >= limit as usize;
    let next = events.last().map(|event| event.cursor).filter(|_| is_full);
    let wanted = task.map(|task| task.to_string());
    let lines = events.iter().map(Line::from);
    let fits = |line: &Line| wanted.is_none() || line.task_id == wanted;
    Ok(EventPage {
        events: lines.filter(fits).collect(),
        next,
    })
}

/// Reads lines of what an agent wrote, between what happened before and after.
pub fn log(
    surroundings: &Surroundings,
    memory: &mut Memory,
    id: &str,
    user: Option<&str>,
    wanted: &LogWanted,
) -> Result<LogPage> {
    let found = find(surroundings, memory, id, user, wanted)?;
    let lines = found.lines(wanted.task)?;
    let total = lines.len();
    let from = match usize::try_from(wanted.from) {
        Ok(from) => from.min(total),
        Err(_) => {
            total.saturating_sub(usize::try_from(wanted.from.unsigned_abs()).unwrap_or(total))
        }
    };
    let words = wanted.words.to_lowercase();
    let matches = (!words.is_empty()).then(|| {
        let holds = |(n, one): (usize, &Raw)| one.text.to_lowercase().contains(&words).then_some(n);
        lines
            .iter()
            .enumerate()
            .filter_map(holds)
            .take(MATCHES_MAX)
            .collect()
    });
    let shown = lines.iter().enumerate().skip(from).take(wanted.limit);
    let shown = shown.map(|(n, raw)| {
        let mut line = transcript::line(raw.ch, &raw.text);
        line.error |= raw.error;
        let ms = raw.ms;
        LogLine { n, ms, line }
    });
    Ok(LogPage {
        total,
        from,
        lines: shown.collect(),
        following: found.is_going_on(),
        matches,
    })
}

/// Reads the prompt of a try.
pub fn prompt(
    surroundings: &Surroundings,
    id: &str,
    user: Option<&str>,
    task: TaskId,
    attempt: u32,
) -> Result<PromptText> {
    let workspace = surroundings.workspace()?;
    let mut agency = settled(&workspace, &surroundings.clock)?.ok_or_else(|| no_run(id))?;
    owned(&*agency.read()?, id, user)?;
    let path = journal::place(&workspace, id)?.join(format!("{task}-{attempt}.prompt.md"));
    let missing = || {
        let message = format!("the run {id} has no prompt of try {attempt} of {task}");
        Error::new(Code::RunNotFound, message).fix(format!("cleo runs show {id}"))
    };
    if !path.is_file() {
        return Err(missing());
    }
    let bytes = file::read(&path, PROMPT_MAX)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(PromptText {
        digest: digest(&bytes),
        bytes: bytes.len(),
        text,
    })
}

fn find<'a>(
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
    })
}

/// A line before it is put into words.
struct Raw {
    ch: Channel,
    ms: Option<u64>,
    text: String,
    error: bool,
}

impl Found<'_> {
    /// Says whether lines may still come.
    fn is_going_on(&self) -> bool {
        let ended = self.attempt.as_ref().map(|one| one.ended_at.is_some());
        !self.is_over && ended != Some(true)
    }

    /// Puts the lines together: what happened until the agent began, what it wrote, what happened
    /// since. What is written is only ever added to, so a line keeps its number; what comes after the
    /// output is told once the agent has ended.
    fn lines(&self, task: Option<TaskId>) -> Result<Vec<Raw>> {
        let Some(task) = task else {
            return Ok(self.events.iter().map(|event| self.told(event)).collect());
        };
        let name = task.to_string();
        let own: Vec<&Event> = self
            .events
            .iter()
            .filter(|event| self.is_of(event, &name))
            .collect();
        let begins = |event: &&&Event| {
            matches!(
                event.kind.as_str(),
                kind::TASK_STARTED | kind::AGENT_STARTED | kind::TASK_SKIPPED
            )
        };
        let mut lines: Vec<Raw> = own
            .iter()
            .filter(begins)
            .map(|event| self.told(event))
            .collect();
        let Some(attempt) = &self.attempt else {
            return Ok(lines);
        };
        lines.extend(self.written(task, attempt.attempt, "out", Channel::Out)?);
        if attempt.agent_ended_at.is_some() || attempt.ended_at.is_some() {
            lines.extend(self.written(task, attempt.attempt, "err", Channel::Err)?);
            let after = own
                .iter()
                .filter(|event| !begins(event) && event.kind != kind::AGENT_DOING);
            lines.extend(after.map(|event| self.told(event)));
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

    fn written(&self, task: TaskId, attempt: u32, end: &str, ch: Channel) -> Result<Vec<Raw>> {
        let folder: PathBuf = journal::place(&self.workspace, self.id)?;
        let path = folder.join(format!("{task}-{attempt}.{end}"));
        if !path.is_file() {
            return Ok(Vec::new());
        }
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(OUTPUT_MAX).read_to_end(&mut bytes));
        read.map_err(|cause| unreadable(&path, cause))?;
        // A line that is still being written would change.
        let whole = match self.is_going_on() {
            true => bytes
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |end| end + 1),
            false => bytes.len(),
        };
        let text = String::from_utf8_lossy(&bytes[..whole]).into_owned();
        let raw = |line: &str| Raw {
            ch,
            ms: None,
            text: line.to_string(),
            error: false,
        };
        Ok(text.lines().map(raw).collect())
    }
}
