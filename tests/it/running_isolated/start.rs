//! Repositories in which no worktree can be made are refused before anything is claimed.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{COMMIT, carry_out, repository, words_for_one};
use crate::world::{TestWorkspace, expect_exit, says};

/// Sees that a run is refused for a reason, and that it leaves nothing behind.
#[track_caller]
fn is_refused(workspace: &TestWorkspace, code: &str, why: &str) {
    let words = words_for_one("edits");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let error = workspace.expect_refusal(&words, code);
    says(&error, why);
    assert_eq!(workspace.ask("runs list")["result"]["total"], 0);
    let task = workspace.ask("show T1");
    assert_eq!(task["result"]["task"]["status"], "pending");
    assert!(
        !workspace.path(".cleo/runs").exists()
            || fs::read_dir(workspace.path(".cleo/runs")).unwrap().count() == 0
    );
}

/// Returns what `doctor` finds of git.
fn git_finding(workspace: &TestWorkspace) -> serde_json::Value {
    let examined = workspace.ask("doctor");
    let findings = examined["result"]["findings"].as_array().unwrap();
    let found = findings.iter().find(|found| found["check"] == "git");
    found.unwrap().clone()
}

#[test]
fn branch_in_place_of_those_of_runs_is_refused() {
    for pack in ["branch cleo", "pack-refs --all"] {
        let workspace = repository();
        workspace.git("branch cleo");
        workspace.git(if pack == "branch cleo" {
            "status"
        } else {
            pack
        });
        is_refused(&workspace, "E_INPUT_INVALID", "a branch `cleo`");
        let mut words = words_for_one("edits");
        words.push("--dry-run".to_string());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        workspace.expect_refusal(&words, "E_INPUT_INVALID");
        let found = git_finding(&workspace);
        assert_eq!(found["status"], "warn", "{found}");
        says(&found, "branch `cleo`");
        workspace.git("branch --move cleo was-cleo");
        let found = git_finding(&workspace);
        assert_eq!(found["status"], "ok", "{found}");
    }
}

#[test]
fn tag_of_that_name_is_in_nobodys_way() {
    let workspace = repository();
    workspace.git("tag cleo");
    expect_exit(super::carry_out(&workspace, &words_for_one("edits")), 0);
}

#[test]
fn repos_without_checkout_are_refused() {
    for (prepare, why) in [
        ("git config core.bare true", "is a bare repository"),
        (
            "git switch --quiet --orphan empty",
            "nothing is committed in it",
        ),
        (
            "echo 1111111111111111111111111111111111111111 >.git/refs/heads/main",
            "names a commit that is not there",
        ),
        (
            "echo 'ref: refs/heads/none' >.git/HEAD",
            "nothing is committed in it",
        ),
    ] {
        let workspace = repository();
        let prepared = workspace.shell(prepare);
        assert_eq!(prepared.exit, 0, "{prepared}");
        is_refused(&workspace, "E_INPUT_INVALID", why);
        let refs = workspace.shell("git for-each-ref refs/heads/cleo").stdout;
        assert_eq!(refs, "", "{why}");
    }
}

#[test]
fn checkout_with_something_in_progress_is_refused() {
    for (what, prepare) in [
        ("rebase", "rebase --quiet other"),
        ("cherry-pick", "cherry-pick other"),
        ("revert", "revert HEAD~1"),
        ("bisect", "bisect start HEAD HEAD~1"),
    ] {
        let workspace = repository();
        workspace.git("switch --quiet --create other");
        workspace.write("shared.txt", "other\n");
        workspace.git(format!("{COMMIT} other"));
        workspace.git("switch --quiet main");
        for text in ["main\n", "more\n"] {
            workspace.write("shared.txt", text);
            workspace.git(format!("{COMMIT} main"));
        }
        workspace.shell(&format!("git -c user.name=a -c user.email=a@b {prepare}"));
        is_refused(
            &workspace,
            "E_INPUT_INVALID",
            &format!("a {what} is in progress"),
        );
    }
}

/// Names the file in which git keeps what is committed of `shared.txt`.
fn find_object(workspace: &TestWorkspace) -> String {
    let id = workspace.git("rev-parse HEAD:shared.txt");
    let (folder, name) = id.trim().split_at(2);
    format!(".git/objects/{folder}/{name}")
}

#[test]
fn task_without_worktree_is_given_back() {
    let workspace = repository();
    let object = workspace.path(&find_object(&workspace));
    let bytes = fs::read(&object).unwrap();
    fs::set_permissions(&object, PermissionsExt::from_mode(0o644)).unwrap();
    fs::write(&object, &bytes[..bytes.len() - 4]).unwrap();
    let (exit, result) = carry_out(&workspace, &words_for_one("edits"));
    assert_ne!(exit, 0, "{result:#}");
    says(&result["tasks"][0]["reason"], "no worktree can be made");
    says(&result["tasks"][0]["reason"], "`git -C [WORKSPACE] fsck`");
    let task = workspace.ask("show T1")["result"].clone();
    assert_eq!(task["task"]["status"], "pending", "{task:#}");
    assert_eq!(task["claim"], serde_json::Value::Null, "{task:#}");
    assert_eq!(workspace.git("for-each-ref refs/heads/cleo"), "");
    assert_eq!(workspace.git("worktree list").lines().count(), 1);
}

#[test]
fn an_old_git_is_refused() {
    let workspace = repository();
    let old = "#!/bin/sh\nfor word; do [ \"$word\" != version ] || { echo git version 2.30.2; exit; }; done\n";
    workspace.write(
        "../bin/git",
        format!("{old}PATH=${{PATH#*:}} exec git \"$@\"\n"),
    );
    let program = workspace.path("../bin/git");
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let folder = program.parent().unwrap().display().to_string();
    let workspace = workspace.env("PATH", &format!("{folder}:{path}"));
    is_refused(&workspace, "E_INPUT_INVALID", "git 2.30.2 is too old");
    let examined = workspace.ask("doctor");
    let findings = examined["result"]["findings"].as_array().unwrap();
    let found = findings
        .iter()
        .find(|found| found["check"] == "git")
        .unwrap();
    says(found, "too old");
}

#[test]
fn sparse_checkout_works() {
    let workspace = repository();
    workspace.write("out/far.txt", "far\n");
    workspace.write("in/near.txt", "near\n");
    workspace.git("add out in");
    workspace.git(format!("{COMMIT} more"));
    workspace.git("sparse-checkout set in");
    expect_exit(super::carry_out(&workspace, &words_for_one("edits")), 0);
    assert_eq!(workspace.read("T1.txt"), "T1\n");
    assert!(!workspace.path("out").exists());
    super::is_clean(&workspace);
}
