//! What people who watch tasks and runs are told: the graph, rows, one task, a run with its tries.

use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::runs::{listing, pages, proof, timeline};
use crate::ops::work::{self, Choice, GraphWanted, Memory, Order, RowsWanted, Sought};
use crate::store::sqlite::SqliteAgency;
use crate::task::State;
use serde_json::{Value, json};

use super::open;
use super::world::{TestWorkspace, played};

/// Reads the graph of an epic, or of all.
fn graph(workspace: &TestWorkspace, memory: &mut Memory, epic: Option<u32>) -> Value {
    let wanted = GraphWanted {
        epic: epic.map(TaskId),
        ..GraphWanted::default()
    };
    let (mut context, mut agency) = opened(workspace);
    json!(work::graph(&mut context, agency.as_mut(), memory, None, &wanted).unwrap())
}

fn opened(workspace: &TestWorkspace) -> (Context, Option<SqliteAgency>) {
    let context = open(workspace.root());
    let agency = SqliteAgency::open(&context.workspace.agency()).unwrap();
    (context, agency)
}

fn node<'a>(graph: &'a Value, id: &str) -> &'a Value {
    let nodes = graph["nodes"].as_array().unwrap();
    nodes
        .iter()
        .find(|node| node["id"] == id)
        .unwrap_or_else(|| panic!("{id} in {graph}"))
}

/// Returns where each task of a graph stands.
fn states(graph: &Value) -> String {
    let nodes = graph["nodes"].as_array().unwrap().iter();
    let one = |node: &Value| {
        [
            node["id"].as_str().unwrap(),
            node["state"].as_str().unwrap(),
        ]
        .join(" ")
    };
    nodes.map(one).collect::<Vec<_>>().join(", ")
}

/// Has agents play, whatever comes of it.
fn play(workspace: &TestWorkspace, what: &str, how: &str) -> String {
    let reply = workspace.finish(workspace.command(&played(what, how)), "");
    let told = super::world::document(&reply);
    told["result"]["run"]["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{told}"))
        .to_string()
}

#[test]
fn a_graph_tells_where_each_task_stands_and_how_they_are_tied() {
    let workspace = TestWorkspace::planned();
    let shown = graph(&workspace, &mut Memory::default(), Some(1));
    assert_eq!(
        states(&shown),
        "T2 ready, T3 waiting, T4 waiting, T5 waiting"
    );
    assert_eq!(shown["counts"]["total"], 4);
    assert_eq!(
        (&shown["counts"]["ready"], &shown["counts"]["waiting"]),
        (&json!(1), &json!(3))
    );
    let waves: Vec<_> = ["T2", "T3", "T4", "T5"]
        .map(|id| node(&shown, id)["wave"].clone())
        .into();
    assert_eq!(waves, [1, 2, 3, 2]);
    assert_eq!(shown["criticalPath"]["tasks"], json!(["T2", "T3", "T4"]));
    let edges = shown["edges"].as_array().unwrap();
    let kinds: Vec<&str> = edges
        .iter()
        .map(|edge| edge["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["unmet", "critical", "critical"]);
    assert_eq!(shown["focus"], json!({"lane": "w1", "node": "T2"}));
    assert_eq!(shown["epic"]["id"], "T1");
    assert_eq!(node(&shown, "T4")["waitsFor"], json!(["T3"]));
}

#[test]
fn green_is_only_what_cleo_itself_looked_at() {
    let workspace = TestWorkspace::planned();
    workspace.ok("complete T2");
    let shown = graph(&workspace, &mut Memory::default(), Some(1));
    assert_eq!(node(&shown, "T2")["state"], "done");
    assert_eq!(
        (
            &node(&shown, "T2")["verified"],
            &shown["counts"]["verified"]
        ),
        (&json!(false), &json!(0))
    );
    play(&workspace, "T3", "works");
    let shown = graph(&workspace, &mut Memory::default(), Some(1));
    assert_eq!(
        (
            &node(&shown, "T3")["verified"],
            &shown["counts"]["verified"]
        ),
        (&json!(true), &json!(1))
    );
    assert_eq!(node(&shown, "T3")["runner"], "command");
}

#[test]
fn a_task_that_failed_in_a_run_says_why_until_it_is_done() {
    let workspace = TestWorkspace::planned();
    let mut memory = Memory::default();
    play(&workspace, "T2", "lies");
    let shown = graph(&workspace, &mut memory, Some(1));
    assert_eq!(node(&shown, "T2")["state"], "failed");
    assert!(
        node(&shown, "T2")["note"]
            .as_str()
            .unwrap()
            .contains("manifest"),
        "{shown}"
    );
    play(&workspace, "T2", "works");
    assert_eq!(
        node(&graph(&workspace, &mut memory, Some(1)), "T2")["state"],
        "done"
    );
}

#[test]
fn what_failed_and_is_open_again_is_ready_as_for_the_engine() {
    let workspace = TestWorkspace::planned();
    play(&workspace, "T2", "lies");
    let shown = graph(&workspace, &mut Memory::default(), Some(1));
    let counts = &shown["counts"];
    assert_eq!(
        (&counts["failed"], &counts["ready"]),
        (&json!(1), &json!(1))
    );
    let ready = workspace.json(&["orchestrator", "ready", "--epic", "T1"]);
    assert_eq!(ready["result"]["total"], counts["ready"]);
    let wanted = RowsWanted {
        choice: Choice {
            states: vec![State::Ready],
            ..Choice::default()
        },
        limit: 10,
        ..RowsWanted::default()
    };
    let (mut context, mut agency) = opened(&workspace);
    let memory = &mut Memory::default();
    let shown = work::rows(&mut context, agency.as_mut(), memory, None, &wanted).unwrap();
    assert!(shown.rows.iter().any(|row| row.id == TaskId(2)));
}

#[test]
fn an_epic_without_tasks_counts_as_no_task() {
    let workspace = TestWorkspace::planned();
    let before = graph(&workspace, &mut Memory::default(), None);
    workspace.ok("add 'Some day' --type epic");
    let after = graph(&workspace, &mut Memory::default(), None);
    for part in ["counts", "lanes", "nodes"] {
        assert_eq!(before[part], after[part], "{part}");
    }
    let groups = after["groups"].as_array().unwrap();
    let totals: Vec<&Value> = groups.iter().map(|group| &group["total"]).collect();
    assert_eq!(totals, [4, 0]);
}

#[test]
fn what_was_drawn_stays_where_it_is_while_work_goes_on() {
    let workspace = TestWorkspace::planned();
    let mut memory = Memory::default();
    let before = graph(&workspace, &mut memory, None);
    workspace.ok("add 'Something new'");
    workspace.ok("start T2");
    let after = graph(&workspace, &mut memory, None);
    for id in ["T2", "T3", "T4", "T5"] {
        let place = |graph: &Value| (node(graph, id)["x"].clone(), node(graph, id)["y"].clone());
        assert_eq!(place(&before), place(&after), "{id}");
    }
    assert_ne!(before["version"], after["version"]);
    assert_eq!(node(&after, "T2")["state"], "running");
    assert_eq!(node(&after, "T2")["claim"]["epoch"], 1);
}

#[test]
fn rows_are_counted_filtered_sorted_and_cut_here() {
    let workspace = TestWorkspace::planned();
    let rows = |wanted: RowsWanted| {
        let (mut context, mut agency) = opened(&workspace);
        let memory = &mut Memory::default();
        let shown = work::rows(&mut context, agency.as_mut(), memory, None, &wanted).unwrap();
        let ids: Vec<String> = shown.rows.iter().map(|row| row.id.to_string()).collect();
        (ids.join(" "), shown.total)
    };
    let all = RowsWanted {
        limit: 10,
        ..RowsWanted::default()
    };
    assert_eq!(rows(all.clone()), ("T2 T3 T5 T4".into(), 4));
    let waiting = RowsWanted {
        choice: Choice {
            states: vec![State::Waiting],
            ..Choice::default()
        },
        ..all.clone()
    };
    assert_eq!(rows(waiting), ("T3 T5 T4".into(), 3));
    let second = RowsWanted {
        choice: Choice {
            order: Order::Id,
            ..Choice::default()
        },
        limit: 1,
        offset: 1,
        ..all.clone()
    };
    assert_eq!(rows(second), ("T3".into(), 4));
    let named = RowsWanted {
        choice: Choice {
            words: "t4".into(),
            ..Choice::default()
        },
        ..all
    };
    assert_eq!(rows(named), ("T4".into(), 1));
}

#[test]
fn a_task_is_shown_with_its_tries_and_why_the_last_was_refused() {
    let workspace = TestWorkspace::planned();
    play(&workspace, "T2", "lies");
    let (mut context, mut agency) = opened(&workspace);
    let page = work::page(
        &mut context,
        agency.as_mut(),
        &mut Memory::default(),
        None,
        TaskId(2),
    );
    let page = json!(page.unwrap());
    assert_eq!(
        (&page["state"], &page["wave"]),
        (&json!("failed"), &json!(1))
    );
    let attempts = page["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2);
    assert_eq!(
        (&attempts[0]["said"], &attempts[0]["exitCode"]),
        (
            &json!("Task complete. See MANIFEST.jsonl for summary."),
            &json!(0)
        )
    );
    assert_eq!(page["refused"]["attempt"], 2);
    assert!(!page["refused"]["missing"].as_array().unwrap().is_empty());
    let dependents: Vec<_> = page["dependents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].clone())
        .collect();
    assert_eq!(dependents, ["T3", "T5"]);
    assert_eq!(page["gates"]["required"].as_array().unwrap().len(), 5);
    assert_eq!(page["position"], json!({"previous": null, "next": "T3"}));
    assert_eq!(page["spawns"].as_array().unwrap().len(), 1);
}

#[test]
fn a_run_is_watched_with_its_tries_its_load_and_what_it_waited_for() {
    let workspace = TestWorkspace::planned();
    let id = play(&workspace, "--epic T1", "lies-once");
    let (context, _) = opened(&workspace);
    let mut memory = Memory::default();
    let shown = timeline::watched(&context.surroundings, &mut memory, &id, None).unwrap();
    let shown = json!(shown);
    assert_eq!(
        shown["run"]["steps"],
        json!({"total": 4, "waiting": 0, "running": 0, "verifying": 0, "done": 4, "failed": 0, "skipped": 0, "cancelled": 0})
    );
    assert_eq!(shown["run"]["bar"], json!(["done", "done", "done", "done"]));
    assert_eq!(shown["reported"]["attempts"], 8);
    assert_eq!(shown["reported"]["failed"], 4);
    let tasks = shown["tasks"].as_array().unwrap();
    let order: Vec<_> = tasks
        .iter()
        .filter(|task| task["isEpic"] == false)
        .map(|task| task["taskId"].clone())
        .collect();
    assert_eq!(order, ["T2", "T3", "T5", "T4"]);
    let first = &tasks.iter().find(|task| task["taskId"] == "T2").unwrap()["attempts"];
    assert_eq!(
        (&first[0]["state"], &first[1]["state"]),
        (&json!("failed"), &json!("done"))
    );
    assert_eq!(first[1]["verification"]["passed"], true);
    assert_eq!(shown["running"].as_array().unwrap().last().unwrap()["n"], 0);
    let rows = listing::rows(
        &context.surroundings,
        &mut memory,
        &listing::Wanted {
            limit: 5,
            ..Default::default()
        },
    );
    let rows = rows.unwrap();
    assert_eq!((rows.total, rows.runs[0].id.as_str()), (1, id.as_str()));
    assert_eq!(rows.runs[0].runners, ["command"]);
}

#[test]
fn a_run_over_a_wave_is_named_after_its_epic() {
    let workspace = TestWorkspace::planned();
    let id = play(&workspace, "--epic T1 --wave 0", "works");
    let epic = workspace.json(&["show", "T1"])["result"]["task"]["title"].clone();
    let (context, _) = opened(&workspace);
    let memory = &mut Memory::default();
    let shown = timeline::watched(&context.surroundings, memory, &id, None).unwrap();
    let expected = format!("{}, wave 0", epic.as_str().unwrap());
    assert_eq!(shown.run.row.title, expected);
}

#[test]
fn runs_of_one_user_are_no_business_of_another() {
    let workspace = TestWorkspace::planned();
    let id = play(&workspace, "T2", "works");
    let (mut context, _) = opened(&workspace);
    let memory = &mut Memory::default();
    let stranger = Some("stranger");
    let surroundings = context.surroundings.clone();
    let code = |error: crate::error::Error| error.code.name();
    let wanted = pages::LogWanted {
        limit: 10,
        ..Default::default()
    };
    let refused = [
        timeline::watched(&surroundings, memory, &id, stranger).map(drop),
        pages::events(&surroundings, &id, stranger, None, 0, 10).map(drop),
        pages::log(&surroundings, memory, &id, stranger, &wanted).map(drop),
        pages::prompt(&surroundings, &id, stranger, TaskId(2), 1).map(drop),
        proof::proof(&mut context, memory, &id, stranger, TaskId(2), None).map(drop),
        crate::ops::runs::written::html(&surroundings, &id, stranger).map(drop),
    ];
    for (place, one) in refused.into_iter().enumerate() {
        assert_eq!(one.map_err(code), Err("E_RUN_NOT_FOUND"), "{place}");
    }
    let mine = listing::Wanted {
        user: Some("stranger".into()),
        limit: 5,
        ..Default::default()
    };
    let rows = listing::rows(&surroundings, memory, &mine).unwrap();
    assert_eq!((rows.total, rows.summary.today, rows.runs.len()), (0, 0, 0));
}

#[test]
fn a_log_is_read_in_parts_and_keeps_its_numbers() {
    let workspace = TestWorkspace::planned();
    let id = play(&workspace, "T2", "lies");
    let (context, _) = opened(&workspace);
    let read = |from: i64, limit: u32, words: &str| {
        let wanted = pages::LogWanted {
            task: Some(TaskId(2)),
            attempt: Some(1),
            from,
            limit,
            words: words.into(),
        };
        let memory = &mut Memory::default();
        json!(pages::log(&context.surroundings, memory, &id, None, &wanted).unwrap())
    };
    let whole = read(0, 100, "See MANIFEST");
    let lines = whole["lines"].as_array().unwrap();
    assert_eq!(whole["total"], lines.len());
    assert_eq!(lines[0]["ch"], "event");
    let said = lines.iter().find(|line| line["ch"] == "out").unwrap();
    assert_eq!(
        said["text"],
        "Task complete. See MANIFEST.jsonl for summary."
    );
    assert!(whole["matches"].as_array().unwrap().contains(&said["n"]));
    let last = read(-1, 10, "");
    assert_eq!(last["lines"], json!([lines.last().unwrap()]));
    assert_eq!(read(9_999, 10, "")["lines"], json!([]));
    assert_eq!(whole["following"], false);
}

#[test]
fn what_an_agent_says_and_what_cleo_finds_stand_side_by_side() {
    let workspace = TestWorkspace::planned();
    let id = play(&workspace, "T2", "lies");
    let (mut context, _) = opened(&workspace);
    let memory = &mut Memory::default();
    let shown = json!(proof::proof(&mut context, memory, &id, None, TaskId(2), None).unwrap());
    assert_eq!(shown["said"]["exitCode"], 0);
    let found = shown["found"].as_array().unwrap();
    assert_eq!(
        (&found[0]["check"], &found[0]["ok"]),
        (&json!("output file"), &json!(false))
    );
    assert_eq!(
        (&found[1]["check"], &found[1]["ok"]),
        (&json!("manifest entry"), &json!(false))
    );
    assert!(
        shown["verdict"].as_str().unwrap().starts_with("Refused: "),
        "{shown}"
    );
    let first = json!(proof::proof(&mut context, memory, &id, None, TaskId(2), Some(1)).unwrap());
    assert_eq!(first["next"], "try 2");
    let prompt = pages::prompt(&context.surroundings, &id, None, TaskId(2), 1).unwrap();
    assert!(prompt.text.contains("T2") && prompt.bytes == prompt.text.len());
}

#[test]
fn words_find_tasks_runs_and_agents() {
    let workspace = TestWorkspace::planned();
    let run = play(&workspace, "T2", "works");
    let (mut context, _) = opened(&workspace);
    let mut find = |words: &str| {
        let sought = Sought {
            words: words.into(),
            limit: 50,
            ..Sought::default()
        };
        let found = work::search(&mut context, None, &mut Memory::default(), &sought).unwrap();
        found
            .items
            .into_iter()
            .map(|item| (item.kind.to_string(), item.id))
            .collect::<Vec<_>>()
    };
    assert_eq!(find("#T4")[0], ("task".into(), "T4".into()));
    assert_eq!(find("toby"), [("agent".into(), "toby-technical".into())]);
    assert!(find(&run).contains(&("run".into(), run.clone())));
    assert!(!find("").is_empty());
    assert_eq!(find("nothing like this at all"), []);
}
