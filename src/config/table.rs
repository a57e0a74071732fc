//! The one table of settings. A row is: constant, name, variable of the environment, what it can
//! be, what it is by default, meaning.

use super::kind::{Key, Kind};
use crate::error::{Code, Error, Result, nearest};

macro_rules! settings {
    ($($constant:ident = $name:literal, $variable:literal, $kind:expr, $default:expr, $meaning:literal;)+) => {
        $(#[doc = $meaning] pub(crate) const $constant: &str = $name;)+

        pub(crate) static KEYS: &[Key] = &[$(Key {
            name: $constant,
            kind: $kind,
            default: $default,
            meaning: $meaning,
            variable: $variable,
        },)+];
    };
}

settings! {
    FORMAT = "format", "CLEO_FORMAT", Kind::Choice(&["text", "json", "ndjson"]), None,
        "Form of the answers; text on a terminal and json in a pipe unless set.";
    COLOR = "color", "CLEO_COLOR", Kind::Choice(&["auto", "always", "never"]), Some("auto"),
        "When to use color.";
    AGENT = "agent", "CLEO_AGENT", Kind::Text(100), None,
        "Who calls: written down with claims, notes and gates; user and host unless set.";
    CHAT_PENDING_TTL = "chat.pendingTtl", "CLEO_CHAT_PENDING_TTL", Kind::Duration(1, 30 * 86_400), Some("15m"),
        "How long the chat waits for a yes, a choice or what a request lacks.";
    CLAIMS_LEASE = "claims.lease", "CLEO_CLAIMS_LEASE", Kind::Duration(1, 30 * 86_400), Some("1h"),
        "How long a claim holds without a heartbeat.";
    GATES_TIME_LIMIT = "gates.timeLimit", "CLEO_GATES_TIME_LIMIT", Kind::Duration(1, 86_400), Some("10m"),
        "How long the command of a gate may take.";
    GATES_ENVIRONMENT = "gates.environment", "CLEO_GATES_ENVIRONMENT", Kind::Text(2_000), None,
        "Names of variables that commands of gates and criteria get besides those that agents get, such as DATABASE_URL,TEST_*. Not from a project's file.";
    HOOKS_BLOCKS = "hooks.blocks", "CLEO_HOOKS_BLOCKS", Kind::Number(0, 100), Some("3"),
        "How often `cleo hook` keeps an agent from ending for one task; 0 never does.";
    LIST_LIMIT = "list.limit", "CLEO_LIST_LIMIT", Kind::Number(1, 1_000_000), None,
        "Most tasks that `cleo list` shows; all unless set.";
    SKILLS_DIRS = "skills.dirs", "CLEO_SKILLS_DIRS", Kind::Folders, None,
        "Folders of skills to look in after those of --skills-dir and before all others.";
    ORCHESTRATOR_CONTEXT_TOKENS = "orchestrator.contextTokens", "CLEO_ORCHESTRATOR_CONTEXT_TOKENS", Kind::Number(100, 10_000_000), Some("10000"),
        "How many tokens an orchestrating agent may use before it hands over.";
    ROUTING_MATCH = "routing.match", "CLEO_ROUTING_MATCH", Kind::Choice(&["token", "substring"]), Some("token"),
        "When a word of a message counts for an agent: as a word of its own, or also inside one.";
    RUNNERS_DEFAULT = "runners.default", "CLEO_RUNNERS_DEFAULT", Kind::Text(200), Some("claude"),
        "Runner that drives agents: claude, codex, gemini, opencode, copilot or command, with its model as in claude:MODEL.";
    RUNNERS_BY_SKILL = "runners.bySkill", "CLEO_RUNNERS_BY_SKILL", Kind::Text(2_000), None,
        "Runners for some skills, such as ct-documentor=gemini,ct-spec-writer=claude:MODEL.";
    RUNNERS_BY_TIER = "runners.byTier", "CLEO_RUNNERS_BY_TIER", Kind::Text(500), None,
        "Runners for skills of some tiers, such as 1=codex,2=claude:MODEL.";
    RUNNERS_COMMAND = "runners.command", "CLEO_RUNNERS_COMMAND", Kind::Text(2_000), None,
        "Command line of the runner `command`, with places {prompt_file}, {output_file} and {cwd}. Not from a project's file.";
    RUNNERS_PROGRAMS = "runners.programs", "CLEO_RUNNERS_PROGRAMS", Kind::Text(2_000), None,
        "Programs of runners that are not on the PATH, such as claude=/opt/claude/bin/claude. Not from a project's file.";
    RUNNERS_ENVIRONMENT = "runners.environment", "CLEO_RUNNERS_ENVIRONMENT", Kind::Text(2_000), None,
        "Names of variables that agents get besides those that their programs need, such as NPM_TOKEN,AWS_*. Not from a project's file.";
    SPAWN_STRICT = "spawn.strict", "CLEO_SPAWN_STRICT", Kind::Flag, Some("false"),
        "Whether `cleo spawn` refuses unresolved tokens and protocols that are no known version, as with --strict.";
    RUN_JOBS = "run.jobs", "CLEO_RUN_JOBS", Kind::Number(1, 1_000), Some("4"),
        "How many agents work at a time in `cleo run`.";
    RUN_RUNNER_JOBS = "run.runnerJobs", "CLEO_RUN_RUNNER_JOBS", Kind::Text(200), None,
        "How many agents of a runner work at a time, such as claude=2,codex=4.";
    RUN_REPAIR = "run.repair", "CLEO_RUN_REPAIR", Kind::Number(0, 10), Some("1"),
        "How often an agent is told what is missing of its task, before the task fails.";
    RUN_TASK_TIME_LIMIT = "run.taskTimeLimit", "CLEO_RUN_TASK_TIME_LIMIT", Kind::Duration(1, 30 * 86_400), Some("1h"),
        "How long an agent may work on a task.";
    RUN_IDLE_LIMIT = "run.idleLimit", "CLEO_RUN_IDLE_LIMIT", Kind::Duration(1, 30 * 86_400), Some("15m"),
        "How long an agent may be silent before it is ended.";
    LLM_PROVIDER = "llm.provider", "CLEO_LLM_PROVIDER", Kind::Choice(&["openai-chat", "anthropic", "ollama", "gemini"]), None,
        "Which kind of model server answers for agents; without it they answer offline.";
    LLM_MODEL = "llm.model", "CLEO_LLM_MODEL", Kind::Text(200), None,
        "Which model answers; each agent's own unless set (of OpenAI only).";
    LLM_BASE_URL = "llm.baseUrl", "CLEO_LLM_BASE_URL", Kind::Text(1_000), None,
        "Where the model server is; OPENAI_BASE_URL, ANTHROPIC_BASE_URL or OLLAMA_HOST unless set, else the provider's own address. With a key, not from a project's file.";
    LLM_API_KEY_ENV = "llm.apiKeyEnv", "CLEO_LLM_API_KEY_ENV", Kind::Variable, None,
        "Name of the variable that holds the key; OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY unless set. Not from a project's file.";
    LLM_TIMEOUT = "llm.timeout", "CLEO_LLM_TIMEOUT", Kind::Duration(1, 3_600), Some("2m"),
        "How long an answer of the model may take, with everything that is tried again.";
    LLM_RETRIES = "llm.retries", "CLEO_LLM_RETRIES", Kind::Number(0, 10), Some("2"),
        "How often a request to the model is sent again when the server is busy or not there.";
    LLM_STREAM = "llm.stream", "CLEO_LLM_STREAM", Kind::Flag, Some("true"),
        "Whether answers of the model are shown as they come.";
    LLM_INPUT_PRICE = "llm.inputPrice", "CLEO_LLM_INPUT_PRICE", Kind::Price(10_000), None,
        "Price of a million tokens that the model reads; without both prices no cost is told.";
    LLM_OUTPUT_PRICE = "llm.outputPrice", "CLEO_LLM_OUTPUT_PRICE", Kind::Price(10_000), None,
        "Price of a million tokens that the model writes.";
    WORKERS_ALLOW_PRIVATE = "workers.allowPrivate", "CLEO_WORKERS_ALLOW_PRIVATE", Kind::Flag, Some("false"),
        "Whether workers that were registered over HTTP may be on this machine or in a network around it. Not from a project's file.";
}

impl Key {
    pub(crate) fn find(name: &str) -> Option<&'static Key> {
        KEYS.iter()
            .find(|key| key.name.eq_ignore_ascii_case(name.trim()))
    }

    pub(crate) fn require(name: &str) -> Result<&'static Key> {
        Key::find(name).ok_or_else(|| {
            Error::new(Code::ConfigInvalid, no_setting(name)).fix("cleo config list")
        })
    }

    pub(crate) fn near(name: &str) -> Option<&'static str> {
        nearest(name, KEYS.iter().map(|key| key.name))
    }

    pub(crate) fn is_users_own(&self) -> bool {
        let own = [
            GATES_ENVIRONMENT,
            LLM_API_KEY_ENV,
            RUNNERS_COMMAND,
            RUNNERS_PROGRAMS,
            RUNNERS_ENVIRONMENT,
            WORKERS_ALLOW_PRIVATE,
        ];
        own.contains(&self.name)
    }
}

fn is_secret(name: &str) -> bool {
    let bare = name.to_lowercase().replace(['_', '-', '.'], "");
    let words = ["apikey", "llmkey", "token", "secret", "password"];
    bare == "key" || words.iter().any(|word| bare.ends_with(word))
}

pub(crate) fn no_setting(name: &str) -> String {
    if is_secret(name) {
        return format!(
            "there is no setting `{name}`: a key stays in a variable, whose name `{LLM_API_KEY_ENV}` can hold"
        );
    }
    let near = Key::near(name).map(|near| format!("; did you mean `{near}`?"));
    format!("there is no setting `{name}`{}", near.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Value;

    #[test]
    fn nothing_that_is_suggested_repeats_a_key() {
        for name in [
            "llm.apiKey",
            "llm.api_key",
            "API_KEY",
            "llm.key",
            "key",
            "openai.token",
        ] {
            let error = Key::require(name).unwrap_err();
            assert!(!error.message.contains("did you mean"), "{name}");
            assert!(error.message.contains("llm.apiKeyEnv"), "{}", error.message);
        }
        let error = Key::require("llm.modl").unwrap_err();
        assert_eq!(
            error.message,
            "there is no setting `llm.modl`; did you mean `llm.model`?"
        );
    }

    #[test]
    fn values_are_read_by_their_kind() {
        let read = |name: &str, text: &str| Key::require(name).unwrap().read(text).ok();
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
            (
                "llm.apiKeyEnv",
                "MY_KEY",
                Some(Value::Text("MY_KEY".into())),
            ),
            ("llm.apiKeyEnv", "sk-proj-12345", None),
            ("llm.apiKeyEnv", "1KEY", None),
            ("llm.apiKeyEnv", "abcdef0123456789abcdef0123456789", None),
            ("llm.apiKeyEnv", "ABCDEF0123456789ABCDEF0123456789", None),
            ("llm.apiKeyEnv", "gsk_abcdef", None),
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
}
