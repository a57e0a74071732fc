//! Every command of the documents that is marked to be run is run, and what it prints is compared
//! with what the document says. A block ```` ```sh run ```` is run; ```` ```sh jq ```` is run where
//! jq is installed; a block ```` ```text out ```` is what the block before it prints.

use std::path::Path;
use std::process::Command;

use crate::world::TestWorkspace;

/// Separates the output of the blocks; no command prints it.
const BORDER: &str = "\u{1}border\u{1}";

/// A block of a document.
struct Block {
    kind: String,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in document.lines() {
        match (open.take(), line.strip_prefix("```")) {
            (None, Some(kind)) => {
                let kind = kind.to_string();
                let text = String::new();
                open = Some(Block { kind, text });
            }
            (Some(block), Some(_)) => blocks.push(block),
            (Some(block), None) => {
                let text = format!("{}{line}\n", block.text);
                open = Some(Block { text, ..block });
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

fn has_jq() -> bool {
    Command::new("jq").arg("--version").output().is_ok()
}

/// Runs the blocks of a document in one shell, in a folder below the examples' copy. Answers are text,
/// as on a terminal.
fn check(document: &str, folder: &str) {
    check_after("", document, folder);
}

/// Does the same after a first line that the document does not have.
fn check_after(first: &str, document: &str, folder: &str) {
    let workspace = TestWorkspace::bare();
    for name in [
        "chat/seed.json",
        "demo/tasks.jsonl",
        "demo/agent.sh",
        "walkthrough/tasks.jsonl",
        "walkthrough/team.sh",
        "walkthrough/worker.sh",
    ] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        let text = std::fs::read(source.join(name)).unwrap();
        workspace.write(&format!("examples/{name}"), text);
    }
    let wanted = |block: &Block| block.kind == "sh run" || (block.kind == "sh jq" && has_jq());
    let mut script = format!("set -e\n{first}\ncd ./{folder}\n");
    let mut expected = Vec::new();
    let mut is_run = false;
    for block in blocks(document) {
        if block.kind == "text out" && is_run {
            expected.pop();
            expected.push(Some(block.text));
        } else if block.kind.starts_with("sh") {
            is_run = wanted(&block);
            if is_run {
                script += &format!("{}printf '%s' '{BORDER}'\n", block.text);
                expected.push(None);
            }
        }
    }
    assert!(expected.len() > 3, "there is hardly anything to run");
    let reply = workspace.shell(&script);
    assert_eq!(reply.exit, 0, "{reply}");
    for (printed, expected) in reply.stdout.split(BORDER).zip(&expected) {
        if let Some(expected) = expected {
            assert_eq!(printed, expected);
        }
    }
    assert_eq!(reply.stdout.split(BORDER).count(), expected.len() + 1);
}

#[test]
fn commands_of_readme_work() {
    check(include_str!("../../README.md"), ".");
}

#[test]
fn commands_of_guide_work() {
    check(include_str!("../../docs/guide.md"), ".");
}

#[test]
fn demo_can_be_done_by_hand() {
    check(
        include_str!("../../examples/demo/README.md"),
        "examples/demo",
    );
}

#[test]
fn two_agents_take_epic_of_twenty_tasks_to_its_end() {
    // It has pipes, and is true as it is typed: whatever form answers have, it says itself.
    check_after(
        "unset CLEO_FORMAT",
        include_str!("../../docs/walkthrough.md"),
        "examples/walkthrough",
    );
}

#[test]
fn every_link_of_documents_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let link = regex::Regex::new(r"\]\(([^)#]+)(#[^)]*)?\)").unwrap();
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs/guide.md",
    ] {
        let file = root.join(document);
        let text = std::fs::read_to_string(&file).unwrap();
        for found in link.captures_iter(&text) {
            let target = &found[1];
            let is_there = target.starts_with("https://") || file.with_file_name(target).exists();
            assert!(is_there, "{document} links to {target}, which is not there");
        }
    }
}
