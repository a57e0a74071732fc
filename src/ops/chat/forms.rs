//! The sentences that the chat understands, filled with what this client has.

use crate::chat::pending::Chat;
use crate::chat::{Sentence, text};
use crate::error::Result;
use crate::store::agency::AgencyTransaction;

const FORMS: &str = "\
- show my design for client {client}
- change button radius to full for client {client}
- list components for client {client}
- change the {titled} to \"Something new\" for client {client}
- update component {first} description to \"Something new\" for client {client}
- add \"{group}\" security group to component {first} for client {client}
- add a card with title \"News\" for client {client}
- delete component {last} for client {client}";

/// Says what can be said, after a message that was not understood.
pub(super) fn forms(
    transaction: &dyn AgencyTransaction,
    chat: &Chat,
    message: &str,
) -> Result<String> {
    let sentence = Sentence::read(message);
    let client = sentence.client().or(chat.client.as_deref());
    let forms = fill(transaction, client, message)?;
    Ok(format!(
        "I do one thing at a time, for one client. Put a text in quotes if it is more than words, or has a \
         word such as \"and\" or the name of a field in it. Say it like this:\n{forms}"
    ))
}

pub(super) fn help(transaction: &dyn AgencyTransaction, client: Option<&str>) -> Result<String> {
    let forms = fill(transaction, client, "")?;
    Ok(format!(
        "I can show and change the design of a client, and list, show, add, change, delete and secure its \
         components. Say it like this:\n{forms}"
    ))
}

/// Writes the forms with ids and titles of a client, of the component that a message names if it is there;
/// with examples where the client is not known.
fn fill(
    transaction: &dyn AgencyTransaction,
    client: Option<&str>,
    message: &str,
) -> Result<String> {
    let mut forms = FORMS.to_string();
    let mut put = |name: &str, value: &str| forms = forms.replace(name, value);
    let known = client
        .map(|client| transaction.client(client))
        .transpose()?
        .flatten();
    if let Some(client) = known.map(|client| client.client_id) {
        let components = transaction.components(&client)?;
        let words: Vec<&str> = message.split(|c: char| !c.is_alphanumeric()).collect();
        let named = components
            .iter()
            .find(|one| words.contains(&one.component_id.as_str()));
        if let Some(first) = named.or(components.first()) {
            put("{first}", &first.component_id);
        }
        if let Some(last) = named.or(components.last()) {
            put("{last}", &last.component_id);
        }
        let titled = components.iter().find_map(|one| {
            let titles = ["title", "caption"].map(|field| (field, text(&one.props, field)));
            let is_plain = |title: &str| {
                (1..=40).contains(&title.chars().count()) && !title.contains(['"', '“', '”'])
            };
            let (field, title) = titles.into_iter().find(|(_, title)| is_plain(title))?;
            let kind = one.component_type.trim_end_matches('s');
            Some(format!("{field} of my {kind} called \"{title}\""))
        });
        if let Some(titled) = titled {
            put("{titled}", &titled);
        }
        let groups = transaction.security_groups(&client)?;
        let titles = groups.iter().map(|group| &group.security_group_title);
        if let Some(group) = titles.into_iter().find(|title| !title.contains('"')) {
            put("{group}", group);
        }
        put("{client}", &client);
    }
    let examples = [
        ("{first}", "101"),
        ("{last}", "103"),
        ("{titled}", "title of my card called \"Home\""),
        ("{group}", "premium"),
        ("{client}", "6"),
    ];
    examples.iter().for_each(|(name, value)| put(name, value));
    Ok(forms)
}
