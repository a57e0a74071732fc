//! How the shipped protocols are written, and that each rule has one owner.

use std::collections::BTreeMap;

use super::skills_content::{load_shipped, pattern, texts};
use crate::catalogue::list_known_protocols;

/// Longest texts of protocols with their tokens replaced, in bytes.
const LIMITS: [(&str, usize); 8] = [
    ("subagent-protocol-base", 1600),
    ("task-lifecycle", 500),
    ("error-handling", 550),
    ("dependency-context", 320),
    ("verification-gates", 320),
    ("research-linking", 320),
    ("phase-awareness", 320),
    ("session-integration", 320),
];

#[test]
fn capitals_are_only_used_in_the_protocol() {
    let capitals = pattern(r"\b(MUST|NEVER|SHALL|ALWAYS)\b");
    for skill in load_shipped()
        .iter()
        .filter(|skill| skill.name != "ct-spec-writer")
    {
        assert!(!capitals.is_match(skill.body()), "{}", skill.name);
    }
    for skill in load_shipped() {
        let plain = pattern(r"\{\{\w+\}\}")
            .replace_all(skill.body(), "")
            .into_owned();
        assert!(
            !pattern("OUT-0|MANIFEST").is_match(&plain),
            "{}: reporting is the protocol's",
            skill.name
        );
    }
    let known = list_known_protocols().unwrap();
    for line in known.iter().flat_map(|file| file.text.lines()) {
        assert!(
            !capitals.is_match(line) || line.starts_with("**OUT-00"),
            "{line}"
        );
    }
    let rules: Vec<String> = pattern(r"\*\*(OUT-\d+)\*\*")
        .captures_iter(&known[0].text)
        .map(|found| found[1].to_string())
        .collect();
    assert_eq!(rules, ["OUT-001", "OUT-002", "OUT-003", "OUT-004"]);
    assert!(known[0].text.starts_with("## SUBAGENT PROTOCOL\n"));
}

#[test]
fn protocols_keep_to_their_length() {
    let known = list_known_protocols().unwrap();
    assert_eq!(known.len(), LIMITS.len());
    let values = [
        ("TASK_ID", "T1234"),
        ("DATE", "2026-01-26"),
        ("TOPIC_SLUG", "authentication-research"),
        ("OUTPUT_DIR", "claudedocs/agent-outputs"),
        ("MANIFEST_PATH", "claudedocs/agent-outputs/MANIFEST.jsonl"),
        ("RESEARCH_ID", "authentication-research-2026-01-26"),
        ("TOPICS", "authentication,research"),
        ("RESULT_KIND", "Research"),
        ("DEPENDS_LIST", "T1200, T1201"),
        ("PHASE", "core"),
        ("SESSION_ID", "S12"),
    ];
    let mut bindings = crate::template::Bindings::new();
    values
        .into_iter()
        .for_each(|(name, value)| bindings.set(name, value));
    let sizes: BTreeMap<&str, usize> = known
        .iter()
        .map(|file| {
            (
                file.name.as_str(),
                crate::template::inject(&file.text, &bindings).text.len() + 1,
            )
        })
        .collect();
    for (name, limit) in LIMITS {
        assert!(sizes[name] <= limit, "{name} has {} bytes", sizes[name]);
    }
    let usual: usize = LIMITS[..3].iter().map(|(name, _)| sizes[name] + 1).sum();
    assert!(usual < 2900, "the usual block has {usual} bytes");
}

#[test]
fn no_eight_words_are_in_two_texts() {
    let word = pattern(r"[\w'{}-]+");
    let mut seen: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for (name, text) in texts() {
        let text = text
            .rfind("\n## Task\n")
            .map_or(text.as_str(), |at| &text[..at])
            .to_lowercase();
        let words: Vec<String> = word
            .find_iter(&text)
            .map(|found| found.as_str().to_string())
            .collect();
        for run in words.windows(8) {
            let first = seen.entry(run.to_vec()).or_insert_with(|| name.clone());
            assert_eq!(*first, name, "both say: {}", run.join(" "));
        }
    }
}
