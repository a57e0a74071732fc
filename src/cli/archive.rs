//! How `cleo archive`, `unarchive` and `delete` answer.

use super::screen::{Screen, Tone, count};
use crate::id;
use crate::ops::tasks::{Archival, Deleted};

/// How many tasks are named on a screen.
const NAMED: usize = 20;

pub(super) fn render([done, would]: [&str; 2]) -> impl FnOnce(&mut Screen, &Archival) {
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
        screen
            .say(tone, verb)
            .line(Tone::Plain, format!(" {what}: {}{more}", id::list(named)));
    }
}

pub(super) fn render_delete(screen: &mut Screen, deleted: &Deleted) {
    let (tone, verb) = match deleted.dry_run {
        true => (Tone::Plain, "Would delete"),
        false => (Tone::Good, "Deleted"),
    };
    screen
        .say(tone, verb)
        .line(Tone::Plain, format!(" {}", id::list(&deleted.deleted)));
    screen.field("released", id::list(&deleted.released));
}
