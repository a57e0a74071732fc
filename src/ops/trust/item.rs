//! Everything that can be run, called or used, as an item to trust: its kind and name, its origin, and a digest of
//! exactly what would run.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::agent::{Agent, Kind};
use crate::catalogue::{Catalogue, list_known_protocols, replaces_built_in};
use crate::config::{
    LLM_BASE_URL, LLM_MODEL, LLM_PROVIDER, RUNNERS_BY_SKILL, RUNNERS_BY_TIER, RUNNERS_DEFAULT,
    STORE_URL, Settings,
};
use crate::error::{Result, quote, quote_all};
use crate::gate::{Criterion, Gate, Gates, Proof, Record};
use crate::id::{self, TaskId};
use crate::llm::Provider;
use crate::run::{Event, Planned, Run, RunEvent, RunKind};
use crate::skill::{Skill, Source};
use crate::store::postgres::address::hide_password;
use crate::words::closed;

/// Fields of the options of a run that bound it and change nothing of what it runs.
const BOUNDS: [&str; 3] = ["maxCost", "granted", "timeLimit"];

/// Settings that say where the words of messages are sent.
const MODEL: [&str; 3] = [LLM_PROVIDER, LLM_BASE_URL, LLM_MODEL];
/// Settings that say which programs work on tasks.
const RUNNERS: [&str; 3] = [RUNNERS_DEFAULT, RUNNERS_BY_SKILL, RUNNERS_BY_TIER];

closed! {
    /// The kind of an item to trust.
    ItemKind, "kind":
    /// The command of an acceptance criterion or of a gate.
    Command = "command",
    /// A stored run that can be resumed.
    Run = "run",
    /// An agent that runs a program or calls an address.
    Worker = "worker",
    /// A setting of the project's file that says where words are sent or what is started.
    Setting = "setting",
    /// A skill of the project in place of a built-in one.
    Skill = "skill",
    /// A protocol of the project in place of a built-in one.
    Protocol = "protocol",
    /// Settings of an agent program in the project, which can name commands and servers.
    Client = "client",
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Item {
    /// Its kind.
    pub(crate) kind: ItemKind,
    /// Its name among the items of its kind.
    pub(crate) name: String,
    pub(crate) what: String,
    pub(crate) origin: String,
    /// Digest of exactly what would run.
    pub(crate) digest: String,
}

impl Item {
    /// Makes the item of a command that runs in a folder of the workspace.
    pub(crate) fn command(words: &[String], directory: &str, origin: String) -> Item {
        let place = match directory {
            "." => String::new(),
            directory => format!(" in {}", quote(directory)),
        };
        let digest = digest(&(words, directory));
        Item {
            kind: ItemKind::Command,
            name: digest.clone(),
            what: format!("run {}{place}", quote_all(words)),
            origin,
            digest,
        }
    }

    /// Makes the items of criteria that have a command.
    pub(crate) fn criteria(task: TaskId, lines: &[String]) -> Vec<Item> {
        let lines = lines.iter().enumerate();
        let with_command = lines.filter_map(|(at, line)| {
            let words = Criterion::read(line).command?;
            let origin = format!("criterion {} of {task}", at + 1);
            Some(Item::command(&words, ".", origin))
        });
        with_command.collect()
    }

    /// Makes the items of the commands that proved gates of a task and that `verify` runs again.
    pub(crate) fn gates(task: TaskId, gates: &Gates) -> Vec<Item> {
        let gates = gates.gates.iter();
        gates
            .flat_map(|(gate, record)| Item::gate(task, *gate, record))
            .collect()
    }

    /// Makes the items of the commands that proved a gate.
    pub(crate) fn gate(task: TaskId, gate: Gate, record: &Record) -> Vec<Item> {
        let first = record.evidence.first();
        let directory = first.map_or(".", |each| &each.origin.directory);
        let commands = record.evidence.iter().filter_map(|each| match &each.proof {
            Proof::Command { command, .. } => Some(command),
            _ => None,
        });
        let origin = format!("gate {gate} of {task}");
        commands
            .map(|words| Item::command(words, directory, origin.clone()))
            .collect()
    }

    pub(crate) fn worker(agent: &Agent) -> Item {
        let parts = (
            agent.kind,
            &agent.command,
            &agent.endpoint,
            &agent.healthcheck,
            agent.timeout_ms,
        );
        Item {
            kind: ItemKind::Worker,
            name: agent.id.clone(),
            what: describe_worker(agent),
            origin: format!("agent {}", quote(&agent.id)),
            digest: digest(&parts),
        }
    }

    /// Makes the item of a run over tasks, by these and the options that it is carried out with.
    pub(crate) fn run(id: &str, options: &Value, tasks: &[Planned]) -> Item {
        let mut options = options.clone();
        if let Some(options) = options.as_object_mut() {
            options.retain(|name, _| !BOUNDS.contains(&name.as_str()));
        }
        let text = |name: &str| options.get(name).and_then(Value::as_str).map(quote);
        let command = text("command").map(|command| format!(" with the command {command}"));
        let runner = text("runner").map(|runner| format!(" with the runner {runner}"));
        let how = command.or(runner).unwrap_or_default();
        let passed = options.get("passed").and_then(Value::as_array);
        let passed: Vec<String> = passed
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(quote)
            .collect();
        let passed = match passed.is_empty() {
            true => String::new(),
            false => format!(", which gets your variables {}", passed.join(", ")),
        };
        let n_tasks = tasks.len();
        let noun = if n_tasks == 1 { "task" } else { "tasks" };
        Item {
            kind: ItemKind::Run,
            name: id.to_string(),
            what: format!("resume {} of {n_tasks} {noun}{how}{passed}", quote(id)),
            origin: "stored run".to_string(),
            digest: digest(&(options, tasks)),
        }
    }

    /// Makes the item of a run over a plan, by its goal and the plan of its last pass.
    pub(crate) fn plan(id: &str, goal: &str, plan: &Value) -> Item {
        Item {
            kind: ItemKind::Run,
            name: id.to_string(),
            what: format!(
                "resume the plan of {} for the goal {}",
                quote(id),
                quote(goal)
            ),
            origin: "stored run".to_string(),
            digest: digest(&(goal, plan)),
        }
    }

    /// Makes the item of a stored run, by its events.
    pub(crate) fn from_run(run: &Run, events: &[Event]) -> Item {
        match run.kind {
            RunKind::Plan => {
                let mut plans = events.iter().rev().filter(|event| event.kind == "plan");
                let plan = plans.find_map(|event| event.detail.get("plan"));
                Item::plan(&run.id, &run.input, plan.unwrap_or(&Value::Null))
            }
            _ => {
                let (tasks, options) = RunEvent::read_start(events);
                Item::run(&run.id, &options.unwrap_or_default(), &tasks)
            }
        }
    }

    /// Makes the item of a setting of the project's file.
    pub(crate) fn setting(name: &str, value: &str) -> Item {
        let shown = match name {
            STORE_URL => hide_password(value.to_string()),
            _ => value.to_string(),
        };
        Item {
            kind: ItemKind::Setting,
            name: name.to_string(),
            what: format!("use {name} {}", quote(&shown)),
            origin: ".cleo/config.yaml".to_string(),
            digest: digest(&(name, value)),
        }
    }

    /// Makes the items of settings that say where the words of messages are sent, as far as the project's
    /// file sets them.
    pub(crate) fn model(settings: &Settings) -> Vec<Item> {
        // Without a provider nothing is sent anywhere.
        match Provider::from_settings(settings) {
            Some(_) => Item::settings(settings, &MODEL),
            None => Vec::new(),
        }
    }

    /// Makes the items of settings that say which programs work on tasks, as far as the project's file
    /// sets them.
    pub(crate) fn runners(settings: &Settings) -> Vec<Item> {
        Item::settings(settings, &RUNNERS)
    }

    /// Makes the item of the database on a server, if the project's file names one.
    pub(crate) fn store(settings: &Settings) -> Vec<Item> {
        Item::settings(settings, &[STORE_URL])
    }

    /// Returns true for a setting that has to be trusted when the project's file sets it.
    pub(crate) fn is_of_settings(name: &str) -> bool {
        MODEL.contains(&name) || RUNNERS.contains(&name) || name == STORE_URL
    }

    fn settings(settings: &Settings, names: &[&str]) -> Vec<Item> {
        let of_project = names.iter().filter(|name| settings.is_from_project(name));
        let of_project =
            of_project.filter_map(|name| Some(Item::setting(name, &settings.text(name)?)));
        of_project.collect()
    }

    /// Makes the items of skills and protocols of the project in place of built-in ones.
    pub(crate) fn list_replacing_items(catalogue: &Catalogue) -> Result<Vec<Item>> {
        let skills = catalogue.skills.iter().filter_map(Item::skill);
        let mut items: Vec<Item> = skills.collect();
        let protocols = catalogue.protocols.iter().chain([&catalogue.base]);
        let protocols: Vec<_> = protocols.filter(|one| is_of_project(&one.path)).collect();
        if protocols.is_empty() {
            return Ok(items);
        }
        let built_in = list_known_protocols()?;
        for protocol in protocols {
            let own = built_in.iter().find(|own| own.name == protocol.name);
            if own.is_some_and(|own| own.digest() != protocol.digest()) {
                let (name, path) = (&protocol.name, &protocol.path);
                let digest = protocol.digest();
                items.push(Item::replacement(ItemKind::Protocol, name, path, digest));
            }
        }
        Ok(items)
    }

    /// Makes the item of a skill of the project in place of a built-in one; none of any other skill.
    pub(crate) fn skill(skill: &Skill) -> Option<Item> {
        let is_from_project = matches!(skill.source, Source::Project | Source::Named)
            && is_of_project(&skill.path)
            && replaces_built_in(skill);
        is_from_project.then(|| {
            let digest = skill.digest();
            Item::replacement(ItemKind::Skill, &skill.name, &skill.path, digest)
        })
    }

    fn replacement(kind: ItemKind, name: &str, path: &str, digest: String) -> Item {
        Item {
            kind,
            name: name.to_string(),
            what: format!(
                "use the {kind} {} in place of the built-in one",
                quote(name)
            ),
            origin: path.to_string(),
            digest,
        }
    }

    /// Returns the command that shows the item in full, where one does.
    pub(super) fn show_command(&self) -> Option<String> {
        let name = quote(&self.name);
        Some(match self.kind {
            ItemKind::Worker => format!("cleo agents show {name}"),
            ItemKind::Run => format!("cleo runs show {name}"),
            _ => return None,
        })
    }
}

/// Returns true for a file of the project: what lies elsewhere is shown by its whole path.
fn is_of_project(path: &str) -> bool {
    !path.starts_with("built-in:") && !Path::new(path).is_absolute()
}

/// Says what calling a worker and asking for its health does.
pub(crate) fn describe_worker(agent: &Agent) -> String {
    let does = match (&agent.endpoint, agent.kind) {
        (Some(endpoint), Kind::Http) => format!("call {endpoint}"),
        _ => format!("run {}", quote_all(&agent.command)),
    };
    match &agent.healthcheck {
        Some(address) => format!("{does} and call {address}"),
        None => does,
    }
}

fn digest<T: Serialize>(parts: &T) -> String {
    id::digest(serde_json::to_vec(parts).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_called_is_part_of_digest() {
        let agent = || Agent {
            command: vec!["run".into()],
            ..Agent::new("w", Kind::Cli, "W")
        };
        let digest = |agent: &Agent| Item::worker(agent).digest;
        let same = Agent {
            description: "another".into(),
            prompt: "p".into(),
            ..agent()
        };
        assert_eq!(digest(&agent()), digest(&same));
        for other in [
            Agent {
                command: vec!["run".into(), "x".into()],
                ..agent()
            },
            Agent {
                kind: Kind::Http,
                ..agent()
            },
            Agent {
                endpoint: Some("http://a".into()),
                ..agent()
            },
            Agent {
                healthcheck: Some("http://a".into()),
                ..agent()
            },
            Agent {
                timeout_ms: 1,
                ..agent()
            },
        ] {
            assert_ne!(digest(&agent()), digest(&other), "{other:?}");
        }
    }

    #[test]
    fn bounds_of_run_are_no_part_of_its_digest() {
        let tasks = [Planned::default()];
        let item = |text: &str| Item::run("run_1", &serde_json::from_str(text).unwrap(), &tasks);
        let first = item(r#"{"command":"a b","maxCost":1.0,"passed":["*"]}"#);
        let bounded = item(r#"{"command":"a b","maxCost":2.0,"timeLimit":3,"passed":["*"]}"#);
        assert_eq!(first.digest, bounded.digest);
        for other in [
            r#"{"command":"a c","passed":["*"]}"#,
            r#"{"command":"a b","passed":[]}"#,
            r#"{"command":"a b","passed":["*"],"isolate":true}"#,
        ] {
            assert_ne!(first.digest, item(other).digest, "{other}");
        }
        let expected =
            "resume run_1 of 1 task with the command 'a b', which gets your variables '*'";
        assert_eq!(first.what, expected);
    }
}
