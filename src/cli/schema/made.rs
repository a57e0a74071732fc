//! Makes the schemas from the types of the replies.
//!
//! A new command needs one line in [`replies`].

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use crate::cli::orchestrator::Written;
use crate::cli::spawn::Document as Prepared;
use crate::cli::{explain, list, man, tree};
use crate::cli::{output, schema, serve, usage};
use crate::coordinator::plan::Carried;
use crate::dispatch::Decision;
use crate::ops::claims::Claimed;
use crate::ops::compliance::Compliance;
use crate::ops::gates::{Renewed, TaskGates};
use crate::ops::init::Initialized;
use crate::ops::log::{Logged, Shown};
use crate::ops::spawn::{Spawned, Why};
use crate::ops::undo::Undone;
use crate::ops::{agents, ask, conversations, executions, runs};
use crate::ops::{
    config, doctor, manifest, orchestrator, phases, plans, research, review, sessions, skills,
};
use crate::ops::{tasks, tokens, transfer, verify, workers};
use crate::run::Event;
use crate::run::view::RunView;
use crate::task::drawing::Picture;

fn replies() -> Vec<Reply> {
    vec![
        one::<tasks::Added>("add").or::<tasks::add::AddedMany>(),
        one::<workers::Checked>("agents.check"),
        one::<agents::change::Cleaned>("agents.cleanup"),
        one::<RunView>("agents.execute")
            .or::<Event>()
            .or::<executions::Piece<'static>>()
            .or::<executions::many::Finished>()
            .or::<executions::many::Summary>(),
        one::<agents::register::Imported>("agents.import"),
        one::<agents::lookup::Listed>("agents.list"),
        one::<agents::metrics::Metrics>("agents.metrics"),
        one::<agents::register::Registered>("agents.register"),
        one::<agents::change::Removed>("agents.remove"),
        one::<agents::One>("agents.show"),
        one::<agents::trust::Trusting>("agents.trust"),
        one::<agents::trust::Trusting>("agents.untrust"),
        one::<agents::One>("agents.update"),
        one::<tasks::Archival>("archive"),
        one::<ask::QueryReply>("ask")
            .or::<Event>()
            .or::<executions::Piece<'static>>(),
        one::<tasks::Moved>("cancel"),
        one::<crate::chat::Turn>("chat"),
        one::<crate::ops::chat::seed::Seeded>("chat.seed"),
        one::<Claimed>("claim"),
        one::<tasks::Moved>("complete"),
        one::<config::One>("config.get"),
        one::<config::Listed>("config.list"),
        one::<config::Changed>("config.set"),
        one::<config::Changed>("config.unset"),
        one::<conversations::Listed>("conversations.list"),
        one::<conversations::Shown>("conversations.show"),
        one::<tasks::Deleted>("delete"),
        one::<crate::cli::demo::Demo>("demo"),
        one::<tasks::Dependencies>("deps")
            .or::<tasks::graph::tree::NeighborTree>()
            .or::<Picture>(),
        one::<doctor::Examined>("doctor"),
        one::<transfer::export::Exported>("export"),
        one::<explain::Explained>("explain").or::<explain::Table>(),
        one::<crate::store::Page>("find"),
        one::<sessions::Focus>("focus"),
        one::<Claimed>("heartbeat"),
        one::<tasks::Next>("next"),
        one::<output::Page>("help").or::<explain::Table>(),
        one::<crate::transfer::report::Report>("import"),
        one::<Initialized>("init"),
        one::<crate::store::Page>("list").or::<list::Tree>(),
        one::<Logged>("log").or::<Shown>(),
        one::<man::Written>("man"),
        one::<manifest::Appended>("manifest.append"),
        one::<manifest::Compaction>("manifest.compact"),
        one::<manifest::Listed>("manifest.list"),
        one::<manifest::read::Shown>("manifest.show"),
        one::<manifest::Validated>("manifest.validate"),
        one::<Written<'static>>("orchestrator.brief"),
        one::<orchestrator::Measured>("orchestrator.context"),
        one::<tasks::Next>("orchestrator.next"),
        one::<tasks::Analysis>("orchestrator.analyze"),
        one::<tasks::Ready>("orchestrator.ready"),
        one::<Spawned>("orchestrator.spawn").or::<Prepared>(),
        one::<orchestrator::Start>("orchestrator.start"),
        one::<orchestrator::Overall>("orchestrator.status"),
        one::<Compliance>("orchestrator.validate"),
        one::<tasks::Waves>("orchestrator.waves"),
        one::<Claimed>("release"),
        one::<phases::Moved>("phase.complete"),
        one::<phases::Phases>("phase.list"),
        one::<phases::Moved>("phase.set"),
        one::<phases::Moved>("phase.start"),
        one::<plans::Planned>("plan").or::<Picture>(),
        one::<plans::Checked>("plan.check"),
        one::<Carried>("plan.run"),
        one::<plans::Checked>("plan.show").or::<Picture>(),
        one::<tasks::Moved>("reopen"),
        one::<crate::ops::spawn::Injected>("research.inject"),
        one::<research::Linked>("research.link"),
        one::<research::Links>("research.links"),
        one::<manifest::Listed>("research.list"),
        one::<research::Shown>("research.show"),
        one::<crate::ops::route::Routed<'static>>("route"),
        one::<crate::coordinator::Report>("run").or::<crate::coordinator::Rehearsed>(),
        one::<crate::coordinator::giving_up::Cancelled>("runs.cancel"),
        one::<runs::listing::Rows>("runs.list"),
        one::<runs::logs::Logged>("runs.logs"),
        one::<crate::coordinator::Report>("runs.resume").or::<Carried>(),
        one::<RunView>("runs.show"),
        one::<schema::Listed>("schema"),
        one::<serve::Served>("serve"),
        one::<tokens::Created>("serve.token.create"),
        one::<tokens::Listed>("serve.token.list"),
        one::<tokens::Revoked>("serve.token.revoke"),
        one::<sessions::Moved>("session.end"),
        one::<sessions::Sessions>("session.list"),
        one::<sessions::Moved>("session.resume"),
        one::<sessions::Moved>("session.start"),
        one::<sessions::Standing>("session.status"),
        one::<tasks::Shown>("show"),
        one::<Decision>("skills.dispatch"),
        one::<skills::Exported>("skills.export"),
        one::<skills::Listed>("skills.list"),
        one::<skills::Shown>("skills.show"),
        one::<skills::Verdicts>("skills.validate"),
        one::<Spawned>("spawn").or::<Prepared>(),
        one::<tasks::Moved>("start"),
        one::<review::Review>("trust"),
        one::<tasks::Archival>("unarchive"),
        one::<Undone>("undo"),
        one::<tasks::Updated>("update"),
        one::<TaskGates>("verify").or::<Renewed>(),
        one::<verify::ManifestVerdict>("verify.manifest"),
        one::<verify::MessageVerdict>("verify.message"),
        one::<verify::OutputVerdict>("verify.output"),
        one::<verify::Verdict>("verify.prompt"),
        one::<usage::Version>("version"),
        one::<Why>("why").or::<runs::why::RunWhy>(),
    ]
}

/// Commands that print something else than a reply.
const NO_REPLY: &[&str] = &["completions", "hook.stop", "hook.subagent-stop"];

/// A command with the types that its result can have.
struct Reply {
    command: &'static str,
    results: Vec<fn(&mut SchemaGenerator) -> schemars::Schema>,
}

fn one<T: JsonSchema>(command: &'static str) -> Reply {
    Reply {
        command,
        results: vec![|generator| generator.subschema_for::<T>()],
    }
}

impl Reply {
    fn or<T: JsonSchema>(mut self) -> Reply {
        self.results
            .push(|generator| generator.subschema_for::<T>());
        self
    }

    fn schema(&self) -> Value {
        let mut generator = SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator();
        let results: Vec<Value> = self
            .results
            .iter()
            .map(|result| json!(result(&mut generator)))
            .collect();
        let result = match &results[..] {
            [one] => one.clone(),
            _ => json!({"anyOf": results}),
        };
        let error = json!(generator.subschema_for::<crate::reply::Failure<'static>>());
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$comment": "Made by scripts/generate from the code. Do not edit.",
            "title": format!("cleo {}", self.command.replace('.', " ")),
            "type": "object",
            "required": ["schema", "command", "success", "warnings"],
            "properties": {
                "schema": {"const": crate::reply::SCHEMA},
                "command": {"const": self.command},
                "success": {"type": "boolean"},
                "result": result,
                "error": error,
                "warnings": {"type": "array", "items": {"type": "string"}},
            },
            "additionalProperties": false,
            "$defs": generator.take_definitions(true),
        })
    }
}

/// Writes a schema with a line for each part, so that a difference shows and little room is taken.
fn text(schema: &Value) -> String {
    laid_out(schema, 0) + "\n"
}

fn laid_out(value: &Value, depth: usize) -> String {
    let Some(fields) = value
        .as_object()
        .filter(|fields| depth < 2 && !fields.is_empty())
    else {
        return value.to_string();
    };
    let indent = " ".repeat(depth + 1);
    let lines = fields
        .iter()
        .map(|(name, value)| format!("{indent}{}: {}", json!(name), laid_out(value, depth + 1)));
    let lines: Vec<String> = lines.collect();
    format!("{{\n{}\n{}}}", lines.join(",\n"), " ".repeat(depth))
}

/// Why a file operation here may end the test.
const MADE: &str = "docs/schemas can be read and written";

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schemas"))
}

#[test]
fn the_schemas_in_docs_are_those_of_the_types() {
    let made = replies()
        .into_iter()
        .map(|reply| (format!("{}.json", reply.command), text(&reply.schema())));
    let made: BTreeMap<String, String> = made.collect();
    if std::env::var_os("CLEO_GENERATE").is_some() {
        for (name, text) in &made {
            fs::write(folder().join(name), text).expect(MADE);
        }
    }
    let there = fs::read_dir(folder()).expect(MADE).map(|entry| {
        let path = entry.expect(MADE).path();
        let name = path
            .file_name()
            .expect("an entry of a folder has a name")
            .to_string_lossy()
            .into_owned();
        (name, fs::read_to_string(path).expect(MADE))
    });
    let there: BTreeMap<String, String> = there.collect();
    for name in made.keys().chain(there.keys()) {
        let is_same = made.get(name) == there.get(name);
        assert!(
            is_same,
            "docs/schemas/{name} is not what the code says: run scripts/generate"
        );
    }
}

#[test]
fn every_command_has_a_schema() {
    let mut root = tree::whole();
    root.build();
    let mut missing = Vec::new();
    leaves(&root, "", &mut |name| {
        let is_known = replies().iter().any(|reply| reply.command == name);
        if !is_known && !NO_REPLY.contains(&name) {
            missing.push(name.to_string());
        }
    });
    let what = "add a line for each of these commands to `replies` in src/cli/schema/made.rs";
    assert!(
        missing.is_empty(),
        "{what}, then run scripts/generate: {missing:?}"
    );
}

fn leaves(command: &clap::Command, above: &str, visit: &mut dyn FnMut(&str)) {
    for below in command.get_subcommands() {
        let name = format!("{above}{}", below.get_name());
        if below.has_subcommands() {
            leaves(below, &format!("{name}."), visit);
        } else {
            visit(&name);
        }
    }
}
