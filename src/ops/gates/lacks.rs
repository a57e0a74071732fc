//! What completing a task still waits for, and the commands that bring it.

use super::standing::{CriterionStanding, CriterionState, TaskGates};
use super::take::command;
use crate::error::{Code, Error, quote_all};
use crate::gate::{Criterion, Evidence, Gate, Gates, for_shells, obeyed, or_look};
use crate::id::TaskId;
use crate::ops::trust::{Item, Trust};

/// Names everything that completing the task waits for: gates that are open, evidence that is
/// stale, and criteria whose command has not shown that they hold. `now` are the criteria that the task has
/// now, where a run keeps others.
pub(in crate::ops) fn lacks(
    gates: &Gates,
    standing: &TaskGates,
    now: &[String],
) -> Vec<(&'static str, Error)> {
    let mut lacks = Vec::new();
    lacks.extend(open(gates, standing).map(|error| ("GATES", error)));
    lacks.extend(stale(gates, standing).map(|error| ("EVIDENCE", error)));
    lacks.extend(unproven(standing, now).map(|error| ("CRITERIA", error)));
    lacks
}

/// Has the user look at what would run before a command that runs it is proposed, where not all of it is
/// trusted. Records are only read where something is lacking.
pub(in crate::ops) fn through_trust(
    mut error: Error,
    standing: &TaskGates,
    trust: &Trust,
) -> Error {
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
    let id = standing.task_id;
    let criteria = standing.criteria.iter().map(|one| one.line.clone());
    let mut items = Item::criteria(id, &criteria.collect::<Vec<String>>());
    for (gate, record) in &standing.gates {
        items.extend(Item::gate(id, *gate, record));
    }
    if items.iter().all(|item| trust.is_trusted(item)) {
        return error;
    }
    error.alternatives.retain(|other| !runs(&other.command));
    match proposes {
        true => error.fix("cleo trust"),
        false => error,
    }
}

fn open(gates: &Gates, standing: &TaskGates) -> Option<Error> {
    let (id, open) = (standing.task_id, gates.open());
    if open.is_empty() || !gates.are_used() {
        return None;
    }
    let names: Vec<&str> = open.iter().map(|gate| gate.name()).collect();
    let message = format!("{id} needs gates that are open: {}", names.join(", "));
    let passed: Vec<&Gate> = standing.gates.keys().collect();
    let mut error = or_look(&id.to_string(), Error::new(Code::GateOpen, message));
    if gates.required.is_empty() && !passed.is_empty() {
        let own: Vec<String> = passed
            .iter()
            .map(|gate| format!("--require-gate {gate}"))
            .collect();
        let command = format!("cleo update {id} {}", own.join(" "));
        error = error.or("if it needs only those that were set, say so", command);
    }
    Some(error.or("complete it anyway, which is recorded", forced(id)))
}

fn forced(id: TaskId) -> String {
    format!("cleo complete {id} --force")
}

/// Something that is stale.
struct Old {
    name: String,
    /// Whether `--refresh` can do it.
    is_renewable: bool,
}

fn stale(gates: &Gates, standing: &TaskGates) -> Option<Error> {
    let id = standing.task_id;
    let mut old = old_gates(gates, standing);
    old.extend(old_criteria(standing));
    let names: Vec<&str> = old.iter().map(|one| one.name.as_str()).collect();
    let message = format!(
        "files of {id} changed after it was verified, or it was verified in another worktree, so this is stale: {}",
        names.join(", ")
    );
    let fix = match old.iter().any(|one| one.is_renewable) {
        true => format!("cleo verify {id} --refresh"),
        false => format!("cleo verify {id}"),
    };
    let error = Error::new(Code::EvidenceStale, message).fix(fix);
    let error = error.or("complete it anyway, which is recorded", forced(id));
    (!old.is_empty()).then_some(error)
}

fn old_gates(gates: &Gates, standing: &TaskGates) -> Vec<Old> {
    let needed = standing.stale.iter().filter(|gate| gates.needs(**gate));
    let records = needed.filter_map(|gate| Some((gate, standing.gates.get(gate)?)));
    let old = records.map(|(gate, record)| Old {
        name: {
            let commands: Vec<String> = record.evidence.iter().filter_map(command).collect();
            match commands.is_empty() {
                true => gate.name().to_string(),
                false => format!("{} (`{}`)", gate.name(), commands.join("`, `")),
            }
        },
        is_renewable: record.evidence.iter().any(Evidence::is_proof),
    });
    old.collect()
}

/// A criterion that somebody's word once showed counts like one that a command did: otherwise files
/// could change under an acceptance and nobody would look again.
fn old_criteria(standing: &TaskGates) -> Vec<Old> {
    let all = standing.criteria.iter();
    let old = all.filter(|one| one.state == CriterionState::Stale);
    let old = old.map(|one| match &one.command {
        Some(_) => Old {
            name: format!("criterion {} (`{}`)", one.number, line(one)),
            is_renewable: true,
        },
        None => Old {
            name: format!("criterion {}", one.number),
            is_renewable: false,
        },
    });
    old.collect()
}

fn line(one: &CriterionStanding) -> String {
    one.command.as_deref().map(quote_all).unwrap_or_default()
}

/// Criteria with a command that failed, or was never run.
fn unproven(standing: &TaskGates, now: &[String]) -> Option<Error> {
    let id = standing.task_id;
    let is_open = |one: &&CriterionStanding| {
        one.command.is_some()
            && !matches!(one.state, CriterionState::Proven | CriterionState::Stale)
    };
    let open: Vec<&CriterionStanding> = standing.criteria.iter().filter(is_open).collect();
    let is_kept = |one: &CriterionStanding| now.contains(&one.line);
    let names: Vec<String> = open
        .iter()
        .map(|one| {
            let why = one.half().map(|why| format!("; {why}")).unwrap_or_default();
            let line = line(one);
            match is_kept(one) {
                true => format!("{} (`{line}`{why})", one.number),
                false => format!("`{line}`{why}, from the start of the run"),
            }
        })
        .collect();
    let message = format!(
        "{id} has criteria that nothing has shown to hold: {}",
        names.join(", ")
    );
    let mut error = Error::new(Code::CriterionOpen, message);
    error = match open.iter().all(|one| is_kept(one)) {
        true => error.fix(format!("cleo verify {id} --run-all")),
        false => {
            error.message += &format!(
                "; criteria that were changed since count until the run ends: if you changed them, begin a new run \
                 (`cleo run {id}`)"
            );
            // An agent may have changed them, so the new run is not what is proposed.
            error.fix(format!("cleo log --task {id}"))
        }
    };
    let error = error.or("complete it anyway, which is recorded", forced(id));
    (!names.is_empty()).then_some(error)
}

impl CriterionStanding {
    /// Says why its command would do half of what it asks for; none where it does all of it.
    pub(crate) fn half(&self) -> Option<String> {
        let sign = Criterion::read(&self.line).line.and_then(obeyed)?;
        Some(format!("it is run without a shell: {}", for_shells(sign)))
    }
}
