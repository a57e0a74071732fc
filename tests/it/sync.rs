//! Merging with a copy of the tasks in a file. Two workspaces stand for two people; the file that
//! they carry to and fro is what git would carry.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::world::TestWorkspace;

/// Two workspaces with the same two tasks, both in step with their copies.
fn pair() -> (TestWorkspace, TestWorkspace) {
    let one = TestWorkspace::new();
    one.ok("add 'Build it' --label a --priority high");
    one.ok("add 'Test it' --depends T1");
    one.ok("sync tasks.jsonl");
    let other = TestWorkspace::new().with("tasks.jsonl", one.read("tasks.jsonl"));
    other.ok("sync tasks.jsonl");
    // Clocks stand still between commands: what the second does comes later than what the first did.
    for _ in 0..20 {
        other.ok("list");
    }
    (one, other)
}

/// Returns a file without what its lines say of the versions that they come from.
pub(crate) fn plain(text: &str) -> String {
    let plain = |line: &str| match line.split_once(",\"history\":[") {
        Some((line, _)) => format!("{line}}}\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(plain).collect()
}

/// Writes for the first what git leaves of the files of both where it keeps each line of a conflict.
fn join(one: &TestWorkspace, other: &TestWorkspace) {
    let (mine, theirs) = (one.read("tasks.jsonl"), other.read("tasks.jsonl"));
    let mut lines: Vec<&str> = mine.lines().collect();
    lines.extend(theirs.lines().filter(|line| !mine.contains(line)));
    one.write("tasks.jsonl", lines.join("\n") + "\n");
}

fn carry(from: &TestWorkspace, to: &TestWorkspace) {
    to.write("tasks.jsonl", from.read("tasks.jsonl"));
}

fn sync(workspace: &TestWorkspace) -> Value {
    workspace.json(&["sync", "tasks.jsonl"])["result"].clone()
}

fn task(workspace: &TestWorkspace, id: &str) -> Value {
    workspace.json(&["show", id])["result"]["task"].clone()
}

/// Syncs the second, then the first, and checks that both have the same tasks then.
fn settle(one: &TestWorkspace, other: &TestWorkspace) -> [Value; 2] {
    sync(one);
    carry(one, other);
    let first = sync(other);
    carry(other, one);
    let second = sync(one);
    assert_eq!(one.ok("export").stdout, other.ok("export").stdout);
    assert_eq!(plain(&one.read("tasks.jsonl")), one.ok("export").stdout);
    for workspace in [one, other] {
        carry(one, workspace);
        let before = workspace.state();
        let idle = sync(workspace);
        assert_eq!(idle["here"], idle["inFile"], "{idle}");
        assert_eq!(idle["here"]["changed"], 0, "{idle}");
        assert_eq!(workspace.state(), before, "a second merge changes nothing");
    }
    [first, second]
}

#[test]
fn changes_of_different_fields_meet() {
    let (one, other) = pair();
    one.ok("update T1 --title 'Build it well' --label b");
    one.ok("update T1 --note 'from one'");
    other.ok("update T1 --priority low --label c");
    other.ok("update T1 --note 'from other'");
    other.ok("start T1");
    let [first, second] = settle(&one, &other);
    assert_eq!(
        (&first["conflicts"], &second["conflicts"]),
        (
            &Value::from([(); 0].map(|()| 0).to_vec()),
            &first["conflicts"]
        )
    );
    let task = task(&one, "T1");
    assert_eq!(
        (&task["title"], &task["priority"]),
        (&"Build it well".into(), &"low".into())
    );
    assert_eq!(task["labels"].to_string(), r#"["a","c","b"]"#);
    assert_eq!(task["status"], "active");
    let notes: Vec<&str> = task["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note["text"].as_str().unwrap())
        .collect();
    assert_eq!(notes, ["from one", "from other"]);
}

#[test]
fn what_both_sides_added_is_there_once_and_no_conflict() {
    let (one, other) = pair();
    one.ok("add 'Plan it'");
    settle(&one, &other);
    one.ok("update T2 --label x --label y --depends T3 --file a --acceptance b");
    other.ok("update T2 --label y --label x --depends T3 --file a --acceptance b");
    for merged in settle(&one, &other) {
        assert_eq!(merged["conflicts"], json!([]), "{merged}");
    }
    let task = task(&one, "T2");
    assert_eq!(task["depends"], json!(["T1", "T3"]));
    let labels = task["labels"].as_array().unwrap();
    assert_eq!(labels.len(), 2, "{task}");
    assert_eq!(
        (&task["files"], &task["acceptance"]),
        (&json!(["a"]), &json!(["b"]))
    );
}

#[test]
fn a_dependency_that_is_written_twice_is_one() {
    let (one, _) = pair();
    let twice = one.read("tasks.jsonl");
    let written = twice.replace("[\"T1\"]", "[\"T1\",\"t1\"]");
    assert_ne!(written, twice);
    one.write("tasks.jsonl", written);
    assert_eq!(sync(&one)["conflicts"], json!([]));
    assert_eq!(task(&one, "T2")["depends"], json!(["T1"]));
}

#[test]
fn the_later_change_of_a_field_counts_and_both_values_are_listed() {
    let (one, other) = pair();
    one.ok("update T1 --title earlier");
    other.ok("update T1 --title later");
    let [first, _] = settle(&one, &other);
    let conflict = &first["conflicts"][0];
    assert_eq!(
        (&conflict["field"], &conflict["taken"]),
        (&"title".into(), &"here".into())
    );
    assert_eq!(
        (&conflict["here"], &conflict["file"]),
        (&"later".into(), &"earlier".into())
    );
    assert_eq!(task(&one, "T1")["title"], "later");
}

#[test]
fn a_deleted_task_goes_on_both_sides_unless_it_was_changed() {
    let (one, other) = pair();
    one.ok("delete T2");
    settle(&one, &other);
    assert_eq!(other.json(&["list"])["result"]["total"], 1);

    let (one, other) = pair();
    one.ok("delete T2");
    other.ok("update T2 --title 'still needed'");
    let [first, _] = settle(&one, &other);
    assert_eq!(first["conflicts"][0]["field"], "task");
    assert_eq!(task(&one, "T2")["title"], "still needed");

    let (one, other) = pair();
    one.ok("update T2 --title 'still needed'");
    other.ok("delete T2");
    settle(&one, &other);
    assert_eq!(task(&other, "T2")["title"], "still needed");
}

#[test]
fn a_deleted_task_does_not_come_back_by_a_line_that_git_has_kept() {
    let (one, other) = pair();
    let old = one.read("tasks.jsonl");
    other.ok("delete T2");
    settle(&other, &one);
    for workspace in [&one, &other] {
        workspace.write("tasks.jsonl", &old);
        let merged = sync(workspace);
        assert_eq!(merged["conflicts"], json!([]), "{merged}");
        assert_eq!(merged["here"]["added"], 0, "{merged}");
        assert_eq!(merged["inFile"]["ids"]["deleted"], json!(["T2"]));
        assert_eq!(titles(workspace), ["Build it"]);
    }
    // Where the file is made anew there is nothing to know any more.
    one.write("tasks.jsonl", &old);
    one.ok("sync tasks.jsonl");
    std::fs::rename(one.path("tasks.jsonl"), one.path("away.jsonl")).unwrap();
    sync(&one);
    one.write("tasks.jsonl", &old);
    assert_eq!(sync(&one)["here"]["ids"]["added"], json!(["T2"]));
}

#[test]
fn both_sides_of_a_conflict_may_stay_although_one_of_them_deleted_tasks() {
    let (one, other) = pair();
    one.ok("add 'Third'");
    settle(&one, &other);
    other.ok("delete T2");
    other.ok("delete T3");
    sync(&other);
    one.ok("update T1 --title 'Build it well'");
    sync(&one);
    join(&other, &one);
    let merged = sync(&other);
    assert_eq!(merged["conflicts"], json!([]), "{merged}");
    assert_eq!(merged["inFile"]["ids"]["deleted"], json!(["T2", "T3"]));
    assert_eq!(titles(&other), ["Build it well"]);
    settle(&other, &one);
    assert_eq!(titles(&one), ["Build it well"]);
}

#[test]
fn a_task_that_was_changed_elsewhere_after_its_end_was_merged_stays_and_is_listed() {
    let (one, other) = pair();
    other.ok("delete T2");
    sync(&other);
    one.ok("update T2 --title 'still needed'");
    sync(&one);
    carry(&one, &other);
    let merged = sync(&other);
    let conflict = &merged["conflicts"][0];
    assert_eq!(
        (&conflict["id"], &conflict["field"], &conflict["taken"]),
        (&"T2".into(), &"task".into(), &"file".into())
    );
    settle(&other, &one);
    assert_eq!(task(&other, "T2")["title"], "still needed");
}

#[test]
fn a_deleted_task_that_was_brought_back_is_there_in_all_copies() {
    for again in ["undo", "import old.jsonl"] {
        let (one, other) = pair();
        other.write("old.jsonl", other.read("tasks.jsonl"));
        other.ok("delete T2");
        settle(&other, &one);
        other.ok(again);
        assert_eq!(task(&other, "T2")["title"], "Test it", "{again}");
        for merged in settle(&other, &one) {
            assert_eq!(merged["conflicts"], json!([]), "{again}: {merged}");
        }
        assert_eq!(titles(&one), ["Build it", "Test it"], "{again}");
        // And it can go again.
        one.ok("delete T2");
        settle(&one, &other);
        assert_eq!(titles(&other), ["Build it"], "{again}");
    }
}

#[test]
fn another_task_with_the_id_of_a_deleted_one_is_another_task() {
    let (one, other) = pair();
    one.ok("add 'Third' --key k");
    settle(&one, &other);
    one.ok("delete T3");
    settle(&one, &other);
    let made = "2026-01-01T00:00:00.001Z";
    let line = json!({"id": "T3", "title": "Fourth", "key": "k", "createdAt": made});
    let text = one.read("tasks.jsonl");
    one.write("tasks.jsonl", format!("{text}{line}\n"));
    let merged = sync(&one);
    assert_eq!(merged["conflicts"], json!([]), "{merged}");
    settle(&one, &other);
    for workspace in [&one, &other] {
        assert_eq!(task(workspace, "T3")["title"], "Fourth");
    }
    // Now there are versions of two tasks that had one id.
    one.ok("delete T3");
    settle(&one, &other);
    assert_eq!(titles(&other), ["Build it", "Test it"]);
}

#[test]
fn two_new_tasks_with_the_same_id_both_stay_and_references_follow() {
    let (one, other) = pair();
    one.ok("add 'From one'");
    one.ok("add 'After one' --depends T3");
    other.ok("add 'From other'");
    other.ok("add 'After other' --depends T3");
    other.ok("add 'Part of other' --parent T3");
    let [first, second] = settle(&one, &other);
    assert_eq!(first["renumbered"].as_array().unwrap().len(), 2, "{first}");
    assert_eq!(second["renumbered"][0]["side"], "here", "{second}");
    let listed = one.json(&["list"]);
    let tasks = listed["result"]["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 7);
    let by_title = |title: &str| tasks.iter().find(|task| task["title"] == title).unwrap();
    for (title, before) in [("After one", "From one"), ("After other", "From other")] {
        assert_eq!(
            by_title(title)["depends"][0],
            by_title(before)["id"],
            "{title}"
        );
    }
    assert_eq!(
        by_title("Part of other")["parent"],
        by_title("From other")["id"]
    );
}

#[test]
fn conflict_markers_are_refused_with_a_way_out_that_works() {
    let (one, other) = pair();
    one.ok("update T1 --title 'mine'");
    one.ok("add 'From one'");
    sync(&one);
    other.ok("update T1 --priority low");
    other.ok("add 'From other'");
    sync(&other);
    let body = |text: String| text.lines().skip(1).collect::<Vec<_>>().join("\n");
    let head = one.read("tasks.jsonl").lines().next().unwrap().to_string();
    let (mine, theirs) = (
        body(one.read("tasks.jsonl")),
        body(other.read("tasks.jsonl")),
    );
    let merged = format!("{head}\n<<<<<<< HEAD\n{mine}\n=======\n{theirs}\n>>>>>>> branch\n");
    one.write("tasks.jsonl", merged);
    let before = one.state();
    let refused = one.json(&["sync", "tasks.jsonl"]);
    assert_eq!(refused["error"]["code"], "E_IMPORT_INVALID");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("line 2: git left a conflict here"),
        "{message}"
    );
    assert_eq!(one.state(), before);
    let pasted = one.shell(refused["error"]["fix"].as_str().unwrap());
    assert_eq!(pasted.exit, 0, "{pasted}");
    let files = std::fs::read_dir(one.root()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let copies: Vec<String> = names
        .filter(|name| name.starts_with("tasks.jsonl."))
        .collect();
    assert!(copies.is_empty(), "{copies:?}");
    let task = task(&one, "T1");
    assert_eq!(
        (&task["title"], &task["priority"]),
        (&"mine".into(), &"low".into())
    );
    assert_eq!(one.json(&["list"])["result"]["total"], 4);
    carry(&one, &other);
    sync(&other);
    assert_eq!(one.ok("export").stdout, other.ok("export").stdout);
}

#[test]
fn where_a_task_stands_is_not_lost_when_git_has_kept_both_lines() {
    for (first, then, status) in [
        ("start T1", "cancel T1", "cancelled"),
        ("cancel T1", "reopen T1", "pending"),
    ] {
        let (one, other) = pair();
        one.ok(first);
        sync(&one);
        carry(&one, &other);
        sync(&other);
        one.ok(then);
        sync(&one);
        other.ok("update T1 --title 'Build it all'");
        sync(&other);
        join(&one, &other);
        let merged = sync(&one);
        assert_eq!(merged["conflicts"], json!([]), "{then}");
        for workspace in [&one, &other] {
            carry(&one, workspace);
            assert_eq!(sync(workspace)["conflicts"], json!([]), "{then}");
            let task = task(workspace, "T1");
            assert_eq!(
                (&task["status"], &task["title"]),
                (&status.into(), &"Build it all".into())
            );
        }
        assert_eq!(one.ok("export").stdout, other.ok("export").stdout);
    }
}

#[test]
fn a_line_that_was_put_together_from_two_counts_as_both() {
    let (one, other) = pair();
    one.ok("update T1 --title 'Build it all'");
    sync(&one);
    other.ok("update T1 --priority low");
    sync(&other);
    let theirs = other.read("tasks.jsonl");
    let both = theirs.replace("\"Build it\"", "\"Build it all\"");
    assert_ne!(theirs, both);
    for workspace in [&one, &other] {
        workspace.write("tasks.jsonl", &both);
        assert_eq!(sync(workspace)["conflicts"], json!([]));
        let task = task(workspace, "T1");
        assert_eq!(
            (&task["priority"], &task["title"]),
            (&"low".into(), &"Build it all".into())
        );
    }
}

#[test]
fn versions_that_nobody_knows_any_more_are_joined_and_what_differs_is_listed() {
    let (one, other) = pair();
    one.ok("update T1 --title earlier");
    sync(&one);
    other.ok("update T1 --title later --priority low --remove-label a --phase p");
    sync(&other);
    let history = |text: &str| {
        let (_, history) = text.split_once("\"history\":[").unwrap();
        history.split_once(']').unwrap().0.to_string()
    };
    let theirs = other.read("tasks.jsonl");
    let unknown = theirs.replace(&history(&theirs), "\"0123456789\",\"abcdef0123\"");
    other.write("tasks.jsonl", unknown);
    join(&one, &other);
    let merged = sync(&one);
    let fields: Vec<&Value> = merged["conflicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|conflict| &conflict["field"])
        .collect();
    assert_eq!(fields, ["labels", "phase", "priority", "title"], "{merged}");
    assert_eq!(task(&one, "T1")["title"], "later");
}

#[test]
fn a_half_written_line_is_refused_and_nothing_is_touched() {
    let (one, _) = pair();
    let whole = one.read("tasks.jsonl");
    one.write("tasks.jsonl", &whole[..whole.len() - 20]);
    let before = one.state();
    let refused = one.json(&["sync", "tasks.jsonl"]);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("line 3: the JSON object ends in the middle"),
        "{message}"
    );
    assert_eq!(one.state(), before);
    let other = &refused["error"]["alternatives"][0]["command"];
    // As it is pasted: nobody has asked for a form of answers.
    let pasted = one.shell(&format!("unset CLEO_FORMAT; {}", other.as_str().unwrap()));
    assert_eq!(pasted.exit, 0, "{pasted}");
    assert_eq!(one.read("tasks.jsonl"), whole);
}

#[test]
fn lines_that_are_no_tasks_are_refused_with_a_way_out_that_works() {
    let (one, _) = pair();
    let whole = one.read("tasks.jsonl");
    let (head, rest) = whole.split_once('\n').unwrap();
    one.write(
        "tasks.jsonl",
        format!("{head}\n# tasks of ours\n{rest}{{\"note\":1}}\n"),
    );
    let refused = one.json(&["sync", "tasks.jsonl"]);
    assert_eq!(refused["error"]["code"], "E_IMPORT_INVALID");
    let pasted = one.shell(refused["error"]["fix"].as_str().unwrap());
    assert_eq!(pasted.exit, 0, "{pasted}");
    assert_eq!(one.read("tasks.jsonl"), whole);
}

#[test]
fn an_empty_file_does_not_delete_everything() {
    let (one, _) = pair();
    one.write("tasks.jsonl", "");
    let refused = one.json(&["sync", "tasks.jsonl"]);
    assert_eq!(refused["error"]["code"], "E_INPUT_INVALID");
    let pasted = one.shell(refused["error"]["fix"].as_str().unwrap());
    assert_eq!(pasted.exit, 0, "{pasted}");
    assert_eq!(one.read("tasks.jsonl"), one.ok("export").stdout);
}

#[test]
fn a_merge_that_ended_between_file_and_store_is_made_up_for() {
    let (one, other) = pair();
    one.ok("update T1 --title earlier");
    one.ok("add 'From one'");
    sync(&one);
    other.ok("update T1 --title later");
    other.ok("add 'From other'");
    carry(&one, &other);
    // What the file would hold when the process ends before the store commits.
    let copy = TestWorkspace::new();
    for name in ["cleo.db", "cleo.db-wal", "cleo.db-shm"] {
        let from = other.path(&format!(".cleo/{name}"));
        let to = copy.path(&format!(".cleo/{name}"));
        match from.exists() {
            true => drop(std::fs::copy(from, to).unwrap()),
            false => drop(std::fs::remove_file(to)),
        }
    }
    carry(&one, &copy);
    sync(&copy);
    carry(&copy, &other);
    sync(&other);
    assert_eq!(other.ok("export").stdout, copy.ok("export").stdout);
    assert_eq!(plain(&other.read("tasks.jsonl")), other.ok("export").stdout);
    assert_eq!(task(&other, "T1")["title"], "later");
}

#[test]
fn edges_that_close_a_circle_only_together_are_cut_and_listed() {
    let (one, other) = pair();
    one.ok("add 'Third'");
    settle(&one, &other);
    one.ok("update T1 --depends T3");
    other.ok("update T3 --depends T2");
    sync(&one);
    carry(&one, &other);
    let merged = sync(&other);
    let conflict = &merged["conflicts"][0];
    let fields = ["id", "field", "here", "file", "taken", "why"].map(|name| &conflict[name]);
    let why = json!("it would close a circle");
    let expected = [
        json!("T1"),
        json!("depends"),
        json!(null),
        json!("T3"),
        json!("here"),
        why,
    ];
    assert_eq!(fields, expected.each_ref(), "{merged}");
    carry(&other, &one);
    sync(&one);
    assert_eq!(one.ok("export").stdout, other.ok("export").stdout);
    // What was not taken holds nobody up.
    one.ok("claim T1");
}

#[test]
fn a_dependency_of_the_file_that_would_close_a_circle_leaves_the_task_as_it_was() {
    let (one, _) = pair();
    let before = one.ok("export").stdout;
    let text = one.read("tasks.jsonl");
    let title = "\"title\":\"Build it\"";
    let circle = text.replace(title, &format!("{title},\"depends\":[\"T2\"]"));
    assert_ne!(text, circle);
    one.write("tasks.jsonl", &circle);
    let told = one.ok("sync tasks.jsonl --dry-run").stdout;
    let line = "T1 depends: taken from here: it would close a circle";
    assert!(told.contains(line), "{told}");
    let merged = sync(&one);
    assert_eq!(merged["here"]["changed"], 0, "{merged}");
    assert_eq!(merged["inFile"]["ids"]["changed"], json!(["T1"]));
    for text in [one.ok("export").stdout, plain(&one.read("tasks.jsonl"))] {
        assert_eq!(text, before);
    }
}

#[test]
fn a_parent_of_the_file_that_would_close_a_circle_leaves_the_task_where_it_was() {
    let (one, _) = pair();
    one.ok("add 'Whole'");
    one.ok("add 'Part' --parent T3");
    one.ok("add 'Part of it' --parent T4");
    one.ok("sync tasks.jsonl");
    let text = one.read("tasks.jsonl");
    let moved = text.replace("\"parent\":\"T3\"", "\"parent\":\"T5\"");
    assert_ne!(text, moved);
    one.write("tasks.jsonl", moved);
    let conflict = sync(&one)["conflicts"][0].clone();
    assert_eq!(
        (&conflict["here"], &conflict["file"]),
        (&"T3".into(), &"T5".into())
    );
    assert_eq!(task(&one, "T4")["parent"], "T3");
}

#[test]
fn an_id_at_the_end_of_the_range_does_not_use_up_all_others() {
    let line =
        "{\"id\":\"T4294967294\",\"title\":\"far out\",\"createdAt\":\"2026-01-01T00:00:00Z\"}\n";
    let workspace = TestWorkspace::new().with("tasks.jsonl", line);
    let merged = sync(&workspace);
    assert_eq!(merged["renumbered"][0]["to"], "T1", "{merged}");
    for _ in 0..3 {
        workspace.ok("add next");
    }
    assert_eq!(sync(&workspace)["total"], 4);
    // One that says to be ours does not take us there either.
    let moved = line.replace("\"title\"", "\"was\":\"T1\",\"title\"");
    workspace.write("tasks.jsonl", moved);
    sync(&workspace);
    workspace.ok("add 'one more'");
    workspace.ok("add 'and another'");
}

#[test]
fn a_key_that_two_lines_have_stays_with_the_first() {
    let line = |id: &str| {
        format!(
            "{{\"id\":\"{id}\",\"title\":\"x\",\"key\":\"k\",\"createdAt\":\"2026-01-01T00:00:00Z\"}}\n"
        )
    };
    let workspace = TestWorkspace::new().with("tasks.jsonl", line("T1") + &line("T2"));
    let merged = sync(&workspace);
    assert_eq!(merged["conflicts"][0]["field"], "key", "{merged}");
    assert_eq!(task(&workspace, "T1")["key"], "k");
    assert_eq!(task(&workspace, "T2")["key"], Value::Null);
}

#[test]
fn a_key_goes_over_to_another_task_on_both_sides() {
    let (one, other) = pair();
    one.ok("add 'has it' --key k");
    settle(&one, &other);
    // The key goes from the third to the first.
    let text = one.read("tasks.jsonl");
    let moved = text.replace(",\"key\":\"k\"", "");
    assert_ne!(text, moved);
    let title = "\"title\":\"Build it\"";
    let moved = moved.replace(title, &format!("{title},\"key\":\"k\""));
    one.write("tasks.jsonl", moved);
    let merged = sync(&one);
    assert_eq!(
        merged["conflicts"].as_array().map(Vec::len),
        Some(0),
        "{merged}"
    );
    assert_eq!(task(&one, "T1")["key"], "k");
    assert_eq!(task(&one, "T3")["key"], Value::Null);
}

#[test]
fn a_key_that_both_sides_gave_to_a_new_task_stays_with_one_of_them() {
    let (one, other) = pair();
    one.ok("add 'of one' --key k");
    other.ok("add 'of the other' --key k");
    settle(&one, &other);
    for workspace in [&one, &other] {
        let keys = ["T3", "T4"].map(|id| task(workspace, id)["key"].clone());
        assert_eq!(keys, ["k".into(), Value::Null]);
    }
}

#[test]
fn a_dry_run_changes_nothing_on_either_side() {
    let (one, _) = pair();
    one.ok("update T1 --title changed");
    one.ok("add 'Third'");
    let before = one.state();
    let rehearsed = one.json(&["sync", "tasks.jsonl", "--dry-run"]);
    assert_eq!(one.state(), before);
    let ids = json!({"added": ["T3"], "changed": ["T1"], "deleted": []});
    let expected = json!({"added": 1, "changed": 1, "deleted": 0, "ids": ids});
    assert_eq!(rehearsed["result"]["inFile"], expected);
}

#[test]
fn what_changes_is_named_on_either_side_and_much_of_it_in_part() {
    let (one, _) = pair();
    for _ in 0..7 {
        one.ok("add more");
    }
    let told = one.ok("sync tasks.jsonl --dry-run").stdout;
    let line = "in the file  7 added (T3, T4, T5, T6, T7 and 2 more), 0 changed, 0 deleted";
    assert!(told.contains(line), "{told}");
    sync(&one);
    // A file of which nothing is left but the header is that of a copy without tasks.
    let header = one.read("tasks.jsonl").lines().next().unwrap().to_string();
    one.write("tasks.jsonl", header + "\n");
    let gone = one.json(&["sync", "tasks.jsonl", "--dry-run"])["result"]["here"].clone();
    assert_eq!(gone["ids"]["deleted"].as_array().map(Vec::len), Some(9));
}

#[test]
fn of_what_goes_in_one_merge_all_is_known_also_where_it_goes_in_two_ways() {
    let part = "{\"title\":\"Part\",\"parent\":\"@all\"}\n".repeat(1_000);
    let all = "{\"title\":\"All of it\",\"key\":\"all\",\"type\":\"epic\"}\n";
    let others = "{\"title\":\"Alone\"}\n{\"title\":\"Stays\"}\n";
    let plan = format!("{all}{part}{others}");
    let one = TestWorkspace::new().with("plan.jsonl", plan);
    one.ok("add --batch plan.jsonl");
    sync(&one);
    // Most go on both sides, and one goes here only.
    one.ok("delete T1 --cascade");
    one.ok("delete T1002");
    let there = one.read("tasks.jsonl");
    let lines: Vec<&str> = there.lines().collect();
    let (header, last) = (lines[0], &lines[lines.len() - 2..]);
    one.write("tasks.jsonl", format!("{header}\n{}\n", last.join("\n")));
    assert_eq!(sync(&one)["inFile"]["deleted"], 1);
    let database = Connection::open(one.path(".cleo/cleo.db")).unwrap();
    let sql = "SELECT count(*) FROM sync_bases WHERE file = 'tasks.jsonl/'";
    let kept: i64 = database.query_row(sql, (), |row| row.get(0)).unwrap();
    assert_eq!(kept, 1_002);
}

#[test]
fn a_place_where_no_file_can_be_is_refused_and_no_folder_is_made() {
    let (one, _) = pair();
    let refused = one.refused(&["sync", "no/where/x.jsonl"], "E_FILE_UNWRITABLE");
    let pasted = one.shell(refused["fix"].as_str().unwrap());
    assert_eq!(pasted.exit, 0, "{pasted}");
    assert_eq!(one.read("no/where/x.jsonl"), one.ok("export").stdout);
    let refused = one.refused(&["sync", "-"], "E_INPUT_INVALID");
    assert_eq!(refused["fix"], "cleo sync tasks.jsonl");
    assert!(!one.path("-").exists());
}

#[test]
fn what_to_do_about_a_place_merges_the_tasks_that_were_meant_also_after_a_trial() {
    let (one, other) = pair();
    one.ok("add 'only here'");
    let root = one.root().to_string_lossy().into_owned();
    let line = ["--root", &root, "sync", "no/where/x.jsonl"];
    for trial in [&["--dry-run"][..], &[]] {
        let refused = other.refused(&[&line[..], trial].concat(), "E_FILE_UNWRITABLE");
        let fix = refused["fix"].as_str().unwrap();
        assert!(fix.ends_with(" sync no/where/x.jsonl"), "{fix}");
        let pasted = other.shell(fix);
        assert_eq!(pasted.exit, 0, "{pasted}");
        assert_eq!(other.read("no/where/x.jsonl"), one.ok("export").stdout);
        std::fs::remove_dir_all(other.path("no")).unwrap();
    }
}

#[test]
fn what_mends_a_file_merges_with_it_also_after_a_trial() {
    let (one, _) = pair();
    let whole = one.read("tasks.jsonl");
    let (head, rest) = whole.split_once('\n').unwrap();
    let torn = &whole[..whole.len() - 20];
    let both = format!("<<<<<<< HEAD\n{rest}=======\n{rest}>>>>>>> branch\n");
    for (broken, code, place) in [
        (String::new(), "E_INPUT_INVALID", "/fix"),
        (format!("{head}\n{both}"), "E_IMPORT_INVALID", "/fix"),
        (format!("{whole}# ours\n"), "E_IMPORT_INVALID", "/fix"),
        (
            torn.to_string(),
            "E_IMPORT_INVALID",
            "/alternatives/0/command",
        ),
    ] {
        one.write("tasks.jsonl", &broken);
        let tried = one.refused(&["sync", "tasks.jsonl", "--dry-run"], code);
        let command = tried.pointer(place).and_then(Value::as_str).unwrap();
        let pasted = one.shell(&format!("unset CLEO_FORMAT; {command}"));
        assert_eq!(pasted.exit, 0, "{command}: {pasted}");
        assert_eq!(one.read("tasks.jsonl"), whole, "{command}");
    }
}

#[test]
fn what_touches_no_file_only_tries_after_a_trial() {
    let (one, _) = pair();
    one.ok("update T1 --title changed");
    let before = one.state();
    let tried = one.refused(&["sync", "-", "--dry-run"], "E_INPUT_INVALID");
    assert_eq!(tried["fix"], "cleo sync tasks.jsonl --dry-run");
    let pasted = one.shell(tried["fix"].as_str().unwrap());
    assert_eq!(pasted.exit, 0, "{pasted}");
    assert_eq!(one.state(), before);
}

#[test]
fn a_line_without_times_gets_them_and_is_one_task_in_all_copies() {
    let (one, other) = pair();
    let more = json!({"id": "T8", "title": "no times"});
    let again = json!({"id": "T2", "title": "another"});
    let text = format!("{}{more}\n{again}\n", one.read("tasks.jsonl"));
    for workspace in [&one, &other] {
        workspace.write("tasks.jsonl", &text);
        let merged = sync(workspace);
        assert_eq!(merged["withoutCreated"], 2, "{merged}");
        assert_eq!(merged["total"], 4, "{merged}");
        for id in ["T8", "T9"] {
            let task = task(workspace, id);
            assert_ne!(task["createdAt"], "", "{task}");
            assert_eq!(task["createdAt"], task["updatedAt"], "{task}");
        }
    }
    // Each has given it a moment of its own.
    settle(&one, &other);
    assert_eq!(one.json(&["list"])["result"]["total"], 4);
}

#[test]
fn copies_whose_clocks_are_far_apart_come_to_rest() {
    let (one, other) = pair();
    let other = other.env("CLEO_NOW", "2026-01-26T08:00:00Z");
    one.ok("update T1 --title 'From one'");
    other.ok("update T2 --title 'From other'");
    settle(&one, &other);
    assert_eq!(task(&other, "T1")["title"], "From one");
    assert_eq!(task(&one, "T2")["title"], "From other");
}

#[test]
fn a_time_far_ahead_of_the_clock_counts_as_now_and_is_told() {
    let (one, other) = pair();
    let far = "9999-12-31T23:59:59.000Z";
    let text = one.read("tasks.jsonl").replace("Build it", "Build all");
    let lines: Vec<String> = text.lines().map(str::to_string).collect();
    let mut row: Value = serde_json::from_str(&lines[1]).unwrap();
    row["updatedAt"] = far.into();
    one.write(
        "tasks.jsonl",
        format!("{}\n{row}\n{}\n", lines[0], lines[2]),
    );
    one.ok("update T1 --title 'Build one'");
    let answer = one.json(&["sync", "tasks.jsonl"]);
    assert_eq!(answer["result"]["ahead"], serde_json::json!(["T1"]));
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("ahead of the clock"), "{warnings}");
    let conflict = &answer["result"]["conflicts"][0];
    assert_eq!(conflict["field"], "title", "{answer}");
    for text in [one.read("tasks.jsonl"), one.ok("export").stdout] {
        assert!(!text.contains("9999"), "{text}");
    }
    // What was changed since is later than what was capped.
    one.ok("update T1 --title 'Build one again'");
    settle(&one, &other);
    assert_eq!(task(&other, "T1")["title"], "Build one again");
}

/// Two copies that gave T3 to two tasks, and the file after the second copy has renumbered ours.
fn collided() -> TestWorkspace {
    let (one, other) = pair();
    other.ok("add 'Ours'");
    one.ok("add 'Theirs'");
    sync(&other);
    carry(&other, &one);
    assert_eq!(sync(&one)["renumbered"][0]["side"], "file");
    carry(&one, &other);
    other
}

#[test]
fn a_task_that_somebody_holds_keeps_its_id() {
    let ours = collided();
    ours.ok("claim T3");
    let error = ours.refused(&["sync", "tasks.jsonl"], "E_CLAIMED");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("tester holds T3"),
        "{error}"
    );
    let release = error["alternatives"][0]["command"].as_str().unwrap();
    assert_eq!(ours.shell(release).exit, 0);
    assert_eq!(sync(&ours)["renumbered"][0]["to"], "T4");
}

#[test]
fn what_is_known_of_a_task_moves_with_it_to_its_new_id() {
    let ours = collided();
    ours.ok("claim T3");
    ours.ok("release T3");
    ours.ok("session start --scope T3");
    ours.ok("focus T3");
    ours.ok("spawn T3");
    ours.text("verify output T3", "");
    assert_eq!(sync(&ours)["renumbered"][0]["to"], "T4");
    let session = ours.json(&["session", "show"])["result"]["session"].clone();
    assert_eq!(
        (&session["scope"], &session["focus"]),
        (&"T4".into(), &"T4".into())
    );
    let claimed = ours.json(&["claim", "T4"]);
    assert_eq!(claimed["result"]["claim"]["epoch"], 2, "{claimed}");
}

#[test]
fn references_to_an_id_that_stands_twice_mean_the_first_for_who_knows_neither() {
    let line = |id: &str, title: &str, hour: u32, more: &str| {
        let at = format!("2026-01-01T{hour}:00:00Z");
        format!(
            "{{\"id\":\"{id}\",\"title\":\"{title}\",{more}\"createdAt\":\"{at}\",\"updatedAt\":\"{at}\"}}\n"
        )
    };
    let lines = [
        line("T1", "parser", 10, ""),
        line("T2", "test the parser", 10, "\"depends\":[\"T1\"],"),
        line("T1", "logo", 11, ""),
    ];
    let workspace = TestWorkspace::new().with("tasks.jsonl", lines.concat());
    let merged = sync(&workspace);
    assert_eq!(merged["renumbered"].as_array().map(Vec::len), Some(1));
    assert_eq!(task(&workspace, "T1")["title"], "parser");
    assert_eq!(task(&workspace, "T2")["depends"], json!(["T1"]));
    assert_eq!(task(&workspace, "T3")["title"], "logo");
}

#[test]
fn who_holds_a_task_that_was_completed_elsewhere_holds_it_no_more() {
    let (one, other) = pair();
    let held = one.shell("CLEO_AGENT=somebody cleo claim T1");
    assert_eq!(held.exit, 0, "{held}");
    other.ok("complete T1");
    sync(&other);
    carry(&other, &one);
    sync(&one);
    assert_eq!(task(&one, "T1")["status"], "done");
    one.ok("reopen T1");
    one.ok("claim T1");
}

#[test]
fn a_reference_that_goes_is_listed_on_the_side_that_had_it() {
    let (one, other) = pair();
    one.ok("add 'Third'");
    settle(&one, &other);
    other.ok("delete T3");
    sync(&other);
    carry(&other, &one);
    one.ok("update T1 --depends T3");
    let merged = sync(&one);
    let conflicts = merged["conflicts"].as_array().unwrap();
    let cut = conflicts.iter().find(|each| each["field"] == "depends");
    let expected =
        json!({"id": "T1", "field": "depends", "here": "T3", "file": null, "taken": "file"});
    assert_eq!(cut, Some(&expected), "{merged}");
}

/// Two workspaces that merge with one file in turn.
struct Shared {
    folder: tempfile::TempDir,
    one: TestWorkspace,
    other: TestWorkspace,
}

impl Shared {
    /// Both know one task and have merged it.
    fn new() -> Shared {
        let shared = Shared::apart();
        shared.one.ok("add base");
        shared.settle();
        shared
    }

    /// Both have merged nothing yet.
    fn apart() -> Shared {
        let at = |milliseconds: u32| {
            let now = format!("2026-01-26T09:00:00.{milliseconds:03}Z");
            TestWorkspace::new().env("CLEO_NOW", &now)
        };
        Shared {
            folder: tempfile::tempdir().unwrap(),
            one: at(1),
            other: at(2),
        }
    }

    fn file(&self) -> String {
        let file = self.folder.path().join("tasks.jsonl");
        file.to_str().unwrap().to_string()
    }

    fn sync(&self, workspace: &TestWorkspace) -> Value {
        let answer = workspace.json(&["sync", &self.file()]);
        assert_eq!(answer["success"], true, "{answer}");
        answer["result"].clone()
    }

    /// Has both merge until they are in step, and checks that they are.
    fn settle(&self) {
        for workspace in [&self.one, &self.other, &self.one] {
            self.sync(workspace);
        }
        let before = std::fs::read_to_string(self.file()).unwrap();
        for workspace in [&self.other, &self.one] {
            assert_eq!(workspace.ok("export").stdout, plain(&before));
            assert_eq!(self.sync(workspace)["renumbered"], json!([]));
            let after = std::fs::read_to_string(self.file()).unwrap();
            assert_eq!(before, after, "one more merge changes nothing");
        }
    }

    fn titles(&self) -> Vec<String> {
        titles(&self.one)
    }
}

fn titles(workspace: &TestWorkspace) -> Vec<String> {
    let listed = workspace.json(&["list"]);
    let tasks = listed["result"]["tasks"].as_array().unwrap();
    let title = |task: &Value| task["title"].as_str().unwrap().to_string();
    let mut titles: Vec<String> = tasks.iter().map(title).collect();
    titles.sort();
    titles
}

/// Both add a task under one id, and the file tells the first that its own has another id now.
fn moved() -> Shared {
    let shared = Shared::new();
    shared.one.ok("add 'from A'");
    shared.other.ok("add 'from B'");
    shared.sync(&shared.one);
    shared.sync(&shared.other);
    shared
}

#[test]
fn a_task_moves_to_the_id_of_another_that_makes_room_and_nothing_is_copied() {
    let shared = moved();
    let one = &shared.one;
    one.ok("add 'A second' --depends T2");
    let merged = shared.sync(one);
    let moved = |from: &str, to: &str| json!({"from": from, "to": to, "side": "here"});
    let expected = json!([moved("T2", "T3"), moved("T3", "T4")]);
    assert_eq!(merged["renumbered"], expected);
    assert_eq!(task(one, "T3")["title"], "from A");
    assert_eq!(task(one, "T4")["depends"], json!(["T3"]));
    shared.settle();
    let expected = ["A second", "base", "from A", "from B"];
    assert_eq!(shared.titles(), expected);
}

#[test]
fn a_task_that_got_another_title_is_the_same_one_under_its_new_id() {
    let shared = moved();
    shared.one.ok("update T2 --title 'from A, better'");
    shared.settle();
    assert_eq!(shared.titles(), ["base", "from A, better", "from B"]);
}

#[test]
fn a_task_that_was_deleted_goes_also_where_it_has_another_id() {
    let shared = moved();
    shared.one.ok("delete T2");
    shared.settle();
    assert_eq!(shared.titles(), ["base", "from B"]);
}

#[test]
fn tasks_that_change_places_in_the_file_change_places_here() {
    let shared = Shared::new();
    shared.one.ok("add first");
    shared.one.ok("add second --depends T2");
    shared.settle();
    let text = std::fs::read_to_string(shared.file()).unwrap();
    let mut rows: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    rows[2]["id"] = "T3".into();
    rows[2]["extra"] = json!({"was": "T2"});
    rows[3]["id"] = "T2".into();
    rows[3]["extra"] = json!({"was": "T3"});
    rows[3]["depends"] = json!(["T3"]);
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    std::fs::write(shared.file(), text).unwrap();
    shared.settle();
    assert_eq!(task(&shared.one, "T3")["title"], "first");
    let second = task(&shared.one, "T2");
    let expected = (&"second".into(), &json!(["T3"]));
    assert_eq!((&second["title"], &second["depends"]), expected);
}

#[test]
fn tasks_made_at_the_same_moment_under_one_id_are_told_apart() {
    let (one, other) = (TestWorkspace::new(), TestWorkspace::new());
    let shared = Shared {
        folder: tempfile::tempdir().unwrap(),
        one: one.env("CLEO_NOW", "2026-01-26T09:00:00Z"),
        other: other.env("CLEO_NOW", "2026-01-26T09:00:00Z"),
    };
    shared.one.ok("add 'from A'");
    shared.other.ok("add 'from B'");
    shared.settle();
    shared.one.ok("update T1 --title 'from B, better'");
    shared.other.ok("update T2 --title 'from A, better'");
    shared.settle();
    assert_eq!(shared.titles(), ["from A, better", "from B, better"]);
}

#[test]
fn a_task_of_an_import_that_got_another_title_is_the_same_one() {
    let one = TestWorkspace::new();
    one.ok("add base");
    one.ok("add Two");
    one.ok("export --output tasks.jsonl");
    let other = TestWorkspace::new().with("tasks.jsonl", one.read("tasks.jsonl"));
    other.ok("import tasks.jsonl");
    // The change comes later than the task was made.
    for _ in 0..5 {
        other.ok("list");
    }
    other.ok("update T2 --title 'Two better'");
    let merged = sync(&other);
    assert_eq!(
        (&merged["total"], &merged["renumbered"]),
        (&json!(2), &json!([]))
    );
    carry(&other, &one);
    sync(&one);
    for workspace in [&one, &other] {
        assert_eq!(titles(workspace), ["Two better", "base"]);
    }
}

#[test]
fn a_task_that_got_another_title_after_an_export_is_the_same_one() {
    let one = TestWorkspace::new();
    one.ok("add Two");
    one.ok("export --output tasks.jsonl");
    one.ok("update T1 --title 'Two better'");
    let merged = sync(&one);
    assert_eq!(
        (&merged["total"], &merged["renumbered"]),
        (&json!(1), &json!([]))
    );
    let conflict = &merged["conflicts"][0];
    assert_eq!(
        (&conflict["field"], &conflict["taken"]),
        (&"title".into(), &"here".into())
    );
    assert_eq!(titles(&one), ["Two better"]);
    assert_eq!(plain(&one.read("tasks.jsonl")), one.ok("export").stdout);
}

#[test]
fn two_lines_of_one_task_that_nobody_here_knows_are_one_whatever_their_titles() {
    let line = |title: &str, hour: u32| {
        format!(
            "{{\"id\":\"T1\",\"title\":\"{title}\",\"createdAt\":\"2026-01-01T10:00:00Z\",\"updatedAt\":\"2026-01-01T{hour}:00:00Z\"}}\n"
        )
    };
    let workspace = TestWorkspace::new();
    workspace.write("tasks.jsonl", line("Two", 10) + &line("Two better", 11));
    let merged = sync(&workspace);
    assert_eq!(
        (&merged["total"], &merged["renumbered"]),
        (&json!(1), &json!([]))
    );
    assert_eq!(merged["conflicts"][0]["field"], "title", "{merged}");
    assert_eq!(titles(&workspace), ["Two better"]);
}

#[test]
fn what_two_merge_at_once_is_all_there() {
    const TASKS: usize = 10;
    let shared = Shared::new();
    std::thread::scope(|scope| {
        for (workspace, name) in [(&shared.one, "one"), (&shared.other, "other")] {
            let shared = &shared;
            scope.spawn(move || {
                for number in 0..TASKS {
                    workspace.ok(&format!("add '{name} {number}'"));
                    shared.sync(workspace);
                }
            });
        }
    });
    shared.settle();
    let names = ["one", "other"].into_iter();
    let added = names.flat_map(|name| (0..TASKS).map(move |number| format!("{name} {number}")));
    let mut expected: Vec<String> = added.chain(["base".to_string()]).collect();
    expected.sort();
    assert_eq!(shared.titles(), expected);
}

#[test]
fn two_that_make_the_file_at_once_both_merge_with_it() {
    for _ in 0..10 {
        let shared = Shared::apart();
        shared.one.ok("add 'from A'");
        shared.other.ok("add 'from B'");
        let start = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for workspace in [&shared.one, &shared.other] {
                let (shared, start) = (&shared, &start);
                scope.spawn(move || {
                    start.wait();
                    shared.sync(workspace)
                });
            }
        });
        shared.settle();
        assert_eq!(shared.titles(), ["from A", "from B"]);
    }
}
