//! The logs of agents at work: files, which grow without a new row in a database.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::frame::{Frame, Kind};
use crate::error::Result;
use crate::ops::runs::journal;
use crate::ops::work::runs::logs::parse_name;
use crate::run::RunStatus;
use crate::store::Store;
use crate::store::records::RunFilter;
use crate::workspace::Workspace;

/// Pause between two looks at the logs.
const LOOK: Duration = Duration::from_millis(250);
/// Maximum number of live runs whose logs are looked at.
const RUNS_MAX: u32 = 100;

/// The length of each log of the live runs, by its path.
#[derive(Default)]
pub(super) struct Logs {
    looked: Option<Instant>,
    lengths: HashMap<String, u64>,
}

impl Logs {
    /// Returns an event for each log that has grown since the last look.
    pub(super) fn read_grown(
        &mut self,
        store: &mut impl Store,
        workspace: &Workspace,
    ) -> Result<Vec<Frame>> {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return Ok(Vec::new());
        }
        self.looked = Some(Instant::now());
        let live = RunFilter::by_status(RunStatus::Running, RUNS_MAX);
        let mut frames = Vec::new();
        let mut lengths = HashMap::new();
        for run in store.read()?.runs(None, &live)?.runs {
            let Ok(entries) = fs::read_dir(journal::run_folder(workspace, &run.id)?) else {
                continue;
            };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let (Some((task, attempt)), Ok(file)) = (parse_name(&name), entry.metadata())
                else {
                    continue;
                };
                let path = format!("{}/{name}", run.id);
                if self.lengths.get(&path).copied().unwrap_or(0) != file.len() {
                    let data = json!({"runId": run.id, "taskId": task, "attempt": attempt, "bytes": file.len()});
                    let owner = run.user.as_str().into();
                    frames.push(Frame::new(Kind::Log, None, &data).with_owner(Some(owner)));
                }
                lengths.insert(path, file.len());
            }
        }
        self.lengths = lengths;
        Ok(frames)
    }
}
