//! Plans: made of a goal, read from files, judged against the agents that are there.

pub(crate) mod external;
pub(crate) mod model;

use std::path::Path;

use serde::Serialize;

use super::Surroundings;
use super::agents::{Known, known};
use crate::agent::Agent;
use crate::error::{Code, Error, Result};
use crate::file::{read_input, write_new, write_whole};
use crate::plan::check::{self, Fault, FaultKind};
use crate::plan::{Decomposed, Found, PLAN_MAX, Plan, Source, Step};
use crate::plan::{Planner, Wish};

/// Shows who is there to do a step.
const AGENTS: &str = "cleo agents list";

/// A plan that was made of a goal, and why it came out so.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// Where its skills come from.
    pub(crate) source: Source,
    /// The skills that were thought of, with the words that ask for them and who offers them.
    pub(crate) skills: Vec<Found>,
    /// Who would get each step.
    pub(crate) assignments: Vec<Assignment>,
    /// Ids of steps that can go side by side.
    pub(crate) waves: Vec<Vec<String>>,
    /// The file that it was written into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// What the caller should know.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// A plan from a file, and whether it can be carried out.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Checked {
    /// The plan, as far as it could be read.
    pub(crate) plan: Plan,
    /// Who would get each step.
    pub(crate) assignments: Vec<Assignment>,
    /// Ids of steps that can go side by side.
    pub(crate) waves: Vec<Vec<String>>,
    /// What keeps it from being carried out.
    pub(crate) faults: Vec<Fault>,
    /// How many faults.
    pub(crate) total: usize,
    /// What the caller should know.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// Who would get a step.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Assignment {
    pub(crate) step: String,
    /// Id of the agent; none when there is nobody.
    pub(crate) agent: Option<String>,
}

pub(crate) fn make(
    surroundings: &Surroundings,
    goal: &str,
    max_loops: Option<u32>,
    planner: &dyn Planner,
) -> Result<Planned> {
    let known = known(surroundings)?;
    make_among(known, goal, max_loops, planner)
}

pub(crate) fn make_among(
    known: Known,
    goal: &str,
    max_loops: Option<u32>,
    planner: &dyn Planner,
) -> Result<Planned> {
    let Known {
        agents,
        mut warnings,
        ..
    } = known;
    let goal = checked_goal(goal)?;
    let made = planner.plan(&Wish {
        goal,
        agents: &agents,
        previous: None,
    })?;
    let Decomposed {
        mut plan,
        source,
        skills,
        ..
    } = made;
    warnings.extend(made.warnings);
    plan.max_loops = max_loops.or(plan.max_loops);
    refuse_faulty(&plan)?;
    let mut planned = Planned {
        assignments: assignments(&plan, &agents),
        waves: plan.waves(),
        plan,
        source,
        skills,
        file: None,
        warnings,
    };
    planned.warn(&agents);
    Ok(planned)
}

pub(crate) fn checked_goal(goal: &str) -> Result<&str> {
    let one = Step {
        id: "x".to_string(),
        agent: Some("x".to_string()),
        instruction: "x".to_string(),
        ..Step::default()
    };
    let plan = Plan {
        goal: goal.trim().to_string(),
        steps: vec![one],
        ..Plan::default()
    };
    refuse_faulty(&plan).map(|()| goal.trim())
}

pub(crate) fn refuse_faulty(plan: &Plan) -> Result<()> {
    match check::faults(plan).into_iter().next() {
        None => Ok(()),
        Some(fault) => {
            let message = format!("{}: {}", fault.place, fault.message);
            Err(Error::new(Code::InputInvalid, message))
        }
    }
}

/// Finds who does each step. The error names the first that nobody does.
pub(crate) fn assigned(plan: &Plan, agents: &[Agent]) -> Result<Vec<Agent>> {
    let found = plan.steps.iter().map(|step| {
        check::assign(step, agents)
            .cloned()
            .map_err(|(kind, message)| {
                let code = match kind {
                    FaultKind::Agent => Code::AgentNotFound,
                    _ => Code::PlanInvalid,
                };
                Error::new(code, message).fix(AGENTS)
            })
    });
    found.collect()
}

impl Planned {
    fn warn(&mut self, agents: &[Agent]) {
        for fault in missing(&self.plan, agents) {
            self.warnings
                .push(format!("{}: {}", fault.place, fault.message));
        }
        let left_out = self.plan.unavailable.iter();
        let left_out = left_out.map(|one| (one.skill.as_str(), one.capability.as_str()));
        let nobody = self
            .skills
            .iter()
            .filter(|found| found.agents.is_empty() && found.planned);
        let nobody = nobody.map(|found| (found.skill, found.capability));
        for (skill, capability) in left_out.chain(nobody) {
            self.warnings.push(format!(
                "nobody does {skill} yet: no active agent has the capability `{capability}`"
            ));
        }
    }

    /// Writes the plan into a file, as JSON or YAML by the ending of its name; over a file that is
    /// there only with `force`.
    pub(crate) fn write(
        &mut self,
        surroundings: &Surroundings,
        file: &Path,
        force: bool,
    ) -> Result<()> {
        let shown = file.to_string_lossy().into_owned();
        let text = written(&self.plan, file)?;
        let path = surroundings.directory.join(file);
        if force {
            write_whole(&path, &text)?;
        } else if !write_new(&path, &text)? {
            let message = format!("{shown} is there already; `--force` writes over it");
            return Err(Error::new(Code::Exists, message));
        }
        self.file = Some(shown);
        Ok(())
    }
}

fn written(plan: &Plan, file: &Path) -> Result<String> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    let text = match ending {
        Some("json") => serde_json::to_string_pretty(plan)
            .map(|text| text + "\n")
            .map_err(|fault| fault.to_string()),
        Some("yaml" | "yml") => serde_yaml::to_string(plan).map_err(|fault| fault.to_string()),
        _ => {
            let shown = file.to_string_lossy();
            let message = format!("{shown} must end in .json, .yaml or .yml");
            return Err(Error::new(Code::InputInvalid, message));
        }
    };
    text.map_err(|fault| {
        Error::new(
            Code::Internal,
            format!("the plan cannot be written: {fault}"),
        )
    })
}

/// Reads a plan (`-` reads standard input) and finds everything that keeps it from being carried
/// out.
pub(crate) fn check(surroundings: &Surroundings, file: &Path) -> Result<Checked> {
    let bytes = read_input(file, PLAN_MAX)?;
    Ok(judge(&bytes, known(surroundings)?))
}

pub(crate) fn judge(bytes: &[u8], known: Known) -> Checked {
    let (plan, mut faults) = crate::plan::read(bytes);
    let Known {
        agents, warnings, ..
    } = known;
    faults.extend(missing(&plan, &agents));
    Checked {
        assignments: assignments(&plan, &agents),
        waves: plan.waves(),
        total: faults.len(),
        faults,
        warnings,
        plan,
    }
}

impl Checked {
    pub(crate) fn error(&self, what: &str) -> Option<Error> {
        self.faults.first()?;
        let is_about_agents = |fault: &Fault| fault.kind == FaultKind::Agent;
        let code = match self.faults.iter().all(is_about_agents) {
            true => Code::AgentNotFound,
            false => Code::PlanInvalid,
        };
        let told = self.faults.iter().take(TOLD_MAX);
        let told: Vec<String> = told
            .map(|fault| format!("{}: {}", fault.place, fault.message))
            .collect();
        let more = self.total - told.len();
        let more = (more > 0).then(|| format!("; and {more} more"));
        let message = format!("{what}: {}{}", told.join("; "), more.unwrap_or_default());
        let error = Error::new(code, message);
        let lacks_agents = self.faults.iter().any(is_about_agents);
        Some(match lacks_agents {
            true => error.fix(AGENTS),
            false => error,
        })
    }

    /// Refuses a plan that is faulty by itself, whoever may be there to carry it out; what nobody
    /// can do becomes a warning.
    pub(crate) fn readable(mut self, what: &str) -> Result<Checked> {
        let about_agents =
            |fault: &Fault| matches!(fault.kind, FaultKind::Agent | FaultKind::Intent);
        if !self.faults.iter().all(about_agents) {
            return Err(self
                .error(what)
                .unwrap_or_else(|| Error::new(Code::PlanInvalid, what)));
        }
        for fault in std::mem::take(&mut self.faults) {
            self.warnings
                .push(format!("{}: {}", fault.place, fault.message));
        }
        self.total = 0;
        Ok(self)
    }
}

/// Most faults that an error tells.
const TOLD_MAX: usize = 5;

pub(crate) fn assignments(plan: &Plan, agents: &[Agent]) -> Vec<Assignment> {
    let assignment = |step: &Step| Assignment {
        step: step.id.clone(),
        agent: check::assign(step, agents)
            .ok()
            .map(|agent| agent.id.clone()),
    };
    plan.steps.iter().map(assignment).collect()
}

fn missing(plan: &Plan, agents: &[Agent]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (place, step) in plan.steps.iter().enumerate() {
        // A step that names nobody, or both, is told as such.
        if step.agent.is_some() == step.capability.is_some() {
            continue;
        }
        if let Err((kind, message)) = check::assign(step, agents) {
            faults.push(Fault::new(kind, format!("steps[{place}]"), message));
        }
    }
    faults
}
