//! Lines that wait to be worked on. Those of one conversation are taken one after the other, in their order,
//! so that each turn is given the answers before it; others side by side.

use std::collections::{HashSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many lines wait for each that is worked on: enough to find those of other conversations.
const AHEAD: usize = 16;

pub(super) struct Waiting {
    /// Its number, from 1.
    pub(super) number: usize,
    /// What it holds; nothing of one that is too long.
    pub(super) bytes: Option<Vec<u8>>,
    /// The conversation that it belongs to.
    pub(super) conversation: Option<String>,
}

/// The lines, for who reads them and for who works on them.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    room: usize,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Waiting>,
    /// Conversations of which a line is worked on.
    busy: HashSet<String>,
    /// Whether no more lines come.
    is_ended: bool,
    /// Whether nobody takes lines any more.
    is_over: bool,
}

impl Queue {
    pub(super) fn new(jobs: usize) -> Queue {
        Queue {
            state: Mutex::default(),
            changed: Condvar::new(),
            room: jobs.saturating_mul(AHEAD),
        }
    }

    /// Adds a line once there is room; says whether anybody takes lines still.
    pub(super) fn push(&self, line: Waiting) -> bool {
        let mut state = self.state();
        while state.lines.len() >= self.room && !state.is_over {
            state = self.wait(state);
        }
        if !state.is_over {
            state.lines.push_back(line);
        }
        self.changed.notify_all();
        !state.is_over
    }

    /// Takes the first line whose conversation nobody works on; waits for one, and is nothing at the end.
    pub(super) fn take(&self) -> Option<Waiting> {
        let mut state = self.state();
        loop {
            if let Some(line) = state.take() {
                self.changed.notify_all();
                return Some(line);
            }
            if state.lines.is_empty() && (state.is_ended || state.is_over) {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Notes that a line of a conversation was worked on: its next one may be taken.
    pub(super) fn done(&self, conversation: Option<&str>) {
        if let Some(conversation) = conversation {
            self.state().busy.remove(conversation);
            self.changed.notify_all();
        }
    }

    pub(super) fn end(&self) {
        self.state().is_ended = true;
        self.changed.notify_all();
    }

    pub(super) fn stop(&self) {
        let mut state = self.state();
        state.is_over = true;
        state.lines.clear();
        self.changed.notify_all();
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().is_over
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> Option<Waiting> {
        let is_free = |line: &Waiting| {
            let conversation = line.conversation.as_ref();
            conversation.is_none_or(|conversation| !self.busy.contains(conversation))
        };
        let place = self.lines.iter().position(is_free)?;
        let line = self.lines.remove(place)?;
        self.busy.extend(line.conversation.clone());
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(conversations: &[Option<&str>]) -> Queue {
        let queue = Queue::new(conversations.len());
        for (number, conversation) in (1..).zip(conversations) {
            let conversation = conversation.map(str::to_string);
            let bytes = None;
            assert!(queue.push(Waiting {
                number,
                bytes,
                conversation,
            }));
        }
        queue.end();
        queue
    }

    fn number(queue: &Queue) -> Option<usize> {
        queue.take().map(|line| line.number)
    }

    #[test]
    fn lines_of_one_conversation_are_taken_one_after_the_other_and_others_beside_them() {
        let queue = queue(&[Some("a"), Some("a"), None, Some("b"), Some("a")]);
        assert_eq!([(); 3].map(|()| number(&queue)), [1, 3, 4].map(Some));
        queue.done(None);
        queue.done(Some("a"));
        assert_eq!(number(&queue), Some(2));
        queue.done(Some("a"));
        assert_eq!([number(&queue), number(&queue)], [Some(5), None]);
    }

    #[test]
    fn nothing_is_taken_or_added_once_nobody_listens() {
        let queue = queue(&[None, None]);
        queue.stop();
        assert_eq!(number(&queue), None);
        let line = Waiting {
            number: 3,
            bytes: None,
            conversation: None,
        };
        assert!(!queue.push(line) && queue.is_over());
    }
}
