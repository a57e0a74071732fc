//! Executions: a message, the agent that the router finds for it, and its answer. Rules: multi-agent
//! notes, sections 1.4 and 1.6. What happened is committed before the flow goes on, so that a killed
//! process leaves a record that says how far it came.

mod begin;
mod delegations;
mod finish;
pub(crate) mod many;
mod record;
pub(crate) mod reply;

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

pub(crate) use self::delegations::{Before, Delegations, delegations};
pub(crate) use self::many::execute_many;
use self::record::Record;
pub(crate) use self::record::cancel;
use super::Surroundings;
use super::agents::Roster;
use super::answers::Answering;
use super::runs::liveness::{self, RunLock};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::error::{Code, Error, Result, quote};
use crate::llm::Usage;
use crate::route::{Match, Query};
use crate::run::RunProjection;
use crate::run::view::RunView;
use crate::run::{Event, Message, Run, RunStatus};
use crate::store::sqlite::SqliteStore;
use crate::workspace::Workspace;

/// What is told of an execution while it is carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Told<'a> {
    /// Something happened, and is kept.
    Event(&'a Event),
    /// A piece of an answer came, which is kept when the answer is whole.
    Piece(Piece<'a>),
}

/// A piece of the answer of a model.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Piece<'a> {
    pub(crate) run: &'a str,
    pub(crate) agent: &'a str,
    pub(crate) piece: &'a str,
}

/// How the error of a run begins whose agent may not be called.
const UNTRUSTED: &str = "agent_untrusted";

/// What the error of a run says whose supervisor got no answer of the model either.
const NO_MODEL: &str = "finalizer_llm_failed";

/// Says, among what belongs to the last message of a run that nobody answered, that it may be answered
/// later.
const RETRYABLE: &str = "retryable";

/// Carries out executions, one after the other. Others of the same process work side by side.
pub(crate) struct Executor {
    /// Files of agents that the last execution could not use.
    pub(crate) warnings: Vec<String>,
    ground: Ground,
    user: String,
    store: SqliteStore,
}

/// What executions stand on, whoever writes them down.
#[derive(Clone)]
struct Ground {
    clock: Clock,
    workspace: Workspace,
    by: Match,
    answerers: Answering,
    lock: Arc<RunLock>,
    roster: Arc<Roster>,
}

/// An execution that has begun: its agent is chosen, and everything so far is kept.
#[derive(Clone)]
pub(crate) struct Begun {
    record: Record,
    /// Who answers: the agent that was chosen, else the supervisor.
    agent: Arc<Agent>,
    supervisor: Arc<Agent>,
    history: Vec<Message>,
    /// What the model took until now, also for answers that could not be used.
    counted: Usage,
    since: Instant,
    /// The same at its end, where that was known at once.
    ended: Option<Box<Begun>>,
}

impl Begun {
    pub(crate) fn run(&self) -> &Run {
        &self.record.run
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    pub(crate) fn events(&self) -> &[Event] {
        &self.record.events
    }

    pub(crate) fn view(&self) -> RunView {
        let (run, events) = (self.record.run.clone(), &self.record.events);
        let now = events.last().map(|event| event.at.clone());
        let mut view = RunView::new(
            run,
            &RunProjection::default(),
            events,
            now.unwrap_or_default(),
        );
        view.messages.clone_from(&self.record.messages);
        view
    }
}

impl Executor {
    /// Gets ready. Runs that dead processes have left are marked.
    pub(crate) fn open(surroundings: &Surroundings, by: Match) -> Result<Executor> {
        let workspace = surroundings.workspace()?;
        let mut store = workspace.open_store()?;
        liveness::mark_interrupted_runs(&mut store, &workspace, &surroundings.clock)?;
        let ground = Ground {
            clock: surroundings.clock,
            lock: Arc::new(RunLock::acquire(&workspace)?),
            answerers: Answering::open(surroundings, &workspace)?,
            roster: Arc::new(Roster::new(workspace.clone())),
            workspace,
            by,
        };
        Ok(Executor {
            warnings: Vec::new(),
            ground,
            user: surroundings.actor.clone(),
            store,
        })
    }

    pub(crate) fn roster(&self) -> Arc<Roster> {
        Arc::clone(&self.ground.roster)
    }

    pub(crate) fn another(&self) -> Result<Executor> {
        Ok(Executor {
            warnings: Vec::new(),
            ground: self.ground.clone(),
            user: self.user.clone(),
            store: self.ground.workspace.open_store()?,
        })
    }

    pub(crate) fn execute(
        &mut self,
        query: &Query,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<RunView> {
        let user = self.user.clone();
        let begun = self.begin(query, &user, None)?;
        let events = begun.events().iter();
        events.for_each(|event| tell(Told::Event(event)));
        self.finish(begun, tell).map(|ended| ended.view())
    }
}

/// The error of a run that nobody answered, or that was cancelled meanwhile.
pub(crate) fn failure(shown: &RunView) -> Option<Error> {
    let run = &shown.run.record;
    let look = format!("cleo runs show {}", quote(&run.id));
    match run.status {
        RunStatus::Failed => {}
        RunStatus::Cancelled => {
            let message = format!("{} was cancelled before an answer came", run.id);
            return Some(Error::new(Code::RunCancelled, message).fix(look));
        }
        _ => return None,
    }
    let what = run.error.as_deref().unwrap_or("nobody answered");
    let last = shown.messages.last();
    let retryable = last.and_then(|message| message.metadata.get(RETRYABLE)?.as_bool());
    let error = match what.starts_with(UNTRUSTED) {
        true => Error::new(Code::Untrusted, what)
            .fix("cleo trust")
            .or("see what happened", look),
        false if what.contains(NO_MODEL) => Error::new(Code::AgentFailed, what)
            .fix(look)
            .or("look at what the model needs", "cleo doctor"),
        false => Error::new(Code::AgentFailed, what).fix(look),
    };
    Some(error.passing(retryable == Some(true)))
}
