//! Dispatch on the command line.

use serde_json::{Value, json};

use crate::world::{Reply, TestWorkspace, add, assert_fields, says};

/// Asks for many tasks at once, outside of any workspace.
pub(crate) fn stream(tasks: &[Value], more: &str) -> (Reply, Vec<Value>) {
    let lines: String = tasks.iter().map(|task| format!("{task}\n")).collect();
    let world = TestWorkspace::bare();
    let reply = world.text(&format!("skills dispatch --stdin {more}"), &lines);
    let answers = reply.documents();
    (reply, answers)
}

#[test]
fn each_line_is_answered() {
    let long = "x".repeat(5 << 20);
    let input = format!(
        "{{\"id\":\"A\",\"title\":\"Plan it\"}}\n\n  \nnonsense\n[]\n{{\"title\":5}}\n{{\"id\":\"B\",\"title\":\"Test it\"\n{{\"title\":\"{long}\"}}\n{{\"labels\":\"audit\"}}\n\u{feff}{{}}\nnull\n{{\"id\":\"C\"}}"
    );
    let reply = TestWorkspace::bare().text("skills dispatch --stdin", &input);
    let answers = reply.documents();
    let told: Vec<String> = answers
        .iter()
        .map(|answer| {
            assert_eq!(answer["command"], "skills.dispatch");
            assert_eq!(answer["success"], answer.get("error").is_none());
            let error = answer["error"]["message"].as_str().map(|message| {
                assert_eq!(answer["error"]["code"], "E_INPUT_INVALID");
                message.split(':').next().unwrap().to_string()
            });
            let result = &answer["result"];
            error.unwrap_or_else(|| {
                format!(
                    "{} {}",
                    result["taskId"].as_str().unwrap(),
                    result["skill"].as_str().unwrap()
                )
            })
        })
        .collect();
    let expected = [
        "A ct-epic-architect",
        "line 4",
        "line 5",
        "line 6, column 10",
        "line 7, column 27",
        "line 8 has more than 4194304 bytes",
        "line 9, column 17",
        "line 10",
        "line 11",
        "C ct-task-executor",
    ];
    assert_eq!(told, expected);
    assert_eq!(reply.exit, 2, "the first fault decides");
    assert_eq!(
        TestWorkspace::bare()
            .text("skills dispatch --stdin", "")
            .exit,
        0
    );
}

#[test]
fn override_wins_over_everything_in_any_spelling() {
    let task = [json!({"labels": ["audit"], "type": "epic", "title": "Plan"})];
    for name in ["ct-docs-write", "docs-write", "CT-DOCS-WRITE", "Docs_Write"] {
        let (_, answers) = stream(&task, &format!("--template {name}"));
        assert_eq!(answers[0]["result"]["skill"], "ct-docs-write");
        assert_eq!(answers[0]["result"]["strategy"], "override");
        assert_eq!(answers[0]["result"]["runnerUp"]["skill"], "ct-validator");
    }
    let world = TestWorkspace::bare();
    let document = world.json_with(
        &["skills", "dispatch", "--stdin", "--template", "docs-wirte"],
        "{}\n",
    );
    let error = &document["error"];
    assert_fields(error, json!({"code": "E_SKILL_NOT_FOUND", "exitCode": 4}));
    says(error, "did you mean `ct-docs-write`?");
    assert_eq!(error["fix"], "cleo skills list");
}

#[test]
fn task_of_workspace_is_explained() {
    let workspace = TestWorkspace::new();
    add(
        &workspace,
        &[json!({"title": "Plan the docs", "labels": ["audit", "review"]})],
    );
    let document = workspace.ask("skills dispatch T1 --explain");
    let result = &document["result"];
    assert_fields(
        result,
        json!({"taskId": "T1", "skill": "ct-docs-review", "strategy": "label"}),
    );
    assert_eq!(result["matched"], json!(["review"]));
    let names = |list: &str| -> Vec<String> {
        result[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|other| {
                assert!(!other["reason"].as_str().unwrap().is_empty());
                other["skill"].as_str().unwrap().to_string()
            })
            .collect()
    };
    let candidates = [
        "ct-docs-review",
        "ct-validator",
        "ct-epic-architect",
        "ct-documentor",
        "ct-task-executor",
    ];
    assert_eq!(names("candidates"), candidates);
    assert_eq!(result["runnerUp"]["skill"], "ct-validator");
    let mut all = [names("candidates"), names("rejected")].concat();
    all.sort();
    all.dedup();
    assert_eq!(
        (all.len(), names("rejected").len()),
        (18, 13),
        "each skill once"
    );
    let shown = workspace.cleo("skills dispatch T1 --explain");
    assert!(all.iter().all(|skill| shown.contains(skill)), "{shown}");
    workspace.fails("skills dispatch T9", "E_TASK_NOT_FOUND");
}

#[test]
fn project_brings_rows_and_skills_of_own() {
    let workspace = TestWorkspace::new();
    add(
        &workspace,
        &[
            json!({"title": "Research the paint"}),
            json!({"title": "Varnish it"}),
            json!({"title": "x", "labels": ["gloss"]}),
        ],
    );
    let chosen = |id: &str| workspace.json(&["skills", "dispatch", id])["result"]["skill"].clone();
    assert_eq!(chosen("T1"), "ct-research-agent");
    let skill = |name: &str, more: &str| {
        format!(
            "---\nname: {name}\ndescription: x\nmetadata:\n  cleo-tags: gloss\n{more}---\nBody\n"
        )
    };
    workspace.write(
        ".claude/skills/painter/SKILL.md",
        skill("painter", "  cleo-keywords: varnish\n"),
    );
    assert_eq!(
        (chosen("T2"), chosen("T3")),
        (json!("painter"), json!("painter")),
        "no manifest is needed"
    );
    let rows = json!({"skills": [{"name": "painter"}], "dispatch_matrix": {"by_keyword": {"research": "painter"}}});
    workspace.write("skills/manifest.json", rows.to_string());
    assert_eq!(chosen("T1"), "painter", "its rows come first");
    let off = json!({"skills": [{"name": "painter", "status": "inactive"}]});
    workspace.write("skills/manifest.json", off.to_string());
    assert_eq!(
        (chosen("T1"), chosen("T2"), chosen("T3")),
        (
            json!("ct-research-agent"),
            json!("ct-task-executor"),
            json!("ct-task-executor")
        )
    );
}

#[test]
fn empty_stream_is_reported_and_leading_bom_accepted() {
    let bare = TestWorkspace::bare();
    for input in ["", "\n \n"] {
        let reply = bare.text("skills dispatch --stdin", input);
        assert_eq!((reply.exit, &*reply.stdout), (0, ""), "{reply}");
        assert_eq!(reply.stderr.trim(), "no tasks on standard input");
    }
    let reply = bare.text(
        "skills dispatch --stdin",
        "\u{feff}{\"title\":\"Plan it\"}\n",
    );
    assert_eq!((reply.exit, &*reply.stderr), (0, ""), "{reply}");
}

#[test]
fn tasks_on_stdin_can_be_answered_as_text() {
    let input =
        "{\"id\":\"A\",\"title\":\"Plan it\"}\nnonsense\n{\"id\":\"B\",\"title\":\"Plan it\"}\n";
    let bare = TestWorkspace::bare();
    let reply = bare.text("skills dispatch --stdin --format text", input);
    for start in ["A → ct-epic-architect", "B → ct-epic-architect"] {
        let mut lines = reply.stdout.lines();
        assert!(lines.any(|line| line.starts_with(start)), "{reply}");
    }
    assert!(!reply.stdout.contains('{'), "{reply}");
    assert!(reply.stderr.contains("line 2"), "{reply}");
    assert_ne!(reply.exit, 0, "{reply}");
    let reply = bare.text("skills dispatch --stdin --explain --format text", input);
    assert!(reply.stdout.contains("NOT CHOSEN"), "{reply}");
}
