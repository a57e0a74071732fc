//! Tasks that the agent of another one took on in its worktree.

use super::proof::run;
use super::{git, repository};
use crate::world::TestWorkspace;

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
fn parts_are_done_once_they_hold_in_the_workspace() {
    for (then, exit, expected) in [
        (":", 0, ["done", "done"]),
        ("rm part.txt", 80, ["pending", "pending"]),
        ("exit 3", 80, ["pending", "pending"]),
    ] {
        let workspace = repository();
        let script = split(&workspace, then);
        let (ended, result) = run(&workspace, "T1", &script);
        let told = workspace.read("../told");
        assert!(told.contains("\"unblocked\""), "{told}");
        assert_eq!(ended, exit, "{then}: {result}");
        assert_eq!(
            ["T1", "T3"].map(|id| status(&workspace, id)),
            expected,
            "{then}"
        );
        assert_eq!(workspace.path("part.txt").exists(), exit == 0, "{then}");
        if exit == 0 {
            // What was merged once stays done, whatever becomes of its task later.
            workspace.ok("reopen T1");
            let (failed, result) = run(&workspace, "T1", "exit 3");
            assert_eq!(failed, 80, "{result}");
            assert_eq!(status(&workspace, "T3"), "done");
        } else {
            // What was only seen in the worktree proves nothing any more.
            let standing = workspace.json(&["verify", "T3"]);
            assert_ne!(standing["result"]["criteria"][0]["state"], "proven");
            // The part is work for the agent of its task again.
            let resumed =
                workspace.json(&["runs", "resume", result["run"]["id"].as_str().unwrap()]);
            assert_eq!(resumed["result"]["tasks"][0]["attempts"], 2, "{resumed}");
        }
    }
}

#[test]
fn parts_are_completed_in_the_name_of_the_run_and_stay_where_they_are() {
    let workspace = repository();
    let add = "cleo add Part --parent T1 --acceptance 'part :: test -f part.txt'";
    let script = split(&workspace, "").replace(add, &format!("{add} && export CLEO_AGENT=helper"));
    run(&workspace, "T1", &script);
    let told = workspace.read("../told");
    assert!(told.contains("by what is in its worktree"), "{told}");
    assert_ne!(status(&workspace, "T3"), "done");

    let workspace = repository();
    let move_it = "cleo update T3 --parent T2 >$CLEO_ROOT/../moved 2>&1";
    let script = split(&workspace, move_it);
    let (exit, result) = run(&workspace, "T1", &script);
    assert_eq!(exit, 0, "{result}");
    let told = workspace.read("../moved");
    assert!(told.contains("moves it only before that"), "{told}");

    // What they hang on can be moved, and they are found there.
    let workspace = repository();
    let within = "cleo add Between --parent T1 && cleo add Part --parent T3 ";
    let script = split(&workspace, "cleo update T3 --parent none >&2; exit 3");
    let script = script
        .replace("cleo add Part --parent T1 ", within)
        .replace("claim T3", "claim T4");
    let script = script
        .replace("verify T3", "verify T4")
        .replace("complete T3", "complete T4");
    run(&workspace, "T1", &script);
    let told = workspace.read("../told");
    assert!(told.contains("\"unblocked\""), "{told}");
    assert_eq!(status(&workspace, "T4"), "pending");
}

#[test]
fn what_agents_claimed_and_left_is_given_back_at_the_end() {
    let workspace = repository();
    let words = "run T1 --command";
    workspace.write(
        "../work.sh",
        format!("cleo claim T2\nexec sh {} works\n", super::AGENT),
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
fn cleo_finds_the_workspace_where_git_checked_a_part_of_it_out() {
    let workspace = repository();
    git(&workspace, "add .cleo/.gitignore");
    git(
        &workspace,
        "-c user.name=a -c user.email=a@b commit --quiet --message cleo",
    );
    workspace.ok("update T1 --acceptance 'it is listed :: cleo show T1'");
    let (exit, result) = run(&workspace, "T1", "echo one >one.txt");
    assert_eq!(exit, 0, "{result}");
}

#[test]
fn submodules_are_not_moved_behind_the_back_of_their_checkout() {
    let workspace = repository();
    let link = |commit: &str| format!("update-index --add --cacheinfo 160000,{commit},lib");
    let head = git(&workspace, "rev-parse HEAD").trim().to_string();
    git(&workspace, &link(&head));
    git(
        &workspace,
        "-c user.name=a -c user.email=a@b commit --quiet --message link",
    );
    let other = git(&workspace, "rev-parse HEAD").trim().to_string();
    let commit = "git -c user.name=a -c user.email=a@b commit --quiet --message moved";
    let script = format!("git {} && {commit}", link(&other));
    let (exit, result) = run(&workspace, "T1", &script);
    assert_eq!(exit, 80, "{result}");
    let why = result["tasks"][0].to_string();
    assert!(
        why.contains("lib is a submodule, which is changed"),
        "{why}"
    );
    assert_eq!(git(&workspace, "log -1 --format=%s"), "link\n");
}
