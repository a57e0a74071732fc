//! A run as JUnit XML: a suite for each wave, a case for each task.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{error_code, escape_xml, explain_failure};
use crate::run::view::RunView;
use crate::run::{StepState, TaskRun};

/// The first lines of a report.
pub(crate) const START: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- a run of cleo -->\n";

pub(crate) fn junit(view: &RunView) -> String {
    let mut waves: BTreeMap<_, Vec<&TaskRun>> = BTreeMap::new();
    for task in view.list_counted() {
        waves.entry(task.wave).or_default().push(task);
    }
    let all: Vec<&TaskRun> = view.list_counted().collect();
    let mut text = START.to_string();
    let _ = writeln!(
        text,
        "<testsuites name=\"{}\" {}>",
        escape_xml(&view.run.record.id),
        counts(&all)
    );
    for (number, wave) in waves.values().enumerate() {
        let _ = writeln!(
            text,
            "  <testsuite name=\"wave {number}\" {} timestamp=\"{}\">",
            counts(wave),
            escape_xml(&view.run.record.started_at)
        );
        wave.iter()
            .for_each(|task| write_test_case(&mut text, task));
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

fn write_test_case(text: &mut String, task: &TaskRun) {
    let name = escape_xml(&format!("{} {}", task.planned.task_id, task.planned.title));
    let class = escape_xml(task.setup.skill.as_deref().unwrap_or("task"));
    let time = seconds(task.duration_ms);
    let _ = write!(
        text,
        "    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\""
    );
    match task.state {
        StepState::Done => *text += "/>\n",
        StepState::Failed | StepState::Cancelled => {
            let violations = escape_xml(&task.violations.join("\n"));
            let _ = writeln!(
                text,
                ">\n      <failure type=\"{}\" message=\"{}\">{violations}</failure>\n    </testcase>",
                error_code(task).name(),
                escape_xml(&explain_failure(task))
            );
        }
        _ => {
            let _ = writeln!(
                text,
                ">\n      <skipped message=\"{}\"/>\n    </testcase>",
                escape_xml(&explain_failure(task))
            );
        }
    }
}
