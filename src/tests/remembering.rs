//! The cache between two views of tasks does not change what is shown.

use std::collections::BTreeSet;

use crate::ops::{Context, api};
use serde_json::{Value, json};

use super::world::{TestWorkspace, play_command};
use super::{answer, open};

/// Reads what people see of the tasks: rows of all and of an epic, some tasks, the graph but for the
/// places in it, which stay where they were.
fn read_views(context: &mut Context) -> Value {
    macro_rules! ask {
        ($row:expr, $request:expr $(,)?) => {
            json!(answer(context, $row, $request).map_err(|error| error.message))
        };
    }
    let rows = [
        ask!(&api::ROWS, json!({"limit": 3})),
        ask!(&api::ROWS, json!({"limit": 3, "offset": 3})),
        ask!(
            &api::ROWS,
            json!({"epic": "T1", "sort": "title", "dir": "desc", "limit": 3}),
        ),
        ask!(&api::ROWS, json!({"sort": "displayStatus", "limit": 3})),
    ];
    let pages = ["T2", "T3", "T4", "T6"].map(|id| ask!(&api::TASK, json!({"id": id})));
    let graph = ask!(&api::GRAPH, json!({"epic": "T1"}));
    let graph =
        ["counts", "criticalPath", "groups", "problems"].map(|part| graph["Ok"][part].clone());
    json!([rows, pages, graph])
}

#[test]
fn what_is_remembered_is_what_would_be_read_anew() {
    let workspace = TestWorkspace::with_plan();
    let mut known = open(workspace.root());
    let mut same = |what: &str| {
        let anew = read_views(&mut open(workspace.root()));
        for _ in 0..2 {
            assert_eq!(read_views(&mut known), anew, "after {what}");
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
        workspace.finish(workspace.command(&play_command("T2", how)), "");
        same(how);
    }
}

#[test]
fn page_of_many_tasks_continues_where_one_before_ended() {
    let workspace = TestWorkspace::new();
    let lines: Vec<String> = (0..250)
        .map(|number| {
            let priority = ["low", "high"][number % 2];
            json!({"title": format!("Do thing {number}"), "priority": priority}).to_string()
        })
        .collect();
    workspace.json_with(&["add", "--batch", "-"], &lines.join("\n"));
    let mut context = open(workspace.root());
    let mut all = |dir: &str| {
        let mut ids = Vec::new();
        for offset in (0..250).step_by(60) {
            let request = json!({"sort": "priority", "dir": dir, "limit": 60, "offset": offset});
            let shown = answer(&mut context, &api::ROWS, request).unwrap();
            let totals = (&shown["total"], &shown["counts"]["total"]);
            assert_eq!(totals, (&json!(250), &json!(250)));
            let rows = shown["rows"].as_array().unwrap().iter();
            ids.extend(rows.map(|row| row["id"].as_str().unwrap().to_string()));
        }
        ids
    };
    let (up, down) = (all("asc"), all("desc"));
    let mut reversed = down.clone();
    reversed.reverse();
    assert_eq!(up, reversed);
    let ids: BTreeSet<String> = up.into_iter().collect();
    assert_eq!(ids.len(), 250);
}
