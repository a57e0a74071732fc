//! Schedules the steps of a graph: a step can start once everything that it waits for is done. Pure.

use std::collections::BTreeSet;

use super::StepState;

#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    states: Vec<StepState>,
    /// How many steps each waits for.
    waits: Vec<usize>,
    /// The steps that wait for each.
    unlocks: Vec<Vec<usize>>,
    ready: BTreeSet<usize>,
}

impl Schedule {
    /// Makes a schedule; `needs` has the dependencies of each step by index. Steps that can start are ordered
    /// by index.
    pub(crate) fn new(needs: &[Vec<usize>]) -> Schedule {
        let mut unlocks = vec![Vec::new(); needs.len()];
        let needs: Vec<BTreeSet<usize>> = needs
            .iter()
            .map(|one| one.iter().copied().collect())
            .collect();
        for (step, needs) in needs.iter().enumerate() {
            needs.iter().for_each(|need| unlocks[*need].push(step));
        }
        let waits: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
        let ready = (0..waits.len()).filter(|step| waits[*step] == 0).collect();
        Schedule {
            states: vec![StepState::Waiting; waits.len()],
            waits,
            unlocks,
            ready,
        }
    }

    /// Takes the next step that can begin; from now on it is running.
    pub(crate) fn pop_ready(&mut self) -> Option<usize> {
        let step = self.ready.pop_first()?;
        self.states[step] = StepState::Running;
        Some(step)
    }

    pub(crate) fn requeue(&mut self, step: usize) {
        self.states[step] = StepState::Waiting;
        self.ready.insert(step);
    }

    /// Notes that a step is done, begun or not; what waited for it alone can begin.
    pub(crate) fn finish(&mut self, step: usize) {
        self.ready.remove(&step);
        self.states[step] = StepState::Done;
        for later in self.unlocks[step].clone() {
            self.waits[later] -= 1;
            if self.waits[later] == 0 && self.states[later] == StepState::Waiting {
                self.ready.insert(later);
            }
        }
    }

    /// Notes that a step failed, and returns the steps that never begin now, in their order.
    pub(crate) fn fail(&mut self, step: usize) -> Vec<usize> {
        self.ready.remove(&step);
        self.states[step] = StepState::Failed;
        let mut skipped = BTreeSet::new();
        let mut next = vec![step];
        while let Some(step) = next.pop() {
            for later in &self.unlocks[step] {
                if self.states[*later] == StepState::Waiting {
                    self.states[*later] = StepState::Skipped;
                    skipped.insert(*later);
                    next.push(*later);
                }
            }
        }
        skipped.into_iter().collect()
    }

    pub(crate) fn state(&self, step: usize) -> StepState {
        self.states[step]
    }

    pub(crate) fn running(&self) -> usize {
        let running = self
            .states
            .iter()
            .filter(|state| **state == StepState::Running);
        running.count()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.ready.is_empty() && self.running() == 0
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
        assert!(!schedule.is_over());
        schedule.finish(3);
        assert!(schedule.is_over());
    }

    #[test]
    fn dependents_of_failed_step_are_skipped() {
        let mut schedule = diamond();
        schedule.pop_ready();
        schedule.finish(0);
        schedule.pop_ready();
        assert_eq!(schedule.fail(1), [3]);
        assert_eq!(schedule.state(3), StepState::Skipped);
        assert_eq!(schedule.pop_ready(), Some(2));
        schedule.finish(2);
        assert!(schedule.is_over());
    }

    #[test]
    fn step_that_is_put_back_starts_again() {
        let mut schedule = diamond();
        schedule.pop_ready();
        schedule.requeue(0);
        assert_eq!((schedule.running(), schedule.pop_ready()), (0, Some(0)));
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
        assert!(schedule.is_over());
    }
}
