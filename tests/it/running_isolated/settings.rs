//! Settings of git decide what is committed and what is kept: those that an agent changes merge nothing of its work.

use super::proof::run;
use super::{COMMIT, find_retained, is_clean, kill_run, repository, words_for_one};
use crate::world::{expect_exit, says};

#[test]
fn run_is_not_resumed_after_settings_of_git_changed() {
    for (change, is_resumed) in [
        ("sparse-checkout set --no-cone /shared.txt", true),
        ("config filter.lfs.clean cat", false),
    ] {
        let workspace = repository();
        let id = kill_run(
            &workspace,
            &words_for_one("edits-works-and-hangs"),
            ".played/edited-T1",
        );
        workspace.git(change);
        let answer = workspace.json(&["runs", "resume", &id]);
        assert_eq!(answer["success"], is_resumed, "{answer}");
        if !is_resumed {
            let error = &answer["error"];
            assert_eq!(error["code"], "E_INPUT_INVALID", "{answer}");
            says(error, "begin a new run");
        }
        let attempts = workspace.read(".played/T1");
        assert_eq!(attempts.lines().count(), 1, "no agent was paid");
    }
}

#[test]
fn sparse_checkout_of_agent_is_own() {
    let workspace = repository();
    workspace.write("far/x", "far\n");
    workspace.git("add far");
    workspace.git(format!("{COMMIT} far"));
    let script = "[ $CLEO_TASK_ID = T2 ] || git sparse-checkout set near >&2
echo work >$CLEO_TASK_ID.txt";
    expect_exit(run(&workspace, "T1 T2 --jobs 1", script), 0);
    let files = workspace.git("ls-tree -r --name-only HEAD");
    assert_eq!(files, "T1.txt\nT2.txt\nfar/x\nshared.txt\n");
    assert_eq!(workspace.read("far/x"), "far\n");
    is_clean(&workspace);
}

#[test]
fn attributes_that_earlier_agent_chose_do_not_count() {
    let workspace = repository();
    workspace.write(".gitattributes", "*.sec filter=up\n");
    workspace.git("config filter.up.clean 'tr a-z A-Z'");
    workspace.git("add .gitattributes");
    workspace.git(format!("{COMMIT} attributes"));
    // Leftovers of an agent apply when the next run begins.
    let empty = workspace.git("mktree </dev/null");
    workspace.git(format!("config attr.tree {}", empty.trim()));
    expect_exit(run(&workspace, "T1", "echo work >x.sec"), 0);
    assert_eq!(workspace.git("cat-file -p HEAD:x.sec"), "WORK\n");
}

#[test]
fn work_whose_objects_lie_elsewhere_is_not_lost() {
    let elsewhere = "export GIT_CONFIG_GLOBAL=/dev/null
common=$(git rev-parse --path-format=absolute --git-common-dir)
mkdir -p $PWD/.alt/pack && echo '*' >.alt/.gitignore
export GIT_OBJECT_DIRECTORY=$PWD/.alt GIT_ALTERNATE_OBJECT_DIRECTORIES=$common/objects
echo work >work.txt && touch -d 2020-01-01 work.txt && git add work.txt
git -c user.name=a -c user.email=a@b commit --quiet --message work
unset GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES";
    let workspace = repository();
    expect_exit(run(&workspace, "T1", elsewhere), 0);
    assert_eq!(workspace.git("show HEAD:work.txt"), "work\n");
    let workspace = repository();
    let known = format!("{elsewhere}\necho $PWD/.alt >$common/objects/info/alternates");
    let result = expect_exit(run(&workspace, "T1", &known), 80);
    assert_eq!(result["tasks"][0]["outcome"], "blocked", "{result}");
    assert_eq!(workspace.git("log --format=%s"), "first\n");
    let tree = format!("{}/work.txt", find_retained(&result["tasks"][0]));
    assert_eq!(workspace.read(&tree), "work\n");
}

#[test]
fn filters_and_exclusions_of_agent_have_nothing_committed() {
    let filter = "git config --file $common/config filter.e.clean 'sed s/good/bad/'
git config --file $common/config filter.e.smudge 'sed s/bad/good/'
mkdir -p $common/info && echo 'f filter=e' >>$common/info/attributes";
    let excludes = "mkdir -p $common/info && echo '*' >>$common/info/exclude";
    let elsewhere = "echo '*' >$common/mine && git config core.excludesFile $common/mine";
    let own = "echo '*' >$common/mine && git config --worktree core.excludesFile $common/mine";
    let of_checkout = "git config --file $common/config.worktree filter.e.smudge 'sed s/good/bad/'";
    for setting in [filter, excludes, elsewhere, own, of_checkout] {
        let workspace = repository();
        workspace.git("config extensions.worktreeConfig true");
        workspace.ok("update T1 --acceptance 'it is good :: grep -q good f'");
        let common = "common=$(git rev-parse --path-format=absolute --git-common-dir)";
        let script = format!("{common}\n{setting}\necho good >f");
        let (exit, result) = run(&workspace, "T1", &script);
        assert_ne!(exit, 0, "{result}");
        let why = result["tasks"][0].to_string();
        assert!(why.contains("may commit other content"), "{why}");
        assert_eq!(workspace.git("log --format=%s"), "first\n");
    }
}

#[test]
fn rules_that_are_another_file_in_each_worktree_are_refused() {
    let workspace = repository();
    workspace.git("config core.excludesFile mine");
    let words = "run T1 --isolate worktree --command true";
    let words: Vec<&str> = words.split(' ').collect();
    let error = workspace.expect_refusal(&words, "E_INPUT_INVALID");
    assert_eq!(
        error["message"],
        "core.excludesFile is the relative path mine, which is another file in each worktree; make it an absolute one"
    );
}
