//! Prompts for many tasks: one document, or a line for each.

use std::process::ExitCode;

use serde::Serialize;

use super::{keep_options, with_kept};
use crate::cli::Face;
use crate::cli::arguments::Format;
use crate::cli::screen::{Cell, Screen, Tone, count};
use crate::error::{Error, Result};
use crate::ops::Context;
use crate::ops::spawn::{Batch, Options, Selection, Spawned, select, spawn_batch};

/// The answer in one document.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(in crate::cli) struct Document {
    spawns: Vec<Spawned>,
    #[serde(flatten)]
    batch: Batch,
}

pub(super) fn run(
    face: &mut Face<'_>,
    selection: Selection,
    options: &Options,
    kept: &str,
) -> Result<ExitCode> {
    let mut context = face.context()?;
    let (ids, left_out) = select(&mut context, selection)?;
    if ids.is_empty() {
        face.output.note(match left_out.is_empty() {
            true => "nothing is ready in this wave",
            false => "all that is ready in this wave touches files of tasks under way",
        });
    }
    let work = |context: &mut Context, take: &mut dyn FnMut(Spawned) -> bool| {
        let batch = spawn_batch(context, &ids, options, take);
        let mut batch = batch.map_err(|error| with_kept(error, kept))?;
        for failed in &mut batch.failed {
            keep_options(&mut failed.error, kept);
        }
        batch.warnings.splice(0..0, left_out.iter().cloned());
        let error = batch.error(options, kept);
        Ok((batch, error))
    };
    if face.output.format() == Format::Ndjson {
        return stream(face, |take| work(&mut context, take));
    }
    let mut spawns = Vec::new();
    let (batch, error) = work(&mut context, &mut |spawned| {
        spawns.push(spawned);
        true
    })?;
    let document = Document { spawns, batch };
    let warnings = &document.batch.warnings;
    face.outcome(&document, error, warnings, |screen| {
        render(screen, &document)
    })
}

type Done = (Batch, Option<Error>);

/// Answers with a line for each prompt; the last line sums up.
fn stream(
    face: &mut Face<'_>,
    work: impl FnOnce(&mut dyn FnMut(Spawned) -> bool) -> Result<Done>,
) -> Result<ExitCode> {
    let name = face.name;
    let mut lines = face.output.stream();
    let (batch, error) = work(&mut |spawned| lines.send(name, &Ok(spawned)))?;
    let error = face.with_fix(error);
    lines.finish(name, &batch, error.as_ref(), &batch.warnings);
    Ok(face.output.end(lines))
}

/// People see what was prepared; the prompts are too long to be read one behind the other.
fn render(screen: &mut Screen, document: &Document) {
    let row = |spawned: &Spawned| -> Vec<Cell> {
        vec![
            (Tone::Accent, spawned.task_id.to_string()),
            (Tone::Plain, spawned.skill.clone()),
            (Tone::Dim, spawned.token_estimate.total.to_string()),
            (Tone::Plain, spawned.output_file.clone()),
        ]
    };
    if !document.spawns.is_empty() {
        let head = ["TASK", "SKILL", "TOKENS", "OUTPUT"];
        screen.table(&head, document.spawns.iter().map(row).collect());
    }
    for failed in &document.batch.failed {
        screen
            .say(Tone::Bad, format!("{} ", failed.task_id))
            .line(Tone::Plain, failed.error.shown());
    }
    screen.line(Tone::Dim, count(document.batch.total, "prompt", "prompts"));
}
