//! The tools that write. Each checks all that it is given at the moment of writing, whatever was
//! checked before: the yes may come late.

use serde_json::{Map, Value, json};

use super::tools::{no_client, no_design, refuse};
use crate::chat::record::{Component, Guard, ID_MAX, canonical, is_id};
use crate::chat::value::{
    Changes, brief, changed_component, changed_design, component_changes, design_changes, new_type,
};
use crate::chat::{object, text};
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
        return Ok(no_design(client));
    };
    let changes = design_changes(&object(args, "designUpdates"));
    if !changes.faults.is_empty() {
        return Ok(refuse(format!("{}.", changes.faults.join("; "))));
    }
    if !changes.taken.is_empty() && !changes.rejected.is_empty() {
        let rejected = brief(&changes.rejected.join(", "));
        let mut refusal = refuse(format!(
            "No part of the design that can be changed: {rejected}."
        ));
        refusal["rejectedFields"] = json!(changes.rejected);
        return Ok(refusal);
    }
    let changed = changed_design(&design, &changes).filter(|_| !changes.taken.is_empty());
    let Some(changed) = changed else {
        return Ok(refuse("No valid design fields to update."));
    };
    if keep {
        transaction.put_design(&changed)?;
    }
    Ok(json!({ "design": changed, "message": "Design updated successfully." }))
}

/// What is wrong with changes of a component: a value, a field, or that there are none. With one of them all
/// are refused, so that nothing is confirmed in part.
fn unusable(changes: &Changes) -> Option<Value> {
    let has_bad_value = changes.faults.len() > changes.rejected.len();
    if changes.faults.is_empty() && !changes.taken.is_empty() {
        return None;
    }
    let mut error = changes.faults.join("; ");
    if changes.taken.is_empty() && !has_bad_value {
        error = match error.is_empty() {
            true => "No valid fields to update".to_string(),
            false => format!("No valid fields to update: {error}"),
        };
    }
    let mut refusal = refuse(error);
    refusal["rejectedFields"] = json!(changes.rejected);
    Some(refusal)
}

/// Changes a component: objects are merged.
pub(super) fn update(
    transaction: &mut dyn AgencyTransaction,
    component: Component,
    args: &Map<String, Value>,
    keep: bool,
) -> Result<Value> {
    let changes = component_changes(&object(args, "updates"));
    if let Some(fault) = unusable(&changes) {
        return Ok(fault);
    }
    let Some(changed) = changed_component(&component, &changes) else {
        return Ok(refuse("No valid fields to update"));
    };
    if keep {
        transaction.put_component(&changed)?;
    }
    let message = format!("Component {} updated successfully", changed.component_id);
    Ok(json!({ "success": true, "message": message, "component": changed }))
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
    let changes = component_changes(&updates);
    if let Some(fault) = unusable(&changes).filter(|_| !updates.is_empty()) {
        return Ok(fault);
    }
    if transaction.client(client)?.is_none() {
        return Ok(no_client(client));
    }
    let there = transaction.components(client)?;
    let id = match text(args, "componentId") {
        "" => next_id(&there, transaction.last_removed(client)?),
        id => canonical(id),
    };
    if !is_id(&id) || there.iter().any(|component| component.component_id == id) {
        let why = if is_id(&id) {
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
    let Some(added) = changed_component(&fresh, &changes) else {
        return Ok(refuse("No valid fields to insert"));
    };
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
    let free = |id: &String| there.iter().all(|component| component.component_id != *id);
    let mut small = (1_i64..).map(|number| number.to_string());
    match next.len() <= ID_MAX {
        true => next,
        false => small.find(free).unwrap_or(next),
    }
}

/// Deletes a component.
pub(super) fn delete(
    transaction: &mut dyn AgencyTransaction,
    component: &Component,
    keep: bool,
) -> Result<Value> {
    let id = &component.component_id;
    if keep {
        transaction.remove_component(&component.client_id, id)?;
    }
    let message = format!("Component with ID {id} deleted successfully");
    Ok(json!({ "success": true, "message": message }))
}

/// Puts a component under a security group, or takes it out.
pub(super) fn secure(
    transaction: &mut dyn AgencyTransaction,
    mut component: Component,
    title: &str,
    add: bool,
    keep: bool,
) -> Result<Value> {
    let (client, id) = (component.client_id.clone(), component.component_id.clone());
    let wanted = title.trim().to_lowercase();
    let groups = transaction.security_groups(&client)?;
    let group = groups
        .into_iter()
        .find(|group| group.security_group_title.to_lowercase() == wanted);
    let Some(group) = group else {
        let title = brief(title.trim());
        return Ok(refuse(format!(
            "Security group '{title}' not found for client {client}"
        )));
    };
    let title = group.security_group_title;
    let guards = transaction.guards(&client, &id)?;
    let (is_on, others) = (guards.contains(&group.security_group_id), guards.len());
    match (add, is_on) {
        (true, true) => {
            return Ok(refuse(format!(
                "Security group '{title}' is already on component {id}"
            )));
        }
        (false, false) => {
            return Ok(refuse(format!(
                "Security group '{title}' is not on component {id}"
            )));
        }
        _ => {}
    }
    component.is_secured = add || others > 1;
    let is_secured = component.is_secured;
    if keep {
        let guard = Guard {
            client_id: client,
            component_id: id.clone(),
            security_group_id: group.security_group_id,
        };
        match add {
            true => transaction.put_guard(&guard)?,
            false => transaction.remove_guard(&guard).map(|_| ())?,
        }
        transaction.put_component(&component)?;
    }
    let done = if add { "added to" } else { "removed from" };
    let message = format!("Security group '{title}' {done} component {id}");
    Ok(json!({ "success": true, "message": message, "is_secured": is_secured }))
}
