//! The file: appending, reading around what is broken, and properties of both.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::append::append_within;
use super::*;
use crate::error::Code;
use crate::id::TaskId;
use crate::manifest::entry::Followup;
use crate::manifest::{Entry, Status};

struct Log {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn log(bytes: impl AsRef<[u8]>) -> Log {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("MANIFEST.jsonl");
    fs::write(&path, bytes).unwrap();
    Log {
        _folder: folder,
        path,
    }
}

fn entry(id: &str, tasks: &[u32]) -> Entry {
    let linked: Vec<String> = tasks.iter().map(|number| format!("T{number}")).collect();
    let value = json!({
        "id": id, "file": format!("{id}.md"), "title": "Title", "date": "2026-01-26",
        "status": "complete", "topics": ["t"], "key_findings": ["1", "2", "3"],
        "actionable": true, "needs_followup": [], "linked_tasks": linked,
    });
    Entry::read(&value.to_string()).unwrap()
}

fn line(id: &str, tasks: &[u32]) -> String {
    entry(id, tasks).line().unwrap() + "\n"
}

/// All that a scan sees: `line id`, or `line CODE`.
fn list_seen(path: &Path) -> Vec<String> {
    let mut seen = Vec::new();
    scan(path, |line| {
        seen.push(match line {
            Line::Entry(number, draft) => format!("{number} {}", draft.id().unwrap()),
            Line::Faulty(faulty) => format!("{} {}", faulty.line, faulty.code.name()),
        });
    })
    .unwrap();
    seen
}

fn ids(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.id.as_str()).collect()
}

#[test]
fn missing_file_is_empty_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none/MANIFEST.jsonl");
    assert_eq!(list_seen(&path), [] as [&str; 0]);
    assert_eq!(find(&path, "a").unwrap(), Found::default());
    assert_eq!(for_tasks(&path, &[TaskId(1)]).unwrap(), []);
    append(&path, &entry("a", &[1])).unwrap();
    assert_eq!(list_seen(&path), ["1 a"]);
}

#[test]
fn folder_in_its_place_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for result in [
        scan(folder.path(), |_| ()),
        append(folder.path(), &entry("a", &[])).map(|_| ()),
    ] {
        assert_eq!(result.unwrap_err().code, Code::FileUnreadable);
    }
}

#[test]
fn faulty_lines_are_named() {
    let long = "x".repeat(crate::manifest::entry::LINE_MAX + 1);
    let parts: [&[u8]; 11] = [
        b"\xef\xbb\xbf",
        line("a", &[1]).as_bytes(),
        b"\n  \r\n",
        b"{\"id\":\"torn\",\"file\":\n",
        line("b", &[2]).trim_end().as_bytes(),
        b"\r\nnotes\n\xff\xfe\n",
        long.as_bytes(),
        b"\n",
        line("a", &[3]).as_bytes(),
        line("c", &[1]).as_bytes(),
        line("d", &[1]).trim_end().as_bytes(),
    ]
    .map(|part| Box::leak(part.to_vec().into_boxed_slice()) as &[u8]);
    let log = log(parts.concat());
    let expected = [
        "1 a",
        "4 E_LINE_TORN",
        "5 b",
        "6 E_LINE_FOREIGN",
        "7 E_LINE_FOREIGN",
        "8 E_LINE_TOO_LONG",
        "9 E_LINE_DUPLICATE",
        "10 c",
        "11 d",
    ];
    assert_eq!(list_seen(&log.path), expected);
    assert_eq!(
        ids(&for_tasks(&log.path, &[TaskId(1)]).unwrap()),
        ["a", "c", "d"]
    );
}

#[test]
fn first_of_two_entries_counts() {
    let log = log(line("a", &[1]) + &line("a", &[2]) + &line("b", &[2]));
    let found = find(&log.path, "a").unwrap();
    assert_eq!(
        found.entry.map(|(line, entry)| (line, entry.linked_tasks)),
        Some((1, vec![TaskId(1)]))
    );
    assert_eq!(
        found.faulty[0].to_string(),
        "line 2: the line repeats a of line 1, which counts"
    );
    assert_eq!(ids(&for_tasks(&log.path, &[TaskId(2)]).unwrap()), ["b"]);
}

#[test]
fn last_entry_of_task_that_counts_is_kept() {
    let archived = line("d", &[1, 2]).replace("complete", "archived");
    let repeated = line("a", &[3]);
    let log = log(line("a", &[1]) + &line("b", &[1, 3]) + &line("c", &[1]) + &repeated + &archived);
    let tasks = [TaskId(1), TaskId(2), TaskId(3)];
    let latest = latest_for(&log.path, &tasks, |entry| entry.id != "c").unwrap();
    let id = |task| latest.entry(task).map(|entry| entry.id.as_str());
    assert_eq!(tasks.map(id), [Some("b"), None, Some("b")]);
}

#[test]
fn names_of_date_are_found_wherever_they_stand() {
    let named = |id: &str, file: &str| {
        let made = line("made", &[1]).replace("made.md", file);
        made.replace("\"made\"", &format!("\"{id}\""))
    };
    let lines = [
        named("a-2026-01-26", "2026-01-26_a.md"),
        named("b-2026-01-26-2", "./deep/2026-01-26_b.md"),
        named("c-2026-01-25", "2026-01-25_c.md"),
        named("d\\u002d2026-01-26", "2026-01-26\\u005fd.md"),
        "{\"id\":\"torn-2026-01-26\",\"file\":\"2026-01-26_torn.md\"\n".to_string(),
    ];
    let log = log(lines.concat());
    let taken = collect_taken(&log.path, "2026-01-26").unwrap();
    for id in [
        "a-2026-01-26",
        "b-2026-01-26-2",
        "d-2026-01-26",
        "torn-2026-01-26",
    ] {
        assert!(taken.has_id(id), "{id}");
    }
    for file in [
        "2026-01-26_a.md",
        "2026-01-26_b.md",
        "2026-01-26_d.md",
        "2026-01-26_torn.md",
    ] {
        assert!(taken.has_file(file), "{file}");
    }
    assert!(!taken.has_id("c-2026-01-25") && !taken.has_file("2026-01-25_c.md"));
}

#[test]
fn missing_and_faulty_entry_are_told_apart() {
    let good = line("good", &[1]);
    let short = line("short", &[1]).replace(",\"3\"", "");
    let log = log(format!(
        "{good}{short}{}\n{}",
        &good[..40],
        &line("tail", &[1])[..60]
    ));
    for (id, entry, lines) in [
        ("none", None, vec![]),
        ("good", Some(1), vec![3]),
        ("short", None, vec![2]),
        ("tail", None, vec![4]),
    ] {
        let found = find(&log.path, id).unwrap();
        assert_eq!(found.entry.map(|(line, _)| line), entry, "{id}");
        let faulty: Vec<usize> = found.faulty.iter().map(|faulty| faulty.line).collect();
        assert_eq!(faulty, lines, "{id}");
    }
}

#[test]
fn good_entry_counts_where_only_faulty_line_had_its_id() {
    let log = log(line("a", &[1]).replace(",\"3\"", ""));
    let warnings = append(&log.path, &entry("a", &[1])).unwrap();
    assert_eq!(
        warnings,
        ["line 1: key_findings has 2; a complete entry has 3 to 7; it does not count"]
    );
    assert_eq!(list_seen(&log.path), ["1 E_ENTRY_INVALID", "2 a"]);
}

#[test]
fn torn_tail_gets_its_end_and_is_reported() {
    let whole = line("a", &[1]);
    for (before, expected) in [
        (whole[..50].to_string(), ["1 E_LINE_TORN", "2 b"]),
        (whole.trim_end().to_string(), ["1 a", "2 b"]),
    ] {
        let log = log(&before);
        let warnings = append(&log.path, &entry("b", &[])).unwrap();
        assert!(warnings[0].contains("had no end"), "{warnings:?}");
        assert_eq!(list_seen(&log.path), expected);
        assert_eq!(
            fs::read_to_string(&log.path).unwrap(),
            format!("{before}\n{}", line("b", &[]))
        );
    }
}

#[test]
fn who_waits_too_long_for_lock_is_told() {
    let log = log(line("a", &[1]));
    let holder = OpenOptions::new().append(true).open(&log.path).unwrap();
    holder.lock().unwrap();
    let patience = Duration::from_millis(20);
    let error = append_within(&log.path, &entry("b", &[]), patience).unwrap_err();
    assert_eq!(error.code, Code::LockTimeout);
    assert!(error.is_retryable());
    drop(holder);
    append_within(&log.path, &entry("b", &[]), patience).unwrap();
    assert_eq!(list_seen(&log.path), ["1 a", "2 b"]);
}

#[test]
fn append_writes_to_the_replacing_file() {
    let log = log(line("a", &[1]));
    let holder = OpenOptions::new().append(true).open(&log.path).unwrap();
    holder.lock().unwrap();
    let path = log.path.clone();
    let waiting = std::thread::spawn(move || append(&path, &entry("b", &[])));
    let new = log.path.with_extension("new");
    fs::write(&new, line("c", &[1])).unwrap();
    fs::rename(&new, &log.path).unwrap();
    drop(holder);
    waiting.join().unwrap().unwrap();
    assert_eq!(list_seen(&log.path), ["1 c", "2 b"]);
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let text = "[^\\p{Cc}<>]{0,20}[a-zA-Z&{}'\"\\\\]";
    let findings = vec(r"[^\p{Cc}<>]{0,20}[a-z](\n[a-z\t\\]{0,5}[a-z])?", 3..8);
    let id = "[A-Za-z0-9._-]{1,30}";
    let followups = vec(
        prop_oneof![
            (1u32..99).prop_map(|n| Followup::Task(TaskId(n))),
            text.prop_map(Followup::Blocked)
        ],
        0..3,
    );
    let names = (
        id,
        "[a-z]{1,9}/[a-z0-9_-]{1,20}\\.md",
        text,
        proptest::option::of(text),
    );
    let lists = (vec(text, 0..4), findings, followups, vec(1u32..500, 0..4));
    let extra = vec(("[A-Z{}\"é]{1,6}", text), 0..3);
    (names, lists, any::<bool>(), extra).prop_map(|(names, lists, actionable, extra)| Entry {
        id: names.0,
        file: names.1,
        title: names.2,
        date: "2026-01-26".into(),
        status: Status::Complete,
        topics: lists.0,
        key_findings: lists.1,
        actionable,
        needs_followup: lists.2,
        linked_tasks: lists.3.into_iter().map(TaskId).collect(),
        agent_type: names.3,
        created_by: None,
        created_at: Some("2026-01-26T09:00:00.000Z".into()),
        skill: None,
        run: None,
        output_digest: None,
        extra: extra
            .into_iter()
            .map(|(name, value)| (name, raw(&json!({"v": value}))))
            .collect(),
    })
}

fn junk() -> impl Strategy<Value = Vec<u8>> {
    let bytes = vec(
        any::<u8>().prop_filter("no line end", |byte| *byte != b'\n'),
        0..60,
    );
    let torn = (any_entry(), 0.0..1.0f64).prop_map(|(entry, part)| {
        let line = entry.line().unwrap().into_bytes();
        line[..(line.len() as f64 * part) as usize].to_vec()
    });
    let words = "[\\[\\]{}\":,a-z0-9 ]{0,40}".prop_map(String::into_bytes);
    prop_oneof![bytes, torn, words]
}

proptest! {
    #![proptest_config(crate::tests::cases(48))]

    #[test]
    fn appending_and_reading_is_identity(entries in vec(any_entry(), 1..5)) {
        let log = log("");
        let mut kept: Vec<Entry> = Vec::new();
        for entry in entries {
            if !kept.iter().any(|other| other.id == entry.id) {
                append(&log.path, &entry).unwrap();
                kept.push(entry);
            }
        }
        for (number, entry) in kept.iter().enumerate() {
            let found = find(&log.path, &entry.id).unwrap();
            prop_assert_eq!(found.entry.as_ref(), Some(&(number + 1, entry.clone())));
            for task in &entry.linked_tasks {
                prop_assert!(for_tasks(&log.path, &[*task]).unwrap().contains(entry));
            }
        }
    }

    #[test]
    fn junk_never_panics_nor_hides_lines_around_it(junk in vec(junk(), 1..6)) {
        let mut bytes = Vec::new();
        for (number, junk) in junk.iter().enumerate() {
            bytes.extend(line(&format!("good-{number}"), &[7]).into_bytes());
            bytes.extend(junk);
            bytes.push(b'\n');
        }
        let log = log(bytes);
        let seen = list_seen(&log.path);
        let wanted: HashSet<String> = (0..junk.len()).map(|n| format!("{} good-{n}", 2 * n + 1)).collect();
        prop_assert_eq!(seen.iter().filter(|line| wanted.contains(*line)).count(), junk.len());
        let linked = for_tasks(&log.path, &[TaskId(7)]).unwrap();
        prop_assert!(linked.iter().filter(|entry| entry.id.starts_with("good-")).count() == junk.len());
        prop_assert!(find(&log.path, "good-0").unwrap().entry.is_some());
    }
}

#[test]
fn lines_longer_than_chunk_come_whole() {
    let long = |id: &str| line(id, &[1]).replace("Title", &"x".repeat(400));
    let filled = |id: &str, n: usize| {
        line(id, &[1]).replacen('{', &format!("{{\"note\":\"{}\",", "y".repeat(n)), 1)
    };
    let text: String = (0..4)
        .map(|n| filled(&n.to_string(), 262_000 + 60 * n) + &long(&format!("l{n}")))
        .collect();
    let log = log(text.trim_end());
    let expected = ["1 0", "2 l0", "3 1", "4 l1", "5 2", "6 l2", "7 3", "8 l3"];
    assert_eq!(list_seen(&log.path), expected);
}

fn raw(value: &serde_json::Value) -> crate::manifest::entry::Raw {
    crate::manifest::entry::Raw::new(&serde_json::value::to_raw_value(value).unwrap())
}
