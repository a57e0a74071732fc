//! Names of outputs and entries: one of its own for every task and every attempt.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{TestWorkspace, add, assert_fields, says, spawn};

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");
const MANIFEST: &str = "claudedocs/agent-outputs/MANIFEST.jsonl";

fn names(workspace: &TestWorkspace, arguments: &[&str]) -> (String, String) {
    let result = spawn(workspace, arguments);
    let text = |name: &str| result[name].as_str().unwrap().to_string();
    (text("outputFile"), text("manifestId"))
}

fn name_output(slug: &str, id: &str) -> (String, String) {
    let file = format!("claudedocs/agent-outputs/2026-01-26_{slug}.md");
    (file, format!("{id}-2026-01-26"))
}

#[test]
fn new_attempt_gets_new_id_if_manifest_has_old() {
    let workspace = TestWorkspace::new();
    add(&workspace, &[json!({"title": "Look around"})]);
    assert_eq!(
        names(&workspace, &["T1"]),
        name_output("look-around", "look-around")
    );
    assert_eq!(
        names(&workspace, &["T1"]),
        name_output("look-around", "look-around")
    );
    // A faulty line holds its id anyway: the next entry must not meet it.
    for (line, attempt) in [
        (r#"{"id":"look-around-2026-01-26"}"#, 2),
        (r#"{"id":"look-around-2026-01-26-2","file":"x.md","#, 3),
        (r#"{"id":"look-around-2026-01-26-3","title":"x"}"#, 4),
        (r#"{"id":"look-around-2026-01-27"}"#, 4),
    ] {
        let manifest = std::fs::read_to_string(workspace.path(MANIFEST)).unwrap_or_default();
        workspace.write(MANIFEST, format!("{manifest}{line}\n"));
        let expected = format!("look-around-2026-01-26-{attempt}");
        assert_eq!(names(&workspace, &["T1"]).1, expected);
    }
    assert_eq!(
        names(&workspace, &["T1"]).0,
        name_output("look-around", "").0
    );
}

#[test]
fn tasks_with_one_title_get_files_of_own() {
    let workspace = TestWorkspace::new();
    let long = "word ".repeat(20);
    let titles = [
        "Look!", "look", "Look T2", "LOOK", "Look T4", &long, &long, "日本", "日本",
    ];
    add(&workspace, &titles.map(|title| json!({"title": title})));
    let spawned = |id: &str| names(&workspace, &[id]);
    assert_eq!(spawned("T1"), name_output("look", "look"));
    assert_eq!(spawned("T3"), name_output("look-t2", "look-t2"));
    let mut all = vec![spawned("T1"), spawned("T3")];
    all.extend(["T2", "T4", "T5", "T6", "T7", "T8", "T9"].map(spawned));
    for (at, (file, id)) in all.iter().enumerate() {
        assert!(
            all[..at]
                .iter()
                .all(|other| other.0 != *file && other.1 != *id),
            "{all:?}"
        );
        let slug = file
            .strip_prefix("claudedocs/agent-outputs/2026-01-26_")
            .unwrap();
        assert!(slug.len() <= 60 + ".md".len(), "{slug}");
    }
    assert_eq!(spawned("T2"), all[2], "what a task was given, it keeps");
    assert_eq!(all[7], name_output("task-t8", "task-t8"));
}

#[test]
fn date_can_be_given_and_must_be_real() {
    let workspace = TestWorkspace::new();
    add(&workspace, &[json!({"title": "Look"})]);
    let result = spawn(&workspace, &["T1", "--date", "2024-02-29"]);
    assert_eq!(
        result["outputFile"],
        "claudedocs/agent-outputs/2024-02-29_look.md"
    );
    assert_eq!(result["manifestId"], "look-2024-02-29");
    says(&result["prompt"], " --file 2024-02-29_look.md ");
    for date in ["2026-02-30", "26-01-2026", "today", "2026-1-2", ""] {
        let before = workspace.state();
        let refused = workspace.json(&["spawn", "T1", "--date", date]);
        let error = &refused["error"];
        assert_fields(error, json!({"code": "E_TOKEN_INVALID", "exitCode": 6}));
        assert_eq!(workspace.state(), before);
    }
}

#[test]
fn file_that_is_of_others_is_not_handed_out() {
    let workspace = TestWorkspace::new();
    add(
        &workspace,
        &["Gone", "Gone", "Seen"].map(|title| json!({"title": title})),
    );
    let file = names(&workspace, &["T1"]).0;
    workspace.write(&file, "# Gone");
    assert_eq!(names(&workspace, &["T1"]).0, file, "its own");
    workspace.ok("delete T1");
    assert_eq!(
        names(&workspace, &["T2"]),
        name_output("gone-t2", "gone-t2")
    );
    let line = r#"{"id":"x","file":"2026-01-26_seen.md","title":"torn"#;
    workspace.write(MANIFEST, format!("{line}\n"));
    assert_eq!(
        names(&workspace, &["T3"]),
        name_output("seen-t3", "seen-t3")
    );
}

#[test]
fn attempts_of_run_keep_their_names_past_midnight() {
    let workspace = TestWorkspace::new();
    add(&workspace, &[json!({"title": "One"})]);
    let agent = format!("sh {AGENT} hangs-lies-works");
    let mut child = workspace.command(&["run", "T1", "--repair", "1", "--command", &agent]);
    child.env("CLEO_NOW", "2026-01-26T23:59:59Z");
    let child = child.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    while !workspace.path(".played/hung").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = workspace.ask("runs list");
    let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
    let mut resume = workspace.command(&["runs", "resume", id]);
    resume.env("CLEO_NOW", "2026-01-27T00:00:01Z");
    let resumed = workspace.finish(resume, "");
    assert_eq!(resumed.exit, 0, "{resumed}");
    let logged = workspace.ask(format!("runs logs {id}"));
    let events = logged["result"]["events"].as_array().unwrap().iter();
    let started: Vec<&Value> = events
        .filter(|event| event["type"] == "task.started")
        .collect();
    assert_eq!(started.len(), 3, "{started:?}");
    for event in started {
        let file = "claudedocs/agent-outputs/2026-01-26_one.md";
        assert_eq!(event["detail"]["outputFile"], file, "{event}");
        assert_eq!(event["detail"]["manifestId"], "one-2026-01-26", "{event}");
    }
}

#[test]
fn notes_of_task_reach_next_agent() {
    let workspace = TestWorkspace::new();
    add(&workspace, &[json!({"title": "Look around"})]);
    workspace.ok("update T1 --note 'Keep the limit.'");
    // A program without conversations knows nothing of earlier attempts.
    for (repair, is_repair) in [(0, false), (2, true)] {
        let run = format!("run T1 --repair {repair} --command 'cp {{prompt_file}} got.md'");
        workspace.text(&run, "");
        let prompt = workspace.read("got.md");
        assert_eq!(prompt.contains("## An earlier attempt"), is_repair);
        let (_, notes) = prompt.split_once("## Notes on the task").unwrap();
        let rest = ":\n> Keep the limit.\n";
        assert!(notes.contains(rest), "{notes}");
    }
}
