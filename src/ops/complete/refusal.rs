//! Why a spawned task is not completed, and what to do about it.

use crate::error::{Code, Error};
use crate::manifest::entry::Status;
use crate::ops::verify::OutputVerdict;

/// Returns the error of a task whose agent left something undone; none when its work holds.
pub(super) fn refusal(verdict: &OutputVerdict) -> Option<Error> {
    let id = verdict.task_id;
    let faults: Vec<&str> = verdict
        .verdict
        .violations
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    let why = match verdict.entry_status {
        _ if !faults.is_empty() => faults.join("; "),
        Some(Status::Complete) => return None,
        Some(status) => format!("its entry says {status}, not complete"),
        None => "it has no entry".to_string(),
    };
    let message = format!("{id} was spawned and does not verify: {why}");
    let (check, again) = (
        ("see what is wrong", format!("cleo verify output {id}")),
        (
            "give the prompt to an agent again",
            format!("cleo spawn {id} --format text"),
        ),
    );
    // What an agent left unfinished verifies as such: only more work completes the task.
    let (fix, other) = match faults.is_empty() {
        true => (again, check),
        false => (check, again),
    };
    let force = "complete it all the same, which is recorded";
    Some(
        Error::new(Code::NotVerified, message)
            .fix(fix.1)
            .or(other.0, other.1)
            .or(force, format!("cleo complete {id} --force")),
    )
}
