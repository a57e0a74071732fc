//! A workspace whose database is on a PostgreSQL server. `CLEO_TEST_POSTGRES` names one by the address of a database;
//! without it these tests are skipped.

use std::env;

use postgres::{Client, Config, NoTls};
use serde_json::{Value, json};

use crate::served::Served;
use crate::world::{TestWorkspace, assert_fields, document, expect_exit, says, skip};

/// A database of its own, which goes when it is dropped.
pub(crate) struct Scratch {
    pub(crate) server: Config,
    pub(crate) name: String,
}

impl Scratch {
    pub(crate) fn connect(&self) -> Client {
        let mut config = self.server.clone();
        config.dbname(&self.name).connect(NoTls).unwrap()
    }

    pub(crate) fn run(&self, sql: &str) {
        let mut client: Client = self.server.connect(NoTls).unwrap();
        client.batch_execute(sql).unwrap();
    }
}

impl Scratch {
    fn drop(&self) {
        self.run(&format!(
            "DROP DATABASE IF EXISTS {} WITH (FORCE)",
            self.name
        ));
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        Scratch::drop(self);
    }
}

/// Makes a database and a folder, and returns the address without its password, which the commands get by a variable.
pub(crate) fn prepare(test: &str) -> Option<(Scratch, TestWorkspace, String)> {
    let Ok(url) = env::var("CLEO_TEST_POSTGRES") else {
        skip("PostgreSQL: CLEO_TEST_POSTGRES names no server");
        return None;
    };
    let server: Config = url.parse().unwrap();
    let scratch = Scratch {
        name: format!("cleo_it_{}_{test}", std::process::id()),
        server,
    };
    scratch.run(&format!(
        "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'",
        scratch.name
    ));
    let (user, rest) = url.split_once("://").unwrap().1.split_once('@').unwrap();
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let host = rest.split('/').next().unwrap();
    let workspace = TestWorkspace::bare().env("PGPASSWORD", password);
    let url = format!("postgres://{user}@{host}/{}", scratch.name);
    Some((scratch, workspace, url))
}

pub(crate) fn init(test: &str) -> Option<(Scratch, TestWorkspace)> {
    let (scratch, workspace, url) = prepare(test)?;
    workspace.ok(&format!("init --store {url}"));
    Some((scratch, workspace))
}

#[test]
fn tasks_are_added_listed_found_and_undone() {
    let Some((_scratch, workspace)) = init("tasks") else {
        return;
    };
    assert!(!workspace.path(".cleo/cleo.db").exists());
    workspace.ok("add 'Überprüfe the login' --label auth --priority high");
    workspace.ok("add 'Write it down' --depends T1");
    let listed = workspace.result("list");
    assert_eq!(listed["total"], 2);
    assert_eq!(
        workspace.result("show T1")["task"]["title"],
        "Überprüfe the login"
    );
    assert_eq!(workspace.result("find uberprufe")["tasks"][0]["id"], "T1");
    assert_eq!(workspace.result("list --label AUTH")["total"], 1);
    workspace.fails("claim T2", "E_NOT_READY");
    workspace.ok("complete T1");
    workspace.ok("undo");
    assert_eq!(workspace.result("show T1")["task"]["status"], "pending");
    workspace.ok("delete T2");
    let examined = workspace.ask("doctor");
    let findings = examined["result"]["findings"].as_array().unwrap();
    let of_database = |it: &&Value| it["check"].as_str().unwrap().starts_with("database");
    assert!(
        findings
            .iter()
            .filter(of_database)
            .all(|it| it["status"] == "ok"),
        "{findings:?}"
    );
    let exported = workspace.ok("export").to_string();
    assert!(exported.contains("Überprüfe"), "{exported}");
}

#[test]
fn one_of_many_claims_task() {
    let Some((_scratch, workspace)) = init("claims") else {
        return;
    };
    workspace.ok("add One");
    let claims: Vec<_> = (0..6)
        .map(|number| {
            let mut command = workspace.command(&["claim", "T1"]);
            command.env("CLEO_AGENT", format!("agent{number}"));
            command
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let won = claims
        .into_iter()
        .map(|claim| claim.wait_with_output().unwrap());
    let (won, lost): (Vec<_>, Vec<_>) = won.partition(|output| output.status.success());
    assert_eq!(won.len(), 1);
    for output in lost {
        let refused = document(&workspace.reply(&output));
        assert_eq!(refused["error"]["code"], "E_CLAIMED");
    }
}

#[test]
fn agents_work_through_planned_epic() {
    let Some((_scratch, workspace)) = init("run") else {
        return;
    };
    let workspace = workspace.with(
        "plan.jsonl",
        "{\"key\":\"epic\",\"title\":\"Build login\",\"type\":\"epic\"}\n\
         {\"key\":\"a\",\"title\":\"Research\",\"parent\":\"@epic\",\"type\":\"research\"}\n\
         {\"key\":\"b\",\"title\":\"Implement\",\"parent\":\"@epic\",\"depends\":[\"@a\"]}\n",
    );
    workspace.ok("add --batch plan.jsonl");
    let result = expect_exit(crate::running::run(&workspace, "--epic T1", "works"), 0);
    assert_eq!(result["summary"]["done"], 2);
    assert_fields(
        &result["run"],
        json!({"status": "completed", "kind": "epic"}),
    );
    assert_eq!(
        workspace.result("runs list")["runs"][0]["status"],
        "completed"
    );
}

#[test]
fn server_answers_from_database_and_sees_changes_of_others() {
    let Some((scratch, workspace)) = init("serve") else {
        return;
    };
    workspace.ok("add One");
    let server = Served::start(&workspace, &[]);
    assert_eq!(server.get("/api/work/tasks/T1")["task"]["title"], "One");
    workspace.ok("add Two");
    assert_eq!(server.get("/api/work/tasks/T2")["task"]["title"], "Two");
    let routed = server.post("/api/route", &json!({"message": "history of war"}));
    assert!(routed["route"]["agent"].is_string(), "{routed}");
    let asked = json!({"input": "history of war"});
    let told = server.post("/api/agents/execute?wait=true", &asked);
    assert_eq!(told["execution"]["status"], "completed", "{told}");
    assert_eq!(server.get("/ready")["status"], "ok");
    scratch.drop();
    assert!(server.call("GET", "/ready", &json!(null)).0 >= 500);
}

#[test]
fn address_of_project_is_used_once_it_is_trusted() {
    let Some((_scratch, workspace)) = init("trust") else {
        return;
    };
    workspace.ok("add One");
    workspace.ok("trust --remove");
    let refused = workspace.fails("list", "E_UNTRUSTED");
    assert_eq!(refused["error"]["fix"], "cleo trust");
    workspace.ok("trust --yes");
    assert_eq!(workspace.result("list")["total"], 1);
}

#[test]
fn password_in_address_of_project_is_refused() {
    let Some((_scratch, workspace, url)) = prepare("password") else {
        return;
    };
    let with_password = url.replace('@', ":secret@");
    let refused = workspace.fails(format!("init --store {with_password}"), "E_CONFIG_INVALID");
    assert!(!refused.to_string().contains("secret"), "{refused}");
    says(&refused["error"]["message"], "PGPASSWORD");
    workspace.ok(&format!("init --store {url}"));
    workspace.fails(
        format!("config set store.url {with_password}"),
        "E_CONFIG_INVALID",
    );
    workspace.write(".cleo/config.yaml", format!("store.url: {with_password}\n"));
    for command in ["list", "trust --list", "config list", "doctor"] {
        let reply = workspace.ask(command).to_string();
        assert!(!reply.contains("secret"), "{command}: {reply}");
    }
    workspace.fails("list", "E_CONFIG_INVALID");
}

#[test]
fn database_without_tables_is_not_written_to() {
    let Some((_scratch, workspace, url)) = prepare("empty") else {
        return;
    };
    let workspace = workspace.env("CLEO_STORE_URL", &url);
    std::fs::create_dir(workspace.path(".cleo")).unwrap();
    workspace.fails("list", "E_WORKSPACE_NOT_FOUND");
    workspace.ok("init");
    workspace.ok("add One");
}

#[test]
fn copies_to_server_and_back_are_equal() {
    let Some((scratch, workspace, url)) = prepare("copies") else {
        return;
    };
    workspace.ok("init");
    workspace
        .ok("add 'Tab and \\n' --label auth --description 'a\tb\n\\t c' --acceptance '`true`'");
    workspace.ok("add Next --depends T1 --due 2030-01-01");
    workspace.ok("add Gone");
    workspace.ok("delete T3");
    workspace.ok("claim T1 --as ada");
    workspace.ok("session start --name Work --scope T2");
    workspace.ok("agents register Lore --prompt 'Tell of it.'");
    workspace.ask("agents execute Hello --agent lore");
    let everything = || {
        let questions = [
            "export",
            "log --limit 100",
            "show T1",
            "session list",
            "agents list",
            "runs list",
            "conversations list",
        ];
        questions.map(|question| workspace.result(question))
    };
    let before = everything();
    workspace.ok(&format!("store copy --to {url}"));
    workspace.fails(format!("store copy --to {url}"), "E_EXISTS");
    std::fs::remove_file(workspace.path(".cleo/cleo.db")).unwrap();
    workspace.shell("rm .cleo/cleo.db*");
    workspace.ok(&format!("init --store {url}"));
    assert_eq!(everything(), before);
    let owners = "SELECT count(*) FROM cleo.task_owners WHERE user_id <> ''";
    let owners = scratch.connect().query_one(owners, &[]).unwrap();
    assert_eq!(owners.get::<_, i64>(0), 2);
    assert_eq!(workspace.result("add Later")["task"]["id"], "T4");
    workspace.ok("undo");

    let before = everything();
    workspace.ok("backup copy.db");
    workspace.shell("rm .cleo/config.yaml .cleo/cleo.db-server; mv copy.db .cleo/cleo.db");
    assert_eq!(everything(), before);
    let examined = workspace.ask("doctor");
    let findings = examined["result"]["findings"].as_array().unwrap().iter();
    let faults = findings
        .filter(|it| it["check"].as_str().unwrap().starts_with("database") && it["status"] != "ok");
    assert_eq!(faults.collect::<Vec<_>>(), Vec::<&Value>::new());
    assert_eq!(workspace.result("find tab")["total"], 1);
    assert_eq!(workspace.result("add Last")["task"]["id"], "T5");
}
