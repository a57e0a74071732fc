//! Turns a graph of tasks into work by AI agents that is checked, not believed.
//!
//! Start at [`ops`] for what cleo can do, at [`task`] and [`skill`] for what it works on, and at
//! `cli` for the command line. ARCHITECTURE.md has the map and the rules between the layers.

pub mod agent;
pub mod agent_files;
pub mod catalogue;
pub mod chat;
pub mod claim;
#[cfg(not(fuzzing))]
mod cli;
pub mod clock;
pub mod config;
#[cfg(not(fuzzing))]
pub mod coordinator;
pub mod dispatch;
pub mod document;
pub mod error;
pub mod estimate;
pub mod exchange;
pub mod file;
pub mod gate;
pub mod hook;
#[cfg(all(feature = "server", not(fuzzing)))]
pub mod http;
pub mod id;
pub mod llm;
pub mod manifest;
#[cfg(not(fuzzing))]
pub mod ops;
pub mod phase;
pub mod plan;
pub mod protocol;
pub mod query;
pub mod reply;
pub mod route;
pub mod run;
pub mod runner;
pub mod score;
pub mod session;
pub mod skill;
pub mod spawn;
pub mod store;
pub mod task;
pub mod template;
#[cfg(test)]
mod tests;
pub mod transfer;
pub mod tree;
mod words;
pub mod worker;
pub mod workspace;
pub mod yaml;

#[cfg(all(feature = "server", not(fuzzing)))]
pub use cli::run_server;
#[cfg(not(fuzzing))]
pub use cli::{run, run_whole};
