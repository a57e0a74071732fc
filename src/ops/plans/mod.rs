//! Plans: made of a goal, read from files, judged against the agents that are there.

pub(crate) mod external;
pub(crate) mod model;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::agents::load_known;
use super::{Notes, Surroundings};
use crate::agent::Agent;
use crate::error::{Code, Error, Result};
use crate::file::{write_new, write_whole};
use crate::plan::check::{self, Fault, FaultKind};
use crate::plan::{ByRule, Decomposed, Found, LOOPS_MAX, Plan, Planner, Source, Step, Wish};
use crate::task::drawing::{self, Picture};

/// Shows who is there to do a step.
const AGENTS: &str = "cleo agents list";
const REGISTER: &str = "cleo agents register --help";

/// A plan that was made of a goal, and why it came out so.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// Where its skills come from.
    pub(crate) source: Source,
    /// The skills that were thought of, with the words that ask for them and who offers them.
    pub(crate) skills: Vec<Found>,
    /// The agent that would get each step.
    pub(crate) assignments: Vec<Assignment>,
    /// Ids of steps that can run in parallel.
    pub(crate) waves: Vec<Vec<String>>,
    /// The file that it was written into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
}

/// A plan from a file, and whether it can be carried out.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Checked {
    /// The plan, as far as it could be read.
    pub(crate) plan: Plan,
    /// The agent that would get each step.
    pub(crate) assignments: Vec<Assignment>,
    /// Ids of steps that can run in parallel.
    pub(crate) waves: Vec<Vec<String>>,
    /// The reasons why it cannot run.
    pub(crate) faults: Vec<Fault>,
    pub(crate) total: usize,
}

/// The agent that would get a step.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Assignment {
    pub(crate) step: String,
    /// Id of the agent, if there is one.
    pub(crate) agent: Option<String>,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GoalSent {
    /// The goal, in words.
    #[schemars(transform = crate::task::schema::long_note(crate::plan::GOAL_MAX))]
    pub(crate) goal: String,
    /// Maximum number of passes over the plan until its last step reports success.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) max_loops: Option<u32>,
}

/// A plan that somebody has written.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanSent {
    /// Its text, JSON or YAML.
    pub(crate) text: String,
}

/// The name of a plan that was sent, in errors.
const SENT: &str = "the plan";

/// Makes a plan of a goal by rule.
pub(crate) fn make(around: &Surroundings, notes: &mut Notes, sent: GoalSent) -> Result<Planned> {
    make_by(around, notes, &sent, &ByRule)
}

pub(crate) fn make_by(
    around: &Surroundings,
    notes: &mut Notes,
    sent: &GoalSent,
    planner: &dyn Planner,
) -> Result<Planned> {
    check_passes(sent.max_loops)?;
    let agents = load_seen(around, notes)?;
    let goal = check_goal(&sent.goal)?;
    let made = planner.plan(&Wish {
        goal,
        agents: &agents,
        previous: None,
    })?;
    let Decomposed {
        mut plan,
        source,
        skills,
        warnings,
    } = made;
    notes.warn(warnings);
    plan.max_loops = sent.max_loops.or(plan.max_loops);
    refuse_faulty(&plan)?;
    let faults = find_unassignable(&plan, &agents).into_iter();
    let faults = Vec::from_iter(faults.map(|fault| fault.to_string())).join("; ");
    let way = format!("{faults}; to add one: `{REGISTER}`");
    notes.warn((!faults.is_empty()).then_some(way));
    notes.warn(warn_of_left_out(&plan));
    Ok(Planned {
        assignments: assignments(&plan, &agents),
        waves: plan.waves(),
        plan,
        source,
        skills,
        file: None,
    })
}

pub(crate) fn check_passes(max_loops: Option<u32>) -> Result<()> {
    match max_loops.filter(|passes| !(1..=LOOPS_MAX).contains(passes)) {
        None => Ok(()),
        Some(passes) => {
            let message = format!("maxLoops is {passes}; it can be 1 to {LOOPS_MAX}");
            Err(Error::new(Code::InputInvalid, message))
        }
    }
}

/// Finds the agents that the caller sees.
fn load_seen(around: &Surroundings, notes: &mut Notes) -> Result<Vec<Agent>> {
    let known = load_known(around)?.keep_visible(around.visible_user());
    notes.warn(known.warnings);
    Ok(known.agents)
}

/// Names the skills that a goal asks for and no active agent offers.
fn warn_of_left_out(plan: &Plan) -> Option<String> {
    let left_out = plan.unavailable.iter();
    let left_out = left_out.map(|one| format!("{} (`{}`)", one.skill, one.capability));
    let named = Vec::from_iter(left_out).join(", ");
    (!named.is_empty())
        .then(|| format!("left out, because no active agent has the capability: {named}"))
}

pub(crate) fn check_goal(goal: &str) -> Result<&str> {
    match check::fault_of_goal(goal) {
        None => Ok(goal.trim()),
        Some(fault) => Err(Error::new(Code::InputInvalid, fault.to_string())),
    }
}

pub(crate) fn refuse_faulty(plan: &Plan) -> Result<()> {
    match check::faults(plan).into_iter().next() {
        None => Ok(()),
        Some(fault) => Err(Error::new(Code::InputInvalid, fault.to_string())),
    }
}

/// Finds who does each step. The error names the first step without an agent.
pub(crate) fn assign_agents(plan: &Plan, agents: &[Agent]) -> Result<Vec<Agent>> {
    let found = plan.steps.iter().map(|step| {
        check::find_agent(step, agents)
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
    /// Writes the plan into a file, as JSON or YAML by the ending of its name; over a file that is
    /// there only with `force`.
    pub(crate) fn write(
        &mut self,
        surroundings: &Surroundings,
        file: &Path,
        force: bool,
    ) -> Result<()> {
        let shown = file.to_string_lossy().into_owned();
        let text = write_plan(&self.plan, file)?;
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

fn write_plan(plan: &Plan, file: &Path) -> Result<String> {
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
    text.map_err(|fault| error!(Internal, "the plan cannot be written: {fault}"))
}

/// Finds everything that keeps a plan that was sent from being carried out.
pub(crate) fn check(around: &Surroundings, notes: &mut Notes, sent: PlanSent) -> Result<Checked> {
    check_bytes(around, notes, SENT, sent.text.as_bytes())
}

/// Finds everything that keeps a plan from being carried out; errors call it `what`.
pub(crate) fn check_bytes(
    around: &Surroundings,
    notes: &mut Notes,
    what: &str,
    bytes: &[u8],
) -> Result<Checked> {
    let agents = load_seen(around, notes)?;
    let (plan, mut faults) = crate::plan::read(bytes);
    faults.extend(find_unassignable(&plan, &agents));
    notes.failure = refusal(what, &faults);
    Ok(Checked {
        assignments: assignments(&plan, &agents),
        waves: plan.waves(),
        total: faults.len(),
        faults,
        plan,
    })
}

pub(crate) fn draw(around: &Surroundings, notes: &mut Notes, sent: PlanSent) -> Result<Picture> {
    let plan = read(around, notes, SENT, sent.text.as_bytes())?.plan;
    let shapes = plan.drawing_shapes();
    Ok(Picture {
        svg: Some(drawing::svg(&shapes)),
        dot: Some(drawing::dot(&shapes)),
        total: plan.steps.len(),
    })
}

/// Reads a plan, which must not be faulty by itself; what no agent can do becomes a warning.
pub(crate) fn read(
    around: &Surroundings,
    notes: &mut Notes,
    what: &str,
    bytes: &[u8],
) -> Result<Checked> {
    let mut checked = check_bytes(around, notes, what, bytes)?;
    let is_about_agents =
        |fault: &Fault| matches!(fault.kind, FaultKind::Agent | FaultKind::Intent);
    let failure = notes.failure.take();
    if let Some(error) = failure.filter(|_| !checked.faults.iter().all(is_about_agents)) {
        return Err(error);
    }
    let faults = std::mem::take(&mut checked.faults).into_iter();
    notes.warn(faults.map(|fault| fault.to_string()));
    checked.total = 0;
    Ok(checked)
}

fn refusal(what: &str, faults: &[Fault]) -> Option<Error> {
    faults.first()?;
    let is_about_agents = |fault: &Fault| fault.kind == FaultKind::Agent;
    let code = match faults.iter().all(is_about_agents) {
        true => Code::AgentNotFound,
        false => Code::PlanInvalid,
    };
    let mut named: Vec<String> = faults.iter().take(TOLD_MAX).map(Fault::to_string).collect();
    if faults.len() > TOLD_MAX {
        named.push(format!("and {} more", faults.len() - TOLD_MAX));
    }
    let error = Error::new(code, format!("{what}: {}", named.join("; ")));
    Some(match faults.iter().any(is_about_agents) {
        true => error.fix(AGENTS).or("register an agent", REGISTER),
        false => error,
    })
}

/// Most faults that an error tells.
const TOLD_MAX: usize = 5;

pub(crate) fn assignments(plan: &Plan, agents: &[Agent]) -> Vec<Assignment> {
    let assignment = |step: &Step| Assignment {
        step: step.id.clone(),
        agent: check::find_agent(step, agents)
            .ok()
            .map(|agent| agent.id.clone()),
    };
    plan.steps.iter().map(assignment).collect()
}

fn find_unassignable(plan: &Plan, agents: &[Agent]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (place, step) in plan.steps.iter().enumerate() {
        // A step needs exactly one of both.
        if step.agent.is_some() == step.agent_capability.is_some() {
            continue;
        }
        if let Err((kind, message)) = check::find_agent(step, agents) {
            faults.push(Fault::new(kind, format!("steps[{place}]"), message));
        }
    }
    faults
}
