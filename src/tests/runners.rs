//! Runners on recorded event streams of real programs: the outcome of each attempt, whatever the
//! exit code was.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::event::AgentEnd;
use crate::run::{Outcome, Spent, TaskEvent, Usage};
use crate::runner::agent::{Job, Limits, OutputState, Runner, Runners, all};

use Outcome::{AgentError, Budget, Ok as Good, RateLimited};

fn runner(name: &str) -> Box<dyn Runner> {
    Runners::default().find(name, None).unwrap()
}

fn find_recording(program: &str, case: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/agents");
    Path::new(folder).join(program).join(case)
}

/// Plays a recorded stream, and says how it ended and of what it gave signs.
fn play(program: &str, case: &str, exit_code: Option<i32>) -> (AgentEnd, Vec<TaskEvent>) {
    let said = fs::read_to_string(find_recording(program, &format!("{case}.out"))).unwrap();
    let stderr_tail = fs::read_to_string(find_recording(program, &format!("{case}.err")));
    let runner = runner(program);
    let mut state = OutputState::default();
    state.end.exit_code = exit_code;
    let lines = stderr_tail.iter().flat_map(|text| text.lines());
    state.end.stderr_tail = lines.map(String::from).collect();
    said.lines()
        .for_each(|line| runner.read_line(line, &mut state));
    runner.judge(&mut state);
    (state.end, state.events)
}

/// The table of how each program ends: exit code as observed, outcome, and what the reason holds.
const ENDS: &[(&str, &str, Option<i32>, Outcome, &str)] = &[
    ("claude", "done", Some(0), Good, ""),
    ("claude", "nothing-done", Some(0), Good, ""),
    // The result says success; `is_error` says otherwise.
    ("claude", "http-400", Some(1), AgentError, "API Error: 400"),
    ("claude", "http-401", Some(1), AgentError, "401"),
    ("claude", "http-429", Some(1), RateLimited, "429"),
    ("claude", "http-529-once", Some(0), Good, ""),
    ("claude", "stream-cut-once", Some(0), Good, ""),
    ("claude", "server-gone", Some(1), AgentError, "API Error"),
    ("claude", "not-allowed", Some(0), Good, ""),
    ("claude", "turns-out", Some(1), Budget, "turns ran out"),
    ("claude", "money-out", Some(1), Budget, "money ran out"),
    ("claude", "answer-cut", Some(1), AgentError, ""),
    (
        "claude",
        "terminated",
        Some(143),
        AgentError,
        "exit code 143",
    ),
    // SIGINT: it exits with 0 and no result.
    (
        "claude",
        "terminated",
        Some(0),
        AgentError,
        "without a result",
    ),
    ("codex", "done", Some(0), Good, ""),
    ("codex", "nothing-done", Some(0), Good, ""),
    (
        "codex",
        "http-400",
        Some(1),
        AgentError,
        "scripted failure 400",
    ),
    (
        "codex",
        "http-429",
        Some(1),
        RateLimited,
        "429 Too Many Requests",
    ),
    ("codex", "http-529-once", Some(0), Good, ""),
    ("codex", "http-401", Some(1), AgentError, "401"),
    (
        "codex",
        "server-gone",
        None,
        AgentError,
        "waiting for network",
    ),
    ("codex", "not-allowed", Some(0), Good, ""),
    // An `error` event that was followed by success.
    ("codex", "stream-cut-once", Some(0), Good, ""),
    ("codex", "answer-cut", Some(0), Good, ""),
    ("codex", "terminated", None, AgentError, "a signal ended it"),
    (
        "codex",
        "terminated",
        Some(1),
        AgentError,
        "without a result",
    ),
    ("gemini", "done", Some(0), Good, ""),
    ("gemini", "nothing-done", Some(0), Good, ""),
    ("gemini", "http-529-once", Some(0), Good, ""),
    (
        "gemini",
        "http-400",
        Some(144),
        AgentError,
        "scripted failure 400",
    ),
    (
        "gemini",
        "http-401",
        Some(145),
        AgentError,
        "scripted failure 401",
    ),
    // It tries again and again, and says so on standard error.
    ("gemini", "http-429", None, RateLimited, ""),
    (
        "gemini",
        "bad-auth",
        Some(41),
        AgentError,
        "Invalid auth method selected",
    ),
    ("gemini", "terminated", Some(53), Budget, "turns ran out"),
    (
        "gemini",
        "stream-cut-once",
        Some(1),
        AgentError,
        "terminated",
    ),
    ("gemini", "answer-cut", Some(0), Good, ""),
    (
        "gemini",
        "terminated",
        Some(0),
        AgentError,
        "without a result",
    ),
    ("opencode", "done", Some(0), Good, ""),
    ("opencode", "nothing-done", Some(0), Good, ""),
    (
        "opencode",
        "http-400",
        Some(1),
        AgentError,
        "scripted failure 400",
    ),
    (
        "opencode",
        "http-401",
        Some(1),
        AgentError,
        "scripted failure 401",
    ),
    ("opencode", "http-529-once", Some(0), Good, ""),
    ("opencode", "stream-cut-once", Some(0), Good, ""),
    // It exits with 0 anyway.
    ("opencode", "answer-cut", Some(0), AgentError, "was cut"),
    ("copilot", "done", Some(0), Good, ""),
    ("copilot", "nothing-done", Some(0), Good, ""),
    ("copilot", "http-529-once", Some(0), Good, ""),
    ("copilot", "stream-cut-once", Some(0), Good, ""),
    (
        "copilot",
        "http-400",
        Some(1),
        AgentError,
        "scripted failure 400",
    ),
    (
        "copilot",
        "http-401",
        Some(1),
        AgentError,
        "Authentication failed",
    ),
    // Asked to end, it says in its result that all went well.
    ("copilot", "http-429", Some(0), AgentError, "interrupted"),
    ("copilot", "terminated", Some(0), AgentError, "interrupted"),
    ("copilot", "server-gone", Some(1), AgentError, ""),
    ("copilot", "not-allowed", Some(0), Good, ""),
    ("copilot", "answer-cut", Some(0), Good, ""),
];

#[test]
fn outcome_is_read_from_stream() {
    for (program, case, exit_code, outcome, reason) in ENDS {
        let (ended, _) = play(program, case, *exit_code);
        let what = format!("{program} {case} {exit_code:?}: {:?}", ended.reason);
        assert_eq!(ended.outcome, Some(*outcome), "{what}");
        assert_eq!(ended.reason.is_none(), *outcome == Good, "{what}");
        assert!(ended.reason.unwrap_or_default().contains(reason), "{what}");
    }
}

#[test]
fn table_has_every_recorded_stream() {
    let files = walkdir::WalkDir::new(find_recording("", "")).into_iter();
    for file in files.map(Result::unwrap) {
        let case = file.path().file_stem().unwrap().to_str().unwrap();
        let program = file.path().parent().unwrap().file_name().unwrap();
        let is_known = |row: &&(&str, &str, _, _, _)| program == row.0 && case == row.1;
        let is_stream = file.path().extension().is_some_and(|it| it == "out");
        assert!(
            !is_stream || ENDS.iter().any(|row| is_known(&row)),
            "{file:?}"
        );
    }
}

#[test]
fn exit_without_result_is_failure() {
    for runner in all() {
        for (exit_code, outcome) in [(Some(0), AgentError), (None, AgentError)] {
            let mut state = OutputState::default();
            state.end.exit_code = exit_code;
            runner.judge(&mut state);
            assert_eq!(state.end.outcome, Some(outcome), "{}", runner.name());
        }
    }
}

#[test]
fn success_with_nonzero_exit_code_is_failure() {
    for runner in all() {
        let (ended, _) = play(runner.name(), "done", Some(1));
        assert_eq!(ended.outcome, Some(AgentError), "{}", runner.name());
    }
}

#[test]
fn gemini_session_without_an_answer_is_not_resumed() {
    let (ended, _) = play("gemini", "http-400", Some(144));
    assert_eq!(ended.conversation, None);
}

#[test]
fn messages_conversations_tokens_and_cost_are_read() {
    let usage = |input: u64, output: u64| {
        Some(Usage {
            input_tokens: Some(input),
            output_tokens: Some(output),
            total_tokens: Some(input + output),
        })
    };
    for (program, usage, cost, turns) in [
        ("claude", usage(300, 60), Some(0.0024), Some(3)),
        ("codex", usage(300, 60), None, None),
        ("gemini", usage(300, 60), None, None),
        ("opencode", usage(300, 60), Some(0.0018), Some(3)),
        ("copilot", None, None, Some(3)),
    ] {
        let (ended, signs) = play(program, "done", Some(0));
        let message = "Research complete. See MANIFEST.jsonl for summary.";
        assert_eq!(ended.message.as_deref(), Some(message), "{program}");
        assert_eq!((ended.usage, ended.turns), (usage, turns), "{program}");
        let cost = cost.map(|cost| format!("{cost:.4}"));
        assert_eq!(
            ended.cost.map(|cost| format!("{cost:.4}")),
            cost,
            "{program}"
        );
        let conversation = ended.conversation.clone();
        let named = TaskEvent::AgentConversation { conversation };
        assert_eq!(
            signs.iter().filter(|sign| **sign == named).count(),
            1,
            "{program}"
        );
        let doing = signs
            .iter()
            .filter(|sign| matches!(sign, TaskEvent::AgentProgress { .. }));
        assert_eq!(doing.count(), 2, "{program} {signs:?}");
        assert!(runner(program).has_conversations());
    }
}

#[test]
fn usage_of_earlier_attempts_is_not_counted_again() {
    let used = |total: u64| Usage {
        input_tokens: Some(total - 1),
        output_tokens: Some(1),
        total_tokens: Some(total),
    };
    let claude = |total: u64, cost: f64| {
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"result":"x","total_cost_usd":{cost},"usage":{{"input_tokens":1}},"modelUsage":{{"m":{{"inputTokens":{},"outputTokens":1}}}}}}"#,
            total - 1
        )
    };
    let codex = |total: u64, _: f64| {
        let read = total - 1;
        format!(
            r#"{{"type":"turn.completed","usage":{{"input_tokens":{read},"output_tokens":1}}}}"#
        )
    };
    for program in ["claude", "codex"] {
        let says = if program == "claude" { claude } else { codex };
        // It lies twice, and counts on: 100, 200, 300.
        let (mut before, mut own) = (Spent::default(), Vec::new());
        for (total, cost) in [(100, 0.0008), (200, 0.0016), (300, 0.0024)] {
            let mut state = OutputState {
                before,
                ..OutputState::default()
            };
            runner(program).read_line(&says(total, cost), &mut state);
            let now = state.end.to_spent();
            own.push((now.usage.unwrap().total_tokens, now.cost));
            before = before.plus(now);
        }
        let cost = (program == "claude").then_some(0.0008);
        assert_eq!(own, [(Some(100), cost); 3], "{program}");
        assert_eq!(before.usage.unwrap().total_tokens, Some(300), "{program}");
        assert_eq!(before.cost, cost.map(|_| 0.0024), "{program}");
        // A program that counts each process separately has a lower total.
        let mut state = OutputState {
            before,
            ..OutputState::default()
        };
        runner(program).read_line(&says(100, 0.0008), &mut state);
        assert_eq!(state.end.usage, Some(used(100)), "{program}");
    }
}

#[test]
fn cost_limit_is_passed_as_program_counts() {
    let job = |before| Job {
        resume: Some("ses_1".to_string()),
        before,
        limits: Limits {
            cost: Some(0.2),
            ..Limits::default()
        },
        ..Job::default()
    };
    let before = Spent {
        usage: None,
        cost: Some(0.1),
    };
    let words = runner("claude").invocation(&job(before)).words;
    assert!(
        words.contains(&"--max-budget-usd=0.3".to_string()),
        "{words:?}"
    );
}

#[test]
fn denied_tools_are_named() {
    for (program, denied) in [
        ("claude", vec!["Write", "Bash"]),
        ("codex", vec!["shell"]),
        ("copilot", vec!["bash"]),
    ] {
        let (ended, _) = play(program, "not-allowed", Some(0));
        assert_eq!(ended.denied_tools, denied, "{program}");
    }
}

#[test]
fn json_error_on_stderr_is_read() {
    let lines = [
        "{",
        "  \"error\": {",
        "    \"message\": \"no, \\\"no\\\"\",",
        "  }",
        "}",
    ];
    let mut state = OutputState {
        end: AgentEnd {
            exit_code: Some(144),
            stderr_tail: lines.map(String::from).to_vec(),
            ..AgentEnd::default()
        },
        ..OutputState::default()
    };
    runner("gemini").judge(&mut state);
    assert_eq!(state.end.reason.as_deref(), Some("no, \"no\""));
}

#[test]
fn hostile_lines_are_ignored() {
    let deep = "[".repeat(100_000);
    let lines = [
        "",
        "null",
        "[]",
        "{}",
        "{\"type\":7}",
        "{\"type\":\"result\"",
        "{\"type\":\"unheard-of\",\"message\":{}}",
        deep.as_str(),
    ];
    for runner in all() {
        let mut state = OutputState::default();
        for line in lines {
            runner.read_line(line, &mut state);
        }
        assert_eq!(state, OutputState::default(), "{}", runner.name());
        // Wrong types where something else is expected.
        for kind in [
            "result",
            "assistant",
            "error",
            "step_finish",
            "turn.completed",
            "message",
        ] {
            for value in ["null", "7", "[]", "{}", "\"x\"", "-1", "1e400"] {
                let line = format!(
                    "{{\"type\":\"{kind}\",\"message\":{value},\"usage\":{value},\"part\":{value},\
                     \"error\":{value},\"result\":{value},\"stats\":{value},\"num_turns\":{value}}}"
                );
                runner.read_line(&line, &mut state);
            }
        }
        runner.judge(&mut state);
        assert!(state.end.outcome.is_some());
    }
}

#[test]
fn job_values_never_become_options() {
    let job = Job {
        folder: "/w".into(),
        model: Some("--evil".to_string()),
        resume: Some("ses_1".to_string()),
        tools: vec!["--evil".to_string()],
        limits: Limits {
            turns: Some(9),
            cost: Some(0.5),
            ..Limits::default()
        },
        ..Job::default()
    };
    let mut shown = String::new();
    for runner in all() {
        let invocation = runner.invocation(&job);
        assert!(invocation.reads_prompt, "{}", runner.name());
        assert!(!invocation.words.iter().any(|word| word == "--evil"));
        shown += &format!(
            "{}\n  {}\n",
            invocation.words.join(" "),
            invocation.passed.join(" ")
        );
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn allowed_tools_are_passed_in_terms_of_each_program() {
    let called = |name: &str, tools: &[&str]| {
        let job = Job {
            tools: tools.iter().map(|tool| tool.to_string()).collect(),
            folder: "/w".into(),
            ..Job::default()
        };
        let invocation = runner(name).invocation(&job);
        let environment = invocation.environment.into_iter();
        let environment = environment.map(|(name, value)| format!("{name}={value}"));
        invocation
            .words
            .into_iter()
            .chain(environment)
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (name, tools, there, missing) in [
        (
            "claude",
            &["Read", "Bash(git *)"][..],
            "--allowedTools=Read,Bash(git *)",
            "Write",
        ),
        ("codex", &["Read"], "--sandbox=read-only", "workspace-write"),
        ("codex", &["Bash"], "--sandbox=workspace-write", "read-only"),
        (
            "gemini",
            &["Bash", "Read"],
            "--approval-mode=default --allowed-tools=run_shell_command",
            "yolo",
        ),
        (
            "gemini",
            &["Read"],
            "--approval-mode=default",
            "--allowed-tools",
        ),
        (
            "opencode",
            &["Write"],
            r#"{"bash":"deny","webfetch":"deny","websearch":"deny"}"#,
            "edit",
        ),
        (
            "copilot",
            &["Write"],
            "--allow-tool=write",
            "--allow-tool=shell",
        ),
        (
            "copilot",
            &["WebFetch"],
            "--allow-all-urls",
            "--allow-all-tools",
        ),
    ] {
        let call = called(name, tools);
        assert!(
            call.contains(there) && !call.contains(missing),
            "{name} {tools:?}: {call}"
        );
    }
    for (name, all) in [
        ("codex", "--sandbox=workspace-write"),
        ("gemini", "--approval-mode=yolo"),
        ("copilot", "--allow-all-tools"),
    ] {
        assert!(called(name, &[]).contains(all), "{name}");
    }
    assert!(!called("opencode", &[]).contains("deny"));
}
