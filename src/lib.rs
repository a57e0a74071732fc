//! Runs a graph of tasks with AI agents and verifies every result.
//!
//! Start at [`ops`] for what cleo can do, at [`task`] and [`skill`] for what it works on, and at
//! `cli` for the command line. ARCHITECTURE.md has the map and the rules between the layers.

#![cfg_attr(not(any(test, fuzzing)), warn(unused_crate_dependencies))]
#![cfg_attr(fuzzing, allow(dead_code, reason = "fuzzing needs the readers only"))]

// Types derive `schemars::JsonSchema`, which does nothing in a build without schemas.
#[cfg(not(feature = "schemas"))]
extern crate no_schemas as schemars;
#[cfg(feature = "schemas")]
use no_schemas as _;

#[macro_use]
mod error;

mod agent;
mod agent_files;
mod catalogue;
mod chat;
mod claim;
#[cfg(not(fuzzing))]
mod cli;
mod clock;
mod config;
#[cfg(not(fuzzing))]
mod coordinator;
mod dispatch;
mod document;
#[cfg(not(fuzzing))]
mod embedded;
mod estimate;
mod file;
mod gate;
mod hook;
#[cfg(not(fuzzing))]
mod http;
mod id;
#[cfg(not(fuzzing))]
mod llm;
mod manifest;
mod markdown;
#[cfg(not(fuzzing))]
mod net;
#[cfg(not(fuzzing))]
mod ops;
mod phase;
mod plan;
mod protocol;
mod query;
mod reply;
mod route;
mod run;
mod runner;
mod score;
mod session;
mod skill;
mod spawn;
mod store;
mod strict;
mod task;
mod template;
#[cfg(test)]
mod tests;
mod transfer;
mod tree;
mod words;
#[cfg(not(fuzzing))]
mod worker;
mod workspace;
mod yaml;

#[cfg(not(fuzzing))]
pub use cli::run;

/// Puts pairs into a sorted map one by one: `collect` brings a sort of its own for each kind of iterator, five kB each.
pub(crate) fn build_map<M: Default + Extend<P>, P>(pairs: impl IntoIterator<Item = P>) -> M {
    let mut map = M::default();
    map.extend(pairs);
    map
}

#[cfg(fuzzing)]
#[path = "../fuzz/checks.rs"]
pub mod checks;
#[cfg(feature = "bench")]
#[expect(clippy::print_stdout, reason = "a bench prints its rows")]
#[path = "../benches/routing.rs"]
pub mod routing;
