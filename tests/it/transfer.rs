//! Taking over tasks from other tools, and writing them out. The samples are files that those tools
//! wrote; those in `traps` are written by hand from their parsing rules.

use std::fs;

use serde_json::{Value, json};

use crate::world::{TestWorkspace, assert_fields, says};

/// Returns where a sample is.
fn sample(name: &str) -> String {
    format!("{}/tests/data/transfer/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn import(workspace: &TestWorkspace, name: &str, more: &[&str]) -> Value {
    let file = sample(name);
    let mut arguments = vec!["import", &file];
    arguments.extend(more);
    workspace.json(&arguments)
}

/// Runs a command and shows its answer without the folder of the samples.
fn show(workspace: &TestWorkspace, line: &str) -> String {
    workspace.cleo(line).replace(&sample(""), "[SAMPLES]/")
}

/// Tasks read, dependencies kept, parents kept, dangling dependencies.
fn counts(report: &Value) -> [u64; 4] {
    let result = &report["result"];
    let numbers = [
        &result["read"],
        &result["edges"]["kept"],
        &result["parents"]["kept"],
        &result["edges"]["dangling"]["total"],
    ];
    numbers.map(|number| number.as_u64().unwrap())
}

/// Finds the task with a title.
fn find_title(workspace: &TestWorkspace, title: &str) -> Value {
    let listed = workspace.ask("list --all --limit 1000");
    let tasks = listed["result"]["tasks"].as_array().unwrap();
    tasks
        .iter()
        .find(|task| task["title"] == title)
        .unwrap_or_else(|| panic!("no {title}"))
        .clone()
}

macro_rules! samples_are_taken_over_whole {
    ($($name:ident: $file:literal,)+) => {$(
        #[test]
        fn $name() {
            let workspace = TestWorkspace::new();
            let report = show(&workspace, &format!("import '{}'", sample($file)));
            let lines = workspace.ok("export").stdout;
            insta::assert_snapshot!(format!("{report}{lines}"));
            let again = import(&workspace, $file, &[]);
            assert_eq!(again["result"]["unchanged"], again["result"]["read"]);
            assert_eq!(workspace.ok("export").stdout, lines);
        }
    )+};
}

samples_are_taken_over_whole! {
    cleo_todo_and_its_archive: "small-todo.json",
    a_cleo_export_of_2026: "small-2026-export.json",
    beads: "beads.jsonl",
    task_master: "taskmaster.json",
    a_backlog_folder: "backlog",
    taskwarrior: "taskwarrior.json",
}

#[test]
fn traps_are_refused_and_imported_without_their_faults() {
    for (name, code, expected) in [
        ("traps/beads.jsonl", Some("E_IMPORT_INVALID"), [26, 3, 3, 1]),
        (
            "traps/beads-torn.jsonl",
            Some("E_IMPORT_INVALID"),
            [2, 0, 1, 0],
        ),
        (
            "traps/beads-conflict.jsonl",
            Some("E_IMPORT_INVALID"),
            [3, 0, 1, 0],
        ),
        ("traps/cleo-todo.json", Some("E_CYCLE"), [15, 3, 2, 1]),
        (
            "traps/taskmaster-tagged.json",
            Some("E_IMPORT_INVALID"),
            [20, 8, 7, 3],
        ),
        ("traps/taskmaster-legacy.json", None, [2, 1, 0, 0]),
        ("traps/backlog", Some("E_IMPORT_INVALID"), [9, 2, 1, 1]),
        ("traps/taskwarrior.json", Some("E_CYCLE"), [13, 4, 0, 1]),
    ] {
        let workspace = TestWorkspace::new();
        let before = workspace.state();
        let refused = import(&workspace, name, &[]);
        assert_eq!(refused["error"]["code"].as_str(), code, "{name}");
        if code.is_some() {
            assert_eq!(workspace.state(), before, "{name} left something behind");
            assert!(refused["error"]["fix"].is_string(), "{name}");
        }
        let rehearsed = import(&workspace, name, &["--drop-faults", "--dry-run"]);
        let taken = import(&workspace, name, &["--drop-faults"]);
        assert_eq!(counts(&taken), expected, "{name}");
        if code.is_some() {
            let mut report = rehearsed["result"].clone();
            report["dryRun"] = false.into();
            assert_eq!(
                report, taken["result"],
                "{name}: a dry run gives the same report"
            );
        }
        workspace.result("orchestrator ready");
    }
}

#[test]
fn refusal_names_every_fault() {
    let workspace = TestWorkspace::new();
    let mut told = String::new();
    for name in [
        "traps/beads.jsonl",
        "traps/taskmaster-tagged.json",
        "traps/backlog",
    ] {
        told += &show(&workspace, &format!("import '{}'", sample(name)));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn files_that_lead_out_of_workspace_are_only_kept_aside() {
    let issue = r#"{"id":"x-1","title":"Outside","status":"open","priority":1,"issue_type":"task","created_at":"2026-01-20T09:00:00Z","updated_at":"2026-01-20T09:00:00Z","metadata":{"files":["/etc/passwd","./src/a.rs"]}}"#;
    let workspace = TestWorkspace::new().with("issues.jsonl", issue);
    workspace.ok("import issues.jsonl --from beads");
    let task = workspace.ask("show T1")["result"]["task"].clone();
    assert_eq!(task["files"], serde_json::json!(["src/a.rs"]));
    assert_eq!(
        task["extra"]["beads"]["metadata"]["files"][0],
        "/etc/passwd"
    );
}

#[test]
fn old_id_finds_its_task() {
    let workspace = TestWorkspace::new();
    import(&workspace, "beads.jsonl", &[]);
    let found = workspace.ask("find rs-17u");
    assert_eq!(
        found["result"]["tasks"][0]["title"],
        "Publish the change log"
    );
}

#[test]
fn ids_are_kept_when_they_are_free() {
    let workspace = TestWorkspace::new();
    workspace.ok("add 'was here before'");
    let report = import(&workspace, "small-todo.json", &[]);
    let renamed = &report["result"]["renamed"];
    assert_eq!(renamed["total"], 1);
    assert_eq!(renamed["shown"][0]["from"], "T001");
    let added = workspace.ask("add afterwards");
    let number = |id: &Value| id.as_str().unwrap()[1..].parse::<u32>().unwrap();
    assert_eq!(
        number(&added["result"]["task"]["id"]),
        number(&renamed["shown"][0]["to"]) + 1
    );
}

#[test]
fn copy_of_other_tasks_with_same_ids_is_added_once() {
    let from = TestWorkspace::new();
    import(&from, "beads.jsonl", &[]);
    from.ok("add 'Of its own'");
    from.ok("export --output tasks.jsonl");
    let to = TestWorkspace::new();
    for number in 1..=20 {
        to.ok(&format!("add 'was here before {number}' --label x"));
    }
    to.write("tasks.jsonl", from.read("tasks.jsonl"));
    let first = to.ask("import tasks.jsonl");
    assert_eq!(first["result"]["added"], 17);
    let again = to.ask("import tasks.jsonl");
    assert_fields(&again["result"], json!({"added": 0, "unchanged": 17}));
    assert_eq!(to.ask("list --all")["result"]["total"], 37);
}

#[test]
fn entry_of_renumbered_task_is_named() {
    let from = TestWorkspace::new();
    from.ok("add 'Research the paint'");
    let spawned = from.result("spawn T1");
    let entry = spawned["manifestId"].as_str().unwrap();
    from.ok(&format!(
        "manifest append --id {entry} --file paint.md --title Paint --topic paint --task T1 \
         --finding A. --finding B. --finding C."
    ));
    from.ok("export --output tasks.jsonl");
    let to = TestWorkspace::new();
    to.ok("add 'Of its own'");
    for file in ["tasks.jsonl", "claudedocs/agent-outputs/MANIFEST.jsonl"] {
        to.write(file, from.read(file));
    }
    let reply = to.ask("import tasks.jsonl");
    let expected = format!(
        "T2 is T1 in the file: the entry {entry} (paint.md) is linked to it, but names T1 and does not prove T2; if it \
         is the work of T2, append an entry for paint.md that names T2"
    );
    assert_eq!(reply["warnings"], json!([expected]));
    let entries = to.result("manifest list --task T2")["entries"].clone();
    assert_eq!(entries[0]["id"], entry);
    assert_eq!(to.ask("import tasks.jsonl")["warnings"], json!([]));
}

#[test]
fn id_at_end_of_range_does_not_use_up_all_others() {
    let line =
        "{\"id\":\"T4294967295\",\"title\":\"far out\",\"createdAt\":\"2026-01-01T00:00:00Z\"}\n";
    let workspace = TestWorkspace::new().with("far.jsonl", line);
    workspace.ok("import far.jsonl");
    assert_eq!(find_title(&workspace, "far out")["id"], "T1");
    workspace.ok("add next");
}

#[test]
fn task_with_dangling_dependency_is_not_ready() {
    let workspace = TestWorkspace::new();
    import(&workspace, "traps/beads.jsonl", &["--drop-faults"]);
    for (title, on) in [
        ("Depends on a missing id", "tr-gone"),
        ("Depends on a deleted issue", "tr-t1"),
        ("Cycle one", "tr-b2"),
    ] {
        let task = find_title(&workspace, title);
        assert_eq!(task["extra"]["danglingDepends"][0], on, "{title}");
        assert_eq!(task["depends"].as_array().unwrap().len(), 0, "{title}");
    }
}

#[test]
fn unknown_fields_and_words_of_other_tool_are_kept() {
    let workspace = TestWorkspace::new();
    import(&workspace, "traps/beads.jsonl", &["--drop-faults"]);
    let task = find_title(&workspace, "Unknown fields are kept");
    assert_eq!(task["extra"]["beads"]["future_field"]["a"][1], 2);
    assert_eq!(task["files"][0], "a.rs");
    let task = find_title(&workspace, "Custom status and type");
    assert_eq!(task["extra"]["beads"]["status"], "verified");
    assert_eq!(task["labels"][0], "release");
}

#[test]
fn reimport_updates_but_never_reverts_local_work() {
    let issue = |title: &str, at: &str| {
        format!(
            "{{\"id\":\"x-1\",\"title\":\"{title}\",\"issue_type\":\"task\",\"created_at\":\"2026-01-01T00:00:00Z\",\
             \"updated_at\":\"{at}\"}}\n"
        )
    };
    let workspace = TestWorkspace::new().with("i.jsonl", issue("first", "2026-01-01T00:00:00Z"));
    workspace.ok("import i.jsonl");
    workspace.write("i.jsonl", issue("second", "2026-01-02T00:00:00Z"));
    let report = workspace.ask("import i.jsonl");
    assert_fields(&report["result"], json!({"updated": 1, "added": 0}));
    workspace.ok("start T1");
    let report = workspace.ask("import i.jsonl");
    assert_eq!(report["result"]["newerHere"]["shown"][0], "T1");
    assert_eq!(
        workspace.ask("show T1")["result"]["task"]["status"],
        "active"
    );
}

#[test]
fn what_is_over_can_be_left_out() {
    let workspace = TestWorkspace::new();
    let report = import(&workspace, "taskwarrior.json", &["--open-only"]);
    assert_eq!(report["result"]["leftOut"]["total"], 3);
    assert_eq!(report["result"]["byStatus"]["done"], Value::Null);
}

#[test]
fn file_that_fits_two_formats_is_not_guessed_at() {
    let both =
        "{\"id\":\"T1\",\"title\":\"x\",\"uuid\":\"u\",\"entry\":\"e\",\"description\":\"d\"}\n";
    let workspace = TestWorkspace::new()
        .with("both.jsonl", both)
        .with("none.txt", "hello\n");
    let refused = workspace.ask("import both.jsonl");
    says(&refused, "can be read as cleo and as taskwarrior");
    assert_eq!(
        refused["error"]["fix"]
            .as_str()
            .unwrap()
            .split(" --from ")
            .last(),
        Some("cleo")
    );
    workspace.fails("import none.txt", "E_INPUT_INVALID");
}

#[test]
fn hostile_files_are_refused_without_trace() {
    let deep = format!(
        "{{\"id\":\"x-1\",\"issue_type\":\"task\",\"title\":{}{}}}\n",
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    let deep_document = format!(
        "{{\"tasks\":[{}{}],\"metadata\":{{}}}}",
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    let long = format!(
        "{{\"id\":\"x-1\",\"issue_type\":\"{}\"}}\n",
        "x".repeat(40 << 20)
    );
    for (from, bytes) in [
        ("beads", deep.into_bytes()),
        ("taskmaster", deep_document.clone().into_bytes()),
        ("todo", deep_document.into_bytes()),
        ("beads", long.into_bytes()),
        (
            "beads",
            b"{\"id\":\"x\",\"title\":\"\xff\xfe\",\"issue_type\":\"task\"}\n".to_vec(),
        ),
        ("cleo", vec![0; 100_000]),
        (
            "taskwarrior",
            b"[{\"uuid\":\"x\",\"description\":\"a\"".to_vec(),
        ),
        ("todo", b"{\"tasks\":{}}".to_vec()),
        (
            "taskmaster",
            b"{\"master\":{\"tasks\":[{\"id\":1,\"title\":\"x\",\"dependencies\":[5.10]}]}}"
                .to_vec(),
        ),
        ("cleo", b"{\"cleo\":\"tasks\",\"version\":99}\n".to_vec()),
        (
            "cleo",
            b"{\"id\":\"T1\",\"title\":\"x\",\"status\":\"odd\"}\n".to_vec(),
        ),
        (
            "beads",
            b"{\"id\":\"x-1\",\"title\":\" \",\"issue_type\":\"task\"}\n".to_vec(),
        ),
    ] {
        let workspace = TestWorkspace::new().with("file", &bytes);
        let before = workspace.state();
        let refused = workspace.json(&["import", "file", "--from", from]);
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        assert_eq!(
            refused["error"]["code"], "E_IMPORT_INVALID",
            "{from} {head}"
        );
        assert!(
            refused["error"]["message"].as_str().unwrap().len() < 2_000,
            "{from} {head}"
        );
        assert_eq!(workspace.state(), before, "{from} {head}");
    }
}

#[test]
fn backlog_folder_is_read_within_its_bounds() {
    let workspace = TestWorkspace::new();
    let bomb =
        "---\nid: TASK-3\ntitle: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\n---\n";
    workspace.write("outside.md", "---\nid: TASK-9\ntitle: Outside\n---\n");
    workspace.write(
        "backlog/tasks/task-1 - a.md",
        "---\nid: TASK-1\ntitle: Inside\n---\n",
    );
    workspace.write(
        "backlog/tasks/task-2 - nul.md",
        "---\nid: TASK-2\ntitle: \"a\0b\"\n---\n",
    );
    workspace.write("backlog/tasks/task-3 - bomb.md", bomb);
    let link = workspace.path("backlog/tasks/task-9 - link.md");
    std::os::unix::fs::symlink(workspace.path("outside.md"), link).unwrap();
    let refused = workspace.ask("import backlog");
    let faults = refused["result"]["faults"]["shown"]
        .as_array()
        .unwrap()
        .clone();
    let files: Vec<&str> = faults
        .iter()
        .map(|fault| fault["file"].as_str().unwrap())
        .collect();
    assert_eq!(
        files,
        [
            "tasks/task-9 - link.md",
            "tasks/task-2 - nul.md",
            "tasks/task-3 - bomb.md"
        ],
        "{faults:?}"
    );
    assert_eq!(workspace.ask("list")["result"]["total"], 0);
}

#[test]
fn part_that_depends_on_its_whole_is_imported_and_reported() {
    let workspace = TestWorkspace::new();
    let report = import(&workspace, "traps/backlog", &["--drop-faults"]);
    let on_whole = &report["result"]["edges"]["onWhole"];
    assert_eq!(on_whole["shown"][0]["id"], "TR-1.1");
    let task = find_title(&workspace, "Child by id only");
    assert_eq!(task["extra"]["relations"][0]["type"], "depends");
    assert_eq!(task["extra"]["danglingDepends"][0], "TR-1");
}

#[test]
fn export_envelope_can_be_imported() {
    let from = TestWorkspace::with_plan();
    let answer = from.ask("export").to_string();
    let workspace = TestWorkspace::new().with("e.json", &answer);
    workspace.ok("import e.json");
    let lines = |workspace: &TestWorkspace| workspace.ok("export").stdout;
    assert_eq!(lines(&workspace), lines(&from));
    let again = workspace.json_with(&["import", "-"], &answer);
    assert_eq!(again["result"]["added"], 0, "{again}");
}

#[test]
fn what_cleo_keeps_and_devices_are_never_written_over() {
    let workspace = TestWorkspace::with_plan()
        .with(".cleo/config.yaml", "agent: me\n")
        .with("notes.txt", "mine\n");
    workspace.shell("mkfifo pipe");
    for (file, code) in [
        (".cleo/cleo.db", "E_INPUT_INVALID"),
        ("claudedocs/../.cleo/cleo.db-wal", "E_INPUT_INVALID"),
        (".cleo/config.yaml", "E_INPUT_INVALID"),
        ("claudedocs/agent-outputs/MANIFEST.jsonl", "E_INPUT_INVALID"),
        ("pipe", "E_FILE_UNWRITABLE"),
        ("notes.txt", "E_EXISTS"),
    ] {
        let before = workspace.state();
        let refused = workspace.json(&["export", "--output", file]);
        assert_eq!(refused["error"]["code"], code, "{file}: {refused}");
        assert_eq!(workspace.state(), before, "{file}");
    }
    assert_eq!(workspace.read(".cleo/config.yaml"), "agent: me\n");
    assert_eq!(workspace.read("notes.txt"), "mine\n");
    workspace.fails(
        "export --output .cleo/cleo.db --overwrite",
        "E_INPUT_INVALID",
    );
    workspace.ok("export --output notes.txt --overwrite");
    assert!(workspace.read("notes.txt").contains("\"uid\":"));
}

#[test]
fn export_of_another_workspace_is_not_overwritten() {
    let (workspace, other) = (TestWorkspace::with_plan(), TestWorkspace::new());
    for words in [
        "export --output tasks.jsonl",
        "add Later",
        "export --output tasks.jsonl",
    ] {
        workspace.ok(words);
    }
    let ours = workspace.read("tasks.jsonl");
    other.ok("add Other");
    other.write("tasks.jsonl", &ours);
    let refused = other.fails("export --output tasks.jsonl", "E_EXISTS");
    says(
        &refused,
        "exports another workspace, and --overwrite is not given; it was not changed",
    );
    assert_eq!(other.read("tasks.jsonl"), ours);
    other.ok("import tasks.jsonl");
    other.ok("export --output tasks.jsonl");
    assert_ne!(other.read("tasks.jsonl"), ours);
}

#[test]
fn one_changed_task_is_one_changed_line() {
    let workspace = TestWorkspace::with_plan();
    let before = workspace.ok("export").stdout;
    workspace.ok("update T3 --title 'Implement it – 日本語'");
    let after = workspace.ok("export").stdout;
    let changed = before
        .lines()
        .zip(after.lines())
        .filter(|(one, other)| one != other)
        .count();
    assert_eq!(
        (changed, before.lines().count()),
        (1, after.lines().count())
    );
    assert!(after.contains("日本語") && after.ends_with('\n'));
}

#[test]
fn control_chars_are_removed_and_reported() {
    let row = r#"{"id":"b-1","issue_type":"task","status":"open","title":"a\u001b[2Jb\u009bc","description":"x\u0007y\n\tz","labels":["l\u0000m"],"created_at":"2026-01-01T00:00:00Z"}"#;
    let clean = r#"{"id":"b-2","issue_type":"task","status":"open","title":"é clean","created_at":"2026-01-01T00:00:00Z"}"#;
    let workspace = TestWorkspace::new().with("i.jsonl", format!("{row}\n{clean}\n"));
    let report = workspace.ask("import i.jsonl --from beads");
    let changed = &report["result"]["changed"];
    assert_eq!(
        (&changed["total"], &changed["shown"][0]["id"]),
        (&1.into(), &"b-1".into())
    );
    let task = workspace.ask("show T1")["result"]["task"].clone();
    assert_eq!(task["title"], "a [2Jb c");
    assert_eq!(task["description"], "xy\n\tz");
    assert_eq!(task["labels"][0], "l m");
    assert_eq!(
        changed["shown"][0]["reason"],
        "control characters were removed"
    );
    let again = workspace.ask("import i.jsonl --from beads");
    assert_eq!(again["result"]["unchanged"], 2, "{again}");
}

#[test]
fn phases_of_project_come_with_its_tasks() {
    let workspace = TestWorkspace::new();
    workspace.ok("add x --phase mine");
    workspace.ok("phase set mine");
    workspace.ok("delete T1 --force");
    let report = import(&workspace, "small-todo.json", &["--dry-run"]);
    let added = report["result"]["phases"]["added"].clone();
    assert_eq!(
        workspace.ask("phase list")["result"]["phases"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let report = import(&workspace, "small-todo.json", &[]);
    assert_eq!(report["result"]["phases"]["added"], added);
    assert_eq!(
        report["result"]["phases"]["notBegun"],
        serde_json::json!(["setup"])
    );
    let listed = workspace.ask("phase list")["result"]["phases"].clone();
    let mut phases = listed.as_array().unwrap().iter();
    let setup = phases.find(|phase| phase["slug"] == "setup").unwrap();
    assert_fields(
        setup,
        json!({"name": "Setup & Foundation", "status": "pending", "startedAt": "2026-11-21T21:22:29.000Z"}),
    );
    assert!(setup["total"].as_u64().unwrap() > 0);
    let again = import(&workspace, "small-todo.json", &[]);
    assert_eq!(again["result"]["phases"]["unchanged"], added);

    let fresh = TestWorkspace::new();
    import(&fresh, "small-todo.json", &[]);
    let phases = fresh.ask("phase list")["result"].clone();
    assert_eq!(phases["current"], "setup");
    let slugs: Vec<&Value> = phases["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["slug"])
        .collect();
    assert_eq!(slugs[..2], ["setup", "core"]);
    let refused = import(&TestWorkspace::new(), "traps/cleo-todo.json", &[]);
    assert_eq!(
        refused["result"]["phases"]["added"],
        serde_json::json!([]),
        "all or nothing"
    );
}

#[test]
fn link_to_export_to_stays() {
    let workspace = TestWorkspace::new();
    workspace.ok("add x");
    let outside = workspace.root().with_file_name("outside.jsonl");
    fs::write(&outside, "").unwrap();
    std::os::unix::fs::symlink(&outside, workspace.path("link")).unwrap();
    workspace.ok("export -o link");
    assert!(
        fs::symlink_metadata(workspace.path("link"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(
        fs::read_to_string(&outside).unwrap(),
        workspace.ok("export").stdout
    );
    for target in ["nowhere", ".cleo/cleo.db"] {
        std::os::unix::fs::symlink(target, workspace.path(&target.replace('/', "-"))).unwrap();
    }
    workspace.refuse("export -o nowhere", "E_FILE_UNWRITABLE");
    workspace.refuse("export -o .cleo-cleo.db", "E_INPUT_INVALID");
}

#[test]
fn long_file_is_read_in_its_order() {
    let line = |number: usize| {
        format!("{{\"id\":\"x-{number}\",\"title\":\"issue {number}\",\"issue_type\":\"task\"}}\n")
    };
    let text: String = (1..=150).map(line).collect();
    let workspace = TestWorkspace::new().with("issues.jsonl", &text);
    workspace.ok("import issues.jsonl --from beads");
    for number in [1, 32, 33, 64, 65, 150] {
        let task = workspace.json(&["show", &format!("T{number}")]);
        assert_eq!(task["result"]["task"]["title"], format!("issue {number}"));
    }
    let torn = text.replace("\"title\":\"issue 40\",", "");
    workspace.write("issues.jsonl", torn.replace("\"title\":\"issue 70\",", ""));
    let refused = workspace.ask("import issues.jsonl --from beads");
    says(&refused, "2 faults; line 40 (x-40)");
}

/// A file with one task for each tool: where it lies, and its text with a title and the year of its
/// last change left open.
const ONE_TASK: [(&str, &str, &str); 5] = [
    (
        "taskwarrior",
        "file",
        r#"[{"uuid":"00000000-0000-4000-8000-000000000001","description":"TITLE","status":"pending","entry":"20260101T000000Z","modified":"YEAR0102T000000Z"}]"#,
    ),
    (
        "beads",
        "file",
        r#"{"id":"x-1","title":"TITLE","status":"open","issue_type":"task","created_at":"2026-01-01T00:00:00Z","updated_at":"YEAR-01-02T00:00:00Z"}"#,
    ),
    (
        "taskmaster",
        "file",
        r#"{"tasks":[{"id":1,"title":"TITLE","status":"pending","dependencies":[],"subtasks":[],"updatedAt":"YEAR-01-02T00:00:00Z"}],"metadata":{}}"#,
    ),
    (
        "todo",
        "file",
        r#"{"_meta":{"schemaVersion":"2.10.0"},"tasks":[{"id":"T001","title":"TITLE","status":"pending","createdAt":"2026-01-01T00:00:00Z","updatedAt":"YEAR-01-02T00:00:00Z"}]}"#,
    ),
    (
        "backlog",
        "backlog/tasks/task-1 - a.md",
        "---\nid: TASK-1\ntitle: TITLE\nstatus: To Do\ndependencies: []\nupdated_date: 'YEAR-01-02'\n---\n",
    ),
];

#[test]
fn local_additions_survive_import_of_poorer_format() {
    for (from, path, text) in ONE_TASK {
        let text = |title: &str, year: &str| text.replace("TITLE", title).replace("YEAR", year);
        let workspace = TestWorkspace::new().with(path, text("a", "2026"));
        let folder = path.split('/').next().unwrap();
        let import = || workspace.json(&["import", folder, "--from", from])["result"].clone();
        let task = || workspace.ask("show T1")["result"]["task"].clone();
        import();
        workspace.ok("add Epic --type epic");
        workspace.ok("add first");
        workspace.ok(
            "update T1 --parent T2 --depends T3 --file src/a.rs --acceptance 'x :: true' \
             --description why --priority high --label mine --due 2026-05-01",
        );
        let before = task();
        workspace.write(path, text("b", "2027"));
        let report = import();
        assert_eq!(report["updated"], 1, "{from}: {report}");
        let after = task();
        assert_eq!(after["title"], "b", "{from}");
        for field in [
            "parent",
            "depends",
            "files",
            "acceptance",
            "description",
            "priority",
            "labels",
            "due",
        ] {
            assert_eq!(after[field], before[field], "{from}: {field}");
        }
        assert_eq!(after["parent"], "T2", "{from}");
        assert_eq!(import()["unchanged"], 1, "{from}");
    }
}

/// Two tasks of Taskwarrior, each with more fields.
fn two_of_taskwarrior(year: u32, one: &str, other: &str) -> String {
    let task = |number: u32, more: &str| {
        format!(
            r#"{{"uuid":"{number}","description":"task {number}","entry":"20260101T000000Z","modified":"{year}0102T000000Z",{more}}}"#
        )
    };
    format!("[{},{}]", task(1, one), task(2, other))
}

#[test]
fn what_file_does_say_is_taken_from_it_when_it_comes_again() {
    let open = r#""status":"pending""#;
    let one = r#""status":"pending","tags":["a"],"depends":["2"]"#;
    let workspace = TestWorkspace::new().with("t.json", two_of_taskwarrior(2026, one, open));
    workspace.ok("import t.json");
    workspace.ok("add 'only here'");
    workspace.ok("update T1 --label mine --depends T3");
    let one = r#""status":"pending","tags":["b"]"#;
    workspace.write("t.json", two_of_taskwarrior(2027, one, open));
    workspace.ok("import t.json");
    let task = workspace.ask("show T1")["result"]["task"].clone();
    assert_eq!(task["labels"], serde_json::json!(["b"]));
    assert_eq!(task["depends"], serde_json::json!(["T3"]), "T2 is told of");
}

#[test]
fn what_stays_here_and_what_comes_make_no_circle_together() {
    let open = r#""status":"pending""#;
    let workspace = TestWorkspace::new().with("t.json", two_of_taskwarrior(2026, open, open));
    workspace.ok("import t.json");
    workspace.ok("add 'only here' --depends T2");
    workspace.ok("update T1 --depends T3");
    let other = r#""status":"pending","depends":["1"]"#;
    workspace.write("t.json", two_of_taskwarrior(2027, open, other));
    workspace.refuse("import t.json", "E_CYCLE");
    workspace.ok("import t.json --drop-faults");
}

#[test]
fn import_closes_nothing_that_is_claimed_or_unproven_here() {
    let (open, done) = (r#""status":"pending""#, r#""status":"completed""#);
    let workspace = TestWorkspace::new().with("t.json", two_of_taskwarrior(2026, open, open));
    workspace.ok("import t.json");
    let claim = workspace
        .shell("CLEO_AGENT=ana cleo claim T1 --json")
        .stdout;
    workspace.ok("update T2 --require-gate tests-passed");
    workspace.write("t.json", two_of_taskwarrior(2027, done, done));
    let report = workspace.ok("import t.json").stdout;
    for line in [
        "T1 keeps its status: claimed here",
        "T2 keeps its status: not verified here",
    ] {
        assert!(report.contains(line), "{report}");
    }
    assert!(claim.contains("\"epoch\":1"), "{claim}");
    let heartbeat = workspace.shell("CLEO_AGENT=ana cleo heartbeat T1 --epoch 1");
    assert_eq!(heartbeat.exit, 0, "{heartbeat}");
    workspace.refuse("complete T2", "E_GATE_OPEN");
}

#[test]
fn import_closes_nothing_that_complete_would_refuse() {
    let (ana, ben) = two_copies();
    for copy in [&ana, &ben] {
        copy.ok("update T2 --acceptance 'holds :: false'");
    }
    ana.ok("complete T2 --force");
    ana.ok("complete T1 --force");
    let report = hand_over(&ana, &ben);
    for line in [
        "T2 keeps its status: not verified here",
        "T1 keeps its status: it has open parts",
    ] {
        assert!(report.contains(line), "{report}");
    }
    assert_eq!(field(&ben, "T2", "status"), "pending");
    ben.refuse("complete T2", "E_CRITERION_OPEN");
}

#[test]
fn version_from_future_is_refused() {
    let (ana, ben) = two_copies();
    let text = ana.ok("export").stdout;
    let text = text.replace("\"updatedAt\":\"2026-", "\"updatedAt\":\"9999-");
    ben.write("tasks.jsonl", text);
    let error = ben.refuse("import tasks.jsonl", "E_IMPORT_INVALID");
    says(&error, "is in the future");
}

#[test]
fn import_leaves_criteria_of_work_unchanged() {
    let (ana, ben) = two_copies();
    ben.ok("spawn T2");
    ben.ok("claim T5 --force");
    for id in ["T2", "T4", "T5"] {
        later(&ana, &["update", id, "--acceptance", "anything will do"]);
    }
    let report = hand_over(&ana, &ben);
    for line in [
        "T2 keeps its acceptance: spawned here",
        "T5 keeps its acceptance: claimed here",
        "T4 updated: acceptance",
    ] {
        assert!(report.contains(line), "{report}");
    }
    let criteria = serde_json::json!(["sources named"]);
    assert_eq!(field(&ben, "T2", "acceptance"), criteria);
    assert!(hand_over(&ana, &ben).contains("unchanged"));
}

#[test]
fn key_that_both_copies_gave_stays_with_both_tasks() {
    let (ana, ben) = two_copies();
    for copy in [&ana, &ben] {
        copy.write("more.jsonl", r#"{"key":"release","title":"Release it"}"#);
        copy.ok("add --batch more.jsonl");
    }
    hand_over(&ana, &ben);
    hand_over(&ben, &ana);
    hand_over(&ana, &ben);
    for copy in [&ana, &ben] {
        assert_eq!(field(copy, "T6", "key"), "release");
        assert_eq!(field(copy, "T7", "key"), Value::Null);
    }
}

#[test]
fn two_exports_in_one_file_are_refused() {
    let (ana, ben) = two_copies();
    ana.ok("add 'Of ana'");
    ben.ok("add 'Of ben'");
    let both = ben.ok("export").stdout + &ana.ok("export").stdout;
    let workspace = TestWorkspace::new().with("both.jsonl", both);
    let error = workspace.refuse("import both.jsonl", "E_IMPORT_INVALID");
    says(&error, "another task has its id in this file");
}

#[test]
fn reference_to_what_file_leaves_out_is_not_guessed() {
    let (ana, ben) = two_copies();
    ana.ok("add 'Of ana'");
    later(&ana, &["update", "T3", "--depends", "T6"]);
    ben.ok("add 'Of ben'");
    let lines = ana.ok("export").stdout;
    let part: Vec<&str> = lines
        .lines()
        .filter(|line| !line.contains("Of ana"))
        .collect();
    ben.write("part.jsonl", part.join("\n"));
    ben.ok("import part.jsonl");
    assert_eq!(field(&ben, "T3", "depends"), serde_json::json!(["T2"]));
    assert_eq!(
        field(&ben, "T3", "extra")["danglingDepends"],
        serde_json::json!(["T6"])
    );
}

/// Hands the tasks of one copy of a workspace to another and returns what the import said.
fn hand_over(from: &TestWorkspace, to: &TestWorkspace) -> String {
    to.write("tasks.jsonl", from.ok("export").stdout);
    let told = to.cleo("import tasks.jsonl");
    fs::remove_file(to.path("tasks.jsonl")).unwrap();
    told
}

/// Makes two copies of the same tasks.
fn two_copies() -> (TestWorkspace, TestWorkspace) {
    let (ana, ben) = (TestWorkspace::with_plan(), TestWorkspace::new());
    hand_over(&ana, &ben);
    (ana, ben)
}

/// Runs a command half an hour later than others.
fn later(workspace: &TestWorkspace, arguments: &[&str]) {
    let mut command = workspace.command(arguments);
    command.env("CLEO_NOW", "2026-01-26T09:30:00Z");
    let reply = workspace.finish(command, "");
    assert_eq!(reply.exit, 0, "{reply}");
}

fn field(workspace: &TestWorkspace, id: &str, name: &str) -> Value {
    workspace.json(&["show", id])["result"]["task"][name].clone()
}

#[test]
fn two_copies_of_workspace_exchange_their_tasks() {
    let (ana, ben) = two_copies();
    ana.ok("update T2 --note 'read four papers'");
    ana.ok("complete T2");
    ana.ok("add 'Only of ana' --depends T3 --parent T1");
    later(&ana, &["update", "T4", "--priority", "low"]);
    ben.ok("add 'Only of ben'");
    ben.ok("update T4 --title 'Test the refresh'");
    later(
        &ben,
        &[
            "update",
            "T3",
            "--title",
            "Implement the refresh",
            "--depends",
            "T6",
        ],
    );
    let mut told = hand_over(&ana, &ben);
    told += &hand_over(&ben, &ana);
    told += &hand_over(&ana, &ben);
    told += &ana.ok("export").stdout;
    told += &ben.ok("export").stdout;
    insta::assert_snapshot!(told);
}

#[test]
fn older_file_changes_nothing() {
    let (ana, ben) = two_copies();
    ben.ok("complete T2");
    ben.ok("update T3 --title 'Another title' --label mine");
    let before = ben.state();
    let told = hand_over(&ana, &ben);
    assert_eq!(ben.state(), before);
    insta::assert_snapshot!(told);
}

#[test]
fn import_reopens_nothing_that_is_done_or_claimed() {
    let (ana, ben) = two_copies();
    ana.ok("complete T2");
    ana.ok("claim T5");
    for id in ["T2", "T5"] {
        later(
            &ben,
            &["update", id, "--title", &format!("Newer title of {id}")],
        );
    }
    let told = hand_over(&ben, &ana);
    assert!(told.contains("T2 keeps its status: done here"), "{told}");
    assert!(told.contains("T5 keeps its status: claimed here"), "{told}");
    assert_eq!(field(&ana, "T2", "status"), "done");
    assert_eq!(field(&ana, "T5", "status"), "active");
    assert_eq!(field(&ana, "T5", "title"), "Newer title of T5");
    hand_over(&ana, &ben);
    assert_eq!(field(&ben, "T2", "status"), "done");
    ana.ok("heartbeat T5");
}

#[test]
fn id_of_deleted_task_is_not_taken_again() {
    let (ana, ben) = two_copies();
    ana.ok("claim T2");
    ana.ok("delete T2 --force");
    hand_over(&ben, &ana);
    assert_eq!(field(&ana, "T6", "title"), field(&ben, "T2", "title"));
    ana.refuse("complete T2 --epoch 1", "E_TASK_NOT_FOUND");
}

#[test]
fn edit_is_later_than_import_before_it_by_any_clock() {
    let (ana, ben) = two_copies();
    later(&ben, &["update", "T2", "--title", "Title of ben"]);
    hand_over(&ben, &ana);
    ana.ok("update T2 --title 'Title of ana'");
    hand_over(&ben, &ana);
    assert_eq!(field(&ana, "T2", "title"), "Title of ana");
    hand_over(&ana, &ben);
    assert_eq!(field(&ben, "T2", "title"), "Title of ana");
}

#[test]
fn jointly_cyclic_changes_are_refused() {
    let (ana, ben) = two_copies();
    ana.ok("update T5 --depends T4");
    later(&ben, &["update", "T3", "--depends", "T5"]);
    ana.write("tasks.jsonl", ben.ok("export").stdout);
    let before = ana.ok("export").stdout;
    let refused = ana.refuse("import tasks.jsonl", "E_CYCLE");
    says(&refused, "T3, T4, T5 wait for each other");
    assert_eq!(ana.ok("export").stdout, before);
    ana.ok("import tasks.jsonl --drop-faults");
    assert_eq!(field(&ana, "T3", "depends"), serde_json::json!(["T2"]));
}

#[test]
fn invalid_uid_is_refused_with_its_line() {
    for uid in ["me", "8AAAAAAAAAAAAAAAAAAAAAAAAA"] {
        let line = format!(r#"{{"id":"T1","uid":"{uid}","title":"x"}}"#);
        let workspace = TestWorkspace::new().with("tasks.jsonl", line);
        let refused = workspace.refuse("import tasks.jsonl", "E_IMPORT_INVALID");
        let message = refused["message"].as_str().unwrap();
        let told = format!("line 1 (T1): its uid `{uid}` is not a ULID");
        assert!(message.contains(&told), "{message}");
    }
}

#[test]
fn deleted_task_comes_back() {
    let (ana, ben) = two_copies();
    ben.ok("delete T4 --force");
    later(&ben, &["cancel", "T5"]);
    let told = hand_over(&ana, &ben);
    assert!(
        told.contains("T4 is T6 here: its id is or was in use here"),
        "{told}"
    );
    assert_eq!(field(&ben, "T6", "uid"), field(&ana, "T4", "uid"));
    assert_eq!(field(&ben, "T5", "status"), "cancelled");
    hand_over(&ben, &ana);
    assert_eq!(field(&ana, "T5", "status"), "cancelled");
}

#[test]
fn task_has_same_uid_in_every_copy() {
    let (ana, ben) = two_copies();
    let uid = field(&ana, "T3", "uid");
    assert_eq!(uid.as_str().map(str::len), Some(26));
    ben.ok("add 'Takes T6'");
    ana.ok("add 'Also T6' --depends T3");
    assert!(
        hand_over(&ana, &ben)
            .contains("T6 is T7 here: its id is or was in use here, or is too large")
    );
    assert_eq!(field(&ben, "T3", "uid"), uid);
    assert_eq!(field(&ben, "T7", "uid"), field(&ana, "T6", "uid"));
    assert_eq!(field(&ben, "T7", "depends"), serde_json::json!(["T3"]));
}

#[test]
fn file_without_times_reverts_no_work_of_this_workspace() {
    let text = r#"{"tasks":[{"id":1,"title":"a"},{"id":2,"title":"b"},{"id":3,"title":"c"}],"metadata":{}}"#;
    let workspace = TestWorkspace::new().with("tasks.json", text);
    workspace.ok("import tasks.json");
    workspace.ok("update T1 --title mine");
    workspace.ok("complete T2");
    let before = workspace.state();
    let again = workspace.ask("import tasks.json")["result"].clone();
    assert_eq!(again["newerHere"]["shown"], serde_json::json!(["T1", "T2"]));
    assert_eq!(workspace.state(), before);
    workspace.write("tasks.json", text.replace("\"c\"", "\"changed\""));
    workspace.ok("import tasks.json");
    assert_eq!(field(&workspace, "T3", "title"), "changed");
    workspace.write("tasks.json", text.replace("\"c\"", "\"changed again\""));
    workspace.ok("import tasks.json");
    assert_eq!(field(&workspace, "T3", "title"), "changed again");
    assert_eq!(field(&workspace, "T1", "title"), "mine");
}
