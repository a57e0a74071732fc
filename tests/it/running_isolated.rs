//! `cleo run --isolate worktree`: each task in a git worktree of its own, and what verifies comes home.

mod branches;
mod conflicts;
mod ignored;
mod locks;
mod outputs;
mod parts;
mod proof;
mod resume;
mod settings;
mod start;

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::world::{TestWorkspace, document, expect_exit, says};

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");

/// Has the user commit all changes of tracked files, with a message.
const COMMIT: &str = "-c user.name=a -c user.email=a@b commit --quiet --all --message";

/// A workspace with two tasks in a repository with a commit.
fn repository() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.ok("add One");
    workspace.ok("add Two");
    workspace.write("shared.txt", "nobody\n");
    workspace.git("init --quiet --initial-branch main");
    workspace.git("add shared.txt");
    workspace.git("commit --quiet --message first");
    workspace
}

fn words(how: &str) -> Vec<String> {
    let (how, jobs) = how.split_once(" --jobs ").unwrap_or((how, "4"));
    let line = format!(
        "run T1 T2 --isolate worktree --repair 0 --jobs {jobs} --command 'sh {AGENT} {how}'"
    );
    shlex::split(&line).unwrap()
}

/// The same for the first task alone.
fn words_for_one(how: &str) -> Vec<String> {
    let words = words(how).into_iter();
    words.filter(|word| word != "T2").collect()
}

fn run(workspace: &TestWorkspace, how: &str) -> (i32, Value) {
    carry_out(workspace, &words(how))
}

fn carry_out(workspace: &TestWorkspace, words: &[String]) -> (i32, Value) {
    let reply = workspace.finish(workspace.command(words), "");
    let answer = document(&reply);
    (reply.exit, answer["result"].clone())
}

/// Begins a run and kills it once a file is there; returns its id.
fn kill_run(workspace: &TestWorkspace, words: &[String], file: &str) -> String {
    let mut child = workspace.command(words);
    let child = child.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    while !workspace.path(file).exists() {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = workspace.ask("runs list");
    let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
    id.to_string()
}

/// Has cleo, and any other caller of git, run a script first, once, when it asks for something.
fn before_git(workspace: TestWorkspace, pattern: &str, script: &str) -> TestWorkspace {
    let once = workspace.path("../once").display().to_string();
    let text = format!(
        "#!/bin/sh\nPATH=${{PATH#*:}}\ncase \"$*\" in\n{pattern})\n[ -e {once} ] || {{ : >{once}\n{script}\n}} >/dev/null ;;\n\
         esac\nexec git \"$@\"\n"
    );
    workspace.write("../bin/git", text);
    let program = workspace.path("../bin/git");
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let folder = program.parent().unwrap().display().to_string();
    workspace.env("PATH", &format!("{folder}:{path}"))
}

/// Returns the worktree that was kept of a task, relative to the workspace.
#[track_caller]
fn find_retained(task: &Value) -> &str {
    let place = task["worktree"].as_str().unwrap();
    says(&task["reason"], "its worktree is kept");
    place.strip_prefix("[WORKSPACE]/").unwrap()
}

/// Sees that no worktree is left and that nothing is changed in the workspace but reports.
#[track_caller]
fn is_clean(workspace: &TestWorkspace) {
    let trees = workspace.git("worktree list");
    assert_eq!(trees.lines().count(), 1, "{trees}");
    let changed = workspace.git("status --porcelain --untracked-files=no");
    assert_eq!(changed, "");
}

#[test]
fn what_verifies_is_merged() {
    let workspace = repository();
    expect_exit(run(&workspace, "edits"), 0);
    for task in ["T1", "T2"] {
        assert_eq!(workspace.read(&format!("{task}.txt")), format!("{task}\n"));
    }
    is_clean(&workspace);
    assert_eq!(workspace.git("branch --list 'cleo/*'"), "");
    let merges = workspace.git("log --merges --format=%s");
    assert_eq!(merges.lines().count(), 2, "{merges}");
    let files = workspace.git("ls-files");
    assert!(
        !files.contains("claudedocs") && !files.contains(".cleo"),
        "{files}"
    );
    workspace.ok("verify output T1");
}

#[test]
fn branch_that_does_not_fit_is_kept_and_its_task_given_back() {
    let workspace = repository();
    let result = expect_exit(run(&workspace, "clashes --jobs 2"), 81);
    let tasks = result["tasks"].as_array().unwrap();
    let failed = tasks.iter().find(|task| task["state"] == "failed").unwrap();
    says(&failed["reason"], "shared.txt");
    let branch = failed["branch"].as_str().unwrap();
    let theirs = workspace.git(format!("show {branch}:shared.txt"));
    assert_eq!(theirs.trim(), failed["taskId"].as_str().unwrap());
    is_clean(&workspace);
    let id = failed["taskId"].as_str().unwrap();
    for words in [["verify", "output", id].as_slice(), &["complete", id]] {
        let refused = workspace.json(words);
        assert_eq!(refused["success"], false, "{refused}");
        says(&refused, format!("git merge {branch}"));
    }
    // To merge it needs no agent.
    let merge = format!("git merge {branch}");
    let line = format!("run {id} --repair 0 --command false");
    let planned = workspace.result(format!("{line} --dry-run"));
    says(&planned["tasks"][0]["earlierWork"], &merge);
    let words = shlex::split(&line).unwrap();
    let held = expect_exit(carry_out(&workspace, &words), 81);
    assert_eq!(held["tasks"][0]["attempts"], 0, "{held}");
    says(&held["tasks"][0]["reason"], &merge);
    says(&workspace.result("next")["command"], &merge);
    says(
        &workspace.result("status")["recommended"]["command"],
        &merge,
    );
    let told = events(&workspace);
    let told_of = |kind: &str| {
        let is_it = |line: &&str| line.contains(kind) && line.contains(branch);
        told.lines().filter(is_it).count()
    };
    assert_eq!(
        (told_of("task.merged"), told_of("worktree.retained")),
        (0, 1),
        "{told}"
    );
    // Its branch alone speaks against it.
    workspace.git(format!("branch --quiet -D {branch}"));
    workspace.ok(&format!("verify output {id}"));
    let done = tasks.iter().find(|task| task["state"] == "done").unwrap();
    assert_eq!(
        workspace.read("shared.txt").trim(),
        done["taskId"].as_str().unwrap()
    );
}

#[test]
fn what_agent_commits_on_branch_of_own_is_merged_too() {
    let workspace = repository();
    expect_exit(run(&workspace, "branches"), 0);
    for task in ["T1", "T2"] {
        assert_eq!(workspace.read(&format!("{task}.txt")), format!("{task}\n"));
    }
    is_clean(&workspace);
}

#[test]
fn broken_worktree_fails_only_its_task() {
    let workspace = repository();
    let result = expect_exit(run(&workspace, "defects"), 81);
    let failed = &result["tasks"][0];
    says(&failed["reason"], "not a worktree of the repository");
    let file = format!("{}/T1.txt", find_retained(failed));
    assert_eq!(workspace.read(&file), "T1\n", "its work is not thrown away");
    assert_eq!(
        workspace.git("log --format=%s"),
        "first\n",
        "nothing was committed here"
    );
}

#[test]
fn merge_that_others_began_stays_theirs() {
    let workspace = repository();
    let commit = "commit --quiet --all --message";
    workspace.git("checkout --quiet -b other");
    workspace.write("shared.txt", "other\n");
    workspace.git(format!("{commit} other"));
    workspace.git("checkout --quiet main");
    workspace.write("shared.txt", "main\n");
    workspace.git(format!("{commit} main"));
    workspace.shell("git -c user.name=a -c user.email=a@b merge --quiet other");
    workspace.git("rev-parse --verify MERGE_HEAD");
    let words = words("edits");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let error = workspace.expect_refusal(&words, "E_INPUT_INVALID");
    says(&error, "a merge is in progress");
    workspace.git("rev-parse --verify MERGE_HEAD");
}

#[test]
fn verified_work_of_killed_run_is_merged_and_not_redone() {
    let workspace = repository();
    let mut child = workspace.command(&words("edits-works-and-hangs --jobs 2"));
    let child = child.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    let is_there = |task: &str| workspace.path(&format!(".played/edited-{task}")).exists();
    while !is_there("T1") || !is_there("T2") {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = workspace.ask("runs list");
    let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
    let resumed = workspace.json(&["runs", "resume", id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    for task in ["T1", "T2"] {
        assert_eq!(workspace.read(&format!("{task}.txt")), format!("{task}\n"));
        assert_eq!(
            workspace.read(&format!(".played/{task}")).lines().count(),
            1
        );
    }
    is_clean(&workspace);
    assert_eq!(workspace.git("branch --list 'cleo/*'"), "");
}

#[test]
fn what_does_not_verify_is_not_merged() {
    let workspace = repository();
    expect_exit(run(&workspace, "lies"), 81);
    is_clean(&workspace);
    assert_eq!(workspace.git("log --merges --format=%s"), "");
}

#[test]
fn killed_run_leaves_worktrees_only_until_it_is_cancelled() {
    let workspace = repository();
    let id = kill_run(&workspace, &words("edits-and-hangs"), ".played/edited");
    let cancelled = workspace.json(&["runs", "cancel", &id]);
    assert_eq!(
        cancelled["result"]["run"]["status"], "cancelled",
        "{cancelled}"
    );
    is_clean(&workspace);
    let kept = workspace.git("branch --list --format='%(refname:short)' 'cleo/*'");
    assert!(kept.lines().count() >= 1, "what was done is kept: {kept}");
    let told = cancelled["result"]["branches"].as_array().unwrap();
    assert_eq!(told.len(), kept.lines().count(), "{cancelled}");
    let shown = workspace.json(&["runs", "show", &id]);
    for branch in kept.lines() {
        assert!(told.contains(&json!(branch)), "{cancelled}");
        let tasks = shown["result"]["tasks"].as_array().unwrap();
        let task = tasks.iter().find(|task| task["branch"] == branch).unwrap();
        let reason = format!("the run was cancelled; its work is kept on the branch {branch}");
        assert_eq!(task["reason"], reason.as_str(), "{shown}");
        assert!(events(&workspace).contains(&format!("git merge {branch}")));
    }
}

#[test]
fn tasks_of_killed_run_are_closed_when_it_is_cancelled() {
    let workspace = repository();
    workspace.ok("update T2 --depends T1");
    let id = kill_run(&workspace, &words("edits-and-hangs"), ".played/edited");
    workspace.json(&["runs", "cancel", &id]);
    let shown = workspace.json(&["runs", "show", &id]);
    let tasks = shown["result"]["tasks"].as_array().unwrap();
    let states: Vec<&Value> = tasks.iter().map(|task| &task["state"]).collect();
    assert_eq!(states, ["cancelled", "skipped"], "{shown}");
    assert_eq!(tasks[0]["outcome"], "cancelled");
    let last = events(&workspace);
    assert!(
        last.trim_end()
            .lines()
            .last()
            .unwrap()
            .contains("run.finished")
    );
}

#[test]
fn work_that_cannot_be_committed_stays_where_it_is() {
    for how in ["locks", "unmarks"] {
        let workspace = repository();
        let result = expect_exit(run(&workspace, how), 81);
        for task in ["T1", "T2"] {
            let all = result["tasks"].as_array().unwrap();
            let failed = all.iter().find(|one| one["taskId"] == task).unwrap();
            let file = format!("{}/{task}.txt", find_retained(failed));
            assert_eq!(workspace.read(&file), format!("{task}\n"), "{how}");
        }
        assert_eq!(workspace.git("log --format=%s"), "first\n", "{how}");
    }
}

#[test]
fn work_in_files_that_git_was_told_to_pass_over_is_merged() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let workspace = repository();
        expect_exit(
            carry_out(&workspace, &words_for_one(&format!("marks {mark}"))),
            0,
        );
        assert_eq!(workspace.read("shared.txt"), "T1\n", "{mark}");
        is_clean(&workspace);
    }
    let workspace = repository();
    workspace.git("config core.ignoreStat true");
    expect_exit(carry_out(&workspace, &words_for_one("alters")), 0);
    assert_eq!(workspace.read("shared.txt"), "T1\n");
}

#[test]
fn conflicts_that_agent_has_not_settled_are_not_merged() {
    for what in ["merge", "cherry-pick", "revert"] {
        let workspace = repository();
        let result = expect_exit(
            carry_out(&workspace, &words_for_one(&format!("stops {what}"))),
            80,
        );
        let failed = &result["tasks"][0];
        let reason = failed["reason"].as_str().unwrap();
        let why = format!(
            "has an unfinished {what}; finish it there and commit: shared.txt has conflicts"
        );
        assert!(reason.contains(&why), "{reason}");
        let left = workspace.read(&format!("{}/shared.txt", find_retained(failed)));
        assert!(left.contains("<<<<<<<"), "{what}: {left}");
        assert_eq!(workspace.read("shared.txt"), "nobody\n");
        assert_eq!(workspace.git("log --format=%s"), "first\n", "{what}");
    }
}

#[test]
fn something_named_git_that_is_no_repo_is_not_thrown_away() {
    let workspace = repository();
    workspace.write(".gitignore", "build/\n");
    workspace.git("add .gitignore");
    workspace.git(format!("{COMMIT} ignore"));
    let result = expect_exit(carry_out(&workspace, &words_for_one("names-git fix")), 80);
    let failed = &result["tasks"][0];
    assert_eq!(failed["outcome"], "blocked", "{failed}");
    says(&failed["reason"], "fix is a repository");
    let file = format!("{}/fix/.git/config", find_retained(failed));
    assert_eq!(workspace.read(&file), "T1\n");
    assert_eq!(workspace.git("log --merges --format=%s"), "");
    // Its work waits for a person; with words for another attempt, an agent works again. Ignored files are removed with
    // the worktree.
    expect_exit(carry_out(&workspace, &words_for_one("names-git build")), 81);
    workspace.ok("update T1 --note 'use another folder'");
    expect_exit(carry_out(&workspace, &words_for_one("names-git build")), 0);
}

#[test]
fn repo_within_worktree_is_not_thrown_away() {
    for is_submodule in [false, true] {
        let workspace = repository();
        if is_submodule {
            let head = workspace.git("rev-parse HEAD");
            let link = format!("--cacheinfo 160000,{},lib", head.trim());
            workspace.git(format!("update-index --add {link}"));
            workspace.git("commit --quiet --message link");
        }
        let result = expect_exit(run(&workspace, "embeds"), 81);
        let failed = &result["tasks"][0];
        says(&failed["reason"], "lib is a repository with changes");
        let place = find_retained(failed);
        assert_eq!(workspace.read(&format!("{place}/lib/x")), "T1\n");
        let own = workspace.git(format!("-C {place}/lib log --format=%s"));
        assert_eq!(own, "own\n");
        let branch = failed["branch"].as_str().unwrap();
        workspace.git(format!("rev-parse --verify {branch}"));
        assert_eq!(workspace.git("log --merges --format=%s"), "");
    }
}

#[test]
fn report_of_unfinished_work_comes_home() {
    let workspace = repository();
    let result = expect_exit(run(&workspace, "partial"), 81);
    for task in result["tasks"].as_array().unwrap() {
        assert_eq!(task["outcome"], "partial", "{task}");
        let text = workspace.read(task["outputFile"].as_str().unwrap());
        let id = task["taskId"].as_str().unwrap();
        assert!(text.contains(&format!("Work on {id}")), "{text}");
    }
    is_clean(&workspace);
}

#[test]
fn new_report_takes_place_of_old_one() {
    let workspace = repository();
    let (_, result) = carry_out(&workspace, &words_for_one("partial"));
    let file = result["tasks"][0]["outputFile"].as_str().unwrap();
    workspace.write(file, "old\n");
    let result = expect_exit(carry_out(&workspace, &words_for_one("edits")), 0);
    assert_eq!(result["tasks"][0]["outputFile"], file);
    assert!(workspace.read(file).contains("Work on T1"));
    is_clean(&workspace);
}

#[test]
fn report_that_others_writes_meanwhile_stays_theirs() {
    let workspace = repository();
    let result = expect_exit(carry_out(&workspace, &words_for_one("crosses")), 80);
    let failed = &result["tasks"][0];
    says(&failed["reason"], "was changed in the workspace");
    let file = failed["outputFile"].as_str().unwrap();
    assert_eq!(workspace.read(file), "theirs\n");
    let run = result["run"]["id"].as_str().unwrap();
    let name = file.rsplit('/').next().unwrap();
    let aside = workspace.read(&format!(
        ".cleo/runs/{run}/outputs/T1-1/claudedocs/agent-outputs/{name}"
    ));
    assert!(aside.contains("Work on T1"), "{aside}");
    assert_eq!(workspace.git("log --merges --format=%s"), "");
    is_clean(&workspace);
}

#[test]
fn nothing_is_touched_while_another_run_has_its_turn() {
    let workspace = repository();
    let other = File::create(workspace.path(".git/cleo.lock")).unwrap();
    other.lock().unwrap();
    let mut child = workspace.command(&words("edits"));
    let child = child.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    while !events(&workspace).contains("task.waiting") {
        thread::sleep(Duration::from_millis(5));
    }
    let trees = workspace.git("worktree list");
    assert_eq!(trees.lines().count(), 1, "{trees}");
    drop(other);
    assert!(child.wait().unwrap().success());
    for task in ["T1", "T2"] {
        assert_eq!(workspace.read(&format!("{task}.txt")), format!("{task}\n"));
    }
    is_clean(&workspace);
}

/// Returns the events of all runs, one on each line.
fn events(workspace: &TestWorkspace) -> String {
    let listed = workspace.ask("runs list");
    let runs = listed["result"]["runs"].as_array().unwrap().iter();
    let events = runs.flat_map(|run| {
        let logged = workspace.ask(format!("runs logs {}", run["id"].as_str().unwrap()));
        logged["result"]["events"].as_array().unwrap().clone()
    });
    events.map(|event| format!("{event}\n")).collect()
}

/// A run that was killed when its agent had worked, with a branch that holds the work. Returns its id.
fn kill_with_work(workspace: &TestWorkspace) -> String {
    let id = kill_run(
        workspace,
        &words_for_one("edits-works-and-hangs"),
        ".played/edited-T1",
    );
    let tree = format!(".cleo/runs/{id}/trees/T1-1");
    workspace.git(format!("-C {tree} add T1.txt"));
    workspace.git(format!("-C {tree} {COMMIT} theirs"));
    id
}

/// Notes that a run was killed in the merge of its branch into main.
fn note_merge(workspace: &TestWorkspace, id: &str) {
    let branch = format!("cleo/{id}/T1-1");
    let tree = workspace.git(format!("merge-tree --write-tree HEAD {branch}"));
    let made = format!(
        "commit-tree {} -p HEAD -p {branch} -m 'T1: One'",
        tree.trim()
    );
    let who = "-c user.name=a -c user.email=a@b";
    let noted = json!({
        "run": id,
        "place": workspace.path(&format!(".cleo/runs/{id}/git")),
        "branch": "main",
        "old": workspace.git("rev-parse HEAD").trim(),
        "new": workspace.git(format!("{who} {made}")).trim(),
        "is_merge": true,
    });
    workspace.write(".git/cleo.lock", noted.to_string());
}

/// Sees that a killed run is resumed to its end, without asking its agent again.
#[track_caller]
fn is_resumed(workspace: &TestWorkspace, id: &str) {
    let resumed = workspace.json(&["runs", "resume", id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    assert_eq!(workspace.read("T1.txt"), "T1\n");
    let played = workspace.read(".played/T1");
    assert_eq!(played.lines().count(), 1, "its agent is not asked again");
    assert_eq!(workspace.read(".git/cleo.lock"), "");
    assert!(!workspace.path(".git/index.lock").exists());
    is_clean(workspace);
}

#[test]
fn merge_that_was_killed_while_it_wrote_is_finished() {
    for half in ["", "T", "T1\n"] {
        let workspace = repository();
        let id = kill_with_work(&workspace);
        note_merge(&workspace, &id);
        workspace.write("T1.txt", half);
        workspace.write(".git/index.lock", "");
        is_resumed(&workspace, &id);
    }
}

/// A repository whose run was killed once work on three files was committed in its worktree, and its merge noted.
fn kill_before_a_merge() -> (TestWorkspace, String) {
    let workspace = repository();
    let once = workspace.path("../edited").display().to_string();
    let script = format!(
        "echo agent >shared.txt; echo T1 >T1.txt; mkdir -p d; : >d/x
[ -e {once} ] || {{ sh {AGENT} works; : >{once}; sleep 600; }}"
    );
    let words = proof::words(&workspace, "T1", &script);
    let id = kill_run(&workspace, &words, "../edited");
    let tree = format!(".cleo/runs/{id}/trees/T1-1");
    workspace.git(format!("-C {tree} add T1.txt shared.txt d"));
    workspace.git(format!("-C {tree} {COMMIT} theirs"));
    note_merge(&workspace, &id);
    (workspace, id)
}

#[test]
fn files_edited_after_killed_merge_stay() {
    for words in ["cancel", "resume"] {
        let (workspace, id) = kill_before_a_merge();
        let noted: Value = serde_json::from_str(&workspace.read(".git/cleo.lock")).unwrap();
        let made = noted["new"].as_str().unwrap();
        workspace.git(format!("restore --source={made} --staged --worktree ."));
        workspace.write("shared.txt", "agent\nand user\n");
        let ended = workspace.json(&["runs", words, &id]);
        let warnings = ended["warnings"].to_string();
        assert!(
            warnings.contains("but for shared.txt, edited since"),
            "{ended}"
        );
        assert_eq!(workspace.read("shared.txt"), "agent\nand user\n");
        assert!(!workspace.path("T1.txt").exists());
        let changed = workspace.git("status --porcelain --untracked-files=no");
        assert_eq!(changed, " M shared.txt\n");
        assert_eq!(workspace.git("log --format=%s"), "first\n");
        let branch = workspace.git(format!("show cleo/{id}/T1-1:shared.txt"));
        assert_eq!(branch, "agent\n");
        let again = workspace.git("branch --list cleo/*/T1-2");
        assert_eq!(again, "", "no agent is asked for the same again");
    }
}

#[test]
fn what_killed_merge_does_not_know_stays() {
    type Edit = fn(&TestWorkspace);
    let cases: [(&str, Edit); 4] = [
        ("T1.txt/mine", |workspace| {
            workspace.write("T1.txt/mine", "user\n")
        }),
        ("shared.txt/mine", |workspace| {
            fs::remove_file(workspace.path("shared.txt")).unwrap();
            workspace.write("shared.txt/mine", "user\n");
        }),
        ("shared.txt", |workspace| {
            workspace.git("update-index --assume-unchanged shared.txt");
            workspace.write("shared.txt", "user\n");
        }),
        ("../outside/x", |workspace| {
            workspace.write("../outside/x", "");
            std::os::unix::fs::symlink("../outside", workspace.path("d")).unwrap();
        }),
    ];
    for (kept, edit) in cases {
        let (workspace, id) = kill_before_a_merge();
        edit(&workspace);
        let before = workspace.read(kept);
        let ended = workspace.json(&["runs", "cancel", &id]);
        let warnings = ended["warnings"].to_string();
        assert!(warnings.contains("edited since"), "{kept}: {ended}");
        assert_eq!(workspace.read(kept), before, "{kept}");
        assert_eq!(workspace.git("log --format=%s"), "first\n");
    }
}

#[test]
fn lock_of_git_that_was_killed_with_its_run_is_removed() {
    let workspace = repository();
    let id = kill_with_work(&workspace);
    note_merge(&workspace, &id);
    workspace.write(".git/index.lock", "");
    is_resumed(&workspace, &id);
}

#[test]
fn merge_killed_before_branch_moved_is_repeated() {
    let workspace = repository();
    let id = kill_with_work(&workspace);
    note_merge(&workspace, &id);
    let noted: Value = serde_json::from_str(&workspace.read(".git/cleo.lock")).unwrap();
    let made = noted["new"].as_str().unwrap();
    workspace.git(format!(
        "restore --source={made} --staged --worktree T1.txt"
    ));
    is_resumed(&workspace, &id);
    assert_eq!(workspace.git("rev-list --count --merges HEAD"), "1\n");
}

#[test]
fn killed_merge_is_made_anew_on_commit_of_user() {
    let workspace = repository();
    let id = kill_with_work(&workspace);
    note_merge(&workspace, &id);
    workspace.write("T1.txt", "T1\n");
    workspace.write("mine.txt", "mine\n");
    workspace.git("add mine.txt");
    workspace.git(format!("{COMMIT} mine"));
    is_resumed(&workspace, &id);
    assert_eq!(workspace.read("mine.txt"), "mine\n");
    let mine = workspace.git("show --format= --name-only HEAD^1");
    assert_eq!(mine, "mine.txt\n");
}

#[test]
fn merge_that_killed_run_had_made_is_told_when_it_continues() {
    let workspace = repository();
    let words = words_for_one("edits-works-and-hangs");
    let id = kill_run(&workspace, &words, ".played/edited-T1");
    let who = "-c user.name=a -c user.email=a@b";
    let tree = format!(".cleo/runs/{id}/trees/T1-1");
    workspace.git(format!("-C {tree} add T1.txt"));
    let commit = format!("-C {tree} {who} commit --quiet --message x");
    workspace.git(&commit);
    let merge = format!("{who} merge --quiet --no-ff -m 'Cleo-Step: {id}/T1' cleo/{id}/T1-1");
    workspace.git(&merge);
    let made = workspace.git("rev-parse HEAD");
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    let told = events(&workspace);
    let merged = told.lines().find(|line| line.contains("task.merged"));
    assert!(merged.unwrap().contains(made.trim()), "{told}");
}

#[test]
fn merge_started_by_others_stays_theirs() {
    let workspace = repository();
    let id = kill_run(
        &workspace,
        &words_for_one("clashes-and-hangs-once"),
        ".played/edited",
    );
    let tree = format!(".cleo/runs/{id}/trees/T1-1");
    workspace.git(format!("-C {tree} {COMMIT} theirs"));
    workspace.write("shared.txt", "main\n");
    workspace.git(format!("{COMMIT} main"));
    let who = "-c user.name=a -c user.email=a@b";
    workspace.shell(&format!("git {who} merge --no-ff cleo/{id}/T1-1"));
    workspace.git("rev-parse --verify MERGE_HEAD");
    let before = workspace.read("shared.txt");
    let refused = workspace.json(&["runs", "resume", &id]);
    assert_eq!(refused["error"]["code"], "E_INPUT_INVALID", "{refused}");
    workspace.git("rev-parse --verify MERGE_HEAD");
    assert_eq!(workspace.read("shared.txt"), before);
}

#[test]
fn a_merge_that_goes_on_without_its_run_is_ended_and_made_again() {
    let workspace = repository();
    // Keeps the first merge in the workspace from coming to its end.
    let filter = workspace.path("filter.sh");
    workspace.write(
        "filter.sh",
        "[ ! -d .played ] || [ -e .played/merging ] || { : >.played/merging; sleep 600; }\nexec cat\n",
    );
    let smudge = format!("config filter.slow.smudge 'sh {}'", filter.display());
    workspace.git(&smudge);
    workspace.write(".git/info/attributes", "shared.txt filter=slow\n");
    let id = kill_run(&workspace, &words_for_one("alters"), ".played/merging");
    let lock = workspace.path(".git/index.lock");
    assert!(lock.exists(), "git is at work");
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    assert_eq!(workspace.read("shared.txt"), "T1\n");
    let played = workspace.read(".played/T1");
    assert_eq!(played.lines().count(), 1, "its agent is not asked again");
    assert!(events(&workspace).contains("task.merged"));
    assert!(!lock.exists());
    assert_eq!(workspace.read(".git/cleo.lock"), "");
    is_clean(&workspace);
    assert_eq!(workspace.git("branch --list 'cleo/*'"), "");
}

#[test]
fn agent_is_judged_by_what_it_left_in_its_worktree() {
    let workspace = repository();
    expect_exit(carry_out(&workspace, &words_for_one("asks")), 0);
    let asked = workspace.read(".played/asked");
    assert_eq!(asked, "verified\ncompleted\n", "its hook is silent");
    assert_eq!(workspace.read("T1.txt"), "T1\n", "what it did is merged");
    workspace.ok("verify output T1");
    is_clean(&workspace);
}

#[test]
fn what_agent_completed_and_does_not_fit_is_reverted() {
    let workspace = repository();
    let result = expect_exit(run(&workspace, "clashes-and-completes --jobs 2"), 81);
    let tasks = result["tasks"].as_array().unwrap();
    let failed = tasks.iter().find(|task| task["state"] == "failed").unwrap();
    let task = failed["taskId"].as_str().unwrap();
    let shown = workspace.json(&["show", task]);
    assert_ne!(shown["result"]["task"]["status"], "done", "{shown}");
    is_clean(&workspace);
    // A later run does not complete it by what was verified on its branch.
    let words = ["run", task, "--command", "false", "--repair", "0"];
    let (exit, result) = carry_out(&workspace, &words.map(String::from));
    let state = &result["tasks"][0]["state"];
    assert_eq!((exit, state), (81, &json!("skipped")));
}

#[test]
fn deliverables_that_git_ignores_come_home() {
    let workspace = repository();
    workspace.ok("add Three --deliverable build/out.bin --deliverable 'A page that says hello'");
    workspace.write(".git/info/exclude", "build/\n");
    let words: Vec<String> = words_for_one("builds")
        .into_iter()
        .map(|word| word.replace("T1", "T3"))
        .collect();
    expect_exit(carry_out(&workspace, &words), 0);
    assert_eq!(workspace.read("build/out.bin"), "T3\n");
    assert!(
        !workspace.path("build/cache").exists(),
        "nobody asked for it"
    );
    is_clean(&workspace);
}

#[test]
fn deliverable_unseen_by_its_agent_is_replaced_and_kept() {
    let workspace = repository();
    workspace.ok("update T1 --deliverable build/out.bin");
    workspace.write(".git/info/exclude", "build/\n");
    workspace.write("build/out.bin", "mine\n");
    let result = expect_exit(carry_out(&workspace, &words_for_one("builds")), 0);
    assert_eq!(workspace.read("build/out.bin"), "T1\n");
    let id = result["run"]["id"].as_str().unwrap();
    let former = format!(".cleo/runs/{id}/outputs/T1-1.replaced/build/out.bin");
    assert_eq!(workspace.read(&former), "mine\n");
    let warning = result["tasks"][0]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("did not see it"), "{warning}");
    let shown = workspace.ok(&format!("runs show {id}"));
    assert!(shown.stdout.contains("warning  E_FILE_CHANGED"), "{shown}");
}

#[test]
fn spoiled_worktree_fails_only_its_task() {
    let workspace = repository();
    let result = expect_exit(run(&workspace, "obstructs"), 81);
    says(&result["tasks"][0]["reason"], "E_FILE_UN");
    assert_eq!(result["tasks"][1]["state"], "done", "{result}");
}

#[test]
fn outputs_in_folders_below_come_home() {
    let workspace = repository();
    workspace.write("claudedocs/agent-outputs/data/theirs.csv", "theirs\n");
    expect_exit(carry_out(&workspace, &words_for_one("spreads")), 0);
    let read = |name: &str| workspace.read(&format!("claudedocs/agent-outputs/data/{name}"));
    assert_eq!(
        [read("deep/x.csv"), read("theirs.csv")],
        ["T1\n", "theirs\n"]
    );
    assert!(!workspace.git("ls-files").contains("claudedocs"));
    is_clean(&workspace);
}

#[test]
fn output_written_by_others_meanwhile_stays() {
    let workspace = repository();
    let result = expect_exit(
        carry_out(&workspace, &words_for_one("spreads-and-crosses")),
        80,
    );
    says(
        &result["tasks"][0]["reason"],
        "data/x.csv was changed in the workspace",
    );
    let theirs = workspace.read("claudedocs/agent-outputs/data/x.csv");
    assert!(!theirs.contains("/trees/"), "{theirs}");
    let run = result["run"]["id"].as_str().unwrap();
    let aside = workspace.read(&format!(
        ".cleo/runs/{run}/outputs/T1-1/claudedocs/agent-outputs/data/x.csv"
    ));
    assert!(aside.contains("/trees/"), "{aside}");
    is_clean(&workspace);
}

#[test]
fn output_in_linked_folder_stays_in_its_worktree() {
    let workspace = repository();
    workspace.write("elsewhere/own", "mine\n");
    let link = workspace.path("claudedocs/agent-outputs/data");
    std::os::unix::fs::symlink(workspace.path("elsewhere"), link).unwrap();
    let result = expect_exit(carry_out(&workspace, &words_for_one("spreads")), 80);
    let failed = &result["tasks"][0];
    says(&failed["reason"], "data is not a folder");
    let output = "claudedocs/agent-outputs/data/deep/x.csv";
    let kept = workspace.read(&format!("{}/{output}", find_retained(failed)));
    assert_eq!(kept, "T1\n");
    assert!(!workspace.path("elsewhere/deep").exists());
}

#[test]
fn repo_that_git_ignores_is_not_thrown_away() {
    let workspace = repository();
    workspace.write(".git/info/exclude", "lib/\n");
    let result = expect_exit(carry_out(&workspace, &words_for_one("embeds")), 80);
    let failed = &result["tasks"][0];
    says(&failed["reason"], "lib is a repository with changes");
    assert_eq!(
        workspace.read(&format!("{}/lib/x", find_retained(failed))),
        "T1\n"
    );
}

#[test]
fn report_that_is_written_again_word_for_word_counts() {
    let workspace = repository();
    let (_, result) = carry_out(&workspace, &words_for_one("partial"));
    let file = result["tasks"][0]["outputFile"].as_str().unwrap();
    let old = File::options().write(true).open(workspace.path(file));
    old.unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let (exit, result) = carry_out(&workspace, &words_for_one("lies"));
    assert_ne!(exit, 0, "an old one does not: {result}");
    let result = expect_exit(carry_out(&workspace, &words_for_one("works")), 0);
    assert_eq!(result["tasks"][0]["outputFile"], file);
}

#[test]
fn worktree_that_its_agent_removed_is_not_told_to_be_kept() {
    let workspace = repository();
    let result = expect_exit(carry_out(&workspace, &words_for_one("removes")), 80);
    let failed = &result["tasks"][0];
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.contains("was removed meanwhile"), "{failed}");
    assert!(!reason.contains("worktree is kept"), "{failed}");
    let branch = failed["branch"].as_str().unwrap();
    assert_eq!(workspace.git(format!("show {branch}:T1.txt")), "T1\n");
    is_clean(&workspace);
}

#[test]
fn removed_worktree_is_recreated_for_next_attempt() {
    let workspace = repository();
    let words = words_for_one("removes-once").into_iter();
    let words = words.map(|word| if word == "0" { "1".into() } else { word });
    expect_exit(carry_out(&workspace, &words.collect::<Vec<String>>()), 0);
    assert_eq!(workspace.read("T1.txt"), "T1\n");
    let told = events(&workspace);
    assert!(told.contains("and nothing was committed there"), "{told}");
    is_clean(&workspace);
}

/// Plays a claude that removes its worktree, then lies during a conversation with a cumulative cost,
/// and works when that is resumed.
const REMOVES_AND_LIES: &str = r#"#!/bin/sh
echo "$@" >>CALLED
case $(($(wc -l <CALLED))) in
1) session=s1 cost=1 && rm -rf "$PWD" ;;
2) session=s2 cost=1 ;;
*) session=s2 cost=2 && sh AGENT works >&2 ;;
esac
cat <<END
{"type":"system","session_id":"$session"}
{"type":"result","subtype":"success","is_error":false,"result":"Task complete. See MANIFEST.jsonl for summary.","total_cost_usd":$cost}
END
"#;

#[test]
fn cost_of_lost_conversation_is_not_carried_over() {
    let workspace = repository();
    let (claude, called) = (workspace.path("claude"), workspace.path("called"));
    let script = REMOVES_AND_LIES.replace("CALLED", &called.display().to_string());
    workspace.write("claude", script.replace("AGENT", AGENT));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&claude, mode).unwrap();
    let programs = format!("claude={}", claude.display());
    let workspace = workspace.env("CLEO_RUNNERS_PROGRAMS", &programs);
    let line = "run T1 --isolate worktree --repair 2 --runner claude";
    let words: Vec<String> = line.split(' ').map(String::from).collect();
    let result = expect_exit(carry_out(&workspace, &words), 0);
    let calls = workspace.read("called");
    let is_resumed = |call: &str| call.contains("--resume=s2");
    let resumed: Vec<bool> = calls.lines().map(is_resumed).collect();
    assert_eq!(resumed, [false, false, true], "{calls}");
    assert_eq!(result["run"]["cost"], 3.0, "each paid 1: {result}");
    is_clean(&workspace);
}

#[test]
fn what_user_sets_for_merges_of_theirs_does_not_count() {
    let workspace = repository();
    let options = "--no-commit --squash --strategy=ours";
    workspace.git(format!("config branch.main.mergeOptions '{options}'"));
    expect_exit(run(&workspace, "edits"), 0);
    assert_eq!(workspace.git("log --merges --format=%s").lines().count(), 2);
    assert_eq!(workspace.read("T1.txt"), "T1\n");
    is_clean(&workspace);
}

#[test]
fn branches_that_are_merged_go_when_a_run_goes_on() {
    let workspace = repository();
    let id = kill_run(
        &workspace,
        &words_for_one("clashes-and-hangs-once"),
        ".played/edited",
    );
    let merged = format!("cleo/{id}/T2-1");
    workspace.git(format!("branch {merged}"));
    let resumed = workspace.json(&["runs", "resume", &id]);
    assert_eq!(resumed["result"]["run"]["status"], "completed", "{resumed}");
    assert_eq!(workspace.git(format!("branch --list {merged}")), "");
}

#[test]
fn without_repo_nothing_is_begun() {
    let workspace = TestWorkspace::new();
    workspace.ok("add One");
    let words = words_for_one("edits");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    workspace.expect_refusal(&words, "E_INPUT_INVALID");
    std::fs::create_dir(workspace.path(".git")).unwrap();
    workspace.expect_refusal(&words, "E_INPUT_INVALID");
}
