//! Compliance: ORC-001 to ORC-005 for orchestrators, and for each agent the rules of its protocols.

use std::collections::HashSet;

use serde::Serialize;

use super::output::{OutputVerdict, check_outputs};
use super::rules::{RuleReport, report_rules};
use super::{Violation, violation};
use crate::error::{Code, Error, Result};
use crate::gate::Criterion;
use crate::id::TaskId;
use crate::manifest::Status as EntryStatus;
use crate::ops::tasks::{Below, warn_of_stuck};
use crate::ops::trust::{Key, Trust, open_foreign};
use crate::ops::{Context, require};
use crate::store::{SpawnRecord, Transaction, left_out};
use crate::task::{Status, Task};
use crate::workspace::Workspace;

/// Maximum number of tasks that a message names.
pub(super) const NAMED: usize = 10;

/// The result of checking the rules.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compliance {
    /// The rules for orchestrators, and those for agents that no record shows.
    pub(crate) rules: Vec<RuleReport>,
    /// The finished tasks that break a rule or were completed by force, by id.
    pub(crate) tasks: Vec<TaskReport>,
    /// How many tasks are done.
    pub(crate) total: usize,
    /// How many of them break no rule.
    pub(crate) compliant: usize,
}

/// The result of checking one finished task.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskReport {
    pub(crate) task_id: TaskId,
    /// The skill in its prompt; none when it was never spawned.
    pub(crate) skill: Option<String>,
    /// Every rule that it breaks.
    pub(crate) violations: Vec<Violation>,
    /// When and by whom it was completed by force, if it was.
    pub(crate) forced: Option<String>,
    /// The faults at that time, such as stale evidence.
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
    let key = Trust::new(&context.surroundings, &workspace).read_key();
    let mut skipped = Vec::new();
    let n_damaged = left_out::times();
    let (rules, tasks, total) = context.read(|transaction| {
        if let Some(epic) = epic {
            require(transaction, epic)?;
        }
        let worked = read_worked(transaction, epic, &mut skipped)?;
        let rules = report_rules(transaction, &workspace, &worked)?;
        let done = worked.iter().filter(|it| it.task.status == Status::Done);
        let done: Vec<&Worked> = done.collect();
        let tasks = check_finished(transaction, (&workspace, key.as_ref()), &done, &required)?;
        Ok((rules, tasks, done.len()))
    })?;
    let is_whole = skipped.is_empty() && left_out::times() == n_damaged;
    context.notes.warn(skipped);
    let broken = tasks.iter().filter(|task| !task.violations.is_empty());
    let compliant = total - broken.count();
    let unjudged = || {
        let message = "what is damaged in the database cannot be judged";
        (!is_whole).then(|| Error::new(Code::RowDamaged, message).fix("cleo doctor"))
    };
    context.notes.failure = find_failure(&rules, &tasks).or_else(unjudged);
    Ok(Compliance {
        rules,
        tasks,
        total,
        compliant,
    })
}

/// Reads the tasks that are not pending, by id. Tasks with a damaged row are left out, with the reason.
fn read_worked(
    transaction: &dyn Transaction,
    epic: Option<TaskId>,
    left_out: &mut Vec<String>,
) -> Result<Vec<Worked>> {
    let nodes = transaction.nodes(epic)?;
    let parents: HashSet<TaskId> = nodes.iter().filter_map(|node| node.parent).collect();
    let mut worked = Vec::new();
    for node in nodes.iter().filter(|node| node.status != Status::Pending) {
        let task = transaction.task(node.id);
        let read = task.and_then(|task| Ok((task, transaction.latest_spawn(node.id)?)));
        match read {
            Ok((Some(task), spawn)) => worked.push(Worked {
                spawn,
                is_leaf: !node.is_epic && !parents.contains(&node.id),
                task,
            }),
            Ok((None, _)) => {}
            Err(error) if error.code == Code::RowDamaged => {
                left_out.push(format!("{} is left out: {}", node.id, error.message));
            }
            Err(error) => return Err(error),
        }
    }
    worked.sort_unstable_by_key(|it| it.task.id);
    Ok(worked)
}

/// Checks every task that is done, in one pass over the manifest and the gates.
fn check_finished(
    transaction: &dyn Transaction,
    (workspace, key): (&Workspace, Option<&Key>),
    done: &[&Worked],
    required: &[String],
) -> Result<Vec<TaskReport>> {
    let ids: Vec<TaskId> = done.iter().map(|it| it.task.id).collect();
    let mut gates = transaction.gates_of(&ids)?;
    let spawns: Vec<SpawnRecord> = done.iter().filter_map(|it| it.spawn.clone()).collect();
    let mut left = check_outputs(workspace, &spawns, required)?.into_iter();
    let mut reports = Vec::new();
    for Worked { task, spawn, .. } in done {
        let mut gates = gates.remove(&task.id).unwrap_or_default();
        open_foreign(key, task.id, &mut gates);
        let mut violations = Vec::new();
        if let Some(spawn) = spawn
            && let Some(left) = left.next().transpose()?
        {
            let changes = find_changes(spawn, &left);
            violations.extend(left.report.violations);
            violations.extend(changes);
        }
        let open: Vec<&str> = gates.open().iter().map(|gate| gate.word()).collect();
        if gates.has_gates() && !open.is_empty() {
            let open = open.join(", ");
            let message = format!("it is done, and gates that it needs are open: {open}");
            violations.push(violation(Code::GateOpen, "GATES", message));
        }
        let has_passed = |line: &String| gates.criteria.get(line).is_some_and(|it| it.passed);
        let is_open = |line: &&String| Criterion::read(line).command.is_some() && !has_passed(line);
        let n_open = task.acceptance.iter().filter(is_open).count();
        if n_open > 0 {
            let message = format!("{n_open} of its criteria have a command that has not succeeded");
            violations.push(violation(Code::CriterionOpen, "CRITERIA", message));
        }
        let by_force = spawn.as_ref().and_then(|spawn| spawn.forced.clone());
        let forced = gates.forced.as_ref();
        let forced = by_force.or(forced.map(|forced| format!("{} {}", forced.at, forced.by)));
        if violations.is_empty() && forced.is_none() {
            continue;
        }
        let skill = spawn.as_ref().map(|spawn| spawn.receipt["skill"].as_str());
        reports.push(TaskReport {
            task_id: task.id,
            skill: skill.map(|skill| skill.unwrap_or("unknown").to_string()),
            violations,
            forced,
            forced_reasons: gates.forced.map_or_else(Vec::new, |forced| forced.reasons),
        });
    }
    Ok(reports)
}

/// Finds changes since the verification, and an entry that says that the work is not complete.
fn find_changes(spawn: &SpawnRecord, left: &OutputVerdict) -> Vec<Violation> {
    let mut found = Vec::new();
    let (then, now) = (&spawn.output_digest, &left.output_digest);
    if let (Some(at), true) = (&spawn.verified_at, now.is_some() && then != now) {
        let message = format!("{} was changed after {at}, when it held", spawn.output_file);
        found.push(violation(Code::OutputMissing, "OUT-001", message));
    }
    if let Some(status @ (EntryStatus::Partial | EntryStatus::Blocked)) = left.entry_status {
        let message = format!("its entry says {status}, not complete");
        found.push(violation(Code::NotVerified, "STATUS", message));
    }
    found
}

/// Makes the error that names the rules and tasks that are broken.
fn find_failure(rules: &[RuleReport], tasks: &[TaskReport]) -> Option<Error> {
    let rules = rules.iter().filter(|rule| rule.verdict == Some("fail"));
    let named = |rule: &RuleReport| format!("{}: {}", rule.id, rule.evidence);
    let mut parts: Vec<String> = rules.clone().map(named).collect();
    let broken = tasks.iter().filter(|task| !task.violations.is_empty());
    let broken: Vec<&TaskReport> = broken.collect();
    parts.extend(broken.iter().take(NAMED).map(|task| {
        let messages = task.violations.iter().map(|it| it.message.as_str());
        format!("{}: {}", task.task_id, Vec::from_iter(messages).join("; "))
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
