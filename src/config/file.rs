//! Reads and edits settings files. Only flat lines (`llm.provider: x`) are edited; every other byte stays.

use std::collections::BTreeMap;

use serde_yaml::Value as Yaml;

use super::{Key, Value, no_setting};
use crate::error::{Code, Error, Result, quote};

pub(crate) const FILE_MAX: u64 = 64 << 10;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: &'static str,
    pub(crate) value: Value,
    pub(crate) line: usize,
}

/// Reads a file of flat names (`list.limit: 50`).
pub(crate) fn read(path: &str, text: &str) -> Result<Vec<Entry>> {
    let entries = parse_names(path, text)?.into_iter().map(|(name, value)| {
        let line = find_line(text, &name);
        let refuse = |what: &str| {
            let is_user =
                path.ends_with("cleo/config.yaml") && !path.ends_with(".cleo/config.yaml");
            let user = if is_user { " --user" } else { "" };
            let unset = format!("cleo config unset {}{user}", quote(&name));
            invalid(path, line, what).or("remove the setting", unset)
        };
        let key = Key::find(&name).ok_or_else(|| refuse(&no_setting(&name)))?;
        let value = parse(key, &value).map_err(|can_be| {
            let is = key.quote(&to_text(&value));
            refuse(&format!("`{name}` is {is}; it can be {can_be}"))
        })?;
        let key = key.name;
        Ok(Entry { key, value, line })
    });
    entries.collect()
}

fn parse(key: &Key, value: &Yaml) -> std::result::Result<Value, String> {
    match value {
        Yaml::Sequence(items) if key.kind == super::Kind::Folders => {
            let items: Option<Vec<&str>> = items.iter().map(Yaml::as_str).collect();
            let has_comma = |items: &Vec<&str>| items.iter().any(|item| item.contains(','));
            let items = items.filter(|items| !has_comma(items));
            key.read(&items.ok_or(key.kind.to_string())?.join(","))
        }
        Yaml::Sequence(_) => Err(key.kind.to_string()),
        scalar => key.read(&to_text(scalar)),
    }
}

fn to_text(value: &Yaml) -> String {
    match value {
        Yaml::String(text) => text.clone(),
        Yaml::Bool(value) => value.to_string(),
        Yaml::Number(number) => number.to_string(),
        Yaml::Sequence(_) => "a list".to_string(),
        _ => "a tagged value".to_string(),
    }
}

fn parse_names(path: &str, text: &str) -> Result<BTreeMap<String, Yaml>> {
    let root: Yaml = crate::yaml::from_str(text).map_err(|cause| {
        let line = cause.location().map_or(1, |place| place.line());
        let what = cause.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        invalid(path, line, &format!("invalid YAML: {what}"))
    })?;
    let fields = match root {
        Yaml::Null => return Ok(BTreeMap::new()),
        Yaml::Mapping(fields) => fields,
        _ => return Err(invalid(path, 1, "settings are names and values")),
    };
    let mut names = BTreeMap::new();
    for (name, value) in fields {
        let Yaml::String(name) = name else {
            return Err(invalid(path, 1, "the name of a setting is text"));
        };
        match value {
            Yaml::Null => {}
            Yaml::Mapping(_) => {
                let what = format!(
                    "`{name}` holds other settings; write each on a line of its own, such as `list.limit: 50`"
                );
                return Err(invalid(path, find_line(text, &name), &what));
            }
            value => drop(names.insert(name, value)),
        }
    }
    Ok(names)
}

fn invalid(path: &str, line: usize, what: &str) -> Error {
    let error = Error::new(Code::ConfigInvalid, format!("{path}:{line}: {what}"));
    error.fix(format!("sed -n {line}p {}", quote(path)))
}

/// Returns the line of a setting, from 1; 1 if its name does not begin a line.
fn find_line(text: &str, name: &str) -> usize {
    let found = text.lines().position(|line| is_flat_line(line, name));
    found.map_or(1, |at| at + 1)
}

fn is_flat_line(line: &str, name: &str) -> bool {
    let start = line.split_once(':').map(|(start, _)| start.trim_end());
    start.is_some_and(|start| start.eq_ignore_ascii_case(name))
}

pub(crate) fn set(path: &str, text: &str, key: &Key, value: &Value) -> Result<String> {
    let value = match value {
        Value::Text(text) if read_value(text).as_ref() == Some(&Yaml::from(&**text)) => {
            text.clone()
        }
        // JSON is YAML.
        value => crate::document::to_json(value).unwrap_or_default(),
    };
    edit(path, text, key.name, Some(&value))
}

/// Removes the flat line of a name, known or not; the text stays as it is if the name is not set.
pub(crate) fn unset(path: &str, text: &str, name: &str) -> Result<String> {
    edit(path, text, name, None)
}

/// Edits one line and rereads the result, which may differ only in this setting. Multi-line lists and anchors are
/// refused.
fn edit(path: &str, text: &str, name: &str, value: Option<&str>) -> Result<String> {
    let mut wanted = parse_names(path, text)?;
    wanted.retain(|other, _| !other.eq_ignore_ascii_case(name));
    if let Some(yaml) = value.and_then(read_value) {
        wanted.insert(name.to_string(), yaml);
    }
    let mut lines: Vec<String> = text.split_inclusive('\n').map(String::from).collect();
    let at = lines.iter().position(|line| is_flat_line(line, name));
    match (at, value) {
        (Some(at), Some(value)) => {
            let comment = trailing_comment(&lines[at]).to_string();
            lines[at] = format!("{name}: {value}{comment}");
        }
        (Some(at), None) => drop(lines.remove(at)),
        (None, Some(value)) => {
            if let Some(last) = lines.last_mut().filter(|last| !last.ends_with('\n')) {
                last.push('\n');
            }
            lines.push(format!("{name}: {value}\n"));
        }
        (None, None) => {}
    }
    let changed = lines.concat();
    if parse_names(path, &changed).is_ok_and(|found| found == wanted) {
        return Ok(changed);
    }
    let todo = match value {
        Some(value) => {
            format!("remove it there by hand and add the line `{name}: {value}` at the left margin")
        }
        None => "remove it there by hand".to_string(),
    };
    let what = format!("`{name}` is not on a line of its own like `{name}: VALUE`; {todo}");
    Err(invalid(path, find_line(text, name), &what))
}

fn read_value(text: &str) -> Option<Yaml> {
    crate::yaml::from_str(text).ok()
}

/// Returns the comment of a line with the blanks before it and the end of the line.
fn trailing_comment(line: &str) -> &str {
    let value = read_value(line);
    let mut marks = line
        .match_indices(" #")
        .map(|(at, _)| line[..at].trim_end().len());
    let end = marks.find(|end| read_value(&line[..*end]) == value);
    &line[end.unwrap_or(line.trim_end().len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_line(text: &str, name: &str, value: &str) -> Result<String> {
        let key = Key::require(name)?;
        set("config.yaml", text, key, &key.read(value).unwrap())
    }

    #[test]
    fn names_are_read_with_their_lines() {
        let text = "# mine\nlist.limit: 50\ngates.timeLimit: 5m # long\nskills.dirs: [a, b]\n";
        let read = read("c", text).unwrap();
        let found: Vec<_> = read.iter().map(|entry| (entry.key, entry.line)).collect();
        let expected = [
            ("gates.timeLimit", 3),
            ("list.limit", 2),
            ("skills.dirs", 4),
        ];
        assert_eq!(found, expected);
        assert_eq!(super::read("c", "").unwrap(), []);
        assert_eq!(super::read("c", "# nothing\n").unwrap(), []);
    }

    #[test]
    fn faulty_file_is_refused_with_line_and_fix() {
        for (text, line, what) in [
            ("a: b\nlist.limits: 5\n", 1, "no setting `a`"),
            ("# x\nlist.limit: many\n", 2, "it can be a whole number"),
            (
                "# x\nlist:\n  limit: 5\n",
                2,
                "write each on a line of its own",
            ),
            ("color: auto\nformat: [json]\n", 2, "it can be one of"),
            ("color: auto\n format: json\n", 2, "invalid YAML"),
            ("- a\n", 1, "names and values"),
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
    fn set_replaces_or_appends_one_line() {
        let text = "# mine\nlist.other: 50\n\ncolor: never   # few\r\n";
        let color = text.replace("never", "auto");
        assert_eq!(set_line(text, "color", "auto").unwrap(), color);
        let lease = format!("{text}claims.lease: 7200\n");
        assert_eq!(set_line(text, "claims.lease", "2h").unwrap(), lease);
        let both = "color: auto\nagent: \"a: b\"\n";
        assert_eq!(set_line("color: auto", "agent", "a: b").unwrap(), both);
        let quoted = "agent: \"a #b\" # me\n";
        let plain = "agent: yes # me\n";
        assert_eq!(set_line(quoted, "agent", "yes").unwrap(), plain);
        let dirs = "skills.dirs: [\"a\",\"b\"]\n";
        assert_eq!(
            set_line("Skills.Dirs:\n", "skills.dirs", "a,b").unwrap(),
            dirs
        );
    }

    #[test]
    fn edits_of_anything_but_flat_line_are_refused_with_its_line() {
        for (text, line) in [
            ("{list.limit: 5}\n", 1),
            ("color: auto\nlist.limit:\n  5\n", 2),
            ("list.limit: &n 5\nrun.jobs: *n\n", 1),
            ("list.limit: [\n1]\n", 1),
        ] {
            let set = set_line(text, "list.limit", "9").unwrap_err().message;
            let unset = unset("config.yaml", text, "list.limit")
                .unwrap_err()
                .message;
            for message in [&set, &unset] {
                let place = format!("config.yaml:{line}: ");
                assert!(message.starts_with(&place), "{text}: {message}");
                assert!(message.contains("by hand"), "{text}: {message}");
            }
            assert!(set.contains("`list.limit: 9`"), "{set}");
        }
        assert!(set_line("a: 1\n---\nb: 2\n", "list.limit", "9").is_err());
        assert!(set_line("- a\n", "list.limit", "9").is_err());
    }

    #[test]
    fn unset_removes_one_line() {
        let text = "# mine\nskills.dirs: [a, b]\nnope: 1\nlist.limit:\n";
        let edited = |name: &str| unset("c", text, name).unwrap();
        assert_eq!(
            edited("skills.dirs"),
            text.replace("skills.dirs: [a, b]\n", "")
        );
        assert_eq!(edited("NOPE"), text.replace("nope: 1\n", ""));
        assert_eq!(edited("list.limit"), text.replace("list.limit:\n", ""));
        assert_eq!(edited("color"), text);
    }
}
