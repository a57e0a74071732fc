//! `cleo doctor`: one test for each thing that can be wrong, and the proof by killed writers.

use std::fs::{File, Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::Value;

use crate::server::{Answer, Server};
use crate::world::{CLEO, TestWorkspace, says};

/// Returns what was found amiss: check, status, message and fix.
fn amiss(workspace: &TestWorkspace) -> Vec<(String, String, String, String)> {
    let reply = workspace.ask("doctor");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let findings = reply["result"]["findings"].as_array().unwrap().iter();
    let found = findings
        .filter(|finding| finding["status"] != "ok")
        .map(|finding| {
            let [check, status, message, fix] =
                ["check", "status", "message", "fix"].map(|part| text(&finding[part]));
            assert!(!fix.is_empty(), "{finding}");
            (check, status, message, fix)
        });
    let found: Vec<_> = found.collect();
    let failed = found
        .iter()
        .filter(|(_, status, _, _)| status == "fail")
        .count();
    assert_eq!(reply["result"]["failed"], failed);
    if failed > 0 {
        assert_eq!(reply["error"]["code"], "E_DOCTOR_FOUND");
        assert_eq!(reply["error"]["exitCode"], 6);
    }
    found
}

/// Checks that exactly one thing is amiss and returns its fix.
#[track_caller]
fn only(workspace: &TestWorkspace, check: &str, status: &str, what: &str) -> String {
    let found = amiss(workspace);
    let [(found_check, found_status, message, fix)] = &found[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(
        (found_check.as_str(), found_status.as_str()),
        (check, status),
        "{message}"
    );
    assert!(message.contains(what), "{message}");
    fix.clone()
}

/// A workspace with some work in it, and no agent programs on the PATH.
fn workspace() -> TestWorkspace {
    TestWorkspace::with_plan().env("PATH", &plain_path())
}

/// Returns a PATH with cleo and the system's programs.
fn plain_path() -> String {
    let folder = std::path::Path::new(CLEO).parent().unwrap();
    format!("{}:/usr/bin:/bin", folder.display())
}

#[test]
fn file_of_agents_that_cannot_be_used_is_found() {
    let workspace = workspace().with(".cleo/agents/k.yaml", "id: kp\nname: [K\n");
    let fix = only(&workspace, "agents.files", "warn", "k.yaml is left out");
    assert_eq!(fix, "cat [WORKSPACE]/.cleo/agents/k.yaml");
}

fn sql(workspace: &TestWorkspace, statements: &str) {
    workspace.change_database(statements);
}

#[test]
fn sound_workspace_has_nothing_amiss() {
    let workspace = workspace();
    let before = workspace.state();
    assert_eq!(amiss(&workspace), []);
    assert_eq!(workspace.state(), before);
    let shown = workspace.ok("doctor");
    assert!(shown.stdout.contains("ok    database.integrity"), "{shown}");
    workspace.ok("manifest append --id one --file a.md --title A --topic x --finding A. --finding B. --finding C.");
    let shown = workspace.ok("doctor");
    assert!(
        shown.stdout.contains("1 entry, every line whole"),
        "{shown}"
    );
}

#[test]
fn missing_workspace_names_init() {
    let workspace = TestWorkspace::bare().env("PATH", &plain_path());
    assert_eq!(
        only(&workspace, "workspace", "fail", "no .cleo"),
        "cleo init"
    );
}

#[test]
fn faulty_settings_are_found() {
    let workspace = workspace().with(".cleo/config.yaml", "color: blue\n");
    let fix = only(
        &workspace,
        "settings",
        "fail",
        "config.yaml:1: `color` is `blue`",
    );
    assert_eq!(fix, "sed -n 1p [WORKSPACE]/.cleo/config.yaml");
}

#[test]
fn model_that_could_not_be_asked_is_found() {
    let server = Server::start(&[Answer::Close]);
    let url = format!("{}/v1", server.url);
    let with = |variables: &[(&str, &str)]| {
        let variables = variables.iter();
        variables.fold(workspace(), |workspace, (name, value)| {
            workspace.env(name, value)
        })
    };
    let openai = ("CLEO_LLM_PROVIDER", "openai-chat");
    let key = ("OPENAI_API_KEY", "sk-test-0123456789");
    let fix = only(
        &with(&[openai]),
        "model",
        "warn",
        "OPENAI_API_KEY is not set",
    );
    assert_eq!(fix, "cleo config list --show-origin");
    let fix = only(
        &with(&[("CLEO_LLM_PROVIDER", "ollama")]),
        "model",
        "fail",
        "which model answers",
    );
    assert_eq!(fix, "cleo config list --show-origin");
    let far = ("CLEO_LLM_BASE_URL", "http://models.invalid/v1");
    only(
        &with(&[openai, key, far]),
        "model",
        "warn",
        "without encryption",
    );
    for variables in [&[openai, key][..], &[openai, ("CLEO_LLM_BASE_URL", &url)]] {
        let workspace = with(variables);
        assert_eq!(amiss(&workspace), []);
        let shown = workspace.ok("doctor");
        assert!(shown.stdout.contains("of openai-chat at http"), "{shown}");
        assert!(!shown.to_string().contains(key.1), "{shown}");
    }
    assert!(server.read_requests().is_empty());
}

#[test]
fn project_that_names_server_for_what_is_said_is_found() {
    let config = "llm.provider: openai-chat\nllm.baseUrl: https://evil.example/v1\n";
    let workspace = workspace().with(".cleo/config.yaml", config);
    let what = "servers of this machine only";
    let fix = only(&workspace, "model", "fail", what);
    assert_eq!(fix, "cleo config list --show-origin");
    workspace.ok("config list --show-origin");
}

#[test]
fn folder_that_is_missing_is_found() {
    let workspace = workspace();
    std::fs::remove_dir_all(workspace.path("claudedocs")).unwrap();
    let fix = only(&workspace, "workspace.folders", "fail", "is missing");
    assert_eq!(workspace.shell(&fix).exit, 0);
    assert_eq!(amiss(&workspace), []);
}

#[test]
fn link_out_of_workspace_is_found() {
    for link in [
        ".cleo/runs",
        ".cleo/config.yaml",
        ".cleo/runs/run_1769418003000_1",
        ".cleo/runs/run_1769418003000_1/T1-1.log",
    ] {
        let workspace = workspace();
        std::fs::create_dir_all(workspace.path("../outside/run_1")).unwrap();
        let place = workspace.path(link);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        let target = workspace.path("../outside");
        std::os::unix::fs::symlink(&target, &place).unwrap();
        let found = amiss(&workspace);
        let found = found.iter().find(|found| found.0 == "workspace.links");
        let (_, status, message, fix) = found.unwrap();
        assert_eq!(status, "fail", "{message}");
        assert_eq!(*message, format!("`{link}` leads out of the workspace"));
        assert_eq!(*fix, format!("ls -ld [WORKSPACE]/{link}"));
    }
}

#[test]
fn folder_that_cannot_be_written_is_found() {
    let workspace = workspace();
    let folder = workspace.path("claudedocs/agent-outputs");
    set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
    if File::create(folder.join("x")).is_ok() {
        crate::world::skip("folders without permission: this user may write everywhere");
        return;
    }
    let fix = only(&workspace, "workspace.folders", "fail", "cannot be written");
    set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    assert!(fix.starts_with("ls -ld "), "{fix}");
}

#[test]
fn folder_without_room_is_found() {
    let workspace = TestWorkspace::with_plan();
    let reply = workspace.shell("trap '' XFSZ; ulimit -f 64; exec cleo doctor --json");
    assert_eq!(reply.exit, 6, "{reply}");
    let found: Value = serde_json::from_str(&reply.stdout).unwrap();
    let findings = found["result"]["findings"].as_array().unwrap().iter();
    let folders: Vec<&Value> = findings
        .filter(|finding| finding["check"] == "workspace.folders")
        .collect();
    assert_eq!(folders.len(), 2);
    for finding in folders {
        assert_eq!(finding["status"], "fail", "{finding}");
        says(&finding["fix"], "df -h ");
    }
}

#[test]
fn stale_drafts_of_killed_processes_show() {
    let workspace = workspace()
        .with(".cleo/.cleo-new-Young1", "")
        .with(".cleo/.cleo-new-Old123", "")
        .with(".cleo-new-Old123", "")
        .with("out/.cleo-new-Old123", "")
        .with(".cleo/.cleo-new-Folder/cleo.db", "")
        .with(".cleo/.cleo-new-Folder/.cleo-new-Old123", "")
        .with(".cleo/runs/run_1/outputs/.cleo-new-Old123", "");
    let hours_ago = SystemTime::now() - Duration::from_secs(7_200);
    let age = |draft: &str| {
        let old = File::open(workspace.path(draft)).unwrap();
        old.set_modified(hours_ago).unwrap();
    };
    age(".cleo/.cleo-new-Old123");
    age(".cleo/.cleo-new-Folder/.cleo-new-Old123");
    age(".cleo/.cleo-new-Folder");
    age(".cleo-new-Old123");
    age("out/.cleo-new-Old123");
    age(".cleo/runs/run_1/outputs/.cleo-new-Old123");
    let fix = only(&workspace, "workspace.leftovers", "warn", "removed: 6");
    let listed = workspace.shell(&fix);
    assert_eq!(listed.exit, 0, "{listed}");
    assert_eq!(listed.stdout.matches("Old123").count(), 5, "{listed}");
    assert!(!listed.stdout.contains("Young"), "{listed}");
    workspace.write("other/outputs/.cleo-new-Theirs", "");
    age("other/outputs/.cleo-new-Theirs");
    symlink("../../other", workspace.path(".cleo/runs/run_2")).unwrap();
    symlink(
        "../../../other/outputs",
        workspace.path(".cleo/runs/run_1/more"),
    )
    .unwrap();
    workspace.ok("doctor --fix");
    assert_eq!(amiss(&workspace), []);
    for kept in [".cleo/.cleo-new-Young1", "other/outputs/.cleo-new-Theirs"] {
        assert!(workspace.path(kept).exists(), "{kept}");
    }
    for gone in [".cleo-new-Old123", "out/.cleo-new-Old123"] {
        assert!(!workspace.path(gone).exists(), "{gone}");
    }
}

#[test]
fn database_that_version_control_would_take_is_found() {
    let workspace = workspace();
    std::fs::remove_file(workspace.path(".cleo/.gitignore")).unwrap();
    let fix = only(&workspace, "workspace.ignore", "warn", "version control");
    assert_eq!(workspace.shell(&fix).exit, 0);
    assert_eq!(amiss(&workspace), []);
}

#[test]
fn file_that_is_no_database_is_found() {
    let workspace = workspace();
    std::fs::remove_file(workspace.path(".cleo/cleo.db-wal")).ok();
    std::fs::write(workspace.path(".cleo/cleo.db"), "no database ".repeat(900)).unwrap();
    let found = amiss(&workspace);
    assert_eq!(
        (found[0].0.as_str(), found[0].1.as_str()),
        ("database", "fail"),
        "{found:?}"
    );
}

#[test]
fn fresh_clone_is_told_to_init() {
    let workspace = workspace();
    for file in ["cleo.db", "cleo.db-wal", "cleo.db-shm"] {
        std::fs::remove_file(workspace.path(&format!(".cleo/{file}"))).ok();
    }
    let found = amiss(&workspace);
    let fix = |check: &str| {
        let found = found.iter().find(|(name, ..)| name == check);
        found.map(|(.., fix)| fix.as_str()).unwrap()
    };
    assert!(fix("manifest").ends_with(" init"), "{found:?}");
    assert_eq!(fix("manifest"), fix("database"));
}

#[test]
fn database_of_another_version_is_found() {
    let workspace = workspace();
    sql(&workspace, "PRAGMA user_version = 99");
    let found = amiss(&workspace);
    assert!(found[0].2.contains("another version of cleo"), "{found:?}");
}

#[test]
fn workspace_with_two_databases_is_refused() {
    let workspace = workspace();
    std::fs::write(workspace.path(".cleo/agents.db"), "").unwrap();
    for words in [&["list"][..], &["agents", "list"], &["init"]] {
        let error = workspace.expect_refusal(words, "E_STORE_SCHEMA");
        let message = error["message"].as_str().unwrap();
        let way = "export it with the program that wrote it";
        assert!(message.ends_with(way), "{message}");
    }
}

#[test]
fn broken_pages_are_found() {
    let workspace = workspace();
    sql(&workspace, "PRAGMA wal_checkpoint(TRUNCATE)");
    sql(
        &workspace,
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'tasks_by_parent')
         WHERE name = 'tasks_by_status';",
    );
    let found = amiss(&workspace);
    assert!(
        found
            .iter()
            .any(|(check, status, _, _)| check.starts_with("database") && status == "fail"),
        "{found:?}"
    );
}

#[test]
fn what_is_kept_beside_tasks() {
    for (statement, what) in [
        (
            "UPDATE counters SET value = value + 1 WHERE name = 'pending'",
            "number of tasks",
        ),
        (
            "UPDATE nodes SET open_needs = 7 WHERE number = 3",
            "waits for wrongly: T3",
        ),
        (
            "UPDATE nodes SET status = 'done' WHERE number = 4",
            "another parent or status than the task: T4",
        ),
        (
            "UPDATE counters SET value = value + 1 WHERE name = 'ready'",
            "number of ready tasks",
        ),
        (
            "DELETE FROM nodes WHERE number = 5",
            "lacks a task or has one too many: T5",
        ),
        (
            "PRAGMA foreign_keys = OFF; UPDATE task_depends SET needs = 99 WHERE task = 4",
            "leads nowhere: task_depends",
        ),
        (
            "DELETE FROM task_text WHERE rowid = 2; INSERT INTO task_text (rowid, title, description) VALUES (2, 'other', 'words')",
            "index of words",
        ),
    ] {
        let workspace = workspace();
        sql(&workspace, statement);
        let found = amiss(&workspace);
        let is_found = found.iter().any(|(check, status, message, _)| {
            check == "database.counts" && status == "fail" && message.contains(what)
        });
        assert!(is_found, "{statement}\n{found:?}");
        workspace.ask("doctor --fix");
        let found = amiss(&workspace);
        let is_found = found.iter().any(|(check, ..)| check == "database.counts");
        assert!(!is_found, "{statement}\n{found:?}");
    }
}

#[test]
fn repair_in_place_keeps_the_database_as_it_was() {
    let workspace = workspace();
    workspace.ok("delete T5");
    sql(
        &workspace,
        "PRAGMA foreign_keys = OFF; UPDATE operations SET number = number + 100
         WHERE number = (SELECT max(number) FROM operations)",
    );
    let findings = workspace.ask("doctor --fix")["result"]["findings"].clone();
    let findings = findings.as_array().unwrap().iter();
    let told = findings.filter(|finding| {
        let check = finding["check"].as_str().unwrap();
        check == "database.repair" || check == "database.lost"
    });
    let told: Vec<_> = told
        .filter_map(|finding| finding["message"].as_str())
        .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    indexes, references, counts, graph and words were made anew; [WORKSPACE]/.cleo/cleo.db-20260126T090003.000Z is the database as it was
    changes: references that lead nowhere, 1
    ");
    let kept = workspace.path(".cleo/cleo.db-20260126T090003.000Z");
    let deleted = "SELECT count(*) FROM changes WHERE kind = 'deleted'";
    let kept = Connection::open(kept).unwrap();
    let deleted = kept.query_row(deleted, (), |row| row.get::<_, u32>(0));
    assert_eq!(deleted, Ok(1));
}

#[test]
fn archived_task_disagrees_with_nothing() {
    let workspace = workspace();
    workspace.ok("complete T2 --force");
    workspace.ok("archive T2");
    let found = amiss(&workspace);
    assert!(
        found.iter().all(|(check, ..)| check != "database.counts"),
        "{found:?}"
    );
}

#[test]
fn claim_that_ran_out_is_found() {
    let workspace = workspace();
    sql(
        &workspace,
        "INSERT INTO claims VALUES (2, 3, 'coder-1', '2026-01-26T07:00:00Z', '2026-01-26T08:00:00Z', 0),
             (3, 1, 'coder-2', '2026-01-26T07:00:00Z', '2026-01-27T08:00:00Z', 0),
             (4, 1, NULL, '2026-01-26T07:00:00Z', '2026-01-26T08:00:00Z', 0)",
    );
    let fix = only(&workspace, "claims", "warn", "T2 is held by coder-1");
    assert_eq!(fix, "cleo claim T2");
}

#[test]
fn clock_that_was_set_back_is_found() {
    let workspace = workspace().env("CLEO_NOW", "2025-12-31T09:00:00Z");
    let fix = only(&workspace, "clock", "fail", "the clock says 2025-12-31");
    assert_eq!(fix, "unset CLEO_NOW");
}

#[test]
fn clock_that_was_ahead_once_is_no_fault_for_ever() {
    let workspace = workspace();
    let ahead = |line: &str| {
        let mut command = workspace.command(&shlex::split(line).unwrap());
        command.env("CLEO_NOW", "2099-01-01T00:00:00Z");
        let reply = workspace.finish(command, "");
        assert_eq!(reply.exit, 0, "{reply}");
    };
    ahead("add Later");
    ahead("claim T2");
    let found = amiss(&workspace);
    let [(clock, _, message, _), (claims, _, claim, fix)] = &found[..] else {
        panic!("{found:#?}");
    };
    assert_eq!((clock.as_str(), claims.as_str()), ("clock", "claims"));
    assert!(message.contains("the next change ends this"), "{message}");
    assert!(claim.contains("in the future"), "{claim}");
    assert_eq!(fix, "cleo show T2");
    assert_eq!(workspace.shell(fix).exit, 0);
    workspace.ok("release T2 --force");
    assert_eq!(amiss(&workspace), []);
}

#[test]
fn database_with_other_tables_is_refused() {
    let workspace = workspace();
    sql(&workspace, "ALTER TABLE tasks RENAME COLUMN title TO name");
    let error = workspace.fails("list", "E_STORE_SCHEMA")["error"].clone();
    let (check, _, message, fix) = amiss(&workspace).remove(0);
    assert_eq!(check, "database");
    assert!(
        message.contains("written by another version of cleo (its `tasks` differs)"),
        "{message}"
    );
    assert_eq!(error["fix"], "cleo explain E_STORE_SCHEMA");
    assert_eq!(error["fix"], *fix);
}

#[test]
fn faulty_skills_are_found() {
    let workspace = workspace().with("skills/own/SKILL.md", "---\nname: own\n---\nx\n");
    assert!(amiss(&workspace).iter().any(|(check, status, message, _)| {
        check == "skills" && status == "warn" && message.contains("skills/own/SKILL.md")
    }));
}

#[test]
fn torn_foreign_and_repeated_lines_of_manifest_are_found() {
    let workspace = workspace();
    workspace.ok("manifest append --id one --file a.md --title A --topic x --finding A. --finding B. --finding C.");
    let whole = workspace.read("claudedocs/agent-outputs/MANIFEST.jsonl");
    for (text, what) in [
        (format!("{whole}{}", &whole[..40]), "line 2"),
        (format!("{whole}hello\n"), "line 2"),
        (whole.repeat(2), "line 2"),
    ] {
        workspace.write("claudedocs/agent-outputs/MANIFEST.jsonl", text);
        let fix = only(&workspace, "manifest", "fail", what);
        assert_eq!(fix, "cleo manifest compact");
        let fixed = workspace.shell(&fix);
        assert_eq!(fixed.exit, 0, "{fixed}");
        assert_eq!(amiss(&workspace), []);
    }
    let rejected = workspace.read("claudedocs/agent-outputs/MANIFEST.rejected.jsonl");
    assert_eq!(rejected.lines().count(), 3, "{rejected}");
}

#[test]
fn fault_of_entry_is_left_to_its_author() {
    let workspace = workspace();
    workspace.ok("manifest append --id one --file a.md --title A --topic x --task T2 --finding A. --finding B. --finding C.");
    let whole = workspace.read("claudedocs/agent-outputs/MANIFEST.jsonl");
    let faulty = whole.replace("\"T2\"", "\"T99\"");
    workspace.write("claudedocs/agent-outputs/MANIFEST.jsonl", faulty);
    let fix = only(&workspace, "manifest", "fail", "T99");
    assert_eq!(fix, "cleo manifest validate");
}

#[test]
fn filter_picks_what_fixes_it_when_something_is_broken() {
    let workspace = workspace();
    workspace.write("claudedocs/agent-outputs/MANIFEST.jsonl", "hello\n");
    let help = workspace.cleo("doctor --help");
    let example = r#"doctor --jq '.result.findings[] | select(.status != "ok") | .fix'"#;
    assert!(help.contains(example), "{help}");
    let picked = workspace.text(example, "");
    assert_eq!(
        (picked.exit, picked.stdout.as_str()),
        (6, "cleo manifest compact\n")
    );
}

#[test]
fn edited_agent_files_are_found() {
    let workspace = workspace();
    workspace.ok("init --agents claude");
    assert_eq!(amiss(&workspace), []);
    let path = ".claude/agents/cleo-subagent.md";
    let text = workspace.read(path);
    workspace.write(path, format!("{text}more\n"));
    let fix = only(&workspace, "agents", "warn", path);
    assert_eq!(fix, "cleo init --agents claude --dry-run");
    workspace.write(path, text);
    std::fs::remove_file(workspace.path("AGENTS.md")).unwrap();
    let fix = only(
        &workspace,
        "agents",
        "warn",
        "missing or outdated: AGENTS.md",
    );
    assert_eq!(workspace.shell(&fix).exit, 0);
    assert_eq!(amiss(&workspace), []);
}

/// Puts a program on the PATH that plays an agent program.
fn with_program(name: &str, script: &str) -> TestWorkspace {
    let workspace =
        TestWorkspace::with_plan().with(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
    let program = workspace.path(&format!("bin/{name}"));
    set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", workspace.path("bin").display());
    workspace.env("PATH", &path)
}

#[test]
fn doctor_checks_agent_programs_for_needed_options() {
    let script = "echo \"$1 $2 $HOME $CLEO_AGENT\" >> \"$(dirname \"$0\")/asked\"\n\
                  case $1 in --version) echo 9.9;; *) echo '--json, --model --cd, --sandboxed';; esac";
    let workspace = with_program("codex", script);
    let fix = only(
        &workspace,
        "clients",
        "warn",
        "codex (9.9) does not know --skip-git-repo-check, --sandbox",
    );
    assert_eq!(fix, "codex exec --help");
    let asked = workspace.read("bin/asked");
    assert!(
        asked.starts_with("--version ") && asked.contains("\nexec --help "),
        "{asked}"
    );
    assert!(
        !asked.contains("tester") && !asked.contains("/home"),
        "its environment is its own: {asked}"
    );
}

#[test]
fn agent_program_that_knows_everything_is_well() {
    let all = "--output-format --approval-mode --skip-trust --model";
    let workspace = with_program("gemini", &format!("echo '1.0 {all}'"));
    assert_eq!(amiss(&workspace), []);
    let shown = workspace.ok("doctor");
    assert!(shown.stdout.contains("gemini (1.0 "), "{shown}");
}

#[test]
fn program_of_the_settings_is_the_one_that_is_asked() {
    let all = "--output-format --approval-mode --skip-trust --model";
    let elsewhere = with_program("my-gemini", &format!("echo '7.0 {all}'"));
    let program = elsewhere.path("bin/my-gemini");
    let program = program.to_str().unwrap();
    let named = |program: &str| {
        let workspace = with_program("gemini", "exit 3");
        workspace.env("CLEO_RUNNERS_PROGRAMS", &format!("gemini={program}"))
    };
    let workspace = named(program);
    assert_eq!(amiss(&workspace), []);
    assert!(workspace.ok("doctor").stdout.contains("gemini (7.0 "));
    let fix = only(
        &named("/no/such"),
        "clients",
        "warn",
        "has `/no/such` for gemini",
    );
    assert_eq!(fix, "cleo config get runners.programs");
}

#[test]
fn settings_of_runners_that_no_run_could_begin_with_are_found() {
    let workspace = workspace().env("CLEO_RUNNERS_BY_TIER", "1=nobody");
    only(&workspace, "runners", "fail", "there is no runner `nobody`");
}

#[test]
fn agent_program_that_fails_is_found() {
    let workspace = with_program("opencode", "exit 3");
    only(&workspace, "clients", "warn", "opencode failed");
}
