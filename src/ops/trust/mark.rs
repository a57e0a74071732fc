//! Marks of evidence: a store can come with a repository or from another account, and says itself what was verified.
//! That counts only with a mark that takes the key of this user, which is in the user's folder of data.

use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use sha2::Sha256;

use super::Trust;
use crate::error::{Code, Error, Result, quote};
use crate::file::{create_private, is_own as is_own_file, read_private};
use crate::gate::{Cause, Freshness, Gate, Gates, Present, Record, freshness};
use crate::id::{self, TaskId};
use crate::ops::tokens::{data_folder, make_secret};
use crate::store::SpawnRecord;
use crate::task::Task;
use crate::tree::{self, Tree};
use crate::workspace::Workspace;

/// Length of the key, in bytes.
const KEY: usize = 64;

/// The key of this user, for marks in one workspace.
pub(crate) struct Key {
    secret: Vec<u8>,
    workspace: String,
}

/// The gate or the line of the criterion that a record is about.
#[derive(Clone, Copy, Serialize)]
pub(crate) enum Place<'a> {
    Gate(Gate),
    Criterion(&'a str),
}

impl Key {
    pub(crate) fn mark(&self, task: TaskId, place: Place<'_>, record: &Record) -> String {
        let record = Record {
            mark: None,
            ..record.clone()
        };
        self.sign(&(task, place, record))
    }

    fn mark_output(&self, it: &SpawnRecord) -> String {
        self.sign(&(it.task, &it.manifest_id, &it.verified_at, &it.output_digest))
    }

    fn sign(&self, what: &impl Serialize) -> String {
        let text = serde_json::to_vec(&(&self.workspace, what)).unwrap_or_default();
        let mac = Hmac::<Sha256>::new_from_slice(&self.secret).expect("a key of any length is one");
        id::hex(&mac.chain_update(text).finalize().into_bytes())
    }
}

fn is_own(key: Option<&Key>, task: TaskId, place: Place<'_>, record: &Record) -> bool {
    let mark = key.map(|key| key.mark(task, place, record));
    mark.is_some() && mark == record.mark
}

/// Returns whether this user verified the output of the agent of a spawn.
pub(crate) fn is_verified(key: Option<&Key>, spawn: &SpawnRecord) -> bool {
    let mark = key.map(|key| key.mark_output(spawn));
    spawn.verified_at.is_some() && mark.is_some() && mark == spawn.mark
}

/// Returns whether another user verified the output of the agent of a spawn, or this one in another folder.
pub(crate) fn is_foreign(key: Option<&Key>, spawn: &SpawnRecord) -> bool {
    spawn.verified_at.is_some() && !is_verified(key, spawn)
}

/// Judges a record that passed by what is there now. One without the mark of this user is stale: a store can come from
/// another one.
pub(crate) fn judge(
    (key, workspace): (Option<&Key>, &Workspace),
    files: Option<&Tree>,
    is_run: bool,
    task: TaskId,
    (place, record): (Place<'_>, &Record),
) -> Freshness {
    if !is_own(key, task, place, record) {
        return Freshness::Stale(Cause::Foreign);
    }
    // Commands read more than is compared, such as what git ignores. A run merges its worktrees, so that it takes the
    // evidence of these for its own.
    let is_of_run = |root: &str| Workspace::from(PathBuf::from(root)).home_of_run().is_some();
    let place = |worktree: &Option<String>| {
        let worktree = worktree.clone();
        worktree.filter(|root| !is_run || !is_of_run(root))
    };
    let here = place(&workspace.worktree());
    let present = Present {
        tree: files.and_then(|files| files.digest.as_deref()),
        file: &|path| tree::file_digest(&workspace.confine(path).ok()?),
        is_elsewhere: &|origin| place(&origin.worktree) != here,
    };
    freshness(&record.evidence, &present)
}

/// Digests the files of a task, where evidence has to be compared with them.
pub(crate) fn digest_files(
    workspace: &Workspace,
    task: &Task,
    gates: &Gates,
) -> Result<Option<Tree>> {
    let mut records = gates.gates.values().chain(gates.criteria.values());
    match records.any(|record| !record.evidence.is_empty()) {
        true => tree::digest(&workspace.root, &task.files).map(Some),
        false => Ok(None),
    }
}

/// Opens gates and criteria that passed for another user.
pub(crate) fn open_foreign(key: Option<&Key>, task: TaskId, gates: &mut Gates) {
    let is_kept =
        |place: Place<'_>, record: &Record| !record.passed || is_own(key, task, place, record);
    (gates.gates).retain(|gate, record| is_kept(Place::Gate(*gate), record));
    (gates.criteria).retain(|line, record| is_kept(Place::Criterion(line), record));
}

/// Counts evidence as taken in the workspace, once the work of its worktree is merged.
pub(crate) fn mark_merged(key: Option<&Key>, task: TaskId, gates: &mut Gates) {
    let on_gates = gates.gates.iter_mut();
    let on_gates = on_gates.map(|(gate, record)| (Place::Gate(*gate), record));
    let on_criteria = gates.criteria.iter_mut();
    let on_criteria = on_criteria.map(|(line, record)| (Place::Criterion(line), record));
    for (place, record) in on_gates.chain(on_criteria) {
        let is_own = is_own(key, task, place, record);
        for each in &mut record.evidence {
            each.origin.worktree = None;
        }
        if let Some(key) = key.filter(|_| is_own) {
            record.mark = Some(key.mark(task, place, record));
        }
    }
}

impl Trust {
    /// Returns the key of this user, made if there is none.
    pub(crate) fn prepare_key(&self) -> Result<Key> {
        let path = self.key_path()?;
        if path.symlink_metadata().is_err() {
            create_private(&path, &make_secret()?)?;
        }
        self.load_key()?.ok_or_else(|| refuse_key(&path))
    }

    /// Returns the key of this user; none when it cannot be read, or nothing was verified on this machine yet.
    pub(crate) fn read_key(&self) -> Option<Key> {
        self.load_key().ok().flatten()
    }

    /// Returns the key of this user; none when nothing was verified on this machine yet.
    pub(crate) fn load_key(&self) -> Result<Option<Key>> {
        let path = self.key_path()?;
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let secret = read_private(&path, KEY as u64).filter(|secret| secret.len() == KEY);
        let secret = secret.ok_or_else(|| refuse_key(&path))?;
        Ok(Some(Key {
            secret,
            workspace: self.workspace.identity(),
        }))
    }

    /// Marks a verified output. Returns a warning where there is no key.
    pub(crate) fn mark_spawn(&self, record: &mut SpawnRecord) -> Option<String> {
        let (id, key) = (record.task, self.prepare_key());
        let marked = key.map(|key| key.mark_output(record));
        let marked = marked.map(|mark| record.mark = Some(mark));
        let why = marked.err()?.message;
        Some(format!(
            "the output of {id} verifies, and is shown as unverified: {why}"
        ))
    }

    fn key_path(&self) -> Result<PathBuf> {
        Ok(data_folder(&self.data_home, "evidence")?.join("key"))
    }
}

/// Makes the error of an unusable key, with a command that loses nothing: it is closed to others where only that
/// is wrong, else moved to a name that is free.
fn refuse_key(path: &Path) -> Error {
    let place = path.to_string_lossy();
    let message = format!(
        "{place} is no key for marks of evidence: it is not a regular file of this account, of {KEY} bytes and \
         closed to others"
    );
    let error = |why: &str| Error::new(Code::FileUnreadable, message.clone() + why);
    let there = path.symlink_metadata();
    if there.is_ok_and(|there| there.is_file() && is_own_file(&there) && there.len() == KEY as u64)
    {
        return error("").fix(format!("chmod u=rw,go= {}", quote(&place)));
    }
    let mut names = (1..).map(|number| format!("{place}.{number}"));
    let free = names.find(|name| Path::new(name).symlink_metadata().is_err());
    let aside = quote(&free.unwrap_or_default());
    error("; once it is moved away a new one is made, and what it proved has to be verified again")
        .fix(format!("mv -n {} {aside}", quote(&place)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Evidence, Origin, Proof};

    fn key(secret: u8, workspace: &str) -> Key {
        Key {
            secret: vec![secret; KEY],
            workspace: workspace.into(),
        }
    }

    fn record(digest: &str, worktree: Option<&str>) -> Record {
        let proof = Proof::File {
            path: "a".into(),
            digest: digest.into(),
        };
        let origin = Origin {
            worktree: worktree.map(str::to_string),
            ..Origin::default()
        };
        Record {
            passed: true,
            at: "2026-01-26T09:00:00.000Z".into(),
            by: "tester".into(),
            agent: None,
            forced: false,
            evidence: vec![Evidence { proof, origin }],
            mark: None,
        }
    }

    #[test]
    fn mark_holds_for_its_user_workspace_task_place_and_record() {
        const GATE: Place<'_> = Place::Gate(Gate::TestsPassed);
        let own = key(1, "/w");
        let tree = Some("/w/.cleo/runs/r/T1");
        let marked = |digest, worktree| Record {
            mark: Some(own.mark(TaskId(1), GATE, &record("d", tree))),
            ..record(digest, worktree)
        };
        for (key, task, place, record, expected) in [
            (&own, 1, GATE, marked("d", tree), true),
            (&own, 1, GATE, marked("d", None), false),
            (&own, 1, GATE, marked("e", tree), false),
            (&own, 1, GATE, record("d", tree), false),
            (
                &own,
                1,
                Place::Gate(Gate::Documented),
                marked("d", tree),
                false,
            ),
            (
                &own,
                1,
                Place::Criterion("testsPassed"),
                marked("d", tree),
                false,
            ),
            (&own, 2, GATE, marked("d", tree), false),
            (&key(2, "/w"), 1, GATE, marked("d", tree), false),
            (&key(1, "/v"), 1, GATE, marked("d", tree), false),
        ] {
            let holds = is_own(Some(key), TaskId(task), place, &record);
            assert_eq!(holds, expected, "{} {task} {record:?}", key.workspace);
            assert!(!is_own(None, TaskId(task), place, &record));
        }
    }

    #[test]
    fn merged_proof_counts_in_workspace_for_its_user_only() {
        let own = key(1, "/w");
        let tree = Some("/w/.cleo/runs/r/T1");
        let place = Place::Criterion("it holds");
        let mut gates = Gates::default();
        let mut proven = record("d", tree);
        proven.mark = Some(own.mark(TaskId(1), place, &proven));
        gates.criteria.insert("it holds".into(), proven);
        gates.gates.insert(Gate::Implemented, record("d", tree));
        mark_merged(Some(&own), TaskId(1), &mut gates);
        let merged = &gates.criteria["it holds"];
        assert_eq!(merged.evidence[0].origin.worktree, None);
        assert!(is_own(Some(&own), TaskId(1), place, merged));
        open_foreign(Some(&own), TaskId(1), &mut gates);
        assert!(gates.gates.is_empty() && gates.criteria.len() == 1);
        open_foreign(Some(&key(2, "/w")), TaskId(1), &mut gates);
        assert!(gates.criteria.is_empty());
    }
}
