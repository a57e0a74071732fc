//! How the shipped skills are written: shape, length, words.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::catalogue::{Catalogue, Places, list_known_protocols};
use crate::protocol::message::KINDS;
use crate::skill::{Skill, front_matter};
use crate::template::{COMMANDS, PROSE};
use regex::Regex;
use serde_json::Value;

const HEADINGS: [&str; 7] = [
    "Scope",
    "Procedure",
    "Know this",
    "Quality bar",
    "Deliverable",
    "Follow-ups",
    "Task",
];
/// Words that say nothing that a reader could check.
const EMPTY_WORDS: &str = "appropriate|appropriately|properly|robust|comprehensive|as needed|if necessary|where applicable|best practices?|make sure|try to|simply|just|easy|easily|utilize|leverage|TBD|etc\\.";
/// Tokens beside those of commands and of free text.
const TOKENS: [&str; 11] = [
    "TASK_ID",
    "DATE",
    "EPIC_ID",
    "SESSION_ID",
    "DEPENDS_LIST",
    "NEXT_TASK_IDS",
    "OUTPUT_DIR",
    "MANIFEST_PATH",
    "RESULT_KIND",
    "PHASE",
    "PLAN_ID",
];
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn load_shipped() -> Vec<Skill> {
    Catalogue::load(&Places::default()).unwrap().skills
}

pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

/// The body without its code blocks.
fn prose(body: &str) -> String {
    let mut fenced = false;
    let mut kept = String::new();
    for line in body.lines() {
        let fence = line.starts_with("```");
        fenced ^= fence;
        if !fenced && !fence {
            kept += &format!("{line}\n");
        }
    }
    kept
}

/// A body without its task section.
fn above_task(skill: &Skill) -> &str {
    let body = skill.body().trim_start();
    &body[..body.rfind("## Task\n").unwrap()]
}

/// The text below a heading.
fn section<'a>(body: &'a str, heading: &str) -> &'a str {
    let start = body.find(&format!("\n## {heading}\n")).unwrap() + heading.len() + 5;
    let rest = &body[start..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}

fn count(text: &str, start: &str) -> usize {
    prose(text)
        .lines()
        .filter(|line| pattern(start).is_match(line))
        .count()
}

/// Every text that we ship, by the name that a failure shows.
pub(crate) fn texts() -> Vec<(String, String)> {
    let skills = load_shipped();
    let skills = skills
        .iter()
        .map(|skill| (skill.name.clone(), skill.body().to_string()));
    let protocols = list_known_protocols().unwrap();
    let protocols = protocols.into_iter().map(|file| (file.name, file.text));
    skills.chain(protocols).collect()
}

#[test]
fn manifest_and_skills_say_same() {
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(root().join("skills/manifest.json")).unwrap())
            .unwrap();
    let listed = manifest["skills"].as_array().unwrap();
    let rows = |name: &str, skill: &str| -> Vec<String> {
        let rows = manifest["dispatch_matrix"][name].as_object().unwrap();
        let of_skill = rows.iter().filter(|(_, to)| *to == skill);
        of_skill
            .flat_map(|(from, _)| from.split('|').map(str::to_string))
            .collect()
    };
    let sorted = |list: &[String]| list.iter().cloned().collect::<BTreeSet<_>>();
    let skills = load_shipped();
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(listed.len(), 18);
    for (skill, entry) in skills.iter().zip(listed) {
        let name = &skill.name;
        assert_eq!(entry["name"], name.as_str());
        assert_eq!(entry["path"], format!("skills/{name}/SKILL.md"));
        assert_eq!(
            (&entry["tier"], &entry["status"]),
            (&skill.tier.unwrap().into(), &"active".into()),
            "{name}"
        );
        assert_eq!(entry["tags"], Value::from(skill.tags.clone()), "{name}");
        assert_eq!(
            sorted(&rows("by_task_type", name)),
            sorted(&skill.types),
            "{name}"
        );
        assert_eq!(
            sorted(&rows("by_keyword", name)),
            sorted(&skill.keywords),
            "{name}"
        );
        assert!(
            skill
                .chains
                .iter()
                .all(|other| names.contains(&other.as_str())),
            "{name}"
        );
    }
    for matrix in ["by_task_type", "by_keyword"] {
        for to in manifest["dispatch_matrix"][matrix]
            .as_object()
            .unwrap()
            .values()
        {
            assert!(names.contains(&to.as_str().unwrap()), "{to}");
        }
    }
    let folders = fs::read_dir(root().join("skills")).unwrap();
    let folders = folders.filter(|entry| entry.as_ref().unwrap().path().join("SKILL.md").is_file());
    assert_eq!(folders.count(), 18);
}

#[test]
fn front_matter_keeps_its_form() {
    let mut described = 0;
    for skill in load_shipped() {
        let name = &skill.name;
        let document = front_matter::parse(skill.text()).unwrap();
        let description = document.text("description").unwrap();
        described += description.chars().count();
        assert!(description.chars().count() <= 330, "{name}");
        assert!(
            description.contains("Use when") && description.contains("Not for"),
            "{name}"
        );
        let front_matter = skill.text().split("---\n").nth(1).unwrap();
        let keys: Vec<&str> = front_matter
            .lines()
            .filter(|line| !line.starts_with(' '))
            .map(|line| line.split(':').next().unwrap())
            .collect();
        assert_eq!(
            keys,
            [
                "name",
                "description",
                "license",
                "compatibility",
                "metadata"
            ],
            "{name}"
        );
        let (_, metadata) = front_matter.split_once("metadata:\n").unwrap();
        let line = pattern(
            r#"^  cleo-(version|tier|tags|types|keywords|evidence|chains|result): "[^" ]+"$"#,
        );
        assert!(
            metadata.lines().all(|text| line.is_match(text)),
            "{name}: {metadata}"
        );
        assert_eq!(
            document.metadata("cleo-version").as_deref(),
            Some("1"),
            "{name}"
        );
        assert!(
            KINDS.contains(&document.metadata("cleo-result").unwrap().as_str()),
            "{name}"
        );
    }
    assert!(
        described <= 5000,
        "all descriptions have {described} characters"
    );
}

#[test]
fn skills_keep_to_their_length_and_outline() {
    for skill in load_shipped() {
        let (name, body) = (&skill.name, skill.body().trim_start());
        let words = body.split_whitespace().count();
        let bounds = match name.as_str() {
            "ct-orchestrator" => 350..=800,
            name if name.starts_with("ct-docs-") || name.ends_with("-lookup") => 250..=450,
            _ => 350..=650,
        };
        assert!(bounds.contains(&words), "{name} has {words} words");
        assert!(body.len() <= 5 << 10, "{name} has {} bytes", body.len());
        let prose = prose(body);
        let headings: Vec<&str> = prose
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        assert_eq!(headings, HEADINGS, "{name}");
        assert!(body.starts_with("# ") && count(body, "^# ") == 1, "{name}");
        assert!(
            pattern(r"^# .+\n\n.+\n\n## Scope\n").is_match(body),
            "{name}: one paragraph leads in"
        );
        let steps = count(section(body, "Procedure"), r"^\d+\. ");
        let most = if name == "ct-dev-workflow" { 10 } else { 8 };
        assert!((4..=most).contains(&steps), "{name} has {steps} steps");
        let facts = count(section(body, "Know this"), "^- ");
        assert!((4..=8).contains(&facts), "{name} has {facts} facts");
        let checks = count(section(body, "Quality bar"), "^- ");
        assert!((3..=6).contains(&checks), "{name} has {checks} checks");
        let deliverable: Vec<&str> = section(body, "Deliverable")
            .lines()
            .filter(|line| line.starts_with("- `"))
            .collect();
        assert!(deliverable[0].starts_with("- `Summary`"), "{name}");
        let last = deliverable[deliverable.len() - 2..].concat();
        assert!(
            last.contains("`Assumptions`") && last.contains("`Follow-ups`"),
            "{name}"
        );
        let fences = body.lines().filter(|line| line.starts_with("```")).count();
        assert_eq!(fences, 2, "{name} has one example");
        assert!(
            body.lines().count() - prose.lines().count() <= 17,
            "{name}: the code block is too long"
        );
    }
}

#[test]
fn task_sections_add_at_most_one_line_to_shared_one() {
    let shared = fs::read_to_string(root().join("skills/_shared/task-context.md")).unwrap();
    let lines = |text: &str| {
        text.lines()
            .filter(|line| !line.is_empty())
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    let shared = lines(&shared);
    for skill in load_shipped() {
        let (name, above) = (&skill.name, above_task(&skill));
        let own = lines(&skill.body().trim_start()[above.len()..]);
        let kept: Vec<_> = own.iter().filter(|line| shared.contains(line)).collect();
        let left_out: Vec<_> = shared.iter().filter(|line| !own.contains(line)).collect();
        let expected: Vec<_> = shared.iter().filter(|line| own.contains(line)).collect();
        assert_eq!(kept, expected, "{name}: the order is the shared one");
        assert!(own.len() - kept.len() <= 1, "{name}");
        let lookup = name.ends_with("-lookup");
        assert!(
            left_out.is_empty()
                || (lookup && left_out == ["### Deliverables", "{{DELIVERABLES_LIST}}"]),
            "{name}: {left_out:?}"
        );
        for token in pattern(r"\{\{(\w+)\}\}").captures_iter(above) {
            assert!(
                token[1].ends_with("_CMD"),
                "{name}: {} stands above the task section",
                &token[1]
            );
        }
    }
}

#[test]
fn texts_hold_known_tokens_plain_words_and_no_foreign_paths() {
    let known: BTreeSet<&str> = COMMANDS
        .iter()
        .map(|(name, _)| *name)
        .chain(PROSE.iter().copied())
        .chain([
            "TOPIC_SLUG",
            "RESEARCH_ID",
            "TOPICS",
            "TOPICS_JSON",
            "PHASE",
        ])
        .chain(TOKENS)
        .collect();
    let names: Vec<String> = load_shipped().into_iter().map(|skill| skill.name).collect();
    let empty = pattern(&format!(r"(?i)(^|\W)({EMPTY_WORDS})(\W|$)"));
    let token = pattern(r"\{\{([A-Z][A-Z0-9_]*)\}\}");
    for (name, text) in texts() {
        for found in token.captures_iter(&text) {
            assert!(
                known.contains(&found[1]),
                "{name}: no token is called {}",
                &found[1]
            );
        }
        let plain = token.replace_all(&text, "").into_owned();
        assert!(
            !plain.contains("{{") && !plain.contains("}}"),
            "{name}: stray braces"
        );
        let word = empty.captures(&plain).map(|found| found[2].to_string());
        assert_eq!(word, None, "{name}: a word that nobody can check");
        let shown = plain.replace("#!/bin/sh", "");
        let path = pattern(r"(^|[\s`(])(/[A-Za-z][\w.-]*)").captures(&shown);
        let path = path.map(|found| found[2].to_string());
        assert_eq!(path, None, "{name}: an absolute path");
        for link in pattern(r"\]\(([^)]*)\)").captures_iter(&plain) {
            assert!(
                link[1].starts_with("https://"),
                "{name}: the link {} leads nowhere",
                &link[1]
            );
        }
        for other in pattern(r"\bct-[a-z-]*[a-z]").find_iter(&plain) {
            assert!(
                names.iter().any(|name| name == other.as_str()),
                "{name}: there is no {}",
                other.as_str()
            );
        }
        let odd = plain
            .chars()
            .find(|c| matches!(c, '—' | '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1faff}'));
        assert_eq!(odd, None, "{name}");
        assert!(
            text.lines().all(|line| line == line.trim_end()),
            "{name}: blanks at a line's end"
        );
    }
}
