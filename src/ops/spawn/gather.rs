//! The inputs of a prompt: its output file, and the value of each token.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use indexmap::IndexSet;

use crate::error::{Code, Error, Result};
use crate::estimate::one_line;
use crate::gate::Criterion;
use crate::id::{self, TaskId};
use crate::manifest::log;
use crate::ops::sessions::find_covering_session;
use crate::ops::tasks::above;
use crate::spawn::format_notes;
use crate::store::Transaction;
use crate::task::Task;
use crate::task::rules::is_slug;
use crate::template::{Bindings, NONE, UNSAID, add_suffix, slug, slug_of};
use crate::workspace::{OUTPUT_DIR, Workspace};

/// Maximum length of a finding of a dependency, in characters; its entry has the whole.
pub(super) const FINDING_MAX: usize = 500;
/// Maximum number of tasks that wait for one and are described in its prompt.
const RELATED_MAX: usize = 10;

/// The output file and the manifest entry of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) date: String,
    pub(super) slug: String,
    pub(super) manifest_id: String,
}

impl Place {
    pub(super) fn output_file(&self) -> String {
        output_file(&self.date, &self.slug)
    }
}

fn output_file(date: &str, slug: &str) -> String {
    format!("{OUTPUT_DIR}/{date}_{slug}.md")
}

/// The names in use on one date: in the manifest, and by prompts of the same batch.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) date: String,
    in_manifest: log::Taken,
    pub(super) placed: HashMap<String, TaskId>,
}

impl Names {
    pub(super) fn read_taken(
        workspace: &Workspace,
        date: &str,
        worktree: Option<&Path>,
    ) -> Result<Names> {
        if !crate::clock::is_date(date) {
            let message = format!("DATE is `{date}`, which is not a valid date such as 2026-01-26");
            return Err(Error::new(Code::TokenInvalid, message));
        }
        let mut in_manifest = log::collect_taken(&workspace.manifest()?, date)?;
        // Something else that an agent left there instead is refused when it is verified.
        let left = worktree.map(|root| Workspace::from(root.to_path_buf()).manifest());
        if let Some(Ok(left)) = left {
            in_manifest.extend(log::collect_taken(&left, date).unwrap_or_default());
        }
        Ok(Names {
            date: date.to_string(),
            in_manifest,
            placed: HashMap::new(),
        })
    }
}

/// Which names the agent of a prompt must not have.
pub(super) struct Agents {
    /// The names of all that held the task: it starts over, or follows one that gave the task back or was late.
    pub(super) is_new: bool,
    /// The names in earlier prompts too, whose agents may begin later.
    pub(super) starts_over: bool,
}

/// Chooses an output file and a manifest id that are free. A task keeps its id until an entry uses it, and two
/// tasks with the same title never share a file.
pub(super) fn choose_names(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    task: &Task,
    names: &mut Names,
    wanted: Agents,
) -> Result<Place> {
    let told = match wanted.is_new {
        true => transaction.changes(0, Some(task.id), u32::MAX)?,
        false => Vec::new(),
    };
    let holders = told
        .iter()
        .filter_map(|one| one.change.detail["holder"].as_str());
    let mut agents: HashSet<String> = holders
        .filter_map(|holder| Some(holder.rsplit_once('/')?.1.to_string()))
        .collect();
    if wanted.starts_over {
        let earlier = transaction.spawns(task.id)?.into_iter();
        agents.extend(earlier.map(|record| record.manifest_id));
    }
    let is_taken = |id: &str| agents.contains(id);
    let slug = free_slug(transaction, workspace, task, names)?;
    let date = names.date.clone();
    let base = format!("{slug}-{date}");
    let numbered = (2..).map(|number: u32| format!("{base}-{number}"));
    let manifest_id = std::iter::once(base.clone())
        .chain(numbered)
        .find(|id| !names.in_manifest.has_id(id) && !is_taken(id));
    let place = Place {
        date,
        slug,
        manifest_id: manifest_id.unwrap_or(base),
    };
    names.placed.insert(place.output_file(), task.id);
    Ok(place)
}

/// Makes the slug of a title, with the id of the task if another task has its file.
fn free_slug(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    task: &Task,
    names: &Names,
) -> Result<String> {
    let plain = slug(&task.title, task.id);
    let own = task.id.to_string().to_lowercase();
    let mut wanted = plain.clone();
    for number in 2.. {
        if is_free(transaction, workspace, task.id, names, &wanted)? {
            break;
        }
        wanted = match number {
            2 => add_suffix(&plain, &own),
            number => add_suffix(&plain, &format!("{own}-{}", number - 1)),
        };
    }
    Ok(wanted)
}

/// Returns whether a task may write to the file of a slug: it owns the file, or the file has no owner. Of a deleted owner
/// the file or the entry may be left.
fn is_free(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    task: TaskId,
    names: &Names,
    slug: &str,
) -> Result<bool> {
    let file = output_file(&names.date, slug);
    let placed = names.placed.get(&file).copied();
    if let Some(owner) =
        placed.map_or_else(|| transaction.owner_of_output(&file), |id| Ok(Some(id)))?
    {
        return Ok(owner == task);
    }
    let is_there = workspace.root.join(&file).symlink_metadata().is_ok();
    let name = file.rsplit('/').next().unwrap_or(&file);
    Ok(!is_there && !names.in_manifest.has_file(name))
}

/// Reads the latest entry of each dependency of some tasks; of one that no entry names, the last linked entry.
pub(super) fn read_findings(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    tasks: &[TaskId],
) -> Result<log::Latest> {
    let mut needs = BTreeSet::new();
    for task in tasks {
        needs.extend(transaction.depends(*task)?);
    }
    if needs.is_empty() {
        return Ok(log::Latest::default());
    }
    let needs: Vec<TaskId> = needs.into_iter().collect();
    let path = workspace.manifest()?;
    let mut findings = log::latest_for(&path, &needs, |_| true)?;
    let mut later = Vec::new();
    for need in needs {
        if findings.entry(need).is_none()
            && let Some(link) = transaction.links(need)?.pop()
        {
            later.push((need, link.entry));
        }
    }
    let ids = later.iter().map(|(_, id)| id.as_str()).collect();
    let found = log::find_all(&path, &ids)?;
    for (need, id) in &later {
        if let Some((_, entry)) = found.get(id).and_then(|found| found.entry.as_ref()) {
            findings.add(*need, entry);
        }
    }
    Ok(findings)
}

pub(super) fn make_bindings(
    transaction: &dyn Transaction,
    findings: &log::Latest,
    task: &Task,
    place: &Place,
    tests: Option<&str>,
) -> Result<Bindings> {
    let or_none = |text: Option<String>| {
        let text = text.filter(|text| !text.is_empty());
        text.unwrap_or_else(|| NONE.to_string())
    };
    let epic = find_epic(transaction, task)?;
    let epic_id = epic.as_ref().map(|epic| epic.id);
    let plan = epic_id.filter(|_| !task.kind.is_epic()).unwrap_or(task.id);
    let session = find_covering_session(transaction, task.id)?.map(|id| id.to_string());
    // The name of a phase is inside the block, so it must be a slug.
    let phase = task.phase.as_deref().map(|phase| match is_slug(phase) {
        true => phase.to_string(),
        false => slug_of(phase),
    });
    let next = transaction.list_unblocked_by(task.id)?;
    let criteria = task
        .acceptance
        .iter()
        .map(|line| Criterion::read(line).sentence());
    let criteria = bullets(&Vec::from_iter(criteria));
    let deliverables = bullets(&task.deliverables).or_else(|| bullets(&task.files));
    let findings = summaries(transaction, findings, &task.depends)?;
    let mut bindings = Bindings::bind_constants();
    for (name, value) in UNSAID {
        bindings.set(name, value);
    }
    for (name, value) in [
        ("TASK_ID", task.id.to_string()),
        ("DATE", place.date.clone()),
        ("TOPIC_SLUG", place.slug.clone()),
        ("RESEARCH_ID", place.manifest_id.clone()),
        ("TASK_TITLE", task.title.clone()),
        ("TASK_NAME", task.title.clone()),
        ("TITLE", task.title.clone()),
        ("TASK_DESCRIPTION", fence(&task.description)),
        ("TASK_INSTRUCTIONS", fence(&task.description)),
        ("EPIC_ID", or_none(epic_id.map(|id| id.to_string()))),
        ("PLAN_ID", plan.to_string()),
        ("SESSION_ID", or_none(session)),
        ("PHASE", or_none(phase)),
        ("TOPICS", topics(task).join(",")),
        (
            "TOPICS_JSON",
            crate::document::to_json(&topics(task)).unwrap_or_default(),
        ),
        ("DEPENDS_LIST", or_none(Some(id::list(&task.depends)))),
        ("NEXT_TASK_IDS", or_none(Some(id::list(&next)))),
    ] {
        bindings.set(name, value);
    }
    for (name, value) in [
        ("TASK_NOTES", format_notes(&task.notes)),
        ("ACCEPTANCE_CRITERIA", criteria),
        ("DELIVERABLES_LIST", deliverables),
        ("MANIFEST_SUMMARIES", findings),
        (
            "RELATED_TASKS",
            describe_related(transaction, epic, &next, tests)?,
        ),
    ] {
        value
            .into_iter()
            .for_each(|value| bindings.set(name, value));
    }
    Ok(bindings)
}

fn find_epic(transaction: &dyn Transaction, task: &Task) -> Result<Option<Task>> {
    for id in above(transaction, task.id)? {
        let task = transaction.salvage(id)?;
        if let Some(epic) = task.filter(|task| task.kind.is_epic()) {
            return Ok(Some(epic));
        }
    }
    Ok(None)
}

/// Returns the topics of a task for its entry: its labels as slugs, so that no label can break the line.
pub(in crate::ops) fn topics(task: &Task) -> Vec<String> {
    let topics = task.labels.iter().map(|label| slug_of(label));
    let topics: IndexSet<String> = topics.filter(|topic| !topic.is_empty()).collect();
    match topics.is_empty() {
        true => vec![task.kind.to_string()],
        false => topics.into_iter().collect(),
    }
}

/// Signs of text that could swallow the protocol behind it, or pass for the protocol.
const FENCED: [&str; 5] = ["```", "~~~", "<!--", "SUBAGENT PROTOCOL", "OUT-0"];

/// Puts a fence around text with one of the signs in it, or with a line that could be HTML or a heading. Other text
/// stays as it is.
fn fence(text: &str) -> String {
    let is_underline = |line: &str| {
        let mut signs = line.bytes();
        let first = signs.next();
        matches!(first, Some(b'-' | b'=')) && signs.all(|sign| Some(sign) == first)
    };
    let is_heading = |line: &str| {
        let rest = line.trim_start_matches('#');
        rest.len() < line.len() && (rest.is_empty() || rest.starts_with([' ', '\t']))
    };
    // `<https://…>` is a link.
    let is_html = |line: &str| {
        line.starts_with('<')
            && !["<http://", "<https://"]
                .iter()
                .any(|it| line.starts_with(it))
    };
    let mut lines = text.lines().map(str::trim);
    let is_structure = |line: &str| is_html(line) || is_heading(line) || is_underline(line);
    if !FENCED.iter().any(|sign| text.contains(sign)) && !lines.any(is_structure) {
        return text.to_string();
    }
    let longest = text.split(|c| c != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or_default().max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

fn bullets(lines: &[String]) -> Option<String> {
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Lists title, id and key findings of the latest entry of each dependency. A finding is cut to one line, so that
/// it cannot look like a part of the prompt.
fn summaries(
    transaction: &dyn Transaction,
    findings: &log::Latest,
    depends: &[TaskId],
) -> Result<Option<String>> {
    let mut lines = Vec::new();
    for id in depends {
        let Some(entry) = findings.entry(*id) else {
            continue;
        };
        let title = transaction
            .salvage(*id)?
            .map(|task| task.title)
            .unwrap_or_default();
        lines.push(format!("- {id} {title} ({})", entry.id));
        lines.extend(
            entry
                .key_findings
                .iter()
                .map(|finding| format!("  - {}", one_line(finding, FINDING_MAX))),
        );
    }
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}

/// Describes the epic of a task with its goal, the tasks that wait for it, and the tests of the project, each on a line
/// of bounded length.
fn describe_related(
    transaction: &dyn Transaction,
    epic: Option<Task>,
    next: &[TaskId],
    tests: Option<&str>,
) -> Result<Option<String>> {
    let epic_id = epic.as_ref().map(|epic| epic.id);
    let mut related = Vec::from_iter(epic);
    for id in next.iter().take(RELATED_MAX) {
        related.extend(transaction.salvage(*id)?);
    }
    let lines = related.iter().map(|task| {
        let Task { id, title, .. } = task;
        let text = match Some(*id) == epic_id {
            true => format!("Epic {id}: {title}. {}", task.description),
            false => format!("{id} waits for this: {title}"),
        };
        one_line(text.trim_end_matches(". "), FINDING_MAX)
    });
    let tests = tests.map(|tests| format!("Tests of the project: `{tests}`"));
    Ok(bullets(&lines.chain(tests).collect::<Vec<_>>()))
}
