//! Work proven in a worktree equals what the workspace has afterwards.

use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::Duration;
use std::{fs, thread};

use serde_json::{Value, json};

use super::{AGENT, COMMIT, carry_out, find_retained, is_clean, repository, words_for_one};
use crate::delivery::{GOOD, MANIFEST, entry_with};
use crate::world::{TestWorkspace, expect_exit, says, spawn};

/// Runs tasks in worktrees with an agent that does something and then works as it should.
pub(super) fn run(workspace: &TestWorkspace, tasks: &str, script: &str) -> (i32, Value) {
    carry_out(workspace, &words(workspace, tasks, script))
}

pub(super) fn words(workspace: &TestWorkspace, tasks: &str, script: &str) -> Vec<String> {
    workspace.write("../work.sh", format!("{script}\nexec sh {AGENT} works\n"));
    let script = workspace.path("../work.sh").display().to_string();
    let mut words = shlex::split(&format!("run {tasks} --isolate worktree --repair 0")).unwrap();
    words.extend(["--command".to_string(), format!("sh {script}")]);
    words
}

/// The same for T1, with a second attempt.
pub(super) fn words_with_repair(workspace: &TestWorkspace, script: &str) -> Vec<String> {
    let words = words(workspace, "T1", script).into_iter();
    let words = words.map(|word| if word == "0" { "1".to_string() } else { word });
    words.collect()
}

#[test]
fn repair_in_worktree_has_entry_of_its_own() {
    let workspace = repository();
    let first = workspace.path("../first").display().to_string();
    // It writes the manifest of its worktree, as agents do that know no other folder.
    let script = format!(
        "[ -e {first} ] && how=works || how=partial
: >{first}
CLEO_ROOT=$PWD exec sh {AGENT} $how"
    );
    let (exit, result) = carry_out(&workspace, &words_with_repair(&workspace, &script));
    assert_eq!(exit, 0, "{result}");
    let listed = workspace.json(&["manifest", "list"]);
    let entries = listed["result"]["entries"].as_array().unwrap();
    let entries = entries.iter().map(|entry| (&entry["id"], &entry["status"]));
    let entries = format!("{:?}", Vec::from_iter(entries));
    for (id, status) in [
        ("one-2026-01-26", "partial"),
        ("one-2026-01-26-2", "complete"),
    ] {
        let entry = format!("(String({id:?}), String({status:?}))");
        assert!(entries.contains(&entry), "{listed}");
    }
}

#[test]
fn claims_are_renewed_while_command_runs_in_workspace() {
    let workspace = repository();
    workspace.ok("config set claims.lease 1s");
    let check = r#"case $PWD in */trees/*) exit 0 ;; esac
expires() { cleo show T1 --json | grep -o '"expires":"[^"]*"'; }
before=$(expires)
for n in $(seq 200); do
    [ "$(expires)" = "$before" ] || exit 0
    sleep 0.02
done
exit 1"#;
    workspace.write("../check.sh", check);
    let check = workspace.path("../check.sh").display().to_string();
    workspace.ok(&format!("update T1 --acceptance 'it holds :: sh {check}'"));
    let mut run = workspace.command(&words(&workspace, "T1", "echo work >work.txt"));
    run.env_remove("CLEO_NOW");
    let reply = workspace.finish(run, "");
    assert_eq!(reply.exit, 0, "{reply}");
}

#[test]
fn files_that_git_ignores_prove_nothing() {
    let workspace = repository();
    workspace.write(".gitignore", "*.out\n");
    workspace.git("add .gitignore");
    workspace.git(format!("{COMMIT} ignore"));
    workspace.ok("update T1 --acceptance 'it is made :: test -e made.out'");
    let result = expect_exit(run(&workspace, "T1", "echo made >made.out"), 80);
    let why = result["tasks"][0]["violations"].to_string();
    assert!(why.contains("git ignores made.out"), "{why}");
    assert_eq!(
        workspace.ask("show T1")["result"]["task"]["status"],
        "pending"
    );
    assert_eq!(workspace.git("status --porcelain --untracked-files=no"), "");
    // The commands may need it, so it stays, also when the run is resumed.
    let kept = find_retained(&result["tasks"][0]);
    let id = last_run(&workspace);
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["success"], false, "{resumed}");
    assert_eq!(workspace.read(&format!("{kept}/made.out")), "made\n");
    // With what is ignored in the workspace, too, the work is taken.
    workspace.write("made.out", "mine");
    expect_exit(run(&workspace, "T1", "echo made >made.out"), 0);
    assert_eq!(workspace.read("made.out"), "mine");
}

#[test]
fn merge_that_was_reverted_is_not_advised() {
    let workspace = repository();
    workspace.write(".gitignore", "*.out\n");
    workspace.git("add .gitignore");
    workspace.git(format!("{COMMIT} ignore"));
    workspace.ok("update T1 --acceptance 'it is made :: test -e made.out'");
    let script = "echo made | tee made.out >made.txt";
    expect_exit(run(&workspace, "T1", script), 80);
    let look = format!("cleo runs show {}", last_run(&workspace));
    assert_eq!(workspace.result("next")["command"], look);
    let ready = workspace.ok("ready").stdout;
    assert!(ready.ends_with(&format!(": run `{look}`\n")), "{ready}");
}

#[test]
fn delivered_work_is_held_until_its_commands_ran() {
    let workspace = repository();
    workspace.ok("update T1 --acceptance 'it holds :: test -e made'");
    let spawned = spawn(&workspace, &["T1"]);
    let file = spawned["outputFile"].as_str().unwrap();
    workspace.write(file, GOOD);
    let name = file.rsplit('/').next().unwrap();
    let own = json!({"id": spawned["manifestId"], "file": name});
    workspace.write(MANIFEST, entry_with(own));
    let held = expect_exit(run(&workspace, "T1", "true"), 81);
    assert_eq!(held["tasks"][0]["attempts"], 0, "{held}");
    says(
        &held["tasks"][0]["reason"],
        "run `cleo verify T1 --run-all`",
    );
    // A command that failed on other files runs again before an agent.
    workspace.ask("verify T1 --run-all");
    workspace.write("made", "");
    let done = expect_exit(run(&workspace, "T1", "true"), 0);
    assert_eq!(done["tasks"][0]["attempts"], 0, "{done}");
}

#[test]
fn later_attempt_that_needs_no_ignored_file_keeps_no_worktree() {
    let workspace = repository();
    workspace.write(".gitignore", "build/\n");
    workspace.git("add .gitignore");
    workspace.git(format!("{COMMIT} ignore"));
    workspace.ok("update T1 --acceptance 'it is made :: sh -c \"cat made build/made\"'");
    let script = "[ ! -e build ] || { cp build/made made && git add made; }
mkdir -p build && echo made >build/made";
    // The one that fails may need what is in an ignored folder.
    let (exit, result) = carry_out(&workspace, &words_with_repair(&workspace, script));
    assert_eq!(exit, 80, "{result}");
    let kept = find_retained(&result["tasks"][0]);
    assert_eq!(workspace.read(&format!("{kept}/build/made")), "made\n");
    let workspace = repository();
    workspace.write(".gitignore", "build/\n");
    workspace.git("add .gitignore");
    workspace.git(format!("{COMMIT} ignore"));
    workspace.ok("update T1 --acceptance 'it is made :: sh -c \"cat made || cat build/made\"'");
    let (exit, result) = carry_out(&workspace, &words_with_repair(&workspace, script));
    assert_eq!(exit, 0, "{result}");
    is_clean(&workspace);
}

/// A workspace with a criterion that holds in worktrees, and in the workspace ends only once `../resumed` is
/// there, and fails.
pub(super) fn unprovable() -> TestWorkspace {
    let workspace = repository();
    workspace.write(".gitignore", "*.out\n");
    workspace.git("add .gitignore");
    workspace.git(format!("{COMMIT} ignore"));
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
    workspace
}

/// Has the agent of T1 do what [`unprovable`] rejects, and others something.
const UNPROVABLE: &str = "case $CLEO_TASK_ID in
T1) echo made >made.out; echo work >work.txt ;;
*) echo two >two.txt ;;
esac";

/// Sees that nothing of T1 is in the branch.
#[track_caller]
fn is_taken_back(workspace: &TestWorkspace, expected: &str) {
    assert!(!workspace.path("work.txt").exists());
    let log = workspace.git("log --first-parent --format=%s");
    assert_eq!(log, expected);
    assert_eq!(workspace.git("log --format=%s -- work.txt"), "");
    let task = workspace.ask("show T1");
    assert_eq!(task["result"]["task"]["status"], "pending", "{task}");
}

/// Begins a run, and returns once the merge of T1 is being proven.
pub(super) fn proving(workspace: &TestWorkspace, script: &str) -> (Child, String) {
    let mut run = workspace.command(&words(workspace, "T1", script));
    let run = run.stdout(Stdio::null()).stderr(Stdio::null());
    let run = run.spawn().unwrap();
    wait_until(|| workspace.path("../checking").exists());
    assert!(workspace.path("work.txt").exists());
    (run, last_run(workspace))
}

pub(super) fn last_run(workspace: &TestWorkspace) -> String {
    let listed = workspace.ask("runs list");
    let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
    id.to_string()
}

pub(super) fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn unproven_merge_is_reverted_after_a_kill() {
    for next in ["resume", "cancel", "another run"] {
        let workspace = unprovable();
        let (mut run, id) = proving(&workspace, UNPROVABLE);
        run.kill().unwrap();
        run.wait().unwrap();
        workspace.write("../resumed", "");
        let mut expected = "ignore\nfirst\n";
        match next {
            "another run" => {
                expect_exit(
                    carry_out(&workspace, &words(&workspace, "T2", UNPROVABLE)),
                    0,
                );
                expected = "T2: Two\nignore\nfirst\n";
                workspace.json(&["runs", "cancel", &id]);
            }
            next => {
                let answer = workspace.json(&["runs", next, &id]);
                assert_eq!(answer["success"], next == "cancel", "{answer}");
            }
        }
        is_taken_back(&workspace, expected);
    }
}

/// Has cleo be killed while it proved the merge of T1, and returns the id of the run.
fn kill_in_the_proof(workspace: &TestWorkspace, script: &str) -> String {
    let (mut run, id) = proving(workspace, script);
    run.kill().unwrap();
    run.wait().unwrap();
    id
}

#[test]
fn merge_killed_while_it_was_reverted_is_in_no_way() {
    for next in ["resume", "another run"] {
        let workspace = unprovable();
        workspace.write("staged.txt", "old\n");
        workspace.write("changed.txt", "old\n");
        workspace.git("add staged.txt changed.txt");
        workspace.git(format!("{COMMIT} mine"));
        let id = kill_in_the_proof(&workspace, "echo work | tee work.txt >shared.txt");
        // The files are those before the merge, and the branch has not moved yet.
        let mut noted: Value = serde_json::from_str(&workspace.read(".git/cleo.lock")).unwrap();
        let (before, merge) = (noted["old"].clone(), noted["new"].clone());
        workspace.git(format!(
            "read-tree -m -u {} {}",
            merge.as_str().unwrap(),
            before.as_str().unwrap()
        ));
        (noted["old"], noted["new"]) = (merge, before);
        noted["is_merge"] = false.into();
        workspace.write(".git/cleo.lock", noted.to_string());
        let text = "mine\r\n\0";
        for name in ["staged.txt", "changed.txt", "untracked.txt"] {
            workspace.write(name, text);
        }
        workspace.git("add staged.txt");
        workspace.write("../check.sh", "exit 0");
        match next {
            "resume" => {
                let resumed = workspace.json(&["runs", "resume", &id]);
                assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
                assert_eq!(workspace.read("shared.txt"), "work\n");
                assert_eq!(workspace.git("rev-list --count --merges HEAD"), "1\n");
                assert_eq!(workspace.read(".played/T1").lines().count(), 1);
            }
            _ => {
                expect_exit(run(&workspace, "T2", "echo two >two.txt"), 0);
                assert_eq!(workspace.read("shared.txt"), "nobody\n");
                assert_eq!(workspace.git("log --format=%s -- work.txt"), "");
            }
        }
        let status = workspace.git("status --porcelain");
        for line in ["M  staged.txt", " M changed.txt", "?? untracked.txt"] {
            assert!(status.contains(line), "{next}: {status}");
        }
        for name in ["staged.txt", "changed.txt", "untracked.txt"] {
            assert_eq!(workspace.read(name), text, "{next}: {name}");
        }
        assert_eq!(workspace.read(".git/cleo.lock"), "");
    }
}

#[test]
fn merge_is_named_after_its_branch_was_renamed_or_deleted() {
    for what in [
        "branch --move other",
        "switch --quiet --create other && git branch --quiet -D main",
    ] {
        let workspace = unprovable();
        let id = kill_in_the_proof(&workspace, UNPROVABLE);
        workspace.write("../resumed", "");
        workspace.git(what);
        let merge = workspace.git("rev-parse HEAD").trim().to_string();
        let refused = workspace.json(&["runs", "resume", &id]);
        assert_eq!(refused["error"]["code"], "E_CHECKOUT_CHANGED", "{refused}");
        let cancelled = workspace.json(&["runs", "cancel", &id]);
        let warnings = cancelled["warnings"].to_string();
        for text in [
            format!("the merge {merge} was not proven and stays"),
            format!("T1 is not done, but its work is merged: {merge}"),
        ] {
            assert!(warnings.contains(&text), "{what}: {cancelled}");
        }
        assert_eq!(cancelled["result"]["branches"], json!([]), "{what}");
        assert_eq!(workspace.git("show other:work.txt"), "work\n");
        assert_eq!(workspace.git("for-each-ref refs/cleo"), "");
    }
}

#[test]
fn merge_that_user_reverted_is_said_to_be() {
    let who = "-c user.name=a -c user.email=a@b";
    for is_proven in [true, false] {
        for next in ["cancel", "resume"] {
            let workspace = unprovable();
            let id = kill_in_the_proof(&workspace, UNPROVABLE);
            workspace.write("../check.sh", "exit 0");
            if is_proven {
                workspace.write(".git/cleo.lock", "");
                workspace.git(format!("update-ref -d refs/cleo/merge/{id}"));
            }
            let merge = workspace.git("rev-parse HEAD").trim().to_string();
            workspace.git(format!("{who} revert --no-edit -m 1 HEAD"));
            let revert = workspace.git("rev-parse HEAD").trim().to_string();
            let answer = workspace.json(&["runs", next, &id]);
            let told = answer.to_string();
            let expected =
                format!("its work was merged ({merge}) and reverted since; `git revert {revert}`");
            assert!(told.contains(&expected), "{is_proven} {next}: {answer}");
            assert!(!told.contains("-m 1"), "{is_proven} {next}: {answer}");
            assert!(!told.contains("is merged:"), "{is_proven} {next}: {answer}");
            let task = workspace.ask("show T1");
            assert_eq!(task["result"]["task"]["status"], "pending", "{task}");
            assert_eq!(workspace.git("rev-parse HEAD").trim(), revert);
        }
    }
    // A merge that is back counts again.
    let workspace = unprovable();
    let id = kill_in_the_proof(&workspace, UNPROVABLE);
    workspace.write("../check.sh", "exit 0");
    workspace.write(".git/cleo.lock", "");
    for options in ["-m 1", ""] {
        workspace.git(format!("{who} revert --no-edit {options} HEAD"));
    }
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
}

#[test]
fn what_user_did_after_killed_proof_stays() {
    for (what, text) in [
        (
            "git reset --quiet --hard HEAD~1 && echo mine >shared.txt",
            "mine\n",
        ),
        (
            "git checkout --quiet -b other HEAD~1 && git show main:shared.txt >shared.txt",
            "work\n",
        ),
        ("git commit --quiet --allow-empty --message more", "work\n"),
    ] {
        let workspace = unprovable();
        let script = UNPROVABLE.replace(
            "echo work >work.txt",
            "echo work | tee work.txt >shared.txt",
        );
        let (mut run, id) = proving(&workspace, &script);
        run.kill().unwrap();
        run.wait().unwrap();
        let done = workspace.shell(&format!(
            "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; {what}"
        ));
        assert_eq!(done.exit, 0, "{done}");
        let head = workspace.git("rev-parse HEAD");
        workspace.json(&["runs", "cancel", &id]);
        assert_eq!(workspace.git("rev-parse HEAD"), head, "{what}");
        assert_eq!(workspace.read("shared.txt"), text, "{what}");
        assert_eq!(workspace.read(".git/cleo.lock"), "");
    }
}

#[test]
fn run_begins_without_merge_that_is_being_proven() {
    let workspace = unprovable();
    let (mut first, _) = proving(&workspace, UNPROVABLE);
    let mut second = workspace.command(&words(&workspace, "T2", UNPROVABLE));
    let second = second.stdout(Stdio::piped()).stderr(Stdio::null());
    let second = second.spawn().unwrap();
    let count = || workspace.ask("runs list")["result"]["total"].clone();
    wait_until(|| count() == 2);
    workspace.write("../resumed", "");
    let reply = workspace.reply(&second.wait_with_output().unwrap());
    assert_eq!(reply.exit, 0, "{reply}");
    assert_eq!(first.wait().unwrap().code(), Some(80));
    is_taken_back(&workspace, "T2: Two\nignore\nfirst\n");
}

#[test]
fn cancelling_run_ends_proof_of_its_merge() {
    let workspace = unprovable();
    let (mut run, id) = proving(&workspace, UNPROVABLE);
    let cancelled = workspace.json(&["runs", "cancel", &id]);
    assert_eq!(
        cancelled["result"]["run"]["status"], "cancelled",
        "{cancelled}"
    );
    assert_eq!(run.wait().unwrap().code(), Some(130));
    is_taken_back(&workspace, "ignore\nfirst\n");
    let shown = workspace.json(&["runs", "show", &id]);
    let task = &shown["result"]["tasks"][0];
    assert_eq!(task["outcome"], "cancelled", "{task}");
    let branch = task["branch"].as_str().unwrap();
    assert_eq!(workspace.git(format!("show {branch}:work.txt")), "work\n");
    assert!(!task.to_string().contains("where git ignores"), "{task}");
}

#[test]
fn interrupted_run_takes_merge_back_that_it_was_proving() {
    let workspace = unprovable();
    let (mut run, _) = proving(&workspace, UNPROVABLE);
    workspace.shell(&format!("kill -INT {}", run.id()));
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert!(!workspace.path("work.txt").exists());
    assert_eq!(workspace.git("log --format=%s"), "ignore\nfirst\n");
}

#[test]
fn only_merges_of_task_are_reverted() {
    let workspace = unprovable();
    workspace.write("../resumed", "");
    workspace.ask("update T2 --title 'Undo T1: One'");
    let other = workspace.path("two.txt").display().to_string();
    let script = format!(
        "{UNPROVABLE}\n[ $CLEO_TASK_ID != T1 ] || until [ -e {other} ]; do sleep 0.01; done"
    );
    let result = expect_exit(run(&workspace, "T1 T2 --jobs 2", &script), 81);
    assert_eq!(result["summary"]["done"], 1, "{result}");
    is_taken_back(&workspace, "T2: Undo T1: One\nignore\nfirst\n");
    assert_eq!(workspace.read("two.txt"), "two\n");
}

#[test]
fn time_limit_ends_proof_of_merge() {
    let workspace = unprovable();
    let mut words = words(&workspace, "T1", UNPROVABLE);
    words.extend(["--time-limit", "2"].map(String::from));
    let result = expect_exit(carry_out(&workspace, &words), 124);
    assert!(workspace.path("../checking").exists(), "{result}");
    assert_eq!(result["tasks"][0]["outcome"], "timeout", "{result}");
    is_taken_back(&workspace, "ignore\nfirst\n");
}

/// Has the agents of T1 and T2 write the files a and b, both before either is merged.
fn beside_another(workspace: &TestWorkspace) -> String {
    let shared = workspace.path("..").display().to_string();
    format!(
        "case $CLEO_TASK_ID in T1) f=a; o=b ;; *) f=b; o=a ;; esac
: >$f; : >{shared}/$f.made
until [ -e {shared}/$o.made ]; do sleep 0.01; done"
    )
}

#[test]
fn agent_evidence_counts_next_to_work_merged_meanwhile() {
    for shown in ["--note made", "--run \"test -e $f\"", "--file $f"] {
        let workspace = repository();
        for task in ["T1", "T2"] {
            workspace.ok(&format!("update {task} --require-gate implemented"));
        }
        let script = beside_another(&workspace)
            + &format!("\ncleo verify $CLEO_TASK_ID --gate implemented {shown} >/dev/null");
        expect_exit(run(&workspace, "T1 T2 --jobs 2", &script), 0);
    }
}

#[test]
fn user_gates_are_proven_next_to_work_merged_meanwhile() {
    // An agent may show more than the user asked for, not less.
    for (more, done) in [("", 1), (" --run 'sh -c true'", 0)] {
        let workspace = repository();
        let gate = "--gate implemented --run 'sh -c \"! test -e a || ! test -e b\"'";
        for task in ["T1", "T2"] {
            workspace.ok(&format!("update {task} --require-gate implemented"));
            workspace.ok(&format!("verify {task} {gate}"));
        }
        let script = beside_another(&workspace)
            + &format!("\ncleo verify $CLEO_TASK_ID {gate}{more} >/dev/null");
        let result = expect_exit(run(&workspace, "T1 T2 --jobs 2", &script), 81);
        assert_eq!(result["summary"]["done"], done, "{result}");
    }
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
    let script = beside_another(&workspace);
    let result = expect_exit(run(&workspace, "T1 T2 --jobs 2", &script), 81);
    let there = ["a", "b"].map(|name| workspace.path(name).exists());
    assert_eq!(there.iter().filter(|there| **there).count(), 1, "{result}");
    assert_eq!(result["summary"]["done"], 1, "{result}");
}

#[test]
fn run_whose_database_is_removed_reports_no_success() {
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

/// Has an agent show that its task is done where `false` succeeds.
const FORGES: &str = "forged=$CLEO_ROOT/../forged
mkdir -p $forged && printf '#!/bin/sh\\nexit 0\\n' >$forged/false && chmod +x $forged/false
PATH=$forged:$PATH cleo verify $CLEO_TASK_ID --run-all >$forged/told 2>&1";

/// Sees that an agent which takes the evidence of T1 itself, and then does something, does not get it done.
#[track_caller]
fn is_not_believed(workspace: &TestWorkspace, script: &str) {
    for is_isolated in [true, false] {
        let mut words = words(workspace, "T1", script);
        words.retain(|word| is_isolated || !["--isolate", "worktree"].contains(&word.as_str()));
        let (exit, result) = carry_out(workspace, &words);
        let told = workspace.read("../forged/told");
        assert!(told.contains("\"passed\""), "{told}");
        assert_eq!(exit, 80, "isolated: {is_isolated}: {result}");
        let task = workspace.ask("show T1");
        assert_eq!(task["result"]["task"]["status"], "pending", "{task}");
    }
}

#[test]
fn criteria_that_agent_has_shown_are_shown_again() {
    let workspace = repository();
    workspace.ok("update T1 --file shared.txt --acceptance 'it holds :: false'");
    is_not_believed(&workspace, FORGES);
    is_not_believed(&workspace, &format!("{FORGES}\nexec sh {AGENT} completes"));
}

#[test]
fn gates_whose_command_user_gave_are_shown_again() {
    let workspace = repository();
    workspace.ok("update T1 --file shared.txt --require-gate implemented");
    workspace.ok("verify T1 --gate implemented --run 'grep -q nobody shared.txt'");
    let script = FORGES.replace("/false", "/grep").replace(
        "--run-all",
        "--gate implemented --run 'grep -q nobody shared.txt'",
    );
    is_not_believed(&workspace, &format!("echo bad >shared.txt\n{script}"));
}

#[test]
fn commands_decide_in_workspace_what_branch_does_not_hold() {
    for (more, command, script) in [
        ("", "test -d log", "mkdir log"),
        ("", "test -p pipe", "mkfifo pipe"),
        (
            "",
            "sh -c \"test $(stat -c %a key) = 600\"",
            "umask 077; echo x >key",
        ),
        (
            "--file a",
            "grep -q good b",
            "echo 'b ident' >.gitattributes; echo '$Id: good $' >b; echo a >a",
        ),
    ] {
        let workspace = repository();
        workspace.ok(&format!(
            "update T1 {more} --acceptance 'it is there :: {command}'"
        ));
        expect_exit(run(&workspace, "T1", script), 80);
        let task = workspace.ask("show T1");
        assert_eq!(task["result"]["task"]["status"], "pending", "{task}");
        assert_eq!(workspace.git("log --format=%s"), "first\n", "{command}");
    }
}

#[test]
fn work_beside_state_of_cleo_is_merged() {
    let workspace = repository();
    workspace.write(".cleo/skills/x/SKILL.md", "old\n");
    workspace.git("add .cleo/skills");
    workspace.git(format!("{COMMIT} skill"));
    workspace.ok("update T1 --acceptance 'it is new :: grep -q new .cleo/skills/x/SKILL.md'");
    let script = "echo new >.cleo/skills/x/SKILL.md
mkdir .cleo/agents .cleo/runs && echo 'id: new' >.cleo/agents/new.yaml
echo x | tee .cleo/cleo.db .cleo/cleo.db-wal >.cleo/runs/x
git add --force .cleo/cleo.db";
    expect_exit(run(&workspace, "T1", script), 0);
    assert_eq!(workspace.read(".cleo/agents/new.yaml"), "id: new\n");
    let expected = ".cleo/agents/new.yaml\n.cleo/skills/x/SKILL.md\nshared.txt\n";
    assert_eq!(workspace.git("ls-files"), expected);
    is_clean(&workspace);
}

/// Lets one call of git fail after the branch has moved: while that is checked, and while the work is proven.
#[test]
fn git_that_fails_after_merge_leaves_no_unproven_work() {
    for call in (1..=13).step_by(3) {
        let workspace = repository();
        let base = workspace.git("rev-parse main");
        let count = workspace.path("../count").display().to_string();
        let script = format!(
            "#!/bin/sh\nPATH=${{PATH#*:}}\nif [ \"$(git rev-parse main)\" != {} ]; then\n\
             echo >>{count}\n[ \"$(wc -l <{count})\" -ne {call} ] || exit 137\nfi\nexec git \"$@\"\n",
            base.trim()
        );
        workspace.write("../bin/git", script);
        let program = workspace.path("../bin/git");
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        workspace.ok("update T1 --acceptance 'it is there :: test -e T1.txt'");
        let own = std::env::var("PATH").unwrap();
        let path = format!("{}:{own}", program.parent().unwrap().display());
        let mut run = workspace.command(&words_for_one("edits"));
        run.env("PATH", path);
        let exit = run.output().unwrap().status.code();
        let shown = workspace.ask("show T1");
        let is_done = shown["result"]["task"]["status"] == "done";
        let merged = workspace.git("ls-tree --name-only main T1.txt");
        assert_eq!(!merged.is_empty(), is_done, "call {call}, exit {exit:?}");
    }
}
