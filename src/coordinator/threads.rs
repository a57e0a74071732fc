//! The threads of a run: one for each running agent and one for each task whose commands run, which report
//! events and decide nothing, and one that renews its claims.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::claim::{Claim, Lease};
use crate::error::{Code, Error, Result, catch_panic};
use crate::file::{create_anew, unwritable};
use crate::id::TaskId;
use crate::ops::proof::{self, RenewalRequest};
use crate::ops::tasks::claim;
use crate::ops::{Context, Surroundings};
use crate::run::TaskEvent;
use crate::run::event::AgentEnd;
use crate::runner::agent::{self, Job, Runner};
use crate::runner::signals;
use crate::task::Status;

/// Room for the calls of a thread, in bytes: driving an agent takes little of it.
const STACK: usize = 512 * 1024;
/// How long stopped threads may take to end: longer than each of them may.
const PATIENCE: Duration = Duration::from_secs(15);

pub(super) enum Update {
    Agent(TaskEvent),
    Ended(Box<Result<AgentEnd>>),
    Checked(Result<Vec<String>>),
}

pub(super) type Message = (usize, u32, Update);

pub(super) struct Threads {
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    /// Ends the renewal of claims when it is dropped.
    _renewal: Sender<()>,
}

impl Threads {
    /// Begins to renew the claims of a run well before they expire, until its threads are dropped: also while the loop
    /// waits for commands of a task or for git. A claim that is lost is not renewed, which the loop notices.
    pub(super) fn begin(
        surroundings: Surroundings,
        steps: HashSet<TaskId>,
        lease: Lease,
    ) -> Result<Threads> {
        let (sender, receiver) = mpsc::channel();
        let (renewal, end) = mpsc::channel();
        let pause = Duration::from_secs(lease.seconds.into()) / 3;
        let renew = move || loop {
            // A failed renewal is tried again the next time, which is early enough.
            let _ = catch_panic(|| renew(&surroundings, &steps, lease));
            if end.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        };
        let spawned = Builder::new().stack_size(STACK).spawn(renew);
        spawned.map_err(refuse_thread)?;
        Ok(Threads {
            sender,
            receiver,
            _renewal: renewal,
        })
    }

    /// Runs an agent until it exits or the returned flag is set.
    pub(super) fn start(
        &self,
        step: usize,
        attempt: u32,
        runner: Arc<dyn Runner>,
        job: Job,
    ) -> Result<Arc<AtomicBool>> {
        let end = |ended: Result<AgentEnd>| Update::Ended(Box::new(ended));
        self.spawn(step, attempt, end, move |sender| {
            let mut tell = |event| drop(sender.send((step, attempt, Update::Agent(event))));
            let path = job.prompt_file();
            create_anew(&path)
                .and_then(|mut file| file.write_all(job.prompt.as_bytes()))
                .map_err(|cause| unwritable(&path, cause))?;
            agent::drive(&*runner, &job, &mut tell)
        })
    }

    /// Runs the commands of a task, in a worktree or in the workspace, until they end or the returned flag is set.
    pub(super) fn check(
        &self,
        step: usize,
        attempt: u32,
        surroundings: Surroundings,
        tree: Option<PathBuf>,
        renewal: RenewalRequest,
    ) -> Result<Arc<AtomicBool>> {
        self.spawn(step, attempt, Update::Checked, move |_| {
            let mut context = Context::open(surroundings)?;
            if let Some(root) = tree {
                context.workspace.root = root;
            }
            let renewed = proof::renew(&mut context, &renewal, &mut |_| {})?;
            let told = renewed.ran.iter().map(|ran| {
                let outcome = match ran.outcome {
                    proof::Outcome::Passed => "passed",
                    proof::Outcome::Failed => "failed",
                };
                format!("{}: {outcome}", ran.commands.join(", "))
            });
            Ok(told.collect())
        })
    }

    /// Starts a thread for an attempt. A panic in it is an error of this attempt only.
    fn spawn<T>(
        &self,
        step: usize,
        attempt: u32,
        heard: impl FnOnce(Result<T>) -> Update + Send + 'static,
        work: impl FnOnce(&Sender<Message>) -> Result<T> + Send + 'static,
    ) -> Result<Arc<AtomicBool>> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let sender = self.sender.clone();
        let thread = Builder::new().stack_size(STACK);
        let spawned = thread.spawn(move || {
            let is_stopped = move || flag.load(Ordering::Relaxed);
            let done = catch_panic(|| signals::run_until(is_stopped, || work(&sender))).flatten();
            // The receiver is gone when the run is over.
            let _ = sender.send((step, attempt, heard(done)));
        });
        spawned.map_err(refuse_thread).map(|_| stop)
    }

    /// Waits until all threads have ended. Each of them has a sender.
    pub(super) fn wait_until_idle(&mut self) {
        self.sender = mpsc::channel().0;
        let begun = Instant::now();
        let left = || PATIENCE.saturating_sub(begun.elapsed());
        while self.receiver.recv_timeout(left()).is_ok() {}
    }

    pub(super) fn receive(&self, patience: Duration) -> Vec<Message> {
        let first = self.receiver.recv_timeout(patience).into_iter();
        first.chain(self.receiver.try_iter()).collect()
    }
}

/// Renews the claims of a run: of its steps, and of what its agents left under review.
fn renew(surroundings: &Surroundings, steps: &HashSet<TaskId>, lease: Lease) -> Result<()> {
    let mut context = Context::open(surroundings.clone())?;
    let claims = context.read(|transaction| {
        let mut claims = transaction.claims_of(&surroundings.actor)?;
        claims.retain(|claim| {
            let status = transaction.status(claim.task).unwrap_or_default();
            steps.contains(&claim.task) || status == Some(Status::Review)
        });
        Ok(claims)
    })?;
    for Claim { task, epoch, .. } in claims {
        let _ = claim::heartbeat(&mut context, task, lease, Some(epoch), false);
    }
    Ok(())
}

fn refuse_thread(cause: io::Error) -> Error {
    let message = format!("no thread can be started: {cause}");
    Error::new(Code::Internal, message).because(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_in_thread_is_error_of_its_attempt() {
        let (sender, receiver) = mpsc::channel();
        let threads = Threads {
            sender,
            receiver,
            _renewal: mpsc::channel().0,
        };
        let end = |ended: Result<AgentEnd>| Update::Ended(Box::new(ended));
        threads
            .spawn(1, 2, end, |_| panic!("injected fault"))
            .unwrap();
        threads
            .spawn(3, 1, end, |_| Ok(AgentEnd::default()))
            .unwrap();
        let mut ended = Vec::new();
        while ended.len() < 2 {
            ended.extend(threads.receive(PATIENCE));
        }
        let failed = ended.into_iter().filter_map(|(step, attempt, heard)| {
            let Update::Ended(ended) = heard else {
                return None;
            };
            ended.err().map(|error| (step, attempt, error.code))
        });
        let failed = Vec::from_iter(failed);
        assert_eq!(failed, [(1, 2, Code::Internal)]);
    }
}
