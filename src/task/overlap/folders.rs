//! Patterns by folder, so that only those that lie on one way are compared.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Places of patterns by folder.
#[derive(Default)]
pub(super) struct Folders {
    places: HashMap<String, Vec<usize>, RandomState>,
    lengths: Lengths,
}

impl Folders {
    pub(super) fn add(&mut self, folder: &str, at: usize) {
        self.lengths.add(folder.len());
        match self.places.get_mut(folder) {
            Some(places) => places.push(at),
            None => drop(self.places.insert(folder.to_string(), vec![at])),
        }
    }

    pub(super) fn get(&self, folder: &str) -> Option<&Vec<usize>> {
        // Where no folder is as long, there is nothing to look up.
        let is_known = self.lengths.may_have(folder.len());
        is_known.then(|| self.places.get(folder)).flatten()
    }
}

/// Which lengths there are; all from 127 on count as one.
#[derive(Clone, Copy, Default)]
pub(super) struct Lengths(u128);

impl Lengths {
    pub(super) fn add(&mut self, length: usize) {
        self.0 |= 1 << length.min(127);
    }

    pub(super) fn may_have(self, length: usize) -> bool {
        self.0 & (1 << length.min(127)) != 0
    }
}
