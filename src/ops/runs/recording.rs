//! The record of a run while it is carried out: what happened is kept before anything goes on, and
//! told once it is kept.

use std::time::Instant;

use serde_json::{Value, json};

use super::alive::{self, Alive};
use crate::clock::Clock;
use crate::error::Result;
use crate::id;
use crate::ops::Surroundings;
use crate::run::{Detail, Event, Message, RoutedBy, Run, RunKind, RunStatus, Speaker, Usage};
use crate::store::agency::{Agency, AgencyTransaction};
use crate::store::sqlite::SqliteAgency;
use crate::workspace::Workspace;

/// A run that is being carried out.
pub struct Recording<'a> {
    /// The run as it stands.
    pub run: Run,
    clock: Clock,
    agency: SqliteAgency,
    since: Instant,
    messages: usize,
    tell: &'a mut dyn FnMut(&Event),
    _alive: Alive,
}

/// What is noted together.
pub struct Notes<'a> {
    /// The run; it is kept as it stands in the end.
    pub run: &'a mut Run,
    clock: Clock,
    messages: &'a mut usize,
    events: Vec<Event>,
    transaction: &'a mut dyn AgencyTransaction,
}

/// How a run begins.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    /// What is carried out.
    pub kind: RunKind,
    /// What is asked for.
    pub input: &'a str,
    /// Whose it is.
    pub user: &'a str,
    /// Who coordinates it.
    pub supervisor: &'a str,
    /// Why it goes the way it goes.
    pub reason: &'a str,
}

impl<'a> Recording<'a> {
    /// Begins a run. Runs that dead processes have left are marked. `tell` hears what happens.
    pub fn begin(
        surroundings: &Surroundings,
        workspace: &Workspace,
        beginning: &Beginning<'_>,
        tell: &'a mut dyn FnMut(&Event),
    ) -> Result<Recording<'a>> {
        let clock = surroundings.clock;
        let mut agency = SqliteAgency::open_or_create(&workspace.agency())?;
        alive::settle(&mut agency, workspace, &clock)?;
        let alive = Alive::begin(workspace)?;
        let mut transaction = agency.write()?;
        let number = transaction.last_event()? + 1;
        let run = begun(beginning, &alive.name, &clock, number);
        transaction.put_run(&run)?;
        transaction.commit()?;
        Ok(Recording {
            run,
            clock,
            agency,
            since: Instant::now(),
            messages: 0,
            tell,
            _alive: alive,
        })
    }

    /// Notes what happened, all at once, and tells it.
    pub fn note<T>(&mut self, work: impl FnOnce(&mut Notes<'_>) -> Result<T>) -> Result<T> {
        let mut transaction = self.agency.write()?;
        let before = self.run.clone();
        let mut notes = Notes {
            run: &mut self.run,
            clock: self.clock,
            messages: &mut self.messages,
            events: Vec::new(),
            transaction: &mut *transaction,
        };
        let done = work(&mut notes)?;
        let events = std::mem::take(&mut notes.events);
        if self.run != before {
            transaction.put_run(&self.run)?;
        }
        transaction.commit()?;
        events.iter().for_each(&mut *self.tell);
        Ok(done)
    }

    /// Ends the run. The rest of `note` is kept with it.
    pub fn end(
        &mut self,
        status: RunStatus,
        note: impl FnOnce(&mut Notes<'_>) -> Result<()>,
    ) -> Result<()> {
        let took = self.clock.elapsed_ms(self.since);
        let now = self.clock.timestamp();
        self.note(|notes| {
            note(notes)?;
            notes.run.status = status;
            notes.run.completed_at = Some(now);
            notes.run.execution_time_ms = Some(took);
            notes.event("execution_end", json!({"status": status}))
        })
    }
}

fn begun(beginning: &Beginning<'_>, owner: &str, clock: &Clock, number: u64) -> Run {
    Run {
        id: id::minted("exec", clock, number),
        kind: beginning.kind,
        status: RunStatus::Running,
        user: beginning.user.to_string(),
        agent: None,
        requested_agent: None,
        supervisor: beginning.supervisor.to_string(),
        input: beginning.input.to_string(),
        output: None,
        routed_by: RoutedBy::Rule,
        routing_reason: beginning.reason.to_string(),
        routing_score: 0,
        answered_by: None,
        model: None,
        usage: None,
        cost: None,
        execution_time_ms: None,
        error: None,
        conversation: None,
        started_at: clock.timestamp(),
        completed_at: None,
        owner: owner.to_string(),
    }
}

impl Notes<'_> {
    /// Notes that something happened; `fields` is a JSON object.
    pub fn event(&mut self, kind: &str, fields: Value) -> Result<()> {
        let detail = match fields {
            Value::Object(detail) => detail,
            _ => Detail::new(),
        };
        let at = self.clock.timestamp();
        let cursor = self
            .transaction
            .add_event(&self.run.id, &at, kind, &detail)?;
        self.events.push(Event {
            cursor,
            run: self.run.id.clone(),
            at,
            kind: kind.to_string(),
            detail,
        });
        Ok(())
    }

    /// Notes that somebody said something; returns the id of the message.
    pub fn say(
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
            metadata: Detail::from_iter([sent].into_iter().chain(step)),
            created_at: self.clock.timestamp(),
        };
        self.transaction.add_message(&message)?;
        let chat = json!({"role": speaker, "messageId": id, "agent": sender, "text": text});
        self.event("chat", chat)?;
        Ok(id)
    }

    /// Notes that an agent answered, and what that took.
    pub fn answered(&mut self, agent: &str, usage: Option<Usage>, cost: Option<f64>) -> Result<()> {
        let now = self.clock.timestamp();
        self.transaction.use_agent(agent, &now)?;
        self.took(usage, cost);
        Ok(())
    }

    /// Adds what an answer took to what the run took.
    pub fn took(&mut self, usage: Option<Usage>, cost: Option<f64>) {
        let run = &mut *self.run;
        run.usage = sum(run.usage, usage);
        run.cost = match (run.cost, cost) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
    }
}

fn sum(one: Option<Usage>, other: Option<Usage>) -> Option<Usage> {
    let (Some(a), Some(b)) = (one, other) else {
        return one.or(other);
    };
    let plus = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    Some(Usage {
        input_tokens: plus(a.input_tokens, b.input_tokens),
        output_tokens: plus(a.output_tokens, b.output_tokens),
        total_tokens: plus(a.total_tokens, b.total_tokens),
    })
}
