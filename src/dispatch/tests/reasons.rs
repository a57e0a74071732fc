//! The reasons for candidates that lost.

use serde_json::json;

use super::*;

#[test]
fn every_skill_has_outcome_with_reason() {
    for task in [
        json!({}),
        json!({"labels": ["audit", "research"], "type": "epic", "title": "Plan to test lib/x"}),
        json!({"title": "Build the docs", "description": "Research, commit"}),
    ] {
        let skills = &SHIPPED.skills;
        let mut decision = dispatch_shipped(task);
        explain(&mut decision, skills);
        assert_eq!(decision.candidates[0].skill, decision.chosen.skill);
        assert_eq!(decision.runner_up.as_ref(), decision.candidates.get(1));
        let candidates = decision
            .candidates
            .iter()
            .map(|other| (&other.skill, &other.reason));
        let rejected = decision
            .rejected
            .iter()
            .map(|other| (&other.skill, &other.reason));
        let mut told: Vec<_> = candidates.chain(rejected).collect();
        assert!(told.iter().all(|(_, reason)| !reason.is_empty()));
        assert_eq!(told.len(), skills.len());
        told.sort();
        told.dedup_by(|a, b| a.0 == b.0);
        assert_eq!(told.len(), skills.len(), "no skill is told of twice");
    }
}

#[test]
fn those_who_lost_are_told_why() {
    let made = Made::new(
        &[
            ("one", &["cleo-tags: a,b"]),
            ("two", &["cleo-tags: c,a"]),
            ("more", &["cleo-tags: a,b,d"]),
            ("three", &["cleo-keywords: paint"]),
            ("four", &["cleo-keywords: sand"]),
            ("off", &["cleo-status: inactive"]),
        ],
        json!({}),
    );
    let reasons = |task: Value| -> Vec<(String, String)> {
        let mut decision = made.ask(task);
        explain(&mut decision, &made.skills);
        let others = decision
            .candidates
            .into_iter()
            .skip(1)
            .map(|c| (c.skill, c.reason));
        others
            .chain(decision.rejected.into_iter().map(|r| (r.skill, r.reason)))
            .collect()
    };
    let told = reasons(json!({"labels": ["a", "b"], "title": "sand and paint"}));
    let expected = [
        (
            "more",
            "2 labels equal tags of it, the first at place 1; one is listed first",
        ),
        (
            "two",
            "1 label equals a tag of it, the first at place 2; one has more labels",
        ),
        (
            "four",
            "the title begins with `sand`; label decides before keyword",
        ),
        (
            "three",
            "the title holds the keyword `paint`; label decides before keyword",
        ),
        (
            "ct-task-executor",
            "it takes what no label, type or keyword leads elsewhere; label decides before default",
        ),
        ("off", "it is disabled"),
    ];
    assert_eq!(
        told,
        expected.map(|(skill, reason)| (skill.to_string(), reason.to_string()))
    );
    let told = reasons(json!({"labels": ["a"]}));
    assert!(
        told.contains(&(
            "two".into(),
            "1 label equals a tag of it, the first at place 2; one has the earlier tag".into()
        )),
        "{told:?}"
    );
    let told = reasons(json!({"title": "sand", "description": "paint"}));
    assert!(
        told.contains(&(
            "three".into(),
            "the description holds the keyword `paint`; `sand` comes first".into()
        )),
        "{told:?}"
    );
}
