//! Looking agents up: by what they are, can do and offer, without regard to case.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{AgentId, One, Registry, Shown, load_in};
use crate::agent::{Agent, AgentStatus, Kind, Role, draft};
use crate::error::{Code, Result};
use crate::ops::{Context, Notes, Surroundings};
use crate::score::normalize;

// Empty fields match every agent.
#[derive(Clone, Debug, Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Lookup {
    /// Only agents with this status: active, paused or archived (repeat for more)
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Vec<AgentStatus>,

    /// Only agents in this role: supervisor, specialist or custom (repeat for more)
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Vec<Role>,

    /// Only agents of this kind: builtin, runtime, persistent, http or cli (repeat for more)
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<Kind>,

    /// Only agents with this tag (repeat: with all of them)
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// Only agents with this capability, ignoring case
    #[arg(long, value_name = "NAME")]
    pub(crate) capability: Option<String>,

    /// Only agents with this skill, ignoring case (repeat: with any of them)
    #[arg(long, value_name = "SKILL")]
    pub(crate) skill: Vec<String>,

    /// Only agents with all named skills
    #[arg(long, requires = "skill")]
    pub(crate) all: bool,

    /// Only agents with this in name, id, description or tags.
    #[arg(skip)]
    pub(crate) q: Option<String>,
}

impl Lookup {
    pub(in crate::ops) fn fits(&self, agent: &Agent) -> bool {
        fn accepts<T: PartialEq>(wanted: &[T], value: &T) -> bool {
            wanted.is_empty() || wanted.contains(value)
        }
        let mut skills = self
            .skill
            .iter()
            .map(|skill| contains_normalized(&agent.skills, skill));
        let contains = |wanted: &String| {
            let wanted = normalize(wanted.trim());
            let texts = [&agent.id, &agent.name, &agent.description];
            let mut texts = texts.into_iter().chain(&agent.tags);
            texts.any(|text| normalize(text).contains(&wanted))
        };
        accepts(&self.status, &agent.status)
            && accepts(&self.role, &agent.role)
            && accepts(&self.kind, &agent.kind)
            && self
                .tag
                .iter()
                .all(|tag| contains_normalized(&agent.tags, tag))
            && self.capability.as_ref().is_none_or(|it| agent.offers(it))
            && match self.all || self.skill.is_empty() {
                true => skills.all(|has| has),
                false => skills.any(|has| has),
            }
            && self.q.as_ref().is_none_or(contains)
    }
}

fn contains_normalized(words: &[String], wanted: &str) -> bool {
    let wanted = normalize(wanted.trim());
    words.iter().any(|word| normalize(word.trim()) == wanted)
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Listed {
    /// The agents in list order, which decides ties between them.
    pub(crate) agents: Vec<Shown>,
    pub(crate) total: usize,
}

pub(crate) fn list(
    surroundings: &Surroundings,
    notes: &mut Notes,
    lookup: Lookup,
) -> Result<Listed> {
    let mut registry = Registry::load(surroundings)?;
    notes.warn(std::mem::take(&mut registry.known.warnings));
    let mut agents = std::mem::take(&mut registry.known.agents);
    agents.retain(|agent| lookup.fits(agent));
    notes.warn(agents.iter().filter_map(draft::find_dead_tags));
    let agents = agents.into_iter();
    let agents: Vec<Shown> = agents.map(|it| registry.show(it).agent).collect();
    let total = agents.len();
    Ok(Listed { agents, total })
}

pub(crate) fn show(
    surroundings: &Surroundings,
    notes: &mut Notes,
    AgentId { id }: AgentId,
) -> Result<One> {
    let mut registry = Registry::load(surroundings)?;
    notes.warn(std::mem::take(&mut registry.known.warnings));
    Ok(registry.show(registry.known.require(&id)?.clone()))
}

/// Refuses to assign a task to an agent that the caller may not see, in the words for an unknown one. A caller who
/// sees all may name any.
pub(in crate::ops) fn check_assignable(context: &Context, agent: Option<&str>) -> Result<()> {
    match context.surroundings.visible_user() {
        Some(_) => require_visible(context, agent),
        None => Ok(()),
    }
}

/// Refuses an agent that is unknown, or that the caller does not see.
pub(in crate::ops) fn require_visible(context: &Context, agent: Option<&str>) -> Result<()> {
    let Some(id) = agent else { return Ok(()) };
    let known = load_in(&context.workspace)?.keep_visible(context.surroundings.visible_user());
    known.require(id).map(drop)
}

/// Returns the agent whose tasks a caller asks for, and an empty name, which has no tasks, for one that the caller
/// does not see.
pub(in crate::ops) fn find_assigned(
    context: &Context,
    agent: Option<String>,
) -> Result<Option<String>> {
    match check_assignable(context, agent.as_deref()) {
        Err(error) if error.code == Code::AgentNotFound => Ok(Some(String::new())),
        checked => checked.map(|()| agent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookups_do_not_regard_case() {
        let agent = Agent {
            capability: Some("Web-Crawler".into()),
            skills: vec!["Search".into(), "NER".into()],
            ..Agent::new("a", Kind::Persistent, "A")
        };
        for (skill, all, fits) in [
            (&["ner", "sql"][..], false, true),
            (&["sql"], false, false),
            (&["NER", "search"], true, true),
            (&["ner", "sql"], true, false),
            (&[], false, true),
        ] {
            let lookup = Lookup {
                capability: Some(" web-crawler".into()),
                skill: skill.iter().map(|word| word.to_string()).collect(),
                all,
                ..Lookup::default()
            };
            assert_eq!(lookup.fits(&agent), fits, "{lookup:?}");
        }
    }
}
