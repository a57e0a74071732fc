//! The tools of the chat's agents. Each takes and gives what the chat notes say in section 2.4, sees
//! one client only, and says what is wrong in its result.

use serde_json::{Value, json};

use crate::chat::record::{Component, Design};
use crate::chat::value::{Rejection, brief, check_changes, flatten, get, plain};
use crate::chat::{Call, Tool};
use crate::error::{Error, Result};
use crate::store::agency::AgencyTransaction;

/// Why a tool did nothing.
pub(super) enum Stop {
    /// It was given something wrong: the result that says so, or what is wrong and was replied.
    Refused(Value),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

impl From<Rejection> for Stop {
    fn from(Rejection { error, keys }: Rejection) -> Stop {
        Stop::Refused(json!({ "success": false, "error": error, "rejectedFields": keys }))
    }
}

pub(super) type Done<T> = std::result::Result<T, Stop>;

/// Makes a result that says what is wrong.
pub(super) fn refuse(error: impl Into<String>) -> Stop {
    Stop::Refused(json!({ "success": false, "error": error.into() }))
}

/// Returns what is wrong, if a tool says so.
pub(super) fn fault(result: &Value) -> Option<&str> {
    result.get("error").and_then(Value::as_str)
}

/// Runs a tool. One that writes does all but the writing when `keep` is false.
pub(super) fn run(
    transaction: &mut dyn AgencyTransaction,
    call: &Call,
    keep: bool,
) -> Result<Value> {
    let client = call.text("clientId");
    let mut work = Work {
        transaction,
        call,
        client,
        keep,
    };
    match work.run() {
        Ok(result) | Err(Stop::Refused(result)) => Ok(result),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// A tool at work for a client.
pub(super) struct Work<'a> {
    pub(super) transaction: &'a mut dyn AgencyTransaction,
    pub(super) call: &'a Call,
    pub(super) client: &'a str,
    pub(super) keep: bool,
}

impl Work<'_> {
    fn run(&mut self) -> Done<Value> {
        if self.client.is_empty() {
            return Err(refuse("clientId is required"));
        }
        match self.call.tool {
            Tool::GetClientDesign => self.show_design(),
            Tool::GetQa => Ok(json!({ "answers": self.transaction.answers(self.client)? })),
            Tool::UpdateDesign => self.update_design(),
            Tool::AddComponent => self.add_component(),
            Tool::SearchComponent => self.search(),
            Tool::GetComponent if !self.call.has("componentId") => {
                Ok(json!({ "success": true, "components": self.components()? }))
            }
            Tool::GetComponent => Ok(json!({ "success": true, "components": [self.component()?] })),
            Tool::UpdateComponent => self.update_component(),
            Tool::DeleteComponent => self.delete_component(),
            Tool::AddSecurityGroup | Tool::RemoveSecurityGroup => self.change_guard(),
        }
    }

    /// Finds the components of the client, who must be there.
    pub(super) fn components(&self) -> Done<Vec<Component>> {
        let client = self.client;
        match self.transaction.client(client)? {
            Some(_) => Ok(self.transaction.components(client)?),
            None => Err(refuse(format!("Client {} not found", brief(client)))),
        }
    }

    /// Finds the component of the call.
    pub(super) fn component(&self) -> Done<Component> {
        let (client, id) = (self.client, self.call.text("componentId"));
        if id.is_empty() {
            return Err(refuse("componentId is required"));
        }
        let found = self.transaction.component(client, id)?;
        let (client, id) = (brief(client), brief(id));
        let missing = format!("Component with ID {id} not found for client {client}");
        found.ok_or_else(|| refuse(missing))
    }

    pub(super) fn design(&self) -> Done<Design> {
        let design = self.transaction.design(self.client)?;
        let missing = format!("No design found for client {}.", brief(self.client));
        design.ok_or_else(|| refuse(missing))
    }

    fn show_design(&self) -> Done<Value> {
        let design = self.design()?;
        let mut row = json!(design);
        for (name, library) in [
            ("banner_mediaUrl", &design.banner_library_id),
            ("background_mediaUrl", &design.background_library_id),
        ] {
            let media = match library {
                Some(library) => self.transaction.media(self.client, library)?,
                None => None,
            };
            row[name] = json!(media.map(|media| media.s3_key));
        }
        Ok(row)
    }

    /// Finds components: type, id and `column.key` exactly, other columns and what it is `called` (its title or
    /// caption) in any letter case.
    fn search(&self) -> Done<Value> {
        let all = self.components()?;
        let mut criteria = self.call.object("criteria");
        let named = ["component_type", "componentId", "called"];
        let [kind, id, called] = named.map(|name| criteria.remove(name));
        let criteria = Value::Object(criteria);
        check_changes(self.call.tool, &criteria)?;
        let criteria = flatten(&criteria);
        let is = |found: &str, wanted: &Option<Value>| wanted.as_ref().is_none_or(|it| it == found);
        let is_alike = |found: &Value, wanted: &Value| {
            plain(found).to_lowercase() == plain(wanted).to_lowercase()
        };
        let fits = |one: &&Component| {
            let row = json!(one);
            let has = |(path, wanted): &(String, &Value)| match get(&row, path) {
                Some(found) if path.contains('.') => plain(found) == plain(wanted),
                Some(found) => is_alike(found, wanted),
                None => false,
            };
            let titles = [one.props.get("title"), one.props.get("caption")];
            let has_title = |called| titles.iter().flatten().any(|it| is_alike(it, called));
            is(&one.component_type, &kind)
                && is(&one.component_id, &id)
                && called.as_ref().is_none_or(has_title)
                && criteria.iter().all(has)
        };
        let found = all.iter().filter(fits).map(|one| {
            json!({ "componentId": one.component_id, "type": one.component_type, "props": one.props })
        });
        Ok(json!({ "success": true, "components": found.collect::<Vec<_>>() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::record::Client;
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
updateDesign {"clientId": "6", "designUpdates": {"a'; DROP": "x"}} > a'; DROP is no field of a design
updateDesign {"clientId": "6", "designUpdates": {"card_radius": "12px"}} > card radius cannot be `12px`; allowed: no-radius, small, medium, full
getComponent {"clientId": "7", "componentId": "101"} > Component with ID 101 not found for client 7
updateComponent {"clientId": "6"} > componentId is required
updateComponent {"clientId": "6", "componentId": "101"} > No valid fields to update
updateComponent {"clientId": "6", "componentId": "101", "updates": {"a'; DROP": "x"}} > a'; DROP is no field of a component
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
