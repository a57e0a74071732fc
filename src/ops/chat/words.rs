//! Designs, components and calls in the words of replies.

use serde_json::{Map, Value};

use crate::chat::record::Component;
use crate::chat::value::{brief, flatten, label, plain};
use crate::chat::vocabulary::{DESIGN, contains_word, find_field};
use crate::chat::{Call, Tool, text};
use crate::error::Result;
use crate::store::agency::AgencyTransaction;

/// What names a component, whose it is and of which type, which stands before all else of it.
const NAMES: &str = "component_id|componentId|client_id|component_type|type";

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
    let id = component.get("component_id");
    let id = id.or(component.get("componentId"));
    id.map(plain).unwrap_or_default()
}

/// Says what is looked for: "old cards with title Home".
pub(super) fn describe_criteria(criteria: &Map<String, Value>) -> String {
    let mut what = [text(criteria, "called"), text(criteria, "component_type")].join(" ");
    for (key, value) in criteria {
        if !contains_word("called|component_type", key) {
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
    let changes = describe_changes(call);
    let between = if changes.is_empty() { "" } else { ": " };
    match call.tool {
        Tool::UpdateDesign => format!("change {changes} for client {client}"),
        Tool::SearchComponent => "show all your components".to_string(),
        Tool::UpdateComponent => format!("change {whose}{between}{changes}"),
        Tool::AddComponent => {
            let updates = call.object("updates");
            let kind = text(&updates, "component_type");
            let number = if id.is_empty() { "" } else { " as " };
            format!(
                "add a component of type {kind} for client {client}{number}{id}{between}{changes}"
            )
        }
        Tool::DeleteComponent => format!("delete {whose}"),
        Tool::AddSecurityGroup => format!("add the security group \"{group}\" to {whose}"),
        Tool::RemoveSecurityGroup => format!("remove the security group \"{group}\" from {whose}"),
        _ => format!("show {whose}"),
    }
}

/// Lists what a call changes: "the Button Radius to full" of a design, `title to "Home"` of a component.
pub(super) fn describe_changes(call: &Call) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let updates = Value::Object(call.object(call.tool.updates()));
    let fields = flatten(&updates).into_iter();
    let fields = fields.filter(|(path, _)| path != "component_type");
    let parts = fields.map(|(path, value)| {
        let (label, text) = (brief(&label(&path)), brief(&plain(value)));
        match (call.tool, value) {
            (Tool::UpdateDesign, _) => {
                let words: Vec<String> = label.split(' ').map(capital).collect();
                format!("the {} to {text}", words.join(" "))
            }
            (_, Value::Null) => label,
            (Tool::AddComponent, _) => format!("{label} \"{text}\""),
            _ => format!("{label} to \"{text}\""),
        }
    });
    let between = match call.tool {
        Tool::UpdateDesign => " and ",
        _ => ", ",
    };
    parts.collect::<Vec<_>>().join(between)
}

/// Lists everything of a design that can be changed.
pub(super) fn menu() -> String {
    let lines = DESIGN
        .iter()
        .map(|field| format!("\n- {}: {}", field.label(), field.kind));
    format!("You can change:{}", lines.collect::<String>())
}

/// Lists what the client answered when it began.
pub(super) fn describe_answers(answers: &Value) -> String {
    let mut lines = String::new();
    for answer in answers["answers"].as_array().into_iter().flatten() {
        let chosen = answer["chosen_options"].as_array().into_iter().flatten();
        let chosen: Vec<String> = chosen.map(plain).collect();
        lines += &format!("\n- {} {}", plain(&answer["question"]), chosen.join(", "));
    }
    let lead = if lines.is_empty() {
        ""
    } else {
        "\nOnboarding answers:"
    };
    format!("{lead}{lines}")
}

/// Writes a design with everything that is set.
pub(super) fn describe_design(client: &str, design: &Value, answers: &Value) -> String {
    let mut lines = String::new();
    for (path, value) in flatten(design) {
        if !value.is_null() && (path.contains('.') || path.ends_with("Url")) {
            let name = find_field(DESIGN, &path).map_or(path.as_str(), |field| field.label());
            lines += &format!("\n- {name}: {}", plain(value));
        }
    }
    let answers = describe_answers(answers);
    format!("The design of client {client}:{lines}{answers}")
}

/// Writes the sentences that the chat understands, with ids and titles of a client, or examples.
pub(super) fn fill_forms(
    transaction: &dyn AgencyTransaction,
    client: Option<&str>,
) -> Result<String> {
    let client = client.unwrap_or_default();
    let (all, groups) = (
        transaction.components(client)?,
        transaction.security_groups(client)?,
    );
    let client = transaction.client(client)?.map(|known| known.client_id);
    let client = client.as_deref().unwrap_or("6");
    let first = all.first().map_or("101", |one| &one.component_id);
    let last = all.last().map_or("103", |one| &one.component_id);
    let titled = all.iter().find_map(name_component);
    let titled = titled.unwrap_or("title of my card called \"Home\"".to_string());
    let mut titles = groups.iter().map(|group| &*group.security_group_title);
    let group = titles.find(|title| !title.contains('"'));
    let group = group.unwrap_or("premium");
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
