//! Loading the records of the chat from a file: all or nothing.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat::record::{
    Answer, Client, Component, Design, Guard, Media, Question, SecurityGroup, canonical, is_id,
};
use crate::chat::value::format_value;
use crate::chat::vocabulary::component_type;
use crate::error::{Code, Error, Result};
use crate::file::read_input;
use crate::ops::Surroundings;
use crate::ops::agents::write;
use crate::store::Transaction;
use crate::store::records::Components;
use crate::task::rules::check_text;
use crate::{document, strict};

/// Largest file that is read, in bytes.
const FILE_MAX: u64 = 64 << 20;

/// Declares the tables of a seed in the order of insertion, each with the type of its rows and the function for one.
macro_rules! tables {
    ($($table:ident: $row:ty, $put:expr;)+) => {
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        struct Seed { $($table: Vec<$row>,)+ }

        #[derive(Clone, Copy, Debug, Default, Serialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub(crate) struct Seeded { $(pub(crate) $table: usize,)+ }

        /// Inserts all rows, then checks references between them.
        fn insert_all(to: &mut dyn Transaction, seed: &Seed) -> Result<Seeded> {
            $(seed.$table.iter().try_for_each(|row| $put(&mut *to, row))?;)+
            let fault = to.find_fault()?;
            require(fault.is_none(), fault.unwrap_or_default())?;
            Ok(Seeded { $($table: seed.$table.len(),)+ })
        }
    };
}

tables! {
    clients: Client, Components::put_client;
    media: Media, Components::put_media;
    designs: Design, Components::put_design;
    components: Component, put_component;
    security_groups: SecurityGroup, Components::put_security_group;
    component_security_groups: Guard, put_guard;
    questions: Question, Components::put_question;
    answers: Answer, Components::put_answer;
}

/// Loads a file. Rows with the same ids are replaced.
pub(crate) fn seed(surroundings: &Surroundings, path: &Path) -> Result<Seeded> {
    let workspace = surroundings.workspace()?;
    let bytes = read_input(path, FILE_MAX)?;
    let seeded = read(&bytes).and_then(|seed| write(&workspace, |it| insert_all(it, &seed)));
    seeded.map_err(|error| Error {
        message: format!("{}: {}; nothing was loaded", path.display(), error.message),
        ..error
    })
}

fn invalid(fault: impl ToString) -> Error {
    Error::new(Code::InputInvalid, fault.to_string())
}

fn require(holds: bool, fault: impl ToString) -> Result<()> {
    holds.then_some(()).ok_or_else(|| invalid(fault))
}

/// Reads a seed. Its ids, which may be numbers, become texts.
fn read(bytes: &[u8]) -> Result<Seed> {
    let text = std::str::from_utf8(bytes).map_err(invalid)?;
    let mut seed = document::json(text, usize::MAX).map_err(invalid)?;
    // The reader would take a list for the fields in their order.
    require(seed.is_object(), "a seed is a JSON object")?;
    check_texts("seed", &seed).map_err(|fault| invalid(fault.message))?;
    for (table, rows) in seed.as_object_mut().into_iter().flatten() {
        let rows = rows.as_array_mut().into_iter().flatten();
        for (name, id) in rows.filter_map(Value::as_object_mut).flatten() {
            if !id.is_null() && (name.ends_with("_id") || name == "libraryId") {
                let text = format_value(id);
                let fault = format!("{table}: {name} is `{text}`; an id is 1 to 15 digits");
                require(is_id(&text), fault)?;
                *id = canonical(&text).into();
            }
        }
    }
    strict::read(seed).map_err(invalid)
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

fn put_component(to: &mut dyn Transaction, component: &Component) -> Result<()> {
    let mut component = component.clone();
    let (id, kind) = (&component.component_id, &component.component_type);
    let known = component_type(&kind.to_lowercase()).unwrap_or_default();
    let fault = format!("component {id} has the unknown component_type `{kind}`");
    require(!known.is_empty(), fault)?;
    require(!id.is_empty(), "a component has no component_id")?;
    component.component_type = known.to_string();
    to.put_component(&component)
}

fn put_guard(to: &mut dyn Transaction, guard: &Guard) -> Result<()> {
    if let Some(mut component) = to.component(&guard.client_id, &guard.component_id)? {
        component.is_secured = true;
        to.put_component(&component)?;
    }
    to.put_guard(guard)
}
