//! Listing, showing, validating and exporting skills.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::world::{TestWorkspace, add, assert_fields, column, says, spawn};

fn skill(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n# {name}\n")
}

fn find_shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("skills")
        .join(name)
}

/// Names of the shipped skills in catalogue order.
fn names() -> Vec<String> {
    let manifest = fs::read_to_string(find_shipped("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    manifest["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| skill["name"].as_str().unwrap().to_string())
        .collect()
}

fn list(workspace: &TestWorkspace, more: &[&str]) -> Value {
    workspace.json(&[&["skills", "list"], more].concat())["result"].clone()
}

#[test]
fn shipped_skills_are_listed_in_catalogue_order_and_by_tier() {
    let bare = TestWorkspace::bare();
    let all = list(&bare, &[]);
    let found = column(&all["skills"], "name");
    assert_eq!(found, names());
    assert_fields(&all, json!({"total": 18, "shadowed": []}));
    for (tier, total) in [("0", 1), ("1", 1), ("2", 10), ("3", 6), ("4", 0)] {
        assert_eq!(
            list(&bare, &["--tier", tier])["total"],
            total,
            "tier {tier}"
        );
    }
    let shown = bare.ask("skills show Research_Agent")["result"].clone();
    assert_eq!(shown["skill"]["name"], "ct-research-agent");
    assert!(
        shown["body"]
            .as_str()
            .unwrap()
            .starts_with("\n# Research\n")
            || shown["body"].as_str().unwrap().starts_with("# Research\n")
    );
    let refused = bare.ask("skills show reserch-agent");
    says(&refused, "did you mean `ct-research-agent`?");
    assert_eq!(refused["error"]["fix"], "cleo skills list");
}

#[test]
fn first_skill_of_name_counts() {
    let workspace = TestWorkspace::new();
    add(&workspace, &[json!({"title": "Research it"})]);
    let places = [
        ("named/ct-research-agent/SKILL.md", "named"),
        ("skills/ct-research-agent/SKILL.md", "project"),
        (".cleo/skills/ct-research-agent/SKILL.md", "project"),
        (".agents/skills/ct-research-agent/SKILL.md", "project"),
        (
            ".claude/skills/deep/er/ct-research-agent/skill.md",
            "project",
        ),
        ("../home/.agents/skills/ct-research-agent/SKILL.md", "user"),
        ("../home/.claude/skills/ct-research-agent/SKILL.md", "user"),
        ("../home/.codex/skills/ct-research-agent/SKILL.md", "user"),
        (
            "../home/.local/share/cleo/skills/ct-research-agent/SKILL.md",
            "user",
        ),
    ];
    for (place, _) in places {
        workspace.write(place, skill("ct-research-agent", place));
    }
    for (at, (place, source)) in places.iter().enumerate() {
        let all = list(&workspace, &["--skills-dir", "named"]);
        let one = all["skills"]
            .as_array()
            .unwrap()
            .iter()
            .find(|skill| skill["name"] == "ct-research-agent")
            .unwrap()
            .clone();
        assert_fields(&one, json!({"description": place, "source": source}));
        assert_eq!(one["shadows"].as_array().unwrap().len(), places.len() - at);
        let shadowed = all["shadowed"].as_array().unwrap();
        assert_eq!(shadowed.len(), places.len() - at);
        assert!(
            shadowed
                .iter()
                .all(|other| other["shadowedBy"] == one["path"]),
            "{shadowed:?}"
        );
        assert_eq!(shadowed.last().unwrap()["source"], "built-in");
        let shown = workspace.cleo("skills list --skills-dir named");
        assert!(
            shown.contains(&format!(" by {}", one["path"].as_str().unwrap())),
            "{shown}"
        );
        let prompt = spawn(&workspace, &["T1", "--skills-dir", "named"]);
        assert_eq!(
            prompt["receipt"]["inputs"]["skill"], one["digest"],
            "the one that counts is used"
        );
        fs::remove_file(workspace.path(place)).unwrap();
    }
    assert_eq!(list(&workspace, &[])["shadowed"], json!([]));
}

#[test]
fn skills_of_data_folder_count_without_home() {
    let workspace = TestWorkspace::new();
    let data = workspace.path("data").to_string_lossy().into_owned();
    let workspace = workspace.env("HOME", "").env("XDG_DATA_HOME", &data);
    workspace.write("data/cleo/skills/own/SKILL.md", skill("own", "Own"));
    let all = list(&workspace, &[]);
    let skills = all["skills"].as_array().unwrap();
    assert!(skills.iter().any(|skill| skill["name"] == "own"), "{all:#}");
}

#[test]
fn named_folder_that_is_not_there_is_told() {
    let workspace = TestWorkspace::new().with("file", "x");
    workspace.ok("add 'Look at it'");
    for command in ["skills list", "spawn T1"] {
        let reply = workspace.text(
            &format!("{command} --skills-dir nope --skills-dir file"),
            "",
        );
        assert_eq!(reply.exit, 0, "{reply}");
        for folder in ["nope", "file"] {
            let told = format!("{folder} is not a folder to find skills in\n");
            assert!(reply.stderr.contains(&told), "{reply}");
        }
    }
}

#[test]
fn unreadable_skill_is_skipped_with_line_and_column() {
    let workspace = TestWorkspace::new();
    workspace.write("skills/good/SKILL.md", skill("good", "x"));
    for (text, place) in [
        (
            "---\nname: bad\ndescription: Use when: x\n---\n",
            "skills/bad/SKILL.md:3:22: ",
        ),
        ("name: bad\n", "skills/bad/SKILL.md:1:1: "),
        ("---\nname: bad\n", "skills/bad/SKILL.md:"),
        ("---\nname: bad\n---\n", "skills/bad/SKILL.md:1:1: "),
        ("---\nname: \"bad\n---\n", "skills/bad/SKILL.md:"),
    ] {
        workspace.write("skills/bad/SKILL.md", text);
        let document = workspace.ask("skills list");
        assert_eq!(
            (
                document["success"].clone(),
                document["result"]["total"].clone()
            ),
            (json!(true), json!(19))
        );
        let warning = document["warnings"][0].as_str().unwrap();
        assert!(
            warning.starts_with(place) && warning.ends_with("; the skill is left out"),
            "{warning}"
        );
        let refused = workspace.ask("skills validate");
        assert_eq!(
            (&refused["error"]["code"], &refused["result"]["invalid"]),
            (&json!("E_SKILL_INVALID"), &json!(1)),
            "{text}"
        );
        let refused = workspace.ask("skills validate skills/bad");
        let fault = &refused["result"]["skills"][0]["faults"][0];
        assert!(
            fault["line"].as_u64().unwrap() >= 1 && fault["column"].as_u64().unwrap() >= 1,
            "{refused}"
        );
        let message = refused["error"]["message"].as_str().unwrap();
        let place = format!(
            "skills/bad/SKILL.md:{}:{}: ",
            fault["line"], fault["column"]
        );
        assert!(message.contains(&place), "{message}");
    }
}

#[test]
fn validate_exits_0_for_valid_6_for_invalid_3_for_none() {
    let workspace = TestWorkspace::bare();
    workspace.write("all/good/SKILL.md", skill("good", "x"));
    workspace.write("all/fine/SKILL.md", skill("fine", "x"));
    workspace.write("broken/good/SKILL.md", skill("good", "x"));
    workspace.write("broken/other/SKILL.md", skill("Other", "x"));
    workspace.write("empty/x.md", "");
    for (line, exit, total) in [
        ("", 0, 18),
        ("--strict", 0, 18),
        ("all", 0, 2),
        ("all/good", 0, 1),
        ("all/good/SKILL.md all/fine", 0, 2),
        ("broken", 6, 2),
        ("broken/good broken/other", 6, 2),
        ("empty", 6, 1),
    ] {
        let arguments: Vec<&str> = ["skills", "validate"]
            .into_iter()
            .chain(line.split_whitespace())
            .collect();
        let document = workspace.json(&arguments);
        let result = &document["result"];
        assert_eq!(result["total"], total, "{line}");
        assert_eq!(result["verdict"], if exit == 0 { "pass" } else { "fail" });
        assert_eq!(
            document["error"]["exitCode"].as_i64().unwrap_or(0),
            exit,
            "{document}"
        );
        assert_eq!(
            workspace.text(&format!("skills validate {line}"), "").exit,
            i32::try_from(exit).unwrap()
        );
    }
    assert_eq!(
        workspace.ask("skills validate gone")["error"]["exitCode"],
        3
    );
}

/// Ways to break a shipped skill: each is refused here and by the reference validator.
const BREAKS: &[(&str, &str)] = &[
    ("license: MIT", "license: MIT\ntags: research"),
    ("name: ct-research-agent", "name: CT-Research-Agent"),
    ("name: ct-research-agent", "name: ct-other"),
    ("description: >-", "summary: >-"),
    ("metadata:", "metadata: x\nmore:"),
    ("compatibility: Needs", "compatibility: needs: Needs"),
];

#[test]
fn reference_validator_agrees_on_shipped_and_broken_skills() {
    let workspace = TestWorkspace::bare();
    let program = std::env::var("CLEO_AGENTSKILLS").ok();
    let check = |folder: &Path, valid: bool| {
        let ours = workspace.json(&["skills".as_ref(), "validate".as_ref(), folder.as_os_str()]);
        assert_eq!(ours["success"], valid, "{ours}");
        if let Some(program) = &program {
            let mut reference = Command::new(program);
            reference
                .arg("validate")
                .arg(folder)
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            assert_eq!(
                reference.status().unwrap().success(),
                valid,
                "{}",
                folder.display()
            );
        }
    };
    names()
        .iter()
        .for_each(|name| check(&find_shipped(name), true));
    let text = fs::read_to_string(find_shipped("ct-research-agent/SKILL.md")).unwrap();
    for (from, to) in BREAKS {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text);
        workspace.write("ct-research-agent/SKILL.md", broken);
        check(&workspace.path("ct-research-agent"), false);
    }
}

#[test]
fn exported_skills_hold_no_raw_token() {
    let workspace = TestWorkspace::new();
    let dry = workspace.ask("skills export --to 'out/a b' --dry-run");
    assert_eq!(dry["result"]["files"].as_array().unwrap().len(), 18);
    assert!(!workspace.path("out").exists());
    workspace.ok("skills export --to 'out/a b'");
    for name in names() {
        let text = workspace.read(&format!("out/a b/{name}/SKILL.md"));
        assert!(
            !text.contains("{{") && !text.contains("## Task\n"),
            "{name}"
        );
        let (head, body) = text.split_once("\n---\n").unwrap();
        let own = fs::read_to_string(find_shipped(&name).join("SKILL.md")).unwrap();
        assert!(
            own.starts_with(head) && body.contains("## Follow-ups"),
            "{name}"
        );
    }
    assert_eq!(
        workspace.ask("skills validate 'out/a b'")["result"]["total"],
        18
    );
    workspace.ok("skills export docs-write --to one");
    assert_eq!(fs::read_dir(workspace.path("one")).unwrap().count(), 1);
    workspace.fails("skills export docs-wirte --to one", "E_SKILL_NOT_FOUND");
}

/// Exports into the workspace and returns the answer.
fn export(workspace: &TestWorkspace, more: &[&str]) -> Value {
    workspace.json(&[&["skills", "export", "--to"], more].concat())
}

#[test]
fn exported_skills_are_not_exported_again() {
    let workspace = TestWorkspace::new();
    let written = |answer: &Value, name: &str| answer["result"][name].as_array().unwrap().len();
    let first = export(&workspace, &[".claude/skills"]);
    assert_eq!(
        (written(&first, "files"), written(&first, "unchanged")),
        (18, 0)
    );
    let again = export(&workspace, &[".claude/skills"]);
    assert_eq!(
        (written(&again, "files"), written(&again, "unchanged")),
        (0, 18)
    );
    let told = workspace.cleo("skills export --to .claude/skills");
    assert!(told.contains("18 skills unchanged"), "{told}");
    let other = export(&workspace, &["out"]);
    assert_eq!(written(&other, "files"), 18, "{other}");
    let file = ".claude/skills/ct-validator/SKILL.md";
    let text = workspace.read(file);
    workspace.write(file, format!("{text}Mine.\n"));
    let named = [".claude/skills", "ct-validator"];
    let refused = export(&workspace, &named);
    assert_eq!(refused["error"]["fix"], format!("cat [WORKSPACE]/{file}"));
    says(&refused, "nothing was written; --force overwrites them");
    workspace.ok("skills export ct-validator --to .claude/skills --force");
    assert_eq!(workspace.read(file), text);
}

#[test]
fn no_skill_is_written_onto_itself() {
    let text = "---\nname: own\ndescription: x\n---\n# Own\n\n## Task\n\n{{TASK_ID}}\n";
    let workspace = TestWorkspace::new().with(".claude/skills/own/SKILL.md", text);
    let refused = export(&workspace, &[".claude/skills", "own", "--force"]);
    assert_eq!(refused["error"]["code"], "E_INPUT_INVALID", "{refused}");
    assert_eq!(workspace.read(".claude/skills/own/SKILL.md"), text);
    assert_eq!(export(&workspace, &["out", "own"])["success"], true);
}

#[test]
fn exported_skills_override_no_built_in() {
    let workspace = TestWorkspace::new();
    workspace.ok("add 'Look up the API' --label libraries");
    let prompt = || workspace.ask("spawn T1 --dry-run")["result"]["prompt"].clone();
    let before = prompt();
    workspace.ok("skills export --to .claude/skills");
    assert_eq!(prompt(), before);
    let listed = workspace.ask("skills list")["result"].clone();
    assert_eq!(listed["shadowed"], json!([]));
    let file = ".claude/skills/ct-docs-lookup/SKILL.md";
    workspace.write(file, format!("{}Mine.\n", workspace.read(file)));
    let shown = workspace.ask("skills show ct-docs-lookup");
    assert_eq!(shown["result"]["skill"]["path"], file);
}

#[test]
fn export_never_writes_over_changed_file_without_force() {
    let workspace = TestWorkspace::new();
    workspace.ok("skills export --to out");
    let file = "out/ct-docs-write/SKILL.md";
    let own = workspace.read(file);
    workspace.ok("skills export --to out");
    workspace.write(file, "mine\n");
    fs::remove_file(workspace.path("out/ct-orchestrator/SKILL.md")).unwrap();
    for more in [&[][..], &["--dry-run"]] {
        let refused = workspace.json(&[&["skills", "export", "--to", "out"], more].concat());
        assert_fields(
            &refused["error"],
            json!({"code": "E_FILE_CHANGED", "exitCode": 3}),
        );
        says(&refused, file);
    }
    assert_eq!(workspace.read(file), "mine\n");
    assert!(
        !workspace.path("out/ct-orchestrator/SKILL.md").exists(),
        "all or nothing"
    );
    workspace.fails("skills export --to out", "E_FILE_CHANGED");
    workspace.ok("skills export --to out --force");
    assert_eq!(workspace.read(file), own);
    assert!(workspace.path("out/ct-orchestrator/SKILL.md").exists());
}
