//! Runs work in parallel on a bounded number of threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{iter, thread};

/// Does the same with each thing, at most `jobs` at a time, and returns the results in their order.
pub(crate) fn map_parallel<T: Sync, R: Send>(
    things: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let places = iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let things = places.map_while(|at| Some((at, things.get(at)?)));
        Vec::from_iter(things.map(|(at, thing)| (at, work(thing))))
    };
    let mut done = thread::scope(|scope| {
        let threads = (0..jobs.min(things.len())).map(|_| scope.spawn(take));
        let threads = Vec::from_iter(threads).into_iter();
        Vec::from_iter(
            threads.flat_map(|one| one.join().unwrap_or_else(|cause| resume_unwind(cause))),
        )
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_order_of_items() {
        let things: Vec<u32> = (0..100).collect();
        assert_eq!(
            map_parallel(&things, 7, |n| n * 2),
            things.iter().map(|n| n * 2).collect::<Vec<_>>()
        );
        assert!(map_parallel::<u32, u32>(&[], 7, |n| *n).is_empty());
    }
}
