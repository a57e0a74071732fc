//! The present: agents at work with their last line, what needs a person, and what was delivered.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::at_work::{AtWork, cut, list_at_work};
use super::scene::{View, with_scene};
use super::tracks::lock;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::runs::{journal, open};
use crate::ops::tasks::delivered::is_delivered;
use crate::run::RunStatus;
use crate::run::log::{Entry, Stream};
use crate::run::transcript::{self, Channel};
use crate::run::view::RunRow;
use crate::store::records::RunFilter;
use crate::store::{Filter, Store};
use crate::task::{DisplayStatus, Status};
use crate::workspace::Workspace;
use crate::{clock, file};

/// Most stopped runs that are read.
const RUNS_MAX: u32 = 100;
/// Most items of each part that are shown.
const SHOWN_MAX: usize = 100;
/// How much of the end of a log is searched for its last line, in bytes.
const TAIL: u64 = 16 << 10;

#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NowQuery {
    /// The moment after which something was delivered: a date or a time; by default the beginning of the day in UTC.
    #[schemars(transform = crate::task::schema::moment)]
    since: Option<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Now {
    /// The agents at work, those that began first first.
    pub(crate) at_work: Vec<AtWork>,
    /// Everything that waits for a person, what failed first.
    pub(crate) needs_you: Vec<Need>,
    pub(crate) needs_you_total: usize,
    /// Tasks that were done since the moment, the last first.
    pub(crate) delivered: Vec<Delivery>,
    pub(crate) delivered_total: u64,
    /// The moment of this answer.
    pub(crate) now: String,
}

/// Something that waits for a person.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Need {
    pub(crate) kind: NeedKind,
    pub(crate) task: Option<TaskId>,
    /// The run to resume, or the last run with an attempt at the task.
    pub(crate) run: Option<String>,
    pub(crate) attempt: Option<u32>,
    pub(crate) title: String,
    /// Why, as far as something says so.
    pub(crate) why: Option<String>,
    pub(crate) at: String,
}

crate::words::closed! {
    /// The reason why a person is needed.
    NeedKind, "reason why a person is needed":
    /// The last attempt was refused.
    Failed = "failed",
    /// It waits for a review.
    Review = "review",
    /// It is blocked.
    Blocked = "blocked",
    /// Its output is there and not proven.
    Unproven = "unproven",
    /// The process of a run ended before the run did.
    Stopped = "stopped",
}

/// A task that was done.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Delivery {
    pub(crate) task: TaskId,
    pub(crate) title: String,
    /// The last run with an attempt at it.
    pub(crate) run: Option<String>,
    pub(crate) attempt: Option<u32>,
    pub(crate) agent: Option<String>,
    /// Whether cleo verified it.
    pub(crate) verified: bool,
    pub(crate) at: String,
}

pub(crate) fn now(context: &mut Context, query: NowQuery) -> Result<Now> {
    let now = context.now();
    let since = query.since.or_else(|| now.get(..10).map(str::to_string));
    let since = since.as_deref().and_then(clock::parse_moment);
    let since = since.ok_or_else(|| {
        Error::new(Code::InputInvalid, "since is not a date or a time").in_field("since")
    })?;
    let mut at_work = list_at_work(context)?;
    let workspace = context.workspace.clone();
    for one in &mut at_work {
        if let (Some(run), Some(task), Some(attempt)) = (&one.run, one.task, one.attempt) {
            let folder = journal::run_folder(&workspace, run)?;
            let line = read_last_line(&folder.join(format!("{task}-{attempt}.log")));
            one.line = line.or(one.line.take());
        }
    }
    let stopped = list_stopped(context)?;
    with_scene(
        context,
        |_| Ok(None),
        |view| {
            let mut needs_you = view.list_needs(&workspace)?;
            let is_open = |(tasks, _): &(Vec<TaskId>, Need)| {
                let is_closed = |id: &TaskId| {
                    let state = view.scene.state(*id);
                    matches!(state, DisplayStatus::Done | DisplayStatus::Cancelled)
                };
                tasks.is_empty() || !tasks.iter().all(is_closed)
            };
            let stopped = stopped.into_iter().filter(is_open);
            needs_you.extend(stopped.map(|(_, need)| need));
            needs_you.sort_by(|a, b| (a.kind, &b.at).cmp(&(b.kind, &a.at)));
            let (delivered, delivered_total) = view.list_delivered(since)?;
            let needs_you_total = needs_you.len();
            needs_you.truncate(SHOWN_MAX);
            Ok(Now {
                at_work,
                needs_you,
                needs_you_total,
                delivered,
                delivered_total,
                now,
            })
        },
    )
}

/// Lists the runs whose process ended, each with its tasks.
fn list_stopped(context: &mut Context) -> Result<Vec<(Vec<TaskId>, Need)>> {
    let (user, now) = (context.visible_user(), context.now());
    let cache = Arc::clone(&context.cache);
    let transaction = open(context)?.read()?;
    let mut tracks = lock(&cache.tracks);
    let stopped = transaction.runs(
        user.as_deref(),
        &RunFilter::by_status(RunStatus::Interrupted, RUNS_MAX),
    )?;
    let mut all = Vec::new();
    for run in stopped.runs.into_iter().filter(|run| run.kind.resumes()) {
        let at = run.completed_at.as_ref().unwrap_or(&run.started_at).clone();
        let track = tracks.update(&*transaction, &run.id, &[])?;
        let tasks = track.tasks().iter().filter(|task| !task.planned.is_epic);
        let tasks: Vec<TaskId> = tasks.map(|task| task.planned.task_id).collect();
        let row = RunRow::new(run, track, &now);
        let steps = row.steps;
        let why = steps.map(|it| format!("{} of {} tasks are done", it.done, it.total));
        let need = Need {
            kind: NeedKind::Stopped,
            task: None,
            title: row.title,
            run: Some(row.record.id),
            attempt: None,
            why,
            at,
        };
        all.push((tasks, need));
    }
    Ok(all)
}

impl View<'_> {
    /// Lists the tasks that wait for a person.
    fn list_needs(&self, workspace: &Workspace) -> Result<Vec<Need>> {
        let ids = self.scene.tasks().map(|node| node.id);
        let ids: Vec<TaskId> = ids.collect();
        let spawned = self.transaction.spawn_verdicts(&ids)?;
        let mut needs = Vec::new();
        for id in ids {
            let kind = match self.scene.state(id) {
                DisplayStatus::Failed => NeedKind::Failed,
                DisplayStatus::Review => NeedKind::Review,
                DisplayStatus::NeedsYou => NeedKind::Blocked,
                DisplayStatus::Ready if spawned.contains_key(&id) => {
                    let latest = self.transaction.latest_spawn_to_show(id)?;
                    match latest.is_some_and(|record| is_delivered(workspace, &record)) {
                        true => NeedKind::Unproven,
                        false => continue,
                    }
                }
                _ => continue,
            };
            let Some(row) = self.read_row(id)? else {
                continue;
            };
            let (run, attempt) = self.find_last_attempt(id).unzip();
            needs.push(Need {
                kind,
                task: Some(id),
                run,
                attempt,
                title: row.task.title,
                why: row.note,
                at: row.updated_at,
            });
        }
        Ok(needs)
    }

    /// Lists the tasks that were done since a moment, and counts them.
    fn list_delivered(&self, since: String) -> Result<(Vec<Delivery>, u64)> {
        let mut page = self.transaction.list(&Filter {
            statuses: vec![Status::Done],
            closed_after: Some(since),
            ..Filter::default()
        })?;
        page.tasks
            .retain(|task| !self.scene.layers.wholes.contains(&task.id));
        let total = page.tasks.len() as u64;
        page.tasks
            .sort_by(|a, b| (&b.completed_at, b.id).cmp(&(&a.completed_at, a.id)));
        page.tasks.truncate(SHOWN_MAX);
        let delivered = page.tasks.into_iter().map(|task| {
            let (run, attempt) = self.find_last_attempt(task.id).unzip();
            let in_run = self.scene.in_runs.get(&task.id);
            Delivery {
                task: task.id,
                title: task.title,
                run,
                attempt,
                agent: in_run.and_then(|one| one.setup.runner.clone()),
                verified: self.scene.verified.contains(&task.id),
                at: task.completed_at.unwrap_or(task.updated_at),
            }
        });
        Ok((delivered.collect(), total))
    }

    /// Finds the last attempt at a task among the last runs.
    fn find_last_attempt(&self, task: TaskId) -> Option<(String, u32)> {
        self.runs.iter().find_map(|run| {
            let last = self.tracks.find(&run.id)?.attempts(task).last()?;
            Some((run.id.clone(), last.attempt))
        })
    }
}

/// Reads the last line of a log that says something.
fn read_last_line(path: &Path) -> Option<String> {
    let mut log = file::open(path).ok()?;
    let end = log.metadata().ok()?.len();
    log.seek(SeekFrom::Start(end.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    log.take(TAIL).read_to_end(&mut tail).ok()?;
    let lines = tail.split(|byte| *byte == b'\n').rev();
    lines.map(serde_json::from_slice).find_map(|line| {
        let entry: Entry<'_> = line.ok()?;
        let channel = match entry.stream {
            Stream::Out => Channel::Out,
            Stream::Err => Channel::Err,
        };
        let line = transcript::parse_line(channel, &entry.text);
        let text = match &line.tool {
            Some(tool) => format!("{} {}", tool.name, tool.summary),
            None => line.text,
        };
        let last = text
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty());
        last.map(cut)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::log::write;

    #[test]
    fn last_line_is_the_last_with_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("T1-1.log");
        let log = write(Stream::Out, "first\nreads the store\n\n");
        std::fs::write(&path, log + "{\"ms\":1,\"stre").unwrap();
        assert_eq!(read_last_line(&path).as_deref(), Some("reads the store"));
        assert_eq!(read_last_line(&folder.path().join("T2-1.log")), None);
    }
}
