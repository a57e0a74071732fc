//! Schemas of texts and their like: what the rules of fields accept, in the words of JSON Schema.

use schemars::Schema;
use serde_json::{Value, json};

use super::rules::{ITEM_MAX, ITEMS_MAX, TEXT_MAX};

/// One line that is not blank, without control characters; white space around it does not count.
const LINE: &str = r"^[\x09-\x0d\x20\x85]*[^\x00-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000][^\x00-\x1f\x7f-\x9f]*[\x09-\x0d\x20\x85]*$";
/// Text of several lines, perhaps none.
const TEXT: &str = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$";
/// The same, but not blank.
const NOTE: &str = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$";
/// Text that is not blank; anything may be in it.
pub(crate) const SEEN: &str =
    r"[^\x09-\x0d\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]";
/// One line, perhaps blank, without characters that are not seen.
pub(crate) const VISIBLE: &str =
    r"^[^\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]*$";
/// The name of a commit.
pub(crate) const REVISION: &str = r"^[^-\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";
/// An address without a name or a password.
pub(crate) const ADDRESS: &str = r"^https?://[^\s/?#@]+([/?#]\S*)?$";

/// Adds keywords to the schema of a field, or to that of each item of a list.
fn add(schema: &mut Schema, keywords: Value) {
    let is_list = schema.get("items").is_some();
    let fields = match is_list {
        true => schema.get_mut("items").and_then(Value::as_object_mut),
        false => schema.as_object_mut(),
    };
    if let (Some(fields), Value::Object(keywords)) = (fields, keywords) {
        fields.extend(keywords);
    }
}

pub(crate) fn line(max: usize) -> impl FnMut(&mut Schema) {
    move |it| {
        add(
            it,
            json!({"minLength": 1, "maxLength": max, "pattern": LINE}),
        )
    }
}

pub(crate) fn visible(max: usize) -> impl FnMut(&mut Schema) {
    move |it| {
        line(max)(it);
        add(it, json!({"allOf": [{"pattern": VISIBLE}]}));
    }
}

pub(crate) fn lines(it: &mut Schema) {
    line(ITEM_MAX)(it);
    it.insert("maxItems".to_string(), ITEMS_MAX.into());
}

/// Lines without a comma, which would divide them on a command line.
pub(crate) fn words(it: &mut Schema) {
    lines(it);
    add(it, json!({"pattern": LINE.replace("[^", "[^,")}));
}

/// A list of lines, or one with commas; blank ones are left out.
pub(crate) fn list(it: &mut Schema) {
    lines(it);
    add(
        it,
        json!({"minLength": 0, "pattern": r"^[^\x00-\x1f\x7f-\x9f]*$"}),
    );
    it.insert("type".to_string(), json!(["array", "string", "null"]));
    it.insert("pattern".to_string(), json!(r"^[^\x00-\x1f\x7f-\x9f]*$"));
}

pub(crate) fn text(it: &mut Schema) {
    add(it, json!({"maxLength": TEXT_MAX, "pattern": TEXT}));
}

pub(crate) fn note(it: &mut Schema) {
    long_note(TEXT_MAX)(it);
}

pub(crate) fn long_note(max: usize) -> impl FnMut(&mut Schema) {
    move |it| {
        add(
            it,
            json!({"minLength": 1, "maxLength": max, "pattern": NOTE}),
        )
    }
}

pub(crate) fn moment(it: &mut Schema) {
    add(
        it,
        json!({"anyOf": [{"format": "date"}, {"format": "date-time"}]}),
    );
}

/// A date, a time or an age.
pub(crate) fn past(it: &mut Schema) {
    let age = json!({"pattern": "^[0-9]{1,9}[smhdw]$"});
    add(
        it,
        json!({"anyOf": [{"format": "date"}, {"format": "date-time"}, age]}),
    );
}

pub(crate) fn one_of(words: &[&str]) -> String {
    format!("^({})$", words.join("|"))
}

/// Requires one of several fields, each with what it needs to be.
pub(crate) fn require_one(keyword: &str, fields: Value) -> impl FnMut(&mut Schema) {
    move |it| {
        let fields = fields.as_object().into_iter().flatten();
        let branches =
            fields.map(|(name, rule)| json!({"properties": {(name): rule}, "required": [name]}));
        add(it, json!({(keyword): branches.collect::<Vec<_>>()}));
    }
}
