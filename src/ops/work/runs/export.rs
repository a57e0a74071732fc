//! Runs exported to files: a page for people, JUnit XML and GitHub output for CI.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::show;
use crate::error::{Code, Error, Result, quote};
use crate::file::{refuse_other_file, unwritable, write_whole};
use crate::ops::{Context, Surroundings};
use crate::run::report::{github, html, junit};
use crate::run::view::RunView;

pub(crate) fn page(context: &mut Context, id: &str, path: &Path) -> Result<RunView> {
    let shown = show(context, id)?;
    let place = resolve_named_file(&context.surroundings, path, html::START)?;
    write_whole(&place, &html::page(&shown)?)?;
    Ok(shown)
}

pub(crate) fn html(context: &mut Context, id: &str) -> Result<String> {
    html::page(&show(context, id)?)
}

pub(crate) fn write_junit(surroundings: &Surroundings, shown: &RunView, path: &Path) -> Result<()> {
    let place = resolve_named_file(surroundings, path, junit::START)?;
    write_whole(&place, &junit::junit(shown))
}

/// Refuses a place for the JUnit XML of a run to which nothing could be written, before the run begins.
pub(crate) fn check_xml(surroundings: &Surroundings, path: &Path) -> Result<()> {
    resolve_named_file(surroundings, path, junit::START).map(drop)
}

/// Appends the summary of the job and the outputs of the step; returns the annotations, which go out
/// as lines.
pub(crate) fn write_github_report(
    shown: &RunView,
    summary: Option<&Path>,
    outputs: Option<&Path>,
) -> (String, Vec<Error>) {
    let mut faults = Vec::new();
    let mut note = |done: Result<()>| faults.extend(done.err());
    if let Some(path) = summary {
        let there = fs::metadata(path).map_or(0, |file| file.len());
        let there = usize::try_from(there).unwrap_or(usize::MAX);
        let room = github::SUMMARY_MAX.saturating_sub(there);
        note(append(path, &github::summary(shown, room)));
    }
    if let Some(path) = outputs {
        note(append(path, &github::outputs(shown)));
    }
    (github::annotations(shown), faults)
}

/// Finds where a report that begins with `start` would be written: over an earlier one, and no other file.
fn resolve_named_file(surroundings: &Surroundings, path: &Path, start: &str) -> Result<PathBuf> {
    let full = surroundings.directory.join(path);
    let workspace = surroundings.workspace()?;
    workspace.refuse_own(&full)?;
    if full.is_dir() {
        return Err(error!(FileUnwritable, "{} is a folder", path.display()));
    }
    let folder = full.parent().unwrap_or(&full);
    if !folder.is_dir() {
        let message = format!(
            "{} cannot be written: {} is not a folder",
            path.display(),
            folder.display()
        );
        let fix = format!("mkdir -p {}", quote(&folder.to_string_lossy()));
        return Err(Error::new(Code::FileUnwritable, message).fix(fix));
    }
    refuse_other_file(&full, start, "a report of a run")?;
    Ok(full)
}

fn append(path: &Path, text: &str) -> Result<()> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|cause| unwritable(path, cause))
}
