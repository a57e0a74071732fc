//! Writing down what happens in a run.

use serde_json::{Value, json};

use crate::clock::Clock;
use crate::error::Result;
use crate::run::{Action, Detail, Event, Message, Run, STEP, Speaker, Step};
use crate::store::agency::AgencyTransaction;

/// A run that is being written.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) run: Run,
    pub(super) messages: Vec<Message>,
    pub(super) events: Vec<Event>,
    steps: usize,
    said: usize,
    clock: Clock,
}

/// How far a run has come.
pub(super) struct Progress<'a> {
    pub(super) agent: &'a str,
    pub(super) action: Action,
    pub(super) percent: u8,
}

/// Makes the fields of an event; `fields` is a JSON object.
pub(super) fn detail(fields: Value) -> Detail {
    match fields {
        Value::Object(detail) => detail,
        _ => Detail::new(),
    }
}

impl Record {
    pub(super) fn new(run: Run, clock: Clock) -> Record {
        Record {
            run,
            messages: Vec::new(),
            events: Vec::new(),
            steps: 0,
            said: 0,
            clock,
        }
    }

    /// Notes that something happened.
    pub(super) fn event(
        &mut self,
        transaction: &mut dyn AgencyTransaction,
        kind: &str,
        fields: Value,
    ) -> Result<()> {
        let (at, detail) = (self.clock.timestamp(), detail(fields));
        let cursor = transaction.add_event(&self.run.id, &at, kind, &detail)?;
        self.events.push(Event {
            cursor,
            run: self.run.id.clone(),
            at,
            kind: kind.to_string(),
            detail,
        });
        Ok(())
    }

    /// Notes a step.
    pub(super) fn step(
        &mut self,
        transaction: &mut dyn AgencyTransaction,
        progress: Progress<'_>,
        content: &str,
        metadata: Value,
    ) -> Result<()> {
        self.steps += 1;
        let step = Step {
            id: format!("step_{}_{}", self.run.id, self.steps),
            timestamp: self.clock.timestamp(),
            agent: progress.agent.to_string(),
            action: progress.action,
            content: content.to_string(),
            progress: progress.percent,
            metadata: detail(metadata),
        };
        self.event(transaction, STEP, json!(step))
    }

    /// Notes a message; in the conversation too, if it belongs there.
    pub(super) fn say(
        &mut self,
        transaction: &mut dyn AgencyTransaction,
        speaker: Speaker,
        content: &str,
        metadata: Value,
        is_shown: bool,
    ) -> Result<()> {
        self.said += 1;
        let message = Message {
            id: format!("msg_{}_{}", self.run.id, self.said),
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
        let told = json!({"id": message.id, "type": speaker, "metadata": message.metadata});
        self.messages.push(message);
        self.event(transaction, kind, told)
    }
}
