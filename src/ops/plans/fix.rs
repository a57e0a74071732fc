//! Commands that bring somebody who can do a step.

use crate::agent::{Agent, AgentStatus};
use crate::error::quote;
use crate::ops::Surroundings;
use crate::ops::agents::place;
use crate::plan::Step;

/// Returns a command after which somebody can do a step that nobody can do.
pub(super) fn step(surroundings: &Surroundings, step: &Step, agents: &[Agent]) -> String {
    let id = step.agent.as_deref();
    let named = agents.iter().find(|agent| Some(agent.id.as_str()) == id);
    let offering = |agent: &&Agent| {
        let capability = step.capability.as_deref();
        capability.is_some_and(|capability| agent.offers(capability))
    };
    let active = |agent: &&Agent| agent.status == AgentStatus::Active;
    let meant = named.or_else(|| agents.iter().filter(active).find(offering));
    match (meant, id, &step.intent) {
        (Some(agent), _, Some(intent)) if agent.status == AgentStatus::Active => {
            let intents = agent.intents.iter().chain([intent]);
            let intents: Vec<&str> = intents.map(String::as_str).collect();
            let id = quote(&agent.id);
            let update = format!(
                "cleo agents update {id} --intent {}",
                quote(&intents.join(","))
            );
            in_workspace(surroundings, update)
        }
        (Some(agent), ..) => in_workspace(surroundings, awake(agent)),
        (None, Some(id), _) => {
            let command = format!("cleo agents register {0} --id {0}", quote(id));
            in_workspace(surroundings, with_prompt(command, id))
        }
        (None, None, _) => offer(surroundings, step.wanted(), agents),
    }
}

/// Returns a command after which an active agent offers a capability that none does.
pub(super) fn offer(surroundings: &Surroundings, capability: &str, agents: &[Agent]) -> String {
    let asleep = agents.iter().find(|agent| agent.offers(capability));
    let same_id = agents.iter().find(|agent| agent.id == capability);
    let word = quote(capability);
    let command = match (asleep, same_id) {
        (Some(agent), _) => awake(agent),
        (None, Some(_)) => format!("cleo agents update {word} --capability {word}"),
        (None, None) => {
            let command = format!("cleo agents register {word} --capability {word}");
            with_prompt(command, capability)
        }
    };
    in_workspace(surroundings, command)
}

fn with_prompt(register: String, name: &str) -> String {
    let prompt = format!("You are the {name} of a team. Do what you are told, and say how.");
    format!("{register} --prompt {}", quote(&prompt))
}

fn awake(agent: &Agent) -> String {
    format!("cleo agents update {} --status active", quote(&agent.id))
}

/// Agents are kept in a workspace.
fn in_workspace(surroundings: &Surroundings, command: String) -> String {
    match place(surroundings) {
        Ok(Some(_)) => command,
        _ => format!("cleo init && {command}"),
    }
}
