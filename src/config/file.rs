//! A settings file: YAML, read whole; changed line by line, so that comments and everything else
//! in it stay as they are.

use std::collections::BTreeMap;

use serde_yaml::Value as Yaml;

use super::{Key, Value, no_setting};
use crate::error::{Code, Error, Result, quote};

/// Largest file of settings, in bytes.
pub const FILE_MAX: u64 = 64 << 10;

/// A setting in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The setting.
    pub key: &'static str,
    /// What it is set to.
    pub value: Value,
    /// Number of its line, from 1.
    pub line: usize,
}

/// Reads a file. Names may be nested (`list:` and below it `limit: 50`) or written out
/// (`list.limit: 50`).
pub fn read(path: &str, text: &str) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for (name, value) in flat(path, text)? {
        let line = place(text, &name).map_or(1, |place| place.line + 1);
        let Some(key) = Key::find(&name) else {
            let error = invalid(path, line, &no_setting(&name));
            return Err(error.fix(unset(path, &name)));
        };
        let value = key_value(key, &value).map_err(|can_be| {
            let is = key.quoted(&shown(&value));
            let message = format!("`{name}` is {is}; it can be {can_be}");
            invalid(path, line, &message).fix(unset(path, &name))
        })?;
        entries.push(Entry {
            key: key.name,
            value,
            line,
        });
    }
    Ok(entries)
}

fn key_value(key: &Key, value: &Yaml) -> std::result::Result<Value, String> {
    match value {
        Yaml::Sequence(items) if key.kind == super::Kind::Folders => {
            let items: Option<Vec<&str>> = items.iter().map(Yaml::as_str).collect();
            let has_comma = |items: &Vec<&str>| items.iter().any(|item| item.contains(','));
            let items = items.filter(|items| !has_comma(items));
            key.read(&items.ok_or(key.kind.to_string())?.join(","))
        }
        Yaml::Sequence(_) => Err(key.kind.to_string()),
        scalar => key.read(&shown(scalar)),
    }
}

fn shown(value: &Yaml) -> String {
    match value {
        Yaml::String(text) => text.clone(),
        Yaml::Bool(value) => value.to_string(),
        Yaml::Number(number) => number.to_string(),
        Yaml::Sequence(_) => "a list".to_string(),
        _ => "a value of its own kind".to_string(),
    }
}

/// Reads a file into written-out names and values.
fn flat(path: &str, text: &str) -> Result<BTreeMap<String, Yaml>> {
    let root: Yaml = crate::yaml::from_str(text).map_err(|cause| {
        let line = cause.location().map_or(1, |place| place.line());
        let what = cause.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        invalid(path, line, &format!("it is no YAML: {what}")).fix(look(path, line))
    })?;
    let mut names = BTreeMap::new();
    match root {
        Yaml::Null => {}
        Yaml::Mapping(_) => flatten(path, text, "", root, &mut names)?,
        _ => {
            let error = invalid(path, 1, "settings are names and values");
            return Err(error.fix(look(path, 1)));
        }
    }
    Ok(names)
}

fn flatten(
    path: &str,
    text: &str,
    above: &str,
    value: Yaml,
    names: &mut BTreeMap<String, Yaml>,
) -> Result<()> {
    let Yaml::Mapping(fields) = value else {
        let line = place(text, above).map_or(1, |place| place.line + 1);
        if !value.is_null() && names.insert(above.to_string(), value).is_some() {
            let error = invalid(path, line, &format!("`{above}` is set twice"));
            return Err(error.fix(look(path, line)));
        }
        return Ok(());
    };
    for (name, value) in fields {
        let Some(name) = name.as_str() else {
            let error = invalid(path, 1, "the name of a setting is text");
            return Err(error.fix(look(path, 1)));
        };
        let whole = if above.is_empty() {
            name.to_string()
        } else {
            format!("{above}.{name}")
        };
        flatten(path, text, &whole, value, names)?;
    }
    Ok(())
}

fn invalid(path: &str, line: usize, what: &str) -> Error {
    Error::new(Code::ConfigInvalid, format!("{path}:{line}: {what}"))
}

fn unset(path: &str, name: &str) -> String {
    let user = if path.ends_with("cleo/config.yaml") && !path.ends_with(".cleo/config.yaml") {
        " --user"
    } else {
        ""
    };
    format!("cleo config unset {}{user}", quote(name))
}

fn look(path: &str, line: usize) -> String {
    format!("sed -n {line}p {}", quote(path))
}

/// Where a setting stands, in lines from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    name: String,
    line: usize,
    last: usize,
    indent: usize,
    /// Where its value begins in the line.
    start: usize,
}

/// Finds where settings stand, as far as lines tell. What lines do not tell is found out when the
/// changed text is read again.
fn places(text: &str) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let mut above: Vec<(usize, String)> = Vec::new();
    for (line, whole) in text.lines().enumerate() {
        let body = whole.trim_start_matches(' ');
        let indent = whole.len() - body.len();
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        let colon = body
            .find(": ")
            .or_else(|| body.trim_end().strip_suffix(':').map(str::len));
        let (Some(colon), false) = (colon, body.starts_with('-')) else {
            if let Some(place) = places.last_mut() {
                place.last = line;
            }
            continue;
        };
        above.retain(|(other, _)| *other < indent);
        above.push((indent, body[..colon].trim_matches(['"', '\'']).to_string()));
        let names: Vec<&str> = above.iter().map(|(_, name)| name.as_str()).collect();
        let name = names.join(".");
        let start = indent + colon + 1;
        places.push(Place {
            name,
            line,
            last: line,
            indent,
            start,
        });
    }
    places
}

fn place(text: &str, name: &str) -> Option<Place> {
    let is_it = |place: &Place| place.name.eq_ignore_ascii_case(name);
    places(text).into_iter().find(is_it)
}

/// Sets a value in the text of a file and leaves everything else as it is.
pub fn set(path: &str, text: &str, key: &'static Key, value: &Value) -> Result<String> {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let written = written(value);
    match place(text, key.name) {
        Some(place) if place.last > place.line => {
            return Err(cannot_edit(path, place.line + 1, key.name));
        }
        Some(place) => {
            let line = &lines[place.line];
            let comment = comment(&line[place.start..]);
            lines[place.line] = format!("{} {written}{comment}", &line[..place.start]);
        }
        None => match block(text, key.name) {
            Some((at, indent, last)) => {
                lines.insert(at, format!("{}{last}: {written}", " ".repeat(indent)));
            }
            None => lines.push(format!("{}: {written}", key.name)),
        },
    }
    let changed = lines.join("\n") + "\n";
    let mut wanted = flat(path, text)?;
    wanted.retain(|name, _| !name.eq_ignore_ascii_case(key.name));
    let mut found = flat(path, &changed).unwrap_or_default();
    let own = found
        .keys()
        .find(|name| name.eq_ignore_ascii_case(key.name))
        .cloned();
    let own = own.and_then(|name| found.remove(&name));
    let is_right = own.is_some_and(|yaml| key_value(key, &yaml).as_ref() == Ok(value));
    if is_right && found == wanted {
        return Ok(changed);
    }
    let line = place(text, key.name).map_or(1, |place| place.line + 1);
    Err(cannot_edit(path, line, key.name))
}

/// Takes a name, known or not, out of the text of a file; none when it is not there.
pub fn without(path: &str, text: &str, name: &str) -> Result<Option<String>> {
    let mut wanted = flat(path, text)?;
    let n_names = wanted.len();
    wanted.retain(|other, _| !other.eq_ignore_ascii_case(name));
    if wanted.len() == n_names {
        return Ok(None);
    }
    let place = place(text, name).ok_or_else(|| cannot_edit(path, 1, name))?;
    let lines = text.lines().enumerate();
    let kept = lines.filter(|(line, _)| !(place.line..=place.last).contains(line));
    let changed: String = kept.map(|(_, line)| format!("{line}\n")).collect();
    match flat(path, &changed) {
        Ok(found) if found == wanted => Ok(Some(changed)),
        _ => Err(cannot_edit(path, place.line + 1, name)),
    }
}

/// Finds the block that a setting belongs into, if there is one: before which line it goes, how far
/// it is indented, and the last word of its name.
fn block<'a>(text: &str, name: &'a str) -> Option<(usize, usize, &'a str)> {
    let (above, last) = name.rsplit_once('.')?;
    let place = place(text, above)?;
    let below = places(text)
        .into_iter()
        .find(|other| other.line > place.line && other.indent > place.indent);
    let indent = below.map_or(place.indent + 2, |below| below.indent);
    Some((place.line + 1, indent, last))
}

/// Returns the comment after a value, with the blanks before it.
fn comment(value: &str) -> &str {
    match value.find(" #") {
        Some(at) => {
            let before = value[..at].trim_end();
            &value[before.len()..]
        }
        None => "",
    }
}

fn written(value: &Value) -> String {
    let text = |text: &String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./@".contains(c);
        let starts_plain =
            text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '.');
        let is_word = matches!(
            text.to_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no"
        );
        if starts_plain && text.chars().all(is_plain) && !is_word {
            return text.clone();
        }
        // What is JSON is YAML too.
        serde_json::Value::from(text.as_str()).to_string()
    };
    match value {
        Value::Text(value) => text(value),
        Value::Number(number) => number.to_string(),
        Value::Flag(flag) => flag.to_string(),
        Value::Folders(folders) => {
            let folders: Vec<String> = folders.iter().map(text).collect();
            format!("[{}]", folders.join(", "))
        }
    }
}

fn cannot_edit(path: &str, line: usize, name: &str) -> Error {
    let what = format!("`{name}` stands in a way that cleo cannot change without harm to the rest");
    let error = invalid(path, line, &format!("{what}; change it by hand"));
    error.fix(format!("${{EDITOR:-vi}} +{line} {}", quote(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, name: &str, value: &str) -> Result<String> {
        let key = Key::named(name)?;
        set("config.yaml", text, key, &key.read(value).unwrap())
    }

    #[test]
    fn nested_and_written_out_names_are_read_with_their_lines() {
        let text = "# mine\nlist:\n  # few\n  limit: 50\ngates.timeLimit: 5m # long\nskills:\n  dirs: [a, b]\n";
        let read = read("c", text).unwrap();
        let found: Vec<_> = read.iter().map(|entry| (entry.key, entry.line)).collect();
        assert_eq!(
            found,
            [
                ("gates.timeLimit", 5),
                ("list.limit", 4),
                ("skills.dirs", 7)
            ]
        );
        assert_eq!(super::read("c", "").unwrap(), []);
        assert_eq!(super::read("c", "# nothing\n").unwrap(), []);
    }

    #[test]
    fn a_faulty_file_is_refused_with_line_and_fix() {
        for (text, line, what) in [
            ("a: b\nlist:\n  limits: 5\n", 1, "no setting `a`"),
            ("list:\n  limit: many\n", 2, "it can be a whole number"),
            ("color: auto\nformat: [json]\n", 2, "it can be one of"),
            ("color: auto\n format: json\n", 2, "no YAML"),
            ("- a\n", 1, "names and values"),
            ("list.limit: 1\nlist:\n  limit: 2\n", 1, "twice"),
        ] {
            let refused = read("c.yaml", text).unwrap_err();
            assert_eq!(refused.code, Code::ConfigInvalid);
            let place = format!("c.yaml:{line}: ");
            assert!(
                refused.message.starts_with(&place),
                "{text}: {}",
                refused.message
            );
            assert!(
                refused.message.contains(what),
                "{text}: {}",
                refused.message
            );
            assert!(refused.fix.is_some());
        }
    }

    #[test]
    fn setting_a_value_leaves_everything_else_as_it_is() {
        let text = "# mine\nlist: # lists\n  limit: 50   # few\n\ncolor: never\n";
        let limit = text.replace("50", "9");
        assert_eq!(changed(text, "list.limit", "9").unwrap(), limit);
        let color = text.replace("never", "auto");
        assert_eq!(changed(text, "color", "auto").unwrap(), color);
        let lease = format!("{text}claims.lease: 7200\n");
        assert_eq!(changed(text, "claims.lease", "2h").unwrap(), lease);
        assert_eq!(changed("", "agent", "a: b").unwrap(), "agent: \"a: b\"\n");
        let nested = changed("gates:\n    other: 1\n", "gates.timeLimit", "5");
        assert_eq!(nested.unwrap(), "gates:\n    timeLimit: 5\n    other: 1\n");
    }

    #[test]
    fn a_file_that_cannot_be_changed_safely_is_left_alone() {
        for text in [
            "{color: auto}\n",
            "list: {limit: 5}\n",
            "list:\n  limit:\n    5\n",
        ] {
            let refused = changed(text, "list.limit", "9").unwrap_err();
            assert!(
                refused.message.contains("by hand"),
                "{text}: {}",
                refused.message
            );
        }
    }

    #[test]
    fn a_name_goes_with_its_value() {
        let text = "# mine\nskills:\n  dirs:\n    - a\n    - b\nnope: 1\n";
        let without_dirs = "# mine\nskills:\nnope: 1\n";
        assert_eq!(
            without("c", text, "skills.dirs").unwrap().unwrap(),
            without_dirs
        );
        let without_nope = "# mine\nskills:\n  dirs:\n    - a\n    - b\n";
        assert_eq!(without("c", text, "nope").unwrap().unwrap(), without_nope);
        assert_eq!(without("c", text, "color").unwrap(), None);
    }
}
