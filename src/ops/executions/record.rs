//! The record of an execution while it is carried out.

use serde_json::{Value, json};

use crate::clock::Clock;
use crate::error::{Result, quote};
use crate::ops::runs::{journal, no_run};
use crate::run::{Action, Event, Message, Run, RunKind, RunStatus, STEP, Speaker, Step, detail};
use crate::store::{Database, Store, Transaction};
use crate::workspace::Workspace;

#[derive(Clone)]
pub(super) struct Record {
    pub(super) run: Run,
    pub(super) messages: Vec<Message>,
    pub(super) events: Vec<Event>,
    clock: Clock,
}

impl Record {
    pub(super) fn new(run: Run, clock: Clock) -> Record {
        Record {
            run,
            messages: Vec::new(),
            events: Vec::new(),
            clock,
        }
    }

    /// Adds an event; `fields` is a JSON object.
    pub(super) fn add_event(
        &mut self,
        transaction: &mut dyn Transaction,
        kind: &str,
        fields: Value,
    ) -> Result<()> {
        let at = self.clock.timestamp();
        let event = transaction.add_event(&self.run.id, &at, kind, detail(fields))?;
        self.events.push(event);
        Ok(())
    }

    /// Adds a step. `progress` is how much of the run is done then, in percent.
    pub(super) fn add_step(
        &mut self,
        transaction: &mut dyn Transaction,
        (agent, action, progress): (&str, Action, u8),
        content: &str,
        metadata: Value,
    ) -> Result<()> {
        let before = self.events.iter().filter(|event| event.kind == STEP);
        let step = Step {
            id: format!("step_{}_{}", self.run.id, before.count() + 1),
            timestamp: self.clock.timestamp(),
            agent: agent.to_string(),
            action,
            content: content.to_string(),
            progress,
            metadata: detail(metadata),
        };
        self.add_event(transaction, STEP, json!(step))
    }

    /// Adds a message, to the conversation as well if it is shown there.
    pub(super) fn say(
        &mut self,
        transaction: &mut dyn Transaction,
        speaker: Speaker,
        content: &str,
        metadata: Value,
        is_shown: bool,
    ) -> Result<()> {
        let message = Message {
            id: format!("msg_{}_{}", self.run.id, self.messages.len() + 1),
            conversation: self.run.conversation.clone().filter(|_| is_shown),
            run: Some(self.run.id.clone()),
            speaker,
            content: content.to_string(),
            metadata: detail(metadata),
            created_at: self.clock.timestamp(),
        };
        transaction.add_message(&message)?;
        let kind = match speaker {
            Speaker::User => "message_sent",
            _ => "message_received",
        };
        let fields = json!({"id": message.id, "type": speaker, "metadata": message.metadata});
        self.messages.push(message);
        self.add_event(transaction, kind, fields)
    }

    /// Sets when the conversation of the run was last used.
    pub(super) fn touch_conversation(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let id = self.run.conversation.as_deref();
        let found = id
            .map(|id| transaction.conversation(id))
            .transpose()?
            .flatten();
        let Some(mut conversation) = found else {
            return Ok(());
        };
        conversation.updated_at = self.clock.timestamp();
        conversation
            .last_message_at
            .clone_from(&conversation.updated_at);
        transaction.put_conversation(&conversation)
    }
}

pub(crate) fn cancel(
    store: &mut Database,
    clock: &Clock,
    id: &str,
    user: Option<&str>,
    by: &str,
) -> Result<Run> {
    let mut transaction = store.write_records()?;
    let run = transaction.run(id)?;
    let run = run.filter(|run| run.kind == RunKind::Execution);
    let run = run.filter(|run| user.is_none_or(|user| user == run.user));
    let mut run = run.ok_or_else(|| no_run(id))?;
    if run.is_over() {
        let error = error!(StatusRefused, "the execution {id} is over: {}", run.status);
        return Err(error.fix(format!("cleo runs show {}", quote(id))));
    }
    let now = clock.timestamp();
    run.status = RunStatus::Cancelled;
    run.error = Some(format!("cancelled by {by}"));
    run.completed_at = Some(now.clone());
    transaction.put_run(&run)?;
    let ended = detail(json!({"status": run.status}));
    transaction.add_event(id, &now, "execution_end", ended)?;
    transaction.commit()?;
    Ok(run)
}

/// Returns a run that was cancelled by another process while it was carried out.
pub(super) fn find_cancelled(transaction: &dyn Transaction, id: &str) -> Result<Option<Run>> {
    Ok(transaction.run(id)?.filter(Run::is_over))
}

/// Returns a check whether an execution was cancelled meanwhile.
pub(super) fn watch(workspace: &Workspace, id: &str) -> impl FnMut() -> bool + 'static {
    let id = id.to_string();
    journal::watch(workspace, move |store| {
        find_cancelled(&*store.read()?, &id).map(|run| run.is_some())
    })
}
