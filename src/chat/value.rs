//! Values and keys from strangers: what a field can be, which keys there are, and how a change goes
//! into a record. Agents ask before they offer a change, tools when they make it.

use serde_json::{Map, Value, json};

use super::record::{Component, Design};
use super::vocabulary::{ELEMENTS, Element, FIELDS, PROTECTED, TYPES, component_type};

/// Longest text of a field, in characters.
const TEXT_MAX: usize = 10_000;
/// How alike two keys must be to be taken for one.
const ALIKE: f64 = 0.85;

/// What a field can be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// One of these words.
    Options(&'static [&'static str]),
    /// `#RRGGBB`, `#RGB` or the name of a colour.
    Color,
    /// Text.
    Text,
    /// A line of text, such as the name of a font.
    Name,
    /// True or false.
    Flag,
    /// A whole number.
    Number,
    /// A date or a time.
    Moment,
}

impl Kind {
    /// Reads a value and writes it in its one form; none when the field cannot be that.
    pub fn read(self, value: &Value) -> Option<Value> {
        let text = match value {
            Value::String(text) => text.trim().to_string(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return None,
        };
        let word = text.to_lowercase();
        match self {
            Kind::Options(options) => option(&word, options).map(Value::from),
            Kind::Color => is_color(&word).then(|| text.into()),
            Kind::Text => (text.chars().count() <= TEXT_MAX).then(|| text.into()),
            Kind::Name => is_name(&text).then(|| text.into()),
            Kind::Flag => flag(&word).map(Value::from),
            Kind::Number => word.parse::<i64>().ok().map(Value::from),
            Kind::Moment => crate::clock::parse_moment(&text).map(Value::from),
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Options(options) => formatter.write_str(&options.join(", ")),
            Kind::Color => formatter.write_str("a color such as #336699 or navy"),
            Kind::Text => write!(formatter, "a text of at most {TEXT_MAX} characters"),
            Kind::Name => formatter.write_str("a name of at most 100 characters"),
            Kind::Flag => formatter.write_str("true or false"),
            Kind::Number => formatter.write_str("a whole number"),
            Kind::Moment => formatter.write_str("a date such as 2026-01-26"),
        }
    }
}

/// Finds the option that a word is, also when it is written with spaces: `soft shadow`.
fn option(word: &str, options: &[&'static str]) -> Option<&'static str> {
    let joined = word.replace([' ', '_'], "-");
    options.iter().copied().find(|option| *option == joined)
}

fn is_name(text: &str) -> bool {
    (1..=100).contains(&text.chars().count()) && !text.contains(char::is_control)
}

fn is_color(word: &str) -> bool {
    match word.strip_prefix('#') {
        Some(digits) => {
            matches!(digits.len(), 3 | 6) && digits.bytes().all(|c| c.is_ascii_hexdigit())
        }
        None => (3..=20).contains(&word.len()) && word.bytes().all(|c| c.is_ascii_lowercase()),
    }
}

fn flag(word: &str) -> Option<bool> {
    match word {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Changes that were checked.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// What can be changed: path, or key of a design, and value.
    pub taken: Vec<(&'static str, Value)>,
    /// Keys that cannot be changed.
    pub rejected: Vec<String>,
    /// What is wrong with them, and with values.
    pub faults: Vec<String>,
}

/// Finds a part of a design by its key; one that is nearly the same will do.
pub fn element(key: &str) -> Option<&'static Element> {
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
pub fn design_changes(updates: &Map<String, Value>) -> Changes {
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
    let shown = value
        .as_str()
        .map_or_else(|| value.to_string(), String::from);
    format!("{what} cannot be `{}`; allowed: {kind}", brief(&shown))
}

/// Cuts a text that is to be quoted in a sentence.
pub fn brief(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Changes a design; what else its columns hold stays.
pub fn changed_design(design: &Design, changes: &Changes) -> Option<Design> {
    let mut record = serde_json::to_value(design).ok()?;
    for (key, value) in &changes.taken {
        let (column, field) = element(key)?.path;
        set(&mut record, &[column, field], value.clone());
    }
    serde_json::from_value(record).ok()
}

/// Checks changes of a component: `{"props": {"title": …}}` as well as `{"props.title": …}`.
pub fn component_changes(updates: &Map<String, Value>) -> Changes {
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
pub fn new_type(updates: &Map<String, Value>) -> Result<&'static str, String> {
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
pub fn changed_component(component: &Component, changes: &Changes) -> Option<Component> {
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

fn set(record: &mut Value, path: &[&str], value: Value) {
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
pub fn label(path: &str) -> &str {
    if FIELDS.iter().all(|(known, _)| *known != path) {
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
    fn values_are_those_that_are_allowed() {
        let styles = Kind::Options(&["solid", "soft-shadow"]);
        for (kind, value, expected) in [
            (styles, json!("Soft Shadow"), Some(json!("soft-shadow"))),
            (styles, json!("hard-shadow"), None),
            (styles, json!(["solid"]), None),
            (Kind::Color, json!("#1f3A5f"), Some(json!("#1f3A5f"))),
            (Kind::Color, json!("#12"), None),
            (Kind::Color, json!("url(x)"), None),
            (Kind::Flag, json!("Yes"), Some(json!(true))),
            (Kind::Flag, json!(false), Some(json!(false))),
            (Kind::Flag, json!("maybe"), None),
            (Kind::Number, json!("3"), Some(json!(3))),
            (Kind::Number, json!("3.5"), None),
            (Kind::Name, json!("a\nb"), None),
            (Kind::Text, json!("x".repeat(TEXT_MAX + 1)), None),
            (Kind::Text, json!(null), None),
        ] {
            assert_eq!(kind.read(&value), expected, "{kind}: {value}");
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
