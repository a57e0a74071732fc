//! Several servers and machines on one PostgreSQL database. Without `CLEO_TEST_POSTGRES` these tests are skipped.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::postgres::{init, prepare};
use crate::served::Served;
use crate::world::{TestWorkspace, assert_fields, says};

#[test]
fn claims_that_wait_together_get_tasks_of_their_own() {
    let Some((_scratch, workspace)) = init("groups") else {
        return;
    };
    let plan = (0..60).map(|number| match number {
        7 => "{\"title\":\"Files\",\"files\":[\"a.rs\"]}\n".to_string(),
        9 => "{\"title\":\"Reserved\",\"assignedAgent\":\"ada\"}\n".to_string(),
        _ => format!("{{\"title\":\"Task {number}\"}}\n"),
    });
    workspace.write("plan.jsonl", plan.collect::<String>());
    workspace.ok("add --batch plan.jsonl");
    let servers = [
        Served::start(&workspace, &[]),
        Served::start(&workspace, &[]),
    ];
    let claim = |number: usize| {
        let server = &servers[number % 2];
        let claimed = (0..3).map(|_| server.call("POST", "/api/work/claim", &json!({})));
        claimed.collect::<Vec<_>>()
    };
    let claimed: Vec<_> = thread::scope(|scope| {
        let waiting: Vec<_> = (0..20)
            .map(|number| scope.spawn(move || claim(number)))
            .collect();
        let answers = waiting.into_iter();
        answers.flat_map(|answer| answer.join().unwrap()).collect()
    });
    let won = claimed.iter().filter(|(status, _)| *status == 200);
    let tasks: BTreeSet<_> = won
        .map(|(_, moved)| moved["task"]["id"].to_string())
        .collect();
    assert_eq!(tasks.len(), 59, "all but that of ada: {tasks:?}");
    let (status, refused) = claimed.iter().find(|(status, _)| *status != 200).unwrap();
    assert_eq!(refused["error"]["code"], "E_NOTHING_READY", "{status}");
    let log = workspace.result("log --limit 100");
    let operations = log["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 60, "one each, and the batch");
    let of_claims = operations.iter().filter(|it| it["command"] == "claim");
    assert!(of_claims.clone().all(|it| it["changes"] == 2), "{log}");
    assert_eq!(of_claims.count(), 59);
    let examined = workspace.ask("doctor");
    let findings = examined["result"]["findings"].as_array().unwrap();
    let counts = findings.iter().find(|it| it["check"] == "database.counts");
    assert_eq!(counts.unwrap()["status"], "ok");
}

#[test]
fn roles_that_were_made_later_get_their_rights() {
    let Some((scratch, workspace)) = init("roles") else {
        return;
    };
    let find = || {
        let examined = workspace.ask("doctor");
        let findings = examined["result"]["findings"].as_array().unwrap().clone();
        let found = findings.into_iter().find(|it| it["check"] == "roles");
        found.unwrap_or_default()
    };
    let take = "REVOKE ALL ON ALL TABLES IN SCHEMA cleo FROM cleo_server, cleo_user";
    scratch.connect().batch_execute(take).unwrap();
    assert_fields(&find(), json!({"status": "warn", "fix": "cleo init"}));
    workspace.ok("init");
    assert_ne!(find()["fix"], "cleo init");
    let has = "SELECT has_table_privilege('cleo_user', 'public.agents', 'INSERT')
        AND has_table_privilege('cleo_server', 'cleo.claims', 'INSERT')";
    assert!(
        scratch
            .connect()
            .query_one(has, &[])
            .unwrap()
            .get::<_, bool>(0)
    );
    let user = scratch.server.get_user().unwrap();
    let mut client = scratch.connect();
    let is_super = "SELECT rolsuper FROM pg_roles WHERE rolname = session_user";
    if client.query_one(is_super, &[]).unwrap().get(0) {
        says(
            &find()["message"],
            format!("does not hold for {user} itself"),
        );
    }
}

#[test]
fn run_of_another_machine_goes_on_until_its_process_is_gone() {
    let Some((scratch, workspace, url)) = prepare("machines") else {
        return;
    };
    workspace.ok(&format!("init --store {url}"));
    let other = TestWorkspace::bare().env("CLEO_STORE_URL", &url);
    other.ok("init");
    workspace.ok("add One");
    let mut command = workspace.command(&["run", "T1", "--command", "sleep 60"]);
    let silent = || std::process::Stdio::null();
    let mut child = command.stdout(silent()).stderr(silent()).spawn().unwrap();
    let status = |from: &TestWorkspace| {
        let listed = from.result("runs list");
        listed["runs"][0]["status"]
            .as_str()
            .unwrap_or_default()
            .to_string()
    };
    wait_until(|| status(&workspace) == "running");
    let id = workspace.result("runs list")["runs"][0]["id"].to_string();
    let resume = format!("runs resume {}", id.trim_matches('"'));
    assert_eq!(status(&other), "running");
    let refused = other.ask(&resume);
    assert_eq!(refused["error"]["code"], "E_STATUS_REFUSED", "{refused}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(status(&other), "running", "it was there a moment ago");
    let later = "UPDATE cleo.presence SET seen = now() - interval '1 hour'";
    scratch.connect().batch_execute(later).unwrap();
    // The server of the database may have begun a moment ago, too.
    wait_until(|| status(&other) == "interrupted");
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < Duration::from_secs(45));
        thread::sleep(Duration::from_millis(100));
    }
}
