//! Checking what agents leave behind, and what a task must show before it is done.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::delivery::{GOOD, MANIFEST, OUTPUT, check, deliver, entry, entry_with, spawn_task};
use crate::world::{TestWorkspace, add, column, digest, says, spawn};

#[test]
fn entry_and_file_that_hold_verify() {
    let workspace = spawn_task();
    deliver(&workspace);
    let result = check(&workspace, 0, "");
    assert_eq!(result["manifestId"], "paint-it-2026-01-26");
    assert_eq!(result["outputFile"], OUTPUT);
    assert_eq!(result["entryStatus"], "complete");
    assert_eq!(result["outputDigest"], digest(GOOD));
    let why = workspace.ask("why T1");
    assert_eq!(why["result"]["outputDigest"], digest(GOOD));
    assert!(why["result"]["verifiedAt"].is_string());
    check(&workspace, 0, "");
    let again = workspace.ask("why T1");
    assert_eq!(again["result"], why["result"], "the first time counts");
}

#[test]
fn show_tells_what_became_of_output() {
    let workspace = spawn_task();
    let proof = || workspace.cleo("show T1").replace("  proof", "\nproof");
    assert!(proof().contains("proof  not delivered\n"), "{}", proof());
    deliver(&workspace);
    assert!(proof().contains("proof  delivered, not verified\n"));
    let ran = workspace.ok("verify T1 --run-all").stdout;
    assert!(ran.ends_with("nothing to run\n"), "no gate is asked for");
    workspace.ok("complete T1");
    assert!(proof().contains("proof  verified at 2026-01-26"));
    let output = workspace.result("show T1")["output"].clone();
    assert_eq!(output["file"], OUTPUT);
    workspace.ok("spawn T2");
    workspace.ok("complete T2 --force");
    assert!(workspace.cleo("show T2").contains("completed by force: "));
}

#[test]
fn verify_asks_for_no_gate_that_is_not_in_use() {
    let workspace = spawn_task();
    workspace.ok("update T2 --acceptance looks-good --acceptance 'it runs :: true'");
    insta::assert_snapshot!(workspace.cleo("verify T2"), @r"
    exit: 0
    --- stdout
             gates  none in use

    NO  STATE     CRITERION   EVIDENCE
    1   unproven  looks-good  no command; after a look, accept it: --accept 1 --note 'why it holds'
    2   unproven  it runs     true
    --- stderr
    ");
}

#[test]
fn without_valid_entry_exit_is_62() {
    let workspace = spawn_task();
    workspace.write(OUTPUT, GOOD);
    check(
        &workspace,
        62,
        "the manifest has no entry paint-it-2026-01-26",
    );
    let pretty = serde_json::to_string_pretty(&entry()).unwrap();
    for (manifest, message) in [
        (String::new(), "no entry"),
        (entry_with(json!({"id": "paint-it-2026-01-27"})), "no entry"),
        (format!("{pretty}\n"), "is faulty: line 5: "),
        (entry_with(json!({"title": "<title>"})), "faulty"),
        (entry_with(json!({"key_findings": ["One."]})), "3 to 7"),
        (entry_with(json!({"date": "2026-02-30"})), "date"),
        (entry_with(json!({"status": "done"})), "status"),
        (entry_with(json!({})).replace("}\n", "\n"), "faulty"),
        (
            entry_with(json!({"linked_tasks": ["T2"]})),
            "is not linked to T1",
        ),
        (
            entry_with(json!({"linked_tasks": []})),
            "is not linked to T1",
        ),
        (
            entry_with(json!({"needs_followup": ["T98"], "linked_tasks": ["T1", "T99"]})),
            "names tasks that do not exist: T98, T99",
        ),
    ] {
        workspace.write(MANIFEST, &manifest);
        check(&workspace, 62, message);
        let refused = workspace.fails("complete T1", "E_NOT_VERIFIED");
        assert_eq!(refused["error"]["exitCode"], 6);
    }
    let noisy = format!(
        "{{\"torn\n\u{feff}\n# x\n{}{}",
        entry_with(json!({"id": "other"})),
        entry_with(json!({}))
    );
    workspace.write(MANIFEST, noisy);
    check(&workspace, 0, "");
}

#[test]
fn without_good_output_file_exit_is_63() {
    let workspace = spawn_task();
    workspace.write(MANIFEST, entry_with(json!({})));
    check(&workspace, 63, "is not there");
    for (text, message) in [
        ("", "is empty"),
        (" \n\t\n", "is empty"),
        ("# Paint\n\nIt is red.\n", "has no section `## Summary`"),
        ("# Paint\n\n## Summary\n\n", "the section Summary is empty"),
        (
            "# Paint\n\n## Summary\n\n## Findings\n\nRed.\n",
            "the section Summary is empty",
        ),
        (
            "# Paint\n\n```\n## Summary\nx\n```\n",
            "has no section `## Summary`",
        ),
        ("## Summary\n\nRed.\n", "has no `# <title>`"),
        ("# Summary\n\nRed.\n", "has no section `## Summary`"),
        (
            "# Paint\n\n## Summary\n\n<!-- to do -->\n",
            "the section Summary is empty",
        ),
        (
            "# Paint\n\n## Summary\n\u{200b}\n---\n",
            "the section Summary is empty",
        ),
        (
            "# Paint\n````\n```\n## Summary\nx\n```\n````\n",
            "has no section `## Summary`",
        ),
        (
            "# <title>\n\n## Summary\n\nRed.\n",
            "has the title `<title>`",
        ),
        (
            "# Paint\n\n## Summary\n\n<what was found>\n",
            "is not filled in",
        ),
        (
            "# T\n\n## Summary\n\n### What was done\n\n### Rest\n",
            "the section Summary is empty",
        ),
        (
            "# T\n\n    ## Summary\n\nx\n",
            "has no section `## Summary`",
        ),
        ("# T\n\n## Summary\n\nTBD\n", "is not filled in"),
        ("# T\n\n## Summary\n\n*todo*…\n", "is not filled in"),
        ("# T\n\n## Summary\nTBD\n---\n", "is not filled in"),
        ("# T\n\n## Summary:\n\n...\n", "Summary is empty"),
        ("# T\n\n**Summary**\n\nx\n", "has no section `## Summary`"),
        (
            "# T\n\n<pre>\n## Summary\n\nx\n</pre>\n",
            "has no section `## Summary`",
        ),
        (
            "# T\n\n<!--\n\n## Summary\n\nx\n",
            "has no section `## Summary`",
        ),
    ] {
        workspace.write(OUTPUT, text);
        check(&workspace, 63, message);
        workspace.fails("complete T1", "E_NOT_VERIFIED");
    }
    for good in [
        "# Paint\n## SUMMARY\nRed.",
        "\u{feff}# Paint\r\n\r\n## Summary\r\n\r\nRed.\r\n",
        "# P\n## Summary\n### A\nx\n",
        "# P\n```cargo test``` passes\n## Summary\nx\n",
        "# P\n```\n```sh\n```\n## Summary\nx\n",
        "# P\n\nUse ``<!--`` to open.\n\n## Summary\nx\n",
        "# P\n\na ` b `<!--` c\n\n## Summary\nx\n",
        "# P\n\na <!-- b, \\<!-- c\n\n    <!-- d\n\n## Summary\nx\n",
        "# P\n\n- step:\n  ```sh\n  make\n- next\n\n## Summary\nx\n",
        "# <dialog>\n## Summary\nx\n",
        "# P\n## Summary:\nx\n",
        "# P\n## **Summary**\nx\n",
        "# P\n### __Summary:__ ###\nx\n",
        "P\n=\n\nSummary\n-------\n\nx\n",
        "# P\n## Summary\nIt is red.\n---\n",
        "# P\n## Summary\nTODO: nothing\n",
    ] {
        workspace.write(OUTPUT, good);
        check(&workspace, 0, "");
    }
    fs::remove_file(workspace.path(OUTPUT)).unwrap();
    fs::create_dir(workspace.path(OUTPUT)).unwrap();
    check(&workspace, 63, "is not a regular file");
}

#[test]
fn entry_for_another_file_is_refused() {
    let workspace = spawn_task();
    workspace.write(OUTPUT, GOOD);
    for name in [
        "other.md",
        "2026-01-26_paint-it.txt",
        "sub/2026-01-26_paint-it.md",
        OUTPUT,
    ] {
        workspace.write(MANIFEST, entry_with(json!({"file": name})));
        check(&workspace, 63, "not 2026-01-26_paint-it.md");
    }
    workspace.write(
        MANIFEST,
        entry_with(json!({"file": "../2026-01-26_paint-it.md"})),
    );
    check(&workspace, 62, "leads out");
}

#[test]
fn file_is_same_with_dot_before_it() {
    let workspace = spawn_task();
    workspace.write(OUTPUT, GOOD);
    let entry = entry_with(json!({"file": "./2026-01-26_paint-it.md", "title": "<dialog>"}));
    workspace.write(MANIFEST, entry);
    assert_eq!(check(&workspace, 0, "")["outputFile"], OUTPUT);
    workspace.ok("complete T1");
}

#[test]
fn file_older_than_spawn_is_of_others() {
    let workspace = spawn_task();
    deliver(&workspace);
    let moment = chrono::DateTime::parse_from_rfc3339(
        workspace.ask("why T1")["result"]["at"].as_str().unwrap(),
    );
    let spawned: SystemTime = moment.unwrap().to_utc().into();
    let file = fs::File::options()
        .write(true)
        .open(workspace.path(OUTPUT))
        .unwrap();
    // The clock that files are stamped by may be a tick late, but no more.
    file.set_modified(spawned - Duration::from_millis(11))
        .unwrap();
    check(&workspace, 63, "is older than the spawn");
    workspace.fails("complete T1", "E_NOT_VERIFIED");
    file.set_modified(spawned).unwrap();
    check(&workspace, 0, "");
    // Asking for the same prompt again does not make the work old.
    fs::remove_file(workspace.path(MANIFEST)).unwrap();
    spawn(&workspace, &["T1"]);
    workspace.write(MANIFEST, entry_with(json!({})));
    workspace.ok("complete T1");
}

#[test]
fn output_that_leads_out_of_workspace_is_not_read() {
    let workspace = spawn_task();
    workspace.write(MANIFEST, entry_with(json!({})));
    let outside = workspace.root().with_file_name("home").join("secret.md");
    fs::write(&outside, GOOD).unwrap();
    std::os::unix::fs::symlink(&outside, workspace.path(OUTPUT)).unwrap();
    let result = check(&workspace, 3, "leads out of the workspace");
    assert_eq!(result["outputDigest"], Value::Null);
    workspace.fails("complete T1", "E_NOT_VERIFIED");
    fs::remove_file(workspace.path(OUTPUT)).unwrap();
    workspace.write("inside.md", GOOD);
    std::os::unix::fs::symlink(workspace.path("inside.md"), workspace.path(OUTPUT)).unwrap();
    check(&workspace, 0, "");
    fs::remove_file(workspace.path(OUTPUT)).unwrap();
    std::os::unix::fs::symlink(workspace.path("gone.md"), workspace.path(OUTPUT)).unwrap();
    check(&workspace, 3, "leads out of the workspace");
}

#[test]
fn partial_and_blocked_work_verifies() {
    let workspace = spawn_task();
    workspace.write(OUTPUT, GOOD);
    for status in ["partial", "blocked"] {
        let follow =
            json!({"status": status, "needs_followup": ["BLOCKED:no paint"], "key_findings": []});
        workspace.write(MANIFEST, entry_with(follow));
        assert_eq!(check(&workspace, 0, "")["entryStatus"], status);
        let refused = workspace.fails("complete T1", "E_NOT_VERIFIED");
        says(&refused, format!("its entry says {status}, not complete"));
        assert_eq!(
            workspace.ask("show T1")["result"]["task"]["status"],
            "pending"
        );
        let fix = refused["error"]["fix"].as_str().unwrap();
        assert_eq!(
            fix, "cleo spawn T1 --format text",
            "checking again would say pass"
        );
    }
    workspace.write(MANIFEST, entry_with(json!({"status": "archived"})));
    check(&workspace, 62, "is archived");
    workspace.write(MANIFEST, entry_with(json!({})));
    workspace.ok("complete T1");
}

#[test]
fn what_was_verified_must_still_hold_when_task_is_completed() {
    let workspace = spawn_task();
    deliver(&workspace);
    check(&workspace, 0, "");
    fs::remove_file(workspace.path(OUTPUT)).unwrap();
    let refused = workspace.fails("complete T1", "E_NOT_VERIFIED");
    says(&refused, "is not there");
    assert_eq!(
        workspace.shell("cleo verify output T1").exit,
        63,
        "what the fix shows"
    );
    workspace.write(OUTPUT, format!("{GOOD}More.\n"));
    workspace.ok("complete T1");
    let why = workspace.ask("why T1");
    assert_eq!(
        why["result"]["outputDigest"],
        digest(format!("{GOOD}More.\n"))
    );
    assert_eq!(why["result"]["forced"], Value::Null);
}

#[test]
fn output_without_home_is_done_with_a_warning() {
    let workspace = spawn_task().env("HOME", "");
    deliver(&workspace);
    for line in ["verify output T1", "complete T1"] {
        let reply = workspace.ask(line);
        assert_eq!(reply["success"], true, "{reply:#}");
        says(
            &reply["warnings"][0],
            "the output of T1 verifies, and is shown as unverified",
        );
        says(&reply["warnings"][0], "type `export HOME=FOLDER`");
    }
    let data = workspace.path("../data").to_string_lossy().into_owned();
    let workspace = workspace.env("XDG_DATA_HOME", &data);
    let reply = workspace.ask("verify output T1");
    assert_eq!(reply["warnings"], json!([]), "{reply:#}");
    assert!(workspace.path("../data/cleo/evidence/key").exists());
}

#[test]
fn force_completes_and_is_remembered() {
    let workspace = spawn_task();
    let before = workspace.ask("why T1");
    let refused = workspace.ask("complete T1");
    assert_eq!(workspace.ask("why T1")["result"], before["result"]);
    let ways = column(&refused["error"]["alternatives"], "command");
    assert_eq!(ways, ["cleo spawn T1 --format text"]);
    let reply = workspace.shell("cleo complete T1 --force");
    assert_eq!(reply.exit, 0, "{reply}");
    assert!(
        reply.stderr.contains("warning: completed by force"),
        "{reply}"
    );
    let forced = |workspace: &TestWorkspace| workspace.ask("why T1")["result"]["forced"].clone();
    let first = forced(&workspace);
    assert!(
        first.as_str().unwrap().starts_with("2026-01-26T09:")
            && first.as_str().unwrap().ends_with(" tester"),
        "{first}"
    );
    assert!(workspace.cleo("why T1").contains("tester"));
    let log = workspace.ok("log --limit 1").stdout;
    assert_eq!(log.matches("forced T1").count(), 1, "told once: {log}");
    workspace.ok("reopen T1");
    spawn(&workspace, &["T1"]);
    assert_eq!(
        forced(&workspace),
        first,
        "a new spawn does not wipe it out"
    );
    workspace.fails("complete T1", "E_NOT_VERIFIED");
}

#[test]
fn base_protocol_in_force_says_which_sections_are_due() {
    let workspace = spawn_task();
    deliver(&workspace);
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/skills/_shared/subagent-protocol-base.md"
    );
    let base = fs::read_to_string(path).unwrap();
    let more = base.replace("sections: \"Summary\"", "sections: \"Summary,Sources\"");
    workspace.write(".cleo/skills/_shared/subagent-protocol-base.md", more);
    check(&workspace, 63, "has no section `## Sources`");
    workspace.write(OUTPUT, format!("{GOOD}\n## Sources\n\nMy eyes.\n"));
    check(&workspace, 0, "");
}

#[test]
fn setting_demands_proof_of_tasks_that_were_not_spawned() {
    let workspace = TestWorkspace::new();
    workspace.ok("add Alone");
    workspace.ok("add 'With a command' --acceptance 'it is there :: test -f here'");
    workspace.ok("add Whole");
    workspace.ok("add Part --parent T3");
    workspace.ok("config set verify.required always");
    let error = workspace.refuse("complete T1", "E_NOT_VERIFIED");
    let said = "nothing verifies T1, and the setting verify.required is `always`";
    assert_eq!(error["message"], said);
    assert_eq!(error["fix"], "cleo spawn T1");
    let mut weaker = workspace.command(&["complete", "T1"].map(String::from));
    let weaker = weaker.env("CLEO_VERIFY_REQUIRED", "spawned").output();
    assert_eq!(weaker.unwrap().status.code(), Some(6));
    workspace.write("here", "");
    workspace.ok("verify T2 --run-all");
    workspace.ok("complete T2");
    workspace.ok("update T4 --require-gate implemented");
    workspace.ok("verify T4 --gate implemented --note 'It is.'");
    workspace.refuse("complete T4", "E_NOT_VERIFIED");
    // Nor does what was shown of a criterion that is gone.
    workspace.ok("update T4 --clear required-gates --acceptance 'it is there :: test -f here'");
    workspace.ok("verify T4 --run-all");
    workspace.ok("update T4 --clear acceptance");
    workspace.refuse("complete T4", "E_GATE_OPEN");
    workspace.ok("complete T4 --force");
    // Parts that were proven say whether it is done.
    workspace.refuse("complete T3", "E_NOT_VERIFIED");
    workspace.ok("add Proven --parent T3 --acceptance 'it is there :: test -f here'");
    workspace.ok("verify T5 --run-all");
    workspace.ok("complete T5");
    workspace.ok("complete T3");
    workspace.ok("add Empty");
    workspace.ok("add Dropped --parent T6");
    workspace.ok("cancel T7");
    workspace.refuse("complete T6", "E_NOT_VERIFIED");
    workspace.ok("config set verify.required spawned");
    workspace.ok("config set verify.required always --user");
    workspace.refuse("complete T1", "E_NOT_VERIFIED");
    workspace.ok("config set verify.required spawned --user");
    workspace.ok("complete T1");
}

#[test]
fn deliverables_that_are_not_there_are_named() {
    let workspace = TestWorkspace::new();
    let deliverables = [
        "docs/plan.md",
        "notes.md",
        "src/**",
        "a sentence on docs/x.md",
        "https://example.com/x",
    ];
    add(
        &workspace,
        &[json!({"title": "Plan it", "deliverables": deliverables})],
    );
    workspace.write("notes.md", "here");
    assert_eq!(
        workspace.result("verify T1")["missing"],
        json!(["docs/plan.md"])
    );
    let told = workspace.ask("complete T1");
    let warning = "T1 has deliverables that are not there: docs/plan.md";
    assert_eq!(told["warnings"], json!([warning]));
    workspace.ok("reopen T1");
    let told = workspace.ask("verify output T1");
    assert_eq!(told["warnings"][0], warning);
}
