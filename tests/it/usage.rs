//! Faults of the command line: in the envelope when JSON is asked for, with exit code 2, and with what was
//! probably meant in the message. A fix is of a constant form; nothing of the line is written again.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::world::{TestWorkspace, document, says};

/// Returns the help that a fault of a line leads to; it has no fix.
fn help_of<S: AsRef<OsStr>>(workspace: &TestWorkspace, arguments: &[S]) -> String {
    let error = workspace.json(arguments)["error"].clone();
    help(&error)
}

fn help(error: &Value) -> String {
    assert_eq!(error.get("fix"), None, "{error}");
    let other = &error["alternatives"][0];
    assert_eq!(other["action"], "see the help", "{error}");
    other["command"].as_str().unwrap().to_string()
}

#[test]
fn near_commands_options_and_values_are_suggested() {
    let workspace = TestWorkspace::with_plan();
    let before = workspace.state();
    for (line, command, tip) in [
        ("shwo T2", "cleo", "a similar subcommand exists: 'show'"),
        (
            "orchestrator wavs",
            "orchestrator",
            "a similar subcommand exists: 'waves'",
        ),
        (
            "add x --prioriti high",
            "add",
            "a similar argument exists: '--priority'",
        ),
        (
            "list --color alwys",
            "list",
            "a similar value exists: 'always'",
        ),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let reply = workspace.finish(workspace.command(&words), "");
        assert_eq!((reply.exit, reply.stderr.as_str()), (2, ""), "{reply}");
        let refused = document(&reply);
        assert_eq!(refused["command"], command, "{refused}");
        let error = &refused["error"];
        assert_eq!(error["code"], "E_USAGE", "{error}");
        let page = match command {
            "cleo" => "cleo --help".to_string(),
            command => format!("cleo {command} --help"),
        };
        assert_eq!(help(error), page, "{error}");
        says(error, tip);
        assert_eq!(workspace.shell(&page).exit, 0);
    }
    assert_eq!(workspace.state(), before);
}

#[test]
fn faulty_line_leads_to_help() {
    let workspace = TestWorkspace::with_plan();
    for (line, page) in [
        (&["update", "1", "--title", "x y"][..], "cleo update --help"),
        (&["task", "add", "x"], "cleo --help"),
        (&["add", "-x"], "cleo add --help"),
        (&["add", "x", "--label", ""], "cleo add --help"),
        (&["next", "T1"], "cleo next --help"),
        (&["update", "T2", "--status", "dnoe"], "cleo update --help"),
        (
            &["update", "T3", "--rm-depends", "T2"],
            "cleo update --help",
        ),
        (&["run", "T2", "--runner", "nope"], "cleo run --help"),
    ] {
        assert_eq!(help_of(&workspace, line), page, "{line:?}");
    }
}

#[test]
fn options_after_faulty_word_decide_about_form() {
    let workspace = TestWorkspace::with_plan();
    let line = "cleo shwo --label x --json T2 --format=text";
    let reply = workspace.shell(&format!("{line} 2>&1"));
    assert!(reply.stdout.starts_with("{\"schema\""), "{reply}");
    let reply = workspace.shell("cleo --format json shwo T2");
    assert_eq!(document(&reply)["error"]["code"], "E_USAGE");
}

#[test]
fn topic_that_is_no_command_takes_no_further_word() {
    let workspace = TestWorkspace::bare();
    let error = workspace.ask("help exit-codes x")["error"].clone();
    assert_eq!(
        error["message"],
        "unexpected argument `x` after `exit-codes`"
    );
    assert_eq!(error["fix"], "cleo help exit-codes");
}

#[test]
fn money_that_would_be_given_back_is_not_made_to_be_spent() {
    let workspace = TestWorkspace::with_plan();
    for (command, page) in [("run T2", "run"), ("runs resume run_1", "runs resume")] {
        let line = format!("{command} --max-cost -1");
        let words: Vec<&str> = line.split(' ').collect();
        let error = workspace.expect_refusal(&words, "E_USAGE");
        says(&error, "US dollars above 0");
        assert_eq!(help(&error), format!("cleo {page} --help"));
    }
}

// Other systems have no such paths.
#[cfg(target_os = "linux")]
#[test]
fn path_that_is_no_text_is_in_no_fix() {
    let workspace = TestWorkspace::bare();
    let root = workspace.root().join(OsStr::from_bytes(b"r\xff"));
    std::fs::create_dir(&root).unwrap();
    let root = root.as_os_str();
    let run = |words: &[&str]| {
        let words = words.iter().map(OsStr::new);
        let line: Vec<&OsStr> = [OsStr::new("--root"), root]
            .into_iter()
            .chain(words)
            .collect();
        workspace.finish(workspace.command(&line), "")
    };
    let page = |words| help(&document(&run(words))["error"]);
    assert_eq!(page(&["list"]), "cleo list --help");
    assert_eq!(run(&["init"]).exit, 0);
    assert_eq!(page(&["show", "T9"]), "cleo show --help");
    assert_eq!(page(&["shwo", "T9"]), "cleo --help");
}

#[test]
fn value_of_option_names_no_command() {
    let workspace = TestWorkspace::with_plan();
    let refused = workspace.ask("--root add shwo T1");
    assert_eq!(refused["command"], "cleo");
    assert_eq!(help(&refused["error"]), "cleo --help");
    let refused = workspace.ask("add x --label show --prioriti high");
    assert_eq!(refused["command"], "add");
}

#[test]
fn invalid_filter_is_an_error_of_its_command() {
    let workspace = TestWorkspace::with_plan();
    let refused = workspace.ask("orchestrator waves --jq '.['");
    assert_eq!(refused["command"], "orchestrator.waves");
    assert_eq!(help(&refused["error"]), "cleo orchestrator waves --help");
}

#[test]
fn parent_is_cleared_like_other_fields() {
    let workspace = TestWorkspace::with_plan();
    let parent = |words: &[&str]| {
        let reply = workspace.json(words);
        assert_eq!(reply["success"], true, "{reply}");
        reply["result"]["task"]["parent"].clone()
    };
    assert_eq!(parent(&["update", "T2", "--parent", "T1"]), "T1");
    assert!(parent(&["update", "T2", "--clear", "parent"]).is_null());
    assert_eq!(
        parent(&["update", "T2", "--clear", "parent", "--parent", "T1"]),
        "T1"
    );
}

#[test]
fn usage_errors_have_the_requested_color() {
    let workspace = TestWorkspace::with_plan();
    for (line, colored) in [
        ("list --stat", true),
        ("list --stat --color never", false),
        ("--color=never list --stat", false),
    ] {
        let mut command = workspace.command(&line.split(' ').collect::<Vec<_>>());
        command.env("CLEO_FORMAT", "text").env("FORCE_COLOR", "1");
        let shown = workspace.finish(command, "").stderr;
        assert_eq!(shown.contains('\u{1b}'), colored, "{line}: {shown:?}");
    }
}

#[test]
fn no_message_and_no_fix_is_without_end() {
    let workspace = TestWorkspace::with_plan();
    let word = "x".repeat(100_000);
    for line in [
        &["show", &word][..],
        &["explain", &word],
        &["add", "x", "--description", &format!("{word}\u{1}")],
    ] {
        let reply = workspace.finish(workspace.command(line), "");
        assert!(reply.stdout.len() < 7_000, "{}", reply.stdout.len());
        let error = &document(&reply)["error"];
        assert!(error["message"].as_str().unwrap().chars().count() <= 6_001);
        let mut command = workspace.command(line);
        command.env("CLEO_FORMAT", "text");
        assert!(workspace.finish(command, "").stderr.len() < 7_000);
    }
    let long = format!("{}\u{1}", "x y ".repeat(2_000));
    let line = ["add", "x", "--description", &long];
    assert_eq!(help_of(&workspace, &line), "cleo add --help");
}

#[test]
fn removing_unknown_file_lists_known_ones() {
    let workspace = TestWorkspace::new();
    workspace.ok("add x --file src/auth.rs --file docs/auth.md");
    let words = ["update", "T1", "--remove-file", "src/auth.sr"];
    let error = workspace.expect_refusal(&words, "E_TASK_INVALID");
    assert_eq!(
        error["message"],
        "T1 has no file `src/auth.sr`; it has `src/auth.rs`, `docs/auth.md`"
    );
    assert_eq!(error["fix"], "cleo show T1");
}
