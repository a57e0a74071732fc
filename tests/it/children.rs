//! The environment of commands that cleo starts, the folder and tree in which work is verified, and
//! the influence of git settings on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::world::{TestWorkspace, document, expect_exit, says};

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");

/// Sets variables of a hook, `rebase --exec` and `git -c` for the repository of the caller, and
/// secrets of the user.
fn surround(mut command: Command, workspace: &TestWorkspace) -> Command {
    let repository = workspace.path(".git");
    command
        .env("GIT_DIR", &repository)
        .env("GIT_INDEX_FILE", repository.join("index"))
        .env("GIT_WORK_TREE", workspace.root())
        .env("GIT_COMMON_DIR", &repository)
        .env("GIT_OBJECT_DIRECTORY", repository.join("objects"))
        .env("GIT_PREFIX", "")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "user.name")
        .env("GIT_CONFIG_VALUE_0", "outside")
        .env("PWD", "/usr")
        .env("OLDPWD", "/usr/bin")
        .env("FOO_SECRET", "hidden")
        .env("LC_TOKEN", "hidden")
        .env("XDG_RUNTIME_DIR", "/run/hidden")
        .env("HTTPS_PROXY", "http://me:hidden@proxy.example:8080");
    command
}

/// Sees that a list of variables, as `env` prints it, has none that the caller's were to hide.
#[track_caller]
fn is_chosen(variables: &str, folder: &Path) {
    let named = |name: &str| {
        let mut lines = variables.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    };
    assert!(!variables.contains("hidden"), "{variables}");
    for line in variables.lines() {
        assert!(!line.starts_with("GIT_"), "{line}");
    }
    assert_eq!(
        named("PWD"),
        Some(&*folder.to_string_lossy()),
        "{variables}"
    );
    assert_eq!(named("OLDPWD"), None, "{variables}");
}

/// A workspace in a repository, with T1 and these files committed.
fn repository(workspace: TestWorkspace, files: &[(&str, &str)]) -> TestWorkspace {
    workspace.ok("init");
    workspace.ok("add One");
    for (path, text) in files {
        workspace.write(path, text);
    }
    workspace.git("init --quiet --initial-branch main");
    workspace.git("add .");
    workspace.git("rm --quiet -r --cached --ignore-unmatch .cleo claudedocs");
    workspace.git("commit --quiet --allow-empty --message first");
    workspace
}

fn plain(files: &[(&str, &str)]) -> TestWorkspace {
    repository(TestWorkspace::bare(), files)
}

/// Runs T1 in a worktree, by an agent that behaves in a way and is told about a script besides.
fn run_isolated(workspace: &TestWorkspace, how: &str) -> (i32, Value) {
    let line = format!("run T1 --isolate worktree --repair 0 --command 'sh {AGENT} {how}'");
    finish(workspace, workspace.command(&shlex::split(&line).unwrap()))
}

fn finish(workspace: &TestWorkspace, command: Command) -> (i32, Value) {
    let reply = workspace.finish(command, "");
    let answer = document(&reply);
    (reply.exit, answer)
}

/// A test of a project that makes a repository of its own, as many do, and shows what it sees.
const FIXTURE: &str = r#"set -e
env >"$CLEO_TEST_SEEN"
export GIT_CONFIG_GLOBAL=/dev/null
folder=$(mktemp -d)
cd "$folder"
git init --quiet .
git config user.name fixture
git config user.email fixture@localhost
echo x >x
git add x
git commit --quiet --message fixture
rm -rf "$folder"
"#;

#[test]
fn git_vars_of_caller_reach_no_gate() {
    let workspace = plain(&[("test.sh", FIXTURE)]);
    let seen = workspace.root().with_file_name("seen");
    workspace.ok("update T1 --acceptance 'tests :: sh test.sh'");
    for line in [
        "verify T1 --run-all",
        "verify T1 --gate implemented --run 'sh test.sh'",
    ] {
        let _ = fs::remove_file(&seen);
        let command = workspace.command(&shlex::split(line).unwrap());
        let mut command = surround(command, &workspace);
        command.env("CLEO_TEST_SEEN", &seen).env(
            "CLEO_GATES_ENVIRONMENT",
            "CLEO_TEST_SEEN,GIT_DIR,GIT_I*,GIT_W*,GIT_CONFIG_COUNT",
        );
        expect_exit(finish(&workspace, command), 0);
        is_chosen(&fs::read_to_string(&seen).unwrap(), workspace.root());
    }
    assert_eq!(workspace.git("log --format=%s"), "first\n");
    let settings = workspace.read(".git/config");
    assert!(!settings.contains("fixture"), "{settings}");
}

#[test]
fn git_vars_of_caller_reach_no_agent() {
    let script = format!("env >\"$CLEO_ROOT/.seen\"\nsh {AGENT} edits\n");
    let workspace = plain(&[("agent.sh", &script), ("test.sh", FIXTURE)]);
    let seen = workspace.root().with_file_name("seen");
    workspace.ok("update T1 --acceptance 'tests :: sh test.sh'");
    let line = "run T1 --isolate worktree --repair 0 --pass-env GIT_DIR --pass-env 'GIT_I*' --command 'sh agent.sh'";
    let command = workspace.command(&shlex::split(line).unwrap());
    let mut command = surround(command, &workspace);
    command
        .env("CLEO_TEST_SEEN", &seen)
        .env("CLEO_GATES_ENVIRONMENT", "CLEO_TEST_SEEN");
    let answer = expect_exit(finish(&workspace, command), 0);
    let runs = workspace.path(".cleo/runs");
    let run = answer["result"]["run"]["id"].as_str().unwrap();
    let tree = runs.join(run).join("trees/T1-1");
    let agents = workspace.read(".seen");
    is_chosen(&agents, &tree);
    let proxy = "HTTPS_PROXY=http://proxy.example:8080";
    assert!(agents.lines().any(|line| line == proxy), "{agents}");
    // The last one that ran looked at the workspace, after the merge.
    is_chosen(&fs::read_to_string(&seen).unwrap(), workspace.root());
    assert_eq!(workspace.read("T1.txt"), "T1\n");
    let settings = workspace.read(".git/config");
    assert!(!settings.contains("fixture"), "{settings}");
}

#[test]
fn resumed_run_passes_the_variable_that_was_missing() {
    let script = format!("[ -n \"${{MY_TOKEN-}}\" ] || exit 1\nsh {AGENT} works\n");
    let workspace = plain(&[("agent.sh", &script)]).env("MY_TOKEN", "x");
    let failed = workspace.ask("run T1 --repair 0 --command 'sh agent.sh'");
    assert_eq!(failed["success"], false, "{failed}");
    assert!(workspace.cleo("runs show").contains("failed"), "the newest");
    let id = workspace.result("runs list")["runs"][0]["id"].clone();
    let line = format!("runs resume {} --pass-env MY_TOKEN", id.as_str().unwrap());
    assert_eq!(workspace.result(line)["run"]["status"], "completed");
}

#[test]
fn git_vars_of_caller_reach_no_planner() {
    let planner = "env >seen; cat >/dev/null; cat plan.json";
    let plan = r#"{"goal":"x","steps":[{"id":"a","capability":"planner","instruction":"do"}]}"#;
    let workspace = plain(&[("planner.sh", planner), ("plan.json", plan)]);
    let words = ["plan", "x", "--planner", "sh planner.sh"];
    let command = surround(workspace.command(&words), &workspace);
    workspace.finish(command, "");
    is_chosen(&workspace.read("seen"), workspace.root());
}

#[test]
fn git_vars_of_caller_reach_no_worker() {
    let answer = r#"env >seen
id=$(sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{"request_id":"%s","agent_name":"w","status":"success","output":{"result":"R"},"error":null}' "$id"
"#;
    let workspace = plain(&[("worker.sh", answer)]);
    workspace.ok("agents register Worker --intent summary.create --command 'sh worker.sh'");
    let command = surround(
        workspace.command(&["agents", "check", "worker"]),
        &workspace,
    );
    let reply = workspace.finish(command, "");
    assert!(workspace.path("seen").exists(), "{reply}");
    is_chosen(&workspace.read("seen"), workspace.root());
}

#[test]
fn gates_get_what_settings_name() {
    let workspace = plain(&[]);
    let named = |line: &str, variables: &[(&str, &str)]| {
        let mut command = workspace.command(&shlex::split(line).unwrap());
        command.envs(variables.iter().copied());
        finish(&workspace, command)
    };
    let line = "verify T1 --gate implemented --run 'sh -c \"test \\\"$FOO\\\" = bar\"'";
    let foo = ("FOO", "bar");
    assert_eq!(named(line, &[foo]).0, 6);
    assert_eq!(named(line, &[foo, ("CLEO_GATES_ENVIRONMENT", "FOO")]).0, 0);
    assert_eq!(named(line, &[foo, ("CLEO_RUNNERS_ENVIRONMENT", "F*")]).0, 0);
    workspace.write(".cleo/config.yaml", "gates.environment: FOO\n");
    let answer = expect_exit(named(line, &[foo]), 8);
    says(&answer, "gates.environment is set by the project's file");
    assert_eq!(named("show T1", &[foo]).0, 0);
}

#[test]
fn gate_knows_folder_it_runs_in() {
    let makefile = "test:\n\t@grep -q good $(PWD)/code.txt\n";
    let breaks = format!("sh {AGENT} edits && echo bad >code.txt\n");
    let files = [
        ("Makefile", makefile),
        ("code.txt", "good\n"),
        ("agent.sh", breaks.as_str()),
    ];
    let workspace = plain(&files);
    workspace.ok("update T1 --acceptance 'tests :: make test'");
    let line = "run T1 --isolate worktree --repair 0 --command 'sh agent.sh'";
    let mut command = workspace.command(&shlex::split(line).unwrap());
    command.env("PWD", workspace.root());
    let (exit, answer) = finish(&workspace, command);
    assert_ne!(exit, 0, "{answer}");
    assert_eq!(workspace.read("code.txt"), "good\n");
    // It was not even merged and reverted.
    assert_eq!(workspace.git("reflog").lines().count(), 1);
}

/// A linked worktree beside the workspace, with another text in code.txt, and T1 proven by it.
fn link_worktree(main: &str, tree: &str) -> (TestWorkspace, PathBuf) {
    let workspace = plain(&[("code.txt", main)]);
    workspace.ok("update T1 --acceptance 'good :: grep -q good code.txt'");
    workspace.git("worktree add --quiet ../tree");
    let place = workspace.root().with_file_name("tree");
    fs::write(place.join("code.txt"), tree).unwrap();
    (workspace, place)
}

fn stands_in(workspace: &TestWorkspace, place: &Path, line: &str) -> (i32, Value) {
    let mut command = workspace.command(&shlex::split(line).unwrap());
    command
        .current_dir(place)
        .env("CLEO_ROOT", workspace.root());
    finish(workspace, command)
}

#[test]
fn files_that_task_names_prove_nothing_of_another_worktree() {
    let (workspace, tree) = link_worktree("good\n", "good\n");
    workspace.ok("update T1 --file code.txt --acceptance 'there :: test -e there'");
    for (seen_in, judged_in) in [
        (tree.as_path(), workspace.root()),
        (workspace.root(), &tree),
    ] {
        let there = seen_in.join("there");
        fs::write(&there, "").unwrap();
        expect_exit(stands_in(&workspace, seen_in, "verify T1 --run-all"), 0);
        let (exit, answer) = stands_in(&workspace, judged_in, "complete T1");
        assert_eq!(
            (exit, &answer["error"]["code"]),
            (6, &json!("E_EVIDENCE_STALE")),
            "{answer}"
        );
        fs::remove_file(there).unwrap();
        let (exit, answer) = stands_in(&workspace, judged_in, "verify T1 --run-all");
        assert_eq!(
            (exit, &answer["error"]["code"]),
            (6, &json!("E_CRITERION_FAILED")),
            "{answer}"
        );
    }
}

#[test]
fn main_checkout_does_not_prove_work_of_linked_worktree() {
    let (workspace, tree) = link_worktree("good\n", "bad\n");
    let answer = expect_exit(stands_in(&workspace, &tree, "verify T1 --run-all"), 6);
    assert_eq!(answer["result"]["worktree"], "[TEMP]/tree", "{answer}");
    let evidence = &answer["result"]["criteria"][0]["record"]["evidence"][0];
    assert_eq!(evidence["worktree"], "[TEMP]/tree", "{answer}");
    // Proof in the main checkout holds only there.
    workspace.ok("verify T1 --run-all");
    let (exit, answer) = stands_in(&workspace, &tree, "complete T1");
    assert_eq!(answer["error"]["code"], "E_EVIDENCE_STALE", "{answer}");
    assert_eq!(exit, 6);
}

#[test]
fn linked_worktree_finds_workspace_in_subfolder() {
    let workspace = plain(&[("app/code.txt", "good\n")]);
    let stands = |place: &Path, line: &str| {
        let mut command = workspace.command(&shlex::split(line).unwrap());
        command.current_dir(place);
        finish(&workspace, command)
    };
    assert_eq!(stands(&workspace.path("app"), "--root . init").0, 0);
    workspace.git("add app");
    workspace.git("commit --quiet --message app");
    workspace.git("worktree add --quiet ../tree");
    let tree = workspace.root().with_file_name("tree").join("app");
    assert!(tree.join(".cleo").is_dir());
    fs::create_dir(tree.join("below")).unwrap();
    let line = "add 'From the worktree' --file code.txt";
    let (_, answer) = stands(&tree.join("below"), line);
    let files = &answer["result"]["task"]["files"];
    assert_eq!(*files, json!(["below/code.txt"]), "{answer}");
    let (_, answer) = stands(&workspace.path("app"), "--root . list");
    assert_eq!(answer["result"]["total"], 1, "{answer}");
}

#[test]
fn linked_worktree_uses_workspace_of_its_main_checkout() {
    let (workspace, tree) = link_worktree("good\n", "bad\n");
    fs::create_dir(tree.join("below")).unwrap();
    let stands = |place: &Path, line: &str| {
        let mut command = workspace.command(&shlex::split(line).unwrap());
        command.current_dir(place);
        finish(&workspace, command)
    };
    // As where `.cleo/.gitignore` is in git.
    for folder in ["none", ".cleo"] {
        fs::create_dir_all(tree.join(folder)).unwrap();
        for place in [&tree, &tree.join("below")] {
            let answer = expect_exit(stands(place, "verify T1 --run-all"), 6);
            assert_eq!(answer["result"]["worktree"], "[TEMP]/tree", "{answer}");
        }
    }
    assert_eq!(stands(&tree, "add 'From the worktree'").0, 0);
    assert_eq!(workspace.ask("list")["result"]["total"], 2);
    assert!(!tree.join(".cleo/cleo.db").exists());
    for line in ["run T1 --command true", "run T1 --command true --dry-run"] {
        let (exit, answer) = stands(&tree, line);
        assert_eq!(
            (exit, &answer["error"]["fix"]),
            (3, &"cd [WORKSPACE]".into()),
            "{answer}"
        );
    }
    // A run of a workspace that is a linked worktree itself.
    let answer = expect_exit(stands(&tree, "init"), 0);
    assert_eq!(
        answer["warnings"][0],
        "[TEMP]/tree belongs to the workspace [WORKSPACE]: a second one has other tasks"
    );
    workspace.git("worktree add --quiet --detach ../tree/.cleo/runs/run_1/trees/T1-1");
    let own = tree.join(".cleo/runs/run_1/trees/T1-1");
    assert_eq!(stands(&own, "add 'Of its own'").0, 0);
    assert_eq!(stands(&tree, "list").1["result"]["total"], 1);
    assert_eq!(workspace.ask("list")["result"]["total"], 2);
    // A `.git` of which the repository knows nothing is followed nowhere.
    let copy = workspace.root().with_file_name("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(tree.join(".git"), copy.join(".git")).unwrap();
    let main = workspace.root().display();
    for (name, text) in [
        ("commondir", format!("{main}/.git\n")),
        ("gitdir", "../.git\n".to_string()),
        ("HEAD", "ref: refs/heads/main\n".to_string()),
    ] {
        fs::create_dir_all(copy.join("made")).unwrap();
        fs::write(copy.join("made").join(name), text).unwrap();
    }
    let copied = fs::read_to_string(copy.join(".git")).unwrap();
    for leads in [
        "gitdir: made\n".to_string(),
        format!("gitdir: {main}/.git\n"),
        copied,
    ] {
        fs::write(copy.join(".git"), &leads).unwrap();
        let (exit, answer) = stands(&copy, "list");
        assert_eq!(
            (exit, &answer["error"]["code"]),
            (4, &"E_WORKSPACE_NOT_FOUND".into())
        );
        let (exit, answer) = stands_in(&workspace, &copy, "verify T1 --run-all");
        assert_eq!(
            (exit, &answer["error"]["code"]),
            (3, &"E_TREE_UNKNOWN".into()),
            "{leads}"
        );
    }
    let (exit, answer) = stands(&copy, "list");
    assert_eq!(
        (exit, &answer["error"]["code"]),
        (4, &"E_WORKSPACE_NOT_FOUND".into())
    );
}

#[test]
fn good_work_in_linked_worktree_is_proven_there() {
    let (workspace, tree) = link_worktree("bad\n", "good\n");
    expect_exit(stands_in(&workspace, &tree, "verify T1 --run-all"), 0);
    workspace.fails("complete T1", "E_EVIDENCE_STALE");
    let answer = expect_exit(stands_in(&workspace, &tree, "complete T1"), 0);
    assert_eq!(answer["result"]["worktree"], "[TEMP]/tree", "{answer}");
}

#[test]
fn given_worktree_is_judged_wherever_its_agent_stands() {
    let (workspace, tree) = link_worktree("good\n", "bad\n");
    let with = |place: &Path, worktree: &Path| {
        let mut command = workspace.command(&["verify", "T1", "--run-all"]);
        command
            .current_dir(place)
            .env("CLEO_ROOT", workspace.root());
        command
            .env("CLEO_TASK_ID", "T1")
            .env("CLEO_WORKTREE", worktree);
        finish(&workspace, command)
    };
    for place in [workspace.root(), &tree, Path::new("/")] {
        let answer = expect_exit(with(place, &tree), 6);
        assert_eq!(answer["result"]["worktree"], "[TEMP]/tree", "{answer}");
    }
    for gone in ["/nothing", "/", "/usr"] {
        let answer = expect_exit(with(workspace.root(), Path::new(gone)), 3);
        assert_eq!(answer["error"]["code"], "E_TREE_UNKNOWN", "{answer}");
    }
}

#[test]
fn nothing_is_proven_from_another_repo() {
    let (workspace, _) = link_worktree("good\n", "bad\n");
    let other = workspace.root().with_file_name("other");
    fs::create_dir(&other).unwrap();
    workspace.git("init --quiet ../other");
    let before = workspace.state();
    for line in [
        "verify T1 --run-all",
        "verify T1 --gate implemented --note x",
        "verify T1",
        "verify output T1",
        "complete T1",
    ] {
        let answer = expect_exit(stands_in(&workspace, &other, line), 3);
        assert_eq!(answer["error"]["code"], "E_TREE_UNKNOWN", "{line}");
        assert_eq!(answer["error"]["fix"], "cd [WORKSPACE]", "{line}");
    }
    assert_eq!(workspace.state(), before);
    assert_eq!(stands_in(&workspace, &other, "show T1").0, 0);
    // A caller outside of a repository has only the workspace.
    let above = workspace.root().parent().unwrap();
    assert_eq!(stands_in(&workspace, above, "verify T1 --run-all").0, 0);
}

/// Makes a repository that others can have as a submodule or clone.
fn library(workspace: &TestWorkspace, name: &str, inner: Option<&str>) {
    let place = workspace.root().with_file_name(name);
    fs::create_dir(&place).unwrap();
    let there = format!("-C ../{name} -c protocol.file.allow=always");
    workspace.git(format!("{there} init --quiet --initial-branch main"));
    workspace.git(format!(
        "{there} commit --quiet --allow-empty --message lib"
    ));
    if let Some(inner) = inner {
        workspace.git(format!("{there} submodule --quiet add ../{inner} inner"));
        workspace.git(format!("{there} commit --quiet --message inner"));
    }
}

#[test]
fn files_in_repos_within_worktree_are_never_removed() {
    let get = "git -c protocol.file.allow=always";
    for (how, left) in [
        // A submodule that the agent has checked out, and one that it has not.
        (
            format!("{get} submodule --quiet update --init lib && echo x >lib/new"),
            "lib/new",
        ),
        ("echo x >lib/new".to_string(), "lib/new"),
        // One within it.
        (
            format!("{get} submodule --quiet update --init --recursive && echo x >lib/inner/new"),
            "lib/inner/new",
        ),
        // A clone below an ignored folder, and one within that.
        (
            format!(
                "{get} clone --quiet \"$CLEO_ROOT/../lib\" vendor/lib && echo x >vendor/lib/new"
            ),
            "vendor/lib/new",
        ),
        (
            format!(
                "{get} clone --quiet --recurse-submodules \"$CLEO_ROOT/../lib\" vendor/lib && \
                 echo x >vendor/lib/inner/new"
            ),
            "vendor/lib/inner/new",
        ),
    ] {
        let workspace = TestWorkspace::bare().with_hostile_git();
        let script = format!("set -e\n{how}\nsh {AGENT} works\n");
        let workspace = repository(
            workspace,
            &[("agent.sh", &script), (".gitignore", "vendor/\n")],
        );
        library(&workspace, "inner", None);
        library(&workspace, "lib", Some("inner"));
        workspace.git("-c protocol.file.allow=always submodule --quiet add ../lib lib");
        workspace.git("commit --quiet --message lib");
        let line = "run T1 --isolate worktree --repair 0 --command 'sh agent.sh'";
        let command = workspace.command(&shlex::split(line).unwrap());
        let answer = expect_exit(finish(&workspace, command), 80);
        let task = &answer["result"]["tasks"][0];
        let place = task["worktree"]
            .as_str()
            .unwrap_or_else(|| panic!("{how}: {answer}"));
        let place = place.strip_prefix("[WORKSPACE]/").unwrap();
        assert_eq!(workspace.read(&format!("{place}/{left}")), "x\n", "{how}");
    }
}

#[test]
fn hostile_git_settings_change_no_merge_and_no_proof() {
    let workspace = repository(
        TestWorkspace::bare().with_hostile_git(),
        &[("code.txt", "a\n")],
    );
    workspace.ok("update T1 --acceptance 'made :: grep -q T1 T1.txt'");
    expect_exit(run_isolated(&workspace, "edits"), 0);
    assert_eq!(workspace.read("T1.txt"), "T1\n");
    let told = workspace.git("log -1 --format=%an:%G?:%s");
    assert_eq!(told.trim(), "cleo:N:T1: One");
    assert_eq!(workspace.git("config --get-regexp '^branch' || true"), "");
    assert!(!workspace.root().with_file_name("home/started").exists());
}

#[test]
fn files_outside_of_sparse_checkout_are_kept() {
    let script = format!("mkdir -p other && echo x >other/new && sh {AGENT} works\n");
    let workspace = plain(&[("in/a", "a\n"), ("other/b", "b\n"), ("agent.sh", &script)]);
    workspace.git("sparse-checkout set in");
    let line = "run T1 --isolate worktree --repair 0 --command 'sh agent.sh'";
    expect_exit(
        finish(&workspace, workspace.command(&shlex::split(line).unwrap())),
        0,
    );
    assert_eq!(workspace.git("show HEAD:other/new"), "x\n");
}

#[test]
fn files_outside_of_sparse_checkout_are_deleted() {
    let script = format!("git rm --quiet --sparse other/b && sh {AGENT} works\n");
    let workspace = plain(&[("in/a", "a\n"), ("other/b", "b\n"), ("agent.sh", &script)]);
    workspace.git("sparse-checkout set in");
    let line = "run T1 --isolate worktree --repair 0 --command 'sh agent.sh'";
    expect_exit(
        finish(&workspace, workspace.command(&shlex::split(line).unwrap())),
        0,
    );
    assert_eq!(workspace.git("ls-files"), "agent.sh\nin/a\n");
    let changed = workspace.git("status --porcelain --untracked-files=no");
    assert_eq!(changed, "");
}
