//! Agents listed in a file: a JSON array, JSON lines, a YAML list, or an object with `agents`. Only
//! what the router looks at is read; other fields may stand beside it.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;

use super::FINALIZE;
use crate::agent::draft::{suggest_id, words};
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::document;
use crate::error::steers;

/// Largest file, in bytes.
pub(crate) const FILE_MAX: u64 = 128 << 20;

/// Largest YAML file, in bytes; reading YAML takes much longer.
pub(crate) const YAML_MAX: usize = 16 << 20;

/// Most bytes that the values of a YAML file may be made of.
const SIZE_MAX: usize = 128 << 20;

/// Longest id, in characters.
const ID_MAX: usize = 200;

/// An error in a file, with its place if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Line and column, from 1.
    pub(crate) place: Option<(usize, usize)>,
    pub(crate) what: String,
}

/// Reads the agents of a file, in their order. A file that is not named as YAML and begins with a
/// bracket is JSON.
///
/// # Errors
///
/// The first fault.
pub(crate) fn read(bytes: &[u8], is_yaml: bool) -> Result<Vec<Agent>, Fault> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let begins = bytes.trim_ascii_start();
    let is_json = !is_yaml && (begins.is_empty() || matches!(begins[0], b'[' | b'{'));
    let items = if is_json { json(bytes)? } else { yaml(bytes)? };
    // Without the usual values, of which the router looks at none.
    let blank = Agent {
        model: String::new(),
        color: String::new(),
        icon: String::new(),
        ..Agent::new("", Kind::Persistent, "")
    };
    let mut listed = Vec::with_capacity(items.len());
    let mut numbers = HashMap::with_capacity(items.len());
    for (number, item) in (1_usize..).zip(items) {
        let one = item.agent(&blank).map_err(|what| Fault {
            place: None,
            what: format!("agent {number}: {what}"),
        })?;
        if let Some(earlier) = numbers.insert(one.id.clone(), number) {
            let what = format!("agent {number} has the id of agent {earlier}: `{}`", one.id);
            return Err(Fault { place: None, what });
        }
        listed.push(one);
    }
    Ok(listed)
}

fn json(bytes: &[u8]) -> Result<Vec<Item>, Fault> {
    let faulty = |cause: serde_json::Error| fault(&cause, Some((cause.line(), cause.column())));
    if bytes.trim_ascii_start().starts_with(b"[") {
        return serde_json::from_slice(bytes).map_err(faulty);
    }
    let parts = serde_json::Deserializer::from_slice(bytes).into_iter::<Item>();
    let parts: Vec<Item> = parts.collect::<Result<_, _>>().map_err(faulty)?;
    Ok(parts.into_iter().flat_map(Item::into_items).collect())
}

fn yaml(bytes: &[u8]) -> Result<Vec<Item>, Fault> {
    if bytes.len() > YAML_MAX {
        let what = format!("YAML of more than {YAML_MAX} bytes is not read; write it as JSON");
        return Err(Fault { place: None, what });
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Fault {
        place: None,
        what: "it is not written in UTF-8".to_string(),
    })?;
    let is_content = |line: &&str| !line.trim().is_empty() && !line.starts_with(['#', '%']);
    let mut lines = text.lines().filter(is_content);
    let first = lines.find(|line| !line.starts_with("---"));
    let read = match first.is_some_and(|line| line.starts_with(['-', '['])) {
        true => crate::yaml::from_str(text),
        false => crate::yaml::from_str(text).map(Item::into_items),
    };
    read.map_err(|cause| {
        // This reader gives only the start of the agent as the place of a duplicate field.
        let is_double = cause.to_string().contains("duplicate field");
        let precise = document::yaml(text, SIZE_MAX).err().filter(|_| is_double);
        let cause = precise.unwrap_or(cause);
        let place = cause.location().map(|place| (place.line(), place.column()));
        fault(&cause, place)
    })
}

fn fault(cause: &dyn fmt::Display, place: Option<(usize, usize)>) -> Fault {
    let what = cause.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    Fault {
        place,
        what: what.to_string(),
    }
}

/// An agent as it is written, or an object with a list of them.
#[derive(Deserialize)]
#[serde(expecting = "a list of agents")]
struct Item {
    id: Option<String>,
    name: Option<String>,
    description: Option<String>,
    objective: Option<String>,
    #[serde(deserialize_with = "words", default)]
    tags: Option<Vec<String>>,
    role: Option<String>,
    status: Option<String>,
    agents: Option<Vec<Item>>,
}

impl Item {
    /// Returns the agents of an object with a list of them, else the agent that it is.
    fn into_items(mut self) -> Vec<Item> {
        match self.agents.take() {
            Some(agents) => agents,
            None => vec![self],
        }
    }

    fn agent(self, blank: &Agent) -> Result<Agent, String> {
        // As in a registry, an id can be made of the name.
        let name = self.name.as_deref().filter(|name| !name.trim().is_empty());
        let id = self.id.or_else(|| name.map(suggest_id)).unwrap_or_default();
        if id.trim().is_empty() || id.contains(steers) || id.chars().count() > ID_MAX {
            return Err(format!(
                "it needs a name, or an id of 1 to {ID_MAX} visible characters"
            ));
        }
        if id == FINALIZE {
            return Err(format!(
                "`{id}` is what the router answers when it means no agent; give it another id, \
                 such as `{id}-agent`"
            ));
        }
        let named = |what: String| format!("`{id}`: {what}");
        let role = self.role.map(|role| role.parse()).transpose();
        let status = self.status.map(|status| status.parse()).transpose();
        Ok(Agent {
            role: role.map_err(named)?.unwrap_or(Role::Specialist),
            status: status.map_err(named)?.unwrap_or(AgentStatus::Active),
            description: self.description.unwrap_or_default(),
            objective: self.objective.unwrap_or_default(),
            tags: self.tags.unwrap_or_default(),
            name: self.name.unwrap_or_default(),
            id,
            ..blank.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        let listed = read(text.as_bytes(), false).unwrap();
        listed.into_iter().map(|one| one.id).collect()
    }

    #[test]
    fn arrays_lines_lists_and_objects_are_read() {
        for text in [
            r#"[{"id":"a","x":[1,{"y":2}]},{"id":"b"}]"#,
            "\u{feff}{\"id\":\"a\"}\n\n{\"id\":\"b\",\"role\":\"Custom\"}\r\n",
            r#"{"agents":[{"id":"a","tags":null},{"id":"b"}],"total":2}"#,
            "- id: a\n  tags: [x, y z]\n- id: b\n",
            "# agents\n---\nagents:\n  - {id: a, tags: 'x, y'}\n  - id: b\n    status: paused\n",
        ] {
            assert_eq!(ids(text), ["a", "b"], "{text}");
        }
        assert_eq!(ids("[]").len(), 0);
        assert_eq!(ids(" \n").len(), 0);
    }

    #[test]
    fn an_id_that_is_not_told_is_made_of_the_name() {
        assert_eq!(ids("- name: Lore Keeper\n  type: http\n"), ["lore-keeper"]);
        assert!(read(b"- tags: [x]\n", false).is_err());
    }

    #[test]
    fn what_is_not_said_is_a_specialist_that_can_be_had() {
        let listed = read(br#"[{"id":"a","tags":"x, y z"}]"#, false).unwrap();
        assert_eq!(listed[0].role, Role::Specialist);
        assert_eq!(listed[0].status, AgentStatus::Active);
        assert_eq!(listed[0].tags, ["x", "y z"]);
    }

    #[test]
    fn faults_name_their_place() {
        for (text, place, word) in [
            (
                "[{\"id\":\"a\"},\n {\"id\":}]",
                Some((2, 8)),
                "expected value",
            ),
            ("[{\"id\":7}]", Some((1, 8)), "invalid type"),
            ("{\"id\":\"a\"}\n{\"id\"", Some((2, 5)), "EOF"),
            ("- id: a\n- id: [\n", Some((2, 7)), "invalid type"),
            ("- id: a\n\tx: b\n", Some((2, 1)), "a tab character"),
            ("just words", Some((1, 1)), "a list of agents"),
            (
                "[{\"tags\":[\"x\"]}]",
                None,
                "agent 1: it needs a name, or an id",
            ),
            (
                "[{\"id\":\"a\\u001b\"}]",
                None,
                "agent 1: it needs a name, or an id",
            ),
            (
                "[{\"id\":\"a\"},{\"id\":\"a\"}]",
                None,
                "agent 2 has the id of agent 1",
            ),
            (
                "[{\"id\":\"a\"},{\"id\":\"finalize\"}]",
                None,
                "agent 2: `finalize` is what the router answers",
            ),
            ("- id: finalize\n", None, "such as `finalize-agent`"),
            (
                "[{\"id\":\"a\",\"role\":\"worker\"}]",
                None,
                "`a`: `worker` is no role",
            ),
            (
                "[{\"id\":\"a\",\"status\":\"off\"}]",
                None,
                "`off` is no status",
            ),
        ] {
            let fault = read(text.as_bytes(), false).unwrap_err();
            assert!(fault.what.contains(word), "{text}: {fault:?}");
            assert_eq!(fault.place, place, "{text}: {fault:?}");
        }
        assert!(read(b"[{\"id\":\"\xff\"}]", false).is_err());
        assert!(read(b"- id: \"\xff\"", true).is_err());
    }
}
