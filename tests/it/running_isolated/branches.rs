//! The branch that a run began on gets its work, and no other one.

use std::fs;

use serde_json::{Value, json};

use super::{
    AGENT, COMMIT, before_git, carry_out, document, is_clean, kill_run, proof, repository, words,
    words_for_one,
};
use crate::world::{TestWorkspace, expect_exit, says};

/// A repository in which `feature` is checked out, one commit ahead of `main`.
fn on_feature() -> TestWorkspace {
    let workspace = repository();
    workspace.git("switch --quiet --create feature");
    workspace.write("feature.txt", "feature\n");
    workspace.git("add feature.txt");
    workspace.git(format!("{COMMIT} feature"));
    workspace
}

/// The words of a run in which the user does something while the first task is worked on.
fn meanwhile(what: &str) -> String {
    format!("meanwhile \"{what}\"")
}

/// Sees that the only task of a run is blocked for a reason, and its work kept on a branch that is not
/// merged. Returns the branch.
#[track_caller]
fn is_blocked(workspace: &TestWorkspace, exit: i32, result: &Value, why: &str) -> String {
    assert_eq!(exit, 80, "{result}");
    let task = &result["tasks"][0];
    assert_eq!(task["outcome"], "blocked", "{task}");
    let reason = task["reason"].as_str().unwrap();
    assert!(reason.contains(why), "{why}: {reason}");
    let branch = task["branch"].as_str().unwrap();
    assert!(reason.contains(&format!("git merge {branch}")), "{reason}");
    assert_eq!(workspace.git(format!("show {branch}:T1.txt")), "T1\n");
    assert_eq!(workspace.git("log --all --merges --format=%s"), "", "{why}");
    branch.to_string()
}

#[test]
fn work_is_merged_into_no_branch_that_was_switched_to() {
    let workspace = on_feature();
    workspace.ok("update T2 --depends T1");
    let how = meanwhile("git switch --quiet main");
    let before = workspace.git("rev-parse main feature");
    let result = expect_exit(carry_out(&workspace, &words(&how)), 81);
    assert_eq!(workspace.git("rev-parse main feature"), before);
    let [first, second] = [&result["tasks"][0], &result["tasks"][1]];
    let reason = first["reason"].as_str().unwrap();
    let why =
        "the branch main is checked out in [WORKSPACE], and this run began on the branch feature";
    assert!(reason.contains(why), "{reason}");
    assert_eq!(second["state"], "skipped", "{result}");
    let branch = first["branch"].as_str().unwrap();
    let merge = format!("git switch feature && git merge {branch}");
    assert!(reason.contains(&merge), "{reason}");
    is_clean(&workspace);
    let who = "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
    let merged = workspace.shell(&format!("export {who} && {merge}"));
    assert_eq!(merged.exit, 0, "{merged}");
    workspace.ok("complete T1");
}

#[test]
fn work_is_merged_into_nothing_but_branch_of_its_run() {
    for (what, why) in [
        ("git switch --quiet --detach", "the detached HEAD"),
        ("git branch --move feature other", "renamed or deleted"),
        (
            "git switch --quiet main && git branch --quiet -D feature",
            "renamed or deleted",
        ),
        ("git reset --quiet --hard HEAD~1", "reset or rewritten"),
        (
            "git -c user.name=a -c user.email=a@b commit --quiet --amend --message again",
            "reset or rewritten",
        ),
        ("git bisect start HEAD main", "bisect"),
    ] {
        let workspace = on_feature();
        let (exit, result) = carry_out(&workspace, &words_for_one(&meanwhile(what)));
        is_blocked(&workspace, exit, &result, why);
    }
}

#[test]
fn work_is_committed_to_no_branch_of_another_worktree() {
    for (forged, expected) in [
        ("echo gitdir: $CLEO_ROOT/.git >$CLEO_WORKTREE/.git", 80),
        (
            "git symbolic-ref refs/heads/$(git -C $CLEO_WORKTREE branch --show-current) refs/heads/main",
            0,
        ),
    ] {
        let workspace = repository();
        let before = workspace.git("rev-parse main");
        let (exit, result) = carry_out(&workspace, &words_for_one(&meanwhile(forged)));
        assert_eq!(exit, expected, "{forged}: {result}");
        let main = if exit == 0 { "main^" } else { "main" };
        assert_eq!(workspace.git(format!("rev-parse {main}")), before);
        assert_eq!(workspace.git("diff --cached --name-only"), "", "{forged}");
    }
}

#[test]
fn agent_that_switches_to_another_branch_does_not_move_it() {
    for switch in [
        "switch --quiet other",
        "switch --quiet --ignore-other-worktrees main",
        "symbolic-ref HEAD refs/heads/main",
    ] {
        let workspace = repository();
        workspace.git("branch other");
        let before = workspace.git("rev-parse other main");
        let how = meanwhile(&format!("git -C $CLEO_WORKTREE {switch}"));
        expect_exit(carry_out(&workspace, &words(&how)), 0);
        assert_eq!(workspace.git("rev-parse other main^^"), before);
        assert_eq!(workspace.git("show main:T1.txt main:T2.txt"), "T1\nT2\n");
        is_clean(&workspace);
    }
}

#[test]
fn work_of_others_on_branch_that_agent_switched_to_stays() {
    for switch in ["switch --quiet other", "symbolic-ref HEAD refs/heads/other"] {
        let workspace = repository();
        workspace.git("branch other");
        let how = meanwhile(&format!(
            "git -C $CLEO_WORKTREE {switch} && echo mine >mine && git add mine \
             && git {COMMIT} mine && git update-ref refs/heads/other main"
        ));
        expect_exit(carry_out(&workspace, &words_for_one(&how)), 0);
        assert_eq!(workspace.git("show main:T1.txt main:mine"), "T1\nmine\n");
    }
}

/// Has the agent of T1 do something once T2 is done, and both write a file.
fn after_another(what: &str) -> String {
    format!(
        "echo $CLEO_TASK_ID >$CLEO_TASK_ID.txt
case $CLEO_TASK_ID in T1) echo one >>shared.txt ;; T2) sed -i 1itwo shared.txt ;; esac
[ $CLEO_TASK_ID = T2 ] && exec sh {AGENT} works
until cleo show T2 --jq .result.task.status | grep -q done; do sleep 0.01; done
sh {AGENT} works
{{ {what}; }} >&2
exit 0"
    )
}

#[test]
fn work_takes_nothing_back_that_was_merged_meanwhile() {
    for what in [
        "git symbolic-ref HEAD refs/heads/main",
        "rm $(git rev-parse --git-path logs/HEAD); git symbolic-ref HEAD refs/heads/main",
        "git switch --quiet --orphan other",
    ] {
        let workspace = repository();
        let words = proof::words(&workspace, "T1 T2 --jobs 2", &after_another(what));
        let answer = document(&workspace.finish(workspace.command(&words), ""));
        assert_eq!(answer["success"], true, "{what}: {answer}");
        assert_eq!(workspace.git("show main:T2.txt"), "T2\n", "{what}");
        let shared = workspace.git("show main:shared.txt");
        assert_eq!(shared, "two\nnobody\none\n", "{what}");
        is_clean(&workspace);
    }
}

#[test]
fn links_that_git_itself_makes_of_heads_are_in_nobodys_way() {
    let workspace = repository();
    let what = format!(
        "cd $CLEO_WORKTREE && git -c core.preferSymlinkRefs=true switch --quiet --create other && echo x >x && git add x \
         && git {COMMIT} x"
    );
    expect_exit(carry_out(&workspace, &words_for_one(&meanwhile(&what))), 0);
    assert_eq!(workspace.git("show main:x main:T1.txt"), "x\nT1\n");
}

#[test]
fn work_on_what_was_merged_meanwhile_is_merged() {
    for what in [
        "git add --all && git commit --quiet --message one && git merge --quiet main",
        "git add --all && git commit --quiet --message one && git rebase --quiet main",
        "git stash --quiet --include-untracked && git reset --quiet --hard main && git stash pop --quiet",
        "git add --all && git commit --quiet --message one && git merge --quiet main \
         && git mv T2.txt moved.txt && git commit --quiet --message moved",
    ] {
        let workspace = repository();
        let who = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
        let script = after_another(&format!("{who}; {what}")).replace("echo one >>shared.txt", "");
        expect_exit(proof::run(&workspace, "T1 T2 --jobs 2", &script), 0);
        let files = workspace.git("ls-tree --name-only main");
        assert!(files.contains("T1.txt\n"), "{what}: {files}");
        assert_eq!(workspace.git("show main:shared.txt"), "two\nnobody\n");
        is_clean(&workspace);
    }
}

#[test]
fn broken_worktrees_hold_up_no_other_task() {
    for what in [
        "rm .git",
        "rm -r $CLEO_WORKTREE",
        "echo gitdir: $CLEO_ROOT/../precious/.git >.git",
        "rm .git && cp -r $CLEO_ROOT/.git .git",
        "ln -sf $CLEO_ROOT/../precious/.git .git",
    ] {
        let workspace = repository();
        workspace.git("init --quiet --initial-branch mine ../precious");
        let script = format!(
            "[ $CLEO_TASK_ID = T2 ] && exec sh {AGENT} works
git switch --quiet --ignore-other-worktrees main && {what}; exit 1"
        );
        for tasks in ["T1 T2 --jobs 1", "T1 T2 --jobs 2"] {
            let result = expect_exit(proof::run(&workspace, tasks, &script), 81);
            assert_eq!(result["tasks"][1]["state"], "done", "{what}: {result}");
            workspace.ok("reopen T2");
        }
        let heads = "symbolic-ref --short HEAD";
        assert_eq!(workspace.git(heads), "main\n", "{what}");
        let precious = workspace.git(format!("-C ../precious {heads}"));
        assert_eq!(precious, "mine\n", "{what}");
    }
}

#[test]
fn own_commits_of_user_are_in_nobodys_way() {
    let workspace = on_feature();
    let what = format!("echo mine >mine && git add mine && git {COMMIT} mine");
    expect_exit(carry_out(&workspace, &words(&meanwhile(&what))), 0);
    let merges = workspace.git("log --merges --format=%s feature");
    assert_eq!(merges.lines().count(), 2, "{merges}");
    assert_eq!(workspace.read("mine"), "mine\n");
    is_clean(&workspace);
}

#[test]
fn branches_in_tables_take_work() {
    let workspace = repository();
    let migrate = "rm -r .git/logs && git refs migrate --ref-format=reftable";
    if workspace.shell(migrate).exit != 0 {
        // Before git 2.46 branches cannot be moved to tables.
        return;
    }
    expect_exit(carry_out(&workspace, &words_for_one("edits")), 0);
    assert_eq!(workspace.git("show HEAD:T1.txt"), "T1\n");
    is_clean(&workspace);
}

#[test]
fn run_on_detached_head_stays_there() {
    let workspace = on_feature();
    workspace.git("switch --quiet --detach main");
    let before = workspace.git("rev-parse main feature");
    expect_exit(carry_out(&workspace, &words("edits")), 0);
    assert_eq!(workspace.git("rev-parse main feature"), before);
    assert_eq!(workspace.git("branch --show-current"), "");
    assert_eq!(
        workspace
            .git("ls-tree --name-only HEAD T1.txt T2.txt")
            .lines()
            .count(),
        2
    );
    is_clean(&workspace);
}

#[test]
fn run_on_detached_head_merges_into_no_branch() {
    for what in [
        "git switch --quiet feature",
        "git switch --quiet --detach HEAD~1",
    ] {
        let workspace = on_feature();
        workspace.git("switch --quiet --detach");
        let (exit, result) = carry_out(&workspace, &words_for_one(&meanwhile(what)));
        is_blocked(&workspace, exit, &result, "the detached HEAD");
    }
}

#[test]
fn no_agent_starts_on_another_branch() {
    let workspace = on_feature();
    let how = meanwhile("git switch --quiet main");
    let result = expect_exit(
        carry_out(&workspace, &words(&format!("{how} --jobs 1"))),
        81,
    );
    let second = &result["tasks"][1];
    assert_eq!(second["outcome"], "blocked", "{second}");
    says(&second["reason"], "began on the branch feature");
    assert!(!workspace.path(".played/T2").exists(), "no agent was paid");
    assert_eq!(
        workspace.ask("show T2")["result"]["task"]["status"],
        "pending"
    );
}

/// Kills a run on a branch, and switches to another one.
fn kill_on_feature() -> (TestWorkspace, String) {
    let workspace = on_feature();
    let how = words_for_one("edits-works-and-hangs");
    let id = kill_run(&workspace, &how, ".played/edited-T1");
    workspace.git("switch --quiet main");
    (workspace, id)
}

#[test]
fn run_is_resumed_on_its_branch_only() {
    let (workspace, id) = kill_on_feature();
    let refused = workspace.json(&["runs", "resume", &id]);
    assert_eq!(refused["error"]["code"], "E_CHECKOUT_CHANGED", "{refused}");
    assert_eq!(refused["error"]["fix"], "git switch feature", "{refused}");
    assert_eq!(workspace.git("worktree list").lines().count(), 2);
    workspace.git("switch --quiet feature");
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    assert_eq!(workspace.read("T1.txt"), "T1\n");
    assert_eq!(workspace.git("rev-list --count main"), "1\n");
}

#[test]
fn run_that_is_cancelled_elsewhere_touches_no_branch() {
    let (workspace, id) = kill_on_feature();
    let before = workspace.git("rev-parse main feature");
    let cancelled = workspace.json(&["runs", "cancel", &id]);
    let branch = format!("cleo/{id}/T1-1");
    assert_eq!(
        cancelled["result"]["branches"][0],
        branch.as_str(),
        "{cancelled}"
    );
    assert_eq!(workspace.git("rev-parse main feature"), before);
    let own = workspace.git(format!("diff --name-only feature {branch}"));
    assert_eq!(own, "T1.txt\n");
    is_clean(&workspace);
}

#[test]
fn files_of_user_stay_unchanged() {
    let workspace = on_feature();
    for name in ["staged", "changed", "both"] {
        workspace.write(name, "old\n");
    }
    workspace.git("add staged changed both");
    workspace.git(format!("{COMMIT} more"));
    workspace.write("staged", "staged\n");
    workspace.write("both", "staged\n");
    workspace.git("add staged both");
    workspace.write("changed", "changed\n");
    workspace.write("both", "changed\n");
    workspace.write("untracked", "untracked\n");
    workspace.write(".git/info/exclude", "ignored\n.cleo\nclaudedocs\n.played\n");
    workspace.write("ignored", "ignored\n");
    let look = || {
        let names = ["staged", "changed", "both", "untracked", "ignored"];
        let status = workspace.git("status --porcelain --ignored=no");
        let index = workspace.git("ls-files --stage staged changed both");
        (names.map(|name| workspace.read(name)), status, index)
    };
    let before = look();
    expect_exit(carry_out(&workspace, &words("edits")), 0);
    assert_eq!(look(), before);
    assert_eq!(
        workspace.git("show HEAD:both HEAD:staged HEAD:changed"),
        "old\nold\nold\n"
    );
}

#[test]
fn files_of_user_in_way_stay_unchanged() {
    for (what, text, why) in [
        ("echo mine >T1.txt", "mine\n", "T1.txt is there"),
        (
            "echo T1.txt >.gitignore && echo mine >T1.txt",
            "mine\n",
            "T1.txt is there",
        ),
        (
            "echo mine >T1.txt && git add T1.txt",
            "mine\n",
            "T1.txt changed in the workspace",
        ),
        (
            "echo mine >shared.txt",
            "mine\n",
            "shared.txt changed in the workspace",
        ),
        (
            "git update-index --assume-unchanged shared.txt && echo mine >shared.txt",
            "mine\n",
            "shared.txt",
        ),
        (
            "git config core.sparseCheckout true && \
             git config sparse.expectFilesOutsideOfPatterns true && \
             echo /feature.txt >.git/info/sparse-checkout && git read-tree -m -u HEAD && echo mine >shared.txt",
            "mine\n",
            "shared.txt",
        ),
        (
            "echo T1 >shared.txt && git add shared.txt && echo mine >shared.txt",
            "mine\n",
            "shared.txt changed in the workspace",
        ),
    ] {
        let workspace = on_feature();
        let how = meanwhile(what).replace("meanwhile", "meanwhile-all");
        let (exit, result) = carry_out(&workspace, &words_for_one(&how));
        is_blocked(&workspace, exit, &result, why);
        let name = if what.contains("shared") {
            "shared.txt"
        } else {
            "T1.txt"
        };
        assert_eq!(workspace.read(name), text, "{what}");
        assert_eq!(workspace.git("log -1 --format=%s"), "feature\n");
    }
}

#[test]
fn folders_and_files_take_place_of_each_other() {
    let workspace = on_feature();
    workspace.write("folder/in", "1\n");
    workspace.write("file", "1\n");
    workspace.git("add folder file");
    workspace.git(format!("{COMMIT} more"));
    expect_exit(carry_out(&workspace, &words_for_one("swaps")), 0);
    assert_eq!(
        [workspace.read("folder"), workspace.read("file/in")],
        ["T1\n", "T1\n"]
    );
    is_clean(&workspace);
    let workspace = on_feature();
    workspace.write("folder/in", "1\n");
    workspace.write("file", "1\n");
    workspace.git("add folder file");
    workspace.git(format!("{COMMIT} more"));
    workspace.write("folder/mine", "mine\n");
    expect_exit(carry_out(&workspace, &words_for_one("swaps")), 80);
    assert_eq!(workspace.read("folder/mine"), "mine\n");
    assert_eq!(workspace.git("log -1 --format=%s"), "more\n");
}

/// Has the user do something at the moment at which a merge writes `shared.txt`.
fn while_merging(workspace: &TestWorkspace, what: &str) {
    let once = "[ ! -d .played ] || [ -e .played/moved ]";
    let script = format!("{once} || {{ : >.played/moved; {what}; }} >/dev/null 2>&1\nexec cat\n");
    workspace.write("filter.sh", script);
    let filter = workspace.path("filter.sh").display().to_string();
    workspace.git(format!("config filter.late.smudge 'sh {filter}'"));
    workspace.write(".git/info/attributes", "shared.txt filter=late\n");
}

#[test]
fn merge_is_reverted_if_the_user_switches() {
    let workspace = repository();
    workspace.git("branch other");
    while_merging(&workspace, "git symbolic-ref HEAD refs/heads/other");
    let before = workspace.git("rev-parse main other");
    let result = expect_exit(carry_out(&workspace, &words_for_one("alters")), 80);
    says(
        &result["tasks"][0]["reason"],
        "the branch other is checked out",
    );
    assert_eq!(workspace.git("rev-parse main other"), before);
    assert_eq!(workspace.read("shared.txt"), "nobody\n");
    is_clean(&workspace);
}

#[test]
fn branch_switched_to_during_merge_gets_no_work() {
    let workspace = repository();
    let root = workspace.root().display().to_string();
    let script = format!(
        "cd {root} && env -u GIT_DIR -u GIT_INDEX_FILE git switch --quiet --create other\n"
    );
    workspace.write("driver.sh", script);
    workspace.git(format!("config merge.late.driver 'sh {root}/driver.sh'"));
    workspace.write(".git/info/attributes", "shared.txt merge=late\n");
    let how = meanwhile(&format!("echo mine >shared.txt && git {COMMIT} mine"));
    let how = how.replace("meanwhile", "meanwhile-all");
    let (exit, result) = carry_out(&workspace, &words_for_one(&how));
    is_blocked(&workspace, exit, &result, "the branch other is checked out");
    assert_eq!(workspace.git("log -1 --format=%s other"), "mine\n");
}

#[test]
fn work_is_merged_though_note_of_merge_is_forged() {
    let workspace = repository();
    let victim = workspace.root().with_file_name("victim");
    fs::write(&victim, "precious\n").unwrap();
    let option = format!("--output={}", victim.display());
    let note = json!({"run": "run_1", "place": "/nothing/git", "branch": "main", "old": option, "new": option});
    workspace.write(".git/cleo.lock", note.to_string());
    expect_exit(carry_out(&workspace, &words_for_one("edits")), 0);
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious\n");
}

#[test]
fn work_is_merged_into_no_other_folder() {
    let workspace = on_feature();
    let what =
        "mkdir ../else && cp shared.txt feature.txt ../else && git config core.worktree ../../else";
    let (exit, result) = carry_out(&workspace, &words_for_one(&meanwhile(what)));
    is_blocked(
        &workspace,
        exit,
        &result,
        "git takes the files in [TEMP]/else for those of the repository",
    );
    assert_eq!(workspace.git("log -1 --format=%s"), "feature\n");
}

#[test]
fn merge_is_made_anew_when_user_commits_in_it() {
    let workspace = repository();
    let commit = "git commit-tree HEAD^{tree} -p HEAD -m mine";
    let what = format!("git update-ref refs/heads/main $({commit})");
    while_merging(&workspace, &what);
    expect_exit(carry_out(&workspace, &words_for_one("alters")), 0);
    assert_eq!(workspace.read("shared.txt"), "T1\n");
    let log = workspace.git("log --first-parent --format=%s");
    assert_eq!(log, "T1: One\nmine\nfirst\n");
    is_clean(&workspace);
}

#[test]
fn merge_is_made_anew_when_user_commits_right_before() {
    let commit = "git commit-tree HEAD^{tree} -p HEAD -m mine";
    let plain = "export GIT_CONFIG_GLOBAL=/dev/null";
    let script = format!("({plain}; git update-ref refs/heads/main $({commit}))");
    let workspace = before_git(repository(), "*'cleo: merge'*", &script);
    expect_exit(carry_out(&workspace, &words_for_one("alters")), 0);
    assert!(workspace.path("../once").exists());
    let log = workspace.git("log --first-parent --format=%s");
    assert_eq!(log, "T1: One\nmine\nfirst\n");
    is_clean(&workspace);
}

#[test]
fn what_user_saves_right_before_files_are_written_stays() {
    let write = "*'read-tree -m '*|*'restore --quiet'*";
    let workspace = before_git(repository(), write, "echo mine >shared.txt");
    let (exit, result) = carry_out(&workspace, &words_for_one("alters"));
    assert_eq!(exit, 80, "{result}");
    assert!(workspace.path("../once").exists());
    assert_eq!(workspace.read("shared.txt"), "mine\n");
    assert_eq!(workspace.git("diff --cached --name-only"), "");
    assert_eq!(workspace.git("log --format=%s"), "first\n");
    assert_eq!(workspace.read(".git/cleo.lock"), "");
    let branch = result["tasks"][0]["branch"].as_str().unwrap();
    assert_eq!(workspace.git(format!("show {branch}:shared.txt")), "T1\n");
}

#[test]
fn branch_that_graft_makes_look_merged_is_merged() {
    let workspace = repository();
    let (exit, result) = carry_out(&workspace, &words_for_one("grafts"));
    fs::remove_file(workspace.path(".git/info/grafts")).unwrap();
    assert_eq!(exit, 0, "{result}");
    assert_eq!(workspace.read("T1.txt"), "T1\n");
    is_clean(&workspace);
}

#[test]
fn git_folder_may_be_elsewhere() {
    for is_submodule in [false, true] {
        let workspace = repository();
        workspace.git("init --quiet --separate-git-dir ../apart");
        if is_submodule {
            workspace.git("config core.worktree ../work");
        }
        expect_exit(carry_out(&workspace, &words_for_one("edits")), 0);
        assert_eq!(workspace.read("T1.txt"), "T1\n");
    }
}

#[test]
fn work_that_checkout_left_behind_is_not_undone() {
    let workspace = repository();
    let result = expect_exit(carry_out(&workspace, &words_for_one("looks-back")), 80);
    let task = &result["tasks"][0];
    assert_eq!(task["outcome"], "blocked", "{task}");
    says(&task["reason"], "leaves commits of cleo/");
    let branch = workspace.git("for-each-ref --format='%(refname)' refs/heads/cleo");
    let kept = workspace.git(format!("show {}:T1.txt", branch.trim()));
    assert_eq!(kept, "T1\n");
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_differ_in_letter_case_are_all_work() {
    let workspace = repository();
    workspace.git("config core.ignoreCase true");
    expect_exit(carry_out(&workspace, &words_for_one("shouts")), 0);
    assert_eq!(workspace.read("SHARED.txt"), "T1\n");
    assert_eq!(workspace.read("shared.txt"), "nobody\n");
}

#[test]
fn moved_worktree_does_not_end_the_run() {
    let workspace = repository();
    let result = expect_exit(carry_out(&workspace, &words_for_one("moves")), 80);
    says(&result["tasks"][0]["reason"], "its worktree is kept");
}

#[test]
fn work_under_attributes_that_agent_chose_is_not_merged() {
    let workspace = repository();
    let result = expect_exit(carry_out(&workspace, &words_for_one("blinds")), 80);
    assert_eq!(result["tasks"][0]["outcome"], "blocked", "{result}");
}

#[test]
fn removals_after_merge_of_what_others_did_are_work() {
    let commit =
        "git add --all && git -c user.name=a -c user.email=a@b commit --quiet --message mine";
    let what = format!(
        "export GIT_CONFIG_GLOBAL=/dev/null; {commit} && git -c user.name=a -c user.email=a@b merge --quiet --no-edit main \
         && git rm --quiet T2.txt && {commit}"
    );
    let workspace = repository();
    let words = proof::words(&workspace, "T1 T2 --jobs 2", &after_another(&what));
    let answer = document(&workspace.finish(workspace.command(&words), ""));
    assert_eq!(answer["success"], true, "{answer}");
    assert!(!workspace.path("T2.txt").exists());
    assert_eq!(workspace.read("T1.txt"), "T1\n");
    assert!(
        !answer["warnings"].to_string().contains("lacks"),
        "{answer}"
    );
}

#[test]
fn branch_that_undoes_what_others_merged_is_kept() {
    let workspace = repository();
    let script = after_another("git reset --quiet --soft main");
    let result = expect_exit(proof::run(&workspace, "T1 T2 --jobs 2", &script), 81);
    let task = only_task(&result);
    let why = "it undoes what was merged since its worktree was made: T2.txt";
    says(&task["reason"], why);
    assert_eq!(workspace.git("show main:T2.txt"), "T2\n");
    let branch = task["branch"].as_str().unwrap();
    assert_eq!(workspace.git(format!("show {branch}:T1.txt")), "T1\n");
}

/// Returns the only task of a result.
fn only_task(result: &Value) -> &Value {
    &result["tasks"][0]
}

#[test]
fn work_in_stash_does_not_pass_for_work() {
    let workspace = repository();
    let stash = "echo work >work.txt && git add work.txt && git stash --quiet";
    let script = format!("[ $CLEO_TASK_ID = T2 ] && echo two >two.txt || {{ {stash}; }}");
    let result = expect_exit(proof::run(&workspace, "T1 T2", &script), 81);
    let task = only_task(&result);
    let id = result["run"]["id"].as_str().unwrap();
    let why = "its agent left work outside of its branch, so it is not merged: a stash (WIP on";
    for told in ["reason", "warnings", "violations"] {
        assert!(task[told].to_string().contains(why), "{told}: {task}");
    }
    assert!(task.to_string().contains("`git stash apply "), "{task}");
    assert_eq!(result["tasks"][1]["state"], "done", "{result}");
    assert!(
        !result["tasks"][1].to_string().contains("stash"),
        "{result}"
    );
    let shown = workspace.ok(&format!("runs show {id}"));
    assert!(shown.stdout.contains(why), "{shown}");
    assert_eq!(workspace.git("show stash@{0}:work.txt"), "work\n");
}

#[test]
fn agent_is_asked_for_work_that_it_stashed() {
    let workspace = repository();
    let script = "git stash pop || { echo work >work.txt && git add work.txt && git stash push --message later; }";
    let words = proof::words_with_repair(&workspace, script);
    let result = expect_exit(carry_out(&workspace, &words), 0);
    assert_eq!(only_task(&result)["attempts"], 2, "{result}");
    assert_eq!(workspace.read("work.txt"), "work\n");
    assert_eq!(only_task(&result)["warnings"], Value::Null, "{result}");
}

#[test]
fn stash_beside_work_is_named() {
    let workspace = repository();
    workspace.write("shared.txt", "mine\n");
    workspace.git("stash push --quiet --message mine");
    let script = "echo left >shared.txt && git stash --quiet && echo work >work.txt";
    let result = expect_exit(proof::run(&workspace, "T1", script), 0);
    let warnings = only_task(&result)["warnings"].as_array().unwrap();
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    says(warning, "so it is not merged: a stash (WIP on cleo/");
    assert_eq!(workspace.read("work.txt"), "work\n");
}

#[test]
fn commits_on_another_branch_do_not_pass_for_work() {
    let commit =
        "git add work.txt && git -c user.name=a -c user.email=a@b commit --quiet --message work";
    let there = format!(
        "export GIT_CONFIG_GLOBAL=/dev/null
own=$(git symbolic-ref --short HEAD)
git switch --quiet --create mine && echo work >work.txt && {commit}"
    );
    let workspace = repository();
    let back = format!("{there}; git switch --quiet $own");
    let result = expect_exit(proof::run(&workspace, "T1", &back), 80);
    let why = "so it is not merged: the branch mine (`git merge mine`)";
    says(&only_task(&result)["reason"], why);
    assert_eq!(workspace.git("show mine:work.txt"), "work\n");
    // A branch that it only looked at holds no work of it.
    let workspace = repository();
    workspace.git("switch --quiet --create side");
    workspace.git(format!("{COMMIT} side --allow-empty"));
    workspace.git("switch --quiet main");
    let look =
        "own=$(git symbolic-ref --short HEAD); git switch --quiet side; git switch --quiet $own";
    let result = expect_exit(proof::run(&workspace, "T1", look), 0);
    assert_eq!(only_task(&result)["warnings"], Value::Null, "{result}");
    // An agent that stays there has its work merged.
    expect_exit(proof::run(&workspace, "T2", &there), 0);
    assert_eq!(workspace.read("work.txt"), "work\n");
}

#[test]
fn commits_on_detached_head_do_not_pass_for_work() {
    let who = "git -c user.name=a -c user.email=a@b";
    let commit =
        format!("echo work >work.txt && git add work.txt && {who} commit --quiet --message work");
    let there =
        format!("export GIT_CONFIG_GLOBAL=/dev/null; git switch --quiet --detach && {commit}");
    let back = "git rev-parse HEAD >$CLEO_ROOT/../left; git switch --quiet -";
    for (beside, exit) in [("", 80), ("; echo new >new.txt", 0)] {
        let workspace = repository();
        let script = format!("{there}\n{back}{beside}");
        let result = expect_exit(proof::run(&workspace, "T1", &script), exit);
        let left = workspace.read("../left");
        let why = format!(
            "so it is not merged: the commit {0} (`git merge {0}`)",
            left.trim()
        );
        let task = only_task(&result);
        assert!(task["warnings"].to_string().contains(&why), "{task}");
        assert_eq!(
            workspace.git(format!("show {}:work.txt", left.trim())),
            "work\n"
        );
    }
    // Commits that its own branch has are not named, and neither are those that it only looked at.
    for taken in [
        "git merge --quiet $(cat $CLEO_ROOT/../left)",
        "git cherry-pick $(cat $CLEO_ROOT/../left) >/dev/null",
    ] {
        let workspace = repository();
        workspace.git(format!("{COMMIT} more --allow-empty"));
        let who = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
        let look = "git switch --quiet --detach HEAD~1; git switch --quiet -";
        let script = format!("{who}; {look}\n{there}\n{back}; {taken}");
        let result = expect_exit(proof::run(&workspace, "T1", &script), 0);
        let warnings = only_task(&result)["warnings"].to_string();
        assert!(!warnings.contains("the commit"), "{taken}: {warnings}");
    }
}
