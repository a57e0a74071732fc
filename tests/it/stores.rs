//! The workspace and its database, when they are where they should be and when they are not.

use std::fs;
use std::process::Command;

use rusqlite::Connection;

#[cfg(target_os = "linux")]
use crate::world::{Reply, TestWorkspace, document, skip};

#[test]
fn without_workspace_every_command_says_how_to_make_one() {
    for words in [
        &["list"][..],
        &["add", "x"],
        &["show", "T1"],
        &["find", "x"],
        &["complete", "T1"],
        &["orchestrator", "ready"],
    ] {
        let workspace = TestWorkspace::bare();
        let refused = workspace.json(words);
        assert_eq!(
            refused["error"]["code"], "E_WORKSPACE_NOT_FOUND",
            "{words:?}"
        );
        assert_eq!(refused["error"]["exitCode"], 4);
        assert_eq!(refused["error"]["fix"], "cleo init");
        assert_eq!(workspace.shell("cleo init && cleo list").exit, 0);
    }
    insta::assert_snapshot!(TestWorkspace::bare().cleo("list"));
}

#[test]
fn pipes_beside_database_are_refused_and_not_waited_for() {
    let workspace = TestWorkspace::with_plan();
    for name in ["cleo.db-journal", "cleo.db-wal", "cleo.db-shm"] {
        let path = workspace.path(&format!(".cleo/{name}"));
        let aside = path.with_extension("aside");
        let was_there = fs::rename(&path, &aside).is_ok();
        assert_eq!(workspace.shell(&format!("mkfifo .cleo/{name}")).exit, 0);
        let refused = workspace.fails("list", "E_STORE_CORRUPT");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.contains(name) && message.contains("regular file"),
            "{message}"
        );
        fs::remove_file(&path).unwrap();
        if was_there {
            fs::rename(&aside, &path).unwrap();
        }
    }
    workspace.ok("list");
}

#[test]
fn parents_that_go_round_in_circle_hold_no_command_up() {
    let workspace = TestWorkspace::new();
    workspace.ok("add One");
    workspace.ok("add Two --parent T1");
    let database = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let circle = "PRAGMA foreign_keys = off; UPDATE tasks SET parent = 2 WHERE number = 1";
    database.execute_batch(circle).unwrap();
    workspace.ok("spawn T2");
    workspace.ok("session start --scope T1");
    let entry = "manifest append --id a --file a.md --title A --task T2 --topic t --finding x";
    for line in [
        entry,
        "show T2",
        "start T2",
        "release T2",
        "run T2 --command true",
    ] {
        let reply = workspace.shell(&format!("timeout 60 cleo {line}"));
        assert_ne!(reply.exit, 124, "{line}: {reply}");
    }
}

#[test]
fn workspace_is_found_from_below() {
    let workspace = TestWorkspace::with_plan().with("src/deep/down/file", "");
    let mut command = workspace.command(&["show", "T1"]);
    command.current_dir(workspace.path("src/deep/down"));
    assert_eq!(
        document(&workspace.finish(command, ""))["result"]["task"]["id"],
        "T1"
    );
}

#[test]
fn root_is_named_by_option_before_env_before_folder() {
    let (one, two, three) = (
        TestWorkspace::new(),
        TestWorkspace::new(),
        TestWorkspace::new(),
    );
    one.ok("add 'in one'");
    two.ok("add 'in two'");
    three.ok("add 'in three'");
    let title = |variable: Option<&TestWorkspace>, option: Option<&TestWorkspace>| {
        let mut command = one.command(&["show", "T1"]);
        command.envs(variable.map(|root| ("CLEO_ROOT", root.root())));
        if let Some(root) = option {
            command.arg("--root").arg(root.root());
        }
        document(&one.finish(command, ""))["result"]["task"]["title"]
            .as_str()
            .unwrap()
            .to_string()
    };
    assert_eq!(title(None, None), "in one");
    assert_eq!(title(Some(&two), None), "in two");
    assert_eq!(title(None, Some(&three)), "in three");
    assert_eq!(title(Some(&two), Some(&three)), "in three");
}

#[test]
fn root_without_workspace_is_refused_with_init_as_fix() {
    let workspace = TestWorkspace::bare();
    for root in ["it's new", "no/such/folder"] {
        let refused = workspace.json(&["--root", root, "list"]);
        assert_eq!(refused["error"]["code"], "E_WORKSPACE_NOT_FOUND");
        let fix = refused["error"]["fix"].as_str().unwrap();
        assert_eq!(workspace.shell(fix).exit, 0, "{fix}");
        assert!(
            workspace.path(root).join(".cleo/cleo.db").is_file(),
            "{fix}"
        );
        assert_eq!(workspace.json(&["--root", root, "list"])["success"], true);
    }
}

#[test]
fn init_of_root_leaves_this_folder_alone() {
    let workspace = TestWorkspace::bare();
    workspace.ok("--root other init");
    assert!(workspace.path("other/.cleo/cleo.db").is_file());
    assert!(!workspace.path(".cleo").exists());
}

/// Breaks the database of a workspace; it is named and left as it is.
#[track_caller]
fn check_broken(break_it: impl Fn(&TestWorkspace, &str), what: &str) {
    let workspace = TestWorkspace::bare();
    let root = "it's a folder";
    workspace.ok(&format!("--root \"{root}\" init"));
    workspace.ok(&format!("--root \"{root}\" add 'from the old database'"));
    let file = format!("{root}/.cleo/cleo.db");
    break_it(&workspace, &file);
    let file = workspace.path(&file);
    let before = fs::read(&file).ok();
    for words in [&["list"][..], &["add", "x"], &["show", "T1"]] {
        let all: Vec<&str> = ["--root", root].iter().chain(words).copied().collect();
        let refused = workspace.json(&all);
        assert_eq!(
            refused["error"]["code"], "E_STORE_CORRUPT",
            "{what}: {words:?} {refused}"
        );
        assert_eq!(refused["error"]["exitCode"], 3);
        assert_eq!(
            refused["error"]["fix"], "cleo explain E_STORE_CORRUPT",
            "{what}"
        );
    }
    assert!(!workspace.path(".cleo").exists(), "{what}");
    assert_eq!(fs::read(&file).ok(), before, "{what}");
}

#[test]
fn broken_database_is_named_and_left_as_it_is() {
    check_broken(
        |workspace, file| workspace.write(file, "no database ".repeat(99)),
        "foreign bytes",
    );
    check_broken(|workspace, file| workspace.write(file, ""), "empty");
    check_broken(
        |workspace, file| {
            let connection = Connection::open(workspace.path(file)).unwrap();
            connection.pragma_update(None, "user_version", 0).unwrap();
        },
        "somebody else's",
    );
    check_broken(
        |workspace, file| fs::remove_file(workspace.path(file)).unwrap(),
        "only its log",
    );
}

#[test]
fn missing_database_is_made_again_by_fix() {
    let workspace = TestWorkspace::bare();
    fs::create_dir(workspace.path(".cleo")).unwrap();
    let refused = workspace.fails("list", "E_WORKSPACE_NOT_FOUND");
    assert_eq!(
        workspace
            .shell(refused["error"]["fix"].as_str().unwrap())
            .exit,
        0
    );
    assert_eq!(workspace.ask("list")["result"]["total"], 0);
}

#[test]
fn database_of_another_version_is_kept() {
    let workspace = TestWorkspace::with_plan();
    let connection = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    connection.pragma_update(None, "user_version", 2).unwrap();
    drop(connection);
    let before = workspace.state();
    for words in [
        &["list"][..],
        &["add", "x"],
        &["delete", "T5"],
        &["init"],
        &["init", "--dry-run"],
        &["init", "--agents", "claude"],
        &["init", "--agents", "claude", "--dry-run"],
    ] {
        let refused = workspace.json(words);
        let error = &refused["error"];
        assert_eq!(error["code"], "E_STORE_SCHEMA", "{words:?}");
        assert_eq!(error["exitCode"], 8);
        let message = error["message"].as_str().unwrap();
        let end = "/.cleo/cleo.db was written by another version of cleo; \
                   export it with the program that wrote it";
        assert!(message.ends_with(end), "{message}");
        assert_eq!(error["fix"], "cleo explain E_STORE_SCHEMA");
    }
    assert_eq!(workspace.state(), before);
}

/// Runs commands where the workspace is on a read-only disk; none where this machine allows no
/// mount of its own.
#[cfg(target_os = "linux")]
fn on_read_only_disk(workspace: &TestWorkspace, line: &str) -> Option<Reply> {
    let mounted = "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\" && ! touch x 2>&-";
    for unshare in ["unshare -m", "unshare -rm"] {
        let can = format!("{unshare} sh -c '{mounted}' 2>/dev/null");
        if workspace.shell(&can).exit == 0 {
            return Some(workspace.shell(&format!("{unshare} sh -c '{mounted} && {line}'")));
        }
    }
    skip("a read-only disk: this machine allows no mount to make one");
    None
}

/// It can be marked as interrupted only where the disk can be written.
#[cfg(target_os = "linux")]
#[test]
fn read_only_disk_shows_killed_run() {
    let workspace = TestWorkspace::with_plan();
    let killed = workspace.shell("cleo run --all-ready --command \"sh -c 'kill -9 \\$PPID'\"");
    assert_ne!(killed.exit, 0, "{killed}");
    let count = "cleo runs list --jq .result.total";
    if let Some(listed) = on_read_only_disk(&workspace, count) {
        assert_eq!(listed.stdout, "1\n", "{listed}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn read_only_disk_allows_reads() {
    let workspace = TestWorkspace::with_plan();
    let before = workspace.state();
    for line in ["cleo add x", "cleo update T2 --title x", "cleo delete T5"] {
        let Some(refused) = on_read_only_disk(&workspace, line) else {
            return;
        };
        assert_eq!(refused.exit, 3, "{line}\n{refused}");
        assert!(
            refused.stderr.starts_with("error[E_STORE_READ_ONLY]"),
            "{refused}"
        );
        assert!(
            refused
                .stderr
                .contains("\n  try: ls -ld [WORKSPACE]/.cleo\n"),
            "{refused}"
        );
    }
    assert_eq!(workspace.state(), before);
    for line in [
        "cleo list",
        "cleo show T2",
        "cleo orchestrator ready",
        "cleo init",
    ] {
        let read = on_read_only_disk(&workspace, line).unwrap();
        assert_eq!(read.exit, 0, "{line}\n{read}");
        assert!(!read.to_string().contains("write-ahead"), "{read}");
    }
    let serve = r#"sh -c "echo \$\$; exec cleo serve --port 0 --json" | { read pid; read line; kill $pid; echo "$line"; }"#;
    let served = on_read_only_disk(&workspace, serve).unwrap();
    assert!(served.stdout.contains("http://127.0.0.1:"), "{served}");
    workspace.ok("spawn T2");
    let judged = on_read_only_disk(&workspace, "cleo verify output T2").unwrap();
    assert_eq!(judged.exit, 62, "a verdict needs no record: {judged}");
    let fresh = TestWorkspace::new();
    let read = on_read_only_disk(&fresh, "cleo list").unwrap();
    assert_eq!(
        read.stdout, "no open tasks found; see closed ones with --all\n",
        "without a log beside the database: {read}"
    );
    for line in ["cleo status", "cleo log"] {
        let read = on_read_only_disk(&fresh, line).unwrap();
        assert_eq!(read.exit, 0, "{line}\n{read}");
    }
    let refused = on_read_only_disk(&fresh, "cleo add x").unwrap();
    assert!(
        refused.stderr.starts_with("error[E_STORE_READ_ONLY]"),
        "{refused}"
    );
    let bare = TestWorkspace::bare();
    let refused = on_read_only_disk(&bare, "cleo init").unwrap();
    assert_eq!(refused.exit, 3, "{refused}");
    assert!(
        refused.stderr.starts_with("error[E_FILE_UNWRITABLE]"),
        "{refused}"
    );
}

#[test]
fn working_dir_that_is_gone_is_named() {
    let workspace = TestWorkspace::bare();
    let mut shell = workspace.surround(Command::new("sh"));
    shell.args([
        "-c",
        "mkdir gone && cd gone && rmdir ../gone && cleo list --format text",
    ]);
    let refused = workspace.finish(shell, "");
    assert_eq!(refused.exit, 3, "{refused}");
    assert!(
        refused.stderr.starts_with("error[E_FILE_UNREADABLE]"),
        "{refused}"
    );
}

#[test]
fn what_is_no_database_of_cleo_is_never_taken_for_one() {
    for version in [1, 9] {
        let workspace = TestWorkspace::new();
        fs::remove_file(workspace.path(".cleo/cleo.db")).unwrap();
        let foreign = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
        let sql = format!("CREATE TABLE x (y); PRAGMA user_version = {version}");
        foreign.execute_batch(&sql).unwrap();
        for words in [&["list"][..], &["init"], &["add", "x"]] {
            assert_eq!(
                workspace.json(words)["error"]["code"],
                "E_STORE_CORRUPT",
                "{words:?}"
            );
        }
    }
}

#[test]
fn pipe_in_place_of_database_keeps_nobody_waiting() {
    let workspace = TestWorkspace::new();
    let made = workspace.shell("rm .cleo/cleo.db* && mkfifo .cleo/cleo.db");
    assert_eq!(made.exit, 0, "{made}");
    for words in [&["list"][..], &["init"]] {
        assert_eq!(workspace.json(words)["error"]["code"], "E_STORE_CORRUPT");
    }
}

#[test]
fn filter_of_too_many_words_is_no_broken_database() {
    let workspace = TestWorkspace::new();
    let labels = vec!["x"; 1_200].join(",");
    let refused = workspace.json(&["list", "--label", &labels]);
    assert_eq!(refused["error"]["code"], "E_INPUT_INVALID");
    let statuses = vec!["open"; 9_000].join(",");
    let words = ["list", "--status", &statuses];
    assert_eq!(workspace.json(&words)["success"], true);
}
