//! Commands in the shipped protocols work.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::json;

use crate::delivery::deliver;
use crate::world::{TestWorkspace, add, spawn};

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

/// The command of OUT-002, as an agent fills it in.
fn append_command(prompt: &str) -> String {
    let (_, rest) = prompt.split_once("```sh\n").unwrap();
    let block = rest.split_once("```").unwrap().0;
    let text = r#"It'\''s "$HOME" `x` \ & é {"a":1}"#;
    let filled = block.replace("<complete|partial|blocked>", "complete");
    let findings = ["'<fact>'"; 3].join(" --finding ");
    let filled = filled.replace("'<fact>'", &findings);
    filled.replace("<title>", text).replace("<fact>", text)
}

#[test]
fn command_of_out_002_survives_every_shell() {
    let workspace = TestWorkspace::new();
    add(
        &workspace,
        &[json!({"title": "Paint it", "labels": ["Red & blue"]})],
    );
    let prompt = spawn(&workspace, &["T1"])["prompt"]
        .as_str()
        .unwrap()
        .to_string();
    let block = append_command(&prompt);
    workspace.write("stub/cleo", "#!/bin/sh\nprintf '%s\\n' \"$@\" > told\n");
    let stub = workspace.path("stub/cleo");
    std::fs::set_permissions(&stub, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = "It's \"$HOME\" `x` \\ & é {\"a\":1}";
    let told = format!(
        "manifest\nappend\n--id\npaint-it-2026-01-26\n--file\n2026-01-26_paint-it.md\n\
         --task\nT1\n--topic\nred-blue\n--status\ncomplete\n--title\n{text}\n--finding\n{text}\n--finding\n{text}\n\
         --finding\n{text}\n"
    );
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
        assert_eq!(workspace.read("told"), told, "{shell}");
    }
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
