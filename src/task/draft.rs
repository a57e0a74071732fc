//! A task before it is stored, a change to one, and the rules for their fields.

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::error::Category;

use super::files::check_files;
use super::{Priority, Size, TaskType};
use crate::clock;
use crate::error::{Code, Error, Result, nearest};
use crate::id::TaskId;
use crate::template::words;

/// Longest title, in characters.
pub const TITLE_MAX: usize = 500;
/// Longest description or note, in bytes.
pub const TEXT_MAX: usize = 1 << 20;
/// Longest line in a list (label, criterion, file, …), in characters.
pub const ITEM_MAX: usize = 2_000;
/// Most lines in a list.
pub const ITEMS_MAX: usize = 1_000;

/// What stands in a suggested command in the place of a title.
const SAMPLE: &str = "Describe the work in one line";

/// Names of the fields that a draft may have, as they stand in JSON.
pub const FIELDS: &[&str] = &[
    "title",
    "description",
    "type",
    "parent",
    "depends",
    "labels",
    "priority",
    "phase",
    "size",
    "files",
    "acceptance",
    "deliverables",
    "notes",
    "assignedAgent",
    "due",
    "estimate",
    "feature",
    "key",
];

/// Points to another task: by id, or with `@` by the key of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// `T12`
    Id(TaskId),
    /// `@name`
    Key(String),
}

impl std::str::FromStr for Reference {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Reference, String> {
        match text.trim().strip_prefix('@') {
            Some(key) if !key.is_empty() => Ok(Reference::Key(key.to_string())),
            _ => text.parse().map(Reference::Id),
        }
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Reference {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Reference".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string"})
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Reference, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// A task to be added.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the fields are those of Task")]
pub struct Draft {
    pub title: String,
    pub description: String,
    #[serde(rename = "type")]
    pub kind: Option<TaskType>,
    pub parent: Option<Reference>,
    pub depends: Vec<Reference>,
    pub labels: Vec<String>,
    pub priority: Option<Priority>,
    pub phase: Option<String>,
    pub size: Option<Size>,
    pub files: Vec<String>,
    pub acceptance: Vec<String>,
    pub deliverables: Vec<String>,
    pub notes: Vec<String>,
    pub assigned_agent: Option<String>,
    pub due: Option<String>,
    pub estimate: Option<f64>,
    pub feature: Option<String>,
    pub key: Option<String>,
    /// The line of a batch that it stands on.
    #[serde(skip)]
    pub line: Option<usize>,
}

impl Draft {
    /// Reads a draft from the text of a JSON object. An unknown field is refused with the nearest
    /// known one, a wrong value with the name of its field.
    pub fn from_json(text: &[u8]) -> Result<Draft> {
        let names: Names =
            serde_json::from_slice(text).map_err(|cause| match cause.classify() {
                Category::Data => Error::new(
                    Code::TaskInvalid,
                    "a task is written as one JSON object on one line",
                ),
                _ => no_json(&cause),
            })?;
        refuse_unknown(&names.0)?;
        let mut json = serde_json::Deserializer::from_slice(text);
        serde_path_to_error::deserialize(&mut json).map_err(|cause| {
            let what = without_place(cause.inner());
            Error::new(Code::TaskInvalid, format!("{}: {what}", cause.path()))
        })
    }

    /// Trims what is trimmed, puts dates into one form and checks every field.
    pub fn checked(mut self) -> Result<Draft> {
        self.title = self.title.trim().to_string();
        check_title(&self.title)?;
        check_text("description", &self.description)?;
        self.labels = check_list("labels", std::mem::take(&mut self.labels))?;
        let files = check_list("files", std::mem::take(&mut self.files))?;
        self.files = check_list("files", check_files(&files)?)?;
        self.acceptance = check_list("acceptance", std::mem::take(&mut self.acceptance))?;
        self.deliverables = check_list("deliverables", std::mem::take(&mut self.deliverables))?;
        for note in &self.notes {
            check_note(note)?;
        }
        for word in [
            &mut self.phase,
            &mut self.assigned_agent,
            &mut self.feature,
            &mut self.key,
        ] {
            *word = word.take().map(|word| word.trim().to_string());
        }
        for (name, value) in [
            ("assignedAgent", &self.assigned_agent),
            ("feature", &self.feature),
            ("key", &self.key),
        ] {
            check_word(name, value.as_deref())?;
        }
        check_phase(self.phase.as_deref())?;
        self.due = self.due.as_deref().map(check_due).transpose()?;
        self.estimate = check_estimate(self.estimate)?;
        Ok(self)
    }
}

/// Names of the fields of a JSON object, in order.
struct Names(Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Names, D::Error> {
        deserializer.deserialize_map(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Names, A::Error> {
        let mut names = Vec::new();
        while let Some((name, _)) = map.next_entry::<String, IgnoredAny>()? {
            names.push(name);
        }
        Ok(Names(names))
    }
}

fn no_json(cause: &serde_json::Error) -> Error {
    let message = format!(
        "no JSON at column {}: {}",
        cause.column(),
        without_place(cause)
    );
    Error::new(Code::BatchInvalid, message)
}

/// Returns what a parser says without the place, which it only knows within its own line.
fn without_place(cause: &serde_json::Error) -> String {
    let what = cause.to_string();
    what.split(" at line ")
        .next()
        .unwrap_or_default()
        .to_string()
}

fn refuse_unknown(names: &[String]) -> Result<()> {
    if let Some(name) = names
        .iter()
        .enumerate()
        .find(|(at, name)| names[..*at].contains(name))
    {
        let message = format!("the field `{}` stands twice", name.1);
        return Err(Error::new(Code::TaskInvalid, message));
    }
    let Some(name) = names.iter().find(|name| !FIELDS.contains(&name.as_str())) else {
        return Ok(());
    };
    let hint = match (name.as_str(), nearest(name, FIELDS.iter().copied())) {
        ("id", _) => "ids are handed out; to refer to a line give it a `key`".to_string(),
        ("status", _) => "a new task is pending; `cleo start` and its like move it".to_string(),
        (_, Some(known)) => format!("did you mean `{known}`?"),
        _ => format!("known are {}", FIELDS.join(", ")),
    };
    let message = format!("a task has no field `{name}`: {hint}");
    Err(Error::new(Code::FieldUnknown, message))
}

/// Checks a title: one line, not empty, without control characters, at most [`TITLE_MAX`] long.
pub fn check_title(title: &str) -> Result<()> {
    if title.is_empty() {
        return Err(Error::new(Code::TaskInvalid, "a task needs a title").instead(title, SAMPLE));
    }
    refuse_unseen("the title", title, SAMPLE)?;
    check_line("title", title, TITLE_MAX)
}

/// Refuses a text of which nothing is left without its control characters, where one is needed.
fn refuse_unseen(what: &str, text: &str, sample: &str) -> Result<()> {
    if text.chars().any(|c| !c.is_control() && !c.is_whitespace()) {
        return Ok(());
    }
    let message = format!("{what} has nothing but control characters, and must not be empty");
    Err(Error::new(Code::TaskInvalid, message).instead(text, sample))
}

/// Checks one line of text: no control characters, at most `max` characters.
pub fn check_line(field: &str, text: &str, max: usize) -> Result<()> {
    let length = text.chars().count();
    if length > max {
        let short: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
        let has = if is_plural(field) { "have" } else { "has" };
        let message = format!("the {field} {has} {length} characters; {max} are allowed");
        return Err(Error::new(Code::TextTooLong, message).instead(text, short.trim()));
    }
    let Some(control) = text.chars().find(|c| c.is_control()) else {
        return Ok(());
    };
    let clean = cleaned_line(text).unwrap_or_default();
    Err(control_character(field, control).instead(text, clean))
}

/// Returns a line with spaces in the place of control characters; none when it has none of them.
pub fn cleaned_line(text: &str) -> Option<String> {
    if !may_hold_control(text) || !text.contains(char::is_control) {
        return None;
    }
    let words = text.split(|c: char| c.is_control() || c.is_whitespace());
    let words = words.filter(|word| !word.is_empty());
    Some(words.collect::<Vec<_>>().join(" "))
}

/// Returns a text of several lines without the control characters that it must not hold; none when
/// it holds none of them.
pub fn cleaned_text(text: &str) -> Option<String> {
    if !may_hold_control(text) || !text.contains(is_foreign) {
        return None;
    }
    Some(text.chars().filter(|c| !is_foreign(*c)).collect())
}

/// Says whether a text of several lines must not hold a character.
fn is_foreign(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// Looks at bytes only, because whole files come here: the first of U+0080 to U+009F is 0xC2.
fn may_hold_control(text: &str) -> bool {
    text.bytes()
        .any(|byte| byte < 0x20 || matches!(byte, 0x7f | 0xc2))
}

/// Checks a text of several lines: tabs and line ends are its only control characters.
pub fn check_text(field: &str, text: &str) -> Result<()> {
    if text.len() > TEXT_MAX {
        let message = format!(
            "the {field} has {} bytes; {TEXT_MAX} are allowed",
            text.len()
        );
        let short: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
        return Err(Error::new(Code::TextTooLong, message).instead(text, short));
    }
    let Some(control) = text.chars().find(|c| is_foreign(*c)) else {
        return Ok(());
    };
    let clean = cleaned_text(text).unwrap_or_default();
    Err(control_character(field, control).instead(text, clean))
}

/// Checks a note: not empty, and a text like a description.
pub fn check_note(text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Error::new(Code::TaskInvalid, "a note must not be empty"));
    }
    refuse_unseen("a note", text, "What others should know")?;
    check_text("note", text)
}

fn control_character(field: &str, control: char) -> Error {
    let hold = if is_plural(field) { "hold" } else { "holds" };
    let message = format!(
        "the {field} {hold} the control character U+{:04X}",
        u32::from(control)
    );
    Error::new(Code::TextControl, message)
}

fn is_plural(field: &str) -> bool {
    field.ends_with('s') && !field.ends_with("ss")
}

/// Trims the lines of a list, drops empty and repeated ones and checks the rest.
pub fn check_list(field: &str, lines: Vec<String>) -> Result<Vec<String>> {
    if lines.len() > ITEMS_MAX {
        let message = format!("{field} has {} lines; {ITEMS_MAX} are allowed", lines.len());
        return Err(Error::new(Code::TaskInvalid, message));
    }
    let mut kept: Vec<String> = Vec::with_capacity(lines.len());
    for line in &lines {
        let trimmed = line.trim();
        check_line(field, trimmed, ITEM_MAX)?;
        if !trimmed.is_empty() && !kept.iter().any(|other| other == trimmed) {
            kept.push(trimmed.to_string());
        }
    }
    Ok(kept)
}

/// Checks a short name: one line, not empty, at most 100 characters.
pub fn check_word(field: &str, word: Option<&str>) -> Result<()> {
    let Some(word) = word else { return Ok(()) };
    if word.trim().is_empty() {
        return Err(Error::new(
            Code::TaskInvalid,
            format!("{field} must not be empty"),
        ));
    }
    refuse_unseen(field, word, "name")?;
    check_line(field, word, 100)
}

/// Checks the name of a phase. It stands inside the protocol block of a prompt, where free text has
/// no place: letters, digits, `.`, `_` and `-`, at most 100.
pub fn check_phase(phase: Option<&str>) -> Result<()> {
    check_word("phase", phase)?;
    let Some(phase) = phase.filter(|phase| !is_slug(phase)) else {
        return Ok(());
    };
    let message = format!("phase is `{phase}`; letters, digits, `.`, `_` and `-` are allowed");
    let slug = Some(words(phase)).filter(|slug| !slug.is_empty());
    Err(Error::new(Code::TaskInvalid, message).instead(phase, slug.unwrap_or("phase-1".into())))
}

/// Says whether a text is a slug: [A-Za-z0-9._-], 1 to 100 characters.
pub fn is_slug(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=100).contains(&text.len()) && text.chars().all(fits)
}

/// Checks a due date and returns it as RFC 3339 in UTC.
pub fn check_due(text: &str) -> Result<String> {
    clock::parse_moment(text).ok_or_else(|| {
        let message = format!(
            "due is `{text}`, which is no date like 2026-12-31 or RFC 3339 time in the years 0000 \
             to 9999"
        );
        Error::new(Code::TaskInvalid, message).instead(text, "2026-12-31")
    })
}

/// Checks an estimate (hours, finite, not negative, below 1,000) and returns it with two decimals,
/// as many as the specification keeps.
pub fn check_estimate(hours: Option<f64>) -> Result<Option<f64>> {
    let rounded = hours.map(|hours| (hours * 100.0).round() / 100.0);
    match hours.zip(rounded) {
        Some((hours, rounded)) if hours < 0.0 || !(0.0..1_000.0).contains(&rounded) => {
            let message = format!("estimate is {hours}; it counts hours from 0 to 999.99");
            Err(Error::new(Code::TaskInvalid, message).instead(hours.to_string(), "1"))
        }
        _ => Ok(rounded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titled(title: &str) -> Draft {
        Draft {
            title: title.to_string(),
            ..Draft::default()
        }
    }

    #[test]
    fn an_unknown_field_is_refused_with_the_nearest_known_one() {
        let error = Draft::from_json(br#"{"titel": "x"}"#).unwrap_err();
        assert_eq!(error.code, Code::FieldUnknown);
        assert_eq!(
            error.message,
            "a task has no field `titel`: did you mean `title`?"
        );
    }

    #[test]
    fn a_wrong_kind_of_value_is_refused() {
        for (text, message) in [
            (
                r#"{"title": 1}"#,
                "title: invalid type: integer `1`, expected a string",
            ),
            (
                r#"["x"]"#,
                "a task is written as one JSON object on one line",
            ),
            (
                r#"{"title": "x", "depends": ["x"]}"#,
                "depends[0]: `x` is no task id; ids look like T12",
            ),
            (
                r#"{"title": "a", "title": "b"}"#,
                "the field `title` stands twice",
            ),
        ] {
            let error = Draft::from_json(text.as_bytes()).unwrap_err();
            assert_eq!(
                (error.code, error.message.as_str()),
                (Code::TaskInvalid, message)
            );
        }
    }

    #[test]
    fn titles_are_one_clean_line_of_bounded_length() {
        for (title, code) in [
            ("", Code::TaskInvalid),
            ("  \n ", Code::TaskInvalid),
            ("a\nb", Code::TextControl),
            ("\u{1}\u{2}", Code::TaskInvalid),
            ("a\u{1b}[31mb", Code::TextControl),
            (&"x".repeat(501), Code::TextTooLong),
        ] {
            assert_eq!(titled(title).checked().unwrap_err().code, code, "{title:?}");
        }
        assert_eq!(
            titled(" {{DATE}} & more ").checked().unwrap().title,
            "{{DATE}} & more"
        );
    }

    #[test]
    fn a_control_character_comes_with_the_text_without_it() {
        let error = titled("a\u{7}b\nc").checked().unwrap_err();
        assert_eq!(
            error.replacement,
            Some(("a\u{7}b\nc".into(), "a b c".into()))
        );
    }

    #[test]
    fn a_text_of_control_characters_only_is_an_empty_one() {
        let sample = Some(("\u{1} \u{2}".into(), SAMPLE.into()));
        let error = titled("\u{1} \u{2}").checked().unwrap_err();
        assert_eq!(error.replacement, sample);
        assert_eq!(
            error.message,
            "the title has nothing but control characters, and must not be empty"
        );
        for error in [
            check_note("\u{7f}\n").unwrap_err(),
            check_word("feature", Some("\u{1}")).unwrap_err(),
        ] {
            assert_eq!(error.code, Code::TaskInvalid);
            assert!(error.message.contains("nothing but control"), "{error}");
        }
    }

    #[test]
    fn lists_are_trimmed_and_lose_empty_and_repeated_lines() {
        let lines = ["a ", "", "a", " b"].map(String::from).to_vec();
        assert_eq!(check_list("labels", lines).unwrap(), ["a", "b"]);
    }

    #[test]
    fn references_are_ids_or_keys() {
        assert_eq!("T3".parse(), Ok(Reference::Id(TaskId(3))));
        assert_eq!("@auth".parse(), Ok(Reference::Key("auth".into())));
        assert!("auth".parse::<Reference>().is_err());
        assert!("@".parse::<Reference>().is_err());
    }

    #[test]
    fn estimates_and_due_dates_are_checked() {
        for wrong in [f64::NAN, f64::INFINITY, -1.0, -0.001, 999.995, 1_000.0] {
            assert!(check_estimate(Some(wrong)).is_err(), "{wrong}");
        }
        for (hours, kept) in [(2.5, 2.5), (0.0, 0.0), (1.0 / 3.0, 0.33), (999.994, 999.99)] {
            assert_eq!(check_estimate(Some(hours)).unwrap(), Some(kept));
        }
        assert!(check_due("2026-02-30").is_err());
    }
}
