//! ORC-001 to ORC-005, and what of OUT-001 to OUT-004 leaves no trace: each is checked, with what was found, or is
//! advice that no program can check.

use serde::Serialize;

use super::validate::{NAMED, Worked};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::store::Transaction;
use crate::task::Status;
use crate::tree;
use crate::workspace::Workspace;

/// What is known of one rule.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct RuleReport {
    /// Its name, such as `ORC-004`.
    pub(crate) id: &'static str,
    pub(crate) rule: &'static str,
    /// `checked`, or `advice` where nothing that is kept shows it.
    pub(crate) kind: &'static str,
    /// `pass` or `fail`; none for advice.
    pub(crate) verdict: Option<&'static str>,
    /// What was found, or where to look.
    pub(crate) evidence: String,
    /// The first ten tasks that break it, by id.
    pub(crate) tasks: Vec<TaskId>,
    /// How many tasks break it.
    pub(crate) total: usize,
}

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
        check_delegation(worked),
        advice(
            "ORC-003",
            "No full file reads: manifest summaries only",
            "what an orchestrator reads is not kept; `cleo manifest list` has the summaries",
        ),
        check_order(transaction, workspace, worked)?,
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
        kind: "advice",
        verdict: None,
        evidence: evidence.to_string(),
        tasks: Vec::new(),
        total: 0,
    }
}

fn check_rule(
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
        kind: "checked",
        verdict: Some(if total == 0 { "pass" } else { "fail" }),
        evidence,
        tasks,
        total,
    }
}

/// ORC-002: each task that is done and has no parts was given to an agent.
fn check_delegation(worked: &[Worked]) -> RuleReport {
    let is_done = |it: &&Worked| it.is_leaf && it.task.status == Status::Done;
    let done: Vec<&Worked> = worked.iter().filter(is_done).collect();
    let by_hand = done.iter().filter(|it| it.spawn.is_none());
    let by_hand: Vec<TaskId> = by_hand.map(|it| it.task.id).collect();
    let (n_done, n_spawned) = (done.len(), done.len() - by_hand.len());
    let mut evidence = format!("{n_spawned} of {n_done} done tasks were spawned");
    if !by_hand.is_empty() {
        evidence += &format!("; without: {}", id::list_first(&by_hand, NAMED));
    }
    check_rule("ORC-002", "Delegate all work", evidence, by_hand)
}

/// ORC-004: work began after what it depends on was done, and agents at work share no files.
fn check_order(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    worked: &[Worked],
) -> Result<RuleReport> {
    let (mut broken_by, mut found) = (Vec::new(), Vec::new());
    let leaves: Vec<&Worked> = worked.iter().filter(|it| it.is_leaf).collect();
    let begun = leaves
        .iter()
        .filter(|it| it.task.status != Status::Cancelled);
    for (it, at) in begun.filter_map(|it| Some((it, find_begin(it)?))) {
        for need in &it.task.depends {
            let done = transaction.task(*need)?.and_then(|need| need.completed_at);
            // Times of one form sort as text.
            if done.is_none_or(|done| done.as_str() > at) {
                broken_by.push(it.task.id);
                found.push(format!("{} began before {need} was done", it.task.id));
            }
        }
    }
    let active = leaves.iter().filter(|it| it.task.status == Status::Active);
    let active: Vec<&&Worked> = active.collect();
    let with_files = active.iter().filter(|it| !it.task.files.is_empty());
    let tasks: Vec<_> = with_files.map(|it| &it.task).collect();
    let patterns: Vec<&[String]> = tasks.iter().map(|task| task.files.as_slice()).collect();
    for (first, second, path) in tree::overlaps(&workspace.root, &patterns)? {
        let (first, second) = (tasks[first].id, tasks[second].id);
        broken_by.extend([first, second]);
        let path = path.to_string_lossy();
        found.push(format!("{first} and {second} are both at work on {path}"));
    }
    let noun = if worked.len() == 1 { "task" } else { "tasks" };
    let mut parts = vec![format!(
        "{} {noun} begun, {} at work now",
        worked.len(),
        active.len()
    )];
    let n_more = found.len().saturating_sub(NAMED);
    parts.extend(found.into_iter().take(NAMED));
    if n_more > 0 {
        parts.push(format!("and {n_more} more"));
    }
    let rule = "Dependency order, no overlapping agents";
    Ok(check_rule("ORC-004", rule, parts.join("; "), broken_by))
}

/// Returns when the work on a task began: with its first start, else with its prompt. What was completed without
/// either had begun by then.
fn find_begin(worked: &Worked) -> Option<&str> {
    let spawned = worked.spawn.as_ref().map(|spawn| spawn.at.as_str());
    let task = &worked.task;
    let begun = task.started_at.as_deref().or(spawned);
    begun.or(task.completed_at.as_deref())
}
