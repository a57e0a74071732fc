//! Validates a plan and finds the agents of its steps.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{GOAL_MAX, INSTRUCTION_MAX, LOOPS_MAX, Plan, STEPS_MAX, Step};
use crate::agent::draft::is_plain_id;
use crate::agent::{Agent, AgentStatus};
use crate::error::nearest;
use crate::task::graph::circle;
use crate::task::rules::{ITEM_MAX, check_text};

pub(crate) const FAULTS_MAX: usize = 100;

/// Faults from which on nothing is suggested any more: that costs too much for many.
const HINTS_MAX: usize = 20;

const PLAN_FIELDS: [&str; 4] = ["goal", "maxLoops", "steps", "unavailable"];
const STEP_FIELDS: [&str; 8] = [
    "id",
    "title",
    "agentCapability",
    "agent",
    "skill",
    "intent",
    "instruction",
    "dependencies",
];

/// How much of a name is shown, in characters.
const NAME_SHOWN: usize = 70;

/// Something that keeps a plan from being carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// Where it is: a line and column, or a way into the plan such as `steps[2].dependencies[0]`.
    pub(crate) place: String,
    pub(crate) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FaultKind {
    /// The text is neither JSON nor YAML.
    Syntax,
    /// A field is missing, unknown or of the wrong type.
    Field,
    /// Something is too long, or there is too much of it.
    Bound,
    /// An id is invalid or duplicated.
    Id,
    /// A step waits for one that is not there.
    Dependency,
    /// Steps wait for each other in a circle.
    Circle,
    /// No agent can do a step.
    Agent,
    /// The agent of a step does not offer the intent that it asks for.
    Intent,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}

impl Fault {
    pub(crate) fn new(
        kind: FaultKind,
        place: impl Into<String>,
        message: impl Into<String>,
    ) -> Fault {
        Fault {
            kind,
            place: place.into(),
            message: message.into(),
        }
    }
}

/// Finds what is wrong with a plan by itself: all of it, as far as that can be looked at.
pub(crate) fn faults(plan: &Plan) -> Vec<Fault> {
    let mut faults = Vec::new();
    check_unknown("", &plan.unknown, &PLAN_FIELDS, &mut faults);
    faults.extend(fault_of_goal(&plan.goal));
    if plan
        .max_loops
        .is_some_and(|loops| !(1..=LOOPS_MAX).contains(&loops))
    {
        let message = format!("maxLoops goes from 1 to {LOOPS_MAX}");
        faults.push(Fault::new(FaultKind::Bound, "maxLoops", message));
    }
    match plan.steps.len() {
        0 => faults.push(Fault::new(
            FaultKind::Field,
            "steps",
            "a plan needs at least one step",
        )),
        1..=STEPS_MAX => {}
        n_steps => {
            let message = format!("the plan has {n_steps} steps; {STEPS_MAX} are allowed");
            faults.push(Fault::new(FaultKind::Bound, "steps", message));
        }
    }
    for (place, step) in plan.steps.iter().enumerate() {
        check_step(&format!("steps[{place}]"), step, &mut faults);
    }
    check_ids(plan, &mut faults);
    check_dependencies(plan, &mut faults);
    faults.extend(circles(plan));
    faults
}

pub(super) fn index_steps(plan: &Plan) -> HashMap<&str, usize> {
    let steps = plan.steps.iter().enumerate().rev();
    steps
        .map(|(place, step)| (step.id.as_str(), place))
        .collect()
}

pub(crate) fn fault_of_goal(goal: &str) -> Option<Fault> {
    fault_of_text("goal", goal, GOAL_MAX)
}

fn fault_of_text(place: &str, text: &str, max: usize) -> Option<Fault> {
    if text.trim().is_empty() {
        return Some(Fault::new(FaultKind::Field, place, "it must say something"));
    }
    let length = text.chars().count();
    if length > max {
        let message = format!("it has {length} characters; {max} are allowed");
        return Some(Fault::new(FaultKind::Bound, place, message));
    }
    let error = check_text("text", text).err()?;
    Some(Fault::new(FaultKind::Field, place, error.message))
}

fn check_unknown(
    place: &str,
    unknown: &Map<String, Value>,
    known: &[&str],
    faults: &mut Vec<Fault>,
) {
    for name in unknown.keys().take(FAULTS_MAX) {
        let name = shorten_name(name);
        let near = nearest(&name, known.iter().copied());
        let hint = near.map(|near| format!("; is `{near}` meant?"));
        let message = format!("there is no such field{}", hint.unwrap_or_default());
        faults.push(Fault::new(
            FaultKind::Field,
            format!("{place}{name}"),
            message,
        ));
    }
}

fn check_step(place: &str, step: &Step, faults: &mut Vec<Fault>) {
    check_unknown(&format!("{place}."), &step.unknown, &STEP_FIELDS, faults);
    let instruction = format!("{place}.instruction");
    faults.extend(fault_of_text(
        &instruction,
        &step.instruction,
        INSTRUCTION_MAX,
    ));
    for (field, word) in [
        ("title", &step.title),
        ("agentCapability", &step.agent_capability),
        ("agent", &step.agent),
        ("skill", &step.skill),
        ("intent", &step.intent),
    ] {
        if let Some(word) = word {
            faults.extend(fault_of_text(&format!("{place}.{field}"), word, ITEM_MAX));
        }
    }
    let message = match (&step.agent_capability, &step.agent) {
        (None, None) => "a step names an `agentCapability`, or an `agent` by its id",
        (Some(_), Some(_)) => "a step names an `agentCapability` or an `agent`, not both",
        _ => return,
    };
    faults.push(Fault::new(FaultKind::Field, place, message));
}

fn check_ids(plan: &Plan, faults: &mut Vec<Fault>) {
    let places = index_steps(plan);
    for (place, step) in plan.steps.iter().enumerate() {
        let first = places.get(step.id.as_str()).copied().unwrap_or(place);
        let message = if step.id.is_empty() {
            "a step needs an id".to_string()
        } else if !is_plain_id(&step.id) {
            let rule = "letters, digits, `.`, `_` and `-`, at most 64, not first a sign";
            format!(
                "`{}` is not an id of a step: {rule}",
                shorten_name(&step.id)
            )
        } else if first < place {
            format!("steps[{first}] has the id `{}` already", step.id)
        } else {
            continue;
        };
        faults.push(Fault::new(
            FaultKind::Id,
            format!("steps[{place}].id"),
            message,
        ));
    }
}

fn check_dependencies(plan: &Plan, faults: &mut Vec<Fault>) {
    let places = index_steps(plan);
    for (place, step) in plan.steps.iter().enumerate() {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        if faults.len() > FAULTS_MAX {
            return;
        }
        for (at, need) in step.dependencies.iter().enumerate() {
            let message = if let Some(first) = seen.insert(need, at) {
                format!("`{}` is named already, at {first}", shorten_name(need))
            } else if !places.contains_key(need.as_str()) {
                let names = places.keys().copied().filter(|_| faults.len() < HINTS_MAX);
                let need = shorten_name(need);
                let near = nearest(&need, names);
                let hint = near.map(|near| format!("; is `{near}` meant?"));
                format!("there is no step `{need}`{}", hint.unwrap_or_default())
            } else {
                continue;
            };
            let place = format!("steps[{place}].dependencies[{at}]");
            faults.push(Fault::new(FaultKind::Dependency, place, message));
        }
    }
}

/// An untrusted name may be as long as the file.
fn shorten_name(name: &str) -> String {
    name.chars().take(NAME_SHOWN).collect()
}

fn circles(plan: &Plan) -> Vec<Fault> {
    let places = index_steps(plan);
    let mut left: Vec<bool> = vec![true; plan.steps.len()];
    let mut faults = Vec::new();
    loop {
        let next = |place: usize| {
            let needs = plan.steps[place].dependencies.iter();
            let needs = needs.filter_map(|need| places.get(need.as_str()).copied());
            Ok::<_, Infallible>(needs.filter(|need| left[*need]).collect())
        };
        let roots = (0..plan.steps.len()).filter(|place| left[*place]);
        let Ok(Some(way)) = circle(roots, next) else {
            return faults;
        };
        let names: Vec<&str> = way
            .iter()
            .map(|place| plan.steps[*place].id.as_str())
            .collect();
        let message = format!(
            "steps wait for each other in a circle: {}",
            names.join(" → ")
        );
        let place = format!("steps[{}].dependencies", way[0]);
        faults.push(Fault::new(FaultKind::Circle, place, message));
        for place in way {
            left[place] = false;
        }
    }
}

/// Finds the agent of a step: the named one, or the first active one with the capability, and the intent if
/// one is named.
pub(crate) fn find_agent<'a>(
    step: &Step,
    agents: &'a [Agent],
) -> Result<&'a Agent, (FaultKind, String)> {
    let is_it = |agent: &&Agent| match (&step.agent, &step.agent_capability) {
        (Some(id), _) => agent.id == *id,
        (None, Some(capability)) => agent.offers(capability),
        (None, None) => false,
    };
    let meant: Vec<&Agent> = agents.iter().filter(is_it).collect();
    let active = |agent: &&&Agent| agent.status == AgentStatus::Active;
    let able: Vec<&Agent> = meant.iter().filter(active).copied().collect();
    let wanted = step.agent_or_capability();
    match (able.first(), meant.first(), &step.intent) {
        (None, None, _) => Err((FaultKind::Agent, format!("Agent '{wanted}' not found"))),
        (None, Some(agent), _) => {
            let message = format!(
                "Agent '{wanted}' not found: `{}` is {}",
                agent.id, agent.status
            );
            Err((FaultKind::Agent, message))
        }
        (Some(first), _, None) => Ok(first),
        (Some(first), _, Some(intent)) => {
            let offers = |agent: &&&Agent| agent.intents.iter().any(|offered| offered == intent);
            able.iter()
                .find(offers)
                .copied()
                .ok_or_else(|| no_intent(first, intent))
        }
    }
}

fn no_intent(agent: &Agent, intent: &str) -> (FaultKind, String) {
    let offered = match agent.intents.is_empty() {
        true => "it offers none".to_string(),
        false => format!("it offers {}", agent.intents.join(", ")),
    };
    let message = format!(
        "Agent '{}' does not offer the intent `{intent}`; {offered}",
        agent.id
    );
    (FaultKind::Intent, message)
}
