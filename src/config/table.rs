//! The one table of settings. A row is: constant, name, environment variable, kind, default, meaning.

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
        "Output format; by default text on a terminal and json in a pipe.";
    COLOR = "color", "CLEO_COLOR", Kind::Choice(&["auto", "always", "never"]), Some("auto"),
        "When to use color.";
    AGENT = "agent", "CLEO_AGENT", Kind::Text(100), None,
        "Name of the caller, recorded with claims, notes and gates; by default user and host.";
    CHAT_PENDING_TTL = "chat.pendingTtl", "CLEO_CHAT_PENDING_TTL", Kind::Duration(1, 30 * 86_400), Some("15m"),
        "Time limit for a confirmation, a choice or a missing value in the chat.";
    CLAIMS_LEASE = "claims.lease", "CLEO_CLAIMS_LEASE", Kind::Duration(1, 30 * 86_400), Some("1h"),
        "Lease of a claim without a heartbeat.";
    GATES_TIME_LIMIT = "gates.timeLimit", "CLEO_GATES_TIME_LIMIT", Kind::Duration(1, 86_400), Some("10m"),
        "Time limit for the command of a gate.";
    GATES_ENVIRONMENT = "gates.environment", "CLEO_GATES_ENVIRONMENT", Kind::Text(2_000), None,
        "Names of more variables for commands of gates and criteria, besides those of agents, such as DATABASE_URL,TEST_*. Not from a project's file.";
    HOOKS_BLOCKS = "hooks.blocks", "CLEO_HOOKS_BLOCKS", Kind::Number(0, 100), Some("3"),
        "Number of times that `cleo hook` keeps an agent from stopping for one task; 0 for never.";
    LIST_LIMIT = "list.limit", "CLEO_LIST_LIMIT", Kind::Number(1, 1_000_000), Some("50"),
        "Maximum number of tasks that `cleo list` shows.";
    SKILLS_DIRS = "skills.dirs", "CLEO_SKILLS_DIRS", Kind::Folders, None,
        "Folders of skills, after those of --skills-dir and before all others.";
    ORCHESTRATOR_CONTEXT_TOKENS = "orchestrator.contextTokens", "CLEO_ORCHESTRATOR_CONTEXT_TOKENS", Kind::Number(100, 10_000_000), Some("10000"),
        "Maximum number of tokens of an orchestrating agent before it hands over.";
    ROUTING_MATCH = "routing.match", "CLEO_ROUTING_MATCH", Kind::Choice(&["token", "substring"]), Some("token"),
        "How words of a message match an agent: as whole words, or also inside a word.";
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
        "Names of more variables for agents, besides those that their programs need, such as NPM_TOKEN,AWS_*. Not from a project's file.";
    SPAWN_STRICT = "spawn.strict", "CLEO_SPAWN_STRICT", Kind::Flag, Some("false"),
        "Whether `cleo spawn` refuses unresolved tokens and protocols that are not a known version, as with --strict.";
    RUN_JOBS = "run.jobs", "CLEO_RUN_JOBS", Kind::Number(1, 1_000), Some("4"),
        "Maximum number of agents at a time in `cleo run`.";
    RUN_RUNNER_JOBS = "run.runnerJobs", "CLEO_RUN_RUNNER_JOBS", Kind::Text(200), None,
        "Maximum number of agents of a runner at a time, such as claude=2,codex=4.";
    RUN_REPAIR = "run.repair", "CLEO_RUN_REPAIR", Kind::Number(0, 10), Some("1"),
        "Maximum number of repair attempts per task.";
    RUN_TASK_TIME_LIMIT = "run.taskTimeLimit", "CLEO_RUN_TASK_TIME_LIMIT", Kind::Duration(1, 30 * 86_400), Some("1h"),
        "Time limit for an agent on one task.";
    RUN_IDLE_LIMIT = "run.idleLimit", "CLEO_RUN_IDLE_LIMIT", Kind::Duration(1, 30 * 86_400), Some("15m"),
        "Time limit for an agent without output.";
    LLM_PROVIDER = "llm.provider", "CLEO_LLM_PROVIDER", Kind::Choice(&["openai-chat", "anthropic", "ollama", "gemini", "none"]), None,
        "Kind of the model server that answers for agents; by default openai-chat if OPENAI_API_KEY is set. With none they answer offline.";
    LLM_MODEL = "llm.model", "CLEO_LLM_MODEL", Kind::Text(200), None,
        "Model that answers; by default each agent's own (of OpenAI only).";
    LLM_BASE_URL = "llm.baseUrl", "CLEO_LLM_BASE_URL", Kind::Text(1_000), None,
        "URL of the model server; by default OPENAI_BASE_URL, ANTHROPIC_BASE_URL or OLLAMA_HOST, else the provider's own. With a key, not from a project's file.";
    LLM_API_KEY_ENV = "llm.apiKeyEnv", "CLEO_LLM_API_KEY_ENV", Kind::Variable, None,
        "Name of the variable with the key; by default OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY. Not from a project's file.";
    LLM_TIMEOUT = "llm.timeout", "CLEO_LLM_TIMEOUT", Kind::Duration(1, 3_600), Some("2m"),
        "Time limit for an answer of the model, with all retries.";
    LLM_RETRIES = "llm.retries", "CLEO_LLM_RETRIES", Kind::Number(0, 10), Some("2"),
        "Maximum number of retries if the model server is busy or cannot be reached.";
    LLM_STREAM = "llm.stream", "CLEO_LLM_STREAM", Kind::Flag, Some("true"),
        "Whether answers of the model are streamed.";
    LLM_INPUT_PRICE = "llm.inputPrice", "CLEO_LLM_INPUT_PRICE", Kind::Price(10_000), None,
        "Price of a million input tokens; without both prices no cost is reported.";
    LLM_OUTPUT_PRICE = "llm.outputPrice", "CLEO_LLM_OUTPUT_PRICE", Kind::Price(10_000), None,
        "Price of a million output tokens.";
    STORE_URL = "store.url", "CLEO_STORE_URL", Kind::Text(1_000), None,
        "Database on a PostgreSQL server, as postgres://USER@HOST:PORT/DATABASE; by default the file .cleo/cleo.db. In a project's file it has no password, and counts once you trust it.";
    STORE_PASSWORD_ENV = "store.passwordEnv", "CLEO_STORE_PASSWORD_ENV", Kind::Variable, None,
        "Name of the variable with the password for the database; by default PGPASSWORD, else the file .pgpass. Not from a project's file.";
    VERIFY_REQUIRED = "verify.required", "CLEO_VERIFY_REQUIRED", Kind::Choice(&["spawned", "always"]), Some("spawned"),
        "Tasks that `cleo complete` demands proof of: those that were spawned or have gates or commands, or all without parts. `always` in any place counts; imports keep what is done.";
    WORKERS_ALLOW_PRIVATE = "workers.allowPrivate", "CLEO_WORKERS_ALLOW_PRIVATE", Kind::Flag, Some("false"),
        "Whether workers that were registered over HTTP may have private addresses. Not from a project's file.";
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
            STORE_PASSWORD_ENV,
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
    fn nothing_that_is_suggested_repeats_key() {
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
    fn defaults_are_values_of_their_kind() {
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
