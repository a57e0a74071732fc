//! What is remembered of tasks between two looks changes nothing of what is shown.

use crate::id::TaskId;
use crate::ops::work::{self, Choice, Dir, GraphWanted, Memory, Order, RowsWanted};
use crate::store::sqlite::SqliteAgency;
use serde_json::{Value, json};

use super::open;
use super::world::{TestWorkspace, played};

/// Reads what people see of the tasks: rows of all and of an epic, some tasks, the graph but for the
/// places in it, which stay where they were.
fn seen(workspace: &TestWorkspace, memory: &mut Memory) -> Value {
    let mut context = open(workspace.root());
    let mut agency = SqliteAgency::open(&context.workspace.agency()).unwrap();
    let mut rows = |epic: Option<u32>, order, dir, offset| {
        let choice = Choice {
            order,
            dir,
            ..Choice::default()
        };
        let wanted = RowsWanted {
            epic: epic.map(TaskId),
            choice,
            limit: 3,
            offset,
        };
        let shown = work::rows(&mut context, agency.as_mut(), memory, None, &wanted);
        json!(shown.map_err(|error| error.message))
    };
    let rows = [
        rows(None, Order::Wave, Dir::Asc, 0),
        rows(None, Order::Wave, Dir::Asc, 3),
        rows(Some(1), Order::Title, Dir::Desc, 0),
        rows(None, Order::State, Dir::Asc, 0),
    ];
    let pages = [2, 3, 4, 6].map(|id| {
        let shown = work::page(&mut context, agency.as_mut(), memory, None, TaskId(id));
        json!(shown.map_err(|error| error.message))
    });
    let wanted = GraphWanted {
        epic: Some(TaskId(1)),
        ..GraphWanted::default()
    };
    let shown = work::graph(&mut context, agency.as_mut(), memory, None, &wanted);
    let graph = json!(shown.map_err(|error| error.message));
    let graph =
        ["counts", "criticalPath", "groups", "problems"].map(|part| graph["Ok"][part].clone());
    json!([rows, pages, graph])
}

#[test]
fn what_is_remembered_is_what_would_be_read_anew() {
    let workspace = TestWorkspace::planned();
    let mut memory = Memory::default();
    let mut same = |what: &str| {
        for _ in 0..2 {
            let (known, anew) = (
                seen(&workspace, &mut memory),
                seen(&workspace, &mut Memory::default()),
            );
            assert_eq!(known, anew, "after {what}");
        }
    };
    same("nothing");
    for command in [
        "add 'Write it up' --parent T1 --depends T4",
        "start T2",
        "verify T2 --gate implemented --note half",
        "release T2",
        "spawn T2",
        "complete T2 --force",
        "claim T3",
        "update T4 --title 'Aaa' --priority critical",
        "update T6 --remove-depends T4",
        "cancel T5",
        "undo",
        "delete T6",
        "undo",
        "reopen T2",
    ] {
        workspace.ok(command);
        same(command);
    }
    for how in ["lies", "works"] {
        workspace.finish(workspace.command(&played("T2", how)), "");
        same(how);
    }
}

#[test]
fn a_page_of_many_tasks_goes_on_where_the_one_before_ended() {
    let workspace = TestWorkspace::new();
    let lines: Vec<String> = (0..250)
        .map(|number| {
            let priority = ["low", "high"][number % 2];
            json!({"title": format!("Do thing {number}"), "priority": priority}).to_string()
        })
        .collect();
    workspace.json_with(&["add", "--batch", "-"], &lines.join("\n"));
    let (mut context, mut memory) = (open(workspace.root()), Memory::default());
    let mut all = |order, dir| {
        let mut ids = Vec::new();
        for offset in (0..250).step_by(60) {
            let choice = Choice {
                order,
                dir,
                ..Choice::default()
            };
            let wanted = RowsWanted {
                choice,
                limit: 60,
                offset,
                ..RowsWanted::default()
            };
            let shown = work::rows(&mut context, None, &mut memory, None, &wanted).unwrap();
            assert_eq!((shown.total, shown.counts.total), (250, 250));
            ids.extend(shown.rows.into_iter().map(|row| row.id.0));
        }
        ids
    };
    let (up, down) = (
        all(Order::Priority, Dir::Asc),
        all(Order::Priority, Dir::Desc),
    );
    let mut reversed = down.clone();
    reversed.reverse();
    assert_eq!(up, reversed);
    let mut sorted = up;
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=250).collect::<Vec<u32>>());
}
