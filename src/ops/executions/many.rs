//! Many executions side by side, one for each line of input.

use std::io::BufRead;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

use serde::Serialize;

use super::{Executor, Request};
use crate::agent::MESSAGE_MAX;
use crate::error::{Code, Error, Result};
use crate::file::Lines;
use crate::run::{Run, RunStatus};

/// Longest line, in bytes: a message with room for escapes.
const LINE_MAX: usize = 6 * MESSAGE_MAX + 4_096;

/// How the execution of a line ended.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Finished {
    /// Number of the line, from 1.
    pub line: usize,
    /// The run.
    pub run: Run,
}

/// How many executions there were.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Summary {
    /// How many lines there were.
    pub total: usize,
    /// How many of them were answered.
    pub completed: usize,
    /// How many were not, or are no messages.
    pub failed: usize,
}

/// A line that is still to be worked on.
type Work = (usize, Option<Vec<u8>>);

/// Carries out an execution for each line, at most `jobs` at a time, and tells each as it ends until
/// nobody listens any more. `agent` is asked for where a line asks for none.
pub fn execute_many(
    executor: &Executor,
    input: impl BufRead + Send,
    jobs: usize,
    defaults: (Option<&str>, Option<&str>),
    told: &mut dyn FnMut(Result<Finished>) -> bool,
) -> Result<Summary> {
    let executors = (0..jobs.max(1)).map(|_| executor.another());
    let executors = executors.collect::<Result<Vec<_>>>()?;
    let (sender, work) = sync_channel::<Work>(jobs.max(1));
    let (done, answers) = channel();
    let work = Mutex::new(work);
    let is_over = AtomicBool::new(false);
    let mut summary = Summary::default();
    thread::scope(|scope| {
        let reader = scope.spawn(|| read(input, sender, &is_over));
        for mut executor in executors {
            let (work, done) = (&work, done.clone());
            scope.spawn(move || {
                while let Some(line) = next(work) {
                    if done.send(finished(&mut executor, line, defaults)).is_err() {
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
        is_over.store(true, Ordering::Relaxed);
        while next(&work).is_some() {}
        let read = reader.join();
        read.unwrap_or_else(|_| Err(Error::new(Code::Internal, "the reader of the input failed")))
    })?;
    Ok(summary)
}

impl Summary {
    fn count(&mut self, answer: &Result<Finished>) {
        let is_good = |done: &Finished| done.run.status == RunStatus::Completed;
        self.total += 1;
        match answer.as_ref().is_ok_and(is_good) {
            true => self.completed += 1,
            false => self.failed += 1,
        }
    }
}

fn read(input: impl BufRead, sender: SyncSender<Work>, is_over: &AtomicBool) -> Result<()> {
    let mut lines = Lines::new(input, LINE_MAX);
    let unreadable =
        |cause| Error::new(Code::FileUnreadable, "standard input cannot be read").because(cause);
    while let Some(line) = lines.next_line().map_err::<Error, _>(unreadable)? {
        let is_blank = line
            .bytes
            .is_some_and(|bytes| bytes.trim_ascii().is_empty());
        let work = (line.number, line.bytes.map(<[u8]>::to_vec));
        let is_gone = !is_blank && sender.send(work).is_err();
        if is_gone || is_over.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(())
}

fn next(work: &Mutex<Receiver<Work>>) -> Option<Work> {
    work.lock().ok()?.recv().ok()
}

fn finished(
    executor: &mut Executor,
    (line, bytes): Work,
    (agent, conversation): (Option<&str>, Option<&str>),
) -> Result<Finished> {
    let mut execute = || {
        let Some(bytes) = &bytes else {
            let message = format!("it has more than {LINE_MAX} bytes");
            return Err(Error::new(Code::InputInvalid, message).fix("cleo agents execute --help"));
        };
        let request = Request::line(bytes);
        let mut request = request.map_err(|error| error.fix("cleo agents execute --help"))?;
        let agent = agent.map(str::to_string);
        request.query.agent = request.query.agent.or(agent);
        let conversation = conversation.map(str::to_string);
        request.conversation = request.conversation.or(conversation);
        executor.execute(&request, &mut |_| {})
    };
    match execute() {
        Ok(shown) => Ok(Finished {
            line,
            run: shown.run,
        }),
        Err(error) => Err(Error {
            message: format!("line {line}: {}", error.message),
            ..error
        }),
    }
}
