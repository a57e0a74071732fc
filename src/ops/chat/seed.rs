//! Loading what the chat works on from a file: all of it, or nothing.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat::record::{
    Answer, Client, Component, Design, Guard, Media, Question, SecurityGroup,
};
use crate::chat::value::{odd_component, odd_design};
use crate::chat::vocabulary::component_type;
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
    let place = path.to_string_lossy();
    // The reader would take a list for the fields in their order.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(faulty(&place, "line 1: a seed is a JSON object"));
    }
    let seed = read(&bytes).map_err(|what| faulty(&place, &what))?;
    write(&workspace, |transaction| {
        put(transaction, &seed).map_err(|error| match error {
            Fault::Seed(what) => faulty(&place, &what),
            Fault::Store(error) => error,
        })
    })
}

/// Reads a seed. What is no JSON is told before what a field may hold: in a file that ends in the
/// middle, the end would be taken for a wrong value.
fn read(bytes: &[u8]) -> std::result::Result<Seed, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not written in UTF-8")?;
    let plain = document::json(text, usize::MAX).map_err(|fault| {
        let (what, place) = (fault.to_string(), (fault.line(), fault.column()));
        match fault.is_eof() {
            true => format!(
                "it is cut off: the JSON ends in the middle, at line {} column {}",
                place.0, place.1
            ),
            false => what,
        }
    })?;
    check_texts("", &plain)?;
    // The reader names line and column itself.
    serde_json::from_slice(bytes).map_err(|fault| fault.to_string())
}

/// Refuses texts that could steer the terminal of whoever reads them, with the place of the first.
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

enum Fault {
    Seed(String),
    Store(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Store(error)
    }
}

type Checked = std::result::Result<(), Fault>;

/// Where checks are made: in the store, which the file has gone into so far.
struct Place<'a> {
    transaction: &'a mut dyn AgencyTransaction,
    seen: HashSet<String>,
}

impl Place<'_> {
    /// Refuses a thing that the file holds twice.
    fn once(&mut self, what: String) -> Checked {
        match self.seen.insert(what.clone()) {
            true => Ok(()),
            false => Err(Fault::Seed(format!("{what} is there twice"))),
        }
    }

    fn needs(&self, client: &str, what: &str) -> Checked {
        match self.transaction.client(client)? {
            Some(_) => Ok(()),
            None => Err(Fault::Seed(format!(
                "{what} belongs to client {client}, who is not there"
            ))),
        }
    }
}

fn check(holds: bool, what: impl FnOnce() -> String) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(Fault::Seed(what())),
    }
}

fn put(transaction: &mut dyn AgencyTransaction, seed: &Seed) -> std::result::Result<Seeded, Fault> {
    let mut place = Place {
        transaction,
        seen: HashSet::new(),
    };
    for client in &seed.clients {
        let id = &client.client_id;
        place.once(format!("client {id}"))?;
        check(!client.client_type.trim().is_empty(), || {
            format!("client {id} has no client_type")
        })?;
        place.transaction.put_client(client)?;
    }
    for media in &seed.media {
        let what = format!("media {} of client {}", media.library_id, media.client_id);
        place.needs(&media.client_id, &what)?;
        place.once(what)?;
        place.transaction.put_media(media)?;
    }
    for design in &seed.designs {
        put_design(&mut place, design)?;
    }
    for component in &seed.components {
        put_component(&mut place, component)?;
    }
    for group in &seed.security_groups {
        put_group(&mut place, group)?;
    }
    for guard in &seed.component_security_groups {
        put_guard(&mut place, guard)?;
    }
    for question in &seed.questions {
        place.once(format!("question {}", question.question_id))?;
        place.transaction.put_question(question)?;
    }
    for answer in &seed.answers {
        put_answer(&mut place, answer)?;
    }
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

fn put_design(place: &mut Place<'_>, design: &Design) -> Checked {
    let what = format!("the design of client {}", design.client_id);
    place.needs(&design.client_id, &what)?;
    place.once(what.clone())?;
    let pictures = [&design.banner_library_id, &design.background_library_id];
    for library in pictures.into_iter().flatten() {
        let media = place.transaction.media(&design.client_id, library)?;
        check(media.is_some(), || {
            format!("{what} names media {library}, which is not there")
        })?;
    }
    if let Some(odd) = odd_design(design) {
        return Err(Fault::Seed(format!("{what}: {odd}")));
    }
    Ok(place.transaction.put_design(design)?)
}

fn put_component(place: &mut Place<'_>, component: &Component) -> Checked {
    let Component {
        client_id,
        component_id,
        component_type: kind,
        ..
    } = component;
    let what = format!("component {component_id} of client {client_id}");
    check(!component_id.is_empty(), || {
        "a component has no component_id".to_string()
    })?;
    place.needs(client_id, &what)?;
    place.once(what.clone())?;
    let known = component_type(&kind.to_lowercase());
    check(known.is_some(), || {
        format!("{what} has the unknown component_type `{kind}`")
    })?;
    if let Some(odd) = odd_component(component) {
        return Err(Fault::Seed(format!("{what}: {odd}")));
    }
    let component = Component {
        component_type: known.unwrap_or_default().to_string(),
        ..component.clone()
    };
    Ok(place.transaction.put_component(&component)?)
}

fn put_group(place: &mut Place<'_>, group: &SecurityGroup) -> Checked {
    let SecurityGroup {
        client_id,
        security_group_id: id,
        security_group_title: title,
    } = group;
    let what = format!("security group {id} of client {client_id}");
    place.needs(client_id, &what)?;
    place.once(what.clone())?;
    check(!title.trim().is_empty(), || format!("{what} has no title"))?;
    place.once(format!(
        "the title `{}` of a security group of client {client_id}",
        title.to_lowercase()
    ))?;
    let others = place.transaction.security_groups(client_id)?;
    let is_same = |other: &SecurityGroup| {
        other.security_group_id != *id
            && other.security_group_title.to_lowercase() == title.to_lowercase()
    };
    check(!others.iter().any(is_same), || {
        format!("{what} has the title of another: `{title}`")
    })?;
    Ok(place.transaction.put_security_group(group)?)
}

fn put_guard(place: &mut Place<'_>, guard: &Guard) -> Checked {
    let Guard {
        client_id,
        component_id,
        security_group_id,
    } = guard;
    let what = format!(
        "security group {security_group_id} on component {component_id} of client {client_id}"
    );
    let component = place.transaction.component(client_id, component_id)?;
    let Some(mut component) = component else {
        return Err(Fault::Seed(format!("{what}: there is no such component")));
    };
    let groups = place.transaction.security_groups(client_id)?;
    let is_there = groups
        .iter()
        .any(|group| group.security_group_id == *security_group_id);
    check(is_there, || {
        format!("{what}: there is no such security group")
    })?;
    place.once(what)?;
    place.transaction.put_guard(guard)?;
    component.is_secured = true;
    Ok(place.transaction.put_component(&component)?)
}

fn put_answer(place: &mut Place<'_>, answer: &Answer) -> Checked {
    let what = format!(
        "the answer of client {} to question {}",
        answer.client_id, answer.question_id
    );
    place.needs(&answer.client_id, &what)?;
    let Some(question) = place.transaction.question(&answer.question_id)? else {
        return Err(Fault::Seed(format!("{what}: there is no such question")));
    };
    let client = place.transaction.client(&answer.client_id)?;
    let is_asked = client.is_some_and(|client| client.client_type == question.client_type);
    check(is_asked, || {
        format!(
            "{what}: clients of another type than `{}` are not asked it",
            question.client_type
        )
    })?;
    let options = &question.options;
    let foreign = answer
        .chosen_options
        .iter()
        .find(|chosen| !options.contains(chosen));
    let foreign = foreign.filter(|_| !options.is_empty());
    check(foreign.is_none(), || {
        format!(
            "{what} is `{}`, which cannot be chosen",
            foreign.map_or("", String::as_str)
        )
    })?;
    place.once(what)?;
    Ok(place.transaction.put_answer(answer)?)
}
