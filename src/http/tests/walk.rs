//! Tables of calls. A row is `[USER[/SCOPE]] METHOD PATH [BODY] -> STATUS [CODE] [REPLY] [has TEXT | lacks TEXT]`.
//!
//! - A user calls with a token of the scope `write`, unless another is named; without a user, the owner calls.
//! - CODE is the code of the error.
//! - REPLY is a part of the reply. `"*"` is anything but null, `"~TEXT"` a value with this text in it, `"#2"` a
//!   list of two; an object in place of a list has some of its items by their numbers.
//! - `"$name"` in a reply is kept when it comes first, and has to be the same later; in a path or a body it is
//!   put in.
//! - A row that begins with `#` is a comment.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{JSON, Told, World};
use crate::ops::tokens::Scope;

pub(super) type Names = BTreeMap<String, Value>;

const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"];

impl World {
    /// Makes the calls of a table and checks what is replied.
    #[track_caller]
    pub(super) fn walk(&self, table: &str) -> Names {
        self.walk_with(Names::new(), table)
    }

    /// Makes the calls of a table that puts in what is known already.
    #[track_caller]
    pub(super) fn walk_with(&self, mut names: Names, table: &str) -> Names {
        let mut tokens = BTreeMap::new();
        let rows = table.lines().map(str::trim);
        let rows = rows.filter(|row| !row.is_empty() && !row.starts_with('#'));
        let mut wrong = Vec::new();
        for row in rows {
            let (call, expected) = row.split_once(" -> ").expect(row);
            let (user, call) = match call.split_once(' ').expect(row) {
                (method, _) if METHODS.contains(&method) => (None, call),
                (user, call) => (Some(user), call),
            };
            let call = put_in(call, &names);
            let mut words = call.splitn(3, ' ');
            let (method, path) = (words.next().unwrap(), words.next().expect(row));
            let body = words.next().unwrap_or_default().to_string();
            let token = user.map(|user| {
                let token = tokens.entry(user).or_insert_with(|| self.token_of(user));
                format!("Bearer {token}")
            });
            let headers = [
                JSON,
                ("authorization", token.as_deref().unwrap_or_default()),
            ];
            let n_headers = 1 + usize::from(token.is_some());
            let told = self.ask(method, path, &headers[..n_headers], body);
            if let Err(fault) = check(&told, expected, &mut names) {
                wrong.push(format!("{row}\n  {fault}: {} {}", told.status, told.text()));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        names
    }

    fn token_of(&self, user: &str) -> String {
        match user.split_once('/') {
            None => self.token(user, Scope::Write),
            Some((user, "read")) => self.token(user, Scope::Read),
            Some((user, "admin")) => self.token(user, Scope::Admin),
            Some((_, scope)) => panic!("there is no scope {scope}"),
        }
    }
}

fn put_in(call: &str, names: &Names) -> String {
    // Longer names first, as one may begin another.
    names
        .iter()
        .rev()
        .fold(call.to_string(), |call, (name, value)| {
            let call = call.replace(&format!("\"${name}\""), &value.to_string());
            let plain = value.as_str().map_or(value.to_string(), String::from);
            call.replace(&format!("${name}"), &plain)
        })
}

fn check(told: &Told, expected: &str, names: &mut Names) -> Result<(), String> {
    let (status, rest) = expected.split_once(' ').unwrap_or((expected, ""));
    if told.status.as_str() != status {
        return Err("another status".into());
    }
    let mut rest = rest.trim_start();
    if rest.starts_with("E_") {
        let (code, more) = rest.split_once(' ').unwrap_or((rest, ""));
        let reply = told.json();
        if reply["code"] != code && reply["error"]["code"] != code {
            return Err("another code".into());
        }
        rest = more.trim_start();
    }
    if rest.starts_with(['{', '[', '"']) {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let part = values.next().unwrap().expect(rest);
        rest = rest[values.byte_offset()..].trim_start();
        matches(&part, &told.json(), names).map_err(|place| format!("another reply at {place}"))?;
    }
    match rest.split_once(' ') {
        Some(("has", text)) if !told.text().contains(text) => Err("a text is missing".into()),
        Some(("lacks", text)) if told.text().contains(text) => Err("a text is there".into()),
        None | Some(("has" | "lacks", _)) => Ok(()),
        Some(_) => panic!("{expected}"),
    }
}

/// Compares a part of a reply with what is there. An error is the place of the first difference.
fn matches(part: &Value, there: &Value, names: &mut Names) -> Result<(), String> {
    let below = |place: String| move |below: String| format!("/{place}{below}");
    let is_same = match (part, there) {
        (Value::Object(fields), _) if there.is_object() || there.is_array() => {
            for (name, part) in fields {
                let there = match there {
                    Value::Array(items) => items.get(name.parse::<usize>().expect(name)),
                    _ => there.get(name),
                };
                let there = there.unwrap_or(&Value::Null);
                matches(part, there, names).map_err(below(name.clone()))?;
            }
            true
        }
        (Value::Array(parts), Value::Array(items)) if parts.len() == items.len() => {
            for (number, (part, item)) in parts.iter().zip(items).enumerate() {
                matches(part, item, names).map_err(below(number.to_string()))?;
            }
            true
        }
        (Value::String(text), _) => match (text.chars().next(), text.get(1..)) {
            (Some('*'), Some("")) => !there.is_null(),
            (Some('~'), Some(text)) => match there {
                Value::String(there) => there.contains(text),
                _ => !text.is_empty() && there.to_string().contains(text),
            },
            (Some('#'), Some(count)) => there
                .as_array()
                .is_some_and(|items| count.parse() == Ok(items.len())),
            (Some('$'), Some(name)) => names.entry(name.into()).or_insert(there.clone()) == there,
            _ => part == there,
        },
        _ => part == there,
    };
    is_same.then_some(()).ok_or_else(String::new)
}

#[test]
fn rows_that_differ_fail() {
    let there = json!({"id": "T1", "all": [{"a": 1}, {"a": 2}], "none": null});
    let differs = |part: Value| matches(&part, &there, &mut Names::new()).err();
    for part in [
        json!({"id": "T1", "none": null, "missing": null}),
        json!({"id": "$id", "all": {"0": {"a": "$a"}, "1": "*"}}),
        json!({"id": "~T", "all": "#2"}),
        json!({"all": [{}, {"a": 2}]}),
    ] {
        assert_eq!(differs(part.clone()), None, "{part}");
    }
    for (part, place) in [
        (json!({"id": "T2"}), "/id"),
        (json!({"none": "*"}), "/none"),
        (json!({"id": {"x": 1}}), "/id"),
        (json!({"id": "~t"}), "/id"),
        (json!({"none": "~"}), "/none"),
        (json!({"all": "#1"}), "/all"),
        (json!({"all": []}), "/all"),
        (json!({"all": [{}, {"a": 3}]}), "/all/1/a"),
        (
            json!({"all": {"0": {"a": "$a"}, "1": {"a": "$a"}}}),
            "/all/1/a",
        ),
    ] {
        assert_eq!(differs(part.clone()).as_deref(), Some(place), "{part}");
    }
}

#[test]
#[should_panic(expected = "another status")]
fn row_with_another_status_fails() {
    World::new().walk("GET /health -> 404");
}
