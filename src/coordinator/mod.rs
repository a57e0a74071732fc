//! Runs tasks with agents: each is claimed, given to an agent, verified and completed as soon as its
//! dependencies are done, within the allowed number at a time. Every event is committed before it is acted
//! on, so that a killed run can resume. Nothing below knows this module: `scheduler` decides and is pure,
//! `engine` carries its decisions out, `threads` has the threads of agents. Steps of [`plan`]s and queries ([`ask`])
//! are messages to agents, which `messages` sends as the same scheduler decides.

pub(crate) mod ask;
mod attempt;
mod budget;
pub(crate) mod cancel;
mod claiming;
pub(crate) mod detached;
mod engine;
mod isolation;
mod messages;
mod options;
mod parts;
pub(crate) mod plan;
mod prompt;
mod queue;
mod recorder;
mod recovery;
mod removal;
mod report;
pub(crate) mod request;
mod resume;
mod scheduler;
mod selection;
mod slot;
mod threads;
mod trees;
mod updates;
mod verdict;

use crate::run::{Event, RunProjection};
use crate::runner::agent::Runners;
pub(crate) use cancel::cancel;
pub(crate) use engine::run;
pub(crate) use options::{Options, ResumeChanges};
pub(crate) use report::Report;
pub(crate) use resume::{resume, suggest_continuation};
pub(crate) use selection::{Rehearsal, Rehearsed, rehearse};

pub(crate) trait Listener {
    fn on_events(&mut self, events: &[Event], track: &RunProjection);
}

#[derive(Clone, Debug, Default)]
pub(crate) struct RunEnvironment {
    /// How many agents there are above this cleo (`CLEO_DEPTH`).
    pub(crate) depth: u32,
    /// The trace that it belongs to (`TRACEPARENT`).
    pub(crate) trace: Option<String>,
    pub(crate) runners: Runners,
}
