//! What every store of agents must do. `suite!` runs all of it against one backend.

use super::Agency;
use crate::agent::{Agent, AgentStatus, Kind, Role};

mod chat;

/// Makes a module of tests for the store that `$make` opens in an empty folder.
macro_rules! suite {
    ($make:expr) => {
        #[cfg(test)]
        mod conformance {
            use super::*;
            use crate::store::agency::conformance as rules;

            #[test]
            fn conforms() {
                for rule in rules::RULES {
                    let folder = tempfile::tempdir().unwrap();
                    let make: fn(&std::path::Path) -> _ = $make;
                    rule(&mut make(folder.path()));
                }
            }
        }
    };
}
pub(in crate::store) use suite;

type Rule = fn(&mut dyn Agency);

pub(in crate::store) const RULES: &[Rule] = &[
    an_agent_is_read_as_it_was_written,
    agents_come_in_the_order_of_their_first_writing,
    what_is_not_committed_is_not_there,
    runtime_agents_are_counted,
    chat::nothing_of_the_chat_is_there_at_first,
    chat::what_is_written_is_read_under_its_client_only,
    chat::components_come_in_their_order,
    chat::a_component_goes_with_what_guards_it,
    chat::answers_are_those_to_questions_of_the_type,
    chat::a_chat_is_remembered_under_its_conversation,
];

fn put(agency: &mut dyn Agency, agents: &[&Agent]) {
    let mut transaction = agency.write().unwrap();
    for agent in agents {
        transaction.put_agent(agent).unwrap();
    }
    transaction.commit().unwrap();
}

fn ids(agency: &mut dyn Agency) -> Vec<String> {
    let agents = agency.read().unwrap().agents().unwrap();
    agents.into_iter().map(|agent| agent.id).collect()
}

fn full() -> Agent {
    Agent {
        user_id: Some("u".into()),
        description: "d".into(),
        role: Role::Specialist,
        objective: "o".into(),
        prompt: "p\n\"q\"".into(),
        model: "m".into(),
        temperature: 1.25,
        max_tokens: 9,
        color: "#010203".into(),
        icon: "star".into(),
        tags: vec!["second war".into(), "ä".into()],
        tools: vec!["t".into()],
        intents: vec!["a.b".into()],
        capability: Some("c".into()),
        skills: vec!["s".into()],
        endpoint: Some("http://127.0.0.1:1/".into()),
        command: vec!["run".into(), "a b".into()],
        healthcheck: Some("http://127.0.0.1:1/h".into()),
        timeout_ms: 7,
        status: AgentStatus::Paused,
        is_runtime: true,
        created_at: Some("2026-01-26T09:00:00.000Z".into()),
        updated_at: Some("2026-01-26T09:00:01.000Z".into()),
        last_used_at: Some("2026-01-26T09:00:02.000Z".into()),
        ..Agent::new("full", Kind::Http, "Full")
    }
}

fn an_agent_is_read_as_it_was_written(agency: &mut dyn Agency) {
    let plain = Agent::new("plain", Kind::Persistent, "Plain");
    put(agency, &[&full(), &plain]);
    let transaction = agency.read().unwrap();
    assert_eq!(transaction.agent("full").unwrap(), Some(full()));
    assert_eq!(transaction.agent("plain").unwrap(), Some(plain));
    assert_eq!(transaction.agent("FULL").unwrap(), None);
}

fn agents_come_in_the_order_of_their_first_writing(agency: &mut dyn Agency) {
    let agent = |id| Agent::new(id, Kind::Persistent, id);
    put(agency, &[&agent("b"), &agent("a"), &agent("c")]);
    put(agency, &[&agent("b")]);
    assert_eq!(ids(agency), ["b", "a", "c"]);
    let mut transaction = agency.write().unwrap();
    assert!(transaction.remove_agent("a").unwrap());
    assert!(!transaction.remove_agent("a").unwrap());
    transaction.commit().unwrap();
    assert_eq!(ids(agency), ["b", "c"]);
}

fn what_is_not_committed_is_not_there(agency: &mut dyn Agency) {
    let mut transaction = agency.write().unwrap();
    transaction.put_agent(&full()).unwrap();
    assert!(transaction.agent("full").unwrap().is_some());
    drop(transaction);
    assert_eq!(ids(agency), [] as [String; 0]);
}

fn runtime_agents_are_counted(agency: &mut dyn Agency) {
    let plain = Agent::new("plain", Kind::Persistent, "Plain");
    put(agency, &[&full(), &plain]);
    assert_eq!(agency.read().unwrap().runtime_agents().unwrap(), 1);
}
