//! Tests that call the library itself: rules at random, and what drives agents and asks models. Tests of
//! the program are in `tests/it`, and share its world.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::clock::Clock;
use crate::error::Result;
use crate::ops::operation::{Operation, Run};
use crate::ops::{Context, Surroundings};
use crate::strict;
use crate::workspace::Workspace;

/// The program, which cargo builds beside the tests.
pub(crate) const CLEO: &str = concat!(env!("OUT_DIR"), "/../../../cleo");

#[allow(dead_code, reason = "the tests of the program use the rest")]
#[path = "../../tests/it/delivery.rs"]
mod delivery;
#[allow(dead_code, reason = "the tests of the program use the rest")]
#[path = "../../tests/it/server.rs"]
mod server;
#[allow(dead_code, reason = "the tests of the program use the rest")]
#[path = "../../tests/it/soundness.rs"]
mod soundness;
#[allow(dead_code, reason = "the tests of the program use the rest")]
#[path = "../../tests/it/world.rs"]
mod world;

pub(crate) use world::cases;

mod chat;
mod claim_properties;
mod driving;
pub(crate) mod generated;
mod isolated;
mod model;
mod model_faults;
mod models;
mod properties;
mod protocol_texts;
mod races;
mod real_agents;
mod reference;
mod remembering;
mod runners;
mod skills_commands;
mod skills_content;
mod skills_corpus;
mod spawn;
mod transfer_properties;
mod trust;
mod undo_properties;
mod watching;
mod workers;

/// Has an operation of the table answer a request.
fn answer<Request: DeserializeOwned, Reply: Serialize>(
    context: &mut Context,
    operation: &Operation<Request, Reply>,
    request: Value,
) -> Result<Value> {
    let request = strict::read(request).unwrap();
    let reply = match operation.run {
        Run::Inside(run) => run(context, request),
        Run::Anywhere(run) => run(&context.surroundings, &mut context.notes, request),
    }?;
    Ok(serde_json::to_value(&reply).unwrap())
}

/// Makes a workspace in a folder and opens it in this process, for tests of rules that need no
/// command line.
pub(crate) fn open(folder: &Path) -> Context {
    Workspace::create(folder).unwrap();
    Context::open(Surroundings {
        assignment: Default::default(),
        judges_workspace: false,
        command: "test",
        directory: folder.to_path_buf(),
        root: None,
        clock: Clock::from_setting(Some("2026-01-26T09:00:00Z")).unwrap(),
        actor: "tester".to_string(),
        skills_dirs: Vec::new(),
        home: None,
        data_home: None,
        rights: Default::default(),
        defaults: Default::default(),
        settings: std::sync::Arc::new(Ok(Default::default())),
    })
    .unwrap()
}
