//! Input and output of the stop hook of agent clients. Pure: `ops::hook` finds the task and checks its
//! outputs.

use serde::Serialize;
use serde_json::Value;

use crate::id::TaskId;
use crate::protocol::block;

/// The kind of agent that `cleo init --agents` sets up.
pub(crate) const AGENT_TYPE: &str = "cleo-subagent";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// An agent by itself: the hook `Stop`.
    Agent,
    /// An agent that another one started: the hook `SubagentStop`.
    Subagent,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Event {
    pub(crate) session_id: Option<String>,
    pub(crate) transcript_path: Option<String>,
    pub(crate) cwd: Option<String>,
    /// Whether the agent continues only because a hook kept it from ending.
    pub(crate) stop_hook_active: bool,
    pub(crate) agent_id: Option<String>,
    pub(crate) agent_type: Option<String>,
    pub(crate) agent_transcript_path: Option<String>,
}

impl Event {
    /// Reads an event; `None` when it is not an object. A field of an unknown type counts as missing, so that it lets
    /// no agent end.
    pub(crate) fn read(bytes: &[u8]) -> Option<Event> {
        let Ok(Value::Object(fields)) = serde_json::from_slice(bytes) else {
            return None;
        };
        let text = |name: &str| Some(fields.get(name)?.as_str()?.to_string());
        Some(Event {
            session_id: text("session_id"),
            transcript_path: text("transcript_path"),
            cwd: text("cwd"),
            stop_hook_active: fields.get("stop_hook_active") == Some(&Value::Bool(true)),
            agent_id: text("agent_id"),
            agent_type: text("agent_type"),
            agent_transcript_path: text("agent_transcript_path"),
        })
    }

    /// Returns the file with the prompt of the agent that ends. A subagent's prompt is not in the file of the session,
    /// which may hold those of others.
    pub(crate) fn transcript(&self, ending: Ending) -> Option<&str> {
        match ending {
            Ending::Agent => self.transcript_path.as_deref(),
            Ending::Subagent => self.agent_transcript_path.as_deref(),
        }
    }

    /// Names the agent that ends: the subagent, else the session.
    pub(crate) fn agent_name(&self, ending: Ending) -> &str {
        let agent = self.agent_id.as_deref();
        let who = agent.filter(|_| ending == Ending::Subagent);
        who.or(self.session_id.as_deref()).unwrap_or("unknown")
    }

    /// Returns whether the environment describes the agent that ends. A subagent inherits the environment of its
    /// parent, which may use other agents than ours for work of its own.
    pub(crate) fn has_own_environment(&self, ending: Ending) -> bool {
        ending == Ending::Agent || self.agent_type.as_deref() == Some(AGENT_TYPE)
    }
}

/// Keeps an agent from ending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Block {
    /// Always `block`.
    pub(crate) decision: &'static str,
    /// The missing parts, and how to add them.
    pub(crate) reason: String,
}

impl Block {
    pub(crate) fn because(reason: String) -> Block {
        Block {
            decision: "block",
            reason,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    ending: Ending,
    prompt: Option<(TaskId, String)>,
}

impl Transcript {
    pub(crate) fn for_ending(ending: Ending) -> Transcript {
        Transcript {
            ending,
            prompt: None,
        }
    }

    /// Looks at a line. Only what was said to the agent counts, and of that the last prompt of ours:
    /// results of tools may hold the prompts of others, and so does what an agent by itself said to
    /// its subagents, where its client writes that to the same file.
    pub(crate) fn read_line(&mut self, line: &[u8]) {
        // Most lines are long and none of ours.
        if memchr::memmem::find(line, b"SUBAGENT PROTOCOL").is_none() {
            return;
        }
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        if self.ending == Ending::Agent && line["isSidechain"] == true {
            return;
        }
        let message = ["message", "payload"].iter().find_map(|key| line.get(key));
        let message = message.filter(|message| message["role"] == "user");
        for text in message.map(list_texts).unwrap_or_default() {
            if let Some(task) = block::has_block_start(text)
                .then(|| block::find_task(text))
                .flatten()
            {
                self.prompt = Some((task, text.to_string()));
            }
        }
    }

    pub(crate) fn task(&self) -> Option<TaskId> {
        self.prompt.as_ref().map(|(task, _)| *task)
    }

    /// Returns whether the prompt is the one of a spawn; one that was handed out before is another's
    /// business.
    pub(crate) fn is_of(&self, manifest_id: &str) -> bool {
        let prompt = self.prompt.as_ref();
        prompt.is_none_or(|(_, text)| text.contains(manifest_id))
    }
}

fn list_texts(message: &Value) -> Vec<&str> {
    let content = &message["content"];
    let said = |part: &'_ &Value| matches!(part["type"].as_str(), Some("text" | "input_text"));
    let parts = content.as_array().into_iter().flatten();
    let parts = parts.filter(said).filter_map(|part| part["text"].as_str());
    content.as_str().into_iter().chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_of_clients_are_read_leniently() {
        let text = r#"{"session_id":"s","transcript_path":"/t","cwd":"/w","stop_hook_active":true,
            "hook_event_name":"SubagentStop","agent_id":"a","agent_type":"cleo-subagent",
            "agent_transcript_path":"/a","background_tasks":[],"new":{"x":1}}"#;
        let event = Event::read(text.as_bytes()).unwrap();
        assert_eq!(event.transcript(Ending::Agent), Some("/t"));
        assert_eq!(event.transcript(Ending::Subagent), Some("/a"));
        let who = [Ending::Agent, Ending::Subagent].map(|ending| event.agent_name(ending));
        assert_eq!(who, ["s", "a"]);
        assert!(event.stop_hook_active && event.has_own_environment(Ending::Subagent));
        assert_eq!(Event::read(b"{}"), Some(Event::default()));
        let odd =
            r#"{"session_id":7,"cwd":"/w","stop_hook_active":null,"agent_id":{},"agent_id":"a"}"#;
        let odd = Event::read(odd.as_bytes()).unwrap();
        assert_eq!((odd.session_id, odd.cwd.as_deref()), (None, Some("/w")));
        assert_eq!(odd.agent_id.as_deref(), Some("a"));
        for wrong in ["", "[]", "null", "{", "[\"s\"]"] {
            assert_eq!(Event::read(wrong.as_bytes()), None, "{wrong}");
        }
        let other = Event::default();
        assert!(!other.has_own_environment(Ending::Subagent));
        assert_eq!(other.agent_name(Ending::Agent), "unknown");
    }

    fn prompt(task: &str) -> String {
        format!(
            "Id: {task}\n<!-- BEGIN SUBAGENT PROTOCOL v1 -->\nx-2026\n<!-- END SUBAGENT PROTOCOL v1 -->\n"
        )
    }

    #[test]
    fn last_prompt_of_agent_counts() {
        let claude = json!({"type": "user", "message": {"role": "user", "content": prompt("T3")}});
        let parts = json!([{"type": "input_text", "text": prompt("T4")}]);
        let codex = json!({"type": "response_item", "payload": {"role": "user", "content": parts}});
        let result =
            json!([{"type": "tool_result", "content": prompt("T9"), "text": prompt("T9")}]);
        let tool = json!({"message": {"role": "user", "content": result}});
        let own = json!({"message": {"role": "assistant", "content": prompt("T9")}});
        let chat = json!({"message": {"role": "user", "content": "SUBAGENT PROTOCOL? Id: T9"}});
        for (lines, task) in [
            (vec![&claude], Some(TaskId(3))),
            (vec![&claude, &tool, &own, &chat], Some(TaskId(3))),
            (vec![&claude, &codex], Some(TaskId(4))),
            (vec![&tool, &own, &chat], None),
        ] {
            let mut transcript = Transcript::for_ending(Ending::Agent);
            lines
                .iter()
                .for_each(|line| transcript.read_line(line.to_string().as_bytes()));
            transcript.read_line(b"SUBAGENT PROTOCOL, and no JSON");
            assert_eq!(transcript.task(), task, "{lines:?}");
        }
    }

    #[test]
    fn prompt_for_subagent_is_not_agents_own() {
        let said = |task, aside: bool| {
            let message = json!({"role": "user", "content": prompt(task)});
            json!({"isSidechain": aside, "message": message})
        };
        let lines = [said("T3", false), said("T4", true)];
        for (ending, task) in [(Ending::Agent, 3), (Ending::Subagent, 4)] {
            let mut transcript = Transcript::for_ending(ending);
            for line in &lines {
                transcript.read_line(line.to_string().as_bytes());
            }
            assert_eq!(transcript.task(), Some(TaskId(task)), "{ending:?}");
        }
    }

    #[test]
    fn older_prompt_of_task_is_distinguished() {
        let mut transcript = Transcript::for_ending(Ending::Agent);
        assert!(transcript.is_of("anything"));
        let line = json!({"message": {"role": "user", "content": prompt("T3")}});
        transcript.read_line(line.to_string().as_bytes());
        assert!(transcript.is_of("x-2026") && !transcript.is_of("y-2026"));
    }
}
