//! Loading what the chat works on from a file: all of it, or nothing.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat::record::{
    Answer, Client, Component, Design, Guard, Media, Question, SecurityGroup,
};
use crate::chat::value::find_odd;
use crate::chat::vocabulary::{COMPONENT, DESIGN, Field, component_type};
use crate::document;
use crate::error::{Code, Error, Result};
use crate::file::read_input;
use crate::ops::Surroundings;
use crate::ops::agents::write;
use crate::store::agency::AgencyTransaction;
use crate::task::rules::check_text;

/// Largest file that is read, in bytes.
const FILE_MAX: u64 = 64 << 20;

/// What a file holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Seed {
    clients: Vec<Client>,
    media: Vec<Media>,
    designs: Vec<Design>,
    components: Vec<Component>,
    security_groups: Vec<SecurityGroup>,
    component_security_groups: Vec<Guard>,
    questions: Vec<Question>,
    answers: Vec<Answer>,
}

/// How much was loaded.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Seeded {
    pub(crate) clients: usize,
    /// Files of the media library.
    pub(crate) media: usize,
    pub(crate) designs: usize,
    pub(crate) components: usize,
    pub(crate) security_groups: usize,
    /// Security groups that guard a component.
    pub(crate) component_security_groups: usize,
    pub(crate) questions: usize,
    pub(crate) answers: usize,
}

/// Loads a file. What is there under the same ids is replaced.
pub(crate) fn seed(surroundings: &Surroundings, path: &Path) -> Result<Seeded> {
    let workspace = surroundings.workspace()?;
    let place = match path == Path::new("-") {
        true => path.to_path_buf(),
        false => surroundings.directory.join(path),
    };
    let seed = read(&read_input(&place, FILE_MAX)?).map_err(|what| faulty(path, &what))?;
    write(&workspace, |transaction| {
        let mut loading = Loading {
            transaction,
            path,
            what: String::new(),
            seen: HashSet::new(),
        };
        loading.put(seed)
    })
}

fn faulty(path: &Path, what: &str) -> Error {
    let message = format!("{}: {what}; nothing was loaded", path.to_string_lossy());
    Error::new(Code::InputInvalid, message)
}

/// Reads a seed. What is no JSON is told before what a field may hold: in a file that ends in the
/// middle, the end would be taken for a wrong value.
fn read(bytes: &[u8]) -> std::result::Result<Seed, String> {
    // The reader would take a list for the fields in their order.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err("line 1: a seed is a JSON object".to_string());
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not written in UTF-8")?;
    let plain = document::json(text, usize::MAX).map_err(|fault| match fault.is_eof() {
        true => format!(
            "it is cut off: the JSON ends in the middle, at line {} column {}",
            fault.line(),
            fault.column()
        ),
        false => fault.to_string(),
    })?;
    check_texts("", &plain)?;
    // The reader names line and column itself.
    serde_json::from_slice(bytes).map_err(|fault| fault.to_string())
}

/// Refuses texts that could steer the terminal of a reader, with the place of the first.
fn check_texts(place: &str, value: &Value) -> std::result::Result<(), String> {
    match value {
        Value::String(text) => check_text(place, text).map_err(|fault| fault.message),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.try_for_each(|(at, item)| check_texts(&format!("{place}[{at}]"), item))
        }
        Value::Object(fields) => fields.iter().try_for_each(|(name, field)| {
            check_text("name of a field", name).map_err(|fault| fault.message)?;
            let above = if place.is_empty() { "" } else { "." };
            check_texts(&format!("{place}{above}{name}"), field)
        }),
        _ => Ok(()),
    }
}

/// A seed on its way into the store.
struct Loading<'a> {
    transaction: &'a mut dyn AgencyTransaction,
    path: &'a Path,
    /// What is being put, as it is named in faults.
    what: String,
    /// What the file held so far.
    seen: HashSet<String>,
}

impl Loading<'_> {
    fn require(&self, holds: bool, fault: impl std::fmt::Display) -> Result<()> {
        self.find(holds.then_some(()), fault)
    }

    fn find<T>(&self, found: Option<T>, fault: impl std::fmt::Display) -> Result<T> {
        found.ok_or_else(|| faulty(self.path, &format!("{}{fault}", self.what)))
    }

    /// Refuses a thing that the file holds twice, or that belongs to a client who is not there.
    fn begin(&mut self, what: String, client: Option<&str>) -> Result<()> {
        self.what = what;
        if let Some(client) = client {
            let is_there = self.transaction.client(client)?.is_some();
            let fault = format!(" belongs to client {client}, who is not there");
            self.require(is_there, fault)?;
        }
        let is_new = self.seen.insert(self.what.clone());
        self.require(is_new, " is there twice")
    }

    fn check_options(&self, fields: &'static [Field], record: &impl Serialize) -> Result<()> {
        let odd = find_odd(fields, record).map_or(String::new(), |odd| format!(": {odd}"));
        self.require(odd.is_empty(), odd)
    }

    fn put(&mut self, seed: Seed) -> Result<Seeded> {
        let seeded = Seeded {
            clients: seed.clients.len(),
            media: seed.media.len(),
            designs: seed.designs.len(),
            components: seed.components.len(),
            security_groups: seed.security_groups.len(),
            component_security_groups: seed.component_security_groups.len(),
            questions: seed.questions.len(),
            answers: seed.answers.len(),
        };
        for client in &seed.clients {
            self.begin(format!("client {}", client.client_id), None)?;
            let has_type = !client.client_type.trim().is_empty();
            self.require(has_type, " has no client_type")?;
            self.transaction.put_client(client)?;
        }
        for media in &seed.media {
            let (client, id) = (&media.client_id, &media.library_id);
            self.begin(format!("media {id} of client {client}"), Some(client))?;
            self.transaction.put_media(media)?;
        }
        for design in &seed.designs {
            self.put_design(design)?;
        }
        for component in seed.components {
            self.put_component(component)?;
        }
        for group in &seed.security_groups {
            self.put_group(group)?;
        }
        for guard in &seed.component_security_groups {
            self.put_guard(guard)?;
        }
        for question in &seed.questions {
            self.begin(format!("question {}", question.question_id), None)?;
            self.transaction.put_question(question)?;
        }
        for answer in &seed.answers {
            self.put_answer(answer)?;
        }
        Ok(seeded)
    }

    fn put_design(&mut self, design: &Design) -> Result<()> {
        let client = &design.client_id;
        self.begin(format!("the design of client {client}"), Some(client))?;
        let pictures = [&design.banner_library_id, &design.background_library_id];
        for library in pictures.into_iter().flatten() {
            let is_there = self.transaction.media(client, library)?.is_some();
            let fault = format!(" names media {library}, which is not there");
            self.require(is_there, fault)?;
        }
        self.check_options(DESIGN, design)?;
        self.transaction.put_design(design)
    }

    fn put_component(&mut self, mut component: Component) -> Result<()> {
        let (client, id) = (&component.client_id, &component.component_id);
        self.what = "a component".to_string();
        self.require(!id.is_empty(), " has no component_id")?;
        self.begin(format!("component {id} of client {client}"), Some(client))?;
        let kind = component.component_type;
        let known = component_type(&kind.to_lowercase());
        let fault = format!(" has the unknown component_type `{kind}`");
        component.component_type = self.find(known, fault)?.to_string();
        self.check_options(COMPONENT, &component)?;
        self.transaction.put_component(&component)
    }

    fn put_group(&mut self, group: &SecurityGroup) -> Result<()> {
        let (client, id) = (&group.client_id, &group.security_group_id);
        let title = &group.security_group_title;
        let what = format!("security group {id} of client {client}");
        self.begin(what, Some(client))?;
        self.require(!title.trim().is_empty(), " has no title")?;
        let is_same = |other: &SecurityGroup| {
            other.security_group_id != *id
                && other.security_group_title.to_lowercase() == title.to_lowercase()
        };
        let others = self.transaction.security_groups(client)?;
        let fault = format!(" has the title of another: `{title}`");
        self.require(!others.iter().any(is_same), fault)?;
        self.transaction.put_security_group(group)
    }

    fn put_guard(&mut self, guard: &Guard) -> Result<()> {
        let (client, id) = (&guard.client_id, &guard.component_id);
        let group = &guard.security_group_id;
        let what = format!("security group {group} on component {id} of client {client}");
        self.begin(what, Some(client))?;
        let component = self.transaction.component(client, id)?;
        let component = self.find(component, ": there is no such component")?;
        let groups = self.transaction.security_groups(client)?;
        let is_there = groups.iter().any(|one| one.security_group_id == *group);
        self.require(is_there, ": there is no such security group")?;
        self.transaction.put_guard(guard)?;
        self.transaction.put_component(&Component {
            is_secured: true,
            ..component
        })
    }

    fn put_answer(&mut self, answer: &Answer) -> Result<()> {
        let (client, id) = (&answer.client_id, &answer.question_id);
        let what = format!("the answer of client {client} to question {id}");
        self.begin(what, Some(client))?;
        let question = self.transaction.question(id)?;
        let question = self.find(question, ": there is no such question")?;
        let (kind, options) = (question.client_type, question.options);
        let client = self.transaction.client(client)?;
        let fault = format!(": clients of another type than `{kind}` are not asked it");
        self.require(client.is_some_and(|it| it.client_type == kind), fault)?;
        let is_foreign = |chosen: &&String| !options.is_empty() && !options.contains(chosen);
        match answer.chosen_options.iter().find(is_foreign) {
            Some(chosen) => self.require(false, format!(" is `{chosen}`, which cannot be chosen")),
            None => self.transaction.put_answer(answer),
        }
    }
}
