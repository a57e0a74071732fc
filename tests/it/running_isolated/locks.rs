//! Locks that another git holds while a run merges.

use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use serde_json::json;

use super::{before_git, carry_out, document, is_clean, repository, words_for_one};
use crate::world::{expect_exit, says};

/// The command of a user that takes a lock.
fn locking(lock: &str) -> Vec<String> {
    words_for_one(&format!("meanwhile \": >.git/{lock}\""))
}

#[test]
fn lock_is_awaited() {
    for lock in [
        "index.lock",
        "HEAD.lock",
        "refs/heads/main.lock",
        "packed-refs.lock",
    ] {
        let workspace = repository();
        let mut child = workspace.command(&locking(lock));
        let child = child.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child.spawn().unwrap();
        // The work is on its branch: what comes next needs the lock.
        let is_saved = || {
            let there = workspace.git("for-each-ref --format='%(subject)' refs/heads/cleo");
            there.contains("T1: One")
        };
        while !is_saved() {
            assert!(child.try_wait().unwrap().is_none(), "{lock}");
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(500));
        fs::remove_file(workspace.path(&format!(".git/{lock}"))).unwrap();
        assert!(child.wait().unwrap().success(), "{lock}");
        assert_eq!(workspace.read("T1.txt"), "T1\n", "{lock}");
        assert!(!workspace.path(".git/MERGE_HEAD").exists(), "{lock}");
        assert_eq!(workspace.read(".git/cleo.lock"), "");
        is_clean(&workspace);
        assert_eq!(workspace.git("branch --list 'cleo/*'"), "", "{lock}");
    }
}

/// Sees that a lock that stays blocks the task, and that nothing of a merge is left.
#[track_caller]
fn stays(lock: &str) {
    let workspace = repository();
    workspace.write("mine", "mine\n");
    let result = expect_exit(carry_out(&workspace, &locking(lock)), 80);
    let task = &result["tasks"][0];
    assert_eq!(task["outcome"], "blocked", "{task}");
    let reason = task["reason"].as_str().unwrap();
    let named = format!("[WORKSPACE]/.git/{lock} of git; it was waited for 10 s");
    assert!(reason.contains(&named), "{reason}");
    let branch = task["branch"].as_str().unwrap();
    assert_eq!(workspace.git(format!("show {branch}:T1.txt")), "T1\n");
    assert!(workspace.path(&format!(".git/{lock}")).exists());
    assert!(!workspace.path(".git/MERGE_HEAD").exists());
    assert!(!workspace.path("T1.txt").exists());
    assert_eq!(workspace.read("mine"), "mine\n");
    assert_eq!(workspace.git("log --format=%s"), "first\n");
    assert_eq!(workspace.read(".git/cleo.lock"), "");
    is_clean(&workspace);
}

#[test]
fn lock_of_index_that_stays_is_named() {
    stays("index.lock");
}

#[test]
fn lock_of_head_that_stays_is_named() {
    stays("HEAD.lock");
}

#[test]
fn lock_of_branch_that_stays_is_named() {
    stays("refs/heads/main.lock");
}

#[test]
fn lock_of_git_that_is_killed_alone_does_not_stay() {
    let script = "echo >.git/index.lock; : >.git/index.lock; kill -9 $$";
    let workspace = before_git(repository(), "*'read-tree -m -u'*", script);
    let result = expect_exit(carry_out(&workspace, &words_for_one("edits")), 80);
    assert_eq!(result["tasks"][0]["outcome"], "blocked", "{result}");
    assert!(!workspace.path(".git/index.lock").exists());
    assert_eq!(workspace.read(".git/cleo.lock"), "");
    is_clean(&workspace);
}

#[test]
fn lock_of_killed_deletion_only_keeps_branch() {
    let script = ": >.git/packed-refs.lock; kill -9 $PPID";
    let workspace = before_git(repository(), "*'branch --quiet -D'*T1-1*", script);
    let mut killed = workspace.command(&words_for_one("edits"));
    assert!(!killed.output().unwrap().status.success());
    let listed = workspace.ask("runs list");
    let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
    let resumed = workspace.ask(format!("runs resume {id}"));
    assert_eq!(resumed["result"]["tasks"][0]["state"], "done", "{resumed}");
    says(&resumed["warnings"][0], "T1-1 was not deleted: another");
    assert_eq!(workspace.read("T1.txt"), "T1\n");
    is_clean(&workspace);
}

#[test]
fn note_of_merge_that_is_no_regular_file_is_refused() {
    for make in ["ln -s ../precious .git/cleo.lock", "mkfifo .git/cleo.lock"] {
        let workspace = repository();
        workspace.write("precious", "mine\n");
        assert_eq!(workspace.shell(make).exit, 0);
        let result = expect_exit(carry_out(&workspace, &words_for_one("edits")), 80);
        let reason = result["tasks"][0]["reason"].as_str().unwrap();
        let why = "[WORKSPACE]/.git/cleo.lock cannot be written: it is not a regular file";
        assert!(reason.contains(why), "{reason}");
        assert_eq!(workspace.read("precious"), "mine\n");
    }
}

#[test]
fn note_of_commits_that_git_has_lost_is_put_aside() {
    let workspace = repository();
    let head = workspace.git("rev-parse HEAD");
    let gone = "2".repeat(40);
    for (old, is_merge) in [(head.trim(), true), (&gone, true), (&gone, false)] {
        let noted = json!({
            "run": "run_1", "place": "/nothing/git", "branch": "main", "old": old, "new": gone,
            "is_merge": is_merge,
        });
        workspace.write(".git/cleo.lock", noted.to_string());
        let reply = workspace.finish(workspace.command(&words_for_one("edits")), "");
        let answer = document(&reply);
        assert_eq!(reply.exit, 0, "{answer}");
        let warnings = answer["warnings"].to_string();
        let expected = format!("from the commit {old} to {gone}, which git does not have any more");
        assert!(warnings.contains(&expected), "{answer}");
        workspace.ok("reopen T1");
    }
    is_clean(&workspace);
}
