//! `cleo run --isolate worktree`: each task in a git worktree of its own, and what verifies comes home.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::world::{TestWorkspace, document};

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");

/// A workspace with two tasks in a repository with a commit.
fn repository() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.ok("add One");
    workspace.ok("add Two");
    workspace.write("shared.txt", "nobody\n");
    git(&workspace, "init --quiet --initial-branch main");
    git(&workspace, "add shared.txt");
    git(
        &workspace,
        "-c user.name=a -c user.email=a@b commit --quiet --message first",
    );
    workspace
}

#[track_caller]
fn git(workspace: &TestWorkspace, line: &str) -> String {
    let reply = workspace.shell(&format!("git {line}"));
    assert_eq!(reply.exit, 0, "git {line}\n{reply}");
    reply.stdout
}

fn words(how: &str) -> Vec<String> {
    let line = format!("run T1 T2 --isolate worktree --repair 0 --command 'sh {AGENT} {how}'")
        .replace(" --jobs 2'", "' --jobs 2");
    shlex::split(&line).unwrap()
}

fn run(workspace: &TestWorkspace, how: &str) -> (i32, Value) {
    let reply = workspace.finish(workspace.command(&words(how)), "");
    let answer = document(&reply);
    (reply.exit, answer["result"].clone())
}

/// Sees that no worktree is left and that nothing is changed in the workspace but reports.
#[track_caller]
fn is_clean(workspace: &TestWorkspace) {
    let trees = git(workspace, "worktree list");
    assert_eq!(trees.lines().count(), 1, "{trees}");
    let changed = git(workspace, "status --porcelain --untracked-files=no");
    assert_eq!(changed, "");
}

#[test]
fn what_verifies_is_merged_and_nothing_is_left_over() {
    let workspace = repository();
    let (exit, result) = run(&workspace, "edits");
    assert_eq!(exit, 0, "{result}");
    for task in ["T1", "T2"] {
        assert_eq!(workspace.read(&format!("{task}.txt")), format!("{task}\n"));
    }
    is_clean(&workspace);
    assert_eq!(git(&workspace, "branch --list 'cleo/*'"), "");
    let merges = git(&workspace, "log --merges --format=%s");
    assert_eq!(merges.lines().count(), 2, "{merges}");
    let files = git(&workspace, "ls-files");
    assert!(
        !files.contains("claudedocs") && !files.contains(".cleo"),
        "{files}"
    );
    workspace.ok("verify output T1");
}

#[test]
fn a_branch_that_does_not_fit_is_kept_and_its_task_given_back() {
    let workspace = repository();
    let (exit, result) = run(&workspace, "clashes --jobs 2");
    assert_eq!(exit, 81, "{result}");
    let tasks = result["tasks"].as_array().unwrap();
    let failed = tasks.iter().find(|task| task["state"] == "failed").unwrap();
    assert!(
        failed["reason"].as_str().unwrap().contains("shared.txt"),
        "{failed}"
    );
    let branch = failed["branch"].as_str().unwrap();
    let theirs = git(&workspace, &format!("show {branch}:shared.txt"));
    assert_eq!(theirs.trim(), failed["taskId"].as_str().unwrap());
    is_clean(&workspace);
    let done = tasks.iter().find(|task| task["state"] == "done").unwrap();
    assert_eq!(
        workspace.read("shared.txt").trim(),
        done["taskId"].as_str().unwrap()
    );
}

#[test]
fn what_an_agent_commits_on_a_branch_of_its_own_is_merged_too() {
    let workspace = repository();
    let (exit, result) = run(&workspace, "branches");
    assert_eq!(exit, 0, "{result}");
    for task in ["T1", "T2"] {
        assert_eq!(workspace.read(&format!("{task}.txt")), format!("{task}\n"));
    }
    is_clean(&workspace);
}

#[test]
fn an_agent_that_makes_something_else_of_its_worktree_fails_alone() {
    let workspace = repository();
    let (exit, result) = run(&workspace, "defects");
    assert_eq!(exit, 81, "{result}");
    let failed = &result["tasks"][0];
    assert!(
        failed["reason"]
            .as_str()
            .unwrap()
            .contains("no worktree of the repository"),
        "{failed}"
    );
    is_clean(&workspace);
    assert_eq!(
        git(&workspace, "log --format=%s"),
        "first\n",
        "nothing was committed here"
    );
}

#[test]
fn a_merge_that_somebody_else_began_stays_theirs() {
    let workspace = repository();
    let commit = "-c user.name=a -c user.email=a@b commit --quiet --all --message";
    git(&workspace, "checkout --quiet -b other");
    workspace.write("shared.txt", "other\n");
    git(&workspace, &format!("{commit} other"));
    git(&workspace, "checkout --quiet main");
    workspace.write("shared.txt", "main\n");
    git(&workspace, &format!("{commit} main"));
    workspace.shell("git -c user.name=a -c user.email=a@b merge --quiet other");
    git(&workspace, "rev-parse --verify MERGE_HEAD");
    let before = workspace.read("shared.txt");
    let (exit, result) = run(&workspace, "edits");
    assert_eq!(exit, 81, "{result}");
    git(&workspace, "rev-parse --verify MERGE_HEAD");
    assert_eq!(workspace.read("shared.txt"), before);
    let kept = result["tasks"][0]["branch"].as_str().unwrap();
    assert!(git(&workspace, &format!("show {kept}:T1.txt")).contains("T1"));
}

#[test]
fn what_verifies_in_the_worktree_of_a_killed_run_is_brought_home_and_not_done_again() {
    let workspace = repository();
    let mut child = workspace.command(&words("edits-works-and-hangs --jobs 2"));
    let child = child.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    let is_there = |task: &str| workspace.path(&format!(".played/edited-{task}")).exists();
    while !is_there("T1") || !is_there("T2") {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = workspace.json(&["runs", "list"]);
    let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
    let resumed = workspace.json(&["runs", "resume", id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    for task in ["T1", "T2"] {
        assert_eq!(workspace.read(&format!("{task}.txt")), format!("{task}\n"));
        assert_eq!(
            workspace.read(&format!(".played/{task}")).lines().count(),
            1
        );
    }
    is_clean(&workspace);
    assert_eq!(git(&workspace, "branch --list 'cleo/*'"), "");
}

#[test]
fn what_does_not_verify_is_not_merged() {
    let workspace = repository();
    let (exit, result) = run(&workspace, "lies");
    assert_eq!(exit, 81, "{result}");
    is_clean(&workspace);
    assert_eq!(git(&workspace, "log --merges --format=%s"), "");
}

#[test]
fn a_killed_run_leaves_worktrees_only_until_it_is_given_up() {
    let workspace = repository();
    let mut child = workspace.command(&words("edits-and-hangs"));
    let mut child = child
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !workspace.path(".played/edited").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = workspace.json(&["runs", "list"]);
    let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
    let cancelled = workspace.json(&["runs", "cancel", id]);
    assert_eq!(
        cancelled["result"]["run"]["status"], "cancelled",
        "{cancelled}"
    );
    is_clean(&workspace);
    let kept = git(&workspace, "branch --list 'cleo/*'");
    assert!(kept.lines().count() >= 1, "what was done is kept: {kept}");
}

#[test]
fn without_a_repository_nothing_is_begun() {
    let workspace = TestWorkspace::new();
    workspace.ok("add One");
    let words: Vec<String> = words("edits");
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| *word != "T2")
        .collect();
    workspace.refused(&words, "E_INPUT_INVALID");
}
