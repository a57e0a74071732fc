//! Many executions in parallel, one for each line of input.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::mpsc::{SyncSender, channel, sync_channel};
use std::thread;

use serde::Serialize;

use super::{Executor, failure};
use crate::agent::MESSAGE_MAX;
use crate::error::{Code, Error, Result};
use crate::file::{Lines, stdin_unreadable};
use crate::route::Query;
use crate::run::{Run, RunStatus};

/// Longest line, in bytes: a message with room for escapes.
const LINE_MAX: usize = 6 * MESSAGE_MAX + 4_096;
/// How many lines are read ahead for each thread.
const AHEAD: usize = 16;

struct Line {
    /// Its number, from 1.
    number: usize,
    query: Result<Query>,
}

/// How the execution of a line ended.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Finished {
    /// Number of the line, from 1.
    pub(crate) line: usize,
    pub(crate) run: Run,
    #[serde(skip)]
    pub(crate) failure: Option<Error>,
    /// Warnings about invalid agent files.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Summary {
    pub(crate) total: usize,
    /// How many of them were answered.
    pub(crate) completed: usize,
    /// How many were not, or are invalid lines.
    pub(crate) failed: usize,
    /// Warnings about invalid agent files.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// Carries out an execution for each line, at most `jobs` at a time and those of one conversation in their order.
/// `told` gets each result, until it returns false. `defaults` are the agent and the conversation of lines that name
/// none.
pub(crate) fn execute_many(
    executor: &Executor,
    input: impl BufRead + Send,
    jobs: usize,
    defaults: (Option<&str>, Option<&str>),
    told: &mut dyn FnMut(Result<Finished>) -> bool,
) -> Result<Summary> {
    let executors = (0..jobs.max(1)).map(|_| executor.open_another());
    let executors = executors.collect::<Result<Vec<_>>>()?;
    let (done, answers) = channel();
    let mut summary = Summary::default();
    thread::scope(|scope| {
        let lanes = executors.into_iter().map(|mut executor| {
            let (lane, lines) = sync_channel(AHEAD);
            let done = done.clone();
            scope.spawn(move || {
                let mut finished = lines.into_iter().map(|line| finish(&mut executor, line));
                finished.all(|finished| done.send(finished).is_ok())
            });
            lane
        });
        let lanes: Vec<SyncSender<Line>> = lanes.collect();
        drop(done);
        let reader = scope.spawn(move || read(input, defaults, &lanes));
        for answer in answers {
            summary.count(&answer);
            if !told(answer) {
                break;
            }
        }
        let read = reader.join();
        read.unwrap_or_else(|_| Err(Error::new(Code::Internal, "the reader of the input failed")))
    })?;
    Ok(summary)
}

impl Summary {
    fn count(&mut self, answer: &Result<Finished>) {
        let is_good = |done: &Finished| done.run.status == RunStatus::Completed;
        self.total += 1;
        if let Ok(done) = answer {
            for warning in &done.warnings {
                if !self.warnings.contains(warning) {
                    self.warnings.push(warning.clone());
                }
            }
        }
        match answer.as_ref().is_ok_and(is_good) {
            true => self.completed += 1,
            false => self.failed += 1,
        }
    }
}

/// Hands lines to threads: all lines of a conversation to the same one, so that each turn gets the answers before it.
fn read(
    input: impl BufRead,
    (agent, conversation): (Option<&str>, Option<&str>),
    lanes: &[SyncSender<Line>],
) -> Result<()> {
    let mut lines = Lines::new(input, LINE_MAX);
    let mut turns = (0..lanes.len()).cycle();
    let mut places: HashMap<String, usize> = HashMap::new();
    while let Some(line) = lines.next_line().map_err(stdin_unreadable)? {
        if line.is_blank() {
            continue;
        }
        let query = line.parse(LINE_MAX, Query::parse).map(|query| Query {
            agent: query.agent.or_else(|| agent.map(str::to_string)),
            conversation: query
                .conversation
                .or_else(|| conversation.map(str::to_string)),
            ..query
        });
        let mut next = || turns.next().unwrap_or_default();
        let place = match query.as_ref().map(|query| &query.conversation) {
            Ok(Some(id)) => *places.entry(id.clone()).or_insert_with(next),
            _ => next(),
        };
        let number = line.number;
        // The thread that worked on them has ended.
        if lanes[place].send(Line { number, query }).is_err() {
            break;
        }
    }
    Ok(())
}

fn finish(executor: &mut Executor, line: Line) -> Result<Finished> {
    let Line { number, query } = line;
    let shown = executor.execute(&query?, &mut |_| {});
    let shown = shown.map_err(|error| error.in_line(number))?;
    Ok(Finished {
        line: number,
        failure: failure(&shown),
        run: shown.run.record,
        warnings: executor.warnings.clone(),
    })
}
