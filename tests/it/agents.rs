//! The registry of agents: built-in ones, files, registered and runtime ones.

use serde_json::{Value, json};

use crate::world::TestWorkspace;

fn does(workspace: &TestWorkspace, line: &str) -> Value {
    let reply = workspace.json(&shlex::split(line).unwrap());
    assert_eq!(reply["success"], true, "cleo {line}: {reply:#}");
    reply["result"].clone()
}

fn expect_refusal(workspace: &TestWorkspace, line: &str, code: &str) -> Value {
    let before = does(workspace, "agents list");
    let reply = workspace.json(&shlex::split(line).unwrap());
    assert_eq!(reply["error"]["code"], code, "cleo {line}: {reply:#}");
    assert_eq!(does(workspace, "agents list"), before, "cleo {line}");
    reply["error"].clone()
}

fn ids(workspace: &TestWorkspace, line: &str) -> Vec<String> {
    let listed = does(workspace, line);
    let agents = listed["agents"].as_array().unwrap();
    assert_eq!(listed["total"], agents.len());
    let ids = agents.iter().map(|agent| agent["id"].as_str().unwrap());
    ids.map(str::to_string).collect()
}

const BUILTIN: [&str; 4] = [
    "cleo-supervisor",
    "toby-technical",
    "ami-creative",
    "peter-logical",
];

#[test]
fn four_agents_are_there_also_without_workspace() {
    let bare = TestWorkspace::bare();
    assert_eq!(ids(&bare, "agents list"), BUILTIN);
    insta::assert_snapshot!(bare.cleo("agents list"));
    insta::assert_snapshot!(bare.cleo("agents show peter-logical"));
    let error = expect_refusal(&bare, "agents show peter-logcal", "E_AGENT_NOT_FOUND");
    assert_eq!(error["fix"], "cleo agents list");
    let message = error["message"].as_str().unwrap();
    assert!(message.ends_with("did you mean `peter-logical`?"));
    let error = expect_refusal(
        &bare,
        "agents register X --prompt p",
        "E_WORKSPACE_NOT_FOUND",
    );
    assert_eq!(error["fix"], "cleo init");
}

#[test]
fn agent_is_registered_changed_and_removed() {
    let workspace = TestWorkspace::new();
    let line = "agents register 'Lore Keeper' --tag warcraft,wow --tag 'second war' --prompt 'You \
                know Azeroth.' --temperature 0.25 --agent-color '#00ff00' --role specialist";
    insta::assert_snapshot!(workspace.cleo(line));
    let shown = does(&workspace, "agents show lore-keeper")["agent"].clone();
    assert_eq!(shown["tags"], json!(["warcraft", "wow", "second war"]));
    assert_eq!(shown["temperature"], 0.25);
    assert_eq!(shown["model"], "gpt-4o-mini");
    assert_eq!(shown["max_tokens"], 4000);
    assert_eq!(shown["kind"], "persistent");
    let changed = does(
        &workspace,
        "agents update lore-keeper --status paused --tag ''",
    );
    assert_eq!(changed["agent"]["status"], "paused");
    assert_eq!(changed["agent"]["tags"], json!([]));
    assert_eq!(changed["agent"]["created_at"], shown["created_at"]);
    assert_ne!(changed["agent"]["updated_at"], shown["updated_at"]);
    let error = expect_refusal(
        &workspace,
        "agents register 'Lore keeper' --id lore-keeper --prompt p",
        "E_EXISTS",
    );
    assert_eq!(error["exitCode"], 101);
    let message = "there is an agent `lore-keeper` already; `lore-keeper-2` is free";
    assert_eq!(error["message"], message);
    let again = "agents register 'Lore keeper' --prompt p";
    let error = expect_refusal(&workspace, again, "E_EXISTS");
    assert_eq!(error["message"], message);
    workspace.ok("agents register 'Lore keeper 2' --prompt p");
    assert_eq!(
        ids(&workspace, "agents list")[4..],
        ["lore-keeper", "lore-keeper-2"]
    );
    expect_refusal(&workspace, "agents update lore-keeper", "E_INPUT_INVALID");
    does(&workspace, "agents remove lore-keeper");
    expect_refusal(&workspace, "agents remove lore-keeper", "E_AGENT_NOT_FOUND");
}

#[test]
fn built_in_agents_can_be_changed_and_restored_but_one() {
    let workspace = TestWorkspace::new();
    does(&workspace, "agents update toby-technical --status paused");
    assert_eq!(ids(&workspace, "agents list"), BUILTIN);
    let paused = "agents list --status paused";
    assert_eq!(ids(&workspace, paused), ["toby-technical"]);
    assert_eq!(
        does(&workspace, "agents remove toby-technical")["restored"],
        true
    );
    assert_eq!(ids(&workspace, paused), [] as [&str; 0]);
    let error = expect_refusal(
        &workspace,
        "agents remove toby-technical",
        "E_AGENT_INVALID",
    );
    assert_eq!(error["fix"], "cleo agents show toby-technical");
    assert_eq!(
        error["alternatives"][0]["command"],
        "cleo agents update toby-technical --status paused"
    );
    let error = expect_refusal(
        &workspace,
        "agents remove cleo-supervisor",
        "E_AGENT_INVALID",
    );
    assert_eq!(error["fix"], "cleo agents show cleo-supervisor");
    for line in [
        "agents update cleo-supervisor --status archived",
        "agents update cleo-supervisor --role specialist",
        "agents register X --id toby-technical --prompt p --runtime",
    ] {
        let reply = workspace.json(&shlex::split(line).unwrap());
        assert_eq!(reply["success"], false, "cleo {line}");
    }
}

#[test]
fn agents_of_moment_get_ids_of_own_and_go_together() {
    let workspace = TestWorkspace::new();
    let first = does(&workspace, "agents register --runtime One --prompt p");
    let id = first["agent"]["id"].as_str().unwrap();
    let digits = id.strip_prefix("custom_").unwrap();
    assert!(digits.bytes().all(|byte| byte.is_ascii_digit()), "{id}");
    assert_eq!(first["agent"]["is_runtime"], true);
    let sample = "agents register Two --id custom_1756441115596 --tag lore";
    assert_eq!(does(&workspace, sample)["created"], true);
    assert_eq!(
        does(&workspace, sample)["created"],
        false,
        "the same id changes it"
    );
    for line in [
        "agents register --runtime Bad --id agent-1",
        "agents register --runtime Bad --id custom_1x",
    ] {
        expect_refusal(&workspace, line, "E_AGENT_INVALID");
    }
    expect_refusal(
        &workspace,
        "agents register --runtime X --id peter-logical",
        "E_EXISTS",
    );
    does(&workspace, "agents register Stays --prompt p");
    let expired = does(&workspace, "agents cleanup --expired");
    assert_eq!(expired["cleanedUp"], json!(["custom_1756441115596"]));
    let cleaned = does(&workspace, "agents cleanup");
    assert_eq!(cleaned["cleanedUp"], json!([id]));
    assert_eq!(
        (&cleaned["count"]["before"], &cleaned["count"]["after"]),
        (&json!(6), &json!(5))
    );
    assert_eq!(cleaned["count"]["removed"], 1);
    let mut remaining = BUILTIN.map(str::to_string).to_vec();
    remaining.push("stays".to_string());
    assert_eq!(cleaned["remaining"], json!(remaining));
}

#[test]
fn faulty_agent_file_is_skipped_with_line_and_column() {
    let workspace = TestWorkspace::new()
        .with(".cleo/agents/crawler.yaml", "name: Crawler\nprompt: p\ntags: [web, crawl]\ncapability: Web-Crawler\nskills: [Search]\n")
        .with(".cleo/agents/workers.json", r#"{"agents": [{"name": "sum", "type": "http", "endpoint": "http://127.0.0.1:9/x", "intents": ["summary.create"], "timeout_ms": 200}]}"#)
        .with(".cleo/agents/broken.yaml", "name: x\n  tags: [\n")
        .with(".cleo/agents/note.txt", "no agent");
    assert_eq!(ids(&workspace, "agents list")[4..], ["crawler", "sum"]);
    assert_eq!(
        ids(&workspace, "agents list --capability web-CRAWLER"),
        ["crawler"]
    );
    assert_eq!(
        ids(&workspace, "agents list --skill search --skill ner"),
        ["crawler"]
    );
    assert_eq!(
        ids(&workspace, "agents list --skill search --skill ner --all"),
        [] as [&str; 0]
    );
    let listed = workspace.json(&["agents", "list"]);
    let warning = listed["warnings"][0].as_str().unwrap();
    assert!(warning.contains("broken.yaml is left out"), "{warning}");
    assert!(warning.contains("line 2 column"), "{warning}");
    let error = expect_refusal(
        &workspace,
        "agents update crawler --status paused",
        "E_AGENT_INVALID",
    );
    assert_eq!(error["fix"], "cat .cleo/agents/crawler.yaml");
    assert_eq!(
        does(&workspace, "agents show sum")["agent"]["file"],
        ".cleo/agents/workers.json"
    );
}

#[test]
fn link_out_of_workspace_is_no_agent() {
    let workspace = TestWorkspace::new().with(".cleo/agents/own.yaml", "name: Own\nprompt: p\n");
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "root:x:0:0:hidden words\n").unwrap();
    let link = workspace.root().join(".cleo/agents/linked.yaml");
    std::os::unix::fs::symlink(&secret, link).unwrap();
    let listed = workspace.json(&["agents", "list"]);
    assert_eq!(ids(&workspace, "agents list")[4..], ["own"]);
    let warning = listed["warnings"][0].as_str().unwrap();
    assert!(warning.contains("linked.yaml is left out"), "{warning}");
    assert!(warning.contains("leads out of the workspace"), "{warning}");
    assert!(!listed.to_string().contains("hidden words"), "{listed}");
}

#[test]
fn file_is_imported_whole_or_not() {
    let workspace = TestWorkspace::new()
        .with("good.yaml", "- {id: a, name: A, prompt: p}\n- {id: w, name: W, type: cli, command: run --fast, max_tokens: 9}\n")
        .with("bad.json", r#"[{"id": "b", "name": "B", "prompt": "p"}, {"id": "c", "name": "C", "prompt": "p", "color": "red"}]"#)
        .with("torn.json", "[{\"id\": \"b\",\n \"name\": }]");
    let imported = does(&workspace, "agents import good.yaml");
    assert_eq!(
        (&imported["total"], &imported["updated"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(imported["agents"][1]["command"], json!(["run", "--fast"]));
    expect_refusal(&workspace, "agents import good.yaml", "E_EXISTS");
    let again = does(&workspace, "agents import good.yaml --replace");
    assert_eq!(again["updated"], 2);
    let shown = workspace.ok("agents import good.yaml --replace");
    assert!(shown.stdout.contains("w  would run run --fast"), "{shown}");
    let error = expect_refusal(&workspace, "agents import bad.json", "E_AGENT_INVALID");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("bad.json, agent 2: `red` is not a color")
    );
    let error = expect_refusal(&workspace, "agents import torn.json", "E_AGENT_INVALID");
    assert!(
        error["message"].as_str().unwrap().contains("line 2 column"),
        "{error}"
    );
}

#[test]
fn duplicate_fields_are_refused_wherever_agents_are_read() {
    let json = r#"{"id": "a", "prompt": "p", "name": "A", "name": "B"}"#;
    let workspace = TestWorkspace::new()
        .with("twice.json", json)
        .with("lines.json", format!("{{\"id\":\"b\"}}\n{json}\n"))
        .with("twice.yaml", "id: a\nprompt: p\nname: A\nname: B\n");
    for file in ["twice.json", "lines.json", "twice.yaml"] {
        let line = format!("agents import {file}");
        let error = expect_refusal(&workspace, &line, "E_AGENT_INVALID");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("duplicate field `name`"), "{message}");
    }
    let reply = workspace.json_with(&["agents", "register", "--stdin"], json);
    let message = reply["error"]["message"].as_str().unwrap();
    assert!(message.contains("duplicate field `name`"), "{message}");
    for file in ["twice.json", "twice.yaml"] {
        let text = workspace.read(file);
        let workspace = TestWorkspace::new().with(&format!(".cleo/agents/{file}"), text);
        let listed = workspace.ok("agents list");
        assert!(listed.stderr.contains("is left out"), "{listed}");
        assert!(listed.stderr.contains("duplicate field `name`"), "{listed}");
    }
}

#[test]
fn no_agent_has_id_that_is_answered_in_place_of_one() {
    let workspace = TestWorkspace::new()
        .with(
            "agents.json",
            r#"[{"id": "finalize", "name": "C", "prompt": "p"}]"#,
        )
        .with(".cleo/agents/finalize.yaml", "name: F\ntags: [zzzz]\n");
    let error = expect_refusal(
        &workspace,
        "agents register F --id finalize --prompt p",
        "E_AGENT_INVALID",
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.ends_with("did you mean `finalize-agent`?"));
    expect_refusal(&workspace, "agents import agents.json", "E_AGENT_INVALID");
    let listed = workspace.json(&["agents", "list"]);
    assert_eq!(listed["result"]["total"], 4);
    let warning = listed["warnings"][0].as_str().unwrap();
    assert!(warning.contains("finalize.yaml is left out"), "{warning}");
}

#[test]
fn skipped_agent_files_are_named_by_every_command() {
    let workspace = TestWorkspace::new()
        .with(".cleo/agents/k.yaml", "id: kp\nname: [K\n")
        .with(".cleo/agents/m.yaml", "id: metrics\nname: M\n");
    let warnings = [
        ".cleo/agents/k.yaml is left out: ",
        "`metrics` is an endpoint of cleo's own below /api/agents; did you mean `metrics-agent`?",
    ];
    let told = |reply: &Value| {
        let said = reply["warnings"].as_array().unwrap().iter();
        let said: Vec<_> = said.map(|one| one.as_str().unwrap()).collect();
        assert_eq!(said.len(), 2, "{reply}");
        assert!(said[0].contains(warnings[0]), "{reply}");
        assert!(said[0].contains("line "), "{reply}");
        assert_eq!(said[0].matches("k.yaml").count(), 1, "{reply}");
        assert!(said[1].ends_with(warnings[1]), "{reply}");
    };
    told(&workspace.json(&["agents", "list"]));
    told(&workspace.json(&["agents", "show", "ami-creative"]));
    told(&workspace.json(&["agents", "execute", "design a layout"]));
    let command = workspace.command(&["agents", "execute", "--stdin"]);
    let reply = workspace.finish(command, "design\ncontent\n");
    let last = reply.stdout.lines().last().unwrap();
    told(&serde_json::from_str(last).unwrap());
    for (id, file) in [("kp", "k.yaml"), ("k", "k.yaml"), ("metrics", "m.yaml")] {
        let line = format!("agents show {id}");
        let error = expect_refusal(&workspace, &line, "E_AGENT_NOT_FOUND");
        let message = error["message"].as_str().unwrap();
        let (message, files) = message.split_once("; files that are left out: ").unwrap();
        assert_eq!(message, format!("there is no agent `{id}`"));
        assert!(files.contains(file), "{error}");
        assert_eq!(error["fix"], "cleo doctor");
    }
}

#[test]
fn reserved_agent_name_gets_numbered_id() {
    let workspace = TestWorkspace::new().with(
        "agents.json",
        r#"[{"name": "Chat", "prompt": "p"}, {"name": "Sync", "prompt": "p"}]"#,
    );
    let router = does(&workspace, "agents register Router --prompt p");
    assert_eq!(router["agent"]["id"], "router-2");
    let again = "agents register Router --prompt p";
    let error = expect_refusal(&workspace, again, "E_EXISTS");
    let message = error["message"].as_str().unwrap();
    assert!(message.ends_with("; `router-2-2` is free"), "{message}");
    workspace.ok("agents register 'Router 3' --prompt p");
    does(&workspace, "agents import agents.json");
    assert_eq!(
        ids(&workspace, "agents list")[4..],
        ["router-2", "router-3", "chat-2", "sync-2"]
    );
    for id in ["metrics", "chat", "user"] {
        let line = format!("agents register X --id {id} --prompt p");
        let error = expect_refusal(&workspace, &line, "E_AGENT_INVALID");
        let meant = format!("; did you mean `{id}-agent`?");
        assert!(error["message"].as_str().unwrap().ends_with(&meant));
    }
}

#[test]
fn name_is_one_line_wherever_it_comes_from() {
    let workspace = TestWorkspace::new()
        .with("agents.json", r#"[{"name": "A\nB", "prompt": "p"}]"#)
        .with(".cleo/agents/two.yaml", "name: \"A\\nB\"\n");
    for line in [
        "agents register 'A\nB' --prompt p",
        "agents import agents.json",
    ] {
        expect_refusal(&workspace, line, "E_TEXT_CONTROL");
    }
    let listed = workspace.json(&["agents", "list"]);
    let warning = listed["warnings"][0].as_str().unwrap();
    assert!(warning.contains("two.yaml is left out"), "{warning}");
}

#[test]
fn runtime_agent_id_keeps_length_limit() {
    let workspace = TestWorkspace::new();
    let id = |digits| format!("custom_{}", "0".repeat(digits));
    let error = expect_refusal(
        &workspace,
        &format!("agents register X --prompt p --id {}", id(58)),
        "E_AGENT_INVALID",
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("at most 64 characters"), "{message}");
    does(
        &workspace,
        &format!("agents register X --prompt p --id {}", id(57)),
    );
}

#[test]
fn lists_of_wrong_form_are_told_in_words_of_agents() {
    let workspace = TestWorkspace::new();
    let tags: Vec<String> = (0..1_001).map(|number| format!("t{number}")).collect();
    for (draft, said) in [
        (json!({"tags": [1]}), "tags: it must be a list of words"),
        (
            json!({"command": {}}),
            "command: it must be a list of arguments",
        ),
        (
            json!({"tags": tags}),
            "tags has 1001 lines; 1000 are allowed",
        ),
    ] {
        let mut draft = draft;
        draft["name"] = "X".into();
        draft["prompt"] = "p".into();
        let reply = workspace.json_with(&["agents", "register", "--stdin"], &draft.to_string());
        assert_eq!(reply["error"]["code"], "E_AGENT_INVALID", "{reply}");
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(said), "{message}");
    }
}

#[test]
fn second_agent_with_same_id_in_file_is_skipped() {
    let workspace = TestWorkspace::new().with(
        ".cleo/agents/two.yaml",
        "- {id: k, name: First, prompt: p}\n- {id: k, name: Second, prompt: p}\n- {id: l, name: Third, prompt: p}\n",
    );
    let listed = workspace.json(&["agents", "list"]);
    assert_eq!(listed["result"]["agents"][4]["name"], "First");
    assert_eq!(listed["result"]["total"], 6);
    assert_eq!(
        listed["warnings"][0],
        "the agent `k` of .cleo/agents/two.yaml is left out: .cleo/agents/two.yaml has one"
    );
}

#[test]
fn faulty_file_is_named_with_what_fixes_it() {
    let workspace = TestWorkspace::new()
        .with(
            "twice.yaml",
            "- {id: a, name: A, prompt: p}\n- {id: a, name: B, prompt: q}\n",
        )
        .with("a.yaml", "\u{feff}id: a\r\nname: A\r\nprompt: p\r\n")
        .with("null.yaml", "")
        .with(
            "moment.json",
            r#"{"id": "custom_7", "name": "M", "prompt": "p"}"#,
        )
        .with(
            "builtin.json",
            r#"{"id": "toby-technical", "name": "T", "prompt": "p"}"#,
        )
        .with(
            "hot.json",
            r#"{"name": "H", "prompt": "p", "temperature": 3}"#,
        );
    for (file, code, message) in [
        (
            "twice.yaml",
            "E_AGENT_INVALID",
            "agent 2: it has the id of agent 1: `a`",
        ),
        (
            "null.yaml",
            "E_AGENT_INVALID",
            "expected the fields of an agent",
        ),
        (
            "moment.json",
            "E_AGENT_INVALID",
            "`custom_7` is the id of a runtime agent",
        ),
        ("builtin.json", "E_EXISTS", "which no import changes"),
        ("hot.json", "E_AGENT_INVALID", "the temperature is 3"),
    ] {
        let error = expect_refusal(&workspace, &format!("agents import {file}"), code);
        assert!(
            error["message"].as_str().unwrap().contains(message),
            "{error}"
        );
        assert_eq!(ids(&workspace, "agents list").len(), 4, "{file}");
    }
    does(&workspace, "agents import a.yaml");
    let error = expect_refusal(&workspace, "agents import a.yaml", "E_EXISTS");
    assert_eq!(
        error["alternatives"][0]["command"],
        "cleo agents import a.yaml --replace"
    );
    assert_eq!(
        does(&workspace, "agents import a.yaml --replace")["updated"],
        1
    );
}

#[test]
fn file_takes_no_registered_agents_place() {
    let workspace = TestWorkspace::new();
    does(
        &workspace,
        "agents register Mine --id mine --prompt p --tag zebra",
    );
    let workspace = workspace.with(
        ".cleo/agents/mine.yaml",
        "name: Theirs\nprompt: q\ntags: [lion]\n",
    );
    assert_eq!(ids(&workspace, "agents list")[4..], ["mine"]);
    let listed = workspace.json(&["agents", "list"]);
    let warning = listed["warnings"][0].as_str().unwrap();
    assert!(warning.contains("mine.yaml is left out"), "{warning}");
    let mine = does(&workspace, "agents update mine --temperature 0.1");
    assert_eq!(mine["agent"]["name"], "Mine");
    does(&workspace, "agents remove mine");
    assert_eq!(
        does(&workspace, "agents show mine")["agent"]["name"],
        "Theirs"
    );
}

#[test]
fn connection_that_is_not_used_is_told() {
    let workspace = TestWorkspace::new();
    does(&workspace, "agents register A --prompt p");
    does(
        &workspace,
        "agents register W --endpoint http://127.0.0.1:9/x",
    );
    for (line, what) in [
        (
            "agents update a --endpoint http://127.0.0.1:9/x",
            "`a` is of the kind persistent, which does not use its endpoint",
        ),
        (
            "agents update w --command 'run it'",
            "`w` is of the kind http, which does not use its command",
        ),
        (
            "agents register B --endpoint http://127.0.0.1:9/x --command run",
            "`b` is of the kind http, which does not use its command",
        ),
    ] {
        let reply = workspace.json(&shlex::split(line).unwrap());
        let warning = reply["warnings"][0].as_str().unwrap_or_default();
        assert!(warning.starts_with(what), "{line}: {reply}");
    }
}

#[test]
fn file_of_nested_brackets_is_refused_at_once() {
    let deep = format!("name: x\ntags: {}", "[".repeat(500_000));
    let workspace = TestWorkspace::new()
        .with(".cleo/agents/deep.yaml", &deep)
        .with("deep.yaml", &deep);
    let listed = workspace.json(&["agents", "list"]);
    let warning = listed["warnings"][0].as_str().unwrap();
    assert!(warning.contains("too many brackets"), "{warning}");
    expect_refusal(&workspace, "agents import deep.yaml", "E_AGENT_INVALID");
    expect_refusal(
        &workspace,
        "route hello --agents deep.yaml",
        "E_INPUT_INVALID",
    );
}

#[test]
fn invalid_fields_of_agents_are_refused() {
    let workspace = TestWorkspace::new();
    let long = format!("agents register {} --prompt p", "x".repeat(101));
    for line in [
        "agents register X --prompt p --agent-color red",
        "agents register X --prompt p --temperature 2.5",
        "agents register X --prompt p --id 'a b'",
    ] {
        let error = expect_refusal(&workspace, line, "E_AGENT_INVALID");
        assert_eq!(
            error["alternatives"][0]["command"],
            "cleo agents register --help"
        );
    }
    does(&workspace, "agents register Kept --prompt p");
    let line = "agents update kept --prompt ''";
    expect_refusal(&workspace, line, "E_AGENT_INVALID");
    expect_refusal(&workspace, &long, "E_AGENT_INVALID");
    expect_refusal(&workspace, "agents register X", "E_AGENT_INVALID");
    for line in [
        "agents register X --prompt p --role worker",
        "agents register X --prompt p --status archive",
    ] {
        expect_refusal(&workspace, line, "E_USAGE");
    }
    let huge = workspace.json_with(&["agents", "register", "--stdin"], &" ".repeat(5 << 20));
    assert_eq!(huge["error"]["code"], "E_INPUT_INVALID");
    let text = workspace.json_with(&["agents", "register", "--stdin"], "[1]");
    assert_eq!(text["error"]["code"], "E_AGENT_INVALID");
}

#[test]
fn names_that_no_id_can_be_made_of_are_told_apart() {
    let workspace = TestWorkspace::new();
    does(&workspace, "agents register Хранитель --prompt p");
    does(&workspace, "agents register 日本 --prompt p");
    let again = "agents register 日本 --prompt p";
    expect_refusal(&workspace, again, "E_EXISTS");
    let made = ids(&workspace, "agents list")[4..].to_vec();
    assert_eq!(made.len(), 2);
    assert!(made.iter().all(|id| id.starts_with("agent-")), "{made:?}");
}

#[test]
fn many_processes_register_at_once_and_none_is_lost() {
    let workspace = TestWorkspace::new();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let workspace = &workspace;
            scope.spawn(move || {
                workspace.ok(&format!("agents register 'Agent {number}' --prompt p"));
                workspace.ok(&format!(
                    "agents register --runtime 'Moment {number}' --prompt p"
                ));
            });
        }
    });
    assert_eq!(ids(&workspace, "agents list").len(), 4 + 32);
    assert_eq!(ids(&workspace, "agents list --kind runtime").len(), 16);
}

#[test]
fn agent_files_are_checked_like_imports() {
    let workspace = TestWorkspace::new()
        .with(".cleo/agents/notes.json", r#"{"note": "my settings"}"#)
        .with(
            ".cleo/agents/odd.yaml",
            "id: odd\nprompt: p\ntemprature: 2\n",
        );
    assert_eq!(ids(&workspace, "agents list")[4..], ["odd"]);
    let listed = workspace.json(&["agents", "list"]);
    assert_eq!(
        listed["warnings"],
        json!([
            ".cleo/agents/notes.json is left out: the agent `notes` needs a prompt: what a model is told \
             before the message",
            ".cleo/agents/odd.yaml: cleo does not use: temprature"
        ])
    );
}

#[test]
fn tasks_of_agent_that_is_removed_are_assigned_to_nobody() {
    let workspace = TestWorkspace::new();
    does(&workspace, "agents register Lore --prompt p");
    does(&workspace, "add 'Write it down' --agent lore");
    does(&workspace, "add 'Look it up' --agent toby-technical");
    let removed = does(&workspace, "agents remove lore");
    assert_eq!(removed["unassigned"], json!(["T1"]));
    let listed = does(&workspace, "list");
    let assigned: Vec<_> = listed["tasks"].as_array().unwrap().iter().collect();
    let assigned: Vec<_> = assigned.iter().map(|task| &task["assignedAgent"]).collect();
    assert_eq!(assigned, [&Value::Null, &json!("toby-technical")]);
}

#[test]
fn second_document_and_duplicate_field_name_their_line() {
    let workspace = TestWorkspace::new()
        .with("twice.yaml", "id: z\nname: N\nprompt: p\nname: M\n")
        .with("two.yaml", "id: z\nprompt: p\n---\nid: y\n");
    for (file, line) in [("twice.yaml", "line 4"), ("two.yaml", "line 3")] {
        let error = expect_refusal(
            &workspace,
            &format!("agents import {file}"),
            "E_AGENT_INVALID",
        );
        assert!(error["message"].as_str().unwrap().contains(line), "{error}");
        let routed = workspace.json(&["route", "x", "--agents", file]);
        let message = routed["error"]["message"].as_str().unwrap();
        assert!(message.contains(line), "{message}");
    }
}
