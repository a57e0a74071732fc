//! Reading protocol files, and when each shipped one applies.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::catalogue::list_known_protocols;
use crate::skill::Source;
use crate::template::COMMANDS;

/// Makes a task of some of its fields.
pub(crate) fn task(fields: Value) -> Task {
    let mut task = json!({
        "id": "T1", "uid": "", "title": "Title", "description": "", "type": "task", "status": "pending",
        "depends": [], "labels": [], "priority": "medium", "files": [], "acceptance": [],
        "deliverables": [], "notes": [], "extra": {}, "createdAt": "", "updatedAt": "",
    });
    let known = task.as_object_mut().unwrap();
    known.extend(fields.as_object().unwrap().clone());
    serde_json::from_value(task).unwrap()
}

/// Makes a skill of lines for its metadata and a body.
pub(crate) fn skill(metadata: &str, body: &str) -> Skill {
    let text = format!("---\nname: s\ndescription: x\nmetadata:\n  x: y\n{metadata}---\n{body}");
    Skill::read(
        "s",
        text.into(),
        Source::Project,
        "skills/s/SKILL.md".into(),
    )
    .unwrap()
}

#[test]
fn line_endings_do_not_change_a_protocol() {
    let text = "---\nname: x\nversion: \"1\"\norder: \"9\"\n---\n## One\n\nTwo\n";
    let read = |text: String| ProtocolFile::read(text.into(), "x.md".into()).unwrap();
    let plain = read(text.to_string());
    assert_eq!(plain.text, "## One\n\nTwo");
    assert_eq!(read(text.replace('\n', "\r\n")), plain);
}

/// Names the shipped protocols that apply.
fn applying(
    fields: Value,
    metadata: &str,
    session_open: bool,
    required_gates: bool,
) -> Vec<String> {
    let (task, skill) = (task(fields), skill(metadata, ""));
    let situation = Situation {
        task: &task,
        skill: &skill,
        session_open,
        required_gates,
    };
    let known = list_known_protocols().unwrap();
    let files = crate::spawn::select_protocols(&known[0], &known[1..], &situation);
    files
        .into_iter()
        .skip(1)
        .map(|file| file.name.clone())
        .collect()
}

const ALWAYS: [&str; 2] = ["task-lifecycle", "error-handling"];

#[test]
fn each_protocol_applies_when_its_row_says() {
    let check = |fields: Value, metadata: &str, session, gates, more: &[&str]| {
        let found: BTreeSet<_> = applying(fields.clone(), metadata, session, gates)
            .into_iter()
            .collect();
        let expected: BTreeSet<_> = ALWAYS
            .iter()
            .chain(more)
            .map(|name| name.to_string())
            .collect();
        assert_eq!(found, expected, "{fields} {metadata}");
    };
    let plain = || json!({});
    check(plain(), "", false, false, &[]);
    for tag in ["research", "x,Research"] {
        let tags = format!("  cleo-tags: \"{tag}\"\n");
        check(plain(), &tags, false, false, &["research-linking"]);
    }
    for tag in ["testing", "validation", "x,TESTING"] {
        let tags = format!("  cleo-tags: \"{tag}\"\n");
        check(plain(), &tags, false, false, &["verification-gates"]);
    }
    check(
        plain(),
        "  cleo-tags: researching,tests\n",
        false,
        false,
        &[],
    );
    check(
        json!({"type": "research"}),
        "",
        false,
        false,
        &["research-linking"],
    );
    check(
        json!({"labels": ["Research "]}),
        "",
        false,
        false,
        &["research-linking"],
    );
    check(
        json!({"type": "testing"}),
        "",
        false,
        false,
        &["verification-gates"],
    );
    check(
        json!({"type": "validation"}),
        "",
        false,
        false,
        &["verification-gates"],
    );
    check(
        json!({"labels": ["testing", "validation"]}),
        "",
        false,
        false,
        &[],
    );
    check(plain(), "", false, true, &["verification-gates"]);
    check(
        json!({"phase": "core"}),
        "",
        false,
        false,
        &["phase-awareness"],
    );
    check(
        json!({"depends": ["T7"]}),
        "",
        false,
        false,
        &["dependency-context"],
    );
    check(plain(), "", true, false, &["session-integration"]);
}

#[test]
fn block_has_fixed_order() {
    let fields = json!({"depends": ["T7"], "phase": "core", "labels": ["research"]});
    let expected = [
        "task-lifecycle",
        "dependency-context",
        "verification-gates",
        "research-linking",
        "phase-awareness",
        "session-integration",
        "error-handling",
    ];
    assert_eq!(applying(fields, "", true, true), expected);
}

#[test]
fn every_reason_says_what_matched() {
    let known = list_known_protocols().unwrap();
    let task = task(
        json!({"depends": ["T7"], "phase": "p", "labels": ["a", "Research"], "type": "testing"}),
    );
    let skill = skill("", "");
    let situation = Situation {
        task: &task,
        skill: &skill,
        session_open: true,
        required_gates: true,
    };
    let why = |name: &str| {
        known
            .iter()
            .find(|file| file.name == name)
            .unwrap()
            .explain_why_applies(&situation)
    };
    for (name, reason) in [
        ("task-lifecycle", "always"),
        ("error-handling", "always"),
        ("research-linking", "label Research"),
        ("verification-gates", "task type testing"),
        ("phase-awareness", "the task has a phase"),
        ("dependency-context", "the task has dependencies"),
        ("session-integration", "session open"),
    ] {
        assert_eq!(why(name).as_deref(), Some(reason), "{name}");
    }
}

#[test]
fn only_base_and_what_is_there_is_unconditional() {
    let known = list_known_protocols().unwrap();
    let names: Vec<_> = known
        .iter()
        .filter(|file| file.is_unconditional())
        .map(|file| file.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["subagent-protocol-base", "error-handling", "task-lifecycle"]
    );
}

#[test]
fn protocol_texts_hold_no_text_that_person_wrote() {
    for file in list_known_protocols().unwrap() {
        for name in [
            "TASK_TITLE",
            "TASK_NAME",
            "TITLE",
            "TASK_DESCRIPTION",
            "TASK_INSTRUCTIONS",
            "ACCEPTANCE_CRITERIA",
            "DELIVERABLES_LIST",
            "MANIFEST_SUMMARIES",
        ] {
            assert!(
                !crate::template::has_token(&file.text, name),
                "{} has {name}",
                file.path
            );
        }
    }
    assert!(
        COMMANDS
            .iter()
            .all(|(name, command)| name.ends_with("_CMD") && command.starts_with("cleo "))
    );
}

fn read(when: &str) -> Result<ProtocolFile> {
    let text = format!("---\nname: x\nversion: \"1\"\norder: \"10\"\n{when}\n---\n## X\ntext\n");
    ProtocolFile::read(text.into(), "protocols/x.md".into())
}

#[test]
fn unknown_key_or_value_names_file_and_line() {
    for (when, place) in [
        ("when:\n  allways: \"true\"", "protocols/x.md:"),
        (
            "when:\n  always: \"yes\"",
            "protocols/x.md:6: `always` is `yes`",
        ),
        (
            "when:\n  task-has: \"wings\"",
            "protocols/x.md:6: `task-has` is `wings`",
        ),
        ("color: blue", "protocols/x.md:5"),
    ] {
        let error = read(when).unwrap_err();
        assert_eq!(error.code, Code::CatalogueInvalid);
        assert!(error.message.starts_with(place), "{}", error.message);
    }
    assert!(read("when:\n  always: \"true\"").is_ok());
}

#[test]
fn text_and_head_are_told_apart() {
    let file = read("sections: \"Summary,Sources\"").unwrap();
    assert_eq!(file.text, "## X\ntext");
    assert_eq!(file.sections, ["Summary", "Sources"]);
    assert_eq!((file.order, file.version.as_str()), (10, "1"));
}
