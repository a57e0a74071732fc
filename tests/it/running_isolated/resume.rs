//! Worktrees of a killed run, and their resume.

use std::fs;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use super::proof::{last_run, proving, run, unprovable, wait_until, words, words_with_repair};
use super::{AGENT, before_git, carry_out, is_clean, kill_run, repository, words_for_one};
use crate::world::{TestWorkspace, expect_exit};

/// Runs T1, and kills cleo while the worktree is removed and one of its files is gone.
fn kill_in_the_removal(workspace: TestWorkspace) -> TestWorkspace {
    let killing = "for place; do :; done
rm -f \"$place/work.txt\" \"${place%/*}/removed-T1-1/work.txt\"
kill -9 $PPID
exit 1";
    let workspace = before_git(workspace, "*worktree\\ remove*/T1-1", killing);
    let words = words(&workspace, "T1", "echo work >work.txt");
    let mut run = workspace.command(&words);
    let run = run.stdout(Stdio::null()).stderr(Stdio::null());
    assert_eq!(run.status().unwrap().code(), None);
    workspace
}

#[test]
fn task_is_done_however_much_of_its_worktree_kill_left() {
    let workspace = repository();
    workspace.ok("update T1 --acceptance 'it is there :: test -e work.txt'");
    let workspace = kill_in_the_removal(workspace);
    let task = workspace.ask("show T1");
    assert_eq!(task["result"]["task"]["status"], "done", "{task}");
    let merged = workspace.git("rev-parse HEAD");
    let id = last_run(&workspace);
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    assert_eq!(workspace.git("rev-parse HEAD"), merged);
    assert_eq!(workspace.read(".played/T1").lines().count(), 1);
    assert!(!workspace.path(&format!(".cleo/runs/{id}/trees")).exists());
    assert_eq!(workspace.git("branch --list 'cleo/*'"), "");
    is_clean(&workspace);
}

#[test]
fn work_forced_meanwhile_is_merged_after_kill() {
    let workspace = repository();
    let shared = workspace.path("..").display().to_string();
    let script = format!(
        "echo work >work.txt
sh {AGENT} works
env -u CLEO_RUN_ID -u CLEO_TASK_ID -u CLEO_EPOCH CLEO_AGENT=alice cleo complete T1 --force
: >{shared}/forced
sleep 600"
    );
    let id = kill_run(&workspace, &words(&workspace, "T1", &script), "../forced");
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["success"], true, "{resumed}");
    assert_eq!(workspace.read("work.txt"), "work\n");
}

#[test]
fn locks_that_killed_git_left_in_worktree_are_removed() {
    let workspace = repository();
    let script = format!(
        "echo work >work.txt
sh {AGENT} works
place=$(git rev-parse --git-dir)
: >$place/index.lock && : >$place/HEAD.lock && : >{}
sleep 600",
        workspace.path("../locked").display()
    );
    let id = kill_run(&workspace, &words(&workspace, "T1", &script), "../locked");
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["success"], true, "{resumed}");
    assert_eq!(workspace.read("work.txt"), "work\n");
    assert_eq!(workspace.read(".played/T1").lines().count(), 1);
    is_clean(&workspace);
}

#[test]
fn later_attempt_in_worktree_finds_no_locks_of_killed_git() {
    let workspace = repository();
    let first = workspace.path("../first").display().to_string();
    let script = format!(
        "export GIT_CONFIG_GLOBAL=/dev/null
place=$(git rev-parse --git-dir)
[ -e {first} ] || {{ : >{first} && : >$place/index.lock && : >$place/HEAD.lock && exit; }}
echo work >work.txt && git add work.txt || exit
git -c user.name=a -c user.email=a@b commit --quiet --message mine || exit"
    );
    let (exit, result) = carry_out(&workspace, &words_with_repair(&workspace, &script));
    assert_eq!(exit, 0, "{result}");
    assert_eq!(workspace.read("work.txt"), "work\n");
    is_clean(&workspace);
}

#[test]
fn cancel_counts_work_that_was_merged_before_kill() {
    let workspace = kill_in_the_removal(repository());
    let id = last_run(&workspace);
    workspace.ok(&format!("runs cancel {id}"));
    let shown = workspace.json(&["runs", "show", &id]);
    assert_eq!(shown["result"]["tasks"][0]["state"], "done", "{shown}");
    assert_eq!(workspace.read("work.txt"), "work\n");
}

#[test]
fn work_that_was_proven_when_cleo_ended_is_not_done_again() {
    for signal in [Signal::KILL, Signal::INT, Signal::TERM] {
        let workspace = unprovable();
        let check = workspace.path("../check.sh").display().to_string();
        workspace.ok("update T1 --clear acceptance");
        workspace.ok(&format!(
            "update T1 --acceptance 'it is there :: test -e work.txt' --acceptance 'it holds :: sh {check}'"
        ));
        let (mut run, id) = proving(&workspace, "echo work >work.txt");
        kill_process(Pid::from_child(&run), signal).unwrap();
        run.wait().unwrap();
        // And once more while the resumed run proves it.
        fs::remove_file(workspace.path("../checking")).unwrap();
        let mut resumed = workspace.command(&["runs", "resume", &id]);
        let resumed = resumed.stdout(Stdio::null()).stderr(Stdio::null());
        let mut resumed = resumed.spawn().unwrap();
        wait_until(|| workspace.path("../checking").exists());
        kill_process(Pid::from_child(&resumed), signal).unwrap();
        resumed.wait().unwrap();
        workspace.write("../check.sh", "exit 0");
        workspace.write("../resumed", "");
        let resumed = workspace.json(&["runs", "resume", &id]);
        assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
        assert_eq!(workspace.read("work.txt"), "work\n");
        assert_eq!(workspace.read(".played/T1").lines().count(), 1);
        is_clean(&workspace);
    }
}

#[test]
fn ctrl_c_while_git_brings_work_home_ends_no_git() {
    for command in ["commit-tree", "merge-tree", "worktree remove"] {
        let workspace = repository();
        let (played, once) = (workspace.path(".played/T1"), workspace.path("../once"));
        let slow = format!(
            "if [ -e {} ]; then kill -INT $PPID; sleep 0.1; else rm {}; fi",
            played.display(),
            once.display()
        );
        let workspace = before_git(workspace, &format!("*' {command} '*"), &slow);
        expect_exit(run(&workspace, "T1", "echo work >work.txt"), 0);
        assert!(once.exists());
        assert_eq!(workspace.read("work.txt"), "work\n");
        is_clean(&workspace);
    }
}

#[test]
fn work_killed_while_its_worktree_was_judged_is_not_done_again() {
    let workspace = unprovable();
    workspace.write(
        "../check.sh",
        format!(
            ": >{0}/checking\nuntil [ -e {0}/resumed ]; do sleep 0.01; done\ntest -e work.txt",
            workspace.path("..").display()
        ),
    );
    let words = words(&workspace, "T1", "echo work >work.txt");
    let id = kill_run(&workspace, &words, "../checking");
    workspace.write("../resumed", "");
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    assert_eq!(workspace.read("work.txt"), "work\n");
    assert_eq!(workspace.read(".played/T1").lines().count(), 1);
    is_clean(&workspace);
}

#[test]
fn branch_of_worktree_that_kill_removed_is_named() {
    let workspace = repository();
    workspace.ok("update T1 --acceptance 'it holds :: false'");
    let workspace = kill_in_the_removal(workspace);
    let id = last_run(&workspace);
    let resumed = workspace.json(&["runs", "resume", &id]);
    let branch = format!("cleo/{id}/T1-1");
    assert!(resumed.to_string().contains(&branch), "{resumed}");
    assert_eq!(workspace.git(format!("show {branch}:work.txt")), "work\n");
    workspace.json(&["runs", "resume", &id]);
    let events = super::events(&workspace);
    assert_eq!(
        events.matches(&format!("\"{branch}\"")).count(),
        1,
        "{events}"
    );
}

#[test]
fn work_proven_before_kill_is_not_proven_again() {
    let workspace = repository();
    let shared = workspace.path("..").display().to_string();
    workspace.write("../check.sh", "exit 0");
    workspace.ok(&format!(
        "update T1 --acceptance 'it holds :: sh {shared}/check.sh'"
    ));
    let workspace = kill_in_the_removal(workspace);
    workspace.write("../check.sh", format!(": >{shared}/checking"));
    let id = last_run(&workspace);
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    assert!(!workspace.path("../checking").exists());
    let task = workspace.ask("show T1");
    assert_eq!(task["result"]["task"]["status"], "done", "{task}");
}

#[test]
fn task_is_not_completed_by_its_agent_under_another_claim() {
    let workspace = repository();
    workspace.ok("update T1 --acceptance 'it holds :: make test'");
    workspace.write("../bin/make", "#!/bin/sh\nexit 0\n");
    let shared = workspace.path("..").display().to_string();
    let script = format!(
        "[ -e {shared}/first ] && exit 0
: >{shared}/first
sh {AGENT} works
chmod +x {shared}/bin/make
cleo=\"env -u CLEO_EPOCH PATH={shared}/bin:$PATH cleo\"
PATH={shared}/bin:$PATH cleo verify T1 --run-all
exec >/dev/null 2>&1
: >{shared}/proven
while kill -0 $PPID; do sleep 0.01; done
cleo release T1
$cleo claim T1
$cleo complete T1
: >{shared}/completed
sleep 600"
    );
    let id = kill_run(&workspace, &words(&workspace, "T1", &script), "../proven");
    wait_until(|| workspace.path("../completed").exists());
    let task = workspace.ask("show T1");
    assert_eq!(task["result"]["task"]["status"], "active", "{task}");
    workspace.ok("update T1 --note 'looks good'");
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["success"], false, "{resumed}");
    let task = workspace.ask("show T1");
    assert_eq!(task["result"]["task"]["status"], "pending", "{task}");
}

#[test]
fn worktree_that_cannot_be_set_aside_is_kept_whole() {
    let workspace = repository();
    let script = "mkdir -p \"$CLEO_WORKTREE/../removed-T1-1/x\" && echo work >work.txt";
    let result = expect_exit(carry_out(&workspace, &words(&workspace, "T1", script)), 0);
    let kept = result["tasks"][0].to_string();
    assert!(kept.contains("trees/T1-1"), "{result}");
    let id = last_run(&workspace);
    let place = format!(".cleo/runs/{id}/trees/T1-1/work.txt");
    assert_eq!(workspace.read(&place), "work\n");
}

#[test]
fn task_completed_by_person_after_kill_stays_done() {
    let workspace = repository();
    let shared = workspace.path("..").display().to_string();
    let script = format!("sh {AGENT} works\n: >{shared}/worked\nsleep 600");
    let id = kill_run(&workspace, &words(&workspace, "T1", &script), "../worked");
    workspace.ok("release T1 --force");
    workspace.ok("claim T1");
    workspace.ok("complete T1 --force");
    // An agent of the same run that is still there.
    let mut agent = workspace.command(&["update", "T1", "--note", "seen"]);
    let agent = agent.env("CLEO_AGENT", &id).env("CLEO_RUN_ID", &id);
    assert!(agent.output().unwrap().status.success());
    workspace.json(&["runs", "resume", &id]);
    let task = workspace.ask("show T1");
    assert_eq!(task["result"]["task"]["status"], "done", "{task}");
    assert_eq!(workspace.read(".played/T1").lines().count(), 1);
}

#[test]
fn run_is_cancelled_while_it_judges_worktree_at_resume() {
    let workspace = repository();
    let shared = workspace.path("..").display().to_string();
    workspace.write("../check.sh", format!(": >{shared}/checking\nsleep 600"));
    workspace.ok(&format!(
        "update T1 --acceptance 'it holds :: sh {shared}/check.sh'"
    ));
    let words = words(&workspace, "T1", "echo work >work.txt");
    let id = kill_run(&workspace, &words, "../checking");
    std::fs::remove_file(workspace.path("../checking")).unwrap();
    let mut resume = workspace.command(&["runs", "resume", &id]);
    let resume = resume.stdout(Stdio::null()).stderr(Stdio::null());
    let mut resume = resume.spawn().unwrap();
    wait_until(|| workspace.path("../checking").exists());
    workspace.ok(&format!("runs cancel {id}"));
    resume.wait().unwrap();
    let run = workspace.json(&["runs", "show", &id]);
    assert_eq!(run["result"]["run"]["status"], "cancelled", "{run}");
}

/// Has the agent of T1 prove it in its worktree and ask for its completion, and kills the run then.
fn proven_by_its_agent(workspace: &TestWorkspace) -> String {
    let shared = workspace.path("..").display().to_string();
    workspace.write("../check.sh", "exit 0");
    workspace.ok(&format!(
        "update T1 --acceptance 'it holds :: sh {shared}/check.sh'"
    ));
    let script = format!(
        "echo work >work.txt
sh {AGENT} works
cleo verify T1 --run-all
cleo complete T1
: >{shared}/completed
sleep 600"
    );
    let id = kill_run(workspace, &words(workspace, "T1", &script), "../completed");
    let task = workspace.ask("show T1");
    assert_eq!(task["result"]["task"]["status"], "active", "{task}");
    id
}

#[test]
fn cancel_at_resume_keeps_work_that_is_only_in_its_worktree() {
    let workspace = repository();
    let id = proven_by_its_agent(&workspace);
    let shared = workspace.path("..").display().to_string();
    workspace.write("../check.sh", format!(": >{shared}/checking\nsleep 600"));
    let mut resume = workspace.command(&["runs", "resume", &id]);
    let resume = resume.stdout(Stdio::null()).stderr(Stdio::null());
    let mut resume = resume.spawn().unwrap();
    wait_until(|| workspace.path("../checking").exists());
    workspace.ok(&format!("runs cancel {id}"));
    resume.wait().unwrap();
    let task = workspace.ask("show T1");
    assert_eq!(task["result"]["task"]["status"], "pending", "{task}");
}

#[test]
fn cancel_after_kill_keeps_work_that_is_only_in_its_worktree() {
    let workspace = repository();
    let id = proven_by_its_agent(&workspace);
    workspace.ok(&format!("runs cancel {id}"));
    let task = workspace.ask("show T1");
    assert_eq!(task["result"]["task"]["status"], "pending", "{task}");
    let branch = format!("cleo/{id}/T1-1");
    assert_eq!(workspace.git(format!("show {branch}:work.txt")), "work\n");
}

#[test]
fn worktree_that_was_half_written_leaves_no_branch() {
    let half = "git \"$@\"; rm .cleo/runs/*/trees/T1-1/shared.txt; kill -9 $PPID; exit 1";
    let workspace = before_git(repository(), "*'worktree add'*T1-1*", half);
    let mut killed = workspace.command(&words_for_one("works"));
    assert!(!killed.output().unwrap().status.success());
    let listed = workspace.result("runs list");
    let id = listed["runs"][0]["id"].as_str().unwrap();
    let resumed = workspace.json(&["runs", "resume", id]);
    assert_eq!(resumed["success"], true, "{resumed}");
    assert_eq!(workspace.git("for-each-ref refs/heads/cleo"), "");
    assert_eq!(workspace.git("show HEAD:shared.txt"), "nobody\n");
    is_clean(&workspace);
}

#[test]
fn locks_of_killed_git_in_checkout_are_removed() {
    let killing = ": >.git/refs/heads/main.lock; : >.git/HEAD.lock; kill -9 $PPID; exit 1";
    let workspace = before_git(repository(), "*update-ref*refs/heads/main*", killing);
    let mut killed = workspace.command(&words_for_one("edits"));
    assert!(!killed.output().unwrap().status.success());
    let listed = workspace.result("runs list");
    let id = listed["runs"][0]["id"].as_str().unwrap();
    let resumed = workspace.json(&["runs", "resume", id]);
    assert_eq!(resumed["success"], true, "{resumed}");
    assert_eq!(workspace.read("T1.txt"), "T1\n");
    is_clean(&workspace);
}

#[test]
fn failed_task_is_given_back_after_kill() {
    let workspace = before_git(repository(), "*'worktree remove'*/T1-1", "kill -9 $PPID");
    let mut killed = workspace.command(&words_for_one("crashes"));
    assert!(!killed.output().unwrap().status.success());
    let listed = workspace.ask("runs list");
    let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
    workspace.ask(format!("runs resume {id}"));
    let shown = workspace.ask("show T1");
    assert_eq!(shown["result"]["task"]["status"], "pending", "{shown}");
    assert!(shown["result"]["claim"]["holder"].is_null(), "{shown}");
    is_clean(&workspace);
}
