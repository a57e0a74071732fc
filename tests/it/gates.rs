//! Gates that a command decides: which result counts, what is kept of it, and how a command is
//! ended that does not end by itself.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::world::{Reply, TestWorkspace, document, says};

/// Far less than the commands here would sleep, and far more than cleo needs.
const SOON: Duration = Duration::from_secs(25);

/// Lets a command decide the first gate of T2, and sees to it that the answer comes soon.
#[track_caller]
fn decide(workspace: &TestWorkspace, command: &str, more: &[&str]) -> Value {
    let words = ["verify", "T2", "--gate", "implemented", "--run", command];
    let start = Instant::now();
    let answer = workspace.json(&[&words, more].concat());
    assert!(start.elapsed() < SOON, "{answer}");
    answer
}

/// Reads the first gate of T2 and everything beside it.
fn gates(workspace: &TestWorkspace) -> (Value, Value) {
    let result = workspace.ask("verify T2")["result"].take();
    (result["gates"]["implemented"].clone(), result)
}

/// Says by hand five times that the first gate of T2 has failed.
fn spend_all_rounds(workspace: &TestWorkspace) {
    for round in 1..=5 {
        let answer = workspace.ask("verify T2 --gate implemented --value false");
        assert_eq!(answer["result"]["round"], round);
    }
}

#[test]
fn time_limit_is_second_at_least_and_day_at_most() {
    let workspace = TestWorkspace::with_plan();
    for limit in ["0", "86401", "18446744073709551615"] {
        let answer = decide(&workspace, "true", &["--time-limit", limit]);
        assert_eq!(answer["error"]["code"], "E_USAGE");
        says(&answer, "1..=86400");
    }
    for limit in ["1", "86400"] {
        let answer = decide(&workspace, "true", &["--time-limit", limit]);
        assert_eq!(answer["success"], true, "{answer}");
    }
}

#[test]
fn exit_of_command_decides_whatever_it_leaves_running() {
    let workspace = TestWorkspace::with_plan();
    for left in ["sleep 60", "setsid sleep 60"] {
        let command = format!("sh -c '{left} & echo done; exit 0'");
        let answer = decide(&workspace, &command, &["--time-limit", "20"]);
        let evidence = &answer["result"]["gates"]["implemented"]["evidence"][0];
        assert_eq!(answer["success"], true, "{answer}");
        assert_eq!(evidence["exitCode"], 0);
        assert_eq!(evidence["timedOut"], false);
        assert_eq!(evidence["lastLines"], serde_json::json!(["done"]));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_outlives_command_that_passes() {
    let workspace = TestWorkspace::with_plan();
    for how in ["", "env -i"] {
        let command = format!("sh -c '{how} setsid sleep 300 & echo $! >left; exit 0'");
        let answer = decide(&workspace, &command, &[]);
        assert_eq!(answer["success"], true, "{answer}");
        let left = workspace.read("left");
        let left = format!("/proc/{}", left.trim());
        assert!(!std::path::Path::new(&left).exists(), "{how} {left}");
    }
}

#[test]
fn time_limit_holds_whatever_becomes_of_pipes() {
    let workspace = TestWorkspace::with_plan();
    for script in ["exec >&- 2>&-; sleep 60", "setsid sleep 60 & sleep 60"] {
        let command = format!("sh -c '{script}'");
        let answer = decide(&workspace, &command, &["--time-limit", "1"]);
        let evidence = &answer["result"]["gates"]["implemented"]["evidence"][0];
        assert_eq!(answer["error"]["code"], "E_GATE_FAILED");
        assert_eq!(evidence["timedOut"], true, "{answer}");
        assert_eq!(evidence["exitCode"], Value::Null);
        says(&answer, "it took too long");
    }
}

#[test]
fn command_that_fails_after_last_round_opens_gate() {
    let workspace = TestWorkspace::with_plan();
    spend_all_rounds(&workspace);
    assert_eq!(decide(&workspace, "true", &[])["success"], true);
    let answer = decide(&workspace, "false", &[]);
    assert_eq!(answer["error"]["code"], "E_GATE_ROUNDS");
    assert_eq!(answer["error"]["exitCode"], 44);
    assert_eq!(
        answer["error"]["message"],
        "implemented of T2 stays open: `false` failed: it exited with 1; all 5 rounds are used; \
         a person should look at the task"
    );
    let (gate, all) = gates(&workspace);
    assert_eq!(gate["passed"], false);
    assert_eq!(gate["evidence"][0]["command"], serde_json::json!(["false"]));
    assert_eq!(all["round"], 5);
    assert_eq!(all["failures"].as_array().unwrap().len(), 6);
    assert_eq!(all["failures"][5]["record"], gate);
}

#[test]
fn failure_said_by_hand_after_last_round_opens_gate() {
    let workspace = TestWorkspace::with_plan();
    spend_all_rounds(&workspace);
    workspace.ok("verify T2 --gate implemented");
    workspace.ok("verify T2 --gate testsPassed");
    workspace.fails(
        "verify T2 --gate implemented --value false",
        "E_GATE_ROUNDS",
    );
    let (gate, all) = gates(&workspace);
    assert_eq!(gate["passed"], false);
    assert_eq!(all["gates"].as_object().unwrap().len(), 1, "{all}");
    assert_eq!(all["round"], 5);
}

/// Starts cleo with a command that sleeps for a minute with a child, both of which hold the fifo
/// `alive` open, and returns it with the fifo when the command runs.
fn running(workspace: &TestWorkspace, before: &str) -> (Child, BufReader<File>) {
    let fifo = workspace.path("alive");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let script = format!("sh -c '{before} exec 3>alive; echo on >&3; sleep 60 & sleep 60'");
    let words = ["verify", "T2", "--gate", "implemented", "--run", &script];
    let mut cleo = workspace.command(&words);
    let cleo = cleo.stdout(Stdio::piped()).stderr(Stdio::piped());
    let cleo = cleo.spawn().unwrap();
    let mut alive = BufReader::new(File::open(fifo).unwrap());
    let mut line = String::new();
    alive.read_line(&mut line).unwrap();
    assert_eq!(line, "on\n");
    (cleo, alive)
}

/// Sends a signal to a cleo that runs such a command, and nothing to the command.
fn stop(workspace: &TestWorkspace, before: &str, signal: Signal) -> Reply {
    let (cleo, mut alive) = running(workspace, before);
    let start = Instant::now();
    kill_process(Pid::from_child(&cleo), signal).unwrap();
    let reply = workspace.reply(&cleo.wait_with_output().unwrap());
    // The fifo ends when no process has it open any more: the whole group is gone.
    alive.read_to_end(&mut Vec::new()).unwrap();
    assert!(start.elapsed() < SOON, "{reply}");
    reply
}

#[test]
fn signal_ends_command_and_is_answered() {
    for (signal, code, exit) in [
        (Signal::INT, "E_INTERRUPTED", 130),
        (Signal::TERM, "E_TERMINATED", 143),
        (Signal::HUP, "E_TERMINATED", 143),
    ] {
        let workspace = TestWorkspace::with_plan();
        let before = workspace.state();
        let answer = document(&stop(&workspace, "", signal));
        assert_eq!(answer["command"], "verify");
        assert_eq!(answer["error"]["code"], code);
        assert_eq!(answer["error"]["exitCode"], exit);
        assert!(answer["error"]["fix"].is_null(), "{answer}");
        assert_eq!(workspace.state(), before, "nothing is kept");
    }
}

#[test]
fn command_that_will_not_stop_is_made_to_when_cleo_is_stopped() {
    let workspace = TestWorkspace::with_plan();
    let reply = stop(&workspace, "trap \"\" TERM;", Signal::TERM);
    assert_eq!(reply.exit, 143, "{reply}");
}

#[test]
fn nohup_lets_command_outlive_its_terminal() {
    let workspace = TestWorkspace::with_plan();
    let script = "(trap '' HUP; cleo verify T2 --gate implemented --run \
                  'sh -c \"kill -HUP $(ps -o ppid= -p \\$\\$); exit 0\"' )";
    let script = script.replace("$(ps -o ppid= -p \\$\\$)", "\\$PPID");
    let reply = workspace.shell(&script);
    assert_eq!(reply.exit, 0, "{reply}");
}

#[test]
#[cfg(target_os = "linux")]
fn time_limit_ends_other_process_groups_of_command() {
    let workspace = TestWorkspace::with_plan();
    let fifo = workspace.path("alive");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    // A process that holds the fifo open for writing keeps the reader waiting.
    let run = "sh -c 'setsid sh -c \"exec 3>alive; sleep 60 & setsid sleep 60\" & exec 3>alive; sleep 60'";
    let mut cleo = workspace.command(&[
        "verify",
        "T2",
        "--gate",
        "implemented",
        "--run",
        run,
        "--time-limit",
        "1",
    ]);
    let cleo = cleo
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let mut alive = File::open(&fifo).unwrap();
    let answer = document(&workspace.reply(&cleo.wait_with_output().unwrap()));
    assert_eq!(answer["error"]["code"], "E_GATE_FAILED");
    alive.read_to_end(&mut Vec::new()).unwrap();
    assert!(start.elapsed() < SOON, "nobody is left");
}

/// Runs cleo as an agent of a run does, in a folder of the workspace.
fn as_agent(workspace: &TestWorkspace, folder: &str, words: &str) -> Value {
    let words = shlex::split(words).unwrap();
    let mut agent = workspace.command(&words);
    agent.current_dir(workspace.path(folder));
    let output = agent.env("CLEO_RUN_ID", "run_1").output().unwrap();
    document(&workspace.reply(&output))
}

#[test]
fn agent_of_run_takes_no_criterion_away() {
    let workspace = TestWorkspace::with_plan();
    workspace.ok("update T2 --acceptance 'it holds :: false'");
    let log = workspace.ask("log --limit 1");
    let last = log["result"]["operations"][0]["number"].clone();
    let exported = workspace.ok("export").stdout;
    workspace.write(
        "edited.jsonl",
        exported
            .replace("it holds :: false", "it holds")
            .replace("2026-01-26", "2026-01-27"),
    );
    for (words, code) in [
        ("update T2 --clear acceptance", "E_NOT_VERIFIED"),
        ("delete T2 --force", "E_STATUS_REFUSED"),
        ("undo", "E_STATUS_REFUSED"),
        (&format!("undo {last}"), "E_STATUS_REFUSED"),
        ("import edited.jsonl", "E_NOT_VERIFIED"),
    ] {
        let answer = as_agent(&workspace, ".", words);
        assert_eq!(answer["error"]["code"], code, "{words}: {answer}");
    }
    let new = r#"{"id":"T90","uid":"01M8EF00RHVGV1YTJN12YDGZZZ","title":"New","type":"task","status":"done","priority":"medium","createdAt":"2026-01-26T09:00:00Z","updatedAt":"2026-01-26T09:00:00Z","completedAt":"2026-01-26T09:00:00Z"}"#;
    workspace.write("new.jsonl", new);
    let answer = as_agent(&workspace, ".", "import new.jsonl --from cleo");
    assert_eq!(answer["error"]["code"], "E_NOT_VERIFIED", "{answer}");
    let task = workspace.ask("show T2");
    assert_eq!(task["result"]["task"]["acceptance"][1], "it holds :: false");
    workspace.ok("import edited.jsonl");
    let task = workspace.ask("show T2");
    assert_eq!(task["result"]["task"]["acceptance"][1], "it holds");
}

#[test]
fn agent_of_run_passes_no_gate_whose_command_failed() {
    let workspace = TestWorkspace::with_plan();
    let gate = "verify T2 --gate implemented";
    let words = [
        "verify",
        "T2",
        "--gate",
        "implemented",
        "--run",
        "test -e good",
    ];
    let failed = workspace.json(&words);
    assert_eq!(failed["error"]["code"], "E_GATE_FAILED", "{failed}");
    let expect_refusal = |given: &str| {
        let answer = as_agent(&workspace, ".", &format!("{gate} {given}"));
        assert_eq!(answer["error"]["code"], "E_NOT_VERIFIED", "{answer}");
    };
    expect_refusal("--note fine");
    expect_refusal("--run true");
    // A failure that the agent records does not hide that of the command.
    as_agent(&workspace, ".", &format!("{gate} --value false"));
    expect_refusal("--note fine");
    workspace.write("good", "");
    let answer = as_agent(&workspace, ".", &format!("{gate} --run 'test -e good'"));
    assert_eq!(answer["success"], true, "{answer}");
}

#[test]
fn agent_of_run_replaces_no_gate_that_command_proved() {
    let workspace = TestWorkspace::with_plan();
    workspace.write("good", "");
    workspace.write("else/good", "");
    for gate in ["implemented", "testsPassed"] {
        workspace.ok(&format!("verify T2 --gate {gate} --run 'test -e good'"));
    }
    let expect_refusal = |folder: &str, words: &str| {
        let answer = as_agent(&workspace, folder, words);
        assert_eq!(answer["error"]["code"], "E_NOT_VERIFIED", "{answer}");
        answer["error"]["message"].as_str().unwrap().to_string()
    };
    let pass = |words: &str| {
        let answer = as_agent(&workspace, ".", words);
        assert_eq!(answer["success"], true, "{answer}");
    };
    let implemented = "verify T2 --gate implemented";
    for given in ["", "--note fine", "--run true", "--note fine --force"] {
        let message = expect_refusal(".", &format!("{implemented} {given}"));
        assert_eq!(
            message,
            "implemented of T2 is shown by `test -e good`, which an agent of a run does not replace; run the same \
             again, in the folder ."
        );
    }
    expect_refusal("else", &format!("{implemented} --run 'test -e good'"));
    expect_refusal(".", "update T2 --require-gate documented");
    pass(&format!("{implemented} --run 'test -e good' --run true"));
    // A gate opened by a failure is passed again only by the same command.
    pass(&format!("{implemented} --value false"));
    expect_refusal(".", &format!("{implemented} --run true"));
    pass(&format!("{implemented} --run 'test -e good' --run true"));
    expect_refusal(".", "verify T2 --gate testsPassed --note fine");
    workspace.ok(&format!("{implemented} --note fine"));
}
