//! Stores and files that somebody else has made: what acts by itself in them is refused, what is damaged
//! costs nothing but itself, and nothing of them becomes a part of a command.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::served::{Served, begin_conversation};
use crate::world::{TestWorkspace, says, skip};

const DATABASE: &str = ".cleo/cleo.db";
/// A command that an attacker wants to run.
const HOSTILE: &str = "run_1;sh .cleo/setup.sh;echo";

/// Changes the database by hand.
fn sql(workspace: &TestWorkspace, statements: &str) {
    workspace.change_database(statements);
}

/// A workspace with tasks, agents and runs.
fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("agents register Helper --id helper --prompt 'You help.'");
    begin_conversation(&workspace, "helper");
    workspace.ask("agents execute 'say hello'");
    workspace
}

/// JSON nested so deep that nothing reads it.
fn deep(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Lists what other accounts may use of a folder, with the folder itself.
fn open_to_others(folder: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap);
    let paths = all.map(walkdir::DirEntry::into_path);
    paths.filter(|path| mode(path) & 0o077 != 0).collect()
}

#[test]
fn databases_and_runs_are_private() {
    let workspace = workspace().with("agent.sh", "echo hello >&2; exit 1\n");
    let ran = workspace.shell("umask 022; cleo run T2 --command 'sh agent.sh'");
    assert_ne!(ran.exit, 0, "{ran}");
    assert_eq!(mode(&workspace.path(".cleo")), 0o700);
    for ending in ["", "-wal", "-shm"] {
        let path = workspace.path(&format!("{DATABASE}{ending}"));
        if path.exists() {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
    let runs = workspace.path(".cleo/runs");
    assert!(runs.is_dir());
    assert_eq!(open_to_others(&runs), [] as [PathBuf; 0]);
}

#[test]
fn outputs_keep_permissions_of_umask() {
    let workspace = TestWorkspace::with_plan();
    let exported = workspace
        .shell("umask 022; cleo export --output a.jsonl; umask 027; cleo export --output b.jsonl");
    assert_eq!(exported.exit, 0, "{exported}");
    assert_eq!(mode(&workspace.path("a.jsonl")), 0o644);
    assert_eq!(mode(&workspace.path("b.jsonl")), 0o640);
}

#[test]
fn permissions_are_taken_away_when_store_is_opened() {
    let workspace = workspace();
    let names = [".cleo", DATABASE, ".cleo/cleo.db-shm", ".cleo/cleo.db-wal"];
    let files = names.map(|path| workspace.path(path));
    for (path, wide) in files.iter().zip([0o755, 0o664, 0o644, 0o644]) {
        if path.exists() {
            set_mode(path, wide);
        }
    }
    workspace.ok("list");
    workspace.ok("runs list");
    for path in files.iter().filter(|path| path.exists()) {
        assert_eq!(mode(path) & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn foreign_parts_are_refused() {
    for (table, words) in [("tasks", &["list"][..]), ("runs", &["runs", "list"])] {
        for part in [
            format!("CREATE TRIGGER x AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END"),
            format!(
                "CREATE TRIGGER {table} AFTER UPDATE ON {table} BEGIN DELETE FROM {table}; END"
            ),
            format!("CREATE VIEW x AS SELECT * FROM {table}"),
            format!("CREATE INDEX x ON {table} (status)"),
            "CREATE VIRTUAL TABLE x USING fts5 (a)".to_string(),
        ] {
            let workspace = workspace();
            let version = "PRAGMA schema_version";
            let connection = Connection::open(workspace.path(DATABASE)).unwrap();
            let before: i64 = connection.query_row(version, (), |row| row.get(0)).unwrap();
            connection.execute_batch(&part).unwrap();
            // An attacker can set the counter of changes back.
            connection
                .execute_batch(&format!("{version} = {before}"))
                .unwrap();
            drop(connection);
            let refused = workspace.expect_refusal(words, "E_STORE_FOREIGN");
            assert_eq!(refused["exitCode"], 3, "{part}");
            assert_eq!(refused["fix"], "cleo explain E_STORE_FOREIGN", "{part}");
        }
        let workspace = workspace();
        sql(&workspace, "CREATE TABLE mine (x)");
        assert_eq!(workspace.json(words)["success"], true);
    }
}

#[test]
fn changed_tables_mean_another_version() {
    let workspace = workspace();
    sql(
        &workspace,
        "ALTER TABLE claims ADD COLUMN note TEXT CHECK (length(note) < 3)",
    );
    workspace.refuse("list", "E_STORE_SCHEMA");
}

#[test]
fn links_out_of_workspace_are_refused() {
    for path in [".cleo", DATABASE] {
        let workspace = workspace();
        let outside = workspace.root().with_file_name("outside");
        fs::rename(workspace.path(path), &outside).unwrap();
        symlink(&outside, workspace.path(path)).unwrap();
        for words in [&["list"][..], &["agents", "list"], &["init"]] {
            let reply = workspace.json(words);
            assert_eq!(
                reply["error"]["code"], "E_PATH_OUTSIDE_WORKSPACE",
                "{path} {words:?}"
            );
            says(&reply, "leads out of the workspace");
        }
    }
    let workspace = TestWorkspace::with_plan();
    fs::rename(workspace.path(".cleo"), workspace.path("kept")).unwrap();
    symlink("kept", workspace.path(".cleo")).unwrap();
    assert_eq!(workspace.ask("list")["result"]["total"], 5);
}

#[test]
fn store_of_another_account_is_refused() {
    let workspace = TestWorkspace::with_plan();
    if std::os::unix::fs::chown(workspace.path(DATABASE), Some(12_345), None).is_err() {
        skip("a file of another account: only root can make one");
        return;
    }
    let reply = workspace.fails("list", "E_STORE_FOREIGN");
    says(&reply, "user id 12345");
    let root = workspace.root().to_str().unwrap().to_string();
    let declare = "export CLEO_SAFE_DIRECTORY=[WORKSPACE]";
    assert_eq!(reply["error"]["alternatives"][0]["command"], declare);
    let elsewhere = workspace.env("CLEO_SAFE_DIRECTORY", &format!("/elsewhere:{root}/.cleo"));
    elsewhere.fails("list", "E_STORE_FOREIGN");
    let declared = elsewhere.env("CLEO_SAFE_DIRECTORY", &format!("/elsewhere:{root}"));
    assert_eq!(declared.ask("list")["result"]["total"], 5);
    // Nothing in the workspace can say so.
    declared.write(".cleo/config.yaml", "safe.directory: /\n");
    declared.fails("list", "E_CONFIG_INVALID");
}

#[test]
fn owner_of_stored_run_is_no_path() {
    let workspace = workspace();
    let victim = workspace.root().with_file_name("x.alive");
    fs::write(&victim, "precious").unwrap();
    fs::create_dir_all(workspace.path(".cleo/runs")).unwrap();
    sql(
        &workspace,
        "UPDATE runs SET owner = '../../../x', status = 'running',
             record = json_set(record, '$.status', 'running', '$.completedAt', NULL)",
    );
    let listed = workspace.ask("runs list");
    assert_eq!(listed["success"], true);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    says(&listed["warnings"][0], "not the form of an id");
}

#[test]
fn damaged_run_that_holds_task_hides_no_overview() {
    let workspace = workspace();
    workspace.ok("claim --next");
    sql(
        &workspace,
        "UPDATE runs SET id = 'run_1;echo' WHERE position = 1;
         UPDATE claims SET holder = 'run_1;echo'",
    );
    for word in ["start", "status", "brief"] {
        let reply = workspace.json(&["orchestrator", word]);
        assert_eq!(reply["success"], true, "{word}: {reply}");
        assert!(!reply["result"].to_string().contains("resume"), "{reply}");
    }
}

#[test]
fn damaged_task_costs_nothing_but_itself() {
    for damage in [
        format!("extra = '{{\"a\":{}}}'", deep(130)),
        "files = 'no list'".to_string(),
        "priority = 'odd'".to_string(),
        "title = CAST(x'ff' AS TEXT)".to_string(),
    ] {
        let workspace = TestWorkspace::with_plan();
        sql(
            &workspace,
            &format!("UPDATE tasks SET {damage} WHERE number = 5"),
        );
        for line in [
            "list",
            "list --status pending",
            "find token",
            "next",
            "orchestrator ready",
            "orchestrator waves",
            "orchestrator status",
            "orchestrator start",
            "orchestrator brief",
            "orchestrator analyze",
            "show T2",
            "show T1",
            "deps T2",
            "list --tree",
            "log",
            "claim T2",
            "update T3 --title New",
            "undo",
        ] {
            workspace.result(line);
        }
        let listed = workspace.ask("list");
        let shown = listed["result"]["tasks"].as_array().unwrap();
        assert_eq!(shown.len(), 4, "{damage}");
        says(&listed["warnings"][0], "T5 is left out: it is damaged");
        let exported = workspace.fails("export", "E_ROW_DAMAGED");
        assert_eq!(exported["result"]["total"], 4);
        assert_eq!(exported["result"]["leftOut"], 1);
        workspace.fails("show T5", "E_ROW_DAMAGED");
        let found = workspace.ask("doctor");
        let findings = found["result"]["findings"].as_array().unwrap();
        let row = findings.iter().find(|one| one["check"] == "database.rows");
        says(row.unwrap(), "T5 is damaged");
        says(row.unwrap(), "`cleo delete T5` removes it");
        workspace.ok("delete T5");
        workspace.result("doctor");
        assert_eq!(workspace.ask("list")["warnings"], json!([]));
        assert_eq!(workspace.ask("export")["result"]["total"], 4);
    }
}

#[test]
fn damaged_claims_and_operations_cost_only_themselves() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("claim T2");
    sql(&workspace, "UPDATE claims SET epoch = -1");
    let damage = "UPDATE operations SET at = CAST(x'ff' AS TEXT) WHERE number = 1";
    sql(&workspace, damage);
    let logged = workspace.ask("log");
    assert_eq!(logged["success"], true, "{logged}");
    says(
        &logged["warnings"][0],
        "operation 1 is left out: it is damaged",
    );
    let found = workspace.ask("doctor")["result"]["findings"].to_string();
    assert!(found.contains("operation 1 is damaged"), "{found}");
    let claim = "everything else can be used, and `cleo doctor --remove-damaged` ends it";
    assert!(found.contains(claim), "{found}");
    // It counts as one that is over, and the epoch grows.
    for command in [
        "show T2",
        "status",
        "orchestrator start",
        "orchestrator brief",
    ] {
        let told = workspace.ask(command);
        assert_eq!(told["success"], true, "{command}: {told}");
        let warned = told["warnings"].to_string();
        assert!(
            warned.contains("the claim of task 2 is left out"),
            "{command}: {warned}"
        );
    }
    workspace.ask("doctor --remove-damaged");
    let found = workspace.ask("doctor")["result"]["findings"].to_string();
    assert!(!found.contains("claim of task"), "{found}");
    // Its own number is not believed, nor what a damaged line of the log says.
    sql(&workspace, "UPDATE claims SET epoch = epoch + 4294967296");
    sql(
        &workspace,
        "UPDATE changes SET detail = '{' WHERE kind = 'claimed'",
    );
    sql(
        &workspace,
        "PRAGMA foreign_keys = OFF; INSERT INTO claims VALUES (5000000000, 1, NULL, '', '', 0)",
    );
    workspace.result("status");
    workspace.ask("doctor --remove-damaged");
    workspace.fails("complete T2 --epoch 1", "E_CLAIM_LOST");
    // It is above all that were given, also where the log has lost its end.
    let claim = || workspace.result("claim T2 --force")["claim"]["epoch"].as_u64();
    let mut last = claim();
    for damage in [
        "UPDATE changes SET detail = '{' WHERE kind = 'claimed'",
        "UPDATE operations SET at = CAST(x'ff' AS TEXT)",
        "DELETE FROM changes WHERE operation = (SELECT max(number) FROM operations);
         DELETE FROM operations WHERE number = (SELECT max(number) FROM operations)",
    ] {
        workspace.ok("release T2");
        let claimed = claim();
        assert!(claimed > last, "{damage}: {claimed:?} after {last:?}");
        sql(
            &workspace,
            &format!("{damage}; UPDATE claims SET epoch = -1"),
        );
        last = claim();
        assert!(last > claimed, "{damage}: {last:?} after {claimed:?}");
    }
    workspace.ok("delete T2 --force");
    workspace.ok("undo");
    workspace.ok("release T2");
    assert!(claim() > last);
}

#[test]
fn damaged_counters_are_counted_anew() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add Gone");
    workspace.ok("delete T6");
    let asked = ["status", "orchestrator ready", "next", "list"];
    let answers = || asked.map(|words| workspace.ask(words)["result"].clone());
    let before = answers();
    for damage in [
        "UPDATE counters SET value = -3",
        "UPDATE counters SET value = 2",
        "DELETE FROM counters",
    ] {
        sql(&workspace, damage);
        assert_eq!(answers(), before, "{damage}");
        // No id is given again, also if its task is gone.
        let added = workspace.result("add More")["task"]["id"].clone();
        workspace.ok(&format!("delete {}", added.as_str().unwrap()));
        assert_eq!(answers(), before, "{damage}");
        workspace.ok("doctor --remove-damaged");
        workspace.result("doctor");
    }
    let damage = "DELETE FROM counters; UPDATE changes SET task = 4294967295 WHERE task = 6";
    let connection = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    connection.execute_batch(damage).unwrap();
    assert_eq!(workspace.result("add Last")["task"]["id"], "T10");
}

#[test]
fn highest_number_does_not_mix_up_log() {
    let workspace = TestWorkspace::new();
    workspace.ok("add First");
    let highest = "UPDATE operations SET number = 9223372036854775807;
         UPDATE changes SET operation = 9223372036854775807, sequence = 9223372036854775807";
    sql(&workspace, &format!("PRAGMA foreign_keys = OFF; {highest}"));
    for title in ["A", "B", "C"] {
        workspace.ok(&format!("update T1 --title {title}"));
    }
    for title in ["B", "A"] {
        workspace.ok("undo");
        let shown = workspace.result("show T1");
        assert_eq!(shown["task"]["title"], title);
    }
    let found = workspace.ask("doctor")["result"]["findings"].to_string();
    assert!(found.contains("operation is damaged"), "{found}");
}

#[test]
fn last_number_that_counts_blocks_nothing() {
    let workspace = TestWorkspace::new();
    workspace.ok("add First");
    let run = || workspace.ask("run T1 --command true --repair 0")["error"]["code"].clone();
    let code = run();
    for (table, key) in [
        ("operations", "number"),
        ("changes", "sequence"),
        ("runs", "position"),
        ("events", "cursor"),
        ("spawns", "sequence"),
    ] {
        let last = format!("(SELECT max({key}) FROM {table})");
        let highest = format!("UPDATE {table} SET {key} = (1 << 53) - 1 WHERE {key} = {last}");
        sql(&workspace, &format!("PRAGMA foreign_keys = OFF; {highest}"));
        for _ in 0..2 {
            workspace.ok("add More");
            assert_eq!(run(), code, "{table}");
        }
    }
}

#[test]
fn damaged_task_costs_run_only_its_own_step() {
    let workspace = TestWorkspace::new();
    workspace.ok("add First");
    workspace.ok("add Second");
    sql(
        &workspace,
        "UPDATE tasks SET files = 'odd' WHERE number = 1",
    );
    let ran = workspace.ask("run T1 T2 --command true");
    let tasks = ran["result"]["tasks"].as_array().unwrap().iter();
    let attempts: Vec<&Value> = tasks.map(|task| &task["attempts"]).collect();
    assert_eq!(attempts, [0, 2], "{ran}");
}

#[test]
fn damaged_task_is_not_handed_out() {
    let workspace = TestWorkspace::new();
    workspace.ok("add First --priority critical");
    workspace.ok("add Second");
    let damage = format!("UPDATE tasks SET extra = '{}' WHERE number = 1", deep(130));
    sql(&workspace, &damage);
    let claimed = workspace.ask("claim --next");
    assert_eq!(claimed["result"]["task"]["id"], "T2", "{claimed}");
}

#[test]
fn damaged_status_does_not_hide_dependents() {
    let workspace = TestWorkspace::new();
    workspace.ok("add First");
    workspace.ok("add Second --depends T1");
    let damage = "UPDATE tasks SET status = 'x' WHERE number = 1";
    sql(&workspace, damage);
    let shown = workspace.ask("show T2");
    assert_eq!(shown["result"]["waitingFor"][0], "T1", "{shown}");
    let damage = "UPDATE nodes SET status = 'x' WHERE number = 1";
    sql(&workspace, damage);
    let shown = workspace.ask("show T2");
    says(&shown, "T1 is damaged");
    workspace.ok("delete T1 --force");
    workspace.ok("show T2");
}

#[test]
fn damaged_place_in_graph_costs_only_its_task() {
    for damage in [
        "dangling = -7",
        "below = -7",
        "open_needs = -7",
        "rank = 9",
        "rank = -1",
    ] {
        let workspace = TestWorkspace::new();
        workspace.ok("add First --priority critical");
        workspace.ok("add Second --priority high");
        workspace.ok("add Third --depends T2");
        workspace.ok("add Fourth --depends T2 --depends T1");
        workspace.ok("add Fifth --depends T1");
        let damage = format!("UPDATE nodes SET {damage} WHERE number IN (1, 4)");
        sql(&workspace, &damage);
        for command in [
            &["orchestrator", "waves"][..],
            &["orchestrator", "analyze"],
            &["orchestrator", "next"],
            &["orchestrator", "start"],
            &["show", "T5"],
        ] {
            let told = workspace.json(command);
            assert_eq!(told["success"], true, "{damage}: {told}");
        }
        let claimed = workspace.ask("claim --next");
        assert_eq!(claimed["result"]["task"]["id"], "T2", "{damage}: {claimed}");
        workspace.result("complete T2");
        let next = workspace.ask("claim --next");
        assert_eq!(next["result"]["task"]["id"], "T3", "{damage}: {next}");
        let claimed = workspace.fails("claim T1", "E_ROW_DAMAGED");
        says(&claimed, "T1 is damaged");
        says(&claimed, "`cleo delete T1` removes it");
        workspace.ok("delete T1 --force");
        workspace.ok("delete T4");
        workspace.result("doctor");
    }
}

#[test]
fn damaged_gates_are_opened_again_by_clearing_them() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("update T2 --require-gate implemented");
    workspace.ok("verify T2 --gate implemented --note seen");
    sql(&workspace, "UPDATE gates SET state = 'odd'");
    let way = "`cleo update T2 --clear required-gates` opens the gates of T2 again";
    for words in [
        &["complete", "T2"][..],
        &["verify", "T2"],
        &["verify", "T2", "--gate", "implemented", "--value", "false"],
        &["update", "T2", "--require-gate", "testsPassed"],
    ] {
        let error = workspace.expect_refusal(words, "E_ROW_DAMAGED");
        says(&error, "the gate record of T2 is damaged");
        says(&error, way);
    }
    let found = workspace.ask("doctor")["result"]["findings"].to_string();
    assert!(found.contains(way), "{found}");
    // A run gives it back, and the rest of the task is as it was.
    let mut run = workspace.command(&["claim", "T2"]);
    let claimed = run.env("CLEO_AGENT", "run_1769418003000_1").output();
    assert!(claimed.unwrap().status.success());
    workspace.ok("release T2 --force");
    let shown = workspace.ask("show T2");
    assert_eq!(shown["result"]["task"]["id"], json!("T2"), "{shown}");
    assert_eq!(shown["result"]["verification"], json!(null), "{shown}");
    let warned = shown["warnings"].to_string();
    assert!(
        warned.contains("the gate record of T2 is left out"),
        "{warned}"
    );
    workspace.ok("update T2 --title New");
    workspace.result("orchestrator brief");
    let mut agent = workspace.command(&["update", "T2", "--clear", "required-gates"]);
    let refused = agent.env("CLEO_RUN_ID", "run_1").output().unwrap();
    assert!(!refused.status.success(), "an agent of a run cannot");
    workspace.ok("update T2 --clear required-gates --require-gate testsPassed");
    let shown = workspace.ask("verify T2");
    assert_eq!(shown["result"]["gates"], json!({}), "{shown}");
    workspace.refuse("complete T2", "E_GATE_OPEN");
    workspace.ok("verify T2 --gate testsPassed --note seen --force");
    workspace.ok("complete T2");
}

#[test]
fn task_that_damaged_one_depends_on_can_be_deleted() {
    let workspace = TestWorkspace::with_plan();
    let damage = format!("UPDATE tasks SET extra = '{}' WHERE number = 4", deep(130));
    sql(&workspace, &damage);
    workspace.ok("delete T3 --force");
    workspace.ok("delete T4");
    let findings = workspace.ask("doctor")["result"]["findings"].clone();
    let counts = findings.as_array().unwrap().iter();
    let mut counts = counts.filter(|one| one["check"] == "database.counts");
    assert_eq!(counts.next().unwrap()["status"], "ok", "{findings}");
}

#[test]
fn damaged_change_is_not_undone_in_part() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("update T2 --title New --priority low");
    let damage = format!(
        "UPDATE changes SET detail = '{}' WHERE sequence = (SELECT max(sequence) FROM changes)",
        deep(130)
    );
    sql(&workspace, &damage);
    workspace.refuse("undo", "E_ROW_DAMAGED");
    assert_eq!(workspace.ask("log")["success"], true);
}

#[test]
fn damaged_rows_of_agents_and_runs_are_left_out() {
    let workspace = workspace();
    workspace.ask("agents execute 'say it again'");
    let damage = format!(
        "UPDATE agents SET record = '{0}' WHERE id = 'helper';
         UPDATE runs SET record = 'odd' WHERE position = 1;
         UPDATE messages SET metadata = '{0}'
             WHERE position = (SELECT max(position) FROM messages);
         UPDATE events SET detail = 'odd' WHERE cursor = 1;
         INSERT INTO conversations SELECT NULL, 'a;b', user_id, agent, status, last_message_at, record, 0
             FROM conversations LIMIT 1",
        deep(130)
    );
    sql(&workspace, &damage);
    for (words, total) in [
        (&["agents", "list"][..], None),
        (&["runs", "list"], None),
        (&["conversations", "list"], None),
        (&["agents", "metrics"], None),
        (&["agents", "execute", "say more"], Some(0)),
    ] {
        let reply = workspace.json(words);
        let is_unanswered = reply["error"]["code"] == "E_UNANSWERED";
        assert!(
            is_unanswered || reply["success"] == true,
            "{words:?}: {reply}"
        );
        let warnings = reply["warnings"].to_string();
        let is_told = warnings.contains("is left out: it is damaged");
        assert!(
            is_told || total.is_some() || words[1] == "metrics",
            "{words:?}: {reply}"
        );
    }
    let found = workspace.ask("doctor")["result"]["findings"].to_string();
    for row in [
        "agent `helper`",
        "run `exec_",
        "message `msg_",
        "event 1 ",
        "conversation `a;b`",
    ] {
        assert!(found.contains(row), "{row}: {found}");
    }
}

#[test]
fn damaged_run_is_named_once() {
    let workspace = workspace();
    sql(
        &workspace,
        "UPDATE runs SET status = 'odd' WHERE position = 1",
    );
    for words in [["runs", "list"], ["agents", "metrics"]] {
        let reply = workspace.json(&words);
        let warnings = reply["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 1, "{reply}");
        says(&warnings[0], "run `exec_");
    }
}

#[test]
fn values_too_deep_to_be_read_again_are_refused_by_import() {
    let workspace = TestWorkspace::new();
    let line = |levels: usize| {
        format!(
            "{{\"id\":\"b-{levels}\",\"title\":\"x\",\"status\":\"open\",\"metadata\":{}}}\n",
            deep(levels)
        )
    };
    for levels in [63, 100, 126] {
        workspace.write("b.jsonl", line(levels) + &line(10));
        let words = ["import", "b.jsonl", "--from", "beads"];
        let reply = workspace.expect_refusal(&words, "E_IMPORT_INVALID");
        assert_eq!(reply["exitCode"], 6);
        let kept = workspace.ask("import b.jsonl --from beads --drop-faults --dry-run");
        let faults = &kept["result"]["faults"]["shown"];
        says(&faults[0], "nested");
        assert_eq!(kept["result"]["added"], 1, "{kept}");
    }
    workspace.write("b.jsonl", line(60));
    workspace.ok("import b.jsonl --from beads");
    for command in [
        "list",
        "show T1",
        "export",
        "update T1 --title y",
        "undo",
        "delete T1",
        "undo",
    ] {
        workspace.ok(command);
    }
}

/// Collects every command in a reply.
fn commands(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| commands(item, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value.as_str()) {
                    ("fix" | "command" | "next" | "look", Some(text)) => {
                        found.push(text.to_string())
                    }
                    _ => commands(value, found),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn stored_text_never_becomes_a_command() {
    let hostile = [
        HOSTILE,
        "a`sh .cleo/setup.sh`",
        "a\nsh .cleo/setup.sh\n",
        "a\u{1b}]0;x\u{7} $(sh .cleo/setup.sh)",
    ];
    for hostile in hostile {
        let workspace = workspace();
        workspace.ok("claim T2");
        workspace.ok("session start --scope T1");
        workspace.ok("update T2 --phase build");
        workspace.ok("phase set build");
        let value = hostile.replace('\'', "''");
        let set = |table: &str, columns: &[&str]| -> String {
            let all = columns.iter().map(|column| format!("{column} = '{value}'"));
            format!("UPDATE {table} SET {};", all.collect::<Vec<_>>().join(", "))
        };
        sql(
            &workspace,
            &[
                set("claims", &["holder"]),
                set("sessions", &["holder", "name"]),
                set("operations", &["by"]),
                set("tasks", &["assigned_agent", "feature", "phase"]),
                set("phases", &["slug", "name"]),
                "UPDATE changes SET detail = json_set(detail, '$.session', '".to_string()
                    + &value
                    + "') WHERE kind LIKE 'session%'",
            ]
            .concat(),
        );
        sql(
            &workspace,
            &[
                format!(
                    "UPDATE runs SET agent = '{value}', record = json_set(record,
                        '$.agent', '{value}', '$.requestedAgent', '{value}',
                        '$.conversation', '{value}');
                     UPDATE conversations SET agent = '{value}',
                        record = json_set(record, '$.agent_id', '{value}');"
                ),
                // A run whose process is gone and that can be resumed is recommended.
                format!(
                    "UPDATE runs SET id = '{value}', kind = 'tasks', status = 'interrupted',
                        record = json_set(record, '$.kind', 'tasks', '$.status', 'interrupted')
                     WHERE position = 1;"
                ),
            ]
            .concat(),
        );
        let mut found = Vec::new();
        for line in [
            "orchestrator start",
            "orchestrator status",
            "orchestrator brief",
            "orchestrator analyze",
            "next",
            "claim --next",
            "claim T2",
            "complete T2",
            "release T2",
            "start T2",
            "update T2 --title x",
            "show T2",
            "list",
            "session list",
            "session end S1",
            "session resume S1",
            "focus T3",
            "phase list",
            "phase set build",
            "undo",
            "log",
            "runs list",
            "conversations list",
            "agents list",
            "doctor",
            "delete T2",
            "spawn T2",
            "run T2 --command false",
            "agents metrics",
            "session status",
        ] {
            let words = shlex::split(line).unwrap();
            commands(&workspace.json(&words), &mut found);
            let reply = workspace.text(line, "");
            let lines = reply.stdout.lines().chain(reply.stderr.lines());
            let tried = lines.filter_map(|line| line.trim_start().strip_prefix("try: "));
            found.extend(tried.map(str::to_string));
        }
        assert!(found.len() > 10, "{found:?}");
        for command in found {
            let words = shlex::split(&command).unwrap_or_default();
            let is_apart = words
                .iter()
                .any(|word| word == ".cleo/setup.sh" || word == "sh");
            let is_run = command.contains("`sh") || command.contains("$(sh");
            let is_quoted =
                command.contains("'a`sh") || command.contains("$'") || command.contains("'a\u{1b}");
            assert!(!is_apart && (!is_run || is_quoted), "{command}");
        }
    }
}

#[test]
fn text_without_borders_between_words_is_found_inside() {
    let workspace = TestWorkspace::new();
    for title in [
        "实现任务调度器",
        "タスクスケジューラを実装する",
        "สร้างตัวจัดตารางงาน",
        "تنفيذ المجدول",
        "Ship it 🚀 now",
        "Rewrite in C++ or C#",
        "Parse --flag in src/a/b.rs",
        "登录login功能",
        "Create a chart",
    ] {
        workspace.json(&["add", title]);
    }
    let found = |words: &str| -> String {
        let reply = workspace.json(&["find", "--", words]);
        let tasks = reply["result"]["tasks"].as_array().unwrap();
        let ids = tasks.iter().map(|task| task["id"].as_str().unwrap());
        format!("{words}: {}", ids.collect::<Vec<_>>().join(" "))
    };
    let all = [
        "调度",
        "スケジュ",
        "ตาราง",
        "جدول",
        "🚀",
        "c++",
        "C#",
        "--flag",
        "a/b.rs",
        "login",
        "chart",
        "任务 实现",
    ];
    for none in ["ogi xx", "100%"] {
        let reply = workspace.json(&["find", none]);
        assert_eq!(reply["result"]["total"], 0, "{none}");
    }
    insta::assert_snapshot!(all.map(found).join("\n"), @r"
    调度: T1
    スケジュ: T2
    ตาราง: T3
    جدول: T4
    🚀: T5
    c++: T6
    C#: T6
    --flag: T7
    a/b.rs: T7
    login: T8
    chart: T9
    任务 实现: T1
    ");
}

#[test]
fn odd_items_of_lists_cost_only_themselves() {
    let backlog = "---\nid: TASK-1\ntitle: A\nlabels: [frontend, 2026, urgent, {a: 1}]\n---\n";
    for (file, from, text) in [
        (
            "cleo.jsonl",
            "cleo",
            r#"{"id":"T1","title":"A","labels":["a",7,"b",{"x":1}],"files":["f",8,null],"acceptance":["c",9],"notes":[{"at":"2026-01-01T00:00:00.000Z","by":"x","text":"n"},5]}"#,
        ),
        (
            "beads.jsonl",
            "beads",
            r#"{"id":"b-1","title":"A","status":"open","labels":["a",7,"b",{"x":1}],"dependencies":[{"depends_on_id":"b-9","type":"blocks"},"odd"]}"#,
        ),
        (
            "todo.json",
            "todo",
            r#"{"tasks":[{"id":"T1","title":"A","status":"pending","labels":["a",7,"b",[1]],"files":["f",8],"acceptance":["c",9,{"q":1}],"notes":["n",5,[1]],"relates":["odd"]}]}"#,
        ),
        (
            "tasks.json",
            "taskmaster",
            r#"{"master":{"tasks":[{"id":1,"title":"A","status":"pending","tags":["a",7,"b",{"x":1}],"acceptanceCriteria":["c",9,{"q":1}],"dependencies":[],"subtasks":[]}]}}"#,
        ),
        (
            "task.json",
            "taskwarrior",
            r#"[{"uuid":"u-1","description":"A","status":"pending","tags":["a",7,"b",{"x":1}],"annotations":[{"entry":"20260101T000000Z","description":"n"},"odd"]}]"#,
        ),
        ("backlog/tasks/task-1.md", "backlog", backlog),
    ] {
        let workspace = TestWorkspace::new().with(file, text);
        let path = if from == "backlog" { "backlog" } else { file };
        let reply = workspace.json(&["import", path, "--from", from, "--drop-faults"]);
        assert_eq!(reply["result"]["added"], 1, "{from}: {reply}");
        let task = workspace.ask("show T1")["result"]["task"].clone();
        let labels: Vec<&str> = task["labels"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let wanted = if from == "backlog" {
            ["frontend", "2026", "urgent"]
        } else {
            ["a", "7", "b"]
        };
        for label in wanted {
            assert!(labels.contains(&label), "{from}: {task}");
        }
        let extra = task["extra"][from].to_string();
        let odd = match from {
            "todo" => "[[1]]",
            "backlog" => "{\"a\":1}",
            _ => "{\"x\":1}",
        };
        assert!(extra.contains(odd), "{from}: {extra}");
        if matches!(from, "cleo" | "todo" | "taskmaster") {
            assert_eq!(task["acceptance"], json!(["c", "9"]), "{from}");
        }
        if matches!(from, "cleo" | "todo" | "taskwarrior") {
            assert_eq!(task["notes"][0]["text"], "n", "{from}");
        }
    }
}

#[test]
fn labels_in_yaml_are_texts_as_they_were_written() {
    let text = "---\nid: TASK-1\ntitle: A\nlabels: [v, 1.10, 2026, 0x1F]\n---\n";
    let workspace = TestWorkspace::new().with("backlog/tasks/task-1.md", text);
    workspace.ok("import backlog --from backlog");
    let task = workspace.ask("show T1")["result"]["task"].clone();
    assert_eq!(task["labels"], json!(["v", "1.10", "2026", "0x1F"]));
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let line = r#"{"id":"b-1","title":"A","status":"open","huge":1e400}"#;
    let workspace = TestWorkspace::new().with("b.jsonl", line);
    let refused = workspace.refuse("import b.jsonl --from beads", "E_IMPORT_INVALID");
    says(&refused, "number out of range");
    let workspace = TestWorkspace::new();
    let file = "backlog/tasks/task-1.md";
    let front = |weight: &str| format!("---\nid: TASK-1\ntitle: A\nweight: {weight}\n---\n");
    workspace.write(file, front("1e400"));
    workspace.ok("import backlog");
    let task = workspace.ask("show T1")["result"]["task"].clone();
    assert_eq!(task["extra"]["backlog"]["weight"], "1e400");
}

#[test]
fn dates_that_stand_for_none_are_kept_as_they_were_written() {
    let line = r#"{"id":"b-1","title":"A","status":"open","due_at":"0000-00-00","started_at":"0001-01-01T00:00:00Z","created_at":"2026-01-01T00:00:00Z"}"#;
    let workspace = TestWorkspace::new().with("b.jsonl", line);
    workspace.ok("import b.jsonl --from beads");
    let task = workspace.ask("show T1")["result"]["task"].clone();
    assert_eq!(task["due"], Value::Null);
    assert_eq!(task["extra"]["beads"]["due_at"], "0000-00-00");
    assert_eq!(task["extra"]["beads"]["started_at"], "0001-01-01T00:00:00Z");
}

#[test]
fn import_into_store_whose_first_task_is_damaged() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("export --output all.jsonl");
    sql(
        &workspace,
        "UPDATE tasks SET files = 'odd' WHERE number = 1",
    );
    workspace.fails("import all.jsonl", "E_ROW_DAMAGED");
    workspace.write("new.jsonl", r#"{"id":"b-1","title":"New"}"#);
    workspace.ok("import new.jsonl --from beads");
    let listed = workspace.ask("list");
    assert_eq!(listed["result"]["tasks"].as_array().unwrap().len(), 5);
}

#[test]
fn doctor_ends_whatever_positions_of_rows_are() {
    let workspace = workspace();
    let last = i64::MAX;
    let far = format!("UPDATE changes SET sequence = {last} WHERE sequence = 1");
    sql(&workspace, &far);
    let far = format!(
        "UPDATE events SET cursor = {last} WHERE cursor = (SELECT max(cursor) FROM events);
         UPDATE messages SET position = {last}
             WHERE position = (SELECT max(position) FROM messages)"
    );
    sql(&workspace, &far);
    let doctor = workspace.shell("timeout 60 cleo doctor");
    assert_ne!(doctor.exit, 124, "{doctor}");
}

#[test]
fn task_with_wrong_word_index_can_be_changed_and_deleted() {
    let other = "a title that is longer than everything else taken together ".repeat(20);
    for change in ["update T4 --title New", "delete T4 --force"] {
        let workspace = TestWorkspace::new();
        for title in ["A", "B", "C", "D"] {
            workspace.ok(&format!("add {title}"));
        }
        let damage = format!("UPDATE tasks SET title = '{other}' WHERE number = 4");
        sql(&workspace, &damage);
        workspace.ok(change);
        let doctor = workspace.ask("doctor")["result"]["findings"].to_string();
        assert!(!doctor.contains("the index of words"), "{doctor}");
        assert_eq!(workspace.ask("find longer")["result"]["total"], 0);
    }
}

#[test]
fn damaged_agent_can_be_removed() {
    let workspace = workspace();
    let damage = "UPDATE agents SET record = 'odd' WHERE id = 'helper'";
    sql(&workspace, damage);
    let found = workspace.ask("doctor")["result"]["findings"].to_string();
    let way = "`cleo agents remove helper` removes it";
    assert!(found.contains(way), "{found}");
    workspace.ok("agents remove helper");
    assert_eq!(workspace.ask("doctor")["success"], true);
}

#[test]
fn damaged_receipt_of_prompt_costs_only_its_task() {
    let workspace = workspace();
    workspace.ok("spawn T2");
    workspace.ok("start T2");
    sql(&workspace, "UPDATE spawns SET receipt = 'no JSON'");
    let told = workspace.ask("orchestrator validate");
    assert_eq!(told["error"]["code"], "E_ROW_DAMAGED", "{told}");
    let warnings = told["warnings"].to_string();
    let left_out = "T2 is left out: the prompt of task 2 is damaged";
    assert!(warnings.contains(left_out), "{told}");
    workspace.result("status");
    workspace.result("next");
    assert_eq!(workspace.result("show T2")["output"], Value::Null);
    // Another prompt takes the place of one that demands a proof.
    let way = "`cleo spawn T2 --again` asks for the work anew; then `cleo doctor --remove-damaged` removes it";
    for _ in 0..2 {
        let error = workspace.refuse("complete T2", "E_ROW_DAMAGED");
        says(&error, way);
        let kept = workspace.ask("doctor --remove-damaged");
        assert_eq!(kept["success"], false, "{kept}");
    }
    workspace.ok("spawn T2 --again");
    workspace.ok("doctor --remove-damaged");
    workspace.refuse("complete T2", "E_NOT_VERIFIED");
    workspace.result("orchestrator validate");
    sql(&workspace, "UPDATE spawns SET receipt = 'no JSON'");
    workspace.ok("delete T2 --force");
    workspace.refuse("undo", "E_ROW_DAMAGED");
}

#[test]
fn deletion_of_damaged_task_is_not_undone() {
    for damage in [
        "UPDATE gates SET state = 'odd'",
        "UPDATE spawns SET receipt = 'no JSON'",
        "UPDATE tasks SET acceptance = 'no JSON' WHERE number = 4",
    ] {
        let workspace = TestWorkspace::with_plan();
        workspace.ok("update T2 --require-gate implemented");
        workspace.ok("spawn T3");
        sql(&workspace, damage);
        workspace.ok("delete T1 --cascade --force");
        workspace.refuse("undo", "E_ROW_DAMAGED");
        assert_eq!(workspace.ask("list --all")["result"]["total"], 0);
    }
}

#[test]
fn damaged_runs_and_messages_are_removed_on_demand() {
    let workspace = workspace();
    workspace.ask("agents execute 'say it again'");
    workspace.ok("chat --message hello");
    let damage = format!(
        "UPDATE runs SET status = 'odd' WHERE position = 1;
         UPDATE records SET record = 'odd' WHERE kind = 'chat';
         UPDATE messages SET metadata = '{}'
             WHERE position = (SELECT max(position) FROM messages);
         UPDATE events SET detail = 'odd' WHERE cursor = (SELECT max(cursor) FROM events);
         INSERT INTO conversations SELECT NULL, 'a;b', user_id, agent, status, last_message_at, record, 0
             FROM conversations LIMIT 1",
        deep(130)
    );
    sql(&workspace, &damage);
    let found = workspace.ask("doctor")["result"]["findings"].to_string();
    let way = "`cleo doctor --remove-damaged` removes it";
    assert_eq!(found.matches(way).count(), 5, "{found}");
    let mut agent = workspace.command(&["doctor", "--remove-damaged", "--json"]);
    let refused = agent.env("CLEO_RUN_ID", "run_1").output().unwrap();
    let refused = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(refused.contains("E_UNTRUSTED"), "{refused}");
    let removed = workspace.result("doctor --remove-damaged");
    let findings = removed["findings"].as_array().unwrap();
    let removed = findings
        .iter()
        .filter(|one| one["check"] == "database.removed");
    let removed: Vec<&str> = removed
        .map(|one| one["message"].as_str().unwrap())
        .collect();
    assert_eq!(removed.len(), 5, "{removed:?}");
    for (message, row) in removed.iter().zip([
        "run `exec_",
        "event ",
        "conversation `a;b`",
        "message `",
        "record `chat ",
    ]) {
        assert!(message.starts_with(row), "{removed:?}");
    }
    let runs = workspace.ask("runs list");
    assert_eq!(runs["result"]["total"], 1, "{runs}");
    assert_eq!(runs["warnings"], json!([]));
    assert_eq!(workspace.ask("conversations list")["result"]["total"], 1);
}

#[test]
fn server_reports_omitted_damaged_rows() {
    let workspace = workspace();
    sql(
        &workspace,
        "UPDATE tasks SET files = 'odd' WHERE number = 5",
    );
    sql(&workspace, "UPDATE runs SET record = 'odd'");
    let server = Served::start(&workspace, &[]);
    let ask = |path: &str| {
        let host = &server.address;
        let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        server.raw(head.as_bytes()).to_ascii_lowercase()
    };
    let told = "\r\ncleo-damaged-rows: left-out\r\n";
    for path in ["/api/work/tasks", "/api/runs"] {
        let answer = ask(path);
        assert!(answer.starts_with("http/1.1 200"), "{path}: {answer}");
        assert!(answer.contains(told), "{path}: {answer}");
    }
    assert!(!ask("/api/agents").contains("cleo-damaged-rows"));
}

#[test]
fn duplicate_fields_are_refused_by_import() {
    let workspace = TestWorkspace::with_plan();
    let uuid = "11111111-1111-4111-8111-111111111111";
    for (format, line, text) in [
        (
            "beads",
            1,
            r#"{"id":"b-1","title":"x","title":"y"}"#.to_string(),
        ),
        (
            "beads",
            1,
            r#"{"id":"b-1","title":"x","metadata":{"a":1,"a":2}}"#.into(),
        ),
        (
            "cleo",
            2,
            "{\"id\":\"T7\",\"title\":\"x\"}\n{\"id\":\"T8\",\"title\":\"x\",\"title\":\"y\"}"
                .into(),
        ),
        (
            "todo",
            2,
            "{\"version\":\"2\",\n\"tasks\":[{\"id\":\"T1\",\"title\":\"x\",\"title\":\"y\"}]}"
                .into(),
        ),
        ("todo", 2, "{\"tasks\":[],\n\"tasks\":[]}".into()),
        (
            "todo",
            1,
            r#"{"tasks":[],"project":{"phases":{"a":{"order":1},"a":{"order":2}}}}"#.into(),
        ),
        (
            "taskmaster",
            1,
            r#"{"master":{"tasks":[{"id":1,"title":"x","title":"y"}]}}"#.into(),
        ),
        (
            "taskmaster",
            2,
            "{\"a\":{\"tasks\":[]},\n\"a\":{\"tasks\":[]}}".into(),
        ),
        ("taskmaster", 1, r#"{"a":{"tasks":[],"tasks":[]}}"#.into()),
        (
            "taskwarrior",
            1,
            format!(r#"[{{"uuid":"{uuid}","description":"x","description":"y"}}]"#),
        ),
    ] {
        workspace.write("in", &text);
        let words = ["import", "in", "--from", format];
        let reply = workspace.json(&words);
        assert_eq!(
            reply["error"]["code"], "E_IMPORT_INVALID",
            "{text}: {reply}"
        );
        let fault = &reply["result"]["faults"]["shown"][0];
        assert_eq!(fault["line"], line, "{text}: {fault}");
        says(fault, "duplicate field");
    }
    assert_eq!(workspace.ask("list")["result"]["total"], 5);
}
