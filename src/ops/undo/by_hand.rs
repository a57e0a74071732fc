//! The way back from what has no inverse: commands that somebody else has to decide on.

use crate::error::quote;
use crate::ops::log::describe;
use crate::store::{Change, Recorded};

/// Says what happened and, where there is one, the command that leads back by hand.
pub(super) fn told(change: &Change) -> String {
    let what = describe(change);
    match command(change) {
        Some(command) => format!("{what}; by hand: {command}"),
        None => what,
    }
}

/// Finds the command that leads back from the first of the changes that has one.
pub(super) fn way_back(changes: &[Recorded]) -> Option<String> {
    changes.iter().find_map(|each| command(&each.change))
}

fn command(change: &Change) -> Option<String> {
    let text = |name: &str| change.detail[name].as_str().map(quote);
    let phase = || text("phase").map(|phase| format!("cleo phase set -- {phase}"));
    match change.kind.as_str() {
        "requiredGates" => required_gates(change),
        "session-started" | "session-resumed" => {
            text("session").map(|id| format!("cleo session end {id}"))
        }
        "session-ended" => text("session").map(|id| format!("cleo session resume {id}")),
        "session-focused" => text("session").map(|id| format!("cleo focus --clear --session {id}")),
        "phase-left" | "phase-completed" => phase(),
        _ => None,
    }
}

fn required_gates(change: &Change) -> Option<String> {
    let before = change.detail["from"].as_array().into_iter().flatten();
    let before = before.filter_map(|gate| gate.as_str());
    let before: Vec<String> = before
        .map(|gate| format!(" --require-gate {}", quote(gate)))
        .collect();
    let clear = format!("cleo update {} --clear required-gates", change.task?);
    Some(clear + &before.concat())
}
