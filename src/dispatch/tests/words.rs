//! Words of titles and descriptions.

use serde_json::json;

use super::*;

#[test]
fn each_keyword_leads_to_its_row() {
    let rows = [
        ("research investigate explore discover", "ct-research-agent"),
        ("epic plan decompose architect", "ct-epic-architect"),
        ("implement build execute create", "ct-task-executor"),
        ("test coverage integration", "ct-test-writer"),
        ("bats", "ct-test-writer-bats"),
        ("debug diagnose troubleshoot", "ct-debugger"),
        ("proofread", "ct-docs-review"),
        ("document doc readme guide documentation", "ct-documentor"),
        ("spec rfc protocol contract specification", "ct-spec-writer"),
        (
            "validate verify audit compliance consensus vote",
            "ct-validator",
        ),
        ("lib/ bash shell", "ct-library-implementer-bash"),
        (
            "release version publish deploy ship changelog commit",
            "ct-dev-workflow",
        ),
        ("orchestrate coordinate delegate", "ct-orchestrator"),
    ];
    for (words, skill) in rows {
        for word in words.split(' ') {
            for title in [word.to_string(), format!("The {} now", word.to_uppercase())] {
                check(json!({"title": title}), skill, Strategy::Keyword);
                check(
                    json!({"title": "x", "description": title}),
                    skill,
                    Strategy::Keyword,
                );
            }
        }
    }
}

#[test]
fn keywords_match_word_forms_but_not_parts_of_words() {
    for (title, skill) in [
        ("Planned outage", "ct-epic-architect"),
        ("Planning the move", "ct-epic-architect"),
        ("Plans for spring", "ct-epic-architect"),
        ("Tested on hardware", "ct-test-writer"),
        ("Testing on hardware", "ct-test-writer"),
        ("Verifies checksums", "ct-validator"),
        ("Shipping to users", "ct-dev-workflow"),
        ("Committed by mistake", "ct-dev-workflow"),
        ("Docs for users", "ct-documentor"),
        ("Exploring caches", "ct-research-agent"),
        ("Research: caches", "ct-research-agent"),
        ("pre-release", "ct-dev-workflow"),
    ] {
        check(json!({"title": title}), skill, Strategy::Keyword);
    }
    for title in [
        "Latest news",
        "Airplane mode",
        "Special offer",
        "Dockerize it",
        "Rebuild it",
        "Contest page",
        "Explanation page",
        "Friendship page",
        "Devote time",
        "Epicurean menu",
        "Seashells",
        "Aversion",
        "Glib/core",
    ] {
        check(
            json!({"title": title}),
            "ct-task-executor",
            Strategy::Default,
        );
    }
}

#[test]
fn lib_slash_counts_as_it_is_written() {
    for title in [
        "lib/core.sh",
        "Move lib/ away",
        "Fix ./lib/x",
        "Fix /usr/lib/x",
        "Lib/Core",
    ] {
        check(
            json!({"title": title}),
            "ct-library-implementer-bash",
            Strategy::Keyword,
        );
    }
    for title in ["lib", "libs", "library", "glib/x", "lib core", "lib-/x"] {
        check(
            json!({"title": title}),
            "ct-task-executor",
            Strategy::Default,
        );
    }
}

#[test]
fn title_is_searched_before_description() {
    let task = json!({"title": "x the commit", "description": "Research research research"});
    check(task, "ct-dev-workflow", Strategy::Keyword);
    let task = json!({"title": "Tidy up", "description": "Then publish the plan"});
    check(task, "ct-dev-workflow", Strategy::Keyword);
}

#[test]
fn in_text_first_keyword_wins() {
    for (title, skill) in [
        ("Implement research tooling", "ct-task-executor"),
        ("Document the build", "ct-documentor"),
        ("Build the documentation", "ct-task-executor"),
        ("Verify the release plan", "ct-validator"),
        ("Plan a test of the plan", "ct-epic-architect"),
        ("Plan the release", "ct-epic-architect"),
        ("Coordinate testing", "ct-orchestrator"),
    ] {
        check(json!({"title": title}), skill, Strategy::Keyword);
    }
}

#[test]
fn word_of_several_rows_takes_first_row() {
    let rows = r#"{"by_keyword": {"zeta|alpha": "one", "alpha|beta": "two"}}"#;
    let made = Made::new(&[("two", &[]), ("one", &[])], rows);
    assert_eq!(made.winner(json!({"title": "alpha"})), "one");
    assert_eq!(made.winner(json!({"title": "beta alpha"})), "two");
}

#[test]
fn shell_skills_need_word_of_shell() {
    for (task, skill) in [
        (json!({"title": "Test the parser"}), "ct-test-writer"),
        (json!({"title": "Test sync.sh"}), "ct-test-writer-bats"),
        (
            json!({"title": "Test it", "files": ["tests/sync.bats"]}),
            "ct-test-writer-bats",
        ),
        (
            json!({"title": "Test it", "labels": ["shell"]}),
            "ct-test-writer-bats",
        ),
        (
            json!({"title": "Test it", "description": "It is bash."}),
            "ct-test-writer-bats",
        ),
        (json!({"title": "Functions for dates"}), "ct-task-executor"),
        (
            json!({"title": "Functions for dates", "files": ["dates.sh"]}),
            "ct-library-implementer-bash",
        ),
    ] {
        assert_eq!(dispatch_shipped(task.clone()).chosen.skill, skill, "{task}");
    }
}

#[test]
fn weak_choice_is_told() {
    let doubt = |task: Value| dispatch_shipped(task).warning;
    for (task, said) in [
        (
            json!({"id": "T1", "title": "x and release"}),
            Some("middle decided, `release`"),
        ),
        (
            json!({"title": "Tidy", "description": "Then release."}),
            Some("middle decided, `release`"),
        ),
        (
            json!({"title": "x", "type": "testing"}),
            Some("by its type testing, but nothing names bash"),
        ),
        (json!({"title": "sync.sh", "type": "testing"}), None),
        (json!({"title": "Release it"}), None),
        (json!({"title": "Add a release flag"}), None),
        (json!({"title": "Write an RFC for event sourcing"}), None),
        (json!({"title": "Write the spec for webhooks"}), None),
        (
            json!({"title": "Add a regression test for issue 412"}),
            None,
        ),
        (
            json!({"title": "Persist the selected plan"}),
            Some("middle decided, `plan`"),
        ),
        (
            json!({"title": "install.sh fails with bash 3.2"}),
            Some("middle decided, `sh`"),
        ),
        (json!({"title": "x"}), None),
    ] {
        let told = doubt(task.clone());
        let fits = told
            .as_deref()
            .zip(said)
            .is_some_and(|(told, said)| told.contains(said));
        assert!(
            fits || (told.is_none() && said.is_none()),
            "{task}: {told:?}"
        );
    }
}
