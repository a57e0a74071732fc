//! Runs work in parallel on a bounded number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

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
