//! Open stores, lent to one call at a time.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Most that are kept while nobody uses them.
const IDLE_MAX: usize = 16;

/// Things that are costly to make and can be used again.
#[derive(Debug)]
pub(super) struct Pool<T> {
    idle: Mutex<Vec<T>>,
}

/// A thing that was lent; it goes back when it is dropped.
pub(super) struct Lent<'a, T> {
    pool: &'a Pool<T>,
    thing: Option<T>,
}

impl<T> Pool<T> {
    /// Makes an empty one.
    pub(super) fn new() -> Pool<T> {
        Pool {
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Lends one; when there is none, `make` makes it.
    pub(super) fn lend<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<Lent<'_, T>, E> {
        let idle = self.idle().pop();
        let thing = idle.map_or_else(make, Ok)?;
        Ok(Lent {
            pool: self,
            thing: Some(thing),
        })
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<T>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Deref for Lent<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing
            .as_ref()
            .expect("it is there until it is dropped")
    }
}

impl<T> DerefMut for Lent<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.thing
            .as_mut()
            .expect("it is there until it is dropped")
    }
}

impl<T> Drop for Lent<'_, T> {
    fn drop(&mut self) {
        let mut idle = self.pool.idle();
        if idle.len() < IDLE_MAX {
            idle.extend(self.thing.take());
        }
    }
}
