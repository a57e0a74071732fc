//! Reads the plan of a query, which a model or a program has written: nothing in it is believed.

use serde_json::Value;

use super::{STEPS_MAX, Step, is_named, offered};
use crate::agent::Agent;
use crate::plan::asked::unfenced;

/// Longest word of a plan that is repeated, in characters.
const SHOWN: usize = 80;

/// Reads a plan and returns its steps, and what was left out. The error says why it is none.
pub fn read(text: &str, workers: &[&Agent]) -> Result<(Vec<Step>, Vec<String>), String> {
    let value: Value =
        serde_json::from_str(unfenced(text)).map_err(|fault| format!("it is no JSON: {fault}"))?;
    let list = value.get("steps").and_then(Value::as_array);
    let list = list.ok_or("it has no list of steps")?;
    if list.is_empty() || list.len() > STEPS_MAX {
        let many = list.len();
        return Err(format!("it has {many} steps; 1 to {STEPS_MAX} are allowed"));
    }
    let (mut steps, mut left_out, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for value in list {
        let id = number(value).ok_or("a step has no step_id that is a number")?;
        if ids.last().is_some_and(|last| *last >= id) {
            return Err(format!("step {id} comes twice or out of order"));
        }
        let input = source(value).ok_or_else(|| format!("step {id} has no input_source"))?;
        if let Some(before) = input.filter(|before| !ids.contains(before)) {
            return Err(format!(
                "step {id} needs step {before}, which is not before it"
            ));
        }
        ids.push(id);
        match who(value, workers) {
            Ok((agent, intent)) => steps.push(Step {
                id,
                agent,
                intent,
                input,
            }),
            Err(why) => left_out.push(format!("step {id} of the plan is left out: {why}")),
        }
    }
    match steps.is_empty() {
        true => Err(left_out.join("; ")),
        false => Ok((steps, left_out)),
    }
}

fn number(step: &Value) -> Option<u64> {
    let id = step.get("step_id")?;
    id.as_u64().or_else(|| id.as_str()?.trim().parse().ok())
}

/// Reads where the input comes from; the inner none is the query.
fn source(step: &Value) -> Option<Option<u64>> {
    let word = step.get("input_source")?.as_str()?.trim();
    if word == "user_query" {
        return Some(None);
    }
    let step = word.strip_prefix("step:")?.strip_suffix(".output.result")?;
    step.parse().ok().map(Some)
}

fn who(step: &Value, workers: &[&Agent]) -> Result<(String, String), String> {
    let word = |name: &str| step.get(name).and_then(Value::as_str).unwrap_or_default();
    let (name, intent) = (word("agent"), word("intent"));
    let shown = |word: &str| word.chars().take(SHOWN).collect::<String>();
    let agent = workers.iter().find(|agent| is_named(agent, name));
    let agent = agent.ok_or_else(|| format!("there is no worker `{}`", shown(name)))?;
    match offered(agent).contains(&intent) {
        true => Ok((agent.id.clone(), intent.to_string())),
        false => Err(format!("`{}` does not offer `{}`", agent.id, shown(intent))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Kind;
    use serde_json::json;

    fn plan(steps: Value) -> Result<(usize, usize), String> {
        let worker = Agent {
            intents: vec!["x.do".into()],
            ..Agent::new("w", Kind::Http, "the worker")
        };
        let text = json!({"steps": steps}).to_string();
        read(&text, &[&worker]).map(|(steps, left_out)| (steps.len(), left_out.len()))
    }

    fn step(id: Value, agent: &str, intent: &str, source: &str) -> Value {
        json!({"step_id": id, "agent": agent, "intent": intent, "input_source": source})
    }

    #[test]
    fn steps_follow_one_another_and_ask_for_what_is_offered() {
        let good = |id: u64| step(json!(id), "the worker", "x.do", "user_query");
        let after = |id: u64, other: u64| {
            step(
                json!(id),
                "w",
                "x.do",
                &format!("step:{other}.output.result"),
            )
        };
        assert_eq!(plan(json!([good(0)])), Ok((1, 0)));
        assert_eq!(plan(json!([good(0), after(1, 0), after(7, 1)])), Ok((3, 0)));
        assert_eq!(
            plan(json!([step(json!("0"), "w", "x.do", "user_query")])),
            Ok((1, 0))
        );
        let unknown = step(json!(1), "nobody", "x.do", "user_query");
        let other = step(json!(2), "w", "y.do", "user_query");
        assert_eq!(
            plan(json!([good(0), unknown.clone(), other.clone()])),
            Ok((1, 2))
        );
        assert_eq!(plan(json!([unknown.clone(), after(2, 1)])), Ok((1, 1)));
        for steps in [
            json!([]),
            json!([unknown, other]),
            json!([good(0), good(0)]),
            json!([good(1), good(0)]),
            json!([after(0, 1), good(1)]),
            json!([after(0, 0)]),
            json!([after(1, 0)]),
            json!([step(json!(0), "w", "x.do", "step:x.output.result")]),
            json!([step(json!(0), "w", "x.do", "else")]),
            json!([step(json!(-1), "w", "x.do", "user_query")]),
            json!([{"step_id": 0}]),
            json!(["x"]),
            json!("x"),
            json!((0..51).map(good).collect::<Vec<_>>()),
        ] {
            assert!(plan(steps.clone()).is_err(), "{steps}");
        }
        for text in ["Use the worker.", "{}", "[]", "", "null"] {
            assert!(read(text, &[]).is_err(), "{text}");
        }
    }
}
