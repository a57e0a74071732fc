//! Tests of the whole program, in one binary. `world` is their base: start there.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed, and the panic says where"
)]

/// The program under test.
pub(crate) const CLEO: &str = env!("CARGO_BIN_EXE_cleo");

mod world;

#[path = "../tidy.rs"]
mod tidy;

mod advice;
mod agents;
mod archive;
mod ask;
mod attempts;
mod batch;
mod chat;
mod children;
mod claims;
mod claudedocs;
mod cloned;
mod completions;
mod compliance;
mod config;
mod corruption;
mod delivery;
mod demo;
mod dispatch;
mod dispatch_titles;
mod doctor;
mod evidence;
mod executions;
mod feed;
mod fixes;
mod gates;
mod graph;
mod graph_pictures;
mod handing_out;
mod history;
mod hooks;
mod init_agents;
mod listing;
mod manifest;
mod manifest_compact;
mod orchestrator;
mod output;
mod phases;
mod plan_runs;
mod plans;
mod postgres;
mod postgres_shared;
mod processes;
mod project_files;
mod prompts;
mod protocol_content;
mod readme;
mod refusals;
mod reports;
mod route;
mod row_security;
mod running;
mod running_isolated;
mod running_killed;
mod safety;
mod schemas;
mod selection;
mod serve;
mod served;
#[allow(dead_code, reason = "tests of the library use the rest")]
mod server;
mod serving_models;
mod serving_names;
mod serving_queries;
mod serving_runs;
mod sessions;
mod settings;
mod skill_files;
mod skills;
mod soundness;
mod spawn_batch;
mod spawn_refusals;
mod stores;
mod strangers;
mod tasks;
mod transfer;
mod usage;
mod users_apart;
mod verify;
mod verify_own;
mod why;
mod words;

/// Files that are not modules of tests: this one.
const NO_MODULES: &[&str] = &["main.rs"];

#[test]
fn every_file_of_tests_is_listed_here() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let is_module = entry.path().join("mod.rs").is_file();
        let Some(module) = name.strip_suffix(".rs").or(is_module.then_some(&name)) else {
            continue;
        };
        let line = format!("mod {module};");
        assert!(
            NO_MODULES.contains(&name.as_str()) || listed.lines().any(|known| known == line),
            "tests/it/{name} is not compiled: add `{line}` to tests/it/main.rs"
        );
    }
}
