//! Finding the prompt that an agent works on, in the lines that its client writes.

use serde_json::Value;

use super::Ending;
use crate::id::TaskId;
use crate::protocol::block;

/// What the lines of a session have shown so far.
#[derive(Clone, Debug)]
pub struct Transcript {
    ending: Ending,
    prompt: Option<(TaskId, String)>,
}

impl Transcript {
    /// Begins to look, for what is about to end.
    pub fn of(ending: Ending) -> Transcript {
        Transcript {
            ending,
            prompt: None,
        }
    }

    /// Looks at a line. Only what was said to the agent counts, and of that the last prompt of ours:
    /// results of tools may hold the prompts of others, and so does what an agent by itself said to
    /// its subagents, where its client writes that to the same file.
    pub fn look(&mut self, line: &[u8]) {
        // Most lines are long and none of ours.
        if memchr::memmem::find(line, b"SUBAGENT PROTOCOL").is_none() {
            return;
        }
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        if self.ending == Ending::Agent && line["isSidechain"] == true {
            return;
        }
        let message = ["message", "payload"].iter().find_map(|key| line.get(key));
        let message = message.filter(|message| message["role"] == "user");
        for text in message.map(texts).unwrap_or_default() {
            if let Some(task) = block::begins(text)
                .then(|| block::named_task(text))
                .flatten()
            {
                self.prompt = Some((task, text.to_string()));
            }
        }
    }

    /// Returns the task that the prompt is for.
    pub fn task(&self) -> Option<TaskId> {
        self.prompt.as_ref().map(|(task, _)| *task)
    }

    /// Says whether the prompt is the one of a spawn; one that was handed out before is another's
    /// business.
    pub fn is_of(&self, manifest_id: &str) -> bool {
        let prompt = self.prompt.as_ref();
        prompt.is_none_or(|(_, text)| text.contains(manifest_id))
    }
}

/// Returns what a message says in words.
fn texts(message: &Value) -> Vec<&str> {
    let content = &message["content"];
    let said = |part: &'_ &Value| matches!(part["type"].as_str(), Some("text" | "input_text"));
    let parts = content.as_array().into_iter().flatten();
    let parts = parts.filter(said).filter_map(|part| part["text"].as_str());
    content.as_str().into_iter().chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prompt(task: &str) -> String {
        format!(
            "Id: {task}\n<!-- BEGIN SUBAGENT PROTOCOL v1 -->\nx-2026\n<!-- END SUBAGENT PROTOCOL v1 -->\n"
        )
    }

    #[test]
    fn the_last_prompt_that_was_said_to_the_agent_counts() {
        let claude = json!({"type": "user", "message": {"role": "user", "content": prompt("T3")}});
        let parts = json!([{"type": "input_text", "text": prompt("T4")}]);
        let codex = json!({"type": "response_item", "payload": {"role": "user", "content": parts}});
        let result =
            json!([{"type": "tool_result", "content": prompt("T9"), "text": prompt("T9")}]);
        let tool = json!({"message": {"role": "user", "content": result}});
        let own = json!({"message": {"role": "assistant", "content": prompt("T9")}});
        let chat = json!({"message": {"role": "user", "content": "SUBAGENT PROTOCOL? Id: T9"}});
        for (lines, task) in [
            (vec![&claude], Some(TaskId(3))),
            (vec![&claude, &tool, &own, &chat], Some(TaskId(3))),
            (vec![&claude, &codex], Some(TaskId(4))),
            (vec![&tool, &own, &chat], None),
        ] {
            let mut transcript = Transcript::of(Ending::Agent);
            lines
                .iter()
                .for_each(|line| transcript.look(line.to_string().as_bytes()));
            transcript.look(b"SUBAGENT PROTOCOL, and no JSON");
            assert_eq!(transcript.task(), task, "{lines:?}");
        }
    }

    #[test]
    fn a_prompt_that_an_agent_gave_to_its_subagent_is_not_its_own() {
        let said = |task, aside: bool| {
            let message = json!({"role": "user", "content": prompt(task)});
            json!({"isSidechain": aside, "message": message})
        };
        let lines = [said("T3", false), said("T4", true)];
        for (ending, task) in [(Ending::Agent, 3), (Ending::Subagent, 4)] {
            let mut transcript = Transcript::of(ending);
            for line in &lines {
                transcript.look(line.to_string().as_bytes());
            }
            assert_eq!(transcript.task(), Some(TaskId(task)), "{ending:?}");
        }
    }

    #[test]
    fn an_older_prompt_of_a_task_is_told_from_that_of_its_spawn() {
        let mut transcript = Transcript::of(Ending::Agent);
        assert!(transcript.is_of("anything"));
        let line = json!({"message": {"role": "user", "content": prompt("T3")}});
        transcript.look(line.to_string().as_bytes());
        assert!(transcript.is_of("x-2026") && !transcript.is_of("y-2026"));
    }
}
