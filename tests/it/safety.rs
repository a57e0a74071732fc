//! Guarantees under stress: sixty-four writers, readers beside a writer that does not end, kills at
//! any moment, a full disk.

#![expect(
    clippy::print_stderr,
    reason = "repeating a run needs its seed and counts"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};
use serde_json::{Value, json};

use crate::soundness::{Numbers, assert_sound, number_from};
#[cfg(target_os = "linux")]
use crate::world::{Reply, TestWorkspace, skip};

const MANIFEST: &str = "claudedocs/agent-outputs/MANIFEST.jsonl";

fn entry(id: &str) -> String {
    let entry = json!({
        "id": id, "file": format!("{id}.md"), "title": "Token refresh", "date": "2026-01-26",
        "status": "complete", "topics": ["auth"],
        "key_findings": ["Tokens live an hour.", "It works.", "It is documented."],
        "actionable": true, "needs_followup": [], "linked_tasks": ["T1"],
    });
    entry.to_string()
}

/// Opens the database of a workspace to look at it; the log stays where it is.
fn look(workspace: &TestWorkspace) -> Connection {
    let connection = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let keep_log = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(keep_log, true).unwrap();
    connection
}

#[test]
fn sixty_four_concurrent_writers_lose_nothing() {
    let workspace = TestWorkspace::new();
    workspace.ok("add 'the shared one'");
    let write = |process: u32| {
        let mut ids = Vec::new();
        for number in 0..10 {
            let text = format!("{number} of {process}");
            // All of them write to the shared task too: a change that is built on an old state
            // would lose a note.
            let words = match number {
                9 => vec!["update", "T1", "--note", &text],
                _ => vec!["add", &text],
            };
            let reply = workspace.json(&words);
            assert_eq!(reply["success"], true, "{reply}");
            let task = &reply["result"]["task"];
            if task["id"] != "T1" {
                ids.push(task["id"].as_str().unwrap().to_string());
            }
        }
        ids
    };
    let given: Vec<String> = thread::scope(|scope| {
        let writing: Vec<_> = (0..64)
            .map(|process| scope.spawn(move || write(process)))
            .collect();
        let ids = writing.into_iter().map(|thread| thread.join().unwrap());
        ids.flatten().collect()
    });
    let unique: BTreeSet<&String> = given.iter().collect();
    assert_eq!(
        (given.len(), unique.len()),
        (576, 576),
        "no id is given twice"
    );
    let listed = workspace.ask("list --limit 2000");
    let tasks = listed["result"]["tasks"].as_array().unwrap();
    let titles: BTreeSet<&str> = tasks
        .iter()
        .map(|task| task["title"].as_str().unwrap())
        .collect();
    assert_eq!((tasks.len(), titles.len()), (577, 577));
    assert_eq!(tasks[0]["notes"].as_array().unwrap().len(), 64);
    let log = workspace.ask("log --limit 1");
    assert_eq!(log["result"]["total"], 641, "one operation for each write");
    assert_sound(&workspace);
}

#[test]
fn fifty_readers_beside_eight_writers_wait_for_none_of_them() {
    let workspace = TestWorkspace::with_plan();
    // This writer does not end while the readers read: had one to wait for it, it would wait for
    // ever, or be refused after its patience.
    let mut first = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let held = first
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    held.execute("UPDATE tasks SET title = 'half done'", ())
        .unwrap();
    let mut writers: Vec<Child> = (0..8)
        .map(|writer| {
            let title = format!("by {writer}");
            let mut command = workspace.command(&["add", &title]);
            command.stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    let reads: [&[&str]; 5] = [
        &["list"],
        &["show", "T2"],
        &["orchestrator", "ready"],
        &["find", "token"],
        &["log"],
    ];
    thread::scope(|scope| {
        for reader in 0..50 {
            let workspace = &workspace;
            scope.spawn(move || {
                for words in [reads[reader % 5], reads[(reader + 1) % 5]] {
                    let reply = workspace.json(words);
                    assert_eq!(reply["success"], true, "{reply}");
                    let text = reply.to_string();
                    assert!(
                        !text.contains("half done"),
                        "only what is committed: {text}"
                    );
                }
            });
        }
    });
    let waiting = |writer: &mut Child| writer.try_wait().unwrap().is_none();
    assert!(writers.iter_mut().all(waiting), "the other writers wait");
    held.rollback().unwrap();
    for writer in &mut writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(workspace.ask("list")["result"]["total"], 13);
    assert_sound(&workspace);
}

/// A process that will be killed, and what it must have left if it acknowledged its work.
struct Doomed {
    child: Child,
    at: Instant,
    proof: Proof,
}

type Proof = fn(&Value, &Connection, &str) -> bool;

/// Returns whether the log holds what an acknowledged change of a task did.
fn is_logged(reply: &Value, store: &Connection, _manifest: &str) -> bool {
    let task = match &reply["result"] {
        result if result["task"]["id"].is_string() => result["task"]["id"].clone(),
        result if result["tasks"].is_array() => result["tasks"][0]["task"]["id"].clone(),
        result => result["deleted"][0].clone(),
    };
    let Some(task) = task.as_str() else {
        // An undo says which operation it was.
        let undo = &reply["result"]["undo"];
        let number = undo.as_u64().unwrap_or_else(|| panic!("{reply}"));
        let sql = "SELECT count(*) > 0 FROM operations WHERE number = ?1";
        return store
            .query_row(sql, [i64::try_from(number).unwrap()], |row| row.get(0))
            .unwrap();
    };
    let kind = match reply["command"].as_str().unwrap() {
        "add" => "added",
        "delete" => "deleted",
        _ => "changed",
    };
    let title = reply["result"]["task"]["title"].as_str();
    let sql = "SELECT count(*) > 0 FROM changes WHERE task = ?1 AND kind = ?2 AND
               (?3 IS NULL OR kind <> 'changed' OR json_extract(detail, '$.title.to') = ?3
                   OR json_extract(detail, '$.status.to') IS NOT NULL)";
    let number: u32 = task[1..].parse().unwrap();
    let found = store.query_row(sql, (number, kind, title), |row| row.get(0));
    found.unwrap()
}

fn is_in_manifest(reply: &Value, _store: &Connection, manifest: &str) -> bool {
    let id = &reply["result"]["entry"]["id"];
    manifest.lines().any(|line| {
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        line["id"] == *id
    })
}

/// Starts a command that will be killed after `delay`.
fn doom(workspace: &TestWorkspace, words: &[&str], delay: Duration) -> Doomed {
    let mut command = workspace.command(words);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let is_append = words[0] == "manifest";
    Doomed {
        child: command.spawn().unwrap(),
        at: Instant::now() + delay,
        proof: if is_append { is_in_manifest } else { is_logged },
    }
}

/// Kills a process at its moment and returns what it had acknowledged by then.
fn kill(doomed: &mut Doomed) -> Option<Value> {
    thread::sleep(doomed.at.saturating_duration_since(Instant::now()));
    doomed.child.kill().unwrap();
    doomed.child.wait().unwrap();
    let mut text = String::new();
    let mut stdout = doomed.child.stdout.take().unwrap();
    stdout.read_to_string(&mut text).unwrap();
    let reply: Option<Value> = serde_json::from_str(&text).ok();
    reply.filter(|reply| reply["success"] == true)
}

/// Kills two writers in each round, beside one that continues; `CLEO_TEST_KILLS` says how many in
/// all and `CLEO_TEST_SEED` at which moments. The output of a run with a thousand kills is in
/// `tests/data/kills.txt`.
#[test]
fn kills_lose_no_acknowledged_write() {
    let now = || std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let seed = number_from("CLEO_TEST_SEED", now().subsec_nanos().into());
    let rounds = number_from("CLEO_TEST_KILLS", 50) / 2;
    let say = format!("CLEO_TEST_SEED={seed}");
    let mut numbers = Numbers(seed);
    let lines = "{\"title\":\"a\",\"key\":\"K\"}\n{\"title\":\"b\",\"depends\":[\"@K\"]}\n\
                 {\"title\":\"c\",\"parent\":\"@K\"}\n";
    let workspace = TestWorkspace::with_plan();
    let write_beside = || {
        let start = Instant::now();
        let reply = workspace.ask("add 'beside them'");
        (reply, u64::try_from(start.elapsed().as_micros()).unwrap())
    };
    // The time that the writer beside them took in the round before.
    let (_, mut busy) = write_beside();
    // By command: how many were killed, and how many of these had acknowledged their work.
    let mut killed: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for round in 0..rounds {
        workspace.write("batch.jsonl", lines.replace('K', &format!("k{round}")));
        let task = format!("T{}", 1 + numbers.next(20 + round));
        let title = format!("of round {round}");
        let words: Vec<&str> = match numbers.next(7) {
            0 | 1 => vec!["add", &title, "--depends", "T2"],
            2 => vec!["add", "--batch", "batch.jsonl"],
            3 => vec!["update", &task, "--title", &title],
            4 => vec!["complete", &task, "--force"],
            5 => vec!["delete", &task, "--cascade", "--force"],
            _ => vec!["undo"],
        };
        let id = format!("entry-{round}");
        let append = append_words(&id);
        let mut moment = || Duration::from_micros(numbers.next(busy));
        let moments = [moment(), moment()];
        let mut acknowledged: Vec<(Value, Proof)> = Vec::new();
        thread::scope(|scope| {
            let beside = scope.spawn(write_beside);
            let both = [(&words, moments[0]), (&append, moments[1])];
            let mut both = both.map(|(words, moment)| (words[0], doom(&workspace, words, moment)));
            both.sort_by_key(|(_, doomed)| doomed.at);
            for (command, doomed) in &mut both {
                let reply = kill(doomed);
                let [n_killed, n_acknowledged] = killed.entry(command.to_string()).or_default();
                *n_killed += 1;
                *n_acknowledged += u64::from(reply.is_some());
                acknowledged.extend(reply.map(|reply| (reply, doomed.proof)));
            }
            let (reply, took) = beside.join().unwrap();
            assert_eq!(reply["success"], true, "round {round}, {say}: {reply}");
            acknowledged.push((reply, is_logged));
            busy = took;
        });
        let manifest = std::fs::read_to_string(workspace.path(MANIFEST)).unwrap_or_default();
        let store = look(&workspace);
        for (reply, proof) in acknowledged {
            assert!(
                proof(&reply, &store, &manifest),
                "lost in round {round}, {say}: {reply}"
            );
        }
        let torn = manifest
            .lines()
            .find(|line| serde_json::from_str::<Value>(line).is_err());
        assert_eq!(torn, None, "round {round}, {say}");
        drop(store);
        workspace.result("doctor");
    }
    eprintln!(
        "{say}: {} kills, nothing lost, doctor clean after each round",
        rounds * 2
    );
    for (command, [n_killed, n_acknowledged]) in &killed {
        eprintln!("{command}: {n_killed} killed, {n_acknowledged} of them had acknowledged it");
    }
    // Kills that all came too late, or all too early, would have shown nothing.
    let count = |at: usize| -> u64 { killed.values().map(|counts| counts[at]).sum() };
    assert!((1..count(0)).contains(&count(1)), "{killed:?}, {say}");
    assert_sound(&workspace);
    let faults = workspace.ask("manifest validate")["result"]["faults"].clone();
    assert_eq!(faults, json!([]), "{say}");
    workspace.ok("add 'life continues'");
    let appended = workspace.json(&append_words("life-continues"));
    assert_eq!(appended["success"], true, "{say}: {appended}");
}

/// Returns a command that appends an entry.
fn append_words(id: &str) -> Vec<&str> {
    let words =
        "manifest append --file x.md --title x --topic a --finding 1 --finding 2 --finding 3";
    words.split(' ').chain(["--id", id]).collect()
}

/// Runs a command in which no file may become longer than so many blocks of 512 bytes, as if the
/// disk were full there. The system would end a program that does not see to it.
fn with_room(workspace: &TestWorkspace, blocks: u64, line: &str) -> Reply {
    workspace.shell(&format!("ulimit -f {blocks}; exec {line}"))
}

#[test]
fn full_database_disk_refuses_whole_writes() {
    let batch = (0..40).map(|number| {
        format!(
            "{{\"title\":\"task {number}\",\"description\":\"{}\"}}\n",
            "x".repeat(3_000)
        )
    });
    let workspace = TestWorkspace::with_plan().with("batch.jsonl", batch.collect::<String>());
    let mut refused = 0;
    for blocks in (64..640).step_by(24) {
        let before = workspace.state();
        let reply = with_room(&workspace, blocks, "cleo add --batch batch.jsonl");
        if reply.exit == 0 {
            workspace.ok("undo");
            continue;
        }
        refused += 1;
        assert_eq!(reply.exit, 3, "{blocks} blocks: {reply}");
        let code = "error[E_DISK_FULL]";
        assert!(reply.stderr.starts_with(code), "{blocks} blocks: {reply}");
        assert_eq!(workspace.state(), before, "{blocks} blocks");
        assert_sound(&workspace);
    }
    assert!(refused > 3, "{refused}");
    workspace.ok("add --batch batch.jsonl");
    assert_sound(&workspace);
}

#[test]
fn beyond_limit_on_size_of_files_refusal_reads_well() {
    let workspace = TestWorkspace::with_plan();
    for signal in ["", "trap '' XFSZ; "] {
        let reply = workspace.shell(&format!("{signal}ulimit -f 8; exec cleo add x"));
        assert_eq!(
            reply.to_string(),
            "exit: 3\n--- stdout\n--- stderr\n\
             error[E_DISK_FULL]: [WORKSPACE]/.cleo/cleo.db cannot be written: disk I/O error; there is no \
             room on the disk, in the quota or below the limit on the size of files, or the disk is faulty\n  \
             try: df -h [WORKSPACE]/.cleo\n  \
             or see the limit on the size of files: ulimit -f\n"
        );
    }
    // Room for what the database needs to be read, and not for the file.
    for task in ["T2", "T3"] {
        let text = "x".repeat(30_000);
        workspace.ok(&format!("update {task} --description {text}"));
    }
    let reply = workspace.shell("ulimit -f 80; exec cleo export --output tasks.jsonl");
    assert_eq!(reply.exit, 3, "{reply}");
    assert!(reply.stderr.starts_with("error[E_DISK_FULL]"), "{reply}");
    assert!(!workspace.path("tasks.jsonl").exists());
}

#[test]
fn full_manifest_disk_leaves_no_torn_line() {
    let workspace = TestWorkspace::with_plan();
    let first = entry("first").replace("It works.", &"x".repeat(40_000));
    assert_eq!(
        workspace.json_with(&["manifest", "append"], &first)["success"],
        true
    );
    workspace.write("entry.json", entry("second"));
    let before = workspace.read(MANIFEST);
    let (end, mut refused) = (before.len() as u64 / 512, 0);
    for blocks in end..end + 3 {
        let reply = with_room(
            &workspace,
            blocks,
            "sh -c 'cleo manifest append < entry.json'",
        );
        if reply.exit == 0 {
            continue;
        }
        refused += 1;
        assert_eq!(reply.exit, 3, "{reply}");
        assert!(reply.stderr.starts_with("error[E_DISK_FULL]"), "{reply}");
        assert!(reply.stderr.contains("try: df -h"), "{reply}");
        assert_eq!(workspace.read(MANIFEST), before, "{blocks} blocks");
    }
    assert!(refused > 0);
    workspace.write("entry.json", entry("third"));
    assert_eq!(workspace.shell("cleo manifest append < entry.json").exit, 0);
    assert_eq!(
        workspace.ask("manifest validate")["result"]["faults"],
        json!([])
    );
}

#[test]
fn where_nothing_can_be_made_init_leaves_nothing_behind() {
    let workspace = TestWorkspace::bare();
    for blocks in [0, 8, 64] {
        let refused = with_room(&workspace, blocks, "cleo --root new init");
        assert_eq!(refused.exit, 3, "{blocks} blocks: {refused}");
        assert!(!workspace.path("new").exists(), "{blocks} blocks");
    }
    workspace.ok("--root new init");
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_leaves_nothing_half_done_and_recovers() {
    let workspace = TestWorkspace::with_plan().with("entry.json", entry("e"));
    workspace.write(
        "long.jsonl",
        format!(
            "{{\"title\":\"x\",\"description\":\"{}\"}}\n",
            "x".repeat(30_000)
        )
        .repeat(9),
    );
    workspace.ok("spawn T2");
    let script = "mkdir disk && mount -t tmpfs -o size=2m none disk && cp -r .cleo disk && cd disk || exit 99
        cleo list --json > ../before.txt
        cat /dev/zero > filler 2>/dev/null
        cleo add --batch ../long.jsonl && exit 98
        cleo manifest append < ../entry.json && exit 97
        cleo verify output T2 2> /dev/null; test $? = 62 || exit 96
        cleo list --json > ../full.txt
        rm filler
        cleo add --batch ../long.jsonl && cleo manifest append < ../entry.json && cleo manifest validate";
    workspace.write("script", script);
    for unshare in ["unshare -m", "unshare -rm"] {
        if workspace
            .shell(&format!(
                "{unshare} sh -c 'mkdir -p d && mount -t tmpfs none d' 2>/dev/null"
            ))
            .exit
            == 0
        {
            let reply = workspace.shell(&format!("{unshare} sh script"));
            assert_eq!(reply.exit, 0, "{reply}");
            assert_eq!(
                reply.stderr.matches("error[E_DISK_FULL]").count(),
                2,
                "{reply}"
            );
            assert_eq!(workspace.read("before.txt"), workspace.read("full.txt"));
            return;
        }
    }
    skip("a full disk: this machine allows no mount to make one");
}
