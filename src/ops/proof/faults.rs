//! The gates and criteria that completing a task still waits for, and the commands that resolve them.

use super::standing::{CriterionStanding, CriterionState, TaskGates};
use crate::error::{Code, Error, quote_all};
use crate::gate::{
    Cause, Criterion, Evidence, Gate, Proof, Record, find_shell_sign, for_shells, or_look,
};
use crate::ops::trust::{Item, Trust};

/// Options of `cleo verify` and `cleo update` that run commands, or have them trusted when they are pasted.
const RUNNING: [&str; 4] = [" --run", " --refresh", " --only", " --acceptance"];

/// Something that speaks against completing a task.
pub(super) struct Lack {
    pub(super) error: Error,
    /// Whether commands that are trusted have to run for it.
    pub(super) needs_commands: bool,
}

impl TaskGates {
    /// Lists everything that completing the task waits for: open gates, stale evidence, and criteria whose command has
    /// not shown that they hold. `now` are the criteria that the task has now, where a run keeps others.
    pub(super) fn list_faults(&self, now: &[String], trust: &Trust) -> Vec<Lack> {
        let open = self.find_open().map(|error| Lack {
            error,
            needs_commands: false,
        });
        let faults = [open, self.find_stale(trust), self.find_unproven(now)];
        let mut faults = Vec::from_iter(faults.into_iter().flatten());
        let criteria = self.criteria.iter().map(|one| one.line.clone());
        let mut items = Item::criteria(self.task_id, &Vec::from_iter(criteria));
        items.extend(self.gates.keys().flat_map(|gate| self.commands(*gate)));
        if !faults.is_empty() && !items.iter().all(|item| trust.is_trusted(item)) {
            faults.iter_mut().for_each(propose_trust);
        }
        faults
    }

    fn find_open(&self) -> Option<Error> {
        let id = self.task_id;
        let has_passed = |gate: &Gate| self.gates.get(gate).is_some_and(|record| record.passed);
        let open = self.required.iter().filter(|gate| !has_passed(gate));
        let names: Vec<&str> = open.clone().map(|gate| gate.word()).collect();
        if names.is_empty() || self.states.is_none() {
            return None;
        }
        let failed = describe_failures(open.filter_map(|gate| self.gates.get(gate)));
        let message = format!(
            "{id} needs gates that are open: {}{failed}",
            names.join(", ")
        );
        let error = or_look(&id.to_string(), Error::new(Code::GateOpen, message));
        if self.names_gates || self.gates.is_empty() {
            return Some(error);
        }
        let set = self.gates.keys();
        let own: Vec<String> = set.map(|gate| format!("--require-gate {gate}")).collect();
        let command = format!("cleo update {id} {}", own.join(" "));
        Some(error.or(
            "need only those that were set, and drop the others",
            command,
        ))
    }

    /// Finds what is stale. A criterion that somebody accepted counts like one that a command proved: otherwise files
    /// could change under an acceptance without a new check.
    fn find_stale(&self, trust: &Trust) -> Option<Lack> {
        let id = self.task_id;
        let (mut names, mut causes, mut is_renewable) = (Vec::new(), Vec::new(), false);
        for (gate, cause) in &self.causes {
            let Some(record) = self
                .gates
                .get(gate)
                .filter(|_| self.required.contains(gate))
            else {
                continue;
            };
            causes.push(*cause);
            let commands = record.evidence.iter().filter_map(|one| match &one.proof {
                Proof::Command { command, .. } => Some(quote_all(command)),
                _ => None,
            });
            let commands: Vec<String> = commands.collect();
            names.push(match commands.is_empty() {
                true => gate.word().to_string(),
                false => format!("{gate} (`{}`)", commands.join("`, `")),
            });
            is_renewable |= record.evidence.iter().any(Evidence::is_proof);
        }
        let criteria = self.criteria.iter();
        for (one, cause) in criteria.filter_map(|one| Some((one, one.cause?))) {
            causes.push(cause);
            names.push(match &one.command {
                Some(words) => format!("criterion {} (`{}`)", one.number, quote_all(words)),
                None => format!("criterion {}", one.number),
            });
            is_renewable |= one.command.is_some();
        }
        let named = names.iter().zip(&causes);
        let named = named.map(|(name, cause)| format!("{name}, because {}", cause.describe()));
        let mut message = format!("{id} has stale proof: {}", Vec::from_iter(named).join("; "));
        let mut fix = match is_renewable {
            true => format!("cleo verify {id} --refresh"),
            false => format!("cleo verify {id}"),
        };
        if causes.contains(&Cause::Foreign)
            && let Some(unusable) = trust.load_key().err()
        {
            message += &format!("; {}", unusable.message);
            is_renewable &= unusable.fix.is_none();
            fix = unusable.fix.unwrap_or(fix);
        }
        (!names.is_empty()).then(|| Lack {
            error: Error::new(Code::EvidenceStale, message).fix(fix),
            needs_commands: is_renewable,
        })
    }

    /// Finds criteria with a command that failed, or never ran.
    fn find_unproven(&self, now: &[String]) -> Option<Lack> {
        let id = self.task_id;
        let is_open = |one: &&CriterionStanding| {
            one.command.is_some()
                && !matches!(one.state, CriterionState::Proven | CriterionState::Stale)
        };
        let (mut names, mut are_current) = (Vec::new(), true);
        for one in self.criteria.iter().filter(is_open) {
            let why = one.find_shell_syntax().map(|why| format!("; {why}"));
            let why = why.unwrap_or_default();
            let line = one.command.as_deref().map(quote_all).unwrap_or_default();
            let is_current = now.contains(&one.line);
            names.push(match is_current {
                true => format!("{} (`{line}`{why})", one.number),
                false => format!("`{line}`{why}, from the start of the run"),
            });
            are_current &= is_current;
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
        message += &describe_failures(self.list_criteria_that_ran());
        (!names.is_empty()).then(|| Lack {
            error: Error::new(Code::CriterionOpen, message).fix(fix),
            needs_commands: true,
        })
    }

    fn list_criteria_that_ran(&self) -> impl Iterator<Item = &Record> {
        let criteria = self.criteria.iter();
        let criteria = criteria.filter(|one| one.find_shell_syntax().is_none());
        criteria.filter_map(|one| one.record.as_ref())
    }

    /// Tells how the commands of failed gates and criteria ended.
    pub(crate) fn describe_failures(&self) -> String {
        describe_failures(self.gates.values().chain(self.list_criteria_that_ran()))
    }
}

/// Tells how the commands of failed records ended, with the last lines that each wrote: indented lines.
fn describe_failures<'a>(records: impl Iterator<Item = &'a Record>) -> String {
    let evidence = records.flat_map(|record| &record.evidence);
    let failed = evidence.filter_map(|one| match &one.proof {
        Proof::Command { command, .. } => {
            let how = one.proof.describe_failure()?;
            Some(format!("\n  `{}` {how}", quote_all(command)))
        }
        _ => None,
    });
    failed.collect()
}

/// Has the user look at what would run, in the place of commands that run it.
fn propose_trust(lack: &mut Lack) {
    let runs = |command: &str| RUNNING.iter().any(|option| command.contains(option));
    let error = &mut lack.error;
    error.alternatives.retain(|other| !runs(&other.command));
    if error.fix.as_deref().is_some_and(runs) {
        error.fix = Some("cleo trust".to_string());
        lack.needs_commands = false;
    }
}

impl CriterionStanding {
    /// Explains that its command needs a shell and would do only a part of what it says; none for other commands.
    pub(super) fn find_shell_syntax(&self) -> Option<String> {
        let sign = Criterion::read(&self.line).line.and_then(find_shell_sign)?;
        Some(format!("it is run without a shell: {}", for_shells(sign)))
    }
}
