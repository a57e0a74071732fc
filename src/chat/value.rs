//! Values and keys from strangers: which keys there are, and how a change goes into a record. Agents ask
//! before they offer a change, tools when they make it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::Tool;
use super::kind::Kind;
use super::vocabulary::{COMPONENT, DESIGN, Field, by_key};
use crate::error::{Code, Error, Result};

/// Fields with their new values.
pub(crate) type Changes = Vec<(&'static Field, Value)>;

/// Why changes cannot be made.
#[derive(Debug)]
pub(crate) struct Rejection {
    pub(crate) error: String,
    /// Keys that cannot be changed.
    pub(crate) keys: Vec<String>,
}

/// Checks changes: `{"props": {"title": …}}` as well as `{"props.title": …}`. With one that is wrong all are
/// refused, so that nothing is done in part.
pub(crate) fn check_changes(
    tool: Tool,
    updates: &Value,
) -> std::result::Result<Changes, Rejection> {
    let (mut changes, mut faults, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for (key, value) in flatten(updates) {
        match by_key(tool.fields(), &key).filter(|field| !field.is_protected()) {
            Some(field) => match field.kind.read(value) {
                Some(value) => changes.push((field, value)),
                None => faults.push(fault(field, value)),
            },
            None => {
                faults.push(rejection(tool, &key));
                keys.push(key);
            }
        }
    }
    let error = faults.join("; ");
    match error.is_empty() {
        true => Ok(changes),
        false => Err(Rejection { error, keys }),
    }
}

/// Makes changes in a record; what else its objects hold stays.
pub(crate) fn change<T: Serialize + DeserializeOwned>(record: &T, changes: &Changes) -> Result<T> {
    let mut record = json!(record);
    for (field, value) in changes {
        set(&mut record, field.path, value.clone());
    }
    let internal = |cause| Error::new(Code::Internal, "a record cannot be changed").because(cause);
    serde_json::from_value(record).map_err(internal)
}

/// Says why a tool does not change what is under a key.
pub(super) fn rejection(tool: Tool, key: &str) -> String {
    match (by_key(tool.fields(), key), tool) {
        (Some(_), _) => format!("{} is protected and cannot be changed", brief(key)),
        (None, Tool::UpdateDesign) => format!("{} is no field of a design", brief(key)),
        (None, _) => format!("{} is no field of a component", brief(key)),
    }
}

fn fault(field: &Field, value: &Value) -> String {
    let (label, kind, value) = (field.label(), field.kind, brief(&plain(value)));
    format!("{label} cannot be `{value}`; allowed: {kind}")
}

/// Returns the fault of the first field of a record whose option is unknown.
pub(crate) fn find_odd(fields: &'static [Field], record: &impl Serialize) -> Option<String> {
    let record = json!(record);
    fields.iter().find_map(|field| {
        let value = get(&record, field.path).filter(|value| !value.is_null())?;
        let is_odd = matches!(field.kind, Kind::Options(_)) && field.kind.read(value).is_none();
        is_odd.then(|| fault(field, value))
    })
}

/// Returns the values in an object and in those in it, each with its path.
pub(crate) fn flatten(value: &Value) -> Vec<(String, &Value)> {
    let mut flat = Vec::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Object(_) => {
                let inner = flatten(value).into_iter();
                flat.extend(inner.map(|(path, value)| (format!("{key}.{path}"), value)));
            }
            value => flat.push((key.clone(), value)),
        }
    }
    flat
}

/// Writes `props.title` as `title` in `props`, the way in which a new component is described.
pub(crate) fn nest(fields: &Map<String, Value>) -> Value {
    let mut nested = json!({});
    for (path, value) in fields {
        set(&mut nested, path, value.clone());
    }
    nested
}

pub(crate) fn get<'v>(record: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.')
        .try_fold(record, |value, key| value.get(key))
}

/// Sets the value at a path, with the objects on the way to it.
fn set(record: &mut Value, path: &str, value: Value) {
    let mut place = record;
    for key in path.split('.') {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[key];
    }
    *place = value;
}

/// Returns what people call the field at a path: its own last name, if it is none that is known.
pub(crate) fn label(path: &str) -> String {
    let mut fields = DESIGN.iter().chain(COMPONENT);
    let known = fields.find(|field| field.path == path);
    let last = || path.rsplit('.').next().unwrap_or(path).replace('_', " ");
    known.map_or_else(last, |field| field.label().to_string())
}

/// Writes a value as people do: a text without its quotes.
pub(crate) fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), String::from)
}

/// Cuts a text that is to be quoted in a sentence.
pub(crate) fn brief(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::record::{Component, Design};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn keys_of_a_design_are_found_in_every_spelling_and_no_other() {
        for (key, expected) in [
            ("button_radius", Some("button_radius")),
            ("buttonradius", Some("button_radius")),
            ("Button Radius", Some("button_radius")),
            ("button-radius", Some("button_radius")),
            ("button_design.radius", Some("button_radius")),
            ("socialIconStyle", Some("social_icon_style")),
            ("social-icon-style", Some("social_icon_style")),
            ("social icon style", Some("social_icon_style")),
            ("header_design.Layout", Some("layout")),
            ("page_background", Some("page_background")),
            ("title_font", Some("title_font")),
            ("radius", None),
            ("button_design", None),
            ("button_radius'; DROP TABLE designs;--", None),
            ("", None),
        ] {
            assert_eq!(
                by_key(DESIGN, key).map(|field| field.key),
                expected,
                "{key}"
            );
        }
    }

    #[test]
    fn a_component_is_changed_by_paths_and_objects_and_keeps_the_rest() {
        let component = Component {
            client_id: "6".into(),
            component_id: "101".into(),
            props: object(json!({"title": "a", "icon": "star"})),
            ..Component::default()
        };
        let mut updates = json!({
            "props": {"caption": "c"}, "props.title": "b", "is_blur": "true",
            "manual_edits.properties.radius": "full",
        });
        let changes = check_changes(Tool::UpdateComponent, &updates).unwrap();
        let changed = change(&component, &changes).unwrap();
        let props = json!({"title": "b", "icon": "star", "caption": "c"});
        assert_eq!(changed.props, object(props));
        assert!(changed.is_blur);
        assert_eq!(changed.component_type, "");
        let edits = json!({"properties": {"radius": "full"}});
        assert_eq!(changed.manual_edits, object(edits));
        for key in ["component_type", "props.icon", "record"] {
            updates[key] = json!("x");
        }
        let rejection = check_changes(Tool::UpdateComponent, &updates).unwrap_err();
        assert_eq!(rejection.keys, ["component_type", "props.icon", "record"]);
    }

    #[test]
    fn a_design_is_merged_column_by_column() {
        let design = Design {
            client_id: "6".into(),
            button_design: object(json!({"style": "solid", "radius": "small"})),
            ..Design::default()
        };
        let mut updates = json!({"button_radius": "FULL"});
        let changes = check_changes(Tool::UpdateDesign, &updates).unwrap();
        let changed = change(&design, &changes).unwrap();
        let button = json!({"style": "solid", "radius": "full"});
        assert_eq!(changed.button_design, object(button));
        updates["hover"] = json!("x");
        let rejection = check_changes(Tool::UpdateDesign, &updates).unwrap_err();
        assert_eq!(rejection.keys, ["hover"]);
    }
}
