//! `cleo hook`: an agent that leaves its work unproven is sent back, often enough and no oftener.

use std::thread;

use serde_json::{Value, json};

use crate::delivery::{GOOD, MANIFEST, OUTPUT, deliver, spawn_task};
use crate::world::{Reply, TestWorkspace, says, spawn};

/// The event of a client when the agent of a session ends.
fn event(workspace: &TestWorkspace, changes: Value) -> String {
    let mut event = json!({
        "session_id": "session-1", "hook_event_name": "Stop", "stop_hook_active": false,
        "cwd": workspace.root(), "transcript_path": "/nowhere.jsonl",
        "last_assistant_message": "Task complete. See MANIFEST.jsonl for summary.",
    });
    let object = event.as_object_mut().unwrap();
    object.extend(changes.as_object().unwrap().clone());
    event.to_string()
}

fn hook(workspace: &TestWorkspace, line: &str, variables: &[(&str, &str)], input: &str) -> Reply {
    let words = shlex::split(&format!("hook {line}")).unwrap();
    let mut command = workspace.command(&words);
    command.envs(variables.iter().copied());
    let reply = workspace.finish(command, input);
    assert_eq!(reply.exit, 0, "a hook never fails: {reply}");
    reply
}

/// Ends a session with these changes to what is said of it, and returns the reason why it may not.
fn stop(workspace: &TestWorkspace, variables: &[(&str, &str)], changes: Value) -> Option<String> {
    let reply = hook(workspace, "stop", variables, &event(workspace, changes));
    read_block(&reply)
}

fn read_block(reply: &Reply) -> Option<String> {
    if reply.stdout.is_empty() {
        return None;
    }
    let answer: Value = serde_json::from_str(&reply.stdout).unwrap();
    assert_eq!(answer["decision"], "block", "{reply}");
    Some(answer["reason"].as_str().unwrap().to_string())
}

const OF_T1: &[(&str, &str)] = &[("CLEO_TASK_ID", "T1")];

/// Writes a transcript in which an agent was given the prompt of a task, and returns its path.
fn transcript(workspace: &TestWorkspace, name: &str, task: &str) -> String {
    let prompt = spawn(workspace, &[task])["prompt"]
        .as_str()
        .unwrap()
        .to_string();
    let lines = [
        json!({"type": "summary", "summary": "SUBAGENT PROTOCOL"}),
        json!({"type": "user", "message": {"role": "user", "content": prompt}}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": []}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    workspace.write(name, text);
    workspace.path(name).to_string_lossy().into_owned()
}

#[test]
fn agent_without_output_is_sent_back_with_fix() {
    let workspace = spawn_task();
    let reason = stop(&workspace, OF_T1, json!({})).unwrap();
    insta::assert_snapshot!(reason);
    // Its instructions are followed literally, with facts in the gaps.
    workspace.write(OUTPUT, GOOD);
    let start = reason.find("cleo manifest append").unwrap();
    let end = reason.find("\n3. ").unwrap();
    let command = reason[start..end]
        .replace("<title>", "Paint")
        .replace("<fact>", "Red.");
    let pasted = workspace.shell(&command);
    assert_eq!(pasted.exit, 0, "{pasted}");
    assert_eq!(stop(&workspace, OF_T1, json!({})), None);
}

#[test]
fn only_what_is_missing_is_asked_for() {
    let workspace = spawn_task();
    deliver(&workspace);
    assert_eq!(stop(&workspace, OF_T1, json!({})), None);
    std::fs::remove_file(workspace.path(OUTPUT)).unwrap();
    let reason = stop(&workspace, OF_T1, json!({})).unwrap();
    assert!(
        reason.contains("OUT-001") && !reason.contains("OUT-002"),
        "{reason}"
    );
    workspace.write(OUTPUT, GOOD);
    workspace.write(MANIFEST, "");
    let reason = stop(&workspace, OF_T1, json!({})).unwrap();
    assert!(
        reason.contains("OUT-002") && !reason.contains("OUT-001"),
        "{reason}"
    );
}

#[test]
fn agent_is_sent_back_limited_number_of_times() {
    let workspace = spawn_task();
    let told = |session: &str, limit: &[(&str, &str)]| {
        let variables = [OF_T1, limit].concat();
        stop(
            &workspace,
            &variables,
            json!({"session_id": session, "stop_hook_active": true}),
        )
    };
    for _ in 0..3 {
        assert!(told("a", &[]).is_some());
    }
    assert_eq!(told("a", &[]), None);
    let once: &[(&str, &str)] = &[("CLEO_HOOKS_BLOCKS", "1")];
    assert!(told("b", once).is_some());
    assert_eq!(told("b", once), None);
    assert_eq!(told("c", &[("CLEO_HOOKS_BLOCKS", "0")]), None);
    let log = workspace.ask("log --task T1");
    let operations = log["result"]["operations"].as_array().unwrap().iter();
    let kept = operations.filter(|operation| operation["command"] == "hook.stop");
    assert_eq!(kept.count(), 4, "{log:#}");
}

#[test]
fn hooks_that_ask_at_once_send_back_no_oftener() {
    let workspace = spawn_task();
    let asked = thread::scope(|scope| {
        let asks = (0..12).map(|_| scope.spawn(|| stop(&workspace, OF_T1, json!({})).is_some()));
        let asks: Vec<_> = asks.collect();
        asks.into_iter()
            .map(|ask| ask.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(asked.iter().filter(|blocked| **blocked).count(), 3);
}

#[test]
fn task_is_that_of_prompt_or_only_one_that_is_held() {
    let workspace = spawn_task();
    let path = transcript(&workspace, "one.jsonl", "T1");
    let reason = stop(&workspace, &[], json!({"transcript_path": path})).unwrap();
    assert!(reason.starts_with("T1 is not finished"), "{reason}");
    // Its work was done, and another spawn has handed out another prompt since.
    deliver(&workspace);
    spawn(&workspace, &["T1", "--again"]);
    let other = json!({"transcript_path": path, "session_id": "other"});
    assert_eq!(stop(&workspace, &[], other), None);

    let ada: &[(&str, &str)] = &[("CLEO_AGENT", "ada")];
    let claim = |task: &str| {
        let mut command = workspace.command(&["claim", task]);
        command.envs(ada.iter().copied());
        assert_eq!(workspace.finish(command, "").exit, 0);
    };
    assert_eq!(stop(&workspace, ada, json!({})), None);
    claim("T1");
    assert!(stop(&workspace, ada, json!({})).is_some());
    claim("T2");
    assert_eq!(stop(&workspace, ada, json!({"session_id": "new"})), None);
}

#[test]
fn subagent_answers_for_own_prompt_and_not_for_its_caller() {
    let workspace = spawn_task();
    let path = transcript(&workspace, "agent.jsonl", "T2");
    let ended = |changes: Value| {
        let mut said = json!({"agent_id": "a-1", "agent_type": "Explore"});
        said.as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        let input = event(&workspace, said);
        read_block(&hook(&workspace, "subagent-stop", OF_T1, &input))
    };
    let own = ended(json!({"agent_transcript_path": path})).unwrap();
    assert!(own.starts_with("T2 is not finished"), "{own}");
    // The file of the session holds prompts of others; a helper of another kind has no task.
    assert_eq!(ended(json!({"transcript_path": path})), None);
    let ours = ended(json!({"agent_type": "cleo-subagent"})).unwrap();
    assert!(ours.starts_with("T1 is not finished"), "{ours}");
}

#[test]
fn where_nothing_is_due_everybody_may_end_in_silence() {
    let workspace = spawn_task();
    let elsewhere = TestWorkspace::bare();
    let outside = hook(&elsewhere, "stop", OF_T1, &event(&elsewhere, json!({})));
    assert_eq!((&*outside.stdout, &*outside.stderr), ("", ""));
    let garbage = hook(&elsewhere, "stop", &[], "garbage");
    assert_eq!((&*garbage.stdout, &*garbage.stderr), ("", ""));
    let codex = hook(&elsewhere, "stop --client codex", &[], "{}");
    assert_eq!((&*codex.stdout, &*codex.stderr), ("{}\n", ""));
    // The folder of the event decides, wherever the hook itself runs.
    let there = hook(&elsewhere, "stop", OF_T1, &event(&workspace, json!({})));
    assert!(read_block(&there).is_some());
    for (variables, changes) in [
        (&[][..], json!({})),
        (&[("CLEO_TASK_ID", "T2")], json!({})),
        (&[("CLEO_TASK_ID", "T77")], json!({})),
        (&[("CLEO_TASK_ID", "T1"), ("CLEO_EPOCH", "7")], json!({})),
    ] {
        assert_eq!(stop(&workspace, variables, changes), None, "{variables:?}");
    }
    workspace.ok("complete T1 --force");
    assert_eq!(stop(&workspace, OF_T1, json!({})), None);
}

#[test]
fn hook_never_fails_or_blocks_on_bad_input() {
    let workspace = spawn_task();
    for input in [
        "",
        "[]",
        "{\"session_id\":7}",
        "\u{0}",
        "{\"cwd\":\"../..\"}",
    ] {
        let reply = hook(&workspace, "stop", &[], input);
        assert_eq!(reply.stdout, "", "{input}: {reply}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(hook(&workspace, "stop", &[], &deep).stdout, "");
    let odd = json!({"transcript_path": "/dev/zero", "cwd": workspace.root()}).to_string();
    assert_eq!(hook(&workspace, "stop", &[], &odd).stdout, "");
    let long = format!("{}\n{{\"message\":", "SUBAGENT PROTOCOL ".repeat(400_000));
    workspace.write("long.jsonl", long);
    let path = workspace.path("long.jsonl");
    assert_eq!(
        stop(&workspace, &[], json!({"transcript_path": path})),
        None
    );
    workspace.write(".cleo/cleo.db", "no database");
    let reply = hook(
        &workspace,
        "stop --client codex",
        OF_T1,
        &event(&workspace, json!({})),
    );
    assert_eq!(reply.stdout, "{}\n");
    assert!(reply.stderr.contains("the agent may end"), "{reply}");
}

#[test]
fn hooks_are_added_to_existing_settings() {
    let mine = "{\n  \"model\": \"opus\",\n  \"hooks\": {\"PreToolUse\": [{\"hooks\": []}]}\n}\n";
    let workspace = TestWorkspace::bare().with(".claude/settings.json", mine);
    let preview = workspace.cleo("init --agents claude,codex --hooks --dry-run");
    assert!(
        preview.contains("would be updated  .claude/settings.json"),
        "{preview}"
    );
    assert_eq!(workspace.read(".claude/settings.json"), mine);
    workspace.ok("init --agents claude,codex --hooks");
    let settings = workspace.read(".claude/settings.json");
    assert!(
        settings.starts_with("{\n  \"model\": \"opus\",\n  \"hooks\": {\n"),
        "{settings}"
    );
    assert!(
        settings.contains("\"PreToolUse\": [{\"hooks\": []}]"),
        "{settings}"
    );
    insta::assert_snapshot!(workspace.read(".codex/hooks.json"));
    let again = workspace.ask("init --agents claude,codex --hooks");
    assert_eq!(again["result"]["updated"], json!([]));
    assert_eq!(workspace.read(".claude/settings.json"), settings);

    workspace.write(".claude/settings.json", settings.replacen(": 60", ": 5", 1));
    let init = ["init", "--agents", "claude", "--hooks"];
    let error = workspace.expect_refusal(&init, "E_FILE_CHANGED");
    says(&error, "nothing was written; --force overwrites them");
    workspace.ok("init --agents claude --hooks --force");
    assert_eq!(workspace.read(".claude/settings.json"), settings);

    workspace.write(".claude/settings.json", "{ // mine\n}");
    let error = workspace.expect_refusal(&init, "E_INPUT_INVALID");
    says(&error, "line 1 column 3");
    assert_eq!(workspace.read(".claude/settings.json"), "{ // mine\n}");
}
