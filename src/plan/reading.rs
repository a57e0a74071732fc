//! Parses untrusted plans, JSON or YAML, within limits.

use serde_json::Value;

use super::check::{FAULTS_MAX, Fault, FaultKind, faults};
use super::{Plan, STEPS_MAX};
use crate::plan::PLAN_MAX;
use crate::{document, strict};

const SIZE_MAX: usize = 2 * PLAN_MAX as usize;

/// Parses a plan, also within an answer of cleo, and returns its faults. A plan with faults must not run; a text
/// without one gives an empty plan and the first fault.
pub(crate) fn read(bytes: &[u8]) -> (Plan, Vec<Fault>) {
    match read_value(bytes).and_then(read_plan) {
        Ok(plan) => {
            let mut faults = faults(&plan);
            faults.truncate(FAULTS_MAX);
            (plan, faults)
        }
        Err(fault) => (Plan::default(), vec![fault]),
    }
}

fn read_plan(mut value: Value) -> Result<Plan, Fault> {
    let value = match value.pointer_mut("/result/plan") {
        Some(plan) => plan.take(),
        None => value,
    };
    let plan: Plan = strict::read(value).map_err(|fault| {
        let place = match fault.path.as_str() {
            "" => "plan",
            path => path,
        };
        Fault::new(FaultKind::Field, place, short(&fault.what))
    })?;
    // More is not looked at: what is wrong with each would cost too much.
    let needs = plan.steps.iter().map(|step| step.dependencies.len());
    match needs.chain([plan.steps.len()]).max() {
        Some(items) if items > STEPS_MAX => {
            let message = format!("there is a list of {items} items; {STEPS_MAX} are allowed");
            Err(Fault::new(FaultKind::Bound, "steps", message))
        }
        _ => Ok(plan),
    }
}

/// Reads a text: JSON when it begins like it, else YAML.
fn read_value(bytes: &[u8]) -> Result<Value, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|fault| {
        let before = String::from_utf8_lossy(&bytes[..fault.valid_up_to()]);
        let last = before.rsplit('\n').next().unwrap_or_default();
        let place = (before.matches('\n').count() + 1, last.chars().count() + 1);
        syntax(Some(place), "it is not written in UTF-8")
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
    // The place that a reader adds is the same once more.
    let message = message.split(" at line ").next().unwrap_or_default();
    Fault::new(FaultKind::Syntax, place, short(message))
}

/// Cuts a message, which may quote a long text.
fn short(message: &str) -> String {
    message.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list_faults(text: &str) -> Vec<String> {
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
    fn json_and_yaml_say_same_and_so_does_answer_of_cleo() {
        let (plan, faults) = read(YAML.as_bytes());
        assert_eq!(faults, []);
        assert_eq!(plan.clamped_max_loops(), 2);
        assert_eq!(plan.steps[1].dependencies, ["find"]);
        assert_eq!(plan.steps[1].instruction, "Judge them.\nAll of them.\n");
        let json = serde_json::to_string_pretty(&plan).unwrap();
        assert_eq!(read(json.as_bytes()), (plan.clone(), vec![]));
        let answer = format!("{{\"schema\":\"cleo/v1\",\"result\":{{\"plan\":{json}}}}}");
        assert_eq!(read(answer.as_bytes()), (plan, vec![]));
    }

    #[test]
    fn text_that_cannot_be_read_is_told_with_line_and_column() {
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
    fn value_of_wrong_type_is_told_with_its_path() {
        let step = |fields: &str| format!(r#"{{"goal": "g", "steps": [{{"id": "a"}}, {fields}]}}"#);
        for (text, fault) in [
            ("just words".to_string(), "plan: invalid type: string"),
            (String::new(), "plan: invalid type: "),
            (r#"{"maxLoops": "2"}"#.to_string(), "maxLoops: invalid type"),
            (
                step("1"),
                "steps[1]: invalid type: integer `1`, expected an object",
            ),
            (step(r#"{"id": 1}"#), "steps[1].id: invalid type"),
            (
                step(r#"{"dependsOn": "a"}"#),
                "steps[1].dependsOn: invalid type",
            ),
            (
                step(r#"{"dependsOn": [1]}"#),
                "steps[1].dependsOn[0]: invalid type",
            ),
            (
                step(r#"{"dependsOn": [], "dependencies": []}"#),
                "steps[1]: duplicate field `dependencies`",
            ),
        ] {
            let told = list_faults(&text);
            assert!(told[0].starts_with(fault), "{told:?}, not {fault}");
        }
    }

    #[test]
    fn unknown_fields_are_told_with_all_other_faults() {
        let text = r#"{"gaol": "g", "steps": [{"id": "a", "tier": 1, "instruction": "i"}]}"#;
        assert_eq!(
            list_faults(text),
            [
                "gaol: there is no such field; is `goal` meant?",
                "goal: it must say something",
                "steps[0].tier: there is no such field",
                "steps[0]: a step names an `agentCapability`, or an `agent` by its id",
            ]
        );
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
        let steps = format!(
            "{{\"goal\":\"g\",\"steps\":[{}{{}}]}}",
            "{},".repeat(50_000)
        );
        let found = list_faults(&steps);
        let many = "steps: there is a list of 50001 items; 1000 are allowed";
        assert_eq!(found, [many]);
        let unknown: String = (0..5_000).map(|n| format!("f{n}: 1\n")).collect();
        assert_eq!(list_faults(&unknown).len(), FAULTS_MAX);
    }
}
