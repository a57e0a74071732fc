//! The tools of the chat's agents. Each takes and gives what the chat notes say in section 2.4, sees
//! one client only, and says what is wrong in its result.

use serde_json::{Map, Value, json};

use super::writes;
use crate::chat::record::Component;
use crate::chat::value::{brief, component_changes};
use crate::chat::{Call, Tool};
use crate::error::Result;
use crate::store::agency::AgencyTransaction;

/// What a tool is called with.
pub(super) type Args = Map<String, Value>;

/// Runs a tool. One that writes does all but the writing when `keep` is false.
pub(super) fn run(
    transaction: &mut dyn AgencyTransaction,
    call: &Call,
    keep: bool,
) -> Result<Value> {
    let args = &call.args;
    let client = text(args, "clientId");
    if client.is_empty() {
        return Ok(fault("clientId is required"));
    }
    match call.tool {
        Tool::GetClientDesign => design(transaction, client),
        Tool::GetQa => Ok(json!({ "answers": transaction.answers(client)? })),
        Tool::UpdateDesign => writes::update_design(transaction, client, args, keep),
        Tool::AddComponent => writes::add_component(transaction, client, args, keep),
        Tool::GetComponent => components(transaction, client, text(args, "componentId")),
        Tool::SearchComponent => search(transaction, client, args),
        Tool::UpdateComponent
        | Tool::DeleteComponent
        | Tool::AddSecurityGroup
        | Tool::RemoveSecurityGroup => {
            let id = text(args, "componentId");
            if id.is_empty() {
                return Ok(fault("componentId is required"));
            }
            let Some(component) = transaction.component(client, id)? else {
                return Ok(not_found(client, id));
            };
            on_component(transaction, call, component, keep)
        }
    }
}

fn on_component(
    transaction: &mut dyn AgencyTransaction,
    call: &Call,
    component: Component,
    keep: bool,
) -> Result<Value> {
    let group = text(&call.args, "security_group_title");
    match call.tool {
        Tool::UpdateComponent => writes::update(transaction, component, &call.args, keep),
        Tool::DeleteComponent => writes::delete(transaction, &component, keep),
        Tool::AddSecurityGroup => writes::secure(transaction, component, group, true, keep),
        _ => writes::secure(transaction, component, group, false, keep),
    }
}

/// Returns the text under a key, or nothing.
pub(super) fn text<'a>(args: &'a Args, key: &str) -> &'a str {
    args.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the object under a key, or an empty one.
pub(super) fn object(args: &Args, key: &str) -> Args {
    let object = args.get(key).and_then(Value::as_object);
    object.cloned().unwrap_or_default()
}

/// A result that says what is wrong.
pub(super) fn fault(error: impl Into<String>) -> Value {
    json!({ "success": false, "error": error.into() })
}

fn not_found(client: &str, id: &str) -> Value {
    let (id, client) = (brief(id), brief(client));
    fault(format!(
        "Component with ID {id} not found for client {client}"
    ))
}

/// The result for a client without a design.
pub(super) fn no_design(client: &str) -> Value {
    fault(format!("No design found for client {}.", brief(client)))
}

fn design(transaction: &dyn AgencyTransaction, client: &str) -> Result<Value> {
    let Some(design) = transaction.design(client)? else {
        return Ok(no_design(client));
    };
    let url = |library: &Option<String>| -> Result<Value> {
        let Some(library) = library else {
            return Ok(Value::Null);
        };
        let media = transaction.media(client, library)?;
        Ok(media.map_or(Value::Null, |media| media.s3_key.into()))
    };
    let banner = url(&design.banner_library_id)?;
    let background = url(&design.background_library_id)?;
    let mut row = json!(design);
    row["banner_mediaUrl"] = banner;
    row["background_mediaUrl"] = background;
    Ok(row)
}

fn components(transaction: &dyn AgencyTransaction, client: &str, id: &str) -> Result<Value> {
    if id.is_empty() {
        let components = transaction.components(client)?;
        return Ok(json!({ "success": true, "components": components }));
    }
    Ok(match transaction.component(client, id)? {
        Some(component) => json!({ "success": true, "components": [component] }),
        None => not_found(client, id),
    })
}

/// Finds components: the type and `column.key` exactly, other columns in any letter case.
fn search(transaction: &dyn AgencyTransaction, client: &str, args: &Args) -> Result<Value> {
    let mut criteria = object(args, "criteria");
    let kind = criteria.remove("component_type");
    let changes = component_changes(&criteria);
    if !changes.rejected.is_empty() {
        let mut fault = fault(changes.faults.join("; "));
        fault["rejectedFields"] = json!(changes.rejected);
        return Ok(fault);
    }
    let fits = |component: &Component| {
        let row = json!(component);
        let is_kind = kind
            .as_ref()
            .is_none_or(|kind| row["component_type"] == *kind);
        is_kind && criteria.iter().all(|(key, wanted)| has(&row, key, wanted))
    };
    let found = transaction.components(client)?;
    let found = found
        .iter()
        .filter(|component| fits(component))
        .map(|component| {
            let Component {
                component_id,
                component_type,
                props,
                ..
            } = component;
            json!({ "componentId": component_id, "type": component_type, "props": props })
        });
    Ok(json!({ "success": true, "components": found.collect::<Vec<_>>() }))
}

fn has(row: &Value, key: &str, wanted: &Value) -> bool {
    if let Some(fields) = wanted.as_object() {
        return fields
            .iter()
            .all(|(field, wanted)| has(&row[key], field, wanted));
    }
    let mut path = key.split('.');
    let value = path.by_ref().fold(Some(row), |row, part| row?.get(part));
    let Some(value) = value else {
        return false;
    };
    let shown = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), String::from)
    };
    match key.contains('.') {
        true => shown(value) == shown(wanted),
        false => shown(value).to_lowercase() == shown(wanted).to_lowercase(),
    }
}
