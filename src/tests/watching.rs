//! Views of tasks and runs: the graph, rows, one task, a run with its attempts.

use crate::ops::api;
use crate::ops::operation::Operation;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::world::{TestWorkspace, assert_fields, column, play_command, says};
use super::{answer, open};

/// Reads the graph of an epic, or of all.
fn graph(workspace: &TestWorkspace, epic: Option<&str>) -> Value {
    ask(workspace, &api::GRAPH, json!({"epic": epic}))
}

fn ask<Request: DeserializeOwned, Reply: Serialize>(
    workspace: &TestWorkspace,
    operation: &Operation<Request, Reply>,
    request: Value,
) -> Value {
    let mut context = open(workspace.root());
    let home = workspace.root().with_file_name("home");
    context.surroundings.data_home = Some(home.join(".local/share"));
    answer(&mut context, operation, request).unwrap()
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
    let reply = workspace.finish(workspace.command(&play_command(what, how)), "");
    let told = super::world::document(&reply);
    told["result"]["run"]["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{told}"))
        .to_string()
}

#[test]
fn graph_shows_states_and_edges() {
    let workspace = TestWorkspace::with_plan();
    let shown = graph(&workspace, Some("T1"));
    assert_eq!(
        states(&shown),
        "T2 ready, T3 waiting, T4 waiting, T5 waiting"
    );
    assert_eq!(shown["counts"]["total"], 4);
    assert_fields(&shown["counts"], json!({"ready": 1, "waiting": 3}));
    let waves: Vec<_> = ["T2", "T3", "T4", "T5"]
        .map(|id| node(&shown, id)["wave"].clone())
        .into();
    assert_eq!(waves, [0, 1, 2, 1]);
    assert_eq!(shown["criticalPath"]["tasks"], json!(["T2", "T3", "T4"]));
    let kinds = column(&shown["edges"], "kind");
    assert_eq!(kinds, ["unmet", "critical", "critical"]);
    assert_eq!(shown["epic"]["id"], "T1");
    assert_eq!(node(&shown, "T4")["waitsFor"], json!(["T3"]));
}

#[test]
fn only_tasks_that_cleo_verified_are_green() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("complete T2");
    let shown = graph(&workspace, Some("T1"));
    assert_eq!(node(&shown, "T2")["state"], "done");
    assert_eq!(
        (
            &node(&shown, "T2")["verified"],
            &shown["counts"]["verified"]
        ),
        (&json!(false), &json!(0))
    );
    play(&workspace, "T3", "works");
    let shown = graph(&workspace, Some("T1"));
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
fn failed_task_shows_its_reason_until_done() {
    let workspace = TestWorkspace::with_plan();
    let mut context = open(workspace.root());
    let mut graph = || answer(&mut context, &api::GRAPH, json!({"epic": "T1"})).unwrap();
    play(&workspace, "T2", "lies");
    let shown = graph();
    assert_eq!(node(&shown, "T2")["state"], "failed");
    assert!(
        node(&shown, "T2")["note"]
            .as_str()
            .unwrap()
            .contains("manifest"),
        "{shown}"
    );
    play(&workspace, "T2", "works");
    assert_eq!(node(&graph(), "T2")["state"], "done");
}

#[test]
fn failed_task_is_not_counted_as_ready() {
    let workspace = TestWorkspace::with_plan();
    play(&workspace, "T2", "lies");
    let shown = graph(&workspace, Some("T1"));
    assert_fields(&shown["counts"], json!({"failed": 1}));
    assert_eq!(shown["counts"]["ready"], 0);
    for (state, ids) in [("ready", vec![]), ("failed", vec!["T2"])] {
        let shown = ask(
            &workspace,
            &api::ROWS,
            json!({"state": [state], "limit": 10}),
        );
        let rows = shown["rows"].as_array().unwrap().iter();
        assert_eq!(
            Vec::from_iter(rows.map(|row| row["id"].as_str().unwrap())),
            ids
        );
    }
    // It can start, so the command line lists it.
    let ready = workspace.ask("orchestrator ready --epic T1");
    assert_eq!(ready["result"]["total"], 1);
}

#[test]
fn epic_without_tasks_counts_as_no_task() {
    let workspace = TestWorkspace::with_plan();
    let before = graph(&workspace, None);
    workspace.ok("add 'Some day' --type epic");
    let after = graph(&workspace, None);
    for part in ["counts", "lanes", "nodes"] {
        assert_eq!(before[part], after[part], "{part}");
    }
    let groups = after["groups"].as_array().unwrap();
    let totals: Vec<&Value> = groups.iter().map(|group| &group["total"]).collect();
    assert_eq!(totals, [4, 0]);
}

#[test]
fn graph_layout_is_stable_during_work() {
    let workspace = TestWorkspace::with_plan();
    let mut context = open(workspace.root());
    let mut graph = || answer(&mut context, &api::GRAPH, json!({})).unwrap();
    let before = graph();
    workspace.ok("add 'Something new'");
    workspace.ok("start T2");
    let after = graph();
    for id in ["T2", "T3", "T4", "T5"] {
        let place = |graph: &Value| (node(graph, id)["x"].clone(), node(graph, id)["y"].clone());
        assert_eq!(place(&before), place(&after), "{id}");
    }
    assert_ne!(before["version"], after["version"]);
    assert_eq!(node(&after, "T2")["state"], "running");
    assert_eq!(node(&after, "T2")["claim"]["epoch"], 1);
}

#[test]
fn rows_are_counted_filtered_sorted_and_cut() {
    let workspace = TestWorkspace::with_plan();
    let rows = |request: Value| {
        let shown = ask(&workspace, &api::ROWS, request);
        let rows = shown["rows"].as_array().unwrap().iter();
        let ids: Vec<&str> = rows.map(|row| row["id"].as_str().unwrap()).collect();
        (ids.join(" "), shown["total"].as_u64().unwrap())
    };
    let all = json!({"limit": 10});
    assert_eq!(rows(all), ("T2 T3 T5 T4".into(), 4));
    let waiting = json!({"state": ["waiting"], "limit": 10});
    assert_eq!(rows(waiting), ("T3 T5 T4".into(), 3));
    let second = json!({"sort": "id", "limit": 1, "offset": 1});
    assert_eq!(rows(second), ("T3".into(), 4));
    assert_eq!(rows(json!({"q": "t4", "limit": 10})), ("T4".into(), 1));
}

#[test]
fn task_shows_attempts_and_last_refusal() {
    let workspace = TestWorkspace::with_plan();
    play(&workspace, "T2", "lies");
    let page = ask(&workspace, &api::TASK, json!({"id": "T2"}));
    assert_fields(&page, json!({"state": "failed", "wave": 0}));
    let attempts = page["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0]["hasLog"], true);
    assert_fields(
        &attempts[0],
        json!({"said": "Task complete. See MANIFEST.jsonl for summary.", "exitCode": 0}),
    );
    assert_eq!(page["refused"]["attempt"], 2);
    assert!(!page["refused"]["violations"].as_array().unwrap().is_empty());
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
fn run_shows_attempts_and_waiting_times() {
    let workspace = TestWorkspace::with_plan();
    let id = play(&workspace, "--epic T1", "lies-once");
    let shown = ask(&workspace, &api::RUN, json!({"id": id}));
    assert_eq!(
        shown["run"]["steps"],
        json!({"total": 4, "waiting": 0, "running": 0, "verifying": 0, "done": 4, "failed": 0, "cancelled": 0, "skipped": 0, "open": 0})
    );
    assert_eq!(shown["run"]["bar"], json!(["done", "done", "done", "done"]));
    let tasks = shown["tasks"].as_array().unwrap();
    let order: Vec<_> = tasks
        .iter()
        .filter(|task| task["isEpic"] == false)
        .map(|task| task["taskId"].clone())
        .collect();
    assert_eq!(order, ["T2", "T3", "T5", "T4"]);
    let first = &tasks.iter().find(|task| task["taskId"] == "T2").unwrap()["history"];
    assert_eq!(
        (&first[0]["state"], &first[1]["state"]),
        (&json!("failed"), &json!("done"))
    );
    let rows = ask(&workspace, &api::RUNS, json!({"limit": 5}));
    assert_eq!(
        (&rows["total"], &rows["runs"][0]["id"]),
        (&json!(1), &json!(id))
    );
}

#[test]
fn title_of_run_over_wave_names_epic_and_wave() {
    let workspace = TestWorkspace::with_plan();
    let id = play(&workspace, "--epic T1 --wave 0", "works");
    let shown = ask(&workspace, &api::RUN, json!({"id": id}));
    assert_eq!(shown["run"]["title"], "T1, wave 0: 1 task");
}

#[test]
fn runs_of_other_users_are_hidden() {
    let workspace = TestWorkspace::with_plan();
    let id = play(&workspace, "T2", "works");
    let mut context = open(workspace.root());
    context.surroundings.rights.user = Some("other".into());
    let run = json!({"id": id});
    let page = json!({"id": id, "limit": 10});
    let attempt = json!({"id": id, "task": "T2", "attempt": 1});
    for answer in [
        answer(&mut context, &api::RUN, run.clone()),
        answer(&mut context, &api::RUN_EVENTS, page.clone()),
        answer(&mut context, &api::RUN_LOG, page.clone()),
        answer(&mut context, &api::RUN_PROMPT, attempt),
        answer(
            &mut context,
            &api::RUN_PROOF,
            json!({"id": id, "task": "T2"}),
        ),
    ] {
        assert_eq!(answer.unwrap_err().code.name(), "E_RUN_NOT_FOUND");
    }
    let page = crate::ops::work::runs::export::html(&mut context, &id);
    assert_eq!(page.unwrap_err().code.name(), "E_RUN_NOT_FOUND");
    let rows = answer(&mut context, &api::RUNS, json!({"limit": 5})).unwrap();
    let counted = (&rows["total"], &rows["summary"]["today"], &rows["runs"]);
    assert_eq!(counted, (&json!(0), &json!(0), &json!([])));
}

#[test]
fn log_pages_keep_line_numbers() {
    let workspace = TestWorkspace::with_plan();
    let id = play(&workspace, "T2", "lies");
    let read = |from: i64, limit: u32, words: &str| {
        let request =
            json!({"id": id, "task": "T2", "attempt": 1, "from": from, "limit": limit, "q": words});
        ask(&workspace, &api::RUN_LOG, request)
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
fn proof_shows_claims_beside_findings() {
    let workspace = TestWorkspace::with_plan();
    let id = play(&workspace, "T2", "lies");
    let shown = ask(&workspace, &api::RUN_PROOF, json!({"id": id, "task": "T2"}));
    assert_eq!(shown["said"]["exitCode"], 0);
    let found = shown["found"].as_array().unwrap();
    assert_fields(&found[0], json!({"check": "output file", "ok": false}));
    assert_fields(&found[1], json!({"check": "manifest entry", "ok": false}));
    says(&shown["verdict"], "Refused: ");
    let first = json!({"id": id, "task": "T2", "attempt": 1});
    assert_eq!(
        ask(&workspace, &api::RUN_PROOF, first.clone())["next"],
        "attempt 2"
    );
    let prompt = ask(&workspace, &api::RUN_PROMPT, first);
    let text = prompt["text"].as_str().unwrap();
    assert!(text.contains("T2") && prompt["bytes"] == text.len());
}

#[test]
fn words_find_tasks_runs_and_agents() {
    let workspace = TestWorkspace::with_plan();
    let run = play(&workspace, "T2", "works");
    let find = |words: &str| {
        let found = ask(&workspace, &api::SEARCH, json!({"q": words, "limit": 50}));
        let items = found["items"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_string();
        items
            .map(|item| (text(&item["kind"]), text(&item["id"])))
            .collect::<Vec<_>>()
    };
    assert_eq!(find("#T4")[0], ("task".into(), "T4".into()));
    assert_eq!(find("toby"), [("agent".into(), "toby-technical".into())]);
    assert!(find(&run).contains(&("run".into(), run.clone())));
    assert!(!find("").is_empty());
    assert_eq!(find("nothing like this at all"), []);
}
