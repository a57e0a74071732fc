//! Every command that a skill or a protocol tells an agent to run is one that cleo takes.

use serde_json::{Value, json};

use super::skills_content::{pattern, texts};
use super::world::{TestWorkspace, add};

/// A command in a text.
struct Told {
    place: String,
    line: String,
}

/// Finds the commands: in backticks, or a line of a code block, by name or by token.
fn list_commands() -> Vec<Told> {
    let mut found = Vec::new();
    let start = pattern(r"^(cleo|\{\{\w+_CMD\}\})( |$)");
    for (place, text) in texts() {
        let spans = pattern("`([^`\n]+)`");
        let inline = spans.captures_iter(&text).map(|span| span[1].to_string());
        let text = text.replace("\\\n ", "");
        for line in inline.chain(text.lines().map(str::to_string)) {
            let line = line.split("<<").next().unwrap().trim().to_string();
            if start.is_match(&line) && line != "cleo" {
                let place = place.clone();
                found.push(Told { place, line });
            }
        }
    }
    found
}

/// Puts values in the place of tokens and `<placeholders>`.
fn fill_in(line: &str) -> Vec<String> {
    let line = crate::template::inject(line, &crate::template::Bindings::new()).text;
    let line = line
        .replace("{{RESEARCH_ID}}", "an-id")
        .replace("{{TASK_ID}}", "T1");
    let line = pattern("\"<command>\"")
        .replace_all(&line, "true")
        .into_owned();
    let line = pattern("<manifest id>")
        .replace_all(&line, "an-id")
        .into_owned();
    let line = pattern("<(file|path)>")
        .replace_all(&line, "tasks.jsonl")
        .into_owned();
    let line = line.replace("<tokens>", "100");
    shlex::split(&pattern("<[^>]*>").replace_all(&line, "T1")).unwrap()
}

/// Checks one command: cleo knows its words and options, and takes its arguments.
fn check(workspace: &TestWorkspace, told: &Told) {
    let words = fill_in(&told.line);
    let arguments = &words[1..];
    let help = [arguments, &["--help".to_string()]].concat();
    let reply = workspace.finish(workspace.command(&help), "");
    assert_eq!(reply.exit, 0, "{}: `{}`\n{reply}", told.place, told.line);
    let names_only = arguments
        .iter()
        .all(|word| word.chars().all(|c| c.is_ascii_lowercase()));
    if names_only {
        return; // Named, not shown: its arguments are left out.
    }
    let reply = workspace.finish(workspace.command(arguments), "{}\n");
    let document: Value = serde_json::from_str(reply.stdout.lines().next().unwrap()).unwrap();
    assert_ne!(
        document["error"]["code"], "E_USAGE",
        "{}: `{}`\n{reply}",
        told.place, told.line
    );
}

#[test]
fn cleo_takes_every_command_that_agents_are_told_to_run() {
    let workspace = TestWorkspace::new();
    add(
        &workspace,
        &[json!({"title": "One"}), json!({"title": "Two"})],
    );
    workspace.write("tasks.jsonl", "{\"title\":\"Three\"}\n");
    let all = list_commands();
    assert!(all.len() >= 30, "only {} commands were found", all.len());
    for expected in [
        "cleo verify output {{TASK_ID}}",
        "{{MANIFEST_APPEND_CMD}} --id {{RESEARCH_ID}} ",
        "{{TASK_LIST_CMD}} --parent <plan> --tree",
    ] {
        assert!(
            all.iter().any(|told| told.line.starts_with(expected)),
            "{expected} was not found"
        );
    }
    all.iter().for_each(|told| check(&workspace, told));
}
