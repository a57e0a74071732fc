use std::collections::{HashMap, HashMap as Map};
use std::convert::Infallible;

use proptest::prelude::*;

use super::waves::Waves;
use super::*;
use crate::id::TaskId;
use crate::task::overlap::{Occupied, patterns};

fn node(id: u32, status: Status, depends: &[u32]) -> Node {
    Node {
        id: TaskId(id),
        parent: None,
        status,
        priority: Priority::Medium,
        is_epic: false,
        open_children: 0,
        depends: ids(depends),
        missing: Vec::new(),
    }
}

fn pending(rows: &[(u32, &[u32])]) -> Vec<Node> {
    let nodes = rows.iter();
    nodes
        .map(|(id, depends)| node(*id, Status::Pending, depends))
        .collect()
}

fn ids(ids: &[u32]) -> Vec<TaskId> {
    ids.iter().map(|id| TaskId(*id)).collect()
}

/// Makes the first an epic with the others in it.
fn epic_of(nodes: &mut [Node], epic: usize, parts: &[usize]) {
    nodes[epic].is_epic = true;
    let id = nodes[epic].id;
    for part in parts {
        nodes[*part].parent = Some(id);
        nodes[epic].open_children += u32::from(nodes[*part].is_open());
    }
}

fn graph(nodes: Vec<Node>) -> TaskGraph {
    TaskGraph::new(nodes, Vec::new())
}

fn waves(nodes: Vec<Node>) -> (Vec<Vec<TaskId>>, Vec<TaskId>) {
    let found = graph(nodes).waves(|_| &[]);
    assert_eq!(found.conflicts, []);
    (found.waves, found.stuck)
}

#[test]
fn waves_go_to_any_depth_and_name_what_can_never_start() {
    let chain: Vec<(u32, Vec<u32>)> = (2..=5_000).map(|id| (id, vec![id - 1])).collect();
    let mut nodes = pending(&[
        (1, &[]),
        (6_001, &[6_002]),
        (6_002, &[6_001]),
        (6_003, &[9_999]),
    ]);
    nodes.extend(
        chain
            .iter()
            .map(|(id, depends)| node(*id, Status::Pending, depends)),
    );
    let (waves, stuck) = waves(nodes);
    assert_eq!(waves.len(), 5_000);
    assert_eq!(waves[4_999], ids(&[5_000]));
    assert_eq!(stuck, ids(&[6_001, 6_002, 6_003]));
}

#[test]
fn what_waits_for_container_comes_after_last_task_in_it() {
    let mut nodes = pending(&[
        (1, &[]),
        (2, &[]),
        (3, &[2]),
        (4, &[1]),
        (5, &[]),
        (6, &[5]),
    ]);
    epic_of(&mut nodes, 0, &[1, 2]);
    epic_of(&mut nodes, 4, &[]);
    let path = graph(nodes.clone()).critical_path();
    assert_eq!(path, ids(&[2, 3, 4]), "an epic is not a step of the way");
    let (waves, stuck) = waves(nodes);
    assert_eq!(waves, [ids(&[2]), ids(&[3]), ids(&[4])]);
    assert_eq!(stuck, ids(&[6]), "nothing is in the epic that it waits for");
}

#[test]
fn parent_that_is_no_epic_is_worked_on_after_its_parts() {
    let mut nodes = pending(&[(1, &[]), (2, &[]), (3, &[]), (4, &[2])]);
    epic_of(&mut nodes, 0, &[1, 3]);
    nodes[2].parent = Some(nodes[1].id);
    nodes[1].open_children = 1;
    let path = graph(nodes.clone()).critical_path();
    assert_eq!(path, ids(&[3, 2, 4]));
    let (waves, stuck) = waves(nodes);
    assert_eq!(waves, [ids(&[3]), ids(&[2]), ids(&[4])]);
    assert_eq!(stuck, []);
}

#[test]
fn task_that_waits_for_own_container_is_stuck() {
    let mut nodes = pending(&[(1, &[]), (2, &[1])]);
    epic_of(&mut nodes, 0, &[1]);
    assert_eq!(waves(nodes), (Vec::new(), ids(&[2])));
}

#[test]
fn within_wave_most_urgent_comes_first() {
    let mut nodes = pending(&[(1, &[]), (2, &[]), (3, &[2]), (4, &[]), (5, &[])]);
    nodes[3].priority = Priority::Critical;
    nodes[4].status = Status::Active;
    let (waves, _) = waves(nodes);
    assert_eq!(waves, [ids(&[5, 4, 2, 1]), ids(&[3])]);
}

#[test]
fn tasks_that_touch_same_files_are_not_side_by_side() {
    type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a [u32]], &'a [(u32, u32)]);
    let rows: &[Row<'_>] = &[
        ("apart", &["a", "b", "c"], &[&[1, 2, 3]], &[]),
        (
            "the same",
            &["a", "a", "a"],
            &[&[1], &[2], &[3]],
            &[(2, 1), (3, 1)],
        ),
        (
            "a folder",
            &["src", "src/x.rs", "docs"],
            &[&[1, 3], &[2]],
            &[(2, 1)],
        ),
        (
            "globs",
            &["src/**/*.rs", "docs/*.md", "src/x*"],
            &[&[1, 2], &[3]],
            &[(3, 1)],
        ),
        ("nothing said", &["a", "", "a"], &[&[1, 2], &[3]], &[(3, 1)]),
    ];
    for (name, files, expected, conflicts) in rows {
        let files: Map<TaskId, Vec<String>> = (1..)
            .zip(files.iter())
            .map(|(id, file)| {
                let file = Some(file.to_string()).filter(|file| !file.is_empty());
                (TaskId(id), file.into_iter().collect())
            })
            .collect();
        let nodes = pending(&[(1, &[]), (2, &[]), (3, &[])]);
        let found = graph(nodes).waves(|id| files[&id].as_slice());
        let expected: Vec<_> = expected.iter().map(|wave| ids(wave)).collect();
        assert_eq!(found.waves, expected, "{name}");
        let pairs = found
            .conflicts
            .iter()
            .map(|one| (one.task.0, one.conflicts_with.0));
        assert_eq!(pairs.collect::<Vec<_>>(), *conflicts, "{name}");
    }
}

/// The plain rule: in each wave everybody who is free is compared with all who are in it already.
fn plain_waves(graph: &TaskGraph, files: &Map<TaskId, Vec<String>>) -> Waves {
    let mut found = Waves::default();
    let mut conflicts = Map::new();
    let mut left: Vec<&Node> = graph.nodes.iter().collect();
    while !left.is_empty() {
        let is_open = |id: &TaskId| left.iter().any(|node| node.id == *id);
        let is_free = |node: &&&Node| !node.depends.iter().any(is_open);
        let mut free: Vec<&Node> = left.iter().filter(is_free).copied().collect();
        let chain = |node: &Node| longest(graph, node.id);
        free.sort_by_key(|node| (node.priority, std::cmp::Reverse(chain(node)), node.id));
        let (mut wave, mut occupied) = (Vec::new(), Occupied::default());
        for node in free {
            let own = patterns(&files[&node.id]);
            match occupied.conflict(&own) {
                None => {
                    occupied.occupy(node.id.0, own);
                    wave.push(node.id);
                }
                Some(taken) => {
                    let named = taken.texts.iter().map(|at| files[&node.id][*at].clone());
                    let conflict = Conflict {
                        task: node.id,
                        conflicts_with: TaskId(taken.owner),
                        files: named.collect(),
                    };
                    conflicts.entry(node.id).or_insert(conflict);
                }
            }
        }
        left.retain(|node| !wave.contains(&node.id));
        found.waves.push(wave);
    }
    found.conflicts = conflicts.into_values().collect();
    found.conflicts.sort_by_key(|one| one.task);
    found
}

fn longest(graph: &TaskGraph, id: TaskId) -> usize {
    let waiting = graph.nodes.iter().filter(|node| node.depends.contains(&id));
    let longest = waiting.map(|node| 1 + longest(graph, node.id)).max();
    longest.unwrap_or(0)
}

proptest! {
    #![proptest_config(crate::tests::cases(100))]

    #[test]
    fn waves_are_those_of_plain_rule(
        tasks in prop::collection::vec(
            (
                prop::collection::vec(
                    prop::sample::select(&["a", "b", "a/x.rs", "a/y.rs", "b/x.rs", "**", "**/x.rs",
                        "*/y.rs", "a/*", "{a,b}/z", "c", "c/d/e.rs", "", "shared.txt"][..]),
                    0..4,
                ),
                0..4_usize,
                prop::collection::vec(any::<prop::sample::Index>(), 0..2),
            ),
            1..24,
        ),
    ) {
        let mut nodes = Vec::new();
        let mut files = Map::new();
        for (at, (own, priority, depends)) in tasks.iter().enumerate() {
            let id = at as u32 + 1;
            let before = depends.iter().filter(|_| at > 0).map(|one| one.index(at) as u32 + 1);
            let mut node = node(id, Status::Pending, &before.collect::<Vec<_>>());
            node.depends.sort();
            node.depends.dedup();
            node.priority = Priority::ALL[*priority];
            files.insert(node.id, own.iter().map(|file| file.to_string()).collect::<Vec<_>>());
            nodes.push(node);
        }
        let graph = graph(nodes);
        let found = graph.waves(|id| files[&id].as_slice());
        prop_assert_eq!(found, plain_waves(&graph, &files));
    }
}

#[test]
fn many_tasks_that_share_file_are_compared_in_full() {
    let nodes: Vec<Node> = (1..=20_000)
        .map(|id| node(id, Status::Pending, &[]))
        .collect();
    let shared = ["CHANGELOG.md".to_string(), "src/lib.rs".to_string()];
    let own: Vec<[String; 2]> = (0..=20_000)
        .map(|id| ["CHANGELOG.md".to_string(), format!("src/{id}.rs")])
        .collect();
    for is_same in [true, false] {
        let graph = graph(nodes.clone());
        let found = graph.waves(|id| match (id.0 % 2, is_same) {
            (0, true) => &shared,
            (0, false) => &own[id.0 as usize],
            _ => &[],
        });
        assert_eq!((found.waves.len(), found.conflicts.len()), (10_000, 9_999));
        assert_eq!(found.waves[9_999], ids(&[20_000]));
        let last = &found.conflicts[9_998];
        assert_eq!(
            (last.task, last.conflicts_with),
            (TaskId(20_000), TaskId(2))
        );
        assert_eq!(last.files, if is_same { &shared[..] } else { &shared[..1] });
    }
}

#[test]
fn task_that_comes_later_holds_up_what_waits_for_it() {
    let nodes = pending(&[(1, &[]), (2, &[]), (3, &[2])]);
    let file = ["a".to_string()];
    let found = graph(nodes).waves(|id| if id.0 == 3 { &[] } else { &file });
    // More waits for T2, so T1 comes later.
    assert_eq!(found.waves, [ids(&[2]), ids(&[1, 3])]);
    assert_eq!(found.conflicts[0].files, ["a"]);
}

#[test]
fn critical_path_is_longest_chain_of_open_tasks() {
    for (rows, done, expected) in [
        (&[(1, &[][..])][..], 0, &[1][..]),
        (&[(1, &[]), (2, &[1]), (3, &[1]), (4, &[3])], 0, &[1, 3, 4]),
        (&[(1, &[]), (2, &[1]), (3, &[1]), (4, &[3])], 1, &[3, 4]),
        (&[(1, &[]), (2, &[]), (3, &[1]), (4, &[2])], 0, &[1, 3]),
        (&[(1, &[2]), (2, &[1]), (3, &[])], 0, &[3]),
        (&[], 0, &[]),
    ] {
        let mut nodes = pending(rows);
        for node in nodes.iter_mut().filter(|node| node.id.0 == done) {
            node.status = Status::Done;
        }
        assert_eq!(graph(nodes).critical_path(), ids(expected), "{rows:?}");
    }
}

#[test]
fn bottlenecks_have_the_most_dependents() {
    let mut nodes = pending(&[
        (1, &[]),
        (2, &[1]),
        (3, &[1, 2]),
        (4, &[3]),
        (5, &[]),
        (6, &[5, 1]),
    ]);
    nodes.extend((100..3_000).map(|id| node(id, Status::Pending, &[5])));
    let told: Vec<_> = graph(nodes.clone())
        .bottlenecks(3)
        .into_iter()
        .map(|one| (one.id.0, one.direct, one.all))
        .collect();
    assert_eq!(told, [(5, 2_900, 2_901), (1, 1, 4), (2, 0, 2)]);
    nodes.truncate(6);
    let mut epic = node(9, Status::Pending, &[]);
    epic.is_epic = true;
    epic.open_children = 1;
    nodes[3].parent = Some(epic.id);
    nodes.extend([epic, node(10, Status::Pending, &[9])]);
    let last = |nodes: &[Node]| {
        let found = graph(nodes.to_vec()).bottlenecks(9).into_iter();
        let mut last = found.filter(|one| one.id.0 == 4);
        last.next().map(|one| (one.direct, one.all))
    };
    assert_eq!(last(&nodes), Some((0, 1)), "somebody completes the epic");
    nodes[6].is_epic = false;
    assert_eq!(last(&nodes), Some((1, 2)), "its parent can be worked on");
}

#[test]
fn problems_are_told_in_full_with_what_mends_them() {
    let mut nodes = pending(&[
        (1, &[2]),
        (2, &[1]),
        (3, &[4]),
        (4, &[]),
        (5, &[]),
        (6, &[7]),
        (7, &[]),
    ]);
    nodes[3].status = Status::Cancelled;
    let missing = |name: &str| Missing {
        name: name.into(),
        circular: false,
    };
    nodes[4].missing = vec![missing("bd-1"), missing("it's $(odd)")];
    nodes[6].is_epic = true;
    nodes.push(node(8, Status::Done, &[4]));
    let told: Vec<_> = graph(nodes)
        .problems()
        .into_iter()
        .map(|one| {
            format!(
                "{:?} {} | {} | {}",
                one.kind,
                crate::id::list(&one.tasks),
                one.message,
                one.fix
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "Cycle T1, T2 | tasks wait for each other in a circle: T1 → T2 → T1 | cleo update T1 --remove-depends T2",
            "Cancelled T3, T4 | T3 depends on T4, which is cancelled | cleo update T3 --remove-depends T4",
            "Missing T5 | T5 depends on bd-1, which is not here | cleo update T5 --remove-depends bd-1",
            "Missing T5 | T5 depends on it's $(odd), which is not here | cleo update T5 --remove-depends 'it'\\''s $(odd)'",
            "EmptyEpic T6, T7 | T6 depends on the epic T7, in which nothing is left to do | cleo complete T7",
        ]
    );
}

#[test]
fn circle_through_parts_and_wholes_is_found_too() {
    let mut nodes = pending(&[(1, &[]), (2, &[3]), (3, &[1])]);
    nodes[1].parent = Some(TaskId(1));
    nodes[0].open_children = 1;
    let found = graph(nodes).problems();
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].message,
        "tasks wait for each other in a circle: T1 → T2 → T3 → T1"
    );
    assert_eq!(found[0].fix, "cleo update T2 --remove-depends T3");
}

#[test]
fn what_is_open_outside_is_told_apart_from_problems() {
    let outside = pending(&[(9, &[])]);
    let graph = TaskGraph::new(pending(&[(1, &[9])]), outside);
    assert_eq!(graph.problems(), []);
    assert_eq!(graph.waiting_outside(), [(TaskId(1), task_ids(&[9]))]);
    assert_eq!(graph.waves(|_| &[]).stuck, task_ids(&[1]));
}

fn task_ids(ids: &[u32]) -> Vec<TaskId> {
    ids.iter().map(|id| TaskId(*id)).collect()
}

fn circle_of(rows: &[(u32, &[u32])]) -> Option<Vec<TaskId>> {
    let edges: HashMap<TaskId, Vec<TaskId>> = rows
        .iter()
        .map(|(id, needs)| (TaskId(*id), task_ids(needs)))
        .collect();
    let next = |id| Ok::<_, Infallible>(edges.get(&id).cloned().unwrap_or_default());
    let Ok(way) = circle(rows.iter().map(|(id, _)| TaskId(*id)), next);
    way
}

#[test]
fn circle_is_found_and_named() {
    assert_eq!(
        circle_of(&[(1, &[2, 3]), (2, &[4]), (3, &[4]), (4, &[])]),
        None
    );
    assert_eq!(
        circle_of(&[(1, &[2]), (2, &[3]), (3, &[2])]),
        Some(task_ids(&[2, 3, 2]))
    );
    assert_eq!(circle_of(&[(1, &[1])]), Some(task_ids(&[1, 1])));
    assert_eq!(circle_of(&[(1, &[9])]), None);
    let chain: Vec<(u32, Vec<u32>)> = (1..50_000).map(|id| (id, vec![id + 1])).collect();
    let rows: Vec<(u32, &[u32])> = chain
        .iter()
        .map(|(id, needs)| (*id, needs.as_slice()))
        .collect();
    assert_eq!(circle_of(&rows), None);
}
