//! The picture: lanes, tasks and stacks with their places, and lines between them.

use std::collections::{BTreeMap, HashMap};

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use super::fold::{Band, fold};
use super::{
    Card, Folding, Item, LANE, LANE_FOLDED, MARGIN, MARGIN_FOLDED, NODE, ROW, ROWS_MIN, TOP, Tie,
};
use crate::id::TaskId;
use crate::task::DisplayStatus;

/// A graph as it is drawn. All measures are in pixels, from the top left corner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// The lanes, left to right.
    pub(crate) lanes: Vec<Lane>,
    /// Tasks that are shown by themselves, by id.
    pub(crate) nodes: Vec<Node>,
    /// Places of several tasks each.
    pub(crate) stacks: Vec<Stack>,
    /// Lines, those that matter most last.
    pub(crate) edges: Vec<Edge>,
}

/// A wave, or several that are folded.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Lane {
    /// `w3`, `w0-1`, or `stuck` for what waits for itself.
    pub(crate) key: String,
    /// The first wave in it, from 0; none for what waits for itself.
    pub(crate) from: Option<usize>,
    pub(crate) to: Option<usize>,
    pub(crate) x: u32,
    pub(crate) width: u32,
    /// Whether all of it is one stack.
    pub(crate) folded: bool,
    /// How far it is, in words.
    pub(crate) label: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Node {
    pub(crate) id: TaskId,
    pub(crate) x: u32,
    pub(crate) y: u32,
}

/// Several tasks in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Stack {
    /// Its key: that of its lane, and what its tasks are a part of.
    pub(crate) key: String,
    /// The task that its tasks are a part of, when they are grouped by it.
    pub(crate) parent: Option<TaskId>,
    /// The title of that task, if known.
    pub(crate) title: Option<String>,
    pub(crate) total: usize,
    /// Number of tasks by status.
    pub(crate) counts: BTreeMap<&'static str, usize>,
    /// How many and how far, in words.
    pub(crate) label: String,
    #[serde(flatten)]
    pub(crate) area: Area,
}

/// Where something is drawn, in pixels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Area {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// The meaning of a line, in ascending order of importance.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Kind {
    /// The dependency is done.
    Met,
    Unmet,
    /// It is open, and on the critical path.
    Critical,
    Missing,
}

/// A line, or several between the same two places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Edge {
    /// Where it comes from: a task, a stack, or the name of something that is not in the picture.
    pub(crate) from: String,
    pub(crate) to: String,
    /// Its meaning; of several the most important one.
    pub(crate) kind: Kind,
    pub(crate) count: usize,
    pub(crate) from_kind: End,
    pub(crate) to_kind: End,
}

/// The end of a line.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub(crate) enum End {
    Node,
    Stack,
    /// Nothing in the picture.
    Missing,
}

pub(crate) fn picture(cards: &[Card], ties: &[Tie], folding: &Folding) -> Picture {
    let bands = fold(cards, ties, folding);
    let shown = bands.iter().flat_map(|band| {
        let ids = band.cards.iter().map(|card| card.id);
        ids.zip(&band.shown)
    });
    let mut picture = Picture {
        edges: edges(&shown.collect(), ties),
        ..Picture::default()
    };
    // About as high as wide. It depends on the number of tasks alone, so that folding moves no card up or down.
    let n_rows = (2 * cards.len()).isqrt().next_multiple_of(ROWS_MIN / 2);
    let n_rows = n_rows.max(ROWS_MIN);
    for band in &bands {
        let items: IndexSet<&Item> = band.shown.iter().collect();
        let lane = lane(
            band,
            picture.width,
            measure(LANE, items.len().div_ceil(n_rows)),
        );
        picture.width += lane.width;
        for (at, item) in items.into_iter().enumerate() {
            let x = lane.x + measure(LANE, at / n_rows);
            let y = TOP + measure(ROW, at % n_rows);
            picture.height = picture.height.max(y + ROW);
            match item {
                Item::Task(id) => picture.nodes.push(Node {
                    id: *id,
                    x: x + MARGIN,
                    y,
                }),
                Item::Stack(name) => picture.stacks.push(draw_stack(band, name, (x, y))),
            }
        }
        picture.lanes.push(lane);
    }
    picture.nodes.sort_unstable_by_key(|node| node.id);
    picture
}

/// Returns the length of so many columns or rows.
fn measure(step: u32, n: usize) -> u32 {
    step * u32::try_from(n).unwrap_or(u32::MAX / step - 2)
}

fn lane(band: &Band, x: u32, width: u32) -> Lane {
    let count = |is: &dyn Fn(DisplayStatus) -> bool| {
        let cards = band.cards.iter().filter(|card| is(card.state));
        cards.count()
    };
    let total = band.cards.len();
    let (done, started) = (
        count(&|state| state == DisplayStatus::Done),
        count(&DisplayStatus::has_begun),
    );
    let over = count(&DisplayStatus::is_over);
    let ready = count(&|state| state == DisplayStatus::Ready);
    let label = match (over, started, ready) {
        _ if band.layers.is_none() => format!("{total} stuck"),
        (over, ..) if over == total => format!("{done} done"),
        (_, 1.., _) => format!("{started} of {total} started"),
        (.., ready) if ready == total => format!("{total} ready"),
        (.., 1..) => format!("{ready} of {total} ready"),
        _ => format!("{total} waiting"),
    };
    Lane {
        key: band.key(),
        from: band.layers.as_ref().map(|layers| *layers.start()),
        to: band.layers.as_ref().map(|layers| *layers.end()),
        x,
        width: if band.is_folded { LANE_FOLDED } else { width },
        folded: band.is_folded,
        label,
    }
}

fn draw_stack(band: &Band, name: &str, (x, y): (u32, u32)) -> Stack {
    let own = Item::Stack(name.to_string());
    let cards = band.cards.iter().zip(&band.shown);
    let cards = cards.filter(|(_, shown)| **shown == own);
    let cards: Vec<&Card> = cards.map(|(card, _)| card).collect();
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for card in &cards {
        *counts.entry(card.state.word()).or_default() += 1;
    }
    let total = cards.len();
    let n_done = counts.get(DisplayStatus::Done.word()).copied().unwrap_or(0);
    let label = match n_done == total {
        true => format!("{total} done"),
        false if n_done > 0 => format!("{total} tasks, {n_done} done"),
        false => format!("{total} tasks"),
    };
    let (margin, width) = match band.is_folded {
        true => (MARGIN_FOLDED, LANE_FOLDED - 2 * MARGIN_FOLDED),
        false => (MARGIN, NODE.0),
    };
    Stack {
        key: name.to_string(),
        parent: cards
            .first()
            .and_then(|card| card.parent)
            .filter(|_| name.contains(':')),
        title: None,
        total,
        counts,
        label,
        area: Area {
            x: x + margin,
            y,
            width,
            height: NODE.1,
        },
    }
}

/// Joins the lines between the same two places; `of` tells where each task is shown.
fn edges(of: &HashMap<TaskId, &Item>, ties: &[Tie]) -> Vec<Edge> {
    let mut edges: IndexMap<(String, String), Edge> = IndexMap::new();
    for edge in ties.iter().filter_map(|tie| edge(of, tie)) {
        let ends = (edge.from.clone(), edge.to.clone());
        let kind = edge.kind;
        let known = edges.entry(ends).or_insert(edge);
        known.count += 1;
        known.kind = known.kind.max(kind);
    }
    let mut edges: Vec<Edge> = edges.into_values().collect();
    edges.sort_by_key(|edge| edge.kind);
    edges
}

/// Makes the line of a tie, which nothing is counted in yet; `None` within one stack.
fn edge(of: &HashMap<TaskId, &Item>, tie: &Tie) -> Option<Edge> {
    let end = |item: &Item| match item {
        Item::Task(id) => (id.to_string(), End::Node),
        Item::Stack(key) => (key.clone(), End::Stack),
    };
    let (to, to_kind) = end(of.get(&tie.to)?);
    let (from, from_kind) = match &tie.from {
        Ok(id) => end(of.get(id)?),
        Err(name) => (name.clone(), End::Missing),
    };
    let is_inside = from == to && from_kind == to_kind;
    (!is_inside).then_some(Edge {
        from,
        to,
        kind: tie.kind,
        count: 0,
        from_kind,
        to_kind,
    })
}
