//! The tools that write. Each checks all that it is given at the moment of writing, whatever was
//! checked before: the yes may come late.

use serde_json::{Value, json};

use super::tools::{Done, Work, refuse};
use crate::chat::record::{Component, Guard, canonical, is_id};
use crate::chat::value::{Changes, brief, change, check_changes};
use crate::chat::vocabulary::{component_type, types};
use crate::chat::{Tool, text};

impl Work<'_> {
    /// Checks the changes of the call; `none` says that there are none.
    fn changes(&self, none: &str) -> Done<Changes> {
        let updates = self.call.object(self.call.tool.updates());
        let changes = check_changes(self.call.tool, &updates.into())?;
        match changes.is_empty() {
            true => Err(refuse(none)),
            false => Ok(changes),
        }
    }

    /// Changes the design of a client: each column is merged.
    pub(super) fn update_design(&mut self) -> Done<Value> {
        let design = self.design()?;
        let changed = change(&design, &self.changes("No valid design fields to update.")?)?;
        if self.keep {
            self.transaction.put_design(&changed)?;
        }
        Ok(json!({ "design": changed, "message": "Design updated successfully." }))
    }

    /// Adds a component to those of a client.
    pub(super) fn add_component(&mut self) -> Done<Value> {
        let mut updates = self.call.object("updates");
        let word = text(&updates, "component_type").trim().to_lowercase();
        if word.is_empty() {
            return Err(refuse("component_type is required"));
        }
        let Some(kind) = component_type(&word) else {
            let (word, types) = (brief(&word), types().collect::<Vec<_>>().join(", "));
            let error = format!("component_type cannot be `{word}`; allowed: {types}");
            return Err(refuse(error));
        };
        updates.remove("component_type");
        let changes = check_changes(self.call.tool, &updates.into())?;
        let there = self.components()?;
        let id = match self.call.text("componentId") {
            // The id of a removed component may still wait for a yes somewhere, which must not reach another.
            "" => {
                let ids = there.iter().filter_map(|one| one.component_id.parse().ok());
                let last = ids.chain(self.transaction.last_removed(self.client)?).max();
                last.unwrap_or(0_i64).saturating_add(1).to_string()
            }
            id => canonical(id),
        };
        let is_taken = there.iter().any(|component| component.component_id == id);
        if !is_id(&id) || is_taken {
            let why = match is_taken {
                true => "exists already",
                false => "is no id of a component",
            };
            return Err(refuse(format!("Component with ID {} {why}", brief(&id))));
        }
        let last = there.iter().map(|component| component.display_order).max();
        let fresh = Component {
            component_id: id,
            client_id: self.client.to_string(),
            component_type: kind.to_string(),
            display_order: last.unwrap_or(0).saturating_add(1),
            ..Component::default()
        };
        let added = change(&fresh, &changes)?;
        if self.keep {
            self.transaction.put_component(&added)?;
        }
        let message = "Component created successfully";
        Ok(json!({ "success": true, "message": message, "component": added }))
    }

    pub(super) fn update_component(&mut self) -> Done<Value> {
        let component = self.component()?;
        let changed = change(&component, &self.changes("No valid fields to update")?)?;
        if self.keep {
            self.transaction.put_component(&changed)?;
        }
        let message = format!("Component {} updated successfully", changed.component_id);
        Ok(json!({ "success": true, "message": message, "component": changed }))
    }

    pub(super) fn delete_component(&mut self) -> Done<Value> {
        let Component {
            client_id: client,
            component_id: id,
            ..
        } = self.component()?;
        if self.keep {
            self.transaction.remove_component(&client, &id)?;
        }
        let message = format!("Component with ID {id} deleted successfully");
        Ok(json!({ "success": true, "message": message }))
    }

    /// Puts a component under a security group, or takes it out.
    pub(super) fn change_guard(&mut self) -> Done<Value> {
        let mut component = self.component()?;
        let (client, id) = (component.client_id.clone(), component.component_id.clone());
        let title = self.call.text("security_group_title").trim();
        let is_it = |other: &str| other.to_lowercase() == title.to_lowercase();
        let groups = self.transaction.security_groups(&client)?;
        let group = groups
            .into_iter()
            .find(|it| is_it(&it.security_group_title));
        let group = group.ok_or_else(|| {
            let title = brief(title);
            refuse(format!(
                "Security group '{title}' not found for client {client}"
            ))
        })?;
        let title = group.security_group_title;
        let guards = self.transaction.guards(&client, &id)?;
        let is_on = guards.contains(&group.security_group_id);
        let is_added = self.call.tool == Tool::AddSecurityGroup;
        if is_on == is_added {
            let state = if is_on { "already on" } else { "not on" };
            let error = format!("Security group '{title}' is {state} component {id}");
            return Err(refuse(error));
        }
        component.is_secured = is_added || guards.len() > 1;
        let done = if is_added { "added to" } else { "removed from" };
        let message = format!("Security group '{title}' {done} component {id}");
        if self.keep {
            let guard = Guard {
                client_id: client,
                component_id: id,
                security_group_id: group.security_group_id,
            };
            match is_added {
                true => self.transaction.put_guard(&guard)?,
                false => self.transaction.remove_guard(&guard).map(|_| ())?,
            }
            self.transaction.put_component(&component)?;
        }
        Ok(json!({ "success": true, "message": message, "is_secured": component.is_secured }))
    }
}
