//! Schedules the steps of a graph: a step can start once everything that it waits for is done. Pure.

use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// How many steps each waits for; none of one that was begun, or never begins.
    waits: Vec<Option<usize>>,
    /// The steps that wait for each.
    unlocks: Vec<Vec<usize>>,
    ready: BTreeSet<usize>,
}

impl Schedule {
    /// Makes a schedule; `needs` has the dependencies of each step by index. Steps that can start are ordered
    /// by index.
    pub(crate) fn new(needs: &[Vec<usize>]) -> Schedule {
        let (mut unlocks, mut waits) = (vec![Vec::new(); needs.len()], Vec::new());
        for (step, needs) in needs.iter().enumerate() {
            let needs: BTreeSet<usize> = needs.iter().copied().collect();
            waits.push(Some(needs.len()));
            needs.iter().for_each(|need| unlocks[*need].push(step));
        }
        let is_ready = |step: &usize| waits[*step] == Some(0);
        Schedule {
            ready: (0..waits.len()).filter(is_ready).collect(),
            waits,
            unlocks,
        }
    }

    /// Takes the next step that can begin.
    pub(crate) fn pop_ready(&mut self) -> Option<usize> {
        let step = self.ready.pop_first()?;
        self.waits[step] = None;
        Some(step)
    }

    pub(crate) fn requeue(&mut self, step: usize) {
        self.waits[step] = Some(0);
        self.ready.insert(step);
    }

    /// Notes that a step is done, begun or not; what waited for it alone can begin.
    pub(crate) fn finish(&mut self, step: usize) {
        self.ready.remove(&step);
        self.waits[step] = None;
        for later in &self.unlocks[step] {
            if let Some(waits) = &mut self.waits[*later] {
                *waits -= 1;
                self.ready.extend((*waits == 0).then_some(*later));
            }
        }
    }

    /// Notes that a step failed, and returns the steps that never begin now, in their order.
    pub(crate) fn fail(&mut self, step: usize) -> Vec<usize> {
        self.ready.remove(&step);
        self.waits[step] = None;
        let (mut skipped, mut next) = (BTreeSet::new(), vec![step]);
        while let Some(step) = next.pop() {
            for later in &self.unlocks[step] {
                if self.waits[*later].take().is_some() {
                    skipped.insert(*later);
                    next.push(*later);
                }
            }
        }
        skipped.into_iter().collect()
    }

    /// Returns whether a step waits for others, or for its turn.
    pub(crate) fn is_waiting(&self, step: usize) -> bool {
        self.waits[step].is_some()
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diamond() -> Schedule {
        Schedule::new(&[vec![], vec![0], vec![0, 0], vec![1, 2]])
    }

    #[test]
    fn independent_steps_are_ready_together() {
        let mut schedule = diamond();
        assert_eq!(
            (schedule.pop_ready(), schedule.pop_ready()),
            (Some(0), None)
        );
        schedule.finish(0);
        assert_eq!(
            (schedule.pop_ready(), schedule.pop_ready()),
            (Some(1), Some(2))
        );
        schedule.finish(2);
        assert_eq!(schedule.pop_ready(), None);
        schedule.finish(1);
        assert_eq!(schedule.pop_ready(), Some(3));
        assert!(!schedule.has_ready());
    }

    #[test]
    fn dependents_of_failed_step_are_skipped() {
        let mut schedule = diamond();
        schedule.pop_ready();
        schedule.finish(0);
        schedule.pop_ready();
        assert_eq!(schedule.fail(1), [3]);
        assert!(!schedule.is_waiting(3));
        assert_eq!(schedule.pop_ready(), Some(2));
        schedule.finish(2);
        assert_eq!(schedule.pop_ready(), None);
    }

    #[test]
    fn step_that_is_put_back_starts_again() {
        let mut schedule = diamond();
        schedule.pop_ready();
        schedule.requeue(0);
        assert_eq!(
            (schedule.is_waiting(0), schedule.pop_ready()),
            (true, Some(0))
        );
    }

    #[test]
    fn finished_steps_are_not_started() {
        let mut schedule = diamond();
        [0, 1].into_iter().for_each(|step| schedule.finish(step));
        assert_eq!(
            (schedule.pop_ready(), schedule.pop_ready()),
            (Some(2), None)
        );
    }

    #[test]
    fn steps_in_cycle_never_start() {
        let mut schedule = Schedule::new(&[vec![1], vec![0]]);
        assert_eq!(schedule.pop_ready(), None);
    }
}
