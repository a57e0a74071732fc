//! Checking all of the manifest.

use std::collections::HashMap;

use serde::Serialize;

use crate::error::{Code, Error, Result, quote};
use crate::id::{self, TaskId};
use crate::manifest::Faulty;
use crate::manifest::log::{self, Line};
use crate::ops::Context;
use crate::store::Tasks;

/// What the manifest holds and what is wrong with it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Validated {
    /// How many entries count.
    pub entries: usize,
    /// What is wrong, by line.
    pub faults: Vec<Faulty>,
    /// True when nothing is.
    pub valid: bool,
    /// The verdict as an error, when something is wrong.
    #[serde(skip)]
    pub error: Option<Error>,
}

/// Checks every line, also whether the tasks that entries name exist. An empty or missing manifest
/// is valid.
pub fn validate(context: &mut Context) -> Result<Validated> {
    let path = context.workspace.manifest()?;
    let (mut entries, mut faults, mut named) = (0, Vec::new(), Vec::new());
    log::scan(&path, |line| match line {
        Line::Faulty(faulty) => faults.push(faulty),
        Line::Entry(number, fields) => {
            entries += 1;
            let id = fields.id().unwrap_or_default();
            let tasks: Vec<TaskId> = fields.tasks().map(|(_, task)| task).collect();
            named.push((number, id.to_string(), tasks));
        }
    })?;
    faults.extend(context.read(|tasks| unknown_tasks(tasks, named))?);
    faults.sort_by_key(|fault: &Faulty| fault.line);
    let place = quote(&path.to_string_lossy());
    Ok(Validated {
        entries,
        valid: faults.is_empty(),
        error: faults.first().map(|first| invalid(&faults, first, &place)),
        faults,
    })
}

/// Number of the line, id and named tasks of an entry.
type Named = (usize, String, Vec<TaskId>);

fn unknown_tasks(tasks: &dyn Tasks, named: Vec<Named>) -> Result<Vec<Faulty>> {
    let mut known: HashMap<TaskId, bool> = HashMap::new();
    let mut faults = Vec::new();
    for (line, id, ids) in named {
        let mut unknown = Vec::new();
        for task in ids {
            let exists = match known.get(&task) {
                Some(exists) => *exists,
                None => tasks.status(task)?.is_some(),
            };
            known.insert(task, exists);
            if !exists && !unknown.contains(&task) {
                unknown.push(task);
            }
        }
        if !unknown.is_empty() {
            faults.push(no_task(line, id, &unknown));
        }
    }
    Ok(faults)
}

fn no_task(line: usize, id: String, unknown: &[TaskId]) -> Faulty {
    let message = match unknown {
        [one] => format!("{id} names {one}, which is no task"),
        _ => format!("{id} names {}, which are no tasks", id::list(unknown)),
    };
    Faulty::new(line, Code::TaskNotFound, message, Some(id))
}

fn invalid(faults: &[Faulty], first: &Faulty, place: &str) -> Error {
    let count = match faults.len() {
        1 => "a fault".to_string(),
        n => format!("{n} faults"),
    };
    let message = format!("the manifest has {count}; {first}");
    Error::new(Code::ManifestInvalid, message).fix(format!("sed -n {}p {place}", first.line))
}
