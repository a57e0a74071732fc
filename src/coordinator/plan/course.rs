//! What is known of a plan between its passes, and what follows from it.

use serde_json::json;

use super::{Options, Refine, StepStatus, Stepped};
use crate::agent::Agent;
use crate::error::Result;
use crate::ops::runs::recording::Recording;
use crate::ops::{Surroundings, plans};
use crate::plan::Plan;
use crate::plan::message::aggregate;
use crate::plan::{Outcome, Wish};
use crate::run::AnsweredBy;

#[derive(Default)]
pub(super) struct Course {
    pub(super) plan: Plan,
    pub(super) steps: Vec<Stepped>,
    pub(super) passes: u32,
    pub(super) satisfied: bool,
    pub(super) warnings: Vec<String>,
    /// A pass that a process which ended has begun, with what the one before came to.
    pub(super) begun: Option<Option<String>>,
}

impl Course {
    pub(super) fn replan(
        &mut self,
        options: &Options<'_>,
        agents: &[Agent],
        previous: Option<&str>,
    ) -> Result<()> {
        let is_first = previous.is_none();
        if !is_first && options.refine == Refine::LastStep {
            let last = self.steps.last_mut();
            last.into_iter()
                .for_each(|last| last.status = StepStatus::Waiting);
            return Ok(());
        }
        let made = options.planner.plan(&Wish {
            goal: options.goal.trim(),
            agents,
            previous,
        })?;
        self.warnings.extend(made.warnings);
        self.warnings.dedup();
        plans::refuse_faulty(&made.plan)?;
        self.plan = made.plan;
        let before = std::mem::take(&mut self.steps);
        let steps = self.plan.steps.iter();
        self.steps = steps
            .map(|step| Stepped::waits(&step.id, &before))
            .collect();
        Ok(())
    }

    pub(super) fn most(&self, options: &Options<'_>) -> u32 {
        options.max_loops.unwrap_or(self.plan.loops())
    }

    pub(super) fn tell(
        &self,
        recording: &mut Recording<'_>,
        options: &Options<'_>,
        agents: &[Agent],
        previous: Option<&str>,
    ) -> Result<()> {
        let assignments = plans::assignments(&self.plan, agents);
        let steps = self.plan.steps.iter().zip(assignments).map(|(step, who)| {
            json!({
                "id": step.id, "capability": step.capability, "agent": who.agent,
                "dependencies": step.depends_on,
            })
        });
        let steps: Vec<_> = steps.collect();
        let fields = json!({
            "pass": self.passes, "steps": steps, "plan": self.plan, "maxLoops": self.most(options),
            "refine": options.refine, "previous": previous,
        });
        recording.note(|notes| notes.event("plan", fields))
    }

    /// Finds the agent of each step before any begins.
    pub(super) fn assign(
        &mut self,
        surroundings: &Surroundings,
        agents: &[Agent],
    ) -> Result<Vec<Agent>> {
        let agents = plans::assigned(surroundings, &self.plan, agents)?;
        for (step, agent) in self.steps.iter_mut().zip(&agents) {
            if step.status != StepStatus::Done {
                step.agent.clone_from(&agent.id);
            }
        }
        Ok(agents)
    }

    pub(super) fn answer(&self) -> String {
        let said = |step: &'_ Stepped| Some((step.step.clone(), step.text.clone()?));
        let said: Vec<_> = self.steps.iter().filter_map(said).collect();
        aggregate(
            said.iter()
                .map(|(step, text)| (step.as_str(), text.as_str())),
        )
    }

    pub(super) fn judged(&self, options: &Options<'_>, answer: &str) -> Result<bool> {
        let Some(last) = self.steps.last() else {
            return Ok(false);
        };
        options.policy.is_satisfied(&Outcome {
            goal: options.goal.trim(),
            pass: self.passes,
            step: &last.step,
            agent: &last.agent,
            reply: last.text.as_deref().unwrap_or_default(),
            metadata: &last.metadata,
            aggregate: answer,
        })
    }

    pub(super) fn answered_by(&self) -> Option<AnsweredBy> {
        let mut all = self.steps.iter().filter_map(|step| step.answered_by);
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    pub(super) fn done(&self) -> usize {
        let done = self
            .steps
            .iter()
            .filter(|step| step.status == StepStatus::Done);
        done.count()
    }
}

impl Stepped {
    pub(super) fn waits(step: &str, before: &[Stepped]) -> Stepped {
        let before = before.iter().find(|one| one.step == step);
        Stepped {
            step: step.to_string(),
            agent: String::new(),
            status: StepStatus::Waiting,
            tries: before.map_or(0, |one| one.tries),
            text: None,
            answered_by: None,
            error: None,
            metadata: crate::run::Detail::new(),
        }
    }
}
