//! Graphs that were just drawn, as they were sent: many look at the same one.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;

/// Most graphs that are kept.
const GRAPHS_MAX: usize = 16;
/// Most bytes that they may have together.
const BYTES_MAX: usize = 16 << 20;
/// How long one counts while nothing is written: claims that it shows end by themselves.
const FRESH: Duration = Duration::from_secs(1);

/// The last graphs, oldest first.
#[derive(Default)]
pub(in crate::http) struct Drawn(VecDeque<(String, Instant, Bytes)>);

impl Drawn {
    /// Finds a graph by its version and all that was asked for.
    pub(super) fn find(&self, key: &str, now: Instant) -> Option<Bytes> {
        let is_fresh = |at: &Instant| now.saturating_duration_since(*at) < FRESH;
        let found = self
            .0
            .iter()
            .find(|(there, at, _)| there == key && is_fresh(at));
        found.map(|(.., bytes)| bytes.clone())
    }

    /// Keeps a graph, and forgets the oldest when there are too many.
    pub(super) fn keep(&mut self, key: String, now: Instant, bytes: Bytes) {
        self.0.retain(|(there, ..)| *there != key);
        self.0.push_back((key, now, bytes));
        let bytes = |kept: &Self| kept.0.iter().map(|(.., bytes)| bytes.len()).sum::<usize>();
        while self.0.len() > GRAPHS_MAX || bytes(self) > BYTES_MAX {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_found_for_a_moment_and_the_oldest_makes_room() {
        let (mut drawn, now) = (Drawn::default(), Instant::now());
        let bytes = Bytes::from_static(b"{}");
        drawn.keep("a".into(), now, bytes.clone());
        assert_eq!(drawn.find("a", now), Some(bytes.clone()));
        assert_eq!(drawn.find("b", now), None);
        assert_eq!(drawn.find("a", now + FRESH), None);
        (0..GRAPHS_MAX).for_each(|number| drawn.keep(number.to_string(), now, bytes.clone()));
        assert_eq!(drawn.find("a", now), None);
        drawn.keep("large".into(), now, vec![0; BYTES_MAX].into());
        assert_eq!(drawn.find("1", now), None);
    }
}
