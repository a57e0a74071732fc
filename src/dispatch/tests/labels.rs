//! Labels against tags.

use proptest::prelude::{Just, Strategy as Choice, prop, proptest};
use proptest::{prop_assert, prop_assert_eq};
use serde_json::json;

use super::*;

#[test]
fn label_selects_first_skill_with_that_leading_tag() {
    for (label, skill) in [
        ("orchestration", "ct-orchestrator"),
        ("multi-agent", "ct-orchestrator"),
        ("coordination", "ct-orchestrator"),
        ("planning", "ct-epic-architect"),
        ("architecture", "ct-epic-architect"),
        ("task-management", "ct-epic-architect"),
        ("execution", "ct-task-executor"),
        ("implementation", "ct-task-executor"),
        ("research", "ct-research-agent"),
        ("investigation", "ct-research-agent"),
        ("discovery", "ct-research-agent"),
        ("specification", "ct-spec-writer"),
        ("rfc", "ct-spec-writer"),
        ("testing", "ct-test-writer-bats"),
        ("bats", "ct-test-writer-bats"),
        ("integration", "ct-test-writer-bats"),
        ("bash", "ct-library-implementer-bash"),
        ("library", "ct-library-implementer-bash"),
        ("validation", "ct-validator"),
        ("compliance", "ct-validator"),
        ("audit", "ct-validator"),
        ("workflow", "ct-dev-workflow"),
        ("git", "ct-dev-workflow"),
        ("commits", "ct-dev-workflow"),
        ("release", "ct-dev-workflow"),
        ("documentation", "ct-documentor"),
        ("libraries", "ct-docs-lookup"),
        ("context7", "ct-docs-lookup"),
        ("writing", "ct-docs-write"),
        ("style-guide", "ct-docs-write"),
        ("review", "ct-docs-review"),
        ("skills", "ct-skill-creator"),
        ("creation", "ct-skill-creator"),
        ("prompts-chat", "ct-skill-lookup"),
    ] {
        check(json!({"labels": [label]}), skill, Strategy::Label);
    }
}

#[test]
fn labels_are_compared_normalized_and_whole() {
    for label in ["Research ", "\tRESEARCH", "résearch", "research"] {
        check(
            json!({"labels": [label]}),
            "ct-research-agent",
            Strategy::Label,
        );
    }
    for label in [
        "researching",
        "re search",
        "research!",
        "pre-research",
        "",
        " ",
    ] {
        check(
            json!({"labels": [label]}),
            "ct-task-executor",
            Strategy::Default,
        );
    }
}

#[test]
fn most_labels_win_then_earliest_tag_then_list_order() {
    let made = Made::new(
        &[
            ("one", &["cleo-tags: a,b,c"]),
            ("two", &["cleo-tags: d,b,a,c"]),
            ("three", &["cleo-tags: d,e"]),
        ],
        json!({}),
    );
    for (labels, skill) in [
        (json!(["d"]), "two"),           // same place: the first listed
        (json!(["e"]), "three"),         // the only one
        (json!(["d", "e"]), "three"),    // two labels beat one
        (json!(["b"]), "one"),           // same place: the first listed
        (json!(["a"]), "one"),           // earlier tag
        (json!(["a", "d"]), "two"),      // more labels beat the earlier tag
        (json!(["b", "c"]), "one"),      // as many labels, at the same place
        (json!(["e", "b"]), "one"),      // one each at place two: the first listed
        (json!(["e", "e", "b"]), "one"), // a duplicate label counts once
    ] {
        assert_eq!(made.winner(json!({"labels": labels})), skill, "{labels}");
    }
}

#[test]
fn tag_that_is_written_twice_counts_once() {
    let made = Made::new(
        &[
            ("one", &["cleo-tags: x,a"]),
            ("two", &["cleo-tags: b,B, b"]),
            ("three", &["cleo-tags: a,b"]),
        ],
        json!({}),
    );
    assert_eq!(made.winner(json!({"labels": ["a", "b"]})), "three");
    let decision = made.ask(json!({"labels": ["b"]}));
    assert_eq!(
        (decision.chosen.skill.as_str(), decision.chosen.matched),
        ("two", vec!["b".to_string()])
    );
}

/// Labels as tasks have them: tags of shipped skills in odd spellings, and other words.
fn labels() -> impl Choice<Value = Vec<String>> {
    const KNOWN: &[&str] = &[
        "research",
        "Audit",
        "validation",
        "testing",
        "integration",
        "bats ",
        "planning",
        "rfc",
        "git",
        "release",
        "bash",
        "review",
        "other",
        "RESEARCH",
        "",
    ];
    prop::collection::vec(prop::sample::select(KNOWN).prop_map(String::from), 0..6)
}

fn in_two_orders() -> impl Choice<Value = (Vec<String>, Vec<String>)> {
    labels().prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle()))
}

proptest! {
    #[test]
    fn shuffling_labels_never_changes_answer((labels, shuffled) in in_two_orders()) {
        let decide = |labels| dispatch_shipped(json!({"labels": labels}));
        prop_assert_eq!(decide(labels), decide(shuffled));
    }

    #[test]
    fn any_text_gets_answer(title in "\\PC*", description in "\\PC*", kind in "\\PC{0,9}") {
        let decision = dispatch_shipped(json!({"title": title, "description": description, "type": kind}));
        prop_assert!(decision.chosen.skill.starts_with("ct-"));
    }
}
