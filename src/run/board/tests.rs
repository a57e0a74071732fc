use super::*;

fn told(task: u32) -> Told {
    Told::of(TaskId(task))
}

fn board() -> Board {
    let planned = |id| Planned {
        task_id: TaskId(id),
        title: format!("Task {id}"),
        ..Planned::default()
    };
    let mut board = Board::default();
    let tasks = vec![planned(1), planned(2)];
    let started = Told {
        tasks,
        ..Told::default()
    };
    board.take(kind::RUN_STARTED, "t0", &started);
    board
}

#[test]
fn a_worktree_that_is_kept_is_told_beside_the_reason_of_the_failure() {
    let mut board = board();
    let failed = Told {
        outcome: Some(Outcome::AgentError),
        reason: Some("it crashed".into()),
        ..told(1)
    };
    board.take(kind::TASK_FAILED, "t1", &failed);
    let kept = Told {
        worktree: Some("/w/T1-1".into()),
        reason: Some("no commit".into()),
        ..told(1)
    };
    board.take(kind::TASK_KEPT, "t2", &kept);
    let task = &board.tasks()[0];
    let reason = "it crashed; its worktree is kept: /w/T1-1";
    assert_eq!(task.reason.as_deref(), Some(reason));
    assert_eq!(task.missing, ["no commit"]);
    board.take(kind::TASK_COMPLETED, "t3", &told(1));
    let task = &board.tasks()[0];
    assert!(task.missing.is_empty());
    assert_eq!(task.warnings, ["no commit"], "they stay");
    assert_eq!(task.worktree.as_deref(), Some("/w/T1-1"));
}

#[test]
fn a_branch_that_is_kept_is_told_beside_the_reason_of_the_failure() {
    let mut board = board();
    let failed = Told {
        reason: Some("it was given up".into()),
        ..told(1)
    };
    board.take(kind::TASK_FAILED, "t1", &failed);
    let kept = Told {
        branch: Some("cleo/run_1/T1-1".into()),
        ..told(1)
    };
    board.take(kind::TASK_KEPT, "t2", &kept);
    let task = &board.tasks()[0];
    let reason = "it was given up; its work is kept on the branch cleo/run_1/T1-1";
    assert_eq!(task.reason.as_deref(), Some(reason));
    assert_eq!(task.branch.as_deref(), Some("cleo/run_1/T1-1"));
}

#[test]
fn where_work_is_kept_is_told_once_and_as_it_stands() {
    let mut board = board();
    let failed = Told {
        reason: Some("it crashed".into()),
        ..told(1)
    };
    board.take(kind::TASK_FAILED, "t1", &failed);
    let kept = |worktree: Option<&str>, branch: &str| Told {
        worktree: worktree.map(str::to_string),
        branch: Some(branch.to_string()),
        reason: Some("no commit".into()),
        ..told(1)
    };
    for _ in 0..2 {
        board.take(kind::TASK_KEPT, "t2", &kept(Some("/w/T1-1"), "b/T1-1"));
        let task = &board.tasks()[0];
        let reason = "it crashed; its worktree is kept: /w/T1-1";
        assert_eq!(task.reason.as_deref(), Some(reason));
        assert_eq!((task.missing.len(), task.warnings.len()), (1, 1));
    }
    let mut reason = "it crashed".to_string();
    for branch in ["b/T1-1", "b/T1-2"] {
        board.take(kind::TASK_KEPT, "t3", &kept(None, branch));
        reason += &format!("; its work is kept on the branch {branch}");
        assert_eq!(board.tasks()[0].reason.as_ref(), Some(&reason));
    }
}

#[test]
fn a_task_adds_up_what_its_tries_took() {
    let mut board = board();
    for attempt in [1, 2] {
        let started = Told {
            attempt: Some(attempt),
            epoch: Some(3),
            ..told(1)
        };
        board.take(kind::TASK_STARTED, "t1", &started);
        let ended = Told {
            duration_ms: Some(5),
            cost: Some(0.25),
            ..told(1)
        };
        board.take(kind::AGENT_ENDED, "t2", &ended);
    }
    board.take(kind::TASK_COMPLETED, "t3", &told(1));
    let task = board.task(TaskId(1)).unwrap();
    assert_eq!((task.attempts, task.duration_ms), (2, 10));
    assert_eq!((task.cost, task.outcome), (Some(0.5), Some(Outcome::Ok)));
    assert_eq!(task.started_at.as_deref(), Some("t1"));
    let summary = Summary::of(&board);
    assert_eq!((summary.done, summary.open), (1, 1));
}

#[test]
fn what_was_cancelled_is_counted_apart_from_what_failed() {
    let mut board = board();
    for (task, outcome) in [(1, Outcome::Cancelled), (2, Outcome::AgentError)] {
        let failed = Told {
            outcome: Some(outcome),
            ..told(task)
        };
        board.take(kind::TASK_FAILED, "t1", &failed);
    }
    let expected = Summary {
        total: 2,
        failed: 1,
        cancelled: 1,
        ..Summary::default()
    };
    assert_eq!(Summary::of(&board), expected);
}

#[test]
fn what_a_conversation_came_to_is_known_until_a_new_one_begins() {
    let mut board = board();
    let costs = [(None, 0.1), (Some(true), 0.2), (None, 0.5)];
    let mut conversed = Vec::new();
    for (resumes, cost) in costs {
        let started = Told { resumes, ..told(1) };
        board.take(kind::TASK_STARTED, "t1", &started);
        let ended = Told {
            cost: Some(cost),
            ..told(1)
        };
        board.take(kind::AGENT_ENDED, "t2", &ended);
        board.take(kind::RUN_RESUMED, "t3", &Told::default());
        conversed.push(board.tasks()[0].conversed.cost);
    }
    assert_eq!(conversed, [Some(0.1), Some(0.3), Some(0.5)]);
    assert_eq!(board.tasks()[0].cost, Some(0.8));
}

#[test]
fn a_conversation_is_gone_on_with_unless_it_is_not_there() {
    for (resumes, outcome, left) in [
        (None, Outcome::AgentError, Some("s1")),
        (None, Outcome::RateLimited, Some("s1")),
        (Some(false), Outcome::AgentError, None),
    ] {
        let mut board = board();
        let conversation = Told {
            conversation: Some("s1".into()),
            ..told(1)
        };
        board.take(kind::AGENT_CONVERSATION, "t1", &conversation);
        let ended = Told {
            resumes,
            outcome: Some(outcome),
            conversation: Some("s1".into()),
            ..told(1)
        };
        board.take(kind::AGENT_ENDED, "t2", &ended);
        assert_eq!(board.tasks()[0].conversation.as_deref(), left);
    }
}

#[test]
fn an_agent_whose_cleo_was_killed_worked_until_something_was_told_last() {
    let at = |second: u32| format!("2026-01-26T10:00:{second:02}.000Z");
    let mut board = board();
    board.take(kind::TASK_STARTED, &at(1), &told(1));
    board.take(kind::AGENT_STARTED, &at(2), &told(1));
    board.take(kind::AGENT_DOING, &at(5), &told(1));
    board.take(kind::RUN_CANCEL, &at(30), &Told::default());
    board.take(kind::RUN_LEFT, &at(40), &Told::default());
    board.take(kind::RUN_RESUMED, &at(50), &Told::default());
    assert_eq!(board.tasks()[0].duration_ms, 3_000);
}

#[test]
fn going_on_takes_up_what_came_to_no_end() {
    let mut board = board();
    board.take(kind::TASK_STARTED, "t1", &told(1));
    let failed = Told {
        outcome: Some(Outcome::AgentError),
        ..told(2)
    };
    board.take(kind::TASK_FAILED, "t2", &failed);
    board.take(kind::RUN_RESUMED, "t3", &Told::default());
    let states = board.tasks().iter().map(|task| task.state);
    let states: Vec<_> = states.collect();
    assert_eq!(states, [TaskState::Waiting, TaskState::Failed]);
}

#[test]
fn what_was_under_way_and_what_its_agent_said_last_are_known_when_a_run_goes_on() {
    let mut board = board();
    board.take(kind::TASK_STARTED, "t1", &told(1));
    let ended = Told {
        outcome: Some(Outcome::Ok),
        message: Some("I am done.".into()),
        ..told(1)
    };
    board.take(kind::AGENT_ENDED, "t2", &ended);
    board.take(kind::TASK_STARTED, "t3", &told(1));
    let cut_off = Told {
        outcome: Some(Outcome::Cancelled),
        ..told(1)
    };
    board.take(kind::AGENT_ENDED, "t3", &cut_off);
    for _ in 0..2 {
        board.take(kind::RUN_RESUMED, "t4", &Told::default());
        let task = &board.tasks()[0];
        assert_eq!((task.is_held, task.ended), (true, Some(Outcome::Ok)));
        assert_eq!(task.message.as_deref(), Some("I am done."));
    }
    board.take(kind::TASK_FAILED, "t5", &told(1));
    assert!(!board.tasks()[0].is_held);
}
