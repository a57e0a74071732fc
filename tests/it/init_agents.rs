//! `cleo init --agents`: whose text is whose.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::world::TestWorkspace;

const CLAUDE: &str = ".claude/agents/cleo-subagent.md";
const CODEX: &str = ".codex/agents/cleo-subagent.toml";

fn result(workspace: &TestWorkspace, more: &[&str]) -> Value {
    let arguments = [&["init", "--agents", "claude,codex"], more].concat();
    workspace.json(&arguments)["result"].clone()
}

#[test]
fn files_are_made_and_then_left_unchanged() {
    let workspace = TestWorkspace::bare();
    let made = result(&workspace, &[]);
    let database = [
        ".cleo",
        "claudedocs/agent-outputs",
        ".cleo/.gitignore",
        ".cleo/cleo.db",
    ];
    let files = [CLAUDE, CODEX, "AGENTS.md", "CLAUDE.md"];
    assert_eq!(made["created"], json!([&database[..], &files[..]].concat()));
    assert_eq!(made["updated"], json!([]));
    insta::assert_snapshot!("claude", workspace.read(CLAUDE));
    insta::assert_snapshot!("codex", workspace.read(CODEX));
    insta::assert_snapshot!("agents", workspace.read("AGENTS.md"));
    insta::assert_snapshot!("import", workspace.read("CLAUDE.md"));
    let before = workspace.state();
    let again = result(&workspace, &[]);
    assert_eq!(again["created"], json!([]));
    assert_eq!(again["unchanged"], json!(files));
    assert_eq!(workspace.state(), before);
}

#[test]
fn only_files_of_clients_that_were_named_are_made() {
    let workspace = TestWorkspace::new();
    workspace.ok("init --agents codex");
    assert!(workspace.path(CODEX).is_file() && workspace.path("AGENTS.md").is_file());
    assert!(!workspace.path(".claude").exists() && !workspace.path("CLAUDE.md").exists());
    workspace.ok("init --agents all");
    assert!(workspace.path(CLAUDE).is_file() && workspace.path("CLAUDE.md").is_file());
    insta::assert_snapshot!(workspace.cleo("init --agents cursor"));
}

#[test]
fn dry_run_shows_what_would_happen() {
    let workspace = TestWorkspace::bare().with("AGENTS.md", "# House rules\n");
    let before = workspace.state();
    insta::assert_snapshot!(workspace.cleo("init --agents codex --dry-run"));
    let preview = result(&workspace, &["--dry-run"]);
    assert_eq!(preview["dryRun"], true);
    assert_eq!(preview["updated"], json!(["AGENTS.md"]));
    assert_eq!(workspace.state(), before);
    assert!(!workspace.path(".cleo").exists());
}

#[test]
fn what_others_wrote_stays_byte_for_byte() {
    for (there, what) in [
        ("# House rules\n", "with a line end"),
        ("# House rules", "without a line end"),
        ("# House\r\n\r\nrules\r\n", "with the line ends of Windows"),
        (
            "\u{feff}# Ünïcode \t \n\n\n",
            "with a mark, blanks and empty lines",
        ),
    ] {
        let workspace = TestWorkspace::new().with("AGENTS.md", there);
        workspace.ok("init --agents all");
        let text = workspace.read("AGENTS.md");
        assert!(text.starts_with(there), "{what}: {text:?}");
        let more = format!("Above.\n{text}Below, without a line end");
        workspace.write("AGENTS.md", &more);
        let again = result(&workspace, &[]);
        assert_eq!(again["unchanged"].as_array().unwrap().len(), 4, "{what}");
        assert_eq!(workspace.read("AGENTS.md"), more, "{what}");
    }
}

#[test]
fn changed_file_stops_everything() {
    for (path, line) in [
        (CLAUDE, "model: sonnet"),
        (CODEX, "cleo-subagent"),
        ("AGENTS.md", "cleo list"),
        ("CLAUDE.md", "@AGENTS.md"),
    ] {
        let workspace = TestWorkspace::bare();
        workspace.ok("init --agents all");
        let ours = workspace.read(path);
        let theirs = ours.replace(line, &format!("{line} and mine"));
        workspace.write(path, &theirs);
        fs::remove_file(workspace.path(if path == CODEX { CLAUDE } else { CODEX })).unwrap();
        let before = workspace.state();
        let refused = workspace.fails("init --agents all", "E_FILE_CHANGED");
        assert_eq!(refused["error"]["exitCode"], 3, "{path}");
        assert_eq!(workspace.state(), before, "{path}");
        let shown = workspace.fails("init --agents all --dry-run", "E_FILE_CHANGED");
        let updated = shown["result"]["updated"].as_array().unwrap();
        assert!(updated.contains(&json!(path)), "{path}");
        assert_eq!(workspace.state(), before, "{path}");
        workspace.ok("init --agents all --force");
        assert_eq!(workspace.read(path), ours, "{path}");
        assert!(workspace.path(CODEX).is_file() && workspace.path(CLAUDE).is_file());
    }
}

#[test]
fn refusal_reads_well() {
    let workspace = TestWorkspace::bare().with(CLAUDE, "mine\n");
    insta::assert_snapshot!(workspace.cleo("init --agents claude"));
    assert!(!workspace.path(".cleo").exists(), "nothing was made");
}

#[test]
fn text_of_older_versions_is_updated() {
    let workspace = TestWorkspace::new();
    workspace.write(
        "AGENTS.md",
        "Mine.\n\n<!-- cleo:begin 3fe5c9e8b0a4ed8e (x) -->\n",
    );
    workspace.write(
        "AGENTS.md",
        workspace.read("AGENTS.md") + "<!-- cleo:end -->\nMine too.\n",
    );
    // The digest above is not a digest of nothing, so the block counts as somebody's.
    workspace.fails("init --agents codex", "E_FILE_CHANGED");
    workspace.write(
        "AGENTS.md",
        workspace
            .read("AGENTS.md")
            .replace("3fe5c9e8b0a4ed8e", "e3b0c44298fc1c14"),
    );
    let done = workspace.ask("init --agents codex");
    assert_eq!(done["result"]["updated"], json!(["AGENTS.md"]));
    let text = workspace.read("AGENTS.md");
    assert!(
        text.starts_with("Mine.\n\n<!-- cleo:begin ")
            && text.ends_with("<!-- cleo:end -->\nMine too.\n")
    );
    assert!(text.contains("cleo verify output T1"));
}

#[test]
fn links_are_followed_only_inside_workspace() {
    let workspace = TestWorkspace::new().with("AGENTS.md", "Mine.\n");
    symlink("AGENTS.md", workspace.path("CLAUDE.md")).unwrap();
    workspace.ok("init --agents all");
    assert!(workspace.path("CLAUDE.md").is_symlink());
    assert!(
        !workspace.read("AGENTS.md").contains("\n@AGENTS.md"),
        "a file never imports itself"
    );

    let outside = workspace.root().with_file_name("home");
    for path in [".codex", "CLAUDE.md"] {
        let workspace = TestWorkspace::new();
        symlink(&outside, workspace.path(path)).unwrap();
        let before = workspace.state();
        let refused = workspace.fails("init --agents all --force", "E_PATH_OUTSIDE_WORKSPACE");
        assert!(refused["error"]["fix"].is_string());
        assert_eq!(workspace.state(), before, "{path}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn workspace_is_made_through_no_link_that_leads_out() {
    for link in ["claudedocs", "claudedocs/agent-outputs", ".cleo"] {
        let workspace = TestWorkspace::bare();
        let outside = workspace.root().with_file_name("home");
        fs::create_dir_all(workspace.path(link).parent().unwrap()).unwrap();
        symlink(outside.join("new"), workspace.path(link)).unwrap();
        let refused = workspace.ask("init");
        let error = &refused["error"];
        assert_eq!(error["code"], "E_PATH_OUTSIDE_WORKSPACE", "{link}");
        let fix = error["fix"].as_str().unwrap();
        assert!(fix.ends_with(&format!("[WORKSPACE]/{link}")), "{fix}");
        assert_eq!(workspace.shell(fix).exit, 0, "{fix}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{link}");
    }
    let workspace = TestWorkspace::bare();
    let outside = workspace.root().with_file_name("home");
    symlink(&outside, workspace.path("claudedocs")).unwrap();
    workspace.fails("init", "E_PATH_OUTSIDE_WORKSPACE");
    let workspace = TestWorkspace::bare();
    fs::create_dir(workspace.path(".cleo")).unwrap();
    symlink(outside.join("new"), workspace.path(".cleo/.gitignore")).unwrap();
    workspace.ok("init");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn fix_for_unwritable_path_names_what_is_there() {
    let workspace = TestWorkspace::new().with(".claude", "no folder\n");
    let refused = workspace.ask("init --agents claude");
    let error = &refused["error"];
    assert_eq!(error["exitCode"], 3, "{error}");
    let fix = error["fix"].as_str().unwrap();
    assert_eq!(workspace.shell(fix).exit, 0, "{error}");
}

#[test]
fn disk_that_fills_up_half_way_leaves_no_trace() {
    let house_rules = "A rule.\n".repeat(20_000);
    let workspace = TestWorkspace::new().with("AGENTS.md", house_rules);
    let before = workspace.state();
    // The two files before AGENTS.md are small enough to be written.
    let small = "trap '' XFSZ; ulimit -f 32; cleo init --agents all";
    let refused = workspace.shell(small);
    assert_eq!(refused.exit, 3, "{refused}");
    assert!(refused.stderr.contains("E_DISK_FULL"), "{refused}");
    assert_eq!(workspace.state(), before);
    assert!(!workspace.path(".claude").exists() && !workspace.path(".codex").exists());
    workspace.ok("init --agents all");
}

#[test]
fn file_that_is_no_text_is_refused() {
    let workspace = TestWorkspace::new().with("AGENTS.md", b"caf\xe9\n");
    let before = workspace.state();
    workspace.fails("init --agents codex --force", "E_FILE_UNREADABLE");
    assert_eq!(workspace.state(), before);
}
