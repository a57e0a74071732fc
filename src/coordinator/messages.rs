//! Runs whose steps are messages to agents: passes of plans, and queries. The scheduler of runs decides; here its
//! decisions are carried out. Each answer is waited for on a thread of its own, and the caller's thread alone keeps the
//! record.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

use super::options::Rules;
use super::scheduler::{Action, Event, Scheduler, Step, Stop};
use crate::error::{Code, Result, catch_panic};

pub(super) trait Messages {
    type Job: Send;
    type Answer: Send;

    /// Records that a step begins, and returns what its thread needs.
    fn begin(&mut self, step: usize) -> Result<Self::Job>;

    /// Records an answer, and returns how it counts.
    fn end(&mut self, step: usize, answer: Self::Answer) -> Result<Event>;

    /// Records that a step never begins, because one that it needs has failed.
    fn skip(&mut self, _step: usize) -> Result<()> {
        Ok(())
    }
}

/// Makes the scheduler of steps with these needs.
pub(super) fn schedule(needs: Vec<Vec<usize>>, jobs: usize) -> Scheduler {
    let rules = Rules {
        jobs,
        // The caller says how often a step is asked again.
        repairs: u32::MAX,
        ..Rules::default()
    };
    let step = |needs| Step {
        needs,
        ..Step::default()
    };
    let steps = needs.into_iter().map(step).collect();
    Scheduler::new(steps, rules, BTreeMap::new())
}

/// Sends the messages of all steps. After an error nothing starts any more, and steps in progress are waited for.
pub(super) fn send<M: Messages>(
    mut scheduler: Scheduler,
    messages: &mut M,
    work: impl Fn(M::Job) -> M::Answer + Sync,
) -> Result<()> {
    let (sender, answers) = channel();
    let (work, begun) = (&work, Instant::now());
    let (mut inbox, mut failed) = (Vec::new(), None);
    thread::scope(|scope| {
        while !scheduler.is_over() || !inbox.is_empty() {
            for action in scheduler.handle_events(begun.elapsed(), std::mem::take(&mut inbox)) {
                let (step, done) = match action {
                    Action::Claim(steps) => {
                        inbox.extend(steps.into_iter().map(Event::Prepared));
                        continue;
                    }
                    Action::Repair(step) => {
                        inbox.push(Event::Prepared(step));
                        continue;
                    }
                    Action::Start(step) => {
                        let job = messages.begin(step);
                        let sender = sender.clone();
                        // Sending fails only when the caller has ended.
                        let start = |job| {
                            scope.spawn(move || sender.send((step, catch_panic(|| work(job)))));
                        };
                        (step, job.map(start))
                    }
                    Action::Skip(step, Some(_), _) if failed.is_none() => {
                        (step, messages.skip(step))
                    }
                    _ => continue,
                };
                if let Err(error) = done {
                    inbox.extend(stop(step));
                    failed.get_or_insert(error);
                }
            }
            if !inbox.is_empty() || scheduler.is_over() {
                continue;
            }
            // This function holds a sender too, so that the channel stays open.
            let Ok((step, answer)) = answers.recv() else {
                break;
            };
            match answer.and_then(|answer| messages.end(step, answer)) {
                Ok(event) => inbox.push(event),
                Err(error) => {
                    inbox.extend(stop(step));
                    failed.get_or_insert(error);
                }
            }
        }
    });
    failed.map_or(Ok(()), Err)
}

fn stop(step: usize) -> [Event; 2] {
    [
        Event::Stop(Stop::Interrupted(Code::Interrupted)),
        Event::Refused(step, String::new()),
    ]
}
