//! Tasks carried out by agents: each is claimed, given to an agent, verified and completed, as soon as
//! what it needs is done, as many at a time as are allowed. Every event is durable before it is acted
//! on, so that a killed run goes on where it stood. It stands above the verbs, and nothing below knows
//! it: `machine` decides and is pure, `engine` does what it says, `crew` are the threads that drive
//! agents. [`plan`] carries out plans, whose steps are messages to agents.

mod claiming;
mod crew;
mod cut_off;
mod deeds;
pub mod detached;
mod engine;
mod giving_up;
mod hearing;
mod isolation;
mod judging;
mod kept;
mod machine;
mod options;
pub mod plan;
mod prompt;
mod rehearsal;
mod report;
mod resume;
mod rules;
mod selection;
mod staff;
mod taking_up;
mod trees;
mod turns;

pub use engine::run;
pub use giving_up::{Cancelled, cancel};
pub use kept::KeptTree;
pub use options::{DEPTH_MAX, Options, Rest, Selection};
pub use rehearsal::{Rehearsal, Rehearsed, rehearse};
pub use report::Report;
pub use resume::{resume, way_on};

use crate::ops::trust::Item;
use crate::run::Event;
use crate::run::board::Board;
use crate::runner::agent::Runners;

/// Who is told of a run while it goes on.
pub trait Listener {
    /// Hears what happened, once it is kept.
    fn tell(&mut self, events: &[Event], board: &Board);

    /// Is asked now and then to show how it stands.
    fn show(&mut self, _board: &Board) {}
}

/// What surrounds a run beside what surrounds every command.
#[derive(Clone, Debug, Default)]
pub struct Ambience {
    /// How many agents there are above this cleo (`CLEO_DEPTH`).
    pub depth: u32,
    /// The trace that it belongs to (`TRACEPARENT`).
    pub trace: Option<String>,
    /// What the settings say of runners.
    pub runners: Runners,
    /// What the project's file says of runners.
    pub chosen: Vec<Item>,
}
