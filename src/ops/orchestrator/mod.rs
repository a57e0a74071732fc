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
mod start;
mod status;

pub(crate) use brief::{Brief, brief};
pub(crate) use budget::{State, limit};
pub(crate) use context::{Measured, Source, ToCount, measure, measure_texts};
pub(crate) use few::Few;
pub(crate) use markdown::{markdown, write_brief};
pub(crate) use overview::{Overview, Standing};
pub(crate) use scope::Active;
pub(crate) use start::{Start, start};
pub(crate) use status::{Overall, status};
