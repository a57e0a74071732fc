//! `cleo config`: which layer counts, who says so, and files that stay as they are.

use crate::world::{TestWorkspace, says};

const MINE: &str = "# mine\n# lists\nlist.limit: 2   # few\n";

fn origin_of(workspace: &TestWorkspace, key: &str) -> (serde_json::Value, String) {
    let listed = workspace.ask("config list --show-origin");
    let settings = listed["result"]["settings"].as_array().unwrap().clone();
    let found = settings
        .into_iter()
        .find(|setting| setting["key"] == key)
        .unwrap();
    let origin = found["origin"].as_str().unwrap();
    let root = workspace.root().to_string_lossy().into_owned();
    (found["value"].clone(), origin.replace(&root, "[WORKSPACE]"))
}

#[test]
fn settings_layers_have_fixed_precedence() {
    let workspace = TestWorkspace::with_plan();
    let home = workspace.root().with_file_name("home");
    let is = |value: u64, origin: &str| {
        let (found, from) = origin_of(&workspace, "list.limit");
        assert_eq!(found, value);
        assert!(from.ends_with(origin), "{from}");
    };
    is(50, "default");
    workspace.ok("config set list.limit 4 --user");
    assert!(home.join(".config/cleo/config.yaml").is_file());
    is(4, "home/.config/cleo/config.yaml:1");
    workspace.write(".cleo/config.yaml", MINE);
    is(2, "[WORKSPACE]/.cleo/config.yaml:3");
    let count = |workspace: &TestWorkspace, words: &[&str]| {
        workspace.json(words)["result"]["tasks"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(count(&workspace, &["list"]), 2);
    assert_eq!(count(&workspace, &["list", "--limit", "3"]), 3);
    let workspace = workspace.env("CLEO_LIST_LIMIT", "1");
    assert_eq!(count(&workspace, &["list"]), 1);
    assert_eq!(origin_of(&workspace, "list.limit").1, "CLEO_LIST_LIMIT");
    let listed = workspace.ask("config list --color never");
    assert_eq!(listed["result"]["settings"][1]["origin"], "--color");
    assert_eq!(
        origin_of(&workspace, "claims.lease"),
        (3600.into(), "default".into())
    );
}

#[test]
fn variable_of_provider_is_default_of_its_address() {
    let workspace = TestWorkspace::new()
        .env("OPENAI_BASE_URL", "http://10.0.0.7:8000/v1")
        .env("OLLAMA_HOST", "0.0.0.0:11500");
    let is = |value: serde_json::Value, origin: &str| {
        let found = origin_of(&workspace, "llm.baseUrl");
        assert_eq!(found.0, value);
        assert!(found.1.contains(origin), "{found:?}");
    };
    is(serde_json::Value::Null, "default");
    workspace.ok("config set llm.provider openai-chat");
    is("http://10.0.0.7:8000/v1".into(), "OPENAI_BASE_URL");
    workspace.ok("config set llm.provider ollama");
    is("http://127.0.0.1:11500".into(), "OLLAMA_HOST");
    workspace.ok("config set llm.baseUrl http://127.0.0.1:1");
    is("http://127.0.0.1:1".into(), ".cleo/config.yaml:");
}

#[test]
fn invalid_foreign_variable_stops_only_model_calls() {
    let mut workspace = TestWorkspace::with_plan();
    workspace.ok("config set llm.provider openai-chat");
    for text in ["x".repeat(1_200), "http://a\u{1b}b".to_string()] {
        workspace = workspace.env("OPENAI_BASE_URL", &text);
        workspace.ok("list");
    }
}

#[test]
fn settings_do_what_their_options_do() {
    let workspace = TestWorkspace::with_plan();
    let piped = |words: &[&str]| workspace.finish(workspace.command(words), "").stdout;
    assert!(piped(&["list"]).starts_with('{'));
    workspace.ok("config set format text");
    assert!(piped(&["list"]).starts_with("ID"));
    assert!(piped(&["list", "--json"]).starts_with('{'));
    workspace.ok("config set color always");
    assert!(piped(&["list"]).contains("\u{1b}["));
    workspace.ok("config unset format");
    workspace.ok("config set agent coder-7");
    let mut command = workspace.command(&["show", "T2", "--json"]);
    command.env_remove("CLEO_AGENT");
    assert_eq!(workspace.finish(command, "").exit, 0);
    let skill = "---\nname: own-skill\ndescription: Does it. Use when asked.\n---\nDo it.\n";
    workspace.write("more/own-skill/SKILL.md", skill);
    workspace.ok("config set skills.dirs more");
    assert_eq!(workspace.ask("skills show own-skill")["success"], true);
    workspace.ok("config set gates.timeLimit 1s");
    let words = ["verify", "T2", "--gate", "implemented", "--run", "sleep 30"];
    let failed = workspace.json(&words);
    says(&failed, "took too long");
}

#[test]
fn file_keeps_its_comments_and_everything_else() {
    let workspace = TestWorkspace::new().with(".cleo/config.yaml", MINE);
    workspace.ok("config set color never");
    workspace.ok("config set gates.timeLimit 20m");
    let both = format!("{MINE}color: never\ngates.timeLimit: 1200\n");
    assert_eq!(workspace.read(".cleo/config.yaml"), both);
    workspace.write(".cleo/config.yaml", both.replace("never", "never # mine"));
    workspace.ok("config set color always");
    let always = both.replace("never", "always # mine");
    assert_eq!(workspace.read(".cleo/config.yaml"), always);
    let again = workspace.ask("config set color always");
    assert_eq!(again["result"]["changed"], false);
    workspace.ok("config unset gates.timeLimit");
    workspace.ok("config unset color");
    assert_eq!(workspace.read(".cleo/config.yaml"), MINE);
    let one = workspace.ok("config get list.limit");
    assert_eq!(one.stdout, "2\n");
}

#[test]
fn setting_is_not_added_to_file_that_does_not_count() {
    let text = "nope: 1\nlist.limit: many\n";
    let workspace = TestWorkspace::new().with(".cleo/config.yaml", text);
    let refused = workspace.refuse("config set list.limit 9", "E_CONFIG_INVALID");
    says(&refused, "there is no setting `nope`");
    assert_eq!(workspace.read(".cleo/config.yaml"), text);
    let unset = refused["alternatives"][0]["command"].as_str().unwrap();
    assert_eq!(workspace.shell(unset).exit, 0);
    workspace.ok("config set list.limit 9");
    assert_eq!(workspace.read(".cleo/config.yaml"), "list.limit: 9\n");
}

#[test]
fn nested_settings_are_refused_with_their_line() {
    let nested = "# mine\nlist:\n  limit: 2\n";
    let workspace = TestWorkspace::new().with(".cleo/config.yaml", nested);
    for line in ["list", "config set list.limit 9"] {
        let refused = workspace.refuse(line, "E_CONFIG_INVALID");
        says(
            &refused,
            "[WORKSPACE]/.cleo/config.yaml:2: `list` holds other settings; write each on a line of its own",
        );
    }
    assert_eq!(workspace.read(".cleo/config.yaml"), nested);
}

#[test]
fn what_cannot_be_is_refused() {
    let workspace = TestWorkspace::new();
    let before = workspace.state();
    for (line, code, fix) in [
        (
            "config get list.limti",
            "E_CONFIG_INVALID",
            "cleo config list",
        ),
        (
            "config set color blue",
            "E_CONFIG_INVALID",
            "cleo config get color",
        ),
        (
            "config set list.limit -- -1",
            "E_CONFIG_INVALID",
            "cleo config get list.limit",
        ),
        ("config set skills.dirs ../other", "E_CONFIG_INVALID", ""),
        ("config unset nothing.like", "E_CONFIG_INVALID", ""),
    ] {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        let refused = workspace.json(&words);
        assert_eq!(refused["error"]["code"], code, "{line} {refused}");
        let found = refused["error"]["fix"].as_str().unwrap_or_default();
        assert!(found.starts_with(fix), "{line}: {found}");
    }
    assert_eq!(workspace.state(), before);
}

#[test]
fn key_given_as_variable_name_is_not_kept_or_repeated() {
    let key = "sk-proj-12345";
    let workspace = TestWorkspace::new();
    for user in [&[][..], &["--user"]] {
        let line = [&["config", "set", "llm.apiKeyEnv", key], user].concat();
        let error = workspace.expect_refusal(&line, "E_CONFIG_INVALID");
        assert!(!error["message"].to_string().contains(key), "{error}");
    }
    let workspace = workspace.with(".cleo/config.yaml", format!("llm.apiKeyEnv: {key}\n"));
    let error = workspace.refuse("list", "E_CONFIG_INVALID");
    assert!(!error.to_string().contains(key), "{error}");
    assert_eq!(
        error["alternatives"][0]["command"],
        "cleo config unset llm.apiKeyEnv"
    );
    workspace.ok("config unset llm.apiKeyEnv");
    let workspace = workspace.env("CLEO_LLM_API_KEY_ENV", key);
    let error = workspace.refuse("list", "E_CONFIG_INVALID");
    assert!(!error.to_string().contains(key), "{error}");
}

#[test]
fn user_only_settings_are_not_written_to_project() {
    let workspace = TestWorkspace::new();
    for (name, value) in [
        ("llm.apiKeyEnv", "MY_KEY"),
        ("workers.allowPrivate", "true"),
    ] {
        let error = workspace.expect_refusal(&["config", "set", name, value], "E_CONFIG_INVALID");
        assert_eq!(
            error["fix"],
            format!("cleo config set {name} {value} --user")
        );
        workspace.ok(&format!("config set {name} {value} --user"));
    }
}

#[test]
fn faulty_file_is_named_with_its_line() {
    let file = "color: auto\n\nlist.limti: 3\n";
    let workspace = TestWorkspace::new().with(".cleo/config.yaml", file);
    let refused = workspace.fails("list", "E_CONFIG_INVALID");
    assert_eq!(refused["error"]["exitCode"], 8);
    let message = refused["error"]["message"].as_str().unwrap();
    let place = "[WORKSPACE]/.cleo/config.yaml:3: ";
    assert!(message.starts_with(place), "{message}");
    assert!(message.contains("did you mean `list.limit`?"), "{message}");
    assert_eq!(workspace.ask("explain E_CONFIG_INVALID")["success"], true);
    let fix = refused["error"]["fix"].as_str().unwrap();
    assert_eq!(workspace.shell(fix).stdout, "list.limti: 3\n", "{fix}");
    let remove = &refused["error"]["alternatives"][0]["command"];
    assert_eq!(remove, "cleo config unset list.limti");
    assert_eq!(workspace.shell(remove.as_str().unwrap()).exit, 0);
    assert_eq!(workspace.ask("list")["success"], true);
}

#[test]
fn project_settings_cannot_leave_workspace() {
    let workspace = TestWorkspace::new();
    let outside = workspace.root().with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, workspace.path("link")).unwrap();
    for folder in [
        "/etc",
        "../outside",
        "link",
        "link/deeper",
        "a/../../outside",
    ] {
        workspace.write(".cleo/config.yaml", format!("skills.dirs: [{folder}]\n"));
        for words in [&["list"][..], &["skills", "list"], &["trust", "--list"]] {
            let refused = workspace.json(words);
            assert_eq!(refused["error"]["code"], "E_CONFIG_INVALID", "{folder}");
            says(&refused, "leads out");
        }
    }
    let workspace = TestWorkspace::new();
    let outside = workspace.root().with_file_name("home").join("mine.yaml");
    std::fs::write(&outside, "").unwrap();
    std::os::unix::fs::symlink(&outside, workspace.path(".cleo/config.yaml")).unwrap();
    workspace.fails("config set color never", "E_PATH_OUTSIDE_WORKSPACE");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "");
}

#[test]
fn what_is_no_settings_file_is_refused_quickly() {
    for text in [
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b]\n".to_string(),
        "[".repeat(20_000),
        "#".repeat(70_000),
        "\u{0}".to_string(),
    ] {
        let workspace = TestWorkspace::new().with(".cleo/config.yaml", text);
        workspace.fails("list", "E_CONFIG_INVALID");
    }
}

#[test]
fn settings_that_are_link_to_what_cannot_be_read_are_refused() {
    for target in ["nowhere", ".", "config.yaml"] {
        let workspace = TestWorkspace::new();
        std::os::unix::fs::symlink(target, workspace.path(".cleo/config.yaml")).unwrap();
        workspace.fails("list", "E_CONFIG_INVALID");
    }
}

#[test]
fn of_changes_at_once_none_is_lost() {
    let workspace = TestWorkspace::new();
    let changes = [
        "list.limit 40",
        "color never",
        "claims.lease 7200",
        "runners.default codex",
    ];
    let changes = changes.map(|change| {
        let words: Vec<&str> = "config set".split(' ').chain(change.split(' ')).collect();
        workspace.command(&words).spawn().unwrap()
    });
    for mut change in changes {
        assert!(change.wait().unwrap().success());
    }
    let file = std::fs::read_to_string(workspace.path(".cleo/config.yaml")).unwrap();
    let mut lines: Vec<&str> = file.lines().collect();
    lines.sort_unstable();
    let all = [
        "claims.lease: 7200",
        "color: never",
        "list.limit: 40",
        "runners.default: codex",
    ];
    assert_eq!(lines, all);
}
