//! The chat routes whatever people may say.

use proptest::prelude::*;

proptest! {
    #[test]
    fn every_message_finds_an_agent(
        parts in prop::collection::vec(
            prop_oneof![
                4 => prop::sample::select(vec![
                    "update", "add", "change", "component", "101", "component_id=", "client", "6", "title",
                    "to", "=", ":", "with", "titled", "security group", "'", "\"", "“", "”", ",", "and",
                    "the", "card", "props.title", "header", "\u{2}", "from", "rename", "ä", "ß",
                ]),
                1 => Just("\u{130}"),
            ],
            0..14,
        ),
        gap in "[ ]?",
        other in "\\PC{0,5}",
    ) {
        let message = parts.join(&gap) + &other;
        let routed = crate::chat::route(&message, Some("6"), None);
        prop_assert!(!routed.reason.is_empty());
    }
}
