//! Which tasks a filter lets through.

use crate::score::normalize;
use crate::store::{Archived, Filter};
use crate::task::Task;

pub(super) fn passes(filter: &Filter, task: &Task) -> bool {
    fn any<T: PartialEq>(wanted: &[T], value: &T) -> bool {
        wanted.is_empty() || wanted.contains(value)
    }
    let has_label = |wanted: &String| {
        task.labels
            .iter()
            .any(|label| normalize(label) == normalize(wanted.trim()))
    };
    any(&filter.statuses, &task.status)
        && any(&filter.kinds, &task.kind)
        && any(&filter.priorities, &task.priority)
        && filter
            .parent
            .is_none_or(|parent| task.parent == Some(parent))
        && (filter.phase.is_none() || filter.phase == task.phase)
        && (filter.agent.is_none() || filter.agent == task.assigned_agent)
        && (!filter.assigned || task.assigned_agent.is_some())
        && (filter.feature.is_none() || filter.feature == task.feature)
        && (filter.due_before.as_ref())
            .is_none_or(|moment| task.due.as_ref().is_some_and(|due| due < moment))
        && (filter.due_after.as_ref())
            .is_none_or(|moment| task.due.as_ref().is_some_and(|due| due >= moment))
        && filter.labels.iter().all(has_label)
        && is_shown(filter.archived, task)
        && filter.closed_before.as_ref().is_none_or(|moment| {
            let closed = task.completed_at.as_ref().or(task.cancelled_at.as_ref());
            closed.is_some_and(|closed| closed < moment)
        })
}

pub(super) fn is_shown(archived: Archived, task: &Task) -> bool {
    match archived {
        Archived::Hidden => task.archived_at.is_none(),
        Archived::Only => task.archived_at.is_some(),
        Archived::Shown => true,
    }
}
