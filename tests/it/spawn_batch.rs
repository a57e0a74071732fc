//! Prompts for many tasks in one process: one that fails does not lose the others.

use std::collections::BTreeSet;
use std::thread;

use serde_json::{Value, json};

use crate::world::{FORGED, Reply, TestWorkspace, add, assert_fields, column, document, says};

fn count_recorded(workspace: &TestWorkspace) -> i64 {
    let connection = rusqlite::Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let counted = connection.query_row("SELECT count(*) FROM spawns", (), |row| row.get(0));
    counted.unwrap()
}

fn ndjson(workspace: &TestWorkspace, arguments: &[&str]) -> Reply {
    let arguments = [arguments, &["--format", "ndjson"]].concat();
    workspace.finish(workspace.command(&arguments), "")
}

#[test]
fn several_tasks_give_one_document_with_prompt_for_each() {
    let workspace = TestWorkspace::with_plan();
    let batch = workspace.ask("orchestrator spawn T2 T3 T2");
    assert_eq!(batch["command"], "orchestrator.spawn");
    let result = &batch["result"];
    assert_eq!(
        column(&result["spawns"], "taskId"),
        ["T2", "T3"],
        "each counts once"
    );
    assert_fields(result, json!({"total": 2, "failed": []}));
    assert_eq!(batch["warnings"], json!(["T3 depends on T2, not done yet"]));
    for (row, task) in [(0, "T2"), (1, "T3")] {
        let alone = workspace.json(&["spawn", task]);
        assert_eq!(
            result["spawns"][row], alone["result"],
            "as when it is spawned alone"
        );
        assert_eq!(workspace.json(&["why", task])["result"]["reproduced"], true);
    }
    assert_eq!(
        count_recorded(&workspace),
        2,
        "the same prompt is kept once"
    );
}

#[test]
fn one_bad_task_is_named() {
    let workspace = TestWorkspace::with_plan();
    let batch = workspace.ask("spawn T2 T9 T3 T8 --strict --date 2026-02-01");
    let (result, error) = (&batch["result"], &batch["error"]);
    assert_fields(error, json!({"code": "E_STEPS_FAILED", "exitCode": 81}));
    assert_eq!(
        error["message"],
        "2 of 4 prompts could not be prepared: there is no task T9; there is no task T8"
    );
    assert_eq!(error["fix"], "cleo list", "the same would fail again");
    assert_eq!(column(&result["spawns"], "taskId"), ["T2", "T3"]);
    assert_eq!(result["total"], 2);
    assert_eq!(column(&result["failed"], "taskId"), ["T9", "T8"]);
    assert_eq!(result["failed"][0]["error"]["code"], "E_TASK_NOT_FOUND");
    assert_eq!(result["failed"][0]["error"]["exitCode"], 4);
    assert_eq!(count_recorded(&workspace), 2);
    let text = workspace.text("spawn T2 T9", "");
    assert_eq!(text.exit, 81);
    insta::assert_snapshot!(text);
}

#[test]
fn batch_in_which_all_fail_is_still_one_whose_steps_failed() {
    let workspace = TestWorkspace::with_plan();
    let before = workspace.state();
    let batch = workspace.ask("spawn T8 T9");
    assert_eq!(batch["error"]["exitCode"], 81);
    assert_eq!(batch["result"]["spawns"], json!([]));
    assert_eq!(workspace.state(), before);
    let alone = workspace.fails("spawn T9", "E_TASK_NOT_FOUND");
    assert!(alone.get("result").is_none());
}

#[test]
fn common_problem_is_one_error() {
    let workspace = TestWorkspace::with_plan();
    let before = workspace.state();
    for (arguments, code) in [
        (vec!["--template", "no-such-skill"], "E_SKILL_NOT_FOUND"),
        (vec!["--date", "2026-02-30"], "E_TOKEN_INVALID"),
    ] {
        let command = [&["spawn", "T2", "T3"], arguments.as_slice()].concat();
        let batch = workspace.json(&command);
        assert_eq!(batch["error"]["code"], code);
        assert!(batch.get("result").is_none());
    }
    assert_eq!(workspace.state(), before);
}

#[test]
fn prompt_without_its_protocol_fails_alone() {
    let workspace = TestWorkspace::with_plan().with(
        "skills/bare/SKILL.md",
        "---\nname: bare\ndescription: Brings a protocol of its own.\nmetadata:\n  cleo-tags: bare\n  cleo-protocol: own\n---\nNothing.\n",
    );
    workspace.ok("update T3 --label bare");
    let batch = workspace.ask("spawn T2 T3");
    assert_eq!(column(&batch["result"]["spawns"], "taskId"), ["T2"]);
    let failed = &batch["result"]["failed"][0]["error"];
    assert_eq!(failed["exitCode"], 60);
    let fixed = workspace.shell(failed["fix"].as_str().unwrap());
    assert_eq!(fixed.exit, 0, "{fixed}");
}

#[test]
fn prompts_that_all_lack_protocol_get_it_by_one_command() {
    let workspace = TestWorkspace::with_plan().with(
        "skills/bare/SKILL.md",
        "---\nname: bare\ndescription: x\nmetadata:\n  cleo-protocol: own\n---\nNothing.\n",
    );
    let words = "spawn T2 T3 --template bare --strict --dry-run --date 2026-02-01";
    let batch = workspace.ask(words);
    assert_eq!(batch["error"]["exitCode"], 81);
    let fix = batch["error"]["fix"].as_str().unwrap();
    let fixed = workspace.shell(fix);
    assert_eq!(fixed.exit, 0, "{fix}\n{fixed}");
    assert!(fixed.stdout.contains("2 prompts"), "{fixed}");
    assert_eq!(count_recorded(&workspace), 0, "a dry run stays one");
}

#[test]
fn first_wave_keeps_tasks_with_same_files_apart() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add 'One way' --parent T1 --file a.rs --priority critical");
    workspace.ok("add 'Another way' --parent T1 --file a.rs");
    let command = "orchestrator spawn --dry-run --epic T1 --wave 0 --json";
    let batch: Value = serde_json::from_str(&workspace.ok(command).stdout).unwrap();
    assert_eq!(column(&batch["result"]["spawns"], "taskId"), ["T6", "T2"]);
}

#[test]
fn wave_is_what_is_ready_and_later_waves_go_by_number() {
    let workspace = TestWorkspace::with_plan();
    let ids = |arguments: &[&str]| {
        let command = [&["orchestrator", "spawn", "--dry-run"], arguments].concat();
        let batch = workspace.json(&command);
        let ids = column(&batch["result"]["spawns"], "taskId");
        ids.iter().map(|id| id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--epic", "T1", "--wave"]), ["T2"]);
    assert_eq!(ids(&["--epic", "T1"]), ["T2"]);
    assert_eq!(ids(&["--epic", "T1", "--wave", "0"]), ["T2"]);
    assert_eq!(ids(&["--epic", "T1", "--wave", "1"]), ["T3", "T5"]);
    assert_eq!(
        ids(&["--epic", "T1", "--wave", "1", "--limit", "1"]),
        ["T3"]
    );
    workspace.ok("complete T2");
    assert_eq!(
        ids(&["--epic", "T1", "--wave"]),
        ["T3", "T5"],
        "most urgent first"
    );
    workspace.ok("start T3");
    assert_eq!(
        ids(&["--epic", "T1", "--wave"]),
        ["T5"],
        "T3 is in somebody's hands"
    );
    workspace.ok("start T5");
    assert_eq!(ids(&["--epic", "T1", "--wave"]), [] as [&str; 0]);
    assert_eq!(count_recorded(&workspace), 0, "a dry run records nothing");
    let none = workspace.ask("orchestrator spawn --epic T1 --wave 7");
    assert_eq!(none["error"]["message"], "T1 has no wave 7; its last is 1");
    workspace.fails("orchestrator spawn --epic T77 --wave", "E_TASK_NOT_FOUND");
    for wrong in [
        &["spawn"][..],
        &["spawn", "--wave"],
        &["spawn", "T1", "--epic", "T1"],
    ] {
        assert_eq!(workspace.json(wrong)["error"]["exitCode"], 2);
    }
}

#[test]
fn what_touches_files_of_others_is_left_out_of_wave() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Build --type epic");
    workspace.ok("add 'All of it' --parent T1 --file 'src/**'");
    workspace.ok("add 'One file' --parent T1 --file src/b.rs");
    workspace.ok("add Docs --parent T1 --file docs");
    let start = || workspace.ask("orchestrator start")["result"]["recommended"].clone();
    let wave = || {
        let batch = workspace.ask("spawn --epic T1 --wave --dry-run");
        let ids = column(&batch["result"]["spawns"], "taskId").join(" ");
        (ids, batch["warnings"][0].clone())
    };
    let left_out = json!("T3 was left out: T2 touches its files too: src/b.rs");
    assert_eq!(wave(), ("T2 T4".to_string(), left_out.clone()));
    assert_eq!(start()["command"], "cleo orchestrator spawn T2 T4");
    workspace.ok("start T2");
    assert_eq!(wave(), ("T4".to_string(), left_out), "it is in progress");
    assert_eq!(start()["command"], "cleo spawn T4");
    workspace.ok("start T4");
    assert_eq!(wave().0, "");
    assert_eq!(start()["action"], "wait");
    workspace.ok("complete T2");
    assert_eq!(wave(), ("T3".to_string(), json!(null)));
}

#[test]
fn as_json_lines_each_prompt_is_line_and_last_sums_up() {
    let workspace = TestWorkspace::with_plan();
    let reply = ndjson(&workspace, &["spawn", "T2", "T9", "T3"]);
    assert_eq!(reply.exit, 81, "{reply}");
    let lines = reply.documents();
    assert_eq!(lines.len(), 3);
    for (line, task) in lines.iter().zip(["T2", "T3"]) {
        assert_eq!(line["success"], true);
        assert_eq!(line["result"]["taskId"], task);
        says(&line["result"]["prompt"], "SUBAGENT PROTOCOL");
    }
    let last = &lines[2];
    assert_eq!(last["result"]["total"], 2);
    assert_eq!(column(&last["result"]["failed"], "taskId"), ["T9"]);
    assert_eq!(last["error"]["fix"], "cleo list");
    let alone = ndjson(&workspace, &["spawn", "T2"]);
    assert_eq!(
        document(&alone)["result"]["taskId"],
        "T2",
        "one task is one document"
    );
    let good = ndjson(&workspace, &["spawn", "--epic", "T1", "--wave"]);
    assert_eq!((good.exit, good.stdout.lines().count()), (0, 2), "{good}");
}

#[test]
fn same_titles_get_separate_files_also_in_dry_run() {
    let workspace = TestWorkspace::new();
    let same = json!({"title": "Look into it", "labels": ["research"]});
    add(&workspace, &vec![same; 102]);
    let spawn = |count: u32, more: &[&str]| {
        let ids: Vec<String> = (1..=count).map(|id| format!("T{id}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let command = [&["spawn"], ids.as_slice(), more].concat();
        let spawns = workspace.json(&command)["result"]["spawns"].clone();
        spawns.as_array().unwrap().clone()
    };
    let dry = spawn(9, &["--dry-run"]);
    assert_eq!(count_recorded(&workspace), 0);
    let kept = spawn(102, &[]);
    assert_eq!(kept[..9], dry, "what a dry run says comes true");
    for name in ["outputFile", "manifestId"] {
        let names: BTreeSet<&str> = kept.iter().map(|one| one[name].as_str().unwrap()).collect();
        assert_eq!(names.len(), 102, "{name}");
    }
    assert_eq!(
        count_recorded(&workspace),
        102,
        "also beyond what one transaction takes"
    );
}

#[test]
fn names_in_manifest_are_met_by_no_prompt_of_batch() {
    let entry = |id: &str, file: &str| {
        format!(
            "{{\"id\":\"{id}\",\"file\":\"{file}\",\"title\":\"t\",\"date\":\"2026-01-26\",\"status\":\"partial\",\"topics\":[\"x\"],\"key_findings\":[],\"actionable\":true,\"needs_followup\":[],\"linked_tasks\":[\"T1\"]}}\n"
        )
    };
    let workspace = TestWorkspace::new().with(
        "claudedocs/agent-outputs/MANIFEST.jsonl",
        entry("first-2026-01-26", "elsewhere.md") + &entry("x", "2026-01-26_second.md"),
    );
    add(
        &workspace,
        &[json!({"title": "First"}), json!({"title": "Second"})],
    );
    let batch = workspace.ask("spawn T1 T2");
    let spawns = &batch["result"]["spawns"];
    assert_eq!(
        column(spawns, "manifestId"),
        ["first-2026-01-26-2", "second-t2-2026-01-26"]
    );
}

#[test]
fn hostile_titles_break_no_line_and_no_neighbor() {
    let workspace = TestWorkspace::new();
    let hostile = [
        "{{DATE}} & \\1 $0 \"q\" 'q' | SUBAGENT PROTOCOL OUT-001",
        "../../etc/passwd",
        "\u{1f680}\u{301}",
        "--force-inject",
    ];
    let tasks = hostile.map(|title| json!({"title": title, "description": FORGED}));
    add(&workspace, &tasks);
    let reply = ndjson(&workspace, &["spawn", "T1", "T2", "T3", "T4", "--strict"]);
    assert_eq!(reply.exit, 0, "{reply}");
    for line in &reply.documents()[..4] {
        let file = line["result"]["outputFile"].as_str().unwrap();
        let name = file
            .strip_prefix("claudedocs/agent-outputs/2026-01-26_")
            .unwrap();
        assert!(!name.contains(['/', ' ', '.']) || name.ends_with(".md") && !name.contains('/'));
    }
}

#[test]
fn processes_that_spawn_same_batch_agree() {
    let workspace = TestWorkspace::new();
    let tasks: Vec<Value> = (0..40)
        .map(|n| json!({"title": format!("Part {}", n % 5)}))
        .collect();
    add(&workspace, &tasks);
    let ids: Vec<String> = (1..=40).map(|id| format!("T{id}")).collect();
    let spawn = || {
        let command: Vec<&str> = ["spawn", "--date", "2026-01-26"]
            .into_iter()
            .chain(ids.iter().map(String::as_str))
            .collect();
        let mut spawns = workspace.json(&command)["result"]["spawns"].clone();
        spawns.as_array_mut().unwrap().iter_mut().for_each(|one| {
            one.as_object_mut()
                .unwrap()
                .retain(|name, _| name != "warnings");
        });
        spawns
    };
    let answers: Vec<Value> = thread::scope(|scope| {
        let running: Vec<_> = (0..4).map(|_| scope.spawn(spawn)).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(count_recorded(&workspace), 40);
}
