//! What was proven in a worktree is what the workspace holds afterwards.

use serde_json::Value;

use super::{AGENT, COMMIT, carried_out, git, is_clean, killed, repository};
use crate::world::TestWorkspace;

/// Runs tasks in worktrees with an agent that does something and then works as it should.
fn run(workspace: &TestWorkspace, tasks: &str, script: &str) -> (i32, Value) {
    carried_out(workspace, &words(workspace, tasks, script))
}

fn words(workspace: &TestWorkspace, tasks: &str, script: &str) -> Vec<String> {
    workspace.write("../work.sh", format!("{script}\nexec sh {AGENT} works\n"));
    let script = workspace.path("../work.sh").display().to_string();
    let mut words = shlex::split(&format!("run {tasks} --isolate worktree --repair 0")).unwrap();
    words.extend(["--command".to_string(), format!("sh {script}")]);
    words
}

#[test]
fn files_that_git_ignores_prove_nothing() {
    let workspace = repository();
    workspace.write(".gitignore", "*.out\n");
    git(&workspace, "add .gitignore");
    git(&workspace, &format!("{COMMIT} ignore"));
    workspace.ok("update T1 --acceptance 'it is made :: test -e made.out'");
    let (exit, result) = run(&workspace, "T1", "echo made >made.out");
    assert_eq!(exit, 80, "{result}");
    let why = result["tasks"][0]["missing"].to_string();
    assert!(why.contains("git ignores made.out"), "{why}");
    assert_eq!(
        workspace.json(&["show", "T1"])["result"]["task"]["status"],
        "pending"
    );
    is_clean(&workspace);
    // With what is ignored in the workspace, too, the work is taken.
    workspace.write("made.out", "mine");
    let (exit, result) = run(&workspace, "T1", "echo made >made.out");
    assert_eq!(exit, 0, "{result}");
    assert_eq!(workspace.read("made.out"), "mine");
}

#[test]
fn a_merge_whose_proof_was_killed_is_taken_back() {
    let workspace = repository();
    workspace.write(".gitignore", "*.out\n");
    git(&workspace, "add .gitignore");
    git(&workspace, &format!("{COMMIT} ignore"));
    let shared = workspace.path("..").display().to_string();
    let check = format!(
        "case $PWD in */trees/*) exit 0 ;; esac
: >{shared}/checking
until [ -e {shared}/resumed ]; do sleep 0.01; done
exit 1"
    );
    workspace.write("../check.sh", check);
    workspace.ok(&format!(
        "update T1 --acceptance 'it holds :: sh {shared}/check.sh'"
    ));
    let script = "echo made >made.out; echo work >work.txt";
    let id = killed(&workspace, &words(&workspace, "T1", script), "../checking");
    assert!(workspace.path("work.txt").exists());
    workspace.write("../resumed", "");
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["success"], false, "{resumed}");
    assert!(!workspace.path("work.txt").exists());
    assert_eq!(git(&workspace, "log --format=%s"), "ignore\nfirst\n");
}

#[test]
fn work_of_others_that_was_merged_meanwhile_is_proven_with() {
    let workspace = repository();
    for (task, file) in [("T1", "a"), ("T2", "b")] {
        let criterion = "not both :: sh -c \"! test -e a || ! test -e b\"";
        workspace.ok(&format!(
            "update {task} --file {file} --acceptance '{criterion}'"
        ));
    }
    // Both agents work before either is merged.
    let shared = workspace.path("..").display().to_string();
    let script = format!(
        "case $CLEO_TASK_ID in T1) f=a; o=b ;; *) f=b; o=a ;; esac
: >$f; : >{shared}/$f.made
until [ -e {shared}/$o.made ]; do sleep 0.01; done"
    );
    let (exit, result) = run(&workspace, "T1 T2 --jobs 2", &script);
    assert_eq!(exit, 81, "{result}");
    let there = ["a", "b"].map(|name| workspace.path(name).exists());
    assert_eq!(there.iter().filter(|there| **there).count(), 1, "{result}");
    assert_eq!(result["summary"]["done"], 1, "{result}");
}

#[test]
fn filters_that_an_agent_sets_have_nothing_committed() {
    let workspace = repository();
    workspace.ok("update T1 --acceptance 'it is good :: grep -q good f'");
    let script = "common=$(git rev-parse --path-format=absolute --git-common-dir)
git config --file $common/config filter.e.clean 'sed s/good/bad/'
git config --file $common/config filter.e.smudge 'sed s/bad/good/'
mkdir -p $common/info && echo 'f filter=e' >>$common/info/attributes
echo good >f";
    let (exit, result) = run(&workspace, "T1", script);
    assert_ne!(exit, 0, "{result}");
    let why = result["tasks"][0].to_string();
    assert!(why.contains("would commit other content"), "{why}");
    assert_eq!(git(&workspace, "log --format=%s"), "first\n");
}

#[test]
fn a_run_whose_database_is_removed_reports_no_success() {
    let workspace = repository();
    let database = workspace.path(".cleo/cleo.db");
    let script = format!("rm -f {}*", database.display());
    workspace.write("../work.sh", format!("{script}\nexec sh {AGENT} works\n"));
    let script = workspace.path("../work.sh").display().to_string();
    let command = workspace.command(&["run", "T1", "--command", &format!("sh {script}")]);
    let reply = workspace.finish(command, "");
    assert_ne!(reply.exit, 0, "{reply}");
    assert!(reply.stdout.contains("E_STORE_CORRUPT"), "{reply}");
}
