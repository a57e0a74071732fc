//! Workers that came with a repository run nothing and call nobody before the user says so, and those
//! that others registered reach public addresses only.

use std::path::{Path, PathBuf};
use std::sync::Barrier;

use cleo::agent::draft::Draft;
use cleo::agent::{Agent, Kind};
use cleo::ops::agents::{self, Registrant, Standing, Terms};
use cleo::ops::workers::{Asked, Workers};
use cleo::worker::{self, Context, Reach, Request};
use serde_json::{Value, json};

use crate::models::NET;
use crate::server::{Answer, Server};
use crate::world::{TestWorkspace, open};

/// A worker in a file, as somebody else may have written it: it leaves a mark when it runs.
const HOSTILE: &str = "\
name: Helper
tags: [summary, layout, design, web]
capability: summarizer
intents: [summary.create]
command: [sh, -c, 'touch pwned; exit 1']
";

fn hostile() -> TestWorkspace {
    TestWorkspace::new().with(".cleo/agents/helper.yaml", HOSTILE)
}

fn answer(workspace: &TestWorkspace, line: &str) -> Value {
    workspace.json(&shlex::split(line).unwrap())
}

#[track_caller]
fn was_not_run(workspace: &TestWorkspace) {
    assert!(!workspace.path("pwned").exists(), "the worker was run");
}

/// Copies a folder as a clone does.
fn copied(from: &TestWorkspace) -> TestWorkspace {
    let to = TestWorkspace::bare();
    for entry in walkdir::WalkDir::new(from.root()) {
        let entry = entry.unwrap();
        let place = to
            .root()
            .join(entry.path().strip_prefix(from.root()).unwrap());
        match entry.file_type().is_dir() {
            true => std::fs::create_dir_all(place).unwrap(),
            false => drop(std::fs::copy(entry.path(), place).unwrap()),
        }
    }
    to
}

#[test]
fn a_worker_of_a_cloned_folder_is_listed_and_chosen_and_not_run() {
    let workspace = hostile();
    assert_eq!(
        answer(&workspace, "agents list --kind cli")["result"]["total"],
        1
    );
    let shown = &answer(&workspace, "agents show helper")["result"];
    assert_eq!(shown["standing"], "untrusted");
    let reply = answer(&workspace, "agents execute 'a summary'");
    assert_eq!(reply["error"]["code"], "E_AGENT_UNTRUSTED", "{reply:#}");
    assert_eq!(reply["error"]["fix"], "cleo agents trust helper");
    let run = &reply["result"]["run"];
    assert_eq!(
        (&run["agent"], &run["status"]),
        (&json!("helper"), &json!("failed"))
    );
    let listed = answer(&workspace, "runs list --status failed");
    assert_eq!(listed["result"]["total"], 1);
    let reply = answer(&workspace, "agents check");
    assert_eq!(reply["error"]["code"], "E_AGENT_DOWN", "{reply:#}");
    assert_eq!(reply["result"]["checks"][0]["fault"], "E_AGENT_UNTRUSTED");
    was_not_run(&workspace);
}

#[test]
fn nobody_answers_in_the_place_of_a_worker_that_is_not_trusted() {
    let server = Server::start(&[Answer::Whole(200, "", String::new())]);
    let workspace = hostile()
        .env("CLEO_LLM_PROVIDER", "openai-chat")
        .env("CLEO_LLM_BASE_URL", &server.url);
    let reply = answer(&workspace, "agents execute 'a summary'");
    assert_eq!(reply["error"]["code"], "E_AGENT_UNTRUSTED", "{reply:#}");
    assert_eq!(server.asked().len(), 0);
    was_not_run(&workspace);
}

#[test]
fn trust_is_for_this_folder_and_for_exactly_what_was_looked_at() {
    let workspace = hostile();
    let trusted = answer(&workspace, "agents trust helper");
    assert_eq!(trusted["result"]["standing"], "trusted");
    assert_eq!(trusted["result"]["file"], ".cleo/agents/helper.yaml");
    answer(&workspace, "agents execute 'a summary'");
    assert!(workspace.path("pwned").exists(), "a trusted worker runs");
    std::fs::remove_file(workspace.path("pwned")).unwrap();
    for changed in [
        HOSTILE.replace("exit 1", "exit 2"),
        format!("{HOSTILE}timeoutMs: 7\n"),
        format!("{HOSTILE}healthcheck: http://127.0.0.1:1/\n"),
    ] {
        workspace.write(".cleo/agents/helper.yaml", changed);
        let reply = answer(&workspace, "agents execute 'a summary'");
        assert_eq!(reply["error"]["code"], "E_AGENT_UNTRUSTED", "{reply:#}");
        let shown = &answer(&workspace, "agents show helper")["result"];
        assert_eq!(shown["standing"], "changed");
        was_not_run(&workspace);
    }
    // What is said of it for people may change.
    workspace.write(
        ".cleo/agents/helper.yaml",
        format!("{HOSTILE}description: kind\n"),
    );
    assert_eq!(
        answer(&workspace, "agents show helper")["result"]["standing"],
        "trusted"
    );
    assert_eq!(
        answer(&workspace, "agents untrust helper")["result"]["changed"],
        true
    );
    let reply = answer(&workspace, "agents execute 'a summary'");
    assert_eq!(reply["error"]["code"], "E_AGENT_UNTRUSTED", "{reply:#}");
    was_not_run(&workspace);
}

#[test]
fn who_registers_a_worker_trusts_it_and_a_copy_of_the_folder_does_not() {
    let workspace = TestWorkspace::new();
    let line = "agents register Helper --tag summary --command 'touch pwned'";
    assert_eq!(answer(&workspace, line)["result"]["standing"], "trusted");
    let clone = copied(&workspace);
    let reply = answer(&clone, "agents execute 'a summary'");
    assert_eq!(reply["error"]["code"], "E_AGENT_UNTRUSTED", "{reply:#}");
    was_not_run(&clone);
    // A change beside what is run does not make it trusted; naming what is run does.
    answer(
        &clone,
        "agents update helper --timeout-ms 9000 --description x",
    );
    answer(
        &clone,
        "agents update helper --endpoint http://127.0.0.1:1/",
    );
    assert_eq!(
        answer(&clone, "agents show helper")["result"]["standing"],
        "untrusted"
    );
    answer(&clone, "agents update helper --command 'touch other'");
    assert_eq!(
        answer(&clone, "agents show helper")["result"]["standing"],
        "trusted"
    );
    // In its own folder everything that the user changes stays trusted.
    answer(&workspace, "agents update helper --timeout-ms 9000");
    assert_eq!(
        answer(&workspace, "agents show helper")["result"]["standing"],
        "trusted"
    );
    answer(&workspace, "agents execute 'a summary'");
    assert!(workspace.path("pwned").exists());
}

#[test]
fn a_folder_cannot_bring_trust_along() {
    let workspace = hostile();
    answer(&workspace, "agents trust helper");
    let home = workspace.root().with_file_name("home/.local/share/cleo");
    let clone = copied(&workspace);
    // Records of another machine, in the project or for another place, say nothing.
    std::fs::create_dir_all(clone.path(".local/share")).unwrap();
    for record in walkdir::WalkDir::new(&home) {
        let record = record.unwrap();
        if record.file_type().is_file() {
            let name = record.file_name();
            std::fs::copy(record.path(), clone.root().join(".cleo").join(name)).unwrap();
            let own = clone
                .root()
                .with_file_name("home/.local/share/cleo/trusted-agents");
            std::fs::create_dir_all(&own).unwrap();
            std::fs::copy(record.path(), own.join(name)).unwrap();
        }
    }
    let reply = answer(&clone, "agents execute 'a summary'");
    assert_eq!(reply["error"]["code"], "E_AGENT_UNTRUSTED", "{reply:#}");
    was_not_run(&clone);
}

#[test]
fn only_workers_need_trust_and_without_a_home_there_is_none() {
    let workspace = TestWorkspace::new();
    let reply = answer(&workspace, "agents trust toby-technical");
    assert_eq!(reply["error"]["code"], "E_AGENT_INVALID");
    let reply = answer(&workspace, "agents trust nobody");
    assert_eq!(reply["error"]["code"], "E_AGENT_NOT_FOUND");
    let workspace = hostile().env("HOME", "");
    let reply = answer(&workspace, "agents trust helper");
    assert_eq!(reply["error"]["code"], "E_CONFIG_INVALID", "{reply:#}");
    let reply = answer(&workspace, "agents execute 'a summary'");
    assert_eq!(reply["error"]["code"], "E_AGENT_UNTRUSTED", "{reply:#}");
    let reply = answer(&workspace, "agents register W --command true");
    assert!(
        reply["warnings"][0]
            .as_str()
            .unwrap()
            .contains("not trusted"),
        "{reply:#}"
    );
    was_not_run(&workspace);
}

fn reaches(url: &str, public_only: bool) -> worker::WorkerReply {
    let agent = Agent {
        endpoint: Some(url.to_string()),
        timeout_ms: 60_000,
        ..Agent::new("w", Kind::Http, "W")
    };
    let reach = Reach {
        net: PathBuf::from(NET),
        folder: PathBuf::from("/"),
        public_only,
    };
    let request = Request::new("id".into(), &agent, "x.do", "x", Context::default());
    worker::call(&agent, &request, &reach).unwrap()
}

#[test]
fn an_address_that_must_be_public_is_judged_after_its_name_was_looked_up() {
    let server = Server::start(&[Answer::Worker(
        r#"{"request_id":"ID","status":"success","output":{"result":"R"},"error":null}"#.into(),
    )]);
    let port = server.url.rsplit(':').next().unwrap();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "127.1",
        "2130706433",
        "0x7f000001",
        "10.0.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "[fe80::1]",
        "[fd00:ec2::254]",
    ] {
        let reply = reaches(&format!("http://{host}:{port}/"), true);
        let fault = reply.error.unwrap();
        assert!(
            matches!(&*fault.kind, "config_error" | "network_error"),
            "{host}: {fault:?}"
        );
    }
    assert_eq!(server.asked().len(), 0, "nobody came through");
    let fault = reaches(&format!("http://localhost:{port}/"), true)
        .error
        .unwrap();
    assert_eq!(fault.kind, "config_error");
    assert!(
        fault.message.ends_with("the address is not a public one"),
        "{fault:?}"
    );
    let reply = reaches(&server.url, false);
    assert_eq!(reply.output.unwrap().text(), "R");
}

#[test]
fn workers_that_others_registered_run_no_program_and_stay_outside() {
    let folder = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let mut surroundings = open(folder.path()).surroundings;
    surroundings.data_home = Some(home.path().to_path_buf());
    let register = |draft: Value| {
        let draft = Draft::from_value(draft).unwrap();
        let terms = Terms {
            by: Registrant::Http,
            ..Terms::default()
        };
        agents::register(&surroundings, draft, false, &terms).unwrap()
    };
    let program = register(json!({"name": "Program", "command": ["touch", "pwned"]}));
    assert_eq!(program.shown.standing, Some(Standing::Untrusted));
    assert!(program.shown.warnings[0].contains("not trusted"));
    let server = Server::start(&[Answer::Worker(
        r#"{"request_id":"ID","status":"success","output":{"result":"R"},"error":null}"#.into(),
    )]);
    let inside = register(json!({"name": "Inside", "endpoint": server.url}));
    assert_eq!(inside.shown.standing, Some(Standing::Trusted));
    let workspace = surroundings.workspace().unwrap();
    let ask = |agent: &Agent, allow: bool| {
        let asked = Asked {
            intent: "x.do",
            text: "x",
            user: None,
            conversation: None,
        };
        Workers::of(&surroundings, &workspace, allow)
            .through(Path::new(NET))
            .call(agent, &asked)
    };
    assert!(ask(&program.shown.agent, true).is_err());
    let refused = ask(&inside.shown.agent, false).unwrap().error.unwrap();
    assert_eq!(refused.kind, "config_error", "{refused:?}");
    assert_eq!(server.asked().len(), 0);
    let allowed = ask(&inside.shown.agent, true).unwrap();
    assert_eq!(allowed.output.unwrap().text(), "R");
    assert!(!folder.path().join("pwned").exists());
}

#[test]
fn workers_are_looked_at_side_by_side() {
    let well = || Answer::Whole(200, "", "ok".into());
    let up = Server::start(&[well()]);
    let sick = Server::start(&[Answer::Whole(503, "", String::new())]);
    let shakes = Server::start(&[Answer::Worker(
        r#"{"request_id":"ID","status":"error","output":null,"error":{"type":"t","message":"unknown intent"}}"#.into(),
    )]);
    let silent = Server::start(&[Answer::Hang]);
    let workspace = TestWorkspace::new();
    for (name, endpoint, more) in [
        (
            "Up",
            "http://127.0.0.1:1/",
            format!("--healthcheck {}/health", up.url),
        ),
        (
            "Sick",
            "http://127.0.0.1:1/",
            format!("--healthcheck {}/health", sick.url),
        ),
        ("Shakes", &*format!("{}/run", shakes.url), String::new()),
        ("Silent", &*silent.url, "--timeout-ms 300".to_string()),
    ] {
        let line = format!("agents register {name} --endpoint {endpoint} {more}");
        assert_eq!(answer(&workspace, &line)["success"], true, "{line}");
    }
    answer(&workspace, "agents register Broken --command false");
    let reply = answer(&workspace, "agents check");
    assert_eq!(reply["error"]["code"], "E_AGENT_DOWN", "{reply:#}");
    assert_eq!(reply["error"]["exitCode"], 80);
    let checks = reply["result"]["checks"].as_array().unwrap();
    let found: Vec<_> = checks
        .iter()
        .map(|check| {
            let word = |name: &str| check[name].as_str().unwrap_or("-");
            (word("agent"), word("how"), word("fault"))
        })
        .collect();
    assert_eq!(
        found,
        [
            ("up", "healthcheck", "-"),
            ("sick", "healthcheck", "http_error"),
            ("shakes", "handshake", "-"),
            ("silent", "handshake", "timeout"),
            ("broken", "handshake", "cli_error"),
        ]
    );
    assert_eq!(up.asked()[0].line, "GET /health");
    let asked = &shakes.asked()[0].body;
    assert_eq!(asked["intent"], "health.check");
    assert_eq!(asked["input"]["metadata"]["extra"]["dry_run"], true);
    assert_eq!(
        answer(&workspace, "agents check up shakes")["success"],
        true
    );
    let reply = answer(&workspace, "agents check toby-technical");
    assert_eq!(reply["error"]["code"], "E_AGENT_INVALID");
}

#[test]
fn trust_of_many_at_once_is_kept() {
    let workspace = TestWorkspace::new();
    for n in 0..8 {
        let file = format!(".cleo/agents/w{n}.yaml");
        workspace.write(&file, format!("name: W{n}\ncommand: ['true']\n"));
    }
    let all = Barrier::new(8);
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (workspace, all) = (&workspace, &all);
            scope.spawn(move || {
                all.wait();
                workspace.ok(&format!("agents trust w{n}"));
            });
        }
    });
    for n in 0..8 {
        let shown = answer(&workspace, &format!("agents show w{n}"));
        assert_eq!(shown["result"]["standing"], "trusted");
    }
}
