//! The manifest from outside: what is appended is whole and stays, what is faulty is named and
//! hides nothing, and a bad entry changes nothing.

use std::collections::BTreeSet;
use std::process::Command;
use std::{fs, thread};

use serde_json::{Value, json};

use crate::world::{TestWorkspace, assert_fields, column, says};

const MANIFEST: &str = "claudedocs/agent-outputs/MANIFEST.jsonl";

/// An entry that is linked to T3, as an agent writes it.
fn entry(id: &str) -> Value {
    json!({
        "id": id, "file": format!("{id}.md"), "title": "Token refresh", "date": "2026-01-26",
        "status": "complete", "topics": ["auth"],
        "key_findings": ["Tokens live an hour.", "It's & `$HOME`.", "{{DATE}} stays."],
        "actionable": true, "needs_followup": [], "linked_tasks": ["T3"],
    })
}

fn append(workspace: &TestWorkspace, text: &str) -> Value {
    workspace.json_with(&["manifest", "append"], text)
}

fn append_entry(workspace: &TestWorkspace, id: &str) {
    let reply = append(workspace, &entry(id).to_string());
    assert_eq!(reply["success"], true, "{reply}");
}

/// Returns the ids that `manifest list` shows.
fn list(workspace: &TestWorkspace, arguments: &[&str]) -> Vec<String> {
    let reply = workspace.json(&[&["manifest", "list"], arguments].concat());
    let entries = reply["result"]["entries"].as_array().unwrap();
    let id = |entry: &Value| entry["id"].as_str().unwrap().to_string();
    entries.iter().map(id).collect()
}

/// Returns line and code of everything that `manifest validate` names.
fn faults(workspace: &TestWorkspace) -> Vec<String> {
    let reply = workspace.ask("manifest validate");
    let faults = reply["result"]["faults"].as_array().unwrap();
    assert_eq!(reply["result"]["valid"], faults.is_empty());
    let fault = |fault: &Value| format!("{} {}", fault["line"], fault["code"].as_str().unwrap());
    faults.iter().map(fault).collect()
}

fn lines(workspace: &TestWorkspace) -> Vec<Value> {
    let text = workspace.read(MANIFEST);
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("torn: {line}"));
    // Beside writers that know of no lock an empty line may come between two.
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(parse).collect()
}

#[test]
fn entry_is_one_line_with_its_epic_its_author_and_its_time() {
    let workspace = TestWorkspace::with_plan();
    let mut given = entry("auth-2026-01-26");
    given["confidence"] = json!({"low": 1});
    let reply = append(&workspace, &serde_json::to_string_pretty(&given).unwrap());
    let lines = lines(&workspace);
    assert_eq!(lines.len(), 1);
    assert_eq!(reply["result"]["entry"], lines[0]);
    assert_eq!(lines[0]["linked_tasks"], json!(["T1", "T3"]));
    assert_eq!(lines[0]["created_by"], "tester");
    assert_eq!(lines[0]["created_at"], "2026-01-26T09:00:02.000Z");
    for (field, value) in given.as_object().unwrap() {
        let kept = field == "linked_tasks" || lines[0][field] == *value;
        assert!(kept, "{field} was changed");
    }
    let shown = workspace.ask("manifest show auth-2026-01-26");
    assert_eq!(shown["result"]["entry"], lines[0]);
    assert_eq!(shown["result"]["line"], 1);
}

#[test]
fn entry_can_be_given_as_options() {
    let workspace = TestWorkspace::with_plan();
    let reply = workspace.cleo(
        "manifest append --id auth --file auth.md --title 'Token refresh' --topic auth,tokens \
         --finding 'One, with comma.' --finding Two. --finding Three. --actionable \
         --followup T4 --followup 'BLOCKED:no key, no door' --task T3 --skill ct-research-agent",
    );
    insta::assert_snapshot!(reply, @r"
    exit: 0
    --- stdout
    appended auth  complete
         linked to  T1, T3
    --- stderr
    ");
    insta::assert_snapshot!(workspace.cleo("manifest show auth"), @r"
    exit: 0
    --- stdout
    auth complete  Token refresh
              file  auth.md
              date  2026-01-26
            topics  auth, tokens
             tasks  T1, T3
         follow-up  T4, BLOCKED:no key, no door
        actionable  yes
             skill  ct-research-agent
       appended by  tester
       appended at  2026-01-26T09:00:02.000Z

    Findings
      - One, with comma.
      - Two.
      - Three.
              line  1
    --- stderr
    ");
}

#[test]
fn entry_of_options_is_not_read_from_stdin() {
    let workspace = TestWorkspace::with_plan();
    let words = ["manifest", "append", "--task", "T4"];
    for text in ["", &entry("a").to_string()] {
        let reply = workspace.json_with(&words, text);
        assert_eq!(reply["error"]["code"], "E_ENTRY_INVALID", "{reply}");
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains("id is missing"), "{message}");
        assert!(!message.contains("date is missing"), "{message}");
    }
}

#[test]
fn dry_run_checks_and_writes_nothing() {
    let workspace = TestWorkspace::with_plan();
    append_entry(&workspace, "a");
    let before = workspace.state();
    for (id, exit) in [("b", 0), ("a", 101)] {
        let command = workspace.command(&["manifest", "append", "--dry-run"]);
        let reply = workspace.finish(command, &entry(id).to_string());
        assert_eq!(reply.exit, exit, "{reply}");
    }
    assert_eq!(workspace.state(), before);
}

#[test]
fn bad_entry_names_every_fault() {
    let workspace = TestWorkspace::with_plan();
    let before = workspace.state();
    let mut bad = entry("two words");
    for (field, value) in [
        ("file", json!("../../etc/passwd")),
        ("title", json!("<title>")),
        ("date", json!("2026-02-30")),
        ("status", json!("done")),
        ("topics", json!("auth")),
        ("key_findings", json!(["<fact>", 2])),
        ("actionable", json!(null)),
        ("needs_followup", json!(["T98", "soon"])),
        ("linked_tasks", json!(["T3", "T99", "X"])),
        ("created_at", json!("now")),
    ] {
        bad[field] = value;
    }
    let reply = append(&workspace, &bad.to_string());
    assert_eq!(reply["error"]["code"], "E_ENTRY_INVALID");
    assert_eq!(reply["error"]["exitCode"], 6);
    let message = reply["error"]["message"].as_str().unwrap();
    for fault in [
        "id is `two words`",
        "file is `../../etc/passwd`, which leads out",
        "title is `<title>`, which is still to be replaced",
        "date is `2026-02-30`, no date",
        "status is `done`, not one of complete, partial, blocked, archived",
        "topics is a text",
        "key_findings holds `<fact>`",
        "key_findings holds a number",
        "actionable is missing",
        "needs_followup holds `soon`",
        "needs_followup holds T98, which does not exist",
        "linked_tasks holds `X`",
        "linked_tasks holds T99, which does not exist",
        "created_at is `now`",
    ] {
        assert!(message.contains(fault), "{fault} is not in: {message}");
    }
    assert_eq!(workspace.state(), before);
}

#[test]
fn what_is_no_entry_is_refused_with_exit_6() {
    let workspace = TestWorkspace::with_plan();
    let two = format!("{}\n{}", entry("a"), entry("b"));
    let unfilled = entry("a").to_string().replace("true", "<true|false>");
    for (text, message) in [
        ("", "entry is empty"),
        ("[]", "entry is JSON but no object"),
        ("{\"id\":", "entry ends in the middle"),
        (&two, "trailing characters at line 2 column 1"),
        (&unfilled, "holds `<true|false>`"),
    ] {
        let reply = append(&workspace, text);
        assert_eq!(reply["error"]["exitCode"], 6, "{reply}");
        says(&reply, message);
    }
    assert!(!workspace.path(MANIFEST).exists());
}

#[test]
fn command_of_protocol_is_refused_until_filled_in() {
    let workspace = TestWorkspace::with_plan();
    let prompt = workspace.ask("spawn T3")["result"]["prompt"]
        .as_str()
        .unwrap()
        .to_string();
    let (_, rest) = prompt.split_once("```sh\ncleo manifest append").unwrap();
    let command = format!("cleo manifest append{}", rest.split_once("```").unwrap().0);
    assert_eq!(workspace.shell(&command).exit, 6);
    let filled = command
        .replace("<title>", r#"It'\''s "done" & $HOME"#)
        .replace("<complete|partial|blocked>", "complete")
        .replace("'<fact>'", "One. --finding Two. --finding Three.");
    let reply = workspace.shell(&filled);
    assert_eq!(reply.exit, 0, "{reply}");
    let entry = &lines(&workspace)[0];
    assert_eq!(entry["title"], "It's \"done\" & $HOME");
    assert_eq!(entry["linked_tasks"], json!(["T1", "T3"]));
    assert_eq!(
        workspace.shell(&filled).exit,
        101,
        "a second attempt finds the line there"
    );
}

#[test]
fn duplicate_exits_with_101() {
    let workspace = TestWorkspace::with_plan();
    append_entry(&workspace, "auth");
    let before = workspace.state();
    let reply = append(&workspace, &entry("auth").to_string());
    let error = &reply["error"];
    assert_fields(error, json!({"code": "E_EXISTS", "exitCode": 101}));
    assert_eq!(error["message"], "the manifest has auth already, in line 1");
    assert_eq!(error["fix"], "cleo manifest show auth");
    assert_eq!(workspace.shell("cleo manifest show auth").exit, 0);
    assert_eq!(workspace.state(), before);
}

#[test]
fn entry_that_lacks_little_is_corrected_as_whole() {
    let workspace = TestWorkspace::with_plan();
    let mut bad = entry("auth-2026-01-26");
    bad["status"] = json!("complet");
    bad.as_object_mut().unwrap().remove("needs_followup");
    let reply = append(&workspace, &bad.to_string());
    assert_eq!(reply["error"]["code"], "E_ENTRY_INVALID");
    bad["status"] = json!("done");
    let reply = append(&workspace, &bad.to_string());
    assert_eq!(
        reply["error"]["alternatives"][0]["command"],
        "cleo manifest append --help"
    );
}

#[test]
fn what_is_no_entry_is_moved_out_of_manifest_by_fix() {
    let workspace = TestWorkspace::with_plan();
    let good = entry("a").to_string();
    workspace.write(MANIFEST, format!("{good}\nI am done!\n"));
    let error = workspace.ask("manifest validate")["error"].clone();
    assert_eq!(error["fix"], "cleo manifest compact");
    workspace.write(MANIFEST, format!("{good}\nI am done!\n{{\"id\":\"b\"}}\n"));
    let error = workspace.ask("manifest validate")["error"].clone();
    let fix = error["fix"].as_str().unwrap();
    assert!(fix.starts_with("sed -n 3p "), "{fix}");
    assert_eq!(workspace.shell(fix).stdout, "{\"id\":\"b\"}\n");
    let compact = &error["alternatives"][0]["command"];
    assert_eq!(compact, "cleo manifest compact");
    assert_eq!(workspace.shell("cleo manifest compact").exit, 0);
}

#[test]
fn invalid_lines_are_named_by_number() {
    let workspace = TestWorkspace::with_plan();
    let good = |id: &str| entry(id).to_string();
    let short = good("short").replace("\"It's & `$HOME`.\",", "");
    let lost = good("lost").replace("T3", "T99");
    let text = [
        good("a"),
        good("torn")[..80].to_string(),
        good("b"),
        "I am done!".to_string(),
        good("a"),
        short,
        lost,
        String::new(),
        format!("{}{}", &good("glued")[..60], good("c")),
        good("d"),
    ];
    workspace.write(MANIFEST, text.join("\n"));
    let expected = [
        "2 E_LINE_TORN",
        "4 E_LINE_FOREIGN",
        "5 E_LINE_DUPLICATE",
        "6 E_ENTRY_INVALID",
        "7 E_TASK_NOT_FOUND",
        "9 E_LINE_TORN",
    ];
    assert_eq!(faults(&workspace), expected);
    let reply = workspace.fails("manifest validate", "E_MANIFEST_INVALID");
    assert_eq!(reply["error"]["exitCode"], 6);
    assert_eq!(reply["result"]["entries"], 5);
    assert_eq!(list(&workspace, &[]), ["a", "b", "lost", "c", "d"]);
    assert_eq!(list(&workspace, &["--limit", "2"]), ["c", "d"]);
    assert_eq!(list(&workspace, &["--task", "T99"]), ["lost"]);
    let warnings = workspace.ask("manifest list")["warnings"].clone();
    assert_eq!(
        warnings[0],
        "manifest line 2: the line is torn: it ends inside of an entry"
    );
    for (id, code, exit) in [
        ("torn", "E_ENTRY_INVALID", 6),
        ("short", "E_ENTRY_INVALID", 6),
        ("lost", "E_ENTRY_INVALID", 6),
        ("none", "E_ENTRY_MISSING", 62),
    ] {
        let reply = workspace.json(&["verify", "manifest", id]);
        assert_eq!(reply["error"]["code"], code, "{reply}");
        assert_eq!(reply["error"]["exitCode"], exit, "{reply}");
    }
    assert_eq!(
        workspace.ask("verify manifest c")["result"]["verdict"],
        "pass"
    );
    assert_eq!(workspace.ask("verify manifest")["error"]["exitCode"], 6);
    let torn = workspace.ask("manifest show torn");
    assert_eq!(torn["error"]["exitCode"], 4);
    says(&torn, "line 2");
}

#[test]
fn empty_and_missing_manifest_are_valid() {
    let workspace = TestWorkspace::with_plan();
    for _ in 0..2 {
        let reply = workspace.ask("manifest validate");
        assert_eq!(
            reply["result"],
            json!({"entries": 0, "faults": [], "valid": true})
        );
        assert_eq!(list(&workspace, &[]), [] as [&str; 0]);
        assert_eq!(
            workspace.ask("verify manifest")["result"]["verdict"],
            "pass"
        );
        workspace.write(MANIFEST, "");
    }
}

#[test]
fn torn_tail_gets_its_end() {
    let workspace = TestWorkspace::with_plan();
    let torn = entry("torn").to_string()[..100].to_string();
    workspace.write(MANIFEST, &torn);
    let reply = append(&workspace, &entry("a").to_string());
    says(&reply["warnings"][0], "had no end");
    assert!(workspace.read(MANIFEST).starts_with(&format!("{torn}\n{{")));
    assert_eq!(list(&workspace, &[]), ["a"]);
    assert_eq!(faults(&workspace), ["1 E_LINE_TORN"]);
}

#[test]
fn lists_are_filtered_by_task_status_and_topic() {
    let workspace = TestWorkspace::with_plan();
    for (id, status, topic, task) in [
        ("a", "complete", "Auth", "T3"),
        ("b", "blocked", "ui", "T2"),
        ("c", "partial", "auth", "T2"),
    ] {
        let mut entry = entry(id);
        entry["status"] = json!(status);
        entry["topics"] = json!([topic]);
        entry["linked_tasks"] = json!([task]);
        assert_eq!(append(&workspace, &entry.to_string())["success"], true);
    }
    for (arguments, expected) in [
        (vec![], vec!["a", "b", "c"]),
        (vec!["--task", "T2"], vec!["b", "c"]),
        (vec!["--task", "T1"], vec!["a", "b", "c"]),
        (vec!["--topic", "AUTH"], vec!["a", "c"]),
        (vec!["--status", "blocked"], vec!["b"]),
        (vec!["--limit", "2"], vec!["b", "c"]),
        (vec!["--limit", "0"], vec![]),
        (vec!["--task", "T5"], vec![]),
    ] {
        assert_eq!(list(&workspace, &arguments), expected, "{arguments:?}");
    }
    let limited = workspace.ask("manifest list --limit 1");
    assert_eq!(limited["result"]["total"], 3);
    insta::assert_snapshot!(workspace.cleo("manifest list --limit 2"), @r"
    exit: 0
    --- stdout
    ID  STATUS   TASKS   TITLE
    b   blocked  T1, T2  Token refresh
    c   partial  T1, T2  Token refresh
    the newest 2 of 3
    --- stderr
    ");
}

#[test]
fn unknown_entry_comes_with_nearest_one() {
    let workspace = TestWorkspace::with_plan();
    let reply = workspace.ask("manifest show auth");
    assert_eq!(reply["error"]["fix"], "cleo manifest list");
    append_entry(&workspace, "auth-2026-01-26");
    for command in [
        vec!["manifest", "show"],
        vec!["research", "show"],
        vec!["research", "link", "T4"],
    ] {
        let reply = workspace.json(&[command.clone(), vec!["auth-2026-01-25"]].concat());
        assert_eq!(reply["error"]["code"], "E_ENTRY_NOT_FOUND");
        assert_eq!(reply["error"]["exitCode"], 4);
        says(&reply, "did you mean `auth-2026-01-26`?");
        assert_eq!(reply["error"]["fix"], "cleo manifest list");
    }
}

#[test]
fn links_are_in_entry_and_in_store() {
    let workspace = TestWorkspace::with_plan();
    append_entry(&workspace, "auth");
    for created in [true, false] {
        let reply = workspace.ask("research link T4 auth");
        let expected = json!({"task": "T4", "entry": "auth", "created": created});
        assert_eq!(reply["result"], expected);
    }
    workspace.ask("research link T3 auth");
    for (task, sources) in [
        ("T1", json!(["entry"])),
        ("T3", json!(["entry", "store"])),
        ("T4", json!(["store"])),
    ] {
        let reply = workspace.json(&["research", "links", task]);
        assert_eq!(reply["result"]["links"][0]["entry"], "auth");
        assert_eq!(reply["result"]["links"][0]["sources"], sources, "{task}");
        assert_eq!(reply["result"]["total"], 1);
        for list in ["research", "manifest"] {
            let listed = workspace.json(&[list, "list", "--task", task]);
            assert_eq!(listed["result"]["entries"][0]["id"], "auth", "{list}");
        }
    }
    // A dependent task gets the findings.
    let added = workspace.ask("add 'Build on it' --depends T4");
    let task = added["result"]["task"]["id"].as_str().unwrap();
    let spawned = workspace.json(&["spawn", task, "--dry-run"]);
    says(&spawned["result"]["prompt"], "(auth)");
    let shown = workspace.ask("research show auth");
    let tasks = column(&shown["result"]["tasks"], "id");
    assert_eq!(tasks, ["T1", "T3", "T4"]);
    assert_eq!(workspace.ask("research links T2")["result"]["total"], 0);
    assert_eq!(
        workspace.ask("research link T99 auth")["error"]["exitCode"],
        4
    );
    assert_eq!(workspace.ask("research links T99")["error"]["exitCode"], 4);
    fs::remove_file(workspace.path(MANIFEST)).unwrap();
    let lost = workspace.ask("research links T4");
    assert_eq!(lost["result"]["links"][0]["title"], Value::Null);
}

#[test]
fn message_is_allowed_to_letter_or_exits_with_61() {
    let workspace = TestWorkspace::bare();
    let allowed = "Testing blocked. See MANIFEST.jsonl for blocker details.";
    let reply = workspace.json(&["verify", "message", allowed]);
    assert_eq!(reply["result"]["verdict"], "pass");
    assert_eq!(reply["result"]["status"], "blocked");
    for text in [
        "",
        "done",
        &format!("{allowed}\n"),
        &format!(" {allowed}"),
        &allowed[1..],
        "-- x",
    ] {
        let reply = workspace.json(&["verify", "message", text]);
        assert_eq!(reply["error"]["code"], "E_RETURN_MESSAGE", "{text:?}");
        assert_eq!(reply["error"]["exitCode"], 61, "{text:?}");
        says(&reply, "allowed are `");
    }
}

#[test]
fn manifest_that_leads_out_of_workspace_is_refused() {
    let workspace = TestWorkspace::with_plan();
    let outside = workspace.path("../outside.jsonl");
    fs::write(&outside, "").unwrap();
    std::os::unix::fs::symlink(&outside, workspace.path(MANIFEST)).unwrap();
    for reply in [
        append(&workspace, &entry("a").to_string()),
        workspace.ask("manifest list"),
        workspace.ask("verify manifest"),
    ] {
        assert_eq!(
            reply["error"]["code"], "E_PATH_OUTSIDE_WORKSPACE",
            "{reply}"
        );
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), "");
}

#[test]
fn eight_processes_beside_shell_loop_lose_and_tear_nothing() {
    let workspace = TestWorkspace::with_plan();
    let shell = "i=0; while [ $i -lt 100 ]; do i=$((i+1)); printf '%s\\n' \
         \"$(printf %s \"$ENTRY\" | sed \"s/ID/shell-$i/g\")\" >> \"$MANIFEST\"; done";
    thread::scope(|scope| {
        let mut writer = workspace.surround(Command::new("sh"));
        writer
            .args(["-c", shell])
            .env("ENTRY", entry("ID").to_string())
            .env("MANIFEST", workspace.path(MANIFEST));
        scope.spawn(move || assert!(writer.status().unwrap().success()));
        for process in 0..8 {
            let workspace = &workspace;
            scope.spawn(move || {
                for number in 0..20 {
                    append_entry(workspace, &format!("cleo-{process}-{number}"));
                }
            });
        }
    });
    let found = lines(&workspace);
    let ids: BTreeSet<&str> = found
        .iter()
        .map(|line| line["id"].as_str().unwrap())
        .collect();
    assert_eq!((found.len(), ids.len()), (260, 260));
    for process in 0..8 {
        for number in 0..20 {
            assert!(ids.contains(format!("cleo-{process}-{number}").as_str()));
        }
    }
    assert_eq!(faults(&workspace), [] as [&str; 0]);
}

#[test]
fn entry_of_a_prompt_is_linked_to_its_task() {
    let workspace = TestWorkspace::new();
    for title in ["One", "Two"] {
        workspace.ok(&format!("add {title}"));
    }
    workspace.ok("spawn T1 T2");
    workspace.ok("spawn T2 --again");
    for id in ["two-2026-01-26", "one-2026-01-26-2"] {
        let mut other = entry(id);
        other["linked_tasks"] = json!(["T1"]);
        let error = append(&workspace, &other.to_string())["error"].clone();
        let is_of_two = id.starts_with("two");
        assert_eq!(
            error["code"] == "E_ENTRY_INVALID",
            is_of_two,
            "{id} {error}"
        );
    }
}

#[test]
fn of_many_that_append_one_id_one_succeeds() {
    let workspace = TestWorkspace::with_plan();
    let text = entry("the-one").to_string();
    let append = || {
        let command = workspace.command(&["manifest", "append"]);
        workspace.finish(command, &text).exit
    };
    let mut exits: Vec<i32> = thread::scope(|scope| {
        let running: Vec<_> = (0..8).map(|_| scope.spawn(append)).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    exits.sort_unstable();
    assert_eq!(exits, [0, 101, 101, 101, 101, 101, 101, 101]);
    assert_eq!(lines(&workspace).len(), 1);
}

#[test]
fn unknown_fields_keep_every_byte_of_their_values() {
    let workspace = TestWorkspace::with_plan();
    let known = entry("one").to_string();
    let extra = r#""big":18446744073709551617,"version":1.10,"deep":{"a":[1E5,-0],"u":"\u00e9"}"#;
    let text = format!("{},{extra}}}", known.trim_end_matches('}'));
    assert_eq!(append(&workspace, &text)["success"], true);
    assert!(
        workspace.read(MANIFEST).contains(extra),
        "{}",
        workspace.read(MANIFEST)
    );
    let pretty = text
        .replace("[1E5,-0]", "[\n 1E5,\r\n -0\n]")
        .replace("\"one\"", "\"two\"");
    assert_eq!(append(&workspace, &pretty)["success"], true);
    let on_one_line = extra.replace("[1E5,-0]", "[  1E5,   -0 ]");
    assert!(workspace.read(MANIFEST).contains(&on_one_line));
    let shown = workspace.shell("CLEO_FORMAT=json cleo research show two");
    assert!(shown.stdout.contains("18446744073709551617"), "{shown}");
    for bad in [
        r#""\ud800""#.to_string(),
        "[".repeat(200) + &"]".repeat(200),
    ] {
        let text = format!("{},\"x\":{bad}}}", known.trim_end_matches('}'));
        assert_eq!(
            append(&workspace, &text)["error"]["code"],
            "E_ENTRY_INVALID"
        );
    }
}
