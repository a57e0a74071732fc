//! `cleo demo`: the whole job, and what it leaves behind.

use std::fs;

use serde_json::{Value, json};

use crate::world::{CLEO, TestWorkspace, assert_fields};

#[test]
fn demo_reads_well() {
    let workspace = TestWorkspace::bare();
    let shown = workspace.cleo("demo");
    // Ids and times differ, and with them how wide columns are and where lines are cut.
    let changing = regex::Regex::new(r"run_\w+|\d+(\.\d+)? ?m?s\b").unwrap();
    let spaces = regex::Regex::new(r"\s*\n {20,}|  +").unwrap();
    let shown = changing.replace_all(&shown, "…");
    insta::assert_snapshot!(spaces.replace_all(&shown, " "));
}

#[test]
fn all_tasks_are_done() {
    let workspace = TestWorkspace::bare();
    let document = workspace.result("demo");
    assert_eq!(document["agents"], "script");
    let tasks = document["tasks"].as_array().unwrap().iter();
    let tasks: Vec<&Value> = tasks.filter(|task| task["taskId"] != "T1").collect();
    assert_eq!(tasks.len(), 8);
    for task in &tasks {
        let attempts = if task["taskId"] == "T6" { 2 } else { 1 };
        assert_eq!(task["attempts"], attempts, "{task}");
        assert_fields(task, json!({"state": "done", "outcome": "ok"}));
    }
    let mut skills: Vec<&str> = tasks
        .iter()
        .filter_map(|task| task["skill"].as_str())
        .collect();
    skills.sort_unstable();
    skills.dedup();
    assert_eq!(
        skills.len(),
        8,
        "each is chosen by its own rule: {skills:?}"
    );
    let listed = workspace.ask("--root cleo-demo list --status done");
    assert_eq!(listed["result"]["total"], 9);
    let manifest = workspace.read("cleo-demo/claudedocs/agent-outputs/MANIFEST.jsonl");
    assert_eq!(manifest.lines().count(), 8);
}

#[test]
fn nothing_is_left_behind_but_folder() {
    let workspace = TestWorkspace::bare();
    workspace.ok("demo");
    let again = workspace.ask("demo");
    assert_eq!(again["error"]["fix"], "cleo demo --dir cleo-demo-2");
    workspace.ok("demo --dir else/where");
    let mut names: Vec<String> = fs::read_dir(workspace.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["cleo-demo", "else"]);
    // Trust and the key of the user stay, as after any run.
    let data = workspace.root().with_file_name("home/.local/share/cleo");
    let mut kept: Vec<_> = fs::read_dir(data).unwrap().flatten().collect();
    kept.sort_by_key(fs::DirEntry::file_name);
    let kept: Vec<_> = kept.iter().map(fs::DirEntry::file_name).collect();
    assert_eq!(kept, ["evidence", "trust"]);
}

/// `cargo run` builds the program of every day and none of those beside it.
#[test]
fn demo_needs_no_program_beside() {
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
fn folder_with_something_in_it_is_refused() {
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
fn what_surrounds_demo_does_not_change_it() {
    let other = "---\nname: ct-task-executor\ndescription: Mine.\n---\nMine.\n";
    let workspace = TestWorkspace::new()
        .with("skills/ct-task-executor/SKILL.md", other)
        .env("CLEO_ROOT", "/nowhere")
        .env("CLEO_TASK_ID", "T99");
    let document = workspace.result("demo");
    let run = document["run"]["id"].as_str().unwrap();
    let prompt = workspace.read(&format!("cleo-demo/.cleo/runs/{run}/T6-1.prompt.md"));
    assert!(!prompt.contains("Mine."));
}

#[test]
fn workers_of_demo_answer_a_query_and_carry_out_a_plan() {
    let workspace = TestWorkspace::bare();
    workspace.ok("demo");
    let asked = workspace.result("--root cleo-demo ask 'Summarize the notes'");
    assert_eq!(
        asked["answer"],
        "Based on the tools, here is what I found: (simulated) The links of a page are listed, each is asked \
         for once, and 404 and 410 count as dead. [done]"
    );
    workspace.ok("--root cleo-demo plan 'Plan, search the web and report' --output plan.yaml");
    let run = workspace.result("--root cleo-demo plan run plan.yaml");
    assert_fields(&run, json!({"satisfied": true, "passes": 1}));
    let steps = run["steps"].as_array().unwrap().iter();
    let agents: Vec<&Value> = steps.map(|step| &step["agent"]).collect();
    assert_eq!(agents, ["planner", "web-crawler", "summarizer"]);
}
