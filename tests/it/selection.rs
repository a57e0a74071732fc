//! `--fields` and `--jq`: parts of an answer, without another program.

use crate::world::TestWorkspace;

#[test]
fn a_filter_prints_text_without_quotes_a_line_each() {
    let workspace = TestWorkspace::planned();
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
fn a_faulty_filter_is_refused_with_the_place_before_anything_is_done() {
    let workspace = TestWorkspace::planned();
    let before = workspace.state();
    for (filter, place) in [
        (".a | nope", "character 6"),
        (".[", "character"),
        ("{", "character"),
    ] {
        let refused = workspace.json(&["add", "x", "--jq", filter]);
        assert_eq!(refused["error"]["code"], "E_USAGE", "{filter}");
        assert!(
            refused["error"]["message"]
                .as_str()
                .unwrap()
                .contains(place),
            "{refused}"
        );
    }
    assert_eq!(workspace.state(), before);
}

#[test]
fn a_filter_that_does_not_fit_fails_and_says_so() {
    let workspace = TestWorkspace::planned();
    let reply = workspace.text("list --jq '.result.total, .result.total.x'", "");
    assert_eq!((reply.exit, reply.stdout.as_str()), (2, "5\n"));
    assert!(reply.stderr.contains("the filter failed"), "{reply}");
}

#[test]
fn errors_are_whole_whatever_was_selected() {
    let workspace = TestWorkspace::planned();
    let refused = workspace.json(&["show", "T99", "--jq", ".result.task.id"]);
    assert_eq!(refused["error"]["code"], "E_TASK_NOT_FOUND");
    let refused = workspace.json(&["show", "T99", "--fields", "task.id"]);
    assert_eq!(refused["error"]["code"], "E_TASK_NOT_FOUND");
}

#[test]
fn fields_are_those_of_the_result_or_of_each_item_of_a_list() {
    let workspace = TestWorkspace::planned();
    let list = workspace.json(&["list", "--limit", "2", "--fields", "id,title"]);
    let items = serde_json::json!([
        {"id": "T1", "title": "Build login"},
        {"id": "T2", "title": "Research token refresh"},
    ]);
    assert_eq!(
        list["result"],
        serde_json::json!({"tasks": items, "total": 5})
    );
    let one = workspace.json(&["show", "T2", "--fields", "task.title,dependents"]);
    let picked = serde_json::json!({"task": {"title": "Research token refresh"}, "dependents": ["T3", "T5"]});
    assert_eq!(one["result"], picked);
    let both = workspace.ok("list --fields id --jq '.result.tasks[0] | keys[]'");
    assert_eq!(both.stdout, "id\n");
}

#[test]
fn an_unknown_field_is_refused_with_the_known_ones_before_anything_is_done() {
    let workspace = TestWorkspace::planned();
    let before = workspace.state();
    let refused = workspace.json(&["add", "x", "--fields", "task.titel"]);
    assert_eq!(refused["error"]["code"], "E_USAGE");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("`task` has no field `titel`; it has "),
        "{message}"
    );
    assert_eq!(refused["error"]["fix"], "cleo add x --fields task.title");
    assert_eq!(workspace.state(), before);
    let refused = workspace.json(&["list", "--fields", "nope"]);
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("title"),
        "{refused}"
    );
}

#[test]
fn a_stream_is_filtered_line_by_line() {
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
