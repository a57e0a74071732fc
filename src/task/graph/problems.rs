//! Problems that keep tasks from ever starting, in the same words everywhere.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use serde::Serialize;

use super::{Missing, Node, TaskGraph, circle};
use crate::error::quote;
use crate::id::TaskId;
use crate::task::Status;

pub(crate) const PROBLEMS_MAX: usize = 100;
const CIRCLES_MAX: usize = 10;

/// Something because of which tasks can never start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Problem {
    pub(crate) kind: Kind,
    /// The tasks that it is about; the first cannot start.
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) message: String,
    /// A command that fixes it.
    pub(crate) fix: String,
}

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Kind {
    /// Tasks wait for each other.
    Cycle,
    /// A dependency is not a task, or was left out by an import.
    Missing,
    Cancelled,
    /// A dependency is an epic without open parts that is not completed.
    EmptyEpic,
}

impl TaskGraph {
    /// Returns why tasks can never start, at most [`PROBLEMS_MAX`]: circles first, then by task.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = self.circles();
        for (_, node) in self.open() {
            problems.extend(self.problems_of(node));
            if problems.len() >= PROBLEMS_MAX {
                break;
            }
        }
        problems.truncate(PROBLEMS_MAX);
        problems
    }

    fn problems_of(&self, node: &Node) -> impl Iterator<Item = Problem> {
        let known_missing = node.missing.iter().map(|need| missing(node.id, need));
        let needs = node.depends.iter().filter_map(|need| {
            let id = node.id;
            match self.node(*need) {
                None => {
                    let (name, circular) = (need.to_string(), false);
                    Some(missing(id, &Missing { name, circular }))
                }
                Some(need) if need.status == Status::Cancelled => {
                    Some(report_cancelled_need(id, need.id))
                }
                Some(need) if need.is_open() && need.is_epic && need.open_children == 0 => {
                    Some(Problem {
                        kind: Kind::EmptyEpic,
                        tasks: vec![id, need.id],
                        message: format!(
                            "{id} depends on the epic {}, in which nothing is left to do",
                            need.id
                        ),
                        fix: format!("cleo complete {}", need.id),
                    })
                }
                Some(_) => None,
            }
        });
        known_missing.chain(needs)
    }

    /// Finds circles among what no order reaches.
    fn circles(&self) -> Vec<Problem> {
        let mut is_reached = vec![false; self.nodes.len()];
        for place in self.waiting().order(self) {
            is_reached[place] = true;
        }
        let left = self.open().filter(|(place, _)| !is_reached[*place]);
        let mut left: HashSet<TaskId> = left.map(|(_, node)| node.id).collect();
        if left.is_empty() {
            return Vec::new();
        }
        let parts = self.parts();
        let mut problems = Vec::new();
        while problems.len() < CIRCLES_MAX {
            let mut roots: Vec<TaskId> = left.iter().copied().collect();
            roots.sort_unstable();
            let next = |id: TaskId| -> Result<Vec<TaskId>, Infallible> {
                let depends = self.node(id).map(|node| node.depends.as_slice());
                let all = depends.into_iter().chain(parts.get(&id).map(Vec::as_slice));
                Ok(all
                    .flatten()
                    .copied()
                    .filter(|id| left.contains(id))
                    .collect())
            };
            let Ok(Some(way)) = circle(roots, next) else {
                break;
            };
            left.retain(|id| !way.contains(id));
            problems.push(self.cycle(&way));
        }
        problems
    }

    fn parts(&self) -> HashMap<TaskId, Vec<TaskId>> {
        let mut parts: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
        for (_, node) in self.open() {
            if let Some(parent) = node.parent {
                parts.entry(parent).or_default().push(node.id);
            }
        }
        parts
    }

    fn cycle(&self, way: &[TaskId]) -> Problem {
        let depends = |edge: &&[TaskId]| {
            let from = self.node(edge[0]);
            from.is_some_and(|node| node.depends.contains(&edge[1]))
        };
        let fix = match (way.windows(2).find(depends), way.get(1)) {
            (Some(edge), _) => remove(edge[0], &edge[1].to_string()),
            (None, Some(part)) => format!("cleo update {part} --parent none"),
            (None, None) => "cleo list --tree".to_string(),
        };
        let names: Vec<String> = way.iter().map(TaskId::to_string).collect();
        Problem {
            kind: Kind::Cycle,
            tasks: way[..way.len().saturating_sub(1)].to_vec(),
            message: format!(
                "tasks wait for each other in a circle: {}",
                names.join(" → ")
            ),
            fix,
        }
    }
}

fn remove(task: TaskId, need: &str) -> String {
    format!("cleo update {task} --remove-depends {}", quote(need))
}

fn missing(task: TaskId, need: &Missing) -> Problem {
    Problem {
        kind: Kind::Missing,
        tasks: vec![task],
        message: format!("{task} depends on {}", need.describe()),
        fix: remove(task, &need.name),
    }
}

fn report_cancelled_need(task: TaskId, need: TaskId) -> Problem {
    Problem {
        kind: Kind::Cancelled,
        tasks: vec![task, need],
        message: format!("{task} depends on {need}, which is cancelled"),
        fix: remove(task, &need.to_string()),
    }
}
