//! What a request asks for is looked up and shown; a write is tried and offered.

use serde_json::{Map, Value, json};

use super::Talk;
use super::reply::choose_agent;
use super::tools::{Done, fault, run};
use super::words::{
    describe_answers, describe_call, describe_changes, describe_component, describe_criteria,
    describe_design, id_of, menu,
};
use crate::chat::pending::Question;
use crate::chat::value::{brief, check_changes, get, label, nest, plain};
use crate::chat::vocabulary::{Field, elements};
use crate::chat::{
    Call, Called, Choosable, Difference, Pending, PendingKind, Tool, check_fields, text,
};
use crate::error::Result;
use crate::id::digest;

/// What would come of a call that writes.
pub(super) struct Trial {
    pub(super) fault: Option<String>,
    changes: Vec<Difference>,
    /// Digest of what would change, or be deleted.
    pub(super) digest: String,
}

impl Talk<'_> {
    /// Calls a tool with what it takes of a call.
    pub(super) fn use_tool(&mut self, tool: Tool, call: &Call) -> Done<Value> {
        let mut args = call.args.clone();
        args.retain(|name, _| tool.takes(name));
        let made = Call { tool, args };
        let result = run(self.transaction, &made, true)?;
        self.turn.tool_calls.push(Called {
            name: tool,
            args: made.args,
            result: result.clone(),
        });
        match fault(&result) {
            Some(error) => Err(self.refuse(call, error)),
            None => Ok(result),
        }
    }

    /// Does what a call asks for, or says what it lacks. What writes is only offered.
    pub(super) fn carry_out(&mut self, mut call: Call) -> Done<()> {
        if let (false, Some(client)) = (call.has("clientId"), &self.chat.client) {
            call.set("clientId", client.as_str());
        }
        self.turn.agent = choose_agent(&call);
        check_fields(&call).map_err(|why| self.refuse(&call, &why))?;
        let client = call.text("clientId").to_string();
        if client.is_empty() {
            let expires = self.expires.clone();
            self.chat.question = Some(Question { call, expires });
            return self.say(
                "I need your client ID to perform this operation. Which client is it? For example: client 6",
            );
        }
        self.chat.client = Some(client.clone());
        match call.tool {
            Tool::GetClientDesign | Tool::GetQa => {
                let design = self.use_tool(Tool::GetClientDesign, &call)?;
                let answers = self.use_tool(Tool::GetQa, &call)?;
                self.say(describe_design(&client, &design, &answers))
            }
            Tool::UpdateDesign => self.change_design(call),
            Tool::AddComponent if call.object("updates").contains_key("component_type") => {
                call.set("updates", nest(&call.object("updates")));
                self.offer(call)
            }
            Tool::AddComponent => self.say(format!(
                "Please specify the type of component you want to create: cards, buttons, texts, images, \
                 headers, footers, banner or link. For example: add a card with title \"News\" for client \
                 {client}"
            )),
            Tool::AddSecurityGroup | Tool::RemoveSecurityGroup
                if call.text("security_group_title").is_empty() =>
            {
                self.say(
                    "Which security group do you mean? Name it, for example: add \"premium\" security group \
                     to component 101",
                )
            }
            _ if call.has("componentId") => self.propose(call, false),
            _ => self.search(call),
        }
    }

    /// Finds out which part of the design becomes what, or asks.
    fn change_design(&mut self, mut call: Call) -> Done<()> {
        let mut updates = Map::new();
        for (name, value) in call.object("designUpdates") {
            let fields = elements(&name);
            let question = match fields[..] {
                [] => format!("I cannot change {}. {}", brief(&name), menu()),
                [field] if value.is_null() => {
                    let (label, kind) = (field.label(), field.kind);
                    format!("What should the {label} be? Allowed values: {kind}.")
                }
                [field] => {
                    updates.insert(field.key.to_string(), value);
                    continue;
                }
                [first, ..] => {
                    let choice = fields.iter().zip(1..).map(|(field, at)| {
                        format!("{at}. {} ({}): {}\n", field.label(), field.path, field.kind)
                    });
                    let (choice, label) = (choice.collect::<String>(), first.label());
                    format!(
                        "That can mean several fields of the design:\n{choice}Which one do you mean? Say for \
                         example: change {label} to …"
                    )
                }
            };
            return self.say(question);
        }
        call.set("designUpdates", updates);
        self.offer(call)
    }

    pub(super) fn find(&mut self, call: &Call) -> Done<Vec<Value>> {
        let found = self.use_tool(Tool::SearchComponent, call)?;
        Ok(found["components"].as_array().cloned().unwrap_or_default())
    }

    /// Finds what a call describes: shows it, or carries the call on with it.
    fn search(&mut self, call: Call) -> Done<()> {
        let is_search = call.tool == Tool::SearchComponent;
        let is_described = !call.object("criteria").is_empty();
        if !is_described && !is_search {
            return self.offer_all(call);
        }
        let found = self.find(&call)?;
        match found.as_slice() {
            [] if is_described => self.offer_all(call),
            [one] if is_described => {
                self.say(format!("I found one: {}.", describe_component(one)))?;
                if is_search {
                    return Ok(());
                }
                self.say("\n")?;
                self.propose(call.choose_component(&id_of(one)), true)
            }
            all => self.list(all, call),
        }
    }

    /// Offers the complete list, when nothing was found or nothing is described.
    fn offer_all(&mut self, mut call: Call) -> Done<()> {
        let why = match describe_criteria(&call.object("criteria")).as_str() {
            "" => "I need to know which component you mean.".to_string(),
            what => format!("No components found matching '{what}'."),
        };
        let mut all = Call::new(Tool::SearchComponent);
        all.set("clientId", call.text("clientId"));
        all.set("criteria", json!({}));
        call.args.remove("criteria");
        let next = Some(call).filter(|call| call.tool != Tool::SearchComponent);
        self.wait(all, Vec::new(), next)?;
        self.say(format!(
            "{why} Would you like me to show all your components so you can select one?"
        ))
    }

    /// Lists components with numbers; one of them can be chosen for a call on it.
    pub(super) fn list(&mut self, components: &[Value], mut call: Call) -> Done<()> {
        let client = call.text("clientId");
        let lines = components.iter().map(describe_component).zip(1..);
        let lines: String = lines.map(|(one, at)| format!("\n{at}. {one}")).collect();
        if components.is_empty() {
            return self.say(format!("Client {client} has no components."));
        }
        if call.tool == Tool::SearchComponent {
            return self.say(format!("Components of client {client}:{lines}"));
        }
        call.args.remove("criteria");
        self.wait(call, components.iter().map(id_of).collect(), None)?;
        let select = "Please select one by its number, its ID or its title.";
        self.say(format!("Which component do you mean?{lines}\n{select}"))
    }

    /// Carries a call on once the component is known: asks for what is missing, with the component if it
    /// was not shown before, or offers to write.
    pub(super) fn propose(&mut self, call: Call, is_shown: bool) -> Done<()> {
        let updates = call.object("updates");
        let missing = updates.iter().find(|(_, value)| value.is_null());
        let field = missing.map_or("title".to_string(), |(key, _)| brief(&label(key)));
        let (client, id) = (call.text("clientId"), call.text("componentId"));
        let question = match (missing, call.tool) {
            (Some(_), _) => format!("What should the {field} of component {id} be?"),
            (None, Tool::UpdateComponent) if updates.is_empty() => {
                "I couldn't identify which field you want to update.".to_string()
            }
            (None, Tool::GetComponent) => "Next: change it.".to_string(),
            (None, _) => String::new(),
        };
        let example = format!(
            "{question} Say for example: update component {id} {field} to \"Something new\" for client {client}"
        );
        if !is_shown && (!question.is_empty() || call.tool == Tool::DeleteComponent) {
            let found = self.use_tool(Tool::GetComponent, &call)?;
            self.say(describe_component(&found["components"][0]) + "\n")?;
        }
        match question.is_empty() {
            true => self.offer(call),
            false => self.say(example),
        }
    }

    /// Tries what a call would write, and asks for a yes.
    pub(super) fn offer(&mut self, call: Call) -> Done<()> {
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
            return self.say(format!("That is so already: {what}. Nothing was changed."));
        }
        let changes = trial.changes.iter().filter(|_| is_update);
        let now = changes.map(|it| match &it.before {
            Some(before) => format!("; {} is \"{}\" now", it.label, brief(before)),
            None => format!("; {} is not set now", it.label),
        });
        let (client, now) = (call.text("clientId"), now.collect::<String>());
        self.say(match is_design {
            true => format!(
                "You want to change {}. Should I proceed?\nFor client {client}{now}.{answers}",
                describe_changes(&call)
            ),
            false => format!(
                "Understood: {what}.\nAction: none yet{now}.\n\
                 Next: should I proceed? Answer yes or no."
            ),
        })?;
        Ok(self.wait(call, Vec::new(), None)?)
    }

    /// Tries a call, and compares what there is with what it would leave.
    pub(super) fn try_out(&mut self, call: &Call) -> Result<Trial> {
        let (client, id) = (call.text("clientId"), call.text("componentId"));
        let before = match call.tool {
            Tool::UpdateDesign => json!(self.transaction.design(client)?),
            _ => json!(self.transaction.component(client, id)?),
        };
        let result = run(self.transaction, call, false)?;
        let compare = |(field, value): (&Field, Value)| {
            let was = get(&before, field.path).filter(|was| !was.is_null());
            (was != Some(&value)).then(|| Difference {
                label: field.label().to_string(),
                before: was.map(plain),
                after: plain(&value),
            })
        };
        let wanted = check_changes(call).unwrap_or_default().into_iter();
        let changes: Vec<Difference> = wanted.filter_map(compare).collect();
        let gone = (call.tool == Tool::DeleteComponent).then_some(before);
        Ok(Trial {
            fault: fault(&result).map(String::from),
            digest: digest(json!([changes, gone]).to_string()),
            changes,
        })
    }

    /// Lets a call wait for a yes, or for the choice of one of several components.
    pub(super) fn wait(
        &mut self,
        call: Call,
        candidates: Vec<String>,
        next: Option<Call>,
    ) -> Result<()> {
        let trial = self.try_out(&call)?;
        let all = match candidates.is_empty() {
            true => Vec::new(),
            false => self.transaction.components(call.text("clientId"))?,
        };
        let options = candidates.iter().filter_map(|id| {
            let component = all.iter().find(|one| one.component_id == *id)?;
            let titles = ["title", "caption", "text"].map(|name| text(&component.props, name));
            let title = titles.into_iter().find(|title| !title.is_empty());
            Some(Choosable {
                id: id.clone(),
                title: title.unwrap_or_default().to_string(),
                kind: component.component_type.clone(),
            })
        });
        self.chat.shown = Some(trial.digest);
        self.chat.pending = Some(Pending {
            kind: match candidates.is_empty() {
                true => PendingKind::Confirm,
                false => PendingKind::Select,
            },
            agent: choose_agent(&call),
            tool: call.tool,
            args: call.args,
            options: options.collect(),
            candidates,
            changes: trial.changes,
            destructive: matches!(call.tool, Tool::DeleteComponent | Tool::RemoveSecurityGroup),
            created_at: self.now.clone(),
            expires: self.expires.clone(),
            next,
        });
        Ok(())
    }
}
