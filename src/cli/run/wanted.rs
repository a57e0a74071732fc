//! What is wanted of a run: what the command line says, then the settings.

use std::collections::BTreeMap;
use std::env;

use super::Arguments;
use crate::config::{
    CLAIMS_LEASE, GATES_TIME_LIMIT, RUN_IDLE_LIMIT, RUN_JOBS, RUN_REPAIR, RUN_RUNNER_JOBS,
    RUN_TASK_TIME_LIMIT, RUNNERS_COMMAND, RUNNERS_DEFAULT, Settings,
};
use crate::coordinator::{Ambience, Options, Selection};
use crate::error::{Code, Error, Result};
use crate::ops::trust::Item;
use crate::runner::agent::{Runners, no_command};

/// The runner that is any command.
const COMMAND: &str = "command";

/// Warns of bounds that the runner `command` cannot keep: what it runs tells of no turns and no money.
pub(super) fn unkept(options: &Options, settings: &Settings) -> Vec<String> {
    let usual = settings.text(RUNNERS_DEFAULT);
    let runner = options.runner.as_ref().or(usual.as_ref());
    if runner.is_none_or(|runner| runner != COMMAND) {
        return Vec::new();
    }
    let bounds = [
        options.max_turns.map(|_| "--max-turns"),
        options.max_cost.map(|_| "--max-cost"),
    ];
    let bounds = bounds.into_iter().flatten();
    let told = bounds.map(|bound| {
        format!("{bound} bounds nothing: the runner `{COMMAND}` counts neither turns nor money")
    });
    told.collect()
}

pub(super) fn ambience(settings: &Settings) -> Result<Ambience> {
    let text = |name: &str| env::var(name).ok();
    Ok(Ambience {
        depth: text("CLEO_DEPTH")
            .and_then(|depth| depth.trim().parse().ok())
            .unwrap_or(0),
        trace: text("TRACEPARENT"),
        runners: Runners::from(settings)?,
        chosen: Item::runners(settings),
    })
}

pub(in crate::cli) fn options(arguments: &Arguments, settings: &Settings) -> Result<Options> {
    let number = |name: &str, least: u64| settings.number(name).unwrap_or(least);
    let selection = match (arguments.epic, arguments.wave) {
        (Some(epic), None) => Selection::Epic(epic),
        (Some(epic), Some(wave)) => Selection::Wave(epic, wave),
        (None, _) if arguments.all_ready => Selection::AllReady,
        (None, _) => Selection::Tasks(arguments.tasks.clone()),
    };
    Ok(Options {
        selection,
        runner: runner(arguments, settings)?,
        command: arguments.command.clone(),
        model: arguments.model.clone(),
        jobs: arguments
            .jobs
            .map_or(number(RUN_JOBS, 4) as usize, usize::from),
        runner_jobs: runner_jobs(settings)?,
        repairs: arguments.repair.unwrap_or(number(RUN_REPAIR, 1) as u32),
        max_cost: arguments.max_cost,
        granted: None,
        max_turns: arguments.max_turns,
        time_limit: arguments.time_limit,
        task_time_limit: arguments
            .task_time_limit
            .or(settings.number(RUN_TASK_TIME_LIMIT)),
        idle_limit: arguments.idle_limit.or(settings.number(RUN_IDLE_LIMIT)),
        gate_time_limit: number(GATES_TIME_LIMIT, 600),
        lease: number(CLAIMS_LEASE, 3_600),
        isolate: arguments.isolate.is_some(),
        fail_fast: arguments.fail_fast,
        tools: arguments.allow_tool.clone(),
        passed: arguments.pass_env.clone(),
    })
}

fn runner(arguments: &Arguments, settings: &Settings) -> Result<Option<String>> {
    let is_set = settings.text(RUNNERS_COMMAND).is_some();
    match (&arguments.command, arguments.runner.as_deref()) {
        (Some(_), None | Some(COMMAND)) => Ok(Some(COMMAND.to_string())),
        (Some(_), Some(other)) => {
            let message = format!("`--command` is for the runner `{COMMAND}`, not `{other}`");
            Err(Error::new(Code::Usage, message))
        }
        (None, Some(COMMAND)) if !is_set => Err(no_command()),
        (None, runner) => Ok(runner.map(String::from)),
    }
}

fn runner_jobs(settings: &Settings) -> Result<BTreeMap<String, usize>> {
    let text = settings.text(RUN_RUNNER_JOBS).unwrap_or_default();
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let read = |part: &str| {
        let (name, most) = part.split_once('=')?;
        let most = most.trim().parse().ok().filter(|most| *most > 0)?;
        Some((name.trim().to_string(), most))
    };
    let wrong = |part: &str| {
        let message = format!("run.runnerJobs is `{text}`; `{part}` is no limit such as claude=2");
        let variable = settings.variable(RUN_RUNNER_JOBS);
        let error = Error::new(Code::ConfigInvalid, message);
        match variable {
            Some(variable) => error.fix(format!("unset {variable}")),
            None => error.or(
                "remove the setting",
                format!("cleo config unset {RUN_RUNNER_JOBS}"),
            ),
        }
    };
    let jobs: Result<Vec<_>> = parts
        .map(|part| read(part).ok_or_else(|| wrong(part)))
        .collect();
    jobs.map(crate::build_map)
}
