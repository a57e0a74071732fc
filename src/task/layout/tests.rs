use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::picture::{End, Picture};
use super::*;
use crate::task::graph::Node as GraphNode;
use crate::task::{Priority, Status};

fn node(id: u32, depends: &[u32]) -> GraphNode {
    GraphNode {
        id: TaskId(id),
        parent: None,
        status: Status::Pending,
        priority: Priority::Medium,
        is_epic: false,
        open_children: 0,
        depends: depends.iter().map(|id| TaskId(*id)).collect(),
        missing: Vec::new(),
    }
}

fn part(id: u32, whole: u32, depends: &[u32]) -> GraphNode {
    GraphNode {
        parent: Some(TaskId(whole)),
        ..node(id, depends)
    }
}

/// Draws nodes whose states are given by id; all others can start.
fn draw(
    nodes: &[GraphNode],
    states: &HashMap<u32, DisplayStatus>,
    folding: &Folding,
) -> (Picture, Vec<Card>) {
    let layers = layers(nodes);
    let cards: Vec<Card> = nodes
        .iter()
        .filter(|node| !layers.wholes.contains(&node.id))
        .map(|node| Card {
            id: node.id,
            state: states
                .get(&node.id.0)
                .copied()
                .unwrap_or(DisplayStatus::Ready),
            parent: node.parent,
            layer: layers.of.get(&node.id).copied(),
        })
        .collect();
    let ties = ties(nodes, &layers, &[], |_| None);
    (picture(&cards, &ties, folding), cards)
}

fn plain(nodes: &[GraphNode]) -> Picture {
    draw(nodes, &HashMap::new(), &Folding::default()).0
}

fn lane_of(picture: &Picture, id: u32) -> &str {
    let x = picture.nodes.iter().find(|node| node.id.0 == id).unwrap().x;
    let lane = picture
        .lanes
        .iter()
        .find(|lane| (lane.x..lane.x + lane.width).contains(&x));
    &lane.unwrap().key
}

#[test]
fn task_is_in_wave_after_what_it_waits_for() {
    let nodes = [
        node(1, &[]),
        node(2, &[1]),
        node(3, &[1]),
        node(4, &[2, 3]),
        node(5, &[]),
    ];
    let picture = plain(&nodes);
    let lanes: Vec<&str> = (1..=5).map(|id| lane_of(&picture, id)).collect();
    assert_eq!(lanes, ["w0", "w1", "w1", "w2", "w0"]);
    assert_eq!(picture.edges.len(), 4);
}

#[test]
fn what_is_done_stays_in_its_wave() {
    let mut nodes = vec![node(1, &[]), node(2, &[]), node(3, &[1])];
    let before = plain(&nodes);
    nodes[0].status = Status::Done;
    let after = plain(&nodes);
    assert_eq!(before.nodes, after.nodes);
}

#[test]
fn cycles_and_dependents_are_at_the_left() {
    let nodes = [node(1, &[2]), node(2, &[1]), node(3, &[2]), node(4, &[3])];
    let picture = plain(&nodes);
    let lanes: Vec<&str> = (1..=4).map(|id| lane_of(&picture, id)).collect();
    assert_eq!(lanes, ["stuck"; 4]);
    assert_eq!(picture.lanes[0].label, "4 stuck");
}

#[test]
fn what_follows_whole_is_tied_to_its_last_parts() {
    let nodes = [
        node(9, &[]),
        part(1, 9, &[]),
        part(2, 9, &[1]),
        node(3, &[9]),
    ];
    let picture = plain(&nodes);
    assert!(!picture.nodes.iter().any(|node| node.id.0 == 9));
    let edge = picture.edges.iter().find(|edge| edge.to == "T3").unwrap();
    assert_eq!(edge.from, "T2");
    assert_eq!(lane_of(&picture, 3), "w2");
}

#[test]
fn empty_epic_has_no_wave() {
    let mut nodes = [node(1, &[]), part(2, 1, &[]), node(3, &[1]), node(4, &[3])];
    (nodes[0].is_epic, nodes[1].is_epic) = (true, true);
    let picture = plain(&nodes);
    assert_eq!((lane_of(&picture, 3), lane_of(&picture, 4)), ("w0", "w1"));
    assert_eq!(picture.nodes.len(), 2);
    assert_eq!(picture.lanes[0].label, "1 ready");
    let edge = picture.edges.iter().find(|edge| edge.to == "T3").unwrap();
    let ends = (edge.from.as_str(), edge.from_kind, edge.kind);
    assert_eq!(ends, ("T1", End::Missing, Kind::Unmet));
}

#[test]
fn what_leads_nowhere_is_drawn_as_such() {
    let mut nodes = [node(1, &[99])];
    nodes[0].missing.push(crate::task::graph::Missing {
        name: "X-1".into(),
        circular: false,
    });
    let picture = plain(&nodes);
    let names: Vec<&str> = picture
        .edges
        .iter()
        .map(|edge| edge.from.as_str())
        .collect();
    assert_eq!(names, ["T99", "X-1"]);
    assert!(picture.edges.iter().all(|edge| edge.kind == Kind::Missing));
    assert!(
        picture
            .edges
            .iter()
            .all(|edge| edge.from_kind == End::Missing)
    );
}

#[test]
fn finished_waves_fold_up_to_last_of_them() {
    let nodes = [node(1, &[]), node(2, &[1]), node(3, &[2]), node(4, &[3])];
    let states = (1..=3).map(|id| (id, DisplayStatus::Done)).collect();
    let folding = Folding {
        done: true,
        ..Folding::default()
    };
    let (picture, _) = draw(&nodes, &states, &folding);
    let keys: Vec<&str> = picture.lanes.iter().map(|lane| lane.key.as_str()).collect();
    assert_eq!(keys, ["w0-1", "w2", "w3"]);
    assert_eq!(picture.stacks[0].label, "2 done");
    assert_eq!(picture.lanes[0].width, 96);
    let edge = &picture.edges[0];
    assert_eq!((edge.from.as_str(), edge.to.as_str()), ("w0-1", "T3"));
    let open = Folding {
        done: true,
        open: ["w0-1".to_string()].into(),
    };
    let (picture, _) = draw(&nodes, &states, &open);
    assert_eq!(picture.nodes.len(), 4);
}

#[test]
fn nothing_folds_when_everything_is_done() {
    let nodes = [node(1, &[]), node(2, &[1]), node(3, &[2])];
    let states = (1..=3).map(|id| (id, DisplayStatus::Done)).collect();
    let folding = Folding {
        done: true,
        ..Folding::default()
    };
    let (picture, _) = draw(&nodes, &states, &folding);
    assert_eq!(picture.nodes.len(), 3);
}

#[test]
fn wide_wave_is_wrapped_into_columns() {
    let picture = plain(&(1..=1_960).map(|id| node(id, &[])).collect::<Vec<_>>());
    assert_eq!(picture.nodes.len() + picture.stacks.len(), 1);
    let open = Folding {
        open: ["w0".to_string()].into(),
        ..Folding::default()
    };
    let nodes = (1..=1_960).map(|id| node(id, &[])).collect::<Vec<_>>();
    let (picture, cards) = draw(&nodes, &HashMap::new(), &open);
    check(&picture, &cards);
    assert_eq!((picture.width, picture.height), (28 * 252, 48 + 72 * 72));
    assert_eq!((picture.lanes.len(), picture.lanes[0].width), (1, 28 * 252));
    let few = plain(&(1..=24).map(|id| node(id, &[])).collect::<Vec<_>>());
    assert_eq!(few.width, 252);
}

#[test]
fn ten_thousand_tasks_fold_and_what_matters_stays_out() {
    let whole = |id: u32| 20_000 + id % 5;
    let mut nodes: Vec<GraphNode> = (1..=10_000)
        .map(|id: u32| {
            let needs = id.checked_sub(500).filter(|need| *need > 0);
            part(id, whole(id), &Vec::from_iter(needs))
        })
        .collect();
    nodes.extend((0..5).map(|id| node(20_000 + id, &[])));
    let states = [
        (9_999, DisplayStatus::Failed),
        (7_000, DisplayStatus::Running),
        (5_000, DisplayStatus::NeedsYou),
    ];
    let states: HashMap<u32, DisplayStatus> = states.into_iter().collect();
    let begun = std::time::Instant::now();
    let (picture, cards) = draw(&nodes, &states, &Folding::default());
    // Far below what a person notices; a quadratic rule would take minutes.
    assert!(begun.elapsed().as_secs() < 20);
    assert_eq!(cards.len(), 10_000);
    assert!(picture.nodes.len() <= CARDS_MAX, "{}", picture.nodes.len());
    for id in states.keys() {
        assert!(picture.nodes.iter().any(|node| node.id.0 == *id), "T{id}");
    }
    assert!(picture.stacks.iter().any(|stack| stack.parent.is_some()));
    assert!(picture.edges.iter().any(|edge| edge.count > 8));
}

/// Graphs without circles, with parts and wholes, and states.
fn graphs() -> impl Strategy<Value = (Vec<GraphNode>, HashMap<u32, DisplayStatus>)> {
    let row = (
        proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
        0_u32..6,
        0_usize..11,
    );
    proptest::collection::vec(row, 1..60).prop_map(|rows| {
        let mut states = HashMap::new();
        let mut nodes: Vec<GraphNode> = Vec::new();
        for (place, (needs, whole, state)) in rows.into_iter().enumerate() {
            let id = place as u32 + 1;
            states.insert(id, DisplayStatus::ALL[state]);
            let mut depends: Vec<u32> = Vec::new();
            if place > 0 {
                depends = needs
                    .iter()
                    .map(|need| need.index(place) as u32 + 1)
                    .collect();
                depends.sort_unstable();
                depends.dedup();
            }
            nodes.push(match whole {
                0..3 => part(id, 1_000 + whole, &depends),
                _ => node(id, &depends),
            });
        }
        nodes.extend((0..3).map(|whole| node(1_000 + whole, &[])));
        (nodes, states)
    })
}

fn check(picture: &Picture, cards: &[Card]) {
    // Every task exactly once: by itself, or in one stack.
    let drawn: HashSet<TaskId> = picture.nodes.iter().map(|node| node.id).collect();
    assert_eq!(drawn.len(), picture.nodes.len());
    let stacked: usize = picture.stacks.iter().map(|stack| stack.total).sum();
    assert_eq!(drawn.len() + stacked, cards.len());
    // Nothing lies on anything else, and everything in the picture.
    let nodes = picture
        .nodes
        .iter()
        .map(|node| (node.x, node.y, NODE.0, NODE.1));
    let stacks = picture
        .stacks
        .iter()
        .map(|one| (one.area.x, one.area.y, one.area.width, one.area.height));
    let boxes: Vec<(u32, u32, u32, u32)> = nodes.chain(stacks).collect();
    for (place, a) in boxes.iter().enumerate() {
        assert!(a.0 + a.2 <= picture.width && a.1 + a.3 <= picture.height);
        for b in &boxes[..place] {
            let apart =
                a.0 + a.2 <= b.0 || b.0 + b.2 <= a.0 || a.1 + a.3 <= b.1 || b.1 + b.3 <= a.1;
            assert!(apart, "{a:?} {b:?}");
        }
    }
    // Lines lead to the right.
    let x = |name: &str| {
        let node = picture
            .nodes
            .iter()
            .find(|node| node.id.to_string() == name);
        let stack = || picture.stacks.iter().find(|stack| stack.key == name);
        node.map(|node| node.x)
            .or_else(|| stack().map(|stack| stack.area.x))
    };
    for edge in &picture.edges {
        let to = x(&edge.to).unwrap();
        match edge.from_kind {
            End::Missing => assert_eq!(x(&edge.from), None),
            _ => assert!(x(&edge.from).unwrap() < to, "{edge:?}"),
        }
    }
}

proptest! {
    #![proptest_config(crate::tests::cases(64))]

    #[test]
    fn every_task_is_drawn_once_and_lines_lead_to_right((nodes, states) in graphs(), done: bool) {
        let folding = Folding { done, ..Folding::default() };
        let (picture, cards) = draw(&nodes, &states, &folding);
        check(&picture, &cards);
        let again = draw(&nodes, &states, &folding).0;
        prop_assert_eq!(picture, again);
    }

    #[test]
    fn progress_and_folding_move_nothing_elsewhere((nodes, mut states) in graphs(), at: prop::sample::Index) {
        let (before, _) = draw(&nodes, &states, &Folding::default());
        states.insert(at.index(nodes.len() - 3) as u32 + 1, DisplayStatus::Done);
        let (after, _) = draw(&nodes, &states, &Folding::default());
        prop_assert_eq!(&after.nodes, &before.nodes);
        let folding = Folding { done: true, ..Folding::default() };
        let (folded, cards) = draw(&nodes, &states, &folding);
        check(&folded, &cards);
        for node in &folded.nodes {
            let old = before.nodes.iter().find(|old| old.id == node.id).unwrap();
            prop_assert_eq!(old.y, node.y);
        }
    }

    #[test]
    fn cycles_and_odd_parents_are_drawn(edges in proptest::collection::vec((1_u32..15, 1_u32..18), 0..40), parents in proptest::collection::vec(proptest::option::of(1_u32..18), 14)) {
        let mut nodes: Vec<GraphNode> = (1..15).map(|id| node(id, &[])).collect();
        for (place, parent) in parents.iter().enumerate() {
            nodes[place].parent = parent.map(TaskId);
        }
        for (from, to) in edges {
            nodes[from as usize - 1].depends.push(TaskId(to));
        }
        let (picture, cards) = draw(&nodes, &HashMap::new(), &Folding::default());
        let stacked: usize = picture.stacks.iter().map(|stack| stack.total).sum();
        prop_assert_eq!(picture.nodes.len() + stacked, cards.len());
    }
}
