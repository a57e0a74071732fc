//! Corrected command lines: only the word that is wrong is replaced, and what is pasted is what
//! was meant.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::world::{TestWorkspace, document};

fn fix_of<S: AsRef<OsStr>>(workspace: &TestWorkspace, arguments: &[S]) -> String {
    let refused = workspace.json(arguments);
    refused["error"]["fix"].as_str().unwrap().to_string()
}

#[track_caller]
fn check_all(rows: &[(&[&str], &str)]) {
    for (arguments, fix) in rows {
        let workspace = TestWorkspace::planned();
        assert_eq!(fix_of(&workspace, arguments), *fix, "{arguments:?}");
        let pasted = workspace.shell(fix);
        assert_eq!(pasted.exit, 0, "pasted: {fix}\n{pasted}");
    }
}

#[test]
fn only_the_word_that_is_wrong_is_replaced() {
    check_all(&[
        (&["update", "1", "--title", "1"], "cleo update T1 --title 1"),
        (&["update", "--title", "1", "1"], "cleo update --title 1 T1"),
        (
            &["add", "hgh", "--priority", "hgh"],
            "cleo add hgh --priority high",
        ),
        (&["add", "hgh", "-phgh"], "cleo add hgh -phigh"),
        (
            &["add", "a,hgh", "--label=hgh,x", "--priority=hgh"],
            "cleo add a,hgh --label=hgh,x --priority=high",
        ),
        (&["ad", "ad"], "cleo add ad"),
        (
            &["add", "tomorrow", "--due", "tomorrow"],
            "cleo add tomorrow --due 2026-12-31",
        ),
        (
            &["add", "1000", "--estimate", "1000.0"],
            "cleo add 1000 --estimate 1",
        ),
        (&["help", "ad"], "cleo help add"),
        (&["help", "exitcodes"], "cleo help exit-codes"),
    ]);
}

#[test]
fn what_could_be_either_of_two_words_is_left_to_the_help() {
    let workspace = TestWorkspace::planned();
    let line = ["add", "x", "--acceptance", "a\u{1}b", "--note", "a\u{1}b"];
    // Both words are wrong, although the message names one field.
    assert_eq!(
        fix_of(&workspace, &line),
        "cleo add x --acceptance 'a b' --note ab"
    );
    let skill = "ct-research-agnt";
    let line = ["spawn", "T2", "--template", skill];
    assert_eq!(
        fix_of(&workspace, &line),
        "cleo spawn T2 --template ct-research-agent"
    );
    let line = ["spawn", "T2", "--template", skill, "--skills-dir", skill];
    assert_eq!(fix_of(&workspace, &line), "cleo spawn --help");
}

#[test]
fn a_word_that_is_none_of_the_few_gives_way_to_the_likeliest() {
    check_all(&[
        (&["add", "x", "--size", "huge"], "cleo add x --size large"),
        (&["add", "x", "-p", "asap"], "cleo add x -p critical"),
        (&["list", "--color", "pink"], "cleo list --color auto"),
        (&["init", "--agents", "foo"], "cleo init --agents all"),
        (&["init", "--agents", "codx"], "cleo init --agents codex"),
        (
            &["init", "--agents", "claude,foo"],
            "cleo init --agents claude",
        ),
    ]);
}

#[test]
fn an_entry_and_a_task_in_the_wrong_order_change_places() {
    let workspace = TestWorkspace::planned();
    let line = ["research", "link", "e1", "T2"];
    assert_eq!(fix_of(&workspace, &line), "cleo research link T2 e1");
    let line = ["research", "link", "e1", "e2"];
    assert_eq!(fix_of(&workspace, &line), "cleo find e1");
}

#[test]
fn an_option_that_wants_a_value_replaces_none_that_has_none() {
    let workspace = TestWorkspace::planned();
    for line in [
        &["start", "T2", "--force"][..],
        &["start", "--force"],
        &["start", "T2", "--force", "--json"],
    ] {
        assert_eq!(fix_of(&workspace, line), "cleo start --help", "{line:?}");
    }
    check_all(&[
        (
            &["start", "T2", "--forma", "json"],
            "cleo start T2 --format json",
        ),
        (
            &["start", "T2", "--forma=json"],
            "cleo start T2 --format=json",
        ),
    ]);
}

#[test]
fn what_takes_something_away_is_never_corrected_to_what_adds_it() {
    check_all(&[
        (
            &["update", "T3", "--rm-depends", "T2"],
            "cleo update T3 --remove-depends T2",
        ),
        (
            &["update", "T3", "--no-depends=T2"],
            "cleo update T3 --remove-depends=T2",
        ),
        (
            &["update", "T2", "--unlabel", "research"],
            "cleo update T2 --remove-label research",
        ),
        (
            &["update", "T2", "--delete-labels", "research"],
            "cleo update T2 --remove-label research",
        ),
        (
            &["update", "T2", "--remove-lable", "research"],
            "cleo update T2 --remove-label research",
        ),
        (&["update", "T2", "--no-note", "x"], "cleo update --help"),
        (&["list", "--no-json"], "cleo list --help"),
    ]);
}

#[test]
fn a_command_that_is_meant_is_explained_where_its_arguments_are_missing() {
    check_all(&[
        (&["session", "nope"], "cleo session note --help"),
        (&["shwo"], "cleo show --help"),
        (&["shwo", "T2"], "cleo show T2"),
    ]);
}

#[test]
fn a_wrong_runner_gives_way_where_it_stands() {
    let workspace = TestWorkspace::planned();
    let fix = |runner| fix_of(&workspace, &["run", "T2", "--runner", runner]);
    assert_eq!(fix("nope"), "cleo run T2 --runner claude");
    assert_eq!(fix("codx:a/b"), "cleo run T2 --runner codex:a/b");
}

#[test]
fn a_topic_that_is_no_command_takes_no_further_word() {
    let workspace = TestWorkspace::bare();
    let error = workspace.json(&["help", "exit-codes", "x"])["error"].clone();
    assert_eq!(
        error["message"],
        "the topic `exit-codes` takes no further word, and `x` follows"
    );
    assert_eq!(error["fix"], "cleo help exit-codes");
}

#[test]
fn a_task_in_the_place_of_an_option_is_an_epic_and_a_wrong_one_is_left_out() {
    check_all(&[
        (
            &["orchestrator", "waves", "T1"],
            "cleo orchestrator waves --epic T1",
        ),
        (
            &["orchestrator", "waves", "--limit", "1", "t1"],
            "cleo orchestrator waves --limit 1 --epic T1",
        ),
        (&["next", "T1"], "cleo next --epic T1"),
        (&["spawn", "T2", "x"], "cleo spawn T2"),
        (
            &["spawn", "T2", "--dry-run", "print", "the", "prompt"],
            "cleo spawn T2 --dry-run",
        ),
        (
            &["orchestrator", "spawn", "x", "T2", "T3", "--dry-run"],
            "cleo orchestrator spawn T2 T3 --dry-run",
        ),
    ]);
    let workspace = TestWorkspace::planned();
    let error = workspace.json(&["spawn", "T2", "x"])["error"].clone();
    assert_eq!(error["alternatives"][0]["command"], "cleo find x");
}

#[test]
fn the_only_operand_never_goes() {
    let workspace = TestWorkspace::planned();
    workspace.ok("add Other");
    let before = workspace.state();
    let fix = fix_of(&workspace, &["undo", "T2"]);
    assert_eq!(fix, "cleo log --task T2");
    assert_eq!(workspace.shell(&fix).exit, 0);
    assert_eq!(workspace.state(), before);
    assert_eq!(fix_of(&workspace, &["archive", "x"]), "cleo find x");
}

#[test]
fn a_run_in_the_place_of_a_task_is_asked_about_as_one() {
    let workspace = TestWorkspace::planned();
    for run in ["run_1769418000000_1", "exec_1769418000000_k3v9x0q2m1"] {
        let fix = fix_of(&workspace, &["why", run]);
        assert_eq!(fix, format!("cleo why --run {run}"));
    }
}

#[test]
fn a_task_ends_by_a_command_of_its_own() {
    check_all(&[
        (&["update", "T2", "--status", "dnoe"], "cleo complete T2"),
        (&["update", "T2", "--status=canceled!"], "cleo cancel T2"),
        (
            &["update", "T2", "--status", "actve"],
            "cleo update T2 --status active",
        ),
        (
            &["update", "T2", "--status", "dnoe", "--note", "x"],
            "cleo update --help",
        ),
        (
            &["update", "T1", "T2", "--status", "dnoe"],
            "cleo update --help",
        ),
    ]);
    let workspace = TestWorkspace::planned();
    let refused = workspace.json(&["update", "T2", "--status", "dnoe"]);
    let message = refused["error"]["message"].as_str().unwrap();
    let known = "use one of pending, active, review, blocked, paused";
    assert!(message.ends_with(known), "{message}");
}

#[test]
fn a_task_that_is_not_there_is_left_out_where_the_rest_goes_without_it() {
    check_all(&[
        (&["add", "x", "--parent", "99"], "cleo add x"),
        (
            &["update", "T5", "--depends", "T99", "--note", "x"],
            "cleo update T5 --note x",
        ),
        (&["show", "99"], "cleo find 99"),
        (
            &["update", "T5", "--add-depends", "T99"],
            "cleo update --help",
        ),
        (
            &["update", "T5", "--add-depends", "T3"],
            "cleo update T5 --depends T3",
        ),
    ]);
}

#[test]
fn an_empty_item_is_refused_and_left_out() {
    check_all(&[
        (&["add", "x", "--acceptance", ""], "cleo add x"),
        (&["add", "x", "--label", ""], "cleo add x"),
        (
            &["update", "T2", "--label", "a,"],
            "cleo update T2 --label a",
        ),
        (
            &["add", "x", "--acceptance", " ", "--acceptance", "y"],
            "cleo add x --acceptance y",
        ),
        (
            &["update", "T2", "--deliverable=", "--file", "a"],
            "cleo update T2 --file a",
        ),
    ]);
}

#[test]
fn an_empty_title_is_corrected_where_it_stands() {
    check_all(&[
        (
            &["update", "T1", "--title", ""],
            "cleo update T1 --title 'Describe the work in one line'",
        ),
        (
            &["update", "T1", "--title= "],
            "cleo update T1 '--title=Describe the work in one line'",
        ),
        (
            &["add", "\u{1}\u{2}"],
            "cleo add 'Describe the work in one line'",
        ),
        (
            &["update", "T1", "--note", "\u{1}"],
            "cleo update T1 --note 'What others should know'",
        ),
    ]);
}

#[test]
fn what_begins_with_a_dash_is_marked_as_text() {
    check_all(&[
        (&["add", "-x"], "cleo add -- -x"),
        (&["add", "-x", "--label", "y"], "cleo add --label y -- -x"),
        (&["find", "-x"], "cleo find -- -x"),
        (&["find", "--foo"], "cleo find -- --foo"),
        (
            &["update", "T1", "--title", "-x"],
            "cleo update T1 --title=-x",
        ),
        (&["add", "x", "--estimate", "-1"], "cleo add x --estimate=1"),
        (&["list", "--limit", "-1"], "cleo list --limit=1"),
        (&["add", " a\u{7}b "], "cleo add 'a b'"),
    ]);
}

#[test]
fn money_that_would_be_given_back_is_not_made_to_be_spent() {
    let workspace = TestWorkspace::planned();
    for (command, help) in [("run T2", "run"), ("runs resume run_1", "runs resume")] {
        let line = format!("{command} --max-cost -1");
        let words: Vec<&str> = line.split(' ').collect();
        let error = workspace.refused(&words, "E_USAGE");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("US dollars above 0"), "{error}");
        assert_eq!(error["fix"], format!("cleo {help} --help"), "{error}");
    }
}

#[test]
fn control_characters_are_taken_out_of_all_texts_at_once() {
    check_all(&[
        (
            &[
                "add",
                "x\u{1b}y",
                "-d",
                "a\u{7}b\nc",
                "--note=d\u{1}e",
                "-l",
                "f\u{2}g,h",
            ],
            "cleo add 'x y' -d $'ab\\nc' --note=de -l 'f g,h'",
        ),
        (
            &["update", "T2", "--title", "a\u{7}b", "--note", "c\u{7}d"],
            "cleo update T2 --title 'a b' --note cd",
        ),
        (
            &["update", "T2", "--description", "\u{7}a", "--file", "b\tc"],
            "cleo update T2 --description a --file 'b c'",
        ),
    ]);
}

#[test]
fn a_command_about_tasks_stands_for_itself() {
    check_all(&[
        (&["task", "add", "x"], "cleo add x"),
        (&["tasks", "list", "--limit", "1"], "cleo list --limit 1"),
        (&["--json", "task", "show", "T2"], "cleo --json show T2"),
        (&["tasks"], "cleo list"),
    ]);
    let workspace = TestWorkspace::planned();
    assert_eq!(fix_of(&workspace, &["task", "paint", "x"]), "cleo --help");
}

#[test]
fn a_fix_with_line_ends_pastes_as_the_same_bytes() {
    let workspace = TestWorkspace::planned();
    let text = "a\tb\\n\nit's \u{202e}ä";
    let line = ["add", "x", "--priority", "hgh", "--description", text];
    let fix = fix_of(&workspace, &line);
    assert!(!fix.contains(|c: char| c.is_control() || c == '\u{202e}'));
    let mut command = workspace.command(&line);
    command.env("CLEO_FORMAT", "text");
    let shown = workspace.finish(command, "").stderr;
    assert!(shown.contains(&format!("try: {fix}\n")), "{shown}\n{fix}");
    assert_eq!(workspace.shell(&fix).exit, 0, "{fix}");
    let added = workspace.json(&["show", "T6"]);
    assert_eq!(added["result"]["task"]["description"], text);
}

// Other systems have no such paths.
#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_no_text_is_in_no_fix() {
    let workspace = TestWorkspace::bare();
    let root = workspace.root().join(OsStr::from_bytes(b"r\xff"));
    std::fs::create_dir(&root).unwrap();
    let root = root.as_os_str();
    let run = |words: &[&str]| {
        let words = words.iter().map(OsStr::new);
        let line: Vec<&OsStr> = [OsStr::new("--root"), root]
            .into_iter()
            .chain(words)
            .collect();
        workspace.finish(workspace.command(&line), "")
    };
    let fix = |words| document(&run(words))["error"]["fix"].clone();
    assert_eq!(fix(&["list"]), "cleo list --help");
    assert_eq!(run(&["init"]).exit, 0);
    assert_eq!(fix(&["show", "T9"]), "cleo show --help");
    assert_eq!(fix(&["shwo", "T9"]), "cleo --help");
}

#[test]
fn the_value_of_an_option_names_no_command() {
    let workspace = TestWorkspace::planned();
    let refused = workspace.json(&["--root", "add", "shwo", "T1"]);
    assert_eq!(refused["command"], "cleo");
    assert_eq!(refused["error"]["fix"], "cleo --root add show T1");
    let refused = workspace.json(&["add", "x", "--label", "show", "--prioriti", "high"]);
    assert_eq!(refused["command"], "add");
}

#[test]
fn a_faulty_filter_is_a_fault_of_the_command_at_hand() {
    let workspace = TestWorkspace::planned();
    let refused = workspace.json(&["orchestrator", "waves", "--jq", ".["]);
    assert_eq!(refused["command"], "orchestrator.waves");
    assert_eq!(refused["error"]["fix"], "cleo orchestrator waves --help");
}

#[test]
fn a_parent_is_cleared_like_other_fields() {
    let workspace = TestWorkspace::planned();
    let parent = |words: &[&str]| {
        let reply = workspace.json(words);
        assert_eq!(reply["success"], true, "{reply}");
        reply["result"]["task"]["parent"].clone()
    };
    assert_eq!(parent(&["update", "T2", "--parent", "T1"]), "T1");
    assert!(parent(&["update", "T2", "--clear", "parent"]).is_null());
    assert_eq!(
        parent(&["update", "T2", "--clear", "parent", "--parent", "T1"]),
        "T1"
    );
}

#[test]
fn usage_errors_have_the_color_that_was_asked_for() {
    let workspace = TestWorkspace::planned();
    for (line, colored) in [
        ("list --stat", true),
        ("list --stat --color never", false),
        ("--color=never list --stat", false),
    ] {
        let mut command = workspace.command(&line.split(' ').collect::<Vec<_>>());
        command.env("CLEO_FORMAT", "text").env("FORCE_COLOR", "1");
        let shown = workspace.finish(command, "").stderr;
        assert_eq!(shown.contains('\u{1b}'), colored, "{line}: {shown:?}");
    }
}

#[test]
fn no_message_and_no_fix_is_without_end() {
    let workspace = TestWorkspace::planned();
    let word = "x".repeat(100_000);
    for line in [
        &["show", &word][..],
        &["explain", &word],
        &["add", "x", "--description", &format!("{word}\u{1}")],
    ] {
        let reply = workspace.finish(workspace.command(line), "");
        assert!(reply.stdout.len() < 7_000, "{}", reply.stdout.len());
        let error = &document(&reply)["error"];
        assert!(error["message"].as_str().unwrap().chars().count() <= 2_001);
        let mut command = workspace.command(line);
        command.env("CLEO_FORMAT", "text");
        assert!(workspace.finish(command, "").stderr.len() < 7_000);
    }
    let long = format!("{}\u{1}", "x y ".repeat(2_000));
    let line = ["add", "x", "--description", &long];
    assert_eq!(fix_of(&workspace, &line), "cleo add --help");
}

#[test]
fn a_file_that_a_task_does_not_have_is_answered_with_those_that_it_has() {
    let workspace = TestWorkspace::new();
    workspace.ok("add x --file src/auth.rs --file docs/auth.md");
    let words = ["update", "T1", "--remove-file", "src/auth.sr"];
    let error = workspace.refused(&words, "E_TASK_INVALID");
    assert_eq!(
        error["message"],
        "T1 has no file `src/auth.sr`; it has `src/auth.rs`, `docs/auth.md`"
    );
    let fix = error["fix"].as_str().unwrap();
    assert_eq!(fix, "cleo update T1 --remove-file src/auth.rs");
    assert_eq!(workspace.shell(fix).exit, 0);
    let task = workspace.json(&["show", "T1"])["result"]["task"].clone();
    assert_eq!(task["files"], serde_json::json!(["docs/auth.md"]));
}

#[test]
fn evidence_that_lies_outside_is_taken_by_a_command() {
    let workspace = TestWorkspace::new();
    workspace.ok("add x");
    let outside = workspace.root().with_file_name("out file");
    std::fs::write(&outside, "x").unwrap();
    let words = [
        "verify",
        "T1",
        "--gate",
        "implemented",
        "--file",
        "../out file",
    ];
    let error = workspace.refused(&words, "E_PATH_OUTSIDE_WORKSPACE");
    let reply = workspace.shell(error["fix"].as_str().unwrap());
    assert_eq!(reply.exit, 0, "{error} {reply}");
    let gates = workspace.json(&["verify", "T1"])["result"]["gates"].clone();
    assert_eq!(
        gates["implemented"]["evidence"][0]["kind"], "command",
        "{gates}"
    );
}
