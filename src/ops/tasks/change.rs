//! Changing the fields of a task.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::claim::end_undone;
use super::fence::{Caller, check_epoch, check_holder};
use super::read::warn_of_new_type;
use super::run_agents::{no_removal, refuse_other};
use super::waits::{warn_of_closed_parent, warn_of_waits};
use super::{DEPTH_MAX, cycle, depth, exists, not_found, too_deep, waits_for};
use crate::error::{Code, Error, Result};
use crate::gate::{Gate, Gates};
use crate::id::TaskId;
use crate::ops::agents::check_assignable;
use crate::ops::trust::{Item, list_untrusted_given};
use crate::ops::{Context, require};
use crate::store::{CIRCULAR, DANGLING, Tasks, Transaction, dangling};
use crate::task::fields::{ListField, Patch};
use crate::task::graph::circle;
use crate::task::rules::{normalize_inside, refuse_blank};
use crate::task::{Status, Task};

/// A task after its change.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Updated {
    pub(crate) task: Task,
}

/// Changes a task, and trusts the commands that the caller gave as criteria.
pub(crate) fn update(context: &mut Context, patch: Patch) -> Result<Updated> {
    let id = patch.task;
    refuse_blank(&[
        ("acceptance", &patch.acceptance),
        ("file", &patch.files),
        ("deliverable", &patch.deliverables),
        ("label", &patch.labels),
    ])?;
    if patch.is_empty() {
        return Err(error!(
            Usage,
            "nothing to change in {id}: no field was given"
        ));
    }
    check_assignable(context, patch.assigned_agent.as_deref())?;
    let commands = list_untrusted_given(context, Item::criteria(id, &patch.acceptance))?;
    let task = change(context, id, patch, true)?;
    context.trust_given(&commands);
    Ok(Updated { task })
}

/// Changes a task and returns it; without `keep` the change is rolled back.
pub(in crate::ops) fn change(
    context: &mut Context,
    id: TaskId,
    patch: Patch,
    keep: bool,
) -> Result<Task> {
    let now = context.now();
    let by = context.surroundings.actor.clone();
    let caller = Caller::for_task(context, id, None);
    let is_assigned = context.surroundings.assignment.task == Some(id);
    let gates = patch.read_required_gates()?;
    let (task, mut warnings) = context.write_if(|transaction| {
        let mut task = require(transaction, id)?;
        let is_moved = patch.status.is_some_and(|status| status != task.status);
        match is_assigned {
            true => check_epoch(transaction, &task, &caller)?,
            false => caller.refuse_replaced(transaction, id)?,
        }
        if is_moved {
            check_holder(transaction, &task, &caller, false)?;
        }
        let mut warnings = Vec::new();
        if patch.status == Some(Status::Pending)
            && let Some(holder) = end_undone(transaction, id, &caller)?
        {
            warnings.push(format!(
                "{id} was released: {holder} does not hold it any more"
            ));
        }
        let before = task.clone();
        if caller.run.is_some() {
            refuse_fewer_gates(id, &transaction.gates(id)?, &patch, &gates)?;
            if !gates.is_empty() {
                refuse_other(transaction, id, &caller)?;
            }
        }
        apply_status(&mut task, patch.status, &now).map_err(|error| error.in_field("status"))?;
        remove_items(&mut task, &patch)?;
        patch.clone().apply(&mut task, &now, &by)?;
        caller.refuse_change(transaction, &before, &task)?;
        // A later time would win over a real change of a copy.
        if task != before {
            task.touch(&now);
            transaction.put(&task)?;
        }
        if patch.parent.is_some() || !patch.depends.is_empty() {
            let checked = check_graph(transaction, &BTreeSet::from([id]));
            checked.map_err(|error| match patch.depends.is_empty() {
                true => error.in_field("parent"),
                false => error,
            })?;
        }
        let clear = patch.clear.contains(&ListField::RequiredGates);
        require_gates(transaction, id, clear, &gates)?;
        if before.parent != task.parent {
            warnings.extend(warn_of_closed_parent(transaction, &task)?);
        }
        if before.kind != task.kind {
            warnings.extend(warn_of_new_type(transaction, &task)?);
        }
        if is_moved && task.status == Status::Active {
            warnings.extend(warn_of_waits(transaction, &task)?);
        }
        Ok(((task, warnings), keep))
    })?;
    if keep {
        context.move_warnings(&mut warnings);
    }
    Ok(task)
}

/// Moves between open statuses; other commands close and reopen tasks.
fn apply_status(task: &mut Task, status: Option<Status>, now: &str) -> Result<()> {
    let Some(status) = status else { return Ok(()) };
    let (id, from) = (task.id, task.status);
    let verb = match status {
        Status::Done if from != Status::Cancelled => "complete",
        Status::Cancelled if from != Status::Done => "cancel",
        _ if task.is_closed() => "reopen",
        _ => {
            task.move_to(status, now);
            return Ok(());
        }
    };
    let message = format!("{id} is {from}; `update` does not move it to {status}");
    Err(Error::new(Code::StatusRefused, message).fix(format!("cleo {verb} {id}")))
}

/// Clears fields, and removes single items from lists.
fn remove_items(task: &mut Task, patch: &Patch) -> Result<()> {
    patch.clear.iter().for_each(|field| field.clear(task));
    if patch.clear.contains(&ListField::Depends) {
        task.extra.remove(DANGLING);
        task.extra.remove(CIRCULAR);
    }
    task.labels
        .retain(|label| !patch.remove_labels.contains(label));
    remove_files(task, &patch.remove_files).map_err(|error| error.in_field("removeFiles"))?;
    remove_depends(task, &patch.remove_depends)
}

/// Removes files; the error for an unknown one lists those of the task.
fn remove_files(task: &mut Task, gone: &[String]) -> Result<()> {
    for file in gone {
        let plain = normalize_inside(file);
        let is_it = |own: &String| own == file || Some(own) == plain.as_ref();
        let Some(place) = task.files.iter().position(is_it) else {
            let own = task.files.join("`, `");
            let message = format!("{} has no file `{file}`", task.id);
            let has = match own.is_empty() {
                true => String::new(),
                false => format!("; it has `{own}`"),
            };
            return Err(Error::new(Code::TaskInvalid, format!("{message}{has}"))
                .fix(format!("cleo show {}", task.id)));
        };
        task.files.remove(place);
    }
    Ok(())
}

/// Removes dependencies: ids, which may be separated by commas, or names that an import found no task for.
fn remove_depends(task: &mut Task, gone: &[String]) -> Result<()> {
    let mut names = dangling(task);
    for text in gone {
        let ids: std::result::Result<Vec<TaskId>, _> = text.split(',').map(str::parse).collect();
        if let Ok(ids) = ids {
            task.depends.retain(|id| !ids.contains(id));
            names.retain(|name| ids.iter().all(|id| id.to_string() != *name));
            continue;
        }
        let Some(at) = names.iter().position(|name| name == text) else {
            let message = format!("{} does not depend on `{text}`", task.id);
            let fix = format!("cleo deps {}", task.id);
            return Err(Error::new(Code::DependencyNotFound, message).fix(fix));
        };
        names.remove(at);
    }
    let is_left = |name: &Value| names.iter().any(|left| name.as_str() == Some(left));
    let circular = match task.extra.remove(CIRCULAR) {
        Some(Value::Array(circular)) => circular.into_iter().filter(is_left).collect(),
        _ => Vec::new(),
    };
    let names: Vec<Value> = names.iter().cloned().map(Value::from).collect();
    for (list, names) in [(CIRCULAR, circular), (DANGLING, names)] {
        match names.is_empty() {
            true => drop(task.extra.remove(list)),
            false => drop(task.extra.insert(list.to_string(), names.into())),
        }
    }
    Ok(())
}

/// Checks the rules of the graph around tasks that were written; an error undoes the transaction. Parents and
/// dependencies exist, no task waits for itself, and none is nested too deep.
pub(in crate::ops) fn check_graph(tasks: &dyn Tasks, ids: &BTreeSet<TaskId>) -> Result<()> {
    for id in ids {
        if let Some(parent) = tasks.parent(*id)?
            && !exists(tasks, parent)?
        {
            return Err(not_found(tasks, Code::ParentNotFound, &parent.to_string()));
        }
        for need in tasks.depends(*id)? {
            if !exists(tasks, need)? {
                return Err(not_found(
                    tasks,
                    Code::DependencyNotFound,
                    &need.to_string(),
                ));
            }
        }
    }
    if let Some(way) = circle(ids.iter().copied(), |id| waits_for(tasks, id))? {
        let names: Vec<String> = way.iter().map(TaskId::to_string).collect();
        return Err(cycle(&names).fix(format!("cleo deps {}", names[0])));
    }
    for id in ids {
        if depth(*id, |id| tasks.parent(id))? + height(tasks, *id)? - 1 > DEPTH_MAX {
            return Err(too_deep(&id.to_string()));
        }
    }
    Ok(())
}

fn height(tasks: &dyn Tasks, task: TaskId) -> Result<usize> {
    let mut levels = 0;
    let mut level = vec![task];
    while !level.is_empty() && levels <= DEPTH_MAX {
        levels += 1;
        let mut below = Vec::new();
        for id in level {
            below.extend(tasks.children(id)?);
        }
        level = below;
    }
    Ok(levels)
}

/// Refuses an agent of a run that removes gates, by which it is judged.
fn refuse_fewer_gates(id: TaskId, before: &Gates, patch: &Patch, gates: &[Gate]) -> Result<()> {
    let clears = patch.clear.contains(&ListField::RequiredGates);
    let mut after = Gates::default();
    after.required.extend(gates);
    let cleared = before.required.iter();
    let cleared = cleared.filter(|gate| !after.required.contains(gate));
    let cleared: Vec<Gate> = match clears {
        true => cleared.copied().collect(),
        false => {
            after.required.extend(&before.required);
            Vec::new()
        }
    };
    // Without required gates, to name one makes the others optional.
    let proven = Gate::ALL
        .iter()
        .copied()
        .filter(|gate| before.proof(*gate).is_some() && before.needs(*gate) && !after.needs(*gate));
    match cleared.into_iter().chain(proven).next() {
        Some(gate) => Err(no_removal(id, &gate.to_string())),
        None => Ok(()),
    }
}

/// Sets the gates that a task needs; none means the usual ones. To clear them also replaces a damaged record of
/// gates: nothing of it can be read, so the gates are open again.
fn require_gates(
    transaction: &mut dyn Transaction,
    task: TaskId,
    clear: bool,
    more: &[Gate],
) -> Result<()> {
    if !clear && more.is_empty() {
        return Ok(());
    }
    let (mut gates, is_damaged) = match transaction.gates(task) {
        Err(error) if clear && error.code == Code::RowDamaged => (Gates::default(), true),
        read => (read?, false),
    };
    let before = gates.required.clone();
    if clear {
        gates.required.clear();
    }
    gates.required.extend(more);
    match is_damaged || gates.required != before {
        true => transaction.put_gates(task, &gates),
        false => Ok(()),
    }
}
