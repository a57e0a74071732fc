//! The titles by which each shipped skill is chosen, and those near them that must lead elsewhere.

use serde_json::{Value, json};

use crate::dispatch::stream;

/// Titles that lead to a skill, and titles near them that must lead elsewhere.
struct Titles {
    skill: &'static str,
    chosen: [&'static str; 10],
    near_misses: [&'static str; 5],
}

const TITLES: &[Titles] = &[
    Titles {
        skill: "ct-orchestrator",
        chosen: [
            "Orchestrate the migration epic",
            "Coordinate the three agents on T4",
            "Delegate the open tasks of the epic",
            "Orchestrating the release train",
            "Coordinating work on the parser",
            "Delegates for the refactoring",
            "Agents: orchestrate T12",
            "Orchestrated rollout of the plugins",
            "Re-coordinate after the blocker",
            "Delegating T3 to T9",
        ],
        near_misses: [
            "Plan how to orchestrate the agents",
            "Fix the orchestration module",
            "Test coordinator restarts",
            "Fix the subordinate view",
            "Document how agents delegate",
        ],
    },
    Titles {
        skill: "ct-epic-architect",
        chosen: [
            "Plan the storage migration",
            "Decompose the billing epic",
            "Architect the plugin system",
            "Planning for the v2 parser",
            "Epic: move to Postgres",
            "Split into a plan for offline mode",
            "Plans for the import rewrite",
            "Decomposing the monolith",
            "Architecting multi-tenant access",
            "Planned rework of the scheduler",
        ],
        near_misses: [
            "Implement the plan for storage",
            "Show airplane mode in settings",
            "Add a plant picker",
            "Explain the query planner",
            "Research an architecture",
        ],
    },
    Titles {
        skill: "ct-task-executor",
        chosen: [
            "Implement token refresh",
            "Build the settings page",
            "Create a users table",
            "Execute the data migration",
            "Building the importer",
            "Fix the crash on empty input",
            "Rename the config key",
            "Implements retry for uploads",
            "Implementing research tooling",
            "Created dates are wrong",
        ],
        near_misses: [
            "Research how to implement refresh",
            "Plan the build",
            "Verify the created tables",
            "Document the build",
            "Release the build",
        ],
    },
    Titles {
        skill: "ct-research-agent",
        chosen: [
            "Research token refresh",
            "Investigate slow logins",
            "Explore caching options",
            "Discover which endpoints are used",
            "Researching message queues",
            "Investigates flaky uploads",
            "Exploring WASM sandboxes",
            "Find out and research the limits",
            "Discovered leaks: list them",
            "Research: which OAuth flow",
        ],
        near_misses: [
            "Implement the researched design",
            "Document what was investigated",
            "Fix the file explorer",
            "Fix the discovery service",
            "Audit the research notes",
        ],
    },
    Titles {
        skill: "ct-spec-writer",
        chosen: [
            "Spec for the filter grammar",
            "Write an RFC on plugins",
            "Protocol between agent and server",
            "Contract of the payments API",
            "Specification of the wire format",
            "Specs for error codes",
            "Draft the RFC about retries",
            "Contracts for the event bus",
            "Define the handshake protocol",
            "Protocols of the sync engine",
        ],
        near_misses: [
            "Add a special offer banner",
            "Implement the protocol",
            "Fix specular lighting",
            "Validate the contract",
            "Contractor list page",
        ],
    },
    Titles {
        skill: "ct-test-writer-bats",
        chosen: [
            "Test the login shell script",
            "Add bats for deploy.sh",
            "Raise coverage of parse.sh",
            "Integration with the shell of CI",
            "Tests for the bash backup script",
            "Testing error paths of sync.sh",
            "Tested edge cases of trim.sh",
            "Bats suite for hooks",
            "Add tests for exit codes of run.sh",
            "Integration suite for install.sh",
        ],
        near_misses: [
            "Show the latest news",
            "Build a test runner",
            "Fix the contest page",
            "Attest the artifacts",
            "Implement tests for parse.rs",
        ],
    },
    Titles {
        skill: "ct-library-implementer-bash",
        chosen: [
            "Add lib/core.sh",
            "Write a bash logging module",
            "Share one shell helper",
            "Function that trims strings in sh",
            "Move helpers to lib/strings.sh",
            "Bash library for colors",
            "Fix ./lib/paths.sh",
            "Functions for date math in bash",
            "Shells: common prompt helper",
            "Lib/retry.sh with backoff",
        ],
        near_misses: [
            "Add a library card page",
            "Upgrade glib/core",
            "Fix functional tests",
            "Implement a shell function",
            "Order seashells",
        ],
    },
    Titles {
        skill: "ct-validator",
        chosen: [
            "Validate the import of T4",
            "Verify the backups",
            "Audit the permission model",
            "Compliance of log retention",
            "Consensus on the queue design",
            "Vote on the naming proposal",
            "Verifying checksums of artifacts",
            "Validates against the schema?",
            "Audited accounts: check again",
            "Votes of the three reviewers",
        ],
        near_misses: [
            "Fix the verification mail",
            "Build an audit log",
            "Devote a page to thanks",
            "Implement validation of forms",
            "Plan the audit",
        ],
    },
    Titles {
        skill: "ct-dev-workflow",
        chosen: [
            "Release 2.0",
            "Publish the crate",
            "Deploy to staging",
            "Ship the hotfix",
            "Changelog for 1.4",
            "Commit the formatting",
            "Bump the version",
            "Shipping 3.1 to users",
            "Publishes nightly images",
            "Committed secrets: remove them",
        ],
        near_misses: [
            "Fix the friendship page",
            "Document the release",
            "Plan the deploy",
            "Add a committee page",
            "Fix aversion score",
        ],
    },
    Titles {
        skill: "ct-documentor",
        chosen: [
            "Document the build",
            "Update the readme",
            "Guide for new contributors",
            "Docs for the REST API",
            "Documentation of flags",
            "Documenting the plugin hooks",
            "Fix a doc link",
            "README: mention Windows",
            "Guides for operators",
            "Documents the exit codes",
        ],
        near_misses: [
            "Dockerize the service",
            "Build the documentation site",
            "Add a doctor command",
            "Test the guide",
            "Fix the documentary page",
        ],
    },
];

fn skills(tasks: &[Value]) -> Vec<String> {
    let (reply, answers) = stream(tasks, "");
    assert_eq!((reply.exit, answers.len()), (0, tasks.len()), "{reply}");
    answers
        .iter()
        .map(|answer| answer["result"]["skill"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn ten_titles_choose_each_skill_and_five_near_misses_do_not() {
    for titles in TITLES {
        let all: Vec<&str> = titles
            .chosen
            .iter()
            .chain(&titles.near_misses)
            .copied()
            .collect();
        let tasks: Vec<Value> = all.iter().map(|title| json!({"title": title})).collect();
        for (at, (title, skill)) in all.iter().zip(skills(&tasks)).enumerate() {
            assert_eq!(skill == titles.skill, at < 10, "`{title}` goes to {skill}");
        }
    }
}
