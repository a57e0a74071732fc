//! B-2 to B-17 of the chat notes, message by message, without a model (B-20).

use super::chat::{say, seeded};

/// One message of a scenario: what is said, what the reply holds, what waits then, and which tool was
/// called last.
type Turn = (
    &'static str,
    &'static str,
    Option<&'static str>,
    Option<&'static str>,
);

/// The scenarios of the chat notes that messages alone make up, each on a workspace of its own.
const SCENARIOS: [(&str, &[Turn]); 16] = [
    (
        "B-2",
        &[(
            "show me my design for client 6",
            "button radius: small",
            None,
            Some("getQAForClient"),
        )],
    ),
    (
        "B-3",
        &[
            (
                "change button radius to full for client 6",
                "Should I proceed?",
                Some("confirm"),
                Some("getQAForClient"),
            ),
            ("no", "Nothing was changed", None, None),
            ("yes", "Nothing is waiting", None, None),
            (
                "change button radius to full for client 6",
                "Should I proceed?",
                Some("confirm"),
                Some("getQAForClient"),
            ),
            (
                "yes",
                "Design updated successfully",
                None,
                Some("updateDesign"),
            ),
            ("yes", "Nothing is waiting", None, None),
        ],
    ),
    (
        "B-4",
        &[(
            "change button radius to 12px for client 6",
            "no-radius, small, medium, full",
            None,
            None,
        )],
    ),
    (
        "B-5",
        &[(
            "set card style to classic for client 6",
            "solid, stroked, soft-shadow, hard-shadow",
            None,
            None,
        )],
    ),
    (
        "B-6",
        &[(
            "change the background for client 6",
            "desktop_background.type",
            None,
            None,
        )],
    ),
    (
        "B-7",
        &[
            ("change button radius to full", "client ID", None, None),
            (
                "client 6",
                "Should I proceed?",
                Some("confirm"),
                Some("getQAForClient"),
            ),
        ],
    ),
    (
        "B-8",
        &[
            (
                "update component 101 title to Welcome for client 6",
                "proceed",
                Some("confirm"),
                None,
            ),
            (
                "yes",
                "Component 101 updated successfully",
                None,
                Some("updateComponent"),
            ),
        ],
    ),
    (
        "B-9",
        &[(
            "update component 101 title to Welcome for client 7",
            "not found for client 7",
            None,
            None,
        )],
    ),
    (
        "B-10",
        &[
            (
                "delete component 103 for client 6",
                "proceed",
                Some("confirm"),
                Some("getComponent"),
            ),
            ("yes", "deleted successfully", None, Some("deleteComponent")),
            (
                "delete component 103 for client 6",
                "not found for client 6",
                None,
                Some("getComponent"),
            ),
        ],
    ),
    (
        "B-11",
        &[(
            "update component 101 component_type to banner for client 6",
            "protected",
            None,
            None,
        )],
    ),
    (
        "B-12",
        &[
            (
                "add premium security group to component 101 for client 6",
                "proceed",
                Some("confirm"),
                None,
            ),
            (
                "yes",
                "added to component 101",
                None,
                Some("addSecurityGroup"),
            ),
            (
                "add premium security group to component 101 for client 6",
                "already",
                None,
                None,
            ),
            (
                "remove premium security group from component 101 for client 6",
                "proceed",
                Some("confirm"),
                None,
            ),
            (
                "yes",
                "removed from component 101",
                None,
                Some("removeSecurityGroup"),
            ),
            (
                "add gold security group to component 101 for client 6",
                "gold",
                None,
                None,
            ),
        ],
    ),
    (
        "B-13",
        &[
            (
                "update title of my card component for client 6 to X",
                "1. ",
                Some("select"),
                Some("searchComponent"),
            ),
            ("9", "Invalid selection", Some("select"), None),
            ("2", "proceed", Some("confirm"), None),
            (
                "yes",
                "Component 102 updated successfully",
                None,
                Some("updateComponent"),
            ),
        ],
    ),
    (
        "B-14",
        &[(
            "change my button component with caption Login for client 6",
            "103",
            None,
            Some("getComponent"),
        )],
    ),
    (
        "B-15",
        &[
            (
                "update my footer component for client 6",
                "No components found",
                Some("confirm"),
                Some("searchComponent"),
            ),
            ("yes", "3. ", Some("select"), Some("searchComponent")),
        ],
    ),
    (
        "B-16",
        &[(
            "list components for client 6",
            "103",
            None,
            Some("searchComponent"),
        )],
    ),
    (
        "B-17",
        &[
            (
                "add a banner with title Hello for client 6",
                "proceed",
                Some("confirm"),
                None,
            ),
            (
                "yes",
                "Component created successfully",
                None,
                Some("addComponent"),
            ),
        ],
    ),
];

#[test]
fn b_2_to_b_17_hold_over_http_without_a_model() {
    for (id, turns) in SCENARIOS {
        let world = seeded();
        for (message, reply, waits, tool) in turns {
            let told = say(&world, "s", message);
            let shown = told["reply"].as_str().unwrap();
            assert!(shown.contains(reply), "{id} {message}: {shown}");
            assert_eq!(
                told["pending"]["kind"].as_str(),
                *waits,
                "{id} {message}: {told:#}"
            );
            let calls = told["tool_calls"].as_array().unwrap();
            let last = calls.last().and_then(|call| call["name"].as_str());
            assert_eq!(last, *tool, "{id} {message}: {told:#}");
        }
    }
}
