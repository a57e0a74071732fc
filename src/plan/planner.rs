//! Who makes plans, and who says when a goal is reached: by rule, or whatever else takes their
//! places.

use serde_json::{Map, Value};

use super::message::is_satisfied;
use super::{Decomposed, Plan, Source, decompose};
use crate::agent::Agent;
use crate::error::Result;

/// What a plan is wished for.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// What is to be reached.
    pub goal: &'a str,
    /// Everybody who may be there to do it.
    pub agents: &'a [Agent],
    /// What the pass before came to, which did not reach the goal.
    pub previous: Option<&'a str>,
}

/// Makes plans. What it returns is checked by whoever asks: a planner is believed in nothing.
pub trait Planner {
    /// Makes a plan, on a further pass a new one.
    fn plan(&self, wish: &Wish<'_>) -> Result<Decomposed>;
}

/// Makes plans by the words of the goal.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByRule;

impl Planner for ByRule {
    fn plan(&self, wish: &Wish<'_>) -> Result<Decomposed> {
        Ok(decompose(wish.goal, wish.agents))
    }
}

/// A plan that somebody has written, the same on every pass.
#[derive(Clone, Debug)]
pub struct AsWritten(pub Plan);

impl Planner for AsWritten {
    fn plan(&self, _: &Wish<'_>) -> Result<Decomposed> {
        Ok(Decomposed {
            plan: self.0.clone(),
            source: Source::File,
            skills: Vec::new(),
            warnings: Vec::new(),
        })
    }
}

/// What a pass over a plan came to.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// What is to be reached.
    pub goal: &'a str,
    /// Which pass it was, from 1.
    pub pass: u32,
    /// The last step.
    pub step: &'a str,
    /// Who did it.
    pub agent: &'a str,
    /// What it said.
    pub reply: &'a str,
    /// What was said beside the text.
    pub metadata: &'a Map<String, Value>,
    /// What all steps said.
    pub aggregate: &'a str,
}

/// Says whether a goal is reached.
pub trait Policy {
    /// Judges what a pass came to.
    fn is_satisfied(&self, outcome: &Outcome<'_>) -> Result<bool>;
}

/// The goal is reached when the last step says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastStepSays;

impl Policy for LastStepSays {
    fn is_satisfied(&self, outcome: &Outcome<'_>) -> Result<bool> {
        Ok(is_satisfied(outcome.reply, outcome.metadata))
    }
}
