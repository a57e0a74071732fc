//! `--fields` and `--jq`: parts of an answer, without another program.

use serde_json::{Value, json};

use crate::world::{TestWorkspace, says};

#[test]
fn filter_prints_text_without_quotes_line_each() {
    let workspace = TestWorkspace::with_plan();
    let ids = workspace.ok("list --jq .result.tasks[].id");
    assert_eq!(ids.stdout, "T1\nT2\nT3\nT4\nT5\n");
    let rows = workspace.ok("list --limit 2 --jq '.result.tasks[] | [.id, .title] | @tsv'");
    assert_eq!(rows.stdout, "T1\tBuild login\nT2\tResearch token refresh\n");
    let values =
        workspace.ok("show T2 --jq '.success, .result.task.acceptance, .result.task.size'");
    assert_eq!(values.stdout, "true\n[\"sources named\"]\nnull\n");
    assert_eq!(workspace.ok("list --jq empty").stdout, "");
}

#[test]
fn faulty_filter_is_refused_with_its_position_first() {
    let workspace = TestWorkspace::with_plan();
    let before = workspace.state();
    for (filter, place) in [
        (".a | nope", "character 6"),
        (".[", "character"),
        ("{", "character"),
    ] {
        let refused = workspace.json(&["add", "x", "--jq", filter]);
        assert_eq!(refused["error"]["code"], "E_USAGE", "{filter}");
        says(&refused, place);
    }
    assert_eq!(workspace.state(), before);
}

#[test]
fn filter_that_does_not_fit_fails() {
    let workspace = TestWorkspace::with_plan();
    let reply = workspace.text("list --jq '.result.total, .result.total.x'", "");
    assert_eq!((reply.exit, reply.stdout.as_str()), (3, "5\n"));
    assert!(reply.stderr.contains("the filter failed"), "{reply}");
}

#[test]
fn filter_that_fails_after_write_is_no_usage_error() {
    let workspace = TestWorkspace::new();
    for filter in [".result.task.id.x", ".result.task.id | tonumber"] {
        let reply = workspace.text(&format!("add paid --jq '{filter}'"), "");
        assert_eq!(reply.exit, 3, "{reply}");
        let told = "error[E_ANSWER_LOST]: the command was carried out, but the filter failed";
        assert!(reply.stderr.contains(told), "{reply}");
    }
    assert_eq!(workspace.ask("list")["result"]["total"], 2);
    let words = [
        "route",
        "--stdin",
        "--format",
        "ndjson",
        "--jq",
        ".result.agent.x",
    ];
    let reply = workspace.finish(workspace.command(&words), "hello\n");
    assert_eq!(reply.exit, 3, "{reply}");
    assert!(reply.stderr.contains("error[E_ANSWER_LOST]"), "{reply}");
}

#[test]
fn errors_are_whole_whatever_was_selected() {
    let workspace = TestWorkspace::with_plan();
    workspace.fails("show T99 --jq .result.task.id", "E_TASK_NOT_FOUND");
    workspace.fails("show T99 --fields task.id", "E_TASK_NOT_FOUND");
}

#[test]
fn fields_are_those_of_result_or_of_each_item_of_list() {
    let workspace = TestWorkspace::with_plan();
    let list = workspace.ask("list --limit 2 --fields id,title");
    let items = serde_json::json!([
        {"id": "T1", "title": "Build login"},
        {"id": "T2", "title": "Research token refresh"},
    ]);
    assert_eq!(
        list["result"],
        serde_json::json!({"tasks": items, "total": 5})
    );
    let one = workspace.ask("show T2 --fields task.title,dependents");
    let picked = serde_json::json!({"task": {"title": "Research token refresh"}, "dependents": ["T3", "T5"]});
    assert_eq!(one["result"], picked);
    let both = workspace.ok("list --fields id --jq '.result.tasks[0] | keys[]'");
    assert_eq!(both.stdout, "id\n");
}

#[test]
fn fields_are_those_of_the_counted_list() {
    let workspace = TestWorkspace::with_plan();
    for (words, field, place) in [
        (
            &["spawn", "T2", "T3", "-n"][..],
            "taskId",
            "/spawns/1/taskId",
        ),
        (
            &["orchestrator", "spawn", "T2", "T3", "-n"],
            "skill",
            "/spawns/0/skill",
        ),
        (&["skills", "list"], "name", "/skills/14/name"),
        (&["orchestrator", "ready"], "id", "/tasks/0/id"),
        (&["orchestrator", "waves"], "id", "/waves/1/0/id"),
        (
            &["add", "--batch", "more.jsonl"],
            "task.id",
            "/tasks/0/task/id",
        ),
    ] {
        workspace.write("more.jsonl", "{\"title\":\"x\",\"key\":\"x\"}\n");
        let whole = workspace.json(words)["result"].clone();
        let picked = workspace.json(&[words, &["--fields", field]].concat())["result"].clone();
        assert_eq!(picked["total"], whole["total"], "{words:?}: {picked}");
        assert_eq!(picked.as_object().unwrap().len(), 2, "{picked}");
        let of = |answer: &Value| answer.pointer(place).cloned();
        assert!(of(&whole).is_some(), "{words:?}: {whole}");
        assert!(
            of(&picked).is_some_and(|it| !it.is_null()),
            "{words:?}: {picked}"
        );
    }
}

#[test]
fn answer_that_is_more_than_its_lists_has_fields_of_own() {
    let workspace = TestWorkspace::with_plan();
    for (line, field) in [
        ("next", "task"),
        ("orchestrator next", "reason"),
        ("orchestrator status", "percent"),
        ("route hello", "score"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let whole = workspace.json(&words)["result"][field].clone();
        let picked = workspace.json(&[&words[..], &["--fields", field]].concat());
        assert!(!whole.is_null(), "{line}");
        assert_eq!(picked["result"], json!({ field: whole }), "{line}");
    }
}

#[test]
fn fields_are_never_taken_of_list_of_ids() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("session start");
    for (words, wanted) in [
        (
            &["next", "--fields", "id,title"][..],
            json!({"task": {"id": "T2", "title": "Research token refresh"}}),
        ),
        (
            &["session", "status", "--fields", "id"],
            json!({"session": {"id": "S1"}}),
        ),
        (
            &["orchestrator", "status", "--fields", "id"],
            json!({"ready": {"shown": [{"id": "T2"}], "total": 1}}),
        ),
    ] {
        assert_eq!(workspace.json(words)["result"], wanted, "{words:?}");
    }
}

#[test]
fn fields_of_stream_are_those_of_its_lines() {
    let workspace = TestWorkspace::with_plan();
    let run = "run T2 --command true --format ndjson --fields type,taskId";
    let reply = workspace.text(run, "");
    let first = reply.stdout.lines().next();
    assert_eq!(
        first,
        Some(r#"{"taskId":null,"type":"run.started"}"#),
        "{reply}"
    );
}

#[test]
fn missing_field_is_null() {
    let workspace = TestWorkspace::with_plan();
    let none = workspace.ask("list --status done --fields id");
    assert_eq!(none["result"], json!({"tasks": [], "total": 0}));
    let missing = workspace.ask("list --limit 1 --fields nope");
    assert_eq!(missing["result"]["tasks"], json!([{"nope": null}]));
}

#[test]
fn stream_is_filtered_line_by_line() {
    let workspace = TestWorkspace::new();
    let mut command =
        workspace.command(&["skills", "dispatch", "--stdin", "--jq", ".result.skill"]);
    command.env("CLEO_FORMAT", "ndjson");
    let input = "{\"title\":\"Research token refresh\"}\n{\"title\":\"Write tests\",\"labels\":[\"bats\"]}\n";
    let reply = workspace.finish(command, input);
    assert_eq!(reply.exit, 0, "{reply}");
    assert_eq!(
        reply.stdout.lines().next(),
        Some("ct-research-agent"),
        "{reply}"
    );
    assert_eq!(reply.stdout.lines().count(), 2, "{reply}");
}

#[test]
fn filter_without_end_is_ended() {
    let workspace = TestWorkspace::new();
    for (filter, why) in [
        ("def f: f; f", "took more than"),
        ("\"x\" * 5000000000 | length", "MB of memory"),
        ("def f: 1 + f; f", "too deep"),
    ] {
        // The limit of the test is lower than that of cleo, so that the test is fast.
        let reply = workspace.shell(&format!("ulimit -S -t 2; cleo list --jq '{filter}'"));
        assert_eq!((reply.exit, reply.stdout.as_str()), (3, ""), "{reply}");
        assert!(reply.stderr.contains("error[E_ANSWER_LOST]"), "{reply}");
        assert!(reply.stderr.contains(why), "{reply}");
    }
}

#[test]
fn selection_that_cannot_be_written_is_no_fault_of_filter() {
    let workspace = TestWorkspace::new();
    workspace.ok(&format!("add Long --description {}", "x".repeat(50_000)));
    for filter in [".result.task.description", ".result.task | .description, 1"] {
        let full = workspace.shell(&format!("cleo show T1 --jq '{filter}' >/dev/full"));
        assert_eq!(full.exit, 3, "{full}");
        assert!(full.stderr.contains("E_ANSWER_LOST"), "{full}");
        let command = format!("{{ cleo show T1 --jq '{filter}'; echo $? >&2; }} | true");
        let left = workspace.shell(&command);
        assert_eq!(left.stderr, "0\n", "{left}");
    }
}
