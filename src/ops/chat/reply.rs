//! From the meaning of a message to the reply, and the words of replies. Only an offered change is written, and only
//! after a yes.

use serde_json::{Value, json};

use super::TurnState;
use super::tools::{Done, Stop};
use crate::chat::value::{find_label, flatten, format_value, truncate};
use crate::chat::vocabulary::{
    DESIGN, Field, contains_word, find_field, is_about_design, list_offered,
};
use crate::chat::{Call, ChatAgent, Meaning, Pending, Question, Resolution, Sentence, Tool, text};
use crate::error::Result;

/// Fields that a description of a component begins with.
const LEADING_FIELDS: &str = "component_id|componentId|client_id|component_type|type";

impl TurnState<'_> {
    pub(super) fn append_reply(&mut self, text: impl AsRef<str>) -> Done<()> {
        self.turn.reply += text.as_ref();
        Ok(())
    }

    /// Answers a message. The pending call is resolved, unless its answer was invalid.
    pub(super) fn answer(&mut self, heard: Meaning) -> Result<()> {
        let (waited, question) = (self.chat.pending.take(), self.chat.question.take());
        let asked_until = question.as_ref().map(|question| &question.expires);
        let until = waited.as_ref().map(|pending| &pending.expires);
        let is_late = until.or(asked_until).is_some_and(|it| *it <= self.now);
        let what = waited.as_ref().map(Pending::call);
        let what = what.map_or(String::new(), |call| describe_call(&call));
        self.turn.settled = match &heard {
            _ if waited.is_none() => None,
            _ if is_late => Some(Resolution::Expired),
            Meaning::Invalid => None,
            Meaning::Confirmed => Some(Resolution::Confirmed),
            Meaning::Cancelled => Some(Resolution::Cancelled),
            Meaning::Chosen(_) => Some(Resolution::Chosen),
            _ => Some(Resolution::Dropped),
        };
        if self.turn.settled.is_some() {
            self.chat.settled = Some(self.now.clone());
        }
        let live = waited.filter(|_| !is_late);
        self.turn.reply = match self.turn.settled {
            Some(Resolution::Dropped) => {
                format!("I dropped what was waiting: {what}. Nothing was changed.\n")
            }
            Some(Resolution::Cancelled) => format!("Cancelled: {what}. Nothing was changed."),
            _ if is_late => "What waited too long was dropped; please ask again.\n".to_string(),
            _ => String::new(),
        };
        self.turn.reason = match (&heard, self.advice) {
            (Meaning::Request(_) | Meaning::Client(_) | Meaning::Help, _) => "a known sentence",
            (Meaning::Unknown, Some(Ok(_))) => "a model chose",
            (Meaning::Unknown, Some(Err(_))) => "what a model says is not a call",
            (Meaning::Unknown, None) => "not understood",
            _ => "what waited is answered",
        };
        let asked = question.filter(|_| !is_late);
        match self.reply(heard, live, asked) {
            Ok(()) | Err(Stop::Refused(_)) => Ok(()),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    fn reply(
        &mut self,
        heard: Meaning,
        live: Option<Pending>,
        asked: Option<Question>,
    ) -> Done<()> {
        self.turn.agent = match (&heard, &live) {
            (Meaning::Chosen(_), _) => ChatAgent::Editor,
            (Meaning::Confirmed | Meaning::Cancelled | Meaning::Invalid, Some(pending)) => {
                pending.agent
            }
            (Meaning::Unknown, _) if is_about_design(self.said.message) => ChatAgent::Design,
            _ => ChatAgent::Clarifier,
        };
        match (heard, live) {
            (Meaning::Confirmed, Some(pending)) => self.write_confirmed(pending),
            (Meaning::Cancelled, Some(_)) => Ok(()),
            (Meaning::Cancelled, None) if asked.is_some() => {
                self.append_reply("Cancelled. Nothing was changed.")
            }
            (Meaning::Invalid, pending) => {
                self.chat.pending = pending;
                self.append_reply("Invalid selection. Please choose a valid number from the list.")
            }
            (Meaning::Chosen(call), _) => self.propose(call, false),
            (Meaning::Request(call), _) => self.perform(call),
            (Meaning::Client(client), _) => {
                let about = format!("This is about client {client} now.");
                self.chat.client = Some(client);
                self.append_reply(about + " What would you like to see or change?")
            }
            (Meaning::Help, _) => self.show_forms(
                "I can show and change the design of a client, and list, show, add, change, delete and \
                 secure its components. ",
            ),
            (Meaning::Unknown, _) => match (self.advice, asked) {
                (Some(Ok(call)), _) => self.perform(call.clone()),
                (Some(Err(text)), _) => self.show_forms(text),
                (None, Some(question)) => {
                    self.append_reply("That does not answer my question.\n")?;
                    self.perform(question.call)
                }
                (None, None) => self.show_forms("I did not understand that. "),
            },
            _ => self.append_reply("Nothing is waiting for that answer, and nothing was changed."),
        }
    }

    /// Shows the sentences that the chat understands, with ids and titles that a client has, or examples.
    fn show_forms(&mut self, why: &str) -> Done<()> {
        let sentence = Sentence::read(self.said.message);
        let own = self.chat.client.clone();
        let client = sentence.client_or(own.as_deref()).unwrap_or_default();
        let all = self.transaction.components(client)?;
        let groups = self.transaction.security_groups(client)?;
        let known = self.transaction.client(client)?;
        // The next message may be about that client.
        self.chat.client.take_if(|own| own != client);
        // A known client without such an item gets no form for it.
        let example = |text| if known.is_none() { text } else { "\0" };
        let first = all.first().map_or(example("101"), |one| &one.component_id);
        let last = all.last().map_or(example("103"), |one| &one.component_id);
        let fits = |it: &&str| (1..=40).contains(&it.len()) && !it.contains(['"', '“', '”']);
        let mut titles = all.iter().map(|one| text(&one.props, "title"));
        let title = titles.find(fits).unwrap_or(example("Home"));
        let mut titles = groups.iter().map(|group| &*group.security_group_title);
        let group = titles.find(fits).unwrap_or(example("premium"));
        let client = if known.is_none() { "6" } else { client };
        let forms = format!(
            "\
- show my design for client {client}
- change button radius to full for client {client}
- list components for client {client}
- change the title of my component called \"{title}\" to \"Something new\" for client {client}
- update component {first} description to \"Something new\" for client {client}
- add \"{group}\" security group to component {first} for client {client}
- add a card with title \"News\" for client {client}
- delete component {last} for client {client}"
        );
        let forms = forms.lines().filter(|line| !line.contains('\0'));
        let forms = forms.collect::<Vec<_>>().join("\n");
        self.append_reply(format!(
            "{why}I do one thing at a time, for one client. Put texts in double quotes. Say it like this:\n{forms}"
        ))
    }

    /// Makes a confirmed change, unless its target has changed since it was shown.
    fn write_confirmed(&mut self, pending: Pending) -> Done<()> {
        let call = pending.call();
        if call.tool == Tool::SearchComponent {
            let found = self.find(&call)?;
            let mut next = pending.next.unwrap_or(call);
            next.args.remove("criteria");
            return self.list(&found, next);
        }
        let trial = self.try_out(&call)?;
        if trial.fault.is_none() && self.chat.shown.as_ref() != Some(&trial.digest) {
            self.append_reply("It has changed since I asked you, so nothing was written.\n")?;
            let offered = self.propose(call, false);
            self.turn.settled = self.chat.pending.is_none().then_some(Resolution::Dropped);
            return offered;
        }
        let result = self.use_tool(call.tool, &call)?;
        let component = result.get("component").map(describe_component);
        let left = component.map_or(String::new(), |it| format!(". {it}"));
        let (what, tool, done) = (describe_call(&call), call.tool.name(), &result["message"]);
        self.append_reply(format!(
            "Understood: {what}.\nAction: {tool}.\nResult: {}{left}.\n\
             Next: say what else to change, or ask for the list of your components.",
            format_value(done).trim_end_matches('.')
        ))
    }

    pub(super) fn refuse(&mut self, call: &Call, error: &str) -> Stop {
        let lead = match error.starts_with("Component with ID") && error.contains("not found") {
            true => "The specified component was not found for your client. ",
            false => "",
        };
        let (what, error) = (describe_call(call), error.trim_end_matches('.'));
        self.turn.agent = choose_agent(call);
        self.turn.reply += &format!(
            "Understood: {what}.\nAction: none.\nResult: {lead}{error}. Nothing was changed.\n\
             Next: say it again with what is allowed, or ask me to list your components."
        );
        Stop::Refused(json!(error))
    }
}

/// Chooses the agent for a call: chat notes, section 2.2.
pub(super) fn choose_agent(call: &Call) -> ChatAgent {
    let has_type = call.object("updates").contains_key("component_type");
    match call.tool {
        Tool::GetClientDesign | Tool::GetQa | Tool::UpdateDesign => ChatAgent::Design,
        Tool::AddComponent if call.has("clientId") && has_type => ChatAgent::Editor,
        _ if call.has("componentId") => ChatAgent::Editor,
        _ => ChatAgent::Clarifier,
    }
}

pub(super) fn describe_component(component: &Value) -> String {
    let kind = component.get("component_type").or(component.get("type"));
    let (kind, id) = (kind.map(format_value).unwrap_or_default(), id_of(component));
    let fields = flatten(component).into_iter();
    let parts = fields.filter_map(|(path, value)| match value {
        _ if contains_word(LEADING_FIELDS, &path) => None,
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(find_label(&path)),
        Value::Number(number) => Some(format!("{} {number}", find_label(&path))),
        value => Some(format!("{} \"{}\"", find_label(&path), format_value(value))),
    });
    let parts: Vec<String> = parts.collect();
    let between = if parts.is_empty() { "" } else { ": " };
    format!("Component {id} ({kind}){between}{}", parts.join(", "))
}

pub(super) fn id_of(component: &Value) -> String {
    let id = component
        .get("component_id")
        .or(component.get("componentId"));
    id.map(format_value).unwrap_or_default()
}

/// Describes a call: `change component 101 of client 6: title to "Home"`.
pub(super) fn describe_call(call: &Call) -> String {
    let changes = match call.text("security_group_title") {
        "" => describe_changes(call),
        group => format!("\"{}\"", truncate(group)),
    };
    let (client, id) = (call.text("clientId"), call.text("componentId"));
    let space = if id.is_empty() { "" } else { " " };
    let between = if changes.is_empty() { "" } else { ": " };
    let what = call.tool.describe();
    format!("{what}{space}{id} of client {client}{between}{changes}")
}

/// Lists what a call changes: "the Button Radius to full" of a design, `title to "Home"` of a component.
pub(super) fn describe_changes(call: &Call) -> String {
    let (is_design, is_new) = (call.has("designUpdates"), call.tool == Tool::AddComponent);
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let updates = call.object(call.tool.updates()).into();
    let parts = flatten(&updates).into_iter().map(|(path, value)| {
        let label = truncate(&find_label(&path));
        let text = match value {
            Value::Null => "…".to_string(),
            Value::Array(_) => format_value(&value[0]).replace(['"', '“', '”'], ""),
            value => truncate(&format_value(value)),
        };
        match value {
            _ if is_design => {
                let words: Vec<String> = label.split(' ').map(capital).collect();
                format!("the {} to {text}", words.join(" "))
            }
            _ if is_new => format!("{label} \"{text}\""),
            _ => format!("{label} to \"{text}\""),
        }
    });
    let between = if is_design { " and " } else { ", " };
    parts.collect::<Vec<_>>().join(between)
}

/// Writes a call on a component as a sentence, with the words that may be meant in quotes.
pub(super) fn write_form(mut call: Call) -> String {
    let mut updates = call.object("updates");
    let kind = updates.remove("component_type");
    if updates.is_empty() {
        updates.insert("props.title".to_string(), Value::Null);
    }
    call.set("updates", updates);
    let kind = kind.as_ref().map_or("card".to_string(), format_value);
    let lead = match call.tool {
        Tool::AddComponent => format!("add new {} with", kind.trim_end_matches('s')),
        _ => format!("update component {}", call.text("componentId")),
    };
    let (changes, client) = (describe_changes(&call), call.text("clientId"));
    format!("{lead} {changes} for client {client}")
}

pub(super) fn ask_field(fields: &[&Field]) -> String {
    let all: Vec<&Field> = list_offered().collect();
    let (lead, fields) = match fields {
        [] => ("I cannot change that, but these:".to_string(), &all[..]),
        [one] => (format!("What should the {} be?", one.label()), fields),
        _ => ("That can mean several fields:".to_string(), fields),
    };
    let line = |it: &&Field| format!("\n- {} ({}): {}", it.label(), it.path, it.kind);
    let lines: String = fields.iter().map(line).collect();
    let first = fields.first().map_or("layout", |field| field.label());
    format!("{lead}{lines}\nSay for example: change {first} to …")
}

pub(super) fn describe_answers(answers: &Value) -> String {
    let mut lines = String::new();
    for answer in answers["answers"].as_array().into_iter().flatten() {
        let chosen = answer["chosen_options"].as_array().into_iter().flatten();
        let chosen: Vec<String> = chosen.map(format_value).collect();
        let question = format_value(&answer["question"]);
        lines += &format!("\n- {question} {}", chosen.join(", "));
    }
    match lines.is_empty() {
        true => lines,
        false => format!("\nOnboarding answers:{lines}"),
    }
}

pub(super) fn describe_design(client: &str, design: &Value, answers: &Value) -> String {
    let mut lines = String::new();
    for (path, value) in flatten(design) {
        if !value.is_null() && (path.contains('.') || path.ends_with("Url")) {
            let name = find_field(DESIGN, &path).map_or(path.as_str(), |field| field.label());
            lines += &format!("\n- {name}: {}", format_value(value));
        }
    }
    let answers = describe_answers(answers);
    format!("The design of client {client}:{lines}{answers}")
}
