//! `claudedocs/` holds the outputs of the walkthrough: they verify, and the walkthrough still writes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::world::TestWorkspace;

const OUTPUTS: &str = "claudedocs/agent-outputs";
const MANIFEST: &str = "MANIFEST.jsonl";

/// Makes a workspace with the tasks of the walkthrough and a copy of its scripts.
fn walkthrough() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for name in [
        "demo/agent.sh",
        "walkthrough/tasks.jsonl",
        "walkthrough/team.sh",
        "walkthrough/worker.sh",
    ] {
        let text = fs::read(examples.join(name)).unwrap();
        workspace.write(&format!("examples/{name}"), text);
    }
    workspace.ok("add --batch examples/walkthrough/tasks.jsonl");
    workspace
}

/// Reads the output files of a project, by name.
fn output_files(project: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(project.join(OUTPUTS)).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files
        .filter(|path| !path.ends_with(MANIFEST))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// Reads the entries of a project by id, without author and time, which depend on who was faster.
fn entries(project: &Path) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(project.join(OUTPUTS).join(MANIFEST)).unwrap();
    text.lines()
        .map(|line| {
            let mut entry: Value = serde_json::from_str(line).unwrap();
            let fields = entry.as_object_mut().unwrap();
            fields.retain(|name, _| !matches!(name.as_str(), "created_by" | "created_at"));
            (entry["id"].as_str().unwrap().to_string(), entry)
        })
        .collect()
}

#[test]
fn checked_in_outputs_verify() {
    let workspace = walkthrough();
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, text) in output_files(project) {
        workspace.write(&format!("{OUTPUTS}/{name}"), text);
    }
    let manifest = fs::read(project.join(OUTPUTS).join(MANIFEST)).unwrap();
    workspace.write(&format!("{OUTPUTS}/{MANIFEST}"), manifest);
    assert_eq!(workspace.ok("verify manifest").stdout, "pass manifest\n");
    let reply = workspace.ask("research list");
    assert_eq!(reply["result"]["total"], 20);
}

#[test]
fn walkthrough_writes_checked_in_outputs() {
    let workspace = walkthrough();
    let reply = workspace.shell("sh examples/walkthrough/team.sh T1");
    assert_eq!(reply.exit, 0, "{reply}");
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(output_files(workspace.root()), output_files(project));
    assert_eq!(entries(workspace.root()), entries(project));
}
