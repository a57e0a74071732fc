//! The whole hand-over for an agent that begins with an empty context.

use serde::Serialize;

use super::few::{Few, Size, fit};
use super::overview::{Collected, Overview};
use crate::error::Result;
use crate::estimate;
use crate::gate::{Gate, Gates};
use crate::id::TaskId;
use crate::manifest::{Entry, log};
use crate::ops::Context;
use crate::ops::tasks::{Below, Ready, is_within};
use crate::session::{Session, SessionStatus};
use crate::store::Transaction;
use crate::task::{Note, Status, Task, TaskView};
use crate::workspace::OUTPUT_DIR;

/// Most tokens of a brief, so that it leaves its reader room for work.
const TOKENS: usize = 4_000;
/// Most tasks of each kind that are read.
const TASKS_MAX: u32 = 60;
/// Most things that one task waits for and are named.
const NEEDS_SHOWN: usize = 5;
/// Most notes of a session.
const NOTES_SHOWN: usize = 3;
/// How much longer than a title the description of the goal may be.
const GOAL: usize = 10;

/// What somebody has to know who goes on with the work.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Brief {
    /// When it was written, RFC 3339 in UTC.
    pub(crate) at: String,
    #[serde(flatten)]
    pub(crate) overview: Overview,
    /// What it is all for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal: Option<Goal>,
    /// What is done and what was found, the last first.
    pub(crate) done: Few<Finished>,
    /// Open sessions that have to do with these tasks.
    pub(crate) sessions: Few<OpenSession>,
    /// Pending tasks that cannot start, with the reason.
    pub(crate) waiting: Few<Waiting>,
    /// Tasks that somebody has set aside: blocked, under review, paused.
    pub(crate) held_up: Few<TaskView>,
    /// Notes on these tasks, the last first: what was decided and learned.
    pub(crate) notes: Few<Noted>,
    /// Gates of these tasks that are set or have failed.
    pub(crate) gates: Few<GateState>,
}

/// What an epic is for.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Goal {
    /// What it is about, cut.
    pub(crate) description: String,
    /// By what it is accepted.
    pub(crate) acceptance: Vec<String>,
}

/// A done task and what its agent left.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finished {
    /// The task.
    #[serde(flatten)]
    pub(crate) task: TaskView,
    /// The entry of its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<String>,
    /// The file of its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// What was found.
    pub(crate) key_findings: Vec<String>,
}

/// An open session: who leads it, what they work on and what they noted last.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct OpenSession {
    /// The session, its texts cut, with its last notes, the last first.
    #[serde(flatten)]
    pub(crate) session: Session,
    /// The task that is worked on now.
    pub(crate) task: Option<TaskView>,
}

/// A task and what it waits for.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Waiting {
    /// The task.
    #[serde(flatten)]
    pub(crate) task: TaskView,
    /// What has to be done first; nothing when it waits for its own parts.
    pub(crate) waits_for: Vec<TaskId>,
    /// True when what it waits for can never be done.
    pub(crate) stuck: bool,
}

/// A note on a task, cut.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Noted {
    pub(crate) task: TaskId,
    #[serde(flatten)]
    pub(crate) note: Note,
}

/// The gates of a task.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct GateState {
    pub(crate) task: TaskId,
    /// Gates that have passed.
    pub(crate) passed: Vec<&'static str>,
    /// How many failures there were.
    pub(crate) failures: usize,
}

/// Everything that a brief is cut from.
struct Found {
    at: String,
    collected: Collected,
    done: Vec<(Task, Option<Entry>)>,
    sessions: Vec<(Session, Option<Task>)>,
    waiting: Vec<(Task, Vec<TaskId>)>,
    held_up: Vec<Task>,
    notes: Vec<(TaskId, Note)>,
    gates: Vec<(TaskId, Gates)>,
}

/// Writes the hand-over of an epic, or of the whole workspace.
pub(crate) fn brief(context: &mut Context, part: Below) -> Result<Brief> {
    let epic = part.epic;
    let collected = Collected::read(context, epic, TASKS_MAX)?;
    let (manifest, at) = (context.workspace.manifest()?, context.now());
    let found = context.read(|transaction| {
        let read = |status| -> Result<Vec<Task>> {
            transaction.readable(&transaction.recent(epic, status, TASKS_MAX)?)
        };
        let done = read(Status::Done)?;
        let ids: Vec<TaskId> = done.iter().map(|task| task.id).collect();
        let latest = log::latest_for(&manifest, &ids, |_, _| true)?;
        let mut held_up = Vec::new();
        for status in [Status::Blocked, Status::Review, Status::Paused] {
            held_up.extend(read(status)?);
        }
        let mut found = Found {
            at,
            waiting: waiting(transaction, read(Status::Pending)?, &collected.ready)?,
            done: done
                .into_iter()
                .map(|task| (latest.entry(task.id).cloned(), task))
                .map(|(entry, task)| (task, entry))
                .collect(),
            sessions: sessions(transaction, epic)?,
            held_up,
            collected,
            notes: Vec::new(),
            gates: Vec::new(),
        };
        found.look_closer(transaction)?;
        Ok(found)
    })?;
    Ok(fit(TOKENS, |size| found.cut(size)))
}

/// Reads the open sessions that work in an epic or around it, with what is in focus.
fn sessions(
    transaction: &dyn Transaction,
    epic: Option<TaskId>,
) -> Result<Vec<(Session, Option<Task>)>> {
    let mut found = Vec::new();
    for session in transaction.sessions(Some(SessionStatus::Open))? {
        let near = match (epic, session.scope) {
            (Some(epic), Some(scope)) => {
                is_within(transaction, scope, epic)? || is_within(transaction, epic, scope)?
            }
            _ => true,
        };
        if near {
            let focus: Vec<TaskId> = session.focus.into_iter().collect();
            let focus = transaction.readable(&focus)?.pop();
            found.push((session, focus));
        }
    }
    Ok(found)
}

/// Finds what each pending task that is not ready waits for.
fn waiting(
    transaction: &dyn Transaction,
    pending: Vec<Task>,
    ready: &Ready,
) -> Result<Vec<(Task, Vec<TaskId>)>> {
    let mut waiting = Vec::new();
    for task in pending {
        if task.kind.is_epic() || ready.tasks.iter().any(|other| other.task.id == task.id) {
            continue;
        }
        let mut needs = Vec::new();
        for need in &task.depends {
            if transaction.status(*need)? != Some(Status::Done) {
                needs.push(*need);
            }
        }
        waiting.push((task, needs));
    }
    waiting.sort_unstable_by_key(|(task, _)| task.id);
    Ok(waiting)
}

impl Found {
    /// Reads notes and gates of the tasks that are shown.
    fn look_closer(&mut self, transaction: &dyn Transaction) -> Result<()> {
        let (facts, mut notes, mut gates) = (&self.collected.facts, Vec::new(), Vec::new());
        let active = facts.active.iter().map(|working| &working.task);
        let done = self.done.iter().map(|(task, _)| task);
        let others = self.collected.first.iter().chain(&self.held_up);
        let tasks = facts.epic.iter().chain(active).chain(others).chain(done);
        let mut ids: Vec<TaskId> = tasks.clone().map(|task| task.id).collect();
        ids.sort_unstable();
        ids.dedup();
        // Damaged ones are left out.
        let all_gates = transaction.gates_of(&ids)?;
        for task in tasks {
            notes.extend(task.notes.iter().map(|note| (task.id, note.clone())));
            let set = all_gates.get(&task.id).cloned().unwrap_or_default();
            if !set.gates.is_empty() || !set.failures.is_empty() {
                gates.push((task.id, set));
            }
        }
        notes.sort_by(|a: &(TaskId, Note), b| b.1.at.cmp(&a.1.at));
        (self.notes, self.gates) = (notes, gates);
        Ok(())
    }

    fn cut(&self, size: Size) -> Brief {
        let (facts, ready) = (&self.collected.facts, &self.collected.ready);
        let n_pending = facts.count(Status::Pending);
        let n_held_up = [Status::Blocked, Status::Review, Status::Paused];
        let n_held_up = n_held_up.map(|status| facts.count(status)).iter().sum();
        let goal = |epic: &Task| Goal {
            description: estimate::one_line(&epic.description, size.text * GOAL),
            acceptance: size.few(&epic.acceptance, 0, |text| size.cut(text)).shown,
        };
        Brief {
            at: self.at.clone(),
            overview: self.collected.overview(size),
            goal: facts.epic.as_ref().map(goal),
            done: size.few(&self.done, facts.count(Status::Done), |(task, entry)| {
                finished(task, entry.as_ref(), size)
            }),
            sessions: size.few(&self.sessions, self.sessions.len(), |(session, focus)| {
                open_session(session, focus.as_ref(), size)
            }),
            waiting: size.few(
                &self.waiting,
                n_pending
                    .saturating_sub(facts.n_ready(ready))
                    .min(self.n_waiting(n_pending)),
                |(task, needs)| Waiting {
                    task: size.view(task),
                    waits_for: needs.iter().copied().take(NEEDS_SHOWN).collect(),
                    stuck: ready
                        .problems
                        .iter()
                        .any(|one| one.tasks.contains(&task.id)),
                },
            ),
            held_up: size.few(&self.held_up, n_held_up, |task| size.view(task)),
            notes: size.few(&self.notes, self.notes.len(), |(task, note)| Noted {
                task: *task,
                note: cut_note(note, size),
            }),
            gates: size.few(&self.gates, self.gates.len(), |(task, gates)| GateState {
                task: *task,
                passed: passed(gates),
                failures: gates.failures.len(),
            }),
        }
    }

    /// Returns how many tasks wait: all that were read, if all were.
    fn n_waiting(&self, n_pending: usize) -> usize {
        match n_pending <= TASKS_MAX as usize {
            true => self.waiting.len(),
            false => n_pending,
        }
    }
}

fn finished(task: &Task, entry: Option<&Entry>, size: Size) -> Finished {
    let findings = entry
        .map(|entry| entry.key_findings.as_slice())
        .unwrap_or_default();
    let n_findings = size.items.min(7);
    Finished {
        task: size.view(task),
        entry: entry.map(|entry| entry.id.clone()),
        file: entry.map(|entry| format!("{OUTPUT_DIR}/{}", size.cut(&entry.file))),
        key_findings: findings
            .iter()
            .take(n_findings)
            .map(|text| size.cut(text))
            .collect(),
    }
}

fn cut_note(note: &Note, size: Size) -> Note {
    Note {
        at: note.at.clone(),
        by: size.cut(&note.by),
        text: size.cut(&note.text),
    }
}

fn open_session(session: &Session, focus: Option<&Task>, size: Size) -> OpenSession {
    let notes = session.notes.iter().rev().take(NOTES_SHOWN);
    OpenSession {
        session: Session {
            name: size.cut(&session.name),
            holder: size.cut(&session.holder),
            notes: notes.map(|note| cut_note(note, size)).collect(),
            ..session.clone()
        },
        task: focus.map(|task| size.view(task)),
    }
}

fn passed(gates: &Gates) -> Vec<&'static str> {
    let is_passed = |gate: &Gate| gates.gates.get(gate).is_some_and(|record| record.passed);
    let passed = Gate::ALL.into_iter().filter(is_passed);
    passed.map(Gate::name).collect()
}
