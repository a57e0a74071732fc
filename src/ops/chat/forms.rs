//! The sentences that the chat understands, filled with what this client has.

use crate::chat::pending::Chat;
use crate::chat::{Sentence, doubt, text};
use crate::error::Result;
use crate::store::agency::AgencyTransaction;

/// Says what can be said, after a message that was not understood.
pub(super) fn forms(
    transaction: &dyn AgencyTransaction,
    chat: &Chat,
    message: &str,
) -> Result<String> {
    let sentence = Sentence::read(message);
    let client = sentence.client().or(chat.client.as_deref());
    let why = doubt(&sentence).map_or(String::new(), |why| format!("{why} "));
    Ok(format!(
        "{why}Say it like this:\n{}",
        lines(transaction, client)?
    ))
}

pub(super) fn help(transaction: &dyn AgencyTransaction, client: Option<&str>) -> Result<String> {
    let lines = lines(transaction, client)?;
    Ok(format!(
        "I can show and change the design of a client, and list, show, add, change, delete and secure its \
         components. Say it like this:\n{lines}"
    ))
}

/// Writes the forms with ids and titles of a client; with examples where the client is not known.
fn lines(transaction: &dyn AgencyTransaction, client: Option<&str>) -> Result<String> {
    let known = client
        .map(|client| transaction.client(client))
        .transpose()?
        .flatten();
    let client = known
        .as_ref()
        .map_or("6", |client| client.client_id.as_str());
    let components = transaction
        .components(client)
        .map(|all| if known.is_some() { all } else { Vec::new() })?;
    let groups = transaction
        .security_groups(client)
        .map(|all| if known.is_some() { all } else { Vec::new() })?;
    let design = transaction.design(client)?.filter(|_| known.is_some());
    let radius = design.map(|design| text(&design.button_design, "radius").to_string());
    let radius = if radius.as_deref() == Some("full") {
        "medium"
    } else {
        "full"
    };
    let is_plain = |title: &str| {
        !title.is_empty() && title.chars().count() <= 40 && !title.contains(['"', '“', '”'])
    };
    let named = components.iter().find_map(|one| {
        let mut fields = ["title", "caption"]
            .into_iter()
            .map(|field| (field, text(&one.props, field)));
        let (field, title) = fields.find(|(_, title)| is_plain(title))?;
        let kind = one.component_type.trim_end_matches('s');
        Some(format!(
            "change the {field} of my {kind} called \"{title}\" to \"Something new\""
        ))
    });
    let first = components
        .first()
        .map_or("101", |one| one.component_id.as_str());
    let last = components
        .last()
        .map_or("103", |one| one.component_id.as_str());
    let group = groups
        .first()
        .map_or("premium", |group| group.security_group_title.as_str());
    let all = [
        Some("show my design".to_string()),
        Some(format!("change button radius to {radius}")),
        Some("list components".to_string()),
        named,
        Some(format!(
            "update component {first} description to \"Something new\""
        )),
        Some(format!(
            "add \"{group}\" security group to component {first}"
        )),
        Some("add a card with title \"News\"".to_string()),
        Some(format!("delete component {last}")),
    ];
    let lines: Vec<String> = all
        .into_iter()
        .flatten()
        .map(|form| format!("- {form} for client {client}"))
        .collect();
    Ok(lines.join("\n"))
}
