//! `cleo show`, and how tasks, claims and changes of tasks look in every command.

use super::screen::{Cell, Screen, Tone, count, format_time, status};
use super::verify::standing;
use crate::claim::Claim;
use crate::id::{self, TaskId};
use crate::ops::proof::Summary;
use crate::ops::tasks::{Archival, Deleted, ListedTask, Moved};
use crate::ops::work::{Shown, ShownOutput};
use crate::store::missing;
use crate::task::{Note, Status, Task};

pub(super) fn render(screen: &mut Screen, shown: &Shown) {
    let task = &shown.task;
    let (_, word) = state(task, shown.ready);
    screen.headline(task.id, word, &task.title);
    let ids = |value: Option<TaskId>| value.map(|id| id.to_string()).unwrap_or_default();
    screen
        .field("type", &task.kind)
        .field("priority", task.priority);
    screen.field(
        "size",
        task.size.map(|size| size.word()).unwrap_or_default(),
    );
    screen.field("parent", ids(task.parent));
    screen.field("depends on", id::list(&task.depends));
    for need in missing(task) {
        screen.field("depends on", need.describe());
    }
    screen.field("unblocks", id::list(&shown.dependents));
    if let Some(held) = &shown.claim {
        claim_fields(screen, Some(&held.claim));
        screen.field(
            "lease",
            if held.expired {
                "over: any agent may claim it"
            } else {
                ""
            },
        );
    }
    screen.time("due", &task.due);
    for (name, text) in task.describe() {
        screen.field(name, text);
    }
    if let Some(output) = &shown.output {
        screen.field("output", &output.file);
        screen.field("proof", describe_proof(task.id, output));
    }
    if shown.has_no_proof() {
        screen.field("proof", "none, not verified");
    }
    screen
        .time("created", &task.created_at)
        .time("started", &task.started_at)
        .time("completed", &task.completed_at)
        .option("completed by", shown.completed_by.as_ref());
    screen
        .time("cancelled", &task.cancelled_at)
        .time("archived", &task.archived_at);
    screen.section("Description", &task.description);
    let more = format!("cleo orchestrator deps {}", task.id);
    screen.section("Waiting for", &list_named(shown, &shown.waiting_for, &more));
    let more = format!("cleo list --parent {} --tree --all", task.id);
    screen.section("Children", &list_named(shown, &shown.children, &more));
    for (heading, lines) in [
        ("Acceptance", &task.acceptance),
        ("Deliverables", &task.deliverables),
        ("Files", &task.files),
    ] {
        screen.section(heading, &bullets(lines));
    }
    if let Some(found) = &shown.verification {
        screen.section("Gates and criteria", &bullets(&verification(found)));
    }
    let note = |note: &Note| format!("{} {}: {}", format_time(&note.at), note.by, note.text);
    let notes: Vec<String> = task.notes.iter().map(note).collect();
    screen.section("Notes", &bullets(&notes));
}

/// Lists the tasks of `ids` that are named with their states. The command `see` shows the others.
fn list_named(shown: &Shown, ids: &[TaskId], see: &str) -> String {
    let named = shown.named.iter().filter(|one| ids.contains(&one.task.id));
    let lines = named.map(|ListedTask { task, availability }| {
        let (_, word) = state(task, availability.ready);
        format!("{} {word}  {}", task.id, task.title)
    });
    let mut lines: Vec<String> = lines.collect();
    let more = ids.len() - lines.len();
    if more > 0 {
        lines.push(format!("{more} more: {see}"));
    }
    bullets(&lines)
}

/// Returns the status of a task, and of a pending one whether it can start.
pub(super) fn state(task: &Task, is_ready: bool) -> Cell {
    match (task.status, is_ready) {
        (Status::Pending, true) => status("ready"),
        (Status::Pending, false) if !task.kind.is_epic() => status("waiting"),
        (other, _) => status(other),
    }
}

fn describe_proof(task: TaskId, output: &ShownOutput) -> String {
    match output {
        ShownOutput {
            forced: Some(forced),
            ..
        } => format!("none, completed by force: {forced}"),
        ShownOutput {
            verified_at: Some(at),
            is_changed,
            is_delivered,
            ..
        } => {
            let since = match (is_changed, is_delivered) {
                (false, _) => "",
                (true, true) => ", changed since",
                (true, false) => ", removed since",
            };
            format!("verified at {}{since}", format_time(at))
        }
        ShownOutput {
            is_delivered: true,
            is_foreign: true,
            ..
        } => format!(
            "delivered; verified in another folder, or for another user: `cleo verify output {task}`"
        ),
        ShownOutput {
            is_delivered: true, ..
        } => "delivered, not verified".to_string(),
        _ => "not delivered".to_string(),
    }
}

fn verification(found: &Summary) -> Vec<String> {
    let gates = found.gates.iter();
    let gates = gates.map(|(gate, state)| (gate.to_string(), standing::describe_gate(*state)));
    let criteria = found.criteria.iter().enumerate();
    let criteria = criteria.map(|(at, state)| {
        let name = format!("criterion {}", at + 1);
        (name, standing::describe_criterion(*state))
    });
    let all = gates.chain(criteria).map(|(name, state)| {
        let cause = found.causes.get(&name);
        let cause = cause.map_or_else(String::new, |cause| format!(", because {cause}"));
        format!("{name}: {state}{cause}")
    });
    all.collect()
}

fn bullets(lines: &[String]) -> String {
    lines
        .iter()
        .map(|line| format!("- {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

pub(super) fn task_line(screen: &mut Screen, task: &Task) {
    screen.headline(task.id, task.status, &task.title);
}

/// Shows who holds a task, under which epoch and until when; nothing for one that is free.
pub(super) fn claim_fields(screen: &mut Screen, claim: Option<&Claim>) {
    let held = claim.and_then(|claim| Some((claim, claim.holder.as_ref()?)));
    if let Some((claim, holder)) = held {
        let Claim { epoch, expires, .. } = claim;
        let lease = format!("{holder}, epoch {epoch}, until {}", format_time(expires));
        screen.field("claimed by", lease);
    }
}

pub(super) fn render_move(verb: &str) -> impl FnOnce(&mut Screen, &Moved) {
    move |screen, moved| {
        screen.outcome(verb, moved.changed);
        task_line(screen, &moved.task);
        screen.field("worktree", moved.worktree.as_deref().unwrap_or_default());
        screen.field("now ready", id::list(&moved.unblocked));
        claim_fields(screen, moved.claim.as_ref());
    }
}

/// How many tasks are named on a screen.
const NAMED: usize = 20;

pub(super) fn render_archival([done, would]: [&str; 2]) -> impl FnOnce(&mut Screen, &Archival) {
    move |screen, moved| {
        if moved.tasks.is_empty() {
            screen.line(Tone::Dim, "nothing to do");
            return;
        }
        let (tone, verb) = match moved.dry_run {
            true => (Tone::Plain, would),
            false => (Tone::Good, done),
        };
        let named = &moved.tasks[..moved.total.min(NAMED)];
        let more = match moved.total - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let what = count(moved.total, "task", "tasks");
        screen.pair(tone, verb, format!(" {what}: {}{more}", id::list(named)));
    }
}

pub(super) fn render_delete(screen: &mut Screen, deleted: &Deleted) {
    let (tone, verb) = match deleted.dry_run {
        true => (Tone::Plain, "Would delete"),
        false => (Tone::Good, "Deleted"),
    };
    screen.pair(tone, verb, format!(" {}", id::list(&deleted.deleted)));
    screen.field("released", id::list(&deleted.released));
}
