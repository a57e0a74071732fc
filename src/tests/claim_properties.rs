//! For any actions of several people on the same tasks: at most one of them holds a task at any
//! time, and a replaced holder changes nothing.

use crate::claim::{Claim, Lease};
use crate::clock::Clock;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::{Assignment, Context, proof, require, tasks};
use crate::task::Status;
use crate::task::fields::Draft;
use proptest::prelude::*;

use super::open;

const PEOPLE: [&str; 3] = ["ada", "bob", "eve"];
const TASKS: u32 = 2;

/// An action.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Deed {
    Claim,
    Next,
    Start,
    Heartbeat,
    Release,
    Complete,
    Review,
    Reopen,
}

/// An action on a task, its actor, its delay, and its epoch.
#[derive(Clone, Debug)]
struct Step {
    who: usize,
    deed: Deed,
    task: TaskId,
    minutes: i64,
    epoch: Option<u32>,
}

fn step() -> impl Strategy<Value = Step> {
    use Deed::*;
    let deeds = [
        Claim, Next, Start, Heartbeat, Release, Complete, Review, Reopen,
    ];
    let deed = prop::sample::select(deeds.to_vec());
    let epoch = prop::option::weighted(0.4, 1..5_u32);
    (0..PEOPLE.len(), deed, 1..=TASKS, 0..25_i64, epoch).prop_map(
        |(who, deed, task, minutes, epoch)| Step {
            who,
            deed,
            task: TaskId(task),
            minutes,
            epoch,
        },
    )
}

fn take(context: &mut Context, step: &Step) -> Result<()> {
    let (task, epoch, lease) = (step.task, step.epoch, "30m".parse().unwrap());
    // A status is set under the epoch of the environment.
    context.surroundings.assignment = Assignment {
        epoch: epoch.filter(|_| step.deed == Deed::Review),
        ..Assignment::default()
    };
    match step.deed {
        Deed::Claim => tasks::claim::claim(context, task, lease, false).map(drop),
        Deed::Next => tasks::claim::claim_next(context, None, lease).map(drop),
        Deed::Start => {
            let lease = Some(lease);
            tasks::start(context, tasks::Start { task, lease, epoch }).map(drop)
        }
        Deed::Heartbeat => {
            tasks::claim::heartbeat(context, task, Lease::default(), epoch, false).map(drop)
        }
        Deed::Release => tasks::claim::release(context, task, epoch, false).map(drop),
        Deed::Complete => {
            let force = false;
            proof::complete(context, proof::Complete { task, force, epoch }).map(drop)
        }
        Deed::Review => {
            let patch = tasks::Patch {
                task,
                status: Some(Status::Review),
                ..Default::default()
            };
            tasks::update(context, patch).map(drop)
        }
        Deed::Reopen => tasks::reopen(context, task).map(drop),
    }
}

/// Claim and status of each task.
fn look(context: &mut Context) -> Vec<(Option<Claim>, Status)> {
    let look = |id| {
        let claim = context.read(|transaction| transaction.claim(TaskId(id)));
        let status = context.read(|it| require(it, TaskId(id))).unwrap().status;
        (claim.unwrap(), status)
    };
    (1..=TASKS).map(look).collect()
}

/// Returns whether a deed is done under the epoch that a step names.
fn is_bound(deed: Deed) -> bool {
    !matches!(deed, Deed::Claim | Deed::Next | Deed::Reopen)
}

fn check_step(
    step: &Step,
    now: &str,
    done: bool,
    before: &(Option<Claim>, Status),
    after: &(Option<Claim>, Status),
) -> std::result::Result<(), TestCaseError> {
    let who = PEOPLE[step.who];
    let epoch = |claim: &Option<Claim>| claim.as_ref().map_or(0, |claim| claim.epoch);
    let live = |claim: &Option<Claim>| -> Option<String> {
        Some(claim.as_ref()?.live_holder(now)?.to_string())
    };
    if !done {
        prop_assert_eq!(before, after, "what is refused changes nothing");
    }
    let (old, new) = (epoch(&before.0), epoch(&after.0));
    prop_assert!(new == old || new == old + 1, "the epoch grows by one");
    let (held, holds) = (live(&before.0), live(&after.0));
    if let Some(held) = &held {
        prop_assert!(new == old, "nobody claims what is held");
        let under_it = is_bound(step.deed) && step.epoch == Some(old);
        let is_changed = before != after;
        prop_assert!(
            !is_changed || held == who || under_it,
            "only the holder, or who works under its epoch, changes what is held"
        );
        prop_assert!(holds.is_none() || holds.as_ref() == Some(held));
    }
    if let Some(late) = step.epoch.filter(|_| is_bound(step.deed)) {
        prop_assert!(
            late == old || before == after,
            "a late writer changes nothing"
        );
    }
    let is_closed = matches!(after.1, Status::Done | Status::Cancelled);
    prop_assert!(!is_closed || holds.is_none(), "nobody holds what is over");
    Ok(())
}

proptest! {
    #![proptest_config(super::cases(10))]

    #[test]
    fn at_most_one_holds_task_whatever_is_done(
        steps in prop::collection::vec(step(), 1..40)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut context = open(folder.path());
        let draft = || Draft { title: "work".to_string(), ..Draft::default() };
        let drafts = (0..TASKS).map(|_| draft()).collect();
        tasks::add::add(&mut context, drafts).unwrap();
        let mut now = context.surroundings.clock.now();
        for step in &steps {
            now += chrono::TimeDelta::minutes(step.minutes);
            context.surroundings.clock = Clock::Fixed(now);
            context.surroundings.actor = PEOPLE[step.who].to_string();
            let before = look(&mut context);
            let done = take(&mut context, step).is_ok();
            let after = look(&mut context);
            for (index, (before, after)) in before.iter().zip(&after).enumerate() {
                let is_meant = TaskId(index as u32 + 1) == step.task || step.deed == Deed::Next;
                if is_meant {
                    check_step(step, &context.now(), done, before, after)?;
                } else {
                    prop_assert_eq!(before, after);
                }
            }
        }
    }
}
