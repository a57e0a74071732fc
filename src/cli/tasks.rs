//! `cleo add`, `cleo list` and `cleo find`

use std::fs::File;
use std::io::{BufReader, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Face;
use super::screen::{Cell, Screen, Tone, dim, plain, status, strong, tree_prefixes};
use super::show::{state, task_line};
use crate::config::LIST_LIMIT;
use crate::error::{Code, Error, Result};
use crate::file::unreadable;
use crate::id::TaskId;
use crate::ops::tasks::{self, Added, Listed, ListedTask, TreeRow};
use crate::ops::trust::{Item, warn_of};
use crate::ops::{Context, api};
use crate::store::{Archived, Filter};
use crate::task::Status;
use crate::task::fields::{Draft, Patch};
use crate::task::rules::is_path;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo add 'Build login' --type epic
  cleo add 'Research token refresh' --parent T1 --label research --acceptance 'sources named'
  cleo add 'Implement token refresh' --depends T2 --file 'src/auth/**' --priority high
  cleo add --batch plan.jsonl

Paths of --file and --deliverable count from the current folder; those of a batch from the root.
A batch has one JSON object per line: title, and any of type, parent, description, agent, priority,
size, phase, due, estimate and feature, and as lists depends, labels, acceptance, files,
deliverables and notes. A line may have \"key\":\"name\"; other lines refer to it by \"depends\":[\"@name\"] or \"parent\":\"@name\". All tasks are added,
or none. For more than 100 lines, the reply has only the number of tasks, the first and the last
id; ids follow the order of the lines.")]
pub(super) struct AddArguments {
    #[command(flatten)]
    draft: Draft,

    /// Add the tasks of this JSON lines file; - reads standard input
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
}

pub(super) fn add(face: &mut Face<'_>, arguments: AddArguments) -> Result<ExitCode> {
    match arguments.batch {
        None => {
            let mut draft = arguments.draft;
            count_from_root(face, &mut draft.files, &mut draft.deliverables)?;
            face.call(&api::ADD, draft, show_added)
        }
        // The error of clap would list every option.
        Some(_) if arguments.draft != Draft::default() => Err(Error::new(
            Code::Usage,
            "`--batch` cannot be used with a field of a task; each line of the file has its own",
        )),
        Some(file) => add_batch(face, file),
    }
}

pub(super) fn update(face: &mut Face<'_>, mut patch: Patch) -> Result<ExitCode> {
    count_from_root(face, &mut patch.files, &mut patch.deliverables)?;
    face.call(&api::UPDATE, patch, |screen, updated| {
        screen.say(Tone::Good, "Updated ");
        task_line(screen, &updated.task);
    })
}

fn count_from_root(face: &Face<'_>, files: &mut [String], results: &mut [String]) -> Result<()> {
    let results = results.iter_mut().filter(|result| is_path(result));
    let paths = files.iter_mut().chain(results);
    face.surroundings()?.count_from_root(paths);
    Ok(())
}

fn add_batch(face: &mut Face<'_>, file: PathBuf) -> Result<ExitCode> {
    let plans = if file.as_os_str() == "-" {
        tasks::read_batch(stdin().lock(), None)?
    } else {
        let opened = File::open(&file).map_err(|cause| unreadable(&file, cause))?;
        tasks::read_batch(BufReader::new(opened), Some(&file))?
    };
    let lines = plans.iter().flat_map(|plan| plan.task.acceptance.clone());
    let commands = Item::criteria(TaskId(0), &lines.collect::<Vec<String>>());
    let mut context = face.context()?;
    let result = tasks::add_batch(&mut context, plans);
    let result = result.map_err(|error| match file.as_os_str() == "-" {
        true => error,
        false => tasks::with_look(error, &file),
    })?;
    let warnings = warn_of(&context.surroundings, &context.workspace, &commands);
    face.reply(&result, &warnings, |screen| {
        for added in result.tasks.iter().flatten() {
            show_added(screen, added);
        }
        let ids = match (result.first, result.last) {
            (Some(first), Some(last)) if result.tasks.is_none() => format!(": {first} to {last}"),
            _ => String::new(),
        };
        let told = format!("{} of {} added{ids}", result.created, result.total);
        screen.line(Tone::Dim, told);
    })
}

fn show_added(screen: &mut Screen, added: &Added) {
    let (tone, word) = if added.created {
        (Tone::Good, "Added ")
    } else {
        (Tone::Dim, "Known ")
    };
    screen.say(tone, word);
    task_line(screen, &added.task);
}

#[derive(Args)]
#[command(after_help = "\
Closed tasks are left out, unless --status, --all or --archived asks for them. A pending task is
shown as ready or waiting; `cleo ready` lists those that can start.

Examples:
  cleo list
  cleo list --status done --limit 100
  cleo list --label research --priority high
  cleo list --parent T1 --tree
  cleo list --json | jq -r '.result.tasks[] | [.id, .title] | @tsv'")]
pub(super) struct ListArguments {
    #[command(flatten)]
    list: Filter,

    /// Show tasks as a tree
    #[arg(long, conflicts_with = "offset")]
    tree: bool,

    #[command(flatten)]
    archive: ArchiveOptions,
}

// Options for archived tasks.
#[derive(Args)]
pub(super) struct ArchiveOptions {
    /// Only archived tasks
    #[arg(long)]
    archived: bool,

    /// Include archived tasks, and in `cleo list` closed ones
    #[arg(long, conflicts_with = "archived")]
    all: bool,
}

impl ArchiveOptions {
    pub(super) fn archive_filter(&self) -> Archived {
        match (self.archived, self.all) {
            (true, _) => Archived::Only,
            (_, true) => Archived::Shown,
            _ => Archived::Hidden,
        }
    }
}

#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Tree {
    tasks: Vec<TreeRow>,
    total: usize,
}

pub(super) fn list(face: &mut Face<'_>, arguments: ListArguments) -> Result<ExitCode> {
    let mut list = arguments.list;
    list.archived = arguments.archive.archive_filter();
    let is_open_only = list.statuses.is_empty() && list.archived == Archived::Hidden;
    if is_open_only {
        let open = Status::ALL.iter().filter(|status| !status.is_closed());
        list.statuses = open.copied().collect();
    }
    let none = match is_open_only {
        true => "no open tasks found; see closed ones with --all",
        false => "no tasks found",
    };
    let usual = face.settings.number(LIST_LIMIT);
    let usual = usual.and_then(|limit| u32::try_from(limit).ok());
    list.limit = list.limit.or(usual);
    if arguments.tree {
        let (root, limit) = (list.parent.take(), list.limit.take());
        let work = |context: &mut Context| {
            let mut tasks = tasks::tree(context, root, &list)?;
            let total = tasks.len();
            tasks.truncate(limit.map_or(total, |limit| limit as usize));
            Ok(Tree { tasks, total })
        };
        return face.inside("list", work, |screen, result| {
            if result.tasks.is_empty() {
                screen.line(Tone::Dim, none);
            }
            let depths = result.tasks.iter().map(|row| row.depth);
            for (row, branch) in result.tasks.iter().zip(tree_prefixes(depths)) {
                let ListedTask { task, .. } = &row.listed;
                let (id, title) = (format!("{} ", task.id), format!("  {}", task.title));
                screen.fit(&[
                    dim(branch),
                    strong(id),
                    state(task, row.listed.availability.ready),
                    plain(title),
                ]);
            }
            if result.tasks.len() < result.total {
                screen.cut_at(result.tasks.len(), result.total as u64, "tasks");
                screen.line(Tone::Dim, format!("see all with --limit {}", result.total));
            }
        });
    }
    let next = u64::from(list.offset) + u64::from(list.limit.unwrap_or_default());
    face.call(&api::LIST, list, |screen, listed| {
        table(screen, listed, none);
        if next < listed.total && !listed.tasks.is_empty() {
            screen.line(Tone::Dim, format!("see more with --offset {next}"));
        }
    })
}

fn table(screen: &mut Screen, listed: &Listed, none: &str) {
    let mut tasks = listed.tasks.iter();
    let has_agents = tasks.any(|one| one.task.assigned_agent.is_some());
    let mut tasks = listed.tasks.iter();
    let has_holders = tasks.any(|one| one.availability.holder.is_some());
    if listed.total == 0 || !listed.tasks.is_empty() {
        let mut head = vec!["ID", "STATUS", "PRIORITY", "TYPE"];
        head.extend(has_agents.then_some("AGENT"));
        head.extend(has_holders.then_some("HOLDER"));
        head.push("TITLE");
        let rows = listed.tasks.iter();
        let rows = rows.map(|one| row(one, has_agents, has_holders));
        screen.list(none, &head, rows);
    }
    screen.cut_at(listed.tasks.len(), listed.total, "tasks");
}

fn row(one: &ListedTask, has_agents: bool, has_holders: bool) -> Vec<Cell> {
    let (task, availability) = (&one.task, &one.availability);
    let mut cells = vec![
        strong(task.id),
        state(task, availability.ready),
        status(task.priority),
        dim(&task.kind),
    ];
    let name = |name: &Option<String>| plain(name.as_deref().unwrap_or("-"));
    cells.extend(has_agents.then(|| name(&task.assigned_agent)));
    cells.extend(has_holders.then(|| name(&availability.holder)));
    cells.push(plain(&task.title));
    cells
}

#[derive(Args)]
#[command(after_help = "\
Finds open and closed tasks.

Examples:
  cleo find token refresh")]
pub(super) struct FindArguments {
    /// Words, or how they begin; a task has to have all of them
    #[arg(required = true)]
    words: Vec<String>,

    /// Maximum number of tasks
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,

    #[command(flatten)]
    archive: ArchiveOptions,
}

pub(super) fn find(face: &mut Face<'_>, arguments: FindArguments) -> Result<ExitCode> {
    let words = arguments.words.join(" ");
    let archived = arguments.archive.archive_filter();
    let mut context = face.context()?;
    let listed = tasks::find(&mut context, &words, archived, arguments.limit)?;
    let listed = tasks::add_availability(&mut context, listed)?;
    face.reply(&listed, &[], |screen| {
        table(screen, &listed, "no tasks found");
        if (listed.tasks.len() as u64) < listed.total {
            let all = format!("see all with --limit {}", listed.total);
            screen.line(Tone::Dim, all);
        }
    })
}
