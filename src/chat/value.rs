//! Validates values, which are untrusted input, and applies changes to records. Agents validate before they offer a
//! change, and tools when they make it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::vocabulary::{COMPONENT, DESIGN, Field, contains_word, find_field};
use super::{Call, Tool};
use crate::error::{self, Code, Error, is_control_character, shorten};

/// Longest text and address, in characters.
const TEXT_MAX: usize = 10_000;
const ADDRESS_MAX: usize = 2_000;

pub(super) const COLORS: &str = "aqua|black|blue|fuchsia|gray|green|grey|lime|maroon|navy|olive|orange|purple|red|\
    silver|teal|transparent|white|yellow";

patterns! {
    COLOR = format!("^(?:#(?:[0-9a-f]{{3}}){{1,2}}|{COLORS})$");
    NAME = r"^\w(?:[\w ,.'&+-]{0,98}[\w.])?$";
    ADDRESS =
        r"(?i)^(?:/|/[^/\s\\][^\s\\]*|(?:https?://|mailto:|tel:|www\.)[^/\s\\][^\s\\]*)$";
    /// Signs of several addresses, or of a sentence.
    MORE = r"(?i)[,;|](?:https?:|mailto:|tel:|www\.|/)|[,;!?]$|\.\.$";
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Options(&'static [&'static str]),
    /// `#RRGGBB`, `#RGB` or the name of a colour.
    Color,
    Text,
    /// A short text, such as the name of a font.
    Name,
    /// Where a link leads: one address or path, without blanks.
    Address,
    Flag,
    Number,
    Moment,
    Protected,
}

impl Kind {
    /// Reads a value and writes it in its one form; none when the field cannot be that.
    pub(crate) fn read(self, value: &Value) -> Option<Value> {
        let text = match value {
            Value::String(text) => text.to_string(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return None,
        };
        // Joiners within words and pictures do no harm.
        let is_hidden = |c: char| is_control_character(c) && !matches!(c, '\u{200c}' | '\u{200d}');
        let is_seen = |c: char| !c.is_whitespace() && !is_control_character(c);
        if text.contains(is_hidden) || !text.is_empty() && !text.contains(is_seen) {
            return None;
        }
        let (word, length) = (text.to_lowercase(), text.chars().count());
        let keep_if = |fits: bool| fits.then(|| Value::from(text.as_str()));
        match self {
            Kind::Options(options) => {
                let joined = word.replace([' ', '_'], "-");
                options.iter().find(|it| **it == joined).map(|it| json!(it))
            }
            Kind::Flag if contains_word("true|yes|on|1", &word) => Some(true.into()),
            Kind::Flag if contains_word("false|no|off|0", &word) => Some(false.into()),
            Kind::Flag | Kind::Protected => None,
            Kind::Number => word.parse::<i64>().ok().map(Value::from),
            Kind::Moment => crate::clock::parse_moment(&text).map(Value::from),
            Kind::Color => keep_if(COLOR.is_match(&word)),
            Kind::Text => keep_if(length <= TEXT_MAX),
            Kind::Name => keep_if(NAME.is_match(&text)),
            Kind::Address => {
                keep_if(length <= ADDRESS_MAX && ADDRESS.is_match(&text) && !MORE.is_match(&text))
            }
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Kind::Options(options) => return out.write_str(&options.join(", ")),
            Kind::Color => "a color such as #336699 or navy",
            Kind::Text => "a line of text of at most 10,000 characters",
            Kind::Name => "a name in quotes, of at most 100 characters",
            Kind::Address => {
                "one address (http, https, mailto, tel, www. or a path with / in front)"
            }
            Kind::Flag => "true or false",
            Kind::Number => "a whole number",
            Kind::Moment => "a date such as 2026-01-26",
            Kind::Protected => "nothing else",
        })
    }
}

pub(crate) type Changes = Vec<(&'static Field, Value)>;

pub(crate) fn check_changes(call: &Call) -> Result<Changes, Value> {
    let mut updates = call.object(call.tool.updates());
    if call.tool == Tool::AddComponent {
        updates.remove("component_type");
    }
    check_values(call.tool, updates)
}

/// Checks fields and values: `{"props": {"title": …}}` as well as `{"props.title": …}`. With one that is
/// wrong all are refused, so that nothing is done in part; the error is the result of the tool.
pub(crate) fn check_values(tool: Tool, values: Map<String, Value>) -> Result<Changes, Value> {
    let (mut changes, mut faults, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for (key, value) in flatten(&values.into()) {
        match find_open_field(tool, &key).map(|field| (field, field.kind.read(value))) {
            Ok((field, Some(value))) => changes.push((field, value)),
            Ok((field, None)) => {
                let (label, kind, value) =
                    (field.label(), field.kind, truncate(&format_value(value)));
                faults.push(format!("{label} cannot be `{value}`; allowed: {kind}"));
            }
            Err(fault) => {
                faults.push(fault);
                keys.push(key);
            }
        }
    }
    let error = faults.join("; ");
    match error.is_empty() {
        true => Ok(changes),
        false => Err(json!({ "success": false, "error": error, "rejectedFields": keys })),
    }
}

/// Makes changes in a record; other keys of its objects are preserved.
pub(crate) fn apply_changes<T: Serialize + DeserializeOwned>(
    record: &T,
    by: &Changes,
) -> error::Result<T> {
    let mut record = json!(record);
    for (field, value) in by {
        set(&mut record, field.path, value.clone());
    }
    let internal = |cause| Error::new(Code::Internal, "a record cannot be changed").because(cause);
    serde_json::from_value(record).map_err(internal)
}

/// Finds the field that a tool changes under a key, or returns why it cannot.
fn find_open_field(tool: Tool, key: &str) -> Result<&'static Field, String> {
    let why = match find_field(tool.fields(), key) {
        Some(field) if matches!(field.kind, Kind::Protected) => "protected and cannot be changed",
        Some(field) => return Ok(field),
        None if tool == Tool::UpdateDesign => "not a field of a design",
        None => "not a field of a component",
    };
    Err(format!("{} is {why}", truncate(key)))
}

/// Refuses protected and unknown fields of components.
pub(crate) fn check_fields(call: &Call) -> Result<(), String> {
    let (mut updates, mut criteria) = (call.object("updates"), call.object("criteria"));
    updates.retain(|key, _| call.tool != Tool::AddComponent || key != "component_type");
    criteria.retain(|key, _| !contains_word("component_type|componentId|called", key));
    let (updates, criteria) = (updates.into(), criteria.into());
    let mut fields = flatten(&updates).into_iter().chain(flatten(&criteria));
    fields.try_for_each(|(key, _)| find_open_field(call.tool, &key).map(|_| ()))
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

pub(crate) fn get<'v>(record: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.')
        .try_fold(record, |value, key| value.get(key))
}

/// Sets the value at a path, with the objects on the way to it.
pub(crate) fn set(record: &mut Value, path: &str, value: Value) {
    *path.split('.').fold(record, |place, key| {
        if !place.is_object() {
            *place = json!({});
        }
        &mut place[key]
    }) = value;
}

/// Returns what people call the field at a path or under a key; the last part of one that is not known.
pub(crate) fn find_label(path: &str) -> String {
    let mut fields = DESIGN.iter().chain(COMPONENT);
    let known = fields.find(|field| field.path == path || field.key == path);
    let last = || path.rsplit('.').next().unwrap_or(path).replace('_', " ");
    known.map_or_else(last, |field| field.label().to_string())
}

/// Writes a value as people do: a text without its quotes.
pub(crate) fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Cuts a text that is to be quoted in a sentence.
pub(crate) fn truncate(text: &str) -> String {
    shorten(text, 100).into_owned()
}
