//! Whether the rules were kept: ORC-001 to ORC-005 by whoever gives work to agents, and by each agent what its
//! protocols ask for.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::output::{OutputVerdict, look_at_outputs};
use super::rules::{self, RuleReport};
use super::{Violation, violation};
use crate::error::{Code, Error, Result};
use crate::gate::{Criterion, Gates};
use crate::id::TaskId;
use crate::manifest::Status as EntryStatus;
use crate::ops::tasks::{Below, warn_of_stuck};
use crate::ops::{Context, require};
use crate::store::{SpawnRecord, Transaction};
use crate::task::{Status, Task};
use crate::workspace::Workspace;

/// How many tasks a message names.
pub(super) const NAMED: usize = 10;

/// What a check of the rules found.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compliance {
    /// The rules for whoever gives work to agents, and those for agents that leave no trace.
    pub(crate) rules: Vec<RuleReport>,
    /// The finished tasks that break a rule or were completed by force, by id.
    pub(crate) tasks: Vec<TaskReport>,
    /// How many tasks are done.
    pub(crate) total: usize,
    /// How many of them break no rule.
    pub(crate) compliant: usize,
}

/// What is found of one finished task.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskReport {
    pub(crate) task_id: TaskId,
    /// The skill in its prompt; none when it was never spawned.
    pub(crate) skill: Option<String>,
    /// Every rule that it breaks.
    pub(crate) violations: Vec<Violation>,
    /// When and by whom it was completed by force, if it was.
    pub(crate) forced: Option<String>,
    /// What spoke against it then, such as stale evidence.
    pub(crate) forced_reasons: Vec<String>,
}

/// A task that somebody has worked on.
pub(super) struct Worked {
    pub(super) task: Task,
    pub(super) spawn: Option<SpawnRecord>,
    pub(super) is_leaf: bool,
}

pub(crate) fn validate(context: &mut Context, part: Below) -> Result<Compliance> {
    let epic = part.epic;
    warn_of_stuck(context, epic)?;
    let required = context.load_sections()?.to_vec();
    let workspace = context.workspace.clone();
    let (rules, tasks, total) = context.read(|transaction| {
        if let Some(epic) = epic {
            require(transaction, epic)?;
        }
        let worked = read_worked(transaction, epic)?;
        let rules = rules::reports(transaction, &workspace, &worked)?;
        let is_done = |it: &&Worked| it.task.status == Status::Done;
        let done: Vec<&Worked> = worked.iter().filter(is_done).collect();
        let tasks = check_finished(transaction, &workspace, &done, &required)?;
        Ok((rules, tasks, done.len()))
    })?;
    let broken_by = tasks.iter().filter(|task| !task.violations.is_empty());
    let compliant = total - broken_by.count();
    context.notes.failure = failure(&rules, &tasks);
    Ok(Compliance {
        rules,
        tasks,
        total,
        compliant,
    })
}

/// Reads the tasks that are not pending, by id.
fn read_worked(transaction: &dyn Transaction, epic: Option<TaskId>) -> Result<Vec<Worked>> {
    let nodes = transaction.nodes(epic)?;
    let parents: HashSet<TaskId> = nodes.iter().filter_map(|node| node.parent).collect();
    let mut worked = Vec::new();
    for node in nodes.iter().filter(|node| node.status != Status::Pending) {
        if let Some(task) = transaction.task(node.id)? {
            worked.push(Worked {
                spawn: transaction.latest_spawn(node.id)?,
                is_leaf: !node.is_epic && !parents.contains(&node.id),
                task,
            });
        }
    }
    worked.sort_unstable_by_key(|it| it.task.id);
    Ok(worked)
}

/// Checks every task that is done. The manifest is read once for all, and so are their gates.
fn check_finished(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    done: &[&Worked],
    required: &[String],
) -> Result<Vec<TaskReport>> {
    let ids: Vec<TaskId> = done.iter().map(|it| it.task.id).collect();
    let mut gates = transaction.gates_of(&ids)?;
    let spawns = done.iter().filter_map(|it| it.spawn.clone());
    let mut left = HashMap::new();
    for found in look_at_outputs(workspace, &Vec::from_iter(spawns), required)? {
        let found = found?;
        left.insert(found.task_id, found);
    }
    let mut reports = Vec::new();
    for Worked { task, spawn, .. } in done {
        let gates = gates.remove(&task.id).unwrap_or_default();
        let mut violations = Vec::new();
        if let Some((spawn, left)) = spawn.as_ref().zip(left.remove(&task.id)) {
            violations.extend(find_changes(spawn, &left));
            violations.splice(0..0, left.report.violations);
        }
        violations.extend(find_open_gates(&gates));
        violations.extend(find_unproven_criteria(task, &gates));
        let by_force = spawn.as_ref().and_then(|spawn| spawn.forced.clone());
        let forced = gates.forced.as_ref();
        let forced = by_force.or(forced.map(|forced| format!("{} {}", forced.at, forced.by)));
        if !violations.is_empty() || forced.is_some() {
            reports.push(TaskReport {
                task_id: task.id,
                skill: spawn.as_ref().map(read_skill),
                violations,
                forced,
                forced_reasons: gates.forced.map_or_else(Vec::new, |forced| forced.reasons),
            });
        }
    }
    Ok(reports)
}

fn read_skill(spawn: &SpawnRecord) -> String {
    let skill = spawn.receipt.get("skill").and_then(|skill| skill.as_str());
    skill.unwrap_or("unknown").to_string()
}

/// Finds what is no longer as it was verified, or says itself that it is not finished.
fn find_changes(spawn: &SpawnRecord, left: &OutputVerdict) -> Vec<Violation> {
    let mut found = Vec::new();
    let (then, now) = (&spawn.output_digest, &left.output_digest);
    if let (Some(at), true) = (&spawn.verified_at, now.is_some() && then != now) {
        let message = format!("{} was changed after {at}, when it held", spawn.output_file);
        found.push(violation(Code::OutputMissing, "OUT-001", message));
    }
    let is_finished =
        |it: &EntryStatus| matches!(it, EntryStatus::Complete | EntryStatus::Archived);
    if let Some(status) = left.entry_status.filter(|status| !is_finished(status)) {
        let message = format!("its entry says {status}, not complete");
        found.push(violation(Code::NotVerified, "STATUS", message));
    }
    found
}

fn find_open_gates(gates: &Gates) -> Option<Violation> {
    let open: Vec<&str> = gates.open().iter().map(|gate| gate.word()).collect();
    let message = format!(
        "it is done, and gates that it needs are open: {}",
        open.join(", ")
    );
    let is_broken = gates.has_gates() && !open.is_empty();
    is_broken.then(|| violation(Code::GateOpen, "GATES", message))
}

fn find_unproven_criteria(task: &Task, gates: &Gates) -> Option<Violation> {
    let has_passed = |line: &String| gates.criteria.get(line).is_some_and(|it| it.passed);
    let is_open = |line: &&String| Criterion::read(line).command.is_some() && !has_passed(line);
    let n_open = task.acceptance.iter().filter(is_open).count();
    let message = format!("{n_open} of its criteria have a command that has not succeeded");
    (n_open > 0).then(|| violation(Code::CriterionOpen, "CRITERIA", message))
}

/// Names the rules and tasks that are broken, with the way to see one of them.
fn failure(rules: &[RuleReport], tasks: &[TaskReport]) -> Option<Error> {
    let rules = rules.iter().filter(|rule| rule.verdict == Some("fail"));
    let named = |rule: &RuleReport| format!("{}: {}", rule.id, rule.evidence);
    let mut parts: Vec<String> = rules.clone().map(named).collect();
    let broken = tasks.iter().filter(|task| !task.violations.is_empty());
    let broken: Vec<&TaskReport> = broken.collect();
    parts.extend(broken.iter().take(NAMED).map(|task| {
        let messages = task.violations.iter().map(|it| it.message.as_str());
        let messages: Vec<&str> = messages.collect();
        format!("{}: {}", task.task_id, messages.join("; "))
    }));
    if broken.len() > NAMED {
        parts.push(format!("and {} more tasks", broken.len() - NAMED));
    }
    let fix = match (broken.first(), rules.flat_map(|rule| &rule.tasks).next()) {
        (Some(task), _) if task.skill.is_none() => format!("cleo verify {}", task.task_id),
        (Some(task), _) => format!("cleo verify output {}", task.task_id),
        (None, Some(task)) => format!("cleo show {task}"),
        (None, None) => return None,
    };
    Some(Error::new(Code::NotCompliant, parts.join(". ")).fix(fix))
}
