//! Files of a project that cleo reads on the way: a bad one never stops unrelated work.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::world::{TestWorkspace, add};

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: x\n---\nBody\n")
}

/// Returns the warnings of `skills list`, which has to succeed with all built-in skills.
fn warnings(workspace: &TestWorkspace) -> Vec<String> {
    let listed = workspace.ask("skills list");
    assert_eq!(listed["success"], true, "{listed}");
    serde_json::from_value(listed["warnings"].clone()).unwrap()
}

#[test]
fn manifest_that_cannot_be_used_leaves_built_in_one() {
    let workspace = TestWorkspace::new();
    add(&workspace, &[json!({"title": "Research the paint"})]);
    for (text, place) in [
        ("{\"skills\": [\n  oops\n]}", ":2:3: "),
        ("{\"skills\": 1}", ":1:12: "),
        (
            "{\"dispatch_matrix\": {\n\"by_keyword\": {\"a\": 2}}}",
            ":2:21: ",
        ),
        ("", ":1:0: "),
        ("[]", ":1:1: "),
        ("{\"name\": \"somebody else's\"}", ":1:1: "),
        ("\"x\"", ":1:3: "),
    ] {
        workspace.write("skills/manifest.json", text);
        let told = warnings(&workspace);
        let expected = format!("skills/manifest.json{place}");
        assert!(
            told.len() == 1 && told[0].starts_with(&expected),
            "{told:?}"
        );
        assert!(told[0].ends_with("; the built-in manifest counts instead"));
        assert!(!told[0].contains(" at line "), "{told:?}");
        let chosen = workspace.ask("skills dispatch T1");
        assert_eq!(chosen["result"]["skill"], "ct-research-agent", "{text}");
        assert_eq!(chosen["warnings"], json!(told));
        assert_eq!(workspace.ask("spawn T1")["success"], true, "{text}");
    }
    workspace.write("skills/manifest.json", b"\xff\xfe");
    assert!(warnings(&workspace)[0].contains("is not valid UTF-8"));
    let marked =
        "\u{feff}{\"skills\": [{\"name\": \"ct-research-agent\", \"status\": \"Inactive\"}]}";
    workspace.write("skills/manifest.json", marked);
    assert_eq!(warnings(&workspace), [""; 0]);
    let chosen = workspace.ask("skills dispatch T1");
    assert_eq!(chosen["result"]["skill"], "ct-task-executor");
}

#[test]
fn useless_rows_and_words_are_named() {
    let rows = json!({
        "skills": [{"name": "ct-validator"}],
        "dispatch_matrix": {"by_keyword": {"paint": "ct-painter"}, "by_task_type": {"x": "gone"}},
    });
    let workspace = TestWorkspace::new().with("skills/manifest.json", rows.to_string());
    let told = warnings(&workspace).join("\n");
    for expected in ["`paint` leads to `ct-painter`", "`x` leads to `gone`"] {
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn other_texts_in_protocols_folder_stop_nothing() {
    let workspace = TestWorkspace::new();
    workspace.write("protocols/latin.md", b"caf\xe9\n");
    workspace.write("protocols/large.md", "word ".repeat(300_000));
    assert_eq!(warnings(&workspace), [""; 0]);
    let head =
        b"---\nname: x\nversion: \"1\"\norder: \"9\"\nwhen:\n  always: \"true\"\n---\ncaf\xe9\n";
    workspace.write("protocols/x.md", head);
    workspace.fails("skills list", "E_CATALOGUE_INVALID");
    std::fs::remove_file(workspace.path("protocols/x.md")).unwrap();
    let closed = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(workspace.path("protocols/latin.md"), closed).unwrap();
    // The superuser reads everything.
    let told = warnings(&workspace);
    assert!(
        told.is_empty() || told[0].contains("protocols/latin.md"),
        "{told:?}"
    );
}

#[test]
fn faults_of_protocol_name_one_place() {
    let head = "---\nname: x\nversion: \"1\"\norder: \"9\"\n";
    for (rest, start) in [
        ("when:\n---\nText\n", "protocols/x.md:5: `when` is empty"),
        ("when: {}\n---\nText\n", "protocols/x.md:5: `when` is empty"),
        (
            "when:\n  labels: \"\"\n---\nText\n",
            "protocols/x.md:5: `when` is empty",
        ),
        ("when:\n  label: x\n---\nText\n", "protocols/x.md:6: "),
    ] {
        let text = format!("{head}{rest}");
        let workspace = TestWorkspace::new().with("protocols/x.md", text);
        let refused = workspace.ask("skills list");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(start), "{message}");
        assert!(!message.contains(" at line "), "{message}");
    }
}

#[test]
fn links_to_folders_of_skills_are_followed() {
    let workspace = TestWorkspace::new().with("elsewhere/own/SKILL.md", skill("own"));
    workspace.write("skills/near/SKILL.md", skill("near"));
    symlink("../elsewhere/own", workspace.path("skills/own")).unwrap();
    symlink("..", workspace.path("skills/up")).unwrap();
    symlink(".", workspace.path("skills/here")).unwrap();
    symlink("gone", workspace.path("skills/dangling")).unwrap();
    let listed = workspace.ask("skills list");
    assert_eq!(listed["result"]["total"], 20, "{listed}");
    assert_eq!(listed["warnings"], json!([]));
}
