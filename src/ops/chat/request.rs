//! Requests: reads are answered, writes are tried and offered.

use serde_json::{Map, Value, json};

use super::TurnState;
use super::reply::{
    ask_field, choose_agent, describe_answers, describe_call, describe_changes, describe_component,
    describe_design, id_of, write_form,
};
use super::tools::{Done, find_error, run};
use crate::chat::value::{
    check_changes, check_fields, find_label, format_value, get, set, truncate,
};
use crate::chat::vocabulary::{Field, find_element_fields, types};
use crate::chat::{
    Call, ComponentOption, FieldChange, Pending, PendingKind, Question, Tool, ToolResult,
};
use crate::error::Result;
use crate::id::digest;

pub(super) struct Trial {
    pub(super) fault: Option<String>,
    changes: Vec<FieldChange>,
    pub(super) digest: String,
}

impl TurnState<'_> {
    /// Calls a tool with the arguments that it takes.
    pub(super) fn use_tool(&mut self, tool: Tool, call: &Call) -> Done<Value> {
        let mut args = call.args.clone();
        args.retain(|name, _| tool.takes(name));
        let made = Call { tool, args };
        let result = run(self.transaction, &made, false)?;
        self.turn.tool_calls.push(ToolResult {
            name: tool,
            args: made.args,
            result: result.clone(),
        });
        match find_error(&result) {
            Some(error) => Err(self.refuse(call, error)),
            None => Ok(result),
        }
    }

    /// Carries out a call, or asks for what is missing. A write is only offered.
    pub(super) fn perform(&mut self, mut call: Call) -> Done<()> {
        if let (false, Some(client)) = (call.has("clientId"), &self.chat.client) {
            call.set("clientId", client.as_str());
        }
        // The component must have the id and match the criteria.
        let mut criteria = call.object("criteria");
        if !criteria.is_empty()
            && let Some(id) = call.args.remove("componentId")
        {
            criteria.insert("componentId".to_string(), id);
            call.set("criteria", criteria);
        }
        self.turn.agent = choose_agent(&call);
        check_fields(&call).map_err(|why| self.refuse(&call, &why))?;
        let client = call.text("clientId").to_string();
        if client.is_empty() {
            let text = "I need your client ID to perform this operation, such as: client 6";
            return self.ask(call, PendingKind::Client, text);
        }
        self.chat.client = Some(client.clone());
        let has_group = !call.text("security_group_title").is_empty();
        match call.tool {
            Tool::GetClientDesign | Tool::GetQa => {
                let design = self.use_tool(Tool::GetClientDesign, &call)?;
                let answers = self.use_tool(Tool::GetQa, &call)?;
                self.append_reply(describe_design(&client, &design, &answers))
            }
            Tool::UpdateDesign => self.change_design(call),
            Tool::AddComponent => {
                let mut nested = json!({});
                for (path, value) in call.object("updates") {
                    set(&mut nested, &path, value);
                }
                call.set("updates", nested);
                self.propose(call, true)
            }
            Tool::AddSecurityGroup | Tool::RemoveSecurityGroup if !has_group => {
                let text = "Which security group do you mean? Such as: \"premium\" security group";
                self.ask(call, PendingKind::Value, text)
            }
            _ if call.has("componentId") => self.propose(call, false),
            _ => self.search(call),
        }
    }

    /// Asks for what a call still needs.
    fn ask(&mut self, call: Call, kind: PendingKind, text: impl AsRef<str>) -> Done<()> {
        let expires = self.expires.clone();
        self.chat.question = Some(Question {
            call,
            expires,
            kind,
        });
        self.append_reply(text)
    }

    /// Finds the field of the design that changes, or asks.
    fn change_design(&mut self, mut call: Call) -> Done<()> {
        let mut updates = Map::new();
        for (name, value) in call.object("designUpdates") {
            let fields = find_element_fields(&name);
            match fields[..] {
                [field] if value.is_string() => updates.insert(field.key.to_string(), value),
                [] => return self.append_reply(ask_field(&fields)),
                [_] => return self.ask(call, PendingKind::Value, ask_field(&fields)),
                _ => return self.ask(call, PendingKind::Field, ask_field(&fields)),
            };
        }
        call.set("designUpdates", updates);
        self.try_and_ask(call)
    }

    pub(super) fn find(&mut self, call: &Call) -> Done<Vec<Value>> {
        let found = self.use_tool(Tool::SearchComponent, call)?;
        Ok(found["components"].as_array().cloned().unwrap_or_default())
    }

    /// Finds the components that a call describes: shows them, or continues with one.
    fn search(&mut self, call: Call) -> Done<()> {
        let is_search = call.tool == Tool::SearchComponent;
        let is_described = !call.object("criteria").is_empty();
        if !is_described && !is_search && call.has("criteria") {
            return self.offer_all(call);
        }
        let found = self.find(&call)?;
        match found.as_slice() {
            [] if is_described => self.offer_all(call),
            [one] if is_described => {
                self.append_reply(format!("I found one: {}.\n", describe_component(one)))?;
                match is_search {
                    true => Ok(()),
                    false => self.propose(call.choose_component(&id_of(one)), true),
                }
            }
            all => self.list(all, call),
        }
    }

    fn offer_all(&mut self, call: Call) -> Done<()> {
        let criteria = call.object("criteria");
        let words = criteria.iter().map(|(key, value)| match value {
            Value::Bool(_) => find_label(key),
            _ => format_value(value),
        });
        let what = truncate(&words.collect::<Vec<_>>().join(" "));
        let why = match what.as_str() {
            "" => "I need to know which component you mean.".to_string(),
            _ => format!("No components found matching '{what}'."),
        };
        let mut all = Call::new(Tool::SearchComponent);
        all.set("clientId", call.text("clientId"));
        all.set("criteria", json!({}));
        self.make_pending(all, &[], Some(call))?;
        self.append_reply(format!(
            "{why} Would you like me to show all your components so you can select one?"
        ))
    }

    /// Lists components with numbers; one of them can be chosen for a call on it.
    pub(super) fn list(&mut self, components: &[Value], call: Call) -> Done<()> {
        let client = call.text("clientId");
        let lines = components.iter().map(describe_component).zip(1..);
        let lines: String = lines.map(|(one, at)| format!("\n{at}. {one}")).collect();
        if components.is_empty() {
            return self.append_reply(format!("Client {client} has no components."));
        }
        if call.tool == Tool::SearchComponent {
            return self.append_reply(format!("Components of client {client}:{lines}"));
        }
        self.make_pending(call, components, None)?;
        let select = "Please select one by its number, its ID or its title.";
        self.append_reply(format!("Which component do you mean?{lines}\n{select}"))
    }

    /// Continues a call whose component is known: asks for what is missing, after showing the component if it was not,
    /// or offers to write.
    pub(super) fn propose(&mut self, call: Call, is_shown: bool) -> Done<()> {
        let updates = call.object("updates");
        let mut kind = Some(PendingKind::Value);
        let question = match (call.tool, call.find_missing_value()) {
            _ if call.lacks_type() => {
                let types = types().collect::<Vec<_>>().join(", ");
                format!("Please specify the type of component you want to create: {types}.")
            }
            (_, Some(key)) => format!("Please specify the {}.", find_label(&key)),
            (Tool::UpdateComponent, _) if updates.is_empty() => {
                kind = Some(PendingKind::Field);
                "I couldn't identify which field you want to update.".to_string()
            }
            (Tool::GetComponent, _) => {
                kind = None;
                "Next: change it.".to_string()
            }
            _ => String::new(),
        };
        if !is_shown && (!question.is_empty() || call.tool == Tool::DeleteComponent) {
            let found = self.use_tool(Tool::GetComponent, &call)?;
            self.append_reply(describe_component(&found["components"][0]) + "\n")?;
        }
        if question.is_empty() {
            return self.try_and_ask(call);
        }
        let form = write_form(call.clone());
        let text = format!("{question} Texts are in quotes. Say for example: {form}");
        match kind {
            Some(kind) => self.ask(call, kind, text),
            None => self.append_reply(text),
        }
    }

    /// Tries a write, and asks for a yes.
    pub(super) fn try_and_ask(&mut self, call: Call) -> Done<()> {
        let (what, is_design) = (describe_call(&call), call.tool == Tool::UpdateDesign);
        let trial = self.try_out(&call)?;
        if let Some(error) = trial.fault {
            return Err(self.refuse(&call, &error));
        }
        let mut answers = String::new();
        if is_design {
            self.use_tool(Tool::GetClientDesign, &call)?;
            answers = describe_answers(&self.use_tool(Tool::GetQa, &call)?);
        }
        let is_update = is_design || call.tool == Tool::UpdateComponent;
        if is_update && trial.changes.is_empty() {
            return self.append_reply(format!("That is so already: {what}. Nothing was changed."));
        }
        let changes = trial.changes.iter().filter(|_| is_update);
        let now = changes.map(|it| match &it.before {
            Some(before) => format!("; {} is \"{}\" now", it.label, truncate(before)),
            None => format!("; {} is not set now", it.label),
        });
        let (client, now) = (call.text("clientId"), now.collect::<String>());
        self.append_reply(match is_design {
            true => format!(
                "You want to change {}. Should I proceed?\n\
                 Nothing is changed yet for client {client}{now}.{answers}",
                describe_changes(&call)
            ),
            false => format!(
                "Understood: {what}.\nAction: none yet{now}.\n\
                 Next: should I proceed? Answer yes or no."
            ),
        })?;
        Ok(self.make_pending(call, &[], None)?)
    }

    /// Tries a call, and compares the state before and after it.
    pub(super) fn try_out(&mut self, call: &Call) -> Result<Trial> {
        let (client, id) = (call.text("clientId"), call.text("componentId"));
        let before = match call.tool {
            Tool::UpdateDesign => json!(self.transaction.design(client)?),
            _ => json!(self.transaction.component(client, id)?),
        };
        let result = run(self.transaction, call, true)?;
        let compare = |(field, value): (&Field, Value)| {
            let was = get(&before, field.path).filter(|was| !was.is_null());
            (was != Some(&value)).then(|| FieldChange {
                label: field.label().to_string(),
                before: was.map(format_value),
                after: format_value(&value),
            })
        };
        let wanted = check_changes(call).unwrap_or_default().into_iter();
        let changes: Vec<FieldChange> = wanted.filter_map(compare).collect();
        let gone = (call.tool == Tool::DeleteComponent).then_some(before);
        Ok(Trial {
            fault: find_error(&result).map(String::from),
            digest: digest(json!([changes, gone]).to_string()),
            changes,
        })
    }

    /// Makes a call pending: for a yes, or for the choice of one of several components.
    fn make_pending(&mut self, call: Call, components: &[Value], next: Option<Call>) -> Result<()> {
        let trial = self.try_out(&call)?;
        let options = components.iter().map(|one| {
            let titles = ["title", "caption", "text"].map(|name| one["props"][name].as_str());
            let title = titles.into_iter().flatten().find(|it| !it.is_empty());
            ComponentOption {
                id: id_of(one),
                kind: format_value(&one["type"]),
                title: title.unwrap_or_default().to_string(),
            }
        });
        self.chat.shown = Some(trial.digest);
        self.chat.pending = Some(Pending {
            kind: match components {
                [] => PendingKind::Confirm,
                _ => PendingKind::Select,
            },
            agent: choose_agent(&call),
            tool: call.tool,
            args: call.args,
            candidates: components.iter().map(id_of).collect(),
            options: options.collect(),
            changes: trial.changes,
            destructive: matches!(call.tool, Tool::DeleteComponent | Tool::RemoveSecurityGroup),
            created_at: self.now.clone(),
            expires: self.expires.clone(),
            next,
        });
        Ok(())
    }
}
