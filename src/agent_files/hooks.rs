//! Writes cleo's hooks into the settings file of a client. The file belongs to the project: everything else
//! in it stays as written and in place.

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ownership::leave_unchanged;
use super::{Client, Outcome};

/// How long a client waits for a hook, in seconds.
const TIMEOUT: u32 = 60;
const COMMAND: &str = "cleo hook ";

type Object = IndexMap<String, String>;
type Fault = String;

/// A hook: the event of the client, and the group of its settings that asks cleo then.
pub(super) struct Hook {
    event: &'static str,
    group: Value,
}

pub(super) fn for_client(client: Client) -> Vec<Hook> {
    let options = match client {
        Client::Claude => "",
        Client::Codex => " --client codex",
    };
    let call = |what: &str| {
        let command = format!("{COMMAND}{what}{options}");
        json!({"type": "command", "command": command, "timeout": TIMEOUT})
    };
    vec![
        Hook {
            event: "Stop",
            group: json!({"hooks": [call("stop")]}),
        },
        Hook {
            event: "SubagentStop",
            group: json!({"matcher": super::NAME, "hooks": [call("subagent-stop")]}),
        },
    ]
}

/// Puts the hooks into a settings file, which may be empty. The error says that the file is not JSON or has
/// something else in place of hooks.
pub(super) fn merge_hooks(there: &str, hooks: &[Hook]) -> Result<Outcome, Fault> {
    let mut file = match strip_bom(there).is_empty() {
        true => Object::new(),
        false => parse_object(strip_bom(there), "it")?,
    };
    let mut events = match file.get("hooks") {
        Some(text) => parse_object(text, "`hooks`")?,
        None => Object::new(),
    };
    let mut changes = Vec::new();
    for hook in hooks {
        let groups = match events.get(hook.event) {
            Some(text) => list(text, hook.event)?,
            None => Vec::new(),
        };
        if let Some((groups, changed)) = with_ours(&groups, &hook.group) {
            changes.push(changed);
            let text = format_enclosed('[', groups.iter().cloned(), ']', "    ");
            events.insert(hook.event.to_string(), text);
        }
    }
    if changes.is_empty() {
        return Ok(leave_unchanged(there));
    }
    file.insert("hooks".to_string(), write_object(&events, "  "));
    Ok(Outcome {
        text: write_object(&file, "") + "\n",
        holds_changes: changes.contains(&true),
    })
}

/// Replaces or adds our group of an event and tells whether ours was edited; `None` if it is there already.
fn with_ours(groups: &[String], ours: &Value) -> Option<(Vec<String>, bool)> {
    let value = |text: &String| serde_json::from_str::<Value>(text).unwrap_or_default();
    if groups.iter().any(|group| value(group) == *ours) {
        return None;
    }
    let mut kept = Vec::new();
    let mut place = None;
    for group in groups {
        let rest = without_ours(value(group));
        match rest {
            None => kept.push(group.clone()),
            Some(rest) => {
                place = place.or(Some(kept.len()));
                kept.extend(rest.map(|rest| format_group(&rest)));
            }
        }
    }
    kept.insert(place.unwrap_or(kept.len()), format_group(ours));
    Some((kept, place.is_some()))
}

/// Removes our hooks from a group: `None` if it has none, else the remaining group, if any.
fn without_ours(mut group: Value) -> Option<Option<Value>> {
    let hooks = group.get_mut("hooks")?.as_array_mut()?;
    let before = hooks.len();
    let is_ours = |hook: &Value| {
        let command = hook["command"].as_str();
        command.is_some_and(|command| command.trim_start().starts_with(COMMAND))
    };
    hooks.retain(|hook| !is_ours(hook));
    let (after, is_empty) = (hooks.len(), hooks.is_empty());
    (after < before).then(|| (!is_empty).then_some(group))
}

/// Reads text without the mark that some editors put in front.
fn strip_bom(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim()
}

fn parse_object(text: &str, what: &str) -> Result<Object, Fault> {
    if !text.starts_with('{') {
        return Err(format!("{what} is not a JSON object"));
    }
    let read: serde_json::Result<IndexMap<String, Box<RawValue>>> = serde_json::from_str(text);
    let read = read.map_err(|cause| format!("{what} is not JSON: {cause}"))?;
    let values = read.into_iter();
    Ok(values
        .map(|(key, value)| (key, value.get().to_string()))
        .collect())
}

fn list(text: &str, event: &str) -> Result<Vec<String>, Fault> {
    let read: serde_json::Result<Vec<Box<RawValue>>> = serde_json::from_str(text);
    let read = read.map_err(|_| format!("`hooks.{event}` is not a list"))?;
    Ok(read.iter().map(|value| value.get().to_string()).collect())
}

fn write_object(object: &Object, indent: &str) -> String {
    let rows = object.iter();
    let rows = rows.map(|(key, value)| format!("{}: {value}", Value::from(key.as_str())));
    format_enclosed('{', rows, '}', indent)
}

fn format_enclosed(
    open: char,
    rows: impl Iterator<Item = String>,
    close: char,
    indent: &str,
) -> String {
    let rows: Vec<String> = rows.map(|row| format!("\n{indent}  {row}")).collect();
    format!("{open}{}\n{indent}{close}", rows.join(","))
}

/// Writes a group on lines of its own, as deep as groups stand.
fn format_group(group: &Value) -> String {
    let text = serde_json::to_string_pretty(group).unwrap_or_default();
    text.replace('\n', "\n      ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_claude(there: &str) -> Outcome {
        merge_hooks(there, &for_client(Client::Claude)).unwrap()
    }

    #[test]
    fn hooks_are_put_into_file() {
        let made = put_claude("");
        let value: Value = serde_json::from_str(&made.text).unwrap();
        let stop = &value["hooks"]["Stop"][0]["hooks"][0];
        assert_eq!(stop["command"], "cleo hook stop");
        assert_eq!(
            value["hooks"]["SubagentStop"][0]["matcher"],
            "cleo-subagent"
        );
        assert!(!made.holds_changes);
        let again = put_claude(&made.text);
        assert_eq!(again, made);
        let codex = merge_hooks("", &for_client(Client::Codex)).unwrap().text;
        assert!(
            codex.contains("cleo hook subagent-stop --client codex"),
            "{codex}"
        );
    }

    #[test]
    fn what_others_wrote_stays_as_it_is_written() {
        let there = "\u{feff}{\n  \"zebra\": 1.50,\n  \"hooks\": {\n    \"Stop\": [\n      \
            {\"hooks\": [ {\"type\":\"command\", \"command\":\"mine\"} ]}\n    ],\n    \
            \"PreToolUse\": []\n  },\n  \"apple\": { \"b\": 1,\n \"a\": 2 }\n}\n";
        let made = put_claude(there);
        assert!(!made.holds_changes);
        for part in [
            "\"zebra\": 1.50,",
            "{\"hooks\": [ {\"type\":\"command\", \"command\":\"mine\"} ]},",
            "\"PreToolUse\": []",
            "\"apple\": { \"b\": 1,\n \"a\": 2 }",
        ] {
            assert!(made.text.contains(part), "{part}\n{}", made.text);
        }
        let keys = ["zebra", "Stop", "PreToolUse", "SubagentStop", "apple"];
        let places: Vec<_> = keys
            .iter()
            .map(|key| made.text.find(key).unwrap())
            .collect();
        assert!(places.is_sorted(), "{}", made.text);
        let value: Value = serde_json::from_str(&made.text).unwrap();
        assert_eq!(value["hooks"]["Stop"].as_array().unwrap().len(), 2);
        assert_eq!(
            put_claude(&made.text),
            Outcome {
                holds_changes: false,
                text: made.text
            }
        );
    }

    #[test]
    fn hook_of_ours_that_someone_changed_is_noticed() {
        let ours = put_claude("").text;
        let changed = ours.replace("\"timeout\": 60", "\"timeout\": 5");
        let made = put_claude(&changed);
        assert!(made.holds_changes);
        assert_eq!(made.text, ours);
        let joined = ours.replacen(
            "\"hooks\": [\n          {",
            "\"hooks\": [\n          {\"type\": \"command\", \"command\": \"mine\"},\n          {",
            1,
        );
        assert_ne!(joined, ours);
        let made = put_claude(&joined);
        let value: Value = serde_json::from_str(&made.text).unwrap();
        assert!(made.holds_changes);
        assert_eq!(
            value["hooks"]["Stop"][0]["hooks"][0]["command"],
            "cleo hook stop"
        );
        assert_eq!(value["hooks"]["Stop"][1]["hooks"][0]["command"], "mine");
    }

    #[test]
    fn what_is_no_settings_file_is_refused_with_reason() {
        for (there, why) in [
            ("[]", "it is not a JSON object"),
            (
                "{\n// mine\n}",
                "it is not JSON: key must be a string at line 2",
            ),
            ("{\"hooks\": []}", "`hooks` is not a JSON object"),
            ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop` is not a list"),
        ] {
            let fault = merge_hooks(there, &for_client(Client::Claude)).unwrap_err();
            assert!(fault.contains(why), "{there}: {fault}");
        }
    }
}
