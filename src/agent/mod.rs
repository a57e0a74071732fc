//! Agents. Fields and rules of the multi-agent notes, sections 1.3, 1.7 and 1.9, and the eight fields of a
//! worker. Pure; [`builtin`] has the four built-in ones, [`draft`] reads and validates input.

pub(crate) mod builtin;
pub(crate) mod draft;

use crate::words::closed;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::draft::{
    CommandLine, accept_value, check, command, list, read_optional_text, trim_text, word, words,
};
use crate::error::Result;
use crate::score::normalize;
use crate::task::fields::deserialize_given;

/// Longest message that an agent is asked, in bytes.
pub(crate) const MESSAGE_MAX: usize = 1 << 20;

/// Most agents that are registered at run time.
pub(crate) const RUNTIME_MAX: u64 = 1_000;

/// The agent that coordinates. It is never routed to.
pub(crate) const SUPERVISOR: &str = "cleo-supervisor";

/// Declares the fields of agents: those that only cleo sets (`known`), and those that can be given (`given`), each with
/// attributes for reading it, its value at first, its type in a draft, and the function by which a draft sets it.
macro_rules! fields {
    ($(
        known { $($(#[$about:meta])* $known:ident: $known_type:ty = $known_first:expr;)+ }
        given {$(
            $(#[$help:meta])+
            ($($how:meta),*) $given:ident: $type:ty = $first:expr, $set:ident($said:ty);
        )+}
    )+) => {
        /// One agent of the registry: a row of the specification's table, and what cleo knows besides.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
        pub(crate) struct Agent {$(
            $($(#[$about])* pub(crate) $known: $known_type,)+
            $($(#[$help])+ pub(crate) $given: $type,)+
        )+}

        // Fields that are left out stay as they are, or get the default.
        #[derive(Clone, Debug, Default, PartialEq, clap::Args, Deserialize, schemars::JsonSchema)]
        #[schemars(extend("required" = ["name"]))]
        #[serde(expecting = "the fields of an agent")]
        pub(crate) struct Draft {
            #[arg(skip)]
            #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))]
            pub(crate) id: Option<String>,
            /// `http` or `cli` makes it a worker, and so does an endpoint or a command.
            #[arg(skip)]
            #[serde(rename = "type", alias = "kind", deserialize_with = "word", default)]
            pub(crate) kind: Option<Kind>,
            $($($(#[$help])+ $(#[$how])* pub(crate) $given: Option<$said>,)+)+
            /// When the caller last saw it changed; a change since then is an error.
            #[arg(skip)]
            #[serde(alias = "updatedAt")]
            pub(crate) updated_at: Option<String>,
            /// Whether it is a runtime agent.
            #[arg(skip)]
            #[serde(skip)]
            pub(crate) is_runtime: bool,
            /// Validate only.
            #[arg(skip)]
            #[serde(rename = "dryRun", default)]
            pub(crate) dry_run: bool,
            /// Everything else, which cleo does not use.
            #[arg(skip)]
            #[serde(flatten)]
            #[schemars(skip)]
            pub(crate) other: Map<String, Value>,
        }

        impl Agent {
            /// Makes an agent that has nothing yet but this.
            pub(crate) fn new(id: &str, kind: Kind, name: &str) -> Agent {
                let mut agent = Agent { $($($known: $known_first,)+ $($given: $first,)+)+ };
                (agent.id, agent.name, agent.kind) = (id.to_string(), name.to_string(), kind);
                agent.is_builtin = builtin::is_builtin(id);
                agent.is_runtime = kind == Kind::Runtime;
                agent
            }
        }

        impl Draft {
            /// The fields, as the specification's table spells them.
            pub(crate) const NAMES: &[&str] = &["id", "type", $($(stringify!($given),)+)+];

            /// Fills missing fields from another draft.
            pub(crate) fn or(self, below: Draft) -> Draft {
                Draft {
                    id: self.id.or(below.id),
                    kind: self.kind.or(below.kind),
                    is_runtime: self.is_runtime,
                    $($($given: self.$given.or(below.$given),)+)+
                    ..below
                }
            }

            /// Sets the given fields, and validates the agent.
            pub(crate) fn apply(self, agent: &mut Agent) -> Result<()> {
                $($(if let Some(said) = self.$given {
                    agent.$given = $set(stringify!($given), said)?;
                })+)+
                check(agent)
            }
        }
    };
}

fields! {
    known {
        /// Its name for machines: unique, never changed.
        id: String = String::new();
        /// The user that it belongs to; none is everybody's.
        user_id: Option<String> = None;
    }
    given {
        /// Its name for people, at most 100 characters
        (
            arg(skip),
            serde(deserialize_with = "deserialize_given", default),
            schemars(required, transform = crate::task::schema::line(100))
        )
        name: String = String::new(), trim_text(String);
        /// Strengths of the agent; their words count in routing
        (arg(long, short, value_name = "TEXT"), schemars(transform = crate::task::schema::text))
        description: String = String::new(), accept_value(String);
        /// supervisor, specialist or custom
        (arg(long, value_name = "ROLE"), serde(deserialize_with = "word", default))
        role: Role = Role::Custom, accept_value(Role);
        /// Goal of the agent; its words count in routing
        (arg(long, value_name = "TEXT"), schemars(transform = crate::task::schema::text))
        objective: String = String::new(), accept_value(String);
        /// System prompt for the model
        (arg(long, value_name = "TEXT"), serde(alias = "systemPrompt"), schemars(transform = crate::task::schema::text))
        prompt: String = String::new(), accept_value(String);
        /// Model to use if the settings name none
        (arg(long, value_name = "NAME"), schemars(transform = crate::task::schema::line(100)))
        model: String = "gpt-4o-mini".to_string(), trim_text(String);
        /// Sampling temperature, from 0 to 2
        (
            arg(long, value_name = "N", allow_negative_numbers = true),
            schemars(range(min = 0, max = 2), extend("multipleOf" = 0.01))
        )
        temperature: f64 = 0.7, accept_value(f64);
        /// Maximum number of tokens in an answer
        (
            arg(long, value_name = "N"),
            serde(alias = "maxTokens"),
            schemars(range(min = 1, max = 1_000_000))
        )
        max_tokens: u32 = 4_000, accept_value(u32);
        /// Display colour, such as #6B7280
        (
            arg(id = "agent_color", long = "agent-color", value_name = "COLOUR"),
            schemars(regex(pattern = "^#[0-9A-Fa-f]{6}$"))
        )
        color: String = "#6B7280".to_string(), accept_value(String);
        /// Icon name
        (arg(long, value_name = "NAME"), schemars(length(min = 1, max = 50), regex(pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")))
        icon: String = "robot".to_string(), accept_value(String);
        /// Tags that bring messages to the agent, repeated or separated by commas
        (
            arg(long = "tag", value_name = "TAG", value_delimiter = ','),
            serde(deserialize_with = "words", default),
            schemars(transform = crate::task::schema::list)
        )
        tags: Vec<String> = Vec::new(), list(Vec<String>);
        /// Tools that the agent may use, repeated or separated by commas
        (
            arg(long = "tool", value_name = "TOOL", value_delimiter = ','),
            serde(deserialize_with = "words", default),
            schemars(transform = crate::task::schema::list)
        )
        tools: Vec<String> = Vec::new(), list(Vec<String>);
        /// active, paused or archived
        (arg(long, value_name = "STATUS"), serde(deserialize_with = "word", default))
        status: AgentStatus = AgentStatus::Active, accept_value(AgentStatus);
    }
    known {
        /// Whether it was registered while cleo ran, and is removed again.
        is_runtime: bool = false;
        /// When it was registered, RFC 3339 in UTC; none for a built-in one.
        created_at: Option<String> = None;
        updated_at: Option<String> = None;
        /// When it last answered.
        last_used_at: Option<String> = None;
        /// Where it comes from and how it is reached.
        kind: Kind = Kind::Persistent;
        /// Whether it is one of the four that are always there.
        is_builtin: bool = false;
    }
    given {
        /// Intent that a worker accepts, such as summary.create (repeat for more)
        (
            arg(long = "intent", value_name = "INTENT", value_delimiter = ','),
            serde(deserialize_with = "words", default),
            schemars(transform = crate::task::schema::list)
        )
        intents: Vec<String> = Vec::new(), list(Vec<String>);
        /// Capability for steps of plans, such as web-crawler
        (arg(long, value_name = "NAME"))
        capability: Option<String> = None, read_optional_text(String);
        /// Skills for steps of plans, repeated or separated by commas
        (
            arg(long = "skill", value_name = "SKILL", value_delimiter = ','),
            serde(deserialize_with = "words", default),
            schemars(transform = crate::task::schema::list)
        )
        skills: Vec<String> = Vec::new(), list(Vec<String>);
        /// URL of an HTTP worker
        (arg(long, value_name = "URL"), schemars(length(max = 2_000), regex(pattern = r"^(https?://[^\s/?#@]+([/?#]\S*)?)?$")))
        endpoint: Option<String> = None, read_optional_text(String);
        /// Program and arguments of a worker, split into words like a shell does, but run without a
        /// shell
        (arg(long, value_name = "COMMAND"))
        command: Vec<String> = Vec::new(), command(CommandLine);
        /// Health check URL of a worker
        (arg(long, value_name = "URL"), schemars(length(max = 2_000), regex(pattern = r"^(https?://[^\s/?#@]+([/?#]\S*)?)?$")))
        healthcheck: Option<String> = None, read_optional_text(String);
        /// Timeout of a worker in milliseconds
        (
            arg(long, value_name = "MS"),
            serde(alias = "timeoutMs"),
            schemars(range(min = 1, max = 600_000))
        )
        timeout_ms: u32 = 5_000, accept_value(u32);
    }
}

impl Agent {
    /// Returns whether only its user sees it. All users see runtime agents.
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
    /// The part of an agent among others.
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
    fn agent_of_moment_is_seen_by_all_and_owned_by_one() {
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
        }
        let of_all = Agent::new("a", Kind::Persistent, "A");
        assert!(!of_all.is_own_of(Some("ann")));
    }

    #[test]
    fn words_are_read_in_any_letter_case() {
        assert_eq!("Paused".parse(), Ok(AgentStatus::Paused));
        let error = "worker".parse::<Role>().unwrap_err();
        assert_eq!(
            error,
            "`worker` is not a valid role of an agent; use one of supervisor, specialist, custom"
        );
    }
}
