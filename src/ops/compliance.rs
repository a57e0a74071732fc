//! Whether the rules were kept: by whoever gives work to agents, and by each agent.

mod output;
mod rules;

pub(crate) use output::{TaskReport, Unspawned};
pub(crate) use rules::RuleReport;

use serde::Serialize;

use super::tasks::{Below, warn_of_stuck};
use super::{Context, require};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::store::{SpawnRecord, Transaction};
use crate::task::{Status, Task};

/// How many tasks a message names.
const NAMED: usize = 10;

/// What a check of the rules found.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compliance {
    /// The rules for whoever gives work to agents, and those for agents that leave no trace.
    pub(crate) rules: Vec<RuleReport>,
    /// Every task that is done, by id; of those that were never spawned, each of which something is
    /// known.
    pub(crate) tasks: Vec<TaskReport>,
    /// The others that are done: they were never spawned, and there is nothing else to tell of them.
    pub(crate) unspawned: Unspawned,
    /// How many tasks are done.
    pub(crate) total: usize,
    /// How many of them break no rule.
    pub(crate) compliant: usize,
    /// Tasks that somebody completed by force.
    pub(crate) forced: Vec<TaskId>,
}

struct Worked {
    task: Task,
    spawn: Option<SpawnRecord>,
    is_leaf: bool,
}

pub(crate) fn validate(context: &mut Context, part: Below) -> Result<Compliance> {
    let epic = part.epic;
    warn_of_stuck(context, epic)?;
    let required = super::verify::required_sections(context)?;
    let workspace = context.workspace.clone();
    let (rules, tasks) = context.read(|transaction| {
        if let Some(epic) = epic {
            require(transaction, epic)?;
        }
        let worked = worked(transaction, epic)?;
        let rules = rules::reports(transaction, &workspace, &worked)?;
        let tasks = output::reports(transaction, &workspace, &worked, &required)?;
        Ok((rules, tasks))
    })?;
    let total = tasks.len();
    let (others, tasks): (Vec<_>, Vec<_>) =
        tasks.into_iter().partition(TaskReport::is_only_unspawned);
    let broken_by = tasks.iter().filter(|task| !task.violations.is_empty());
    let forced = tasks.iter().filter(|task| task.forced.is_some());
    context.notes.failure = broken(&rules, &tasks);
    Ok(Compliance {
        total,
        compliant: total - broken_by.count(),
        forced: forced.map(|task| task.task_id).collect(),
        unspawned: Unspawned::of(&others),
        rules,
        tasks,
    })
}

/// Reads the tasks that somebody has worked on: those that are not pending.
fn worked(transaction: &dyn Transaction, epic: Option<TaskId>) -> Result<Vec<Worked>> {
    let nodes = transaction.nodes(epic)?;
    let parents: std::collections::HashSet<TaskId> =
        nodes.iter().filter_map(|node| node.parent).collect();
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
    Ok(worked)
}

/// The verdict: which rules and which tasks, with the way to see one of them.
fn broken(rules: &[RuleReport], tasks: &[TaskReport]) -> Option<Error> {
    let rules = rules.iter().filter(|rule| rule.verdict == Some("fail"));
    let mut parts: Vec<String> = rules
        .clone()
        .map(|rule| format!("{}: {}", rule.id, rule.evidence))
        .collect();
    let broken: Vec<&TaskReport> = tasks
        .iter()
        .filter(|it| !it.violations.is_empty())
        .collect();
    let details = broken.iter().take(NAMED).map(|task| {
        let what: Vec<&str> = task
            .violations
            .iter()
            .map(|it| it.message.as_str())
            .collect();
        format!("{}: {}", task.task_id, what.join("; "))
    });
    parts.extend(details);
    if broken.len() > NAMED {
        parts.push(format!("and {} more tasks", broken.len() - NAMED));
    }
    let error = Error::new(Code::NotCompliant, parts.join(". "));
    let fix = match broken.first() {
        Some(task) if task.skill.is_none() => format!("cleo verify {}", task.task_id),
        Some(task) => format!("cleo verify output {}", task.task_id),
        None => {
            let mut tasks = rules.clone().flat_map(|rule| &rule.tasks);
            tasks
                .next()
                .map_or("cleo list".to_string(), |id| format!("cleo show {id}"))
        }
    };
    (!parts.is_empty()).then(|| error.fix(fix))
}
