//! Runs work in parallel on a bounded number of threads, while the caller's thread keeps the record: it alone
//! starts steps and handles their results.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use crate::error::{Result, catch_panic};
use crate::run::schedule::Schedule;

/// Does the same with each thing, at most `jobs` at a time, and returns the results in their order.
pub(crate) fn map_parallel<T: Sync, R: Send>(
    things: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(things.len()));
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, things.len().max(1)) {
            scope.spawn(|| {
                while let Some((at, thing)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    things.get(at).map(|thing| (at, thing))
                } {
                    let result = work(thing);
                    if let Ok(mut done) = done.lock() {
                        done.push((at, result));
                    }
                }
            });
        }
    });
    let mut done = done
        .into_inner()
        .unwrap_or_else(|broken| broken.into_inner());
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

pub(crate) trait Steps {
    type Job: Send;
    type Done: Send;

    fn begin(&mut self, step: usize) -> Result<Self::Job>;

    /// Handles the result of a step on the caller's thread, and updates the schedule.
    fn end(&mut self, schedule: &mut Schedule, step: usize, done: Self::Done) -> Result<()>;
}

/// Runs a schedule: each step once its dependencies are done, at most `jobs` at a time, each on its own
/// thread. After an error nothing starts any more, and steps in progress are waited for.
pub(crate) fn run_steps<C: Steps>(
    schedule: &mut Schedule,
    jobs: usize,
    steps: &mut C,
    work: impl Fn(usize, C::Job) -> C::Done + Sync,
) -> Result<()> {
    let (sender, ended) = channel();
    let work = &work;
    let mut failed = None;
    thread::scope(|scope| {
        loop {
            while failed.is_none() && schedule.running() < jobs.max(1) {
                let Some(step) = schedule.pop_ready() else {
                    break;
                };
                match steps.begin(step) {
                    Ok(job) => {
                        let sender = sender.clone();
                        // Sending fails only when the caller has ended.
                        scope.spawn(move || sender.send((step, catch_panic(|| work(step, job)))));
                    }
                    Err(error) => {
                        schedule.fail(step);
                        failed = Some(error);
                    }
                }
            }
            if schedule.running() == 0 {
                break;
            }
            // This function holds a sender too, so that the channel stays open.
            let Ok((step, done)) = ended.recv() else {
                break;
            };
            let done = done.and_then(|done| steps.end(schedule, step, done));
            if let Err(error) = done {
                schedule.fail(step);
                failed.get_or_insert(error);
            }
        }
    });
    failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Code, Error};
    use std::sync::Barrier;

    #[derive(Default)]
    struct Noted {
        told: Vec<String>,
        fails: Option<usize>,
    }

    impl Steps for Noted {
        type Job = usize;
        type Done = usize;

        fn begin(&mut self, step: usize) -> Result<usize> {
            self.told.push(format!("begin {step}"));
            Ok(step * 10)
        }

        fn end(&mut self, schedule: &mut Schedule, step: usize, done: usize) -> Result<()> {
            self.told.push(format!("end {step} {done}"));
            if self.fails == Some(step) {
                return Err(Error::new(Code::Internal, "x"));
            }
            schedule.finish(step);
            Ok(())
        }
    }

    #[test]
    fn results_keep_order_of_items() {
        let things: Vec<u32> = (0..100).collect();
        assert_eq!(
            map_parallel(&things, 7, |n| n * 2),
            things.iter().map(|n| n * 2).collect::<Vec<_>>()
        );
        assert!(map_parallel::<u32, u32>(&[], 7, |n| *n).is_empty());
    }

    #[test]
    fn independent_steps_run_in_parallel() {
        let mut schedule = Schedule::new(&[vec![], vec![0], vec![0], vec![1, 2]]);
        let mut noted = Noted::default();
        // Both of the middle must have started before either ends.
        let both = Barrier::new(2);
        let work = |step: usize, job: usize| {
            if step == 1 || step == 2 {
                both.wait();
            }
            job
        };
        run_steps(&mut schedule, 2, &mut noted, work).unwrap();
        assert_eq!(noted.told[..2], ["begin 0", "end 0 0"]);
        assert_eq!(noted.told[2..4], ["begin 1", "begin 2"]);
        assert_eq!(noted.told[6..], ["begin 3", "end 3 30"]);
    }

    #[test]
    fn panic_in_step_is_its_error() {
        let mut schedule = Schedule::new(&[vec![]]);
        let work = |_, _| panic!("injected fault");
        let done = run_steps(&mut schedule, 1, &mut Noted::default(), work);
        assert_eq!(done.unwrap_err().code, Code::Internal);
    }

    #[test]
    fn no_step_starts_after_error() {
        let mut schedule = Schedule::new(&[vec![], vec![0], vec![]]);
        let mut noted = Noted {
            fails: Some(0),
            ..Noted::default()
        };
        assert!(run_steps(&mut schedule, 1, &mut noted, |_, job| job).is_err());
        assert_eq!(noted.told, ["begin 0", "end 0 0"]);
    }
}
