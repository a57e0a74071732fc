//! Running what proves a task: the commands of its criteria, and again what has become stale.

use std::time::Duration;

use serde::Serialize;

use super::standing::{CriterionStanding, CriterionState, TaskGates, gates};
use super::take::{self, Given, Scene, command};
use super::{Setting, set_in};
use crate::error::{Code, Error, Result, quote_all};
use crate::gate::{Evidence, Gate, Origin, Proof, Record};
use crate::id::{self, TaskId};
use crate::ops::claims::{Caller, check_epoch};
use crate::ops::trust::{Item, Trust};
use crate::ops::{Context, require};
use crate::runner::process::Bounds;
use crate::workspace::Workspace;

/// Which gates and criteria are proven again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What is stale.
    Stale,
    /// Also criteria that do not hold.
    Open,
    /// Also criteria that hold, and gates whose commands are trusted; others are the word of an agent.
    All,
}

#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    pub(crate) extent: Extent,
    /// Only the criterion with this number, whatever is known of it.
    pub(crate) only: Option<usize>,
    pub(crate) bounds: Bounds,
    pub(crate) epoch: Option<u32>,
}

/// What was run, and how the task stands now.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Renewed {
    /// What was run, in order.
    pub(crate) ran: Vec<Ran>,
    /// Gates that are stale and rest on somebody's word, which only that somebody can give again.
    pub(crate) words_only: Vec<Gate>,
    /// Numbers of criteria that are stale and rest on somebody's word in the same way.
    pub(crate) criteria_words_only: Vec<usize>,
    /// How the task stands.
    #[serde(flatten)]
    pub(crate) standing: TaskGates,
}

/// One thing that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ran {
    /// The gate, for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gate: Option<Gate>,
    /// The number of the criterion, for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) criterion: Option<usize>,
    /// Its commands, as they are typed.
    pub(crate) commands: Vec<String>,
    /// What came out.
    pub(crate) outcome: Outcome,
}

/// What came out of running something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) enum Outcome {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
}

impl From<bool> for Outcome {
    fn from(passed: bool) -> Outcome {
        if passed {
            Outcome::Passed
        } else {
            Outcome::Failed
        }
    }
}

/// Runs what is stale, and the commands of criteria that nothing has shown to hold. What is proven
/// and fresh is not run again, unless it is asked for by number. Each result is kept as soon as it
/// is there; `begin` is told before what is done.
pub(crate) fn renew(
    context: &mut Context,
    task: TaskId,
    renewal: &Renewal,
    begin: &mut dyn FnMut(&str),
) -> Result<Renewed> {
    let before = gates(context, task)?;
    let mut renewed = Renewed {
        ran: Vec::new(),
        words_only: Vec::new(),
        criteria_words_only: Vec::new(),
        standing: before,
    };
    require_trust(context, &renewed.standing, renewal)?;
    match renewal.only {
        None => renew_gates(context, &mut renewed, renewal, begin)?,
        Some(number) => check_number(&renewed.standing, number)?,
    }
    for one in chosen(&renewed.standing, renewal) {
        renewed.ran.push(run(context, task, &one, renewal, begin)?);
    }
    renewed.standing = gates(context, task)?;
    if renewal.only.is_none() {
        // What somebody accepted before files changed: no command can show it again.
        let stale = renewed.standing.criteria.iter();
        let stale = stale.filter(|one| one.command.is_none() && one.state == CriterionState::Stale);
        renewed.criteria_words_only = stale.map(|one| one.number).collect();
    }
    context.notes.warn(stale_already(&renewed));
    Ok(renewed)
}

/// Refuses commands that are not trusted, all of them before the first is run.
fn require_trust(context: &Context, standing: &TaskGates, renewal: &Renewal) -> Result<()> {
    let id = standing.task_id;
    let mut items = Vec::new();
    // Where all is run, gates whose commands are not trusted are left.
    if renewal.only.is_none() && renewal.extent != Extent::All {
        let stale = standing.stale.iter();
        let records = stale.filter_map(|gate| Some((*gate, standing.gates.get(gate)?)));
        for (gate, record) in records {
            items.extend(Item::gate(id, gate, record));
        }
    }
    for one in chosen(standing, renewal) {
        let words = one.command.unwrap_or_default();
        let origin = format!("criterion {} of {id}", one.number);
        items.push(Item::command(&words, ".", origin));
    }
    match items.is_empty() {
        true => Ok(()),
        false => Trust::new(&context.surroundings, &context.workspace).require(&items),
    }
}

/// Says which criteria passed and do not count, because files changed while they were run.
fn stale_already(renewed: &Renewed) -> Option<String> {
    let ran = |number: usize| {
        let mut ran = renewed.ran.iter();
        ran.any(|ran| ran.criterion == Some(number) && ran.outcome == Outcome::Passed)
    };
    let all = renewed.standing.criteria.iter();
    let stale = all.filter(|one| one.state == CriterionState::Stale && ran(one.number));
    let numbers: Vec<String> = stale.map(|one| one.number.to_string()).collect();
    let (id, numbers) = (renewed.standing.task_id, numbers.join(", "));
    (!numbers.is_empty()).then(|| {
        format!(
            "files of {id} changed meanwhile, so what passed is stale already: criterion {numbers}; \
             a command that changes them at each run can prove nothing"
        )
    })
}

fn renew_gates(
    context: &mut Context,
    renewed: &mut Renewed,
    renewal: &Renewal,
    begin: &mut dyn FnMut(&str),
) -> Result<()> {
    let task = renewed.standing.task_id;
    let trust = Trust::new(&context.surroundings, &context.workspace);
    for gate in renewed.standing.due_gates(renewal.extent, &trust) {
        let Some(record) = renewed.standing.gates.get(&gate).cloned() else {
            continue;
        };
        if !record.evidence.iter().any(Evidence::is_proof) {
            renewed.words_only.push(gate);
            continue;
        }
        let commands: Vec<String> = record.evidence.iter().filter_map(command).collect();
        begin(&doing(gate, &record.evidence));
        let set = renew_gate(context, task, gate, &record, renewal)?;
        let passed = set.gates.get(&gate).is_some_and(|record| record.passed);
        renewed.ran.push(Ran {
            gate: Some(gate),
            criterion: None,
            commands,
            outcome: passed.into(),
        });
        if !passed {
            // The later gates are open again.
            break;
        }
    }
    Ok(())
}

/// Says what is done to prove a gate again.
fn doing(gate: Gate, evidence: &[Evidence]) -> String {
    let parts = evidence.iter().filter_map(|each| match &each.proof {
        Proof::Command { command, .. } => Some(quote_all(command)),
        Proof::File { path, .. } => Some(format!("file {path}")),
        Proof::Commit { revision, .. } => Some(format!("commit {revision}")),
        Proof::Url { .. } | Proof::Note { .. } | Proof::Claim => None,
    });
    let parts: Vec<String> = parts.collect();
    let verb = match evidence.iter().any(|each| command(each).is_some()) {
        true => "running",
        false => "looking again at",
    };
    format!("{verb} {gate}: {}", parts.join(", "))
}

fn renew_gate(
    context: &mut Context,
    task: TaskId,
    gate: Gate,
    record: &Record,
    renewal: &Renewal,
) -> Result<TaskGates> {
    let tree = context.judged_in(task)?;
    let origin = record.evidence.iter().find_map(|each| each.origin.as_ref());
    let directory = origin.map_or(".", |origin| &origin.directory).to_string();
    let mut given = Given::again(&record.evidence);
    // Files are kept by their path from the root.
    given.files.iter_mut().for_each(|file| {
        *file = tree.root.join(&*file).to_string_lossy().into_owned();
    });
    let setting = Setting {
        gate,
        passed: true,
        given,
        bounds: renewal.bounds.clone(),
        agent: record.agent.clone(),
        force: record.forced,
        epoch: renewal.epoch,
    };
    set_in(context, task, &setting, (&tree, &directory))
}

fn chosen(standing: &TaskGates, renewal: &Renewal) -> Vec<CriterionStanding> {
    let is_wanted = |one: &&CriterionStanding| match (renewal.only, one.state) {
        _ if one.command.is_none() => false,
        (Some(number), _) => one.number == number,
        (None, CriterionState::Proven) => renewal.extent == Extent::All,
        (None, state) => state == CriterionState::Stale || renewal.extent != Extent::Stale,
    };
    let wanted = standing.criteria.iter().filter(is_wanted);
    wanted.cloned().collect()
}

fn numbered(standing: &TaskGates, number: usize) -> Result<&CriterionStanding> {
    let found = standing.criteria.iter().find(|one| one.number == number);
    found.ok_or_else(|| {
        let (id, total) = (standing.task_id, standing.criteria.len());
        let message = format!("{id} has {total} acceptance criteria; there is no number {number}");
        Error::new(Code::InputInvalid, message).fix(format!("cleo verify {id}"))
    })
}

fn check_number(standing: &TaskGates, number: usize) -> Result<()> {
    if numbered(standing, number)?.command.is_some() {
        return Ok(());
    }
    let id = standing.task_id;
    let message = format!(
        "criterion {number} of {id} has no command that could be run; accept it with `--accept {number}` and a \
         note that says how you know"
    );
    Err(Error::new(Code::InputInvalid, message).fix(format!("cleo verify {id}")))
}

fn run(
    context: &mut Context,
    task: TaskId,
    one: &CriterionStanding,
    renewal: &Renewal,
    begin: &mut dyn FnMut(&str),
) -> Result<Ran> {
    let words = one.command.clone().unwrap_or_default();
    let tree = context.judged_in(task)?;
    let scene = scene(context, task, (&tree, "."), renewal.epoch)?;
    let mut evidence = Evidence {
        proof: Proof::Claim,
        origin: None,
    };
    begin(&format!("running criterion {}: {}", one.number, one.line));
    evidence.proof = match one.half() {
        Some(why) => not_started(words, why),
        None => match take::run(context, (&tree, "."), &words, &renewal.bounds) {
            Err(error) if error.code == Code::ProgramMissing => not_started(words, error.message),
            run => run?,
        },
    };
    let tree = scene.tree_after()?;
    evidence.origin = Some(Origin {
        tree,
        ..scene.origin
    });
    let passed = evidence.outcome() == Some(true);
    let commands = command(&evidence).into_iter().collect();
    keep(context, task, renewal.epoch, one, passed, vec![evidence])?;
    Ok(Ran {
        gate: None,
        criterion: Some(one.number),
        commands,
        outcome: passed.into(),
    })
}

fn scene(
    context: &mut Context,
    task: TaskId,
    (tree, directory): (&Workspace, &str),
    epoch: Option<u32>,
) -> Result<Scene> {
    let caller = Caller::of(context, task, epoch);
    let patterns = context.read(|transaction| {
        let task = require(transaction, task)?;
        check_epoch(transaction, &task, &caller)?;
        caller.refuse_unmerged(transaction, task.id, tree)?;
        Ok(task.files)
    })?;
    Scene::of(context, tree, &patterns, directory, caller.epoch)
}

/// A command that is not there proves nothing, and holds up no other criterion.
fn not_started(command: Vec<String>, why: String) -> Proof {
    Proof::Command {
        command,
        exit_code: None,
        duration_ms: 0,
        output_digest: id::digest(""),
        last_lines: vec![why],
        timed_out: false,
    }
}

fn keep(
    context: &mut Context,
    task: TaskId,
    epoch: Option<u32>,
    one: &CriterionStanding,
    passed: bool,
    evidence: Vec<Evidence>,
) -> Result<()> {
    let caller = Caller::of(context, task, epoch);
    let claimed = context.surroundings.assignment.criteria.get(&task);
    let claimed = claimed.cloned().unwrap_or_default();
    let record = Record {
        passed,
        at: caller.now.clone(),
        by: caller.name.clone(),
        agent: None,
        forced: false,
        evidence,
    };
    context.write(|transaction| {
        // Somebody may have taken over, or changed the criteria, while the command ran.
        let task = require(transaction, task)?;
        check_epoch(transaction, &task, &caller)?;
        let now: Vec<String> = task.acceptance.into_iter().chain(claimed).collect();
        let mut gates = transaction.gates(task.id)?;
        gates.criteria.retain(|line, _| now.contains(line));
        gates.criteria.insert(one.line.clone(), record);
        transaction.put_gates(task.id, &gates)
    })
}

/// Takes somebody's word, and what else is given, for a criterion without a command.
pub(crate) fn accept(
    context: &mut Context,
    task: TaskId,
    number: usize,
    given: &Given,
    epoch: Option<u32>,
) -> Result<TaskGates> {
    let standing = gates(context, task)?;
    let one = numbered(&standing, number)?.clone();
    if one.command.is_some() {
        let message = format!("criterion {number} of {task} has a command, which decides");
        let run = format!("cleo verify {task} --only {number}");
        return Err(Error::new(Code::InputInvalid, message).fix(run));
    }
    let tree = context.judged_in(task)?;
    let directory = take::directory(context, &tree);
    let scene = scene(context, task, (&tree, &directory), epoch)?;
    let evidence = take::evidence(context, &scene, given, &Duration::ZERO.into())?;
    keep(context, task, epoch, &one, true, evidence)?;
    let accepted = gates(context, task)?;
    context.notes.warn(scene.warnings(&accepted));
    Ok(accepted)
}
