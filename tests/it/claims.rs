//! Claims: exactly one works on a task, until the lease is over, and a former holder is
//! refused.

use std::process::Command;

use serde_json::{Value, json};

use crate::world::{TestWorkspace, assert_fields, document, says};

/// A valid entry of an agent.
const ENTRY: &str = r#"{"id":"found-1","file":"2026-01-26_found.md","title":"Found",
    "date":"2026-01-26","status":"complete","topics":["auth"],
    "key_findings":["One.","Two.","Three."],"actionable":true,"needs_followup":[],
    "linked_tasks":["T2"]}"#;

/// Somebody who runs commands at times of their own.
#[derive(Clone, Copy)]
struct Person<'a> {
    workspace: &'a TestWorkspace,
    name: &'a str,
    time: &'a str,
    settings: &'a [(&'a str, &'a str)],
}

impl<'a> Person<'a> {
    fn new(workspace: &'a TestWorkspace, name: &'a str) -> Person<'a> {
        Person {
            workspace,
            name,
            time: "09:30:00",
            settings: &[],
        }
    }

    fn at(self, time: &'a str) -> Person<'a> {
        Person { time, ..self }
    }

    fn with(self, settings: &'a [(&'a str, &'a str)]) -> Person<'a> {
        Person { settings, ..self }
    }

    fn command(self, line: &str) -> Command {
        let words = shlex::split(line).unwrap();
        let mut command = self.workspace.command(&words);
        command
            .env("CLEO_AGENT", self.name)
            .env("CLEO_NOW", format!("2026-01-26T{}Z", self.time))
            .envs(self.settings.iter().copied());
        command
    }

    fn run(self, line: &str) -> Value {
        self.run_with(line, "")
    }

    fn run_with(self, line: &str, input: &str) -> Value {
        document(&self.workspace.finish(self.command(line), input))
    }

    /// Runs a command that must succeed.
    #[track_caller]
    fn does(self, line: &str) -> Value {
        let reply = self.run(line);
        assert_eq!(reply["success"], true, "cleo {line}: {reply:#}");
        reply["result"].clone()
    }

    /// Runs a command that must be refused and must change nothing; returns the error.
    #[track_caller]
    fn expect_refusal(self, line: &str, code: &str) -> Value {
        self.expect_refusal_with(line, "", code)
    }

    #[track_caller]
    fn expect_refusal_with(self, line: &str, input: &str, code: &str) -> Value {
        let before = self.workspace.state();
        let reply = self.run_with(line, input);
        assert_eq!(reply["error"]["code"], code, "cleo {line}: {reply:#}");
        assert_eq!(
            self.workspace.state(),
            before,
            "cleo {line} changed something"
        );
        reply["error"].clone()
    }
}

/// Kinds and details of what the log holds of claims.
fn read_log(workspace: &TestWorkspace) -> Vec<(String, Value)> {
    let database = rusqlite::Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let sql = "SELECT kind, detail FROM changes
               WHERE kind IN ('claimed', 'released', 'expired', 'extended') ORDER BY sequence";
    let mut statement = database.prepare(sql).unwrap();
    let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get::<_, String>(1)?)));
    let rows = rows.unwrap().map(Result::unwrap);
    rows.map(|(kind, detail)| (kind, serde_json::from_str(&detail).unwrap()))
        .collect()
}

fn kinds(workspace: &TestWorkspace) -> Vec<String> {
    read_log(workspace)
        .into_iter()
        .map(|(kind, _)| kind)
        .collect()
}

#[test]
fn claim_has_epoch_holder_and_lease() {
    let workspace = TestWorkspace::with_plan();
    let claimed = Person::new(&workspace, "ada").does("claim T2 --lease 30m");
    let expected = json!({
        "task": "T2", "epoch": 1, "holder": "ada",
        "since": "2026-01-26T09:30:00.000Z", "expires": "2026-01-26T10:00:00.000Z",
    });
    assert_eq!(claimed["claim"], expected);
    assert_eq!(claimed["task"]["status"], "active");
    let mut shown = expected.clone();
    shown["expired"] = false.into();
    assert_eq!(workspace.ask("show T2")["result"]["claim"], shown);
    insta::assert_snapshot!(workspace.cleo("show T2"));
    let detail = json!({"holder": "ada", "epoch": 1, "expires": "2026-01-26T10:00:00.000Z"});
    assert_eq!(read_log(&workspace), [("claimed".to_string(), detail)]);
}

#[test]
fn claimed_task_is_refused_with_a_fix() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    ada.does("claim T2");
    let error = Person::new(&workspace, "bob").expect_refusal("claim T2", "E_CLAIMED");
    assert_eq!(error["exitCode"], 35);
    assert_eq!(
        error["message"],
        "T2 is claimed by ada (epoch 1) until 2026-01-26T10:30:00.000Z"
    );
    assert_eq!(error["fix"], "cleo claim --next");
    let own = ada.expect_refusal("claim T2", "E_CLAIMED");
    assert_eq!(own["fix"], "cleo heartbeat T2 --epoch 1");
}

#[test]
fn waiting_task_is_claimed_only_by_force() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    let error = ada.expect_refusal("claim T4", "E_NOT_READY");
    assert_eq!(error["message"], "T4 is not ready: it depends on T3");
    let error = ada.expect_refusal("claim T1", "E_NOT_READY");
    let message = "T1 is not ready: it has open children T2, T3, T4, T5";
    assert_eq!(error["message"], message);
    workspace.ok("update T2 --status blocked");
    ada.expect_refusal("claim T2", "E_NOT_READY");
    let forced = ada.run("claim T4 --force");
    assert_eq!(
        forced["warnings"],
        json!(["claimed by force: T4 is not ready: it depends on T3"])
    );
    assert_eq!(read_log(&workspace)[0].1["forced"], true);
    workspace.ok("cancel T5");
    ada.expect_refusal("claim T5", "E_STATUS_REFUSED");
    ada.expect_refusal("claim T9", "E_TASK_NOT_FOUND");
}

#[test]
fn expired_lease_frees_the_task() {
    let workspace = TestWorkspace::with_plan();
    Person::new(&workspace, "ada").does("claim T2");
    let bob = Person::new(&workspace, "bob");
    bob.at("10:29:59").expect_refusal("claim T2", "E_CLAIMED");
    let shown = bob.at("10:30:00").does("show T2");
    assert_eq!(shown["claim"]["expired"], true);
    let claimed = bob.at("10:30:00").does("claim T2");
    assert_eq!(claimed["claim"]["epoch"], 2);
    assert_eq!(claimed["claim"]["holder"], "bob");
    assert_eq!(kinds(&workspace), ["claimed", "expired", "claimed"]);
}

#[test]
fn next_takes_what_is_most_urgent_and_first_frees_what_expired() {
    let workspace = TestWorkspace::with_plan();
    let (ada, bob) = (
        Person::new(&workspace, "ada"),
        Person::new(&workspace, "bob"),
    );
    assert_eq!(ada.does("claim --next")["claim"]["task"], "T2");
    let busy = bob.expect_refusal("claim --next", "E_NOTHING_READY");
    assert_fields(&busy, json!({"exitCode": 4, "retryable": true}));
    assert!(busy["fix"].is_null(), "{busy}");
    let taken = bob.at("10:30:00").does("claim --next --epic T1");
    assert_eq!(taken["claim"]["task"], "T2");
    assert_eq!(taken["claim"]["epoch"], 2);
    assert_eq!(kinds(&workspace), ["claimed", "expired", "claimed"]);
    bob.at("10:31:00").does("complete T2");
    let next = ada.at("10:32:00").does("claim --next");
    assert_eq!(
        next["claim"]["task"], "T5",
        "the more urgent T3 is assigned to coder"
    );
    let coder = Person::new(&workspace, "coder");
    let next = coder.at("10:32:00").does("claim --next");
    assert_eq!(next["claim"]["task"], "T3");
}

#[test]
fn next_says_whether_more_will_come() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    workspace.ok("add 'Elsewhere'");
    ada.expect_refusal("claim --next --epic T9", "E_TASK_NOT_FOUND");
    let empty = ada.expect_refusal("claim --next --epic T6", "E_NOTHING_READY");
    assert_eq!(empty["retryable"], false);
    assert_eq!(
        empty["message"],
        "nothing is ready below T6: it has no parts"
    );
    workspace.ok("cancel T2");
    let stuck = ada.expect_refusal("claim --next --epic T1", "E_NOTHING_READY");
    assert_eq!(stuck["retryable"], false);
    assert_eq!(stuck["fix"], "cleo orchestrator waves --epic T1");
    Person::new(&workspace, "bob").does("claim T6");
    let outside = ada.expect_refusal("claim --next --epic T1", "E_NOTHING_READY");
    assert_eq!(
        outside["retryable"], true,
        "it may wait for the work elsewhere"
    );
    for task in ["T3", "T4", "T5"] {
        workspace.ok(&format!("cancel {task}"));
    }
    let over = ada.expect_refusal("claim --next --epic T1", "E_NOTHING_READY");
    assert_eq!(over["retryable"], false);
    assert_eq!(
        over["message"],
        "nothing is ready below T1: everything is done or cancelled"
    );
}

#[test]
fn next_ignores_files_nobody_holds() {
    let workspace = TestWorkspace::new();
    let ada = Person::new(&workspace, "ada");
    let expect_refusal = |line: &str, message: &str, fix: &str| {
        let error = ada.expect_refusal(line, "E_NOTHING_READY");
        assert_eq!(error["retryable"], false, "{error}");
        assert_eq!(error["message"], message);
        assert_eq!(error["fix"].as_str().unwrap_or_default(), fix);
    };
    let none = "nothing is ready: there are no tasks";
    expect_refusal("claim --next", none, "");
    workspace.ok("add One --file src/a.rs");
    workspace.ok("add Two --depends T1");
    workspace.ok("update T1 --status active");
    let free = "nothing is ready: T1 is active and not claimed, 1 more open";
    expect_refusal("claim --next", free, "cleo claim T1");
    ada.does("claim T1");
    // Several may use one name, so T1 may belong to another.
    for name in ["ada", "bob"] {
        let held = Person::new(&workspace, name).expect_refusal("claim --next", "E_NOTHING_READY");
        assert_eq!(held["retryable"], true, "{held}");
        assert_eq!(held["message"], "nothing is ready: 1 in work, 1 more open");
        let is_told = held["alternatives"]
            .to_string()
            .contains("cleo complete T1");
        assert_eq!(is_told, name == "ada", "{held}");
    }
}

#[test]
fn expired_work_outside_scope_is_kept() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add Elsewhere --priority critical");
    let ada = Person::new(&workspace, "ada");
    ada.does("claim T6");
    assert_eq!(ada.does("claim --next --epic T1")["claim"]["task"], "T2");
    let late = ada.at("11:00:00");
    assert_eq!(late.does("claim --next --epic T1")["claim"]["task"], "T2");
    let shown = late.does("show T6");
    assert_eq!(
        (&shown["task"]["status"], &shown["claim"]["epoch"]),
        (&json!("active"), &json!(1))
    );
}

#[test]
fn default_lease_is_a_setting() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("config set claims.lease 90s");
    let ada = Person::new(&workspace, "ada");
    let expires = |claimed: Value| claimed["claim"]["expires"].clone();
    assert_eq!(expires(ada.does("start T2")), "2026-01-26T09:31:30.000Z");
    let later = ada.at("09:31:00");
    assert_eq!(
        expires(later.does("heartbeat T2")),
        "2026-01-26T09:32:30.000Z"
    );
    let longer = later.does("heartbeat T2 --lease 2m");
    assert_eq!(expires(longer), "2026-01-26T09:33:00.000Z");
}

#[test]
fn heartbeat_extends_lease() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    ada.does("claim T2");
    for (time, line, expires) in [
        ("09:45:00", "heartbeat T2", "2026-01-26T10:45:00.000Z"),
        (
            "09:46:00",
            "heartbeat T2 --lease 1s",
            "2026-01-26T10:45:00.000Z",
        ),
        (
            "09:47:00",
            "heartbeat T2 --epoch 1 --lease 2d",
            "2026-01-28T09:47:00.000Z",
        ),
    ] {
        assert_eq!(
            ada.at(time).does(line)["claim"]["expires"],
            expires,
            "{line}"
        );
    }
    let same = ada.at("09:48:00").run("heartbeat T2 --lease 5m");
    assert_eq!(same["result"]["changed"], false);
    let warning = "T2 is held until 2026-01-28T09:47:00.000Z as before: a lease is never shortened";
    assert_eq!(same["warnings"], json!([warning]));
    let bob = Person::new(&workspace, "bob");
    bob.expect_refusal("heartbeat T2", "E_CLAIMED");
    bob.expect_refusal("heartbeat T3", "E_CLAIM_LOST");
    bob.does("heartbeat T2 --lease 3d --force");
    assert_eq!(kinds(&workspace), ["claimed", "extended"]);
    assert_eq!(read_log(&workspace)[1].1["forced"], true);
}

#[test]
fn heartbeat_after_lease_holds_what_nobody_took() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    ada.does("claim T2");
    let late = ada.at("11:00:00").does("heartbeat T2 --epoch 1");
    assert_eq!(late["claim"]["expires"], "2026-01-26T12:00:00.000Z");
    Person::new(&workspace, "bob")
        .at("11:30:00")
        .expect_refusal("claim T2", "E_CLAIMED");
}

#[test]
fn released_task_is_pending_and_free() {
    let workspace = TestWorkspace::with_plan();
    let (ada, bob) = (
        Person::new(&workspace, "ada"),
        Person::new(&workspace, "bob"),
    );
    ada.does("claim T2");
    bob.expect_refusal("release T2", "E_CLAIMED");
    let released = ada.does("release T2 --epoch 1");
    assert_eq!(released["task"]["status"], "pending");
    assert_eq!(released["claim"]["holder"], json!(null));
    assert_eq!(ada.does("show T2")["claim"], json!(null));
    assert_eq!(ada.does("release T2")["changed"], false);
    assert_eq!(bob.does("claim T2")["claim"]["epoch"], 2);
    let forced = ada.run("release T2 --force");
    assert_eq!(forced["success"], true);
    says(&forced["warnings"][0], "by force: T2 is claimed by bob");
    let told = read_log(&workspace);
    assert_eq!(told.last().unwrap().1["forced"], true);
    assert_eq!(
        kinds(&workspace),
        ["claimed", "released", "claimed", "released"]
    );
    workspace.ok("claim T2");
    workspace.ok("update T2 --status review");
    let kept = workspace.ask("release T2");
    assert_eq!(kept["result"]["task"]["status"], "review");
}

#[test]
fn start_claims_and_whoever_holds_it_only_renews() {
    let workspace = TestWorkspace::with_plan();
    let (ada, bob) = (
        Person::new(&workspace, "ada"),
        Person::new(&workspace, "bob"),
    );
    let started = ada.run("start T4");
    assert_eq!(
        started["warnings"],
        json!(["T4 depends on T3, not done yet"])
    );
    assert_eq!(started["result"]["claim"]["epoch"], 1);
    let again = ada.at("09:40:00").does("start T4");
    assert_eq!(
        (&again["changed"], &again["claim"]["epoch"]),
        (&json!(false), &json!(1))
    );
    assert_eq!(again["claim"]["expires"], "2026-01-26T10:40:00.000Z");
    bob.at("10:00:00").expect_refusal("start T4", "E_CLAIMED");
    let taken = bob.at("10:40:00").does("start T4");
    assert_eq!(
        (&taken["changed"], &taken["claim"]["epoch"]),
        (&json!(true), &json!(2))
    );
    // An agent that is given the epoch works under the claim of its parent.
    let agent = Person::new(&workspace, "agent");
    let given = [("CLEO_TASK_ID", "T4"), ("CLEO_EPOCH", "2")];
    let begun = agent.at("10:50:00").with(&given).does("start T4");
    assert_eq!(
        (&begun["changed"], &begun["claim"]["holder"]),
        (&json!(false), &json!("bob"))
    );
    let late = [("CLEO_TASK_ID", "T4"), ("CLEO_EPOCH", "1")];
    ada.at("10:50:00")
        .with(&late)
        .expect_refusal("start T4", "E_CLAIM_LOST");
}

#[test]
fn completing_and_cancelling_end_claim() {
    let workspace = TestWorkspace::with_plan();
    let (ada, bob) = (
        Person::new(&workspace, "ada"),
        Person::new(&workspace, "bob"),
    );
    ada.does("claim T2");
    bob.expect_refusal("complete T2", "E_CLAIMED");
    bob.expect_refusal("update T2 --status paused", "E_CLAIMED");
    bob.does("update T2 --priority low");
    ada.does("complete T2 --epoch 1");
    assert_eq!(ada.does("show T2")["claim"], json!(null));
    // The answer may have been lost: asking again is not a mistake.
    assert_eq!(ada.does("complete T2 --epoch 1")["changed"], false);
    ada.does("claim T3");
    let forced = bob.run("complete T3 --force");
    says(&forced["warnings"][0], "by force: T3 is claimed by ada");
    assert_eq!(read_log(&workspace).last().unwrap().1["forced"], true);
    ada.does("claim T5");
    bob.expect_refusal("cancel T5", "E_CLAIMED");
    bob.does("cancel T5 --force");
    bob.does("reopen T5");
    assert_eq!(bob.does("show T5")["claim"], json!(null));
    assert_eq!(bob.does("claim T5")["claim"]["epoch"], 2);
}

#[test]
fn what_goes_back_to_pending_is_free() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    ada.does("claim T2");
    let released = ada.run("update T2 --status pending");
    let warning = "T2 was released: ada does not hold it any more";
    assert_eq!(released["warnings"], json!([warning]));
    assert_eq!(ada.does("show T2")["claim"], json!(null));
    assert_eq!(ada.run("update T2 --status pending")["warnings"], json!([]));
    assert_eq!(
        Person::new(&workspace, "bob").does("claim --next")["claim"]["task"],
        "T2"
    );
}

/// Everything that a late writer tries, with the epoch on the command line and in the environment.
const LATE: [&str; 10] = [
    "complete T2",
    "complete T2 --force",
    "verify T2 --gate implemented",
    "verify T2 --gate implemented --run true",
    "verify T2 --accept 1 --note seen",
    "verify output T2",
    "heartbeat T2",
    "release T2",
    "release T2 --force",
    "manifest append",
];

#[track_caller]
fn assert_late(late: Person<'_>, told: &str) {
    let environments: [&[(&str, &str)]; 2] = [
        &[("CLEO_EPOCH", "1")],
        &[("CLEO_EPOCH", "1"), ("CLEO_TASK_ID", "T2")],
    ];
    for line in LATE {
        let input = if line.contains("append") { ENTRY } else { "" };
        let given = format!("{line} --epoch 1");
        let mut errors = vec![late.expect_refusal_with(&given, input, "E_CLAIM_LOST")];
        for environment in environments {
            let late = late.with(environment);
            errors.push(late.expect_refusal_with(line, input, "E_CLAIM_LOST"));
        }
        for error in errors {
            assert_eq!(error["exitCode"], 35);
            assert_eq!(error["message"], told, "{line}");
        }
    }
}

#[test]
fn late_writer_is_refused_everywhere_and_told_who_took_over() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    ada.does("claim T2");
    Person::new(&workspace, "bob")
        .at("10:45:00")
        .does("claim T2");
    assert_late(
        ada.at("10:50:00"),
        "epoch 1 is not the claim of T2: bob took over with epoch 2 at 2026-01-26T10:45:00.000Z, \
         until 2026-01-26T11:45:00.000Z",
    );
    let update = ada.at("10:50:00").with(&[("CLEO_EPOCH", "1")]);
    update.expect_refusal("update T2 --status review", "E_CLAIM_LOST");
}

#[test]
fn writer_with_lost_claim_is_refused_even_if_unclaimed() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    ada.does("claim T2");
    Person::new(&workspace, "bob")
        .at("10:00:00")
        .does("release T2 --force");
    assert_late(
        ada.at("10:50:00"),
        "epoch 1 is not the claim of T2: its last claim (epoch 1) ended at \
         2026-01-26T10:00:00.000Z, and it is not claimed now",
    );
}

#[test]
fn proof_is_dropped_if_claim_was_lost_meanwhile() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    ada.does("claim T2");
    // The command takes the task while it runs, as another agent would.
    let line =
        "verify T2 --gate implemented --epoch 1 --run 'env -u CLEO_JUDGE cleo release T2 --force'";
    assert_eq!(ada.run(line)["error"]["code"], "E_CLAIM_LOST");
    assert_eq!(ada.does("show T2")["task"]["status"], "pending");
    assert_eq!(ada.does("verify T2")["gates"], json!({}));

    ada.does("update T2 --acceptance 'free :: env -u CLEO_JUDGE cleo release T2 --force'");
    ada.does("claim T2");
    let error = ada.run("verify T2 --run-all --epoch 2");
    assert_eq!(error["error"]["code"], "E_CLAIM_LOST");
    assert_eq!(ada.does("verify T2")["criteria"][1]["state"], "unproven");
}

#[test]
fn epoch_of_env_is_that_of_its_task() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    ada.does("claim T2");
    let given = [("CLEO_TASK_ID", "T2"), ("CLEO_EPOCH", "1")];
    let agent = Person::new(&workspace, "agent").with(&given);
    let other = ENTRY
        .replace("[\"T2\"]", "[\"T3\"]")
        .replace("found-1", "found-2");
    assert_eq!(agent.run_with("manifest append", &other)["success"], true);
    assert_eq!(agent.run_with("manifest append", ENTRY)["success"], true);
    agent.does("start T5");
    agent.does("complete T5");
    agent.does("complete T2");
    let unsaid = [("CLEO_EPOCH", "1")];
    let two = ENTRY
        .replace("[\"T2\"]", "[\"T2\",\"T3\"]")
        .replace("found-1", "found-3");
    let error = agent
        .with(&unsaid)
        .expect_refusal_with("manifest append", &two, "E_INPUT_INVALID");
    says(&error, "set CLEO_TASK_ID to the one");
}

#[test]
fn epoch_that_never_was_is_refused() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    for line in [
        "complete T2 --epoch 1",
        "heartbeat T2 --epoch 7",
        "start T2 --epoch 1",
    ] {
        let error = ada.expect_refusal(line, "E_CLAIM_LOST");
        assert_eq!(error["fix"], "cleo show T2", "{line}");
        assert_eq!(error["alternatives"][0]["command"], "cleo claim T2");
    }
    for line in [
        "complete T2 --epoch 0",
        "claim T2 --lease 0s",
        "claim T2 --lease 31d",
    ] {
        ada.expect_refusal(line, "E_USAGE");
    }
    for (name, value) in [
        ("CLEO_EPOCH", "0"),
        ("CLEO_EPOCH", "x"),
        ("CLEO_TASK_ID", "2"),
        ("CLEO_SESSION", "T1"),
    ] {
        let error = ada
            .with(&[(name, value)])
            .expect_refusal("list", "E_CONFIG_INVALID");
        assert_eq!(error["fix"], format!("unset {name}"));
    }
}

#[test]
fn clock_that_was_set_back_neither_takes_nor_shortens_lease() {
    let workspace = TestWorkspace::with_plan();
    let (ada, bob) = (
        Person::new(&workspace, "ada"),
        Person::new(&workspace, "bob"),
    );
    ada.does("claim T2");
    for (person, line) in [
        (bob, "claim T2"),
        (bob, "start T2"),
        (ada, "claim T2"),
        (ada, "start T2"),
        (ada, "heartbeat T2"),
        (ada, "heartbeat T2 --epoch 1"),
        (ada, "complete T2"),
        (bob, "complete T2 --force"),
    ] {
        let error = person.at("09:28:00").expect_refusal(line, "E_CLOCK");
        assert_eq!(error["fix"], "unset CLEO_NOW", "{line}");
    }
    // Clocks of two machines are never quite the same.
    let near = ada.at("09:29:30").does("heartbeat T2");
    assert_eq!(near["claim"]["expires"], "2026-01-26T10:30:00.000Z");
    bob.at("09:28:00")
        .expect_refusal("complete T2", "E_CLAIMED");
    bob.at("09:28:00").does("release T2 --force");
    assert_eq!(bob.at("09:28:00").does("claim T2")["claim"]["epoch"], 2);
}

#[test]
fn no_task_ends_before_it_began_whatever_clock_says() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    for (line, field) in [
        ("complete T2 --force", "completedAt"),
        ("cancel T4", "cancelledAt"),
    ] {
        let id = line.split(' ').nth(1).unwrap();
        ada.does(&format!("start {id}"));
        ada.does(&format!("release {id}"));
        let task = ada.at("09:28:00").does(line)["task"].clone();
        assert!(task["startedAt"].is_string(), "{task}");
        assert_eq!(task[field], task["startedAt"], "{task}");
    }
}

#[test]
fn lists_show_what_is_claimed_and_by_whom() {
    let workspace = TestWorkspace::with_plan();
    Person::new(&workspace, "ada").does("claim T2");
    workspace.ok("add more");
    Person::new(&workspace, "bob").does("claim T6");
    let ids = |line: &str| -> Vec<String> {
        let tasks = workspace.ask(line)["result"]["tasks"].clone();
        let tasks = tasks.as_array().unwrap().iter();
        tasks
            .map(|task| task["id"].as_str().unwrap().to_string())
            .collect()
    };
    assert_eq!(ids("list --claimed"), ["T2", "T6"]);
    assert_eq!(ids("list --holder bob"), ["T6"]);
    assert_eq!(ids("list --holder bob --status done"), [] as [&str; 0]);
}

#[test]
fn restored_task_reuses_no_epoch() {
    let workspace = TestWorkspace::with_plan();
    let (ada, bob) = (
        Person::new(&workspace, "ada"),
        Person::new(&workspace, "bob"),
    );
    ada.does("claim T2");
    ada.does("release T2");
    bob.does("delete T2 --force");
    bob.does("undo");
    assert_eq!(bob.does("claim T2")["claim"]["epoch"], 2);
    let error = ada.expect_refusal("complete T2 --epoch 1", "E_CLAIM_LOST");
    says(&error, "bob took over");
}

#[test]
fn held_task_that_came_back_is_still_held() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    ada.does("claim T2");
    Person::new(&workspace, "bob").does("delete T2 --force");
    Person::new(&workspace, "bob").does("undo");
    ada.does("heartbeat T2 --epoch 1");
    Person::new(&workspace, "bob").expect_refusal("claim T2", "E_CLAIMED");
}

#[test]
fn what_someone_holds_is_not_deleted_under_their_hands() {
    let workspace = TestWorkspace::with_plan();
    let (ada, bob) = (
        Person::new(&workspace, "ada"),
        Person::new(&workspace, "bob"),
    );
    ada.does("claim T2");
    let error = bob.expect_refusal("delete T1 --cascade", "E_CLAIMED");
    assert_eq!(error["fix"], "cleo show T2");
    assert_eq!(error["alternatives"], json!([]));
    bob.expect_refusal("delete T1 --cascade --dry-run", "E_CLAIMED");
    bob.does("delete T1 --cascade --force");
    bob.does("undo");
    ada.does("delete T1 --cascade");
}

#[test]
fn undo_moves_and_removes_nothing_under_hands_of_others() {
    let workspace = TestWorkspace::with_plan();
    let (ada, bob) = (
        Person::new(&workspace, "ada"),
        Person::new(&workspace, "bob"),
    );
    bob.does("update T2 --status active");
    ada.does("claim T2");
    let error = bob.expect_refusal("undo", "E_UNDO_CONFLICT");
    assert_eq!(error["fix"], "cleo show T2");
    says(&error, "claimed by ada");
    assert_eq!(ada.does("show T2")["task"]["status"], "active");
}

#[test]
fn undo_leaves_claim_and_its_epoch_unchanged() {
    let workspace = TestWorkspace::with_plan();
    let ada = Person::new(&workspace, "ada");
    let before = ada.does("claim T2")["claim"].clone();
    ada.expect_refusal("undo", "E_NOTHING_TO_UNDO");
    assert_eq!(ada.does("show T2")["claim"]["holder"], before["holder"]);
    let bob = Person::new(&workspace, "bob");
    bob.does("update T2 --title other");
    bob.does("undo");
    let shown = ada.does("show T2");
    assert_eq!(shown["task"]["status"], "active");
    assert_eq!(shown["claim"]["epoch"], before["epoch"]);
    ada.does("complete T2 --epoch 1");
    ada.expect_refusal("undo", "E_NOTHING_TO_UNDO");
    ada.does("reopen T2");
    ada.does("undo");
    ada.expect_refusal("heartbeat T2 --epoch 1", "E_CLAIM_LOST");
}

#[test]
fn agents_of_one_caller_are_told_apart() {
    let workspace = TestWorkspace::new();
    workspace.ok("add 'Paint it'");
    workspace.ok("spawn T1");
    let first = "paint-it-2026-01-26";
    let started = workspace.result(format!("start T1 --as {first}"));
    assert_eq!(started["claim"]["holder"], format!("tester/{first}"));
    workspace.refuse("start T1 --as other", "E_CLAIMED");
    workspace.refuse("complete T1 --as other", "E_CLAIMED");
    // The same prompt is for the same agent, another one for another.
    let error = workspace.refuse("spawn T1", "E_CLAIMED");
    let replace = &error["alternatives"][0]["command"];
    assert_eq!(replace, "cleo spawn T1 --again");
    assert_eq!(workspace.result("spawn T1 --dry-run")["manifestId"], first);
    workspace.ok(&format!("heartbeat T1 --as {first}"));
    let second = workspace.result("spawn T1 --again")["manifestId"].clone();
    assert_eq!(second, "paint-it-2026-01-26-2");
    workspace.refuse(format!("heartbeat T1 --as {first}"), "E_CLAIM_LOST");
    let entry = format!(
        "manifest append --id {first} --file a.md --title x --topic a --finding 1 --finding 2 --finding 3 --task T1"
    );
    let error = workspace.refuse(&entry, "E_CLAIM_LOST");
    says(
        &error,
        "another prompt for T1 has replaced that of the entry paint-it-2026-01-26",
    );
    workspace.ok("start T1 --as paint-it-2026-01-26-2");
    for stale in [
        "complete T1",
        "update T1 --title x",
        "verify output T1",
        "reopen T1",
        "add part --parent T1",
        "spawn T1 --again",
    ] {
        workspace.refuse(format!("{stale} --as {first}"), "E_CLAIM_LOST");
    }
    // The caller that gave the prompt may end the work of its agent. No name is given twice.
    workspace.ok("release T1");
    for claim in ["claim T1", "claim T1 --force", "claim --next"] {
        workspace.refuse(format!("{claim} --as {first}"), "E_CLAIM_LOST");
    }
    let third = workspace.result("spawn T1")["manifestId"].clone();
    assert_eq!(third, "paint-it-2026-01-26-3");
    // Nor does an agent write the proof of another one.
    workspace.ok("start T1 --as paint-it-2026-01-26-3");
    let entry = entry.replace(&format!("--id {first}"), "--id paint-it-2026-01-26-3");
    workspace.refuse(format!("{entry} --as other"), "E_CLAIMED");
    let blocked = format!("{entry} --status blocked --followup BLOCKED:held");
    workspace.refuse(format!("{blocked} --as other"), "E_CLAIMED");
    workspace.ok(&format!("{entry} --as paint-it-2026-01-26-3"));
    workspace.refuse("start T1 --as ''", "E_INPUT_INVALID");
}
