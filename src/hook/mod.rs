//! What clients of agents tell a hook when an agent is about to end, and what a hook answers. Pure:
//! `ops::hook` finds the task and looks at what the agent left.

mod reason;
mod transcript;

use serde::Serialize;
use serde_json::Value;

pub use reason::{Due, reason};
pub use transcript::Transcript;

/// The kind of agent that `cleo init --agents` sets up.
pub const AGENT_TYPE: &str = "cleo-subagent";

/// What is about to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// An agent by itself: the hook `Stop`.
    Agent,
    /// An agent that another one started: the hook `SubagentStop`.
    Subagent,
}

/// What a client says of an agent that is about to end. All of it may be made up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// The session.
    pub session_id: Option<String>,
    /// The file that the session is written to.
    pub transcript_path: Option<String>,
    /// The folder that the agent works in.
    pub cwd: Option<String>,
    /// Whether the agent goes on only because a hook kept it from ending.
    pub stop_hook_active: bool,
    /// The agent, where another one started it.
    pub agent_id: Option<String>,
    /// Its kind.
    pub agent_type: Option<String>,
    /// The file that it is written to.
    pub agent_transcript_path: Option<String>,
}

impl Event {
    /// Reads an event; none when it is no object. A field of another type than is known is as good as
    /// missing: nobody is let go because of it.
    pub fn read(bytes: &[u8]) -> Option<Event> {
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

    /// Returns the file in which the prompt of the one that ends stands. A subagent's prompt does not
    /// stand in the file of the session, which may hold those of others.
    pub fn transcript(&self, ending: Ending) -> Option<&str> {
        match ending {
            Ending::Agent => self.transcript_path.as_deref(),
            Ending::Subagent => self.agent_transcript_path.as_deref(),
        }
    }

    /// Names who ends: the subagent, else the session.
    pub fn who(&self, ending: Ending) -> &str {
        let agent = self.agent_id.as_deref();
        let who = agent.filter(|_| ending == Ending::Subagent);
        who.or(self.session_id.as_deref()).unwrap_or("unknown")
    }

    /// Says whether what the environment says of the work is about the one that ends. A subagent has
    /// the environment of whoever started it, who may use others than ours for work of its own.
    pub fn has_own_environment(&self, ending: Ending) -> bool {
        ending == Ending::Agent || self.agent_type.as_deref() == Some(AGENT_TYPE)
    }
}

/// Keeps an agent from ending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Block {
    /// Always `block`.
    pub decision: &'static str,
    /// What is missing, and what to do about it.
    pub reason: String,
}

impl Block {
    /// Makes one with its reason.
    pub fn because(reason: String) -> Block {
        Block {
            decision: "block",
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_send_is_read_and_what_is_none_is_not() {
        let text = r#"{"session_id":"s","transcript_path":"/t","cwd":"/w","stop_hook_active":true,
            "hook_event_name":"SubagentStop","agent_id":"a","agent_type":"cleo-subagent",
            "agent_transcript_path":"/a","background_tasks":[],"new":{"x":1}}"#;
        let event = Event::read(text.as_bytes()).unwrap();
        assert_eq!(event.transcript(Ending::Agent), Some("/t"));
        assert_eq!(event.transcript(Ending::Subagent), Some("/a"));
        let who = [Ending::Agent, Ending::Subagent].map(|ending| event.who(ending));
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
        assert_eq!(other.who(Ending::Agent), "unknown");
    }
}
