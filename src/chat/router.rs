//! Which agent a message is for: rules in their order, notes 2.2. A model may be asked before; what
//! the first rules say stands above it.

use super::request::Request;
use super::vocabulary::{DESIGN, DESIGN_PHRASES, NEVER, Verb, component_type};
use super::{ChatAgent, design};

/// The reason for the agent that replies when no rule fits.
pub(crate) const NO_RULE: &str = "no rule fits";

/// The agent that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Routed {
    /// The agent.
    pub(crate) agent: ChatAgent,
    /// Why.
    pub(crate) reason: &'static str,
}

/// Chooses the agent for a message. `client` is the one that the conversation named last, `advice`
/// what a model says.
pub(crate) fn route(message: &str, client: Option<&str>, advice: Option<ChatAgent>) -> Routed {
    chosen(&Request::read(message, client), advice)
}

pub(super) fn chosen(request: &Request, advice: Option<ChatAgent>) -> Routed {
    let routed = |agent, reason| Routed { agent, reason };
    let is_component = request.has(&["component", "components"]);
    let can_create = request.verb == Some(Verb::Create) && !request.is_security;
    if request.component.is_some() {
        return routed(ChatAgent::Editor, "a component is named by its number");
    }
    if request.effect.is_some() {
        return routed(ChatAgent::Design, "an effect that no page has");
    }
    if can_create && request.kind.is_some() && request.client.is_some() {
        return routed(
            ChatAgent::Editor,
            "a component of a known type is to be made",
        );
    }
    if request.is_security {
        return routed(
            ChatAgent::Clarifier,
            "a security group, but no component is named",
        );
    }
    if is_component || is_about_a_kind(request) {
        return routed(
            ChatAgent::Clarifier,
            "components, but none is named by its number",
        );
    }
    // The editor needs a component, so a model that asks for it contradicts the rules.
    if let Some(agent) = advice.filter(|agent| *agent != ChatAgent::Editor) {
        return routed(agent, "a model chose");
    }
    if is_about_design(request) {
        return routed(ChatAgent::Design, "words of design");
    }
    routed(ChatAgent::Clarifier, NO_RULE)
}

/// Says whether it speaks of a design, in a word or in several in a row.
fn is_about_design(request: &Request) -> bool {
    let is_design =
        |word: &String| DESIGN.contains(&word.as_str()) || NEVER.contains(&word.as_str());
    let is_said = |phrase: &&[&str]| {
        request
            .words
            .windows(phrase.len())
            .any(|row| row == *phrase)
    };
    request.words.iter().any(is_design)
        || DESIGN_PHRASES.iter().any(is_said)
        || !design::named(&request.head).is_empty()
}

/// Says whether it does something with a kind of component, such as `list all cards`. What names a
/// part of the design, such as `button radius`, does not.
fn is_about_a_kind(request: &Request) -> bool {
    let is_kind = request
        .head
        .iter()
        .any(|word| component_type(word).is_some());
    let is_design = request.has(&["design", "designs"]) || !design::named(&request.head).is_empty();
    is_kind && request.verb.is_some() && !is_design
}

#[cfg(test)]
mod tests {
    use super::*;
    use ChatAgent::{Clarifier, Design, Editor};

    #[test]
    fn messages_reach_the_agent_that_the_rules_name() {
        for (message, expected) in [
            ("change button radius to full", Design),
            ("show me my design for client 6", Design),
            ("change background to gradient", Design),
            ("update card style", Design),
            ("client 6 design", Design),
            ("design recommendations", Design),
            ("set card style to classic for client 6", Design),
            ("make my buttons' style stroked", Design),
            ("how would a darker theme look", Design),
            ("how would it look for client 6", Design),
            ("How would it look?", Design),
            ("look how it would be", Clarifier),
            ("show me my design configuration", Design),
            ("change the social icon style to solid", Design),
            ("set the layout to banner for client 6", Design),
            ("list components for client 6", Clarifier),
            ("list all cards for client 42", Clarifier),
            ("update component 123 title", Editor),
            ("update component 123 background", Editor),
            ("component 123 background", Editor),
            ("delete component 456", Editor),
            ("show component 456", Editor),
            ("remove premium security group from component 101", Editor),
            ("add new link component", Clarifier),
            ("add new link component for client 6", Editor),
            ("add premium security group to my card component", Clarifier),
            (
                "add premium security group to my card component for client 6",
                Clarifier,
            ),
            (
                "update title of my card component for client 6 to X",
                Clarifier,
            ),
            (
                "update title of my card component to component 5",
                Clarifier,
            ),
            (
                "change my button component with caption Login for client 6",
                Clarifier,
            ),
            ("update my footer component for client 6", Clarifier),
            ("add a banner with title Hello for client 6", Editor),
            ("add a component with title Hello for client 6", Clarifier),
            ("change my card title to 'button radius'", Clarifier),
            ("delete my footer", Clarifier),
            ("change the padding to 3px", Design),
            ("give me my design for client 6", Design),
            ("turn the background into gradient", Design),
            ("use stroked for the card style", Design),
            ("make a banner with title Hello for client 6", Editor),
            ("attach premium security group to component 101", Editor),
            ("erase component 456", Editor),
            ("describe my card component", Clarifier),
            ("change page filter to grayscale", Design),
            ("change social-icon-style to solid", Design),
            ("change buttonRadius to full", Design),
            ("change social_icon_style to solid", Design),
            ("what is the order of component 102", Editor),
            ("set title to Hi on component 101", Editor),
            ("hello", Clarifier),
            ("what is the weather", Clarifier),
        ] {
            assert_eq!(route(message, None, None).agent, expected, "{message}");
        }
    }

    #[test]
    fn a_model_is_heard_only_where_no_rule_stands_against_it() {
        let agent = |message, advice| route(message, None, Some(advice)).agent;
        assert_eq!(agent("make it friendlier", Design), Design);
        assert_eq!(agent("change background to gradient", Clarifier), Clarifier);
        assert_eq!(agent("update component 101 title to X", Design), Editor);
        assert_eq!(agent("list components for client 6", Design), Clarifier);
        assert_eq!(agent("make it friendlier", Editor), Clarifier);
    }
}
