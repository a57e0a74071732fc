//! Settings from outside the command line: the environment and the working directory.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::world::{TestWorkspace, document, says};

/// A value that no variable of text can have.
fn no_text() -> &'static OsStr {
    OsStr::from_bytes(b"a\xff")
}

// Other systems have no such paths.
#[cfg(target_os = "linux")]
#[test]
fn root_that_is_no_text_is_used_anyway() {
    let workspace = TestWorkspace::new();
    let other = workspace.root().with_file_name("home").join(no_text());
    std::fs::create_dir(&other).unwrap();
    for line in [&["init"][..], &["add", "there"]] {
        let mut command = workspace.command(line);
        command.env("CLEO_ROOT", &other);
        assert_eq!(workspace.finish(command, "").exit, 0);
    }
    assert_eq!(workspace.ask("list")["result"]["total"], 0);
    let mut command = workspace.command(&["list"]);
    command.env("CLEO_ROOT", &other);
    assert_eq!(
        document(&workspace.finish(command, ""))["result"]["total"],
        1
    );
}

#[test]
fn setting_that_is_no_text_is_refused() {
    let workspace = TestWorkspace::new();
    for name in ["CLEO_NOW", "CLEO_FORMAT", "CLEO_AGENT"] {
        let mut command = workspace.command(&["list"]);
        command.env(name, no_text());
        let refused = document(&workspace.finish(command, ""));
        assert_eq!(refused["error"]["code"], "E_CONFIG_INVALID", "{name}");
        assert_eq!(refused["error"]["fix"], format!("unset {name}"));
    }
}

#[test]
fn who_calls_is_one_clean_line() {
    let run = |name: &str, value: &str| {
        let workspace = TestWorkspace::new();
        let mut command = workspace.command(&["add", "x"]);
        command.env_remove("CLEO_AGENT").env(name, value);
        document(&workspace.finish(command, ""))
    };
    for value in ["a\nb", "a\u{1b}[2J", "a\u{2028}b", "  ", &"x".repeat(101)] {
        let refused = run("CLEO_AGENT", value);
        assert_eq!(refused["error"]["code"], "E_CONFIG_INVALID", "{value:?}");
        assert_eq!(refused["error"]["fix"], "unset CLEO_AGENT");
    }
    let refused = run("USER", "a\nb");
    assert_eq!(refused["error"]["code"], "E_CONFIG_INVALID");
    says(&refused, "set CLEO_AGENT to another name");
    assert_eq!(run("CLEO_AGENT", &"x".repeat(100))["success"], true);
}

#[test]
fn time_outside_of_four_digit_years_is_refused() {
    let workspace = TestWorkspace::with_plan();
    let late = "9999-12-31T23:59:59-01:00";
    let refused = workspace.json(&["add", "x", "--due", late]);
    assert_eq!(refused["error"]["code"], "E_TASK_INVALID");
    assert_eq!(
        refused["error"]["alternatives"][0]["command"],
        "cleo add --help"
    );
    let mut command = workspace.command(&["list"]);
    command.env("CLEO_NOW", late);
    let refused = document(&workspace.finish(command, ""));
    assert_eq!(refused["error"]["code"], "E_CONFIG_INVALID");
}

#[test]
fn workspace_named_in_full_needs_no_working_dir() {
    let workspace = TestWorkspace::with_plan();
    let gone = workspace.root().with_file_name("gone");
    let root = workspace.root().display();
    for (line, exit) in [
        (format!("cleo --root {root} show T1"), 0),
        (format!("CLEO_ROOT={root} cleo show T1"), 0),
        (format!("cleo --root {root} add x"), 0),
        ("cleo show T1".to_string(), 3),
        ("cleo --root work show T1".to_string(), 3),
        (format!("cleo --root {root} add --batch plan.jsonl"), 3),
    ] {
        std::fs::create_dir(&gone).unwrap();
        let gone = gone.display();
        let reply = workspace.shell(&format!("cd {gone} && rmdir {gone} && {line}"));
        assert_eq!(reply.exit, exit, "{line}\n{reply}");
    }
}
