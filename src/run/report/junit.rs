//! A run as JUnit XML: a suite for each wave, a case for each task.

use std::collections::HashMap;
use std::fmt::Write;

use super::{Record, code, escaped, why};
use crate::id::TaskId;
use crate::run::board::{TaskRun, TaskState};

pub(crate) fn junit(record: &Record<'_>) -> String {
    let waves = waves(record);
    let all: Vec<&TaskRun> = record.work().collect();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuites name=\"{}\" {}>",
        escaped(&record.run.id),
        counts(&all)
    );
    for (number, wave) in waves.iter().enumerate() {
        let _ = writeln!(
            text,
            "  <testsuite name=\"wave {number}\" {} timestamp=\"{}\">",
            counts(wave),
            escaped(&record.run.started_at)
        );
        wave.iter().for_each(|task| case(&mut text, task));
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

fn waves<'a>(record: &Record<'a>) -> Vec<Vec<&'a TaskRun>> {
    let tasks: HashMap<TaskId, &TaskRun> = record
        .tasks
        .iter()
        .map(|task| (task.task_id, task))
        .collect();
    let mut levels: HashMap<TaskId, usize> = HashMap::new();
    let mut waves: Vec<Vec<&TaskRun>> = Vec::new();
    for task in record.work() {
        let level = level(task.task_id, &tasks, &mut levels);
        waves.resize_with(waves.len().max(level + 1), Vec::new);
        waves[level].push(task);
    }
    waves.retain(|wave| !wave.is_empty());
    waves
}

/// Counts the longest way to a task, without recursion: a run may be a long chain. An epic takes no
/// place of its own.
fn level(
    id: TaskId,
    tasks: &HashMap<TaskId, &TaskRun>,
    levels: &mut HashMap<TaskId, usize>,
) -> usize {
    let mut way = vec![id];
    while let Some(at) = way.last().copied() {
        let needs = tasks.get(&at).map_or(&[][..], |task| &task.needs);
        let open = needs
            .iter()
            .find(|need| !levels.contains_key(need) && !way.contains(need));
        match open {
            Some(need) => way.push(*need),
            None => {
                let after = |need: &TaskId| {
                    let is_epic = tasks.get(need).is_none_or(|task| task.is_epic);
                    levels
                        .get(need)
                        .map_or(0, |level| level + usize::from(!is_epic))
                };
                let own = needs.iter().map(after).max().unwrap_or(0);
                levels.insert(at, own);
                way.pop();
            }
        }
    }
    levels.get(&id).copied().unwrap_or(0)
}

fn counts(tasks: &[&TaskRun]) -> String {
    let of = |state| tasks.iter().filter(|task| task.state == state).count();
    let failed = of(TaskState::Failed);
    let skipped = tasks.len() - of(TaskState::Done) - failed;
    let time: u64 = tasks.iter().map(|task| task.duration_ms).sum();
    format!(
        "tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\" time=\"{}\"",
        tasks.len(),
        seconds(time)
    )
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1_000, ms % 1_000)
}

fn case(text: &mut String, task: &TaskRun) {
    let name = escaped(&format!("{} {}", task.task_id, task.title));
    let class = escaped(task.skill.as_deref().unwrap_or("task"));
    let time = seconds(task.duration_ms);
    let _ = write!(
        text,
        "    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\""
    );
    match task.state {
        TaskState::Done => *text += "/>\n",
        TaskState::Failed => {
            let missing = escaped(&task.missing.join("\n"));
            let _ = writeln!(
                text,
                ">\n      <failure type=\"{}\" message=\"{}\">{missing}</failure>\n    </testcase>",
                code(task).name(),
                escaped(&why(task))
            );
        }
        _ => {
            let _ = writeln!(
                text,
                ">\n      <skipped message=\"{}\"/>\n    </testcase>",
                escaped(&why(task))
            );
        }
    }
}
