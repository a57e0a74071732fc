//! A run as JUnit XML: a suite for each wave, a case for each task.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{code, escape, why};
use crate::run::view::RunView;
use crate::run::{StepState, TaskRun};

pub(crate) fn junit(view: &RunView) -> String {
    let mut waves: BTreeMap<_, Vec<&TaskRun>> = BTreeMap::new();
    for task in view.work() {
        waves.entry(task.wave).or_default().push(task);
    }
    let all: Vec<&TaskRun> = view.work().collect();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuites name=\"{}\" {}>",
        escape(&view.run.record.id),
        counts(&all)
    );
    for (number, wave) in waves.values().enumerate() {
        let _ = writeln!(
            text,
            "  <testsuite name=\"wave {number}\" {} timestamp=\"{}\">",
            counts(wave),
            escape(&view.run.record.started_at)
        );
        wave.iter().for_each(|task| case(&mut text, task));
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

fn counts(tasks: &[&TaskRun]) -> String {
    let done = tasks.iter().filter(|task| task.is_done()).count();
    let failed = tasks.iter().filter(|task| task.state.is_undone()).count();
    let skipped = tasks.len() - done - failed;
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
    let name = escape(&format!("{} {}", task.planned.task_id, task.planned.title));
    let class = escape(task.setup.skill.as_deref().unwrap_or("task"));
    let time = seconds(task.duration_ms);
    let _ = write!(
        text,
        "    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\""
    );
    match task.state {
        StepState::Done => *text += "/>\n",
        StepState::Failed | StepState::Cancelled => {
            let violations = escape(&task.violations.join("\n"));
            let _ = writeln!(
                text,
                ">\n      <failure type=\"{}\" message=\"{}\">{violations}</failure>\n    </testcase>",
                code(task).name(),
                escape(&why(task))
            );
        }
        _ => {
            let _ = writeln!(
                text,
                ">\n      <skipped message=\"{}\"/>\n    </testcase>",
                escape(&why(task))
            );
        }
    }
}
