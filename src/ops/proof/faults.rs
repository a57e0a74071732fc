//! What completing a task still waits for of its gates and criteria, and the commands that bring it.

use super::evidence::command_line;
use super::standing::{CriterionStanding, CriterionState, TaskGates};
use crate::error::{Code, Error, quote_all};
use crate::gate::{Criterion, Evidence, Gate, find_shell_sign, for_shells, or_look};
use crate::id::TaskId;
use crate::ops::trust::{Item, Trust};

impl TaskGates {
    /// Names everything that completing the task waits for: gates that are open, evidence that is stale, and criteria
    /// whose command has not shown that they hold. `now` are the criteria that the task has now, where a run keeps
    /// others.
    pub(super) fn faults(&self, now: &[String], trust: &Trust) -> Vec<Error> {
        let faults = [self.open(), self.refuse_outdated(), self.unproven(now)];
        let faults = faults.into_iter().flatten();
        faults
            .map(|fault| self.through_trust(fault, trust))
            .collect()
    }

    /// Has the user look at what would run before a command that runs it is proposed, where not all of it is trusted.
    /// Records are only read where something is lacking.
    fn through_trust(&self, mut error: Error, trust: &Trust) -> Error {
        // A criterion that the user pastes would be trusted as what the user typed.
        let runs = |command: &str| {
            let options = [" --run", " --refresh", " --only", " --acceptance"];
            options.iter().any(|option| command.contains(option))
        };
        let proposes = error.fix.as_deref().is_some_and(runs);
        let others = error.alternatives.iter().any(|other| runs(&other.command));
        if !proposes && !others {
            return error;
        }
        let criteria = self.criteria.iter().map(|one| one.line.clone());
        let mut items = Item::criteria(self.task_id, &criteria.collect::<Vec<String>>());
        items.extend(self.gates.keys().flat_map(|gate| self.commands(*gate)));
        if items.iter().all(|item| trust.is_trusted(item)) {
            return error;
        }
        error.alternatives.retain(|other| !runs(&other.command));
        match proposes {
            true => error.fix("cleo trust"),
            false => error,
        }
    }

    fn open(&self) -> Option<Error> {
        let id = self.task_id;
        let has_passed = |gate: &Gate| self.gates.get(gate).is_some_and(|record| record.passed);
        let open = self.required.iter().filter(|gate| !has_passed(gate));
        let names: Vec<&str> = open.map(|gate| gate.word()).collect();
        if names.is_empty() || self.states.is_none() {
            return None;
        }
        let message = format!("{id} needs gates that are open: {}", names.join(", "));
        let mut error = or_look(&id.to_string(), Error::new(Code::GateOpen, message));
        if !self.names_gates && !self.gates.is_empty() {
            let set = self.gates.keys();
            let own: Vec<String> = set.map(|gate| format!("--require-gate {gate}")).collect();
            let command = format!("cleo update {id} {}", own.join(" "));
            error = error.or("if it needs only those that were set, say so", command);
        }
        Some(or_force(error, id))
    }

    /// A criterion that somebody's word once showed counts like one that a command did: otherwise files could change
    /// under an acceptance and nobody would look again.
    fn refuse_outdated(&self) -> Option<Error> {
        let id = self.task_id;
        let (mut names, mut is_renewable) = (Vec::new(), false);
        for gate in self
            .stale
            .iter()
            .filter(|gate| self.required.contains(gate))
        {
            let evidence = self
                .gates
                .get(gate)
                .map_or(&[][..], |record| &record.evidence);
            let commands: Vec<String> = evidence.iter().filter_map(command_line).collect();
            names.push(match commands.is_empty() {
                true => gate.word().to_string(),
                false => format!("{gate} (`{}`)", commands.join("`, `")),
            });
            is_renewable |= evidence.iter().any(Evidence::is_proof);
        }
        let criteria = self.criteria.iter();
        for one in criteria.filter(|one| one.state == CriterionState::Stale) {
            names.push(match &one.command {
                Some(words) => format!("criterion {} (`{}`)", one.number, quote_all(words)),
                None => format!("criterion {}", one.number),
            });
            is_renewable |= one.command.is_some();
        }
        if names.is_empty() {
            return None;
        }
        let message = format!(
            "files of {id} changed after it was verified, or it was verified in another worktree, so this is stale: {}",
            names.join(", ")
        );
        let fix = match is_renewable {
            true => format!("cleo verify {id} --refresh"),
            false => format!("cleo verify {id}"),
        };
        let error = Error::new(Code::EvidenceStale, message).fix(fix);
        Some(or_force(error, id))
    }

    /// Criteria with a command that failed, or was never run.
    fn unproven(&self, now: &[String]) -> Option<Error> {
        let id = self.task_id;
        let is_open = |one: &&CriterionStanding| {
            one.command.is_some()
                && !matches!(one.state, CriterionState::Proven | CriterionState::Stale)
        };
        let (mut names, mut are_current) = (Vec::new(), true);
        for one in self.criteria.iter().filter(is_open) {
            let why = one.half().map(|why| format!("; {why}")).unwrap_or_default();
            let line = one.command.as_deref().map(quote_all).unwrap_or_default();
            let is_current = now.contains(&one.line);
            names.push(match is_current {
                true => format!("{} (`{line}`{why})", one.number),
                false => format!("`{line}`{why}, from the start of the run"),
            });
            are_current &= is_current;
        }
        if names.is_empty() {
            return None;
        }
        let mut message = format!(
            "{id} has criteria that nothing has shown to hold: {}",
            names.join(", ")
        );
        let mut fix = format!("cleo verify {id} --run-all");
        if !are_current {
            message += &format!(
                "; criteria that were changed since count until the run ends: if you changed them, begin a new run \
                 (`cleo run {id}`)"
            );
            // An agent may have changed them, so the new run is not what is proposed.
            fix = format!("cleo log --task {id}");
        }
        let error = Error::new(Code::CriterionOpen, message).fix(fix);
        Some(or_force(error, id))
    }
}

fn or_force(error: Error, id: TaskId) -> Error {
    error.or(
        "complete it anyway, which is recorded",
        format!("cleo complete {id} --force"),
    )
}

impl CriterionStanding {
    /// Says why its command would do half of what it asks for; none where it does all of it.
    pub(super) fn half(&self) -> Option<String> {
        let sign = Criterion::read(&self.line).line.and_then(find_shell_sign)?;
        Some(format!("it is run without a shell: {}", for_shells(sign)))
    }
}
