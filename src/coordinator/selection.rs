//! Which tasks a run has, and in which order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::sync::Arc;

use serde::Serialize;

use super::RunEnvironment;
use super::options::Options;
use super::request::RunRequest;
use super::scheduler::Step;
use super::trees::Trees;
use crate::catalogue::Catalogue;
use crate::dispatch::{Subject, dispatch};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::proof::check_earlier_work;
use crate::ops::runs::liveness;
use crate::ops::trust::{Item, ItemKind, list_client_items};
use crate::ops::{Context, Surroundings, no_task, spawn, tasks};
use crate::run::Planned;
use crate::runner::agent::choice::{self, Named};
use crate::runner::agent::{Job, Runner, Runners};
use crate::runner::child::find_on_path;
use crate::store::{Outlines, Transaction};
use crate::task::Task;
use crate::task::graph::Node;
use crate::task::graph::waves::longest_chains;
use crate::task::overlap::{Occupied, patterns};

const TASKS_MAX: usize = 10_000;
const HELD_MAX: u32 = 1_000;

/// Finds the open tasks of a selection, the most urgent first, each with those that come before it.
pub(super) fn select_tasks(context: &mut Context, request: &RunRequest) -> Result<Vec<Planned>> {
    context.refuse_other_checkout()?;
    let roots = roots(context, request)?;
    let (nodes, titles) = context.read(|transaction| {
        let nodes = nodes(transaction, &roots)?;
        let ids: Vec<TaskId> = nodes.keys().copied().collect();
        Ok((nodes, transaction.outlines(&ids)?))
    })?;
    if nodes.is_empty() {
        if request.all_ready {
            return Err(explain_nothing_ready(context)?);
        }
        let message = "there is nothing to run: everything that was asked for is done or cancelled";
        return Err(Error::new(Code::NothingReady, message).fix("cleo ready"));
    }
    if nodes.len() > TASKS_MAX {
        let n = nodes.len();
        let message = format!("{n} tasks are too many for one run; {TASKS_MAX} are allowed");
        return Err(Error::new(Code::InputInvalid, message));
    }
    let mut children: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    for node in nodes.values() {
        if let Some(parent) = node.parent.filter(|parent| nodes.contains_key(parent)) {
            children.entry(parent).or_default().push(node.id);
        }
    }
    let planned = order_by_urgency(&nodes, &children).into_iter().map(|id| {
        let node = &nodes[&id];
        let title = titles.get(id).map(|outline| outline.title.clone());
        Planned {
            task_id: id,
            title: title.unwrap_or_default(),
            needs: needs(node, &nodes, &children),
            acceptance: Vec::new(),
            is_epic: node.is_epic,
        }
    });
    Ok(planned.collect())
}

/// Returns the error for a workspace with no ready tasks. Tasks held by dead runs are not waited for.
fn explain_nothing_ready(context: &mut Context) -> Result<Error> {
    let (now, name) = (context.now(), context.surroundings.actor.clone());
    let (error, held) = context.read(|transaction| {
        let mut held = transaction.expired_claims(&now)?;
        held.extend(transaction.running_claims(&now, HELD_MAX)?);
        let error = tasks::claim::explain_nothing_ready(transaction, None, &name, &now)?;
        Ok((error, held))
    })?;
    let holders = held.iter().filter_map(|claim| claim.holder.as_deref());
    liveness::add_resume_hint(&context.surroundings, &context.workspace, holders, error)
}

fn roots(context: &mut Context, request: &RunRequest) -> Result<Vec<TaskId>> {
    Ok(match (request.epic, request.wave) {
        (Some(epic), None) => vec![epic],
        (Some(epic), Some(number)) => {
            let wave = spawn::Selection::Wave {
                epic,
                number: Some(number as usize),
                limit: None,
            };
            spawn::select(context, wave)?.0
        }
        (None, _) if request.all_ready => {
            let ready = tasks::find_ready(context, None, None)?;
            ready.tasks.iter().map(|one| one.task.id).collect()
        }
        (None, _) => request.tasks.clone(),
    })
}

fn nodes(transaction: &dyn Transaction, roots: &[TaskId]) -> Result<BTreeMap<TaskId, Node>> {
    let mut all = BTreeMap::new();
    for root in roots {
        let node = transaction.node(*root)?.ok_or_else(|| no_task(*root))?;
        let below = match node.is_container() {
            true => transaction.nodes(Some(*root))?,
            false => Vec::new(),
        };
        let open = below.into_iter().chain([node]).filter(Node::is_open);
        all.extend(open.map(|node| (node.id, node)));
    }
    Ok(all)
}

fn needs(
    node: &Node,
    nodes: &BTreeMap<TaskId, Node>,
    children: &BTreeMap<TaskId, Vec<TaskId>>,
) -> Vec<TaskId> {
    let depends = node.depends.iter().filter(|id| nodes.contains_key(id));
    let parts = children.get(&node.id).into_iter().flatten();
    let needs: BTreeSet<TaskId> = depends.chain(parts).copied().collect();
    needs.into_iter().collect()
}

fn order_by_urgency(
    nodes: &BTreeMap<TaskId, Node>,
    children: &BTreeMap<TaskId, Vec<TaskId>>,
) -> Vec<TaskId> {
    let edges = nodes.values().flat_map(|node| {
        let needs = needs(node, nodes, children).into_iter();
        needs.map(|need| (node.id.0, need.0))
    });
    let chains = longest_chains(edges.collect());
    let mut ids: Vec<TaskId> = nodes.keys().copied().collect();
    ids.sort_unstable_by_key(|id| (nodes[id].priority, Reverse(chains.length(id.0)), *id));
    ids
}

/// The runner that a task asks for, made once for all tasks that ask for the same.
pub(super) struct Worker {
    /// As which it was chosen.
    named: Named,
    pub(super) runner: Arc<dyn Runner>,
    pub(super) model: Option<String>,
}

impl Worker {
    fn new(named: Named, options: &Options, runners: &Runners) -> Result<Worker> {
        let runner = runners.find(&named.runner, options.command.as_deref())?;
        require_program(&*runner, runners.program(&named.runner))?;
        Ok(Worker {
            runner: runner.into(),
            model: options.request.model.clone().or(named.model.clone()),
            named,
        })
    }
}

fn require_program(runner: &dyn Runner, elsewhere: Option<&str>) -> Result<()> {
    let words = runner.invocation(&Job::default()).words;
    let Some(program) = elsewhere.or(words.first().map(String::as_str)) else {
        return Err(Error::new(Code::Usage, "the command to run is empty"));
    };
    // A path that is not whole is looked for in a folder that may differ from task to task.
    let is_relative = program.contains('/') && !program.starts_with('/');
    let path = env::var_os("PATH").unwrap_or_default();
    if is_relative || find_on_path(program, &path).is_some() {
        return Ok(());
    }
    let name = runner.name();
    let message = format!("the runner {name} needs the program `{program}`, which is not there");
    Err(Error::new(Code::ProgramMissing, message).fix("cleo doctor"))
}

/// The tasks of a run, and who works on them.
#[derive(Default)]
pub(super) struct Team {
    pub(super) planned: Vec<Planned>,
    pub(super) steps: Vec<Step>,
    /// The skill of each step; none of an epic.
    pub(super) skills: Vec<Option<String>>,
    pub(super) workers: Vec<Worker>,
    /// The criteria that each task has now: they count in a run that begins, also after it is resumed.
    pub(super) acceptance: Vec<Vec<String>>,
    /// Most steps of a worker at a time, by its place.
    pub(super) runner_jobs: BTreeMap<usize, usize>,
    /// Items that must be trusted before any of it begins.
    pub(super) items: Vec<Item>,
}

impl Team {
    /// Chooses the skill of a task, and who works on it, by place.
    fn choose(
        &mut self,
        task: &Task,
        catalogue: &Catalogue,
        options: &Options,
        runners: &Runners,
    ) -> Result<(usize, String)> {
        let (subject, skills) = (Subject::from(task), &catalogue.skills);
        let skill = dispatch(&subject, skills, &catalogue.matrix, None)?
            .chosen
            .skill;
        let tier = catalogue.skill(&skill)?.tier;
        let flag = options.request.runner.as_deref();
        let flag = flag.map(choice::read).transpose()?;
        let named = choice::choose(&runners.rules, flag.as_ref(), &skill, tier);
        let named = named.ok_or_else(|| {
            let message = "nothing says which program is to work on the tasks; set `runners.default`, or give \
                           `--runner`";
            Error::new(Code::Usage, message).fix("cleo doctor")
        })?;
        let mut workers = self.workers.iter();
        if let Some(place) = workers.position(|worker| worker.named == named) {
            return Ok((place, skill));
        }
        let place = self.workers.len();
        if let Some(most) = runners.jobs.get(&named.runner) {
            self.runner_jobs.insert(place, *most);
        }
        self.workers.push(Worker::new(named, options, runners)?);
        Ok((place, skill))
    }
}

pub(super) fn team(
    context: &mut Context,
    planned: Vec<Planned>,
    options: &Options,
    ambience: &RunEnvironment,
) -> Result<Team> {
    let places_of_skills = context.surroundings.places(Some(&context.workspace));
    let catalogue = Catalogue::load_past_base(&places_of_skills)?;
    let replacing = Item::list_replacing_items(&catalogue)?;
    let places = planned.iter().enumerate();
    let places = places.map(|(place, task)| (task.task_id, place));
    let places: BTreeMap<TaskId, usize> = crate::build_map(places);
    let ids: Vec<TaskId> = places.keys().copied().collect();
    let mut team = Team::default();
    context.read(|transaction| {
        let mut proven = BTreeSet::new();
        for (id, gates) in transaction.gates_of(&ids)? {
            let commands = Item::gates(id, &gates);
            proven.extend(commands.first().map(|_| id));
            team.items.extend(commands);
        }
        for task in &planned {
            let needs = task.needs.iter().filter_map(|id| places.get(id).copied());
            let whole = match transaction.task(task.task_id) {
                // It is refused when it is to be claimed.
                Err(error) if error.code == Code::RowDamaged => None,
                read => read?,
            };
            let (mut runner, mut skill) = (0, None);
            if let Some(whole) = whole.as_ref().filter(|_| !task.is_epic) {
                let chosen = team.choose(whole, &catalogue, options, &ambience.runners)?;
                let is_used =
                    |item: &&Item| item.kind == ItemKind::Protocol || item.name == chosen.1;
                team.items.extend(replacing.iter().filter(is_used).cloned());
                (runner, skill) = (chosen.0, Some(chosen.1));
            }
            team.skills.push(skill);
            let acceptance = whole.map(|whole| whole.acceptance).unwrap_or_default();
            let commands = Item::criteria(task.task_id, &acceptance);
            team.steps.push(Step {
                needs: needs.collect(),
                runner,
                is_epic: task.is_epic,
                has_checks: !commands.is_empty() || proven.contains(&task.task_id),
            });
            team.items.extend(commands);
            team.acceptance.push(acceptance);
        }
        Ok(())
    })?;
    let root = &context.workspace.root;
    let followed = |it: &Worker| list_client_items(root, Some(&it.named.runner));
    team.items.extend(team.workers.iter().flat_map(followed));
    if options.request.runner.is_none() {
        let settings = context.surroundings.settings()?;
        team.items.extend(Item::runners(settings));
    }
    Ok(Team { planned, ..team })
}

/// The steps that a run would take.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Rehearsed {
    /// The tasks, in the order in which they would begin were nothing in their way.
    pub(crate) tasks: Vec<Rehearsal>,
    /// How many there are.
    pub(crate) total: usize,
}

/// The plan for a task.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rehearsal {
    #[serde(flatten)]
    pub(crate) task: Planned,
    /// In which wave it could begin at the earliest, from 0; none when it waits for itself.
    pub(crate) wave: Option<usize>,
    /// Tasks that it waits for because they touch the same files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) shares_files: Vec<TaskId>,
    /// The skill; none for an epic, which needs no agent.
    pub(crate) skill: Option<String>,
    pub(crate) runner: Option<String>,
    /// The model, if one is asked for.
    pub(crate) model: Option<String>,
    /// The claim in its way, or the way in which work that is there counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) earlier_work: Option<String>,
}

pub(crate) fn rehearse(
    surroundings: Surroundings,
    options: &Options,
    ambience: &RunEnvironment,
) -> Result<Rehearsed> {
    let mut context = Context::open(surroundings)?;
    let planned = select_tasks(&mut context, &options.request)?;
    let team = team(&mut context, planned, options, ambience)?;
    if options.is_isolated() {
        Trees::require_startable(&context.workspace)?;
    }
    let ids: BTreeSet<TaskId> = team.planned.iter().map(|task| task.task_id).collect();
    let sorted = Vec::from_iter(ids.iter().copied());
    let outlines = context.read(|transaction| transaction.outlines(&sorted))?;
    let (waves, mut shares) = keep_files_apart(team.planned.clone(), &outlines);
    let rows = team
        .planned
        .into_iter()
        .zip(team.steps.iter().zip(team.skills));
    let tasks = rows.map(|(task, (step, skill))| {
        let earlier = check_earlier_work(&mut context, task.task_id, &ids)?;
        let earlier_work = earlier.and_then(|earlier| match earlier.faults.is_empty() {
            true => Some("its work verifies and needs no agent".to_string()),
            false if earlier.can_prove_by_commands(options.is_isolated()) => {
                Some("its work verifies, and its commands run before an agent".to_string())
            }
            false => earlier.explain_wait(),
        });
        let worker = team.workers.get(step.runner).filter(|_| skill.is_some());
        Ok(Rehearsal {
            earlier_work: tasks::explain_claim(&mut context, task.task_id)?.or(earlier_work),
            wave: waves.get(&task.task_id).copied(),
            shares_files: shares.remove(&task.task_id).unwrap_or_default(),
            task,
            runner: worker.map(|worker| worker.runner.name().to_string()),
            model: worker.and_then(|worker| worker.model.clone()),
            skill,
        })
    });
    let mut tasks = tasks.collect::<Result<Vec<Rehearsal>>>()?;
    tasks.sort_by_key(|task| task.wave.unwrap_or(usize::MAX));
    Ok(Rehearsed {
        total: tasks.len(),
        tasks,
    })
}

/// Returns the wave of each task, and the tasks that it is claimed after because they touch the same files.
fn keep_files_apart(
    mut planned: Vec<Planned>,
    outlines: &Outlines,
) -> (BTreeMap<TaskId, usize>, BTreeMap<TaskId, Vec<TaskId>>) {
    let mut shares: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    let (mut waves, mut number) = (crate::run::waves(&planned), 0);
    while waves.values().any(|wave| *wave >= number) {
        let (mut occupied, mut is_moved) = (Occupied::default(), false);
        let is_in_wave =
            |task: &&mut Planned| !task.is_epic && waves.get(&task.task_id) == Some(&number);
        for task in planned.iter_mut().filter(is_in_wave) {
            let patterns = patterns(outlines.files(task.task_id));
            let Some(taken) = occupied.conflict(&patterns) else {
                occupied.occupy(task.task_id.0, patterns);
                continue;
            };
            let (other, shared) = (TaskId(taken.owner), shares.entry(task.task_id));
            task.needs.push(other);
            shared.or_default().push(other);
            is_moved = true;
        }
        match is_moved {
            true => waves = crate::run::waves(&planned),
            false => number += 1,
        }
    }
    (waves, shares)
}
