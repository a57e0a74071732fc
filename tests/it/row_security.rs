//! The tables of the multi-agent specification as views of a database on a PostgreSQL server, and who sees which rows.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use postgres::{Client, Config, NoTls, SimpleQueryMessage};
use serde_json::{Value, json};

use crate::postgres::{Scratch, init, prepare};
use crate::served::Served;
use crate::world::{TestWorkspace, column};

/// Logins of two users, which belong to the server and not to the database.
struct Logins<'a> {
    scratch: &'a Scratch,
    ann: String,
    bob: String,
}

impl<'a> Logins<'a> {
    fn create(scratch: &'a Scratch) -> Logins<'a> {
        let name = |user| format!("{}_{user}", scratch.name);
        let logins = Logins {
            scratch,
            ann: name("ann"),
            bob: name("bob"),
        };
        for name in [&logins.ann, &logins.bob] {
            let create = format!("CREATE ROLE {name} LOGIN PASSWORD '{name}' IN ROLE cleo_user");
            scratch.run(&create);
        }
        logins
    }

    fn connect(&self, name: &str) -> Client {
        let mut config = self.scratch.server.clone();
        config.dbname(&self.scratch.name).user(name).password(name);
        config.connect(NoTls).unwrap()
    }
}

impl Drop for Logins<'_> {
    fn drop(&mut self) {
        for name in [&self.ann, &self.bob] {
            self.scratch.run(&format!("DROP ROLE {name}"));
        }
    }
}

/// Creates rows of both users with the program.
fn write_by_http(workspace: &TestWorkspace, ann: &str, bob: &str) {
    let server = Served::start(workspace, &["--ask-token"]);
    for (name, user) in [("ann", ann), ("bob", bob)] {
        let made = workspace.result(format!("serve token create --user {user} --scope write"));
        let secret = made["secret"].as_str().unwrap();
        let post = |path: &str, body| {
            let (status, reply) = server.call_as(Some(secret), "POST", path, &body);
            assert!(status < 300, "{path}: {reply}");
            reply
        };
        let agent = json!({"name": format!("Own of {name}"), "prompt": "p", "tags": ["alpha"], "role": "specialist"});
        post("/api/agents/create", agent);
        let input = json!({"input": format!("Help me design, says {name}")});
        post("/api/agents/execute?wait=true", input);
        let talk = json!({"agent_id": "ami-creative", "title": format!("Talk of {name}")});
        let talk = post("/api/conversations/create", talk);
        let id = &talk["conversation"]["id"];
        let input = json!({"input": format!("Hello from {name}"), "conversation": id});
        post("/api/agents/execute?wait=true", input);
        let task = json!({"title": format!("Task of {name}"), "priority": "urgent", "tags": ["a", "b"],
            "estimated_hours": 1.5, "due_date": "2026-12-31"});
        post("/api/tasks/create", task);
    }
}

/// Runs a statement and writes its rows, or the state and message of its error.
fn answer(client: &mut Client, statement: &str) -> String {
    let all = format!(
        "WITH r AS ({statement}) SELECT coalesce(string_agg(CAST(r AS text), ' '), 'no rows') FROM r"
    );
    match client.simple_query(&all) {
        Ok(messages) => messages
            .iter()
            .find_map(|message| match message {
                SimpleQueryMessage::Row(row) => row.get(0).map(String::from),
                _ => None,
            })
            .unwrap(),
        Err(error) => {
            let error = error.as_db_error().unwrap();
            format!("{} {}", error.code().code(), error.message())
        }
    }
}

/// Returns true if a text has the parts between the `%` of a pattern, in their order.
fn matches(text: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('%') else {
        return text == pattern;
    };
    let rest_of_text = rest.split('%').try_fold(
        text.strip_prefix(first).unwrap_or_default(),
        |text, part| text.split_once(part).map(|(_, after)| after),
    );
    text.starts_with(first) && rest_of_text.is_some()
}

/// Connects everybody who runs statements, by the names that the file has for them.
fn connect_all(scratch: &Scratch, logins: &Logins<'_>) -> BTreeMap<&'static str, Client> {
    let (mut server, mut unnamed) = (scratch.connect(), scratch.connect());
    let act_as = format!(
        "SET ROLE cleo_server; SELECT set_config('cleo.user', '{}', false)",
        logins.ann
    );
    server.batch_execute(&act_as).unwrap();
    unnamed.batch_execute("SET ROLE cleo_server").unwrap();
    BTreeMap::from([
        ("ann", logins.connect(&logins.ann)),
        ("bob", logins.connect(&logins.bob)),
        ("server", server),
        ("unnamed", unnamed),
        ("owner", scratch.connect()),
    ])
}

/// Runs the statements of the file, and returns those whose answer is another one than the file has.
fn find_differences(
    clients: &mut BTreeMap<&str, Client>,
    mut ids: BTreeMap<String, String>,
) -> Vec<String> {
    let mut differences = Vec::new();
    let lines = include_str!("../data/agents_system.txt").lines();
    let lines = Vec::from_iter(lines.filter(|line| !line.starts_with('#') && !line.is_empty()));
    for pair in lines.chunks(2) {
        let (who, statement) = pair[0].split_once(": ").unwrap();
        let expected = pair[1].strip_prefix("=> ").unwrap();
        let (name, statement) = statement.split_once(" := ").unwrap_or(("", statement));
        let statement = ids
            .iter()
            .fold(statement.to_string(), |statement, (name, id)| {
                statement.replace(&format!("{{{name}}}"), &format!("'{id}'"))
            });
        let mut came = answer(clients.get_mut(who).unwrap(), &statement);
        if !name.is_empty() && came.starts_with('(') {
            let id = came.trim_matches(['(', ')']).to_string();
            ids.insert(name.to_string(), id);
            came = "(UUID)".to_string();
        }
        if !matches(&came, expected) {
            differences.push(format!("{}\n   {came}\n   {expected}", pair[0]));
        }
    }
    assert!(lines.len() / 2 > 90, "{}", lines.len());
    differences
}

#[test]
fn statements_of_specification_see_and_write_own_rows_only() {
    let Some((scratch, workspace)) = init("views") else {
        return;
    };
    let logins = Logins::create(&scratch);
    write_by_http(&workspace, &logins.ann, &logins.bob);
    workspace.ok("agents register Shared --prompt p");
    workspace.ok("add Waits --depends T1");
    let mut clients = connect_all(&scratch, &logins);
    let owner = clients.get_mut("owner").unwrap();
    let ids = [("ann", &logins.ann), ("bob", &logins.bob)].map(|(user, name)| {
        let id = answer(owner, &format!("SELECT cleo.as_uuid('{name}')"));
        (user.to_string(), id.trim_matches(['(', ')']).to_string())
    });
    let differences = find_differences(&mut clients, BTreeMap::from(ids));
    assert!(differences.is_empty(), "{}", differences.join("\n"));

    // The program reads what was written by statements, and can undo it.
    let task = workspace.result("find 'Sql task'")["tasks"][0].clone();
    assert_eq!(task["status"], "done", "{task}");
    assert_eq!(task["assignedAgent"], "ami-creative", "{task}");
    let ready = workspace.result("ready");
    assert!(
        column(&ready["tasks"], "title").contains(&"Waits"),
        "{ready}"
    );
    let log = workspace.result("log --limit 1");
    workspace.ok(&format!("undo {}", log["operations"][0]["number"]));
    let id = task["id"].as_str().unwrap();
    let task = workspace.result(format!("show {id}"))["task"].clone();
    assert_eq!(task["assignedAgent"], json!(null), "{task}");
    let findings = workspace.ask("doctor")["result"]["findings"].clone();
    let of_database = |it: &&Value| it["check"].as_str().unwrap().starts_with("database");
    let findings = findings.as_array().unwrap().iter().filter(of_database);
    assert!(
        findings.clone().all(|it| it["status"] == "ok"),
        "{findings:?}"
    );
}

/// A login without the rights of a superuser, which owns a database.
struct Owner {
    server: Config,
    name: String,
}

impl Owner {
    fn run(&self, sql: &str) {
        let mut client = self.server.connect(NoTls).unwrap();
        client.batch_execute(sql).unwrap();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.run(&format!("DROP ROLE {}", self.name));
    }
}

/// Starts a server, and returns what it says before it listens.
fn read_warnings(workspace: &TestWorkspace) -> String {
    let mut command = workspace.command(&["serve", "--port", "0"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    let mut warnings = String::new();
    let mut errors = process.stderr.take().unwrap();
    errors.read_to_string(&mut warnings).unwrap();
    warnings
}

#[test]
fn server_warns_once_where_its_login_lacks_the_role() {
    let Some((scratch, workspace, url)) = prepare("owner") else {
        return;
    };
    let owner = Owner {
        server: scratch.server.clone(),
        name: format!("{}_owner", scratch.name),
    };
    // It goes before its owner.
    let scratch = scratch;
    let name = &owner.name;
    owner.run(&format!(
        "DO $$ BEGIN CREATE ROLE cleo_server; CREATE ROLE cleo_user;
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
        CREATE ROLE {name} LOGIN PASSWORD '{name}';
        ALTER DATABASE {} OWNER TO {name}",
        scratch.name
    ));
    let workspace = workspace.env("PGPASSWORD", name);
    let (_, place) = url.split_once('@').unwrap();
    workspace.ok(&format!("init --store postgres://{name}@{place}"));
    let warnings = read_warnings(&workspace);
    assert_eq!(warnings.matches("cleo_server").count(), 1, "{warnings}");
    write_by_http(&workspace, "ann", "bob");
    owner.run(&format!("GRANT cleo_server TO {name}"));
    assert_eq!(read_warnings(&workspace).matches("cleo_server").count(), 0);
    write_by_http(&workspace, "cat", "dan");
    assert_eq!(workspace.result("runs list")["total"], 8);
}
