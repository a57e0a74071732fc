//! Skills, protocols, the manifest and the folders of a workspace.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use walkdir::{DirEntry, WalkDir};

use super::Finding;
use crate::error::{Result, quote};
use crate::file::{DRAFT, unwritable};
use crate::ops::manifest::{self, Compact};
use crate::ops::operation::Nothing;
use crate::ops::{Context, Surroundings, skills};
use crate::workspace::{OUTPUT_DIR, RUNS, Workspace};

/// Maximum number of findings of one kind.
const NAMED_MAX: usize = 10;

pub(super) fn check_skills(surroundings: &Surroundings) -> Vec<Finding> {
    let catalogue = match skills::catalogue(surroundings) {
        Ok(catalogue) => catalogue,
        Err(error) => return vec![Finding::from_error("skills", error)],
    };
    let mut findings: Vec<Finding> = Vec::new();
    let left_out = catalogue.warnings.iter().take(NAMED_MAX);
    findings.extend(left_out.map(|text| Finding::warn("skills", text, "cleo skills validate")));
    match skills::judge(surroundings, &[]) {
        Ok(judged) => findings.extend(judged.iter().filter_map(describe_fault).take(NAMED_MAX)),
        Err(error) => findings.push(Finding::from_error("skills.valid", error)),
    }
    if findings.is_empty() {
        let n = catalogue.skills.len();
        let message = format!("{n} skills, all valid");
        findings.push(Finding::ok("skills", message));
    }
    let n = catalogue.protocols.len();
    let message = format!("{n} protocols and their base can be read");
    findings.push(Finding::ok("protocols", message));
    findings
}

fn describe_fault(judged: &skills::Validated) -> Option<Finding> {
    let fault = judged.faults.first()?;
    let message = format!(
        "{}:{}:{}: {}",
        judged.path, fault.line, fault.column, fault.message
    );
    let fix = "cleo skills validate";
    Some(Finding::warn("skills.valid", message, fix))
}

pub(super) fn check_manifest(context: &mut Context) -> Finding {
    let check = "manifest";
    match manifest::validate(context, Nothing::default()) {
        Ok(found) => match context.notes.failure.take() {
            None => {
                let (n, noun) = match found.entries {
                    1 => (1, "entry"),
                    n => (n, "entries"),
                };
                Finding::ok(check, format!("{n} {noun}, every line whole"))
            }
            Some(error) => {
                // Compacting removes lines that are not entries; a fault of an entry is left to its author.
                let fix = match manifest::compact(context, Compact { dry_run: true })
                    .map_or(0, |found| found.total)
                {
                    0 => "cleo manifest validate",
                    _ => "cleo manifest compact",
                };
                Finding::fail(check, error.message, fix)
            }
        },
        Err(error) => Finding::from_error(check, error),
    }
}

/// Minimum age of a draft that an ended process left.
const LEFT_BEHIND: Duration = Duration::from_secs(600);
/// Number of random characters after it.
const RANDOM: usize = 6;
/// Number of bytes that a folder must have room for.
const PROBE: u64 = 1 << 17;

pub(super) fn check_folders(workspace: &Workspace) -> Vec<Finding> {
    let folders = [".cleo", OUTPUT_DIR].map(|folder| workspace.root.join(folder));
    let mut findings: Vec<Finding> = folders
        .iter()
        .map(|folder| check_writable(workspace, folder))
        .collect();
    findings.push(check_ignored(workspace));
    findings.extend(check_links(workspace));
    findings.push(check_leftovers(workspace));
    findings
}

fn check_writable(workspace: &Workspace, folder: &Path) -> Finding {
    let check = "workspace.folders";
    if !folder.is_dir() {
        let root = quote(&workspace.root.to_string_lossy()).to_string();
        let message = format!("{} is missing", folder.display());
        return Finding::fail(check, message, format!("cleo --root {root} init"));
    }
    match probe(folder) {
        Ok(()) => Finding::ok(check, format!("{} can be written", folder.display())),
        Err(cause) => {
            let message = format!("{} cannot be written: {cause}", folder.display());
            let error = unwritable(&folder.join(DRAFT), cause);
            Finding::fail(check, message, error.fix.unwrap_or_default())
        }
    }
}

/// Writes a file and removes it. An empty file would fit on a full disk.
fn probe(folder: &Path) -> io::Result<()> {
    let mut draft = tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder)?;
    io::copy(&mut io::repeat(0).take(PROBE), &mut draft)?;
    draft.as_file().sync_all()
}

fn check_ignored(workspace: &Workspace) -> Finding {
    let check = "workspace.ignore";
    if workspace.root.join(".cleo/.gitignore").is_file() {
        return Finding::ok(check, "the database is kept out of version control");
    }
    let root = quote(&workspace.root.to_string_lossy()).to_string();
    let message = ".cleo/.gitignore is missing, so the database may get into version control";
    Finding::warn(check, message, format!("cleo --root {root} init"))
}

/// Finds links out of the workspace in places that cleo writes to, which it then refuses.
fn check_links(workspace: &Workspace) -> Vec<Finding> {
    let check = "workspace.links";
    let below = WalkDir::new(workspace.root.join(RUNS)).follow_root_links(false);
    let below = below.min_depth(1).max_depth(3).into_iter().flatten();
    let links = below.filter(DirEntry::path_is_symlink);
    let links = links.filter_map(|link| {
        let place = link.path().strip_prefix(&workspace.root).ok()?;
        Some(place.to_string_lossy().into_owned())
    });
    let places = [RUNS, ".cleo/config.yaml", ".cleo/cleo.db"].map(String::from);
    let refused = places.into_iter().chain(links);
    let refused = refused.filter_map(|place| workspace.confine(&place).err());
    let mut findings = Vec::from_iter(refused.map(|error| Finding::from_error(check, error)));
    // The fix names the link, below which everything leads out.
    findings.dedup_by(|one, other| one.fix == other.fix);
    if findings.is_empty() {
        let message = "nothing that cleo writes leads out of the workspace";
        findings.push(Finding::ok(check, message));
    }
    findings
}

/// Lists the drafts that ended processes left, in the folders that cleo writes to. Links are not followed.
fn list_leftovers(workspace: &Workspace) -> BTreeSet<PathBuf> {
    let folders = [
        ("", 2),
        (".cleo", 4),
        (".claude", 2),
        (".codex", 2),
        (OUTPUT_DIR, 1),
    ];
    let files = folders.into_iter().flat_map(|(folder, depth)| {
        let walk = WalkDir::new(workspace.root.join(folder)).follow_root_links(false);
        walk.max_depth(depth).into_iter().flatten()
    });
    let is_left = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        let random = name.strip_prefix(DRAFT);
        let changed = entry.metadata().ok().and_then(|it| it.modified().ok());
        let age = changed.and_then(|changed| changed.elapsed().ok());
        let is_draft = random.is_some_and(|random| random.len() == RANDOM);
        is_draft && !entry.path_is_symlink() && age.is_some_and(|age| age > LEFT_BEHIND)
    };
    files.filter(is_left).map(DirEntry::into_path).collect()
}

pub(super) fn remove_leftovers(workspace: &Workspace) -> Result<()> {
    for path in list_leftovers(workspace) {
        let removed = match path.is_dir() {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
        match removed {
            // It was in a draft, or another repair removed it.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
            removed => removed.map_err(|cause| unwritable(&path, cause))?,
        }
    }
    Ok(())
}

fn check_leftovers(workspace: &Workspace) -> Finding {
    let (check, left) = ("workspace.leftovers", list_leftovers(workspace));
    if left.is_empty() {
        return Finding::ok(
            check,
            "no process left a draft in the folders that cleo writes to",
        );
    }
    let paths = left
        .iter()
        .map(|path| quote(&path.to_string_lossy()).to_string());
    let fix = format!("ls -l {}", Vec::from_iter(paths).join(" "));
    let message = format!(
        "drafts of ended processes that can be removed: {}; `cleo doctor --fix` removes them",
        left.len()
    );
    Finding::warn(check, message, fix)
}
