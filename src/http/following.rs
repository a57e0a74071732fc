//! An execution that is told while it is carried out, as server-sent events: `execution` with the record
//! as it begins, `run` for what happens, `piece` for pieces of an answer, `done` with the record as it
//! ended, or `error`.

use bytes::Bytes;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, channel};

use super::answer::Answer;
use super::events;
use super::executions::reply::Executed;
use super::executors::Heard;
use super::pass::Pass;
use crate::clock::Clock;
use crate::ops::executions::Begun;
use crate::run::Line;

/// How many events may wait for a slow reader before who tells them waits.
const QUEUE: usize = 64;

/// Tells an execution that has begun to the one who asked for it.
pub(super) fn follow(begun: Begun, mut told: UnboundedReceiver<Heard>, pass: Pass) -> Answer {
    let (run, (sender, comes)) = (begun.run().id.clone(), channel(QUEUE));
    tokio::spawn(async move {
        while let Some(heard) = told.recv().await {
            if sender.send(written(&run, heard)).await.is_err() {
                break;
            }
        }
    });
    let first = events::event("execution", &Executed::of(begun.shown()));
    events::stream(vec![first], comes, pass)
}

/// Tells an execution that began with an earlier call, as it stands.
pub(super) fn again(executed: &Executed, pass: Pass) -> Answer {
    let (_, comes) = channel(1);
    let first = events::event("execution", executed);
    events::stream(vec![first], comes, pass)
}

fn written(run: &str, heard: Heard) -> Bytes {
    match heard {
        Heard::Event(event) => {
            let mut data = json!(Line::from(&event));
            data["at"] = json!(event.at);
            events::event("run", &data)
        }
        Heard::Piece { agent, piece } => {
            let at = Clock::System.timestamp();
            let data = json!({"runId": run, "agent": agent, "piece": piece, "at": at});
            events::event("piece", &data)
        }
        Heard::Over(done) => match *done {
            Ok(begun) => events::event("done", &Executed::of(begun.shown())),
            Err(error) => events::event("error", &json!({"error": error.shown()})),
        },
    }
}
