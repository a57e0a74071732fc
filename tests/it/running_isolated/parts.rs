//! Tasks that the agent of another one took on in its worktree.

use super::proof::run;
use super::{AGENT, repository};
use crate::world::{TestWorkspace, expect_exit};

fn status(workspace: &TestWorkspace, task: &str) -> String {
    let shown = workspace.json(&["show", task]);
    shown["result"]["task"]["status"]
        .as_str()
        .unwrap()
        .to_string()
}

/// Has an agent of T1 add a part with a criterion that the user trusts, make its file and complete it, and then do
/// something.
fn split(workspace: &TestWorkspace, then: &str) -> String {
    workspace.ok("update T2 --acceptance 'part :: test -f part.txt'");
    format!(
        ": >part.txt
{{ cleo add Part --parent T1 --acceptance 'part :: test -f part.txt' && cleo claim T3 \
&& cleo verify T3 --run-all && cleo complete T3; }} >$CLEO_ROOT/../told 2>&1
{then}"
    )
}

#[test]
fn parts_are_done_once_they_hold_in_workspace() {
    for (then, exit, expected) in [
        (":", 0, ["done", "done"]),
        ("rm part.txt", 80, ["pending", "pending"]),
        ("exit 3", 80, ["pending", "pending"]),
    ] {
        let workspace = repository();
        let script = split(&workspace, then);
        let (ended, result) = run(&workspace, "T1", &script);
        let told = workspace.read("../told");
        assert!(told.contains("T3 is under review"), "{told}");
        assert_eq!(ended, exit, "{then}: {result}");
        assert_eq!(
            ["T1", "T3"].map(|id| status(&workspace, id)),
            expected,
            "{then}"
        );
        assert_eq!(workspace.path("part.txt").exists(), exit == 0, "{then}");
        if exit == 0 {
            // A merged task stays done, whatever happens to its task later.
            workspace.ok("reopen T1");
            let (failed, result) = run(&workspace, "T1", "exit 3");
            assert_eq!(failed, 80, "{result}");
            assert_eq!(status(&workspace, "T3"), "done");
        } else {
            // The part is work for the agent of its task again.
            let resumed =
                workspace.json(&["runs", "resume", result["run"]["id"].as_str().unwrap()]);
            assert_eq!(resumed["result"]["tasks"][0]["attempts"], 2, "{resumed}");
        }
    }
}

#[test]
fn helpers_of_agent_finish_parts_too() {
    let workspace = repository();
    let add = "cleo add Part --parent T1 --acceptance 'part :: test -f part.txt'";
    let script = split(&workspace, "").replace(add, &format!("{add} && export CLEO_AGENT=helper"));
    let script = script.replace("told 2>&1", "told 2>&1; export CLEO_AGENT=$CLEO_RUN_ID");
    expect_exit(run(&workspace, "T1", &script), 0);
    assert_eq!(status(&workspace, "T3"), "done");
}

#[test]
fn part_is_below_task_of_its_agent_and_no_task_of_run() {
    let workspace = repository();
    let script = split(
        &workspace,
        "{ cleo claim T2 && cleo complete T2; } 2>>$CLEO_ROOT/../told >&2",
    );
    expect_exit(run(&workspace, "T1", &script), 0);
    let told = workspace.read("../told");
    assert!(told.contains("T2 is not below its own task"), "{told}");
    assert_eq!(status(&workspace, "T2"), "pending");
}

#[test]
fn agents_leave_parts_of_others_alone() {
    let workspace = repository();
    let import = "cleo export --format text | sed '/\"T3\"/{s/\"parent\":\"T1\"/\"parent\":null/;s/\"updatedAt\":\"2026-01-26T09:0/\"updatedAt\":\"2026-01-26T09:5/}' >$CLEO_ROOT/../moved.jsonl
CLEO_TASK_ID=T2 cleo import $CLEO_ROOT/../moved.jsonl";
    let other = "for words in release 'release --force' start 'update --parent none' \
'update --status pending' 'update --type epic' 'update --depends T2' \
'verify --gate implemented --note seen'; do
set -- $words; verb=$1; shift; CLEO_TASK_ID=T2 cleo $verb T3 $*; done";
    let script = split(
        &workspace,
        &format!("{{ {other}; {import}; }} >$CLEO_ROOT/../other 2>&1"),
    );
    expect_exit(run(&workspace, "T1", &script), 0);
    let told = workspace.read("../other");
    assert_eq!(
        told.matches("CLEO_TASK_ID is `T2`, and the run started")
            .count(),
        9,
        "{told}"
    );
    assert_eq!(status(&workspace, "T3"), "done");
}

#[test]
fn agents_add_no_part_to_task_of_somebody_else() {
    let workspace = repository();
    workspace.ok("claim T2");
    let line = r#"{"id":"T9","uid":"01KFW3Z8M0000000000000000A","title":"x","parent":"T2"}"#;
    let other = format!(
        "cleo export --format text >$CLEO_ROOT/../part.jsonl
echo '{line}' >>$CLEO_ROOT/../part.jsonl
for words in 'add Part --parent T2' 'update T3 --parent T2' 'update T2 --title x' \
\"import $CLEO_ROOT/../part.jsonl --from cleo\"; do cleo $words; done"
    )
    .replace("\\\"", "\"");
    let script = split(
        &workspace,
        &format!("{{ {other}; }} >$CLEO_ROOT/../other 2>&1"),
    );
    expect_exit(run(&workspace, "T1", &script), 0);
    let told = workspace.read("../other");
    let refused = "T2 is claimed by tester (epoch 1) until";
    assert_eq!(told.matches(refused).count(), 4, "{told}");
}

#[test]
fn agent_answers_for_no_task_of_others() {
    let workspace = repository();
    let result = expect_exit(super::run(&workspace, "answers-for-other"), 81);
    let told = workspace.read(".played/answered");
    assert!(
        told.contains("holds T2 for another of its agents"),
        "{told}"
    );
    assert_eq!(result["tasks"][0]["state"], "done", "{result}");
    assert_eq!(status(&workspace, "T2"), "pending");
}

#[test]
fn agent_named_like_its_user_moves_no_task_of_others() {
    let workspace = repository();
    let other = "for words in 'delete T2' 'update T2 --parent T1'; do
CLEO_AGENT=tester cleo $words; done";
    let script = split(
        &workspace,
        &format!("{{ {other}; }} >$CLEO_ROOT/../other 2>&1"),
    );
    expect_exit(run(&workspace, "T1", &script), 0);
    let told = workspace.read("../other");
    assert_eq!(told.matches("E_STATUS_REFUSED").count(), 2, "{told}");
    assert_eq!(status(&workspace, "T2"), "pending");
}

#[test]
fn agent_proves_nothing_in_its_worktree_that_is_not_its_work() {
    let workspace = repository();
    workspace.ok("update T2 --file shared.txt --acceptance 'there :: test -e there'");
    let other = "touch there; cleo verify T2 --run-all;
cleo verify T2 --gate implemented --note seen; rm there";
    let script = split(
        &workspace,
        &format!("{{ {other}; }} >$CLEO_ROOT/../other 2>&1"),
    );
    expect_exit(run(&workspace, "T1", &script), 0);
    let told = workspace.read("../other");
    assert_eq!(told.matches("E_STATUS_REFUSED").count(), 2, "{told}");
    workspace.refuse("complete T2", "E_CRITERION_OPEN");
}

#[test]
fn agent_gives_back_and_deletes_follow_up_that_it_added() {
    let workspace = repository();
    let own =
        "cleo add Later && cleo claim T4 && cleo release T4 && cleo start T4 && cleo delete T4";
    let script = split(&workspace, &format!("{{ {own}; }} >$CLEO_ROOT/../own 2>&1"));
    expect_exit(run(&workspace, "T1", &script), 0);
    workspace.refuse("show T4", "E_TASK_NOT_FOUND");
    assert!(!workspace.read("../own").contains("error"));
}

#[test]
fn part_whose_criterion_was_not_run_is_not_done() {
    let workspace = repository();
    let cleo = "env -u CLEO_RUN_ID -u CLEO_AGENT -u CLEO_TASK_ID -u CLEO_WORKTREE cleo";
    let script = split(
        &workspace,
        &format!("cd $CLEO_ROOT && {cleo} trust --remove >../removed 2>&1; cd - && rm part.txt"),
    );
    expect_exit(run(&workspace, "T1", &script), 80);
    assert!(!workspace.read("../removed").contains("error"));
    assert_eq!(status(&workspace, "T3"), "pending");
}

#[test]
fn parts_that_were_moved_are_given_back() {
    for move_it in [
        "cleo update T3 --parent T2",
        "cleo update T3 --status pending",
        "cleo archive T3",
        "cleo start T3",
        "cleo cancel T3 && cleo reopen T3",
    ] {
        let workspace = repository();
        let script = split(&workspace, &format!("{move_it} >&2; exit 3"));
        expect_exit(run(&workspace, "T1", &script), 80);
        assert_eq!(status(&workspace, "T3"), "pending", "{move_it}");
        // Proof in the worktree alone is no longer valid.
        let standing = workspace.ask("verify T3");
        assert_eq!(
            standing["result"]["criteria"][0]["state"], "unproven",
            "{move_it}"
        );
    }
}

#[test]
fn task_with_unfinished_parts_is_not_completed() {
    let workspace = repository();
    let script = format!(
        "sh {AGENT} works\n{{ cleo add Part --parent T1; cleo complete T1; }} >$CLEO_ROOT/../told 2>&1; exit"
    );
    expect_exit(run(&workspace, "T1", &script), 80);
    let told = workspace.read("../told");
    assert!(
        told.contains("T1 has children that are not done: T3"),
        "{told}"
    );
}

#[test]
fn what_agents_claimed_and_left_is_given_back_at_end() {
    let workspace = repository();
    let words = "run T1 --command";
    workspace.write(
        "../work.sh",
        format!("cleo claim T2\nexec sh {AGENT} works\n"),
    );
    let script = format!("sh {}", workspace.path("../work.sh").display());
    let mut words: Vec<&str> = words.split(' ').collect();
    words.push(&script);
    let reply = workspace.json(&words);
    assert_eq!(reply["success"], true, "{reply}");
    let warnings = reply["warnings"].to_string();
    assert!(warnings.contains("T2 is given back"), "{warnings}");
    assert_eq!(status(&workspace, "T2"), "pending");
}

#[test]
fn cleo_finds_workspace_where_git_checked_part_of_it_out() {
    let workspace = repository();
    workspace.git("add .cleo/.gitignore");
    workspace.git("commit --quiet --message cleo");
    workspace.ok("update T1 --acceptance 'it is listed :: cleo show T1'");
    expect_exit(run(&workspace, "T1", "echo one >one.txt"), 0);
}

#[test]
fn submodules_are_not_moved_behind_back_of_their_checkout() {
    let workspace = repository();
    let link = |commit: &str| format!("update-index --add --cacheinfo 160000,{commit},lib");
    let head = workspace.git("rev-parse HEAD").trim().to_string();
    workspace.git(link(&head));
    workspace.git("commit --quiet --message link");
    let other = workspace.git("rev-parse HEAD").trim().to_string();
    let commit = "git -c user.name=a -c user.email=a@b commit --quiet --message moved";
    let script = format!("git {} && {commit}", link(&other));
    let result = expect_exit(run(&workspace, "T1", &script), 80);
    let why = result["tasks"][0].to_string();
    assert!(
        why.contains("lib is a submodule, which is changed"),
        "{why}"
    );
    assert_eq!(workspace.git("log -1 --format=%s"), "link\n");
}
