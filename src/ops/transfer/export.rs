//! Writing tasks out.

use std::path::Path;

use serde::Serialize;

use super::sync::write_out;
use crate::error::{Error, Result, quote};
use crate::id::TaskId;
use crate::ops::Context;
use crate::store::Transaction;
use crate::task::Task;
use crate::transfer::formats::cleo;
use crate::transfer::markdown;

/// How many tasks are read at a time.
const PIECE: u32 = 1_000;

/// What the tasks are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// cleo's own lines
    Jsonl,
    /// A page for people
    Markdown,
}

/// What was exported.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Exported {
    /// The text, when it went into no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How many tasks there are in it.
    pub total: usize,
    /// What the caller should know.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Writes all tasks into a file, or returns them as a text. A merge with a file of lines knows from then on what
/// both sides have.
pub fn export(context: &mut Context, target: Target, output: Option<&Path>) -> Result<Exported> {
    let Some(output) = output else {
        let (text, total) = written(context, target)?;
        return Ok(Exported {
            text: Some(text),
            file: None,
            total,
            warnings: Vec::new(),
        });
    };
    let file = context.surroundings.directory.join(output);
    let shown = output.to_string_lossy().into_owned();
    let instead = |error: Error| error.instead(&shown, "tasks.jsonl");
    context.workspace.refuse_own(&file).map_err(instead)?;
    let (total, warnings) = match target {
        Target::Jsonl if is_inside(&file, &context.workspace.root) => {
            remembered(context, &file, &shown)?
        }
        Target::Jsonl | Target::Markdown => (forgotten(context, target, &file)?, Vec::new()),
    };
    Ok(Exported {
        text: None,
        file: Some(shown),
        total,
        warnings,
    })
}

/// Says whether a file lies in the workspace, where what is kept in git lies; others are copies to put away, of
/// which there may be many.
fn is_inside(file: &Path, root: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let folder = file.parent().unwrap_or(file);
    real(folder).starts_with(real(root))
}

/// Writes a file that a later merge knows. Where that cannot be kept, the file is good all the same.
fn remembered(context: &mut Context, file: &Path, shown: &str) -> Result<(usize, Vec<String>)> {
    let error = match write_out(context, file) {
        Ok(total) => return Ok((total, Vec::new())),
        Err(error) => error,
    };
    let total = forgotten(context, Target::Jsonl, file)?;
    let (reason, name) = (error.shown(), quote(shown));
    let warning = format!(
        "{shown} is written, but what it holds could not be kept for later merges ({reason}); \
         `cleo sync {name}` may list conflicts that are none"
    );
    Ok((total, vec![warning]))
}

/// Writes a file of which nothing is kept, and returns how many tasks there are in it.
fn forgotten(context: &mut Context, target: Target, file: &Path) -> Result<usize> {
    let (text, total) = written(context, target)?;
    crate::file::write_whole(file, &text)?;
    Ok(total)
}

fn written(context: &mut Context, target: Target) -> Result<(String, usize)> {
    context.read(|tasks| match target {
        Target::Jsonl => lines(tasks),
        Target::Markdown => page(tasks),
    })
}

/// Hands out every task, by id.
pub(super) fn each(
    tasks: &dyn Transaction,
    mut take: impl FnMut(Task) -> Result<()>,
) -> Result<usize> {
    let (mut last, mut total) = (TaskId(0), 0);
    loop {
        let piece = tasks.tasks_after(last, PIECE)?;
        let Some(end) = piece.last() else {
            return Ok(total);
        };
        last = end.id;
        total += piece.len();
        piece.into_iter().try_for_each(&mut take)?;
    }
}

/// Returns every task as a line, and how many there are.
pub(super) fn lines(tasks: &dyn Transaction) -> Result<(String, usize)> {
    let mut text = format!("{}\n", cleo::HEADER);
    let total = each(tasks, |task| {
        text.push_str(&cleo::line(&task));
        text.push('\n');
        Ok(())
    })?;
    Ok((text, total))
}

fn page(tasks: &dyn Transaction) -> Result<(String, usize)> {
    let mut all = Vec::new();
    let total = each(tasks, |task| {
        all.push(markdown::Item::of(task));
        Ok(())
    })?;
    Ok((markdown::page(&all), total))
}
