//! What an agent asks that only orchestrates: where the work stands, what comes next and why, how
//! much it has read, and what it hands over. Every answer is short, however large the workspace.

mod brief;
mod budget;
mod context;
mod few;
mod followups;
mod markdown;
mod overview;
mod recommend;
mod scope;

pub(crate) use brief::brief;
pub(crate) use budget::{State, limit};
pub(crate) use context::{Measured, ToCount, measure};
pub(crate) use markdown::{write_brief, write_text};
pub(crate) use overview::{Overview, start, status};
