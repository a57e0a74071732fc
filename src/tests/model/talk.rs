//! A conversation as a program sends it, whatever its wire format: which play it is about, how far
//! that has come, and which tools there are.

use serde_json::{Map, Value, json};

use super::wire::Format;
use super::{Answer, Step};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// The script named in the last prompt.
    pub(super) play: String,
    /// How many answers with a call there were since.
    pub(super) steps: usize,
    /// The tools, each with the schema of its input.
    pub(super) tools: Vec<(String, Value)>,
}

/// Tools that run a command, as programs call theirs.
const SHELLS: [&str; 6] = [
    "bash",
    "exec_command",
    "shell_command",
    "shell",
    "run_shell_command",
    "local_shell",
];
/// Tools that write a file.
const WRITERS: [&str; 3] = ["write", "write_file", "create"];

impl Talk {
    /// Reads a request.
    pub(super) fn read(format: Format, body: &Value) -> Talk {
        let mut talk = Talk::default();
        match format {
            Format::Anthropic => talk.anthropic(body),
            Format::Responses => talk.responses(body),
            Format::Chat => talk.chat(body),
            Format::Gemini => talk.gemini(body),
        }
        talk
    }

    fn prompt(&mut self, text: &str) {
        if let Some((_, rest)) = text.rsplit_once("PLAY: ") {
            let word = rest.split_whitespace().next().unwrap_or_default();
            self.play = word.trim_matches('"').to_string();
            self.steps = 0;
        }
    }

    fn anthropic(&mut self, body: &Value) {
        for tool in list(&body["tools"]) {
            self.tool(&tool["name"], &tool["input_schema"]);
        }
        for message in list(&body["messages"]) {
            let content = &message["content"];
            let calls = list(content).iter().any(|part| part["type"] == "tool_use");
            match message["role"].as_str() {
                Some("assistant") => self.steps += usize::from(calls),
                _ => texts(content).iter().for_each(|text| self.prompt(text)),
            }
        }
    }

    fn responses(&mut self, body: &Value) {
        for tool in list(&body["tools"]) {
            self.tool(&tool["name"], &tool["parameters"]);
        }
        for item in list(&body["input"]) {
            match item["type"].as_str() {
                Some("function_call" | "local_shell_call") => self.steps += 1,
                Some("message") | None if item["role"] == "user" => {
                    texts(&item["content"])
                        .iter()
                        .for_each(|text| self.prompt(text));
                }
                _ => {}
            }
        }
    }

    fn chat(&mut self, body: &Value) {
        for tool in list(&body["tools"]) {
            self.tool(&tool["function"]["name"], &tool["function"]["parameters"]);
        }
        for message in list(&body["messages"]) {
            match message["role"].as_str() {
                Some("assistant") => {
                    self.steps += usize::from(!list(&message["tool_calls"]).is_empty());
                }
                Some("user") => {
                    let content = &message["content"];
                    texts(content).iter().for_each(|text| self.prompt(text));
                }
                _ => {}
            }
        }
    }

    fn gemini(&mut self, body: &Value) {
        for group in list(&body["tools"]) {
            for tool in list(&group["functionDeclarations"]) {
                let schema = tool
                    .get("parametersJsonSchema")
                    .unwrap_or(&tool["parameters"]);
                self.tool(&tool["name"], schema);
            }
        }
        for content in list(&body["contents"]) {
            let parts = list(&content["parts"]);
            let calls = parts.iter().any(|part| part.get("functionCall").is_some());
            match content["role"].as_str() {
                Some("model") => self.steps += usize::from(calls),
                _ => texts(&content["parts"])
                    .iter()
                    .for_each(|text| self.prompt(text)),
            }
        }
    }

    fn tool(&mut self, name: &Value, schema: &Value) {
        let name = name.as_str().unwrap_or_default().to_string();
        self.tools.push((name, schema.clone()));
    }

    /// Turns a step into what this program understands.
    pub(super) fn answer(&self, step: &Step) -> Answer {
        match step {
            Step::Write(path, text) => self.write(path, text),
            Step::Shell(command) => self.shell(command),
            Step::Say(text) | Step::Cut(text) => Answer::Text {
                text: text.clone(),
                is_cut: matches!(step, Step::Cut(_)),
            },
            other => panic!("{other:?} is not an answer"),
        }
    }

    fn find(&self, names: &[&str]) -> Option<&(String, Value)> {
        let mut tools = names.iter().filter_map(|wanted| {
            let is_it = |(name, _): &&(String, Value)| name.eq_ignore_ascii_case(wanted);
            self.tools.iter().find(is_it)
        });
        tools.next()
    }

    fn write(&self, path: &str, text: &str) -> Answer {
        let Some((name, schema)) = self.find(&WRITERS) else {
            let quoted = shlex::try_quote(text).unwrap();
            return self.shell(&format!("printf %s {quoted} > {path}"));
        };
        let field = |names: [&str; 4]| {
            let known = names.into_iter().find(|name| has(schema, name));
            known.unwrap_or(names[0]).to_string()
        };
        let input = Map::from_iter([
            (
                field(["file_path", "filePath", "path", "absolute_path"]),
                json!(path),
            ),
            (
                field(["content", "contents", "file_text", "text"]),
                json!(text),
            ),
        ]);
        call(name, input, schema)
    }

    fn shell(&self, command: &str) -> Answer {
        let Some((name, schema)) = self.find(&SHELLS) else {
            let names: Vec<_> = self.tools.iter().map(|(name, _)| name).collect();
            return Answer::text(&format!("there is no shell among {names:?}"));
        };
        let field = ["cmd", "command"]
            .into_iter()
            .find(|name| has(schema, name));
        let input = Map::from_iter([(field.unwrap_or("command").to_string(), json!(command))]);
        call(name, input, schema)
    }
}

/// Makes a call, with some words for what else its tool wants to have.
fn call(name: &str, mut input: Map<String, Value>, schema: &Value) -> Answer {
    for needed in list(&schema["required"]).iter().filter_map(Value::as_str) {
        input
            .entry(needed)
            .or_insert_with(|| json!("a scripted step"));
    }
    Answer::Call {
        tool: name.to_string(),
        input: Value::Object(input),
    }
}

fn has(schema: &Value, property: &str) -> bool {
    schema["properties"].get(property).is_some()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Finds all texts of a content, which is a text or a list of parts.
fn texts(content: &Value) -> Vec<&str> {
    let parts = list(content)
        .iter()
        .filter_map(|part| part["text"].as_str());
    content.as_str().into_iter().chain(parts).collect()
}
