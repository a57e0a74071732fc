//! Outputs in worktrees are copied to the workspace, or the worktree stays.

use std::fs;
use std::os::unix::fs::symlink;

use super::{carry_out, find_retained, is_clean, repository, run, words_for_one};
use crate::world::{TestWorkspace, expect_exit};

const OUTPUTS: &str = "claudedocs/agent-outputs";

fn commit(workspace: &TestWorkspace, path: &str) {
    workspace.git(format!("add --force {path}"));
    let commit = "commit --quiet --message more";
    workspace.git(commit);
}

/// Has a link be in the workspace where agents write a folder of outputs. Returns what it is to be removed by.
fn link(workspace: &TestWorkspace) -> impl FnOnce() {
    workspace.write("elsewhere/own", "mine\n");
    let link = workspace.path(&format!("{OUTPUTS}/data"));
    symlink(workspace.path("elsewhere"), &link).unwrap();
    move || fs::remove_file(link).unwrap()
}

/// Carries the first task out, which fails, and returns the id of its run and where its worktree is kept.
#[track_caller]
fn stuck(workspace: &TestWorkspace, how: &str) -> (String, String) {
    let result = expect_exit(carry_out(workspace, &words_for_one(how)), 80);
    let id = result["run"]["id"].as_str().unwrap().to_string();
    (id, find_retained(&result["tasks"][0]).to_string())
}

#[test]
fn repo_may_ignore_outputs() {
    for ignored in ["claudedocs/", ".cleo/", "claudedocs/\n.cleo/"] {
        let workspace = repository();
        workspace.write(".gitignore", format!("{ignored}\n"));
        commit(&workspace, ".gitignore");
        expect_exit(carry_out(&workspace, &words_for_one("scratches")), 0);
        assert_eq!(workspace.read("T1.txt"), "T1\n", "{ignored}");
        let files = workspace.git("ls-files");
        assert_eq!(files, ".gitignore\nT1.txt\nshared.txt\n", "{ignored}");
        is_clean(&workspace);
    }
}

#[test]
fn tracked_but_ignored_output_is_copied_and_not_committed() {
    let workspace = repository();
    let output = format!("{OUTPUTS}/data/deep/x.csv");
    workspace.write(".gitignore", "claudedocs/\n");
    workspace.write(&output, "old\n");
    commit(&workspace, &format!(".gitignore {output}"));
    expect_exit(carry_out(&workspace, &words_for_one("spreads")), 0);
    assert_eq!(workspace.read(&output), "T1\n");
    assert_eq!(workspace.git(format!("show HEAD:{output}")), "old\n");
}

#[test]
fn output_that_its_agent_did_not_see_is_replaced_and_kept() {
    let workspace = repository();
    let output = "data/deep/x.csv";
    workspace.write(&format!("{OUTPUTS}/{output}"), "theirs\n");
    let result = expect_exit(run(&workspace, "spreads --jobs 1"), 0);
    assert_eq!(workspace.read(&format!("{OUTPUTS}/{output}")), "T2\n");
    let id = result["run"]["id"].as_str().unwrap();
    for (task, former) in [("T1", "theirs\n"), ("T2", "T1\n")] {
        let kept = format!(".cleo/runs/{id}/outputs/{task}-1.replaced/{OUTPUTS}/{output}");
        assert_eq!(workspace.read(&kept), former, "{task}");
        assert!(super::events(&workspace).contains(&kept), "{task}");
    }
}

#[test]
fn output_with_changes_that_are_not_committed_is_kept_too() {
    let workspace = repository();
    let output = format!("{OUTPUTS}/data/deep/x.csv");
    workspace.write(&output, "old\n");
    commit(&workspace, &output);
    workspace.write(&output, "old\nand more\n");
    let result = expect_exit(carry_out(&workspace, &words_for_one("spreads")), 0);
    assert_eq!(workspace.read(&output), "T1\n");
    let id = result["run"]["id"].as_str().unwrap();
    let former = format!(".cleo/runs/{id}/outputs/T1-1.replaced/{output}");
    assert_eq!(workspace.read(&former), "old\nand more\n");
}

#[test]
fn reports_that_agents_commit_are_in_nobodys_way() {
    for ignored in ["", "claudedocs/\n", "*.jsonl\n"] {
        let workspace = repository();
        workspace.write(".gitignore", format!("{ignored}.played\n"));
        commit(&workspace, ".gitignore");
        expect_exit(run(&workspace, "commits --jobs 2"), 0);
        let files = workspace.git("ls-files");
        assert_eq!(
            files, ".gitignore\nT1.txt\nT2.txt\nshared.txt\n",
            "{ignored}"
        );
        let entries = workspace.read(&format!("{OUTPUTS}/MANIFEST.jsonl"));
        assert_eq!(entries.lines().count(), 2, "{ignored}: {entries}");
        is_clean(&workspace);
    }
}

#[test]
fn outputs_that_nobody_touched_are_in_nobodys_way() {
    let workspace = repository();
    for number in 0..=10_000 {
        workspace.write(&format!("{OUTPUTS}/data/{number}"), "");
    }
    commit(&workspace, OUTPUTS);
    let data = workspace.path(&format!("{OUTPUTS}/data"));
    expect_exit(carry_out(&workspace, &words_for_one("spreads")), 0);
    assert_eq!(
        workspace.read(&format!("{OUTPUTS}/data/deep/x.csv")),
        "T1\n"
    );

    fs::remove_dir_all(&data).unwrap();
    workspace.write("elsewhere/own", "mine\n");
    symlink(workspace.path("elsewhere"), &data).unwrap();
    workspace.ok("reopen T1");
    expect_exit(carry_out(&workspace, &words_for_one("works")), 0);
    let left = fs::read_dir(workspace.path("elsewhere")).unwrap();
    assert_eq!(left.count(), 1, "nothing goes through it");
}

#[test]
fn output_that_someone_removed_does_not_come_back() {
    let workspace = repository();
    let output = format!("{OUTPUTS}/data/old.csv");
    workspace.write(&output, "old\n");
    commit(&workspace, &output);
    fs::remove_file(workspace.path(&output)).unwrap();
    expect_exit(carry_out(&workspace, &words_for_one("edits")), 0);
    assert!(!workspace.path(&output).exists());
}

#[test]
fn what_no_copy_of_file_brings_home_stays() {
    let workspace = repository();
    let result = expect_exit(carry_out(&workspace, &words_for_one("links")), 0);
    let place = result["tasks"][0]["worktree"].as_str().unwrap();
    let place = place.strip_prefix("[WORKSPACE]/").unwrap();
    assert_eq!(workspace.read("T1.txt"), "T1\n", "the rest is home");
    let read = |name: &str| workspace.read(&format!("{OUTPUTS}/data/{name}"));
    assert_eq!(read(".cleo-new-x.csv"), "T1\n");
    let link = workspace.path(&format!("{place}/{OUTPUTS}/data/last.csv"));
    assert!(link.is_symlink());
    let told = super::events(&workspace);
    assert!(told.contains("data/last.csv is a link"), "{told}");
}

#[test]
fn retained_worktree_stays_until_its_outputs_are_copied() {
    let workspace = repository();
    let unlink = link(&workspace);
    let (id, place) = stuck(&workspace, "spreads");
    unlink();
    workspace.ok("claim T1");
    workspace.json(&["runs", "cancel", &id]);
    let output = format!("{OUTPUTS}/data/deep/x.csv");
    assert_eq!(workspace.read(&format!("{place}/{output}")), "T1\n");
    assert!(
        !workspace.path(&output).exists(),
        "somebody else has the task"
    );
    let told = super::events(&workspace);
    assert!(told.contains("was not copied to the workspace"), "{told}");
}

#[test]
fn branch_is_told_again_when_its_worktree_goes() {
    let workspace = repository();
    let unlink = link(&workspace);
    let (id, place) = stuck(&workspace, "spreads-and-makes");
    unlink();
    let cancelled = workspace.json(&["runs", "cancel", &id]);
    assert!(!workspace.path(&place).exists(), "{cancelled}");
    let branches = cancelled["result"]["branches"].as_array().unwrap();
    let [branch] = &branches[..] else {
        panic!("{cancelled}");
    };
    let branch = branch.as_str().unwrap();
    assert_eq!(workspace.git(format!("show {branch}:T1.txt")), "T1\n");
    let told = super::events(&workspace);
    assert!(told.contains(&format!("git merge {branch}")), "{told}");
    let shown = workspace.json(&["runs", "show", &id]);
    let task = &shown["result"]["tasks"][0];
    assert_eq!(task["branch"], branch, "{task}");
    assert_eq!(task["worktree"], serde_json::Value::Null, "{task}");
}

#[test]
fn all_worktrees_of_task_are_merged_in_order() {
    let workspace = repository();
    let unlink = link(&workspace);
    let (id, first) = stuck(&workspace, "spreads-anew");
    let resumed = workspace.json(&["runs", "resume", &id]);
    let second = find_retained(&resumed["result"]["tasks"][0]);
    assert_ne!(second, first);
    unlink();
    let cancelled = workspace.json(&["runs", "cancel", &id]);
    assert_eq!(cancelled["success"], true, "{cancelled}");
    let read = |name: &str| workspace.read(&format!("{OUTPUTS}/data/{name}"));
    assert_eq!([read("1.csv"), read("2.csv")], ["T1\n", "T1\n"]);
    let file = resumed["result"]["tasks"][0]["outputFile"].as_str();
    let text = workspace.read(file.unwrap());
    assert!(text.contains("round 2"), "the last one counts: {text}");
    let told = super::events(&workspace);
    assert!(!told.contains("did not see it"), "it is its own: {told}");
    is_clean(&workspace);
}
