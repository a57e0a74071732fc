//! The tools of the chat's agents. Each takes and gives what the chat notes say in section 2.4, sees
//! one client only, and says what is wrong in its result.

use serde_json::{Map, Value, json};

use super::writes;
use crate::chat::record::Component;
use crate::chat::value::{brief, check_changes, flatten, get, plain};
use crate::chat::vocabulary::COMPONENT;
use crate::chat::{Call, Tool, object, text};
use crate::error::Result;
use crate::store::agency::AgencyTransaction;

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

/// Runs a tool. One that writes does all but the writing when `keep` is false.
pub(super) fn run(
    transaction: &mut dyn AgencyTransaction,
    call: &Call,
    keep: bool,
) -> Result<Value> {
    let args = &call.args;
    let (client, id) = (text(args, "clientId"), text(args, "componentId"));
    if client.is_empty() {
        return Ok(refuse("clientId is required"));
    }
    let not_found = || {
        refuse(format!(
            "Component with ID {} not found for client {}",
            brief(id),
            brief(client)
        ))
    };
    match call.tool {
        Tool::GetClientDesign => design(transaction, client),
        Tool::GetQa => Ok(json!({ "answers": transaction.answers(client)? })),
        Tool::UpdateDesign => writes::update_design(transaction, client, args, keep),
        Tool::AddComponent => writes::add_component(transaction, client, args, keep),
        Tool::SearchComponent => search(transaction, client, args),
        Tool::GetComponent if id.is_empty() => Ok(match transaction.client(client)? {
            None => no_client(client),
            Some(_) => json!({ "success": true, "components": transaction.components(client)? }),
        }),
        _ if id.is_empty() => Ok(refuse("componentId is required")),
        tool => match transaction.component(client, id)? {
            None => Ok(not_found()),
            Some(component) if tool == Tool::GetComponent => {
                Ok(json!({ "success": true, "components": [component] }))
            }
            Some(component) => writes::write_component(transaction, call, component, keep),
        },
    }
}

fn design(transaction: &dyn AgencyTransaction, client: &str) -> Result<Value> {
    let Some(design) = transaction.design(client)? else {
        return Ok(refuse(format!(
            "No design found for client {}.",
            brief(client)
        )));
    };
    let mut row = json!(design);
    let pictures = [
        ("banner", &design.banner_library_id),
        ("background", &design.background_library_id),
    ];
    for (name, library) in pictures {
        let media = library
            .as_ref()
            .map(|library| transaction.media(client, library))
            .transpose()?
            .flatten();
        row[format!("{name}_mediaUrl")] = media.map_or(Value::Null, |media| media.s3_key.into());
    }
    Ok(row)
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
    let changes = check_changes(COMPONENT, &criteria);
    if !changes.rejected.is_empty() {
        let mut refusal = refuse(changes.reasons());
        refusal["rejectedFields"] = json!(changes.rejected);
        return Ok(refusal);
    }
    let criteria = Value::Object(criteria);
    let criteria = flatten(&criteria);
    let fits = |component: &&Component| {
        let row = json!(component);
        let is_kind = kind
            .as_ref()
            .is_none_or(|kind| row["component_type"] == *kind);
        let has = |(path, wanted): &(String, &Value)| {
            let (found, wanted) = (get(&row, path).map(plain), plain(wanted));
            match path.contains('.') {
                true => found == Some(wanted),
                false => found.map(|found| found.to_lowercase()) == Some(wanted.to_lowercase()),
            }
        };
        is_kind && criteria.iter().all(has)
    };
    let found = transaction.components(client)?;
    let found = found.iter().filter(fits).map(|one| {
        json!({ "componentId": one.component_id, "type": one.component_type, "props": one.props })
    });
    Ok(json!({ "success": true, "components": found.collect::<Vec<_>>() }))
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

    /// A tool, what it is given, and what it says is wrong.
    const WRONG: &str = r#"getClientDesign {} > clientId is required
getClientDesign {"clientId": 6} > clientId is required
getClientDesign {"clientId": "7"} > No design found for client 7.
updateDesign {"clientId": "6"} > No valid design fields to update.
updateDesign {"clientId": "6", "designUpdates": {"a'; DROP": "x"}} > No valid design fields to update.
updateDesign {"clientId": "6", "designUpdates": {"card_radius": "12px"}} > card radius cannot be `12px`; allowed: no-radius, small, medium, full.
getComponent {"clientId": "7", "componentId": "101"} > Component with ID 101 not found for client 7
updateComponent {"clientId": "6"} > componentId is required
updateComponent {"clientId": "6", "componentId": "101"} > No valid fields to update
updateComponent {"clientId": "6", "componentId": "101", "updates": {"a'; DROP": "x"}} > No valid fields to update: a'; DROP is no field of a component
addComponent {"clientId": "6", "updates": {}} > component_type is required
addComponent {"clientId": "6", "componentId": "101", "updates": {"component_type": "card"}} > Component with ID 101 exists already
addComponent {"clientId": "6", "componentId": "1'", "updates": {"component_type": "card"}} > Component with ID 1' is no id of a component
deleteComponent {"clientId": "7", "componentId": "101"} > Component with ID 101 not found for client 7
getComponent {"clientId": "8"} > Client 8 not found
searchComponent {"clientId": "8", "criteria": {}} > Client 8 not found
searchComponent {"clientId": "6", "criteria": {"a'; DROP": "x"}} > a'; DROP is no field of a component"#;

    #[test]
    fn tools_say_what_is_wrong_in_the_words_of_the_notes() {
        for line in WRONG.lines() {
            let (given, error) = line.split_once(" > ").unwrap();
            let (tool, args) = given.split_once(' ').unwrap();
            let tool = serde_json::from_value(tool.into()).unwrap();
            let (_folder, mut agency) = agency();
            let result = call(&mut agency, tool, serde_json::from_str(args).unwrap());
            assert_eq!(result["error"], error, "{line}");
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
