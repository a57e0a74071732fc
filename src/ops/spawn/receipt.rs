//! The receipt of a spawn: the choice and a digest of every input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::Catalogue;
use crate::dispatch::Candidate;
use crate::id::{TaskId, digest};
use crate::skill::Skill;
use crate::spawn::{Prepared, UsedProtocol};
use crate::template::{Bindings, COMMANDS};

/// Inputs that may change while an agent works without changing its request.
const PASSING: [&str; 10] = [
    "matrix",
    "token EARLIER_WORK",
    "token MANIFEST_SUMMARIES",
    "token NEXT_TASK_IDS",
    "token PHASE",
    "token RELATED_TASKS",
    "token SESSION_ID",
    "token TASK_NOTES",
    "protocol phase-awareness",
    "protocol session-integration",
];

/// The reasons for a prompt. Stored with the task, replayed by `cleo why`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Receipt {
    pub(crate) version: u32,
    pub(crate) cleo: String,
    pub(crate) task_id: TaskId,
    pub(crate) date: String,
    pub(crate) slug: String,
    pub(crate) manifest_id: String,
    /// The skill of the request, if any.
    pub(crate) template: Option<String>,
    /// Whether the request was to add the block by force.
    pub(crate) force_inject: bool,
    #[serde(flatten)]
    pub(crate) chosen: Candidate,
    pub(crate) skill_path: String,
    /// The second skill, and why it lost.
    pub(crate) runner_up: Option<(String, String)>,
    /// The protocols in the block, each with the reason.
    pub(crate) protocols: Vec<UsedProtocol>,
    /// Digests of all inputs by name.
    pub(crate) inputs: BTreeMap<String, String>,
    pub(crate) prompt_digest: String,
}

pub(super) fn inputs(
    skill: &Skill,
    bindings: &Bindings,
    prepared: &Prepared,
    catalogue: &Catalogue,
) -> BTreeMap<String, String> {
    let mut inputs = BTreeMap::new();
    inputs.insert("skill".to_string(), skill.digest());
    inputs.insert("matrix".to_string(), catalogue.matrix_digest.clone());
    let task_context = catalogue.task_context_digest.clone();
    inputs.insert("taskContext".to_string(), task_context);
    for used in &prepared.protocols {
        inputs.insert(format!("protocol {}", used.name), used.digest.clone());
    }
    let is_command = |name: &str| COMMANDS.iter().any(|(command, _)| *command == name);
    for (name, value) in bindings.iter().filter(|(name, _)| !is_command(name)) {
        inputs.insert(format!("token {name}"), digest(value));
    }
    inputs
}

pub(super) fn has_same_request(one: &Value, other: &Value) -> bool {
    let asked = |receipt: &Value| {
        let mut inputs = receipt.get("inputs")?.as_object()?.clone();
        inputs.retain(|name, _| !PASSING.contains(&name.as_str()));
        Some(inputs)
    };
    asked(one).is_some_and(|inputs| asked(other) == Some(inputs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn passing_inputs_do_not_change_request() {
        let receipt = |inputs: Value| json!({"promptDigest": "x", "inputs": inputs});
        let first = receipt(json!({"skill": "1", "token TITLE": "1", "token NEXT_TASK_IDS": "1"}));
        for (inputs, expected) in [
            (json!({"skill": "1", "token TITLE": "1"}), true),
            (
                json!({"skill": "1", "token TITLE": "1", "token SESSION_ID": "2", "matrix": "2"}),
                true,
            ),
            (
                json!({"skill": "1", "token TITLE": "1", "protocol session-integration": "2"}),
                true,
            ),
            (json!({"skill": "2", "token TITLE": "1"}), false),
            (json!({"skill": "1", "token TITLE": "2"}), false),
            (
                json!({"skill": "1", "token TITLE": "1", "protocol house": "1"}),
                false,
            ),
            (json!(null), false),
        ] {
            let later = receipt(inputs);
            assert_eq!(has_same_request(&first, &later), expected, "{later}");
        }
    }
}
