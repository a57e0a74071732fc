//! Commands in the shipped protocols work.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::delivery::deliver;
use crate::world::{TestWorkspace, add, spawn};
use regex::Regex;

/// Each line of the base and of what is always there has this test as its last owner.
#[test]
fn usual_block_reads_like_this() {
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
    let fact = Regex::new("\"<(title|fact)>\"").unwrap();
    fact.replace_all(&filled, regex::NoExpand(&text))
        .into_owned()
}

#[test]
fn line_of_out_002_survives_every_shell() {
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
    let entry: Value = serde_json::from_str(line).unwrap();
    assert_eq!(entry["id"], "paint-it-2026-01-26");
    assert_eq!(entry["file"], "2026-01-26_paint-it.md");
    assert_eq!(entry["topics"], json!(["red-blue"]));
    assert_eq!(entry["linked_tasks"], json!(["T1"]));
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
fn agent_following_gate_rules_completes() {
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
        let listed = workspace.ask("show T1")["result"]["verification"]["gates"].clone();
        let (_, order) = prompt.split_once("optional, in order: ").unwrap();
        let order = order.split_once('.').unwrap().0.split(", ");
        for gate in order.filter(|gate| listed[gate] == "open") {
            workspace.ok(&format!("verify T1 --gate {gate} --run true"));
        }
        workspace.ok("complete T1");
    }
}
