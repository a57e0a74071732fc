//! Settings: the one table of what can be set, and which layer sets it. Pure; `ops::config` reads
//! and writes the files. Layers: options, environment, project, user, defaults.

pub mod file;

use std::path::Path;

use serde::Serialize;

use crate::error::{Code, Error, Result, nearest, steers};

/// A setting.
#[derive(Debug)]
pub struct Key {
    /// Its name, such as `list.limit`.
    pub name: &'static str,
    /// What it can be.
    pub kind: Kind,
    /// What it is unless told; none when what happens then is more than a value.
    pub default: Option<&'static str>,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// The environment variable that sets it.
    pub variable: &'static str,
}

/// What a setting can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One line of text of at most so many characters.
    Text(usize),
    /// A whole number within bounds.
    Number(u64, u64),
    /// A time within bounds, in seconds; written `90`, `90s`, `10m` or `1h`.
    Duration(u64, u64),
    /// An amount of money, from nothing up to this; written `3` or `0.15`, kept as it is written.
    Price(u32),
    /// `true` or `false`.
    Flag,
    /// Folders. In a variable they are separated by colons, elsewhere by commas.
    Folders,
}

/// Form of the answers.
pub const FORMAT: &str = "format";
/// When to use colour.
pub const COLOR: &str = "color";
/// Who calls.
pub const AGENT: &str = "agent";
/// How long the chat waits for an answer.
pub const CHAT_PENDING_TTL: &str = "chat.pendingTtl";
/// How long a claim holds.
pub const CLAIMS_LEASE: &str = "claims.lease";
/// How often a hook keeps an agent from ending.
pub const HOOKS_BLOCKS: &str = "hooks.blocks";
/// Limit of `cleo list`.
pub const LIST_LIMIT: &str = "list.limit";
/// Time limit of a gate's command.
pub const GATES_TIME_LIMIT: &str = "gates.timeLimit";
/// Further folders of skills.
pub const SKILLS_DIRS: &str = "skills.dirs";
/// When a word of a message counts for an agent.
pub const ROUTING_MATCH: &str = "routing.match";
/// Lead below which the router asks back.
pub const ROUTING_MIN_MARGIN: &str = "routing.minMargin";
/// What an orchestrating agent may read.
pub const ORCHESTRATOR_CONTEXT_TOKENS: &str = "orchestrator.contextTokens";
/// Which runner drives agents.
pub const RUNNERS_DEFAULT: &str = "runners.default";
/// Which runners drive the agents of some skills.
pub const RUNNERS_BY_SKILL: &str = "runners.bySkill";
/// Which runners drive the agents of some tiers.
pub const RUNNERS_BY_TIER: &str = "runners.byTier";
/// Command line of the runner `command`.
pub const RUNNERS_COMMAND: &str = "runners.command";
/// Where programs of runners are.
pub const RUNNERS_PROGRAMS: &str = "runners.programs";
/// Variables that agents get besides those that their programs need.
pub const RUNNERS_ENVIRONMENT: &str = "runners.environment";
/// Whether `cleo spawn` is strict.
pub const SPAWN_STRICT: &str = "spawn.strict";

/// Which runner carries out tasks.
pub const RUN_RUNNER: &str = "run.runner";
/// How many agents work at a time.
pub const RUN_JOBS: &str = "run.jobs";
/// How many agents of a runner work at a time.
pub const RUN_RUNNER_JOBS: &str = "run.runnerJobs";
/// How often a task is mended.
pub const RUN_REPAIR: &str = "run.repair";
/// How long an agent may take.
pub const RUN_TASK_TIME_LIMIT: &str = "run.taskTimeLimit";
/// How long an agent may be silent.
pub const RUN_IDLE_LIMIT: &str = "run.idleLimit";

/// Which kind of server answers for agents.
pub const LLM_PROVIDER: &str = "llm.provider";
/// Which model answers.
pub const LLM_MODEL: &str = "llm.model";
/// Where that server is.
pub const LLM_BASE_URL: &str = "llm.baseUrl";
/// Variable that holds the key for it.
pub const LLM_API_KEY_ENV: &str = "llm.apiKeyEnv";
/// How long an answer may take.
pub const LLM_TIMEOUT: &str = "llm.timeout";
/// How often a request that failed is sent again.
pub const LLM_RETRIES: &str = "llm.retries";
/// Whether answers come piece by piece.
pub const LLM_STREAM: &str = "llm.stream";
/// What tokens that are read cost.
pub const LLM_INPUT_PRICE: &str = "llm.inputPrice";
/// What tokens that are written cost.
pub const LLM_OUTPUT_PRICE: &str = "llm.outputPrice";

/// Whether workers that were registered over HTTP may have addresses that are not public.
pub const WORKERS_ALLOW_PRIVATE: &str = "workers.allowPrivate";

/// Every setting that there is.
pub static KEYS: &[Key] = &[
    Key {
        name: FORMAT,
        kind: Kind::Choice(&["text", "json", "ndjson"]),
        default: None,
        meaning: "Form of the answers; text on a terminal and json in a pipe unless set.",
        variable: "CLEO_FORMAT",
    },
    Key {
        name: COLOR,
        kind: Kind::Choice(&["auto", "always", "never"]),
        default: Some("auto"),
        meaning: "When to use colour.",
        variable: "CLEO_COLOR",
    },
    Key {
        name: AGENT,
        kind: Kind::Text(100),
        default: None,
        meaning: "Who calls: written down with claims, notes and gates; user and host unless set.",
        variable: "CLEO_AGENT",
    },
    Key {
        name: CHAT_PENDING_TTL,
        kind: Kind::Duration(1, 30 * 86_400),
        default: Some("15m"),
        meaning: "How long the chat waits for a yes, a choice or what a request lacks.",
        variable: "CLEO_CHAT_PENDING_TTL",
    },
    Key {
        name: CLAIMS_LEASE,
        kind: Kind::Duration(1, 30 * 86_400),
        default: Some("1h"),
        meaning: "How long a claim holds without a heartbeat.",
        variable: "CLEO_CLAIMS_LEASE",
    },
    Key {
        name: GATES_TIME_LIMIT,
        kind: Kind::Duration(1, 86_400),
        default: Some("10m"),
        meaning: "How long the command of a gate may take.",
        variable: "CLEO_GATES_TIME_LIMIT",
    },
    Key {
        name: HOOKS_BLOCKS,
        kind: Kind::Number(0, 100),
        default: Some("3"),
        meaning: "How often `cleo hook` keeps an agent from ending for one task; 0 never does.",
        variable: "CLEO_HOOKS_BLOCKS",
    },
    Key {
        name: LIST_LIMIT,
        kind: Kind::Number(1, 1_000_000),
        default: None,
        meaning: "Most tasks that `cleo list` shows; all unless set.",
        variable: "CLEO_LIST_LIMIT",
    },
    Key {
        name: SKILLS_DIRS,
        kind: Kind::Folders,
        default: None,
        meaning: "Folders of skills to look in after those of --skills-dir and before all others.",
        variable: "CLEO_SKILLS_DIRS",
    },
    Key {
        name: ORCHESTRATOR_CONTEXT_TOKENS,
        kind: Kind::Number(100, 10_000_000),
        default: Some("10000"),
        meaning: "How many tokens an orchestrating agent may use before it hands over.",
        variable: "CLEO_ORCHESTRATOR_CONTEXT_TOKENS",
    },
    Key {
        name: ROUTING_MATCH,
        kind: Kind::Choice(&["token", "substring"]),
        default: Some("token"),
        meaning: "When a word of a message counts for an agent: as a word of its own, or also inside one.",
        variable: "CLEO_ROUTING_MATCH",
    },
    Key {
        name: ROUTING_MIN_MARGIN,
        kind: Kind::Number(0, 1_000_000),
        default: Some("0"),
        meaning: "Ask which agent is meant when the best leads by fewer points; 0 never asks.",
        variable: "CLEO_ROUTING_MIN_MARGIN",
    },
    Key {
        name: RUNNERS_DEFAULT,
        kind: Kind::Text(200),
        default: Some("claude"),
        meaning: "Runner that drives agents: claude, codex, gemini, opencode, copilot or command, with its model as in claude:MODEL.",
        variable: "CLEO_RUNNERS_DEFAULT",
    },
    Key {
        name: RUNNERS_BY_SKILL,
        kind: Kind::Text(2_000),
        default: None,
        meaning: "Runners for some skills, such as ct-documentor=gemini,ct-spec-writer=claude:MODEL.",
        variable: "CLEO_RUNNERS_BY_SKILL",
    },
    Key {
        name: RUNNERS_BY_TIER,
        kind: Kind::Text(500),
        default: None,
        meaning: "Runners for skills of some tiers, such as 1=codex,2=claude:MODEL.",
        variable: "CLEO_RUNNERS_BY_TIER",
    },
    Key {
        name: RUNNERS_COMMAND,
        kind: Kind::Text(2_000),
        default: None,
        meaning: "Command line of the runner `command`, with places {prompt_file}, {output_file} and {cwd}. Not from a project's file.",
        variable: "CLEO_RUNNERS_COMMAND",
    },
    Key {
        name: RUNNERS_PROGRAMS,
        kind: Kind::Text(2_000),
        default: None,
        meaning: "Programs of runners that are not on the PATH, such as claude=/opt/claude/bin/claude. Not from a project's file.",
        variable: "CLEO_RUNNERS_PROGRAMS",
    },
    Key {
        name: RUNNERS_ENVIRONMENT,
        kind: Kind::Text(2_000),
        default: None,
        meaning: "Names of variables that agents get besides those that their programs need, such as NPM_TOKEN,AWS_*. Not from a project's file.",
        variable: "CLEO_RUNNERS_ENVIRONMENT",
    },
    Key {
        name: SPAWN_STRICT,
        kind: Kind::Flag,
        default: Some("false"),
        meaning: "Whether `cleo spawn` refuses unresolved tokens, as with --strict.",
        variable: "CLEO_SPAWN_STRICT",
    },
    Key {
        name: RUN_RUNNER,
        kind: Kind::Text(100),
        default: None,
        meaning: "Which runner carries out tasks in `cleo run`, such as claude or codex.",
        variable: "CLEO_RUN_RUNNER",
    },
    Key {
        name: RUN_JOBS,
        kind: Kind::Number(1, 1_000),
        default: Some("4"),
        meaning: "How many agents work at a time in `cleo run`.",
        variable: "CLEO_RUN_JOBS",
    },
    Key {
        name: RUN_RUNNER_JOBS,
        kind: Kind::Text(200),
        default: None,
        meaning: "How many agents of a runner work at a time, such as claude=2,codex=4.",
        variable: "CLEO_RUN_RUNNER_JOBS",
    },
    Key {
        name: RUN_REPAIR,
        kind: Kind::Number(0, 10),
        default: Some("1"),
        meaning: "How often an agent is told what is missing of its task, before the task fails.",
        variable: "CLEO_RUN_REPAIR",
    },
    Key {
        name: RUN_TASK_TIME_LIMIT,
        kind: Kind::Duration(1, 30 * 86_400),
        default: Some("1h"),
        meaning: "How long an agent may work on a task.",
        variable: "CLEO_RUN_TASK_TIME_LIMIT",
    },
    Key {
        name: RUN_IDLE_LIMIT,
        kind: Kind::Duration(1, 30 * 86_400),
        default: Some("15m"),
        meaning: "How long an agent may be silent before it is ended.",
        variable: "CLEO_RUN_IDLE_LIMIT",
    },
    Key {
        name: LLM_PROVIDER,
        kind: Kind::Choice(&["openai-chat", "openai-responses", "anthropic", "ollama"]),
        default: None,
        meaning: "Which kind of model server answers for agents; without it they answer offline.",
        variable: "CLEO_LLM_PROVIDER",
    },
    Key {
        name: LLM_MODEL,
        kind: Kind::Text(200),
        default: None,
        meaning: "Which model answers; each agent's own unless set (of OpenAI only).",
        variable: "CLEO_LLM_MODEL",
    },
    Key {
        name: LLM_BASE_URL,
        kind: Kind::Text(1_000),
        default: None,
        meaning: "Where the model server is; the provider's own address unless set. With a key, not from a project's file.",
        variable: "CLEO_LLM_BASE_URL",
    },
    Key {
        name: LLM_API_KEY_ENV,
        kind: Kind::Text(100),
        default: None,
        meaning: "Name of the variable that holds the key; OPENAI_API_KEY or ANTHROPIC_API_KEY unless set. Not from a project's file.",
        variable: "CLEO_LLM_API_KEY_ENV",
    },
    Key {
        name: LLM_TIMEOUT,
        kind: Kind::Duration(1, 3_600),
        default: Some("2m"),
        meaning: "How long an answer of the model may take, with everything that is tried again.",
        variable: "CLEO_LLM_TIMEOUT",
    },
    Key {
        name: LLM_RETRIES,
        kind: Kind::Number(0, 10),
        default: Some("2"),
        meaning: "How often a request to the model is sent again when the server is busy or not there.",
        variable: "CLEO_LLM_RETRIES",
    },
    Key {
        name: LLM_STREAM,
        kind: Kind::Flag,
        default: Some("true"),
        meaning: "Whether answers of the model are shown as they come.",
        variable: "CLEO_LLM_STREAM",
    },
    Key {
        name: LLM_INPUT_PRICE,
        kind: Kind::Price(10_000),
        default: None,
        meaning: "Price of a million tokens that the model reads; without both prices no cost is told.",
        variable: "CLEO_LLM_INPUT_PRICE",
    },
    Key {
        name: LLM_OUTPUT_PRICE,
        kind: Kind::Price(10_000),
        default: None,
        meaning: "Price of a million tokens that the model writes.",
        variable: "CLEO_LLM_OUTPUT_PRICE",
    },
    Key {
        name: WORKERS_ALLOW_PRIVATE,
        kind: Kind::Flag,
        default: Some("false"),
        meaning: "Whether workers that were registered over HTTP may be on this machine or in a network around it. Not from a project's file.",
        variable: "CLEO_WORKERS_ALLOW_PRIVATE",
    },
];

impl Key {
    /// Finds a setting by its name, in any letter case.
    pub fn find(name: &str) -> Option<&'static Key> {
        KEYS.iter()
            .find(|key| key.name.eq_ignore_ascii_case(name.trim()))
    }

    /// Finds a setting that must be there.
    pub fn named(name: &str) -> Result<&'static Key> {
        Key::find(name).ok_or_else(|| {
            let error = Error::new(Code::ConfigInvalid, no_setting(name));
            match Key::near(name) {
                Some(near) => error.instead(name, near),
                None => error.fix("cleo config list"),
            }
        })
    }

    /// Finds the setting whose name is nearest to another.
    pub fn near(name: &str) -> Option<&'static str> {
        nearest(name, KEYS.iter().map(|key| key.name))
    }

    /// Reads a value as it stands in a file or on the command line; the error is what it can be.
    pub fn read(&self, text: &str) -> std::result::Result<Value, String> {
        self.kind.read(text.trim(), ',')
    }

    /// Reads a value as it stands in a variable.
    pub fn read_variable(&self, text: &str) -> std::result::Result<Value, String> {
        self.kind.read(text.trim(), ':')
    }
}

/// The sentence about a name that is no setting's.
pub fn no_setting(name: &str) -> String {
    let near = Key::near(name).map(|near| format!("; did you mean `{near}`?"));
    format!("there is no setting `{name}`{}", near.unwrap_or_default())
}

/// What something is set to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// A word or a line of text.
    Text(String),
    /// A number; of a time, its seconds.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// Folders.
    Folders(Vec<String>),
}

impl Kind {
    fn read(self, text: &str, separator: char) -> std::result::Result<Value, String> {
        let word = || text.to_lowercase();
        let value = match self {
            Kind::Choice(words) => Some(word())
                .filter(|word| words.contains(&word.as_str()))
                .map(Value::Text),
            Kind::Text(max) => Some(text.to_string())
                .filter(|text| {
                    !text.is_empty() && text.chars().count() <= max && !text.contains(steers)
                })
                .map(Value::Text),
            Kind::Number(least, most) => whole(text)
                .filter(|number| (least..=most).contains(number))
                .map(Value::Number),
            Kind::Duration(least, most) => seconds(text)
                .filter(|time| (least..=most).contains(time))
                .map(Value::Number),
            Kind::Price(most) => price(text)
                .filter(|price| *price <= f64::from(most))
                .map(|_| Value::Text(text.to_string())),
            Kind::Flag => word().parse().ok().map(Value::Flag),
            Kind::Folders => folders(text, separator).map(Value::Folders),
        };
        value.ok_or_else(|| self.to_string())
    }
}

fn whole(text: &str) -> Option<u64> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())?
}

/// Reads a time such as `90`, `90s`, `10m` or `1h`, in seconds.
pub fn seconds(text: &str) -> Option<u64> {
    let units = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400), ("", 1)];
    let (number, unit) = units
        .iter()
        .find_map(|(unit, seconds)| text.strip_suffix(unit).map(|number| (number, *seconds)))?;
    whole(number.trim_end()).and_then(|number| number.checked_mul(unit))
}

/// Reads an amount that is written with digits and at most one point.
fn price(text: &str) -> Option<f64> {
    let is_plain = |c: char| c.is_ascii_digit() || c == '.';
    let is_plain = text.len() <= 20 && text.chars().all(is_plain);
    text.parse().ok().filter(|_| is_plain)
}

fn folders(text: &str, separator: char) -> Option<Vec<String>> {
    let folders = text.split(separator).map(str::trim);
    let folders: Vec<String> = folders
        .filter(|folder| !folder.is_empty())
        .map(String::from)
        .collect();
    let are_paths = folders
        .iter()
        .all(|folder| !folder.contains(steers) && folder.len() < 4_096);
    (!folders.is_empty() && folders.len() <= 64 && are_paths).then_some(folders)
}

impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Choice(words) => write!(formatter, "one of {}", words.join(", ")),
            Kind::Text(max) => write!(formatter, "one line of at most {max} visible characters"),
            Kind::Number(least, most) => write!(formatter, "a whole number from {least} to {most}"),
            Kind::Duration(_, most) => {
                write!(formatter, "a time such as 90s, 10m or 1h, at most {most} s")
            }
            Kind::Price(most) => write!(formatter, "an amount such as 3 or 0.15, at most {most}"),
            Kind::Flag => formatter.write_str("true or false"),
            Kind::Folders => formatter.write_str("folders, separated by commas"),
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An option on the command line.
    Option(&'static str),
    /// A variable of the environment.
    Variable(&'static str),
    /// A line of a file.
    File {
        /// The file.
        path: String,
        /// Number of the line, from 1.
        line: usize,
    },
    /// Nobody set it.
    Default,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Option(name) => formatter.write_str(name),
            Origin::Variable(name) => formatter.write_str(name),
            Origin::File { path, line } => write!(formatter, "{path}:{line}"),
            Origin::Default => formatter.write_str("default"),
        }
    }
}

/// What is set, by whom; the first of several counts.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    set: Vec<(&'static str, Value, Origin)>,
}

impl Settings {
    /// Adds a value below those that are there.
    pub fn add(&mut self, key: &'static Key, value: Value, origin: Origin) {
        self.set.push((key.name, value, origin));
    }

    /// Returns what a setting is and who says so.
    pub fn find(&self, key: &'static Key) -> Option<(Value, Origin)> {
        let set = self.set.iter().find(|(name, _, _)| *name == key.name);
        let default = || Some((key.read(key.default?).ok()?, Origin::Default));
        set.map(|(_, value, origin)| (value.clone(), origin.clone()))
            .or_else(default)
    }

    fn value(&self, name: &str) -> Option<Value> {
        self.find(Key::find(name)?).map(|(value, _)| value)
    }

    /// Returns a setting that is text.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.value(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a setting that is a number or a time in seconds.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.value(name)? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns a setting that is an amount of money.
    pub fn price(&self, name: &str) -> Option<f64> {
        price(&self.text(name)?)
    }

    /// Says whether a file of the project, which may come from a stranger, sets this.
    pub fn is_from_project(&self, name: &str) -> bool {
        let origin = Key::find(name)
            .and_then(|key| self.find(key))
            .map(|(_, origin)| origin);
        matches!(origin, Some(Origin::File { path, .. }) if Path::new(&path).ends_with(".cleo/config.yaml"))
    }

    /// Says whether a setting is true.
    pub fn is_on(&self, name: &str) -> bool {
        self.value(name) == Some(Value::Flag(true))
    }

    /// Returns a setting that is folders, and whether a file of the project says so.
    pub fn folders(&self, name: &str) -> Vec<String> {
        match self.value(name) {
            Some(Value::Folders(folders)) => folders,
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_their_kind() {
        let read = |name: &str, text: &str| Key::named(name).unwrap().read(text).ok();
        let table = [
            ("format", "JSON", Some(Value::Text("json".into()))),
            ("format", "xml", None),
            ("claims.lease", "90", Some(Value::Number(90))),
            ("claims.lease", "2h", Some(Value::Number(7_200))),
            ("claims.lease", "0", None),
            ("claims.lease", "99999999999999999999d", None),
            ("claims.lease", "h", None),
            ("list.limit", "50", Some(Value::Number(50))),
            ("list.limit", "-1", None),
            ("list.limit", "1.5", None),
            ("spawn.strict", "true", Some(Value::Flag(true))),
            ("spawn.strict", "yes", None),
            ("llm.inputPrice", "0.15", Some(Value::Text("0.15".into()))),
            ("llm.inputPrice", "3", Some(Value::Text("3".into()))),
            ("llm.inputPrice", "-1", None),
            ("llm.inputPrice", "1e3", None),
            ("llm.inputPrice", "nan", None),
            ("llm.inputPrice", ".", None),
            ("llm.inputPrice", "10001", None),
            (
                "skills.dirs",
                "a, b",
                Some(Value::Folders(vec!["a".into(), "b".into()])),
            ),
            ("agent", "", None),
            ("agent", "a\u{1b}[1m", None),
        ];
        for (name, text, value) in table {
            assert_eq!(read(name, text), value, "{name} {text}");
        }
    }

    #[test]
    fn defaults_are_values_of_their_kind_and_names_are_unique() {
        for (at, key) in KEYS.iter().enumerate() {
            assert!(
                key.default.is_none_or(|default| key.read(default).is_ok()),
                "{}",
                key.name
            );
            assert!(KEYS[at + 1..].iter().all(|other| other.name != key.name));
            assert!(key.variable.starts_with("CLEO_"));
        }
    }

    #[test]
    fn a_file_of_the_project_is_told_from_that_of_the_user() {
        let key = Key::named("llm.baseUrl").unwrap();
        for (path, is_project) in [
            ("/home/me/project/.cleo/config.yaml", true),
            ("/home/me/.config/cleo/config.yaml", false),
            ("/home/x.cleo/config.yaml", false),
        ] {
            let mut settings = Settings::default();
            let (path, line) = (path.to_string(), 1);
            settings.add(key, Value::Text("x".into()), Origin::File { path, line });
            assert_eq!(settings.is_from_project("llm.baseUrl"), is_project);
        }
        assert!(!Settings::default().is_from_project("llm.baseUrl"));
    }

    #[test]
    fn the_first_layer_counts() {
        let key = Key::named("list.limit").unwrap();
        let mut settings = Settings::default();
        assert_eq!(settings.find(key), None);
        settings.add(key, Value::Number(1), Origin::Variable("CLEO_LIST_LIMIT"));
        settings.add(key, Value::Number(2), Origin::Default);
        assert_eq!(settings.number("list.limit"), Some(1));
        assert_eq!(settings.number("gates.timeLimit"), Some(600));
    }
}
