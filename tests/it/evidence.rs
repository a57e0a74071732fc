//! Proof of gates and criteria, when it gets stale, and what `complete` requires.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::world::{CLEO, TestWorkspace, assert_fields, column, digest, document, says};

/// A workspace in a repository of git, with T1, which is about the files below `src`.
fn repository() -> TestWorkspace {
    let workspace = plain();
    workspace.git("init -q");
    commit(&workspace);
    workspace
}

/// The same without git.
fn plain() -> TestWorkspace {
    let workspace = TestWorkspace::new()
        .with("src/a.rs", "a\n")
        .with("README.md", "r\n");
    workspace.ok("add 'Paint it' --file 'src/**'");
    workspace
}

fn commit(workspace: &TestWorkspace) {
    workspace.git("add -A");
    workspace.git("commit -q -m x");
}

/// Passes the one gate that T1 needs, with a command that leaves a mark each time that it runs.
fn pass_gate(workspace: &TestWorkspace) {
    workspace.ok("update T1 --require-gate implemented");
    workspace.ok("verify T1 --gate implemented --run 'sh -c \"echo x >> .cleo/runs\"'");
}

#[test]
fn command_during_which_files_change_proves_nothing() {
    let workspace = repository();
    let swaps = r#"sh -c "cp src/a.rs old; echo b > src/a.rs; cp old src/a.rs.new""#;
    workspace.ok(&format!("update T1 --acceptance 'holds :: {swaps}'"));
    workspace.ok("verify T1 --run-all");
    // The files are again what they were before the command.
    fs::remove_file(workspace.path("src/a.rs.new")).unwrap();
    workspace.write("src/a.rs", "a\n");
    workspace.fails("complete T1", "E_EVIDENCE_STALE");
}

/// Counts how often the commands of a test have run.
fn runs(workspace: &TestWorkspace) -> usize {
    let marks = fs::read_to_string(workspace.path(".cleo/runs"));
    marks.unwrap_or_default().lines().count()
}

#[test]
fn every_kind_of_evidence_is_kept_with_where_it_was_taken() {
    let workspace = repository();
    let answer = workspace.ask(
        "verify T1 --gate implemented --run 'echo one' --run true --file src/a.rs --file README.md \
         --commit HEAD --url https://ci.example/7 --note 'read it' --note again",
    );
    let head = workspace.git("rev-parse HEAD");
    let head = head.trim();
    let evidence = answer["result"]["gates"]["implemented"]["evidence"]
        .as_array()
        .unwrap();
    let kinds: Vec<&str> = evidence
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    let expected = [
        "command", "command", "file", "file", "commit", "url", "note", "note",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(evidence[0]["lastLines"], json!(["one"]));
    assert_eq!(evidence[2]["path"], "src/a.rs");
    assert_eq!(evidence[2]["digest"], digest("a\n"));
    assert_fields(&evidence[4], json!({"revision": "HEAD", "id": head}));
    assert_eq!(evidence[5]["url"], "https://ci.example/7");
    assert_eq!(evidence[6]["text"], "read it");
    for each in evidence {
        assert_eq!(each["directory"], ".");
        assert_eq!(each["commit"], head);
        assert_eq!(each["by"], "tester");
        assert_eq!(each["at"], answer["result"]["gates"]["implemented"]["at"]);
        assert_eq!(each["tree"], answer["result"]["tree"]["digest"]);
    }
    assert_eq!(answer["result"]["tree"]["files"], 1);
    let shown = workspace.cleo("verify T1");
    assert!(
        shown.contains("echo one; true; file src/a.rs; file README.md; commit"),
        "{shown}"
    );
}

#[test]
fn evidence_that_is_none_is_refused() {
    let workspace = repository();
    symlink("/etc/passwd", workspace.path("link")).unwrap();
    let fifo = Command::new("mkfifo").arg(workspace.path("pipe")).status();
    assert!(fifo.unwrap().success());
    let before = workspace.read("README.md") + &workspace.cleo("verify T1");
    for (given, code) in [
        ("--file none", "E_FILE_UNREADABLE"),
        ("--file src", "E_FILE_UNREADABLE"),
        ("--file pipe", "E_FILE_UNREADABLE"),
        ("--file ../x", "E_PATH_OUTSIDE_WORKSPACE"),
        ("--file /etc/passwd", "E_PATH_OUTSIDE_WORKSPACE"),
        ("--file link", "E_PATH_OUTSIDE_WORKSPACE"),
        ("--commit nope", "E_INPUT_INVALID"),
        ("--commit=--all", "E_INPUT_INVALID"),
        ("--commit HEAD:README.md", "E_INPUT_INVALID"),
        ("--url ftp://x.example", "E_INPUT_INVALID"),
        ("--url https://me:pw@x.example", "E_INPUT_INVALID"),
        ("--note ''", "E_TASK_INVALID"),
        ("--run ''", "E_USAGE"),
        ("--run no-such-program", "E_PROGRAM_MISSING"),
    ] {
        let error =
            workspace.fails(format!("verify T1 --gate implemented {given}"), code)["error"].clone();
        let others = error["alternatives"].as_array().unwrap();
        assert!(error["fix"].is_string() || !others.is_empty(), "{error}");
    }
    workspace.fails("verify T1 --note x", "E_USAGE");
    assert_eq!(
        workspace.read("README.md") + &workspace.cleo("verify T1"),
        before
    );
}

#[test]
fn path_that_leaves_workspace() {
    let workspace = plain().with("docs/deep/b.md", "b\n");
    let back = format!(
        "../../../{}/src/a.rs",
        workspace.root().file_name().unwrap().to_str().unwrap()
    );
    let full = workspace.path("docs/../src/a.rs");
    let from = |path: &str| {
        let words = ["verify", "T1", "--gate", "implemented", "--file", path];
        let mut below = workspace.command(&words);
        below.current_dir(workspace.path("docs/deep"));
        document(&workspace.finish(below, ""))
    };
    for (path, kept) in [
        ("../../src/a.rs", "src/a.rs"),
        (&back, "src/a.rs"),
        (full.to_str().unwrap(), "src/a.rs"),
        ("./x/../b.md", "docs/deep/b.md"),
    ] {
        let answer = from(path);
        let evidence = &answer["result"]["gates"]["implemented"]["evidence"][0];
        assert_eq!(evidence["path"], kept, "{path}: {answer}");
    }
    for path in [
        "../../..",
        "../../../x",
        "../../src/../../x",
        "/../etc/passwd",
    ] {
        let code = from(path)["error"]["code"].clone();
        assert_eq!(code, "E_PATH_OUTSIDE_WORKSPACE", "{path}");
    }
}

#[test]
fn fix_for_invalid_evidence_can_be_pasted() {
    let workspace = plain();
    for (given, fix) in [
        ("--file nope.txt", "ls -l [WORKSPACE]"),
        ("--file src/x/nope.txt", "ls -l [WORKSPACE]/src"),
        ("--file src", "ls -ld [WORKSPACE]/src"),
    ] {
        let answer = workspace.ask(format!("verify T1 --gate implemented {given}"));
        assert_eq!(answer["error"]["fix"], fix, "{answer}");
        let pasted = workspace.shell(fix);
        assert_eq!(pasted.exit, 0, "{pasted}");
    }
}

#[test]
fn invalid_evidence_runs_no_command() {
    let workspace = plain();
    let command = "verify T1 --gate implemented --run 'touch .cleo/runs' --url x";
    workspace.fails(command, "E_INPUT_INVALID");
    assert!(!workspace.path(".cleo/runs").exists());
}

#[test]
fn only_changes_of_its_files_make_evidence_stale() {
    type Step = (&'static str, fn(&TestWorkspace), bool);
    let steps: [Step; 5] = [
        ("a file elsewhere", |it| it.write("README.md", "R\n"), false),
        ("a commit of what is there", commit, false),
        ("a file of the task", |it| it.write("src/a.rs", "A\n"), true),
        ("a new file", |it| it.write("src/new.rs", "n\n"), true),
        (
            "a rename",
            |it| {
                fs::rename(it.path("src/a.rs"), it.path("src/b.rs")).unwrap();
            },
            true,
        ),
    ];
    for (what, step, is_stale) in steps {
        let workspace = repository();
        pass_gate(&workspace);
        step(&workspace);
        let stale = workspace.ask("verify T1")["result"]["stale"].clone();
        let expected = if is_stale {
            json!(["implemented"])
        } else {
            json!([])
        };
        assert_eq!(stale, expected, "{what}");
        let shown = workspace.cleo("show T1");
        let word = if is_stale {
            "implemented: stale, because files changed since"
        } else {
            "implemented: passed"
        };
        assert!(shown.contains(word), "{what}: {shown}");
        let done = workspace.ask("complete T1");
        assert_eq!(done["success"], !is_stale, "{what}: {done}");
    }
}

#[test]
fn undeclared_tasks_depend_on_all_files_but_cleos_own() {
    for workspace in [repository(), plain()] {
        workspace.ok("update T1 --clear files");
        pass_gate(&workspace);
        workspace.write("claudedocs/agent-outputs/x.md", "x");
        assert_eq!(workspace.ask("verify T1")["result"]["stale"], json!([]));
        workspace.write("README.md", "changed");
        assert_eq!(
            workspace.ask("verify T1")["result"]["stale"],
            json!(["implemented"])
        );
    }
}

#[test]
fn other_files_declared_since_make_evidence_stale() {
    let workspace = plain();
    pass_gate(&workspace);
    workspace.ok("update T1 --file README.md");
    workspace.fails("complete T1", "E_EVIDENCE_STALE");
}

#[test]
fn complete_names_stale_evidence_and_command_to_rerun() {
    let workspace = plain();
    pass_gate(&workspace);
    workspace.write("src/a.rs", "changed");
    let before = workspace.state();
    let error = workspace.fails("complete T1", "E_EVIDENCE_STALE")["error"].clone();
    assert_eq!(error["exitCode"], 6);
    assert_eq!(workspace.state(), before, "a refusal changes nothing");
    says(
        &error,
        "stale proof: implemented (`sh -c 'echo x >> .cleo/runs'`), because files changed since",
    );
    let fix = error["fix"].as_str().unwrap();
    assert_eq!(fix, "cleo verify T1 --refresh");
    assert_eq!(workspace.shell(fix).exit, 0);
    workspace.ok("complete T1");
    assert_eq!(runs(&workspace), 2);
}

/// Returns the key of the user for marks of evidence.
fn key(workspace: &TestWorkspace) -> PathBuf {
    workspace.path("../home/.local/share/cleo/evidence/key")
}

#[test]
fn stale_proof_tells_its_cause() {
    let workspace = plain();
    workspace.ok("update T1 --acceptance 'it holds :: true'");
    workspace.ok("verify T1 --run-all");
    fs::remove_file(key(&workspace)).unwrap();
    let unknown = workspace.fails("complete T1", "E_EVIDENCE_STALE")["error"].clone();
    let foreign = "because it was not verified in this workspace by this user on this machine";
    let message = format!("T1 has stale proof: criterion 1 (`true`), {foreign}");
    assert_eq!(unknown["message"], message);
    assert_eq!(unknown["fix"], "cleo verify T1 --refresh");
    workspace.ok("verify T1 --refresh");
    workspace.write("src/a.rs", "changed");
    let changed = workspace.fails("complete T1", "E_EVIDENCE_STALE")["error"].clone();
    let message = "T1 has stale proof: criterion 1 (`true`), because files changed since";
    assert_eq!(changed["message"], message);
    assert_eq!(changed["fix"], "cleo verify T1 --refresh");
}

#[test]
fn fix_of_damaged_key_loses_nothing() {
    for (damage, fix) in [
        ("chmod g+r key", "chmod u=rw,go= "),
        ("echo short >key", "mv -n "),
        ("echo longer >>key", "mv -n "),
        ("mv key other && ln -s other key", "mv -n "),
        ("rm key && mkdir key && touch key.1", "mv -n "),
    ] {
        let workspace = plain();
        workspace.ok("update T1 --acceptance 'it holds :: true'");
        workspace.ok("verify T1 --run-all");
        let folder = key(&workspace).parent().unwrap().to_path_buf();
        let list = || fs::read_dir(&folder).unwrap().count();
        let damaged = workspace.shell(&format!("cd {} && {damage}", folder.display()));
        assert_eq!(damaged.exit, 0, "{damaged}");
        let before = list();
        let found = workspace.fails("doctor", "E_DOCTOR_FOUND")["error"].clone();
        says(
            &found,
            "evidence.key: [TEMP]/home/.local/share/cleo/evidence/key",
        );
        for (line, code) in [
            ("complete T1", "E_EVIDENCE_STALE"),
            ("verify T1 --run-all", "E_FILE_UNREADABLE"),
            ("trust --yes", "E_FILE_UNREADABLE"),
        ] {
            if line == "trust --yes" {
                workspace.write(
                    "batch.jsonl",
                    "{\"title\":\"B\",\"acceptance\":[\"x :: false\"]}\n",
                );
                workspace.ok("add --batch batch.jsonl");
            }
            let error = workspace.fails(line, code)["error"].clone();
            says(&error, "home/.local/share/cleo/evidence/key is no key");
            assert_eq!(error["fix"], found["fix"], "{line}");
        }
        let told = found["fix"].as_str().unwrap();
        assert!(told.starts_with(fix), "{told}");
        let home = workspace.path("../home").canonicalize().unwrap();
        let told = told.replace("[TEMP]", &home.parent().unwrap().to_string_lossy());
        assert_eq!(workspace.shell(&told).exit, 0, "{told}");
        assert_eq!(list(), before, "nothing is lost: {damage}");
        if fix == "mv -n " {
            workspace.fails("complete T1", "E_EVIDENCE_STALE");
            workspace.ok("verify T1 --run-all");
        }
        workspace.ok("complete T1");
    }
}

#[test]
fn only_what_is_stale_is_run_again() {
    let workspace = plain();
    workspace.ok("update T1 --require-gate implemented --require-gate testsPassed");
    workspace.ok("update T1 --acceptance 'c :: sh -c \"echo c >> .cleo/runs\"'");
    workspace.ok("verify T1 --gate implemented --run 'sh -c \"echo i >> .cleo/runs\"'");
    workspace.write("src/a.rs", "changed");
    workspace.ok("verify T1 --gate testsPassed --run 'sh -c \"echo t >> .cleo/runs\"'");
    let renewed = workspace.ask("verify T1 --refresh");
    assert_eq!(renewed["result"]["ran"][0]["gate"], "implemented");
    assert_eq!(renewed["result"]["ran"].as_array().unwrap().len(), 1);
    assert_eq!(workspace.read(".cleo/runs"), "i\nt\ni\n");
    for text in [
        "verify T1 --run-all",
        "verify T1 --run-all",
        "verify T1 --refresh",
    ] {
        assert_eq!(workspace.ask(text)["success"], true);
    }
    assert_eq!(workspace.read(".cleo/runs"), "i\nt\ni\nc\n", "each once");
    workspace.write("src/a.rs", "again");
    workspace.ok("verify T1 --refresh");
    assert_eq!(workspace.read(".cleo/runs"), "i\nt\ni\nc\ni\nt\nc\n");
    workspace.ok("verify T1 --only 1");
    assert_eq!(runs(&workspace), 8, "asked for by number, it runs");
    workspace.ok("complete T1");
}

#[test]
fn failed_rerun_opens_the_gate() {
    let workspace = plain();
    workspace.ok("verify T1 --gate implemented --run 'grep -q a src/a.rs'");
    workspace.ok("verify T1 --gate testsPassed --run 'grep -q a src/a.rs' --agent testing");
    workspace.write("src/a.rs", "b\n");
    let error = workspace.fails("verify T1 --refresh", "E_GATE_FAILED")["error"].clone();
    says(&error, "implemented (`grep -q a src/a.rs`)");
    assert_eq!(error["fix"], "cleo verify T1");
    let now = workspace.ask("verify T1")["result"].clone();
    assert_eq!(now["gates"]["implemented"]["passed"], false);
    assert_eq!(
        now["gates"].as_object().unwrap().len(),
        1,
        "the later ones are open"
    );
    assert_eq!(now["round"], 1);
}

#[test]
fn words_alone_get_stale() {
    let workspace = plain();
    workspace.ok("update T1 --require-gate implemented");
    workspace.ok("verify T1 --gate implemented --note 'looked at it'");
    workspace.write("src/a.rs", "changed");
    let error = workspace.fails("verify T1 --refresh", "E_EVIDENCE_STALE")["error"].clone();
    assert_eq!(error["fix"], "cleo verify T1");
    let error = workspace.fails("complete T1", "E_EVIDENCE_STALE")["error"].clone();
    assert_eq!(error["fix"], "cleo verify T1");
    workspace.ok("verify T1 --gate implemented --note 'looked again'");
    workspace.ok("complete T1");
}

#[test]
fn file_that_was_kept_as_evidence_must_stay_as_it_was() {
    let workspace = plain().with("report.txt", "good");
    workspace.ok("update T1 --require-gate implemented");
    workspace.ok("verify T1 --gate implemented --file report.txt");
    workspace.write("report.txt", "bad");
    workspace.fails("complete T1", "E_EVIDENCE_STALE");
    workspace.ok("verify T1 --refresh");
    workspace.ok("complete T1");
}

#[test]
fn command_reruns_in_its_folder() {
    let workspace = plain();
    workspace.ok("update T1 --require-gate implemented");
    let words = [
        "verify",
        "T1",
        "--gate",
        "implemented",
        "--run",
        "grep -q . a.rs",
        "--file",
        "a.rs",
    ];
    let mut below = workspace.command(&words);
    below
        .current_dir(workspace.path("src"))
        .env("CLEO_FORMAT", "text");
    assert_eq!(workspace.finish(below, "").exit, 0);
    let evidence = workspace.ask("verify T1")["result"]["gates"]["implemented"]["evidence"].clone();
    assert_eq!(
        (&evidence[0]["directory"], &evidence[1]["path"]),
        (&json!("src"), &json!("src/a.rs"))
    );
    workspace.write("src/a.rs", "changed");
    let error = workspace.fails("complete T1", "E_EVIDENCE_STALE")["error"].clone();
    assert_eq!(error["fix"], "cleo verify T1 --refresh");
    workspace.ok("verify T1 --refresh");
    workspace.ok("complete T1");
    fs::rename(workspace.path("src"), workspace.path("lib")).unwrap();
    workspace.fails("verify T1 --refresh", "E_FILE_UNREADABLE");
}

#[test]
fn command_that_changes_files_is_said_to() {
    let workspace = plain();
    let text = "verify T1 --gate implemented --run 'sh -c \"echo x >> src/a.rs\"'";
    let answer = workspace.ask(text);
    assert_eq!(answer["success"], true);
    assert_eq!(answer["result"]["stale"], json!(["implemented"]));
    says(&answer["warnings"][0], "changed meanwhile");
}

#[test]
fn files_that_are_not_there_are_told_from_none() {
    let workspace = TestWorkspace::new();
    for (task, files, warning) in [
        ("T1", "", "T1 has no files yet: nothing"),
        (
            "T2",
            "--file src/none.rs",
            "no file matches src/none.rs: nothing",
        ),
    ] {
        workspace.ok(&format!("add Paint {files}"));
        let answer = workspace.ask(format!("verify {task} --gate implemented"));
        let told = answer["warnings"].to_string();
        assert!(told.contains(warning), "{answer}");
    }
}

#[test]
fn endless_output_and_killed_commands_are_handled() {
    let workspace = plain();
    let text = "verify T1 --gate implemented --run 'sh -c \"yes 123456789 | head -c 30000000\"'";
    let answer = workspace.ask(text);
    let evidence = &answer["result"]["gates"]["implemented"]["evidence"][0];
    assert_eq!(evidence["lastLines"].as_array().unwrap().len(), 20);
    let answer = workspace.ask("verify T1 --gate implemented --run 'sh -c \"kill -9 $$\"'");
    says(&answer, "it was ended by a signal");
    assert!(!answer["error"]["message"].to_string().contains("start"));
}

#[test]
fn what_command_writes_steers_no_terminal() {
    let workspace = plain();
    let script = r#"verify T1 --gate implemented --run 'sh -c "printf \"\033[31mred\n\"; exit 1"'"#;
    let shown = workspace.cleo(script);
    assert!(
        shown.contains("Last lines for implemented\n  \\u{1b}[31mred"),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'));
}

#[test]
fn gate_out_of_order_is_refused_without_its_command() {
    let workspace = plain();
    let before = workspace.state();
    let text = "verify T1 --gate testsPassed --run 'touch .cleo/runs'";
    let error = workspace.fails(text, "E_GATE_ORDER")["error"].clone();
    let help = error["alternatives"][0]["command"].as_str().unwrap();
    assert_eq!(help, "cleo verify --help");
    assert_eq!(workspace.shell(help).exit, 0);
    let look = error["fix"].as_str().unwrap();
    assert_eq!(look, "cleo verify T1");
    assert_eq!(workspace.shell(look).exit, 0);
    assert_eq!(workspace.state(), before);
    let forced = workspace.ask(format!("{text} --force"));
    assert_eq!(forced["result"]["gates"]["testsPassed"]["forced"], true);
    let shown = workspace.cleo("show T1");
    assert!(shown.contains("testsPassed: passed by force"), "{shown}");
}

#[test]
fn gate_out_of_order_is_refused_with_earlier_gates() {
    let workspace = TestWorkspace::new();
    workspace.ok("add x --acceptance 'it holds :: true'");
    let error = workspace.fails("verify T1 --gate qaPassed", "E_GATE_ORDER")["error"].clone();
    assert_eq!(error["fix"], "cleo verify T1");
}

#[test]
fn task_with_gates_completes_once_all_needed_passed() {
    let workspace = plain();
    workspace.ok("verify T1 --gate implemented");
    let error = workspace.fails("complete T1", "E_GATE_OPEN")["error"].clone();
    assert_eq!(error["exitCode"], 6);
    says(
        &error,
        "open: testsPassed, qaPassed, securityPassed, documented",
    );
    assert_eq!(error["fix"], "cleo verify T1");
    let command = |at: usize| error["alternatives"][at]["command"].as_str().unwrap();
    let way = command(0);
    assert_eq!(way, "cleo verify --help");
    let before = workspace.state();
    assert_eq!(workspace.shell(way).exit, 0);
    assert_eq!(workspace.state(), before, "nobody's word passes the gate");
    let own = command(1);
    assert_eq!(own, "cleo update T1 --require-gate implemented");
    assert_eq!(workspace.shell(own).exit, 0);
    workspace.ok("complete T1");
}

#[test]
fn force_completes_anyway_and_is_recorded() {
    let workspace = plain();
    workspace.ok("update T1 --require-gate qaPassed --acceptance 'x :: false'");
    let reply = workspace.text("complete T1 --force", "");
    assert_eq!(reply.exit, 0, "{reply}");
    assert_eq!(
        reply.stderr.matches("completed by force").count(),
        2,
        "{reply}"
    );
    let state = workspace.state();
    assert!(
        state.contains("needs gates that are open: qaPassed"),
        "{state}"
    );
    assert!(
        state.contains("criteria that nothing has shown to hold: 1 (`false`)"),
        "{state}"
    );
}

#[test]
fn unknown_gates_are_not_needed_by_anybody() {
    let workspace = plain();
    let before = workspace.state();
    workspace.fails("update T1 --require-gate nope --title x", "E_GATE_UNKNOWN");
    let error = workspace.fails("verify T1 --gate nope", "E_GATE_UNKNOWN")["error"].clone();
    assert_eq!(error["fix"], "cleo verify T1", "a command that only shows");
    assert_eq!(workspace.state(), before);
    workspace.ok("update T1 --require-gate qaPassed");
    workspace.ok("update T1 --clear required-gates");
    workspace.ok("complete T1");
}

#[test]
fn task_without_gates_or_commands_is_completed_as_ever() {
    let workspace = plain();
    workspace.ok("update T1 --acceptance 'looks good'");
    assert!(
        workspace.ask("show T1")["result"]
            .get("verification")
            .is_none()
    );
    workspace.ok("complete T1");
}

/// A task with a criterion that holds, one that does not until `src/b` is there, one whose program
/// is missing, and one without a command.
fn with_criteria() -> TestWorkspace {
    let workspace = plain();
    let words = [
        "update",
        "T1",
        "--acceptance",
        "holds :: sh -c 'echo x >> .cleo/runs'",
        "--acceptance",
        "b is there :: test -e src/b",
        "--acceptance",
        "runs :: no-such-program-at-all",
        "--acceptance",
        "looks good",
    ];
    assert_eq!(workspace.json(&words)["success"], true);
    workspace
}

fn states(answer: &Value) -> Vec<&str> {
    column(&answer["result"]["criteria"], "state")
}

#[test]
fn criteria_with_command_are_run() {
    let workspace = with_criteria();
    let answer = workspace.fails("verify T1 --run-all", "E_CRITERION_FAILED");
    assert_eq!(answer["error"]["exitCode"], 6);
    assert_eq!(states(&answer), ["proven", "failed", "failed", "unproven"]);
    let ran = answer["result"]["ran"].as_array().unwrap();
    let outcomes: Vec<&Value> = ran.iter().map(|it| &it["outcome"]).collect();
    assert_eq!(outcomes, ["passed", "failed", "failed"]);
    assert_eq!(ran[1]["commands"], json!(["test -e src/b"]));
    let record =
        |number: usize| answer["result"]["criteria"][number]["record"]["evidence"][0].clone();
    assert!(
        record(2)["lastLines"][0]
            .as_str()
            .unwrap()
            .contains("no-such-program-at-all")
    );
    let told = workspace.text("verify T1 --only 2", "").stderr;
    assert!(
        told.contains("running criterion 2: b is there :: test -e src/b"),
        "{told}"
    );
}

#[test]
fn evidence_without_command_is_said_to_be_checked() {
    let workspace = plain();
    workspace.write("src/a.rs", "one");
    workspace.ok("update T1 --require-gate implemented");
    workspace.ok("verify T1 --gate implemented --file src/a.rs");
    workspace.write("src/a.rs", "two");
    let told = workspace.text("verify T1 --refresh", "").stderr;
    assert!(
        told.contains("looking again at implemented: file src/a.rs"),
        "{told}"
    );
}

#[test]
fn hanging_criterion_is_stopped_and_failed() {
    let workspace = plain();
    workspace.ask("update T1 --acceptance 'is quick :: sleep 60'");
    let answer = workspace.fails("verify T1 --run-all --time-limit 1", "E_CRITERION_FAILED");
    let evidence = &answer["result"]["criteria"][0]["record"]["evidence"][0];
    assert_fields(evidence, json!({"timedOut": true, "exitCode": null}));
}

#[test]
fn answers_read_well() {
    let workspace = plain();
    workspace.ok("update T1 --require-gate implemented --require-gate testsPassed");
    let words = [
        "update",
        "T1",
        "--acceptance",
        "b is there :: test -e src/b",
        "--acceptance",
        "looks good",
    ];
    workspace.json(&words);
    workspace
        .ok("verify T1 --gate implemented --run 'grep -q a src/a.rs' --file src/a.rs --note read");
    workspace.ok("verify T1 --accept 2 --note 'shown to the customer'");
    insta::assert_snapshot!(workspace.text("verify T1 --run-all", ""));
    workspace.write("src/a.rs", "changed");
    insta::assert_snapshot!(workspace.text("verify T1", ""));
    insta::assert_snapshot!(workspace.text("complete T1", ""));
    insta::assert_snapshot!(workspace.text("verify T1 --refresh", ""));
}

#[test]
fn criteria_with_command_must_hold_before_task_is_done() {
    let workspace = plain();
    workspace.ask("update T1 --acceptance 'b is there :: test -e src/b'");
    let error = workspace.fails("complete T1", "E_CRITERION_OPEN")["error"].clone();
    assert_eq!(error["fix"], "cleo verify T1 --run-all");
    assert_eq!(workspace.shell("cleo verify T1 --run-all").exit, 6);
    workspace.fails("complete T1", "E_CRITERION_OPEN");
    workspace.write("src/b", "");
    assert_eq!(workspace.shell("cleo verify T1 --run-all").exit, 0);
    workspace.write("src/b", "changed");
    let error = workspace.fails("complete T1", "E_EVIDENCE_STALE")["error"].clone();
    assert_eq!(error["fix"], "cleo verify T1 --refresh");
    workspace.ok("verify T1 --refresh");
    workspace.ok("complete T1");
}

#[test]
fn criteria_that_are_run_side_by_side_are_all_kept() {
    let workspace = plain();
    let lines: Vec<String> = (1..=6)
        .map(|number| format!("c{number} :: true {number}"))
        .collect();
    let mut words = vec!["update", "T1"];
    lines
        .iter()
        .for_each(|line| words.extend(["--acceptance", line]));
    assert_eq!(workspace.json(&words)["success"], true);
    let run = |number: usize| {
        let mut cleo = workspace.command(&["verify", "T1", "--only", &number.to_string()]);
        cleo.stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let running: Vec<_> = (1..=6).map(run).collect();
    for mut cleo in running {
        assert!(cleo.wait().unwrap().success());
    }
    assert_eq!(states(&workspace.ask("verify T1")), ["proven"; 6]);
    workspace.ok("complete T1");
}

#[test]
fn everything_about_gates_is_in_log() {
    let workspace = plain();
    workspace.ok("update T1 --require-gate implemented --acceptance 'x :: false'");
    workspace.ok("verify T1 --gate implemented --run true");
    workspace.text("verify T1 --run-all", "");
    workspace.ok("complete T1 --force");
    let state = workspace.state();
    for kind in ["requiredGates", "gate", "criterion", "forced"] {
        assert!(
            state.contains(&format!("Text(\"{kind}\")")),
            "{kind} in {state}"
        );
    }
}

#[test]
fn criterion_that_is_changed_must_be_shown_again() {
    let workspace = plain();
    workspace.ask("update T1 --acceptance 'a :: true'");
    workspace.ok("verify T1 --run-all");
    workspace.json(&[
        "update",
        "T1",
        "--clear",
        "acceptance",
        "--acceptance",
        "a :: sh -c 'exit 0'",
    ]);
    assert_eq!(states(&workspace.ask("verify T1")), ["unproven"]);
}

#[test]
fn someones_word_counts_for_criterion_without_command_only() {
    let workspace = with_criteria();
    workspace.fails("verify T1 --accept 4", "E_USAGE");
    workspace.fails("verify T1 --accept 7 --note x", "E_INPUT_INVALID");
    let error =
        workspace.fails("verify T1 --accept 1 --note x", "E_INPUT_INVALID")["error"].clone();
    assert_eq!(error["fix"], "cleo verify T1 --only 1");
    let error = workspace.fails("verify T1 --only 4", "E_INPUT_INVALID")["error"].clone();
    says(&error, "accept it with `--accept 4`");
    workspace.ok("verify T1 --accept 4 --note seen");
    let answer =
        workspace.ask("verify T1 --accept 4 --note seen --file src/a.rs --url https://x.example");
    assert_eq!(states(&answer)[3], "claimed");
    workspace.write("src/a.rs", "changed");
    assert_eq!(states(&workspace.ask("verify T1"))[3], "stale");
}

#[test]
fn accepted_criterion_is_asked_for_again_when_files_change() {
    for (first, second, number) in [("x :: true", "plain", 2), ("plain", "x :: true", 1)] {
        let workspace = plain();
        let criteria = ["--acceptance", first, "--acceptance", second];
        workspace.json(&[&["update", "T1"][..], &criteria].concat());
        workspace.ok("verify T1 --run-all");
        workspace.ok(&format!("verify T1 --accept {number} --file src/a.rs"));
        workspace.write("src/a.rs", "changed");
        let error = workspace.fails("complete T1", "E_EVIDENCE_STALE")["error"].clone();
        assert_eq!(error["fix"], "cleo verify T1 --refresh");
        let error = workspace.fails("verify T1 --refresh", "E_EVIDENCE_STALE")["error"].clone();
        let message = error["message"].as_str().unwrap();
        let told = "of T1 rests on a statement that is stale";
        let begin = format!("criterion {number} {told}");
        assert!(message.starts_with(&begin), "{message}");
        let accept = format!("cleo verify T1 --accept {number}");
        assert!(message.contains(&accept), "{message}");
        assert_eq!(error["fix"], "cleo verify T1");
        let error = workspace.fails("complete T1", "E_EVIDENCE_STALE")["error"].clone();
        assert_eq!(error["fix"], "cleo verify T1");
        assert_eq!(error["alternatives"], json!([]));
        let again = workspace.shell(&format!("{accept} --file src/a.rs"));
        assert_eq!(again.exit, 0, "{again}");
        assert_eq!(states(&workspace.ask("verify T1"))[number - 1], "claimed");
        workspace.ok("complete T1");
    }
}

#[test]
fn criterion_with_open_quote_is_refused_where_it_is_typed() {
    let workspace = plain();
    let before = workspace.state();
    for words in [
        ["add", "New", "--acceptance", "x :: sh -c 'y"],
        ["update", "T1", "--acceptance", "x :: sh -c 'y"],
    ] {
        let answer = workspace.json(&words);
        assert_eq!(answer["error"]["code"], "E_TASK_INVALID", "{answer}");
    }
    assert_eq!(workspace.state(), before);
}

#[test]
fn commands_of_batch_are_not_run_by_adding_it() {
    let workspace = TestWorkspace::new().with(
        "plan.jsonl",
        r#"{"title":"a","acceptance":["x :: touch ran"]}"#.to_string() + "\n",
    );
    workspace.ok("add --batch plan.jsonl");
    workspace.ok("show T1");
    workspace.ok("verify T1");
    workspace.ok("spawn T1 --format text");
    assert!(!workspace.path("ran").exists());
}

#[test]
fn prompt_names_commands() {
    let workspace = plain();
    let prompt =
        |workspace: &TestWorkspace| workspace.ok("spawn T1 --format text --dry-run").stdout;
    assert!(!prompt(&workspace).contains("## Gates"));
    workspace.ok("update T1 --require-gate implemented");
    workspace.ask("update T1 --acceptance 'b is there :: test -e src/b'");
    let prompt = prompt(&workspace);
    assert!(prompt.contains("## Gates"), "{prompt}");
    assert!(
        prompt.contains("- b is there (cleo runs `test -e src/b`)\n"),
        "{prompt}"
    );
}

#[test]
fn hostile_repo_is_asked_only_for_names() {
    let workspace = repository();
    let script = workspace.path(".cleo/hook");
    workspace.write(
        ".cleo/hook",
        "#!/bin/sh\ntouch .cleo/ran ../.cleo/ran\ncat\n",
    );
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap();
    for name in [
        "core.fsmonitor",
        "filter.x.clean",
        "filter.x.process",
        "core.pager",
    ] {
        workspace.git(format!("config {name} '{script}'"));
    }
    workspace.write(".git/info/attributes", "* filter=x\n");
    pass_gate(&workspace);
    workspace.write("src/a.rs", "changed");
    workspace.fails("complete T1", "E_EVIDENCE_STALE");
    workspace.ok("verify T1 --refresh");
    assert!(!workspace.path(".cleo/ran").exists());
}

#[test]
fn git_that_fails_is_said_and_lets_nothing_pass_as_fresh() {
    let workspace = repository();
    pass_gate(&workspace);
    fs::write(workspace.path(".git/index"), "broken").unwrap();
    let shown = workspace.ask("verify T1")["result"].clone();
    assert_eq!(shown["tree"]["digest"], Value::Null);
    says(&shown["tree"]["problem"], "git failed");
    workspace.fails("complete T1", "E_EVIDENCE_STALE");
    let again = workspace.ask("verify T1 --refresh");
    says(&again["warnings"][0], "cannot be read");
}

#[test]
fn command_that_changes_what_it_proves_is_told_of() {
    let workspace = plain();
    workspace.ok("update T1 --acceptance \"grows :: sh -c 'echo x >> src/a.rs'\"");
    let answer = workspace.ask("verify T1 --run-all");
    assert_eq!(answer["result"]["ran"][0]["outcome"], "passed");
    let warned = answer["warnings"].to_string();
    assert!(warned.contains("stale already: criterion 1"), "{answer}");
    workspace.ok("add 'Other' --acceptance 'stays :: true' --file 'src/**'");
    assert_eq!(workspace.ask("verify T2 --run-all")["warnings"], json!([]));
}

#[test]
fn completion_that_was_earned_takes_place_of_one_by_force() {
    let workspace = plain();
    workspace.ok("update T1 --require-gate implemented");
    workspace.ok("complete T1 --force");
    workspace.ok("reopen T1");
    workspace.ok("verify T1 --gate implemented --run true");
    workspace.ok("complete T1");
    let gates = read_gates(&workspace);
    assert!(!gates.contains("forced\":{"), "{gates}");
    let log = workspace.cleo("log --task T1");
    assert!(log.contains("forced T1"), "the log keeps it: {log}");
}

/// Reads the gates of T1 as the database holds them.
fn read_gates(workspace: &TestWorkspace) -> String {
    let database = rusqlite::Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let read = database.query_row("SELECT state FROM gates WHERE task = 1", [], |row| {
        row.get(0)
    });
    read.unwrap()
}

#[test]
fn shell_syntax_in_command_is_refused() {
    let workspace = plain();
    for command in ["true && false", "echo ok | false", "true; false"] {
        let gate = format!("verify T1 --gate implemented --run '{command}'");
        let error = workspace.fails(&gate, "E_USAGE")["error"].clone();
        let message = error["message"].as_str().unwrap();
        let way_out = format!("use sh -c '{command}'");
        assert!(message.ends_with(&way_out), "{message}");
        let in_shell = format!("sh -c '{command}'");
        let words = ["verify", "T1", "--gate", "implemented", "--run", &in_shell];
        assert_eq!(workspace.json(&words)["error"]["code"], "E_GATE_FAILED");
    }
    let both = "add Both --acceptance 'both words :: true && false'";
    let error = workspace.fails(both, "E_TASK_INVALID")["error"].clone();
    says(&error, "; use sh -c 'true && false'");
    let both = "both words :: sh -c 'true && false'";
    workspace.json(&["add", "Both", "--acceptance", both]);
    assert_ne!(workspace.ask("verify T2 --run-all")["success"], true);
    workspace.fails(
        "update T2 --acceptance 'log :: make > log'",
        "E_TASK_INVALID",
    );
    workspace.write(
        "plan.jsonl",
        r#"{"title":"x","acceptance":["a :: b || c"]}"#,
    );
    workspace.fails("add --batch plan.jsonl", "E_TASK_INVALID");
}

#[test]
fn imported_criterion_for_shell_says_why_it_fails() {
    let workspace = plain();
    let task = json!({
        "id": "T2", "title": "x", "type": "task", "status": "pending", "priority": "medium",
        "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z",
        "acceptance": ["- in words", "both :: true && test -e b", "one :: true"],
    });
    let lines = format!("{}\n{task}\n", json!({"cleo": "tasks", "version": 1}));
    workspace.write("there.jsonl", lines);
    workspace.ok("import there.jsonl");
    workspace.ok("trust --yes");
    let error = workspace.fails("verify T2 --run-all", "E_CRITERION_FAILED")["error"].clone();
    assert_eq!(error["fix"], "cleo verify T2");
    let error = workspace.fails("complete T2", "E_CRITERION_OPEN")["error"].clone();
    assert_eq!(
        error["message"],
        "T2 has criteria that nothing has shown to hold: 2 (`true '&&' test -e b`; it is run without a \
         shell: `&` would be no more than a part of an argument)"
    );
    assert_eq!(error["fix"], "cleo verify T2 --run-all");
    workspace.json(&[
        "update",
        "T2",
        "--clear",
        "acceptance",
        "--acceptance",
        "both :: sh -c 'true && test -e b'",
    ]);
    workspace.fails("verify T2 --run-all", "E_CRITERION_FAILED");
    workspace.write("b", "");
    workspace.ok("verify T2 --run-all");
    workspace.ok("complete T2");
}

#[test]
fn criterion_on_huge_files_completes_with_warning() {
    let workspace = TestWorkspace::new();
    workspace.ok("add One --acceptance 'holds :: true'");
    let large = std::fs::File::create(workspace.path("large")).unwrap();
    large.set_len(600 << 20).unwrap();
    workspace.ok("verify T1 --run-all");
    let completed = workspace.ask("complete T1");
    assert_eq!(completed["success"], true, "{completed}");
    let warnings = completed["warnings"].to_string();
    assert!(
        warnings.contains("passed without a digest of the files"),
        "{completed}"
    );
}

#[test]
fn command_of_criterion_changes_nothing_that_it_verifies() {
    let acts = [
        "complete T2 --force",
        "update T1 --clear acceptance",
        "delete T2 --force",
        "trust --yes",
        "verify T2 --gate implemented",
        "verify T2 --accept 1 --note seen",
        "undo",
        "add More",
        "config set verify.required spawned",
        "serve token create",
    ];
    let script =
        acts.map(|act| format!("{CLEO} {act} >/dev/null 2>&1 && echo {act} >>claudedocs/done\n"));
    let read = format!("{CLEO} show T2 >/dev/null && {CLEO} verify T2 --run-all >/dev/null\n");
    let workspace = TestWorkspace::new()
        .with("act.sh", script.concat() + &read)
        .with(".claude/settings.json", r#"{"hooks": {}}"#);
    workspace.ok("add One --acceptance 'acts :: sh act.sh' --acceptance 'fails :: false'");
    workspace.ok("add Two --acceptance 'said' --acceptance 'runs :: true'");
    let result = workspace.ask("verify T1 --run-all")["result"].clone();
    assert!(
        !workspace.path("claudedocs/done").exists(),
        "{}",
        workspace.read("claudedocs/done")
    );
    assert_eq!(result["ran"][0]["outcome"], "passed", "{result:#}");
    assert_eq!(workspace.result("show T2")["task"]["status"], "pending");
    workspace.fails("complete T1", "E_CRITERION_OPEN");
    let elsewhere =
        format!("cd \"$(mktemp -d)\" && {CLEO} init >/dev/null && {CLEO} add x >/dev/null");
    workspace.write("act.sh", elsewhere);
    let result = workspace.ask("verify T1 --run-all")["result"].clone();
    assert_eq!(result["ran"][0]["outcome"], "passed", "{result:#}");
}
