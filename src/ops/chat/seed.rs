//! Loading what the chat works on from a file: all of it, or nothing.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat::record::{
    Answer, Client, Component, Design, Guard, Media, Question, SecurityGroup, canonical, is_id,
};
use crate::chat::value::plain;
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
    let bytes = read_input(&place, FILE_MAX)?;
    let seeded = read(&bytes).and_then(|seed| write(&workspace, |it| put(it, seed)));
    seeded.map_err(|error| Error {
        message: format!("{}: {}; nothing was loaded", path.display(), error.message),
        ..error
    })
}

fn require(holds: bool, fault: impl Into<String>) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::new(Code::InputInvalid, fault)),
    }
}

/// Reads a seed. Its ids, which may be numbers, become texts.
fn read(bytes: &[u8]) -> Result<Seed> {
    let invalid = |fault: String| Error::new(Code::InputInvalid, fault);
    let text = std::str::from_utf8(bytes).map_err(|fault| invalid(fault.to_string()))?;
    let mut seed = document::json(text, usize::MAX).map_err(|fault| invalid(fault.to_string()))?;
    // The reader would take a list for the fields in their order.
    require(seed.is_object(), "a seed is a JSON object")?;
    check_texts("seed", &seed).map_err(|fault| invalid(fault.message))?;
    for (table, rows) in seed.as_object_mut().into_iter().flatten() {
        let rows = rows.as_array_mut().into_iter().flatten();
        for (name, id) in rows.filter_map(Value::as_object_mut).flatten() {
            if !id.is_null() && (name.ends_with("_id") || name == "libraryId") {
                let text = plain(id);
                let fault = format!("{table}: {name} is `{text}`; an id is 1 to 15 digits");
                require(is_id(&text), fault)?;
                *id = canonical(&text).into();
            }
        }
    }
    serde_path_to_error::deserialize(seed).map_err(|fault| invalid(fault.to_string()))
}

fn check_texts(place: &str, value: &Value) -> Result<()> {
    match value {
        Value::String(text) => check_text(place, text),
        Value::Array(items) => items.iter().try_for_each(|item| check_texts(place, item)),
        Value::Object(fields) => fields.iter().try_for_each(|(name, field)| {
            check_text("name of a field", name)?;
            check_texts(name, field)
        }),
        _ => Ok(()),
    }
}

/// Puts all rows, and then looks for what fits to no other.
fn put(transaction: &mut dyn AgencyTransaction, seed: Seed) -> Result<Seeded> {
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
    let (clients, designs, groups) = (seed.clients, seed.designs, seed.security_groups);
    let (media, questions, answers) = (seed.media, seed.questions, seed.answers);
    clients
        .iter()
        .try_for_each(|it| transaction.put_client(it))?;
    media.iter().try_for_each(|it| transaction.put_media(it))?;
    designs
        .iter()
        .try_for_each(|it| transaction.put_design(it))?;
    groups
        .iter()
        .try_for_each(|it| transaction.put_security_group(it))?;
    questions
        .iter()
        .try_for_each(|it| transaction.put_question(it))?;
    answers
        .iter()
        .try_for_each(|it| transaction.put_answer(it))?;
    for mut component in seed.components {
        let (id, kind) = (&component.component_id, &component.component_type);
        let known = component_type(&kind.to_lowercase()).unwrap_or_default();
        let fault = format!("component {id} has the unknown component_type `{kind}`");
        require(!known.is_empty(), fault)?;
        require(!id.is_empty(), "a component has no component_id")?;
        component.component_type = known.to_string();
        transaction.put_component(&component)?;
    }
    for guard in &seed.component_security_groups {
        transaction.put_guard(guard)?;
        let found = transaction.component(&guard.client_id, &guard.component_id)?;
        if let Some(mut component) = found {
            component.is_secured = true;
            transaction.put_component(&component)?;
        }
    }
    let fault = transaction.find_fault()?;
    require(fault.is_none(), fault.unwrap_or_default())?;
    Ok(seeded)
}
