//! Looking agents up: by what they are, can do and offer, without regard to case.

use serde::Serialize;

use super::{Known, known};
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::error::Result;
use crate::ops::Surroundings;
use crate::score::normalize;

/// Which agents to list. Empty parts let everything through.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookup {
    pub(crate) statuses: Vec<AgentStatus>,
    pub(crate) roles: Vec<Role>,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) tags: Vec<String>,
    pub(crate) capability: Option<String>,
    /// With at least one of these skills; an empty list given lets nothing through.
    pub(crate) any_skill: Option<Vec<String>>,
    /// With all of these skills; an empty list given lets nothing through.
    pub(crate) all_skills: Option<Vec<String>>,
}

impl Lookup {
    pub(crate) fn fits(&self, agent: &Agent) -> bool {
        fn among<T: PartialEq>(wanted: &[T], value: &T) -> bool {
            wanted.is_empty() || wanted.contains(value)
        }
        let capability = |wanted: &String| agent.offers(wanted);
        let skill = |wanted: &String| has(&agent.skills, wanted);
        among(&self.statuses, &agent.status)
            && among(&self.roles, &agent.role)
            && among(&self.kinds, &agent.kind)
            && self.tags.iter().all(|tag| has(&agent.tags, tag))
            && self.capability.as_ref().is_none_or(capability)
            && (self.any_skill.as_ref()).is_none_or(|skills| skills.iter().any(skill))
            && (self.all_skills.as_ref())
                .is_none_or(|skills| !skills.is_empty() && skills.iter().all(skill))
    }
}

fn has(words: &[String], wanted: &str) -> bool {
    words
        .iter()
        .any(|word| normalize(word.trim()) == normalize(wanted.trim()))
}

/// Agents that were looked up.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Listed {
    /// The agents in list order, which decides ties between them.
    pub(crate) agents: Vec<Agent>,
    /// How many.
    pub(crate) total: usize,
    /// Files that could not be used.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

pub(crate) fn list(surroundings: &Surroundings, lookup: &Lookup) -> Result<Listed> {
    let Known {
        agents, warnings, ..
    } = known(surroundings)?;
    let agents: Vec<_> = agents
        .into_iter()
        .filter(|agent| lookup.fits(agent))
        .collect();
    Ok(Listed {
        total: agents.len(),
        agents,
        warnings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookups_do_not_regard_case_and_empty_sets_find_nobody() {
        let agent = Agent {
            capability: Some("Web-Crawler".into()),
            skills: vec!["Search".into(), "NER".into()],
            ..Agent::new("a", Kind::Persistent, "A")
        };
        let some = |words: &[&str]| Some(words.iter().map(|word| word.to_string()).collect());
        for (any_skill, all_skills, fits) in [
            (some(&["ner", "sql"]), None, true),
            (some(&["sql"]), None, false),
            (some(&[]), None, false),
            (None, some(&["NER", "search"]), true),
            (None, some(&["ner", "sql"]), false),
            (None, some(&[]), false),
            (None, None, true),
        ] {
            let lookup = Lookup {
                capability: Some(" web-crawler".into()),
                any_skill,
                all_skills,
                ..Lookup::default()
            };
            assert_eq!(lookup.fits(&agent), fits, "{lookup:?}");
        }
    }
}
