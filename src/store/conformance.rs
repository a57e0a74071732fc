//! Rules for every store. Each backend is tested against all of them.

mod agents;
mod agreement;
mod chat;
mod graph;
mod log;
mod records;
mod search;
mod tasks;
mod work;

use std::collections::HashMap;

use super::{
    Archived, Filter, Link, OperationFilter, Recorded, Removed, SpawnRecord, Stamp, Store,
    TaskTally, Transaction,
};
use crate::claim::{Claim, Lease};
use crate::gate::Gates;
use crate::id::{self, TaskId};
use crate::task::{Note, Priority, Size, Status, Task};

type Rule = fn(&mut dyn Store);

pub(super) const RULES: &[Rule] = &[
    tasks::a_task_is_read_as_it_was_written,
    tasks::a_dropped_transaction_changes_nothing,
    tasks::ids_are_never_handed_out_twice,
    tasks::edges_are_read_from_both_ends,
    tasks::a_delete_takes_its_edges_along,
    search::filters_combine_and_count,
    search::due_tasks_are_found_and_tallied,
    search::words_are_found,
    search::words_are_found_by_who_writes_them,
    graph::nodes_go_to_any_depth,
    graph::what_is_ready_comes_in_order,
    graph::what_is_in_the_way_is_found,
    records::a_spawn_is_kept_once,
    records::a_link_is_new_once,
    records::gates_are_kept_whole,
    log::every_change_is_in_the_log,
    work::a_claim_is_kept_and_its_epoch_outlives_it,
    work::a_deleted_task_takes_its_claim_along,
    work::running_claims_are_told_from_those_that_are_over,
    work::an_active_task_is_ready_again_unless_something_comes_before_it,
    work::a_session_is_read_as_it_was_written,
    work::phases_have_an_order_and_counts,
    search::a_half_typed_word_is_completed_in_order,
    tasks::many_are_counted,
    log::what_happens_around_a_task_is_in_the_log,
    log::operations_are_read_newest_first,
    log::an_undo_holds_until_it_is_undone,
    log::a_deleted_task_comes_back_whole,
    tasks::lists_leave_archived_tasks_out,
    tasks::origins_are_found,
    tasks::ids_are_reserved,
    tasks::tasks_are_read_in_pieces,
    agents::an_agent_is_read_as_it_was_written,
    agents::agents_come_in_the_order_of_their_first_writing,
    agents::what_is_not_committed_is_not_there,
    agents::runtime_agents_are_counted,
    agents::each_change_of_an_agent_is_a_revision,
    chat::nothing_of_the_chat_is_there_at_first,
    chat::what_is_written_is_read_under_its_client_only,
    chat::components_come_in_their_order,
    chat::a_component_goes_with_what_guards_it,
    chat::answers_are_those_to_questions_of_the_type,
    chat::a_chat_is_remembered_under_its_conversation,
    agents::uses_of_agents_are_kept,
    agents::a_run_is_read_as_it_was_written,
    agents::every_kind_and_status_can_be_kept,
    agents::runs_come_newest_first_and_filters_count,
    agents::tallies_follow_every_change_of_a_run,
    agents::what_was_answered_in_the_place_of_an_agent_is_counted,
    agents::events_grow_and_are_read_from_any_cursor,
    agents::delegations_come_newest_first,
    agents::the_last_messages_come_in_the_order_in_which_they_were_said,
    agents::conversations_come_by_what_was_said_last,
];

const NOW: &str = "2026-01-26T09:00:00.000Z";

fn stamp() -> Stamp {
    Stamp {
        command: "test",
        at: NOW.to_string(),
        by: "tester".to_string(),
    }
}

pub(super) fn task(id: u32, title: &str) -> Task {
    Task {
        id: TaskId(id),
        uid: id::derive_uid(NOW, &[&id.to_string()]),
        title: title.to_string(),
        created_at: NOW.to_string(),
        updated_at: NOW.to_string(),
        ..Task::default()
    }
}

fn put(store: &mut dyn Store, tasks: &[Task]) {
    let mut transaction = store.write(&stamp()).unwrap();
    for task in tasks {
        let id = transaction.next_id().unwrap();
        assert_eq!(id, task.id, "the suite adds tasks in order");
        transaction.put(task).unwrap();
    }
    transaction.commit().unwrap();
}

fn ids(numbers: &[u32]) -> Vec<TaskId> {
    numbers.iter().map(|number| TaskId(*number)).collect()
}
