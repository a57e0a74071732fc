//! Parses untrusted plans, JSON or YAML, within limits and with all errors at once.

use serde_json::{Map, Value};

use super::check::{FAULTS_MAX, Fault, FaultKind, faults, short};
use super::{Plan, STEPS_MAX, Step, Unavailable};
use crate::document::{self, kind_of};
use crate::error::nearest;
use crate::plan::PLAN_MAX;

/// Fields of a plan, a step and a skipped skill, each followed by its aliases.
const PLAN: &[&[&str]] = &[
    &["goal"],
    &["maxLoops", "max_loops"],
    &["steps"],
    &["unavailable"],
];
const STEP: &[&[&str]] = &[
    &["id"],
    &["title"],
    &["capability", "agentCapability"],
    &["agent"],
    &["skill"],
    &["intent"],
    &["instruction"],
    &["dependsOn", "depends_on", "dependencies"],
];
const UNAVAILABLE: &[&[&str]] = &[&["skill"], &["capability"], &["reason"]];

/// Parses a plan, also within an answer of cleo, and returns its faults. A plan with faults must not run;
/// unreadable text gives an empty plan.
pub(crate) fn read(bytes: &[u8]) -> (Plan, Vec<Fault>) {
    let value = match read_value(bytes) {
        Ok(value) => value,
        Err(fault) => return (Plan::default(), vec![fault]),
    };
    let mut reader = Reader::default();
    let value = value.pointer("/result/plan").unwrap_or(&value);
    let plan = reader.plan(value);
    if !value.is_object() {
        return (plan, reader.faults);
    }
    // What could not be read is not told again as something that is missing.
    let told: Vec<String> = reader
        .faults
        .iter()
        .map(|fault| fault.place.clone())
        .collect();
    let is_told = |place: &str| {
        // A way into the plan leads to a place that was told, or further into it.
        let mut rests = told
            .iter()
            .filter_map(|told| place.strip_prefix(told.as_str()));
        rests.any(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let further = faults(&plan).into_iter();
    reader
        .faults
        .extend(further.filter(|fault| !is_told(&fault.place)));
    reader.faults.truncate(FAULTS_MAX);
    (plan, reader.faults)
}

#[derive(Default)]
struct Reader {
    faults: Vec<Fault>,
}

struct Fields<'a> {
    place: String,
    map: &'a Map<String, Value>,
    known: &'static [&'static [&'static str]],
}

impl<'a> Fields<'a> {
    /// Finds a field under any of its names; null is as good as left out.
    fn find(&self, name: &str) -> Option<&'a Value> {
        let names = self.known.iter().find(|names| names[0] == name)?;
        let value = names.iter().find_map(|name| self.map.get(*name));
        value.filter(|value| !value.is_null())
    }

    fn at(&self, name: &str) -> String {
        match self.place.is_empty() {
            true => name.to_string(),
            false => format!("{}.{name}", self.place),
        }
    }
}

impl Reader {
    fn fault(&mut self, place: impl Into<String>, message: impl Into<String>) {
        if self.faults.len() < FAULTS_MAX {
            self.faults
                .push(Fault::new(FaultKind::Field, place, message));
        }
    }

    fn plan(&mut self, value: &Value) -> Plan {
        let Some(fields) = self.fields(String::new(), value, PLAN) else {
            return Plan::default();
        };
        Plan {
            goal: self.text(&fields, "goal").unwrap_or_default(),
            max_loops: self.number(&fields, "maxLoops"),
            steps: self.list(&fields, "steps", Reader::step),
            unavailable: self.list(&fields, "unavailable", Reader::unavailable),
        }
    }

    fn step(&mut self, place: String, value: &Value) -> Step {
        let Some(fields) = self.fields(place, value, STEP) else {
            return Step::default();
        };
        Step {
            id: self.text(&fields, "id").unwrap_or_default(),
            title: self.text(&fields, "title"),
            capability: self.text(&fields, "capability"),
            agent: self.text(&fields, "agent"),
            skill: self.text(&fields, "skill"),
            intent: self.text(&fields, "intent"),
            instruction: self.text(&fields, "instruction").unwrap_or_default(),
            depends_on: self.list(&fields, "dependsOn", Reader::word),
        }
    }

    fn unavailable(&mut self, place: String, value: &Value) -> Unavailable {
        let Some(fields) = self.fields(place, value, UNAVAILABLE) else {
            return Unavailable::default();
        };
        Unavailable {
            skill: self.text(&fields, "skill").unwrap_or_default(),
            capability: self.text(&fields, "capability").unwrap_or_default(),
            reason: self.text(&fields, "reason").unwrap_or_default(),
        }
    }

    fn fields<'a>(
        &mut self,
        place: String,
        value: &'a Value,
        known: &'static [&'static [&'static str]],
    ) -> Option<Fields<'a>> {
        let Some(map) = value.as_object() else {
            let place = if place.is_empty() {
                "plan".to_string()
            } else {
                place
            };
            self.fault(
                place,
                format!("it must be an object, and is {}", kind_of(value)),
            );
            return None;
        };
        let fields = Fields { place, map, known };
        for name in map.keys() {
            let Some(names) = known.iter().find(|names| names.contains(&name.as_str())) else {
                let near = nearest(&short(name), known.iter().map(|names| names[0]));
                let hint = near.map(|near| format!("; is `{near}` meant?"));
                let message = format!("there is no such field{}", hint.unwrap_or_default());
                self.fault(fields.at(&short(name)), message);
                continue;
            };
            let given = names.iter().filter(|name| map.contains_key(**name));
            if given.count() > 1 && names[0] != name {
                self.fault(fields.at(name), format!("`{}` says the same", names[0]));
            }
        }
        Some(fields)
    }

    fn text(&mut self, fields: &Fields<'_>, name: &str) -> Option<String> {
        match fields.find(name)? {
            Value::String(text) => Some(text.clone()),
            other => {
                self.fault(
                    fields.at(name),
                    format!("it must be a text, and is {}", kind_of(other)),
                );
                None
            }
        }
    }

    fn number(&mut self, fields: &Fields<'_>, name: &str) -> Option<u32> {
        let value = fields.find(name)?;
        let number = value
            .as_u64()
            .map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        if number.is_none() {
            let is = match value {
                Value::Number(number) => number.to_string(),
                other => kind_of(other).to_string(),
            };
            let message = format!("it must be a whole number from 1 on, and is {is}");
            self.fault(fields.at(name), message);
        }
        number
    }

    /// Reads a list. Of one that is too long only so much is read that this can be seen.
    fn list<T>(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        item: impl Fn(&mut Reader, String, &Value) -> T,
    ) -> Vec<T> {
        let place = fields.at(name);
        let list = match fields.find(name) {
            None => return Vec::new(),
            Some(Value::Array(list)) => list,
            Some(other) => {
                self.fault(
                    place,
                    format!("it must be a list, and is {}", kind_of(other)),
                );
                return Vec::new();
            }
        };
        if list.len() > STEPS_MAX {
            let message = format!("it has {} items; {STEPS_MAX} are allowed", list.len());
            self.faults
                .push(Fault::new(FaultKind::Bound, place, message));
            return Vec::new();
        }
        let items = list.iter().enumerate();
        items
            .map(|(at, value)| item(self, format!("{place}[{at}]"), value))
            .collect()
    }

    fn word(&mut self, place: String, value: &Value) -> String {
        if !value.is_string() {
            self.fault(
                place,
                format!("it must be a text, and is {}", kind_of(value)),
            );
        }
        value.as_str().unwrap_or_default().to_string()
    }
}

const SIZE_MAX: usize = 2 * PLAN_MAX as usize;

/// Reads a text: JSON when it begins like it, else YAML.
fn read_value(bytes: &[u8]) -> Result<Value, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|fault| {
        let before = &bytes[..fault.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before
            .iter()
            .rev()
            .take_while(|byte| **byte != b'\n')
            .count()
            + 1;
        syntax(Some((line, column)), "it is not written in UTF-8")
    })?;
    match text.trim_start().starts_with(['{', '[']) {
        true => document::json(text, SIZE_MAX).map_err(|fault| {
            let place = Some((fault.line(), fault.column()));
            syntax(place, &format!("no JSON: {fault}"))
        }),
        false => document::yaml(text, SIZE_MAX).map_err(|fault| {
            let place = fault.location().map(|place| (place.line(), place.column()));
            syntax(place, &format!("no YAML: {fault}"))
        }),
    }
}

fn syntax(place: Option<(usize, usize)>, message: &str) -> Fault {
    let place = match place {
        Some((line, column)) => format!("line {line}, column {column}"),
        None => "plan".to_string(),
    };
    // The place that a reader adds is the same once more; what it quotes may be long.
    let message = message.split(" at line ").next().unwrap_or_default();
    let message: String = message.chars().take(200).collect();
    Fault::new(FaultKind::Syntax, place, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let told = |fault: Fault| format!("{}: {}", fault.place, fault.message);
        read(text.as_bytes()).1.into_iter().map(told).collect()
    }

    const YAML: &str = "\
goal: Compare three caches
maxLoops: 2
steps:
  - id: find
    agentCapability: web-crawler
    instruction: Find them.
  - id: judge
    agent: peter-logical
    title: The verdict
    dependencies: [find]
    instruction: |
      Judge them.
      All of them.
";

    #[test]
    fn json_and_yaml_say_the_same_and_so_does_an_answer_of_cleo() {
        let (plan, faults) = read(YAML.as_bytes());
        assert_eq!(faults, []);
        assert_eq!(plan.loops(), 2);
        assert_eq!(plan.steps[1].depends_on, ["find"]);
        assert_eq!(plan.steps[1].instruction, "Judge them.\nAll of them.\n");
        let json = serde_json::to_string_pretty(&plan).unwrap();
        assert_eq!(read(json.as_bytes()), (plan.clone(), vec![]));
        let answer = format!("{{\"schema\":\"cleo/v1\",\"result\":{{\"plan\":{json}}}}}");
        assert_eq!(read(answer.as_bytes()), (plan, vec![]));
    }

    #[test]
    fn a_text_that_cannot_be_read_is_told_with_line_and_column() {
        for (text, expected) in [
            ("{\"goal\": \"g\",\n  \"steps\": [,]}", "line 2, column 13"),
            ("goal: g\nsteps:\n  - id: [a\n", "line 4, column 1"),
            ("{\"goal\": \"g\"} x", "line 1, column 15"),
            ("{\"goal\": 1, \"goal\": 2}", "line 1, column 18"),
            ("goal: g\ngoal: h\n", "line 2, column 1"),
            ("a: 1\n---\nb: 2\n", "plan"),
        ] {
            let (_, faults) = read(text.as_bytes());
            assert_eq!(faults.len(), 1, "{text}: {faults:?}");
            assert_eq!(faults[0].kind, FaultKind::Syntax, "{text}");
            assert_eq!(faults[0].place, expected, "{text}: {}", faults[0].message);
        }
        let (_, faults) = read(b"goal: g\nsteps: \xff");
        assert_eq!(faults[0].place, "line 2, column 8");
    }

    #[test]
    fn every_field_that_cannot_be_so_is_named_at_once() {
        let text = r#"{"gaol": "g", "maxLoops": "2", "steps": [
            {"id": 1, "capability": "c", "instruction": "i", "dependsOn": "a"},
            "b",
            {"id": "c", "capability": "c", "agent": "d", "instruction": ["i"],
             "dependsOn": [1, "c"], "dependencies": []}
        ]}"#;
        assert_eq!(
            told(text),
            [
                "gaol: there is no such field; is `goal` meant?",
                "maxLoops: it must be a whole number from 1 on, and is a text",
                "steps[0].id: it must be a text, and is a number",
                "steps[0].dependsOn: it must be a list, and is a text",
                "steps[1]: it must be an object, and is a text",
                "steps[2].dependencies: `dependsOn` says the same",
                "steps[2].instruction: it must be a text, and is a list",
                "steps[2].dependsOn[0]: it must be a text, and is a number",
                "goal: it must say something",
                "steps[2]: a step names a `capability` or an `agent`, not both",
                "steps[2].dependsOn: steps wait for each other in a circle: c → c",
            ]
        );
        assert_eq!(
            told("just words"),
            ["plan: it must be an object, and is a text"]
        );
        assert_eq!(told(""), ["plan: it must be an object, and is null"]);
    }

    #[test]
    fn hostile_texts_are_refused_and_cost_little() {
        let deep = "[".repeat(100_000);
        let deep_yaml = "- ".repeat(100_000);
        let word = "x".repeat(100_000);
        let names = "*a, ".repeat(100_000);
        let bomb = format!("a: &a {word}\nsteps: [{names}]");
        let lists = (0..30).fold("a0: &a0 [x, x]\n".to_string(), |text, n| {
            format!("{text}a{}: &a{} [*a{n}, *a{n}]\n", n + 1, n + 1)
        });
        for text in [&deep, &deep_yaml, &bomb, &lists] {
            let (plan, faults) = read(text.as_bytes());
            assert_eq!(plan, Plan::default());
            assert_eq!(faults[0].kind, FaultKind::Syntax, "{:?}", faults[0]);
            assert!(faults[0].message.len() < 300, "{}", faults[0].message);
        }
        let steps = format!("{{\"goal\":\"g\",\"steps\":[{}1]}}", "1,".repeat(500_000));
        let found = told(&steps);
        assert_eq!(found[0], "steps: it has 500001 items; 1000 are allowed");
        let unknown: String = (0..5_000).map(|n| format!("f{n}: 1\n")).collect();
        assert_eq!(told(&unknown).len(), FAULTS_MAX);
    }
}
