//! Bytes of the database and of its write-ahead log are damaged: no command crashes or waits, and what is missing is
//! reported.

#![expect(
    clippy::print_stderr,
    reason = "repeating a run needs its seed and counts"
)]

use std::fs;
use std::os::unix::fs::MetadataExt;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::soundness::{Numbers, number_from};
use crate::world::{TestWorkspace, says};

const DATABASE: &str = ".cleo/cleo.db";
const LOG: &str = ".cleo/cleo.db-wal";
const INDEX: &str = ".cleo/cleo.db-shm";
const QUESTIONS: [&[&str]; 4] = [
    &["export"],
    &["show", "T7"],
    &["runs", "list"],
    &["orchestrator", "ready"],
];

/// A workspace whose last changes are in the log, and what it answers.
struct World {
    workspace: TestWorkspace,
    database: Vec<u8>,
    log: Vec<u8>,
    right: Vec<Value>,
}

impl World {
    fn new() -> World {
        let workspace = TestWorkspace::new().env("CLEO_NOW", "2026-01-26T09:00:00Z");
        let description = "words ".repeat(20);
        let task = |number| json!({"title": format!("Task {number}"), "description": description, "labels": ["a"]});
        let lines = (0..60).map(|number| task(number).to_string() + "\n");
        workspace.write("plan.jsonl", lines.collect::<String>());
        workspace.ok("add --batch plan.jsonl");
        for task in 1..10 {
            workspace.ok(&format!("update T{task} --note 'note {task}'"));
        }
        workspace.ask("agents execute 'what is the weather'");
        let read = |path: &str| fs::read(workspace.path(path)).unwrap();
        let mut world = World {
            database: read(DATABASE),
            log: read(LOG),
            right: Vec::new(),
            workspace,
        };
        world.right = world.answers();
        assert!(world.right.iter().all(|answer| answer["success"] == true));
        world
    }

    /// Puts the files in place. SQLite makes the index of the log anew.
    fn put(&self, database: &[u8], log: &[u8]) {
        fs::write(self.workspace.path(DATABASE), database).unwrap();
        fs::write(self.workspace.path(LOG), log).unwrap();
        let _ = fs::remove_file(self.workspace.path(INDEX));
    }

    /// Moves everything from the log to the database.
    fn move_log(&mut self) {
        let place = self.workspace.path(DATABASE);
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let connection = Connection::open(&place).unwrap();
        connection.query_row(checkpoint, (), |_| Ok(())).unwrap();
        drop(connection);
        self.database = fs::read(place).unwrap();
    }

    /// Answers are JSON documents, so a crash fails here.
    fn answers(&self) -> Vec<Value> {
        let answers = QUESTIONS.iter().map(|words| self.workspace.json(words));
        answers.collect()
    }

    /// Returns the answers that are wrong, without an error or a warning that says so.
    fn silent(&self) -> Vec<Value> {
        let is_silent = |(answer, right): &(Value, &Value)| {
            answer["success"] == true && answer["warnings"] == json!([]) && answer != *right
        };
        let answers = self.answers().into_iter().zip(&self.right);
        answers
            .filter(is_silent)
            .map(|(answer, _)| answer)
            .collect()
    }
}

#[test]
fn copy_of_damaged_database_can_be_put_back() {
    let world = World::new();
    let workspace = &world.workspace;
    let copied = workspace.result("backup copy.db");
    let copy = fs::read(workspace.path("copy.db")).unwrap();
    assert_eq!(copied["bytes"], copy.len());
    let mode = fs::metadata(workspace.path("copy.db")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
    workspace.fails("backup copy.db", "E_EXISTS");
    workspace.fails("backup .cleo/cleo.db-wal", "E_INPUT_INVALID");
    assert_eq!(fs::read(workspace.path("copy.db")).unwrap(), copy);
    let own = workspace.result("backup")["file"].clone();
    assert_eq!(own, "[WORKSPACE]/.cleo/cleo.db-20260126T090000.000Z");
    workspace.ok("add 'Not in the copy'");
    world.put(&vec![7; 4096], b"");
    let broken = workspace.ask("show T7");
    says(&broken["error"], "restore a copy of `cleo backup`");
    let _ = fs::remove_file(workspace.path(".cleo/cleo.db-last"));
    world.put(&copy, b"");
    assert_eq!(world.answers(), world.right);
    assert_eq!(workspace.ask("doctor")["success"], true);
}

/// Overwrites a page below the root of a table.
fn break_page(world: &World, table: &str) {
    let place = world.workspace.path(DATABASE);
    let connection = Connection::open(&place).unwrap();
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    connection.query_row(checkpoint, (), |_| Ok(())).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root = connection.query_row(root, [table], |row| row.get(0));
    let start = |page: u32| usize::try_from(page - 1).unwrap() * 4096;
    let root = start(root.unwrap());
    drop(connection);
    let mut database = fs::read(&place).unwrap();
    // The first cell of an inner page begins with the number of the page below it.
    let cell = root
        + usize::from(u16::from_be_bytes([
            database[root + 14],
            database[root + 15],
        ]));
    let below = u32::from_be_bytes(database[cell..cell + 4].try_into().unwrap());
    let below = start(below);
    database[below..below + 4096].fill(0xff);
    world.put(&database, b"");
}

#[test]
fn readable_rows_of_broken_database_are_saved() {
    let world = World::new();
    let workspace = &world.workspace;
    let before = workspace.result("show T60");
    workspace.ok("claim T20");
    workspace.change_database(
        "INSERT INTO origins WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 900)
         SELECT 'beads', 'rs-' || x, 60 FROM n",
    );
    break_page(&world, "tasks");
    break_page(&world, "origins");
    let broken = fs::read(workspace.path(DATABASE)).unwrap();
    workspace.fails("list --all", "E_STORE_CORRUPT");
    let found = workspace.ask("doctor")["result"]["findings"].to_string();
    says(&Value::String(found), "cleo doctor --fix");

    let report = workspace.ask("doctor --fix");
    let findings = report["result"]["findings"].as_array();
    let findings = findings.unwrap_or_else(|| panic!("{report}")).iter();
    let told = |check: &str| {
        let told = findings.clone().filter(|finding| finding["check"] == check);
        told.map(|finding| finding["message"].as_str().unwrap().to_string() + "\n")
            .collect::<String>()
    };
    let all = told("database.repair") + &told("database.lost");
    let digest = all.split("saved-").nth(1).unwrap()[..16].to_string();
    insta::assert_snapshot!(all.replace(&digest, "DIGEST"), @"
    what can be read was saved into [WORKSPACE]/.cleo/cleo.db-saved-DIGEST; see `cleo backup --help`
    tasks: number 13 to 26
    origins: all rows but 710
    task_labels: references that lead nowhere, 14
    claims: references that lead nowhere, 1
    ");
    assert_eq!(fs::read(workspace.path(DATABASE)).unwrap(), broken);

    workspace.shell("CLEO_NOW=2026-01-27T09:00:00Z cleo doctor --fix");
    let files = fs::read_dir(workspace.path(".cleo")).unwrap().flatten();
    let files = files.map(|file| file.path());
    let saved = files.filter(|path| path.to_string_lossy().contains("cleo.db-saved-"));
    let saved: Vec<_> = saved.collect();
    assert_eq!(saved.len(), 1, "{saved:?}");
    let saved = fs::read(&saved[0]).unwrap();
    world.put(&saved, b"");
    assert_eq!(workspace.result("show T60"), before);
    assert_eq!(workspace.ask("doctor")["success"], true);
    assert_eq!(workspace.result("add new")["task"]["id"], "T61");
}

#[test]
fn broken_index_is_made_anew_in_place() {
    let mut world = World::new();
    world.move_log();
    let place = world.workspace.path(DATABASE);
    let connection = Connection::open(place).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'tasks_by_status'";
    let root: u32 = connection.query_row(root, (), |row| row.get(0)).unwrap();
    drop(connection);
    let mut database = world.database.clone();
    // The number of rows in the page.
    database[(root as usize - 1) * 4096 + 3..][..2].copy_from_slice(&[0, 3]);
    world.put(&database, b"");
    assert_eq!(world.workspace.ask("doctor")["success"], false);
    world.workspace.ok("doctor --fix");
    assert_eq!(world.answers(), world.right);
}

#[test]
fn rows_below_damaged_schema_are_saved() {
    let mut world = World::new();
    world.move_log();
    let workspace = &world.workspace;
    let mut database = world.database.clone();
    let table = b"CREATE TABLE tasks";
    let at = database.windows(table.len()).rposition(|it| it == table);
    for byte in [b'X', 0xc1] {
        database[at.unwrap()] = byte;
        world.put(&database, b"");
        workspace.fails("list", "E_STORE_CORRUPT");
        let report = workspace.ask("doctor --fix")["result"]["findings"].to_string();
        let file = report.split("cleo.db-saved-").nth(1);
        let file = file.unwrap_or_else(|| panic!("{report}"));
        assert!(!report.contains("doctor --fix"), "{report}");
        let saved = fs::read(workspace.path(&format!("{DATABASE}-saved-{}", &file[..16])));
        world.put(&saved.unwrap(), b"");
        assert_eq!(world.answers(), world.right);
    }
}

fn flip(bytes: &[u8], numbers: &mut Numbers) -> (usize, Vec<u8>) {
    let mut flipped = bytes.to_vec();
    let at = usize::try_from(numbers.next(bytes.len() as u64)).unwrap();
    flipped[at] ^= u8::try_from(numbers.next(255) + 1).unwrap();
    (at, flipped)
}

#[test]
fn damaged_database_is_reported() {
    let mut world = World::new();
    world.move_log();
    let mut numbers = Numbers(number_from("CLEO_TEST_SEED", 26));
    let (places, mut n_silent) = (number_from("CLEO_TEST_PLACES", 20), 0);
    for place in 0..places {
        let (at, database) = flip(&world.database, &mut numbers);
        world.put(&database, &[]);
        for answer in world.silent() {
            eprintln!("place {place}, byte {at}: {answer}");
            n_silent += 1;
        }
    }
    // Rows have a checksum, indexes have none.
    assert!(n_silent <= places / 100, "{n_silent} of {places}");
}

#[test]
fn record_with_wrong_checksum_is_left_out_until_removed() {
    let World { workspace, .. } = World::new();
    let connection = Connection::open(workspace.path(DATABASE)).unwrap();
    let changes = [
        "UPDATE runs SET record = replace(record, 'weather', 'whether')",
        "UPDATE events SET at = '2027-01-01T00:00:00.000Z' WHERE cursor = 1",
        "UPDATE messages SET content = 'other words' WHERE position = 1",
        "UPDATE changes SET detail = replace(detail, 'note 9', 'note 8')",
    ];
    for change in changes {
        assert!(connection.execute(change, ()).unwrap() > 0, "{change}");
    }
    drop(connection);
    for (words, row) in [("runs list", "run `exec_"), ("log", "change ")] {
        let reply = workspace.ask(words);
        assert_eq!(reply["success"], true, "{reply}");
        says(&reply["warnings"][0], row);
        says(&reply["warnings"][0], "checksum: it does not match");
    }
    let findings = workspace.ask("doctor")["result"]["findings"].to_string();
    for row in ["run `exec_", "event 1 ", "message `msg_", "change "] {
        assert!(findings.contains(row), "{row}: {findings}");
    }
    // A change stays where it is, so that an undo of it is refused.
    workspace.ask("doctor --remove-damaged");
    let listed = workspace.ask("runs list");
    assert_eq!(
        (&listed["result"]["total"], &listed["warnings"]),
        (&json!(0), &json!([]))
    );
}

#[test]
fn damaged_log_is_reported() {
    let (world, mut numbers) = (World::new(), Numbers(number_from("CLEO_TEST_SEED", 26)));
    for place in 0..number_from("CLEO_TEST_PLACES", 20) {
        let (at, log) = flip(&world.log, &mut numbers);
        world.put(&world.database, &log);
        assert_eq!(world.silent(), [Value::Null; 0], "place {place}, byte {at}");
        let doctor = world.workspace.ask("doctor");
        assert_eq!(doctor["success"], false, "place {place}, byte {at}");
        let exported = world.workspace.json(QUESTIONS[0]);
        assert_eq!(
            exported["success"], true,
            "place {place}, byte {at}: {exported}"
        );
    }
}

#[test]
fn missing_log_is_reported_until_damage_is_removed() {
    let world = World::new();
    let warnings = || world.workspace.json(QUESTIONS[0])["warnings"].clone();
    Connection::open(world.workspace.path(DATABASE))
        .and_then(|connection| connection.query_row("SELECT count(*) FROM tasks", (), |_| Ok(())))
        .unwrap();
    assert!(!world.workspace.path(LOG).exists());
    assert_eq!(warnings(), json!([]));
    world.workspace.ok("add last");
    fs::remove_file(world.workspace.path(LOG)).unwrap();
    fs::remove_file(world.workspace.path(INDEX)).unwrap();
    let is_reported = || {
        warnings()[0]
            .to_string()
            .contains("so the last changes are missing")
    };
    assert!(is_reported());
    world.workspace.ok("add another");
    assert!(is_reported());
    world.workspace.ok("doctor --remove-damaged");
    assert_eq!(warnings(), json!([]));
}

#[test]
fn torn_log_is_reported() {
    let (world, mut numbers) = (World::new(), Numbers(number_from("CLEO_TEST_SEED", 26)));
    for _ in 0..number_from("CLEO_TEST_PLACES", 20) {
        let length = usize::try_from(numbers.next(world.log.len() as u64)).unwrap();
        world.put(&world.database, &world.log[..length]);
        assert_eq!(world.silent(), [Value::Null; 0], "{length} bytes");
        crate::soundness::assert_sound(&world.workspace);
        let exported = world.workspace.json(QUESTIONS[0]);
        assert_eq!(exported["success"], true, "{length} bytes: {exported}");
    }
}
