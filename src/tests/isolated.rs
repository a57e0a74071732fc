//! A run in worktrees, as its listener sees it.

use std::fs;

use serde_json::json;

use super::open;
use super::world::TestWorkspace;
use crate::coordinator::{self, Listener, Options, RunEnvironment};
use crate::run::{Event, RunProjection};

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");

/// A workspace with two tasks in a repository with a commit.
fn repository() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.ok("add One");
    workspace.ok("add Two");
    workspace.write("shared.txt", "nobody\n");
    workspace.git("init --quiet --initial-branch main");
    workspace.git("add shared.txt");
    workspace.git("commit --quiet --message first");
    workspace
}

fn is_clean(workspace: &TestWorkspace) {
    let trees = workspace.git("worktree list");
    assert_eq!(trees.lines().count(), 1, "{trees}");
    let changed = workspace.git("status --porcelain --untracked-files=no");
    assert_eq!(changed, "");
}

/// Removes the worktree of the first task when its run tells that a second try begins.
struct Removes<'a>(&'a TestWorkspace);

impl Listener for Removes<'_> {
    fn on_events(&mut self, events: &[Event], _: &RunProjection) {
        let is_second = |event: &&Event| {
            event.kind == "task.started" && event.detail.get("attempt") == Some(&json!(2))
        };
        for event in events.iter().filter(is_second) {
            let tree = format!(".cleo/runs/{}/trees/T1-1", event.run);
            fs::remove_dir_all(self.0.path(&tree)).unwrap();
        }
    }
}

#[test]
fn a_try_that_was_told_to_go_on_begins_in_no_other_worktree() {
    let workspace = repository();
    let options: Options = serde_json::from_value(json!({
        "tasks": ["T1"],
        "runner": "command",
        "command": format!("sh {AGENT} lies"),
        "jobs": 1,
        "repair": 1,
        "gateTimeLimit": 60,
        "lease": 600,
        "isolate": "worktree",
        "passed": [],
    }))
    .unwrap();
    let surroundings = open(workspace.root()).surroundings;
    let mut removes = Removes(&workspace);
    let report = coordinator::run(
        surroundings,
        options,
        RunEnvironment::default(),
        &mut removes,
    );
    let report = report.unwrap();
    let task = &report.tasks[0];
    let reason = task.reason.as_deref().unwrap();
    assert!(reason.contains("was removed meanwhile"), "{reason}");
    let played = workspace.read(".played/T1");
    assert_eq!((task.attempts, played.lines().count()), (2, 1));
    is_clean(&workspace);
}
