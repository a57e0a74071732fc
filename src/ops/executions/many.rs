//! Many executions side by side, one for each line of input.

use std::io::BufRead;
use std::sync::mpsc::channel;
use std::thread;

use serde::Serialize;

use super::waiting::{Queue, Waiting};
use super::{Executor, Request, failure};
use crate::agent::MESSAGE_MAX;
use crate::error::{Code, Error, Result};
use crate::file::{Lines, stdin_unreadable};
use crate::run::{Run, RunStatus};

/// Longest line, in bytes: a message with room for escapes.
const LINE_MAX: usize = 6 * MESSAGE_MAX + 4_096;

/// How the execution of a line ended.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Finished {
    /// Number of the line, from 1.
    pub(crate) line: usize,
    pub(crate) run: Run,
    /// Why nobody answered.
    #[serde(skip)]
    pub(crate) failure: Option<Error>,
    /// Files of agents that could not be used.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// How many executions there were.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Summary {
    /// How many lines there were.
    pub(crate) total: usize,
    /// How many of them were answered.
    pub(crate) completed: usize,
    /// How many were not, or are no messages.
    pub(crate) failed: usize,
    /// Files of agents that could not be used.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// Carries out an execution for each line, at most `jobs` at a time and those of one conversation one
/// after the other, and tells each as it ends until nobody listens any more. `defaults` are the agent and
/// the conversation of lines that name none.
pub(crate) fn execute_many(
    executor: &Executor,
    input: impl BufRead + Send,
    jobs: usize,
    defaults: (Option<&str>, Option<&str>),
    told: &mut dyn FnMut(Result<Finished>) -> bool,
) -> Result<Summary> {
    let executors = (0..jobs.max(1)).map(|_| executor.another());
    let executors = executors.collect::<Result<Vec<_>>>()?;
    let queue = Queue::new(executors.len());
    let (done, answers) = channel();
    let mut summary = Summary::default();
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let read = read(input, defaults.1, &queue);
            queue.end();
            read
        });
        for mut executor in executors {
            let (queue, done) = (&queue, done.clone());
            scope.spawn(move || {
                while let Some(line) = queue.take() {
                    let finished = finished(&mut executor, &line, defaults.0);
                    let is_gone = done.send(finished).is_err();
                    queue.done(line.conversation.as_deref());
                    if is_gone {
                        break;
                    }
                }
            });
        }
        drop(done);
        for answer in answers {
            summary.count(&answer);
            if !told(answer) {
                break;
            }
        }
        // Whoever still reads is let go of what it holds, and ends.
        queue.stop();
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

fn read(input: impl BufRead, conversation: Option<&str>, queue: &Queue) -> Result<()> {
    let mut lines = Lines::new(input, LINE_MAX);
    while let Some(line) = lines.next_line().map_err(stdin_unreadable)? {
        let own = line.bytes.and_then(Request::conversation);
        let waiting = Waiting {
            number: line.number,
            bytes: line.bytes.map(<[u8]>::to_vec),
            conversation: own.or_else(|| conversation.map(str::to_string)),
        };
        let is_gone = !line.is_blank() && !queue.push(waiting);
        if is_gone || queue.is_over() {
            break;
        }
    }
    Ok(())
}

fn finished(executor: &mut Executor, line: &Waiting, agent: Option<&str>) -> Result<Finished> {
    let mut execute = || {
        let Some(bytes) = &line.bytes else {
            let message = format!("it has more than {LINE_MAX} bytes");
            return Err(Error::new(Code::InputInvalid, message));
        };
        let request = Request::line(bytes);
        let mut request = request?;
        let agent = agent.map(str::to_string);
        request.query.agent = request.query.agent.or(agent);
        request.conversation.clone_from(&line.conversation);
        executor.execute(&request, &mut |_| {})
    };
    match execute() {
        Ok(shown) => Ok(Finished {
            line: line.number,
            failure: failure(&shown),
            run: shown.run,
            warnings: executor.warnings.clone(),
        }),
        Err(error) => Err(Error {
            message: format!("line {}: {}", line.number, error.message),
            ..error
        }),
    }
}
