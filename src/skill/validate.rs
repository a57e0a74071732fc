//! Checks a SKILL.md as strictly as the reference validator (`skills-ref` 0.1.1). The rare YAML that the two
//! judge differently is listed in `tests/data/skills-corpus/differing.json`. Start at `validate`.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::fields::{Field, Fields, Value};
use super::front_matter::{self, Fault};
use super::strict_yaml;

/// The keys that the specification allows, in its order.
const FIELDS: [&str; 6] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

/// The longest name, in characters after NFKC normalization (specification, `name`).
const NAME_LIMIT: usize = 64;

/// The longest description, in characters (specification, `description`).
const DESCRIPTION_LIMIT: usize = 1024;

/// The longest compatibility note, in characters (specification, `compatibility`).
const COMPATIBILITY_LIMIT: usize = 500;

/// Checks the bytes of a SKILL.md in the directory `directory_name`; no fault means valid.
pub(crate) fn validate_bytes(directory_name: &str, bytes: &[u8]) -> Vec<Fault> {
    match std::str::from_utf8(bytes) {
        Ok(text) => validate(directory_name, text),
        Err(error) => {
            let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let line_start = good.rfind('\n').map_or(0, |place| place + 1);
            let line = good.matches('\n').count() + 1;
            let column = good[line_start..].chars().count() + 1;
            vec![Fault::new(
                "FILE_NOT_UTF8",
                (line, column),
                "The file is not UTF-8.",
            )]
        }
    }
}

/// Checks the text of a SKILL.md in the directory `directory_name`; no fault means valid.
///
/// If the YAML itself is refused, that fault comes first, and the rules for the keys are applied
/// to a lenient reading, so that a person can fix all at once.
pub(crate) fn validate(directory_name: &str, text: &str) -> Vec<Fault> {
    match front_matter_text(text).and_then(strict_yaml::read) {
        Ok(fields) => check_fields(directory_name, &fields),
        Err(fault) => {
            let mut faults = vec![fault];
            if let Ok(document) = front_matter::parse(text) {
                faults.extend(check_fields(directory_name, &document.fields));
            }
            faults
        }
    }
}

/// Returns the text between the first two `---`, also within a line: the reference does not
/// look for line ends.
fn front_matter_text(text: &str) -> Result<&str, Fault> {
    if text.starts_with('\u{feff}') {
        let message = "The file must not begin with a byte order mark.";
        return Err(Fault::new("FRONT_MATTER_BOM", (1, 1), message));
    }
    let rest = text
        .strip_prefix("---")
        .ok_or_else(front_matter::missing_front_matter)?;
    let (block, _) = rest
        .split_once("---")
        .ok_or_else(front_matter::report_unclosed)?;
    Ok(block)
}

fn fault(field: &Field, code: &'static str, message: impl Into<String>) -> Fault {
    Fault::new(code, field.value_place, message)
}

/// Returns the text of a field. The reference does not count an unquoted `=` or `<<` as text.
fn text_in(field: &Field) -> Option<&str> {
    match &field.value {
        Value::Text { text, is_plain } if !is_plain || !["=", "<<"].contains(&&**text) => {
            Some(text)
        }
        _ => None,
    }
}

fn check_fields(directory_name: &str, fields: &Fields) -> Vec<Fault> {
    let mut faults = check_unknown_fields(fields);
    match fields.find("name") {
        Some(name) => faults.extend(check_name(directory_name, name)),
        None => faults.push(missing_key("SKILL_NAME_MISSING", "name")),
    }
    match fields.find("description") {
        Some(description) => faults.extend(check_description(description)),
        None => faults.push(missing_key("SKILL_DESCRIPTION_MISSING", "description")),
    }
    faults.extend(fields.find("compatibility").and_then(check_compatibility));
    faults.sort_by_key(|fault| (fault.line, fault.column));
    faults
}

fn check_unknown_fields(Fields(fields): &Fields) -> Vec<Fault> {
    let unknown = fields
        .iter()
        .filter(|field| !FIELDS.contains(&&*field.name));
    let fault = |field: &Field| {
        let message = format!(
            "The key `{}` is unknown; only {} are allowed.",
            field.name,
            FIELDS.join(", ")
        );
        Fault::new("SKILL_FIELD_UNKNOWN", field.place, message)
    };
    unknown.map(fault).collect()
}

fn missing_key(code: &'static str, name: &str) -> Fault {
    Fault::new(code, (1, 1), format!("The key `{name}` is missing."))
}

fn text_of(field: &Field) -> Result<&str, &'static str> {
    match text_in(field) {
        None => Err("must be text"),
        Some(text) if strip_white_space(text).is_empty() => Err("must not be empty"),
        Some(text) => Ok(text),
    }
}

fn check_name(directory_name: &str, field: &Field) -> Vec<Fault> {
    match text_of(field) {
        Ok(text) => name_faults(
            directory_name,
            &strip_white_space(text).nfkc().collect::<String>(),
        )
        .map(|(code, message)| fault(field, code, message))
        .collect(),
        Err(problem) => vec![fault(
            field,
            "SKILL_NAME_EMPTY",
            format!("The name {problem}."),
        )],
    }
}

fn name_faults(directory: &str, name: &str) -> impl Iterator<Item = (&'static str, String)> {
    let length = name.chars().count();
    [
        (length > NAME_LIMIT).then(|| {
            let message = format!("The name has {length} characters; {NAME_LIMIT} are allowed.");
            ("SKILL_NAME_TOO_LONG", message)
        }),
        (name != name.to_lowercase()).then(|| {
            (
                "SKILL_NAME_UPPERCASE",
                format!("The name `{name}` must be in lowercase."),
            )
        }),
        (name.starts_with('-') || name.ends_with('-')).then(|| {
            (
                "SKILL_NAME_HYPHEN_EDGE",
                "The name must not begin or end with a hyphen.".to_owned(),
            )
        }),
        name.contains("--").then(|| {
            (
                "SKILL_NAME_HYPHEN_DOUBLE",
                "The name must not hold two hyphens in a row.".to_owned(),
            )
        }),
        (!name.chars().all(is_name_character)).then(|| {
            let message = format!("The name `{name}` may hold only letters, digits and hyphens.");
            ("SKILL_NAME_CHARACTER", message)
        }),
        (!directory.nfkc().eq(name.chars())).then(|| {
            let message = format!("The name `{name}` must equal the directory name `{directory}`.");
            ("SKILL_NAME_DIRECTORY", message)
        }),
    ]
    .into_iter()
    .flatten()
}

fn check_description(field: &Field) -> Option<Fault> {
    match text_of(field) {
        Ok(text) => too_long("description", text, DESCRIPTION_LIMIT)
            .map(|message| fault(field, "SKILL_DESCRIPTION_TOO_LONG", message)),
        Err(problem) => {
            let message = format!("The description {problem}.");
            Some(fault(field, "SKILL_DESCRIPTION_EMPTY", message))
        }
    }
}

fn check_compatibility(field: &Field) -> Option<Fault> {
    let Some(text) = text_in(field) else {
        let message = "The compatibility must be text.";
        return Some(fault(field, "SKILL_COMPATIBILITY_NOT_TEXT", message));
    };
    too_long("compatibility", text, COMPATIBILITY_LIMIT)
        .map(|message| fault(field, "SKILL_COMPATIBILITY_TOO_LONG", message))
}

fn too_long(name: &str, text: &str, limit: usize) -> Option<String> {
    let length = text.chars().count();
    (length > limit).then(|| format!("The {name} has {length} characters; {limit} are allowed."))
}

/// Strips what Python counts as white space: that of Unicode and four ASCII separators.
fn strip_white_space(text: &str) -> &str {
    text.trim_matches(|character: char| {
        character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
    })
}

/// Python's `isalnum` or a hyphen: letters and numbers, without the marks and enclosed signs that
/// Rust counts as alphabetic.
fn is_name_character(character: char) -> bool {
    let enclosed = matches!(character, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}');
    let alphanumeric = character.is_alphanumeric() && !is_combining_mark(character) && !enclosed;
    alphanumeric || character == '-'
}

#[cfg(test)]
mod tests;
