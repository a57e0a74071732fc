//! Marks of evidence: a store can come with a repository or from another account, and says itself what was proven.
//! Proof counts only with a mark that takes the key of this user, which is in the user's folder of data.

use std::path::PathBuf;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::Trust;
use crate::error::{Code, Error, Result, quote};
use crate::file::{create_private, read_private};
use crate::gate::Record;
use crate::id::{self, TaskId};
use crate::ops::tokens::{data_folder, make_secret};

/// Length of the key, in bytes.
const KEY: usize = 64;

/// The key of this user, for marks in one workspace.
pub(crate) struct Key {
    secret: Vec<u8>,
    root: String,
}

impl Key {
    /// Makes the mark of what was proven for a task at `place`, its gate or criterion. It holds also after the
    /// worktree of a run, where it was proven, is merged.
    pub(crate) fn mark(&self, task: TaskId, place: &str, record: &Record) -> String {
        let mut record = record.clone();
        record.mark = None;
        for each in &mut record.evidence {
            each.origin.worktree = None;
        }
        let text = serde_json::to_vec(&(&self.root, task, place, record)).unwrap_or_default();
        let mac = Hmac::<Sha256>::new_from_slice(&self.secret).expect("a key of any length is one");
        id::hex(&mac.chain_update(text).finalize().into_bytes())
    }

    pub(crate) fn has_marked(&self, task: TaskId, place: &str, record: &Record) -> bool {
        record.mark.as_ref() == Some(&self.mark(task, place, record))
    }
}

impl Trust {
    /// Returns the key of this user, made if there is none.
    pub(crate) fn prepare_key(&self) -> Result<Key> {
        if let Some(key) = self.read_key() {
            return Ok(key);
        }
        let path = self.key_path()?;
        create_private(&path, &make_secret()?)?;
        self.read_key().ok_or_else(|| {
            let path = path.to_string_lossy();
            let message = format!(
                "{path} is no key for marks of evidence: it is not a regular file of this account, of {KEY} bytes \
                 and closed to others"
            );
            Error::new(Code::FileUnreadable, message).fix(format!("ls -l {}", quote(&path)))
        })
    }

    /// Returns the key of this user; none when nothing was proven on this machine yet.
    pub(crate) fn read_key(&self) -> Option<Key> {
        let secret = read_private(&self.key_path().ok()?, KEY as u64)?;
        (secret.len() == KEY).then(|| Key {
            secret,
            root: self.root().to_string_lossy().into_owned(),
        })
    }

    fn key_path(&self) -> Result<PathBuf> {
        Ok(data_folder(&self.data_home, "evidence")?.join("key"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Evidence, Origin, Proof};

    fn key(secret: u8, root: &str) -> Key {
        Key {
            secret: vec![secret; KEY],
            root: root.into(),
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
        let own = key(1, "/w");
        let mut marked = record("d", Some("/w/.cleo/runs/r/T1"));
        marked.mark = Some(own.mark(TaskId(1), "implemented", &marked));
        let merged = Record {
            mark: marked.mark.clone(),
            ..record("d", None)
        };
        let changed = Record {
            mark: marked.mark.clone(),
            ..record("e", None)
        };
        let unmarked = record("d", None);
        for (key, task, place, record, expected) in [
            (&own, 1, "implemented", &marked, true),
            (&own, 1, "implemented", &merged, true),
            (&own, 1, "implemented", &changed, false),
            (&own, 1, "implemented", &unmarked, false),
            (&own, 1, "documented", &marked, false),
            (&own, 2, "implemented", &marked, false),
            (&key(2, "/w"), 1, "implemented", &marked, false),
            (&key(1, "/v"), 1, "implemented", &marked, false),
        ] {
            let holds = key.has_marked(TaskId(task), place, record);
            assert_eq!(holds, expected, "{} {task} {place}", key.root);
        }
    }
}
