//! Designs, components and calls in the words of replies.

use serde_json::{Map, Value};

use crate::chat::record::Component;
use crate::chat::value::{brief, flatten, label, plain};
use crate::chat::vocabulary::{DESIGN, by_key, contains_word};
use crate::chat::{Call, Tool, text};
use crate::error::Result;
use crate::store::agency::AgencyTransaction;

/// What names a component, whose it is and of which type, which stands before all else of it.
const NAMES: &str = "component_id componentId client_id component_type type";

/// Writes a component with everything that is set.
pub(super) fn describe_component(component: &Value) -> String {
    let kind = component.get("component_type").or(component.get("type"));
    let (kind, id) = (kind.map(plain).unwrap_or_default(), id_of(component));
    let fields = flatten(component).into_iter();
    let parts = fields.filter_map(|(path, value)| match value {
        _ if contains_word(NAMES, &path) => None,
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(label(&path)),
        Value::Number(number) => Some(format!("{} {number}", label(&path))),
        value => Some(format!("{} \"{}\"", label(&path), plain(value))),
    });
    let parts: Vec<String> = parts.collect();
    let between = if parts.is_empty() { "" } else { ": " };
    format!("Component {id} ({kind}){between}{}", parts.join(", "))
}

pub(super) fn id_of(component: &Value) -> String {
    let id = component
        .get("component_id")
        .or(component.get("componentId"));
    id.map(plain).unwrap_or_default()
}

/// Says what is looked for: "old cards with title Home".
pub(super) fn describe_criteria(criteria: &Map<String, Value>) -> String {
    let mut what = [text(criteria, "called"), text(criteria, "component_type")].join(" ");
    for (key, value) in criteria {
        if !contains_word("called component_type", key) {
            what += &format!(" with {} {}", label(key), plain(value));
        }
    }
    brief(what.trim())
}

/// Says what a call is about.
pub(super) fn describe_call(call: &Call) -> String {
    let (client, id) = (call.text("clientId"), call.text("componentId"));
    let whose = match id {
        "" => format!("a component of client {client}"),
        id => format!("component {id} of client {client}"),
    };
    let group = brief(call.text("security_group_title"));
    match call.tool {
        Tool::UpdateDesign => format!("change {} for client {client}", restate(call)),
        Tool::SearchComponent => "show all your components".to_string(),
        Tool::UpdateComponent => format!("change {whose}{}", describe_fields(call, " to")),
        Tool::AddComponent => {
            let number = match id {
                "" => String::new(),
                id => format!(" as {id}"),
            };
            let (updates, fields) = (call.object("updates"), describe_fields(call, ""));
            let kind = text(&updates, "component_type");
            format!("add a component of type {kind} for client {client}{number}{fields}")
        }
        Tool::DeleteComponent => format!("delete {whose}"),
        Tool::AddSecurityGroup => format!("add the security group \"{group}\" to {whose}"),
        Tool::RemoveSecurityGroup => format!("remove the security group \"{group}\" from {whose}"),
        _ => format!("show {whose}"),
    }
}

/// Lists the fields of a call with their values.
fn describe_fields(call: &Call, between: &str) -> String {
    let mut updates = call.object("updates");
    if call.tool == Tool::AddComponent {
        updates.remove("component_type");
    }
    let updates = Value::Object(updates);
    let fields = flatten(&updates).into_iter().map(|(path, value)| {
        let label = brief(&label(&path));
        match value {
            Value::Null => label,
            value => format!("{label}{between} \"{}\"", brief(&plain(value))),
        }
    });
    let fields = fields.collect::<Vec<_>>().join(", ");
    let lead = if fields.is_empty() { "" } else { ": " };
    format!("{lead}{fields}")
}

/// Lists everything of a design that can be changed.
pub(super) fn menu() -> String {
    let offered = DESIGN.iter().filter(|field| field.is_offered);
    let lines = offered.map(|field| format!("\n- {}: {}", field.label(), field.kind));
    format!("You can change:{}", lines.collect::<String>())
}

/// Says what of a design becomes what: "the Button Radius to full".
pub(super) fn restate(call: &Call) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let updates = call.object("designUpdates");
    let parts = updates.iter().map(|(key, value)| {
        let name = by_key(DESIGN, key).map_or("design", |field| field.label());
        let words: Vec<String> = name.split(' ').map(capital).collect();
        format!("the {} to {}", words.join(" "), brief(&plain(value)))
    });
    parts.collect::<Vec<_>>().join(" and ")
}

/// Lists what the client answered when it began.
pub(super) fn describe_answers(answers: &Value) -> String {
    let mut lines = String::new();
    for answer in answers["answers"].as_array().into_iter().flatten() {
        let chosen = answer["chosen_options"].as_array().into_iter().flatten();
        let chosen: Vec<String> = chosen.map(plain).collect();
        lines += &format!("\n- {} {}", plain(&answer["question"]), chosen.join(", "));
    }
    match lines.is_empty() {
        true => lines,
        false => format!("\nOnboarding answers:{lines}"),
    }
}

/// Writes a design with everything that is set.
pub(super) fn describe_design(client: &str, design: &Value, answers: &Value) -> String {
    let is_shown = |path: &str| path.contains('.') || path.ends_with("Url");
    let mut lines = String::new();
    for (path, value) in flatten(design) {
        if is_shown(&path) && !value.is_null() {
            let name = by_key(DESIGN, &path).map_or(path.as_str(), |field| field.label());
            lines += &format!("\n- {name}: {}", plain(value));
        }
    }
    let answers = describe_answers(answers);
    format!("The design of client {client}:{lines}{answers}")
}

/// Writes the sentences that the chat understands, with ids and titles of a client, of the component that a
/// message names if it is there; with examples for what there is not.
pub(super) fn fill_forms(
    transaction: &dyn AgencyTransaction,
    client: Option<&str>,
    message: &str,
) -> Result<String> {
    let known = match client {
        Some(client) => transaction.client(client)?,
        None => None,
    };
    let client = known.map(|client| client.client_id);
    let (all, groups) = match &client {
        Some(client) => (
            transaction.components(client)?,
            transaction.security_groups(client)?,
        ),
        None => (Vec::new(), Vec::new()),
    };
    let words: Vec<&str> = message.split(|c: char| !c.is_alphanumeric()).collect();
    let ids: Vec<&str> = all.iter().map(|one| one.component_id.as_str()).collect();
    let named = ids.iter().find(|id| words.contains(id));
    let first = named.or(ids.first()).unwrap_or(&"101");
    let last = named.or(ids.last()).unwrap_or(&"103");
    let titled = all.iter().find_map(name_component);
    let titled = titled.unwrap_or("title of my card called \"Home\"".to_string());
    let mut groups = groups
        .iter()
        .map(|group| group.security_group_title.as_str());
    let group = groups
        .find(|title| !title.contains('"'))
        .unwrap_or("premium");
    let client = client.as_deref().unwrap_or("6");
    Ok(format!(
        "\
- show my design for client {client}
- change button radius to full for client {client}
- list components for client {client}
- change the {titled} to \"Something new\" for client {client}
- update component {first} description to \"Something new\" for client {client}
- add \"{group}\" security group to component {first} for client {client}
- add a card with title \"News\" for client {client}
- delete component {last} for client {client}"
    ))
}

/// Names the title or the caption of a component, if it can be said in quotes.
fn name_component(component: &Component) -> Option<String> {
    let is_plain = |title: &&str| {
        (1..=40).contains(&title.chars().count()) && !title.contains(['"', '“', '”'])
    };
    let kind = component.component_type.trim_end_matches('s');
    let mut fields = ["title", "caption"].into_iter();
    fields.find_map(|field| {
        let title = Some(text(&component.props, field)).filter(is_plain)?;
        Some(format!("{field} of my {kind} called \"{title}\""))
    })
}
