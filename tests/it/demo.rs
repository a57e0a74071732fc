//! `cleo demo`: the whole job, and what it leaves behind.

use std::fs;

use serde_json::Value;

use crate::world::{CLEO, TestWorkspace};

fn steps(document: &Value) -> Vec<Value> {
    document["result"]["steps"].as_array().unwrap().clone()
}

#[test]
fn the_demo_reads_well() {
    let workspace = TestWorkspace::bare();
    let shown = workspace.cleo("demo");
    // How long prompts are is the business of the skills.
    let tokens = regex::Regex::new(r"\d+ tokens").unwrap();
    insta::assert_snapshot!(tokens.replace_all(&shown, "NNNN tokens"));
}

#[test]
fn all_tasks_are_done_and_one_lie_is_caught() {
    let workspace = TestWorkspace::bare();
    let document = workspace.json(&["demo"]);
    assert_eq!(document["result"]["agents"], "script");
    let (mut tried, mut caught) = (0, 0);
    for wave in steps(&document)
        .iter()
        .filter(|step| step["step"] == "wave")
    {
        for task in wave["tasks"].as_array().unwrap() {
            let attempts = task["attempts"].as_array().unwrap();
            tried += 1;
            caught += attempts.len() - 1;
            let last = attempts.last().unwrap();
            assert_eq!(
                (&last["verdict"], &last["status"]),
                (&"pass".into(), &"done".into())
            );
            assert_eq!(task["prompt"]["verdict"], "pass");
            for attempt in attempts {
                assert_eq!(attempt["messageAllowed"], true, "{attempt}");
            }
            if let [lie, _] = &attempts[..] {
                assert_eq!(
                    (&lie["verdict"], &lie["exitCode"]),
                    (&"fail".into(), &62.into())
                );
                assert_eq!(lie["status"], "active");
                assert!(lie["refused"].is_string());
            }
        }
    }
    assert_eq!((tried, caught), (8, 1));
    let listed = workspace.json(&["--root", "cleo-demo", "list", "--status", "done"]);
    assert_eq!(listed["result"]["total"], 9);
    let manifest = workspace.read("cleo-demo/claudedocs/agent-outputs/MANIFEST.jsonl");
    assert_eq!(manifest.lines().count(), 8);
}

#[test]
fn at_least_six_skills_are_chosen_in_every_way() {
    let workspace = TestWorkspace::bare();
    let document = workspace.json(&["demo"]);
    let steps = steps(&document);
    let dispatch = steps
        .iter()
        .find(|step| step["step"] == "dispatch")
        .unwrap();
    let choices = dispatch["choices"].as_array().unwrap();
    let count = |key: &str| {
        let mut values: Vec<&str> = choices
            .iter()
            .map(|choice| choice[key].as_str().unwrap())
            .collect();
        values.sort_unstable();
        values.dedup();
        values.len()
    };
    assert_eq!(
        (choices.len(), count("skill"), count("strategy")),
        (8, 8, 3)
    );
}

#[test]
fn nothing_is_left_behind_but_the_folder() {
    let workspace = TestWorkspace::bare();
    workspace.ok("demo");
    workspace.ok("demo");
    workspace.ok("demo --dir else/where");
    let mut names: Vec<String> = fs::read_dir(workspace.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["cleo-demo", "cleo-demo-2", "else"]);
    let home = workspace.root().with_file_name("home");
    assert_eq!(fs::read_dir(home).unwrap().count(), 0);
}

/// `cargo run` builds the program of every day and none of those beside it.
#[test]
fn the_demo_needs_no_program_beside() {
    let workspace = TestWorkspace::bare();
    let alone = workspace.path("bin/cleo");
    fs::create_dir(workspace.path("bin")).unwrap();
    fs::copy(CLEO, &alone).unwrap();
    let mut command = workspace.surround(std::process::Command::new(&alone));
    command.args(["demo", "--json"]);
    let document = crate::world::document(&workspace.finish(command, ""));
    assert_eq!(document["success"], true, "{document}");
}

#[test]
fn a_folder_with_something_in_it_is_refused() {
    let workspace = TestWorkspace::bare()
        .with("mine/file", "mine")
        .with("file", "mine");
    for dir in ["mine", "file"] {
        let before = workspace.state();
        let refused = workspace.json(&["demo", "--dir", dir]);
        assert_eq!(refused["error"]["code"], "E_EXISTS", "{dir}");
        assert_eq!(refused["error"]["exitCode"], 101, "{dir}");
        assert_eq!(workspace.state(), before, "{dir}");
        let fix = refused["error"]["fix"].as_str().unwrap();
        assert_eq!(workspace.shell(fix).exit, 0, "{fix}");
    }
}

#[test]
fn what_surrounds_the_demo_does_not_change_it() {
    let other = "---\nname: ct-task-executor\ndescription: Mine.\n---\nMine.\n";
    let workspace = TestWorkspace::new()
        .with("skills/ct-task-executor/SKILL.md", other)
        .env("CLEO_ROOT", "/nowhere")
        .env("CLEO_TASK_ID", "T99");
    let reply = workspace.ok("demo");
    assert!(reply.stdout.contains("all 9 tasks are done"), "{reply}");
    assert!(!workspace.read("cleo-demo/prompts/T6.md").contains("Mine."));
}
