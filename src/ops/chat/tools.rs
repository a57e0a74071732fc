//! The tools of the chat's agents. Each takes and gives what the chat notes say in section 2.4, sees
//! one client only, and says what is wrong in its result.

use serde_json::{Map, Value, json};

use super::writes;
use crate::chat::record::Component;
use crate::chat::value::{brief, component_changes, plain};
use crate::chat::{Call, Called, Pending, Tool, object, text};
use crate::error::Result;
use crate::error::{Code, Error};
use crate::store::agency::AgencyTransaction;

/// The tools while one message is answered, and what was called of them.
pub(super) struct Tools<'a> {
    pub(super) transaction: &'a mut dyn AgencyTransaction,
    pub(super) calls: Vec<Called>,
}

impl Tools<'_> {
    /// Calls a tool that reads.
    pub(super) fn call(&mut self, call: &Call) -> Result<Value> {
        if call.tool.can_write() {
            let message = format!("{} was called without a yes", call.tool.name());
            return Err(Error::new(Code::Internal, message));
        }
        self.keep(call)
    }

    /// Tries what a call would write, without writing it.
    pub(super) fn rehearse(&mut self, call: &Call) -> Result<Value> {
        run(self.transaction, call, false)
    }

    /// Writes what was offered and confirmed.
    pub(super) fn write(&mut self, confirmed: &Pending) -> Result<Value> {
        self.keep(&confirmed.call())
    }

    fn keep(&mut self, call: &Call) -> Result<Value> {
        let result = run(self.transaction, call, true)?;
        self.calls.push(Called {
            name: call.tool,
            args: call.args.clone(),
            result: result.clone(),
        });
        Ok(result)
    }
}

/// Returns what is wrong, if a tool says so.
pub(super) fn fault(result: &Value) -> Option<&str> {
    result.get("error").and_then(Value::as_str)
}

/// Makes a result that says what is wrong.
pub(super) fn refuse(error: impl Into<String>) -> Value {
    json!({ "success": false, "error": error.into() })
}

pub(super) fn no_client(client: &str) -> Value {
    refuse(format!("Client {} not found", brief(client)))
}

pub(super) fn no_design(client: &str) -> Value {
    refuse(format!("No design found for client {}.", brief(client)))
}

/// Runs a tool. One that writes does all but the writing when `keep` is false.
pub(super) fn run(
    transaction: &mut dyn AgencyTransaction,
    call: &Call,
    keep: bool,
) -> Result<Value> {
    let args = &call.args;
    let client = text(args, "clientId");
    if client.is_empty() {
        return Ok(refuse("clientId is required"));
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
                return Ok(refuse("componentId is required"));
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

fn not_found(client: &str, id: &str) -> Value {
    let (id, client) = (brief(id), brief(client));
    refuse(format!(
        "Component with ID {id} not found for client {client}"
    ))
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
        if transaction.client(client)?.is_none() {
            return Ok(no_client(client));
        }
        let components = transaction.components(client)?;
        return Ok(json!({ "success": true, "components": components }));
    }
    Ok(match transaction.component(client, id)? {
        Some(component) => json!({ "success": true, "components": [component] }),
        None => not_found(client, id),
    })
}

/// Finds components: the type and `column.key` exactly, other columns in any letter case.
fn search(
    transaction: &dyn AgencyTransaction,
    client: &str,
    args: &Map<String, Value>,
) -> Result<Value> {
    if transaction.client(client)?.is_none() {
        return Ok(no_client(client));
    }
    let mut criteria = object(args, "criteria");
    let kind = criteria.remove("component_type");
    let changes = component_changes(&criteria);
    if !changes.rejected.is_empty() {
        let mut refusal = refuse(changes.faults.join("; "));
        refusal["rejectedFields"] = json!(changes.rejected);
        return Ok(refusal);
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
    let value = key.split('.').try_fold(row, |row, part| row.get(part));
    let Some(value) = value else {
        return false;
    };
    match key.contains('.') {
        true => plain(value) == plain(wanted),
        false => plain(value).to_lowercase() == plain(wanted).to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::record::{Client, Design};
    use crate::store::agency::Agency;
    use crate::store::sqlite::SqliteAgency;

    fn agency() -> (tempfile::TempDir, SqliteAgency) {
        let folder = tempfile::tempdir().unwrap();
        let mut agency = SqliteAgency::open_or_create(&folder.path().join("agents.db")).unwrap();
        let mut transaction = agency.write().unwrap();
        let client = Client {
            client_id: "6".into(),
            client_type: "creator".into(),
        };
        transaction.put_client(&client).unwrap();
        let design = Design {
            client_id: "6".into(),
            ..Design::default()
        };
        transaction.put_design(&design).unwrap();
        let component = Component {
            component_id: "101".into(),
            client_id: "6".into(),
            component_type: "cards".into(),
            props: json!({"title": "Home"}).as_object().cloned().unwrap(),
            ..Component::default()
        };
        transaction.put_component(&component).unwrap();
        transaction.commit().unwrap();
        (folder, agency)
    }

    /// Calls a tool, keeps what it did, and returns its result.
    fn call(agency: &mut SqliteAgency, tool: Tool, args: Value) -> Value {
        let args = args.as_object().cloned().unwrap();
        let mut transaction = agency.write().unwrap();
        let result = run(&mut *transaction, &Call { tool, args }, true).unwrap();
        transaction.commit().unwrap();
        result
    }

    #[test]
    fn tools_say_what_is_wrong_in_the_words_of_the_notes() {
        let hostile = "props.title'; DROP TABLE components;--";
        for (tool, args, error) in [
            (Tool::GetClientDesign, json!({}), "clientId is required"),
            (
                Tool::GetClientDesign,
                json!({"clientId": 6}),
                "clientId is required",
            ),
            (
                Tool::GetClientDesign,
                json!({"clientId": "7"}),
                "No design found for client 7.",
            ),
            (
                Tool::UpdateDesign,
                json!({"clientId": "6"}),
                "No valid design fields to update.",
            ),
            (
                Tool::UpdateDesign,
                json!({"clientId": "6", "designUpdates": {hostile: "x"}}),
                "No valid design fields to update.",
            ),
            (
                Tool::UpdateDesign,
                json!({"clientId": "6", "designUpdates": {"card_radius": "12px"}}),
                "card radius cannot be `12px`; allowed: no-radius, small, medium, full.",
            ),
            (
                Tool::GetComponent,
                json!({"clientId": "7", "componentId": "101"}),
                "Component with ID 101 not found for client 7",
            ),
            (
                Tool::UpdateComponent,
                json!({"clientId": "6"}),
                "componentId is required",
            ),
            (
                Tool::UpdateComponent,
                json!({"clientId": "6", "componentId": "101"}),
                "No valid fields to update",
            ),
            (
                Tool::UpdateComponent,
                json!({"clientId": "6", "componentId": "101", "updates": {hostile: "x"}}),
                "No valid fields to update: props.title'; DROP TABLE components;-- is no field of a component",
            ),
            (
                Tool::AddComponent,
                json!({"clientId": "6", "updates": {}}),
                "component_type is required",
            ),
            (
                Tool::AddComponent,
                json!({"clientId": "6", "componentId": "101", "updates": {"component_type": "card"}}),
                "Component with ID 101 exists already",
            ),
            (
                Tool::AddComponent,
                json!({"clientId": "6", "componentId": "1'", "updates": {"component_type": "card"}}),
                "Component with ID 1' is no id of a component",
            ),
            (
                Tool::DeleteComponent,
                json!({"clientId": "7", "componentId": "101"}),
                "Component with ID 101 not found for client 7",
            ),
            (
                Tool::GetComponent,
                json!({"clientId": "8"}),
                "Client 8 not found",
            ),
            (
                Tool::SearchComponent,
                json!({"clientId": "8", "criteria": {}}),
                "Client 8 not found",
            ),
            (
                Tool::SearchComponent,
                json!({"clientId": "6", "criteria": {hostile: "x"}}),
                "props.title'; DROP TABLE components;-- is no field of a component",
            ),
        ] {
            let (_folder, mut agency) = agency();
            let result = call(&mut agency, tool, args.clone());
            assert_eq!(result["error"], error, "{}: {args}", tool.name());
            assert_eq!(result["success"], false);
            let component = agency.read().unwrap().component("6", "101").unwrap();
            assert_eq!(component.unwrap().props["title"], "Home");
        }
    }

    #[test]
    fn a_search_compares_keys_exactly_and_columns_in_any_case() {
        let (_folder, mut agency) = agency();
        for (criteria, found) in [
            (json!({}), 1),
            (json!({"component_type": "cards"}), 1),
            (json!({"component_type": "Cards"}), 0),
            (json!({"props.title": "Home"}), 1),
            (json!({"props": {"title": "Home"}}), 1),
            (json!({"props.title": "home"}), 0),
            (json!({"is_blur": "FALSE"}), 1),
            (json!({"is_blur": true}), 0),
        ] {
            let args = json!({"clientId": "6", "criteria": criteria.clone()});
            let result = call(&mut agency, Tool::SearchComponent, args);
            assert_eq!(
                result["components"].as_array().map(Vec::len),
                Some(found),
                "{criteria}"
            );
        }
    }

    #[test]
    fn what_is_only_tried_is_not_kept() {
        let (_folder, mut agency) = agency();
        let args = json!({"clientId": "6", "componentId": "101"})
            .as_object()
            .cloned()
            .unwrap();
        let mut transaction = agency.write().unwrap();
        let delete = Call {
            tool: Tool::DeleteComponent,
            args,
        };
        let result = run(&mut *transaction, &delete, false).unwrap();
        assert_eq!(result["success"], true);
        assert!(transaction.component("6", "101").unwrap().is_some());
    }
}
