//! Events of a run, durable before they are acted on: in the store, and as lines of
//! `.cleo/runs/<id>/events.jsonl` for people and programs that follow a file. A commit of the store makes events
//! durable. The file is written after it, may lag behind or end in a torn line when a process is killed, and is
//! repaired from the store when the run is resumed.

use std::fs::{File, Permissions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::clock::Clock;
use crate::error::{Code, Error, Result, quote};
use crate::file::{PRIVATE_FILE, create_private_folder, open_to_write, read_start, unwritable};
use crate::id;
use crate::run::event::RUN_CANCEL;
use crate::run::{Detail, Event, Line, RUN_FINISHED, Run, RunEvent};
use crate::store::sqlite::SqliteStore;
use crate::store::{Store, Transaction};
use crate::workspace::Workspace;

/// How many events are read from the store at a time.
const PAGE: u32 = 1_000;

/// The events of one run that this process executes. The file is synchronized when the run ends.
pub(crate) struct Journal {
    run: String,
    /// The lock of the process that writes it.
    owner: String,
    pub(super) clock: Clock,
    path: PathBuf,
    file: File,
    /// Events of a transaction that the file does not have yet.
    unwritten: Vec<Event>,
    /// Cursor of the last event in which a request of another process was looked for.
    seen: u64,
}

impl Journal {
    /// Begins or continues the journal of a run: the file is repaired from the store.
    pub(crate) fn begin(
        workspace: &Workspace,
        run: &Run,
        clock: Clock,
        store: &mut dyn Store,
    ) -> Result<Journal> {
        let path = events_path(workspace, &run.id)?;
        let folder = path.parent().unwrap_or(&path);
        create_private_folder(folder).map_err(|cause| unwritable(folder, cause))?;
        let events = events(&*store.read()?, &run.id)?;
        let lines: String = events.iter().map(event_line).collect();
        Ok(Journal {
            run: run.id.clone(),
            owner: run.owner.clone(),
            clock,
            file: repair_file(&path, &lines)?,
            path,
            unwritten: Vec::new(),
            seen: events.last().map_or(0, |event| event.cursor),
        })
    }

    /// Looks for requests of other processes after an event, by its cursor.
    pub(crate) fn set_cancel_cursor(&mut self, cursor: u64) {
        self.seen = cursor;
    }

    /// Adds an event to a transaction. The file gets it by [`Journal::flush`], once that is committed.
    pub(crate) fn add(
        &mut self,
        transaction: &mut dyn Transaction,
        kind: &str,
        detail: Detail,
    ) -> Result<()> {
        let at = self.clock.timestamp();
        let event = transaction.add_event(&self.run, &at, kind, detail)?;
        self.unwritten.push(event);
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

    /// Drops the events of a transaction that was not committed.
    pub(crate) fn discard(&mut self) {
        self.unwritten.clear();
    }

    pub(crate) fn flush(&mut self) -> Result<Vec<Event>> {
        let told = std::mem::take(&mut self.unwritten);
        let lines: String = told.iter().map(event_line).collect();
        let mut written = self.file.write_all(lines.as_bytes());
        if told.iter().any(|event| event.kind == RUN_FINISHED) {
            written = written.and_then(|()| self.file.sync_data());
        }
        written.map_err(|cause| unwritable(&self.path, cause))?;
        Ok(told)
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
        if let Err(error) = done {
            self.discard();
            return Err(error);
        }
        self.flush()
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
        self.path.parent().unwrap_or(&self.path)
    }
}

/// Asks a store repeatedly; it is opened on the first call. An unreadable store answers no.
pub(in crate::ops) fn watch(
    workspace: &Workspace,
    mut ask: impl FnMut(&mut SqliteStore) -> Result<bool> + Send + 'static,
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
    let (transaction, mut requests) = (store.read()?, Vec::new());
    loop {
        let new = transaction.events(Some(run), *seen, PAGE)?;
        let Some(last) = new.last() else {
            return Ok(requests);
        };
        *seen = last.cursor;
        let is_request =
            |event: &Event| [RUN_CANCEL, "task.words_sent"].contains(&event.kind.as_str());
        requests.extend(new.into_iter().filter(is_request));
    }
}

/// Returns the folder of a run. Names that lead out of the workspace or name no folder are refused.
pub(crate) fn run_folder(workspace: &Workspace, run: &str) -> Result<PathBuf> {
    if !id::is_plain(run) {
        let message = format!("`{run}` is not the id of a run");
        return Err(Error::new(Code::RunNotFound, message).fix("cleo runs list"));
    }
    workspace.confine(&format!(".cleo/runs/{run}"))
}

fn events_path(workspace: &Workspace, run: &str) -> Result<PathBuf> {
    Ok(run_folder(workspace, run)?.join("events.jsonl"))
}

/// Appends to the file of a run the events that a kill kept from it. A file that differs from the store stays,
/// because a row of the store may be damaged.
pub(crate) fn append_missing_events(
    workspace: &Workspace,
    run: &str,
    store: &mut dyn Store,
) -> Result<()> {
    let path = events_path(workspace, run)?;
    let lines: String = events(&*store.read()?, run)?
        .iter()
        .map(event_line)
        .collect();
    let there = read_start(&path, lines.len() as u64 + 1).unwrap_or_default();
    match lines.as_bytes().starts_with(&there) {
        true => repair_file(&path, &lines).map(drop),
        false => Ok(()),
    }
}

pub(crate) fn events(transaction: &dyn Transaction, run: &str) -> Result<Vec<Event>> {
    let mut all: Vec<Event> = Vec::new();
    loop {
        let since = all.last().map_or(0, |event| event.cursor);
        let page = transaction.events(Some(run), since, PAGE)?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

fn event_line(event: &Event) -> String {
    // Nothing in it is a map whose keys are not text, so it can always be written.
    serde_json::to_string(&Line::from(event)).unwrap_or_default() + "\n"
}

/// Opens the file at its end and makes it hold these lines: everything from the first difference on is replaced.
fn repair_file(path: &Path, lines: &str) -> Result<File> {
    let repair = || {
        let mut file = open_to_write(path)?;
        file.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
        let mut there = Vec::new();
        (&mut file)
            .take(lines.len() as u64)
            .read_to_end(&mut there)?;
        let pairs = there.iter().zip(lines.as_bytes());
        let same = pairs.take_while(|(a, b)| a == b).count();
        file.set_len(same as u64)?;
        file.seek(SeekFrom::Start(same as u64))?;
        file.write_all(&lines.as_bytes()[same..])?;
        file.sync_data()?;
        Ok(file)
    };
    repair().map_err(|cause| unwritable(path, cause))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::run::RunKind;

    fn run() -> Run {
        Run::new("run_1".to_string(), RunKind::Tasks, "cleo", String::new())
    }

    struct World {
        workspace: Workspace,
        store: SqliteStore,
        _folder: tempfile::TempDir,
    }

    impl World {
        fn new() -> World {
            let folder = tempfile::tempdir().unwrap();
            let workspace = Workspace::create(folder.path()).unwrap().0;
            World {
                store: workspace.open_store().unwrap(),
                workspace,
                _folder: folder,
            }
        }

        fn journal(&mut self) -> Journal {
            let clock = Clock::from_setting(Some("2026-01-26T09:00:00Z")).unwrap();
            Journal::begin(&self.workspace, &run(), clock, &mut self.store).unwrap()
        }

        fn record_events(&mut self, kinds: &[&str]) {
            let mut journal = self.journal();
            let tell = |journal: &mut Journal, transaction: &mut dyn Transaction| {
                let mut all = kinds.iter();
                all.try_for_each(|kind| journal.add(transaction, kind, Detail::new()))
            };
            journal.commit_events(&mut self.store, tell).unwrap();
        }

        fn path(&self) -> PathBuf {
            self.workspace.root.join(".cleo/runs/run_1/events.jsonl")
        }

        fn kinds(&self) -> Vec<String> {
            let text = fs::read_to_string(self.path()).unwrap();
            let kind = |line: &str| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                line["type"].as_str().unwrap().to_string()
            };
            text.lines().map(kind).collect()
        }
    }

    #[test]
    fn events_are_in_store_and_in_file() {
        let mut world = World::new();
        world.record_events(&["a", "b"]);
        world.record_events(&["c"]);
        assert_eq!(world.kinds(), ["a", "b", "c"]);
        let events = events(&*world.store.read().unwrap(), "run_1").unwrap();
        assert_eq!(events.len(), 3);
    }

    #[test]
    fn failed_transaction_adds_no_events() {
        let mut world = World::new();
        let mut journal = world.journal();
        let failed = journal.commit_events(&mut world.store, |journal, transaction| {
            journal.add(transaction, "a", Detail::new())?;
            Err(Error::new(Code::Internal, "no"))
        });
        assert!(failed.is_err());
        world.record_events(&["b"]);
        assert_eq!(world.kinds(), ["b"]);
    }

    #[test]
    fn file_is_repaired_from_store_after_kill() {
        let mut world = World::new();
        world.record_events(&["a", "b", "c"]);
        let whole = fs::read_to_string(world.path()).unwrap();
        let cut = |end: usize| whole[..end].to_string();
        for left in [
            String::new(),
            cut(10),
            cut(whole.len() - 1),
            cut(whole.find('\n').unwrap() + 1),
            format!("{whole}{{\"torn"),
            format!("{whole}{whole}"),
            whole.replace("\"b\"", "\"x\""),
        ] {
            fs::write(world.path(), &left).unwrap();
            world.journal();
            assert_eq!(fs::read_to_string(world.path()).unwrap(), whole, "{left}");
        }
        fs::remove_file(world.path()).unwrap();
        world.record_events(&["d"]);
        assert_eq!(world.kinds(), ["a", "b", "c", "d"]);
    }

    #[test]
    fn run_ids_cannot_leave_workspace() {
        let world = World::new();
        for name in ["", "..", "a/b", "/etc", "a b"] {
            assert!(run_folder(&world.workspace, name).is_err(), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_link() {
        let mut world = World::new();
        let path = world.path();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/tmp/elsewhere.jsonl", &path).unwrap();
        let clock = Clock::System;
        let begun = Journal::begin(&world.workspace, &run(), clock, &mut world.store);
        assert_eq!(begun.err().unwrap().code, Code::FileUnwritable);
    }
}
