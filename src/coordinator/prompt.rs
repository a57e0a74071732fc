//! Text for an agent besides its prompt: the list of missing things and its trace. Pure.

use crate::error::Error;
use crate::id::{self, TaskId};
use crate::ops::spawn::Spawned;
use crate::spawn::add_before_block;
use crate::workspace::MANIFEST;

const FAULTS_MAX: usize = 50;

pub(super) fn format_missing(spawned: &Spawned, faults: &[String]) -> String {
    let (task_id, output_file) = (spawned.task_id, &spawned.output_file);
    let manifest_id = &spawned.manifest_id;
    let mut text =
        format!("The work on {task_id} was checked and is not finished. This is missing:\n\n");
    for fault in faults.iter().take(FAULTS_MAX) {
        text += &format!("- {fault}\n");
    }
    text += &format!(
        "\nFix exactly this, and nothing that is there already. What is checked: the file \
         `{output_file}`, the line with the id `{manifest_id}` in `{MANIFEST}`, linked to {task_id}, \
         and the commands of its acceptance criteria (`cleo verify output {task_id}`, \
         `cleo verify {task_id} --run-all`). Then end with exactly one of the sentences that the \
         protocol allows.\n"
    );
    text
}

/// Begins the prompt of an agent that was ended to get words, in its conversation.
pub(super) fn format_interruption(spawned: &Spawned) -> String {
    format!(
        "Your work on {} was interrupted, because somebody has words for you: the notes below. \
         Take them into account and finish the work. What is asked for stays the same: the file `{}`, \
         the line with the id `{}` in `{MANIFEST}`, and at the end exactly one of the sentences that \
         the protocol allows.\n",
        spawned.task_id, spawned.output_file, spawned.manifest_id
    )
}

pub(super) fn format_retry_prompt(spawned: &Spawned, faults: &[String]) -> String {
    let missing = format_missing(spawned, faults);
    let text = format!("## An earlier attempt\n\n{missing}");
    add_before_block(&spawned.prepared.prompt, &text)
}

pub(super) fn describe(fault: &Error) -> String {
    let message = fault.display_message();
    // The last lines of a command may follow.
    let (first, rest) = message.split_at(message.find('\n').unwrap_or(message.len()));
    match &fault.fix {
        Some(fix) => format!("{}: {first} (`{fix}`){rest}", fault.code.name()),
        None => format!("{}: {message}", fault.code.name()),
    }
}

/// Returns the W3C trace context of an attempt: one trace a run, or that of cleo's caller, and a span for
/// each attempt.
pub(super) fn traceparent(above: Option<&str>, run: &str, task: TaskId, attempt: u32) -> String {
    let digits = |text: String| id::digest(text).split_off("sha256:".len());
    let own = || digits(format!("trace {run}"))[..32].to_string();
    let trace = above.and_then(trace_of).unwrap_or_else(own);
    let span = &digits(format!("span {run} {task} {attempt}"))[..16];
    format!("00-{trace}-{span}-01")
}

fn trace_of(parent: &str) -> Option<String> {
    let parts: Vec<&str> = parent.split('-').collect();
    let [_, trace, _, _] = parts.as_slice() else {
        return None;
    };
    let is_trace = trace.len() == 32
        && trace
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && trace.bytes().any(|byte| byte != b'0');
    is_trace.then(|| trace.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_of_run_are_spans_of_one_trace() {
        let [a, b] = [1, 2].map(|attempt| traceparent(None, "r", TaskId(1), attempt));
        assert_eq!(a[..36], b[..36]);
        assert_ne!(a, b);
        assert_eq!(a.len(), 55);
    }

    #[test]
    fn whoever_starts_cleo_gives_it_trace() {
        let above = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let own = traceparent(Some(above), "r", TaskId(1), 1);
        assert_eq!(own[..36], above[..36]);
        assert_ne!(own, above);
        for odd in [
            "",
            "00-0-0-01",
            "00-00000000000000000000000000000000-1-01",
            "x",
        ] {
            assert_eq!(
                traceparent(Some(odd), "r", TaskId(1), 1),
                traceparent(None, "r", TaskId(1), 1)
            );
        }
    }
}
