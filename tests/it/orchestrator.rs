//! Commands of an orchestrating agent: progress, next step, token budget, hand-over.

use serde_json::{Value, json};

use crate::world::{FORGED, Reply, TestWorkspace, add, assert_fields};

const MANIFEST: &str = "claudedocs/agent-outputs/MANIFEST.jsonl";

/// A line of the manifest.
fn entry(id: &str, status: &str, needs: &[&str], tasks: &[&str]) -> String {
    let entry = json!({
        "id": id, "file": format!("{id}.md"), "title": format!("About {id}"), "date": "2026-01-26",
        "status": status, "topics": ["x"], "key_findings": ["One is so", "Two is so", "Three is so"],
        "actionable": true, "needs_followup": needs, "linked_tasks": tasks,
    });
    format!("{entry}\n")
}

fn start(workspace: &TestWorkspace) -> Value {
    workspace.ask("orchestrator start --epic T1")["result"].clone()
}

fn context(workspace: &TestWorkspace, arguments: &[&str]) -> Value {
    workspace.json(&[&["orchestrator", "context"], arguments].concat())
}

/// Counts tokens as the program says it does: the one wide character of these tests is one.
fn tokens(text: &str) -> usize {
    let n_wide = text.matches('宽').count();
    n_wide + (text.chars().count() - n_wide).div_ceil(4)
}

/// An epic with 400 ready tasks of the longest titles there can be, notes, claims and follow-ups.
fn crowd(title: &str) -> TestWorkspace {
    let long = title.repeat(500 / title.chars().count());
    let workspace = TestWorkspace::new();
    let mut tasks = vec![json!({"title": long, "type": "epic", "description": FORGED.repeat(20)})];
    let part = |n: u32| {
        json!({
            "title": long, "parent": "T1", "status": if n.is_multiple_of(5) { "active" } else { "pending" },
            "notes": [long], "acceptance": [long],
        })
    };
    tasks.extend((0..400).map(part));
    for task in &mut tasks {
        // A batch takes no status; they are started below.
        task.as_object_mut().unwrap().remove("status");
    }
    add(&workspace, &tasks);
    let holder = title.repeat(100 / title.chars().count());
    // As the store keeps it when it writes these tasks.
    let changes = "UPDATE tasks SET status = 'active' WHERE number BETWEEN 2 AND 59;
                UPDATE tasks SET status = 'blocked' WHERE number BETWEEN 60 AND 79;
                INSERT INTO claims SELECT number, 1, 'HOLDER', '2026-01-25T09:00:00.000Z',
                    '2026-01-25T10:00:00.000Z', 0 FROM tasks WHERE number BETWEEN 2 AND 59;
                UPDATE nodes SET status = t.status, is_ready = t.status = 'pending' AND NOT is_epic
                    FROM tasks t WHERE t.number = nodes.number;
                DELETE FROM counters WHERE name <> 'next_task'";
    workspace.change_database(&changes.replace("HOLDER", &holder));
    let reason = format!("BLOCKED:{}", "why ".repeat(100));
    let needs = [reason.as_str(), "T300", "T301", "T302"];
    let lines = (0..200).map(|n| {
        entry(
            &format!("{}-{n}", "e".repeat(150)),
            "partial",
            &needs,
            &["T90"],
        )
    });
    workspace.write(MANIFEST, lines.collect::<String>());
    workspace
}

#[test]
fn start_says_where_work_stands() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(
        "start_begins",
        workspace.cleo("orchestrator start --epic T1")
    );
    workspace.ok("start T2");
    workspace.write(
        MANIFEST,
        entry("look", "partial", &["T3", "BLOCKED:no access"], &["T2"]),
    );
    insta::assert_snapshot!(
        "start_waits",
        workspace.cleo("orchestrator start --epic T1")
    );
    let answer = start(&workspace);
    assert_eq!(answer["active"]["shown"][0]["entry"], "partial");
    assert_eq!(
        answer["followups"]["shown"],
        json!([{"entry": "look", "needs": ["T3", "BLOCKED:no access"]}])
    );
}

#[test]
fn start_is_under_thousand_tokens_however_much_there_is() {
    for title in ["wide 宽 ", "\"\\", "word "] {
        let workspace = crowd(title);
        for command in [
            &["orchestrator", "start"][..],
            &["orchestrator", "start", "--epic", "T1"],
        ] {
            let reply = workspace.finish(workspace.command(command), "");
            assert_eq!(reply.exit, 0, "{reply}");
            let cost = tokens(&reply.stdout);
            assert!(cost < 1_000, "{cost} tokens: {reply}");
            let answer: Value = serde_json::from_str(&reply.stdout).unwrap();
            let result = &answer["result"];
            let said = result["budget"]["tokens"].as_u64().unwrap();
            assert_eq!(
                said as usize,
                tokens(&result.to_string()),
                "it says what it costs"
            );
            assert_eq!(result["ready"]["total"], 322);
            assert_eq!(result["active"]["total"], 58);
            assert_eq!(result["expiredClaims"]["total"], 58);
            assert_eq!(result["followups"]["total"], 200);
            for list in ["ready", "active", "followups", "expiredClaims"] {
                assert!(
                    !result[list]["shown"].as_array().unwrap().is_empty(),
                    "{list}"
                );
            }
        }
        let text = workspace.text("orchestrator start --epic T1", "");
        assert!(tokens(&text.stdout) < 1_000, "{text}");
    }
}

#[test]
fn each_state_of_work_has_its_first_action() {
    let workspace = TestWorkspace::new();
    let first = |workspace: &TestWorkspace, epic: Option<&str>| {
        let scope: Vec<&str> = epic.into_iter().flat_map(|epic| ["--epic", epic]).collect();
        let command = [&["orchestrator", "start"], scope.as_slice()].concat();
        let first = workspace.json(&command)["result"]["recommended"].clone();
        let text = |name: &str| first[name].as_str().unwrap().to_string();
        (text("action"), text("command"))
    };
    let is = |action: &str, command: &str| (action.to_string(), command.to_string());
    assert_eq!(first(&workspace, None), is("plan", "cleo add --help"));
    workspace.ok("add 'Make it' --type epic");
    assert_eq!(first(&workspace, Some("T1")), is("plan", "cleo spawn T1"));
    workspace.ok("add 'Part one' --parent T1");
    assert_eq!(first(&workspace, Some("T1")), is("spawn", "cleo spawn T2"));
    workspace.ok("add 'Part two' --parent T1");
    let wave = "cleo orchestrator spawn --epic T1 --wave --limit 5";
    assert_eq!(first(&workspace, Some("T1")), is("spawn", wave));
    assert_eq!(
        first(&workspace, None),
        is("spawn", "cleo orchestrator spawn T2 T3")
    );
    for id in ["T2", "T3"] {
        workspace.ok(&format!("start {id}"));
    }
    assert_eq!(
        first(&workspace, Some("T1")),
        is("wait", "cleo orchestrator status --epic T1")
    );
    workspace.write(MANIFEST, entry("part-two", "complete", &[], &["T3"]));
    assert_eq!(
        first(&workspace, Some("T1")),
        is("complete", "cleo complete T3")
    );
    workspace.ok("complete T3");
    workspace.ok("update T2 --status blocked");
    assert_eq!(
        first(&workspace, Some("T1")),
        is("unblock", "cleo list --status blocked")
    );
    let answer = workspace.ask("orchestrator start --epic T1");
    let reason = "nothing is ready or active, and 1 is blocked";
    assert_eq!(answer["result"]["recommended"]["reason"], reason);
    workspace.ok("update T2 --status active");
    workspace.ok("complete T2");
    assert_eq!(
        first(&workspace, Some("T1")),
        is("close", "cleo complete T1")
    );
    assert_eq!(first(&workspace, None), is("close", "cleo complete T1"));
    workspace.ok("complete T1");
    assert_eq!(first(&workspace, Some("T1")).0, "rest");
    assert_eq!(
        first(&workspace, None),
        is("rest", "cleo orchestrator brief")
    );
    workspace.ok("add 'Nothing in it' --type epic");
    workspace.ok("complete T4");
    assert_eq!(
        first(&workspace, Some("T4")),
        is("rest", "cleo orchestrator start")
    );
}

#[test]
fn expired_claim_comes_before_new_work() {
    let workspace = TestWorkspace::with_plan();
    workspace.shell("CLEO_AGENT=agent-1 CLEO_NOW=2026-01-25T09:00:00Z cleo start T2");
    let answer = start(&workspace);
    assert_eq!(answer["recommended"]["action"], "reclaim");
    assert_eq!(answer["expiredClaims"]["shown"][0]["holder"], "agent-1");
    assert_eq!(answer["active"]["shown"][0]["holder"], "agent-1");
    workspace.change_database("UPDATE claims SET expires = '2027-01-01T00:00:00.000Z'");
    assert_eq!(start(&workspace)["expiredClaims"]["total"], 0);
    workspace.ok("complete T2 --force");
    assert_eq!(
        start(&workspace)["expiredClaims"]["total"],
        0,
        "nobody waits for a task that is done"
    );
}

#[test]
fn follow_ups_are_open_like_their_tasks() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add 'Elsewhere'");
    let lines = [
        entry("a", "complete", &["T3"], &["T1", "T2"]),
        entry("b", "archived", &["T3"], &["T2"]),
        entry("c", "blocked", &["BLOCKED:no key"], &["T3"]),
        entry("d", "complete", &[], &["T3"]),
        entry("e", "complete", &["T6"], &["T6"]),
        "torn { \"needs_followup\":[\"T3\"]\n".to_string(),
    ];
    workspace.write(MANIFEST, lines.concat());
    let open = |workspace: &TestWorkspace| {
        let shown = start(workspace)["followups"]["shown"].clone();
        let ids = shown.as_array().unwrap().iter();
        ids.map(|one| one["entry"].as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        open(&workspace),
        ["c", "a"],
        "the newest first, of this epic"
    );
    workspace.ok("complete T2");
    workspace.ok("complete T3");
    assert_eq!(open(&workspace), [] as [&str; 0]);
}

#[test]
fn status_counts_epics() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("complete T2");
    workspace.ok("start T3");
    workspace.write(
        MANIFEST,
        entry("look", "complete", &[], &["T1", "T2"]) + &entry("build", "partial", &[], &["T3"]),
    );
    insta::assert_snapshot!("status", workspace.cleo("orchestrator status"));
    let status = workspace.ask("orchestrator status --epic T1")["result"].clone();
    assert_eq!(
        status["state"],
        json!({"active": 1, "done": 1, "pending": 2})
    );
    assert_fields(&status, json!({"total": 4, "percent": 25}));
    assert_fields(&status["epics"]["shown"][0], json!({"done": 1, "total": 4}));
    assert_eq!(status["entries"]["shown"][0]["id"], "build");
    workspace.fails("orchestrator status --epic T9", "E_TASK_NOT_FOUND");
}

#[test]
fn budget_warns_at_70_percent() {
    let workspace = TestWorkspace::bare();
    for (tokens, percent, state, exit) in [
        (0, 0, "ok", 0),
        (6_999, 69, "ok", 0),
        (7_000, 70, "warning", 0),
        (7_999, 79, "warning", 0),
        (8_000, 80, "critical", 52),
        (1_000_000, 10_000, "critical", 52),
    ] {
        let answer = context(&workspace, &["--tokens", &tokens.to_string()]);
        let result = &answer["result"];
        assert_fields(result, json!({"tokens": tokens, "percent": percent}));
        assert_fields(result, json!({"state": state, "limit": 10_000}));
        assert_eq!(result["method"], "as given");
        assert_eq!(
            answer["warnings"].as_array().unwrap().len(),
            usize::from(state == "warning")
        );
        assert_eq!(
            answer["error"]["exitCode"].as_u64().unwrap_or(0),
            exit,
            "always with its figures"
        );
    }
}

#[test]
fn limit_is_setting() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("config set orchestrator.contextTokens 2000");
    let answer = context(&workspace, &["--tokens", "1600"]);
    assert_eq!(answer["result"]["limit"], 2_000);
    assert_eq!(answer["error"]["exitCode"], 52);
    assert_eq!(start(&workspace)["budget"]["limit"], 2_000);
}

#[test]
fn what_is_counted_is_there() {
    let workspace = TestWorkspace::with_plan().with("notes.md", "ä".repeat(4_001));
    let prompt = workspace.ask("spawn T2")["result"]["prompt"]
        .as_str()
        .unwrap()
        .to_string();
    let counted = context(&workspace, &["--file", "notes.md", "--task", "T2"])["result"].clone();
    assert_eq!(
        counted["parts"][0],
        json!({"of": "notes.md", "tokens": 1_001, "method": "characters / 4, wide ones 1"})
    );
    assert_eq!(counted["parts"][1]["tokens"], tokens(&prompt));
    assert_eq!(counted["tokens"], 1_001 + tokens(&prompt));
    let piped = workspace.json_with(&["orchestrator", "context", "--stdin"], &"x".repeat(40_000));
    assert_eq!(piped["error"]["code"], "E_CONTEXT_CRITICAL");
    assert_eq!(
        (&piped["error"]["exitCode"], &piped["result"]["tokens"]),
        (&json!(52), &json!(10_000))
    );
    let alone = context(&workspace, &[])["result"].clone();
    assert_eq!(alone["parts"][0]["of"], "orchestrator start");
    let answer = workspace.ask("orchestrator start")["result"].clone();
    assert_eq!(alone["tokens"], answer["budget"]["tokens"]);
    assert_eq!(
        context(&workspace, &["--task", "T9"])["error"]["code"],
        "E_TASK_NOT_FOUND"
    );
    assert_eq!(
        context(&workspace, &["--file", "none"])["error"]["exitCode"],
        3
    );
    let text: Reply = workspace.text("orchestrator context --tokens 8500", "");
    insta::assert_snapshot!("context_critical", text);
    let fix = workspace.shell("cleo orchestrator brief --output HANDOVER.md");
    assert_eq!(fix.exit, 0, "{fix}");
}

/// An epic in which something of everything has happened.
fn halfway() -> TestWorkspace {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add 'Waits for nothing that comes' --parent T1 --depends T4");
    workspace.ok("update T1 --description 'Users stay logged in.' --note 'Tokens live an hour'");
    workspace.ok("complete T2");
    workspace.write(MANIFEST, entry("look", "complete", &["T3"], &["T1", "T2"]));
    workspace.ok("start T3");
    workspace.ok("verify T3 --gate implemented");
    workspace.ok("update T5 --status paused");
    workspace
}

#[test]
fn brief_about_nothing_says_so() {
    let brief = TestWorkspace::new().cleo("orchestrator brief");
    assert!(brief.contains(", there are no tasks.\n"), "{brief}");
}

#[test]
fn brief_hands_everything_over() {
    let workspace = halfway();
    insta::assert_snapshot!("brief", workspace.cleo("orchestrator brief --epic T1"));
    let brief = workspace.ask("orchestrator brief --epic T1")["result"]["brief"].clone();
    assert_eq!(
        brief["done"]["shown"][0]["file"],
        "claudedocs/agent-outputs/look.md"
    );
    assert_eq!(brief["waiting"]["total"], 2);
    assert_eq!(brief["waiting"]["shown"][0]["waitsFor"], json!(["T3"]));
    assert_eq!(brief["heldUp"]["shown"][0]["status"], "paused");
}

#[test]
fn brief_names_open_sessions_with_focus_and_notes() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add Elsewhere --type epic");
    workspace.ok("session start --scope T1 --name Login");
    workspace.ok("focus T2");
    for note in ["first", "second", "third", "fourth"] {
        workspace.ok(&format!("session end --note {note}"));
        workspace.ok("session resume S1");
    }
    let brief = |epic: &str| {
        workspace.json(&["orchestrator", "brief", "--epic", epic])["result"]["brief"].clone()
    };
    let session = &brief("T1")["sessions"]["shown"][0];
    assert_eq!(
        (&session["focus"], &session["task"]["id"]),
        (&json!("T2"), &json!("T2"))
    );
    let notes = [0, 1, 2].map(|at| &session["notes"][at]["text"]);
    assert_eq!(notes, ["fourth", "third", "second"]);
    assert_eq!(brief("T2")["sessions"]["total"], 1, "T2 is in its scope");
    assert_eq!(brief("T6")["sessions"]["total"], 0, "T6 is outside");
    let page = workspace.ok("orchestrator brief --epic T1").stdout;
    assert!(
        page.contains("- S1 Login, led by tester, about T1, now at T2 "),
        "{page}"
    );
    workspace.ok("session end");
    assert_eq!(brief("T1")["sessions"]["total"], 0);
}

#[test]
fn brief_is_bounded_and_hostile_text_is_one_line_of_it() {
    for title in ["wide 宽 ", "\"\\"] {
        let workspace = crowd(title);
        for format in ["json", "text"] {
            let command = ["orchestrator", "brief", "--epic", "T1", "--format", format];
            let reply = workspace.finish(workspace.command(&command), "");
            assert_eq!(reply.exit, 0, "{reply}");
            assert!(tokens(&reply.stdout) < 4_200, "{}", tokens(&reply.stdout));
            let begins = |line: &&str| line.starts_with("<!-- BEGIN");
            assert_eq!(reply.stdout.lines().filter(begins).count(), 0);
        }
    }
}

#[test]
fn brief_is_written_over_brief_and_over_nothing_else() {
    let workspace = halfway();
    workspace.ok("orchestrator brief --epic T1 --output HANDOVER.md");
    workspace.ok("complete T3 --force");
    workspace.ok("orchestrator brief --epic T1 --output HANDOVER.md");
    let shown = workspace.ok("orchestrator brief --epic T1").stdout;
    let lines = |text: &str| text.lines().skip(4).map(str::to_string).collect::<Vec<_>>();
    assert_eq!(lines(&workspace.read("HANDOVER.md")), lines(&shown));
    workspace.write("mine.md", "# Mine\n");
    let before = workspace.state();
    let refused = workspace.ask("orchestrator brief --output mine.md");
    assert_eq!(refused["error"]["exitCode"], 101);
    let unwritable = workspace.ask("orchestrator brief --output mine.md/deep.md");
    assert_eq!(unwritable["error"]["exitCode"], 3);
    assert_eq!(workspace.state(), before);
}

#[test]
fn asking_changes_nothing() {
    let workspace = halfway();
    let before = workspace.state();
    for question in [
        "start",
        "status",
        "context",
        "brief",
        "start --epic T1",
        "context --task T3",
    ] {
        workspace.ok(&format!("orchestrator {question}"));
    }
    assert_eq!(workspace.state(), before);
}
