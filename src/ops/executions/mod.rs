//! Executions: a message, the agent that the router finds for it, and its answer. Rules: multi-agent notes, sections
//! 1.4 and 1.6. Each step is committed before the next one begins, so a killed process leaves a record of its progress.

mod begin;
mod finish;
mod record;
pub(crate) mod reply;

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use serde::Serialize;

use self::record::Record;
pub(crate) use self::record::cancel;
pub(crate) use self::reply::{Before, Delegations, delegations};
use super::Surroundings;
use super::agents::Roster;
use super::answers::Answering;
use super::runs::liveness::{self, RunLock};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::error::{Code, Error, Result, quote};
use crate::route::{Match, Query};
use crate::run::view::RunView;
use crate::run::{Event, Message, Run, RunProjection, RunStatus, Usage};
use crate::store::Database;
use crate::workspace::Workspace;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Progress<'a> {
    Event(&'a Event),
    /// A piece of an answer, which is stored when the answer is complete.
    Piece(Piece<'a>),
}

/// A piece of the answer of a model.
#[derive(Clone, Copy, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Piece<'a> {
    pub(crate) run: &'a str,
    pub(crate) agent: &'a str,
    pub(crate) piece: &'a str,
}

/// Error word of a run whose agent may not be called.
const UNTRUSTED: &str = "agent_untrusted";

/// Error word of a run whose supervisor got no answer of the model either.
const NO_MODEL: &str = "finalizer_llm_failed";

/// Metadata of the last message of an unanswered run that may be answered later.
const RETRYABLE: &str = "retryable";

/// Carries out executions, one after the other. A process may have several.
pub(crate) struct Executor {
    /// Warnings about invalid agent files, from the last execution.
    pub(crate) warnings: Vec<String>,
    services: Services,
    user: String,
    /// The only user whose rows the database shows to the last execution.
    acts_for: Option<Arc<str>>,
    store: Database,
}

/// The parts that all executors of a process share.
#[derive(Clone)]
struct Services {
    clock: Clock,
    workspace: Workspace,
    by: Match,
    answerers: Answering,
    /// Acquired by the first execution, so that a server can show what is on a read-only disk.
    lock: Arc<OnceLock<RunLock>>,
    roster: Arc<Roster>,
}

/// An execution whose agent is chosen and recorded.
#[derive(Clone)]
pub(crate) struct StartedExecution {
    record: Record,
    /// The chosen agent, else the supervisor.
    agent: Arc<Agent>,
    supervisor: Arc<Agent>,
    history: Vec<Message>,
    /// Tokens of the model so far, those of invalid answers included.
    counted: Usage,
    since: Instant,
    /// The same at its end, if that was known at once.
    ended: Option<Box<StartedExecution>>,
}

impl StartedExecution {
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
        let (track, now) = (RunProjection::default(), events.last());
        let now = now.map(|event| event.at.clone()).unwrap_or_default();
        let mut view = RunView::new(run, &track, events, now);
        view.messages.clone_from(&self.record.messages);
        view
    }
}

impl Services {
    fn lock(&self) -> Result<&RunLock> {
        match self.lock.get() {
            Some(lock) => Ok(lock),
            None => {
                let lock = RunLock::acquire(&self.workspace)?;
                Ok(self.lock.get_or_init(|| lock))
            }
        }
    }
}

impl Executor {
    /// Opens the store, and marks runs of dead processes.
    pub(crate) fn open(surroundings: &Surroundings, by: Match) -> Result<Executor> {
        let workspace = surroundings.workspace()?;
        let mut store = workspace.open_store()?;
        liveness::mark_interrupted_runs(&mut store, &workspace, &surroundings.clock)?;
        let services = Services {
            clock: surroundings.clock,
            lock: Arc::default(),
            answerers: Answering::open(surroundings, &workspace)?,
            roster: Arc::new(Roster::new(workspace.clone())),
            workspace,
            by,
        };
        Ok(Executor {
            warnings: Vec::new(),
            services,
            user: surroundings.actor.clone(),
            acts_for: None,
            store,
        })
    }

    pub(crate) fn roster(&self) -> Arc<Roster> {
        Arc::clone(&self.services.roster)
    }

    /// Opens another one, which finishes what this one began last.
    pub(crate) fn open_another(&self) -> Result<Executor> {
        let mut store = self.services.workspace.open_store()?;
        store.act_for(self.acts_for.clone());
        Ok(Executor {
            warnings: Vec::new(),
            services: self.services.clone(),
            user: self.user.clone(),
            acts_for: self.acts_for.clone(),
            store,
        })
    }

    pub(crate) fn execute(
        &mut self,
        query: &Query,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Result<RunView> {
        let user = self.user.clone();
        let begun = self.begin(query, &user, None)?;
        let events = begun.events().iter();
        events.for_each(|event| tell(Progress::Event(event)));
        self.finish(begun, tell).map(|ended| ended.view())
    }
}

/// The error of a run without an answer, or of one that was cancelled meanwhile.
pub(crate) fn failure(shown: &RunView) -> Option<Error> {
    let run = &shown.run.record;
    let look = format!("cleo runs show {}", quote(&run.id));
    match run.status {
        RunStatus::Failed => {}
        RunStatus::Unanswered => {
            let message = format!("no model is configured, so {} has no answer", run.id);
            return Some(Error::new(Code::Unanswered, message).fix("cleo doctor").or(
                "name a model server",
                "cleo config set llm.provider openai-chat",
            ));
        }
        RunStatus::Cancelled => {
            let message = format!("{} was cancelled before an answer came", run.id);
            return Some(Error::new(Code::RunCancelled, message).fix(look));
        }
        _ => return None,
    }
    let what = run.error.as_deref().unwrap_or("no agent answered");
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
