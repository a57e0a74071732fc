//! Values and keys from strangers: which keys there are, and how a change goes into a record. Agents ask
//! before they offer a change, tools when they make it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::kind::Kind;
use super::vocabulary::{COMPONENT, DESIGN, Field, TYPES, by_key, component_type, is_protected};

/// Changes that were checked.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// What can be changed, and to what.
    pub(crate) accepted: Vec<(&'static Field, Value)>,
    /// Keys that cannot be changed.
    pub(crate) rejected: Vec<String>,
    /// What is wrong with values.
    pub(crate) faults: Vec<String>,
}

impl Changes {
    /// Returns what is wrong with keys and values of a component.
    pub(crate) fn reasons(&self) -> String {
        let rejected = self.rejected.iter().map(|key| rejection(key));
        let all: Vec<String> = self.faults.iter().cloned().chain(rejected).collect();
        all.join("; ")
    }
}

/// Says why a key of a component cannot be changed.
pub(super) fn rejection(key: &str) -> String {
    match is_protected(key) {
        true => format!("{key} is protected and cannot be changed"),
        false => format!("{} is no field of a component", brief(key)),
    }
}

/// Checks changes: `{"props": {"title": …}}` as well as `{"props.title": …}`.
pub(crate) fn check_changes(fields: &'static [Field], updates: &Map<String, Value>) -> Changes {
    let mut changes = Changes::default();
    let updates = Value::Object(updates.clone());
    for (key, value) in flatten(&updates) {
        match by_key(fields, &key) {
            Some(field) => match field.kind.read(value) {
                Some(value) => changes.accepted.push((field, value)),
                None => changes.faults.push(fault(field, value)),
            },
            None => changes.rejected.push(key),
        }
    }
    changes
}

fn fault(field: &Field, value: &Value) -> String {
    let value = brief(&plain(value));
    format!(
        "{} cannot be `{value}`; allowed: {}",
        field.label(),
        field.kind
    )
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

/// Makes changes in a record; what else its objects hold stays.
pub(crate) fn change<T: Serialize + DeserializeOwned>(record: &T, changes: &Changes) -> Option<T> {
    let mut record = json!(record);
    for (field, value) in &changes.accepted {
        set(&mut record, field.path, value.clone());
    }
    serde_json::from_value(record).ok()
}

/// Checks the type of a new component.
pub(crate) fn new_type(updates: &Map<String, Value>) -> Result<&'static str, String> {
    let word = updates
        .get("component_type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let word = word.trim().to_lowercase();
    if word.is_empty() {
        return Err("component_type is required".to_string());
    }
    component_type(&word).ok_or_else(|| {
        let types: Vec<&str> = TYPES.iter().map(|(kept, _)| *kept).collect();
        let (word, types) = (brief(&word), types.join(", "));
        format!("component_type cannot be `{word}`; allowed: {types}")
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
pub(crate) fn nest(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut nested = json!({});
    for (path, value) in fields {
        set(&mut nested, path, value.clone());
    }
    nested.as_object().cloned().unwrap_or_default()
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
    let known = DESIGN
        .iter()
        .chain(COMPONENT)
        .find(|field| field.path == path);
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
        let changes = check_changes(
            COMPONENT,
            &object(json!({
                "props": {"caption": "c"}, "props.title": "b", "is_blur": "true",
                "manual_edits.properties.radius": "full",
                "component_type": "banner", "props.icon": "x", "record": "y",
            })),
        );
        assert_eq!(changes.rejected, ["component_type", "props.icon", "record"]);
        let changed = change(&component, &changes).unwrap();
        let props = json!({"title": "b", "icon": "star", "caption": "c"});
        assert_eq!(changed.props, object(props));
        assert!(changed.is_blur);
        assert_eq!(changed.component_type, "");
        let edits = json!({"properties": {"radius": "full"}});
        assert_eq!(changed.manual_edits, object(edits));
    }

    #[test]
    fn a_design_is_merged_column_by_column() {
        let design = Design {
            client_id: "6".into(),
            button_design: object(json!({"style": "solid", "radius": "small"})),
            ..Design::default()
        };
        let updates = object(json!({"button_radius": "FULL", "hover": "x"}));
        let changes = check_changes(DESIGN, &updates);
        assert_eq!(changes.rejected, ["hover"]);
        let changed = change(&design, &changes).unwrap();
        let button = json!({"style": "solid", "radius": "full"});
        assert_eq!(changed.button_design, object(button));
    }
}
