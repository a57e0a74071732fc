//! Agents. Fields and rules of the multi-agent notes, sections 1.3, 1.7 and 1.9, and the eight fields of a
//! worker. Pure; [`builtin`] has the four built-in ones, [`draft`] validates input.

pub(crate) mod builtin;
pub(crate) mod draft;

use crate::words::closed;
use serde::{Deserialize, Serialize};

use crate::score::normalize;

/// Longest message that an agent is asked, in bytes.
pub(crate) const MESSAGE_MAX: usize = 1 << 20;

/// Most agents that are registered at run time.
pub(crate) const RUNTIME_MAX: usize = 1_000;

/// Who coordinates. It is never routed to.
pub(crate) const SUPERVISOR: &str = "cleo-supervisor";

/// One agent of the registry: a row of the specification's table, and what cleo knows besides.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Agent {
    /// Its name for machines: unique, never changed.
    pub(crate) id: String,
    /// Whose it is; none is everybody's.
    pub(crate) user_id: Option<String>,
    /// Its name for people, at most 100 characters.
    pub(crate) name: String,
    /// What it is good at.
    pub(crate) description: String,
    /// What it does among the others.
    pub(crate) role: Role,
    /// What it works towards.
    pub(crate) objective: String,
    /// What a model is told before the message.
    pub(crate) prompt: String,
    /// The model that answers, unless the configuration names one.
    pub(crate) model: String,
    /// How freely the model answers, from 0 to 2.
    pub(crate) temperature: f64,
    /// Most tokens of an answer.
    pub(crate) max_tokens: u32,
    /// Colour in pictures, `#RRGGBB`.
    pub(crate) color: String,
    /// Name of its icon.
    pub(crate) icon: String,
    /// Words by which messages reach it.
    pub(crate) tags: Vec<String>,
    /// Tools that it may use.
    pub(crate) tools: Vec<String>,
    /// Whether messages reach it.
    pub(crate) status: AgentStatus,
    /// Whether it was registered while cleo ran, and is removed again.
    pub(crate) is_runtime: bool,
    /// When it was registered, RFC 3339 in UTC; none for a built-in one.
    pub(crate) created_at: Option<String>,
    /// When it was last changed.
    pub(crate) updated_at: Option<String>,
    /// When it last answered.
    pub(crate) last_used_at: Option<String>,
    /// Where it comes from and how it is reached.
    pub(crate) kind: Kind,
    /// Whether it is one of the four that are always there.
    pub(crate) is_builtin: bool,
    /// What a worker can be asked for, such as `summary.create`.
    pub(crate) intents: Vec<String>,
    /// The one thing that it offers to plans, such as `web-crawler`.
    pub(crate) capability: Option<String>,
    /// What it can do, for plans.
    pub(crate) skills: Vec<String>,
    /// Address of a worker that is reached by HTTP.
    pub(crate) endpoint: Option<String>,
    /// Program and arguments of a worker that is started.
    pub(crate) command: Vec<String>,
    /// Address that says whether a worker is there.
    pub(crate) healthcheck: Option<String>,
    /// How long a worker may take, in milliseconds.
    pub(crate) timeout_ms: u32,
}

impl Agent {
    pub(crate) fn new(id: &str, kind: Kind, name: &str) -> Agent {
        Agent {
            id: id.to_string(),
            kind,
            is_builtin: builtin::is_builtin(id),
            user_id: None,
            name: name.to_string(),
            description: String::new(),
            role: Role::Custom,
            objective: String::new(),
            prompt: String::new(),
            model: "gpt-4o-mini".to_string(),
            temperature: 0.7,
            max_tokens: 4_000,
            color: "#6B7280".to_string(),
            icon: "robot".to_string(),
            tags: Vec::new(),
            tools: Vec::new(),
            intents: Vec::new(),
            capability: None,
            skills: Vec::new(),
            endpoint: None,
            command: Vec::new(),
            healthcheck: None,
            timeout_ms: 5_000,
            status: AgentStatus::Active,
            is_runtime: kind == Kind::Runtime,
            created_at: None,
            updated_at: None,
            last_used_at: None,
        }
    }

    /// Returns whether only its user sees it. Agents of the moment are there for all.
    pub(crate) fn is_private(&self) -> bool {
        self.user_id.is_some() && !self.is_runtime
    }

    /// Returns whether it is a user's own. Without a user all are.
    pub(crate) fn is_own_of(&self, user: Option<&str>) -> bool {
        user.is_none() || self.user_id.as_deref() == user
    }

    /// Returns whether a user sees it: it is everybody's, or the user's. Without a user all are seen.
    pub(crate) fn is_seen_by(&self, user: Option<&str>) -> bool {
        !self.is_private() || self.is_own_of(user)
    }

    pub(crate) fn shown_to(mut self, user: Option<&str>) -> Agent {
        if !self.is_own_of(user) {
            self.user_id = None;
        }
        self
    }

    pub(crate) fn offers(&self, capability: &str) -> bool {
        let offered = self.capability.as_deref();
        offered.is_some_and(|offered| normalize(offered.trim()) == normalize(capability.trim()))
    }

    /// Returns whether it is a worker: reached by HTTP or started as a program.
    pub(crate) fn is_worker(&self) -> bool {
        matches!(self.kind, Kind::Http | Kind::Cli)
    }
}

/// Returns the milliseconds in the id of a runtime agent, `custom_<digits>`; none for other ids.
pub(crate) fn runtime_moment(id: &str) -> Option<u64> {
    let digits = id.strip_prefix("custom_")?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().unwrap_or(u64::MAX))
}

closed! {
    /// Where an agent comes from and how it is reached.
    Kind, "kind of an agent":
    /// One of the four that are always there.
    Builtin = "builtin",
    /// Registered while cleo runs, and removed again.
    Runtime = "runtime",
    /// Registered to stay.
    Persistent = "persistent",
    /// A worker behind an address.
    Http = "http",
    /// A worker that is a program.
    Cli = "cli",
}

closed! {
    /// What an agent does among the others.
    Role, "role of an agent":
    /// Coordinates; never routed to.
    Supervisor = "supervisor",
    /// Answers messages of its field.
    Specialist = "specialist",
    /// Made by a user.
    Custom = "custom",
}

closed! {
    /// Whether messages reach an agent.
    AgentStatus, "status of an agent":
    /// They do.
    Active = "active",
    /// Not for now.
    Paused = "paused",
    /// No more; kept for the history.
    Archived = "archived",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtime_ids_are_custom_and_digits_and_nothing_else() {
        for (id, moment) in [
            ("custom_1756441115596", Some(1_756_441_115_596)),
            ("custom_0", Some(0)),
            ("custom_99999999999999999999999", Some(u64::MAX)),
            ("custom_", None),
            ("custom_1a", None),
            ("custom_1_x", None),
            ("agent-1", None),
            ("CUSTOM_1", None),
        ] {
            assert_eq!(runtime_moment(id), moment, "{id}");
        }
    }

    #[test]
    fn an_agent_of_the_moment_is_seen_by_all_and_owned_by_one_of_whom_nobody_hears() {
        let of_ann = |kind| Agent {
            user_id: Some("ann".into()),
            ..Agent::new("a", kind, "A")
        };
        for (kind, user, seen, own) in [
            (Kind::Persistent, Some("ann"), true, true),
            (Kind::Persistent, Some("bob"), false, false),
            (Kind::Persistent, None, true, true),
            (Kind::Runtime, Some("ann"), true, true),
            (Kind::Runtime, Some("bob"), true, false),
            (Kind::Runtime, None, true, true),
        ] {
            let agent = of_ann(kind);
            assert_eq!(agent.is_seen_by(user), seen, "{kind} {user:?}");
            assert_eq!(agent.is_own_of(user), own, "{kind} {user:?}");
            let told = agent.shown_to(user).user_id.is_some();
            assert_eq!(told, own, "{kind} {user:?}");
        }
        let of_all = Agent::new("a", Kind::Persistent, "A");
        assert!(!of_all.is_own_of(Some("ann")));
    }

    #[test]
    fn words_are_read_in_any_letter_case_and_others_are_named() {
        assert_eq!("Paused".parse(), Ok(AgentStatus::Paused));
        let error = "worker".parse::<Role>().unwrap_err();
        assert_eq!(
            error,
            "`worker` is no role of an agent; use supervisor, specialist, custom"
        );
    }
}
