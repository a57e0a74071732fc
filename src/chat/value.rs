//! Values and keys from strangers: which keys there are, and how a change goes into a record. Agents ask before they offer a change, tools when they make it.

use serde_json::{Map, Value, json};

use super::kind::Kind;
use super::record::{Component, Design};
use super::vocabulary::{ELEMENTS, Element, FIELDS, PROTECTED, TYPES, component_type, kind_of};

/// How alike two keys must be to be taken for one.
const ALIKE: f64 = 0.85;

/// Changes that were checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// What can be changed: path, or key of a design, and value.
    pub(crate) taken: Vec<(&'static str, Value)>,
    /// Keys that cannot be changed.
    pub(crate) rejected: Vec<String>,
    /// What is wrong with them, and with values.
    pub(crate) faults: Vec<String>,
}

/// Finds a part of a design by its key; one that is nearly the same will do.
pub(crate) fn element(key: &str) -> Option<&'static Element> {
    let key = key.to_lowercase().replace([' ', '-', '.'], "_");
    let key = match key.as_str() {
        "socialiconstyle" => "social_icon_style",
        key => key,
    };
    let like = |element: &&Element| strsim::normalized_levenshtein(element.key, key) >= ALIKE;
    let is_it = |element: &&Element| {
        let (column, field) = element.path;
        element.key == key || key == format!("{column}_{field}").to_lowercase()
    };
    let exact = ELEMENTS.iter().find(is_it);
    exact.or_else(|| ELEMENTS.iter().find(like))
}

/// Checks changes of a design. Keys that there are not are left out.
pub(crate) fn design_changes(updates: &Map<String, Value>) -> Changes {
    let mut changes = Changes::default();
    for (key, value) in updates {
        let Some(element) = element(key) else {
            changes.rejected.push(key.clone());
            continue;
        };
        match element.kind.read(value) {
            Some(value) => changes.taken.push((element.key, value)),
            None => changes
                .faults
                .push(fault(element.label, value, element.kind)),
        }
    }
    changes
}

fn fault(what: &str, value: &Value, kind: Kind) -> String {
    format!(
        "{what} cannot be `{}`; allowed: {kind}",
        brief(&plain(value))
    )
}

/// Cuts a text that is to be quoted in a sentence.
pub(crate) fn brief(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Says what of a design is none of the options that it has.
pub(crate) fn odd_design(design: &Design) -> Option<String> {
    let record = serde_json::to_value(design).ok()?;
    ELEMENTS.iter().find_map(|element| {
        let (column, field) = element.path;
        odd(element.label, record.get(column)?.get(field)?, element.kind)
    })
}

/// Says what of a component is none of the options that it has.
pub(crate) fn odd_component(component: &Component) -> Option<String> {
    let record = serde_json::to_value(component).ok()?;
    FIELDS.iter().find_map(|(path, kind)| {
        let mut keys = path.split('.');
        let value = keys.try_fold(&record, |value, key| value.get(key))?;
        odd(label(path), value, *kind)
    })
}

/// Says that a value which is there is none of the options.
fn odd(what: &str, value: &Value, kind: Kind) -> Option<String> {
    let is_free = !matches!(kind, Kind::Options(_)) || value.is_null();
    (!is_free && kind.read(value).is_none()).then(|| fault(what, value, kind))
}

/// Changes a design; what else its columns hold stays.
pub(crate) fn changed_design(design: &Design, changes: &Changes) -> Option<Design> {
    let mut record = serde_json::to_value(design).ok()?;
    for (key, value) in &changes.taken {
        let (column, field) = element(key)?.path;
        set(&mut record, &[column, field], value.clone());
    }
    serde_json::from_value(record).ok()
}

/// Checks changes of a component: `{"props": {"title": …}}` as well as `{"props.title": …}`.
pub(crate) fn component_changes(updates: &Map<String, Value>) -> Changes {
    let mut flat = Vec::new();
    flatten("", updates, 0, &mut flat);
    let mut changes = Changes::default();
    for (key, value) in flat {
        let known = FIELDS.iter().find(|(path, _)| *path == key);
        match known.map(|(path, kind)| (*path, *kind, kind.read(value))) {
            Some((path, _, Some(value))) => changes.taken.push((path, value)),
            Some((path, kind, None)) => changes.faults.push(fault(label(path), value, kind)),
            None => {
                let why = match PROTECTED.contains(&key.as_str()) {
                    true => "is protected and cannot be changed",
                    false => "is no field of a component",
                };
                changes.faults.push(format!("{} {why}", brief(&key)));
                changes.rejected.push(key);
            }
        }
    }
    changes
}

fn flatten<'a>(
    above: &str,
    object: &'a Map<String, Value>,
    depth: usize,
    flat: &mut Vec<(String, &'a Value)>,
) {
    for (key, value) in object {
        let path = match above {
            "" => key.clone(),
            above => format!("{above}.{key}"),
        };
        match value {
            Value::Object(inner) if depth < 2 => flatten(&path, inner, depth + 1, flat),
            value => flat.push((path, value)),
        }
    }
}

/// Checks the type of a new component.
pub(crate) fn new_type(updates: &Map<String, Value>) -> Result<&'static str, String> {
    let word = match updates.get("component_type") {
        Some(Value::String(word)) if !word.trim().is_empty() => word.trim().to_lowercase(),
        _ => return Err("component_type is required".to_string()),
    };
    component_type(&word).ok_or_else(|| {
        let types: Vec<&str> = TYPES
            .iter()
            .filter_map(|words| words.first().copied())
            .collect();
        let types = types.join(", ");
        format!(
            "component_type cannot be `{}`; allowed: {types}",
            brief(&word)
        )
    })
}

/// Changes a component; what else its objects hold stays.
pub(crate) fn changed_component(component: &Component, changes: &Changes) -> Option<Component> {
    let mut record = serde_json::to_value(component).ok()?;
    for (path, value) in &changes.taken {
        set(
            &mut record,
            &path.split('.').collect::<Vec<_>>(),
            value.clone(),
        );
    }
    serde_json::from_value(record).ok()
}

/// Sets the value at a path, with the objects on the way to it.
pub(crate) fn set(record: &mut Value, path: &[&str], value: Value) {
    let Some((key, rest)) = path.split_first() else {
        *record = value;
        return;
    };
    if !record.is_object() {
        *record = json!({});
    }
    if let Value::Object(object) = record {
        set(object.entry(*key).or_insert(Value::Null), rest, value);
    }
}

/// Returns what people call the field at a path; a path that there is not is its own name.
pub(crate) fn label(path: &str) -> &str {
    if kind_of(path).is_none() {
        return path;
    }
    match path {
        "link_props.spacesize" => "spacing",
        "layout_props.textalignment" => "alignment",
        "is_blur" => "blur",
        "is_secured" => "secure",
        "display_order" => "order",
        path => path.rsplit('.').next().unwrap_or(path),
    }
}

/// Writes a value as people do: a text without its quotes.
pub(crate) fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("button_radios", Some("button_radius")),
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
            assert_eq!(element(key).map(|element| element.key), expected, "{key}");
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
        let changes = component_changes(&object(json!({
            "props": {"caption": "c"}, "props.title": "b", "is_blur": "true",
            "manual_edits.properties.radius": "full",
            "component_type": "banner", "props.icon": "x", "record": "y",
        })));
        assert_eq!(changes.rejected, ["component_type", "props.icon", "record"]);
        let changed = changed_component(&component, &changes).unwrap();
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
        let changes = design_changes(&updates);
        assert_eq!(changes.rejected, ["hover"]);
        let changed = changed_design(&design, &changes).unwrap();
        let button = json!({"style": "solid", "radius": "full"});
        assert_eq!(changed.button_design, object(button));
    }
}
