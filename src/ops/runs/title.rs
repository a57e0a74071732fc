//! What a run is about, in words.

use crate::id::TaskId;
use crate::run::track::Track;
use crate::run::{Run, RunKind};
use crate::store::Store;
use crate::store::sqlite::SqliteStore;
use crate::workspace::Workspace;

/// Titles of epics, which runs over one wave do not keep. The store is opened when the first is asked for.
pub(super) struct Epics<'a> {
    workspace: &'a Workspace,
    store: Option<SqliteStore>,
}

impl<'a> Epics<'a> {
    pub(super) fn of(workspace: &'a Workspace) -> Epics<'a> {
        Epics {
            workspace,
            store: None,
        }
    }

    fn title(&mut self, epic: TaskId) -> Option<String> {
        if self.store.is_none() {
            self.store = self.workspace.open_store().ok();
        }
        let transaction = self.store.as_mut()?.read().ok()?;
        let outlines = transaction.outlines(&[epic]).ok()?;
        outlines.get(epic).map(|outline| outline.title.clone())
    }
}

/// Says what a run is about: a wave of an epic, the epic or the first task, else its message.
pub(super) fn title(run: &Run, track: &Track, epics: &mut Epics<'_>) -> String {
    if let Some((epic, wave)) = wave(track) {
        let epic = epics.title(epic).unwrap_or_else(|| epic.to_string());
        return format!("{epic}, wave {wave}");
    }
    let tasks = track.board.tasks();
    let epic = tasks
        .iter()
        .find(|task| task.is_epic && run.kind == RunKind::Epic);
    match epic.or(tasks.first()) {
        Some(task) => task.title.clone(),
        None => run.input.clone(),
    }
}

fn wave(track: &Track) -> Option<(TaskId, usize)> {
    let wave = track.options.as_ref()?["selection"]["wave"].clone();
    serde_json::from_value(wave).ok()
}
