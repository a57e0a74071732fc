//! Tables of the readers' rules. Whole files are in tests/it/transfer.rs.

use serde_json::{Value, json};

use super::formats::backlog::{self, Area, Config};
use super::*;
use crate::task::Status;

const NOW: &str = "2026-06-01T00:00:00.000Z";

/// Reads a document that has no fault, and returns its tasks.
fn records(format: Format, text: &str) -> Vec<Record> {
    let mut reading = Reading::new(format, NOW);
    reading.read(text.as_bytes());
    assert_eq!(reading.report.faults.shown, []);
    reading.records
}

fn issue(fields: Value) -> Record {
    let mut issue = json!({"id": "x-1", "title": "x", "issue_type": "task"});
    issue
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    let line = issue.to_string();
    records(Format::Beads, &line).remove(0)
}

#[test]
fn statuses_of_beads_mean_ours() {
    for (fields, status) in [
        (json!({}), Status::Pending),
        (json!({"status": "in_progress"}), Status::Active),
        (json!({"status": "hooked"}), Status::Active),
        (json!({"status": "deferred"}), Status::Blocked),
        (json!({"status": "pinned"}), Status::Blocked),
        (
            json!({"status": "closed", "close_reason": "wontfix"}),
            Status::Done,
        ),
        (
            json!({"status": "open", "defer_until": "2027-01-01T00:00:00Z"}),
            Status::Blocked,
        ),
        (
            json!({"status": "open", "defer_until": "2026-01-01T00:00:00Z"}),
            Status::Pending,
        ),
        (json!({"status": "verified"}), Status::Pending),
    ] {
        assert_eq!(issue(fields.clone()).task.status, status, "{fields}");
    }
}

#[test]
fn imported_labels_are_such_as_options_can_name() {
    for (labels, expected) in [
        (json!([" a ", "a", ""]), json!(["a"])),
        (json!(["p, q", "q", "r"]), json!(["p", "q", "r"])),
        (json!([","]), json!([])),
    ] {
        let task = issue(json!({"labels": labels})).task;
        assert_eq!(json!(task.labels), expected);
    }
}

#[test]
fn only_blocking_bead_links_block_tasks() {
    let edge = |kind: &str, on: &str| json!({"depends_on_id": on, "type": kind});
    let record = issue(json!({"id": "x-1.2", "dependencies": [
        edge("blocks", "a"), edge("waits-for", "b"), edge("conditional-blocks", "c"),
        edge("parent-child", "y"), edge("parent-child", "x-1"), edge("tracks", "external:p:q"),
        edge("any-word", "d"),
    ]}));
    let given = |references: &[Reference]| -> Vec<String> {
        references
            .iter()
            .map(|reference| reference.given.clone())
            .collect()
    };
    assert_eq!(given(&record.depends), ["a", "b"]);
    assert_eq!(
        given(&record.parents),
        ["x-1", "y"],
        "the dotted id names the parent"
    );
    assert_eq!(record.task.extra["relations"].as_array().unwrap().len(), 4);
}

#[test]
fn priority_0_of_beads_is_critical() {
    let record = issue(json!({"priority": 0, "due_at": "1970-01-01T00:00:00Z"}));
    assert_eq!(
        (record.task.priority.word(), record.task.due),
        ("critical", None)
    );
}

#[test]
fn criteria_of_beads_begin_with_dash_and_lose_their_boxes() {
    for (text, criteria) in [
        ("- a\n- b\n  more", vec!["a", "b more"]),
        ("- [ ] a\n- [x] b\n- [X] c", vec!["a", "b", "c"]),
        ("It holds - always", vec!["It holds - always"]),
        ("", vec![]),
    ] {
        let record = issue(json!({"acceptance_criteria": text}));
        assert_eq!(record.task.acceptance, criteria, "{text}");
    }
}

#[test]
fn references_of_task_master_are_read_as_tool_writes_them() {
    let file = json!({"t": {"metadata": {}, "tasks": [
        {"id": 1, "title": "a", "dependencies": ["2", 2, "2.1"]},
        {"id": "2", "title": "b", "subtasks": [
            {"id": 1, "title": "c", "dependencies": [2, "2", 1, 9, "1.5"]},
            {"id": 2, "title": "d", "dependencies": ["7"]},
        ]},
    ]}});
    let text = file.to_string();
    let records = records(Format::Taskmaster, &text);
    let readings = |at: usize| -> Vec<String> {
        let depends = records[at].depends.iter();
        depends
            .map(|reference| reference.readings.join(" or "))
            .collect()
    };
    assert_eq!(readings(0), ["t/2", "t/2", "t/2.1"]);
    let expected = ["t/2.2 or t/2", "t/2 or t/2.2", "t/1", "t/9", "t/1.5"];
    assert_eq!(readings(2), expected);
    assert_eq!(readings(3), ["t/7"]);
    assert_eq!(records[2].id, "t/2.1");
}

#[test]
fn dependencies_of_taskwarrior_come_in_three_forms() {
    for depends in [json!("A,b"), json!(["A", "b"]), json!("[\"A\",\"b\"]")] {
        let text =
            json!([{"uuid": "u", "description": "x", "status": "pending", "depends": depends}]);
        let text = text.to_string();
        let records = records(Format::Taskwarrior, &text);
        let readings: Vec<&str> = records[0]
            .depends
            .iter()
            .map(|reference| reference.readings[0].as_str())
            .collect();
        assert_eq!(readings, ["a", "b"], "{depends}");
    }
}

#[test]
fn statuses_of_taskwarrior_mean_ours() {
    for (fields, status) in [
        (json!({"status": "pending"}), Status::Pending),
        (
            json!({"status": "pending", "start": "20260101T000000Z"}),
            Status::Active,
        ),
        (
            json!({"status": "pending", "wait": "20270101T000000Z"}),
            Status::Blocked,
        ),
        (
            json!({"status": "pending", "wait": "20260101T000000Z"}),
            Status::Pending,
        ),
        (
            json!({"status": "pending", "scheduled": "20270101T000000Z"}),
            Status::Blocked,
        ),
        (json!({"status": "waiting"}), Status::Blocked),
        (json!({"status": "recurring"}), Status::Blocked),
        (json!({"status": "completed"}), Status::Done),
        (json!({"status": "deleted"}), Status::Cancelled),
    ] {
        let mut task = json!({"uuid": "u", "description": "x"});
        task.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        let text = task.to_string();
        let records = records(Format::Taskwarrior, &text);
        assert_eq!(records[0].task.status, status, "{fields}");
    }
}

#[test]
fn criteria_that_repeat_child_are_dropped_only_with_it() {
    let file = json!({"_meta": {"schemaVersion": "2"}, "tasks": [
        {"id": "T001", "title": "a", "acceptance": ["own", "Complete child T002: b", "Complete child T003: c"]},
        {"id": "T002", "title": "b"},
    ]});
    let text = file.to_string();
    let records = records(Format::Todo, &text);
    assert_eq!(
        records[0].task.acceptance,
        ["own", "Complete child T003: c"]
    );
}

#[test]
fn end_times_that_contradict_status_are_set_aside() {
    let (one, other) = ("2026-01-03T22:58:36Z", "2026-01-04T00:00:00Z");
    let (completed, cancelled) = (json!({"completedAt": one}), json!({"cancelledAt": one}));
    let read = |at: &str| Some(moment::read(at).unwrap());
    for (status, ends, times, kept) in [
        ("pending", &completed, [None, None], Some(&completed)),
        ("active", &cancelled, [None, None], Some(&cancelled)),
        ("done", &completed, [read(one), None], None),
        ("done", &cancelled, [None, None], Some(&cancelled)),
        ("cancelled", &completed, [None, read(one)], None),
        (
            "cancelled",
            &json!({"completedAt": one, "cancelledAt": one}),
            [None, read(one)],
            None,
        ),
        (
            "cancelled",
            &json!({"completedAt": one, "cancelledAt": other}),
            [None, read(other)],
            Some(&completed),
        ),
    ] {
        let mut task = json!({"id": "T1", "title": "a", "status": status});
        let ends = ends.as_object().unwrap().clone();
        task.as_object_mut().unwrap().extend(ends);
        let text = json!({"_meta": {"schemaVersion": "2"}, "tasks": [task]}).to_string();
        let records = records(Format::Todo, &text);
        let task = &records[0].task;
        let found = [&task.completed_at, &task.cancelled_at];
        assert_eq!(found, times.each_ref(), "{text}");
        assert_eq!(task.extra.get("todo"), kept, "{text}");
    }
}

fn page(text: &str, area: Area) -> Record {
    let config = Config::read(b"statuses: [Backlog, Doing, Shipped]\n");
    let mut reading = Reading::new(Format::Backlog, NOW);
    backlog::read(text.as_bytes(), area, &config, &mut reading);
    assert_eq!(reading.report.faults.shown, []);
    reading.records.remove(0)
}

#[test]
fn backlog_status_depends_on_folder_and_config() {
    for (word, area, status) in [
        ("backlog", Area::Tasks, Status::Pending),
        ("Doing", Area::Tasks, Status::Active),
        ("SHIPPED", Area::Tasks, Status::Done),
        ("Won't Do", Area::Tasks, Status::Cancelled),
        ("Backlog", Area::Completed, Status::Done),
        ("Shipped", Area::Drafts, Status::Blocked),
        ("Doing", Area::Archive, Status::Cancelled),
        ("Shipped", Area::Archive, Status::Done),
    ] {
        let text = format!("---\nid: A-1\ntitle: x\nstatus: {word}\n---\n");
        assert_eq!(page(&text, area).task.status, status, "{word} {area:?}");
    }
}

#[test]
fn sections_of_backlog_end_where_tool_ends_them() {
    let text = "---\r\nid: A-01.02\r\ntitle: 'it''s: x'\r\nassignee: [@dana, \"lee\"]\r\nreporter: @kim\r\n---\r\n\
        ## Description\r\n\r\n<!-- SECTION:DESCRIPTION:BEGIN -->\r\nText\r\n\r\n## Notes\r\n\r\n---\r\nmore\r\n\
        <!-- SECTION:DESCRIPTION:END -->\r\n\r\n## Acceptance Criteria (Optional)\r\n- [x] #1 one\r\n- [ ] two\r\n- three\r\n\r\n\
        ## Implementation Notes\r\n\r\n```\r\n## Comments\r\n```\r\n";
    let record = page(text, Area::Tasks);
    assert_eq!(
        (record.key.as_str(), record.alias.as_deref()),
        ("a-1.2", Some("#1.2"))
    );
    assert_eq!(record.task.title, "it's: x");
    assert_eq!(
        record.task.description,
        "Text\r\n\r\n## Notes\r\n\r\n---\r\nmore"
    );
    assert_eq!(record.task.acceptance, ["one", "two", "three"]);
    assert_eq!(record.task.notes[0].text, "```\r\n## Comments\r\n```");
    assert_eq!(record.parents[0].given, "A-01");
    assert_eq!(record.task.extra["backlog"]["reporter"], "@kim");
}

#[test]
fn what_file_is_is_in_it() {
    for (text, format) in [
        (
            "\u{feff}{\"cleo\":\"tasks\",\"version\":1}\r\n",
            Format::Cleo,
        ),
        ("\n{\"id\":\"T001\",\"title\":\"x\"}", Format::Cleo),
        (
            "<<<<<<< HEAD\n{\"id\":\"x-1\",\"issue_type\":\"bug\"}",
            Format::Beads,
        ),
        ("{\"_schema\":\"beads-jsonl/1\"}\n", Format::Beads),
        (
            "{\"uuid\":\"u\",\"entry\":\"e\",\"description\":\"d\"}",
            Format::Taskwarrior,
        ),
        (
            "[{\"uuid\":\"u\",\"entry\":\"e\",\"description\":\"d\"}]",
            Format::Taskwarrior,
        ),
        (
            "{\"tasks\":[{\"id\":\"T001\"}],\"_meta\":{\"schemaVersion\":\"2\"}}",
            Format::Todo,
        ),
        (
            "{\"tasks\":[{\"id\":\"T1\"},{\"id\":\"T4294967296\"}],\"_meta\":{\"schemaVersion\":\"2\"}}",
            Format::Todo,
        ),
        ("{\"archivedTasks\":[],\"version\":\"2\"}", Format::Todo),
        (
            "{\n\"tasks\":[],\"_meta\":{\"format\":\"cleo-export\"}}",
            Format::Todo,
        ),
        (
            "{\"tasks\":[{\"id\":1}],\"metadata\":{}}",
            Format::Taskmaster,
        ),
        (
            "{\"master\":{\"tasks\":[]},\"x\":{\"tasks\":[],\"metadata\":{}}}",
            Format::Taskmaster,
        ),
    ] {
        assert_eq!(detect::detect(text.as_bytes()), [format], "{text}");
    }
    let foreign = "{\"tasks\":[{\"id\":\"Tx\"}],\"_meta\":{\"schemaVersion\":\"2\"}}";
    for text in [
        "",
        "hello",
        "{}",
        "[]",
        "[1]",
        "{\"a\":1}",
        "\0\0\0",
        foreign,
    ] {
        assert_eq!(detect::detect(text.as_bytes()), [], "{text}");
    }
}

#[test]
fn no_bytes_make_reader_panic() {
    let samples: [&[u8]; 12] = [
        b"",
        b"\xff\xfe",
        b"{",
        b"[",
        b"null",
        b"---",
        b"---\n---",
        b"{\"tasks\":[1,null,{}]}",
        b"\xef\xbb\xbf",
        b"[null]",
        b"{\"a\":{\"tasks\":[[]]}}",
        b"---\nid: [\n---\n",
    ];
    for bytes in samples {
        for format in Format::ALL {
            Reading::new(*format, NOW).read(bytes);
        }
        let mut reading = Reading::new(Format::Backlog, NOW);
        backlog::read(bytes, Area::Tasks, &Config::read(bytes), &mut reading);
    }
}
