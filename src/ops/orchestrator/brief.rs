//! The hand-over for an agent that starts with an empty context.

use std::path::Path;

use serde::Serialize;

use super::cut::{Cut, Few, Size, cut, cut_to_tokens};
use super::overview::{self, Overview};
use crate::error::Result;
use crate::estimate::one_line;
use crate::id::TaskId;
use crate::manifest::log;
use crate::ops::Context;
use crate::ops::tasks::{Below, is_within, waiting_for};
use crate::session::{Session, SessionStatus};
use crate::store::Transaction;
use crate::task::graph::Problem;
use crate::task::{Note, Status, Task, TaskView};
use crate::workspace::OUTPUT_DIR;

/// Maximum number of tokens of a brief, so that its reader has room for work.
const TOKENS: usize = 4_000;
/// Maximum number of tasks that are read, by status.
const TASKS_MAX: u32 = 60;
/// Maximum number of tasks that one task waits for.
const NEEDS_SHOWN: usize = 5;
/// Maximum number of notes of a session.
const NOTES_SHOWN: usize = 3;
/// Maximum length of the name of an output file, in characters.
const FILE_MAX: usize = 160;
/// Maximum length of the description of the goal, in titles.
const GOAL: usize = 10;

/// The part of an overview that only a hand-over has.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Brief {
    /// When it was written, RFC 3339 in UTC.
    pub(crate) at: String,
    /// The goal of the epic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal: Option<Goal>,
    /// Done tasks and their findings, the last first.
    pub(crate) done: Few<DoneTask>,
    /// Open sessions whose scope is within the epic or around it.
    pub(crate) sessions: Few<OpenSession>,
    /// Pending tasks that cannot start, with the reason.
    pub(crate) waiting: Few<WaitingTask>,
    /// Tasks that are blocked, under review or paused.
    pub(crate) held_up: Few<TaskView>,
    /// Notes on these tasks, the last first.
    pub(crate) notes: Few<TaskNote>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Goal {
    /// The description of the epic, cut.
    pub(crate) description: String,
    /// The acceptance criteria of the epic.
    pub(crate) acceptance: Vec<String>,
}

/// A done task and the output of its agent.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DoneTask {
    #[serde(flatten)]
    pub(crate) task: TaskView,
    /// Id of its latest entry in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<String>,
    /// The output file of that entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    pub(crate) key_findings: Vec<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct OpenSession {
    /// The session with its last notes, the last first.
    #[serde(flatten)]
    pub(crate) session: Session,
    /// The task in focus.
    pub(crate) task: Option<TaskView>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitingTask {
    #[serde(flatten)]
    pub(crate) task: TaskView,
    /// Tasks that have to be done first; none if it waits for its own parts.
    pub(crate) waits_for: Vec<TaskId>,
    /// True if one of these can never be done.
    pub(crate) stuck: bool,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct TaskNote {
    pub(crate) task: TaskId,
    #[serde(flatten)]
    pub(crate) note: Note,
}

cut! {
    Brief: goal done sessions waiting held_up notes;
    DoneTask: task key_findings;
    OpenSession: session task;
    WaitingTask: task;
    TaskNote: note;
}

impl Cut for Goal {
    fn cut(&mut self, size: Size) {
        self.description = one_line(&self.description, size.text * GOAL);
        self.acceptance.cut(size);
    }
}

/// Writes the hand-over of an epic, or of all work.
pub(crate) fn brief(context: &mut Context, part: Below) -> Result<Overview> {
    let epic = part.epic;
    let (mut overview, ready) = overview::read(context, epic)?;
    let (manifest, at) = (context.workspace.manifest()?, context.now());
    context.read(|transaction| {
        let read = |status: &[Status]| -> Result<Vec<Task>> {
            let mut tasks = Vec::new();
            for status in status {
                let ids = transaction.recent(epic, *status, TASKS_MAX)?;
                tasks.extend(transaction.readable(&ids)?);
            }
            Ok(tasks)
        };
        let aside = [Status::Blocked, Status::Review, Status::Paused];
        let (done, pending) = (read(&[Status::Done])?, read(&[Status::Pending])?);
        let (active, held_up) = (read(&[Status::Active])?, read(&aside)?);
        let epic_task = transaction.readable(&Vec::from_iter(epic))?;
        let all = [&epic_task, &active, &pending, &held_up, &done];
        let notes = all.into_iter().flatten().flat_map(|task| {
            let notes = task.notes.iter().cloned();
            notes.map(|note| TaskNote {
                task: task.id,
                note,
            })
        });
        let mut notes: Vec<TaskNote> = notes.collect();
        notes.sort_by(|a, b| b.note.at.cmp(&a.note.at));
        let n_waiting = overview
            .count(Status::Pending)
            .saturating_sub(overview.ready.total);
        let n_held_up = aside.map(|status| overview.count(status)).iter().sum();
        let brief = Brief {
            at,
            goal: epic_task.first().map(|epic| Goal {
                description: epic.description.clone(),
                acceptance: epic.acceptance.clone(),
            }),
            notes: notes.into(),
            sessions: sessions(transaction, epic)?.into(),
            waiting: waiting(transaction, &pending, &ready.problems, n_waiting)?,
            held_up: Few::new(held_up.into_iter().map(TaskView::from).collect(), n_held_up),
            done: Few::new(
                list_finished(&manifest, done)?,
                overview.count(Status::Done),
            ),
        };
        overview.brief = Some(brief);
        Ok(cut_to_tokens(TOKENS, overview))
    })
}

fn sessions(transaction: &dyn Transaction, epic: Option<TaskId>) -> Result<Vec<OpenSession>> {
    let mut found = Vec::new();
    for mut session in transaction.sessions(Some(SessionStatus::Open))? {
        let near = match (epic, session.scope) {
            (Some(epic), Some(scope)) => {
                is_within(transaction, scope, epic)? || is_within(transaction, epic, scope)?
            }
            _ => true,
        };
        if near {
            session.notes.reverse();
            session.notes.truncate(NOTES_SHOWN);
            let task = transaction.readable(&Vec::from_iter(session.focus))?.pop();
            let task = task.map(TaskView::from);
            found.push(OpenSession { session, task });
        }
    }
    Ok(found)
}

/// Finds the dependencies of pending tasks that are not ready. `n_waiting` counts them beyond the tasks that were read.
fn waiting(
    transaction: &dyn Transaction,
    pending: &[Task],
    problems: &[Problem],
    n_waiting: u64,
) -> Result<Few<WaitingTask>> {
    let mut waiting = Vec::new();
    for task in pending {
        if task.kind.is_epic() || transaction.is_ready(task.id)? {
            continue;
        }
        let mut waits_for = waiting_for(transaction, task)?;
        waits_for.truncate(NEEDS_SHOWN);
        waiting.push(WaitingTask {
            stuck: problems.iter().any(|one| one.tasks.contains(&task.id)),
            task: task.clone().into(),
            waits_for,
        });
    }
    waiting.sort_unstable_by_key(|one| one.task.id);
    match pending.len() < TASKS_MAX as usize {
        true => Ok(waiting.into()),
        false => Ok(Few::new(waiting, n_waiting)),
    }
}

fn list_finished(manifest: &Path, done: Vec<Task>) -> Result<Vec<DoneTask>> {
    let ids: Vec<TaskId> = done.iter().map(|task| task.id).collect();
    let latest = log::latest_for(manifest, &ids, |_| true)?;
    let finished = done.into_iter().map(|task| {
        let entry = latest.entry(task.id);
        let file = entry.map(|entry| one_line(&entry.file, FILE_MAX));
        DoneTask {
            task: task.into(),
            entry: entry.map(|entry| entry.id.clone()),
            file: file.map(|file| format!("{OUTPUT_DIR}/{file}")),
            key_findings: entry.map_or(Vec::new(), |entry| entry.key_findings.clone()),
        }
    });
    Ok(finished.collect())
}
