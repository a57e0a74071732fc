//! Showing that gates and criteria hold: once, and again what has become stale.

use serde::Serialize;

use super::evidence::{Given, Scene, Taken, directory};
use super::request::GateRequest;
use super::standing::{CriterionStanding, CriterionState, TaskGates, gates};
use crate::error::{Code, Error, Result, quote_all};
use crate::gate::{Evidence, Gate, Gates, Record, check_agent};
use crate::id::TaskId;
use crate::ops::tasks::{Caller, check_epoch};
use crate::ops::trust::{Item, Trust};
use crate::ops::{Context, require};
use crate::runner::process::Bounds;
use crate::store::Transaction;
use crate::task::Task;
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

/// What is to be shown.
pub(super) enum Requirement {
    Gate(Gate),
    Criterion(CriterionStanding),
}

/// How a gate or criterion is shown, and on whose behalf.
pub(super) struct Showing {
    pub(super) of: Requirement,
    pub(super) request: GateRequest,
    pub(super) bounds: Bounds,
}

/// A tree, and a folder relative to its root.
type Place<'a> = (&'a Workspace, &'a str);

impl Showing {
    /// Shows it in the folder of the caller.
    pub(super) fn carry_out(&self, context: &mut Context) -> Result<TaskGates> {
        let tree = context.find_judged_workspace(self.request.task)?;
        let directory = directory(context, &tree);
        self.carry_out_in(context, (&tree, &directory))?;
        gates(context, self.request.task)
    }

    /// Takes what is given as evidence and keeps what comes of it, which is returned. The rules are asked before a
    /// command runs and again when its result is kept. A failure is always kept.
    fn carry_out_in(&self, context: &mut Context, place: Place<'_>) -> Result<bool> {
        check_agent(self.request.role.as_deref())?;
        let caller = Caller::for_task(context, self.request.task, self.request.epoch);
        let trust = Trust::new(&context.surroundings, &context.workspace);
        let said = self.request.passed.unwrap_or(true);
        let wanted = said || !self.request.given.commands.is_empty();
        let task = context.read(|it| self.check(it, (&caller, &trust), place, wanted))?;
        let scene = Scene::look(context, place.0, &task.files, place.1, caller.epoch)?;
        let Taken { evidence, is_stale } = self.take(context, &scene)?;
        let outcomes = evidence.iter().filter_map(Evidence::outcome);
        let passed = outcomes.reduce(|one, other| one && other);
        let passed = passed.unwrap_or(said);
        self.keep(context, &trust, place, passed, evidence)?;
        let (name, id) = (self.name(), self.request.task);
        let stale = format!(
            "files of {id} changed meanwhile, so what passed is stale already: {name}; a command that changes them \
             at each run can prove nothing"
        );
        context.notes.warn((passed && is_stale).then_some(stale));
        if self.command().is_none() && !is_stale {
            context.notes.warn(scene.warning(id));
        }
        Ok(passed)
    }

    /// Checks that the caller may show it, and set it to this.
    fn check(
        &self,
        transaction: &dyn Transaction,
        (caller, trust): (&Caller, &Trust),
        (tree, directory): Place<'_>,
        passed: bool,
    ) -> Result<Task> {
        let task = require(transaction, self.request.task)?;
        check_epoch(transaction, &task, caller)?;
        caller.refuse_unmerged(transaction, task.id, tree)?;
        if let Requirement::Gate(gate) = self.of {
            let gates = transaction.gates(task.id)?;
            if passed && caller.run.is_some() {
                self.refuse_other_proof(&gates, gate, directory, trust)?;
            }
            gates.check(&task.id.to_string(), gate, passed, self.request.force)?;
        }
        Ok(task)
    }

    /// Refuses to pass a gate without the commands that proved it, or that the user trusts and that failed last, or
    /// with them in another folder: the user may have chosen them. For agents of a run.
    fn refuse_other_proof(
        &self,
        gates: &Gates,
        gate: Gate,
        directory: &str,
        trust: &Trust,
    ) -> Result<()> {
        let is_trusted = |record: &&Record| {
            let commands = Item::gate(self.request.task, gate, record);
            commands.iter().any(|item| trust.is_trusted(item))
        };
        let failed = || {
            let failures = gates.failures.iter().rev().filter(|one| one.gate == gate);
            failures.map(|one| &one.record).find(is_trusted)
        };
        let Some(proof) = gates.proof(gate).or_else(failed) else {
            return Ok(());
        };
        let before = Given::again(&proof.evidence).commands;
        let evidence = proof.evidence.iter();
        let mut folders = evidence.map(|one| one.origin.directory.as_str());
        let other = folders.clone().find(|folder| *folder != directory);
        let is_repeated = |command| self.request.given.commands.contains(command);
        if other.is_none() && before.iter().all(is_repeated) {
            return Ok(());
        }
        let commands: Vec<String> = before.iter().map(|words| quote_all(words)).collect();
        let task = self.request.task;
        let message = format!(
            "{gate} of {task} is shown by `{}`, which an agent of a run does not replace; run the same again, in \
             the folder {}",
            commands.join("`, `"),
            folders.next().unwrap_or(".")
        );
        Err(Error::new(Code::NotVerified, message).fix(format!("cleo verify {task}")))
    }

    /// A command of a criterion that cannot be started proves nothing, and holds up no other criterion.
    fn take(&self, context: &Context, scene: &Scene) -> Result<Taken> {
        let Some(words) = self.command() else {
            return scene.take(context, &self.request.given, &self.bounds);
        };
        let half = match &self.of {
            Requirement::Criterion(one) => one.half(),
            Requirement::Gate(_) => None,
        };
        if let Some(why) = half {
            return Ok(scene.not_started(words.clone(), why));
        }
        match scene.take(context, &self.request.given, &self.bounds) {
            Err(error) if error.code == Code::ProgramMissing => {
                Ok(scene.not_started(words.clone(), error.message))
            }
            taken => taken,
        }
    }

    /// Returns the command of the criterion that it is, if it has one.
    fn command(&self) -> Option<&Vec<String>> {
        match &self.of {
            Requirement::Criterion(one) => one.command.as_ref(),
            Requirement::Gate(_) => None,
        }
    }

    fn keep(
        &self,
        context: &mut Context,
        trust: &Trust,
        place: Place<'_>,
        passed: bool,
        evidence: Vec<Evidence>,
    ) -> Result<()> {
        let caller = Caller::for_task(context, self.request.task, self.request.epoch);
        let claimed = context
            .surroundings
            .assignment
            .criteria
            .get(&self.request.task);
        let claimed = claimed.cloned().unwrap_or_default();
        let mut record = Record {
            passed,
            at: caller.now.clone(),
            by: caller.name.clone(),
            agent: self.request.role.clone(),
            forced: false,
            evidence,
        };
        context.write(|transaction| {
            // Somebody may have taken over, or changed the criteria, while commands ran.
            let task = self.check(transaction, (&caller, trust), place, passed)?;
            let mut gates = transaction.gates(task.id)?;
            match &self.of {
                Requirement::Gate(gate) => {
                    record.forced = passed && !gates.open_before(*gate).is_empty();
                    gates.set(*gate, record);
                }
                Requirement::Criterion(one) => {
                    let is_known =
                        |line: &String| task.acceptance.contains(line) || claimed.contains(line);
                    gates.criteria.retain(|line, _| is_known(line));
                    gates.criteria.insert(one.line.clone(), record);
                }
            }
            transaction.put_gates(task.id, &gates)
        })
    }

    fn name(&self) -> String {
        match &self.of {
            Requirement::Gate(gate) => gate.to_string(),
            Requirement::Criterion(one) => format!("criterion {}", one.number),
        }
    }

    fn commands(&self) -> impl Iterator<Item = String> {
        let commands = self.request.given.commands.iter();
        commands.map(|words| quote_all(words))
    }

    fn doing(&self) -> String {
        let files = self
            .request
            .given
            .files
            .iter()
            .map(|path| format!("file {path}"));
        let commits = self.request.given.commits.iter();
        let commits = commits.map(|revision| format!("commit {revision}"));
        let parts: Vec<String> = self.commands().chain(files).chain(commits).collect();
        match &self.of {
            Requirement::Criterion(one) => format!("running {}: {}", self.name(), one.line),
            Requirement::Gate(gate) if self.request.given.commands.is_empty() => {
                format!("looking again at {gate}: {}", parts.join(", "))
            }
            Requirement::Gate(gate) => format!("running {gate}: {}", parts.join(", ")),
        }
    }

    fn ran(&self, passed: bool) -> Ran {
        let (gate, criterion) = match &self.of {
            Requirement::Gate(gate) => (Some(*gate), None),
            Requirement::Criterion(one) => (None, Some(one.number)),
        };
        Ran {
            gate,
            criterion,
            commands: self.commands().collect(),
            outcome: match passed {
                true => Outcome::Passed,
                false => Outcome::Failed,
            },
        }
    }
}

/// Runs what is stale, and the commands of criteria that nothing has shown to hold. What is proven and fresh is not run
/// again, unless it is asked for by number. Commands that are not trusted are refused before the first is run. Each
/// result is kept as soon as it is there; `begin` is told before what is done.
pub(crate) fn renew(
    context: &mut Context,
    task: TaskId,
    renewal: &Renewal,
    begin: &mut dyn FnMut(&str),
) -> Result<Renewed> {
    let before = gates(context, task)?;
    let trust = Trust::new(&context.surroundings, &context.workspace);
    if let Some(number) = renewal.only
        && find_criterion(&before, number)?.command.is_none()
    {
        let message = format!(
            "criterion {number} of {task} has no command that could be run; accept it with `--accept {number}` and a \
             note that says how you know"
        );
        let error = Error::new(Code::InputInvalid, message);
        return Err(error.fix(format!("cleo verify {task}")));
    }
    let (due, mut words_only) = due_gates(&before, renewal, &trust);
    let criteria = due_criteria(&before, renewal);
    let mut items: Vec<Item> = due.iter().flat_map(|gate| before.commands(*gate)).collect();
    for one in &criteria {
        let origin = format!("criterion {} of {task}", one.number);
        let words = one.command.as_deref().unwrap_or_default();
        items.push(Item::command(words, ".", origin));
    }
    trust.require(&items)?;
    let tree = context.find_judged_workspace(task)?;
    let mut ran = Vec::new();
    for gate in due {
        let Some(record) = before.gates.get(&gate) else {
            continue;
        };
        let first = record.evidence.first();
        let directory = first.map_or(".", |each| &each.origin.directory);
        let mut showing = renewal.showing(task, Requirement::Gate(gate));
        showing.request.given = Given::again(&record.evidence);
        showing.request.role.clone_from(&record.agent);
        showing.request.force = record.forced;
        begin(&showing.doing());
        // Files are kept by their path from the root.
        for file in &mut showing.request.given.files {
            *file = tree.root.join(&*file).to_string_lossy().into_owned();
        }
        let passed = showing.carry_out_in(context, (&tree, directory))?;
        ran.push(showing.ran(passed));
        if !passed {
            // The later gates are open again.
            break;
        }
    }
    for one in criteria {
        let showing = renewal.showing(task, Requirement::Criterion(one));
        begin(&showing.doing());
        let passed = showing.carry_out_in(context, (&tree, "."))?;
        ran.push(showing.ran(passed));
    }
    let standing = gates(context, task)?;
    // What somebody accepted before files changed: no command can show it again.
    let is_word = |one: &&CriterionStanding| {
        one.command.is_none() && one.state == CriterionState::Stale && renewal.only.is_none()
    };
    let words = standing.criteria.iter().filter(is_word);
    words_only.retain(|gate| standing.stale.contains(gate));
    Ok(Renewed {
        ran,
        words_only,
        criteria_words_only: words.map(|one| one.number).collect(),
        standing,
    })
}

impl Renewal {
    fn showing(&self, task: TaskId, of: Requirement) -> Showing {
        let command = match &of {
            Requirement::Criterion(one) => one.command.clone(),
            Requirement::Gate(_) => None,
        };
        let given = Given {
            commands: Vec::from_iter(command),
            ..Given::default()
        };
        let epoch = self.epoch;
        Showing {
            of,
            request: GateRequest {
                task,
                given,
                epoch,
                ..GateRequest::default()
            },
            bounds: self.bounds.clone(),
        }
    }
}

/// Names the gates that are stale; where all is proven, those whose commands are trusted, and stale ones without. Apart
/// are those that rest on words alone.
fn due_gates(standing: &TaskGates, renewal: &Renewal, trust: &Trust) -> (Vec<Gate>, Vec<Gate>) {
    let is_due = |gate: &&Gate| {
        let commands = standing.commands(**gate);
        match renewal.extent {
            _ if renewal.only.is_some() => false,
            Extent::All if !commands.is_empty() => commands.iter().all(|it| trust.is_trusted(it)),
            _ => standing.stale.contains(gate),
        }
    };
    let due = standing.gates.keys().filter(is_due).copied();
    due.partition(|gate| {
        let record = standing.gates.get(gate);
        record.is_some_and(|record| record.evidence.iter().any(Evidence::is_proof))
    })
}

fn due_criteria(standing: &TaskGates, renewal: &Renewal) -> Vec<CriterionStanding> {
    let is_due = |one: &&CriterionStanding| match (renewal.only, one.state) {
        _ if one.command.is_none() => false,
        (Some(number), _) => one.number == number,
        (None, CriterionState::Proven) => renewal.extent == Extent::All,
        (None, state) => state == CriterionState::Stale || renewal.extent != Extent::Stale,
    };
    standing.criteria.iter().filter(is_due).cloned().collect()
}

pub(super) fn find_criterion(standing: &TaskGates, number: usize) -> Result<&CriterionStanding> {
    let found = standing.criteria.iter().find(|one| one.number == number);
    found.ok_or_else(|| {
        let (id, total) = (standing.task_id, standing.criteria.len());
        let message = format!("{id} has {total} acceptance criteria; there is no number {number}");
        Error::new(Code::InputInvalid, message).fix(format!("cleo verify {id}"))
    })
}
