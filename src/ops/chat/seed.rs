//! Loading what the chat works on from a file: all of it, or nothing.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat::record::{
    Answer, Client, Component, Design, Guard, Media, Question, SecurityGroup,
};
use crate::chat::value::find_odd;
use crate::chat::vocabulary::{COMPONENT, DESIGN, component_type};
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
    /// Clients.
    pub(crate) clients: usize,
    /// Files of the media library.
    pub(crate) media: usize,
    /// Designs.
    pub(crate) designs: usize,
    /// Components.
    pub(crate) components: usize,
    /// Security groups.
    pub(crate) security_groups: usize,
    /// Security groups that guard a component.
    pub(crate) component_security_groups: usize,
    /// Questions.
    pub(crate) questions: usize,
    /// Answers.
    pub(crate) answers: usize,
}

/// Loads a file. What is there under the same ids is replaced.
pub(crate) fn seed(surroundings: &Surroundings, path: &Path) -> Result<Seeded> {
    let workspace = surroundings.workspace()?;
    let is_stdin = path == Path::new("-");
    let folder = if is_stdin {
        Path::new("")
    } else {
        &surroundings.directory
    };
    let bytes = read_input(&folder.join(path), FILE_MAX)?;
    let seed = read(&bytes).map_err(|what| faulty(&path.to_string_lossy(), &what))?;
    write(&workspace, |transaction| {
        let mut loading = Loading {
            transaction,
            path,
            seen: HashSet::new(),
        };
        loading.put(&seed)
    })
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

fn faulty(place: &str, what: &str) -> Error {
    let message = format!("{place}: {what}; nothing was loaded");
    Error::new(Code::InputInvalid, message)
}

/// A seed on its way into the store, which holds the part before.
struct Loading<'a> {
    transaction: &'a mut dyn AgencyTransaction,
    path: &'a Path,
    /// What the file holds so far.
    seen: HashSet<String>,
}

impl Loading<'_> {
    fn refuse<T>(&self, what: String) -> Result<T> {
        Err(faulty(&self.path.to_string_lossy(), &what))
    }

    fn require(&self, holds: bool, what: String) -> Result<()> {
        if holds { Ok(()) } else { self.refuse(what) }
    }

    /// Refuses a thing that the file holds twice, or that belongs to a client who is not there.
    fn admit(&mut self, what: &str, client: Option<&str>) -> Result<()> {
        if let Some(client) = client {
            let is_there = self.transaction.client(client)?.is_some();
            self.require(
                is_there,
                format!("{what} belongs to client {client}, who is not there"),
            )?;
        }
        let is_new = self.seen.insert(what.to_string());
        self.require(is_new, format!("{what} is there twice"))
    }

    fn put(&mut self, seed: &Seed) -> Result<Seeded> {
        for client in &seed.clients {
            let what = format!("client {}", client.client_id);
            self.admit(&what, None)?;
            self.require(
                !client.client_type.trim().is_empty(),
                format!("{what} has no client_type"),
            )?;
            self.transaction.put_client(client)?;
        }
        for media in &seed.media {
            let what = format!("media {} of client {}", media.library_id, media.client_id);
            self.admit(&what, Some(&media.client_id))?;
            self.transaction.put_media(media)?;
        }
        seed.designs
            .iter()
            .try_for_each(|design| self.put_design(design))?;
        seed.components
            .iter()
            .try_for_each(|component| self.put_component(component))?;
        seed.security_groups
            .iter()
            .try_for_each(|group| self.put_group(group))?;
        seed.component_security_groups
            .iter()
            .try_for_each(|guard| self.put_guard(guard))?;
        for question in &seed.questions {
            self.admit(&format!("question {}", question.question_id), None)?;
            self.transaction.put_question(question)?;
        }
        seed.answers
            .iter()
            .try_for_each(|answer| self.put_answer(answer))?;
        Ok(Seeded {
            clients: seed.clients.len(),
            media: seed.media.len(),
            designs: seed.designs.len(),
            components: seed.components.len(),
            security_groups: seed.security_groups.len(),
            component_security_groups: seed.component_security_groups.len(),
            questions: seed.questions.len(),
            answers: seed.answers.len(),
        })
    }

    fn put_design(&mut self, design: &Design) -> Result<()> {
        let client = &design.client_id;
        let what = format!("the design of client {client}");
        self.admit(&what, Some(client))?;
        let pictures = [&design.banner_library_id, &design.background_library_id];
        for library in pictures.into_iter().flatten() {
            let is_there = self.transaction.media(client, library)?.is_some();
            self.require(
                is_there,
                format!("{what} names media {library}, which is not there"),
            )?;
        }
        match find_odd(DESIGN, design) {
            Some(odd) => self.refuse(format!("{what}: {odd}")),
            None => self.transaction.put_design(design),
        }
    }

    fn put_component(&mut self, component: &Component) -> Result<()> {
        let (client, id) = (&component.client_id, &component.component_id);
        self.require(
            !id.is_empty(),
            "a component has no component_id".to_string(),
        )?;
        let what = format!("component {id} of client {client}");
        self.admit(&what, Some(client))?;
        let kind = &component.component_type;
        let Some(known) = component_type(&kind.to_lowercase()) else {
            return self.refuse(format!("{what} has the unknown component_type `{kind}`"));
        };
        if let Some(odd) = find_odd(COMPONENT, component) {
            return self.refuse(format!("{what}: {odd}"));
        }
        let component_type = known.to_string();
        self.transaction.put_component(&Component {
            component_type,
            ..component.clone()
        })
    }

    fn put_group(&mut self, group: &SecurityGroup) -> Result<()> {
        let (client, id) = (&group.client_id, &group.security_group_id);
        let title = &group.security_group_title;
        let what = format!("security group {id} of client {client}");
        self.admit(&what, Some(client))?;
        self.require(!title.trim().is_empty(), format!("{what} has no title"))?;
        let others = self.transaction.security_groups(client)?;
        let is_same = |other: &SecurityGroup| {
            other.security_group_id != *id
                && other.security_group_title.to_lowercase() == title.to_lowercase()
        };
        let is_free = !others.iter().any(is_same);
        self.require(
            is_free,
            format!("{what} has the title of another: `{title}`"),
        )?;
        self.transaction.put_security_group(group)
    }

    fn put_guard(&mut self, guard: &Guard) -> Result<()> {
        let (client, id, group) = (
            &guard.client_id,
            &guard.component_id,
            &guard.security_group_id,
        );
        let what = format!("security group {group} on component {id} of client {client}");
        let Some(mut component) = self.transaction.component(client, id)? else {
            return self.refuse(format!("{what}: there is no such component"));
        };
        let groups = self.transaction.security_groups(client)?;
        let is_there = groups.iter().any(|one| one.security_group_id == *group);
        self.require(is_there, format!("{what}: there is no such security group"))?;
        self.admit(&what, None)?;
        self.transaction.put_guard(guard)?;
        component.is_secured = true;
        self.transaction.put_component(&component)
    }

    fn put_answer(&mut self, answer: &Answer) -> Result<()> {
        let (client, question) = (&answer.client_id, &answer.question_id);
        let what = format!("the answer of client {client} to question {question}");
        self.admit(&what, Some(client))?;
        let Some(question) = self.transaction.question(question)? else {
            return self.refuse(format!("{what}: there is no such question"));
        };
        let kind = question.client_type;
        let is_asked = self
            .transaction
            .client(client)?
            .is_some_and(|client| client.client_type == kind);
        self.require(
            is_asked,
            format!("{what}: clients of another type than `{kind}` are not asked it"),
        )?;
        let is_foreign =
            |chosen: &&String| !question.options.is_empty() && !question.options.contains(chosen);
        match answer.chosen_options.iter().find(is_foreign) {
            Some(chosen) => self.refuse(format!("{what} is `{chosen}`, which cannot be chosen")),
            None => self.transaction.put_answer(answer),
        }
    }
}
