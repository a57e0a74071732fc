//! Rules of what surrounds the work on tasks: claims, sessions, phases.

use super::{NOW, put, stamp, task};
use crate::claim::{Claim, Lease};
use crate::id::TaskId;
use crate::phase::{Counts, Phase, PhaseStatus};
use crate::session::{Session, SessionId, SessionStatus};
use crate::store::{Filter, Store};
use crate::task::{Note, Priority, Status, Task};

const LATER: &str = "2026-01-26T10:00:00.000Z";

fn claim(number: u32, holder: &str) -> Claim {
    let now = NOW.parse().unwrap();
    Claim::after(None, TaskId(number), holder, now, Lease::default()).unwrap()
}

pub(super) fn a_claim_is_kept_and_its_epoch_outlives_it(store: &mut dyn Store) {
    put(store, &[task(1, "a"), task(2, "b"), task(3, "c")]);
    let mut transaction = store.write(&stamp()).unwrap();
    for claim in [claim(1, "ada"), claim(2, "bob"), claim(3, "ada")] {
        transaction.put_claim(&claim).unwrap();
    }
    let freed = claim(3, "ada").release(NOW);
    transaction.put_claim(&freed).unwrap();
    transaction.commit().unwrap();
    let transaction = store.read().unwrap();
    let read = |number| transaction.claim(TaskId(number)).unwrap();
    assert_eq!(read(1), Some(claim(1, "ada")));
    assert_eq!(read(3), Some(freed));
    assert_eq!(read(4), None);
    assert_eq!(transaction.claims_of("ada").unwrap(), [claim(1, "ada")]);
    assert_eq!(transaction.claims_of("eve").unwrap(), []);
    assert_eq!(transaction.expired_claims(NOW).unwrap(), []);
    let over = [claim(1, "ada"), claim(2, "bob")];
    assert_eq!(transaction.expired_claims(LATER).unwrap(), over);
    let listed = |filter: Filter| {
        let page = transaction.list(&filter).unwrap();
        page.tasks.iter().map(|task| task.id.0).collect::<Vec<_>>()
    };
    let (claimed, holder) = (true, Some("bob".to_string()));
    let all = Filter::default;
    assert_eq!(listed(Filter { claimed, ..all() }), [1, 2]);
    assert_eq!(listed(Filter { holder, ..all() }), [2]);
}

pub(super) fn a_deleted_task_takes_its_claim_along(store: &mut dyn Store) {
    put(store, &[task(1, "a"), task(2, "b")]);
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.put_claim(&claim(1, "ada")).unwrap();
    let mut open = session(1);
    (open.scope, open.focus) = (Some(TaskId(1)), Some(TaskId(1)));
    transaction.put_session(&open).unwrap();
    transaction.delete(TaskId(1)).unwrap();
    transaction.commit().unwrap();
    let transaction = store.read().unwrap();
    assert_eq!(transaction.claims_of("ada").unwrap(), []);
    let kept = transaction.session(SessionId(1)).unwrap();
    open.focus = None;
    assert_eq!(kept, Some(open), "the session and its scope stay");
}

pub(super) fn running_claims_are_told_from_those_that_are_over(store: &mut dyn Store) {
    put(
        store,
        &[task(1, "a"), task(2, "b"), task(3, "c"), task(4, "d")],
    );
    let mut transaction = store.write(&stamp()).unwrap();
    let longer = Claim {
        expires: "2026-01-27T00:00:00.000Z".into(),
        ..claim(2, "bob")
    };
    let freed = claim(3, "ada").release(NOW);
    for claim in [claim(1, "ada"), longer, freed, claim(4, "eve")] {
        transaction.put_claim(&claim).unwrap();
    }
    let running = |now: &str, limit: u32| -> Vec<u32> {
        let claims = transaction.running_claims(now, limit).unwrap();
        claims.iter().map(|claim| claim.task.0).collect()
    };
    assert_eq!(running(NOW, 9), [2, 4, 1], "the ones that end last first");
    assert_eq!(running(NOW, 2), [2, 4]);
    assert_eq!(running(&claim(1, "ada").expires, 9), [2]);
}

pub(super) fn an_active_task_is_ready_again_unless_something_comes_before_it(
    store: &mut dyn Store,
) {
    let mut tasks: Vec<Task> = (1..=4).map(|number| task(number, "x")).collect();
    tasks[0].status = Status::Active;
    tasks[0].priority = Priority::High;
    tasks[1].status = Status::Active;
    tasks[1].depends = vec![TaskId(1)];
    tasks[2].status = Status::Review;
    put(store, &tasks);
    let transaction = store.read().unwrap();
    let found = transaction.active_ready(TaskId(1)).unwrap().unwrap();
    let expected = (TaskId(1), Status::Active, Priority::High, 1);
    assert_eq!(
        (
            found.task.id,
            found.task.status,
            found.task.priority,
            found.below
        ),
        expected
    );
    for other in [2, 3, 4, 5] {
        assert_eq!(transaction.active_ready(TaskId(other)).unwrap(), None);
    }
}

fn session(number: u32) -> Session {
    Session {
        id: SessionId(number),
        name: "one".into(),
        status: SessionStatus::Open,
        scope: None,
        focus: None,
        holder: "ada".into(),
        notes: Vec::new(),
        started_at: NOW.into(),
        ended_at: None,
    }
}

pub(super) fn a_session_is_read_as_it_was_written(store: &mut dyn Store) {
    put(store, &[task(1, "a")]);
    let mut first = session(1);
    (first.scope, first.focus) = (Some(TaskId(1)), Some(TaskId(1)));
    let mut transaction = store.write(&stamp()).unwrap();
    assert_eq!(transaction.next_session().unwrap(), SessionId(1));
    transaction.put_session(&first).unwrap();
    assert_eq!(transaction.next_session().unwrap(), SessionId(2));
    transaction.put_session(&session(2)).unwrap();
    first.status = SessionStatus::Ended;
    first.ended_at = Some(NOW.into());
    first.notes.push(Note {
        at: NOW.into(),
        by: "ada".into(),
        text: "a\n\"b\"".into(),
    });
    transaction.put_session(&first).unwrap();
    transaction.commit().unwrap();
    let transaction = store.read().unwrap();
    let read = |id| transaction.session(SessionId(id)).unwrap();
    assert_eq!((read(1), read(3)), (Some(first.clone()), None));
    let open = transaction.sessions(Some(SessionStatus::Open)).unwrap();
    assert_eq!(open, [session(2)]);
    let all = transaction.sessions(None).unwrap();
    assert_eq!(all, [first, session(2)]);
}

pub(super) fn phases_have_an_order_and_counts(store: &mut dyn Store) {
    let mut tasks: Vec<Task> = (1..=4).map(|number| task(number, "x")).collect();
    for task in &mut tasks[1..] {
        task.parent = Some(TaskId(1));
        task.phase = Some("build".into());
    }
    tasks[3].status = Status::Done;
    put(store, &tasks);
    let mut build = Phase::new("build", 2);
    let (design, also) = (Phase::new("design", 1), Phase::new("also", 2));
    let mut transaction = store.write(&stamp()).unwrap();
    for phase in [&build, &design, &also] {
        transaction.put_phase(phase).unwrap();
    }
    build.move_to(PhaseStatus::Active, NOW);
    transaction.put_phase(&build).unwrap();
    transaction.commit().unwrap();
    let transaction = store.read().unwrap();
    assert_eq!(transaction.phases().unwrap(), [design, also, build]);
    let counted = Counts::from([(Status::Pending, 2), (Status::Done, 1)]);
    let phases = transaction.phase_counts().unwrap();
    assert_eq!(phases, [("build".to_string(), counted.clone())].into());
    assert_eq!(transaction.counts(Some(TaskId(1))).unwrap(), counted);
    let all = Counts::from([(Status::Pending, 3), (Status::Done, 1)]);
    assert_eq!(transaction.counts(None).unwrap(), all);
    assert_eq!(transaction.counts(Some(TaskId(4))).unwrap(), Counts::new());
}
