//! How the shipped protocols are written, and that each rule has one owner.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use cleo::catalogue::known_protocols;
use serde_json::json;

use crate::skills_content::{pattern, shipped, texts};
use crate::spawn::{add, spawn};
use crate::verify::deliver;
use crate::world::TestWorkspace;

/// Longest texts of protocols with their tokens replaced, in bytes.
const LIMITS: [(&str, usize); 8] = [
    ("subagent-protocol-base", 1600),
    ("task-lifecycle", 400),
    ("error-handling", 550),
    ("dependency-context", 320),
    ("verification-gates", 320),
    ("research-linking", 320),
    ("phase-awareness", 320),
    ("session-integration", 320),
];

#[test]
fn capitals_stand_only_where_the_protocol_speaks() {
    let capitals = pattern(r"\b(MUST|NEVER|SHALL|ALWAYS)\b");
    for skill in shipped()
        .iter()
        .filter(|skill| skill.name != "ct-spec-writer")
    {
        assert!(!capitals.is_match(skill.body()), "{}", skill.name);
    }
    for skill in shipped() {
        let plain = pattern(r"\{\{\w+\}\}")
            .replace_all(skill.body(), "")
            .into_owned();
        assert!(
            !pattern("OUT-0|MANIFEST").is_match(&plain),
            "{}: reporting is the protocol's",
            skill.name
        );
    }
    let known = known_protocols().unwrap();
    for line in known.iter().flat_map(|file| file.text.lines()) {
        assert!(
            !capitals.is_match(line) || line.starts_with("**OUT-00"),
            "{line}"
        );
    }
    let rules: Vec<String> = pattern(r"\*\*(OUT-\d+)\*\*")
        .captures_iter(&known[0].text)
        .map(|found| found[1].to_string())
        .collect();
    assert_eq!(rules, ["OUT-001", "OUT-002", "OUT-003", "OUT-004"]);
    assert!(known[0].text.starts_with("## SUBAGENT PROTOCOL\n"));
}

#[test]
fn protocols_keep_to_their_length() {
    let known = known_protocols().unwrap();
    assert_eq!(known.len(), LIMITS.len());
    let values = [
        ("TASK_ID", "T1234"),
        ("DATE", "2026-01-26"),
        ("TOPIC_SLUG", "authentication-research"),
        ("OUTPUT_DIR", "claudedocs/agent-outputs"),
        ("MANIFEST_PATH", "claudedocs/agent-outputs/MANIFEST.jsonl"),
        ("RESEARCH_ID", "authentication-research-2026-01-26"),
        ("TOPICS_JSON", "[\"authentication\",\"research\"]"),
        ("RESULT_KIND", "Research"),
        ("DEPENDS_LIST", "T1200, T1201"),
        ("PHASE", "core"),
        ("SESSION_ID", "S12"),
    ];
    let mut bindings = cleo::template::Bindings::new();
    values
        .into_iter()
        .for_each(|(name, value)| bindings.set(name, value));
    let sizes: BTreeMap<&str, usize> = known
        .iter()
        .map(|file| {
            (
                file.name.as_str(),
                cleo::template::inject(&file.text, &bindings).text.len() + 1,
            )
        })
        .collect();
    for (name, limit) in LIMITS {
        assert!(sizes[name] <= limit, "{name} has {} bytes", sizes[name]);
    }
    let usual: usize = LIMITS[..3].iter().map(|(name, _)| sizes[name] + 1).sum();
    assert!(usual < 2900, "the usual block has {usual} bytes");
}

#[test]
fn no_eight_words_stand_in_two_texts() {
    let word = pattern(r"[\w'{}-]+");
    let mut seen: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for (name, text) in texts() {
        let text = text
            .rfind("\n## Task\n")
            .map_or(text.as_str(), |at| &text[..at])
            .to_lowercase();
        let words: Vec<String> = word
            .find_iter(&text)
            .map(|found| found.as_str().to_string())
            .collect();
        for run in words.windows(8) {
            let first = seen.entry(run.to_vec()).or_insert_with(|| name.clone());
            assert_eq!(*first, name, "both say: {}", run.join(" "));
        }
    }
}

/// Each line of the base and of what is always there has this test as its last owner.
#[test]
fn the_usual_block_reads_like_this() {
    let workspace = TestWorkspace::new();
    add(
        &workspace,
        &[json!({"title": "Paint it", "labels": ["Red & blue"]})],
    );
    insta::assert_snapshot!(workspace.ok("research inject T1").stdout);
    let prompt = spawn(&workspace, &["T1"])["prompt"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(prompt.ends_with(&workspace.ok("research inject T1").stdout));
}

/// The here-document of OUT-002, as an agent fills it in.
fn here_document(prompt: &str) -> String {
    let (_, rest) = prompt.split_once("```sh\n").unwrap();
    let block = rest.split_once("```").unwrap().0;
    let filled = block
        .replace("<complete|partial|blocked>", "complete")
        .replace("<true|false>", "true");
    let text = json!("It's \"$HOME\" `x` \\ & é").to_string();
    let fact = pattern("\"<(title|fact)>\"");
    fact.replace_all(&filled, regex::NoExpand(&text))
        .into_owned()
}

#[test]
fn the_line_of_out_002_survives_every_shell() {
    let workspace = TestWorkspace::new();
    add(
        &workspace,
        &[json!({"title": "Paint it", "labels": ["Red & blue"]})],
    );
    let prompt = spawn(&workspace, &["T1"])["prompt"]
        .as_str()
        .unwrap()
        .to_string();
    let block = here_document(&prompt);
    let line = block.lines().nth(1).unwrap();
    let entry = cleo::manifest::entry::Entry::read(line).unwrap();
    assert_eq!(
        (entry.id.as_str(), entry.file.as_str()),
        ("paint-it-2026-01-26", "2026-01-26_paint-it.md")
    );
    assert_eq!(
        (entry.topics, entry.linked_tasks.len()),
        (vec!["red-blue".to_string()], 1)
    );
    workspace.write("stub/cleo", "#!/bin/sh\necho \"$@\" > told\ncat >> told\n");
    let stub = workspace.path("stub/cleo");
    std::fs::set_permissions(&stub, std::fs::Permissions::from_mode(0o755)).unwrap();
    let instead = "cat >> \"claudedocs/agent-outputs/MANIFEST.jsonl\"";
    assert!(prompt.contains(&format!("`{instead}`")));
    for shell in ["sh", "bash", "dash"] {
        let run = |script: &str| {
            let path = format!("{}:/usr/bin:/bin", stub.parent().unwrap().display());
            let mut command = Command::new(shell);
            command
                .args(["-c", script])
                .current_dir(workspace.root())
                .env("PATH", path);
            command
                .status()
                .map(|status| assert!(status.success(), "{shell}"))
        };
        if run(&block).is_err() {
            continue; // This machine does not have that shell.
        }
        assert_eq!(
            workspace.read("told"),
            format!("manifest append\n{line}\n"),
            "{shell}"
        );
        workspace.write("claudedocs/agent-outputs/MANIFEST.jsonl", "");
        run(&block.replace("cleo manifest append", instead)).unwrap();
        assert_eq!(
            workspace.read("claudedocs/agent-outputs/MANIFEST.jsonl"),
            format!("{line}\n"),
            "{shell}"
        );
    }
    workspace.write("claudedocs/agent-outputs/MANIFEST.jsonl", "");
    assert_eq!(workspace.shell(&block).exit, 0);
    assert_eq!(workspace.shell(&block).exit, 101, "as the base says");
    workspace.write(
        "claudedocs/agent-outputs/2026-01-26_paint-it.md",
        "# Paint\n\n## Summary\n\nRed.\n",
    );
    workspace.ok("verify output T1");
    workspace.ok("complete T1");
}

#[test]
fn an_agent_that_does_what_is_said_of_gates_can_complete_its_task() {
    for needed in [&[][..], &["testsPassed"], &["documented", "implemented"]] {
        let workspace = TestWorkspace::new();
        add(
            &workspace,
            &[json!({"title": "Paint it", "type": "testing"})],
        );
        for gate in needed {
            workspace.ok(&format!("update T1 --require-gate {gate}"));
        }
        let prompt = spawn(&workspace, &["T1"])["prompt"].to_string();
        assert!(prompt.contains("Due only if `cleo show T1` lists gates; else set none."));
        deliver(&workspace);
        let listed = workspace.json(&["show", "T1"])["result"]["verification"]["gates"].clone();
        let (_, order) = prompt.split_once("optional, in order: ").unwrap();
        let order = order.split_once('.').unwrap().0.split(", ");
        for gate in order.filter(|gate| listed[gate] == "open") {
            workspace.ok(&format!("verify T1 --gate {gate} --run true"));
        }
        workspace.ok("complete T1");
    }
}
