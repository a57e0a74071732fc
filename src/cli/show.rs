//! `cleo show`, and how tasks, claims and changes of tasks look in every command.

use super::screen::{Screen, Tone, count};
use super::verify::standing;
use crate::claim::Claim;
use crate::id::{self, TaskId};
use crate::ops::proof::Summary;
use crate::ops::tasks::{Archival, Deleted, Moved};
use crate::ops::work::{Shown, ShownOutput};
use crate::store::missing;
use crate::task::{Note, Task};

pub(super) fn render(screen: &mut Screen, shown: &Shown) {
    let task = &shown.task;
    task_line(screen, task);
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
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
    screen.field("waiting for", id::list(&shown.waiting_for));
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
    for (name, text) in task.describe() {
        screen.field(name, text);
    }
    if let Some(output) = &shown.output {
        screen.field("output", &output.file);
        screen.field("proof", describe_proof(output));
    }
    if shown.has_no_proof() {
        screen.field("proof", "none, not verified");
    }
    screen.field("created", &task.created_at);
    screen
        .field("started", text(&task.started_at))
        .field("completed", text(&task.completed_at))
        .field("completed by", text(&shown.completed_by));
    screen
        .field("cancelled", text(&task.cancelled_at))
        .field("archived", text(&task.archived_at));
    screen.section("Description", &task.description);
    screen.section("Children", &list_children(shown));
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
    let note = |note: &Note| format!("{} {}: {}", note.at, note.by, note.text);
    let notes: Vec<String> = task.notes.iter().map(note).collect();
    screen.section("Notes", &bullets(&notes));
}

fn list_children(shown: &Shown) -> String {
    let part = |part: &Task| format!("{} {}  {}", part.id, part.status, part.title);
    let mut lines: Vec<String> = shown.parts.iter().map(part).collect();
    let more = shown.children.len() - lines.len();
    if more > 0 {
        let id = shown.task.id;
        lines.push(format!("{more} more: cleo list --parent {id} --tree --all"));
    }
    bullets(&lines)
}

fn describe_proof(output: &ShownOutput) -> String {
    match output {
        ShownOutput {
            forced: Some(forced),
            ..
        } => format!("none, completed by force: {forced}"),
        ShownOutput {
            verified_at: Some(at),
            ..
        } => format!("verified at {at}"),
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
        let lease = format!("{holder}, epoch {epoch}, until {expires}");
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
