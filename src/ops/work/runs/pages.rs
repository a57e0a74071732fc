//! Pages of the events of a run and of the output of its agents.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::log_lines::Parts;
use crate::error::{Code, Error, Result, quote};
use crate::file;
use crate::id::{TaskId, digest};
use crate::ops::Context;
use crate::ops::runs::{journal, open, require_run};
use crate::ops::work::tracks::lock;
use crate::run::{Line, transcript};
use crate::store::Store;

/// Most bytes of a prompt.
const PROMPT_MAX: u64 = 4 << 20;
/// Most matches that are returned.
const MATCHES_MAX: usize = 10_000;

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct EventPage {
    pub(crate) events: Vec<Line>,
    /// Cursor of the next page; none at the end.
    pub(crate) next: Option<u64>,
}

/// Some lines of the output of an agent.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct LogPage {
    /// How many lines there are by now.
    pub(crate) total: usize,
    /// Number of the first of these lines, from 0.
    pub(crate) from: usize,
    pub(crate) lines: Vec<LogLine>,
    /// Whether more may come.
    pub(crate) following: bool,
    /// Numbers of the lines that match.
    pub(crate) matches: Option<Vec<usize>>,
}

/// A line with its number.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct LogLine {
    /// Its number, from 0.
    pub(crate) n: usize,
    /// When, in milliseconds since the run began; none where that is unknown.
    pub(crate) ms: Option<u64>,
    #[serde(flatten)]
    pub(crate) line: transcript::Line,
}

/// A prompt as an agent got it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct PromptText {
    pub(crate) text: String,
    pub(crate) bytes: usize,
    pub(crate) digest: String,
}

/// Which events of a run.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventQuery {
    /// The run.
    id: String,
    task: Option<TaskId>,
    /// Cursor after which to begin.
    #[serde(default)]
    since: u64,
    #[serde(default)]
    limit: u32,
}

/// Which lines of a log.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogQuery {
    /// The run.
    pub(super) id: String,
    pub(super) task: Option<TaskId>,
    /// The attempt; by default the last.
    attempt: Option<u32>,
    /// Number of the first line; below 0 from the end.
    #[serde(default)]
    from: i64,
    #[serde(default)]
    limit: u32,
    /// Words to look for.
    #[serde(default)]
    q: String,
}

/// Which attempt at a task.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneAttempt {
    /// The run.
    pub(super) id: String,
    pub(super) task: TaskId,
    pub(super) attempt: u32,
}

pub(crate) fn events(context: &mut Context, query: EventQuery) -> Result<EventPage> {
    let user = context.visible_user();
    let store = open(context)?;
    let transaction = store.read()?;
    require_run(&*transaction, &query.id, user.as_deref())?;
    let events = transaction.events(Some(&query.id), query.since, query.limit)?;
    let is_full = events.len() >= query.limit as usize;
    let next = events.last().map(|event| event.cursor).filter(|_| is_full);
    let wanted = query.task.map(|task| task.to_string());
    let lines = events.iter().map(Line::from);
    let fits = |line: &Line| wanted.is_none() || line.task_id == wanted;
    Ok(EventPage {
        events: lines.filter(fits).collect(),
        next,
    })
}

/// Shows lines of the log of a task: events until its agent began, its output, events since. Without a task, all
/// events. Lines are only appended, so each keeps its number; events after the output come once the agent has ended.
pub(crate) fn log(context: &mut Context, query: LogQuery) -> Result<LogPage> {
    let id = query.id.as_str();
    let user = context.visible_user();
    let (workspace, cache) = (context.workspace.clone(), Arc::clone(&context.cache));
    let store = open(context)?;
    let transaction = store.read()?;
    let run = require_run(&*transaction, id, user.as_deref())?;
    let events = journal::events(&*transaction, id)?;
    let mut parts = Parts::default();
    let mut following = !run.is_over();
    match query.task {
        None => parts.before = events.iter().collect(),
        Some(task) => {
            let mut tracks = lock(&cache.tracks);
            let track = tracks.update(&*transaction, id, &events)?;
            let attempt = track.task(task).and_then(|one| one.attempt(query.attempt));
            following &= attempt.is_none_or(|one| one.ended_at.is_none());
            let folder = journal::run_folder(&workspace, id)?;
            parts = Parts::read(&events, task, attempt, following, &folder)?;
        }
    }
    let total = parts.total();
    let from = match usize::try_from(query.from) {
        Ok(from) => from.min(total),
        Err(_) => total.saturating_sub(usize::try_from(query.from.unsigned_abs()).unwrap_or(total)),
    };
    let shown = from..from.saturating_add(query.limit as usize);
    let words = query.q.to_lowercase();
    let (mut lines, mut matches) = (Vec::new(), Vec::new());
    let all = parts.lines()?.enumerate();
    // Without words to look for, lines beside the page need not be parsed.
    let last = if words.is_empty() { shown.end } else { total };
    let first = if words.is_empty() { shown.start } else { 0 };
    for (n, source) in all.take(last).skip(first) {
        let raw = source.read(&query, &run.started_at);
        let has_words = !words.is_empty() && raw.text.to_lowercase().contains(&words);
        if has_words && matches.len() < MATCHES_MAX {
            matches.push(n);
        }
        if shown.contains(&n) {
            lines.push(raw.line(n));
        }
    }
    Ok(LogPage {
        total,
        from,
        lines,
        following,
        matches: (!words.is_empty()).then_some(matches),
    })
}

pub(crate) fn prompt(context: &mut Context, wanted: OneAttempt) -> Result<PromptText> {
    let OneAttempt { id, task, attempt } = &wanted;
    let user = context.visible_user();
    let store = open(context)?;
    require_run(&*store.read()?, id, user.as_deref())?;
    let folder = journal::run_folder(&context.workspace, id)?;
    let path = folder.join(format!("{task}-{attempt}.prompt.md"));
    if !path.is_file() {
        let message = format!("the run {id} has no prompt of attempt {attempt} of {task}");
        let fix = format!("cleo runs show {}", quote(id));
        return Err(Error::new(Code::RunNotFound, message).fix(fix));
    }
    let bytes = file::read(&path, PROMPT_MAX)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(PromptText {
        digest: digest(&bytes),
        bytes: bytes.len(),
        text,
    })
}
