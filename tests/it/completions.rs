//! Completions, asked for the way shells ask, and the pages for man.

use std::process::Command;

use crate::world::{TestWorkspace, says, skip};

/// Completion of a half-typed line by each shell: the script is loaded and called like the shell
/// calls it.
const BASH: &str = r#"
source <(cleo completions bash)
ask() {
    COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); COMP_TYPE=9; COMPREPLY=()
    _clap_complete_cleo cleo "${!#}" ""
    printf '%s ' "${COMPREPLY[@]}"; echo
}
"#;

fn run(workspace: &TestWorkspace, shell: &str, arguments: &[&str], script: &str) -> Option<String> {
    let mut command = workspace.surround(Command::new(shell));
    if command.arg("--version").output().is_err() {
        skip(&format!("completions in {shell}: it is not installed"));
        return None;
    }
    let mut command = workspace.surround(Command::new(shell));
    command.args(arguments).arg(script);
    let reply = workspace.finish(command, "");
    assert_eq!(reply.exit, 0, "{script}\n{reply}");
    Some(reply.stdout)
}

fn bash(workspace: &TestWorkspace, lines: &str) -> String {
    let script = format!("{BASH}{lines}");
    run(workspace, "bash", &["--norc", "-c"], &script).unwrap()
}

#[test]
fn bash_completes_commands_options_tasks_and_labels() {
    let workspace = TestWorkspace::with_plan();
    let asked = [
        ("comple", "complete completions"),
        ("show T", "T5 T4 T3 T2 T1"),
        ("show t", "t5 t4 t3 t2 t1"),
        ("deps T3", "T3"),
        ("list --label=a", "--label=auth"),
        ("list --label auth,te", "auth,testing"),
        ("list --label = test", "testing"),
        ("update T2 --depends T1,T", "T1,T5 T1,T4 T1,T3 T1,T2 T1,T1"),
        ("update T2 --parent T5", "T5"),
        ("update T2 --remove-depends T1", "T1"),
        ("add x --parent T4", "T4"),
        ("add x --depends T1,T3", "T1,T3"),
        ("run --isol", "--isolate"),
        ("run --isolate wo", "worktree"),
        ("unarchive T", ""),
    ];
    let lines = asked.map(|(line, _)| format!("ask cleo {line}"));
    let found = bash(&workspace, &lines.join("\n"));
    let found: Vec<&str> = found.lines().map(str::trim).collect();
    assert_eq!(found, asked.map(|(_, expected)| expected));
}

#[test]
fn named_workspace_is_asked() {
    let workspace = TestWorkspace::with_plan();
    let root = workspace.root().display();
    let lines = format!(
        "cd /\nask cleo --root {root} show T5\nask cleo show T\nask cleo --root=/nope show T"
    );
    let found = bash(&workspace, &lines);
    let lines: Vec<&str> = found.lines().map(str::trim).collect();
    assert_eq!(lines, ["T5", "", ""]);
}

#[test]
fn words_of_attackers_that_shell_would_obey_are_not_offered() {
    let workspace = TestWorkspace::new();
    let labels = ["$(touch owned)", "a;b", "two words", "good"];
    for label in labels {
        workspace.json(&["add", "$(touch owned) \u{202e}x", "--label", label]);
    }
    let found = bash(
        &workspace,
        "ask cleo list --label ''\nask cleo list --label two",
    );
    assert_eq!(found.lines().next().unwrap().trim(), "good");
    assert!(!workspace.path("owned").exists());
}

#[test]
fn zsh_and_fish_show_titles_beside_ids() {
    let workspace = TestWorkspace::with_plan();
    let fish = "cleo completions fish | source; complete -C 'cleo show T3'";
    if let Some(found) = run(&workspace, "fish", &["--no-config", "-c"], fish) {
        assert_eq!(found.trim(), "T3\tImplement token refresh");
    }
    let zsh = "autoload -U compinit; compinit -u -D; source <(cleo completions zsh); \
               print $_comps[cleo]; CLEO_COMPLETE=zsh _CLAP_COMPLETE_INDEX=2 _CLAP_IFS=$'\\n' \
               cleo -- cleo show T3";
    if let Some(found) = run(&workspace, "zsh", &["-f", "-c"], zsh) {
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!(
            lines,
            ["_clap_dynamic_completer_cleo", "T3:Implement token refresh"]
        );
    }
}

#[test]
fn every_shell_has_script() {
    let workspace = TestWorkspace::bare();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = workspace.ok(&format!("completions {shell}"));
        assert!(script.stdout.contains("CLEO_COMPLETE"), "{script}");
    }
}

#[test]
fn man_has_page_for_every_command() {
    let workspace = TestWorkspace::bare();
    let page = workspace.ok("man manifest append");
    let head = page.stdout.lines().find(|line| line.starts_with(".TH"));
    let head = head.unwrap();
    assert!(head.starts_with(".TH CLEO-MANIFEST-APPEND 1"), "{page}");
    assert!(head.contains(env!("CARGO_PKG_VERSION")), "{page}");
    let refused = workspace.ask("man manifset");
    says(&refused, "did you mean `manifest`?");
    let written = workspace.ask("man --output pages");
    let pages = written["result"]["pages"].as_array().unwrap();
    assert_eq!(written["result"]["total"], pages.len());
    for name in ["cleo", "cleo-add", "cleo-orchestrator-waves", "cleo-doctor"] {
        assert!(
            workspace
                .read(&format!("pages/{name}.1"))
                .contains(".SH NAME"),
            "{name}"
        );
    }
}
