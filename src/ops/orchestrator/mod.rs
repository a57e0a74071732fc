//! Answers for an orchestrating agent: the state of the work, the next action, its token budget and the hand-over.
//! Every answer is cut to a token budget, however large the workspace is.

mod brief;
mod budget;
mod cut;
mod entries;
mod markdown;
mod overview;
mod recommend;

pub(crate) use brief::brief;
pub(crate) use budget::{Measurement, Sources, State, measure};
pub(crate) use markdown::{write_brief, write_text};
pub(crate) use overview::{Overview, start, status};
