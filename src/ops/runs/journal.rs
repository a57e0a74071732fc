//! Events of a run, which the store has before they are acted on.

use std::path::{Path, PathBuf};

use crate::clock::Clock;
use crate::error::{Code, Error, Result, quote};
use crate::file::{create_private_folder, unwritable};
use crate::id;
use crate::run::event::RUN_CANCEL;
use crate::run::{Detail, Event, Run, RunEvent};
use crate::store::{Database, Store, Transaction};
use crate::workspace::Workspace;

/// How many events are read from the store at a time.
const PAGE: u32 = 1_000;

/// The events of one run that this process executes.
pub(crate) struct Journal {
    run: String,
    /// The lock of the process that writes it.
    owner: String,
    pub(super) clock: Clock,
    folder: PathBuf,
    /// Events of a transaction that is not committed yet.
    new: Vec<Event>,
    /// Cursor of the last event in which a request of another process was looked for.
    seen: u64,
}

impl Journal {
    /// Begins or continues the journal of a run, which gets a folder.
    pub(crate) fn begin(
        workspace: &Workspace,
        run: &Run,
        clock: Clock,
        store: &mut dyn Store,
    ) -> Result<Journal> {
        let folder = run_folder(workspace, &run.id)?;
        create_private_folder(&folder).map_err(|cause| unwritable(&folder, cause))?;
        Ok(Journal {
            run: run.id.clone(),
            owner: run.owner.clone(),
            clock,
            folder,
            new: Vec::new(),
            seen: store.read()?.last_event()?,
        })
    }

    /// Looks for requests of other processes after an event, by its cursor.
    pub(crate) fn set_cancel_cursor(&mut self, cursor: u64) {
        self.seen = cursor;
    }

    pub(crate) fn add(
        &mut self,
        transaction: &mut dyn Transaction,
        kind: &str,
        detail: Detail,
    ) -> Result<()> {
        let at = self.clock.timestamp();
        let event = transaction.add_event(&self.run, &at, kind, detail)?;
        self.new.push(event);
        Ok(())
    }

    pub(crate) fn add_event(
        &mut self,
        transaction: &mut dyn Transaction,
        event: &RunEvent,
    ) -> Result<()> {
        let (kind, detail) = event.to_parts();
        self.add(transaction, &kind, detail)
    }

    /// Returns the events since the last transaction.
    pub(crate) fn take_new(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.new)
    }

    /// Does `work` in one transaction and returns its events. When it fails, none of them is kept.
    pub(crate) fn commit_events(
        &mut self,
        store: &mut dyn Store,
        work: impl FnOnce(&mut Journal, &mut dyn Transaction) -> Result<()>,
    ) -> Result<Vec<Event>> {
        let mut transaction = store.write_records()?;
        let done = self
            .refuse_lost(&*transaction)
            .and_then(|()| work(self, &mut *transaction))
            .and_then(|()| transaction.commit());
        let new = self.take_new();
        done.map(|_| new)
    }

    /// Refuses to continue a run that another process has taken over, which is possible where somebody removed the
    /// file that shows that this one is alive.
    pub(crate) fn refuse_lost(&self, transaction: &dyn Transaction) -> Result<()> {
        match transaction.run(&self.run) {
            Ok(Some(run)) if run.owner != self.owner => {
                let message = format!("another process has taken the run {} over", self.run);
                let show = format!("cleo runs show {}", quote(&self.run));
                Err(Error::new(Code::ClaimLost, message).fix(show))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn is_cancelled(&mut self, store: &mut dyn Store) -> Result<bool> {
        Ok(has_cancel(&self.read_requests(store)?))
    }

    /// Returns what other processes have asked of the run since the last call.
    pub(crate) fn read_requests(&mut self, store: &mut dyn Store) -> Result<Vec<Event>> {
        read_requests(&self.run, &mut self.seen, store)
    }

    /// Returns whether the run is cancelled, asked without the journal.
    pub(crate) fn watch_for_cancel(
        &self,
        workspace: &Workspace,
    ) -> impl FnMut() -> bool + Send + 'static {
        let (run, mut seen) = (self.run.clone(), self.seen);
        watch(workspace, move |store| {
            Ok(has_cancel(&read_requests(&run, &mut seen, store)?))
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Asks a store repeatedly; it is opened on the first call. An unreadable store answers no.
pub(in crate::ops) fn watch(
    workspace: &Workspace,
    mut ask: impl FnMut(&mut Database) -> Result<bool> + Send + 'static,
) -> impl FnMut() -> bool + Send + 'static {
    let (workspace, mut opened) = (workspace.clone(), None);
    move || {
        if opened.is_none() {
            opened = workspace.open_store().ok();
        }
        let store = opened.as_mut();
        store.is_some_and(|store| ask(store).unwrap_or(false))
    }
}

pub(crate) fn has_cancel(requests: &[Event]) -> bool {
    requests.iter().any(|event| event.kind == RUN_CANCEL)
}

fn read_requests(run: &str, seen: &mut u64, store: &mut dyn Store) -> Result<Vec<Event>> {
    let mut events = events_since(&*store.read()?, run, *seen)?;
    *seen = events.last().map_or(*seen, |last| last.cursor);
    let requests = [RUN_CANCEL, "task.words_sent", "task.stop_requested"];
    events.retain(|event| requests.contains(&event.kind.as_str()));
    Ok(events)
}

/// Returns the folder of a run. Names that lead out of the workspace or name no folder are refused.
pub(crate) fn run_folder(workspace: &Workspace, run: &str) -> Result<PathBuf> {
    if !id::is_plain(run) {
        let message = format!("`{run}` is not the id of a run");
        return Err(Error::new(Code::RunNotFound, message).fix("cleo runs list"));
    }
    workspace.confine(&format!(".cleo/runs/{run}"))
}

pub(crate) fn events(transaction: &dyn Transaction, run: &str) -> Result<Vec<Event>> {
    events_since(transaction, run, 0)
}

fn events_since(transaction: &dyn Transaction, run: &str, cursor: u64) -> Result<Vec<Event>> {
    let mut all: Vec<Event> = Vec::new();
    loop {
        let since = all.last().map_or(cursor, |event| event.cursor);
        let page = transaction.events(Some(run), since, PAGE)?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunKind;

    #[test]
    fn failed_transaction_adds_no_events() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap().0;
        let mut store = workspace.open_store().unwrap();
        let run = Run::new("run_1".to_string(), RunKind::Tasks, "cleo", String::new());
        let mut journal = Journal::begin(&workspace, &run, Clock::System, &mut store).unwrap();
        for (kind, is_committed) in [("a", false), ("b", true)] {
            let told = journal.commit_events(&mut store, |journal, transaction| {
                journal.add(transaction, kind, Detail::new())?;
                match is_committed {
                    true => Ok(()),
                    false => Err(Error::new(Code::Internal, "no")),
                }
            });
            assert_eq!(told.is_ok_and(|told| told.len() == 1), is_committed);
        }
        let events = events(&*store.read().unwrap(), "run_1").unwrap();
        assert_eq!(events.len(), 1);
    }

    #[test]
    fn run_ids_cannot_leave_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap().0;
        for name in ["", "..", "a/b", "/etc", "a b"] {
            assert!(run_folder(&workspace, name).is_err(), "{name}");
        }
    }
}
