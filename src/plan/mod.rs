//! Plans: steps for agents with dependencies. Rules: coordinator notes, sections 3.1 and 3.2. Pure;
//! [`decompose()`] makes a plan from a goal, [`read()`] parses one, [`check`] validates it, and [`message`]
//! has the messages between steps and the result.

pub(crate) mod check;
mod decompose;
pub(crate) mod message;
mod reading;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agent::Agent;
use crate::error::Result;
use crate::id::TaskId;
use crate::task::drawing::Shape;
use crate::task::graph::{Missing, Node, TaskGraph};
use crate::task::{Priority, Status};
use message::is_satisfied;

pub(crate) use decompose::{Decomposed, Found, Source, decompose};
pub(crate) use reading::read;

/// Largest plan that is read, in bytes.
pub(crate) const PLAN_MAX: u64 = 4 << 20;
pub(crate) const STEPS_MAX: usize = 1_000;
/// Longest goal, in bytes.
pub(crate) const GOAL_MAX: usize = 64 << 10;
/// Longest instruction, in characters.
pub(crate) const INSTRUCTION_MAX: usize = 128 << 10;
pub(crate) const LOOPS_MAX: u32 = 100;

/// A goal, and the steps to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
pub(crate) struct Plan {
    /// The goal, in the words of the user.
    pub(crate) goal: String,
    /// Most passes over the plan, until its last step says that the goal is reached; 1 by default.
    #[serde(alias = "max_loops", skip_serializing_if = "Option::is_none")]
    pub(crate) max_loops: Option<u32>,
    /// The steps. The last one gives the answer.
    pub(crate) steps: Vec<Step>,
    /// Skills that the goal asks for and no agent has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unavailable: Vec<Unavailable>,
    /// Fields that a plan does not have, each of which is a fault.
    #[serde(flatten, skip_serializing)]
    #[schemars(skip)]
    pub(crate) unknown: Map<String, Value>,
}

/// One piece of work, for one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
pub(crate) struct Step {
    /// Its name, by which others wait for it.
    pub(crate) id: String,
    /// Its subject, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// The capability that its agent must offer.
    #[serde(alias = "capability", skip_serializing_if = "Option::is_none")]
    pub(crate) agent_capability: Option<String>,
    /// Id of the agent that does it, in place of a capability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) skill: Option<String>,
    /// The intent that the agent is asked for, out of those that it offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) intent: Option<String>,
    pub(crate) instruction: String,
    /// Steps that must be done first, and whose results it gets.
    #[serde(alias = "dependsOn", alias = "depends_on")]
    pub(crate) dependencies: Vec<String>,
    /// Fields that a step does not have, each of which is a fault.
    #[serde(flatten, skip_serializing)]
    #[schemars(skip)]
    pub(crate) unknown: Map<String, Value>,
}

/// A skill that was left out of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Unavailable {
    pub(crate) skill: String,
    /// The capability that an agent would have to offer.
    pub(crate) capability: String,
    pub(crate) reason: String,
}

impl Step {
    pub(crate) fn agent_or_capability(&self) -> &str {
        let agent = self.agent.as_deref();
        agent.or(self.agent_capability.as_deref()).unwrap_or("")
    }
}

impl Plan {
    pub(crate) fn clamped_max_loops(&self) -> u32 {
        self.max_loops.unwrap_or(1).clamp(1, LOOPS_MAX)
    }

    /// Returns the ids of steps in waves, each after its dependencies. Steps in a cycle or with unknown
    /// dependencies are in no wave.
    pub(crate) fn waves(&self) -> Vec<Vec<String>> {
        let graph = TaskGraph::new(self.nodes(), Vec::new());
        let name = |id: TaskId| self.steps[id.0 as usize - 1].id.clone();
        let waves = graph.waves(|_| &[]).waves.into_iter();
        waves
            .map(|wave| wave.into_iter().map(name).collect())
            .collect()
    }

    pub(crate) fn drawing_shapes(&self) -> Vec<Shape> {
        let shape = |(step, node): (&Step, Node)| Shape {
            id: node.id,
            name: step.id.clone(),
            title: step
                .title
                .as_deref()
                .unwrap_or(step.agent_or_capability())
                .to_string(),
            state: node.status.into(),
            is_epic: false,
            depends: node.depends,
            parent: None,
        };
        self.steps.iter().zip(self.nodes()).map(shape).collect()
    }

    fn nodes(&self) -> Vec<Node> {
        let places = check::index_steps(self);
        let number = |place: usize| TaskId(place as u32 + 1);
        let node = |(place, step): (usize, &Step)| {
            let needs = step.dependencies.iter();
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
                missing: missing
                    .into_iter()
                    .map(|name| Missing {
                        name: name.clone(),
                        circular: false,
                    })
                    .collect(),
            }
        };
        self.steps.iter().enumerate().map(node).collect()
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish<'a> {
    pub(crate) goal: &'a str,
    pub(crate) agents: &'a [Agent],
    /// The answer of the pass before, which did not reach the goal.
    pub(crate) previous: Option<&'a str>,
}

/// Makes plans. Callers check what it returns: a planner is untrusted.
pub(crate) trait Planner {
    fn plan(&self, wish: &Wish<'_>) -> Result<Decomposed>;
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByRule;

impl Planner for ByRule {
    fn plan(&self, wish: &Wish<'_>) -> Result<Decomposed> {
        Ok(decompose(wish.goal, wish.agents))
    }
}

/// A plan that somebody has written, the same on every pass.
#[derive(Clone, Debug)]
pub(crate) struct AsWritten(pub(crate) Plan);

impl Planner for AsWritten {
    fn plan(&self, _: &Wish<'_>) -> Result<Decomposed> {
        Ok(Decomposed::new(self.0.clone(), Source::File))
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Outcome<'a> {
    pub(crate) goal: &'a str,
    pub(crate) pass: u32,
    pub(crate) step: &'a str,
    pub(crate) agent: &'a str,
    pub(crate) reply: &'a str,
    pub(crate) metadata: &'a Map<String, Value>,
    pub(crate) aggregate: &'a str,
}

pub(crate) trait Policy {
    /// Judges what a pass came to.
    fn is_satisfied(&self, outcome: &Outcome<'_>) -> Result<bool>;
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastStepSays;

impl Policy for LastStepSays {
    fn is_satisfied(&self, outcome: &Outcome<'_>) -> Result<bool> {
        Ok(is_satisfied(outcome.reply, outcome.metadata))
    }
}

struct Skill {
    name: &'static str,
    capability: &'static str,
    /// Patterns of words that ask for it; see [`crate::score::Words::fitting`].
    words: &'static [&'static str],
    title: &'static str,
    /// The instruction to the agent, before the goal.
    instruction: &'static str,
}

/// All skills, in the order in which their steps follow one another: coordinator notes, section 3.1.
const SKILLS: [Skill; 7] = [
    Skill {
        name: "planning",
        capability: "planner",
        words: &[
            "plan",
            "plans",
            "planned",
            "planning",
            "decompose",
            "decomposes",
            "decomposed",
            "decomposing",
        ],
        title: "Plan the work",
        instruction: "Break the goal below into a few steps. Say of each what it has to find out \
                      or produce and which others it needs first. Do not carry them out.",
    },
    Skill {
        name: "search",
        capability: "web-crawler",
        words: &["search*", "crawl*", "web"],
        title: "Find what is needed",
        instruction: "Find what is needed to reach the goal below. Use sources that can be \
                      trusted, name each of them, and keep what they say apart from what you \
                      conclude.",
    },
    Skill {
        name: "ner",
        capability: "ie-agent",
        words: &["ner", "extract* entities"],
        title: "List the entities",
        instruction: "List the entities that matter for the goal below: people, organizations, \
                      places, dates and amounts. Say of each where it stands.",
    },
    Skill {
        name: "sql",
        capability: "sql-agent",
        words: &["sql", "database*"],
        title: "Ask the database",
        instruction: "Get from the database what the goal below asks for. Only read. Give each \
                      query together with what it returned.",
    },
    Skill {
        name: "classification",
        capability: "classifier",
        words: &["classif*", "label*"],
        title: "Sort what was found",
        instruction: "Sort what is at hand into the classes that the goal below names, or into \
                      few that serve it. Give the reason for each.",
    },
    Skill {
        name: "tool-use",
        capability: "orchestrator",
        words: &["tool", "tools"],
        title: "Use tools",
        instruction: "Do with your tools what the goal below asks for. Say of each tool why you \
                      used it and what it returned.",
    },
    Skill {
        name: "summarization",
        capability: "summarizer",
        words: &["summar*", "report*"],
        title: "Write the final answer",
        instruction: "Write the final answer to the goal below out of the results of the steps \
                      before: short, complete, and without anything that they do not say. If it \
                      reaches the goal, end with the word done in square brackets.",
    },
];

const DEFAULT: [&str; 3] = ["planning", "search", "summarization"];

/// Skills for a goal when no agent has those that it asks for.
const FALLBACK: [&str; 2] = ["planning", "summarization"];
