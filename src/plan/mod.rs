//! Plans: steps for agents that wait for one another. Rules: coordinator notes, sections 3.1 and 3.2.
//! Pure; [`decompose()`] makes a plan of a goal, [`read()`] reads one, [`check`] judges it, and
//! [`message`] has what goes between the steps and comes out at the end.

pub mod asked;
pub mod check;
mod decompose;
pub mod message;
pub mod planner;
mod reading;
mod skills;

use serde::Serialize;

use crate::id::TaskId;
use crate::task::drawing::Shape;
use crate::task::graph::{Missing, Node, TaskGraph};
use crate::task::{Priority, Status};

pub use decompose::{Decomposed, Found, Source, decompose};
pub use reading::read;

/// Largest plan that is read, in bytes.
pub const PLAN_MAX: u64 = 4 << 20;
/// Most steps of a plan.
pub const STEPS_MAX: usize = 1_000;
/// Longest goal, in bytes.
pub const GOAL_MAX: usize = 64 << 10;
/// Longest instruction, in bytes.
pub const INSTRUCTION_MAX: usize = 128 << 10;
/// Most passes over a plan.
pub const LOOPS_MAX: u32 = 100;

/// What is to be reached, and the steps to it.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// What is to be reached, in the words of the user.
    pub goal: String,
    /// Most passes over the plan, until its last step says that the goal is reached; 1 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_loops: Option<u32>,
    /// The steps. The last one gives the answer.
    pub steps: Vec<Step>,
    /// Skills that the goal asks for and nobody offers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<Unavailable>,
}

/// One piece of work, for one agent.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Its name, by which others wait for it.
    pub id: String,
    /// What it is about, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the agent that does it must offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// Id of the agent that does it, in place of a capability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The skill that it was planned for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// What the agent is asked for, out of the intents that it offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// What the agent is told.
    pub instruction: String,
    /// Steps that must be done first, and whose results it gets.
    pub depends_on: Vec<String>,
}

/// A skill that was left out of a plan.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unavailable {
    /// The skill.
    pub skill: String,
    /// What an agent would have to offer.
    pub capability: String,
    /// Why it was left out.
    pub reason: String,
}

impl Step {
    /// Says who is wanted for it: a capability or an agent.
    pub fn wanted(&self) -> &str {
        let agent = self.agent.as_deref();
        agent.or(self.capability.as_deref()).unwrap_or("")
    }
}

impl Plan {
    /// Returns how often the plan is gone over at most.
    pub fn loops(&self) -> u32 {
        self.max_loops.unwrap_or(1).clamp(1, LOOPS_MAX)
    }

    /// Returns the ids of steps in waves: each needs only steps of earlier waves. What is in a
    /// circle, or waits for a step that is not there, is in no wave.
    pub fn waves(&self) -> Vec<Vec<String>> {
        let graph = TaskGraph::new(self.nodes(), Vec::new());
        let name = |id: TaskId| self.steps[id.0 as usize - 1].id.clone();
        let waves = graph.waves(|_| &[]).waves.into_iter();
        waves
            .map(|wave| wave.into_iter().map(name).collect())
            .collect()
    }

    /// Returns the steps as they are drawn.
    pub fn shapes(&self) -> Vec<Shape> {
        let shape = |(step, node): (&Step, Node)| Shape {
            id: node.id,
            name: step.id.clone(),
            title: step.title.as_deref().unwrap_or(step.wanted()).to_string(),
            state: node.status.into(),
            is_epic: false,
            depends: node.depends,
            parent: None,
        };
        self.steps.iter().zip(self.nodes()).map(shape).collect()
    }

    /// Returns the steps as nodes of a graph, by their number from 1.
    fn nodes(&self) -> Vec<Node> {
        let places = check::places(self);
        let number = |place: usize| TaskId(place as u32 + 1);
        let node = |(place, step): (usize, &Step)| {
            let needs = step.depends_on.iter();
            let (known, missing): (Vec<_>, Vec<_>) =
                needs.partition(|need| places.contains_key(need.as_str()));
            Node {
                id: number(place),
                parent: None,
                status: Status::Pending,
                priority: Priority::Medium,
                is_epic: false,
                open_children: 0,
                depends: known.iter().map(|id| number(places[id.as_str()])).collect(),
                missing: missing.into_iter().map(|need| unknown(need)).collect(),
            }
        };
        self.steps.iter().enumerate().map(node).collect()
    }
}

fn unknown(need: &str) -> Missing {
    Missing {
        name: need.to_string(),
        circular: false,
    }
}
