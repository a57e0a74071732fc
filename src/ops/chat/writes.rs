//! The tools that write. Each checks all that it is given at the moment of writing, whatever was
//! checked before: the yes may come late.

use serde_json::{Map, Value, json};

use super::tools::{no_client, refuse};
use crate::chat::record::{Component, Guard, ID_MAX, canonical, is_id};
use crate::chat::value::{Changes, brief, change, check_changes, new_type};
use crate::chat::vocabulary::{COMPONENT, DESIGN};
use crate::chat::{Call, Tool, object, text};
use crate::error::Result;
use crate::store::agency::AgencyTransaction;

/// Changes the design of a client: each column is merged.
pub(super) fn update_design(
    transaction: &mut dyn AgencyTransaction,
    client: &str,
    args: &Map<String, Value>,
    keep: bool,
) -> Result<Value> {
    let Some(design) = transaction.design(client)? else {
        return Ok(refuse(format!(
            "No design found for client {}.",
            brief(client)
        )));
    };
    let changes = check_changes(DESIGN, &object(args, "designUpdates"));
    if !changes.faults.is_empty() {
        return Ok(refuse(format!("{}.", changes.faults.join("; "))));
    }
    if !changes.accepted.is_empty() && !changes.rejected.is_empty() {
        let rejected = brief(&changes.rejected.join(", "));
        let error = format!("No part of the design that can be changed: {rejected}.");
        return Ok(with_rejected(refuse(error), &changes));
    }
    let changed = change(&design, &changes).filter(|_| !changes.accepted.is_empty());
    let Some(changed) = changed else {
        return Ok(refuse("No valid design fields to update."));
    };
    if keep {
        transaction.put_design(&changed)?;
    }
    Ok(json!({ "design": changed, "message": "Design updated successfully." }))
}

fn with_rejected(mut refusal: Value, changes: &Changes) -> Value {
    refusal["rejectedFields"] = json!(changes.rejected);
    refusal
}

/// Checks changes of a component. With one that is wrong all are refused, so that nothing is confirmed in
/// part.
fn check(updates: &Map<String, Value>) -> std::result::Result<Changes, Value> {
    let changes = check_changes(COMPONENT, updates);
    let reasons = changes.reasons();
    if reasons.is_empty() && !changes.accepted.is_empty() {
        return Ok(changes);
    }
    let is_none_valid = changes.accepted.is_empty() && changes.faults.is_empty();
    let error = match (is_none_valid, reasons.is_empty()) {
        (true, true) => "No valid fields to update".to_string(),
        (true, false) => format!("No valid fields to update: {reasons}"),
        _ => reasons,
    };
    Err(with_rejected(refuse(error), &changes))
}

/// Adds a component to those of a client.
pub(super) fn add_component(
    transaction: &mut dyn AgencyTransaction,
    client: &str,
    args: &Map<String, Value>,
    keep: bool,
) -> Result<Value> {
    let mut updates = object(args, "updates");
    let kind = match new_type(&updates) {
        Ok(kind) => kind,
        Err(error) => return Ok(refuse(error)),
    };
    updates.remove("component_type");
    let changes = match updates.is_empty() {
        true => Changes::default(),
        false => match check(&updates) {
            Ok(changes) => changes,
            Err(refusal) => return Ok(refusal),
        },
    };
    if transaction.client(client)?.is_none() {
        return Ok(no_client(client));
    }
    let there = transaction.components(client)?;
    let id = match text(args, "componentId") {
        "" => next_id(&there, transaction.last_removed(client)?),
        id => canonical(id),
    };
    let is_taken = there.iter().any(|component| component.component_id == id);
    if !is_id(&id) || is_taken {
        let why = if is_taken {
            "exists already"
        } else {
            "is no id of a component"
        };
        return Ok(refuse(format!("Component with ID {} {why}", brief(&id))));
    }
    let last = there.iter().map(|component| component.display_order).max();
    let fresh = Component {
        component_id: id,
        client_id: client.to_string(),
        component_type: kind.to_string(),
        display_order: last.unwrap_or(0).saturating_add(1),
        ..Component::default()
    };
    let added = change(&fresh, &changes).unwrap_or(fresh);
    if keep {
        transaction.put_component(&added)?;
    }
    let message = "Component created successfully";
    Ok(json!({ "success": true, "message": message, "component": added }))
}

/// Finds a free id: one more than the greatest there is or was. The id of a removed component may
/// still wait for a yes somewhere, which must not reach another.
fn next_id(there: &[Component], removed: Option<i64>) -> String {
    let numbers = there
        .iter()
        .filter_map(|component| component.component_id.parse::<i64>().ok());
    let greatest = numbers.chain(removed).max().unwrap_or(0);
    let next = greatest.saturating_add(1).to_string();
    let is_free = |id: &String| there.iter().all(|component| component.component_id != *id);
    let mut small = (1_i64..).map(|number| number.to_string());
    match next.len() <= ID_MAX {
        true => next,
        false => small.find(is_free).unwrap_or(next),
    }
}

/// Changes, deletes or secures a component that is there.
pub(super) fn write_component(
    transaction: &mut dyn AgencyTransaction,
    call: &Call,
    component: Component,
    keep: bool,
) -> Result<Value> {
    let id = &component.component_id;
    match call.tool {
        Tool::UpdateComponent => {
            let changes = match check(&call.object("updates")) {
                Ok(changes) => changes,
                Err(refusal) => return Ok(refusal),
            };
            let Some(changed) = change(&component, &changes) else {
                return Ok(refuse("No valid fields to update"));
            };
            if keep {
                transaction.put_component(&changed)?;
            }
            let message = format!("Component {id} updated successfully");
            Ok(json!({ "success": true, "message": message, "component": changed }))
        }
        Tool::DeleteComponent => {
            if keep {
                transaction.remove_component(&component.client_id, id)?;
            }
            let message = format!("Component with ID {id} deleted successfully");
            Ok(json!({ "success": true, "message": message }))
        }
        _ => secure(transaction, component, call, keep),
    }
}

/// Puts a component under a security group, or takes it out.
fn secure(
    transaction: &mut dyn AgencyTransaction,
    mut component: Component,
    call: &Call,
    keep: bool,
) -> Result<Value> {
    let (client, id) = (component.client_id.clone(), component.component_id.clone());
    let title = call.text("security_group_title").trim();
    let is_it = |other: &str| other.to_lowercase() == title.to_lowercase();
    let groups = transaction.security_groups(&client)?;
    let Some(group) = groups
        .into_iter()
        .find(|group| is_it(&group.security_group_title))
    else {
        let title = brief(title);
        return Ok(refuse(format!(
            "Security group '{title}' not found for client {client}"
        )));
    };
    let title = group.security_group_title;
    let guards = transaction.guards(&client, &id)?;
    let is_on = guards.contains(&group.security_group_id);
    let is_added = call.tool == Tool::AddSecurityGroup;
    if is_on == is_added {
        let state = if is_on { "already on" } else { "not on" };
        return Ok(refuse(format!(
            "Security group '{title}' is {state} component {id}"
        )));
    }
    component.is_secured = is_added || guards.len() > 1;
    let is_secured = component.is_secured;
    let done = if is_added { "added to" } else { "removed from" };
    let message = format!("Security group '{title}' {done} component {id}");
    if keep {
        let guard = Guard {
            client_id: client,
            component_id: id,
            security_group_id: group.security_group_id,
        };
        match is_added {
            true => transaction.put_guard(&guard)?,
            false => transaction.remove_guard(&guard).map(|_| ())?,
        }
        transaction.put_component(&component)?;
    }
    Ok(json!({ "success": true, "message": message, "is_secured": is_secured }))
}
