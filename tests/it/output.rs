//! How answers look: for people, for programs, in a pipe, on a terminal.

use std::process::{Command, Stdio};

use crate::world::{CLEO, TestWorkspace, document, says, skip};

/// Runs a command on a pseudo-terminal; none where there is no `script` of the kind that Linux has.
fn on_terminal(workspace: &TestWorkspace, line: &str) -> Option<String> {
    let mut script = workspace.surround(Command::new("script"));
    script.args(["--quiet", "--return", "--command", line, "/dev/null"]);
    match script.stdin(Stdio::null()).output() {
        Ok(output) if cfg!(target_os = "linux") => {
            let shown = String::from_utf8(output.stdout).unwrap();
            Some(shown.replace("\r\n", "\n"))
        }
        _ => {
            skip("what a terminal shows: there is no `script` to make one");
            None
        }
    }
}

#[test]
fn pipe_gets_one_json_document_and_terminal_text() {
    let workspace = TestWorkspace::with_plan();
    let piped = workspace.finish(workspace.command(&["show", "T2"]), "");
    assert_eq!(piped.stdout.lines().count(), 1);
    assert_eq!(document(&piped)["command"], "show");
    let Some(shown) = on_terminal(&workspace, "cleo show T2") else {
        return;
    };
    assert!(
        shown.contains("Research token refresh") && !shown.contains("cleo/v1"),
        "{shown}"
    );
}

#[test]
fn json_on_terminal_is_indented() {
    let workspace = TestWorkspace::with_plan();
    let Some(shown) = on_terminal(&workspace, "cleo show T2 --json") else {
        return;
    };
    assert!(
        shown.starts_with("{\n  \"schema\": \"cleo/v1\",\n"),
        "{shown}"
    );
}

#[test]
fn options_beat_env_which_beats_terminal() {
    let workspace = TestWorkspace::with_plan();
    let is_json = |line: &str, variable: &str| {
        let mut command = workspace.command(&line.split(' ').collect::<Vec<_>>());
        command.env("CLEO_FORMAT", variable);
        let stdout = workspace.finish(command, "").stdout;
        assert!(!stdout.is_empty(), "{line}");
        stdout.starts_with('{')
    };
    for (line, variable, json) in [
        ("list", "", true),
        ("list", "text", false),
        ("list", "json", true),
        ("list", "ndjson", true),
        ("list --format text", "", false),
        ("list --format text", "json", false),
        ("list --format json", "text", true),
        ("list --json", "text", true),
        ("--json list", "text", true),
        ("list --format text --json", "", true),
    ] {
        assert_eq!(
            is_json(line, variable),
            json,
            "CLEO_FORMAT={variable} cleo {line}"
        );
    }
}

#[test]
fn usage_errors_have_the_requested_format() {
    let workspace = TestWorkspace::with_plan();
    for line in [
        "list --stat",
        "--json list --stat",
        "--format=json list --stat",
        "list --format ndjson --stat",
    ] {
        let reply = workspace.finish(workspace.command(&line.split(' ').collect::<Vec<_>>()), "");
        assert_eq!(document(&reply)["command"], "list", "{line}");
    }
    for line in ["list --stat --format text", "list --format=text --stat"] {
        let reply = workspace.finish(workspace.command(&line.split(' ').collect::<Vec<_>>()), "");
        assert_eq!(reply.stdout, "", "{line}");
        assert!(
            reply.stderr.starts_with("error[E_USAGE]"),
            "{line}\n{reply}"
        );
    }
}

#[test]
fn envelope_names_command_with_its_group() {
    let workspace = TestWorkspace::with_plan();
    for (words, name) in [
        (&["list"][..], "list"),
        (&["orchestrator", "ready"], "orchestrator.ready"),
        (&["explain", "E_CYCLE"], "explain"),
        (&["help", "exit-codes"], "help"),
    ] {
        assert_eq!(workspace.json(words)["command"], name);
    }
}

#[test]
fn color_is_for_terminals_and_for_those_who_ask() {
    let workspace = TestWorkspace::with_plan();
    let is_colored = |line: &str, variables: &[(&str, &str)]| {
        let mut command = workspace.command(&line.split(' ').collect::<Vec<_>>());
        command
            .env("CLEO_FORMAT", "text")
            .envs(variables.iter().copied());
        workspace.finish(command, "").stdout.contains('\u{1b}')
    };
    assert!(!is_colored("list", &[]));
    assert!(is_colored("list --color always", &[]));
    assert!(is_colored("list --color always", &[("NO_COLOR", "1")]));
    assert!(is_colored("list", &[("CLICOLOR_FORCE", "1")]));
    assert!(is_colored("list", &[("FORCE_COLOR", "1")]));
    assert!(!is_colored("list", &[("CLICOLOR_FORCE", "0")]));
    assert!(!is_colored(
        "list",
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]
    ));
    assert!(!is_colored(
        "list --color never",
        &[("CLICOLOR_FORCE", "1")]
    ));
    let Some(shown) = on_terminal(&workspace, "TERM=xterm cleo list") else {
        return;
    };
    assert!(shown.contains('\u{1b}'), "{shown:?}");
    for line in [
        "NO_COLOR=1 cleo list",
        "TERM=dumb cleo list",
        "cleo list --color never",
    ] {
        let shown = on_terminal(&workspace, line).unwrap();
        assert!(!shown.contains('\u{1b}'), "{line}: {shown:?}");
    }
}

#[test]
fn json_is_never_colored() {
    let workspace = TestWorkspace::with_plan();
    let reply = workspace.finish(workspace.command(&["list", "--color", "always"]), "");
    document(&reply);
    assert!(!reply.stdout.contains('\u{1b}'));
}

#[test]
fn untrusted_text_never_controls_terminal() {
    let workspace = TestWorkspace::new();
    let title = "turn \u{202e}around\u{2066} now";
    workspace.json(&["add", title, "--description", "also \u{200f}here"]);
    for line in [
        "list",
        "show T1",
        "find turn",
        "list --tree",
        "deps T1",
        "orchestrator ready",
    ] {
        let shown = workspace.cleo(line);
        assert!(
            !shown.contains(['\u{202e}', '\u{2066}', '\u{200f}']),
            "{line}\n{shown}"
        );
    }
    let refused = workspace.text("show 'a\u{1b}[2J\u{9b}b'", "");
    assert!(
        !refused.stderr.contains(['\u{1b}', '\u{9b}']),
        "{refused:?}"
    );
    for line in [
        "cleo list --json",
        "cleo show 'a\u{9b}2Jb\u{1b}[2J' --json 2>/dev/null",
    ] {
        let Some(shown) = on_terminal(&workspace, line) else {
            return;
        };
        let steers = |c: char| c != '\n' && c.is_control() || c == '\u{202e}' || c == '\u{2066}';
        assert!(!shown.contains(steers), "{line}\n{shown:?}");
        serde_json::from_str::<serde_json::Value>(&shown).unwrap();
    }
}

#[test]
fn reader_that_has_read_enough_is_no_error() {
    let workspace = TestWorkspace::new();
    let lines: Vec<String> = (0..5_000)
        .map(|number| format!("{{\"title\":\"task {number}\"}}"))
        .collect();
    workspace.json_with(&["add", "--batch", "-"], &lines.join("\n"));
    for command in ["cleo list", "cleo list --json", "cleo list --tree"] {
        let line = format!("{{ {command}; echo \"exit $?\" >&2; }} | head -n 1 >/dev/null");
        let reply = workspace.shell(&line);
        assert_eq!(reply.stderr, "exit 0\n", "{command}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn answer_that_cannot_be_written_is_error() {
    let workspace = TestWorkspace::with_plan();
    for command in [
        "cleo list",
        "cleo list --json",
        "cleo help add",
        "cleo --version",
    ] {
        let reply = workspace.shell(&format!("{command} >/dev/full"));
        assert_eq!(reply.exit, 3, "{command}\n{reply}");
        assert!(
            reply.stderr.starts_with("error[E_ANSWER_LOST]"),
            "{command}\n{reply}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn error_outlives_answer_that_holds_it() {
    let workspace = TestWorkspace::with_plan();
    for (line, exit, code) in [
        (
            "show T9 --json",
            4,
            "error[E_TASK_NOT_FOUND]: there is no task T9",
        ),
        ("show --json", 2, "error[E_USAGE]"),
        ("verify output T2 --json", 62, "error[E_"),
    ] {
        let reply = workspace.shell(&format!("cleo {line} >/dev/full"));
        let known = workspace.text(line, "").exit;
        assert_eq!(reply.exit, known, "{line}\n{reply}");
        assert!(exit == known || exit == 62, "{line}\n{reply}");
        assert!(reply.stderr.starts_with(code), "{line}\n{reply}");
        let lost = "\nerror[E_ANSWER_LOST]: ";
        assert!(reply.stderr.contains(lost), "{line}\n{reply}");
        assert!(
            reply.stderr.ends_with("  try: cleo list\n"),
            "{line}\n{reply}"
        );
    }
    let line = "cleo --root [WORKSPACE] list >/dev/full";
    let shown = workspace.shell(line).stderr;
    assert!(
        shown.ends_with("  try: cleo --root [WORKSPACE] list\n"),
        "{shown}"
    );
}

#[test]
fn help_and_version_are_envelopes_when_json_is_asked_for() {
    let workspace = TestWorkspace::bare();
    for line in [
        "--json --help",
        "--help --json",
        "--format json help",
        "help add --json",
        "add --help --format=json",
    ] {
        let page = workspace.ask(line);
        assert_eq!(page["command"], "help", "{line}");
        says(&page["result"]["text"], "Usage: cleo");
    }
    let version = workspace.ask("--version --json");
    assert_eq!(version["command"], "version");
    assert_eq!(version["result"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn help_of_command_begins_with_what_list_says_of_it() {
    let workspace = TestWorkspace::bare();
    let help = |words: &[&str]| workspace.finish(workspace.command(words), "").stdout;
    let page = help(&["--help"]);
    let (_, list) = page.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\nOptions:").unwrap();
    for line in list.lines().filter(|line| !line.starts_with("    ")) {
        let (name, told) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
        let told = told.split(" [alias").next().unwrap();
        let own = help(&[name, "--help"]);
        let begin = own.lines().next().unwrap();
        assert!(
            !told.is_empty() && begin.starts_with(told.trim()),
            "{name}: {begin}"
        );
    }
}

#[test]
fn help_and_version_are_text_everywhere() {
    let workspace = TestWorkspace::bare();
    for words in [
        &["--help"][..],
        &["help"],
        &["add", "--help"],
        &["help", "add"],
        &["help", "orchestrator", "ready"],
    ] {
        let reply = workspace.finish(workspace.command(words), "");
        assert_eq!((reply.exit, reply.stderr.as_str()), (0, ""), "{words:?}");
        assert!(reply.stdout.contains("Usage: cleo"), "{words:?}");
    }
    let version = workspace.finish(workspace.command(&["--version"]), "");
    assert_eq!(
        version.stdout,
        format!("cleo {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn exit_codes_keep_their_meaning() {
    let table = TestWorkspace::bare().ask("help exit-codes");
    let rows = table["result"]["codes"].as_array().unwrap();
    for (exit, codes) in [
        (1, &["E_INTERNAL"][..]),
        (2, &["E_USAGE", "E_INPUT_INVALID"]),
        (3, &["E_FILE_UNREADABLE", "E_FILE_UNWRITABLE"]),
        (4, &["E_TASK_NOT_FOUND", "E_SKILL_NOT_FOUND"]),
        (5, &["E_PROGRAM_MISSING"]),
        (6, &["E_TASK_INVALID", "E_ENTRY_INVALID", "E_SKILL_INVALID"]),
        (7, &["E_LOCK_TIMEOUT"]),
        (8, &["E_CONFIG_INVALID", "E_STORE_SCHEMA"]),
        (10, &["E_PARENT_NOT_FOUND"]),
        (11, &["E_TOO_DEEP"]),
        (14, &["E_CYCLE"]),
        (16, &["E_HAS_CHILDREN"]),
        (30, &["E_SESSION_EXISTS"]),
        (31, &["E_SESSION_NOT_FOUND"]),
        (42, &["E_GATE_UNKNOWN"]),
        (43, &["E_AGENT_UNKNOWN"]),
        (44, &["E_GATE_ROUNDS"]),
        (52, &["E_CONTEXT_CRITICAL"]),
        (60, &["E_PROTOCOL_MISSING"]),
        (61, &["E_RETURN_MESSAGE"]),
        (62, &["E_ENTRY_MISSING"]),
        (63, &["E_OUTPUT_MISSING"]),
        (80, &["E_AGENT_FAILED"]),
        (81, &["E_STEPS_FAILED"]),
        (101, &["E_EXISTS"]),
        (124, &["E_RUN_TIMEOUT"]),
        (130, &["E_INTERRUPTED"]),
        (143, &["E_TERMINATED"]),
    ] {
        for code in codes {
            let row = rows.iter().find(|row| row["code"] == *code).unwrap();
            assert_eq!(row["exitCode"], exit, "{code}");
        }
    }
}

#[test]
fn every_code_is_in_table() {
    let workspace = TestWorkspace::bare();
    let table = workspace.ask("help exit-codes");
    let codes = table["result"]["codes"].as_array().unwrap();
    assert_eq!(table["result"]["total"], codes.len());
    let shown = workspace.cleo("help exit-codes");
    for code in codes {
        let name = code["code"].as_str().unwrap();
        assert!(shown.contains(name), "{name}");
        let explained = workspace.json(&["explain", name]);
        assert_eq!(&explained["result"], code);
    }
    insta::assert_snapshot!(workspace.cleo("explain has_children"));
    let six = workspace.ask("explain 6");
    let with_six: Vec<_> = codes.iter().filter(|code| code["exitCode"] == 6).collect();
    assert!(with_six.len() > 1);
    assert_eq!(six["result"]["codes"], serde_json::json!(with_six));
    insta::assert_snapshot!("explained_by_its_exit_code", workspace.cleo("explain 60"));
}

#[test]
fn program_needs_nothing_from_its_env() {
    let workspace = TestWorkspace::with_plan();
    let mut command = Command::new(CLEO);
    command
        .env_clear()
        .current_dir(workspace.root())
        .arg("list");
    assert_eq!(
        document(&workspace.finish(command, ""))["result"]["total"],
        5
    );
}
