//! Bad input: each gets its own code and exit code, one sentence, and a command that can be pasted;
//! and nothing is changed.

use crate::world::{TestWorkspace, document, says};

/// Runs a bad command in all the ways in which it can be met.
#[track_caller]
fn check(workspace: &TestWorkspace, arguments: &[&str], code: &str, exit: i32, fix: &str) {
    let before = workspace.state();
    let reply = workspace.finish(workspace.command(arguments), "");
    let error = &document(&reply)["error"];
    assert_eq!(error["code"], code, "{arguments:?}\n{reply}");
    assert_eq!(reply.exit, exit, "{arguments:?}\n{reply}");
    assert_eq!(error["fix"].as_str().unwrap_or_default(), fix, "{reply}");
    assert_eq!(
        reply.stderr, "",
        "a program reads the answer in one place: {reply}"
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.len() < 300 && !message.contains('\n'), "{message}");

    let mut command = workspace.command(arguments);
    command.env("CLEO_FORMAT", "text");
    let shown = workspace.finish(command, "");
    assert_eq!(shown.exit, exit, "{arguments:?}\n{shown}");
    assert_eq!(shown.stdout, "", "{arguments:?}\n{shown}");
    assert!(
        shown.stderr.starts_with(&format!("error[{code}]: ")),
        "{shown}"
    );
    let proposed = match fix {
        "" => "\n  or ".to_string(),
        fix => format!("\n  try: {fix}\n"),
    };
    assert!(shown.stderr.contains(&proposed), "{shown}");
    assert_eq!(workspace.state(), before, "{arguments:?} changed something");
}

/// Runs bad commands, each in a workspace of its own with the plan in it. Above those of a kind is a line with their
/// code, exit code and fix.
#[track_caller]
fn check_all(table: &str) {
    let mut head = ("", 0, "");
    for line in table.split('\n').filter(|line| !line.is_empty()) {
        match line.strip_prefix("  ") {
            Some(words) => {
                let words = shlex::split(words).unwrap();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                check(&TestWorkspace::with_plan(), &words, head.0, head.1, head.2);
            }
            None => {
                let mut parts = line.splitn(3, ' ');
                let mut next = || parts.next().unwrap_or_default();
                head = (next(), next().parse().unwrap(), next());
            }
        }
    }
}

#[test]
fn what_is_not_there_is_refused() {
    check_all(
        "
E_TASK_NOT_FOUND 4 cleo list
  show T99
  update T99 --title x
  start T99
  complete T99
  reopen T99
  cancel T99
  delete T99
  deps T99
  list --parent T99
  list --tree --parent T99
  orchestrator ready --epic T99
  orchestrator waves --epic T99
E_DEPENDENCY_NOT_FOUND 4 cleo list
  add x --depends T2,T99
  add x --depends @nobody
  update T2 --depends T99
E_PARENT_NOT_FOUND 10 cleo list
  add x --parent T99
  update T2 --parent T99
E_FILE_UNREADABLE 3 ls -ld .
  add --batch no/such.jsonl
E_CODE_NOT_FOUND 4 cleo help exit-codes
  explain E_CYCEL
  explain nonsense",
    );
}

#[test]
fn circles_are_refused() {
    check_all(
        "
E_CYCLE 14 cleo deps T2
  update T2 --depends T4
  update T2 --depends T2
  update T2 --depends=T4 --note x
E_CYCLE 14
  add x --parent T5 --depends T1,T2
E_CYCLE 14 cleo deps T1
  update T1 --parent T4
  update T1 --parent T1",
    );
}

#[test]
fn circle_is_named() {
    let workspace = TestWorkspace::with_plan();
    for (words, way) in [
        (["update", "T2", "--depends", "T4"], "T2 → T4 → T3 → T2"),
        (["update", "T1", "--parent", "T4"], "T1 → T4 → T1"),
        (["update", "T5", "--parent", "T5"], "T5 → T5"),
    ] {
        let error = workspace.expect_refusal(&words, "E_CYCLE");
        says(&error, format!("in a circle: {way}"));
    }
    workspace.ok("update T3 --remove-depends T2");
    workspace.ok("update T2 --depends T4");
}

#[test]
fn nesting_too_deep_is_refused() {
    let workspace = TestWorkspace::new();
    workspace.ok("add x");
    for level in 1..8 {
        workspace.ok(&format!("add x --parent T{level}"));
    }
    let tree = "cleo list --tree";
    check(
        &workspace,
        &["add", "x", "--parent", "T8"],
        "E_TOO_DEEP",
        11,
        tree,
    );
    workspace.ok("add 'with a child'");
    workspace.ok("add 'the child' --parent T9");
    check(
        &workspace,
        &["update", "T9", "--parent", "T7"],
        "E_TOO_DEEP",
        11,
        tree,
    );
    workspace.ok("update T9 --parent T6");
}

#[test]
fn moves_that_make_no_sense_are_refused() {
    check_all(
        "
E_STATUS_REFUSED 6 cleo complete T2
  update T2 --status done
E_STATUS_REFUSED 6 cleo cancel T2
  update T2 --status cancelled
E_HAS_CHILDREN 16 cleo show T2
  complete T1
E_HAS_CHILDREN 16 cleo delete T1 --cascade --dry-run
  delete T1
E_HAS_CHILDREN 16 cleo deps T2
  delete T2
  delete T2 -n
E_HAS_CHILDREN 16 cleo delete T1 --cascade --dry-run
  delete T1 -n",
    );
    let done = TestWorkspace::with_plan();
    done.ok("complete T2");
    check(
        &done,
        &["start", "T2"],
        "E_STATUS_REFUSED",
        6,
        "cleo reopen T2",
    );
    done.ok("complete T2");
    check(
        &done,
        &["cancel", "T2"],
        "E_STATUS_REFUSED",
        6,
        "cleo reopen T2",
    );
    done.ok("cancel T3");
    check(
        &done,
        &["complete", "T3"],
        "E_STATUS_REFUSED",
        6,
        "cleo reopen T3",
    );
    for (status, task) in [("active", "T3"), ("done", "T3"), ("cancelled", "T2")] {
        done.ok("cancel T3");
        done.ok("complete T2");
        let (words, fix) = (
            ["update", task, "--status", status],
            format!("cleo reopen {task}"),
        );
        check(&done, &words, "E_STATUS_REFUSED", 6, &fix);
        done.ok(&format!("reopen {task}"));
        done.ok(&format!("update {task} --status active"));
        done.ok("complete T2");
    }
}

#[test]
fn spawned_task_that_was_cancelled_is_first_taken_up_again() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("spawn T2");
    workspace.ok("cancel T2");
    for words in [&["complete", "T2"][..], &["complete", "T2", "--force"]] {
        let error = workspace.expect_refusal(words, "E_STATUS_REFUSED");
        assert_eq!(error["fix"], "cleo reopen T2");
        assert_eq!(error["alternatives"], serde_json::json!([]));
    }
}

#[test]
fn what_has_parts_and_is_awaited_goes_with_both_options() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("add Outside --depends T3");
    let look = "cleo delete T1 --cascade --dry-run";
    check(&workspace, &["delete", "T1"], "E_HAS_CHILDREN", 16, look);
    let words = ["delete", "T1", "--cascade"];
    let error = workspace.expect_refusal(&words, "E_HAS_CHILDREN");
    says(&error, "others would lose what they depend on: T6");
    workspace.ok("delete T1 --cascade --force --dry-run");
}

#[test]
fn invalid_field_values_are_refused() {
    let long = "x".repeat(501);
    let long_label = "y".repeat(2_001);
    check_all(&format!(
        "
E_TASK_INVALID 6
  add ''
  add ' \t '
E_TEXT_TOO_LONG 6
  add {long}
  update T2 --title {long}
  add x --label {long_label}
E_TEXT_CONTROL 6
  add 'a\u{1b}[31mb\u{7}'
  add x '--description=a\u{9b}b'
  add x --label 'a\u{1}b'
  update T2 --note 'a\u{8}b'
E_TASK_INVALID 6
  add x --due tomorrow
  add x --due 2026-02-30
  add x --estimate=-3
  update T2 --estimate 1000
  add x --phase ''
E_INPUT_INVALID 2
  archive --older-than long"
    ));
    let two_lines = ["add", "a\nb"];
    check(
        &TestWorkspace::with_plan(),
        &two_lines,
        "E_TEXT_CONTROL",
        6,
        "",
    );
}

#[test]
fn faulty_command_lines_lead_to_help() {
    check_all(
        "
E_USAGE 2
  lst
  manifest list --status completed
  manifest list --status done
  runs list --status done
  orchestrator redy
  list --statu pending
  add \"it's\" '--labl=x y'
  list --status pending,activ
  list --status=actve
  add x -p hihg
  add x --size smal
  show 2
  add x --depends T2,#3
  add Fix the door --label x
  help ad",
    );
}

#[test]
fn command_lines_that_mean_nothing_lead_to_help() {
    check_all(
        "
E_USAGE 2
  zzz
  -x
  add
  show
  show T1 T2
  show nonsense
  show T0
  show T99999999999
  update T1
  update T1 --clear title
  add x --type 'Ä b'
  add x --batch y
  add --batch y --label x
  list --limit many
  list --tree --offset 1
  find
  help zzz",
    );
}

#[cfg(unix)]
#[test]
fn argument_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let workspace = TestWorkspace::new();
    let mut command = workspace.command(&["add"]);
    command.arg(std::ffi::OsStr::from_bytes(b"a\xff"));
    let refused = document(&workspace.finish(command, ""));
    assert_eq!(refused["error"]["code"], "E_USAGE");
}

#[test]
fn command_line_without_command_is_answered_with_help() {
    let workspace = TestWorkspace::new();
    for (line, shown) in [
        ("", "Usage: cleo [OPTIONS] <COMMAND>"),
        ("orchestrator", "Usage: cleo orchestrator"),
    ] {
        let reply = workspace.text(line, "");
        assert_eq!((reply.exit, reply.stdout.as_str()), (2, ""), "{reply}");
        assert!(
            reply.stderr.contains(shown) && !reply.stderr.contains("\\n"),
            "{reply}"
        );
    }
    let refused = workspace.json::<&str>(&[]);
    assert_eq!(refused["error"]["message"], "`cleo` needs a command");
    let refused = workspace.ask("orchestrator");
    assert_eq!(
        refused["error"]["message"],
        "`cleo orchestrator` needs a command"
    );
    assert_eq!(
        refused["error"]["alternatives"][0]["command"],
        "cleo orchestrator --help"
    );
}

#[test]
fn fix_goes_to_workspace_that_was_named() {
    let workspace = TestWorkspace::with_plan();
    let root = workspace.root().to_str().unwrap().to_string();
    let elsewhere = TestWorkspace::bare();
    let run = |words: &[&str]| {
        let all: Vec<&str> = ["--root", &root].iter().chain(words).copied().collect();
        elsewhere.json(&all)["error"]["fix"]
            .as_str()
            .unwrap()
            .to_string()
    };
    for (words, fix) in [
        (&["show", "T99"][..], format!("cleo --root {root} list")),
        (
            &["delete", "T1"],
            format!("cleo --root {root} delete T1 --cascade --dry-run"),
        ),
        (&["why", "T2"], format!("cleo --root {root} spawn T2")),
    ] {
        assert_eq!(run(words), fix);
        assert_eq!(elsewhere.shell(&fix).exit, 0, "{fix}");
    }
}

#[test]
fn setting_that_cannot_be_is_named() {
    for (name, value, line) in [("CLEO_NOW", "now", "list"), ("CLEO_FORMAT", "xml", "list")] {
        let workspace = TestWorkspace::new().env(name, value);
        let refused = workspace.json(&[line]);
        assert_eq!(refused["error"]["code"], "E_CONFIG_INVALID", "{name}");
        assert_eq!(refused["error"]["exitCode"], 8, "{name}");
        assert_eq!(refused["error"]["fix"], format!("unset {name}"));
        says(&refused, format!("{name} is `{value}`"));
    }
}

#[test]
fn empty_setting_is_no_setting() {
    let workspace = TestWorkspace::new()
        .env("CLEO_FORMAT", "")
        .env("CLEO_ROOT", "")
        .env("CLEO_AGENT", "");
    assert_eq!(workspace.ask("list")["success"], true);
}
