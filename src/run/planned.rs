//! The tasks of a run as they were when it began. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::id::TaskId;
use crate::task::graph::{Edges, depths};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Planned {
    pub(crate) task_id: TaskId,
    pub(crate) title: String,
    /// The tasks of the run that come before it.
    #[serde(default)]
    pub(crate) needs: Vec<TaskId>,
    /// Its criteria when the run began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) acceptance: Vec<String>,
    /// True for an epic, which no agent works on: it is done once its parts are.
    #[serde(default)]
    pub(crate) is_epic: bool,
}

/// Returns the wave of each task, from 0: the one after its last dependency. Epics, which have no work of
/// their own, have none, nor do tasks in a cycle.
pub(crate) fn waves(tasks: &[Planned]) -> BTreeMap<TaskId, usize> {
    let mut graph = Edges::default();
    for task in tasks {
        graph.add_node(task.task_id);
        for need in &task.needs {
            graph.add_edge(*need, task.task_id, ());
        }
    }
    let epics = tasks.iter().filter(|task| task.is_epic);
    let epics: BTreeSet<TaskId> = epics.map(|task| task.task_id).collect();
    let depths = depths(&graph, |id| usize::from(!epics.contains(&id)));
    let wave = |(id, depth): (TaskId, usize)| {
        let is_epic = epics.contains(&id);
        (id, depth.saturating_sub(usize::from(is_epic)))
    };
    crate::build_map(depths.into_iter().map(wave))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_is_in_wave_after_its_last_dependency() {
        let planned = |id, needs: &[u32], is_epic| Planned {
            task_id: TaskId(id),
            needs: needs.iter().copied().map(TaskId).collect(),
            is_epic,
            ..Planned::default()
        };
        let tasks = [
            planned(1, &[2, 3], true),
            planned(2, &[], false),
            planned(3, &[2], false),
            planned(4, &[1], false),
            planned(5, &[6], false),
            planned(6, &[5], false),
        ];
        let waves: Vec<(u32, usize)> = waves(&tasks)
            .into_iter()
            .map(|(id, wave)| (id.0, wave))
            .collect();
        assert_eq!(waves, [(1, 1), (2, 0), (3, 1), (4, 2)]);
    }
}
