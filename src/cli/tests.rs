//! Makes the schemas from the types of the replies.
//!
//! A new command without a row in the table of operations needs one line in [`replies`].

use std::collections::BTreeSet;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cli::orchestrator::Written;
use crate::cli::orchestrator::spawn::Document as Prepared;
use crate::cli::{help, output, serve, tasks as task_list, tree, usage};
use crate::coordinator::ask;
use crate::coordinator::plan::PlanReport;
use crate::ops::init::Initialized;
use crate::ops::log::{Logged, Shown};
use crate::ops::operation::{Describe, Described, Operation, Visitor};
use crate::ops::proof::{Renewed, TaskGates};
use crate::ops::spawn::{Spawned, Why};
use crate::ops::{
    agents, api, config, executions, manifest, plans, research, review, skills, tasks, tokens,
    transfer, work,
};
use crate::run::Event;
use crate::run::view::RunView;
use crate::task::drawing::Picture;
use crate::tests::generated;

/// Returns what each command replies: what is said here, else what the first row of the table under its name does.
fn replies() -> Vec<Reply> {
    let mut replies = vec![
        one::<tasks::Added>("add").or::<tasks::add::AddedMany>(),
        one::<RunView>("agents.execute")
            .or::<Event>()
            .or::<executions::Piece<'static>>(),
        one::<agents::register::Imported>("agents.import"),
        one::<agents::lookup::Listed>("agents.list"),
        one::<ask::QueryReply>("ask")
            .or::<Event>()
            .or::<executions::Piece<'static>>(),
        one::<crate::chat::Turn>("chat"),
        one::<crate::ops::chat::seed::Seeded>("chat.seed"),
        one::<config::Changed>("config.set"),
        one::<config::Changed>("config.unset"),
        one::<crate::cli::demo::Demo>("demo"),
        one::<tasks::Dependencies>("deps").or::<Picture>(),
        one::<transfer::export::Exported>("export"),
        one::<transfer::export::Copied>("backup"),
        one::<transfer::export::CopiedRows>("store.copy"),
        one::<help::Explained>("explain").or::<help::Table>(),
        one::<tasks::Listed>("find"),
        one::<output::Page>("help").or::<help::Table>(),
        one::<Initialized>("init"),
        one::<tasks::Listed>("list").or::<task_list::Tree>(),
        one::<Logged>("log").or::<Shown>(),
        one::<help::Written>("man"),
        one::<manifest::Appended>("manifest.append"),
        one::<Written<'static>>("orchestrator.brief"),
        one::<tasks::Next>("orchestrator.next"),
        one::<Spawned>("orchestrator.spawn").or::<Prepared>(),
        one::<plans::Planned>("plan").or::<Picture>(),
        one::<PlanReport>("plan.run"),
        one::<plans::Checked>("plan.show").or::<Picture>(),
        one::<manifest::Listed>("research.list"),
        one::<research::Shown>("research.show"),
        one::<tasks::Ready>("ready"),
        one::<crate::ops::route::Routed<'static>>("route"),
        one::<crate::coordinator::Report>("run").or::<crate::coordinator::Rehearsed>(),
        one::<crate::coordinator::cancel::Cancelled>("runs.cancel"),
        one::<work::runs::logs::Logged>("runs.logs"),
        one::<crate::coordinator::Report>("runs.resume").or::<PlanReport>(),
        one::<help::Listed>("schema"),
        one::<serve::Served>("serve"),
        one::<tokens::Created>("serve.token.create"),
        one::<tokens::Listed>("serve.token.list"),
        one::<tokens::Revoked>("serve.token.revoke"),
        one::<work::Shown>("show"),
        one::<skills::Exported>("skills.export"),
        one::<skills::Verdicts>("skills.validate"),
        one::<Spawned>("spawn").or::<Prepared>(),
        one::<crate::ops::orchestrator::Overview>("status"),
        one::<review::Review>("trust"),
        one::<TaskGates>("verify").or::<Renewed>(),
        one::<usage::Version>("version"),
        one::<Why>("why").or::<work::runs::why::RunWhy>(),
    ];
    let mut rows = Rows(Vec::new());
    api::visit_all(&mut rows);
    let mut root = tree::whole();
    root.build();
    leaves(&root, "", &mut |name| {
        let is_said = replies.iter().any(|reply| reply.command == name);
        let row = rows.0.iter().position(|row| row.command == name);
        replies.extend(row.filter(|_| !is_said).map(|at| rows.0.remove(at)));
    });
    replies
}

/// The replies of operations.
struct Rows(Vec<Reply>);

impl Visitor for Rows {
    fn visit<Request: DeserializeOwned + Described, Response: Serialize + Described>(
        &mut self,
        operation: &'static Operation<Request, Response>,
    ) {
        self.0.push(one::<Response>(operation.facts.name));
    }
}

/// Commands that print something else than a reply.
const NO_REPLY: &[&str] = &["completions", "hook.stop", "hook.subagent-stop"];

/// A command with the types that its result can have.
struct Reply {
    command: &'static str,
    results: Vec<Describe>,
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

#[test]
fn the_schemas_in_docs_are_those_of_the_types() {
    let mut made = BTreeSet::new();
    for reply in replies() {
        let name = format!("{}.json", reply.command);
        let text = generated::lay_out(&reply.schema(), 2);
        generated::check(&format!("docs/schemas/{name}"), &text);
        made.insert(name);
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schemas");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(made.contains(&name), "docs/schemas/{name} is of no command");
    }
}

#[test]
fn every_command_has_schema() {
    let mut root = tree::whole();
    root.build();
    let (mut missing, replies) = (Vec::new(), replies());
    leaves(&root, "", &mut |name| {
        let is_known = replies.iter().any(|reply| reply.command == name);
        if !is_known && !NO_REPLY.contains(&name) {
            missing.push(name.to_string());
        }
    });
    let what = "add a line for each of these commands to `replies` in src/cli/tests.rs";
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
