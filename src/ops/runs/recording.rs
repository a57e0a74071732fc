//! The record of a run in progress: events are committed first and then reported.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::journal::Journal;
use super::liveness::{self, RunLock, TakenRun};
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::id;
use crate::ops::Surroundings;
use crate::run::{
    Event, Message, RUN_FINISHED, RoutedBy, Run, RunKind, RunStatus, Speaker, Spent, Usage, detail,
};
use crate::store::{Database, Store, Transaction};
use crate::workspace::Workspace;

/// How long agents may still take to answer once their run is cancelled; the command that cancels it waits longer.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

pub(crate) struct Recording<'a> {
    pub(crate) run: Run,
    store: Database,
    since: Instant,
    messages: usize,
    tell: &'a mut dyn FnMut(&Event),
    journal: Journal,
    workspace: Workspace,
    is_cancelled: bool,
    _lock: RunLock,
}

pub(crate) struct Notes<'a> {
    pub(crate) run: &'a mut Run,
    messages: &'a mut usize,
    journal: &'a mut Journal,
    transaction: &'a mut dyn Transaction,
}

impl<'a> Recording<'a> {
    /// Begins a run of the caller, which gets its id here. Runs of dead processes are marked. `tell` gets the events.
    pub(crate) fn begin(
        surroundings: &Surroundings,
        workspace: &Workspace,
        run: Run,
        tell: &'a mut dyn FnMut(&Event),
    ) -> Result<Recording<'a>> {
        let clock = surroundings.clock;
        let mut store = workspace.open_store()?;
        liveness::mark_interrupted_runs(&mut store, workspace, &clock)?;
        let lock = RunLock::acquire(workspace)?;
        let mut transaction = store.write_records()?;
        let number = transaction.last_event()? + 1;
        let run = Run {
            id: id::make_id("exec", &clock, number),
            // An agent of a caller acts for its user.
            user: surroundings
                .rights
                .user
                .as_ref()
                .unwrap_or(&surroundings.actor)
                .clone(),
            routed_by: RoutedBy::Rule,
            started_at: clock.timestamp(),
            owner: lock.name.clone(),
            ..run
        };
        transaction.put_run(&run)?;
        transaction.commit()?;
        Recording::open(workspace, run, clock, store, lock, tell)
    }

    fn open(
        workspace: &Workspace,
        run: Run,
        clock: Clock,
        mut store: Database,
        lock: RunLock,
        tell: &'a mut dyn FnMut(&Event),
    ) -> Result<Recording<'a>> {
        Ok(Recording {
            journal: Journal::begin(workspace, &run, clock, &mut store)?,
            run,
            store,
            since: Instant::now(),
            messages: 0,
            tell,
            workspace: workspace.clone(),
            is_cancelled: false,
            _lock: lock,
        })
    }

    /// Resumes a run that ended before it was done, and returns its events and messages.
    ///
    /// Errors: `E_RUN_NOT_FOUND`; `E_STATUS_REFUSED` for one of another kind, or one that is in progress or
    /// completed.
    pub(crate) fn resume(
        surroundings: &Surroundings,
        workspace: &Workspace,
        id: &str,
        kind: RunKind,
        tell: &'a mut dyn FnMut(&Event),
    ) -> Result<(Recording<'a>, Vec<Event>, Vec<Message>)> {
        let clock = surroundings.clock;
        let mut store = workspace.open_store()?;
        liveness::read_to_resume(surroundings, workspace, &mut store, id, &[kind])?;
        let lock = RunLock::acquire(workspace)?;
        let TakenRun {
            mut run,
            events,
            seen,
            ..
        } = lock.take_over_to_resume(&mut store, workspace, clock, id, &[kind])?;
        lock.own(&mut run);
        let messages = store.read()?.run_messages(id)?;
        let mut recording = Recording::open(workspace, run, clock, store, lock, tell)?;
        recording.journal.set_cancel_cursor(seen);
        recording.messages = messages.len();
        Ok((recording, events, messages))
    }

    pub(crate) fn commit<T>(
        &mut self,
        work: impl FnOnce(&mut Notes<'_>) -> Result<T>,
    ) -> Result<T> {
        let before = self.run.clone();
        let (run, messages) = (&mut self.run, &mut self.messages);
        let mut done = None;
        let events = self
            .journal
            .commit_events(&mut self.store, |journal, transaction| {
                let mut notes = Notes {
                    run,
                    messages,
                    journal,
                    transaction,
                };
                done = Some(work(&mut notes)?);
                match *notes.run == before {
                    true => Ok(()),
                    false => notes.transaction.put_run(notes.run),
                }
            })?;
        events.iter().for_each(&mut *self.tell);
        done.ok_or_else(|| Error::new(Code::Internal, "nothing was noted"))
    }

    pub(crate) fn is_cancelled(&mut self) -> Result<bool> {
        self.is_cancelled |= self.journal.is_cancelled(&mut self.store)?;
        Ok(self.is_cancelled)
    }

    /// Returns whether the run was cancelled a while ago, asked without the record: an agent that is about to answer is
    /// waited for.
    pub(crate) fn watch_for_cancel(&self) -> Box<dyn FnMut() -> bool + Send> {
        let mut is_cancelled = self.journal.watch_for_cancel(&self.workspace);
        let mut since = None;
        Box::new(move || {
            since = since.or_else(|| is_cancelled().then(Instant::now));
            since.is_some_and(|since| since.elapsed() >= CANCEL_GRACE)
        })
    }

    /// Ends the run, in one transaction with `note`.
    pub(crate) fn end(
        &mut self,
        status: RunStatus,
        note: impl FnOnce(&mut Notes<'_>) -> Result<()>,
    ) -> Result<()> {
        let took = self.journal.clock.elapsed_ms(self.since);
        let now = self.journal.clock.timestamp();
        self.commit(|notes| {
            note(notes)?;
            notes.run.status = status;
            notes.run.completed_at = Some(now);
            notes.run.add_time(took);
            notes.add_event(RUN_FINISHED, json!({"status": status}))
        })
    }
}

impl Notes<'_> {
    pub(crate) fn add_event(&mut self, kind: &str, fields: Value) -> Result<()> {
        self.journal.add(self.transaction, kind, detail(fields))
    }

    /// Adds a message; returns its id.
    pub(crate) fn add_message(
        &mut self,
        speaker: Speaker,
        sender: &str,
        text: &str,
        step: Option<&str>,
    ) -> Result<String> {
        *self.messages += 1;
        let id = format!("msg_{}_{}", self.run.id, self.messages);
        let step = step.map(|step| ("stepId".to_string(), step.into()));
        let sent = ("sender".to_string(), sender.into());
        let message = Message {
            id: id.clone(),
            conversation: None,
            run: Some(self.run.id.clone()),
            speaker,
            content: text.to_string(),
            metadata: crate::build_map([sent].into_iter().chain(step)),
            created_at: self.journal.clock.timestamp(),
        };
        self.transaction.add_message(&message)?;
        let chat = json!({"role": speaker, "messageId": id, "agent": sender, "text": text});
        self.add_event("chat", chat)?;
        Ok(id)
    }

    pub(crate) fn record_answer(
        &mut self,
        agent: &str,
        usage: Option<Usage>,
        cost: Option<f64>,
    ) -> Result<()> {
        let now = self.journal.clock.timestamp();
        self.transaction.use_agent(agent, &now)?;
        self.add_usage(usage, cost);
        Ok(())
    }

    pub(crate) fn add_usage(&mut self, usage: Option<Usage>, cost: Option<f64>) {
        let before = Spent {
            usage: self.run.usage,
            cost: self.run.cost,
        };
        let all = before.plus(Spent { usage, cost });
        (self.run.usage, self.run.cost) = (all.usage, all.cost);
    }
}
