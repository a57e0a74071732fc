//! Skill files that are hostile, huge, odd or no files at all.

use std::fs::{self, File};
use std::process::Command;

use serde_json::{Value, json};

use crate::world::{TestWorkspace, says};

fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: x\n---\n{body}")
}

fn fifo(workspace: &TestWorkspace, path: &str) {
    fs::create_dir_all(workspace.path(path).parent().unwrap()).unwrap();
    let made = Command::new("mkfifo").arg(workspace.path(path)).status();
    assert!(made.unwrap().success());
}

/// Runs a command that must not wait for anybody; a hang is a failure, not a long test.
fn soon(workspace: &TestWorkspace, line: &str) -> Value {
    let reply = workspace.shell(&format!("CLEO_FORMAT=json timeout 20 cleo {line}"));
    serde_json::from_str(&reply.stdout).unwrap_or_else(|_| panic!("{line}\n{reply}"))
}

fn warnings(document: &Value) -> String {
    document["warnings"].to_string()
}

#[test]
fn skill_whose_name_is_path_is_left_out() {
    for name in ["/abs", "../../x", "..", "a/b", "'.'"] {
        let workspace = TestWorkspace::new().with("skills/own/SKILL.md", skill(name, "x\n"));
        let listed = workspace.ask("skills list");
        assert_eq!(listed["result"]["total"], 18, "{name}");
        let told = warnings(&listed);
        assert!(
            told.contains("skills/own/SKILL.md") && told.contains("left out"),
            "{told}"
        );
        let plain = name.trim_matches('\'');
        let refused = workspace.json(&["skills", "export", plain, "--to", "out/a"]);
        assert_eq!(refused["error"]["code"], "E_SKILL_INVALID", "{name}");
        assert!(!workspace.path("out").exists() && !workspace.path("x").exists());
    }
}

fn export(body: &str) -> Result<String, Value> {
    let workspace = TestWorkspace::new().with("skills/own/SKILL.md", skill("own", body));
    let document = workspace.ask("skills export own --to out");
    match document["success"] == true {
        true => Ok(workspace
            .read("out/own/SKILL.md")
            .split_once("\n---")
            .unwrap()
            .1
            .into()),
        false => Err(document["error"].clone()),
    }
}

#[test]
fn export_cuts_task_section_and_nothing_else() {
    let kept = "\n# A\n\n## Task\n\nSplit the task.\n\n## More\n\nText.\n";
    assert_eq!(export(&kept[1..]).unwrap(), kept);
    let section = "## Task\n\n{{TASK_ID}}: {{TASK_DESCRIPTION}}\n\n";
    let before = "# A\n\n## Task\n\nPlain.\n\n";
    let after = "## Follow-ups\n\nText with {{FOREIGN}} and {{x}}.\n";
    let text = export(&format!("{before}{section}{after}")).unwrap();
    assert_eq!(text, format!("\n{before}{after}"));
    let fenced = "# A\n\n```md\n## Task\n```\n\n";
    let text = export(&format!("{fenced}{section}```sh\n## no heading\n```\n")).unwrap();
    assert_eq!(text, format!("\n{}\n", fenced.trim_end()));
    let windows = format!("{before}{section}{after}").replace('\n', "\r\n");
    let text = export(&windows).unwrap();
    assert_eq!(
        text,
        format!("\n{before}{after}")
            .replace('\n', "\r\n")
            .replacen("\r\n", "\n", 1)
    );
}

#[test]
fn tokens_of_task_never_reach_another_client() {
    let error = export("# A\n\nDo {{TASK_TITLE}} by {{DATE}}, {{OTHER}}.\n").unwrap_err();
    assert_eq!(error["code"], "E_TOKENS_UNRESOLVED");
    says(&error, ": DATE, TASK_TITLE");
}

#[test]
fn named_pipe_is_refused() {
    let workspace = TestWorkspace::new();
    fifo(&workspace, "AGENTS.md");
    fifo(&workspace, "out/ct-docs-write/SKILL.md");
    for line in [
        "init --agents all",
        "init --agents all --force",
        "skills export ct-docs-write --to out",
        "skills export ct-docs-write --to out --force",
    ] {
        let refused = soon(&workspace, line);
        assert_eq!(refused["error"]["code"], "E_FILE_UNREADABLE", "{line}");
    }
}

#[test]
fn huge_skill_is_not_read_to_its_end() {
    let workspace = TestWorkspace::new().with("own/SKILL.md", skill("own", ""));
    let file = File::options()
        .write(true)
        .open(workspace.path("own/SKILL.md"));
    file.unwrap().set_len(3 << 30).unwrap();
    let refused = workspace.ask("skills validate own");
    let fault = &refused["result"]["skills"][0]["faults"][0];
    assert_eq!(fault["code"], "FILE_TOO_LARGE");
    says(fault, "8 MiB");
}

#[test]
fn valid_but_oversized_skill_is_reported() {
    let large = skill("own", &"x".repeat(1 << 20));
    let workspace = TestWorkspace::new().with("skills/own/SKILL.md", large);
    workspace.ok("add 'Look at it'");
    let why = "skills/own/SKILL.md keeps the standard, but cleo does not load it: The file is larger than 1024 KiB.";
    let judged = workspace.ask("skills validate skills/own");
    assert_eq!(judged["result"]["skills"][0]["valid"], true);
    let warnings = judged["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{judged}");
    says(&warnings[0], why);
    let refused = workspace.refuse("spawn T1 --template own", "E_SKILL_INVALID");
    let judged = workspace.shell(refused["fix"].as_str().unwrap());
    assert_eq!(judged.exit, 0, "{judged}");
    assert!(judged.stderr.contains(why), "{judged}");
}

#[test]
fn fix_for_invalid_skill_shows_the_line() {
    let text = "---\nname: own\ntags: x\ndescription: x\n---\n";
    let workspace = TestWorkspace::new().with("an own/own/SKILL.md", text);
    let refused = workspace.ask("skills validate 'an own/own'");
    let shown = workspace.shell(refused["error"]["fix"].as_str().unwrap());
    assert_eq!((shown.exit, &*shown.stdout), (0, "tags: x\n"), "{refused}");
    fs::create_dir(workspace.path("none")).unwrap();
    let refused = workspace.ask("skills validate none");
    let fix = refused["error"]["fix"].as_str().unwrap();
    assert_eq!(workspace.shell(fix).exit, 0, "{fix}");
    assert_eq!(refused["result"]["invalid"], json!(1));
}
