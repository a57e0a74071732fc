//! ORC-001 to ORC-005, OUT-003 and OUT-004: checked rules, and advice that no program can check.

use serde::Serialize;

use super::validate::{NAMED, Worked};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::store::Transaction;
use crate::task::Status;
use crate::tree;
use crate::workspace::Workspace;

/// The result of checking one rule.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct RuleReport {
    /// Its name, such as `ORC-004`.
    pub(crate) id: &'static str,
    pub(crate) rule: &'static str,
    /// `checked`, or `advice` where no record shows it.
    pub(crate) kind: &'static str,
    /// `pass` or `fail`; none for advice.
    pub(crate) verdict: Option<&'static str>,
    /// Counts and tasks, or where to look.
    pub(crate) evidence: String,
    /// The first ten tasks that break it, by id.
    pub(crate) tasks: Vec<TaskId>,
    /// How many tasks break it.
    pub(crate) total: usize,
}

/// Rules that no record shows: name, rule and why.
const ADVICE: [(&str, &str, &str); 5] = [
    (
        "ORC-001",
        "Stay high-level: no implementation details",
        "what an orchestrator writes to its agents is not kept; prompts come from `cleo spawn`",
    ),
    (
        "ORC-003",
        "No full file reads: manifest summaries only",
        "what an orchestrator reads is not kept; `cleo manifest list` has the summaries",
    ),
    (
        "ORC-005",
        "Context budget: stay under 10,000 tokens",
        "what an orchestrator holds is not kept; `cleo orchestrator context` counts what cleo gave it",
    ),
    (
        "OUT-003",
        "Last message: one of the allowed lines, alone",
        "`cleo run` checks what its agents say last; `cleo verify message TEXT` checks it of others",
    ),
    (
        "OUT-004",
        "No results, paths or remarks in the last message",
        "as OUT-003",
    ),
];

/// Checks the rules, and lists them by name.
pub(super) fn report_rules(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    worked: &[Worked],
) -> Result<Vec<RuleReport>> {
    let mut rules = vec![
        check_delegation(worked),
        check_order(transaction, workspace, worked)?,
    ];
    rules.extend(ADVICE.map(|(id, rule, evidence)| RuleReport {
        id,
        rule,
        kind: "advice",
        verdict: None,
        evidence: evidence.to_string(),
        tasks: Vec::new(),
        total: 0,
    }));
    rules.sort_unstable_by_key(|rule| rule.id);
    Ok(rules)
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
    let (spawned, by_hand): (Vec<&Worked>, Vec<&Worked>) = worked
        .iter()
        .filter(is_done)
        .partition(|it| it.spawn.is_some());
    let by_hand: Vec<TaskId> = by_hand.iter().map(|it| it.task.id).collect();
    let (n_spawned, n_done) = (spawned.len(), spawned.len() + by_hand.len());
    let mut evidence = format!("{n_spawned} of {n_done} done tasks were spawned");
    if !by_hand.is_empty() {
        evidence += &format!("; without: {}", id::list_first(&by_hand, NAMED));
    }
    check_rule("ORC-002", "Delegate all work", evidence, by_hand)
}

/// ORC-004: work began after what it depends on was done, and active tasks share no files.
fn check_order(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    worked: &[Worked],
) -> Result<RuleReport> {
    let (mut broken_by, mut found) = (Vec::new(), Vec::new());
    let leaves = worked.iter().filter(|it| it.is_leaf);
    for it in leaves.clone() {
        let task = &it.task;
        // Work that was completed without a start or a prompt had begun by then.
        let spawned = it.spawn.as_ref().map(|spawn| &spawn.at);
        let began = task
            .started_at
            .as_ref()
            .or(spawned)
            .or(task.completed_at.as_ref());
        let Some(began) = began.filter(|_| task.status != Status::Cancelled) else {
            continue;
        };
        for need in &task.depends {
            let done = transaction.task(*need)?.and_then(|need| need.completed_at);
            // Times of one form sort as text.
            if done.is_none_or(|done| done > *began) {
                broken_by.push(task.id);
                found.push(format!("{} began before {need} was done", task.id));
            }
        }
    }
    let active = leaves
        .map(|it| &it.task)
        .filter(|task| task.status == Status::Active);
    let n_active = active.clone().count();
    let tasks = Vec::from_iter(active.filter(|task| !task.files.is_empty()));
    let patterns: Vec<&[String]> = tasks.iter().map(|task| task.files.as_slice()).collect();
    for (first, second, path) in tree::find_overlaps(&workspace.root, &patterns)? {
        let (first, second) = (tasks[first].id, tasks[second].id);
        broken_by.extend([first, second]);
        let path = path.to_string_lossy();
        found.push(format!("{first} and {second} are both at work on {path}"));
    }
    let noun = if worked.len() == 1 { "task" } else { "tasks" };
    let mut parts = vec![format!(
        "{} {noun} begun, {n_active} at work now",
        worked.len()
    )];
    let n_more = found.len().saturating_sub(NAMED);
    parts.extend(found.into_iter().take(NAMED));
    if n_more > 0 {
        parts.push(format!("and {n_more} more"));
    }
    let rule = "Dependency order, no overlapping agents";
    Ok(check_rule("ORC-004", rule, parts.join("; "), broken_by))
}
