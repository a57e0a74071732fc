//! The tools of the chat's agents, as in section 2.4 of the chat notes. Each sees one client only, and validates its
//! arguments, since a yes may come late.

use serde_json::{Value, json};

use crate::chat::record::{Component, Design, Guard, canonical, is_id};
use crate::chat::value::{
    Changes, apply_changes, check_changes, check_values, format_value, get, truncate,
};
use crate::chat::vocabulary::{component_type, contains_word, types};
use crate::chat::{Call, Tool, text};
use crate::error::{Error, Result};
use crate::store::Transaction;

pub(super) enum Stop {
    /// The arguments are invalid: the result with the error.
    Refused(Value),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

pub(super) type Done<T> = std::result::Result<T, Stop>;

fn refuse(error: impl Into<String>) -> Stop {
    Stop::Refused(json!({ "success": false, "error": error.into() }))
}

pub(super) fn find_error(result: &Value) -> Option<&str> {
    result.get("error").and_then(Value::as_str)
}

/// Runs a tool. A dry run of a write only validates it.
pub(super) fn run(
    transaction: &mut dyn Transaction,
    call: &Call,
    is_dry_run: bool,
) -> Result<Value> {
    let client = call.text("clientId");
    let mut work = Work {
        transaction,
        call,
        client,
        is_dry_run,
    };
    let done = match call.tool {
        _ if client.is_empty() => Err(refuse("clientId is required")),
        Tool::GetClientDesign => work.show_design(),
        Tool::GetQa => Ok(json!({ "answers": work.transaction.list_answered(client)? })),
        Tool::UpdateDesign => work.update_design(),
        Tool::AddComponent => work.add_component(),
        Tool::SearchComponent => work.search(),
        Tool::GetComponent => work.show_components(),
        Tool::UpdateComponent => work.update_component(),
        Tool::DeleteComponent => work.delete_component(),
        Tool::AddSecurityGroup | Tool::RemoveSecurityGroup => work.change_guard(),
    };
    match done {
        Ok(result) | Err(Stop::Refused(result)) => Ok(result),
        Err(Stop::Error(error)) => Err(error),
    }
}

struct Work<'a> {
    transaction: &'a mut dyn Transaction,
    call: &'a Call,
    client: &'a str,
    is_dry_run: bool,
}

impl Work<'_> {
    fn show_components(&self) -> Done<Value> {
        let components = match self.call.has("componentId") {
            true => vec![self.component()?],
            false => self.components()?,
        };
        Ok(json!({ "success": true, "components": components }))
    }

    /// Finds the components of the client, which must exist.
    fn components(&self) -> Done<Vec<Component>> {
        let client = self.client;
        match self.transaction.client(client)? {
            Some(_) => Ok(self.transaction.components(client)?),
            None => Err(refuse(format!("Client {} not found", truncate(client)))),
        }
    }

    fn component(&self) -> Done<Component> {
        let (client, id) = (self.client, self.call.text("componentId"));
        if id.is_empty() {
            return Err(refuse("componentId is required"));
        }
        let found = self.transaction.component(client, id)?;
        let (client, id) = (truncate(client), truncate(id));
        let missing = format!("Component with ID {id} not found for client {client}");
        found.ok_or_else(|| refuse(missing))
    }

    fn design(&self) -> Done<Design> {
        let design = self.transaction.design(self.client)?;
        let missing = format!("No design found for client {}.", truncate(self.client));
        design.ok_or_else(|| refuse(missing))
    }

    fn show_design(&self) -> Done<Value> {
        let mut row = json!(self.design()?);
        for name in ["banner", "background"] {
            let media = match row[format!("{name}_library_id")].as_str() {
                Some(library) => self.transaction.media(self.client, library)?,
                None => None,
            };
            row[format!("{name}_mediaUrl")] = json!(media.map(|media| media.s3_key));
        }
        Ok(row)
    }

    /// Finds components: type, id and `column.key` exactly, other columns and what it is `called` (its title or
    /// caption) in any letter case.
    fn search(&self) -> Done<Value> {
        let own = self.call.object("criteria");
        let mut criteria = own.clone();
        criteria.retain(|key, _| !contains_word("component_type|componentId|called", key));
        let criteria = check_values(self.call.tool, criteria).map_err(Stop::Refused)?;
        let is_alike = |found: &Value, wanted: &Value| {
            format_value(found).to_lowercase() == format_value(wanted).to_lowercase()
        };
        let fits = |one: &&Component| {
            let row = json!(one);
            let is = |key: &str, found: &str| own.get(key).is_none_or(|wanted| wanted == found);
            let titles = [one.props.get("title"), one.props.get("caption")];
            let called = |called| titles.iter().flatten().any(|title| is_alike(title, called));
            is("component_type", &one.component_type)
                && is("componentId", &one.component_id)
                && own.get("called").is_none_or(called)
                && criteria.iter().all(|(field, wanted)| {
                    get(&row, field.path).is_some_and(|found| match field.path.contains('.') {
                        true => format_value(found) == format_value(wanted),
                        false => is_alike(found, wanted),
                    })
                })
        };
        let all = self.components()?;
        let found = all.iter().filter(fits).map(|one| {
            json!({ "componentId": one.component_id, "type": one.component_type, "props": one.props })
        });
        Ok(json!({ "success": true, "components": found.collect::<Vec<_>>() }))
    }

    fn require_changes(&self, none: &str) -> Done<Changes> {
        let changes = check_changes(self.call).map_err(Stop::Refused)?;
        match changes.is_empty() {
            true => Err(refuse(none)),
            false => Ok(changes),
        }
    }

    fn update_design(&mut self) -> Done<Value> {
        let design = self.design()?;
        let changed = apply_changes(
            &design,
            &self.require_changes("No valid design fields to update.")?,
        )?;
        if !self.is_dry_run {
            self.transaction.put_design(&changed)?;
        }
        Ok(json!({ "design": changed, "message": "Design updated successfully." }))
    }

    fn put_component(&mut self, component: &Component, message: String) -> Done<Value> {
        if !self.is_dry_run {
            self.transaction.put_component(component)?;
        }
        Ok(json!({ "success": true, "message": message, "component": component }))
    }

    fn add_component(&mut self) -> Done<Value> {
        let word = text(&self.call.object("updates"), "component_type").to_lowercase();
        let (shown, types) = (truncate(&word), types().collect::<Vec<_>>().join(", "));
        let wrong = match word.as_str() {
            "" => "component_type is required".to_string(),
            _ => format!("component_type cannot be `{shown}`; allowed: {types}"),
        };
        let kind = component_type(&word).ok_or_else(|| refuse(wrong))?;
        let changes = check_changes(self.call).map_err(Stop::Refused)?;
        let there = self.components()?;
        let id = match self.call.text("componentId") {
            // A pending call may still name a removed component, so its id is not used again.
            "" => {
                let ids = there.iter().filter_map(|one| one.component_id.parse().ok());
                let last = ids.chain(self.transaction.last_removed(self.client)?).max();
                last.unwrap_or(0_i64).saturating_add(1).to_string()
            }
            id => canonical(id),
        };
        let is_there = there.iter().any(|one| one.component_id == id);
        if is_there || !is_id(&id) {
            let why = ["is not an id of a component", "exists already"][usize::from(is_there)];
            return Err(refuse(format!("Component with ID {} {why}", truncate(&id))));
        }
        let last = there.iter().map(|component| component.display_order).max();
        let fresh = Component {
            component_id: id,
            client_id: self.client.to_string(),
            component_type: kind.to_string(),
            display_order: last.unwrap_or(0).saturating_add(1),
            ..Component::default()
        };
        let message = "Component created successfully".to_string();
        self.put_component(&apply_changes(&fresh, &changes)?, message)
    }

    fn update_component(&mut self) -> Done<Value> {
        let component = self.component()?;
        let changed = apply_changes(
            &component,
            &self.require_changes("No valid fields to update")?,
        )?;
        let message = format!("Component {} updated successfully", changed.component_id);
        self.put_component(&changed, message)
    }

    fn delete_component(&mut self) -> Done<Value> {
        let id = self.component()?.component_id;
        if !self.is_dry_run {
            self.transaction.remove_component(self.client, &id)?;
        }
        let message = format!("Component with ID {id} deleted successfully");
        Ok(json!({ "success": true, "message": message }))
    }

    /// Adds a component to a security group, or removes it.
    fn change_guard(&mut self) -> Done<Value> {
        let mut component = self.component()?;
        let (client, id) = (self.client, component.component_id.clone());
        let title = truncate(self.call.text("security_group_title").trim());
        let is_it = |other: &str| other.to_lowercase() == title.to_lowercase();
        let mut groups = self.transaction.security_groups(client)?.into_iter();
        let group = groups.find(|group| is_it(&group.security_group_title));
        let missing = format!("Security group '{title}' not found for client {client}");
        let group = group.ok_or_else(|| refuse(missing))?;
        let title = group.security_group_title;
        let guards = self.transaction.security_groups_of(client, &id)?;
        let is_on = guards.contains(&group.security_group_id);
        let is_added = self.call.tool == Tool::AddSecurityGroup;
        let state = match (is_on, is_added) {
            (true, true) => "is already on",
            (false, false) => "is not on",
            (false, true) => "added to",
            (true, false) => "removed from",
        };
        let message = format!("Security group '{title}' {state} component {id}");
        if is_on == is_added {
            return Err(refuse(message));
        }
        component.is_secured = is_added || guards.len() > 1;
        let guard = Guard {
            client_id: client.to_string(),
            component_id: id,
            security_group_id: group.security_group_id,
        };
        match is_added {
            _ if self.is_dry_run => {}
            true => self.transaction.put_guard(&guard)?,
            false => drop(self.transaction.remove_guard(&guard)?),
        }
        let is_secured = component.is_secured;
        let done = self.put_component(&component, message)?;
        Ok(json!({ "success": true, "message": done["message"], "is_secured": is_secured }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::record::Client;
    use crate::store::Store;
    use crate::store::sqlite::SqliteStore;

    fn store() -> (tempfile::TempDir, SqliteStore) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::create(&folder.path().join("cleo.db")).unwrap();
        let mut transaction = store.write_records().unwrap();
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
        (folder, store)
    }

    /// Calls a tool, commits, and returns its result.
    fn call(store: &mut SqliteStore, tool: Tool, args: Value) -> Value {
        let args = args.as_object().cloned().unwrap();
        let mut transaction = store.write_records().unwrap();
        let result = run(&mut *transaction, &Call { tool, args }, false).unwrap();
        transaction.commit().unwrap();
        result
    }

    /// A tool, its arguments and its error.
    const WRONG: &str = r#"getClientDesign {} > clientId is required
getClientDesign {"clientId": 6} > clientId is required
getClientDesign {"clientId": "7"} > No design found for client 7.
updateDesign {"clientId": "6"} > No valid design fields to update.
updateDesign {"clientId": "6", "designUpdates": {"a'; DROP": "x"}} > a'; DROP is not a field of a design
updateDesign {"clientId": "6", "designUpdates": {"card_radius": "12px"}} > card radius cannot be `12px`; allowed: no-radius, small, medium, full
getComponent {"clientId": "7", "componentId": "101"} > Component with ID 101 not found for client 7
updateDesign {"clientId": "6", "designUpdates": {"card_style": ["solid"]}} > card style cannot be `["solid"]`; allowed: solid, stroked, soft-shadow, hard-shadow
updateComponent {"clientId": "6", "componentId": "101", "updates": {"title": null}} > title cannot be `null`; allowed: a line of text of at most 10,000 characters
updateComponent {"clientId": "6"} > componentId is required
updateComponent {"clientId": "6", "componentId": "101"} > No valid fields to update
updateComponent {"clientId": "6", "componentId": "101", "updates": {"a'; DROP": "x"}} > a'; DROP is not a field of a component
addComponent {"clientId": "6", "updates": {}} > component_type is required
addComponent {"clientId": "6", "componentId": "101", "updates": {"component_type": "card"}} > Component with ID 101 exists already
addComponent {"clientId": "6", "componentId": "1'", "updates": {"component_type": "card"}} > Component with ID 1' is not an id of a component
deleteComponent {"clientId": "7", "componentId": "101"} > Component with ID 101 not found for client 7
getComponent {"clientId": "8"} > Client 8 not found
searchComponent {"clientId": "8", "criteria": {}} > Client 8 not found
searchComponent {"clientId": "6", "criteria": {"a'; DROP": "x"}} > a'; DROP is not a field of a component"#;

    #[test]
    fn tools_report_errors_as_specified() {
        for line in WRONG.lines() {
            let (given, error) = line.split_once(" > ").unwrap();
            let (tool, args) = given.split_once(' ').unwrap();
            let tool = serde_json::from_value(tool.into()).unwrap();
            let (_folder, mut store) = store();
            let result = call(&mut store, tool, serde_json::from_str(args).unwrap());
            assert_eq!(result["error"], error, "{line}");
            assert_eq!(result["success"], false);
            let component = store.read().unwrap().component("6", "101").unwrap();
            assert_eq!(component.unwrap().props["title"], "Home");
        }
    }

    #[test]
    fn search_compares_keys_and_columns_in_any_case() {
        let (_folder, mut store) = store();
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
            let result = call(&mut store, Tool::SearchComponent, args);
            assert_eq!(
                result["components"].as_array().map(Vec::len),
                Some(found),
                "{criteria}"
            );
        }
    }

    #[test]
    fn component_update_merges_paths_and_objects() {
        let (_folder, mut store) = store();
        let mut args = json!({"clientId": "6", "componentId": "101", "updates": {
            "props": {"caption": "c"}, "props.description": "d", "is_blur": "true",
            "manual_edits.properties.radius": "full",
        }});
        let changed = &call(&mut store, Tool::UpdateComponent, args.clone())["component"];
        let props = json!({"title": "Home", "caption": "c", "description": "d"});
        assert_eq!(changed["props"], props);
        assert_eq!(changed["is_blur"], true);
        assert_eq!(changed["component_type"], "cards");
        let edits = json!({"properties": {"radius": "full"}});
        assert_eq!(changed["manual_edits"], edits);
        let wrong = ["component_type", "props.icon", "record"];
        for key in wrong {
            args["updates"][key] = json!("x");
        }
        let refused = call(&mut store, Tool::UpdateComponent, args);
        assert_eq!(refused["rejectedFields"], json!(wrong));
    }
}
