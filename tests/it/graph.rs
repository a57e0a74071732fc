//! Ready tasks, and their order.

use serde_json::{Value, json};

use crate::world::{TestWorkspace, assert_fields, column};

fn ids(neighbors: &Value) -> Vec<&str> {
    column(neighbors, "id")
}

#[test]
fn deps_shows_both_directions() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("deps T3"));
    insta::assert_snapshot!(workspace.cleo("deps T2"));
    let deps = workspace.ask("deps T3");
    assert_eq!(deps["result"]["ready"], false);
    assert_eq!(ids(&deps["result"]["depends"]), ["T2"]);
    assert_eq!(ids(&deps["result"]["dependents"]), ["T4"]);
}

#[test]
fn ready_is_what_agent_can_start_now() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("orchestrator ready"));
    workspace.ok("complete T2");
    insta::assert_snapshot!(workspace.cleo("orchestrator ready"));
    workspace.ok("start T3");
    let ready = workspace.ask("orchestrator ready");
    assert_eq!(ids(&ready["result"]["tasks"]), ["T5"], "T3 is active");
}

#[test]
fn most_urgent_comes_first_then_what_most_work_waits_for() {
    let workspace = TestWorkspace::new();
    let batch = r#"{"title":"a"}
{"title":"b","key":"b"}
{"title":"c","depends":["@b"],"key":"c"}
{"title":"d","depends":["@c"]}
{"title":"e","priority":"critical"}
{"title":"f","priority":"low"}
"#;
    workspace.json_with(&["add", "--batch", "-"], batch);
    let ready = workspace.ask("orchestrator ready");
    assert_eq!(ids(&ready["result"]["tasks"]), ["T5", "T2", "T1", "T6"]);
    let next = workspace.ask("orchestrator next");
    assert_eq!(next["result"]["task"]["id"], "T5");
}

#[test]
fn next_is_one_task_or_none() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("orchestrator next"));
    workspace.ok("start T2");
    insta::assert_snapshot!(workspace.cleo("orchestrator next"));
    let next = workspace.ask("orchestrator next");
    assert_eq!(next["result"]["task"], json!(null));
}

#[test]
fn waves_can_be_worked_on_in_order() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("orchestrator waves"));
    workspace.ok("complete T2");
    let waves = workspace.ask("orchestrator waves");
    assert_eq!(waves["result"]["total"], 2);
    assert_eq!(ids(&waves["result"]["waves"][0]), ["T3", "T5"]);
}

#[test]
fn task_that_waits_for_epic_follows_its_last_wave() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add 'Announce login' --depends T1");
    let waves = workspace.ask("orchestrator waves");
    let all = waves["result"]["waves"].as_array().unwrap();
    assert_eq!(ids(all.last().unwrap()), ["T6"]);
    assert_eq!(waves["warnings"], json!([]));
}

#[test]
fn what_fits_in_no_wave_is_named() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("cancel T2");
    insta::assert_snapshot!(workspace.cleo("orchestrator waves"));
}

#[test]
fn epic_is_scope_to_any_depth() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add 'Elsewhere'");
    workspace.ok("add 'Below' --parent T2");
    let ready = workspace.ask("orchestrator ready --epic T1");
    assert_eq!(ids(&ready["result"]["tasks"]), ["T7"]);
    let all = workspace.ask("orchestrator ready");
    assert_eq!(ids(&all["result"]["tasks"]), ["T6", "T7"]);
}

#[test]
fn dependency_outside_epic_counts_when_it_is_done() {
    let workspace = TestWorkspace::new();
    workspace.ok("add 'Outside'");
    workspace.ok("add 'Epic' --type epic");
    workspace.ok("add 'Inside' --parent T2 --depends T1");
    let ready = workspace.ask("orchestrator ready --epic T2");
    assert_eq!(ready["result"]["total"], 0);
    let waves = workspace.ask("orchestrator waves --epic T2");
    assert_eq!(ids(&waves["result"]["stuck"]), ["T3"]);
    workspace.ok("complete T1");
    let ready = workspace.ask("orchestrator ready --epic T2");
    assert_eq!(ids(&ready["result"]["tasks"]), ["T3"]);
}

#[test]
fn empty_workspace_has_nothing_to_do() {
    let workspace = TestWorkspace::new();
    insta::assert_snapshot!(workspace.cleo("orchestrator ready"));
    insta::assert_snapshot!(workspace.cleo("orchestrator waves"));
}

#[test]
fn part_never_waits_for_its_whole() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Whole --type epic");
    workspace.ok("add Part --parent T1");
    workspace.ok("add Piece --parent T2");
    let before = workspace.state();
    for line in [
        "add Other --parent T2 --depends T1",
        "update T3 --depends T1",
        "update T3 --depends T2",
    ] {
        let shown = workspace.cleo(line);
        assert!(shown.contains("exit: 14"), "{line}: {shown}");
        assert!(
            shown.contains("would wait for each other in a circle"),
            "{line}: {shown}"
        );
    }
    assert_eq!(workspace.state(), before);
    workspace.ok("update T1 --depends T3");
}

#[test]
fn no_circle_goes_through_parts_and_wholes_either() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Whole");
    workspace.ok("add Other --depends T1");
    let refused = workspace.ask("add Part --parent T1 --depends T2");
    assert_eq!(refused["error"]["exitCode"], 14);
    let batch = "{\"title\":\"P\",\"key\":\"p\"}\n{\"title\":\"Q\",\"key\":\"q\"}\n\
                 {\"title\":\"a\",\"parent\":\"@p\",\"depends\":[\"@q\"]}\n\
                 {\"title\":\"b\",\"parent\":\"@q\",\"depends\":[\"@p\"]}\n";
    let refused = workspace.json_with(&["add", "--batch", "-"], batch);
    assert_eq!(refused["error"]["code"], "E_CYCLE");
    assert_eq!(workspace.ask("list")["result"]["total"], 2);
}

/// Runs every command that tells problems, and returns what all of them tell.
fn problems(workspace: &TestWorkspace, task: &str) -> Value {
    let commands: [&[&str]; 6] = [
        &["orchestrator", "ready"],
        &["orchestrator", "next"],
        &["next"],
        &["orchestrator", "waves"],
        &["orchestrator", "analyze"],
        &["deps", task],
    ];
    let told = commands.map(|command| workspace.json(command));
    for (command, reply) in commands.iter().zip(&told) {
        let (problems, first) = (&reply["result"]["problems"], &told[0]["result"]["problems"]);
        assert_eq!(problems, first, "{command:?}");
        assert_eq!(warnings(reply), warnings(&told[0]), "{command:?}");
    }
    told[0]["result"]["problems"].clone()
}

/// Returns the warnings of a reply, but for that of rows changed by [`tamper`], which only readers of whole rows give.
fn warnings(reply: &Value) -> Vec<&Value> {
    let warnings = reply["warnings"].as_array().unwrap().iter();
    let is_of_row = |warning: &&Value| warning.to_string().contains("changed outside of cleo");
    warnings.filter(|warning| !is_of_row(warning)).collect()
}

/// Changes the database behind cleo's back.
fn tamper(workspace: &TestWorkspace, sql: &str) {
    let database = rusqlite::Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    database.execute_batch(sql).unwrap();
}

#[test]
fn unstartable_tasks_are_named_alike_by_every_command() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Given");
    workspace.ok("add Waiting --depends T1");
    workspace.ok("cancel T1");
    let told = problems(&workspace, "T2");
    let expected = json!([{
        "kind": "cancelled",
        "tasks": ["T2", "T1"],
        "message": "T2 depends on T1, which is cancelled",
        "fix": "cleo update T2 --remove-depends T1",
    }]);
    assert_eq!(told, expected);
    assert_eq!(workspace.shell(told[0]["fix"].as_str().unwrap()).exit, 0);
    assert_eq!(problems(&workspace, "T2"), json!([]));
}

#[test]
fn epic_with_nothing_left_to_do_holds_up_what_waits_for_it() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add 'Announce login' --depends T1");
    assert_eq!(problems(&workspace, "T6"), json!([]));
    for task in ["T2", "T3", "T4", "T5"] {
        workspace.ok(&format!("complete {task}"));
    }
    let told = problems(&workspace, "T6");
    assert_eq!(told[0]["kind"], "emptyEpic");
    assert_eq!(workspace.shell(told[0]["fix"].as_str().unwrap()).exit, 0);
    let ready = workspace.ask("orchestrator ready");
    assert_eq!(ids(&ready["result"]["tasks"]), ["T6"]);
}

#[test]
fn unresolved_import_dependency_is_named_until_removed() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Waiting");
    let names = r#"{"danglingDepends":["bd-17","it's, odd","T99"]}"#.replace('\'', "''");
    // As the store counts them when it writes the task.
    let counted = "UPDATE nodes SET dangling = 3, is_ready = 0, is_stuck = 1";
    let unready = "DELETE FROM counters WHERE name = 'ready'";
    tamper(&workspace, &format!("UPDATE tasks SET extra = '{names}'"));
    tamper(&workspace, counted);
    tamper(&workspace, unready);
    let told = problems(&workspace, "T1");
    assert_eq!(told.as_array().unwrap().len(), 3);
    assert_eq!(told[0]["message"], "T1 depends on bd-17, which is not here");
    assert_eq!(workspace.ask("deps T1")["result"]["ready"], false);
    workspace.fails("update T1 --remove-depends bd-18", "E_DEPENDENCY_NOT_FOUND");
    for problem in told.as_array().unwrap() {
        assert_eq!(workspace.ask("orchestrator ready")["result"]["total"], 0);
        let fixed = workspace.shell(problem["fix"].as_str().unwrap());
        assert_eq!(fixed.exit, 0, "{fixed}");
    }
    assert_eq!(workspace.ask("orchestrator ready")["result"]["total"], 1);
    assert_eq!(
        workspace.ask("show T1")["result"]["task"]["extra"],
        json!({})
    );
}

#[test]
fn missing_dependency_is_named_wherever_its_task_is_shown() {
    let issue = r#"{"id":"x-1","title":"Waiting","status":"open","priority":1,"issue_type":"task","created_at":"2026-01-20T09:00:00Z","updated_at":"2026-01-20T09:00:00Z","dependencies":[{"issue_id":"x-1","depends_on_id":"x-gone","type":"blocks"}]}"#;
    let workspace = TestWorkspace::new().with("issues.jsonl", issue);
    workspace.text("import issues.jsonl --from beads --drop-faults", "");
    let told = "T1 depends on x-gone, which is not here";
    for line in [
        "orchestrator status",
        "orchestrator validate",
        "deps --dot",
        "deps --svg",
        "deps T1 --dot",
        "start T1",
        "complete T1",
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let answer = workspace.json(&words);
        let warning = answer["warnings"][0].as_str().unwrap_or_default();
        assert!(warning.starts_with(told), "{line}: {answer}");
    }
    let shown = workspace.cleo("show T1");
    assert!(shown.contains("x-gone, which is not here"), "{shown}");
}

#[test]
fn dependency_that_closed_circle_is_told_as_such_everywhere() {
    let workspace = TestWorkspace::new();
    let lines = [
        r#"{"id":"T1","title":"One","depends":["T2"]}"#,
        r#"{"id":"T2","title":"Two","depends":["T1"]}"#,
    ];
    workspace.write("copy.jsonl", lines.join("\n"));
    workspace.ok("import copy.jsonl --drop-faults");
    let told = "T1 depends on T2, which was left out because it closed a circle";
    for command in [&["next"][..], &["orchestrator", "ready"], &["deps", "T1"]] {
        let problems = &workspace.json(command)["result"]["problems"];
        assert_eq!(problems[0]["message"], told, "{command:?}");
    }
    let refused = workspace.ask("claim T1");
    let message = refused["error"]["message"].as_str().unwrap();
    let own = "it depends on T2, which was left out because it closed a circle";
    assert_eq!(message, format!("T1 is not ready: {own}"));
    insta::assert_snapshot!(workspace.cleo("deps T1"));
    workspace.ok("update T1 --remove-depends T2");
    let left = workspace.ask("show T1")["result"]["task"]["extra"].clone();
    assert_eq!(left.get("circularDepends"), None, "{left}");
    assert_eq!(left.get("danglingDepends"), None, "{left}");
    workspace.ok("claim T1");
}

#[test]
fn waves_say_so_when_they_show_none() {
    let workspace = TestWorkspace::with_plan();
    insta::assert_snapshot!(workspace.cleo("orchestrator waves --limit 0"));
    workspace.ok("add Gone");
    workspace.ok("add Stuck --depends T6");
    workspace.ok("cancel T6");
    workspace.ok("add Apart --type epic");
    workspace.ok("update T7 --parent T8");
    insta::assert_snapshot!(workspace.cleo("orchestrator waves --epic T8"));
}

#[test]
fn cycle_in_database_is_named_by_every_command() {
    let workspace = TestWorkspace::new();
    workspace.ok("add First");
    workspace.ok("add Second --depends T1");
    workspace.ok("add Third --depends T2");
    tamper(&workspace, "INSERT INTO task_depends VALUES (1, 0, 3)");
    // As the store counts it when it writes an edge.
    let counted = "UPDATE nodes SET open_needs = open_needs + 1, is_ready = 0 WHERE number = 1";
    tamper(&workspace, counted);
    tamper(&workspace, "DELETE FROM counters WHERE name = 'ready'");
    let told = problems(&workspace, "T1");
    assert_eq!(told.as_array().unwrap().len(), 1);
    let message = "tasks wait for each other in a circle: T1 → T3 → T2 → T1";
    assert_eq!(told[0]["message"], message);
    assert_eq!(workspace.shell(told[0]["fix"].as_str().unwrap()).exit, 0);
    assert_eq!(problems(&workspace, "T1"), json!([]));
}

#[test]
fn ready_shows_twenty() {
    let workspace = TestWorkspace::new();
    let lines: String = (0..25)
        .map(|n| format!("{{\"title\":\"Part {n}\"}}\n"))
        .collect();
    workspace.json_with(&["add", "--batch", "-"], &lines);
    let ready = workspace.ask("orchestrator ready");
    assert_eq!(ids(&ready["result"]["tasks"]).len(), 20);
    assert_eq!(ready["result"]["total"], 25);
    let shown = workspace.cleo("orchestrator ready --limit 2");
    assert!(
        shown.contains("T2  medium    Part 1\nand 23 more; raise --limit to see them"),
        "{shown}"
    );
}

#[test]
fn next_says_why_it_is_this_one() {
    let workspace = TestWorkspace::with_plan();
    let next = workspace.ask("next");
    assert_eq!(next["result"], workspace.ask("orchestrator next")["result"]);
    assert_eq!(next["result"]["unblocks"], json!(["T3", "T5"]));
    let reason = "medium priority; T3, T5 can start once it is done; 2 tasks depend on it in a row";
    assert_eq!(next["result"]["reason"], reason);
    workspace.ok("complete T2");
    assert_eq!(
        workspace.ask("next --epic T1")["result"]["task"]["id"],
        "T3"
    );
}

#[test]
fn tasks_that_touch_same_files_are_not_put_side_by_side() {
    let workspace = TestWorkspace::new();
    workspace.ok("add One --file 'src/auth/**'");
    workspace.ok("add Two --file src/web.rs");
    workspace.ok("add Three --file src/auth/token.rs --file docs --priority high");
    let waves = workspace.ask("orchestrator waves");
    let result = &waves["result"];
    assert_eq!(ids(&result["waves"][0]), ["T3", "T2"]);
    assert_eq!(ids(&result["waves"][1]), ["T1"]);
    let conflict = json!([{"task": "T1", "conflictsWith": "T3", "files": ["src/auth/**"]}]);
    assert_eq!(result["conflicts"], conflict);
    insta::assert_snapshot!(workspace.cleo("orchestrator waves"));
    // An agent that already works keeps others away from the files.
    workspace.ok("start T1");
    let waves = workspace.ask("orchestrator waves");
    assert_eq!(ids(&waves["result"]["waves"][0]), ["T1", "T2"]);
}

#[test]
fn analyze_shows_how_graph_is_doing() {
    let workspace = TestWorkspace::with_plan();
    for (task, hours) in [("T2", "2"), ("T3", "4.5"), ("T4", "1")] {
        workspace.ok(&format!("update {task} --estimate {hours} --file src/auth"));
    }
    workspace.ok("update T5 --file src/auth/token.rs");
    insta::assert_snapshot!(workspace.cleo("orchestrator analyze --epic T1"));
    let analysis = workspace.ask("orchestrator analyze --epic T1 --limit 1");
    let result = &analysis["result"];
    assert_eq!(ids(&result["criticalPath"]["tasks"]), ["T2", "T3", "T4"]);
    assert_eq!(result["criticalPath"]["hours"], 7.5);
    assert_eq!(result["bottlenecks"].as_array().unwrap().len(), 1);
    assert_eq!(result["bottlenecks"][0]["unblocksInAll"], 3);
    assert_eq!(result["totals"]["byStatus"]["pending"], 4);
    workspace.ok("update T4 --clear estimate");
    let analysis = workspace.ask("orchestrator analyze");
    assert_eq!(analysis["result"]["criticalPath"]["hours"], json!(null));
}

#[test]
fn preview_of_unblocked_tasks_equals_completion() {
    let workspace = TestWorkspace::new();
    for line in ["Whole", "Part --parent T1", "After --depends T1"] {
        workspace.ok(&format!("add {line}"));
    }
    let analysis = workspace.ask("orchestrator analyze");
    let first = &analysis["result"]["bottlenecks"][0];
    assert_fields(first, json!({"id": "T2", "unblocks": 1}));
    assert_eq!(first["unblocksInAll"], 2);
    let done = workspace.ask("complete T2");
    assert_eq!(done["result"]["unblocked"], json!(["T1"]));
}

#[test]
fn large_batch_is_answered_in_short() {
    let workspace = TestWorkspace::new();
    let batch = |n: u32| {
        (0..n)
            .map(|n| format!("{{\"title\":\"{n}\"}}\n"))
            .collect::<String>()
    };
    let small = workspace.json_with(&["add", "--batch", "-"], &batch(100));
    assert_eq!(small["result"]["tasks"].as_array().unwrap().len(), 100);
    let large = workspace.json_with(&["add", "--batch", "-"], &batch(101));
    let short = json!({"total": 101, "created": 101, "first": "T101", "last": "T201"});
    assert_eq!(large["result"], short);
    let shown = workspace.text("add --batch -", &batch(101)).stdout;
    assert_eq!(shown, "101 of 101 added: T202 to T302\n");
}
