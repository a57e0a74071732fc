//! The rules for entries and lines as tables.

use serde_json::{Value, json};

use super::entry::{Entry, LINE_MAX, Status};
use super::line::{self, Item};
use crate::error::Code;
use crate::id::TaskId;

/// The line of the document.
const LINE: &str = r#"{"id":"topic-2026-01-26","file":"2026-01-26_topic.md","title":"Title","date":"2026-01-26","status":"complete","topics":["t1"],"key_findings":["Finding 1","Finding 2","Finding 3"],"actionable":true,"needs_followup":[],"linked_tasks":["T1000","T1234"]}"#;

fn with_field(field: &str, value: Value) -> Value {
    let mut entry: Value = serde_json::from_str(LINE).unwrap();
    entry[field] = value;
    entry
}

fn faults(value: &Value) -> Vec<String> {
    let faults = Entry::read(&value.to_string()).err().unwrap_or_default();
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn sample_line_of_spec_round_trips() {
    let entry = Entry::read(LINE).unwrap();
    assert_eq!(entry.status, Status::Complete);
    assert_eq!(entry.linked_tasks, [TaskId(1000), TaskId(1234)]);
    assert_eq!(entry.line().unwrap(), LINE);
}

#[test]
fn every_value_that_notes_allow_is_taken() {
    for (field, value) in [
        ("id", json!("A.b_c-9")),
        ("id", json!("x".repeat(200))),
        ("file", json!("sub/./2026.md")),
        (
            "title",
            json!("Tokens {{X}}, `ticks`, \"quotes\" & <b>tags</b>: ünïcode"),
        ),
        ("date", json!("2024-02-29")),
        ("status", json!("partial")),
        ("status", json!("archived")),
        ("topics", json!([])),
        ("key_findings", json!(["1", "2", "3", "4", "5", "6", "7"])),
        (
            "key_findings",
            json!(["two\nlines", "x < y and y > z", "<a> or <b>"]),
        ),
        ("actionable", json!(false)),
        (
            "needs_followup",
            json!(["T2", "BLOCKED:no network", "BLOCKED: no key"]),
        ),
        ("linked_tasks", json!([])),
        ("agent_type", json!("research")),
        ("created_at", json!("2026-01-26T09:00:00+01:00")),
        ("created_at", json!(null)),
        ("unknown", json!({"deep": [1, null, {"x": 1.5}]})),
    ] {
        assert_eq!(
            faults(&with_field(field, value.clone())),
            [] as [&str; 0],
            "{field}: {value}"
        );
    }
}

#[test]
fn every_value_that_notes_refuse_is_refused_by_name() {
    for (field, value, message) in [
        (
            "id",
            json!(""),
            "id is ``, not one word of letters, digits, `.`, `_`, `-` up to 200 long",
        ),
        ("id", json!("two words"), "id is `two words`, not one word"),
        ("id", json!("a/b"), "id is `a/b`, not one word"),
        ("id", json!("x".repeat(201)), "…`, not one word"),
        ("id", json!(7), "id is a number, not a text"),
        ("id", json!(null), "id is missing"),
        (
            "file",
            json!("/etc/passwd"),
            "file is `/etc/passwd`, which leads out",
        ),
        ("file", json!("a/../../b.md"), "which leads out"),
        ("file", json!("..\\b.md"), "which leads out"),
        ("file", json!("."), "which names no file"),
        ("file", json!("sub/"), "which names no file"),
        ("file", json!(""), "file is ``, which is empty"),
        ("file", json!("a\nb.md"), "file is `a\\nb.md`, not one line"),
        ("title", json!("  "), "which is empty"),
        (
            "title",
            json!("a\nb"),
            "title is `a\\nb`, not one line without control characters",
        ),
        (
            "title",
            json!("a\u{1b}[2J"),
            "title is `a\\u{1b}[2J`, not one line",
        ),
        ("title", json!("a\u{9b}2J"), "not one line"),
        (
            "title",
            json!("<title>"),
            "title is `<title>`, which is still to be replaced",
        ),
        (
            "title",
            json!("x".repeat(501)),
            "longer than 500 characters",
        ),
        (
            "date",
            json!("2026-02-30"),
            "date is `2026-02-30`, no date like 2026-01-26",
        ),
        ("date", json!("26.1.2026"), "no date like"),
        (
            "status",
            json!("done"),
            "status is `done`, not one of complete, partial, blocked, archived",
        ),
        ("status", json!("Complete"), "not one of"),
        (
            "status",
            json!("<complete|partial|blocked>"),
            "which is still to be replaced",
        ),
        (
            "topics",
            json!("t1"),
            "topics is a text, not a list of texts",
        ),
        (
            "topics",
            json!(["t", 1]),
            "topics holds a number, not only texts",
        ),
        ("topics", json!([""]), "topics holds ``, which is empty"),
        (
            "key_findings",
            json!(["1", "2"]),
            "key_findings has 2; a complete entry has 3 to 7",
        ),
        (
            "key_findings",
            json!([1, 2, 3, 4, 5, 6, 7, 8]),
            "has 8; a complete entry",
        ),
        (
            "key_findings",
            json!(["1", "2", "<fact>"]),
            "key_findings holds `<fact>`, which is still",
        ),
        (
            "key_findings",
            json!(["1", "2", "\u{7}"]),
            "not free of control characters",
        ),
        (
            "actionable",
            json!("true"),
            "actionable is a text, not true or false",
        ),
        (
            "needs_followup",
            json!(["later"]),
            "needs_followup holds `later`, neither a task id",
        ),
        ("needs_followup", json!(["BLOCKED:"]), "neither a task id"),
        (
            "needs_followup",
            json!(["BLOCKED:<reason>"]),
            "neither a task id",
        ),
        ("needs_followup", json!(null), "needs_followup is missing"),
        (
            "linked_tasks",
            json!(["T2, T3"]),
            "linked_tasks holds `T2, T3`, no task id like T12",
        ),
        ("linked_tasks", json!([" T2"]), "no task id"),
        (
            "linked_tasks",
            json!({"T2": 1}),
            "linked_tasks is an object, not a list",
        ),
        (
            "created_at",
            json!("yesterday"),
            "created_at is `yesterday`, no time like",
        ),
        ("skill", json!(["x"]), "skill is a list, not a text"),
    ] {
        let found = faults(&with_field(field, value.clone()));
        assert!(
            found.iter().any(|fault| fault.contains(message)),
            "{field} {value}: {found:?}"
        );
        assert!(
            found.iter().all(|fault| fault.starts_with(field)),
            "{field} {value}: {found:?}"
        );
    }
}

#[test]
fn partial_and_blocked_entries_may_have_few_findings() {
    for status in ["partial", "blocked", "archived"] {
        let mut entry = with_field("status", json!(status));
        entry["key_findings"] = json!([]);
        assert_eq!(faults(&entry), [] as [&str; 0], "{status}");
    }
}

#[test]
fn every_fault_is_named_at_once() {
    let found = faults(&json!({"id": "a b", "status": "done", "topics": [1], "actionable": 1}));
    let fields: Vec<_> = found
        .iter()
        .filter_map(|fault| fault.split(' ').next())
        .collect();
    let all =
        "id file title date status topics key_findings actionable needs_followup linked_tasks";
    assert_eq!(fields, all.split(' ').collect::<Vec<_>>());
}

#[test]
fn field_that_stands_twice_is_fault() {
    let text = LINE.replacen("{", r#"{"id":"other","x":1,"x":2,"#, 1);
    let faults = Entry::read(&text).unwrap_err();
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        ["`x` is a duplicate field", "`id` is a duplicate field"]
    );
}

#[test]
fn unknown_fields_keep_their_place_among_themselves() {
    let text = LINE.replacen("{", r#"{"zeta":1,"alpha":{"b":[2.5]},"#, 1);
    let line = Entry::read(&text).unwrap().line().unwrap();
    assert!(
        line.ends_with(r#","zeta":1,"alpha":{"b":[2.5]}}"#),
        "{line}"
    );
}

#[test]
fn task_ids_are_written_in_one_spelling() {
    let entry =
        Entry::read(&with_field("linked_tasks", json!(["t7", "T007"])).to_string()).unwrap();
    assert_eq!(entry.linked_tasks, [TaskId(7), TaskId(7)]);
    assert!(
        entry
            .line()
            .unwrap()
            .contains(r#""linked_tasks":["T7","T7"]"#)
    );
}

#[test]
fn what_is_no_object_says_why_and_where() {
    for (text, message) in [
        ("", "entry is empty; one JSON object is due"),
        ("[1]", "entry is JSON but no object"),
        ("{\"id\":\"a\"", "entry ends in the middle, at column 9"),
        (
            "hello",
            "entry is not a JSON object: expected value at column 1",
        ),
        (
            "{} {}",
            "entry is not a JSON object: trailing characters at column 4",
        ),
        (
            "{\n\"a\": x}",
            "entry is not a JSON object: expected value at line 2 column 6",
        ),
        (
            r#"{"title":"say "hi""}"#,
            "entry is not a JSON object: expected `,` or `}` at column 16; \
             a quote inside of a text is written `\\\"`",
        ),
        (
            "{\"actionable\":<true|false>,\"x\":1}",
            "entry holds `<true|false>` at column 15, which is still to be replaced",
        ),
    ] {
        let faults = Entry::read(text).unwrap_err();
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].to_string(), message, "{text}");
    }
}

#[test]
fn overlong_entry_is_refused() {
    let entry = Entry::read(&with_field("note", json!("x".repeat(LINE_MAX))).to_string()).unwrap();
    assert!(
        entry
            .line()
            .unwrap_err()
            .message
            .contains("1048576 are allowed")
    );
}

/// Returns the items of a line: ids of entries, and codes with the ids of faulty parts.
fn items(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    line::parse_items(1, bytes, &mut |item| {
        found.push(match item {
            Item::Entry(draft) => draft.id().unwrap().to_string(),
            Item::Faulty(faulty) => {
                format!("{} {}", faulty.code.name(), faulty.id.unwrap_or_default())
            }
        });
    });
    found
}

#[test]
fn whatever_stands_whole_in_line_is_found() {
    let other = LINE.replace("topic-2026", "other-2026");
    let short = other.replace(r#","Finding 3""#, "");
    for (text, expected) in [
        (String::new(), vec![]),
        ("  \t\r".into(), vec![]),
        (LINE.into(), vec!["topic-2026-01-26"]),
        (format!("\u{feff} {LINE} \r"), vec!["topic-2026-01-26"]),
        (LINE[..100].into(), vec!["E_LINE_TORN topic-2026-01-26"]),
        ("# notes".into(), vec!["E_LINE_FOREIGN "]),
        ("[1,2]".into(), vec!["E_LINE_FOREIGN "]),
        ("\0\0\0\0".into(), vec!["E_LINE_FOREIGN "]),
        (short.clone(), vec!["E_ENTRY_INVALID other-2026-01-26"]),
        (
            format!("{LINE}{other}"),
            vec![
                "E_LINE_TORN topic-2026-01-26",
                "topic-2026-01-26",
                "other-2026-01-26",
            ],
        ),
        (
            format!("{}{other}", &LINE[..100]),
            vec!["E_LINE_TORN topic-2026-01-26", "other-2026-01-26"],
        ),
        (
            format!("{LINE}{}", &other[..100]),
            vec!["E_LINE_TORN topic-2026-01-26", "topic-2026-01-26"],
        ),
        (
            format!("{}{short}", &LINE[..100]),
            vec![
                "E_LINE_TORN topic-2026-01-26",
                "E_ENTRY_INVALID other-2026-01-26",
            ],
        ),
        (
            format!("done: {other}"),
            vec!["E_LINE_TORN other-2026-01-26", "other-2026-01-26"],
        ),
    ] {
        assert_eq!(items(text.as_bytes()), expected, "{text}");
    }
    let bytes = [LINE.as_bytes(), b"\xff"].concat();
    assert_eq!(items(&bytes), ["E_LINE_FOREIGN topic-2026-01-26"]);
}

#[test]
fn hostile_line_costs_no_more_than_its_length_and_no_stack() {
    let started = measure_cpu();
    for text in ["[", "{\"a\":", "{\"", "{\"\":0}", "\"{\\\""] {
        items(text.repeat(LINE_MAX / text.len()).as_bytes());
    }
    // A reader whose cost grew with the square of the length would take hours.
    let spent = measure_cpu() - started;
    assert!(spent.as_secs() < 60, "{spent:?}");
}

/// Returns how long this thread has had the processor: others on the machine do not count.
fn measure_cpu() -> std::time::Duration {
    let clock = nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID;
    nix::time::clock_gettime(clock).unwrap().into()
}

#[test]
fn ids_of_plain_lines_are_read_without_taking_them_apart() {
    let spaced = LINE.replacen("{\"id\":", "{ \"id\" : ", 1);
    for (text, expected) in [
        (LINE, Some("topic-2026-01-26")),
        (&spaced, Some("topic-2026-01-26")),
        (&LINE[..60], Some("topic-2026-01-26")),
        (&LINE[..12], None),
        (&LINE.replace("\"t1\"", "\"{\""), None),
        (&format!("{LINE}{LINE}"), None),
        (&LINE.replace("topic-", "\\u0074opic-"), None),
    ] {
        assert_eq!(line::plain_id(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn codes_of_faulty_lines_are_in_table_with_exit_6() {
    for code in [
        Code::LineTorn,
        Code::LineForeign,
        Code::LineTooLong,
        Code::LineDuplicate,
    ] {
        assert_eq!(code.exit_code(), 6);
    }
}
