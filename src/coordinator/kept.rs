//! Worktrees of a run that had to stay, because no branch could hold all that was done in them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::id::TaskId;
use crate::run::Event;
use crate::run::told::{Told, kind};

/// A worktree that is kept.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeptTree {
    /// The task that was worked on in it.
    pub(crate) task_id: TaskId,
    /// Where it is.
    pub(crate) worktree: String,
    /// Its branch, which lacks something of what was done in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// Why it is kept.
    pub(crate) reason: String,
}

impl KeptTree {
    fn of(told: Told) -> Option<KeptTree> {
        Some(KeptTree {
            task_id: told.task_id?,
            worktree: told.worktree?,
            branch: told.branch,
            reason: told.reason.unwrap_or_default(),
        })
    }

    pub(super) fn is_on(&self, branch: &str) -> bool {
        self.branch.as_deref() == Some(branch)
    }

    fn is_there(&self) -> bool {
        Path::new(&self.worktree).is_dir()
    }
}

/// Lists the worktrees of a run that are kept, each as it was told of last.
pub(super) fn kept(events: &[Event]) -> Vec<KeptTree> {
    let told = events.iter().filter(|event| event.kind == kind::TASK_KEPT);
    let trees = told.filter_map(|event| KeptTree::of(Told::read(&event.detail)));
    let trees = trees.map(|tree| (tree.worktree.clone(), tree));
    let last: BTreeMap<String, KeptTree> = trees.collect();
    let mut kept: Vec<KeptTree> = last.into_values().filter(KeptTree::is_there).collect();
    kept.sort_by_key(|tree| tree.task_id);
    kept
}
