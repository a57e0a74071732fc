//! Locks that another git holds while a run merges.

use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use serde_json::json;

use super::{before_git, carry_out, document, is_clean, kill_run, repository, words_for_one};
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
    for call in ["read-tree --dry-run", "read-tree -m -u"] {
        let workspace = before_git(repository(), &format!("*'{call}'*"), script);
        let result = expect_exit(carry_out(&workspace, &words_for_one("edits")), 80);
        assert_eq!(result["tasks"][0]["outcome"], "blocked", "{call}: {result}");
        assert!(!workspace.path(".git/index.lock").exists(), "{call}");
        assert_eq!(workspace.read(".git/cleo.lock"), "", "{call}");
        is_clean(&workspace);
    }
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
    for (old, stage) in [(head.trim(), "write"), (&gone, "write"), (&gone, "prove")] {
        let noted = json!({
            "run": "run_1", "place": "/nothing/git", "branch": "main", "old": old, "new": gone, "stage": stage,
            "is_merge": true,
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

#[test]
fn merge_of_killed_run_is_not_pruned() {
    // It is killed when the files are written, and the branch is not moved.
    let script =
        "grep -q '\"stage\":\"write\"' .git/cleo.lock && kill -9 $PPID && exit 1; rm ../once";
    let workspace = before_git(repository(), "*'update-ref -m'*", script);
    let mut killed = workspace.command(&words_for_one("edits"));
    assert!(!killed.output().unwrap().status.success());
    assert_eq!(workspace.git("status --porcelain T1.txt"), "A  T1.txt\n");
    let listed = workspace.ask("runs list");
    let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
    let names = workspace.git("for-each-ref --format='%(refname)' refs/cleo");
    assert_eq!(names, format!("refs/cleo/merge/{id}\n"));
    let branches = workspace.git("branch --all --format='%(refname)'");
    assert!(!branches.contains("refs/cleo"), "{branches}");
    let doctor = workspace.ask("doctor");
    assert!(
        doctor
            .to_string()
            .contains(&format!("merge/{id} keeps the merge of a run"))
    );
    workspace.git("gc --quiet --prune=now");
    let resumed = workspace.ask(format!("runs resume {id}"));
    assert_eq!(resumed["result"]["tasks"][0]["state"], "done", "{resumed}");
    assert_eq!(resumed["warnings"], json!([]));
    assert_eq!(workspace.git("show HEAD:T1.txt"), "T1\n");
    is_clean(&workspace);
    assert!(!workspace.ask("doctor").to_string().contains("refs/cleo"));
}

#[test]
fn name_of_merge_changes_no_other_ref() {
    let workspace = repository();
    workspace.git("branch other");
    let first = workspace.git("rev-parse other");
    let link = "git symbolic-ref refs/cleo/merge/$CLEO_RUN_ID refs/heads/other";
    let words = super::proof::words(&workspace, "T1", &format!("{link}; echo work >work.txt"));
    expect_exit(carry_out(&workspace, &words), 0);
    assert_eq!(workspace.git("rev-parse other"), first);
    is_clean(&workspace);
    let commit = first.trim();
    for run in ["../../heads/other", "-d", "..", "a b"] {
        let noted = json!({
            "run": run, "place": "/nothing/git", "branch": "main", "old": commit, "new": commit, "stage": "prove",
            "is_merge": true,
        });
        workspace.write(".git/cleo.lock", noted.to_string());
        workspace.ok("reopen T1");
        expect_exit(carry_out(&workspace, &words), 0);
        assert_eq!(workspace.git("rev-parse other"), first, "{run}");
        assert_eq!(workspace.read(".git/cleo.lock"), "", "{run}");
        is_clean(&workspace);
    }
}

#[test]
fn name_of_merge_that_was_left_goes_with_its_run() {
    let workspace = repository();
    let id = kill_run(
        &workspace,
        &words_for_one("edits-and-hangs"),
        ".played/edited",
    );
    for run in [&id, "other"] {
        workspace.git(format!("update-ref refs/cleo/merge/{run} HEAD"));
    }
    workspace.ok(&format!("runs cancel {id}"));
    let left = workspace.git("for-each-ref --format='%(refname)' refs/cleo");
    assert_eq!(left, "refs/cleo/merge/other\n");
}
