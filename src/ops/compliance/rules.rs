//! ORC-001 to ORC-005, and what of OUT-001 to OUT-004 leaves no trace: each is checked, with what
//! was found, or is advice that no program can check.

use serde::Serialize;

use super::{NAMED, Worked};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::store::Transaction;
use crate::task::Status;
use crate::tree;
use crate::workspace::Workspace;

/// What is known of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct RuleReport {
    /// Its name, such as `ORC-004`.
    pub(crate) id: &'static str,
    /// What it asks for.
    pub(crate) rule: &'static str,
    /// Whether a program can tell.
    pub(crate) kind: Kind,
    /// `pass` or `fail`; none for advice.
    pub(crate) verdict: Option<&'static str>,
    /// What was found, or where to look.
    pub(crate) evidence: String,
    /// The first ten tasks that break it, by id.
    pub(crate) tasks: Vec<TaskId>,
    /// How many tasks break it.
    pub(crate) total: usize,
}

/// Whether a program can tell that a rule is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// It was looked at.
    Checked,
    /// Nothing that is kept shows it.
    Advice,
}

/// Judges all rules.
pub(super) fn reports(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    worked: &[Worked],
) -> Result<Vec<RuleReport>> {
    Ok(vec![
        advice(
            "ORC-001",
            "Stay high-level: no implementation details",
            "what an orchestrator writes to its agents is not kept; prompts come from `cleo spawn`",
        ),
        delegated(worked),
        advice(
            "ORC-003",
            "No full file reads: manifest summaries only",
            "what an orchestrator reads is not kept; `cleo manifest list` has the summaries",
        ),
        in_order(transaction, workspace, worked)?,
        advice(
            "ORC-005",
            "Context budget: stay under 10,000 tokens",
            "what an orchestrator holds is not kept; `cleo orchestrator context` counts what cleo gave it",
        ),
        advice(
            "OUT-003",
            "Last message: one of the allowed lines, alone",
            "`cleo run` checks what its agents say last; `cleo verify message TEXT` checks it of others",
        ),
        advice(
            "OUT-004",
            "No results, paths or remarks in the last message",
            "as OUT-003",
        ),
    ])
}

fn advice(id: &'static str, rule: &'static str, evidence: &str) -> RuleReport {
    RuleReport {
        id,
        rule,
        kind: Kind::Advice,
        verdict: None,
        evidence: evidence.to_string(),
        tasks: Vec::new(),
        total: 0,
    }
}

fn checked(
    id: &'static str,
    rule: &'static str,
    evidence: String,
    mut tasks: Vec<TaskId>,
) -> RuleReport {
    tasks.sort_unstable();
    tasks.dedup();
    let total = tasks.len();
    tasks.truncate(NAMED);
    RuleReport {
        id,
        rule,
        kind: Kind::Checked,
        verdict: Some(if total == 0 { "pass" } else { "fail" }),
        evidence,
        tasks,
        total,
    }
}

/// ORC-002: each task that is done and has no parts was given to an agent.
fn delegated(worked: &[Worked]) -> RuleReport {
    let is_done = |it: &&Worked| it.is_leaf && it.task.status == Status::Done;
    let done: Vec<&Worked> = worked.iter().filter(is_done).collect();
    let by_hand = done.iter().filter(|it| it.spawn.is_none());
    let by_hand: Vec<TaskId> = by_hand.map(|it| it.task.id).collect();
    let mut evidence = format!(
        "{} of {} done tasks were spawned",
        done.len() - by_hand.len(),
        done.len()
    );
    if !by_hand.is_empty() {
        evidence += &format!("; without: {}", named(&by_hand));
    }
    checked("ORC-002", "Delegate all work", evidence, by_hand)
}

/// ORC-004: work began after what it depends on was done, and agents at work share no files.
fn in_order(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    worked: &[Worked],
) -> Result<RuleReport> {
    let (mut early, mut found) = (Vec::new(), Vec::new());
    for it in worked.iter().filter(|it| it.is_leaf) {
        for need in &it.task.depends {
            if let Some(begun) = begun(it).filter(|_| it.task.status != Status::Cancelled)
                && !was_done(transaction, *need, begun)?
            {
                early.push(it.task.id);
                found.push(format!("{} began before {need} was done", it.task.id));
            }
        }
    }
    let n_active = active(worked).count();
    for (first, second, path) in overlaps(workspace, worked)? {
        early.extend([first, second]);
        found.push(format!("{first} and {second} are both at work on {path}"));
    }
    let (n_begun, noun) = match worked.len() {
        1 => (1, "task"),
        n => (n, "tasks"),
    };
    let mut evidence = format!("{n_begun} {noun} begun, {n_active} at work now");
    for what in found.iter().take(NAMED) {
        evidence += &format!("; {what}");
    }
    if found.len() > NAMED {
        evidence += &format!("; and {} more", found.len() - NAMED);
    }
    let rule = "Dependency order, no overlapping agents";
    Ok(checked("ORC-004", rule, evidence, early))
}

/// When the work on a task began: with its first start, else with its prompt. What was completed without
/// either had begun by then.
fn begun(worked: &Worked) -> Option<&str> {
    let spawned = worked.spawn.as_ref().map(|spawn| spawn.at.as_str());
    let task = &worked.task;
    let begun = task.started_at.as_deref().or(spawned);
    begun.or(task.completed_at.as_deref())
}

fn was_done(transaction: &dyn Transaction, need: TaskId, at: &str) -> Result<bool> {
    let need = transaction.task(need)?;
    // Times of one form sort as text.
    let done = need.and_then(|need| need.completed_at);
    Ok(done.is_some_and(|done| done.as_str() <= at))
}

fn active(worked: &[Worked]) -> impl Iterator<Item = &Worked> {
    let active = worked.iter().filter(|it| it.is_leaf);
    active.filter(|it| it.task.status == Status::Active)
}

/// Finds tasks at work that declare the same file, with one such file.
fn overlaps(workspace: &Workspace, worked: &[Worked]) -> Result<Vec<(TaskId, TaskId, String)>> {
    let active = active(worked).filter(|it| !it.task.files.is_empty());
    let tasks: Vec<_> = active.map(|it| &it.task).collect();
    let patterns: Vec<&[String]> = tasks.iter().map(|task| task.files.as_slice()).collect();
    let found = tree::overlaps(&workspace.root, &patterns)?;
    let named = found.into_iter().map(|(first, second, path)| {
        let path = path.to_string_lossy().into_owned();
        (tasks[first].id, tasks[second].id, path)
    });
    Ok(named.collect())
}

fn named(tasks: &[TaskId]) -> String {
    let more = tasks.len().saturating_sub(NAMED);
    let first = id::list(&tasks[..tasks.len() - more]);
    match more {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
