//! Limits how much of something is used at a time, in all and by one caller or address, so that one cannot use it up.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Number of remembered users at which those that hold no place are forgotten.
const REMEMBERED_MAX: usize = 1_024;

pub(super) struct Places<K> {
    most: usize,
    share: usize,
    all: Arc<Semaphore>,
    shares: Mutex<HashMap<K, Arc<Semaphore>>>,
}

/// A place in use, until it is dropped: one of all, and one of the share of its user.
pub(super) struct Place {
    _one_of_all: OwnedSemaphorePermit,
    _one_of_share: OwnedSemaphorePermit,
}

impl<K: Eq + Hash> Places<K> {
    /// Allows `most` in all, and `share` of them to one user.
    pub(super) fn new(most: usize, share: usize) -> Places<K> {
        Places {
            most,
            share,
            all: Arc::new(Semaphore::new(most)),
            shares: Mutex::default(),
        }
    }

    /// Takes a place, unless all are in use, or all that the user may have.
    pub(super) fn try_take(&self, user: K) -> Option<Place> {
        let share = self.share_of(user).try_acquire_owned().ok()?;
        let one = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(Place {
            _one_of_all: one,
            _one_of_share: share,
        })
    }

    /// Waits for a place, behind the others of the same user. `None` once nothing is given any more.
    pub(super) async fn take(&self, user: K) -> Option<Place> {
        let share = self.share_of(user).acquire_owned().await.ok()?;
        let one = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Place {
            _one_of_all: one,
            _one_of_share: share,
        })
    }

    /// Waits until a place is free, and leaves it free.
    pub(super) async fn wait_until_free(&self) {
        drop(self.all.acquire().await);
    }

    pub(super) fn in_use(&self) -> usize {
        self.most - self.all.available_permits()
    }

    /// Gives no more places.
    pub(super) fn close(&self) {
        self.all.close();
    }

    fn share_of(&self, user: K) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if shares.len() >= REMEMBERED_MAX {
            // Each place in use, and each wait for one, holds its semaphore.
            shares.retain(|_, share| Arc::strong_count(share) > 1);
        }
        let new = || Arc::new(Semaphore::new(self.share));
        Arc::clone(shares.entry(user).or_insert_with(new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_user_leaves_places_to_others() {
        let places = Places::new(3, 2);
        let held = [places.try_take("ann"), places.try_take("ann")];
        assert!(held.iter().all(Option::is_some));
        assert!(places.try_take("ann").is_none());
        let other = places.try_take("bob");
        assert!(other.is_some() && places.in_use() == 3);
        assert!(places.try_take("eve").is_none());
        drop(held);
        assert!(places.try_take("ann").is_some());
    }

    #[test]
    fn users_without_places_are_forgotten() {
        let places = Places::new(2 * REMEMBERED_MAX, 1);
        let held = places.try_take(0);
        for user in 1..=2 * REMEMBERED_MAX {
            assert!(places.try_take(user).is_some());
        }
        assert!(places.try_take(0).is_none());
        assert!(places.shares.lock().unwrap().len() <= REMEMBERED_MAX);
        drop(held);
    }
}
