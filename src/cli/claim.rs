//! How `cleo claim`, `start`, `complete` and their like answer.

use super::screen::Screen;
use super::show::{claim_fields, task_line};
use crate::id;
use crate::ops::tasks::Moved;

pub(super) fn render_move(verb: &str) -> impl FnOnce(&mut Screen, &Moved) {
    move |screen, moved| {
        screen.outcome(verb, moved.changed);
        task_line(screen, &moved.task);
        screen.field("worktree", moved.worktree.as_deref().unwrap_or_default());
        screen.field("now ready", id::list(&moved.unblocked));
        claim_fields(screen, moved.claim.as_ref());
    }
}
