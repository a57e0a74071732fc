//! The registry of agents: built-in ones, files, registered and runtime ones.

use serde_json::{Value, json};

use crate::world::{TestWorkspace, assert_fields, says};

fn ids(workspace: &TestWorkspace, line: &str) -> Vec<String> {
    let listed = workspace.result(line);
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
    let error = bare.refuse("agents show peter-logcal", "E_AGENT_NOT_FOUND");
    assert_eq!(error["fix"], "cleo agents list");
    says(&error, "did you mean `peter-logical`?");
    let error = bare.refuse("agents register X --prompt p", "E_WORKSPACE_NOT_FOUND");
    assert_eq!(error["fix"], "cleo init");
}

#[test]
fn agent_is_registered_changed_and_removed() {
    let workspace = TestWorkspace::new();
    let line = "agents register 'Lore Keeper' --tag warcraft,wow --tag 'second war' --prompt 'You \
                know Azeroth.' --temperature 0.25 --agent-color '#00ff00' --role specialist";
    insta::assert_snapshot!(workspace.cleo(line));
    let shown = workspace.result("agents show lore-keeper")["agent"].clone();
    assert_eq!(shown["tags"], json!(["warcraft", "wow", "second war"]));
    assert_eq!(shown["temperature"], 0.25);
    assert_eq!(shown["model"], "gpt-4o-mini");
    assert_eq!(shown["max_tokens"], 4000);
    assert_eq!(shown["kind"], "persistent");
    let changed = workspace.result("agents update lore-keeper --status paused --tag ''");
    assert_eq!(changed["agent"]["status"], "paused");
    assert_eq!(changed["agent"]["tags"], json!([]));
    assert_eq!(changed["agent"]["created_at"], shown["created_at"]);
    assert_ne!(changed["agent"]["updated_at"], shown["updated_at"]);
    let error = workspace.refuse(
        "agents register 'Lore keeper' --id lore-keeper --prompt p",
        "E_EXISTS",
    );
    assert_eq!(error["exitCode"], 101);
    let message = "there is an agent `lore-keeper` already; `lore-keeper-2` is free";
    assert_eq!(error["message"], message);
    let again = "agents register 'Lore keeper' --prompt p";
    let error = workspace.refuse(again, "E_EXISTS");
    assert_eq!(error["message"], message);
    workspace.ok("agents register 'Lore keeper 2' --prompt p");
    assert_eq!(
        ids(&workspace, "agents list")[4..],
        ["lore-keeper", "lore-keeper-2"]
    );
    workspace.refuse("agents update lore-keeper", "E_INPUT_INVALID");
    workspace.result("agents remove lore-keeper");
    workspace.refuse("agents remove lore-keeper", "E_AGENT_NOT_FOUND");
}

#[test]
fn built_in_agents_can_be_changed_and_restored_but_one() {
    let workspace = TestWorkspace::new();
    workspace.result("agents update toby-technical --status paused");
    assert_eq!(ids(&workspace, "agents list"), BUILTIN);
    let paused = "agents list --status paused";
    assert_eq!(ids(&workspace, paused), ["toby-technical"]);
    assert_eq!(
        workspace.result("agents remove toby-technical")["restored"],
        true
    );
    assert_eq!(ids(&workspace, paused), [] as [&str; 0]);
    let error = workspace.refuse("agents remove toby-technical", "E_AGENT_INVALID");
    assert_eq!(error["fix"], "cleo agents show toby-technical");
    assert_eq!(
        error["alternatives"][0]["command"],
        "cleo agents update toby-technical --status paused"
    );
    let error = workspace.refuse("agents remove cleo-supervisor", "E_AGENT_INVALID");
    assert_eq!(error["fix"], "cleo agents show cleo-supervisor");
    for line in [
        "agents update cleo-supervisor --status archived",
        "agents update cleo-supervisor --role specialist",
        "agents register X --id toby-technical --prompt p --runtime",
    ] {
        let reply = workspace.ask(line);
        assert_eq!(reply["success"], false, "cleo {line}");
    }
}

#[test]
fn agents_of_moment_get_ids_of_own_and_go_together() {
    let workspace = TestWorkspace::new();
    let first = workspace.result("agents register --runtime One --prompt p");
    let id = first["agent"]["id"].as_str().unwrap();
    let digits = id.strip_prefix("custom_").unwrap();
    assert!(digits.bytes().all(|byte| byte.is_ascii_digit()), "{id}");
    assert_eq!(first["agent"]["is_runtime"], true);
    let sample = "agents register Two --id custom_1756441115596 --tag lore";
    assert_eq!(workspace.result(sample)["created"], true);
    assert_eq!(
        workspace.result(sample)["created"],
        false,
        "the same id changes it"
    );
    for line in [
        "agents register --runtime Bad --id agent-1",
        "agents register --runtime Bad --id custom_1x",
    ] {
        workspace.refuse(line, "E_AGENT_INVALID");
    }
    workspace.refuse("agents register --runtime X --id peter-logical", "E_EXISTS");
    workspace.result("agents register Stays --prompt p");
    let expired = workspace.result("agents cleanup --expired");
    assert_eq!(expired["cleanedUp"], json!(["custom_1756441115596"]));
    let cleaned = workspace.result("agents cleanup");
    assert_eq!(cleaned["cleanedUp"], json!([id]));
    assert_fields(&cleaned["count"], json!({"before": 6, "after": 5}));
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
    let listed = workspace.ask("agents list");
    says(&listed["warnings"][0], "broken.yaml is left out");
    says(&listed["warnings"][0], "line 2 column");
    let error = workspace.refuse("agents update crawler --status paused", "E_AGENT_INVALID");
    assert_eq!(error["fix"], "cat .cleo/agents/crawler.yaml");
    assert_eq!(
        workspace.result("agents show sum")["agent"]["file"],
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
    let listed = workspace.ask("agents list");
    assert_eq!(ids(&workspace, "agents list")[4..], ["own"]);
    says(&listed["warnings"][0], "linked.yaml is left out");
    says(&listed["warnings"][0], "leads out of the workspace");
    assert!(!listed.to_string().contains("hidden words"), "{listed}");
}

#[test]
fn file_is_imported_whole_or_not() {
    let workspace = TestWorkspace::new()
        .with("good.yaml", "- {id: a, name: A, prompt: p}\n- {id: w, name: W, type: cli, command: run --fast, max_tokens: 9}\n")
        .with("bad.json", r#"[{"id": "b", "name": "B", "prompt": "p"}, {"id": "c", "name": "C", "prompt": "p", "color": "red"}]"#)
        .with("torn.json", "[{\"id\": \"b\",\n \"name\": }]");
    let imported = workspace.result("agents import good.yaml");
    assert_fields(&imported, json!({"total": 2, "updated": 0}));
    assert_eq!(imported["agents"][1]["command"], json!(["run", "--fast"]));
    workspace.refuse("agents import good.yaml", "E_EXISTS");
    let again = workspace.result("agents import good.yaml --replace");
    assert_eq!(again["updated"], 2);
    let shown = workspace.ok("agents import good.yaml --replace");
    assert!(shown.stdout.contains("w  would run run --fast"), "{shown}");
    let error = workspace.refuse("agents import bad.json", "E_AGENT_INVALID");
    says(&error, "bad.json, agent 2: `red` is not a color");
    let error = workspace.refuse("agents import torn.json", "E_AGENT_INVALID");
    says(&error, "line 2 column");
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
        let error = workspace.refuse(&line, "E_AGENT_INVALID");
        says(&error, "duplicate field `name`");
    }
    let reply = workspace.json_with(&["agents", "register", "--stdin"], json);
    says(&reply, "duplicate field `name`");
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
    let error = workspace.refuse(
        "agents register F --id finalize --prompt p",
        "E_AGENT_INVALID",
    );
    says(&error, "did you mean `finalize-agent`?");
    workspace.refuse("agents import agents.json", "E_AGENT_INVALID");
    let listed = workspace.ask("agents list");
    assert_eq!(listed["result"]["total"], 4);
    says(&listed["warnings"][0], "finalize.yaml is left out");
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
    told(&workspace.ask("agents list"));
    told(&workspace.ask("agents show ami-creative"));
    told(&workspace.ask("agents execute 'design a layout'"));
    for (id, file) in [("kp", "k.yaml"), ("k", "k.yaml"), ("metrics", "m.yaml")] {
        let line = format!("agents show {id}");
        let error = workspace.refuse(&line, "E_AGENT_NOT_FOUND");
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
    let router = workspace.result("agents register Router --prompt p");
    assert_eq!(router["agent"]["id"], "router-2");
    let again = "agents register Router --prompt p";
    let error = workspace.refuse(again, "E_EXISTS");
    says(&error, "; `router-2-2` is free");
    workspace.ok("agents register 'Router 3' --prompt p");
    workspace.result("agents import agents.json");
    assert_eq!(
        ids(&workspace, "agents list")[4..],
        ["router-2", "router-3", "chat-2", "sync-2"]
    );
    for id in ["metrics", "chat", "user"] {
        let line = format!("agents register X --id {id} --prompt p");
        let error = workspace.refuse(&line, "E_AGENT_INVALID");
        let meant = format!("; did you mean `{id}-agent`?");
        says(&error, &meant);
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
        workspace.refuse(line, "E_TEXT_CONTROL");
    }
    let listed = workspace.ask("agents list");
    says(&listed["warnings"][0], "two.yaml is left out");
}

#[test]
fn runtime_agent_id_keeps_length_limit() {
    let workspace = TestWorkspace::new();
    let id = |digits| format!("custom_{}", "0".repeat(digits));
    let error = workspace.refuse(
        format!("agents register X --prompt p --id {}", id(58)),
        "E_AGENT_INVALID",
    );
    says(&error, "at most 64 characters");
    workspace.result(format!("agents register X --prompt p --id {}", id(57)));
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
        says(&reply, said);
    }
}

#[test]
fn second_agent_with_same_id_in_file_is_skipped() {
    let workspace = TestWorkspace::new().with(
        ".cleo/agents/two.yaml",
        "- {id: k, name: First, prompt: p}\n- {id: k, name: Second, prompt: p}\n- {id: l, name: Third, prompt: p}\n",
    );
    let listed = workspace.ask("agents list");
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
        let error = workspace.refuse(format!("agents import {file}"), code);
        says(&error, message);
        assert_eq!(ids(&workspace, "agents list").len(), 4, "{file}");
    }
    workspace.result("agents import a.yaml");
    let error = workspace.refuse("agents import a.yaml", "E_EXISTS");
    assert_eq!(
        error["alternatives"][0]["command"],
        "cleo agents import a.yaml --replace"
    );
    assert_eq!(
        workspace.result("agents import a.yaml --replace")["updated"],
        1
    );
}

#[test]
fn file_takes_no_registered_agents_place() {
    let workspace = TestWorkspace::new();
    workspace.result("agents register Mine --id mine --prompt p --tag zebra");
    let workspace = workspace.with(
        ".cleo/agents/mine.yaml",
        "name: Theirs\nprompt: q\ntags: [lion]\n",
    );
    assert_eq!(ids(&workspace, "agents list")[4..], ["mine"]);
    let listed = workspace.ask("agents list");
    says(&listed["warnings"][0], "mine.yaml is left out");
    let mine = workspace.result("agents update mine --temperature 0.1");
    assert_eq!(mine["agent"]["name"], "Mine");
    workspace.result("agents remove mine");
    assert_eq!(
        workspace.result("agents show mine")["agent"]["name"],
        "Theirs"
    );
}

#[test]
fn connection_that_is_not_used_is_told() {
    let workspace = TestWorkspace::new();
    workspace.result("agents register A --prompt p");
    workspace.result("agents register W --endpoint http://127.0.0.1:9/x");
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
        let reply = workspace.ask(line);
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
    let listed = workspace.ask("agents list");
    says(&listed["warnings"][0], "too many brackets");
    workspace.refuse("agents import deep.yaml", "E_AGENT_INVALID");
    workspace.refuse("route hello --agents deep.yaml", "E_INPUT_INVALID");
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
        let error = workspace.refuse(line, "E_AGENT_INVALID");
        assert_eq!(
            error["alternatives"][0]["command"],
            "cleo agents register --help"
        );
    }
    workspace.result("agents register Kept --prompt p");
    let line = "agents update kept --prompt ''";
    workspace.refuse(line, "E_AGENT_INVALID");
    workspace.refuse(&long, "E_AGENT_INVALID");
    workspace.refuse("agents register X", "E_AGENT_INVALID");
    for line in [
        "agents register X --prompt p --role worker",
        "agents register X --prompt p --status archive",
    ] {
        workspace.refuse(line, "E_USAGE");
    }
    let huge = workspace.json_with(&["agents", "register", "--stdin"], &" ".repeat(5 << 20));
    assert_eq!(huge["error"]["code"], "E_INPUT_INVALID");
    let text = workspace.json_with(&["agents", "register", "--stdin"], "[1]");
    assert_eq!(text["error"]["code"], "E_AGENT_INVALID");
}

#[test]
fn names_that_no_id_can_be_made_of_are_told_apart() {
    let workspace = TestWorkspace::new();
    workspace.result("agents register Хранитель --prompt p");
    workspace.result("agents register 日本 --prompt p");
    let again = "agents register 日本 --prompt p";
    workspace.refuse(again, "E_EXISTS");
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
    let listed = workspace.ask("agents list");
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
    workspace.result("agents register Lore --prompt p");
    workspace.result("add 'Write it down' --agent lore");
    workspace.result("add 'Look it up' --agent toby-technical");
    let removed = workspace.result("agents remove lore");
    assert_eq!(removed["unassigned"], json!(["T1"]));
    let listed = workspace.result("list");
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
        let error = workspace.refuse(format!("agents import {file}"), "E_AGENT_INVALID");
        says(&error, line);
        let routed = workspace.json(&["route", "x", "--agents", file]);
        says(&routed, line);
    }
}

#[test]
fn tags_that_no_message_can_name_are_warned_of() {
    let workspace = TestWorkspace::new();
    let told = workspace
        .ask("agents register Go --prompt p --tag c++ --tag go --tag golang --tag 'go modules' --tag 测试");
    let warning = "`go` has tags that no message can name: c++, go; a word needs three letters or digits, and a sign splits it";
    assert_eq!(told["warnings"], json!([warning]));
    assert_eq!(workspace.ask("agents list")["warnings"], json!([warning]));
}
