//! Which agents have a word. A word of few agents is a sorted list of their slots; one of many has
//! a byte for each slot, so that eight agents are counted by one addition.

/// A word is of many when more than one in so many agents has it.
const DENSITY: usize = 8;

/// Below so many agents a list is always short enough.
const SMALL: usize = 1024;

/// The agents of a word, by slot.
#[derive(Clone, Debug)]
pub(super) enum Posting {
    /// Their slots, ascending.
    Few(Vec<u32>),
    /// A byte for each slot, 1 where the agent has the word, and how many have.
    Many(Vec<u64>, usize),
}

impl Default for Posting {
    fn default() -> Posting {
        Posting::Few(Vec::new())
    }
}

impl Posting {
    pub(super) fn len(&self) -> usize {
        match self {
            Posting::Few(slots) => slots.len(),
            Posting::Many(_, count) => *count,
        }
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        match self {
            Posting::Few(slots) => slots.binary_search(&slot).is_ok(),
            Posting::Many(lanes, _) => {
                let (lane, bit) = place(slot);
                lanes.get(lane).is_some_and(|lane| lane & bit != 0)
            }
        }
    }

    pub(super) fn insert(&mut self, slot: u32) {
        match self {
            // Slots mostly come in ascending order.
            Posting::Few(slots) if slots.last().is_none_or(|last| *last < slot) => slots.push(slot),
            Posting::Few(slots) => {
                if let Err(at) = slots.binary_search(&slot) {
                    slots.insert(at, slot);
                }
            }
            Posting::Many(lanes, count) => {
                let (lane, bit) = place(slot);
                if lanes.len() <= lane {
                    lanes.resize(lane + 1, 0);
                }
                *count += usize::from(lanes[lane] & bit == 0);
                lanes[lane] |= bit;
            }
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        if !self.contains(slot) {
            return;
        }
        match self {
            Posting::Few(slots) => slots.retain(|other| *other != slot),
            Posting::Many(lanes, count) => {
                let (lane, bit) = place(slot);
                lanes[lane] &= !bit;
                *count -= 1;
            }
        }
    }

    /// Calls `with` for each slot.
    pub(super) fn each(&self, mut with: impl FnMut(u32)) {
        match self {
            Posting::Few(slots) => slots.iter().for_each(|slot| with(*slot)),
            Posting::Many(lanes, _) => {
                let slots = (0..).zip(lanes.iter().flat_map(|lane| lane.to_le_bytes()));
                slots
                    .filter(|(_, byte)| *byte != 0)
                    .for_each(|(slot, _)| with(slot));
            }
        }
    }

    /// Takes the form that suits an index of so many slots.
    pub(super) fn settle(&mut self, slots: usize) {
        let is_dense = slots >= SMALL && self.len() > slots / DENSITY;
        if is_dense == matches!(self, Posting::Many(..)) {
            return;
        }
        let mut other = match is_dense {
            true => Posting::Many(vec![0; slots.div_ceil(8)], 0),
            false => Posting::default(),
        };
        self.each(|slot| other.insert(slot));
        *self = other;
    }
}

/// Says in which lane a slot is counted, and by which bit.
fn place(slot: u32) -> (usize, u64) {
    (slot as usize / 8, 1 << (8 * (slot % 8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_hold_the_same_agents() {
        let mut posting = Posting::default();
        for slot in [5, 3, 4_000, 3, 9] {
            posting.insert(slot);
        }
        (1_000..1_900).for_each(|slot| posting.insert(slot));
        let slots = |posting: &Posting| {
            let mut found = Vec::new();
            posting.each(|slot| found.push(slot));
            found
        };
        let few = slots(&posting);
        posting.settle(4_001);
        assert!(matches!(posting, Posting::Many(..)));
        assert_eq!((slots(&posting), posting.len()), (few, 904));
        posting.insert(4_500);
        posting.insert(4_500);
        (1_000..1_900).for_each(|slot| posting.remove(slot));
        posting.remove(7);
        assert!(posting.contains(9) && !posting.contains(1_000) && !posting.contains(90_000));
        posting.settle(4_501);
        assert!(matches!(posting, Posting::Few(_)));
        assert_eq!(slots(&posting), [3, 5, 9, 4_000, 4_500]);
    }
}
