use super::*;
use crate::error::Code;

const NOW: Duration = Duration::ZERO;

fn rules(jobs: usize) -> Rules {
    Rules {
        jobs,
        repairs: 1,
        max_cost: None,
        share: None,
        fail_fast: false,
    }
}

/// Steps that wait for others.
fn steps(needs: &[&[usize]]) -> Vec<Step> {
    let step = |needs: &&[usize]| Step {
        needs: needs.to_vec(),
        ..Step::default()
    };
    needs.iter().map(step).collect()
}

fn scheduler(needs: &[&[usize]], jobs: usize) -> Scheduler {
    Scheduler::new(steps(needs), rules(jobs), BTreeMap::new())
}

fn end_with(outcome: Outcome) -> Ended {
    Ended {
        outcome: Some(outcome),
        ..Ended::default()
    }
}

/// Leads a step to where it is verified.
fn work(scheduler: &mut Scheduler, step: usize) -> Vec<Action> {
    assert_eq!(
        scheduler.handle_events(NOW, vec![Event::Prepared(step)]),
        [Action::Start(step)]
    );
    scheduler.handle_events(NOW, vec![Event::Ended(step, end_with(Outcome::Ok))])
}

fn lacking(step: usize, outcome: Outcome) -> Event {
    Event::Lacking(step, outcome, "no file".into())
}

#[test]
fn step_is_claimed_started_verified_and_done() {
    let mut scheduler = scheduler(&[&[]], 4);
    assert_eq!(
        scheduler.handle_events(NOW, vec![]),
        [Action::Claim(vec![0])]
    );
    assert_eq!(work(&mut scheduler, 0), [Action::Complete(0)]);
    assert!(!scheduler.is_over());
    assert_eq!(scheduler.handle_events(NOW, vec![Event::Completed(0)]), []);
    assert!(scheduler.is_over());
}

#[test]
fn as_many_begin_as_there_is_room_for() {
    let mut scheduler = scheduler(&[&[], &[], &[]], 2);
    assert_eq!(
        scheduler.handle_events(NOW, vec![]),
        [Action::Claim(vec![0, 1])]
    );
    work(&mut scheduler, 1);
    let next = scheduler.handle_events(NOW, vec![Event::Completed(1)]);
    assert_eq!(next, [Action::Claim(vec![2])]);
}

#[test]
fn runner_has_limit_of_own() {
    let mut three = steps(&[&[], &[], &[]]);
    three[2].runner = 1;
    let mut scheduler = Scheduler::new(three, rules(3), [(0, 1)].into());
    assert_eq!(
        scheduler.handle_events(NOW, vec![]),
        [Action::Claim(vec![0, 2])]
    );
}

#[test]
fn what_lacks_something_is_fixed() {
    let mut scheduler = scheduler(&[&[], &[0]], 1);
    scheduler.handle_events(NOW, vec![]);
    work(&mut scheduler, 0);
    let first = scheduler.handle_events(NOW, vec![lacking(0, Outcome::ProtocolViolation)]);
    assert_eq!(first, [Action::Repair(0)]);
    work(&mut scheduler, 0);
    let second = scheduler.handle_events(NOW, vec![lacking(0, Outcome::ProtocolViolation)]);
    assert!(
        matches!(
            second.as_slice(),
            [Action::Fail(0, ..), Action::Skip(1, Some(0), _)]
        ),
        "{second:?}"
    );
    assert!(scheduler.is_over());
}

#[test]
fn unrepairable_attempt_fails_at_once() {
    for outcome in [Outcome::Blocked, Outcome::Budget] {
        let mut scheduler = scheduler(&[&[]], 1);
        scheduler.handle_events(NOW, vec![]);
        work(&mut scheduler, 0);
        let actions = scheduler.handle_events(NOW, vec![lacking(0, outcome)]);
        assert!(
            matches!(actions.as_slice(), [Action::Fail(0, ..)]),
            "{actions:?}"
        );
    }
}

#[test]
fn repair_waits_for_money_of_agents_in_progress() {
    for (cost, is_repaired) in [(0.1, true), (0.4, false)] {
        let rules = Rules {
            max_cost: Some(1.0),
            share: Some(0.25),
            ..rules(4)
        };
        let mut scheduler = Scheduler::new(steps(&[&[], &[], &[]]), rules, BTreeMap::new());
        let ends = |step, cost| {
            let ended = Ended {
                cost: Some(cost),
                ..end_with(Outcome::Ok)
            };
            Event::Ended(step, ended)
        };
        assert_eq!(
            scheduler.handle_events(NOW, vec![]),
            [Action::Claim(vec![0])]
        );
        scheduler.handle_events(NOW, vec![Event::Prepared(0)]);
        let next = scheduler.handle_events(NOW, vec![ends(0, 0.4)]);
        assert_eq!(next, [Action::Complete(0), Action::Claim(vec![1, 2])]);
        scheduler.handle_events(NOW, vec![Event::Completed(0)]);
        scheduler.handle_events(NOW, vec![Event::Prepared(1), Event::Prepared(2)]);
        scheduler.handle_events(NOW, vec![ends(1, 0.4)]);
        let waits = scheduler.handle_events(NOW, vec![lacking(1, Outcome::Partial)]);
        assert_eq!((waits, scheduler.next_due(NOW)), (vec![], None));
        let next = scheduler.handle_events(NOW, vec![ends(2, cost)]);
        let then = match is_repaired {
            true => Action::Repair(1),
            false => Action::Fail(1, Outcome::Partial, "no file".into()),
        };
        assert_eq!(next, [Action::Complete(2), then]);
    }
}

#[test]
fn what_someone_completed_by_force_is_not_fixed() {
    let mut scheduler = scheduler(&[&[]], 1);
    scheduler.handle_events(NOW, vec![]);
    work(&mut scheduler, 0);
    let actions = scheduler.handle_events(NOW, vec![Event::Overruled(0, "by force".into())]);
    let why = "by force".to_string();
    assert_eq!(actions, [Action::Fail(0, Outcome::ProtocolViolation, why)]);
    assert!(scheduler.is_over());
}

#[test]
fn rate_limit_pauses_runner() {
    let mut scheduler = scheduler(&[&[], &[]], 1);
    scheduler.handle_events(NOW, vec![]);
    scheduler.handle_events(NOW, vec![Event::Prepared(0)]);
    let busy = Ended {
        retry_after: Some(Duration::from_secs(60)),
        ..end_with(Outcome::RateLimited)
    };
    let looked = scheduler.handle_events(NOW, vec![Event::Ended(0, busy)]);
    assert_eq!(looked, [Action::Complete(0)], "what is there may verify");
    let actions = scheduler.handle_events(NOW, vec![lacking(0, Outcome::RateLimited)]);
    let minute = Duration::from_secs(60);
    assert_eq!(
        actions,
        [Action::Wait(0, minute)],
        "and the other is not begun"
    );
    assert_eq!(scheduler.next_due(NOW), Some(minute));
    assert_eq!(scheduler.handle_events(minute / 2, vec![]), []);
    assert_eq!(scheduler.handle_events(minute, vec![]), [Action::Repair(0)]);
}

#[test]
fn what_is_held_up_is_tried_again_when_something_ends() {
    let mut scheduler = scheduler(&[&[], &[]], 2);
    scheduler.handle_events(NOW, vec![]);
    let held = Event::Held(1, "T1 works on its files".into(), false);
    assert_eq!(
        scheduler.handle_events(NOW, vec![Event::Prepared(0), held.clone()]),
        [Action::Start(0)]
    );
    scheduler.handle_events(NOW, vec![Event::Ended(0, end_with(Outcome::Ok))]);
    let again = scheduler.handle_events(NOW, vec![Event::Completed(0)]);
    assert_eq!(again, [Action::Claim(vec![1])]);
    // Nothing else is in progress that could release it.
    let left = scheduler.handle_events(NOW, vec![held]);
    assert!(
        matches!(left.as_slice(), [Action::Skip(1, None, _)]),
        "{left:?}"
    );
    assert!(scheduler.is_over());
}

#[test]
fn what_another_run_works_on_is_awaited() {
    let mut scheduler = scheduler(&[&[], &[0]], 1);
    scheduler.handle_events(NOW, vec![]);
    let held = || vec![Event::Held(0, "another run works on it".into(), true)];
    assert_eq!(scheduler.handle_events(NOW, held()), []);
    assert!(!scheduler.is_over());
    scheduler.mark_changed();
    assert_eq!(
        scheduler.handle_events(NOW, vec![]),
        [Action::Claim(vec![0])]
    );
    assert_eq!(scheduler.handle_events(NOW, held()), []);
    scheduler.mark_changed();
    scheduler.handle_events(NOW, vec![]);
    let next = scheduler.handle_events(NOW, vec![Event::Completed(0)]);
    assert_eq!(next, [Action::Claim(vec![1])]);
    let held = vec![Event::Held(1, "another run works on it".into(), true)];
    scheduler.handle_events(NOW, held);
    let ends = scheduler.handle_events(NOW, vec![Event::Stop(Stop::TimeLimit)]);
    assert!(
        matches!(ends.as_slice(), [Action::Halt, Action::Skip(1, None, _)]),
        "{ends:?}"
    );
    assert!(scheduler.is_over());
}

#[test]
fn step_that_is_left_to_be_proven_later_does_not_fail() {
    let mut scheduler = scheduler(&[&[], &[0]], 1);
    scheduler.handle_events(NOW, vec![]);
    scheduler.handle_events(NOW, vec![Event::Prepared(0)]);
    scheduler.handle_events(NOW, vec![Event::Ended(0, end_with(Outcome::Ok))]);
    let stop = vec![
        Event::Left(0),
        Event::Stop(Stop::Interrupted(Code::Interrupted)),
    ];
    let why = "it waits for what is not proven yet".to_string();
    let expected = [Action::Skip(1, Some(0), why), Action::Halt];
    assert_eq!(scheduler.handle_events(NOW, stop), expected);
    assert!(scheduler.is_over());
}

#[test]
fn stop_ends_agents_and_starts_none() {
    let mut scheduler = scheduler(&[&[], &[0], &[]], 1);
    scheduler.handle_events(NOW, vec![]);
    scheduler.handle_events(NOW, vec![Event::Prepared(0)]);
    let halt =
        scheduler.handle_events(NOW, vec![Event::Stop(Stop::Interrupted(Code::Interrupted))]);
    assert_eq!(halt, [Action::Halt]);
    assert_eq!(
        scheduler.handle_events(NOW, vec![Event::Stop(Stop::TimeLimit)]),
        []
    );
    let end = scheduler.handle_events(NOW, vec![Event::Ended(0, end_with(Outcome::Cancelled))]);
    assert_eq!(end, [Action::Complete(0)], "what is there may verify");
    let actions = scheduler.handle_events(NOW, vec![lacking(0, Outcome::Cancelled)]);
    assert!(
        matches!(
            actions.as_slice(),
            [
                Action::Fail(0, Outcome::Cancelled, _),
                Action::Skip(1, Some(0), _),
                Action::Skip(2, None, _)
            ]
        ),
        "{actions:?}"
    );
    assert!(scheduler.is_over());
    assert_eq!(scheduler.stop(), Some(Stop::Interrupted(Code::Interrupted)));
}

#[test]
fn money_and_failures_can_end_what_has_not_begun() {
    let mut costly = Scheduler::new(
        steps(&[&[], &[]]),
        Rules {
            max_cost: Some(1.0),
            ..rules(1)
        },
        BTreeMap::new(),
    );
    costly.handle_events(NOW, vec![]);
    costly.handle_events(NOW, vec![Event::Prepared(0)]);
    let end = Ended {
        cost: Some(1.5),
        ..end_with(Outcome::Ok)
    };
    costly.handle_events(NOW, vec![Event::Ended(0, end)]);
    let actions = costly.handle_events(NOW, vec![Event::Completed(0)]);
    assert!(
        matches!(actions.as_slice(), [Action::Skip(1, None, _)]),
        "{actions:?}"
    );

    let mut strict = Scheduler::new(
        steps(&[&[], &[]]),
        Rules {
            fail_fast: true,
            ..rules(1)
        },
        BTreeMap::new(),
    );
    strict.handle_events(NOW, vec![]);
    let actions = strict.handle_events(NOW, vec![Event::Refused(0, "no skill".into())]);
    assert!(
        matches!(
            actions.as_slice(),
            [Action::Fail(0, ..), Action::Skip(1, None, _)]
        ),
        "{actions:?}"
    );
}

#[test]
fn earlier_failure_stays_when_nothing_more_starts() {
    let spent = Rules {
        max_cost: Some(1.0),
        ..rules(1)
    };
    let mut scheduler = Scheduler::new(steps(&[&[], &[0], &[]]), spent, BTreeMap::new());
    let mut before = Budget::default();
    before.count(Some(1.0));
    scheduler.resume_budget(before);
    scheduler.note_tried(0, Outcome::Budget);
    let actions = scheduler.handle_events(NOW, vec![]);
    assert!(
        matches!(
            actions.as_slice(),
            [
                Action::Fail(0, Outcome::Budget, _),
                Action::Skip(1, Some(0), _),
                Action::Skip(2, None, _)
            ]
        ),
        "{actions:?}"
    );
    assert!(scheduler.is_over());
}

#[test]
fn what_is_not_to_be_done_is_no_failure() {
    let strict = Rules {
        fail_fast: true,
        ..rules(1)
    };
    let mut scheduler = Scheduler::new(steps(&[&[], &[0], &[]]), strict, BTreeMap::new());
    assert_eq!(
        scheduler.handle_events(NOW, vec![]),
        [Action::Claim(vec![0])]
    );
    let actions = scheduler.handle_events(NOW, vec![Event::Dropped(0, "T1 is cancelled".into())]);
    assert!(
        matches!(
            actions.as_slice(),
            [Action::Skip(0, None, why), Action::Skip(1, Some(0), _), Action::Claim(next)]
                if why == "T1 is cancelled" && next == &[2]
        ),
        "{actions:?}"
    );
}

#[test]
fn epic_is_completed_once_its_parts_are() {
    let mut two = steps(&[&[1], &[]]);
    two[0].is_epic = true;
    let mut scheduler = Scheduler::new(two, rules(1), BTreeMap::new());
    scheduler.handle_events(NOW, vec![]);
    work(&mut scheduler, 1);
    let actions = scheduler.handle_events(NOW, vec![Event::Completed(1)]);
    assert_eq!(actions, [Action::Complete(0)]);
    scheduler.handle_events(NOW, vec![Event::Completed(0)]);
    assert!(scheduler.is_over());
}

#[test]
fn lost_claim_stops_agent() {
    let mut scheduler = scheduler(&[&[], &[]], 1);
    scheduler.handle_events(NOW, vec![]);
    scheduler.handle_events(NOW, vec![Event::Prepared(0)]);
    let lost = || Event::Lost(0, "bob took over".into());
    assert_eq!(scheduler.handle_events(NOW, vec![lost()]), [Action::End(0)]);
    assert_eq!(scheduler.handle_events(NOW, vec![lost()]), [], "asked once");
    assert_eq!(scheduler.list_claimed(), [0; 0], "nothing is held any more");
    assert!(!scheduler.is_over());
    let actions = scheduler.handle_events(NOW, vec![Event::Ended(0, end_with(Outcome::Ok))]);
    assert!(
        matches!(
            actions.as_slice(),
            [Action::Fail(0, Outcome::Cancelled, why), Action::Claim(next)]
                if why == "bob took over" && next == &[1]
        ),
        "{actions:?}"
    );
    let late = vec![Event::Ended(0, end_with(Outcome::Ok)), lost()];
    assert_eq!(scheduler.handle_events(NOW, late), []);
}

#[test]
fn claim_that_is_lost_ends_commands_of_step_too() {
    let mut checked = steps(&[&[]]);
    checked[0].has_checks = true;
    let mut scheduler = Scheduler::new(checked, rules(1), BTreeMap::new());
    scheduler.handle_events(NOW, vec![]);
    assert_eq!(work(&mut scheduler, 0), [Action::Check(0)]);
    let lost = Event::Lost(0, "bob took over".into());
    assert_eq!(scheduler.handle_events(NOW, vec![lost]), [Action::End(0)]);
    assert!(!scheduler.is_over());
    let actions = scheduler.handle_events(NOW, vec![Event::Checked(0)]);
    assert!(
        matches!(actions.as_slice(), [Action::Fail(0, Outcome::Cancelled, _)]),
        "{actions:?}"
    );
    assert!(scheduler.is_over());
}

#[test]
fn refusal_for_last_time_is_told_with_what_is_missing() {
    let mut scheduler = scheduler(&[&[]], 1);
    scheduler.handle_events(NOW, vec![]);
    let mut now = NOW;
    let last = loop {
        scheduler.handle_events(now, vec![Event::Prepared(0)]);
        scheduler.handle_events(now, vec![Event::Ended(0, end_with(Outcome::RateLimited))]);
        let actions = scheduler.handle_events(now, vec![lacking(0, Outcome::RateLimited)]);
        let [Action::Wait(0, wait)] = actions.as_slice() else {
            break actions;
        };
        now += *wait;
        assert_eq!(scheduler.handle_events(now, vec![]), [Action::Repair(0)]);
    };
    let why = "no file".to_string();
    assert_eq!(last, [Action::Fail(0, Outcome::RateLimited, why)]);
}

#[test]
fn negative_cost_of_agent_does_not_reduce_total() {
    let costly = Rules {
        max_cost: Some(1.0),
        ..rules(1)
    };
    let mut scheduler = Scheduler::new(steps(&[&[], &[], &[]]), costly, BTreeMap::new());
    scheduler.handle_events(NOW, vec![]);
    for (step, cost, left) in [(0, 0.75, 0.25), (1, -5.0, 0.25), (2, f64::NAN, 0.25)] {
        scheduler.handle_events(NOW, vec![Event::Prepared(step)]);
        let end = Ended {
            cost: Some(cost),
            ..end_with(Outcome::Ok)
        };
        scheduler.handle_events(NOW, vec![Event::Ended(step, end)]);
        assert_eq!(scheduler.remaining_cost(), Some(left), "{cost}");
        scheduler.handle_events(NOW, vec![Event::Completed(step)]);
    }
}

#[test]
fn cyclic_steps_are_named() {
    let mut scheduler = scheduler(&[&[1], &[0], &[]], 1);
    scheduler.handle_events(NOW, vec![]);
    work(&mut scheduler, 2);
    let actions = scheduler.handle_events(NOW, vec![Event::Completed(2)]);
    assert!(scheduler.is_over());
    let named = |action: &Action| match action {
        Action::Skip(step, None, _) => Some(*step),
        _ => None,
    };
    assert_eq!(Vec::from_iter(actions.iter().filter_map(named)), [0, 1]);
}

#[test]
fn agent_that_got_words_begins_again_without_repair() {
    let rules = Rules {
        repairs: 0,
        ..rules(1)
    };
    let mut scheduler = Scheduler::new(steps(&[&[]]), rules, BTreeMap::new());
    scheduler.handle_events(NOW, vec![]);
    scheduler.handle_events(NOW, vec![Event::Prepared(0)]);
    let ended = Ended {
        has_words: true,
        ..end_with(Outcome::Cancelled)
    };
    let next = scheduler.handle_events(NOW, vec![Event::Ended(0, ended)]);
    assert_eq!(next, [Action::Repair(0)]);
}
