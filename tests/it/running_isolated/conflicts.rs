//! Conflicts that agents leave in their worktrees, and what git has stopped in the midst of there.

use serde_json::{Value, json};

use super::{AGENT, carry_out, find_retained, kill_run, repository};
use crate::world::{TestWorkspace, expect_exit, says};

/// Makes two sides of a file, `other` and the one that is checked out.
const SIDES: &str = r#"
export GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
own=$(git symbolic-ref --short HEAD)
put() { if [ -h "$file" ]; then ln -sf "$1" "$file"; else echo "$1" >"$file"; fi; }
side() { put "$1"; git commit --quiet --all --message "$1"; }
git checkout --quiet -b other && side other
git checkout --quiet "$own" && side own
"#;
/// Has the other side make a file more, in a commit more.
const MORE: &str = r#"
git checkout --quiet other && printf "$more" >more.txt && git add more.txt
git commit --quiet --message more && git checkout --quiet "$own"
"#;

/// Writes an agent that makes two sides of a file, does something with them, and works. Returns what runs it.
fn words(workspace: &TestWorkspace, file: &str, then: &str) -> Vec<String> {
    let play = format!("{{ file={file}\n{SIDES}\n{then}\n}} >/dev/null 2>&1\n");
    workspace.write("play.sh", format!("{play}exec sh {AGENT} works\n"));
    let play = workspace.path("play.sh");
    let line = format!(
        "run T1 --isolate worktree --repair 0 --command 'sh {}'",
        play.display()
    );
    shlex::split(&line).unwrap()
}

fn play(workspace: &TestWorkspace, file: &str, then: &str) -> (i32, Value) {
    carry_out(workspace, &words(workspace, file, then))
}

/// Carries the first task out, which is refused for a reason; returns it.
#[track_caller]
fn expect_refusal(workspace: &TestWorkspace, file: &str, then: &str, why: &str) -> Value {
    let before = workspace.git("rev-parse main");
    let result = expect_exit(play(workspace, file, then), 80);
    let failed = result["tasks"][0].clone();
    assert_eq!(failed["outcome"], "protocol_violation", "{failed}");
    says(&failed["reason"], why);
    assert_eq!(workspace.git("rev-parse main"), before, "nothing came");
    failed
}

#[test]
fn settled_merge_that_is_not_committed_is_asked_for() {
    for staged in ["", "git add shared.txt"] {
        let workspace = repository();
        let then = format!("git merge other; put settled; {staged}");
        let why = "has an unfinished merge; finish it there and commit";
        expect_refusal(&workspace, "shared.txt", &then, why);
        assert_eq!(workspace.read("shared.txt"), "nobody\n");
    }
    let workspace = repository();
    let then = "git merge other; put settled; git commit --quiet --all --message settled";
    expect_exit(play(&workspace, "shared.txt", then), 0);
    assert_eq!(workspace.read("shared.txt"), "settled\n");
}

#[test]
fn commits_that_git_has_not_come_to_are_not_lost() {
    for (begin, what, go_on) in [
        (
            "cherry-pick other~1 other",
            "cherry-pick",
            "cherry-pick --continue",
        ),
        (
            "format-patch --quiet -2 --output-directory ../patches other; git am -3 ../patches/*",
            "rebase",
            "am --continue",
        ),
    ] {
        let workspace = repository();
        let then = format!("more=more\n{MORE}\ngit {begin}; put settled; git add shared.txt");
        let why = format!("has an unfinished {what}; finish it there");
        let failed = expect_refusal(&workspace, "shared.txt", &then, &why);
        let place = find_retained(&failed);
        let who = "-c core.editor=true";
        workspace.git(format!("-C {place} {who} {go_on}"));
        assert_eq!(workspace.read(&format!("{place}/more.txt")), "more");
    }
}

#[test]
fn commits_that_agent_gave_up_to_pick_are_not_waited_for() {
    let workspace = repository();
    let then =
        format!("more=more\n{MORE}\ngit cherry-pick other~1 other; git reset --hard; put settled");
    expect_exit(play(&workspace, "shared.txt", &then), 0);
    assert_eq!(workspace.read("shared.txt"), "settled\n");
}

#[test]
fn worktree_that_is_kept_is_told_when_its_run_is_cancelled() {
    let workspace = repository();
    let then = "git merge other
        mkdir -p \"$CLEO_ROOT/.played\" && : >\"$CLEO_ROOT/.played/stopped\" && sleep 600";
    let words = words(&workspace, "shared.txt", then);
    let id = kill_run(&workspace, &words, ".played/stopped");
    let cancelled = workspace.json(&["runs", "cancel", &id]);
    let place = format!("[WORKSPACE]/.cleo/runs/{id}/trees/T1-1");
    let reason = format!(
        "E_NOT_VERIFIED: {place} has an unfinished merge; finish it there and commit: \
         shared.txt has conflicts (`git -C {place} status`)"
    );
    let branch = format!("cleo/{id}/T1-1");
    let told = json!([
        {"taskId": "T1", "worktree": place, "branch": branch, "reason": reason},
    ]);
    assert_eq!(cancelled["result"]["worktrees"], told, "{cancelled}");
    let branches = &cancelled["result"]["branches"];
    assert_eq!(*branches, json!([]), "none holds all: {cancelled}");
}

#[test]
fn retained_worktree_of_cancelled_run_is_told_once() {
    let workspace = repository();
    let then = "git merge other";
    let (_, result) = play(&workspace, "shared.txt", then);
    let id = result["run"]["id"].as_str().unwrap();
    let before = result["tasks"][0]["reason"].as_str().unwrap();
    let told = workspace.ok(&format!("runs cancel {id}")).stdout;
    let place = format!("[WORKSPACE]/.cleo/runs/{id}/trees/T1-1");
    let line = format!("the worktree of T1 is kept in {place}: ");
    assert_eq!(told.matches(&line).count(), 1, "{told}");
    assert!(!told.contains("git merge"), "{told}");
    let shown = workspace.json(&["runs", "show", id]);
    assert_eq!(shown["result"]["tasks"][0]["reason"], before, "{shown}");
}
