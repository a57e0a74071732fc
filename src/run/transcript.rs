//! The output of an agent, for people: events in words, other lines as they are. Nothing here counts as
//! evidence. Pure. Escape sequences are removed whole: half of one is noise.

use serde::Serialize;
use serde_json::Value;

use crate::error::is_control_character;

/// Longest text of a line that is shown, in bytes.
pub(crate) const TEXT_MAX: usize = 4_096;
/// Fields of a tool's input that name its subject, the most important first.
const SUBJECTS: &[&str] = &[
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
];

/// Fields of an event that hold what was said, the most important first.
const WORDS: [&str; 6] = [
    "text",
    "content",
    "message",
    "result",
    "output",
    "aggregated_output",
];

/// The source of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Channel {
    /// An event of the run.
    Event,
    /// The agent's standard output.
    Out,
    /// Its standard error.
    Err,
    /// A tool that it used.
    Tool,
}

#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Line {
    pub(crate) ch: Channel,
    /// Its text, without anything that steers a screen.
    pub(crate) text: String,
    /// Whether the text was longer.
    pub(crate) cut: bool,
    /// How many bytes the line has.
    pub(crate) bytes: usize,
    pub(crate) error: bool,
    pub(crate) tool: Option<Tool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// The subject that it was used on.
    pub(crate) summary: String,
    pub(crate) exit_code: Option<i64>,
    /// How long it took, where the program that drives the agent says so.
    pub(crate) duration_ms: Option<u64>,
}

pub(crate) fn parse_line(ch: Channel, raw: &str) -> Line {
    let told = match ch {
        Channel::Out => serde_json::from_str::<Value>(raw)
            .ok()
            .filter(Value::is_object),
        _ => None,
    };
    let said = told.as_ref().map(read_event).unwrap_or_default();
    let text = if said.text.is_empty() {
        raw
    } else {
        &said.text
    };
    let clean: String = strip_escapes(text)
        .chars()
        .filter(|c| !is_control_character(*c) || matches!(c, '\n' | '\t'))
        .collect();
    let end = clean.floor_char_boundary(TEXT_MAX);
    Line {
        ch: if said.tool.is_some() {
            Channel::Tool
        } else {
            ch
        },
        cut: end < clean.len(),
        text: clean[..end].to_string(),
        bytes: raw.len(),
        error: said.error,
        tool: said.tool,
    }
}

#[derive(Default)]
struct EventText {
    text: String,
    error: bool,
    tool: Option<Tool>,
}

/// Reads an event of any known agent program; unknown events stay as they are.
fn read_event(event: &Value) -> EventText {
    let blocks = event["message"]["content"].as_array();
    if let Some(blocks) = blocks {
        let blocks = blocks.iter().map(read_block);
        return blocks.reduce(merge).unwrap_or_default();
    }
    for inner in [&event["item"], &event["part"], &event["data"], event] {
        let said = read_block(inner);
        if !said.text.is_empty() {
            return said;
        }
    }
    EventText::default()
}

fn merge(one: EventText, other: EventText) -> EventText {
    EventText {
        text: [one.text, other.text].join("\n").trim().to_string(),
        error: one.error || other.error,
        tool: one.tool.or(other.tool),
    }
}

fn read_block(block: &Value) -> EventText {
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    let kind = text("type");
    let first = |names: &[&str]| {
        let mut texts = names.iter().map(|name| text(name));
        texts.find(|text| !text.is_empty()).unwrap_or_default()
    };
    let is_tool =
        kind.contains("tool") || kind == "command_execution" || block["command"].is_string();
    let is_result = kind == "tool_result";
    let exit_code = block["exit_code"]
        .as_i64()
        .or_else(|| block["exitCode"].as_i64());
    let error = block["is_error"] == true
        || kind == "error"
        || text("status") == "error"
        || exit_code.is_some_and(|code| code != 0);
    if !is_tool || is_result {
        return EventText {
            text: first(&WORDS).to_string(),
            error,
            tool: None,
        };
    }
    let inputs = ["input", "parameters", "arguments"].map(|name| &block[name]);
    let inputs = [block].into_iter().chain(inputs);
    let mut inputs = inputs.chain([&block["state"]["input"]]);
    let subject = inputs
        .find_map(find_subject)
        .unwrap_or_default()
        .to_string();
    let name = match first(&["tool_name", "toolName", "tool", "name"]) {
        "" => "run",
        name => name,
    };
    EventText {
        text: format!("{name} {subject}").trim().to_string(),
        error,
        tool: Some(Tool {
            name: name.to_string(),
            summary: subject,
            exit_code,
            duration_ms: duration_ms(block),
        }),
    }
}

fn duration_ms(block: &Value) -> Option<u64> {
    let time = &block["state"]["time"];
    time["end"].as_u64()?.checked_sub(time["start"].as_u64()?)
}

/// Returns the subject that the input of a tool names, such as a command or a path.
pub(crate) fn find_subject(input: &Value) -> Option<&str> {
    SUBJECTS.iter().find_map(|name| input[*name].as_str())
}

/// Returns a text without the sequences that steer a terminal.
pub(crate) fn strip_escapes(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_shown_with_their_subject() {
        let rows = [
            (
                r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"cargo test"}}]}}"#,
                "Bash cargo test",
            ),
            (
                r#"{"type":"item.completed","item":{"type":"command_execution","command":"ls","exit_code":2}}"#,
                "run ls",
            ),
            (
                r#"{"type":"tool_use","part":{"type":"tool","tool":"read","state":{"input":{"filePath":"a.rs"}}}}"#,
                "read a.rs",
            ),
        ];
        for (raw, expected) in rows {
            let line = parse_line(Channel::Out, raw);
            assert_eq!(
                (line.ch, line.text.as_str()),
                (Channel::Tool, expected),
                "{raw}"
            );
        }
    }

    #[test]
    fn tool_duration_is_read_from_its_event() {
        for (time, took) in [
            (r#"{"start":1000,"end":1068}"#, Some(68)),
            (r#"{"start":1000}"#, None),
            (r#"{"start":1000,"end":999}"#, None),
        ] {
            let raw = format!(
                r#"{{"type":"tool_use","part":{{"type":"tool","state":{{"time":{time}}}}}}}"#
            );
            let tool = parse_line(Channel::Out, &raw).tool.unwrap();
            assert_eq!(tool.duration_ms, took, "{raw}");
        }
    }

    #[test]
    fn messages_and_failures_are_recognized() {
        let line1 = parse_line(
            Channel::Out,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"half of it"}}"#,
        );
        assert_eq!(
            (line1.ch, line1.text.as_str(), line1.error),
            (Channel::Out, "half of it", false)
        );
        let line2 = parse_line(
            Channel::Out,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"boom","is_error":true}]}}"#,
        );
        assert!(line2.error && line2.text == "boom");
    }

    #[test]
    fn control_chars_are_removed_and_long_lines_cut() {
        let line1 = parse_line(Channel::Err, "\u{1b}[31mred\u{202e}\u{1b}[0m");
        assert_eq!(line1.text, "red");
        let long = "ä".repeat(TEXT_MAX);
        let line2 = parse_line(Channel::Out, &long);
        assert!(line2.cut && line2.text.len() <= TEXT_MAX && line2.bytes == long.len());
    }

    #[test]
    fn only_whole_escape_sequences_are_removed() {
        for (text, expected) in [
            ("plain [31m text", "plain [31m text"),
            ("\u{1b}[31mred text\u{1b}[0m", "red text"),
            ("\u{1b}[38;5;208;1mdeep\u{1b}[0m", "deep"),
            ("\u{1b}[?25l\u{1b}[2K\u{1b}[1;1Hx", "x"),
            ("\u{1b}]0;title\u{7}after", "after"),
            (
                "\u{1b}]8;;https://a.example\u{1b}\\link\u{1b}]8;;\u{1b}\\.",
                "link.",
            ),
            ("\u{1b}(Bcharset \u{1b}7saved", "charset saved"),
            ("\u{1b}[31", ""),
            ("\u{1b}", ""),
        ] {
            assert_eq!(strip_escapes(text), expected, "{text:?}");
        }
    }
}
