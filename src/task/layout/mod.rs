//! Where each task stands in the picture of a graph that people work with: waves from left to right,
//! each task near to what it is tied to, finished and crowded waves folded. Pure, the same for the
//! same tasks, and stable: what was drawn before keeps its place as long as its wave stays.

mod fold;
mod layers;
mod order;
mod picture;
#[cfg(test)]
mod tests;
mod ties;

use std::collections::HashSet;

use serde::Serialize;

use super::State;
use crate::id::TaskId;

pub use layers::{Layers, layers};
pub use order::Places;
pub use picture::{Edge, Kind, Lane, Node, Picture, Stack, picture};
pub use ties::{Tie, ties};

/// Measures in pixels.
pub const NODE: (u32, u32) = (224, 50);
/// Width of a lane, and of one that is folded.
const LANE: u32 = 252;
const LANE_FOLDED: u32 = 96;
/// From the edge of a lane to what stands in it.
const MARGIN: u32 = 14;
const MARGIN_FOLDED: u32 = 8;
/// Height of a row, and where the first begins.
const ROW: u32 = 72;
const TOP: u32 = 48;

/// Most cards that are shown at once before waves are folded.
pub const CARDS_MAX: usize = 800;

/// A task that is to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// The task.
    pub id: TaskId,
    /// Where it stands.
    pub state: State,
    /// The task that it is a part of, by which it may be folded.
    pub parent: Option<TaskId>,
    /// Its layer, from 0; none in a circle.
    pub layer: Option<usize>,
}

/// What is folded.
#[derive(Clone, Debug, Default)]
pub struct Folding {
    /// Fold finished waves.
    pub done: bool,
    /// Keys of lanes and stacks that are not folded.
    pub open: HashSet<String>,
}

/// What stands in one place of a picture.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Item {
    /// A task.
    Task(TaskId),
    /// A stack, by its key.
    Stack(String),
}
