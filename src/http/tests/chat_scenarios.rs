//! B-2 to B-17 of the chat notes, message by message, without a model (B-20).

use super::chat::{say, seed_world};

/// Scenario, message, part of the reply, what waits then, and the tool that was called last.
const SCENARIOS: &str = "\
B-2 | show me my design for client 6 | button radius: small | - | getQAForClient
B-3 | change button radius to full for client 6 | Should I proceed? | confirm | getQAForClient
B-3 | no | Nothing was changed | - | -
B-3 | yes | Nothing is waiting | - | -
B-3 | change button radius to full for client 6 | Should I proceed? | confirm | getQAForClient
B-3 | yes | Design updated successfully | - | updateDesign
B-3 | yes | Nothing is waiting | - | -
B-4 | change button radius to 12px for client 6 | no-radius, small, medium, full | - | -
B-5 | set card style to classic for client 6 | solid, stroked, soft-shadow, hard-shadow | - | -
B-6 | change the background for client 6 | desktop_background.type | field | -
B-6 | desktop background type | What should the | value | -
B-6 | gradient | Should I proceed? | confirm | getQAForClient
B-6 | change button radius for client 6 | What should the | value | -
B-6 | enormous | That does not answer my question. | value | -
B-6 | Full. | the Button Radius to full. Should I proceed? | confirm | getQAForClient
B-6 | change the background for client 6 | appearance | field | -
B-6 | appearance | What should the appearance background be? | value | -
B-6 | no | Cancelled | - | -
B-7 | change button radius to full | client ID | client | -
B-7 | client 6 | Should I proceed? | confirm | getQAForClient
B-8 | update component 101 title to Welcome for client 6 | proceed | confirm | -
B-8 | yes | Component 101 updated successfully | - | updateComponent
B-9 | update component 101 title to Welcome for client 7 | not found for client 7 | - | -
B-10 | delete component 103 for client 6 | proceed | confirm | getComponent
B-10 | yes | deleted successfully | - | deleteComponent
B-10 | delete component 103 for client 6 | not found for client 6 | - | getComponent
B-11 | update component 101 component_type to banner for client 6 | protected | - | -
B-12 | add premium security group to component 101 for client 6 | proceed | confirm | -
B-12 | yes | added to component 101 | - | addSecurityGroup
B-12 | add premium security group to component 101 for client 6 | already | - | -
B-12 | remove premium security group from component 101 for client 6 | proceed | confirm | -
B-12 | yes | removed from component 101 | - | removeSecurityGroup
B-12 | add gold security group to component 101 for client 6 | gold | - | -
B-13 | update title of my card component for client 6 to X | 1.  | select | searchComponent
B-13 | 9 | Invalid selection | select | -
B-13 | 2 | proceed | confirm | -
B-13 | yes | Component 102 updated successfully | - | updateComponent
B-14 | change my button component with caption Login for client 6 | 103 | field | searchComponent
B-15 | update my footer component for client 6 | No components found | confirm | searchComponent
B-15 | yes | 3.  | select | searchComponent
B-16 | list components for client 6 | 103 | - | searchComponent
B-17 | add a banner with title Hello for client 6 | proceed | confirm | -
B-17 | yes | Component created successfully | - | addComponent
B-17 | add a component with title Bye for client 6 | Please specify the type of component | value | -
B-17 | a card | component of client 6: type | confirm | -
B-17 | update component 101 for client 6 | which field | field | getComponent
B-17 | caption | Please specify the | value | getComponent
B-17 | “Two words” | proceed | confirm | -
B-17 | add a card with title X for client 99 | Client 99 not found | - | -
";

#[test]
fn scenarios_b_2_to_b_17_hold_without_model() {
    let mut world = seed_world();
    let mut last = "";
    for line in SCENARIOS.lines() {
        let [id, message, reply, waits, tool] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        if id != last {
            (world, last) = (seed_world(), id);
        }
        let told = say(&world, "s", message);
        let shown = told["reply"].as_str().unwrap();
        assert!(shown.contains(reply.trim()), "{line}: {shown}");
        assert_eq!(
            told["pending"]["kind"].as_str().unwrap_or("-"),
            waits,
            "{line}: {told:#}"
        );
        let called = told["tool_calls"].as_array().unwrap().last();
        let called = called.and_then(|call| call["name"].as_str());
        assert_eq!(called.unwrap_or("-"), tool, "{line}: {told:#}");
    }
}
